"""The linear system of the free multipliers, with an inverse that follows when one of them leaves.

With the free set F and the group of each free index (E its indicator matrix), the change d of the multipliers that
takes the gradients of every group to one common value, its sum zero over each group, solves

    [ H_FF  -E ] [d ]   [ -g_F ]
    [ E'     0 ] [nu] = [   0  ]
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri

Array = np.ndarray

# Relative to the diagonal: makes duplicates and rounding factorable. Whoever uses a direction takes its length on the
# true H, so the ridge bends the direction and never spoils the objective.
RIDGE = 1e-12
# The smallest diagonal entry that is scaled to 1.
SMALLEST_DIAGONAL = 1e-150


class FreeSystem:
    """What solves the system above: B with d = -B g, the inverse of H_FF on the directions whose sums are zero.

    Leaving index k out takes B to B - b b' / b_k, b its column k, whatever the groups: O(f^2).

    Parameters
    ----------
    H : ndarray (f, f)
        H on the free set; not changed.
    group : ndarray (f,) of int
        Group of each free index, ascending.

    Attributes
    ----------
    is_definite : bool
        Whether H_FF has a Cholesky factor; without it there is no B.
    """

    def __init__(self, H: Array, group: Array):
        self._starts = run_starts(group)
        self._inside = np.ones(len(H))
        self._sizes = np.add.reduceat(self._inside, self._starts)
        self._member = np.repeat(np.arange(len(self._starts)), self._sizes.astype(int))
        inverse = _inverse(H, group if len(self._starts) > 1 else None)
        self.is_definite = inverse is not None
        if inverse is not None:
            self._reduced = self._without_sums(inverse)

    def _without_sums(self, inverse: Array) -> Array:
        """B = P - PE (E'PE)^-1 E'P, in Fortran's order and symmetric."""
        if len(self._starts) == 1:
            column = inverse.sum(axis=1)
            return dger(-1.0 / float(column.sum()), column, column, a=inverse, overwrite_a=1)
        by_group = np.add.reduceat(inverse, self._starts, axis=1)
        sums = np.add.reduceat(by_group, self._starts, axis=0)
        inverse -= by_group @ np.linalg.solve(sums, by_group.T)
        return inverse

    def direction(self, gradient: Array) -> Array:
        """d (f,) from the gradients (f,); zero at the indices that were dropped."""
        # Taking a constant off the gradient of a group changes nothing but the rounding.
        return self._balanced(-(self._reduced @ (gradient - self._means(gradient))))

    def drop(self, k: int, direction: Array) -> Array:
        """Take the index at place k out of the free set; the direction (f,) without it, from the one with it."""
        column = self._reduced[:, k].copy()
        pivot = column.item(k)
        self._inside[k] = 0.0
        self._sizes[self._member.item(k)] -= 1.0
        if pivot > 0:  # else it is alone in its group
            direction = direction - column * (direction.item(k) / pivot)
            self._reduced = dger(-1.0 / pivot, column, column, a=self._reduced, overwrite_a=1)
        self._reduced[:, k] = 0.0
        self._reduced[k] = 0.0
        direction[k] = 0.0
        return self._balanced(direction)

    def _balanced(self, direction: Array) -> Array:
        """The direction with what rounding has left of its sums taken off."""
        return direction - self._means(direction) * self._inside

    def _means(self, values: Array) -> Array | float:
        """The mean over the indices that are left of each group, for each index."""
        if len(self._starts) == 1:
            return float(values @ self._inside) / max(1.0, self._sizes.item(0))
        sums = np.add.reduceat(values * self._inside, self._starts)
        return (sums / np.maximum(1.0, self._sizes))[self._member]


def run_starts(values: Array) -> Array:
    """Where each run of equal values starts."""
    if values[0] == values[-1] and (values == values[0]).all():
        return np.zeros(1, dtype=int)
    return np.concatenate([[0], 1 + np.flatnonzero(values[1:] != values[:-1])])


def _inverse(H: Array, group: Array | None) -> Array | None:
    """The inverse of H + E E' with a ridge, in Fortran's order and symmetric; None without a Cholesky factor.

    E E', with group None all ones, changes nothing for directions whose sums are zero, and makes up for what H lacks
    in the others: of three samples in the plane the linear kernel has a singular H that is definite on those.
    """
    # To a unit diagonal first: badly scaled samples span many decades, and the ridge must not drown the small.
    scale = 1.0 / np.sqrt(np.fmax(H.diagonal(), SMALLEST_DIAGONAL))
    is_scaled = bool((scale == 1.0).all())
    scaled = H.copy() if is_scaled else H * scale[:, None] * scale
    sums = scale / scale.max()
    if group is None:
        scaled += 1.0 if is_scaled else sums[:, None] * sums
    else:
        scaled += (group[:, None] == group) * (sums[:, None] * sums)
    scaled.flat[:: len(H) + 1] += RIDGE
    factor, failed = dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        return None
    # The upper triangle is still that of H: what is above the diagonal comes from below it.
    lower = np.tri(len(H), dtype=bool)
    inverse = np.where(lower, inverse, inverse.T).T
    if not is_scaled:
        inverse *= scale
        inverse *= scale[:, None]
    return inverse
