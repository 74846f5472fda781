"""A path as the browser draws it: lines between knots, and what happens to whom at its breakpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from svmviz.walk.curved import CurvedSegment
from svmviz.walk.paths import Path
from svmviz.walk.record import AT_LOWER, AT_UPPER, MARGIN, Event, Segment, Stretch

Array = np.ndarray
Moment = tuple[Array, Array]

DRAWN = 1e-3
"""What lines may be off a curve by, as a share of the picture; see `_bends`."""

MOST_HALVED = 10
"""A stretch of a curve is halved so often, at most."""

SAME_VALUE = 1e-10
"""Events as near as this, as a share of the value, are one breakpoint."""

NEGLIGIBLE = 1e-10
"""Of the largest multiplier on a path: nearer to a bound than this it is there."""

WHAT = ("to zero", "to bound", "from zero", "from bound", "exchange", "joins", "onto edge", "off edge")
"""What happens to a sample while the parameter grows; "joins" where nobody can say from where."""


@dataclass(frozen=True)
class Knots:
    """A path as lines between knots.

    Attributes
    ----------
    values : ndarray (k,)
        Ascending; twice the same where the solution jumps.
    z : ndarray (k, n_dual)
    nu : ndarray (k, n_groups)
    status : ndarray (k - 1, n_samples) of uint8
        Of each sample between two knots: 0 no support vector, 1 free, 2 at the bound.
    """

    values: Array
    z: Array
    nu: Array
    status: Array


def knots_of(found: Path) -> Knots:
    """Both ends of every stretch of a path, those that two share once, and in between what it takes to draw a curve.

    Parameters
    ----------
    found : Path
        Upward.
    """
    segments, values = found.walk.segments, found.breakpoints.tolist()
    rows: list[tuple[float, Array, Array]] = []
    stretch: list[int] = []  # the stretch that each interval between two rows belongs to
    for k, segment in enumerate(segments):
        for place in [segment.start, *_bends(found, segment), segment.stop]:
            value = {segment.start: values[k], segment.stop: values[k + 1]}.get(place, place)
            row = (value, _multipliers(found, segment, value, place), segment.nu_at(place))
            if rows and rows[-1][0] == value and _same(rows[-1][1], row[1]) and _same(rows[-1][2], row[2]):
                continue
            if rows:
                stretch.append(k)
            rows.append(row)
    ordered, z, nu = (np.array(part) for part in zip(*rows, strict=True))
    nothing = NEGLIGIBLE * float(np.abs(z).max(initial=0.0))
    status = np.array([_status(found, k, nothing) for k in range(len(segments))])
    return Knots(ordered, z, nu, status[stretch])


def with_knot(found: Path, knots: Knots, value: float) -> Knots:
    """The same with one knot more, at a value where a curve is to be exact; as they are where there is one."""
    k = int(np.searchsorted(knots.values, value))
    if knots.values[k] == value:
        return knots
    segment = found.walk.segment(value)
    z, nu = _multipliers(found, segment, value, value), segment.nu_at(value)
    return Knots(
        np.insert(knots.values, k, value),
        np.insert(knots.z, k, z, axis=0),
        np.insert(knots.nu, k, nu, axis=0),
        np.insert(knots.status, k, knots.status[k - 1], axis=0),
    )


def _multipliers(found: Path, segment: Stretch, value: float, place: float) -> Array:
    """Multipliers (n_dual,) at a value and its place in the walk. `Path.at` could not tell two that meet apart."""
    return segment.at(place, *found.posed.box(found.parameter, value))


def _bends(found: Path, segment: Stretch) -> list[float]:
    """Values of the parameter within a stretch between which lines draw it to `DRAWN`, ascending; none of a line.

    What is drawn are the function at the samples and the slacks, multipliers over the parameter, as shares of half
    the range of what the function is fitted to (of a classifier -1 to 1).
    """
    if not isinstance(segment, CurvedSegment):
        return []
    curve, problem = segment.curve, found.posed.problem
    half = 0.5 * float(np.ptp(problem.linear)) or 1.0

    def picture(value: float) -> tuple[Array, Array]:
        z, gradient, nu = curve.solved(segment.margin, value)
        return (gradient - curve.diagonal / value * z - problem.linear - nu) / half, curve.diagonal * z / half

    first, last = ((value, picture(value)) for value in (segment.start, segment.stop))
    return _halved(picture, first, last, MOST_HALVED)


def _halved(
    picture: Callable[[float], Moment], first: tuple[float, Moment], last: tuple[float, Moment], left: int
) -> list[float]:
    """Where to break a curve, ascending: halved until a line is off by at most half of `DRAWN` in its middle."""
    value = math.sqrt(first[0] * last[0])
    if not left or not first[0] < value < last[0]:
        return []
    middle, share = (value, picture(value)), (value - first[0]) / (last[0] - first[0])
    drawn = (start + share * (stop - start) for start, stop in zip(first[1], last[1], strict=True))
    off, slack = (float(np.abs(one - true).max()) for one, true in zip(drawn, middle[1], strict=True))
    if max(off, slack / value) <= 0.5 * DRAWN:
        return []
    before, after = _halved(picture, first, middle, left - 1), _halved(picture, middle, last, left - 1)
    return [*before, value, *after]


def _same(a: Array, b: Array) -> bool:
    """Equal but for rounding."""
    return bool(np.abs(a - b).max(initial=0.0) <= 1e-9 * max(np.abs(a).max(initial=0.0), 1e-300))


def _status(found: Path, k: int, nothing: float) -> Array:
    """Status (n_samples,) of each sample along a stretch.

    A multiplier on the margin that stays at its bound all the same (it is alone there, say) is not free.
    """
    segment, problem, n = found.walk.segments[k], found.posed.problem, found.posed.n_samples
    value = 0.5 * float(found.breakpoints[k] + found.breakpoints[k + 1])
    z = _multipliers(found, segment, value, 0.5 * (segment.start + segment.stop))
    lo, hi = found.posed.box(found.parameter, value)
    used = np.abs(z) > nothing
    free = used & (segment.side == MARGIN) & (z - lo > nothing) & (hi - z > nothing)
    codes = np.zeros(n, np.uint8)
    codes[problem.sample[used]] = 2
    codes[problem.sample[free]] = 1
    return codes


def _at_bound(found: Path, segment: Segment) -> Array:
    """Which dual indices (n_dual,) are at a bound that is not zero along a stretch."""
    lo, hi = found.posed.box(found.parameter, 0.5 * (segment.start + segment.stop))
    return ((segment.side == AT_LOWER) & (lo != 0)) | ((segment.side == AT_UPPER) & (hi != 0))


def happenings(found: Path) -> list[tuple[float, int, str]]:
    """Value of the parameter, sample, and which of `WHAT`, of every event within a path."""
    segments = found.walk.segments
    starts = np.array([segment.start for segment in segments])
    listed = []
    for event in found.events:
        if event.dual_index < 0 or not starts[0] < event.value < segments[-1].stop:
            continue
        before = segments[max(0, int(np.searchsorted(starts, event.value)) - 1)]
        after = segments[int(np.searchsorted(starts, event.value, side="right")) - 1]
        listed.append((event.value, event.sample, _what(found, event, before, after)))
    return listed


def _stays(found: Path, segment: Segment | CurvedSegment, d: int) -> bool:
    """Whether the multiplier of a dual index stands at a bound all along a stretch, on the margin or not."""
    if isinstance(segment, CurvedSegment):
        return False
    noise = 1e-9 * float(np.abs(segment.values[segment.n_groups :]).max(initial=0.0))
    at_lower = at_upper = True
    for value in (segment.start, segment.stop):
        lo, hi = found.posed.box(found.parameter, value)
        z = segment.at(value, lo, hi)
        at_lower, at_upper = at_lower and z[d] - lo[d] <= noise, at_upper and hi[d] - z[d] <= noise
    return bool(at_lower or at_upper)


def breakpoints(values: Sequence[float]) -> int:
    """At how many places events (ascending) happen: those at one value but for rounding, as in slide.js, are one."""
    count, last = 0, -math.inf
    for value in values:
        if value - last > SAME_VALUE * abs(value):
            count, last = count + 1, value
    return count


def _what(found: Path, event: Event, before: Segment, after: Segment) -> str:
    """What an event is to a person; where no multiplier is free, one at its bound may be on the margin."""
    d = event.dual_index
    if event.kind == "exchange":
        return "onto edge" if _stays(found, after, d) else "exchange"
    if event.kind == "joins margin" and _stays(found, after, d):
        return "onto edge"
    if event.kind != "joins margin" and _stays(found, before, d):
        return "off edge"
    if event.kind == "joins margin":
        if before.side[d] == MARGIN:
            return "joins"
        return "from bound" if _at_bound(found, before)[d] else "from zero"
    bound = found.posed.box(found.parameter, event.value)[event.kind == "to upper bound"]
    return "to bound" if bound[d] != 0 else "to zero"
