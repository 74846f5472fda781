"""The walk beside LIBSVM: a path beside a grid, leaving one out beside fits without it, and the cost of an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import svm

from svmviz import SVC, leave_one_out, path
from svmviz.walk.leave_out import LeaveOneOut
from svmviz.walk.paths import Path
from svmviz.walk.posing import pose
from tests.bench import samples, timing
from tests.bench.samples import Samples

Array = np.ndarray

# Values of C between breakpoints at which a path is looked at.
LOOKS = 50
# Seconds that a difference of times counts for at least.
CLOCK = 1e-6


@dataclass(frozen=True)
class Beside:
    """A walk beside as many fits of LIBSVM as give less.

    Attributes
    ----------
    task, rival : str
    n : int
    events : int
        Of all walks.
    ours, theirs : float
        Median times in seconds.
    worst : float
        Of a path the largest violation at random values, relative to the gradient. Of left-out decisions the largest
        difference from those of a LIBSVM that is trained to 1e-8, over a few samples.
    """

    task: str
    rival: str
    n: int
    events: int
    ours: float
    theirs: float
    worst: float

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        return {
            "task": self.task,
            "n": str(self.n),
            "beside": self.rival,
            "events": f"{self.events:,}",
            "ours (s)": f"{self.ours:.3f}",
            "LIBSVM (s)": f"{self.theirs:.3f}",
            "ratio": f"{self.ours / self.theirs:.3f}",
            "times faster": f"{self.theirs / self.ours:.1f}",
            "worst": f"{self.worst:.1e}",
        }


@dataclass(frozen=True)
class EventCost:
    """What an event costs with so many indices on the margin."""

    n: int
    margin: float
    events: int
    microseconds: float

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        return {
            "n": str(self.n),
            "mean size of the free system": f"{self.margin:.0f}",
            "events": f"{self.events:,}",
            "an event (us)": f"{self.microseconds:.0f}",
        }


def walk(plan: Any) -> list[Beside]:
    """The path in C from 0.1 to 1000 beside LIBSVM on a grid, and leave-one-out beside fits without each sample."""
    rows = timing.show(
        [
            _path(samples.clouds(plan.path_n), plan),
            *(_left_out(samples.clouds(n), plan) for n in plan.left_out),
        ]
    )
    print()
    costs = timing.show([_event_cost(plan.path_n, gamma) for gamma in plan.gammas])
    if len(costs) > 1:
        power = timing.exponent([cost.margin for cost in costs], [cost.microseconds for cost in costs])
        print(
            f"\nAn event grows as the size of the free system to the {power:.2f}; its inverse has the square."
        )
    return rows


def _path(some: Samples, plan: Any) -> Beside:
    Cs = np.geomspace(0.1, 1000, plan.path_steps)
    ours, theirs = timing.alternate(
        lambda: path(SVC(gamma=some.gamma), some.X, some.y, "C", 0.1, 1000.0),
        lambda: [svm.SVC(C=C, gamma=some.gamma).fit(some.X, some.y) for C in Cs],
        plan.repeats,
    )
    found: Path = ours.result
    worst = max(_violation(found, some, C) for C in 10 ** np.random.default_rng(0).uniform(-1, 3, LOOKS))
    events = len(found.events)
    return Beside("path in C", f"{len(Cs)} fits", some.n, events, ours.seconds, theirs.seconds, worst)


def _violation(found: Path, some: Samples, C: float) -> float:
    posed = pose(SVC(gamma=some.gamma), some.X, some.y, C=C)
    z = found.multipliers_at(C)
    gradient = posed.hessian.gradient(z)
    return posed.problem.violation(z, gradient) / float(np.abs(gradient).max())


def _left_out(some: Samples, plan: Any) -> Beside:
    everyone = np.arange(some.n)

    def refit(i: int, tol: float = 1e-3) -> float:
        kept = everyone != i
        model = svm.SVC(C=1.0, gamma=some.gamma, tol=tol).fit(some.X[kept], some.y[kept])
        return float(model.decision_function(some.X[[i]])[0])

    ours, theirs = timing.alternate(
        lambda: leave_one_out(SVC(C=1.0, gamma=some.gamma), some.X, some.y),
        lambda: [refit(i) for i in everyone],
        plan.repeats,
    )
    found: LeaveOneOut = ours.result
    looked = np.random.default_rng(0).choice(some.n, min(some.n, LOOKS), replace=False).tolist()
    worst = max(abs(found.decision[i] - refit(i, 1e-8)) for i in looked)
    rival = f"{some.n} fits"
    return Beside("leave one out", rival, some.n, found.n_events, ours.seconds, theirs.seconds, worst)


def _event_cost(n: int, gamma: float) -> EventCost:
    """Of a path in C from 1 to 10; the narrower the kernel, the more multipliers are free."""
    some = samples.clouds(n)
    run = timing.timed(lambda: path(SVC(gamma=gamma), some.X, some.y, "C", 1.0, 10.0))
    start = timing.timed(lambda: path(SVC(gamma=gamma), some.X, some.y, "C", 1.0, 1.0))
    found: Path = run.result
    margin = float(np.mean([len(segment.margin) for segment in found.walk.segments]))
    events = len(found.events)
    spent = max(CLOCK, run.seconds - start.seconds)  # the difference of two short times may be below 0
    return EventCost(n, margin, events, 1e6 * spent / max(1, events))
