"""Which mu a machine of reduced hulls can have on a workspace's points, and what to say of one that it cannot.

Every page says the same of it, in one sentence that names the nearest value; the points stay as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from svmviz.explain import short
from svmviz.hulls import critical_mu
from svmviz.projection import principal_components
from svmviz.ui.workspace import TwoClasses, Workspace

Array = np.ndarray

SHARED = ("mu_svm", "ad_svm")
"""The machines that have mu."""

MOST_AXES = 60
"""Of a kernel that is not semidefinite: what the first touch is worked out from is a rough picture anyway."""

ROUNDING = 1e-6
"""Principal components below this share of the largest are roots of rounded zeros."""

COINCIDE = (
    "All prototypes coincide, so no direction parts the classes: choose a smaller μ, or another kernel."
)
"""Of more than two prototypes: at which mu they part is not known."""


# ------------------------------------------------------------------------------------------ the range of mu


def feasible_mu(space: Workspace, machine: str) -> float:
    """The workspace's mu, moved into its range for this machine.

    Parameters
    ----------
    space : Workspace
    machine : "mu_svm" or "ad_svm"
    """
    if space.task != "classification" or len(space.present()) < 2:
        return space.mu
    classes = space.present_pair() if machine == "mu_svm" else space.present()
    several = space.n_prototypes if machine == "ad_svm" else 1
    return space.mu_value(space.labels[np.isin(space.labels, classes)], several)


def infeasible_mu(space: Workspace, then: str = "choose that or more") -> str | None:
    """That mu is too small for the workspace's machine, and what is the smallest, as one sentence, or None.

    Parameters
    ----------
    space : Workspace
    then : str
        What to do about it, or what has been done.
    """
    if space.machine not in SHARED:
        return None
    least = feasible_mu(space, space.machine)
    if space.mu >= least * (1 - 1e-9):
        return None
    return f"μ = {short(space.mu)} is not feasible here: {short(least)} is the smallest, {then}."


# ------------------------------------------------------------------------------------------ hulls that meet


def meeting(space: Workspace) -> str:
    """That the hulls of the workspace's machine meet, and at which values they do not, as one sentence."""
    if space.machine == "ad_svm" and (len(space.present()) > 2 or space.n_prototypes > 1):
        return COINCIDE
    touch = critical(space, space.two_classes())
    if touch == "always":
        return "The reduced hulls meet whatever their size, so no direction parts the classes: choose another kernel."
    if not isinstance(touch, float):
        return _nothing_parts("The reduced hulls meet", remedy(space.machine))
    if space.machine == "nu_svc":
        return _nothing_parts(
            "The reduced hulls meet",
            f"ν above {_rounded(2 / (touch * len(space.two_classes().rows)), math.ceil)}",
        )
    return _nothing_parts("The reduced hulls meet", f"μ below {_rounded(touch, math.floor)}")


def remedy(machine: str) -> str:
    """What parts reduced hulls that meet, where nothing more is known."""
    return "a larger ν" if machine == "nu_svc" else "a smaller μ"


def _nothing_parts(what: str, choice: str) -> str:
    return f"{what}, so no direction parts the classes: choose {choice}, or another kernel."


def _rounded(value: float, way: Callable[[float], int]) -> str:
    """A positive number with four digits, rounded up or down by `math.ceil` or `math.floor`."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return short(way(value / unit) * unit)


def gram(space: Workspace, rows: Array) -> Array:
    """Inner products in feature space of some points of a workspace."""
    X = space.points[rows]
    return space.kernel_on(X)(X, X)


def critical(space: Workspace, two: TwoClasses) -> float | str:
    """The mu at which the hulls of two classes first touch, or "never", or "always".

    Gaussian and Laplacian kernels give different points independent images. So their hulls can only meet in points
    that both classes have; in units of mu each takes as much weight there as the class with fewer copies can give.
    """
    points, first = space.points[two.rows], two.codes == 0
    if space.kernel in ("rbf", "laplacian"):
        total = _shared(points[first], points[~first])
        touch = math.inf if total == 0 else 1 / total if total < min(first.sum(), (~first).sum()) else None
    else:
        places = points if space.kernel == "linear" else _coordinates(space, two.rows)
        touch = critical_mu(places[first], places[~first])
    if touch is None:
        return "always"
    return "never" if math.isinf(touch) else float(touch)


def _shared(some: Array, others: Array) -> int:
    """How many points of one list can be paired with an equal one of the other."""
    counts = [Counter(map(tuple, points.tolist())) for points in (some, others)]
    return (counts[0] & counts[1]).total()


def _coordinates(space: Workspace, rows: Array) -> Array:
    """Coordinates with the inner products of the kernel, without those that are only rounding."""
    K = gram(space, rows)
    count = math.comb(space.degree + 2, 2) if space.kernel == "poly" else MOST_AXES
    coordinates = principal_components(K, min(count, len(K)))
    spread = np.ptp(coordinates, axis=0)
    return coordinates[:, spread > ROUNDING * spread.max()] if spread.any() else coordinates[:, :1]
