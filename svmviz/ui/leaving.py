"""One sample less, or more: the exact solution of the workspace's machine, and the walk to it or from it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.ui.estimators import judge_of, judging_machine, machine_of, samples_of
from svmviz.ui.feasible import meeting
from svmviz.ui.workspace import CLASSIFIERS, Workspace
from svmviz.walk import Walk, Walker
from svmviz.walk.leave_out import learn, unlearned, without
from svmviz.walk.posed import Posed, exact
from svmviz.walk.posing import pose
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN

Array = np.ndarray

REST, ON_MARGIN, AT_BOUND, LEAVING = 0, 1, 2, 3
TOLERANCE = 1e-10
"""Of the refit that the walk is compared with."""

REMEDIES = {"mu_svm": "raise μ", "ad_svm": "raise μ"}
"""What gives the other multipliers room; of all other machines a lower ν does."""

NEAR = 1e-10
"""Nearer than this share of its bound to one of its ends a multiplier is there."""

NO_ORIGIN = "Nothing parts the points from the origin of the kernel's space: choose another kernel."

HULL = "A class's reduced hull holds its weighted means in which no point weighs more than {}: {}, the smaller it is."
EXPLAINED = {
    "nu_svc": HULL.format("2 / (νn)", "the larger ν"),
    "mu_svm": HULL.format("μ", "the smaller μ"),
    "ad_svm": "A prototype is a weighted mean of its class in which no point weighs more than μ.",
}
"""What it means that they meet, for machines of reduced hulls."""


class MeetingError(InvalidProblemError):
    """Nothing parts what the machine is to part: the reduced hulls meet."""


@dataclass(frozen=True)
class Solution:
    """The exact solution for all samples.

    Attributes
    ----------
    X : ndarray (n, d)
    y : ndarray (n,) or None
    rows : ndarray (n,) of int
        Their points of the workspace.
    posed : Posed
    walker : Walker
        Stands at the optimum; copy it before it walks.
    machine : str
        Its name in the workspace.
    """

    X: Array
    y: Array | None
    rows: Array
    posed: Posed
    walker: Walker
    machine: str

    @property
    def judge(self) -> Posed:
        """What tells the decision values."""
        return judge_of(self.posed)


@dataclass(frozen=True)
class Way:
    """The way from one solution to another, which knows one sample less, or more.

    Attributes
    ----------
    before, walker : Walker
        Stand at the one and at the other.
    walk : Walk or None
        How it came there; None where the sample has no multiplier, or where floating point broke the walk off and the
        rest was minimised anew.
    seconds : float
        Wall time of the walk.
    moving : ndarray of int
        The dual indices of the sample that move.
    learns : bool
        Whether the sample comes.
    """

    before: Walker
    walker: Walker
    walk: Walk | None
    seconds: float
    moving: Array
    learns: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether floating point broke the walk off."""
        return self.walk is None and (self.learns or bool(self.before.z[self.moving].any()))


def solve(space: Workspace) -> Solution:
    """The exact solution for the workspace's points.

    Raises
    ------
    InvalidProblemError
        For points or parameters that cannot be used.
    """
    samples = samples_of(space)
    X, rows = samples.X, samples.rows
    y = None if space.machine == "one_class" else samples.y
    posed = pose(estimator(space), X, y)
    walker = exact(posed)
    if space.machine in (*EXPLAINED, "one_class") and posed.meets(walker):
        raise MeetingError(meeting(space) if space.machine in EXPLAINED else NO_ORIGIN)
    return Solution(X, y, rows, posed, walker, space.machine)


def estimator(space: Workspace) -> Any:
    """The machine, to the tolerance at which it is compared with a refit."""
    return machine_of(space, tol=TOLERANCE)


def leave_out(solution: Solution, sample: int, record: bool = False) -> Way:
    """Walk all multipliers of a sample to zero.

    Parameters
    ----------
    solution : Solution
    sample : int
        Position in its rows.
    record : bool, default False
        Keep events and stretches.

    Raises
    ------
    InvalidProblemError
        For a sample without which the sums cannot be met.
    """
    began = time.perf_counter()
    posed, walker = solution.posed, solution.walker
    indices = posed.indices(np.array([sample]))
    if not walker.z[indices].any():
        after = walker.copy()
        for j in indices.tolist():
            after.hold(j)
        return Way(walker, after, None, time.perf_counter() - began, indices)
    after, walk = without(posed, walker, indices, record)
    if walk is not None and walk.status == "infeasible":
        raise InvalidProblemError(needed(solution.machine, solution.rows, solution.y, sample))
    return Way(walker, after, walk, time.perf_counter() - began, indices)


def take_in(solution: Solution, sample: int) -> Way:
    """Let the multiplier of a sample grow from zero until its own condition holds, with a record.

    Parameters
    ----------
    solution : Solution
        With it. The way begins at the solution without it, of a machine whose sums are those of all.
    sample : int
        Position in its rows.

    Raises
    ------
    InvalidProblemError
        For a sample without which the sums cannot be met.
    """
    posed = solution.posed
    indices = posed.indices(np.array([sample]))
    try:
        before = unlearned(posed, indices)
    except InvalidProblemError as error:
        raise InvalidProblemError(needed(solution.machine, solution.rows, solution.y, sample)) from error
    began = time.perf_counter()
    walker, walk, moving = learn(posed, before, indices, record=True)
    return Way(before, walker, walk, time.perf_counter() - began, moving, learns=True)


def needed(machine: str, rows: Array, y: Array | None, sample: int) -> str:
    """That the sums of a machine cannot be met without a sample, with what would help.

    Parameters
    ----------
    machine : str
        Its name in the workspace.
    rows : ndarray (n,) of int
        The points of the workspace that the samples are.
    y : ndarray (n,) or None
        Labels or targets.
    sample : int
    """
    name = f"point {rows[sample] + 1}"
    if y is not None and machine in CLASSIFIERS and np.sum(y == y[sample]) == 1:
        return f"There is no machine without {name}: it is the only one of its class."
    remedy = REMEDIES.get(machine, "lower ν")
    return f"Without {name} the multipliers of the others cannot sum to what they must: {remedy}."


def rounding(values: Array) -> float:
    """Decision values nearer to 0 than this are 0 but for rounding: their samples are on the edge."""
    return 1e-9 * max(1.0, float(np.abs(values).max()))


def sample_sets(posed: Posed, side: Array, z: Array) -> Array:
    """The set of each sample (n,), from where its dual indices stand.

    Parameters
    ----------
    posed : Posed
    side : ndarray (n_dual,)
        See `svmviz.walk.Segment`.
    z : ndarray (n_dual,)
        Multipliers there; between two breakpoints rather than at one.
    """
    problem = posed.problem
    if problem.n_groups == posed.n_samples < problem.n:
        return _sets_of_groups(posed, side, z)
    of_index = np.full(len(side), REST)
    of_index[((side == AT_LOWER) & (problem.lo < 0)) | ((side == AT_UPPER) & (problem.hi > 0))] = AT_BOUND
    of_index[side == MARGIN] = ON_MARGIN
    of_index[side == HELD] = LEAVING
    sets = np.full(posed.n_samples, REST)
    np.maximum.at(sets, problem.sample, of_index)
    return sets


def _sets_of_groups(posed: Posed, side: Array, z: Array) -> Array:
    """The same where each sample is a group (Crammer and Singer): the index of its own class tells, by its size.

    Such a group always has an index on the margin, also of a sample without a say.
    """
    problem = posed.problem
    own = problem.hi > 0
    part = z[own] / problem.hi[own]
    sets = np.where(part > 1 - NEAR, AT_BOUND, np.where(part > NEAR, ON_MARGIN, REST))
    sets[problem.sample[side == HELD]] = LEAVING
    return sets


def refit(
    space: Workspace, solution: Solution, samples: int | list[int] | Array, tol: float = TOLERANCE
) -> Any:
    """The estimator, fitted without a sample, or several.

    Raises
    ------
    InvalidProblemError
        Where it cannot be: there may be one class left.
    """
    rest = np.ones(len(solution.X), dtype=bool)
    rest[samples] = False
    targets = () if solution.y is None else (solution.y[rest],)
    lost = int(np.sum(~rest))
    # All sums stay those of all samples.
    as_before = replace(space, nu=space.nu * len(rest) / (len(rest) - lost))
    return judging_machine(as_before, tol=tol).fit(solution.X[rest], *targets)
