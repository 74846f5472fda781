"""One function a machine: the problem that the lesson records on a workspace, and the way back from a saved trace."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svmviz.datasets import MAX_CLASSES, Dataset
from svmviz.errors import InvalidProblemError
from svmviz.gram import gram_matrix
from svmviz.kernels import Kernel
from svmviz.machines import ad_svm, mc_svm, nu_svc, nu_svr, one_class, svc, svr
from svmviz.problem import DualProblem
from svmviz.trace import Trace
from svmviz.ui.workspace import MAX_PROTOTYPES, Workspace

Array = np.ndarray

TRACE_NAMES = {
    "svc": "C-SVC",
    "nu_svc": "nu-SVC",
    "one_class": "one-class SVM",
    "mu_svm": "mu-SVM",
    "ad_svm": "AD-SVM",
    "mc_svm": "MC-SVM",
    "svr": "epsilon-SVR",
    "nu_svr": "nu-SVR",
}
"""What a machine is called in a trace."""

MACHINES = {name: machine for machine, name in TRACE_NAMES.items()}
"""The workspace's machine by its name in a trace."""

TWO_CLASSES = ("svc", "nu_svc", "mu_svm")
REGRESSION = ("svr", "nu_svr")


@dataclass(frozen=True)
class Setup:
    """What is recorded.

    Attributes
    ----------
    rows : ndarray of int
        Points of the workspace that take part.
    y : ndarray
        Their signs, codes or targets.
    problem : DualProblem
    parameters : dict
        Kept in the trace.
    """

    rows: Array
    y: Array
    problem: DualProblem
    parameters: dict[str, float] = field(default_factory=dict)


def set_up(space: Workspace) -> tuple[Setup, Array, Kernel]:
    """The problem of the workspace's machine, its samples and the kernel.

    Parameters
    ----------
    space : Workspace
        One that `svmviz.ui.workspace.checked` has nothing against.

    Raises
    ------
    InvalidProblemError
        For parameters that are not feasible with these points.
    """
    setup = SETUPS[space.machine](space)
    X = samples(space, setup.rows)
    return setup, X, space.kernel_on(X)


def samples(space: Workspace, rows: Array) -> Array:
    """The features of some of the points."""
    return space.points[rows, :1] if space.task == "regression" else space.points[rows]


def _two(space: Workspace) -> tuple[Array, Array]:
    """Rows of the two chosen classes, and the sign of each: +1 for the second."""
    two = space.two_classes()
    return two.rows, 2.0 * two.codes - 1.0


def _all(space: Workspace) -> Array:
    return np.arange(len(space.points))


def _c_svc(space: Workspace) -> Setup:
    rows, signs = _two(space)
    loss = "squared_hinge" if space.loss == "squared" else "hinge"
    return Setup(rows, signs, svc.dual_problem(signs, space.C, loss), {"C": space.C})


def _nu_svc(space: Workspace) -> Setup:
    rows, signs = _two(space)
    return Setup(rows, signs, nu_svc.dual_problem(signs, space.nu), {"nu": space.nu})


def _one_class(space: Workspace) -> Setup:
    rows = _all(space)
    return Setup(rows, np.zeros(len(rows)), one_class.dual_problem(len(rows), space.nu), {"nu": space.nu})


def _mu_svm(space: Workspace) -> Setup:
    rows, signs = _two(space)
    codes = (signs > 0).astype(int)
    problem = ad_svm.dual_problem(codes, space.mu, ad_svm.class_links(2))
    return Setup(rows, signs, problem, {"mu": space.mu})


def _ad_svm(space: Workspace) -> Setup:
    present, codes = np.unique(space.labels, return_inverse=True)
    links = ad_svm.class_links(len(present), space.weights_table(present.tolist()))
    mu = ad_svm.check_mu(space.mu, codes, space.n_prototypes)
    rows = _all(space)
    X = samples(space, rows)
    prototype, owner = ad_svm.divide(gram_matrix(space.kernel_on(X), X), codes, mu, space.n_prototypes)
    problem = ad_svm.dual_problem(prototype, mu, links[np.ix_(owner, owner)])
    nearest = float(space.decision_rule == "nearest")
    return Setup(rows, codes.astype(float), problem, {"mu": space.mu, "nearest": nearest})


def _mc_svm(space: Workspace) -> Setup:
    present, codes = np.unique(space.labels, return_inverse=True)
    problem = mc_svm.dual_problem(codes, len(present), space.beta)
    return Setup(_all(space), codes.astype(float), problem, {"beta": space.beta})


def _epsilon_svr(space: Workspace) -> Setup:
    y = space.points[:, 1]
    loss = "squared_epsilon_insensitive" if space.loss == "squared" else "epsilon_insensitive"
    problem = svr.dual_problem(y, space.C, space.epsilon, loss)
    return Setup(_all(space), y, problem, {"C": space.C, "epsilon": space.epsilon})


def _nu_svr(space: Workspace) -> Setup:
    y = space.points[:, 1]
    problem = nu_svr.dual_problem(y, space.C, space.nu)
    return Setup(_all(space), y, problem, {"C": space.C, "nu": space.nu})


SETUPS: dict[str, Callable[[Workspace], Setup]] = {
    "svc": _c_svc,
    "nu_svc": _nu_svc,
    "one_class": _one_class,
    "mu_svm": _mu_svm,
    "ad_svm": _ad_svm,
    "mc_svm": _mc_svm,
    "svr": _epsilon_svr,
    "nu_svr": _nu_svr,
}


# ------------------------------------------------------------------------------------------- the way back


def machine_of(trace: Trace) -> str:
    """The workspace's machine that a trace is of.

    Raises
    ------
    InvalidProblemError
        When there is none.
    """
    if trace.machine not in MACHINES:
        known = ", ".join(TRACE_NAMES.values())
        raise InvalidProblemError(f"The app draws traces of {known}: this one is of another machine.")
    return MACHINES[trace.machine]


def dataset(trace: Trace, coordinates: Array, axes: tuple[str, str]) -> Dataset:
    """The points of a trace, with its samples at these coordinates."""
    machine = machine_of(trace)
    if machine in REGRESSION:
        points = np.column_stack([coordinates, trace.y])
        return Dataset(points, np.zeros(len(points), int), "regression", axes)
    return Dataset(coordinates, labels(trace), "classification", axes)


def labels(trace: Trace) -> Array:
    """Class of each sample of a classifier's trace (n_samples,): 0, 1 ... in the order of its y.

    Raises
    ------
    InvalidProblemError
        When y holds no classes, or too many.
    """
    machine = machine_of(trace)
    if machine in TWO_CLASSES:
        return (trace.y > 0).astype(int)
    codes = trace.y.astype(int)
    if (codes != trace.y).any() or codes.min() < 0 or codes.max() >= MAX_CLASSES:
        raise InvalidProblemError(f"The app draws traces of at most {MAX_CLASSES} classes.")
    return codes


def check_size(trace: Trace) -> None:
    """Refuse a trace whose problem has another number of indices than its machine has for these samples."""
    machine, n = machine_of(trace), len(trace.X)
    each = {"svr": 2, "nu_svr": 2, "mc_svm": len(trace.problem.coupling)}.get(machine, 1)
    n_groups = {"nu_svc": 2, "nu_svr": 2, "mu_svm": 2, "mc_svm": n, "ad_svm": len(trace.problem.coupling)}
    if trace.problem.n != each * n or trace.problem.n_groups != n_groups.get(machine, 1):
        raise InvalidProblemError("The problem of this trace is not that of its machine: save it again.")


def settings(trace: Trace) -> dict[str, Any]:
    """Fields of the workspace that a trace sets, with their values."""
    machine = machine_of(trace)
    found: dict[str, Any] = {"regressor" if machine in REGRESSION else "classifier": machine}
    for name in ("C", "epsilon", "nu", "mu", "beta"):
        if name in trace.parameters:
            found[name] = float(trace.parameters[name])
    if machine in ("svc", "svr"):
        found["loss"] = "squared" if trace.problem.diagonal.any() else "hinge"
    if machine == "ad_svm":
        found["decision_rule"] = "nearest" if trace.parameters.get("nearest") else "thesis"
        found |= _links(trace)
    return found


def owners(trace: Trace, classes: Array) -> list[int]:
    """The class that each label of the problem, or each side of a two-class machine, stands for.

    Parameters
    ----------
    trace : Trace
    classes : (n_samples,) array of int
        Class of each sample.
    """
    machine = machine_of(trace)
    if machine in TWO_CLASSES:
        return [int(classes[np.flatnonzero(np.sign(trace.y) == sign)[0]]) for sign in (-1, 1)]
    if machine == "mc_svm":
        return [int(classes[np.flatnonzero(trace.y == r)[0]]) for r in range(len(trace.problem.coupling))]
    first = trace.problem.sample[trace.problem.starts]
    return [int(classes[sample]) for sample in first]


def _links(trace: Trace) -> dict[str, Any]:
    """Prototypes a class and weights of the class pairs, read from the coupling of an AD-SVM."""
    owner = owners(trace, labels(trace))
    weights = {}
    for p, a in enumerate(owner):
        for q, b in enumerate(owner[:p]):
            weight = -2.0 * float(trace.problem.coupling[p, q])
            if a != b and weight != 1.0:
                weights[min(a, b), max(a, b)] = weight
    most = max(owner.count(a) for a in owner)
    return {"n_prototypes": min(most, MAX_PROTOTYPES), "pair_weights": weights}
