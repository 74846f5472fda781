"""The leave-one-out error along a path: at a few values of its parameter, exact at each, from coarse to fine."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.ui.estimators import Samples, judge_of, machine_of
from svmviz.ui.leaving import needed
from svmviz.ui.workspace import Workspace
from svmviz.walk.leave_out import leave_each
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose

Array = np.ndarray

VALUES = 33
"""Of the parameter, at equal distances on the slider, both ends among them; one more than a power of two."""

SEVERAL_PROTOTYPES = (
    "Leave-one-out goes with one prototype a class: with more, every μ has clusters of its own."
)


@dataclass
class PathErrors:
    """The leave-one-out error of a machine as far as it has been computed.

    Attributes
    ----------
    values : ndarray (VALUES,)
        Of the parameter, ascending.
    found : dict of int to float or str
        By position in values, in the order in which they were computed: how many samples are taken for another class
        by the machine that does not know them, or the root of the mean squared error of a regressor. Where there is
        no such error, why, as one sentence.
    """

    values: Array
    found: dict[int, float | str] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """For the browser: those that are known, ascending, and how many there will be."""
        known = [[float(self.values[k]), self.found[k]] for k in sorted(self.found)]
        return {"known": known, "total": len(self.values)}


def coarse_to_fine(count: int) -> list[int]:
    """0 to count - 1, the ends first, then always the middles between: the line is whole from the start."""
    order = [0, count - 1]
    gap = count - 1
    while gap > 1:
        order += range(gap // 2, count - 1, gap)
        gap //= 2
    return order


def advance(space: Workspace, samples: Samples, parameter: str, errors: PathErrors, seconds: float) -> None:
    """Compute the error at the next values: at one at least, and for about so many seconds.

    Parameters
    ----------
    space : Workspace
    samples : Samples
        Of the workspace.
    parameter : "C", "epsilon" or "mu"
    errors : PathErrors
        Takes what is found.
    seconds : float
    """
    began = time.perf_counter()
    for k in coarse_to_fine(len(errors.values)):
        if k in errors.found:
            continue
        moved: dict[str, Any] = {parameter: float(errors.values[k])}
        errors.found[k] = error_at(replace(space, **moved), samples)
        if time.perf_counter() - began >= seconds:
            return


def error_at(space: Workspace, samples: Samples) -> float | str:
    """The leave-one-out error of the workspace's machine, see `PathErrors`; or why there is none."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _error(space, samples)
    except InvalidProblemError as error:
        return str(error)


def _error(space: Workspace, samples: Samples) -> float | str:
    y, everyone = samples.y, np.arange(len(samples.y))
    posed = judge_of(pose(machine_of(space), samples.X, y))
    full = exact(posed)
    before = posed.decisions(full, everyone)
    decision = before.copy()
    for i, left in enumerate(leave_each(posed, full, before, everyone[:, None])):
        if left.outcome == "infeasible":
            return needed(space.machine, samples.rows, y, i)
        decision[i] = left.decision[0]
    unseen = posed.predictions(decision)
    if space.task == "regression":
        return float(np.sqrt(np.mean((unseen - y) ** 2)))
    return float(np.sum(unseen != y))
