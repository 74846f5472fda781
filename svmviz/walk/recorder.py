"""Keeps what happens on a walk, where that is wanted, and counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Event, Kind, Segment, WalkStatus

if TYPE_CHECKING:
    from svmviz.walk.tableau import Tableau
    from svmviz.walk.walker import Walker

Array = np.ndarray

# A stretch that is shorter than this share of its place is none.
BUT_FOR_ROUNDING = 1e-15
# An objective is worked out anew where its changes have taken it to this share of what it was.
FALLEN = 0.01
SIDES = (MARGIN, AT_LOWER, AT_UPPER)
PLACES = {side: place for place, side in enumerate(SIDES)}
KINDS: dict[int, Kind] = {MARGIN: "joins margin", AT_UPPER: "to upper bound", AT_LOWER: "to lower bound"}


class Recorder:
    """The events and stretches of a walk.

    Parameters
    ----------
    walker : Walker
    start : float
        Value of the parameter at the start.
    record : bool
        Keep events and stretches, not only their number.
    """

    def __init__(self, walker: Walker, start: float, record: bool):
        self.walker, self.start, self.record = walker, start, record
        self.events: list[Event] = []
        self.segments: list[Segment] = []
        self.count = 0
        self.objective = 0.5 * float(walker.z @ (walker.gradient + walker.linear)) if record else 0.0
        self._was = abs(self.objective)

    def stretch(self, step: float, dz: Array, dg: Array, dnu: Array) -> None:
        """All moves at these rates for so long."""
        if self.record and step > 0:
            w = self.walker
            if w.linear_rate is None:
                self._fall(step, dz, dg)
            value = self.start + w.since
            if not has_length(value, value + step):
                return
            n_groups = w.n_groups
            slots = np.concatenate([np.full(n_groups, -1), w.margin])
            values, rates = np.concatenate([w.nu, w.z[w.margin]]), np.concatenate([dnu, dz])
            self.segments.append(Segment(value, value + step, slots, values, rates, w.side.copy(), n_groups))

    def _stand(self) -> None:
        """A stretch of no length, for a walk that has none."""
        w = self.walker
        slots = np.concatenate([np.full(w.n_groups, -1), w.margin])
        values = np.concatenate([w.nu, w.z[w.margin]])
        still = np.zeros(len(values))
        self.segments.append(Segment(self.start, self.start, slots, values, still, w.side.copy(), w.n_groups))

    def _fall(self, step: float, dz: Array, dg: Array) -> None:
        """What the objective changes by; along a stretch it is quadratic."""
        w, margin = self.walker, self.walker.margin
        slope = float(w.gradient.dot(w.rate)) + float(w.gradient[margin].dot(dz))
        curvature = float(dg.dot(w.rate)) + float(dg[margin].dot(dz))
        self.objective += step * (slope + 0.5 * step * curvature)
        self._was = max(self._was, abs(self.objective))

    def _renew(self) -> None:
        """The objective from its terms, where its changes have nearly cancelled it, or the linear term moves."""
        w = self.walker
        if w.linear_rate is not None or abs(self.objective) < FALLEN * self._was:
            self.objective = 0.5 * float(w.all_multipliers() @ (w.gradient + w.linear_at(w.since)))
            self._was = abs(self.objective)

    def event(self, j: int, kind: Kind) -> None:
        """Index j changes sides."""
        self.count += 1
        if self.record:
            w = self.walker
            self._renew()
            self.keep(w.since, j, kind, self.counts(), w.nu.copy())

    def end(self, status: WalkStatus, watched: int, since: float) -> None:
        """The walk has ended."""
        if self.segments:
            self.segments[-1] = self.segments[-1]._replace(stop=self.start + since)  # but for rounding it is
        elif self.record:
            self._stand()
        if status in ("arrived", "condition holds"):
            self.count += 1
            if self.record:
                w = self.walker
                self.objective = 0.5 * float(w.z @ (w.gradient + w.linear))
                self.keep(since, watched, status, self.counts(), w.nu.copy())

    def keep(self, since: float, j: int, kind: Kind, counts: list[int], nu: Array) -> None:
        """Keep an event, with how many are on the margin, at the lower and at the upper bound after it."""
        sample = self.walker.problem.sample.item(j) if j >= 0 else -1
        n_margin, n_lower, n_upper = counts
        self.events.append(
            Event(self.start + since, j, sample, kind, n_margin, n_lower, n_upper, nu, self.objective)
        )

    def of_tableau(self, tableau: Tableau) -> TableauRecorder | None:
        """What keeps a fast stretch, if anything is kept."""
        return TableauRecorder(self, tableau) if self.record else None

    def forget(self, kept: int) -> None:
        """Forget all stretches but the first ones."""
        del self.segments[kept:]

    def counts(self) -> list[int]:
        """How many are on the margin, at their lower and at their upper bound."""
        return [int(np.count_nonzero(self.walker.side == at)) for at in SIDES]


def has_length(value: float, stop: float) -> bool:
    """Whether there is a stretch between these values of the parameter, but for rounding."""
    return stop - value > BUT_FOR_ROUNDING * stop


class TableauRecorder:
    """Keeps what happens on a fast stretch.

    Parameters
    ----------
    recorder : Recorder
    tableau : Tableau
        On its course.
    """

    def __init__(self, recorder: Recorder, tableau: Tableau):
        self.recorder, self.tableau = recorder, tableau
        walker, z = recorder.walker, tableau.multipliers()
        self._was = abs(recorder.objective)
        self._start, self._segments, self._events = recorder.start, recorder.segments, recorder.events
        self._counts, self._objective = recorder.counts(), recorder.objective
        self._sample, self._sums_rate = walker.problem.sample, walker.sums_rate
        self._sums_move = bool(walker.sums_rate.any())
        # Gradients of what is held are not kept by a tableau.
        held = np.flatnonzero((walker.side == HELD) & ((z != 0) | (walker.lo_rate != 0)))
        self._held, self._rows = held, np.array([walker.row(j) for j in held.tolist()])
        # Where only bounds move, the objective changes by the sum of gradient less nu times how fast they do.
        self._by_slope = walker.linear_rate is None and not len(held)
        self._pace = np.where(walker.side == MARGIN, 0.0, tableau.sigma * walker.rate)
        self._slope, self._last = self._slope_now(), tableau.since

    def stretch(self, step: float) -> None:
        """All moves as it does for so long."""
        t = self.tableau
        value = self._start + t.since
        stop = value + step
        if has_length(value, stop):
            self._segments.append(
                Segment(
                    value, stop, t.slots.copy(), t.values.copy(), t.rates.copy(), t.side.copy(), t.n_groups
                )
            )

    def event(self, j: int, before: int, after: int) -> None:
        """Index j has gone from one side to another."""
        t, place = self.tableau, PLACES
        self._counts[place[before]] -= 1
        self._counts[place[after]] += 1
        if self._by_slope:
            walker = self.recorder.walker
            self._pace[j] = 0.0 if after == MARGIN else t.sigma.item(j) * walker.bound_rate(j, after)
        self._go_on()
        n_margin, n_lower, n_upper = self._counts
        self._events.append(
            Event(
                self._start + t.since, j, self._sample.item(j), KINDS[after], n_margin, n_lower, n_upper,
                t.values[: t.n_groups].copy(), self._objective,
            )
        )  # fmt: skip

    def close(self) -> None:
        """Tell the recorder where the objective is now."""
        self._go_on()
        self.recorder.objective = self._objective

    def _slope_now(self) -> float:
        t = self.tableau
        slope = self._pace.dot(t.slack[: t.n]).item()
        return slope + self._sums_rate.dot(t.values[: t.n_groups]).item() if self._sums_move else slope

    def _go_on(self) -> None:
        """Bring the objective to the present; along a stretch its slope is linear."""
        if not self._by_slope:
            self._objective = self._objective_now()
            return
        slope, last = self._slope, self._last
        self._slope, self._last = self._slope_now(), self.tableau.since
        self._objective += 0.5 * (slope + self._slope) * (self._last - last)
        self._was = max(self._was, abs(self._objective))
        if abs(self._objective) < FALLEN * self._was:
            self._objective = self._objective_now()
            self._was = abs(self._objective)

    def _objective_now(self) -> float:
        """z'(g + p) / 2; the sum of z nu over a group is its own sum times nu."""
        w, t = self.recorder.walker, self.tableau
        z, linear = t.multipliers(), w.linear_at(t.since)
        of_gradient = float((w.sums + t.since * w.sums_rate).dot(t.values[: t.n_groups]))
        of_gradient += float((t.sigma * t.slack[: t.n]).dot(z))
        held = self._held
        if len(held):
            beyond = self._rows.dot(z) + linear[held] - t.values[w.group[held]]
            beyond[held == t.watched] = 0.0  # it is in the room
            of_gradient += float(z[held].dot(beyond))
        return 0.5 * (of_gradient + float(z.dot(linear)))
