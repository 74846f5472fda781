"""Where the solver stands: multipliers, gradient, and what each index may still do."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from svmviz.hessian import Hessian
from svmviz.problem import EPS, DualProblem

Array = np.ndarray
Blocked = Literal["none", "i", "j", "both"]

# The smallest curvature along a pair, relative to the largest diagonal entry of H: below it lie rounding,
# duplicates and kernels that are not positive semidefinite (LIBSVM's tau, made independent of scale).
CURVATURE_FLOOR = 1e-12
# ... and in itself, so that nothing divided by it overflows.
SMALLEST_CURVATURE = 1e-150
# A multiplier this near to a bound, relative to the numbers it came from, has only rounding between them: it
# is put on the bound. Not relative to the box: badly scaled data take honest steps that are tiny against C.
SNAP = 4 * EPS
# When a row must be computed, so many that are next in line on either side come with it.
FETCHED = 8


class Move(NamedTuple):
    """One pair moved: z_i grew and z_j shrank by `step`.

    Attributes
    ----------
    group, i, j : int
        The group and the dual indices of the pair.
    gradient_i, gradient_j : float
        Gradients before the move.
    violation : float
        Violation of the whole problem before the move.
    curvature : float
        H_ii + H_jj - 2 H_ij as it is; the step uses at least the floor.
    unclipped, step : float
        Minimiser along the pair, and how far it went.
    blocked : "none", "i", "j" or "both"
        Whose bound clipped the step.
    z_i_before, z_i_after, z_j_before, z_j_after : float
    """

    group: int
    i: int
    j: int
    gradient_i: float
    gradient_j: float
    violation: float
    curvature: float
    unclipped: float
    step: float
    blocked: Blocked
    z_i_before: float
    z_i_after: float
    z_j_before: float
    z_j_after: float


class Iterate:
    """Multipliers z with the gradient Hz + p, kept in step while pairs move.

    Which indices may grow or shrink changes for two indices a move, so it is kept and not worked out anew: beside
    the gradient stand a copy that is inf where a multiplier may not grow, and one that is -inf where it may not
    shrink. A move adds the same change to all three.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
    z : ndarray (n,)
        Feasible, but for rounding; copied.
    gradient : ndarray (n,), optional
        H z + p if known; copied.

    Attributes
    ----------
    n : int
        Number of dual indices.
    lo, hi, group : ndarray (n,)
        As in the problem.
    gradient, up_gradient, low_gradient : ndarray (n,)
        The gradient, and the two copies; the rows of `gradients`.
    n_groups : int
    one_group : bool
    is_flat : bool
        Whether all diagonal entries of H are equal, and no other entry can be larger.
    margin : float
        No multiplier further than this from a bound is `snapped` to it.
    violation : float
        The largest violation over the groups.
    moved : bool
        Whether the last pair changed a multiplier.
    """

    def __init__(self, problem: DualProblem, hessian: Hessian, z: Array, gradient: Array | None = None):
        self.problem, self.hessian = problem, hessian
        # A start may be outside of the box by rounding, and would stay there.
        self.z = np.clip(np.asarray(z, dtype=float), problem.lo, problem.hi)
        self.n, self.lo, self.hi, self.group = problem.n, problem.lo, problem.hi, problem.group
        largest = float(np.abs(hessian.diagonal).max()) or 1.0
        self.floor = max(CURVATURE_FLOOR * largest, SMALLEST_CURVATURE)
        # A multiplier further than this from both bounds has more than rounding between them.
        self.margin = 2 * SNAP * max(-float(self.lo.min()), float(self.hi.max()))
        self.negative_curvature = False
        diagonal = hessian.diagonal
        self.is_flat = hessian.is_known_definite and bool((diagonal == diagonal.item(0)).all())
        self.gradients = np.empty((3, self.n))
        self.gradient, self.up_gradient, self.low_gradient = self.gradients
        self.gradient[:] = hessian.gradient(self.z) if gradient is None else gradient
        self._gains, self._sizes, self._curvatures = np.empty((3, self.n))
        starts = problem.starts
        self.n_groups = len(starts)
        self.one_group = self.n_groups == 1
        self._starts, self._ends = starts, np.append(starts[1:], self.n)
        sizes = self._ends - starts
        self._many_alike = len(sizes) > sizes[0] and bool((sizes == sizes[0]).all())
        self._extremes = (0, 0)
        self.violation = np.inf
        self.moved = True
        self._last: tuple[Any, ...] = ()
        self._look()

    @property
    def may_grow(self) -> Array:
        """Which multipliers are below their upper bound, (n,) of bool."""
        return self.up_gradient < np.inf

    @property
    def may_shrink(self) -> Array:
        """Which multipliers are above their lower bound, (n,) of bool."""
        return self.low_gradient > -np.inf

    def free(self) -> Array:
        """The indices strictly between their bounds, ascending."""
        return np.flatnonzero(self.free_mask())

    def free_mask(self) -> Array:
        """Which indices are strictly between their bounds, (n,) of bool."""
        return self.may_grow & self.may_shrink

    def is_free(self, i: int) -> bool:
        """Whether z_i lies strictly between its bounds."""
        return bool(self.up_gradient.item(i) < np.inf and self.low_gradient.item(i) > -np.inf)

    def selectable(self) -> Array:
        """Which indices can still be picked: those that violate against a threshold of their group, (n,) of bool.

        At lo with a gradient above all that may shrink, or at hi with one below all that may grow, an index makes no
        violating pair, and seldom makes one later, since the thresholds draw closer; see `svmviz.smo.shrinking`.
        """
        up, low = self.thresholds()
        group = self.group
        return (self.up_gradient <= low[group]) | (self.low_gradient >= up[group]) | self.free_mask()

    def scan(self) -> float:
        """Find the most violated group and its two extremes; the violation of the problem."""
        up, low = self.up_gradient, self.low_gradient
        if self.one_group:
            i, j = int(up.argmin()), int(low.argmax())
        else:
            spread = self._per_group(np.maximum, low)
            spread -= self._per_group(np.minimum, up)
            worst = int(spread.argmax())
            first, last = int(self._starts[worst]), int(self._ends[worst])
            i = first + int(up[first:last].argmin())
            j = first + int(low[first:last].argmax())
        self._extremes = (i, j)
        self.violation = max(0.0, low.item(j) - up.item(i))
        return self.violation

    def _per_group(self, reduction: np.ufunc, values: Array) -> Array:
        """The reduction over each group, (n_groups,)."""
        if not self._many_alike:
            return reduction.reduceat(values, self._starts)
        # Many groups of a few indices each: k passes over all groups instead of a short pass for each.
        size = self.n // len(self._starts)
        result = values[0::size].copy()
        for k in range(1, size):
            reduction(result, values[k::size], out=result)
        return result

    def thresholds(self) -> tuple[Array, Array]:
        """Smallest gradient that may grow and largest that may shrink, of each group, (n_groups,) each."""
        return self._per_group(np.minimum, self.up_gradient), self._per_group(np.maximum, self.low_gradient)

    def extremes(self) -> tuple[int, int]:
        """The maximal violating pair (i, j)."""
        return self._extremes

    def members(self, i: int) -> slice:
        """The dual indices of i's group."""
        if self.one_group:
            return slice(0, self.n)
        group = self.group[i]
        return slice(int(self._starts[group]), int(self._ends[group]))

    def curvatures(self, i: int, members: slice) -> Array:
        """H_ii + H_kk - 2 H_ik for k in members, at least the floor; good until the next call."""
        if not self.hessian.has(i):
            self.fetch(i)
        curvatures = self._curvatures[members]
        np.multiply(self.hessian.row(i, members), -2.0, out=curvatures)
        if self.is_flat:
            # |H_ik| is at most H_ii: two calls less where the floor may be added.
            curvatures += 2.0 * self.hessian.diagonal.item(i) + self.floor
            return curvatures
        curvatures += self.hessian.diagonal[members]
        curvatures += self.hessian.diagonal.item(i)
        return np.maximum(curvatures, self.floor, out=curvatures)

    def fetch(self, i: int) -> None:
        """Have the row of i computed, and with it those that the next pairs most likely need."""
        wanted = [i]
        if self.n > FETCHED:
            wanted += self.up_gradient.argpartition(FETCHED)[:FETCHED].tolist()
            wanted += self.low_gradient.argpartition(-FETCHED)[-FETCHED:].tolist()
        self.hessian.fetch(np.array(wanted))

    def gains(self, i: int, members: slice) -> Array:
        """Twice what an unclipped step along (i, k) would gain, k in members; good until the next call.

        Below zero where (i, k) is no violating pair.
        """
        gains, sizes = self._gains[members], self._sizes[members]
        np.subtract(self.low_gradient[members], self.gradient.item(i), out=gains)
        np.abs(gains, out=sizes)
        np.multiply(gains, sizes, out=gains)
        np.divide(gains, self.curvatures(i, members), out=gains)
        return gains

    def move(self, i: int, j: int) -> None:
        """Minimise along the pair within the box, Platt (1998), equations (16) to (18), in signed multipliers."""
        z, hessian = self.z, self.hessian
        gradient_i, gradient_j = self.gradient.item(i), self.gradient.item(j)
        z_i, z_j = z.item(i), z.item(j)
        curvature = hessian.diagonal.item(i) + hessian.diagonal.item(j) - 2.0 * hessian.entry(i, j)
        unclipped = (gradient_j - gradient_i) / max(curvature, self.floor)
        lo_i, hi_i, lo_j, hi_j = self.lo.item(i), self.hi.item(i), self.lo.item(j), self.hi.item(j)
        room_i, room_j = hi_i - z_i, z_j - lo_j
        if curvature < -self.floor:
            self.negative_curvature = True
            if room_i == room_j == np.inf:
                unclipped = 0.0  # there is no minimum on the way
        step = min(unclipped, room_i, room_j)
        z_i_after = hi_i if step >= room_i else snapped(z_i, step, lo_i, hi_i)
        z_j_after = lo_j if step >= room_j else snapped(z_j, -step, lo_j, hi_j)
        hessian.add_step(self.gradients, i, j, step)
        self._put(i, z_i_after, lo_i, hi_i)
        self._put(j, z_j_after, lo_j, hi_j)
        self.moved = z_i != z_i_after or z_j != z_j_after
        self._last = (
            i, j, gradient_i, gradient_j, self.violation, curvature, unclipped, step, room_i, room_j,
            z_i, z_i_after, z_j, z_j_after,
        )  # fmt: skip

    def last_move(self) -> Move:
        """The pair that moved last."""
        i, j, gradient_i, gradient_j, violation, curvature, unclipped, step, room_i, room_j, *z = self._last
        hits_i, hits_j = step >= room_i, step >= room_j
        blocked: Blocked = "both" if hits_i and hits_j else "i" if hits_i else "j" if hits_j else "none"
        return Move(
            int(self.group[i]),
            i,
            j,
            gradient_i,
            gradient_j,
            violation,
            curvature,
            unclipped,
            step,
            blocked,
            *z,
        )

    def shift(self, indices: Array, z: Array) -> None:
        """Put the multipliers of these indices, which ascend, to z; those with only rounding to a bound, on it."""
        before = self.z[indices]
        lo, hi = self.lo[indices], self.hi[indices]
        after = z
        if ((z - lo < self.margin) | (hi - z < self.margin)).any():
            after = snapped_all(before, z, lo, hi)
        self.z[indices] = after
        self.gradient += self.hessian.combination(indices, after - before)
        self._look()

    def refresh(self) -> float:
        """Give the sums back what rounding took, compute the gradient anew, and scan; the violation."""
        self.z[:] = self.problem.restore_sums(self.z)
        self.gradient[:] = self.hessian.gradient(self.z)
        return self._look()

    def _look(self) -> float:
        """Work out anew what each index may do, and scan."""
        self.up_gradient[:] = np.where(self.z < self.hi, self.gradient, np.inf)
        self.low_gradient[:] = np.where(self.z > self.lo, self.gradient, -np.inf)
        return self.scan()

    def _put(self, i: int, value: float, lo: float, hi: float) -> None:
        self.z[i] = value
        gradient = self.gradient.item(i)
        self.up_gradient[i] = gradient if value < hi else np.inf
        self.low_gradient[i] = gradient if value > lo else -np.inf


def snapped(before: float, change: float, lo: float, hi: float) -> float:
    """before + change, or the bound that only rounding keeps it from; an infinite bound is never reached."""
    after = before + change
    size = max(abs(before), abs(change))
    if after - lo < SNAP * max(size, abs(lo)):
        return lo
    return hi if hi - after < SNAP * max(size, abs(hi)) else after


def snapped_all(before: Array, after: Array, lo: Array, hi: Array) -> Array:
    """`snapped` for arrays; a pair goes without, since NumPy's calls are what it costs."""
    size = np.maximum(np.abs(before), np.abs(after - before))
    at_lo = after - lo < SNAP * np.maximum(size, np.abs(lo))
    at_hi = hi - after < SNAP * np.maximum(size, np.abs(hi))
    return np.where(at_lo, lo, np.where(at_hi, hi, after))
