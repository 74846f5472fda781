"""A walk as a recorded run: how its problem moves, and a record for each event that can be checked by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from svmviz.problem import DualProblem
from svmviz.walk.record import AT_UPPER, Rates

Array = np.ndarray

ENDS = ("arrived", "condition holds")
"""What the last event of a walk that came to its end is called."""

EVENTS = ("to lower bound", "to upper bound", "joins margin", "exchange", "minimised", *ENDS)
"""What an event can be; "minimised": floating point broke the walk off here, and a minimisation took it on."""


@dataclass(frozen=True)
class Moving:
    """The start of a walk, and how its problem moves from there.

    Attributes
    ----------
    parameter : str
        "C", "epsilon" or "mu" of a path. "unlearned", "learned": the part of a sample's multiplier that has gone, or
        come; then the multipliers of that sample are held, in a box of no width that moves.
    start, stop : float
        Its values at the two ends of what was to be walked; `stop` may be the smaller.
    rates : Rates
        How fast the problem moves for each unit of the parameter.
    sides : ndarray (n,) of int
        Where each dual index stands at the start: -1 at the lower bound, 1 at the upper one, 0 on the margin, 2 held.
    nu : ndarray (n_groups,)
        Multiplier of each group at the start.
    bias, objective : float
        At the start.
    """

    parameter: str
    start: float
    stop: float
    rates: Rates
    sides: Array
    nu: Array
    bias: float
    objective: float

    def part(self, problem: DualProblem, name: str, value: float) -> Array:
        """What a field of the start's problem, such as "hi", has become at a value of the parameter."""
        return self.rates.part(problem, name, self.start, value)

    def problem_at(self, problem: DualProblem, value: float) -> DualProblem:
        """What the start's problem has become at a value of the parameter."""
        return self.rates.moved(problem, self.start, value)

    def at_sides(self, problem: DualProblem, sides: Array, value: float) -> Array:
        """The bound (n,) that each index stands at, the lower one of those on the margin."""
        lo, hi = (self.part(problem, name, value) for name in ("lo", "hi"))
        return np.where(sides == AT_UPPER, hi, lo)

    def sides_after(self, steps: Iterable[WalkStep]) -> Array:
        """Where each dual index (n,) stands after these first steps of the walk."""
        sides = self.sides.copy()
        for step in steps:
            sides[list(step.changed)] = step.sides
        return sides

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers and lists."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rates"}
        rates = {f.name: getattr(self.rates, f.name) for f in fields(Rates)}
        listed = {name: rate.tolist() for name, rate in rates.items() if rate is not None}
        return plain | {"rates": listed, "sides": self.sides.tolist(), "nu": self.nu.tolist()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Moving:
        """Read back what `to_dict` wrote; whatever an error makes of it where it is something else."""
        arrays = {"sides": np.array(content["sides"], dtype=int), "nu": np.array(content["nu"], dtype=float)}
        rates = {name: np.array(rate, dtype=float) for name, rate in content["rates"].items()}
        return cls(**(content | arrays | {"rates": Rates(**rates)}))


@dataclass(frozen=True, slots=True)
class WalkStep:
    """A stretch of a walk with the event at its end; between two events all is linear, unless the diagonal moves.

    Attributes
    ----------
    kind : "walk"
    number : int
        1 for the first event.
    value : float
        Of the parameter.
    dual_index, sample : int
        The dual index that changes sides and its sample; -1 where no index is the reason.
    event : str
        One of `EVENTS`; see `svmviz.walk.Event`.
    n_margin, n_lower, n_upper : int
        How many indices are on the margin, at their lower and at their upper bound afterwards; the others are held.
    changed, sides : tuple of int
        Dual indices that have changed sides, and where each stands afterwards, as in `Moving`. Of an exchange also
        the one whose place was taken.
    nu : tuple of float
        Multiplier of each group.
    bias, objective : float
        The bias is 0 for a machine that has none.
    indices : tuple of int
        Dual indices that do not stand at the bound of their side: all that are on the margin, as a rule no other.
    z : tuple of float
        Their signed multipliers at the event.
    """

    kind: ClassVar[Literal["walk"]] = "walk"

    number: int
    value: float
    dual_index: int
    sample: int
    event: str
    n_margin: int
    n_lower: int
    n_upper: int
    changed: tuple[int, ...]
    sides: tuple[int, ...]
    nu: tuple[float, ...]
    bias: float
    objective: float
    indices: tuple[int, ...]
    z: tuple[float, ...]

    def put(self, z: Array) -> None:
        """Write the multipliers of those that do not stand at a bound into z (n,)."""
        z[list(self.indices)] = self.z
