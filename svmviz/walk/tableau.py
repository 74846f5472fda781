"""The fast stretch of a walk: all that can reach zero next in one vector, and one pivot for each event.

Let R hold the rows of H of the indices on the margin, and for each group a row that is -1 on its indices; let N be
the inverse of those columns of R,

    [ H_MM  -E ]
    [ -E'    0 ]   (rows and columns in any order, those of the groups among them).

What moves z_j by 1 and keeps the sums and the equations of the margin is v = -N R_.j on the margin and its groups,
and moves the gradient less nu of every index by w = H_j. + v'R. So each event adds a multiple of one v to how fast
the multipliers move, and of one w to how fast everything else does: nothing is solved anew, and an event takes one
product with N, one with R and one update of rank one (principal pivoting; Cauwenberghs, Poggio: Incremental and
decremental support vector machine learning, 2001; Best: An algorithm for the solution of the parametric quadratic
programming problem, 1996).

An optimality condition is a number that is not negative: for an index at a bound its gradient less nu, with the sign
of that bound; on the margin the distances from both bounds. All of these stand in one vector `slack`, their speeds in
`speed`, so that the next event is the least of speed / slack.

It knows generic events only. Where an index depends on the margin, a group's last index leaves, or events stand still
in one place, it gives up before anything is changed, and `svmviz.walk.walker` takes that one event with care.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.linalg.blas import dasum, daxpy, dger

from svmviz.problem import EPS
from svmviz.walk.levels import gradient_scale
from svmviz.walk.margin import Margin
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN
from svmviz.walk.slots import FAR, NEAR, Slots, parts_of

Array = np.ndarray

Outcome = Literal["arrived", "condition holds", "gave up"]

LEAST_SLACK = np.array(NEAR)  # no time to make an array of it
# Least curvature of an index that comes in, relative to its diagonal entry; and relative to what its terms have lost.
LEAST_CURVATURE, LOST = 1e-7, 1e5 * EPS
# Least pivot of an index that leaves, relative to what it is at least but for rounding.
LEAST_PIVOT = 0.01
# So many events in one place before it gives up.
MOST_STANDING = 12
# So many events at most between two looks at what rounding has left; half as many where that is above the first share
# of the scale, twice as many where it is below the second.
MOST_BETWEEN, LOOK_SOONER, LOOK_LATER = 32, 1e-11, 1e-12
# What the equations of a direction of length 1 may lack before it is refined, for its square not to matter after it.
DOUBTFUL = 1e-8
# What rounding may have left at a look, relative to the scale of the gradient; what is enough after so many
# corrections at most, relative to the terms of a gradient; and the share that each may keep.
MOST_LEFT, ENOUGH, MOST_CORRECTIONS, MOST_KEPT = 1e-8, 8 * EPS, 4, 0.1
# A correction that moves a multiplier by more than this share of the largest is the fault of the inverse.
MOST_MOVED = 1e-6


class Tableau(Slots):
    """A margin with its inverse, and how far everything is from its next event.

    Parameters
    ----------
    margin : Margin
        Between two events, with an index on the margin of every group; it is not changed.
    refines : bool, default True
        Take off what rounding has left of each direction: for walks of more than a few events.

    Attributes
    ----------
    slots, values, rates, slack, speed
        As of `svmviz.walk.slots.Slots`.
    sigma : ndarray (n,)
        1 at the lower bound, -1 at the upper one, 0 on the margin and where an index is held.
    side : ndarray (n,) of int8
        As that of `Walker`.
    since : float
        How far the walk has come.
    events : int
        Of the last run.
    last : tuple of int
        Who changed sides at the last event, from which to which.
    """

    def __init__(self, margin: Margin, refines: bool = True):
        super().__init__(margin, refines)
        self.events, self.last, self.watched = 0, (-1, HELD, HELD), -1
        self._reset_looks()

    def take(self, other: Slots) -> None:
        """See `Slots`."""
        super().take(other)
        self._reset_looks()

    def _reset_looks(self) -> None:
        # Without refining a walk is meant to be short, and looked at when it has ended.
        self._between = self._next_look = MOST_BETWEEN // 4 if self.refines else MOST_BETWEEN

    # What moves

    def set_course(self, dz: Array, dg: Array, dnu: Array, noise: float) -> None:
        """Move at these rates, for a tableau that has not moved since it was made.

        Parameters
        ----------
        dz : ndarray (f,)
            Of the multipliers on the margin, in the order of `Margin.margin`.
        dg : ndarray (n,)
            Of the gradient.
        dnu : ndarray (n_groups,)
        noise : float
            Speeds of gradients towards nu up to this are 0.
        """
        m, first = self.margin, self.n_groups
        last = first + m.count
        self.rates[:first], self.rates[first:last] = dnu, dz
        of_index, to_upper, to_lower = parts_of(self.speed, self.n, self.cap)
        np.subtract(dg, m.of_group(dnu), out=of_index)
        of_index *= self.sigma
        of_index[np.abs(of_index) <= noise] = 0.0
        to_upper[first:last] = m.hi_rate[m.margin] - dz
        to_lower[first:last] = dz - m.lo_rate[m.margin]

    def hold(self, j: int) -> bool:
        """Hold z_j where it is.

        Parameters
        ----------
        j : int
            Dual index, on the margin or not.

        Returns
        -------
        bool
            False, and nothing is changed, where its group has no other index on the margin.
        """
        place = np.flatnonzero(self.slots == j)
        if len(place):
            slot = int(place[0])
            column = self._inverse[slot].copy()
            if not self._has_pivot(column.item(slot)):
                return False
            self._drop(slot, column)
        self.sigma[j], self.side[j], self.slack[j], self.speed[j] = 0.0, HELD, FAR, 0.0
        return True

    def drive(self, j: int, start: float, rate: float) -> None:
        """Let a held index move, besides what moves already.

        Parameters
        ----------
        j : int
            Dual index.
        start : float
            Its multiplier where the walk starts.
        rate : float
        """
        self._pull(j, self.margin.row(j))
        daxpy(self._change, self._speed, a=rate)
        self._driven.append((j, start, rate))

    def watch(self, j: int, way: int, left: float) -> None:
        """Stop where the optimality condition of a held index starts holding.

        Parameters
        ----------
        j : int
            Dual index.
        way : int
            1 where its multiplier grows, -1 where it falls.
        left : float
            How far nu less its gradient, times `way`, is from 0 here.
        """
        self.watched = j
        self.sigma[j], self.slack[j] = -float(way), max(left, NEAR)

    def _pull(self, j: int, row: Array) -> Array:
        """Note in `_change` what moving z_j by 1 does; -v (cap,)."""
        column, first = self._rows[:, j], self.n_groups
        v = self._inverse.dot(column)
        if self.refines:
            left = column - self._square.dot(v)
            self._doubt(dasum(left[first:]) / self.margin.largest + dasum(left[:first]))
            v += self._inverse.dot(left)
        np.dot(v, self._rows, out=self._of_index)
        np.subtract(row, self._of_index, out=self._of_index)
        self._curvature = self._of_index.item(j)
        self._of_index *= self.sigma
        self._of_upper[:] = v
        np.negative(v, out=self._of_lower)
        self._of_value[:] = self._of_lower
        return v

    def _doubt(self, left: float) -> None:
        """Look at what rounding has left right after this event, where refining takes off more than a little."""
        if left > DOUBTFUL:
            self._next_look = 1

    def _note_change(self, v: Array) -> None:
        """Note in `_change` what a change v (cap,) of the margin and of the nu of its groups does."""
        np.dot(v, self._rows, out=self._of_index)
        self._of_index *= self.sigma
        np.negative(v, out=self._of_upper)
        self._of_lower[:] = self._of_value[:] = v

    # Events

    def run(self, length: float, recorder: Any = None) -> Outcome:
        """Go on from event to event.

        Parameters
        ----------
        length : float
            How far the walk goes in all.
        recorder : TableauRecorder, optional
            Is told each stretch and event.

        Returns
        -------
        "arrived", "condition holds" or "gave up"
            The last one at an event that needs more care than this takes: too small a pivot or curvature, too many
            events in one place, or too much left by rounding. The tableau stands there.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._run(length, recorder)

    def _run(self, length: float, recorder: Any) -> Outcome:
        self.slack[-1], self.speed[-1] = length - self.since, -1.0
        self.events, standing, tiny, looked = 0, 0, 1e-14 * length, False
        slack, speed, ratio = self.slack, self.speed, self._ratio
        looks = recorder is not None and self.margin.edges_move
        while True:
            np.divide(speed, slack, out=ratio)
            k = int(ratio.argmin())
            step = -1.0 / ratio.item(k) if k != self._end else length - self.since
            if looks and step > self.since and not looked:
                looked = True  # what rounding has left of the rates has a long way to grow
                if not self._correct_rates():
                    return "gave up"
                continue
            if recorder:
                recorder.stretch(step)
            daxpy(self._speed, self._slack, a=step)
            np.maximum(slack, LEAST_SLACK, out=slack)
            self.since += step
            if k == self._end:
                self.since = length
                return "arrived"
            if k == self.watched:
                return "condition holds"
            standing = standing + 1 if step <= tiny else 0
            if standing > MOST_STANDING or not (self._join(k) if k < self.n else self._leave(k - self.n)):
                return "gave up"
            self.events, looked = self.events + 1, False
            if recorder:
                recorder.event(*self.last)
            self._next_look -= 1
            if not self._next_look and not self.correct():
                return "gave up"
            if not self._free:
                self._grow()
                slack, speed, ratio = self.slack, self.speed, self._ratio

    def _join(self, j: int) -> bool:
        """Bring j in from its bound; False where it depends on the margin but for rounding."""
        row = self.margin.row(j)
        v = self._pull(j, row)
        curvature, own = self._curvature, row.item(j)
        if (
            curvature < LEAST_CURVATURE * own
            or curvature < LOST * (1.0 + dasum(v[self.n_groups :])) ** 2 * self.margin.largest
        ):
            return False
        sign = self.sigma.item(j)
        change = -sign * self.speed.item(j) / curvature
        daxpy(self._change, self._speed, a=change)
        slot = self._free.pop()
        np.negative(v, out=v)
        v[slot] = 1.0
        dger(1.0 / curvature, v, v, a=self._inverse_T, overwrite_a=1)
        if self.refines:
            self._square[slot] = self._square_T[slot] = self._rows[:, j]
            self._square[slot, slot] = own
        self._rows[slot] = row
        self._seat(slot, j, sign, change)
        self.last = j, AT_LOWER if sign > 0 else AT_UPPER, MARGIN
        return True

    def _seat(self, slot: int, j: int, sign: float, change: float) -> None:
        """Let j, which came from its bound, have this slot; it moves faster than its bound by `change`."""
        m, slack, speed = self.margin, self.slack, self.speed
        upper, lower = self.n + slot, self.n + self.cap + slot
        lo_rate, hi_rate = m.lo_rate.item(j), m.hi_rate.item(j)
        lo, hi = m.lo.item(j) + self.since * lo_rate, m.hi.item(j) + self.since * hi_rate
        at_lower = sign > 0
        rate = change + (lo_rate if at_lower else hi_rate)
        self.slots[slot] = j
        self.values[slot], self.rates[slot] = lo if at_lower else hi, rate
        slack[upper], slack[lower] = (hi - lo, NEAR) if at_lower else (NEAR, hi - lo)
        speed[upper], speed[lower] = hi_rate - rate, rate - lo_rate
        slack[j], speed[j], self.sigma[j], self.side[j] = FAR, 0.0, 0.0, MARGIN

    def _leave(self, place: int) -> bool:
        """Take the index of a slot off the margin, to its upper bound, or from place `cap` on its lower one."""
        at_upper = place < self.cap
        slot = place if at_upper else place - self.cap
        column = own = self._inverse[slot].copy()
        if not self._has_pivot(own.item(slot)):
            return False
        if self.refines:
            left = self._square.dot(own)
            left[slot] -= 1.0
            first = self.n_groups
            self._doubt(dasum(left[first:]) + dasum(left[:first]) * self.margin.largest)
            if self.cap - len(self._free) <= 2 * first + 1:
                self._next_look = 1  # who is alone stays where the sum says, however large all have been
            column = own - self._inverse.dot(left)
        self._note_change(column)
        # From now on it moves with its bound.
        sign = -1.0 if at_upper else 1.0
        change = -sign * self.speed.item(self.n + place) / column.item(slot)
        daxpy(self._change, self._speed, a=change)
        j = self.slots.item(slot)
        if self.refines:
            self._doubt_place(j, at_upper, self.values.item(slot))
        self._drop(slot, own)  # as it is kept: what is wrong with it goes with it
        self.sigma[j], self.slack[j], self.speed[j] = sign, NEAR, sign * change
        self.side[j] = side = AT_UPPER if at_upper else AT_LOWER
        self.last = j, MARGIN, side
        return True

    def _doubt_place(self, j: int, at_upper: bool, z: float) -> None:
        """Look right after this event where z_j, once corrected beyond its bound, has left from somewhere else."""
        m = self.margin
        edge, rate = (m.hi, m.hi_rate) if at_upper else (m.lo, m.lo_rate)
        off = abs(z - edge.item(j) - self.since * rate.item(j))
        if off * m.largest > LOOK_SOONER * m.scale:
            self._next_look = 1

    def _has_pivot(self, pivot: float) -> bool:
        """Whether an index may leave: 1 / pivot is at most 4 times the largest diagonal entry of H."""
        return pivot * self.margin.largest > LEAST_PIVOT

    # What rounding leaves

    def correct(self) -> bool:
        """Take off what rounding has left in the equations of the margin, of multipliers and of their rates.

        Returns
        -------
        bool
            False where so much was left that the inverse is not good enough.
        """
        m = self.margin
        linear = m.linear_at(self.since)
        sums = m.sums + self.since * m.sums_rate
        off = self._settle(self.values, self._slack, self.multipliers, linear, sums)
        np.maximum(self.slack, LEAST_SLACK, out=self.slack)
        scale = self._scale(linear)
        self._look_again(off / scale)
        if off > MOST_LEFT * scale:
            return False
        return self._correct_rates()

    def _correct_rates(self) -> bool:
        """`correct` for the rates alone: it moves no multiplier, which may be right at its bound."""
        m = self.margin
        return self._settle(self.rates, self._speed, self._all_rates, m.linear_rate, m.sums_rate) < np.inf

    def _settle(
        self, values: Array, slack: Array, everyone: Callable[[], Array], linear: Array | None, sums: Array
    ) -> float:
        """Take off what is left in the equations by `values`, and from `slack`; how much it was, inf where it stays.

        Parameters
        ----------
        values : ndarray (cap,)
            Those of the slots, or their rates.
        slack : ndarray (n + 3 cap + 1,)
            What depends on them, and they themselves.
        everyone : callable
            The multipliers (n,) of all indices, or their rates, as they are.
        linear : ndarray (n,) or None
        sums : ndarray (n_groups,)
        """
        first = worst = np.inf
        beside = float(np.abs(values[: self.n_groups]).max() + np.abs(sums).max())
        beside += 0.0 if linear is None else float(np.abs(linear).max())
        for attempt in range(MOST_CORRECTIONS):
            z = everyone()
            left = self._lack(z, values, linear, sums)
            last, worst = worst, float(np.abs(left).max())
            if not attempt:
                first = worst
            if worst <= ENOUGH * (self.margin.largest * dasum(z) + beside):
                return first
            if worst > MOST_KEPT * last:
                return np.inf
            if not self._take_off(left, slack, MOST_MOVED * float(np.abs(z).max())):
                return np.inf
        return first

    def _scale(self, linear: Array) -> float:
        """Size of the gradient's terms: where bounds move they may have changed by decades since the start."""
        m = self.margin
        if not m.edges_move:
            return m.scale
        gradient = self.sigma * self.slack[: self.n] + m.of_group(self.values[: self.n_groups])
        return gradient_scale(m.hessian, linear, self.multipliers(), gradient)

    def _look_again(self, off: float) -> None:
        """The sooner, the more rounding had left at the last look, relative to the scale."""
        if off > LOOK_SOONER:
            self._between = max(1, self._between // 2)
        elif off < LOOK_LATER:
            self._between = min(MOST_BETWEEN, 2 * self._between)
        self._next_look = self._between

    def _lack(self, z: Array, values: Array, linear: Array | None, sums: Array) -> Array:
        """What is left in the equations of the margin and of the sums by z (n,), and nu in `values`: (cap,)."""
        first = self.n_groups
        image = self._rows.dot(z)
        used = self.used()
        indices = self.slots[used]
        left = np.zeros(self.cap)
        left[:first] = image[:first] + sums
        left[used] = image[used] - values[self.margin.group[indices]]
        if linear is not None:
            left[used] += linear[indices]
        return left

    def _take_off(self, left: Array, slack: Array, most: float) -> bool:
        """Change the margin and its groups such that nothing is left, and all that depends on them.

        False where that would move an index on the margin by more than `most`; then nothing is changed.
        """
        v = self._inverse.dot(left)
        if np.abs(v[self.n_groups :]).max() > most:
            return False
        self._note_change(v)
        daxpy(self._change, slack, a=-1.0)
        return True
