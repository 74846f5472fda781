"""What the browser cannot compute of a geometry: solutions in the space of a kernel, their plane, the first touch.

A stage of mode "geometry" (see `svmviz.ui.board.stage`) shows the Board with reduced hulls and prototypes under a
slider for mu, and beside it, with a kernel that is not linear, a plane of the feature space. Its data are those of
the Board (`Workspace.scene`, "model" may be None) and one more entry, "geometry", None when there is nothing to show:

    kind        "hulls": two classes with the line that bisects their link; "distances": any number of classes
    for         Workspace.seq of the points that all lists below are about
    linear      True: the browser works everything out itself, live; the entries marked * may then be missing
    prototypes  [{"label": class, "name": text}], one for each hull, in the order of all rows below
    groups      the hull of each point of the workspace, -1 for none; None: that of its class
    wanted, mu  the mu that was asked for, and the one that is feasible
    critical    the mu of the first touch, "never", "always", or None when nobody knows
    note        one sentence more, or None
    shift    *  how far the boundary of nu-SVC lies from the line halfway, in the direction of v+ (kind "hulls")
    least       the smallest mu where it is not 1 over the smallest hull (clusters may change with mu), or None
    pairs       [[a, b, weight]] of all pairs of classes, each with a slider (kind "distances"); otherwise all weigh 1
    certificate {"objective": number, "gap": text, "status": text} of the solution, or None (kind "distances")
    examples    titles of the examples with more classes than two (kind "distances")
    rule        "thesis" or "nearest", which draws the regions (kind "distances")
    lines       [what its boundary is called, what that of the other rule is called] (kind "distances")
    counts   *  {"samples", "disagree", "thesis", "nearest"}: samples on which the rules disagree, and that each of
                them gets wrong (kind "distances")
    weights  *  (P, n) weights of the workspace's points in the prototypes
    distances * (P, P) distances between the prototypes, in feature space
    plane    *  {"points": [n times [x, y], or None for points that take no part], "prototypes": [P times [x, y]],
                "axes": [name, name]}

The browser sends the mu and the weights that the person chose; `stage(on_mu=..., on_weights=...)` hands them on, one
message at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.estimators import MuSVC
from svmviz.hulls import feature_plane, prototype_plane
from svmviz.kernels import is_positive_semidefinite
from svmviz.machines.ad_svm import Prototypes
from svmviz.problem import Certificate
from svmviz.ui.budget import EARLY, early, pair_limit, sentences
from svmviz.ui.feasible import critical, gram
from svmviz.ui.fitting import fingerprint, remembered
from svmviz.ui.models import browser_model, function
from svmviz.ui.workspace import TwoClasses, Workspace, checked

Array = np.ndarray

TOLERANCE = 1e-6
"""Hulls that nearly touch need a better solution than a drawing of the boundary does."""

MANY, ROUGH_TOLERANCE = 1000, 1e-4
"""Of more samples than so many the slider would have to wait for that tolerance: this one is used."""

CRITICAL, PLANE, GEOMETRY = "critical_mu", "feature_plane", "geometry"

NOT_SEMIDEFINITE = (
    "This kernel is not positive semidefinite on these points: there is no feature space, and what is shown "
    "of one is a rough picture."
)
UNRESOLVED = "The distance is below what the solver resolves here: the hulls may be even closer than it says."


def hulls_data(space: Workspace, height: int | str) -> dict[str, Any]:
    """What the page of reduced hulls shows.

    Parameters
    ----------
    space : Workspace
    height : int or str
        Pixels, or a length in CSS.

    Returns
    -------
    dict
        For `svmviz.ui.board.stage`; with a message and no geometry when there are no two classes.
    """
    return geometry_data(space, height, two_hulls)


def geometry_data(
    space: Workspace,
    height: int | str,
    build: Callable[[Workspace], tuple[dict[str, Any], dict[str, Any] | None]],
) -> dict[str, Any]:
    """What a page of hulls shows: a message, or what `build` makes of the workspace, geometry and model."""
    now = (build.__name__, *fingerprint(space))
    message, *entries = remembered(GEOMETRY, now, lambda: _built(space, build))
    geometry, model = (entry and {**entry, "for": space.seq} for entry in entries)
    return {**space.scene(height, message), "mode": "geometry", "model": model, "geometry": geometry}


def _built(
    space: Workspace, build: Callable[[Workspace], tuple[dict[str, Any], dict[str, Any] | None]]
) -> tuple[str | None, dict[str, Any] | None, dict[str, Any] | None]:
    """A message or None, the geometry, and the model."""
    message = hulls_message(space)
    if message is not None:
        return message, None, None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return None, *build(space)
    except InvalidProblemError as error:
        return str(error), None, None


def hulls_message(space: Workspace) -> str | None:
    """Why there are no two hulls, as one sentence, or None when there are."""
    if space.task == "regression":
        return (
            "Reduced hulls belong to classes: choose Classes under Points, and these points get theirs back."
        )
    return checked(space, "mu_svm")


def two_hulls(space: Workspace) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The geometry of two classes, and the boundary for the Board when the kernel is not linear.

    Raises
    ------
    InvalidProblemError
        For points or parameters that cannot be used.
    """
    two = space.two_classes()
    mu = space.mu_value(two.codes)
    touch = cached_critical(space, two)
    geometry: dict[str, Any] = {
        "kind": "hulls",
        "linear": space.kernel == "linear",
        "prototypes": [{"label": two.classes[0], "name": "v₋"}, {"label": two.classes[1], "name": "v₊"}],
        "groups": None,
        "wanted": space.mu,
        "mu": mu,
        "critical": touch,
        "note": _left_out(space, two),
    }
    if space.kernel == "linear":
        return geometry, None
    machine = MuSVC(mu=mu, **solver_parameters(space, len(two.rows)))
    machine.fit(space.points[two.rows], two.codes)
    prototypes = machine.prototypes_
    apart = not is_overlap(touch, mu)
    K = gram(space, two.rows)
    plane = steady_plane(_plane(K, prototypes.coef, apart))
    axes = (
        ["from v₋ to v₊, true length", "largest spread left"]
        if apart
        else ["largest spread", "second largest"]
    )
    geometry |= solution_entries(space, two.rows, prototypes, plane, axes)
    geometry["note"] = sentences(geometry["note"], kernel_note(space, K, apart, machine.certificate_))
    if not apart:
        return geometry, None
    model = _boundary(space, two, machine)
    length = float(prototypes.distances()[0, 1])
    geometry["shift"] = (model["functions"][0]["bias"] - machine.intercept_[0]) / length if length else 0.0
    return geometry, model


def solver_parameters(space: Workspace, samples: int) -> dict[str, Any]:
    """What the estimator of a page of hulls takes, for so many samples."""
    tol = TOLERANCE if samples <= MANY else ROUGH_TOLERANCE
    return {**space.kernel_parameters(), "tol": tol, "max_iter": pair_limit(samples)}


def solution_entries(
    space: Workspace, rows: Array, prototypes: Prototypes, plane: Array, axes: Sequence[str]
) -> dict[str, Any]:
    """The entries of a geometry that only Python knows: weights, distances and plane.

    Parameters
    ----------
    space : Workspace
    rows : ndarray of int (m,)
        Points of the workspace that take part.
    prototypes : Prototypes
        Over these.
    plane : ndarray (m, 2)
        Where they are projected to, see `svmviz.hulls.prototype_plane`.
    axes : pair of str
        Names of its axes.

    Returns
    -------
    dict
    """
    weights = np.zeros((len(prototypes.coef), len(space.points)))
    weights[:, rows] = prototypes.coef
    points: list[list[float] | None] = [None] * len(space.points)
    for row, place in zip(rows.tolist(), plane.tolist(), strict=True):
        points[row] = place
    places = {"points": points, "prototypes": (prototypes.coef @ plane).tolist(), "axes": list(axes)}
    return {"weights": weights.tolist(), "distances": prototypes.distances().tolist(), "plane": places}


def steady_plane(plane: Array) -> Array:
    """A plane (m, 2), its second axis turned the way that it had in the last picture.

    An axis of largest spread has no direction of its own: without this it could flip while a slider moves.
    """
    before = st.session_state.get(PLANE)
    if before is not None and before.shape == plane.shape and float(before[:, 1] @ plane[:, 1]) < 0:
        plane = plane * [1.0, -1.0]
    st.session_state[PLANE] = plane
    return plane


def _plane(K: Array, coef: Array, apart: bool) -> Array:
    """Where the hulls are apart the first axis is their link; otherwise rounding would be its direction."""
    return feature_plane(K, coef[1], coef[0]) if apart else prototype_plane(K, coef.mean(axis=0))


def _left_out(space: Workspace, two: TwoClasses) -> str | None:
    others = [space.classes[label] for label in space.present() if label not in two.classes]
    if not others:
        return None
    return f"Points of {', '.join(others)} take no part: choose which two classes do above."


def kernel_note(space: Workspace, K: Array, apart: bool, certificate: Certificate) -> str | None:
    """One sentence where a solution in the space of a kernel means less than it seems, otherwise None."""
    known = space.kernel_on(space.points).positive_semidefinite
    if known is not True and not is_positive_semidefinite(K):
        return sentences(NOT_SEMIDEFINITE, early(certificate))
    if certificate.status == "capped":
        return EARLY
    resolved = certificate.gap <= 0.1 * abs(certificate.objective)
    return None if resolved or not apart else UNRESOLVED


def _boundary(space: Workspace, two: TwoClasses, machine: MuSVC) -> dict[str, Any]:
    """What separates the hulls halfway, for the Board: f(x) = (v+ - v-)'phi(x) - (|v+|^2 - |v-|^2) / 2."""
    products = machine.prototypes_.products
    bias = float(products[0, 0] - products[1, 1]) / 2
    functions = [function(machine.dual_coef_[0], bias, list(two.classes))]
    return browser_model(space, machine.support_vectors_, functions, "vote", None, levels=[])


# ------------------------------------------------------------------------------------------ the first touch


def is_overlap(critical: float | str | None, mu: float) -> bool:
    """Whether the hulls meet at this mu."""
    return critical == "always" or (isinstance(critical, float) and mu >= critical)


def cached_critical(space: Workspace, two: TwoClasses) -> float | str:
    """`critical` of a workspace; the last one again while only mu has changed."""
    now = (
        space.points[two.rows].tobytes(), two.codes.tobytes(), space.kernel, space.gamma, space.degree, space.coef0,
    )  # fmt: skip
    return remembered(CRITICAL, now, lambda: critical(space, two))
