"""The Newton phase: jump to the minimum over the free multipliers, as far as the box lets.

Pairs find out quickly which multipliers are free and then need many small steps to say what they are. With the
free set F fixed, the minimum solves a linear system (g the gradient, E the group of each free index):

    [ H_FF  -E ] [d ]   [ -g_F ]
    [ E'     0 ] [nu] = [   0  ]

The phase steps along d up to the first bound that blocks, takes that index out of F, and repeats.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmviz.problem import EPS
from svmviz.smo.iterate import SMALLEST_CURVATURE, Iterate

Array = np.ndarray

# Relative to the diagonal: makes duplicates and rounding factorable. The step length is chosen on the true H,
# so the ridge bends the direction and never spoils the objective.
RIDGE = 1e-12
# A factor of more is not tried: it needs the square of their number in memory.
LARGEST_FREE_SET = 3000
# A phase starts when its budget allows this many steps: the first few mostly end at a bound.
LEAST_STEPS = 8


class Jump(NamedTuple):
    """One Newton step on the free set.

    Attributes
    ----------
    indices : ndarray (f,) of int
        The free set before the step, dual indices.
    z_before, z_after : ndarray (f,)
    fraction : float
        How far along the Newton direction: 1 reached the minimum over the free set, below 1 a bound blocked.
    blocked : ndarray (b,) of int
        Dual indices that hit a bound.
    violation : float
        Violation of the whole problem before the step.
    """

    indices: Array
    z_before: Array
    z_after: Array
    fraction: float
    blocked: Array
    violation: float


def newton_phase(iterate: Iterate, budget: float = np.inf) -> Generator[Jump, None, float]:
    """Minimise over the free multipliers in place; each Jump is yielded right after it was made.

    The objective never rises. Multipliers that reach a bound are exactly on it. Where H is not positive
    definite on the free set, so that no factor exists, nothing is done.

    Parameters
    ----------
    iterate : Iterate
    budget : float, optional
        About how many floating-point operations it may take.

    Yields
    ------
    Jump

    Returns
    -------
    float
        About how many it took.
    """
    free = np.flatnonzero(iterate.may_grow & iterate.may_shrink)
    each = _work(iterate, free)
    if not 2 <= len(free) <= LARGEST_FREE_SET or LEAST_STEPS * each > budget:
        return 0.0
    rows = iterate.hessian.rows(free)
    H, chosen, work = rows.square(), np.arange(len(free)), 0.0
    while len(chosen) >= 2 and work + each <= budget:
        direction = _direction(iterate, free[chosen], H)
        work += each
        if direction is None:
            break
        image = rows.image(chosen, direction)
        length, blocking = _step_length(iterate, free[chosen], direction, image)
        if length <= 0:
            break
        indices, blocked = free[chosen], free[chosen[blocking]]
        z, violation = iterate.z[indices], iterate.violation
        iterate.shift(indices, length * direction, length * image, blocked)
        yield Jump(indices, z, iterate.z[indices], length, blocked, violation)
        if not blocking.any():
            break
        chosen, H = chosen[~blocking], H[np.ix_(~blocking, ~blocking)]
    return work


def _work(iterate: Iterate, free: Array) -> float:
    """Operations of one step: the factor, its use for each group, and the change of the gradient."""
    problem, count = iterate.problem, float(len(free))
    groups = len(np.unique(problem.group[free]))
    return count**3 / 3 + 2 * count**2 * (groups + 1) + 2 * count * len(problem.coupling) * problem.n


def _direction(iterate: Iterate, free: Array, H: Array) -> Array | None:
    """d on the free set, sum zero over each group; None where H_FF has no Cholesky factor."""
    # To a unit diagonal first: badly scaled samples span many decades, and the ridge must not drown the small.
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), SMALLEST_CURVATURE))
    scaled = H * scale[:, None]
    scaled *= scale
    scaled[np.diag_indices_from(scaled)] += RIDGE
    gradient, groups = iterate.gradient[free], iterate.problem.group[free]
    # The free indices ascend and so do their groups: each group is a run.
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(starts, append=len(free))
    member = np.repeat(np.arange(len(starts)), sizes)
    # Taking a constant off the gradient of a group changes nothing but the rounding.
    gradient = gradient - (np.add.reduceat(gradient, starts) / sizes)[member]
    right = np.zeros((len(free), len(starts) + 1))
    right[:, 0] = scale * gradient
    right[np.arange(len(free)), member + 1] = scale
    try:
        factor = cho_factor(scaled, lower=True, overwrite_a=True, check_finite=False)
        solved = scale[:, None] * cho_solve(factor, right, overwrite_b=True, check_finite=False)
        sums = np.add.reduceat(solved, starts, axis=0)
        nu = np.linalg.solve(sums[:, 1:], sums[:, 0])
    except (LinAlgError, np.linalg.LinAlgError):
        return None
    direction = solved[:, 1:] @ nu - solved[:, 0]
    direction -= (np.add.reduceat(direction, starts) / sizes)[member]
    return direction if np.isfinite(direction).all() else None


def _step_length(iterate: Iterate, free: Array, direction: Array, image: Array) -> tuple[float, Array]:
    """How far to go along d, and which indices of the free set block there.

    The minimum of the true objective along d, or the nearest bound; 0 when d does not descend.
    """
    slope = float(iterate.gradient[free] @ direction)
    curvature = float(direction @ image[free])
    if not (slope < 0 and np.isfinite(curvature)):
        return 0.0, np.zeros(len(free), dtype=bool)
    z, lo, hi = iterate.z[free], iterate.problem.lo[free], iterate.problem.hi[free]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        room = np.where(direction > 0, (hi - z) / direction, (lo - z) / direction)
    room[direction == 0] = np.inf
    nearest = float(room.min())
    # A curvature that is rounding only says nothing of where the minimum is.
    rounding = 4 * EPS * float(np.abs(direction) @ np.abs(image[free]))
    best = -slope / curvature if curvature > rounding else np.inf
    if best < nearest:
        return best, np.zeros(len(free), dtype=bool)
    if not np.isfinite(nearest):
        return 0.0, np.zeros(len(free), dtype=bool)
    return nearest, room <= nearest * (1 + 1e-14)
