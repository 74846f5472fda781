"""The linear system of the free multipliers, with an inverse that follows when one of them leaves or another comes.

With the free set F and the group of each free index (E its indicator matrix), the change d of the multipliers that
takes the gradients of every group to one common value, its sum zero over each group, solves

    [ H_FF  -E ] [d ]   [ -g_F ]
    [ E'     0 ] [nu] = [   0  ]
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import daxpy, dger
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

Array = np.ndarray

# Relative to the diagonal: makes duplicates and rounding factorable. Whoever uses a direction takes its length on the
# true H, so the ridge bends the direction and never spoils the objective.
RIDGE = 1e-12
# The smallest diagonal entry that is scaled to 1.
SMALLEST_DIAGONAL = 1e-150
# An index whose diagonal entry is below this, relative to the largest, belongs in no system.
LEAST_DIAGONAL = 1e-20


class FreeSystem:
    """What solves the system above: d = -B g, with B the inverse of H_FF on the directions whose sums are zero.

    It starts as the Cholesky factor of A = H_FF + E E' with a ridge. E E', all ones where there is one group, changes
    nothing for directions whose sums are zero, and makes up for what H lacks in the others: of three samples in the
    plane the linear kernel has a singular H that is definite on those. B = A^-1 - A^-1 E (E'A^-1 E)^-1 E'A^-1, which
    takes three times as long as the factor, is made when it pays: where there are many groups, and when an index
    leaves. Leaving index k out takes B to B - b b' / b_k, b its column k, whatever the groups: O(f^2).

    Parameters
    ----------
    H : ndarray (f, f)
        H on the free set; not changed.
    group : ndarray (f,) of int, optional
        Group of each free index, ascending; default: one group.
    ridge : float, default RIDGE
        Added to the diagonal, which is scaled to 1.

    Attributes
    ----------
    is_definite : bool
        Whether the Cholesky factor is there; without it nothing else is.
    """

    def __init__(self, H: Array, group: Array | None = None, ridge: float = RIDGE):
        self._ridge = ridge
        self._starts = np.zeros(1, dtype=int) if group is None else run_starts(group)
        self._one_group = len(self._starts) == 1
        self._inside = np.ones(len(H))
        # How many are left in each group, and the group of each place, numbered from 0.
        self._sizes = np.add.reduceat(self._inside, self._starts)
        self._member = np.zeros(len(H), dtype=int)
        if not self._one_group:
            self._member = np.repeat(np.arange(len(self._sizes)), self._sizes.astype(int))
        # To a unit diagonal first: badly scaled samples span many decades, and the ridge must not drown the small.
        diagonal = H.diagonal()
        self._is_unit = bool((diagonal == 1.0).all())
        self._scale = (
            np.ones(len(H)) if self._is_unit else 1.0 / np.sqrt(np.fmax(diagonal, SMALLEST_DIAGONAL))
        )
        self._factor, failed = dpotrf(self._scaled(H).T, lower=1, clean=1, overwrite_a=1)
        self.is_definite = not failed
        self._reduced: Array | None = None

    def _scaled(self, H: Array) -> Array:
        """A (f, f), its rows and columns scaled so that the diagonal of H is 1."""
        if self._is_unit and self._one_group:
            scaled = H + 1.0
        else:
            scale = self._scale
            sums = scale / scale.max()
            products = sums[:, None] * sums
            scaled = H * scale[:, None] * scale
            scaled += products if self._one_group else products * (self._member[:, None] == self._member)
        scaled.flat[:: len(H) + 1] += self._ridge
        return scaled

    def direction(self, gradient: Array) -> Array:
        """d (f,) from the gradients (f,); zero at the indices that were dropped."""
        # Taking a constant off the gradient of a group changes nothing but the rounding.
        descent = self._means(gradient) - gradient
        if self._reduced is None and self._one_group:
            return self._balanced(self._solved(descent))
        return self._balanced(self.matrix() @ descent)

    @property
    def least_pivot(self) -> float:
        """The smallest pivot of A, scaled to a unit diagonal."""
        return float(self._factor.diagonal().min(initial=np.inf)) ** 2

    def _solved(self, descent: Array) -> Array:
        """B times a vector (f,), from the factor; for one group."""
        scale = self._scale
        right = np.array([descent * scale, scale]).T
        both, _ = dpotrs(self._factor, right, lower=1, overwrite_b=1)
        direction, ones = both[:, 0], both[:, 1]
        direction -= ones * (scale.dot(direction) / scale.dot(ones))
        direction *= scale
        return direction

    def matrix(self) -> Array:
        """B (f, f), in Fortran's order and symmetric; as it is kept, not to be written to."""
        if self._reduced is None:
            lower, _ = dpotri(self._factor, lower=1, overwrite_c=1)
            inverse = (lower + lower.T).T
            inverse.T.flat[:: len(lower) + 1] *= 0.5
            if not self._is_unit:
                inverse *= self._scale
                inverse *= self._scale[:, None]
            self._reduced = self._without_sums(inverse)
        return self._reduced

    def _without_sums(self, inverse: Array) -> Array:
        """B from A^-1 (f, f), in place; see the class."""
        if self._one_group:
            column = inverse.sum(axis=1)
            return dger(-1.0 / float(column.sum()), column, column, a=inverse, overwrite_a=1)
        by_group = np.add.reduceat(inverse, self._starts, axis=1)
        sums = np.add.reduceat(by_group, self._starts, axis=0)
        inverse -= by_group @ np.linalg.solve(sums, by_group.T)
        return inverse

    def drop(self, k: int, direction: Array) -> Array:
        """Take the index at place k out of the free set; the direction (f,) without it, in place.

        Parameters
        ----------
        k : int
        direction : ndarray (f,)
            The direction so far, contiguous.
        """
        reduced = self.matrix()
        column = reduced[:, k].copy()
        pivot = column.item(k)
        self._inside[k] = 0.0
        self._sizes[self._member.item(k)] -= 1.0
        if pivot > 0:  # else it is alone in its group
            daxpy(column, direction, a=-direction.item(k) / pivot)
            self._reduced = reduced = dger(-1.0 / pivot, column, column, a=reduced, overwrite_a=1)
        reduced[:, k] = 0.0
        reduced[k] = 0.0
        direction[k] = 0.0
        return self._balanced(direction)

    def _balanced(self, direction: Array) -> Array:
        """The direction, in place, with what rounding has left of its sums taken off."""
        if self._one_group:
            return daxpy(self._inside, direction, a=-self._means(direction))
        direction -= self._means(direction) * self._inside
        return direction

    def _means(self, values: Array) -> Array | float:
        """The mean over the indices that are left of each group, for each index."""
        if self._one_group:
            return self._inside.dot(values).item() / max(1.0, self._sizes.item(0))
        sums = np.add.reduceat(values * self._inside, self._starts)
        return (sums / np.maximum(1.0, self._sizes))[self._member]


def run_starts(values: Array) -> Array:
    """Where each run of equal values starts."""
    if values[0] == values[-1] and (values == values[0]).all():
        return np.zeros(1, dtype=int)
    return np.concatenate([[0], 1 + np.flatnonzero(values[1:] != values[:-1])])


class MarginSystem:
    """The same B for a set that both grows and shrinks, in any order of its indices: O(f^2) for each change.

    With b the column of B that leaves, B becomes B - b b' / b_k. For an index j that comes, let v be the change of
    all indices that moves z_j by 1, keeps the sums and leaves the gradients of every group equal; then B grows by
    v v' / (v'Hv). Where v'Hv is zero the indices depend on each other, and v is a direction in which nothing changes.

    The order: who comes is last; the last one takes the place of who leaves.

    Parameters
    ----------
    capacity : int, default 32
        How many indices there is room for at first.

    Attributes
    ----------
    count : int
        f, how many indices there are.
    updates : int
        Changes since B was made from scratch.
    """

    def __init__(self, capacity: int = 32):
        self._buffer = np.zeros((capacity, capacity))
        self._fresh: FreeSystem | None = None
        self._order: Array | None = None
        self._alone = np.empty(0, dtype=int)
        self.count = 0
        self.updates = 0

    def copy(self) -> MarginSystem:
        """A system of its own."""
        self.matrix()
        other = MarginSystem(0)
        other._buffer = self._buffer.copy()
        other.count, other.updates = self.count, self.updates
        return other

    def rebuild(self, H: Array, group: Array | None, least_pivot: float = 0.0) -> bool:
        """Start from scratch for H (f, f) with the group of each index (f,), None for one; whether that is possible.

        It is not where a pivot, relative to the diagonal, is below the least. The inverse itself is made later, when
        it is first needed.
        """
        self._order = None if group is None else group.argsort(kind="stable")
        order = self._order
        sorted_H = H if order is None else H[np.ix_(order, order)]
        fresh = FreeSystem(sorted_H, None if group is None or order is None else group[order], ridge=0.0)
        if not fresh.is_definite or fresh.least_pivot < least_pivot:
            return False
        self._fresh, self.count, self.updates = fresh, len(H), 0
        # Who is alone in its group cannot move: its row of B is zero, whatever rounding says.
        one = group is None and len(H) == 1
        alone = np.bincount(group)[group] == 1 if group is not None else np.full(len(H), one)
        self._alone = np.flatnonzero(alone)
        return True

    def load(self, B: Array) -> None:
        """Take over B (f, f) as it was kept elsewhere."""
        self.clear()
        self._reserve(len(B))
        self.count = len(B)
        self._buffer[: self.count, : self.count] = B

    def clear(self) -> None:
        """No index."""
        self._fresh, self.count, self.updates = None, 0, 0

    def matrix(self) -> Array:
        """B (f, f), a view."""
        count = self.count
        if self._fresh is not None:
            self._reserve(count)
            B = self._fresh.matrix()
            if self._order is None:
                self._buffer[:count, :count] = B
            else:
                self._buffer[self._order[:, None], self._order] = B
            self._buffer[self._alone] = 0.0
            self._buffer[:, self._alone] = 0.0
            self._fresh = None
        return self._buffer[:count, :count]

    def times(self, values: Array) -> Array:
        """B times a vector (f,)."""
        if self._fresh is None or len(self._alone):
            self.matrix()
            return self._buffer[: self.count, : self.count].dot(values)
        if self._order is None:
            return -self._fresh.direction(values)
        result = np.empty(self.count)
        result[self._order] = -self._fresh.direction(values[self._order])
        return result

    def add(self, direction: Array, curvature: float) -> None:
        """One index more, with v (f + 1,) and v'Hv; zero where it is the first of its group, which has no v."""
        self.matrix()
        count = self.count
        self._reserve(count + 1)
        self.count = count + 1
        grown = self._buffer[: count + 1, : count + 1]
        grown[count] = 0.0
        grown[:, count] = 0.0
        if curvature > 0:
            grown += (direction / curvature)[:, None] * direction
        self.updates += 1

    def drop(self, k: int) -> None:
        """The index at place k leaves; the last one takes its place."""
        B = self.matrix()
        last = self.count - 1
        column = B[:, k].copy()
        pivot = column.item(k)
        if pivot > 0:  # else it is alone in its group
            B -= (column / pivot)[:, None] * column
        if k != last:
            B[k] = B[last]
            B[:, k] = B[:, last]
            B[k, k] = B[last, last]
        self.count = last
        self.updates += 1

    def _reserve(self, count: int) -> None:
        if count <= len(self._buffer):
            return
        grown = np.zeros((2 * count, 2 * count))
        used = self.count if self._fresh is None else 0
        grown[:used, :used] = self._buffer[:used, :used]
        self._buffer = grown
