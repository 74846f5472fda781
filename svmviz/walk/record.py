"""What a walk leaves behind: its events, the stretches between them, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from svmviz.problem import DualProblem

Array = np.ndarray

Kind = Literal["to lower bound", "to upper bound", "joins margin", "exchange", "arrived", "condition holds"]
WalkStatus = Literal["arrived", "condition holds", "infeasible", "failed"]

# Where a dual index stands.
AT_LOWER, MARGIN, AT_UPPER, HELD = -1, 0, 1, 2


class Event(NamedTuple):
    """Where one index changes sides.

    Attributes
    ----------
    value : float
        Of the parameter of the walk.
    dual_index, sample : int
        The dual index that changes sides and its sample; -1 where the walk arrives and no index is the reason.
    kind : str
        "to lower bound", "to upper bound": it leaves the margin. "joins margin": it comes off its bound. "exchange":
        it takes the place of another that it depends on. "arrived", "condition holds": the end.
    n_margin, n_lower, n_upper : int
        How many indices are on the margin, at their lower and at their upper bound afterwards.
    nu : ndarray (n_groups,)
        Multiplier of each group; the bias of a machine with one group is -nu.
    objective : float
    """

    value: float
    dual_index: int
    sample: int
    kind: Kind
    n_margin: int
    n_lower: int
    n_upper: int
    nu: Array
    objective: float


class Segment(NamedTuple):
    """A stretch between two events, along which all is linear.

    Attributes
    ----------
    start, stop : float
        Values of the parameter.
    slots : ndarray (cap,) of int
        Dual indices on the margin in any order; -1 where a slot is free, and in the first ones, those of the groups.
    values, rates : ndarray (cap,)
        Multipliers nu of the groups and z on the margin at the start, and how fast they change.
    side : ndarray (n,) of int8
        -1 at the lower bound, 1 at the upper one, 0 on the margin, 2 held.
    n_groups : int
    """

    start: float
    stop: float
    slots: Array
    values: Array
    rates: Array
    side: Array
    n_groups: int

    @property
    def margin(self) -> Array:
        """The dual indices on the margin, (f,)."""
        return self.slots[self.slots >= 0]

    @property
    def z(self) -> Array:
        """Their multipliers at the start, (f,)."""
        return self.values[self.slots >= 0]

    @property
    def dz(self) -> Array:
        """How fast these change, (f,)."""
        return self.rates[self.slots >= 0]

    @property
    def nu(self) -> Array:
        """The multiplier of each group at the start, (n_groups,)."""
        return self.values[: self.n_groups]

    @property
    def dnu(self) -> Array:
        """How fast these change, (n_groups,)."""
        return self.rates[: self.n_groups]

    def at(self, value: float, lo: Array, hi: Array) -> Array:
        """Multipliers z (n,) at a value of the parameter, in the box (n,) as it is there; at a bound exactly."""
        z = np.where(self.side == AT_UPPER, hi, lo)
        margin = self.margin
        z[margin] = np.clip(self.z + (value - self.start) * self.dz, lo[margin], hi[margin])
        return z

    def nu_at(self, value: float) -> Array:
        """The multiplier of each group, (n_groups,), at a value of the parameter."""
        return self.nu + (value - self.start) * self.dnu


class Stretch(Protocol):
    """A stretch of a walk of any kind; see `Segment`, and `svmviz.walk.curved.CurvedSegment`."""

    @property
    def start(self) -> float:
        """Value of the parameter where it begins."""
        ...

    @property
    def stop(self) -> float:
        """Value of the parameter where it ends."""
        ...

    @property
    def side(self) -> Array:
        """Where each index stands, (n,); see `Segment`."""
        ...

    def at(self, value: float, lo: Array, hi: Array) -> Array:
        """Multipliers z (n,) at a value of the parameter, in the box (n,) as it is there."""
        ...

    def nu_at(self, value: float) -> Array:
        """The multiplier of each group, (n_groups,), at a value of the parameter."""
        ...


@dataclass(frozen=True)
class Rates:
    """How fast a problem moves; None where it stays.

    Attributes
    ----------
    linear, lo, hi : ndarray (n,), optional
    sums : ndarray (n_groups,), optional
    diagonal : ndarray (n,), optional
        Of a parameter that the added diagonal is inversely proportional to: the diagonal times the parameter. All
        else stays then. No straight line: only `svmviz.walk.curved.follow_diagonal` follows it.
    """

    linear: Array | None = None
    lo: Array | None = None
    hi: Array | None = None
    sums: Array | None = None
    diagonal: Array | None = None

    def part(self, problem: DualProblem, name: str, start: float, value: float) -> Array:
        """What a field of a problem, such as "hi", becomes when the parameter goes from `start` to a value.

        What is proportional to the parameter stays so, however near to 0 the parameter comes.
        """
        rate, first = getattr(self, name), getattr(problem, name)
        if rate is None:
            return np.asarray(first)
        return np.asarray(rate / value if name == "diagonal" else (first - start * rate) + value * rate)

    def moved(self, problem: DualProblem, start: float, value: float) -> DualProblem:
        """What a problem becomes when the parameter goes from `start` to a value."""
        return replace(problem, **{f.name: self.part(problem, f.name, start, value) for f in fields(self)})


@dataclass(frozen=True)
class Walk:
    """A walk from one optimum to another; its stretches know every multiplier in between.

    Attributes
    ----------
    start, stop : float
        Values of the parameter where it began, and where it ended or gave up.
    lo, hi, lo_rate, hi_rate : ndarray (n,)
        The box at the start, and how fast it moves.
    segments : tuple of Segment, or of CurvedSegment where the diagonal moves
        Stretches of length above 0, in order, or one of length 0 where there are none; () where nothing was recorded.
    events : tuple of Event
    n_events : int
        How many there were, recorded or not.
    status : "arrived", "condition holds", "infeasible" or "failed"
        "condition holds": the moving index reached its own optimality condition before it arrived. "infeasible": the
        box has no room for the sums any further. "failed": no progress in floating point.
    z, gradient : ndarray (n,)
        Where it ended; feasible for the problem there, whatever the status.
    violation : float
        Of the optimality conditions at the end, over the scale of the gradient.
    """

    start: float
    stop: float
    lo: Array
    hi: Array
    lo_rate: Array
    hi_rate: Array
    segments: tuple[Any, ...]
    events: tuple[Event, ...]
    n_events: int
    status: WalkStatus
    z: Array
    gradient: Array
    violation: float

    @property
    def breakpoints(self) -> Array:
        """The values of the parameter where a stretch starts or ends, (k,), in the order of the walk."""
        if not self.segments:
            return np.array([self.start, self.stop] if self.stop != self.start else [self.start])
        return np.array([segment.start for segment in self.segments] + [self.segments[-1].stop])

    def segment(self, value: float) -> Stretch:
        """The stretch that holds this value of the parameter.

        Raises
        ------
        ValueError
            For a value outside of the walk, or where nothing was recorded.
        """
        if not self.segments or not min(self.start, self.stop) <= value <= max(self.start, self.stop):
            raise ValueError(f"The walk goes from {self.start:g} to {self.stop:g}: {value:g} is not on it.")
        sign = 1.0 if self.stop >= self.start else -1.0
        k = int(np.searchsorted(sign * self.breakpoints, sign * value, side="right")) - 1
        return self.segments[min(k, len(self.segments) - 1)]

    def at(self, value: float, box: tuple[Array, Array] | None = None) -> Array:
        """Multipliers z (n,) at this value; those at a bound exactly there.

        Parameters
        ----------
        value : float
        box : tuple of ndarray (n,), optional
            Lower and upper bounds there, where they are known without the rounding of the walk.
        """
        segment = self.segment(value)
        since = value - self.start
        lo, hi = box or (self.lo + since * self.lo_rate, self.hi + since * self.hi_rate)
        return segment.at(value, lo, hi)

    def nu_at(self, value: float) -> Array:
        """Multiplier of each group (n_groups,) at this value."""
        return self.segment(value).nu_at(value)
