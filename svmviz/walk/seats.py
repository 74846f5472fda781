"""Who is on the margin, with the rows of H and the inverse of their system; and how the box moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from svmviz.free_system import LEAST_DIAGONAL, MarginSystem
from svmviz.hessian import Hessian
from svmviz.problem import DualProblem
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN

Array = np.ndarray

# Least pivot, relative to the diagonal, with which an inverse is made from scratch.
LEAST_PIVOT = 1e-14


class Seats:
    """Which indices are on the margin, at a bound or held, in a problem that moves.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
    z : ndarray (n,)
        Clipped to the box.

    Attributes
    ----------
    z : ndarray (n,)
        Multipliers; those at a bound are not kept while it moves, see `all_multipliers`.
    side : ndarray (n,) of int8
        -1 at the lower bound, 1 at the upper one, 0 on the margin, 2 held.
    count : int
        How many are on the margin.
    linear, lo, hi, sums
        The problem at the start of the present walk.
    linear_rate : ndarray (n,) or None
        How fast the linear term moves.
    lo_rate, hi_rate : ndarray (n,)
        How fast the bounds move.
    sums_rate : ndarray (n_groups,)
    since : float
        How far the walk has come.
    sigma : ndarray (n,)
        1 at the lower bound, -1 at the upper one, else 0: times gradient less nu it is not negative at an optimum.
    rate : ndarray (n,)
        How fast the multipliers off the margin move.
    base : ndarray (n,)
        How fast the gradient moves by that and by the linear term.
    need : ndarray (n_groups,)
        What the margin must make up for in each group's sum.
    anchor : ndarray (n_groups,) of int
        The place of an index on the margin of each group, -1 where there is none.
    system : MarginSystem
        The inverse for the margin.
    """

    def __init__(self, problem: DualProblem, hessian: Hessian, z: Array):
        self.problem, self.hessian = problem, hessian
        self.n, self.n_groups = problem.n, problem.n_groups
        self.group = problem.group
        self.one_group = self.n_groups == 1
        self.linear, self.sums = problem.linear.copy(), problem.sums.copy()
        self.lo, self.hi = problem.lo.copy(), problem.hi.copy()
        self.lo_rate = self.hi_rate = np.zeros(self.n)
        self.since = 0.0
        self.linear_rate: Array | None = None
        self.sums_rate = np.zeros(self.n_groups)
        self.z = np.clip(z, self.lo, self.hi)
        self.largest = float(np.abs(hessian.diagonal).max()) or 1.0
        self.side = np.zeros(self.n, dtype=np.int8)
        self.side[self.z == self.lo] = AT_LOWER
        self.side[self.z == self.hi] = AT_UPPER
        self.side[self.lo == self.hi] = HELD
        self.sigma = -self.side.astype(float)
        self.sigma[self.side == HELD] = 0.0
        self.count = 0
        self._places = np.empty(32, dtype=int)
        self._rows = np.empty((32, self.n))
        self._edges = np.empty((4, 32))  # lo, hi and their rates, by place
        self.system = MarginSystem()
        self.base, self.rate = np.zeros((2, self.n))
        self._base_size = 0.0  # how large base is
        self.need = np.zeros(self.n_groups)
        self.anchor = np.full(self.n_groups, -1)
        self._ignored: list[int] = []

    @property
    def margin(self) -> Array:
        """The dual indices on the margin, (count,), a view."""
        return self._places[: self.count]

    @property
    def rows(self) -> Array:
        """Their rows of H, (count, n), a view."""
        return self._rows[: self.count]

    def row(self, j: int) -> Array:
        """Row j of H, (n,); not to be written to."""
        row = self.hessian.row(j, slice(0, self.n))
        if self.hessian.has_added:
            row = row.copy()
            row[j] += self.problem.diagonal[j]
        return row

    def of_group(self, values: Array) -> Array:
        """A value for each group, for each index."""
        return values if self.one_group else values[self.group]

    def _reserve(self, count: int) -> None:
        """Room for so many indices on the margin."""
        if count > len(self._rows):
            rows = np.empty((2 * count, self.n))
            rows[: self.count] = self._rows[: self.count]
            self._rows = rows
        if count > len(self._places):
            self._places = np.concatenate([self._places, np.empty(2 * count, dtype=int)])
            self._edges = np.concatenate([self._edges, np.empty((4, 2 * count))], axis=1)

    def _note_edges(self) -> None:
        """Keep the box of the margin by place."""
        margin = self.margin
        for row, values in zip(self._edges, (self.lo, self.hi, self.lo_rate, self.hi_rate), strict=True):
            row[: self.count] = values[margin]

    def _take_system(self, indices: Array, rows: Array, reduced: Array) -> None:
        """Put these (f,) on the margin, with their rows (f, n) of H and B (f, f), see `MarginSystem`."""
        count = len(indices)
        self.count = 0
        self._reserve(count)
        self.count = count
        self._places[:count], self._rows[:count] = indices, rows
        self._note_edges()
        self.system.load(reduced)
        self.anchor[:] = -1
        self.anchor[self.group[indices[::-1]]] = np.arange(count - 1, -1, -1)

    def _rebuild(self) -> bool:
        margin = self.margin
        group = None if self.one_group else self.group[margin]
        if not self.count:
            self.system.clear()
            return True
        square = self._rows[: self.count, margin]
        if square.diagonal().min() < LEAST_DIAGONAL * self.largest:
            return False  # a sample at the origin: no scaling makes a unit of it
        return self.system.rebuild(square, group, LEAST_PIVOT)

    def _enter(
        self, j: int, direction: Array | None = None, curvature: float = 0.0, row: Array | None = None
    ) -> None:
        """Put j on the margin, with the direction (f + 1,) that moves it unless it is its group's first."""
        row = self.row(j) if row is None else row
        self._set_rate(j, 0.0, row)
        self.side[j] = MARGIN
        self.sigma[j] = 0.0
        place = self.count
        self._reserve(place + 1)
        self._rows[place] = row
        self._places[place] = j
        self._edges[:, place] = self.lo.item(j), self.hi.item(j), self.lo_rate.item(j), self.hi_rate.item(j)
        self.count = place + 1
        g = self.group.item(j)
        if self.anchor.item(g) < 0:
            self.anchor[g] = place
        self.system.add(np.empty(0) if direction is None else direction, curvature)

    def _leave(self, place: int, side: int, rate: float) -> None:
        """Take the index at this place off the margin, to this side, where it moves at this rate."""
        j = self._places.item(place)
        self.side[j] = side
        self.sigma[j] = -side if side != HELD else 0.0
        self._set_rate(j, rate, self._rows[place])
        last = self.count - 1
        self.system.drop(place)
        if place != last:
            self._rows[place] = self._rows[last]
            self._edges[:, place] = self._edges[:, last]
            self._places[place] = self._places[last]
        self.count = last
        self._find_anchors(self.group.item(j), place, last)
        self._restore_ignored()

    def _find_anchors(self, g: int, place: int, last: int) -> None:
        """Anchors after an index of group g left this place and the last one took it."""
        if self.one_group:
            self.anchor[0] = 0 if last else -1
            return
        if place != last:
            moved = self.group.item(self._places.item(place))
            if self.anchor.item(moved) == last:
                self.anchor[moved] = place
        if self.anchor.item(g) in (place, last):
            others = np.flatnonzero(self.group[self.margin] == g)
            self.anchor[g] = others[0] if len(others) else -1

    def _set_rate(self, j: int, rate: float, row: Array) -> None:
        """Let an index off the margin move at this rate."""
        change = rate - self.rate.item(j)
        if change:
            self.rate[j] = rate
            daxpy(row, self.base, a=change)
            self._base_size += abs(change) * self.largest
            self.need[self.group.item(j)] -= change

    def _restore_ignored(self) -> None:
        if self._ignored:
            ignored = np.array(self._ignored)
            self.sigma[ignored] = -self.side[ignored]
            self._ignored = []

    # The problem as it moves

    def lo_now(self, indices: Any = slice(None)) -> Array:
        """Lower bounds at the present."""
        return self.lo[indices] + self.since * self.lo_rate[indices]

    def hi_now(self, indices: Any = slice(None)) -> Array:
        """Upper bounds at the present."""
        return self.hi[indices] + self.since * self.hi_rate[indices]

    def bound_now(self, j: int, side: int) -> float:
        """Where the bound on this side of j is at the present."""
        if side == AT_UPPER:
            return self.hi.item(j) + self.since * self.hi_rate.item(j)
        return self.lo.item(j) + self.since * self.lo_rate.item(j)

    def bound_rate(self, j: int, side: int) -> float:
        """How fast the bound on this side of j moves."""
        return (self.hi_rate if side == AT_UPPER else self.lo_rate).item(j)

    def linear_at(self, since: float) -> Array:
        """The linear term (n,) where the walk has come so far."""
        return self.linear if self.linear_rate is None else self.linear + since * self.linear_rate

    def all_multipliers(self) -> Array:
        """z (n,) at the present; what is off the margin exactly at its bound."""
        bounds = np.where(self.side == AT_UPPER, self.hi_now(), self.lo_now())
        return np.where(self.side == MARGIN, self.z, bounds)
