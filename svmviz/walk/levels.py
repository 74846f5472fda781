"""Multipliers of the groups: at an optimum any number in an interval, which is a point where an index is free."""

from __future__ import annotations

import numpy as np

from svmviz.hessian import Hessian
from svmviz.problem import AT_BOUND, EPS, DualProblem, squared_noise

Array = np.ndarray

# That scale is the largest gradient and linear term, and this share of the terms that a gradient is the sum of: they
# may cancel altogether, as where reduced hulls meet.
TERMS = 1e-3
# Where rounding of the terms of a gradient is more than this share of the linear term, what they sum to is lost.
LOST = 1e-4


def gradient_scale(hessian: Hessian, linear: Array, z: Array, gradient: Array) -> float:
    """Size of the terms of a gradient (n,), for this linear term (n,) and z (n,): what violations are relative to."""
    sizes = float(np.abs(gradient).max() + np.abs(linear).max())
    largest = float(np.abs(hessian.diagonal).max()) or 1.0
    return sizes + TERMS * largest * float(np.abs(z).sum()) or 1.0


def is_lost(hessian: Hessian, linear: Array, z: Array) -> bool:
    """Whether the terms of a gradient are so large beside the linear term that rounding hides what they sum to.

    Decision values are known to about EPS times these terms, measured on features of all sizes. Without a linear term
    nothing is lost: all there is scales with the kernel.

    Parameters
    ----------
    hessian : Hessian
    linear, z : ndarray (n,)
    """
    root = np.sqrt(np.maximum(hessian.diagonal, 0.0))
    terms = float(root.max() * (root @ np.abs(z)))
    return bool(linear.any()) and EPS * terms > LOST * float(np.abs(linear).max())


def vanishes(hessian: Hessian, linear: Array, z: Array, gradient: Array) -> bool:
    """Whether w is 0 but for rounding: without a linear term z'Hz is its squared length, or a multiple of that.

    Then the reduced hulls meet, and nothing is decided.

    Parameters
    ----------
    hessian : Hessian
    linear, z, gradient : ndarray (n,)
    """
    return not linear.any() and float(z @ gradient) <= squared_noise(hessian.diagonal, z)


def has_room(problem: DualProblem, lo: Array, hi: Array, sums: Array) -> bool:
    """Whether multipliers in this box (n,) can sum to these sums (n_groups,) of the problem's groups."""
    least, most = (np.add.reduceat(bound, problem.starts) for bound in (lo, hi))
    noise = 1e-12 * np.maximum(1.0, np.abs(sums))
    return bool(((least <= sums + noise) & (sums <= most + noise)).all())


def group_levels(
    starts: Array,
    z: Array,
    lo: Array,
    hi: Array,
    gradient: Array,
    nu: Array,
    movable: Array,
    width: float = 0.0,
) -> Array:
    """Multiplier of each group: nu, and where no multiplier is inside of its box, the middle of the interval for it.

    Parameters
    ----------
    starts : ndarray (n_groups,) of int
    z, lo, hi, gradient : ndarray (..., n)
    nu : ndarray (..., n_groups)
    movable : ndarray (..., n) of bool
        Which indices are not held.
    width : float, default 0
        How large the multipliers have been, see `off_bounds`.

    Returns
    -------
    ndarray (..., n_groups)
        0 where no index of the group can move.
    """
    above, below = off_bounds(z, lo, hi, movable, width)
    fixed = fixed_groups(starts, z, lo, hi, movable, width)
    return np.where(fixed, nu, middles(*intervals(starts, above, below, gradient)))


def fixed_groups(starts: Array, z: Array, lo: Array, hi: Array, movable: Array, width: float = 0.0) -> Array:
    """Which groups have a multiplier inside of its box, which fixes theirs: (..., n_groups) of bool; see above."""
    above, below = off_bounds(z, lo, hi, movable, width)
    return np.asarray(np.logical_or.reduceat(above & below, starts, axis=-1))


def intervals(starts: Array, above: Array, below: Array, gradient: Array) -> tuple[Array, Array]:
    """The ends of the interval for the multiplier of each group, (..., n_groups) each; infinite where there is none.

    Parameters
    ----------
    starts : ndarray (n_groups,) of int
    above, below : ndarray (..., n) of bool
        Which indices may go down, and which up.
    gradient : ndarray (..., n)
    """
    low = np.maximum.reduceat(np.where(above, gradient, -np.inf), starts, axis=-1)
    return low, np.minimum.reduceat(np.where(below, gradient, np.inf), starts, axis=-1)


def middles(low: Array, up: Array) -> Array:
    """The middle of each interval, its one end where the other is infinite, and else 0."""
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(up), low, np.where(np.isinf(low), up, 0.5 * (up + low)))
    return np.where(np.isinf(middle), 0.0, middle)


def at_bounds(z: Array, lo: Array, hi: Array) -> Array:
    """Multipliers (..., n), those that are at a bound (n,) but for rounding exactly there."""
    near = AT_BOUND * np.abs(z).max(axis=-1, keepdims=True)  # of each alone: no walk depends on the others
    return np.where(z - lo <= near, lo, np.where(hi - z <= near, hi, z))


def off_bounds(z: Array, lo: Array, hi: Array, movable: Array, width: float = 0.0) -> tuple[Array, Array]:
    """Which of the movable multipliers (..., n) are above their lower, and which below their upper bound.

    What rounding has left of multipliers that have been as large as `width` does not count.

    Parameters
    ----------
    z, lo, hi : ndarray (..., n)
    movable : ndarray (..., n) of bool
        Which indices are not held.
    width : float, default 0

    Returns
    -------
    above, below : ndarray (..., n) of bool
    """
    near = AT_BOUND * np.maximum(width, np.abs(z).max(axis=-1, keepdims=True))
    return movable & (z - lo > near), movable & (hi - z > near)
