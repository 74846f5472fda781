"""The whole path of a machine in one of its parameters: between breakpoints every value by interpolation, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from svmviz.checks import check_choice, check_number
from svmviz.errors import InvalidProblemError
from svmviz.estimators.base import Estimator
from svmviz.walk.backward import backward
from svmviz.walk.curved import follow_diagonal
from svmviz.walk.levels import is_lost
from svmviz.walk.multiclass import Several, machines_of
from svmviz.walk.posed import Posed, exact
from svmviz.walk.record import Event, Walk
from svmviz.walk.settled import arrival, followed

Array = np.ndarray

PARAMETERS = ("C", "epsilon", "mu")


@dataclass(frozen=True)
class Path:
    """All solutions of a machine while one parameter moves.

    Attributes
    ----------
    parameter : str
    start, stop : float
        Its values at the two ends; the path may run downward.
    walk : Walk
        Over the parameter itself.
    posed : Posed
        The problem at the start.
    """

    parameter: str
    start: float
    stop: float
    walk: Walk
    posed: Posed

    def _place(self, value: float) -> float:
        """Where in the walk a value is: it may end a rounding away."""
        low, high = sorted((self.start, self.stop))
        if not low <= value <= high:
            raise InvalidProblemError(
                f"{self.parameter} must be between {low:g} and {high:g} on this path, not {value!r}."
            )
        first, last = sorted((self.walk.start, self.walk.stop))
        return min(max(first, value), last)

    @cached_property
    def breakpoints(self) -> Array:
        """Values of the parameter where the solution changes direction, both ends among them, (k,)."""
        values = self.walk.breakpoints
        values[[0, -1]] = self.start, self.stop
        return values

    @property
    def events(self) -> tuple[Event, ...]:
        """Who changes sides, with the value of the parameter."""
        return self.walk.events

    @cached_property
    def coefficients(self) -> Array:
        """Coefficients at each breakpoint: (k, n_samples), or (k, n_classes, n_samples) for `MCSVC`."""
        return np.array([self.at(value) for value in self.breakpoints])

    @cached_property
    def bias(self) -> Array:
        """Bias at each breakpoint, (k,); 0 for `ADSVC`, which has none."""
        return np.array([self.bias_at(value) for value in self.breakpoints])

    def at(self, value: float) -> Array:
        """Coefficients over all samples (n_samples,) at this value, in the sense of dual_coef_; u of AD-SVM, mu-SVM.

        Raises
        ------
        InvalidProblemError
            For a value that is not on the path.
        """
        return self.posed.coefficients(self.multipliers_at(value))

    def multipliers_at(self, value: float) -> Array:
        """Multipliers z (n_dual,) at this value; those at a bound exactly there."""
        return self.walk.at(self._place(value), self.posed.box(self.parameter, value))

    def bias_at(self, value: float) -> float:
        """Bias at this value; the middle where it is an interval."""
        return self.posed.bias(self.levels_at(value))

    def levels_at(self, value: float) -> Array:
        """Multiplier of each group (n_groups,) at this value; where nothing fixes it, the middle of its interval."""
        nu, z = self.walk.nu_at(self._place(value)), self.multipliers_at(value)
        there = self.posed.moved(self.parameter, self.start, value)
        return there.levels(z, nu, there.problem.lo < there.problem.hi, self._width)

    @cached_property
    def _width(self) -> float:
        """How large the multipliers are where the walk began, at the smaller of the two ends."""
        return float(np.abs(self.multipliers_at(min(self.start, self.stop))).max())


@dataclass(frozen=True)
class CurvedPath(Path):
    """A path in C with a squared loss: between two breakpoints all multipliers are curves, solved for where asked.

    Its stretches are `svmviz.walk.curved.CurvedSegment`.
    """


@dataclass(frozen=True)
class Paths:
    """All solutions of a classifier that is made of several machines, while one parameter moves.

    Attributes
    ----------
    parts : tuple of Path
        That of each machine: one for every two classes (0, 1), (0, 2), ... (1, 2), ..., or for each class against the
        rest.
    machines : Several
        The problems at the start.
    """

    parts: tuple[Path, ...]
    machines: Several

    @property
    def names(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of the two classes that each machine tells apart, or the one that it tells from the rest."""
        return self.machines.names

    @cached_property
    def breakpoints(self) -> Array:
        """Values of the parameter where the solution of a machine changes direction, with both ends, (k,)."""
        values = np.unique(np.concatenate([part.breakpoints for part in self.parts]))
        return values if self.parts[0].start <= self.parts[0].stop else values[::-1]

    @cached_property
    def events(self) -> tuple[tuple[int, Event], ...]:
        """Who changes sides in which of the machines, in the order of the path, with the value of the parameter."""
        listed = [(k, event) for k, part in enumerate(self.parts) for event in part.events]
        downward = self.parts[0].start > self.parts[0].stop
        return tuple(sorted(listed, key=lambda one: one[1].value, reverse=downward))

    @cached_property
    def coefficients(self) -> Array:
        """Coefficients at each breakpoint, (k, n_classes - 1, n_samples) or (k, n_classes, n_samples); see `at`."""
        return np.array([self.at(value) for value in self.breakpoints])

    @cached_property
    def bias(self) -> Array:
        """Bias of each machine at each breakpoint, (k, n_machines)."""
        return np.array([self.bias_at(value) for value in self.breakpoints])

    def at(self, value: float) -> Array:
        """Coefficients at this value, as dual_coef_ of a fit but over all samples.

        Of each machine alone: `parts[k].at(value)`, (n_samples,), positive for its second class.

        Returns
        -------
        ndarray (n_classes - 1, n_samples), or (n_classes, n_samples) of `OneVsRestSVC`

        Raises
        ------
        InvalidProblemError
            For a value that is not on the path.
        """
        return self.machines.coefficients([part.at(value) for part in self.parts])

    def bias_at(self, value: float) -> Array:
        """Bias of each machine at this value, (n_machines,), as intercept_ of a fit; the middle of an interval."""
        return self.machines.biases([part.bias_at(value) for part in self.parts])


def path(
    estimator: Estimator,
    X: Any,
    y: Any,
    parameter: str = "C",
    start: float = 0.1,
    stop: float = 10.0,
    *,
    sample_weight: Any = None,
) -> Path | Paths:
    """Follow the solution of an estimator while one of its parameters moves from `start` to `stop`.

    Parameters
    ----------
    estimator : SVC, OneVsRestSVC, SVR, NuSVR, MuSVC or ADSVC
        Its own value of the parameter does not matter, and it is not changed.
    X : array (n, d)
    y : array (n,)
    parameter : "C", "epsilon" or "mu"
        Which; C for `SVC`, `SVR` and `NuSVR`; epsilon for `SVR`; mu for `MuSVC` and `ADSVC`. With a squared loss the
        path in C is no line between two breakpoints, and an event takes O(f^3) with f free multipliers. With several
        prototypes a class the clusters are those at the smaller of the two ends.
    start, stop : float
        Either may be the larger: the way down is the way up read backwards. mu counts up to 1, above which nothing
        changes.
    sample_weight : array (n,), optional
        As of the estimator's `fit`: C is multiplied by it. `ADSVC` and `MuSVC` take none.

    Returns
    -------
    Path or Paths
        The second of `SVC` and `OneVsRestSVC` with more than two classes.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, a parameter that the machine does not have, or where floating
        point does not get through: features or a C so large that rounding hides the optimum.
    """
    check_choice("parameter", parameter, PARAMETERS)
    if parameter not in estimator.get_params():
        raise InvalidProblemError(f"{type(estimator).__name__} has no parameter {parameter}.")
    start, stop = check_number(parameter, start), check_number(parameter, stop)
    # What can be used at the smaller end can be used at the other one.
    machines = machines_of(estimator, X, y, sample_weight, **{parameter: min(start, stop)})
    parts = tuple(_followed(posed, parameter, start, stop) for posed in machines.posed)
    return Paths(parts, machines) if isinstance(machines, Several) else parts[0]


def _followed(posed: Posed, parameter: str, start: float, stop: float) -> Path:
    """The path of one machine, posed at the smaller of the two ends."""
    rates = posed.rates(parameter)
    if parameter == "mu":
        start, stop = min(1.0, start), min(1.0, stop)
    low, high = sorted((start, stop))
    at_start = posed if start == low else posed.moved(parameter, low, start)
    if rates.diagonal is not None:
        walk = follow_diagonal(exact(at_start), rates.diagonal, start, stop)
        _check_arrived(walk, posed.moved(parameter, low, stop), parameter)
        return CurvedPath(parameter, start, stop, walk, at_start)
    walker = exact(posed)
    end = arrival(walker, low)
    _, walk = followed(walker, rates, high - low, start=low, record=True)
    _check_arrived(walk, posed.moved(parameter, low, high), parameter)
    if start > stop:
        walk = backward(walk, end, posed.problem.sample)
    return Path(parameter, start, stop, walk, at_start)


def _check_arrived(walk: Walk, end: Posed, parameter: str) -> None:
    """InvalidProblemError for a walk that has not arrived at this end, or where rounding hides what is there."""
    if walk.status != "arrived" or is_lost(end.hessian, end.problem.linear, walk.z):
        raise InvalidProblemError(
            f"The path ends at {parameter} = {walk.stop:g}: "
            "no further in floating point; scale the features, or choose a shorter path."
        )
