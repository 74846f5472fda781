"""A walk told from its end: what runs down to small values is walked upward, where no digits are lost.

A bound that is taken down from 1e6 to 1e-4 keeps what rounding has left of 1e6; one that goes up from 1e-4 does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmviz.walk.record import AT_LOWER, AT_UPPER, MARGIN, Event, Kind, Stretch, Walk

Array = np.ndarray

LEAVES: dict[int, Kind] = {AT_LOWER: "to lower bound", AT_UPPER: "to upper bound"}


@dataclass(frozen=True)
class BackwardSegment:
    """A stretch from its end to its start; see `svmviz.walk.record.Segment`.

    Attributes
    ----------
    upward : Stretch
    start : float
        Value of the parameter where it begins, the larger one: where the next one upward does.
    """

    upward: Stretch
    start: float

    @property
    def stop(self) -> float:
        """Value of the parameter where it ends."""
        return self.upward.start

    @property
    def side(self) -> Array:
        """Where each index stands, (n,)."""
        return self.upward.side

    def at(self, value: float, lo: Array, hi: Array) -> Array:
        """Multipliers z (n,) at a value of the parameter, in the box (n,) as it is there."""
        return self.upward.at(value, lo, hi)

    def nu_at(self, value: float) -> Array:
        """The multiplier of each group, (n_groups,), at a value of the parameter."""
        return self.upward.nu_at(value)


def backward(walk: Walk, arrival: Event, sample: Array) -> Walk:
    """A recorded walk from its end to its start.

    Parameters
    ----------
    walk : Walk
        Upward, and arrived; its z and gradient, those of its end, are kept.
    arrival : Event
        That the walk back has arrived, see `svmviz.walk.settled.arrival`.
    sample : ndarray (n,) of int
        The sample of each dual index.

    Returns
    -------
    Walk
        With as many events: each the other way round, with the sets and nu of the other side of its place.
    """
    length = walk.stop - walk.start
    return replace(
        walk,
        start=walk.stop,
        stop=walk.start,
        lo=walk.lo + length * walk.lo_rate,
        hi=walk.hi + length * walk.hi_rate,
        segments=tuple(map(BackwardSegment, walk.segments[::-1], walk.breakpoints[:0:-1].tolist())),
        events=tuple(_turned(walk, arrival, sample)),
    )


def _turned(walk: Walk, arrival: Event, sample: Array) -> list[Event]:
    """The events of the walk back; each has the sets after the one before it on the way up."""
    events, segments = walk.events[:-1], walk.segments
    starts = np.array([segment.start for segment in segments])
    turned, previous = [], arrival
    for event in events:
        k = int(np.searchsorted(starts, event.value)) - 1  # the stretch that ends here; -1 at the start
        before, after = segments[max(0, k)], segments[min(k + 1, len(segments) - 1)]
        stands = k < 0 or previous.value > starts[k]  # in the same place as the previous event
        dual_index, kind = _other_way(event, before, after, walk)
        turned.append(
            previous._replace(
                value=event.value,
                dual_index=dual_index,
                sample=int(sample[dual_index]),
                kind=kind,
                nu=previous.nu if stands else before.nu_at(event.value),
                objective=event.objective,
            )
        )
        previous = event
    return [*turned[::-1], arrival]


def _other_way(event: Event, before: Stretch, after: Stretch, walk: Walk) -> tuple[int, Kind]:
    """Who changes sides when an event is met from behind, and how; see `svmviz.walk.record.Event.kind`."""
    j = event.dual_index
    if event.kind == "exchange":
        gone = np.flatnonzero((before.side == MARGIN) & (after.side != MARGIN))
        return (int(gone[0]) if len(gone) else j), "exchange"
    if event.kind != "joins margin":
        return j, "joins margin"
    side = int(before.side[j])
    if side not in LEAVES:  # it had left in the same place
        since = event.value - walk.start
        lo, hi = walk.lo + since * walk.lo_rate, walk.hi + since * walk.hi_rate
        z = before.at(event.value, lo, hi)
        side = AT_LOWER if z[j] - lo[j] <= hi[j] - z[j] else AT_UPPER
    return j, LEAVES[side]
