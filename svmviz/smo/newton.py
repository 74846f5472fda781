"""The Newton phase: jump to the minimum over the free multipliers, as far as the box lets.

Pairs find out quickly which multipliers are free and then need many small steps to say what they are. With the
free set F fixed, the minimum solves a linear system (g the gradient, E the group of each free index):

    [ H_FF  -E ] [d ]   [ -g_F ]
    [ E'     0 ] [nu] = [   0  ]

The phase steps along d up to the first bound that blocks, takes that index out of F, and repeats.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmviz.smo.iterate import SMALLEST_CURVATURE, Iterate

Array = np.ndarray

# Relative to the diagonal: makes duplicates and rounding factorable. The step length is chosen on the true H,
# so the ridge bends the direction and never spoils the objective.
RIDGE = 1e-12
# A factor costs the cube of the free set; beyond this many the pairs do better on their own.
LARGEST_FREE_SET = 3000


def newton_phase(iterate: Iterate) -> None:
    """Minimise over the free multipliers in place.

    The objective never rises. Multipliers that reach a bound are exactly on it. Where H is not positive
    definite on the free set, so that no factor exists, nothing is done.
    """
    free = np.flatnonzero(iterate.may_grow & iterate.may_shrink)
    if not 2 <= len(free) <= LARGEST_FREE_SET:
        return
    columns = iterate.hessian.block(free)
    while len(free) >= 2:
        direction = _direction(iterate, free, columns)
        if direction is None:
            break
        image = direction @ columns
        length, blocking = _step_length(iterate, free, direction, image)
        if length <= 0:
            break
        iterate.shift(free, length * direction, length * image, free[blocking])
        if not blocking.any():
            break
        free, columns = free[~blocking], columns[~blocking]


def _direction(iterate: Iterate, free: Array, columns: Array) -> Array | None:
    """d on the free set, sum zero over each group; None where H_FF has no Cholesky factor."""
    H = columns[:, free]
    # To a unit diagonal first: badly scaled samples span many decades, and the ridge must not drown the small.
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), SMALLEST_CURVATURE))
    H *= scale[:, None] * scale
    H[np.diag_indices_from(H)] += RIDGE
    gradient, groups = iterate.gradient[free], iterate.problem.group[free]
    present, member = np.unique(groups, return_inverse=True)
    E = (member[:, None] == np.arange(len(present))).astype(float)
    # Taking a constant off the gradient of a group changes nothing but the rounding.
    gradient = gradient - (gradient @ E / E.sum(axis=0))[member]
    try:
        right = scale[:, None] * np.column_stack([gradient, E])
        solved = scale[:, None] * cho_solve(cho_factor(H, lower=True, check_finite=False), right)
        nu = np.linalg.solve(E.T @ solved[:, 1:], E.T @ solved[:, 0])
    except (LinAlgError, np.linalg.LinAlgError):
        return None
    direction = solved[:, 1:] @ nu - solved[:, 0]
    direction -= (direction @ E / E.sum(axis=0))[member]
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
    best = -slope / curvature if curvature > 0 else np.inf
    if best < nearest:
        return best, np.zeros(len(free), dtype=bool)
    if not np.isfinite(nearest):
        return 0.0, np.zeros(len(free), dtype=bool)
    return nearest, room <= nearest * (1 + 1e-14)
