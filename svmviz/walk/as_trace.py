"""A walk as a Trace: every event with what a person needs to check it, to be saved, opened and played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmviz import kernels
from svmviz.checks import check_samples
from svmviz.errors import InvalidProblemError
from svmviz.estimators import ADSVC, MCSVC, SVC, SVR, MuSVC, NuSVC, NuSVR, OneClassSVM
from svmviz.estimators.base import Estimator
from svmviz.kernels import make_kernel
from svmviz.problem import Certificate, DualProblem
from svmviz.trace import Trace
from svmviz.walk.leave_out import learn, unlearned, without
from svmviz.walk.levels import gradient_scale
from svmviz.walk.margin import SOUND
from svmviz.walk.paths import Path, Paths, path
from svmviz.walk.posed import Posed, exact
from svmviz.walk.posing import pose
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Event, Rates, Walk
from svmviz.walk.steps import ENDS, Moving, WalkStep

Array = np.ndarray

NAMES: dict[type, str] = {
    SVC: "C-SVC",
    SVR: "epsilon-SVR",
    NuSVC: "nu-SVC",
    NuSVR: "nu-SVR",
    OneClassSVM: "one-class SVM",
    MuSVC: "mu-SVM",
    ADSVC: "AD-SVM",
    MCSVC: "MC-SVM",
}
"""What a machine is called in a trace, see `svmviz.explain.WORDS`."""

PARAMETERS = ("C", "epsilon", "nu", "mu", "beta")
NOISE = 1e-12
"""Nearer to its bound than this share of the largest multiplier, one that stands there is there."""

SIDES = {"to lower bound": AT_LOWER, "to upper bound": AT_UPPER, "joins margin": MARGIN, "exchange": MARGIN}


def record_path(
    estimator: Estimator,
    X: Any,
    y: Any,
    parameter: str = "C",
    start: float = 0.1,
    stop: float = 10.0,
    *,
    sample_weight: Any = None,
) -> Trace:
    """Follow a path, and keep every event as the step of a trace.

    Parameters
    ----------
    estimator, X, y, parameter, start, stop, sample_weight
        As of `svmviz.path`.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidProblemError
        As by `svmviz.path`.
    """
    found = path(estimator, X, y, parameter, start, stop, sample_weight=sample_weight)
    if isinstance(found, Paths):
        raise InvalidProblemError("A trace holds one machine: take two classes at a time, or ADSVC.")
    return trace_of_path(found, estimator, X, y)


def record_unlearning(
    estimator: Estimator,
    X: Any,
    y: Any = None,
    samples: int | Sequence[int] = 0,
    *,
    sample_weight: Any = None,
) -> Trace:
    """Unlearn samples, and keep every event as the step of a trace.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As of `svmviz.leave_one_out`.
    samples : int or sequence of int, default 0
        Those that are unlearned together.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, samples without a multiplier or without which the sums cannot be
        met, or where floating point does not get through.
    """
    posed = pose(estimator, X, y, sample_weight)
    full, indices = exact(posed), _indices(posed, samples)
    if not full.z[indices].any():
        raise InvalidProblemError(
            "These samples have no multiplier to walk to zero: unlearn a support vector."
        )
    _, walk = without(posed, full, indices, record=True)
    return trace_of_walk(walk, posed, "unlearned", estimator, X, y)


def record_learning(
    estimator: Estimator, X: Any, y: Any = None, sample: int = 0, *, sample_weight: Any = None
) -> Trace:
    """Learn a sample, after all others, and keep every event as the step of a trace.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As of `svmviz.leave_one_out`, the sample among them.
    sample : int, default 0

    Returns
    -------
    Trace

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, a sample without which the sums cannot be met, or where floating
        point does not get through.
    """
    posed = pose(estimator, X, y, sample_weight)
    indices = _indices(posed, sample)
    _, walk, _ = learn(posed, unlearned(posed, indices), indices, record=True)
    return trace_of_walk(walk, posed, "learned", estimator, X, y)


def _indices(posed: Posed, samples: int | Sequence[int]) -> Array:
    wanted = np.atleast_1d(np.asarray(samples))
    if wanted.dtype.kind not in "iu" or not ((wanted >= 0) & (wanted < posed.n_samples)).all():
        raise InvalidProblemError(f"samples must be whole numbers from 0 to {posed.n_samples - 1}.")
    indices = posed.indices(wanted)
    if not len(indices):
        raise InvalidProblemError("These samples have no multiplier: unlearn a support vector.")
    return indices


def trace_of_path(found: Path, estimator: Estimator, X: Any, y: Any) -> Trace:
    """A path as a trace.

    Parameters
    ----------
    found : Path
    estimator, X, y
        What it was made of.
    """
    posed, rates = found.posed, found.posed.rates(found.parameter)
    course = _Course(found.walk, posed.problem, rates, found.start, found.stop)
    changed = {found.parameter: found.start}
    return _trace(course, posed, found.parameter, _Origin(estimator, X, y, changed))


def trace_of_walk(
    walk: Walk | None, posed: Posed, parameter: str, estimator: Estimator, X: Any, y: Any = None
) -> Trace:
    """The walk that unlearns or learns samples as a trace.

    Parameters
    ----------
    walk : Walk or None
        As of `svmviz.walk.leave_out.without` and `learn`, with a record.
    posed : Posed
        With all samples.
    parameter : "unlearned" or "learned"
    estimator, X, y
        What the problem was made of.

    Raises
    ------
    InvalidProblemError
        For a walk that did not come to its end.
    """
    if walk is None or walk.status not in ENDS:
        raise InvalidProblemError("Rounding broke this walk off: there is nothing to record.")
    start = replace(posed.problem, lo=walk.lo, hi=walk.hi)
    course = _Course(walk, start, Rates(lo=walk.lo_rate, hi=walk.hi_rate), 0.0, 1.0)
    return _trace(course, posed, parameter, _Origin(estimator, X, y, {}))


# --------------------------------------------------------------------------------------- the events as steps


@dataclass(frozen=True)
class _Origin:
    """The estimator with its data, and the parameters in which the walk's start is another one."""

    estimator: Estimator
    X: Any
    y: Any
    changed: dict[str, float]


@dataclass(frozen=True)
class _Course:
    """A walk of a parameter whose problem at the start is known.

    Attributes
    ----------
    walk : Walk
    problem : DualProblem
    rates : Rates
        For each unit of the parameter.
    start, stop : float
        Its values at the two ends of what was to be walked.
    """

    walk: Walk
    problem: DualProblem
    rates: Rates
    start: float
    stop: float


@dataclass(frozen=True)
class _Moment:
    """An event with the sides (n,) and the multipliers z (n,) after it."""

    event: Event
    name: str
    changed: Array
    sides: Array
    z: Array


def _trace(course: _Course, posed: Posed, parameter: str, origin: _Origin) -> Trace:
    estimator, X = origin.estimator, check_samples(origin.X)
    kernel = make_kernel(
        estimator.kernel, X, gamma=estimator.gamma, degree=estimator.degree, coef0=estimator.coef0
    )
    machine = next((name for kind, name in NAMES.items() if isinstance(estimator, kind)), None)
    if machine is None:
        raise InvalidProblemError(f"{type(estimator).__name__} has no trace: use SVC.")
    ends, reading = _Ends(course), _Reading(posed, has_bias=machine not in ("AD-SVM", "MC-SVM"))
    start, nu = ends.after(0), ends.nu(0)
    moving = Moving(
        parameter=parameter,
        start=course.start,
        stop=course.stop,
        rates=course.rates,
        sides=ends.first_sides(),
        nu=nu.copy(),
        bias=reading.bias(course.problem, start, nu, ends.first_sides()),
        objective=reading.objective(course.problem, start),
    )
    steps = tuple(_steps(ends, moving, reading))
    z, last = ends.after(len(ends.segments)), moving.problem_at(course.problem, steps[-1].value)
    return Trace(
        machine=machine,
        X=X if kernel.name not in ("callable", "precomputed") else posed.hessian.kernel_rows.whole(),
        y=_targets(machine, origin.y, len(X)),
        kernel=kernels.describe(kernel),
        parameters=_parameters(estimator, origin.changed),
        problem=course.problem,
        start=start,
        tol=reading.tolerance(last, z),
        rule="",
        steps=steps,
        certificate=reading.certificate(last, z),
        walk=moving,
    )


def _targets(machine: str, y: Any, n: int) -> Array:
    """What a trace has as y: signs of a machine for two classes, codes of classes, or targets."""
    if machine == "one-class SVM":
        return np.zeros(n)
    if machine in ("epsilon-SVR", "nu-SVR"):
        return np.asarray(y, dtype=float)
    codes = np.unique(np.asarray(y), return_inverse=True)[1].astype(float)
    return codes if machine in ("AD-SVM", "MC-SVM") else 2.0 * codes - 1.0


def _parameters(estimator: Estimator, changed: dict[str, float]) -> dict[str, float]:
    """Those of the machine, for a person to read."""
    known = estimator.get_params() | changed
    found = {name: float(known[name]) for name in PARAMETERS if name in known}
    if isinstance(estimator, ADSVC):
        found["nearest"] = float(estimator.rule == "nearest")
    return found


@dataclass(frozen=True)
class _Reading:
    """What is read off multipliers z (n,) of a problem like that of `posed`."""

    posed: Posed
    has_bias: bool

    def bias(self, problem: DualProblem, z: Array, nu: Array, sides: Array) -> float:
        """Where it is an interval, its middle."""
        if not self.has_bias:
            return 0.0
        return float(self.posed.bias(self.posed.of(problem).levels(z, nu, sides != HELD)))

    def gradient(self, problem: DualProblem, z: Array) -> Array:
        return self.posed.hessian.with_problem(problem).gradient(z)

    def objective(self, problem: DualProblem, z: Array) -> float:
        return problem.objective(z, self.gradient(problem, z))

    def tolerance(self, problem: DualProblem, z: Array) -> float:
        """What the conditions of a walk may be off by, in units of the gradient."""
        hessian = self.posed.hessian.with_problem(problem)
        return 2.0 * SOUND * gradient_scale(hessian, problem.linear, z, hessian.gradient(z))

    def certificate(self, problem: DualProblem, z: Array) -> Certificate:
        hessian = self.posed.hessian.with_problem(problem)
        gradient = hessian.gradient(z)
        return Certificate(
            objective=problem.objective(z, gradient),
            gap=problem.gap(z, gradient, hessian.rounding(z)),
            violation=problem.violation(z, gradient),
            status="optimal",
            iterations=0,
        )


class _Ends:
    """Where the stretches of a walk begin and end, and which events are at each of these places."""

    def __init__(self, course: _Course):
        self.course, self.segments = course, course.walk.segments
        self.places = course.walk.breakpoints
        self.members: list[list[Event]] = [[] for _ in self.places]
        way = 1.0 if self.places[-1] >= self.places[0] else -1.0
        middles = 0.5 * way * (self.places[1:] + self.places[:-1])
        for event in course.walk.events:
            last = event.kind in ENDS
            self.members[-1 if last else int(np.searchsorted(middles, way * event.value))].append(event)

    def box(self, place: float) -> tuple[Array, Array]:
        """Lower and upper bounds at a place of the walk."""
        course = self.course
        lo, hi = (course.rates.part(course.problem, name, course.start, place) for name in ("lo", "hi"))
        return lo, hi

    def before(self, k: int) -> Array:
        """Multipliers (n,) as the stretch that ends at place k leaves them; at the start as the first begins."""
        if k == 0:
            return self.after(0)
        segment = self.segments[k - 1]
        return segment.at(segment.stop, *self.box(segment.stop))

    def after(self, k: int) -> Array:
        """Multipliers (n,) with which the stretch from place k begins; at the end as the last one ends."""
        if k == len(self.segments):
            return self.before(k)
        return self.segments[k].at(self.segments[k].start, *self.box(self.segments[k].start))

    def sides(self, k: int) -> Array:
        """Where each index (n,) stands on the stretch from place k; at the end as on the last one."""
        return self.segments[min(k, len(self.segments) - 1)].side.astype(int)

    def nu(self, k: int) -> Array:
        """Multiplier of each group (n_groups,) at place k."""
        return self.segments[min(k, len(self.segments) - 1)].nu_at(float(self.places[k]))

    def first_sides(self) -> Array:
        """Where each index (n,) stood before the first event."""
        sides, z, (lo, _) = self.sides(0), self.before(0), self.box(float(self.places[0]))
        for event in reversed(self.members[0]):
            j = event.dual_index
            if j < 0 or event.kind in ENDS:
                continue
            leaves = event.kind in ("to lower bound", "to upper bound")
            sides[j] = MARGIN if leaves else AT_LOWER if z[j] == lo[j] else AT_UPPER
        return sides


def _steps(ends: _Ends, moving: Moving, reading: _Reading) -> Iterator[WalkStep]:
    """A record for each event, in the order of the walk."""
    problem = ends.course.problem
    for number, moment in enumerate(_moments(ends, moving.sides), start=1):
        event, sides, z = moment.event, moment.sides, moment.z
        value = moving.stop if event.kind == "arrived" else event.value
        objective = float(event.objective)
        if moment.name == "minimised":
            objective = reading.objective(moving.problem_at(problem, value), z)
        noise = NOISE * float(np.abs(z).max())
        at_bound = np.abs(z - moving.at_sides(problem, sides, value)) <= noise
        indices = np.flatnonzero((sides == MARGIN) | ~at_bound)
        yield WalkStep(
            number=number,
            value=value,
            dual_index=event.dual_index,
            sample=event.sample,
            event=moment.name,
            n_margin=int((sides == MARGIN).sum()),
            n_lower=int((sides == AT_LOWER).sum()),
            n_upper=int((sides == AT_UPPER).sum()),
            changed=tuple(moment.changed.tolist()),
            sides=tuple(sides[moment.changed].tolist()),
            nu=tuple(event.nu.tolist()),
            bias=reading.bias(moving.problem_at(problem, value), z, event.nu, sides),
            objective=objective,
            indices=tuple(indices.tolist()),
            z=tuple(z[indices].tolist()),
        )


def _moments(ends: _Ends, sides: Array) -> Iterator[_Moment]:
    """The events with the sides after each; `sides` (n,) are those at the start.

    An event tells of one index. Whose place an exchange takes is seen from where all stand on the next stretch; where
    they stand otherwise without an event, a minimisation has taken the walk on.
    """
    for k, events in enumerate(ends.members):
        then = ends.sides(k)
        inner = [event for event in events if event.kind not in ENDS]
        for number, event in enumerate(inner, start=1):
            last = number == len(inner)
            now = sides.copy()
            if event.dual_index >= 0 and now[event.dual_index] != HELD:
                now[event.dual_index] = SIDES[event.kind]
            if last:
                now = then
            elif event.kind == "exchange":
                later = [other.dual_index for other in inner[number:]]
                gone = (sides == MARGIN) & (then != MARGIN) & ~np.isin(np.arange(len(then)), later)
                now[gone] = then[gone]
            z = ends.after(k) if last else ends.before(k)
            yield _Moment(event, event.kind, np.flatnonzero(now != sides), now, z)
            sides = now
        if (sides != then).any():
            place = float(ends.places[k])
            made = Event(place, -1, -1, "exchange", 0, 0, 0, ends.nu(k), np.nan)
            yield _Moment(made, "minimised", np.flatnonzero(then != sides), then, ends.after(k))
            sides = then
        for event in events[len(inner) :]:
            yield _Moment(event, event.kind, np.empty(0, int), sides, ends.before(len(ends.segments)))
