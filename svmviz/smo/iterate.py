"""Where the solver stands: multipliers, gradient, and what each index may still do."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from svmviz.gram import Hessian
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

    Which indices may grow or shrink changes for two indices a move, so it is kept and not worked out anew:
    as masks, and as penalties that push the others out of a minimum or a maximum.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
    z : ndarray (n,)
        Feasible; copied.
    gradient : ndarray (n,), optional
        H z + p if known; copied.
    """

    def __init__(self, problem: DualProblem, hessian: Hessian, z: Array, gradient: Array | None = None):
        self.problem = problem
        self.hessian = hessian
        self.z = np.array(z, dtype=float)
        self.gradient = hessian.gradient(self.z) if gradient is None else np.array(gradient, dtype=float)
        largest = float(np.abs(hessian.diagonal).max()) or 1.0
        self.floor = max(CURVATURE_FLOOR * largest, SMALLEST_CURVATURE)
        self.negative_curvature = False
        self.may_grow = np.empty(problem.n, dtype=bool)
        self.may_shrink = np.empty(problem.n, dtype=bool)
        self._grow_penalty = np.empty(problem.n)
        self._shrink_penalty = np.empty(problem.n)
        self.up_gradient = np.empty(problem.n)
        self.low_gradient = np.empty(problem.n)
        self._starts = problem.starts
        self._ends = np.append(self._starts[1:], problem.n)
        sizes = self._ends - self._starts
        self._many_alike = bool((sizes == sizes[0]).all()) and int(sizes[0]) < len(sizes)
        self._extremes = (0, 0)
        self.violation = np.inf
        self._look()

    def scan(self) -> float:
        """Find the most violated group and its two extremes; the violation of the problem."""
        np.add(self.gradient, self._grow_penalty, out=self.up_gradient)
        np.add(self.gradient, self._shrink_penalty, out=self.low_gradient)
        first, last = 0, self.problem.n
        if len(self._starts) > 1:
            spread = self._per_group(np.maximum, self.low_gradient)
            spread -= self._per_group(np.minimum, self.up_gradient)
            worst = int(spread.argmax())
            first, last = int(self._starts[worst]), int(self._ends[worst])
        i = first + int(self.up_gradient[first:last].argmin())
        j = first + int(self.low_gradient[first:last].argmax())
        self._extremes = (i, j)
        self.violation = max(0.0, float(self.low_gradient[j] - self.up_gradient[i]))
        return self.violation

    def _per_group(self, reduction: np.ufunc, values: Array) -> Array:
        """The reduction over each group, (n_groups,)."""
        if not self._many_alike:
            return reduction.reduceat(values, self._starts)
        # Many groups of a few indices each: k passes over all groups instead of a short pass for each.
        size = self.problem.n // len(self._starts)
        result = values[0::size].copy()
        for k in range(1, size):
            reduction(result, values[k::size], out=result)
        return result

    def extremes(self) -> tuple[int, int]:
        """The maximal violating pair (i, j)."""
        return self._extremes

    def members(self, i: int) -> slice:
        """The dual indices of i's group."""
        group = self.problem.group[i]
        return slice(int(self._starts[group]), int(self._ends[group]))

    def is_free(self, i: int) -> bool:
        """Whether z_i lies strictly between its bounds."""
        return bool(self.may_grow[i] and self.may_shrink[i])

    def curvatures(self, i: int, members: slice) -> Array:
        """H_ii + H_kk - 2 H_ik for k in members, at least the floor."""
        curvatures = self.hessian.row(i, members) * -2.0
        curvatures += self.hessian.diagonal[members]
        curvatures += self.hessian.diagonal[i]
        return np.maximum(curvatures, self.floor, out=curvatures)

    def move(self, i: int, j: int) -> Move:
        """Minimise along the pair within the box, Platt (1998), equations (16) to (18), in signed multipliers."""
        problem, z, g = self.problem, self.z, self.gradient
        gradient_i, gradient_j = float(g[i]), float(g[j])
        z_i, z_j = float(z[i]), float(z[j])
        curvature = float(
            self.hessian.diagonal[i] + self.hessian.diagonal[j] - 2.0 * self.hessian.entry(i, j)
        )
        unclipped = (gradient_j - gradient_i) / max(curvature, self.floor)
        lo_i, hi_i, lo_j, hi_j = (
            float(b) for b in (problem.lo[i], problem.hi[i], problem.lo[j], problem.hi[j])
        )
        room_i, room_j = hi_i - z_i, z_j - lo_j
        if curvature < -self.floor:
            self.negative_curvature = True
            if room_i == room_j == np.inf:
                unclipped = 0.0  # there is no minimum on the way
        step = min(unclipped, room_i, room_j)
        hits_i, hits_j = step >= room_i, step >= room_j
        blocked: Blocked = "both" if hits_i and hits_j else "i" if hits_i else "j" if hits_j else "none"
        z_i_after = hi_i if hits_i else _snapped(z_i, step, lo_i, hi_i)
        z_j_after = lo_j if hits_j else _snapped(z_j, -step, lo_j, hi_j)
        self.hessian.add_step(g, i, j, step)
        self._put(i, z_i_after)
        self._put(j, z_j_after)
        violation, group = self.violation, int(problem.group[i])
        return Move(
            group, i, j, gradient_i, gradient_j, violation, curvature, unclipped, step, blocked,
            z_i, z_i_after, z_j, z_j_after,
        )  # fmt: skip

    def shift(self, indices: Array, change: Array, gradient_change: Array, blocked: Array) -> None:
        """Add `change` to the multipliers `indices`; those in `blocked` are at the bound they moved towards."""
        problem = self.problem
        self.z[indices] = _snapped_all(self.z[indices], change, problem.lo[indices], problem.hi[indices])
        nearer_hi = problem.hi[blocked] - self.z[blocked] < self.z[blocked] - problem.lo[blocked]
        self.z[blocked] = np.where(nearer_hi, problem.hi[blocked], problem.lo[blocked])
        self.gradient += gradient_change
        self._look()

    def refresh(self) -> float:
        """Give the sums back what rounding took, compute the gradient anew, and scan; the violation."""
        self.z[:] = self.problem.restore_sums(self.z)
        self.gradient[:] = self.hessian.gradient(self.z)
        return self._look()

    def _look(self) -> float:
        """Work out anew what each index may do, and scan."""
        np.less(self.z, self.problem.hi, out=self.may_grow)
        np.greater(self.z, self.problem.lo, out=self.may_shrink)
        self._grow_penalty[:] = np.where(self.may_grow, 0.0, np.inf)
        self._shrink_penalty[:] = np.where(self.may_shrink, 0.0, -np.inf)
        return self.scan()

    def _put(self, i: int, value: float) -> None:
        self.z[i] = value
        grow, shrink = value < self.problem.hi[i], value > self.problem.lo[i]
        self.may_grow[i], self.may_shrink[i] = grow, shrink
        self._grow_penalty[i] = 0.0 if grow else np.inf
        self._shrink_penalty[i] = 0.0 if shrink else -np.inf


def _snapped(before: float, change: float, lo: float, hi: float) -> float:
    """before + change, or the bound that only rounding keeps it from; an infinite bound is never reached."""
    after = before + change
    size = max(abs(before), abs(change))
    if after - lo < SNAP * max(size, abs(lo)):
        return lo
    return hi if hi - after < SNAP * max(size, abs(hi)) else after


def _snapped_all(before: Array, change: Array, lo: Array, hi: Array) -> Array:
    """`_snapped` for arrays; a pair goes without, since NumPy's calls are what it costs."""
    after = before + change
    size = np.maximum(np.abs(before), np.abs(change))
    at_lo = after - lo < SNAP * np.maximum(size, np.abs(lo))
    at_hi = hi - after < SNAP * np.maximum(size, np.abs(hi))
    return np.where(at_lo, lo, np.where(at_hi, hi, after))
