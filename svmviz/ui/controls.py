"""Compact controls that both pages use; each keeps its value in the workspace, which outlives the page."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from svmviz import datasets
from svmviz.datasets import PRESETS, REAL, DataError, Task
from svmviz.ui.workspace import KERNELS, RULES, Workspace

TASKS: dict[Task, str] = {"classification": "Classes (C-SVC)", "regression": "Curve (ε-SVR)"}
KERNEL_NAMES = {
    "linear": "Linear",
    "poly": "Polynomial",
    "rbf": "Gaussian (RBF)",
    "laplacian": "Laplacian",
    "sigmoid": "Sigmoid (tanh)",
}
RULE_NAMES = {
    "second_order": "Second order (Fan)",
    "max_violating": "Max. violation (Keerthi)",
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
DEGREES = list(range(1, 11))
COEF0_GRID = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0]


def number(value: Any) -> str:
    """A value on a slider: short, and without trailing zeros."""
    if not isinstance(value, float):
        return str(value)
    if value >= 10_000:
        return f"{value:.0e}".replace("e+0", "e")
    return f"{value:g}"


def bound(space: Workspace, name: str, after: Callable[[], None] | None = None) -> dict[str, Any]:
    """Arguments that tie a widget to a field of the workspace.

    Parameters
    ----------
    space : Workspace
    name : str
        The field.
    after : callable, optional
        Called once the field has changed.

    Returns
    -------
    dict
        "key" and "on_change" for the widget.
    """
    key = f"control_{name}"
    st.session_state[key] = getattr(space, name)

    def changed() -> None:
        setattr(space, name, st.session_state[key])
        if after:
            after()

    return {"key": key, "on_change": changed}


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
    key = "control_task"
    st.session_state[key] = space.task

    def changed() -> None:
        space.switch_task(st.session_state[key])

    st.segmented_control(
        "Machine",
        list(TASKS),
        format_func=TASKS.__getitem__,
        required=True,
        key=key,
        on_change=changed,
        label_visibility="collapsed",
        width="stretch",
    )


def kernel(space: Workspace) -> None:
    """Choose the kernel."""
    st.selectbox(
        "Kernel", KERNELS, format_func=KERNEL_NAMES.__getitem__, help=KERNEL_HELP, **bound(space, "kernel")
    )


KERNEL_HELP = (
    "linear x·x′; polynomial (γ x·x′ + c₀)^d; Gaussian exp(−γ‖x−x′‖²); Laplacian exp(−γ‖x−x′‖₁); "
    "sigmoid tanh(γ x·x′ + c₀), which is not positive semidefinite."
)


def penalty(space: Workspace) -> None:
    """Slider for C."""
    slider(space, "C", "C", C_GRID, "Upper bound of the multipliers: what a point on the wrong side costs.")


def parameters(space: Workspace) -> None:
    """Sliders for the parameters that the kernel and the machine have, side by side."""
    shown = []
    if space.kernel != "linear":
        shown.append(_gamma)
    if space.kernel == "poly":
        shown.append(_degree)
    if space.kernel in ("poly", "sigmoid"):
        shown.append(_coef0)
    if space.task == "regression":
        shown.append(_epsilon)
    if not shown:
        return
    for column, show in zip(st.columns(max(2, len(shown))), shown, strict=False):
        with column:
            show(space)


def _gamma(space: Workspace) -> None:
    slider(space, "gamma", "γ", GAMMA_GRID, '"scale" is 1 / (number of features × variance).')


def _degree(space: Workspace) -> None:
    slider(space, "degree", "Degree d", DEGREES, "Degree of the polynomial.")


def _coef0(space: Workspace) -> None:
    slider(space, "coef0", "c₀", COEF0_GRID, "Constant in the kernel.")


def _epsilon(space: Workspace) -> None:
    slider(space, "epsilon", "ε", EPSILON_GRID, "Half the width of the tube: smaller errors are free.")


def classes(space: Workspace) -> None:
    """Choose the two classes of the lesson, where there are more."""
    present = space.present()
    if space.task == "regression" or len(present) < 3:
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
        help="Which pair a step moves. Second order: Fan, Chen and Lin. Maximal violation: Keerthi et al.",
        **bound(space, "rule"),
    )


def preset(space: Workspace) -> None:
    """Choose an example; its points and parameters replace those of the workspace."""
    key = "control_preset"
    st.session_state[key] = space.preset or None

    def changed() -> None:
        space.load_preset(st.session_state[key])

    st.selectbox(
        "Example",
        list(PRESETS),
        format_func=lambda name: PRESETS[name].title,
        key=key,
        on_change=changed,
        placeholder="Your points",
    )


def features(space: Workspace) -> None:
    """Choose the two features and the classes of a real data set."""
    if space.preset not in REAL:
        return
    names = datasets.feature_names(space.preset)
    classes = datasets.class_names(space.preset)
    shown = [c for c in classes if c in space.classes]
    st.session_state["control_feature_a"], st.session_state["control_feature_b"] = space.features
    st.session_state["control_shown"] = shown

    def changed() -> None:
        wanted = (st.session_state["control_feature_a"], st.session_state["control_feature_b"])
        try:
            shown = tuple(st.session_state["control_shown"])
            space.load_preset(space.preset, wanted, shown, settings=False)
        except DataError as error:
            space.notice = str(error)

    left, right = st.columns(2)
    axis: dict[str, Any] = {
        "options": range(len(names)),
        "format_func": names.__getitem__,
        "on_change": changed,
    }
    left.selectbox("Across", key="control_feature_a", **axis)
    right.selectbox("Up", key="control_feature_b", **axis)
    st.pills(
        "Classes",
        classes,
        selection_mode="multi",
        key="control_shown",
        on_change=changed,
        label_visibility="collapsed",
    )
