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
        self._starts = np.flatnonzero(np.diff(group, prepend=-1))
        self._member = np.repeat(np.arange(len(self._starts)), np.diff(self._starts, append=len(H)))
        self._inside = np.ones(len(H))
        self._sizes = np.add.reduceat(self._inside, self._starts)
        inverse = _inverse(H)
        self.is_definite = inverse is not None
        if inverse is not None:
            self._reduced = self._without_sums(inverse)

    def _without_sums(self, inverse: Array) -> Array:
        """B = P - PE (E'PE)^-1 E'P, in Fortran's order and symmetric."""
        by_group = np.add.reduceat(inverse, self._starts, axis=1)
        sums = np.add.reduceat(by_group, self._starts, axis=0)
        if len(sums) == 1:
            column = by_group[:, 0]
            return dger(-1.0 / float(sums[0, 0]), column, column, a=inverse, overwrite_a=1)
        inverse -= by_group @ np.linalg.solve(sums, by_group.T)
        return inverse

    def drop(self, k: int) -> None:
        """Take the index at place k out of the free set."""
        column = self._reduced[:, k].copy()
        pivot = column.item(k)
        if pivot > 0:  # else it is alone in its group
            self._reduced = dger(-1.0 / pivot, column, column, a=self._reduced, overwrite_a=1)
        self._reduced[:, k] = 0.0
        self._reduced[k] = 0.0
        self._inside[k] = 0.0
        self._sizes[self._member.item(k)] -= 1.0

    def direction(self, gradient: Array) -> Array:
        """d (f,) from the gradients (f,); zero at the indices that were dropped."""
        # Taking a constant off the gradient of a group changes nothing but the rounding.
        solved = self._reduced @ (gradient - self._means(gradient))
        return (self._means(solved) - solved) * self._inside

    def _means(self, values: Array) -> Array | float:
        """The mean over the indices that are left of each group, for each index."""
        if len(self._starts) == 1:
            return float(values @ self._inside) / max(1.0, self._sizes.item(0))
        sums = np.add.reduceat(values * self._inside, self._starts)
        return (sums / np.maximum(1.0, self._sizes))[self._member]


def _inverse(H: Array) -> Array | None:
    """The inverse of H with a ridge, in Fortran's order and symmetric; None without a Cholesky factor."""
    # To a unit diagonal first: badly scaled samples span many decades, and the ridge must not drown the small.
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(H), SMALLEST_DIAGONAL))
    scaled = H * scale[:, None]
    scaled *= scale
    scaled.flat[:: len(H) + 1] += RIDGE
    factor, failed = dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
    if failed or not np.isfinite(inverse).all():
        return None
    inverse = np.tril(inverse)
    inverse += np.tril(inverse, -1).T
    inverse *= scale
    inverse *= scale[:, None]
    return np.asfortranarray(inverse)
