"""Compact controls that both pages use; each keeps its value in the workspace, which outlives the page."""

import re
from collections.abc import Callable, Collection
from typing import Any, Literal

import streamlit as st

from svmviz import datasets
from svmviz.datasets import PRESETS, REAL, DataError, Task
from svmviz.ui.recorders import TWO_CLASSES
from svmviz.ui.workspace import (
    CLASSIFIERS,
    DECISION_RULES,
    KERNELS,
    LOSSES,
    MAX_PROTOTYPES,
    REGRESSORS,
    RULES,
    Workspace,
)

TASKS: dict[Task, str] = {"classification": "Classes", "regression": "Curve"}
MACHINE_NAMES = {
    "svc": "C-SVC",
    "nu_svc": "ν-SVC",
    "one_class": "One-class SVM",
    "mu_svm": "μ-SVM",
    "ad_svm": "AD-SVM",
    "mc_svm": "MC-SVM",
    "svr": "ε-SVR",
    "nu_svr": "ν-SVR",
}
LOSS_NAMES = {"hinge": "Linear", "squared": "Squared"}
DECISION_RULE_NAMES = {"thesis": "AD-SVM's own rule", "nearest": "Nearest prototype"}
LabelVisibility = Literal["visible", "collapsed"]
KERNEL_NAMES = {
    "linear": "Linear",
    "poly": "Polynomial",
    "rbf": "Gaussian (RBF)",
    "laplacian": "Laplacian",
    "sigmoid": "Sigmoid (tanh)",
}
RULE_NAMES = {
    "second_order": "Second order",
    "max_violating": "Max. violation",
    "platt": "Platt's heuristic",
}


def _one_two_five(first: int, last: int) -> list[float]:
    """1, 2 and 5 times the powers of ten from 10**first, up to 10**last."""
    grid = [float(f"{m}e{k}") for k in range(first, last) for m in (1, 2, 5)]
    return [*grid, float(f"1e{last}")]


C_GRID = _one_two_five(-3, 5)
GAMMA_GRID: list[Any] = ["scale", *_one_two_five(-2, 2)]
EPSILON_GRID = [0.0, *_one_two_five(-3, 1)]
TOLERANCES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
HELD_OUT = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
DEGREES = list(range(1, 11))
NU_GRID = [0.01, 0.02, *(round(0.05 * k, 2) for k in range(1, 21))]
MU_GRID = [
    0.001,
    0.002,
    0.005,
    *(round(0.01 * k, 2) for k in (*range(1, 10), *range(10, 30, 2), *range(30, 105, 5))),
]
BETA_GRID = _one_two_five(-4, 3)
PROTOTYPES = list(range(1, MAX_PROTOTYPES + 1))
COEF0_GRID = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0]


def plain(text: str) -> str:
    """Text for a message of Streamlit's, in which nothing acts as Markdown: it may quote a cell of a file."""
    return re.sub(r"([\\`*_{}\[\]<>#|!$~]|:(?=\w))", r"\\\1", text)


def number(value: Any) -> str:
    """A value on a slider: short, and without trailing zeros."""
    if not isinstance(value, float):
        return str(value)
    if value >= 10_000:
        return f"{value:.0e}".replace("e+0", "e")
    return f"{value:g}"


def tied(name: str, value: Any, changed: Callable[[Any], None]) -> dict[str, Any]:
    """Arguments that tie a widget to a value that is kept elsewhere and may also change there.

    A widget in a popover is gone from the page while that is closed: its browser side is then not told of a new
    value, keeps the old one and sends it back with whatever is done next, as if a person had chosen it. So a value
    that has changed elsewhere gets a widget of another key, and what the browser knows of the one before is of no
    account.

    Parameters
    ----------
    name : str
        Of the control.
    value : object
        What it shall show.
    changed : callable
        Called with what a person chose.

    Returns
    -------
    dict
        "key" and "on_change" for the widget. The key is "control_" and the name, from the first change elsewhere on
        with a number behind.
    """
    turns = st.session_state.setdefault(TURNS, {})
    turn, known = turns.get(name, (0, value))
    turn += known != value
    turns[name] = turn, value
    key = f"control_{name}_{turn}" if turn else f"control_{name}"
    st.session_state[key] = value

    def heard() -> None:
        chosen = st.session_state[key]
        turns[name] = turns[name][0], chosen
        changed(chosen)

    return {"key": key, "on_change": heard}


TURNS = "control_turns"
"""Where the session has, for each control, how often its value has changed elsewhere, and the value."""


def bound(space: Workspace, name: str) -> dict[str, Any]:
    """Arguments that tie a widget to the field of the workspace that has this name, see `tied`."""

    def change(value: Any) -> None:
        setattr(space, name, value)
        space.notice = ""  # it stays until the next change

    return tied(name, getattr(space, name), change)


def _on_grid(grid: list[Any], value: Any) -> list[Any]:
    """The grid with a value that is not on it, as a link may bring one, in its place."""
    if value in grid:
        return grid
    names = [item for item in grid if isinstance(item, str)]
    return names + sorted([item for item in grid if not isinstance(item, str)] + [value])


def slider(space: Workspace, name: str, label: str, grid: list[Any], help_text: str) -> None:
    """A slider over a grid of values for one field of the workspace."""
    options = _on_grid(grid, getattr(space, name))
    st.select_slider(label, options, format_func=number, help=help_text, **bound(space, name))


def task(space: Workspace) -> None:
    """Choose between classes and a curve."""
    st.segmented_control(
        "Task",
        list(TASKS),
        format_func=TASKS.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="stretch",
        **tied("task", space.task, space.switch_task),
    )


def machine(
    space: Workspace, label_visibility: LabelVisibility = "collapsed", among: Collection[str] = MACHINE_NAMES
) -> None:
    """Choose the machine of the task, of those that a page has something to show for, or the one that is in use."""
    regression = space.task == "regression"
    offered = REGRESSORS if regression else CLASSIFIERS
    st.selectbox(
        "Machine",
        [name for name in offered if name in among or name == space.machine],
        format_func=MACHINE_NAMES.__getitem__,
        help=MACHINE_HELP["regression" if regression else "classification"],
        label_visibility=label_visibility,
        **bound(space, "regressor" if regression else "classifier"),
    )


MACHINE_HELP = {
    "classification": "C-SVC and ν-SVC: two classes, more vote one against one. One-class: the region that holds all "
    "but a share ν of the points. μ-SVM: the nearest points of two reduced hulls. AD-SVM: a prototype for each "
    "class, all distances at once. MC-SVM: one function a class (Crammer and Singer).",
    "regression": "ε-SVR: the width of the tube is given. ν-SVR: ν, the share outside, finds it.",
}


def kernel(space: Workspace) -> None:
    """Choose the kernel."""
    st.selectbox(
        "Kernel", KERNELS, format_func=KERNEL_NAMES.__getitem__, help=KERNEL_HELP, **bound(space, "kernel")
    )


KERNEL_HELP = (
    "linear x·x′; polynomial (γ x·x′ + c₀)^d; Gaussian exp(−γ‖x−x′‖²); Laplacian exp(−γ‖x−x′‖₁); "
    "sigmoid tanh(γ x·x′ + c₀). The sigmoid, and a polynomial with c₀ < 0, are not positive semidefinite."
)


def penalty(space: Workspace) -> None:
    """Slider for C."""
    slider(space, "C", "C", C_GRID, "Upper bound of the multipliers: what a point on the wrong side costs.")


def nu(space: Workspace) -> None:
    """Slider for nu."""
    slider(
        space,
        "nu",
        "ν",
        NU_GRID,
        "Bounds the share of errors (or outliers) from above and that of support vectors from below.",
    )


def mu(space: Workspace, label: str = "μ") -> None:
    """Slider for mu."""
    slider(
        space,
        "mu",
        label,
        MU_GRID,
        "Largest weight of a point in its reduced hull: 1 leaves the whole hull, 1/n only the mean.",
    )


def beta(space: Workspace) -> None:
    """Slider for beta."""
    slider(space, "beta", "β", BETA_GRID, "Weight of the regulariser, 1/C: the larger, the smoother.")


def primary(space: Workspace) -> None:
    """Slider for the parameter that the machine is named by, or C."""
    PRIMARY[space.machine](space)


def parameters(space: Workspace) -> None:
    """Controls for the other parameters that the kernel and the machine have."""
    for row in _parameter_rows(space):
        _side_by_side(space, row)


def _side_by_side(space: Workspace, row: list[Callable[[Workspace], None]]) -> None:
    for column, show in zip(st.columns(max(2, len(row))), row, strict=False):
        with column:
            show(space)


def parameter_rows(space: Workspace) -> int:
    """How many rows `parameters` takes."""
    return len(_parameter_rows(space))


def _parameter_rows(space: Workspace) -> list[list[Callable[[Workspace], None]]]:
    """What `parameters` shows, three side by side at most."""
    shown = [*_kernel_parameters(space), *SECONDARY.get(space.machine, [])]
    return [shown[first : first + 3] for first in range(0, len(shown), 3)]


def _kernel_parameters(space: Workspace) -> list[Callable[[Workspace], None]]:
    shown: list[Callable[[Workspace], None]] = []
    if space.kernel != "linear":
        shown.append(gamma)
    if space.kernel == "poly":
        shown.append(_degree)
    if space.kernel in ("poly", "sigmoid"):
        shown.append(_coef0)
    return shown


def gamma(space: Workspace) -> None:
    """Slider for gamma."""
    slider(space, "gamma", "γ", GAMMA_GRID, '"scale" is 1 / (number of features × variance).')


def _degree(space: Workspace) -> None:
    slider(space, "degree", "Degree d", DEGREES, "Degree of the polynomial.")


def _coef0(space: Workspace) -> None:
    slider(space, "coef0", "c₀", COEF0_GRID, "Constant in the kernel.")


def _epsilon(space: Workspace) -> None:
    slider(space, "epsilon", "ε", EPSILON_GRID, "Half the width of the tube: smaller errors are free.")


def _loss(space: Workspace) -> None:
    st.selectbox(
        "Loss",
        LOSSES,
        format_func=LOSS_NAMES.__getitem__,
        help="How the cost of an error grows. Squared: the multipliers have no upper bound.",
        **bound(space, "loss"),
    )


def decision_rule(space: Workspace, label: str = "Decision") -> None:
    """Choose the decision rule of the AD-SVM."""
    st.selectbox(
        label,
        DECISION_RULES,
        format_func=DECISION_RULE_NAMES.__getitem__,
        help="AD-SVM's own rule: the largest w·(x − v), equation 2.2.20 of Candel's master's thesis (SMO algorithm "
        "for the AD-SVM, 2011). Nearest prototype: the class of the prototype that is nearest to x.",
        **bound(space, "decision_rule"),
    )


def prototypes(space: Workspace) -> None:
    """Slider for the number of prototypes of each class."""
    slider(
        space,
        "n_prototypes",
        "Prototypes",
        PROTOTYPES,
        "Of each class: it is divided into so many clusters, with a prototype each.",
    )


PRIMARY: dict[str, Callable[[Workspace], None]] = {
    "svc": penalty,
    "nu_svc": nu,
    "one_class": nu,
    "mu_svm": mu,
    "ad_svm": mu,
    "mc_svm": beta,
    "svr": penalty,
    "nu_svr": nu,
}
SECONDARY: dict[str, list[Callable[[Workspace], None]]] = {
    "ad_svm": [decision_rule, prototypes],
    "svc": [_loss],
    "svr": [_epsilon, _loss],
    "nu_svr": [penalty],
}


def needs_two(space: Workspace) -> bool:
    """Whether there are more classes than the machine can tell apart."""
    return space.machine == "mu_svm" and len(space.present()) > 2


def tells_two_of_more(space: Workspace) -> bool:
    """Whether there are more than two classes, and the machine is about two of them."""
    return space.machine in TWO_CLASSES and len(space.present()) > 2


def classes(space: Workspace) -> None:
    """Choose the two classes of a machine that tells two apart, where there are more."""
    present = space.present()
    if len(present) < 3:
        return
    space.pair = space.present_pair()
    pairs = [(a, b) for a in present for b in present if a < b]
    st.selectbox(
        "Two classes",
        pairs,
        format_func=lambda pair: f"{space.classes[pair[0]]} / {space.classes[pair[1]]}",
        help="A machine tells two classes apart; choose which two to watch.",
        **bound(space, "pair"),
    )


def tolerance(space: Workspace) -> None:
    """Slider for the tolerance at which the solver stops."""
    slider(space, "tol", "Tolerance", TOLERANCES, "The largest violation that counts as optimal.")


def rule(space: Workspace) -> None:
    """Choose how SMO picks its pair."""
    st.selectbox(
        "Rule",
        RULES,
        format_func=RULE_NAMES.__getitem__,
        help="Which pair a step moves. Second order: Fan, Chen and Lin. Maximal violation: Keerthi et al. "
        "Newton steps: every so many pairs, a jump towards the minimum over all free multipliers. "
        "Only a pair can take a multiplier off its bound.",
        **bound(space, "rule"),
    )


def newton(space: Workspace) -> None:
    """Choose whether the run that is played takes Newton steps among its pairs."""
    st.checkbox("Newton steps", **bound(space, "newton"))


def rule_and_newton(space: Workspace) -> None:
    """The two above in the place of one: the switch beside the name of the rule."""
    with st.container(key="rule"):
        rule(space)
        newton(space)


def preset(space: Workspace) -> None:
    """Choose an example; its points and parameters replace those of the workspace.

    None is chosen where its points have been edited, so that it can be chosen again.
    """
    st.selectbox(
        "Example",
        list(PRESETS),
        format_func=lambda name: PRESETS[name].title,
        placeholder=space.title(),
        **tied("preset", None if space.edited else space.preset or None, space.load_preset),
    )


def features(space: Workspace) -> None:
    """Choose the two features and the classes of a real data set."""
    if space.preset not in REAL:
        return
    names = datasets.feature_names(space.preset)
    classes = datasets.class_names(space.preset)
    shown = [c for c in classes if c in space.classes]

    def show(wanted: tuple[int, int], chosen: list[str]) -> None:
        try:
            space.load_preset(space.preset, wanted, tuple(chosen), settings=False)
        except DataError as error:
            space.notice = str(error)

    left, right = st.columns(2)
    across, up = space.features
    axis: dict[str, Any] = {"options": range(len(names)), "format_func": names.__getitem__}
    left.selectbox(
        "Across", **axis, **tied("feature_a", across, lambda a: show((a, space.features[1]), shown))
    )
    right.selectbox("Up", **axis, **tied("feature_b", up, lambda b: show((space.features[0], b), shown)))
    st.pills(
        "Classes",
        classes,
        selection_mode="multi",
        label_visibility="collapsed",
        **tied("shown", shown, lambda chosen: show(space.features, chosen)),
    )


def stepping(space: Workspace) -> bool:
    """Switch a page between exploring a machine's solution and playing its training; returns whether to play it."""
    st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="stretch",
        **bound(space, "stepping"),
    )
    return space.stepping


VIEWS = {False: "Explore", True: "Step by step"}

SLIDING: dict[str, tuple[str, ...]] = {
    "svc": ("C",),
    "mu_svm": ("mu",),
    "ad_svm": ("mu",),
    "svr": ("C", "epsilon"),
    "nu_svr": ("C",),
}
"""The parameters along which each machine has a path."""

SIGNS = {"C": "C", "epsilon": "ε", "mu": "μ"}

BESIDE_PATH: dict[tuple[str, str], list[Callable[[Workspace], None]]] = {
    ("svc", "C"): [_loss],
    ("svr", "C"): [_epsilon, _loss],
    ("svr", "epsilon"): [penalty, _loss],
    ("nu_svr", "C"): [nu],
    ("ad_svm", "mu"): [decision_rule, prototypes],
}
"""What else the machine has while one of its parameters slides."""


def sliding(space: Workspace) -> str:
    """Choose the parameter whose path is shown; "" for a machine that has none."""
    choices = SLIDING.get(space.machine, ())
    if not choices:
        return ""
    chosen = space.sliding if space.sliding in choices else choices[0]
    st.segmented_control(
        "Slide",
        choices,
        format_func=SIGNS.__getitem__,
        required=True,
        help="The parameter that moves: the machine's solution is followed exactly through all its values.",
        width="stretch",
        **tied("sliding", chosen, lambda parameter: setattr(space, "sliding", parameter)),
    )
    return chosen


def beside_path(space: Workspace, parameter: str) -> None:
    """Controls for all other parameters of a machine whose path in one of them is shown."""
    kernel_parameters(space)
    for show in BESIDE_PATH.get((space.machine, parameter), []):
        show(space)


def kernel_parameters(space: Workspace, side_by_side: bool = False, without_gamma: bool = False) -> None:
    """Sliders for the parameters of the kernel alone, one below the other or side by side."""
    shown = [show for show in _kernel_parameters(space) if not (without_gamma and show is gamma)]
    if side_by_side and shown:
        _side_by_side(space, shown)
        return
    for show in shown:
        show(space)


def held_out(space: Workspace) -> None:
    """Slider for the share of the points that is held out."""
    st.select_slider(
        "Held out",
        HELD_OUT,
        format_func=lambda share: f"{100 * share:.0f} %",
        help="Share of the points of each class that no machine is trained on; drawn hollow.",
        **bound(space, "held_out"),
    )
