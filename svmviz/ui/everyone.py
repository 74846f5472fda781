"""Everyone in turn: all samples are left out, one by one or fold by fold, a part of the work at a time, and told."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.explain import short
from svmviz.ui.leaving import REMEDIES, Solution, refit, rounding
from svmviz.ui.results import duration
from svmviz.ui.workspace import Workspace
from svmviz.walk.leave_out import Left, deal, leave_each

Array = np.ndarray

FOLDS = 5
"""Of a cross-validation; where there are fewer samples, one each."""

AT_ONCE = 16
"""So many samples are left out one by one before a look at the time; of folds each is looked at."""

MOST_RANKED = 20
"""So many of those that matter most are told."""

REFITS = 8
"""So many parts at most are left out by refitting too, to compare the times."""


@dataclass
class Everyone:
    """Leave-one-out, or a cross-validation, as far as it has come.

    Attributes
    ----------
    of : tuple
        Fingerprint of the workspace that it belongs to.
    parts : list of ndarray (k,) of int
        Samples that are left out together, in turn.
    by_folds : bool
        Whether the parts are folds, or one sample each.
    before, decision : ndarray (n,) or (n, n_classes)
        Decision values of all samples by the machine that knows them, and by the one that does not.
    is_out : ndarray (n,) of bool
        Which samples have been left out so far. Those without which the sums cannot be met never are.
    left, events, refits, refused : int
        Parts so far, events of their walks, walks that a minimisation took the place of, and parts without which the
        sums cannot be met.
    seconds : float
        Wall time of the walks.
    refitted : int
        So many parts' turn to be left out by refitting, at the workspace's tolerance, has been.
    fitted : int
        Of these there is a machine without so many.
    refit_seconds : float
        Wall time of these refits.
    problem : str or None
        Why it cannot go on, as one sentence.
    """

    of: tuple[Any, ...]
    parts: list[Array]
    by_folds: bool
    before: Array
    decision: Array
    is_out: Array
    left: int = 0
    events: int = 0
    refits: int = 0
    refused: int = 0
    seconds: float = 0.0
    refitted: int = 0
    fitted: int = 0
    refit_seconds: float = 0.0
    problem: str | None = None

    @property
    def done(self) -> int:
        """Samples whose turn has been."""
        return sum(len(samples) for samples in self.parts[: self.left])

    @property
    def to_refit(self) -> list[int]:
        """The parts that are left out by refitting too; none where none can be left out."""
        count = len(self.parts)
        if self.refused == count:
            return []
        return np.unique(np.linspace(0, count - 1, min(count, REFITS)).astype(int)).tolist()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do, or nothing can be."""
        return self.problem is not None or (
            self.left == len(self.parts) and self.refitted == len(self.to_refit)
        )

    def take(self, samples: Array, left: Left) -> None:
        """What is known of the samples of the next part."""
        self.left += 1
        self.events += left.n_events
        self.refits += left.outcome == "refit"
        if left.outcome == "infeasible":
            self.refused += 1
            return
        self.decision[samples] = left.decision
        self.is_out[samples] = True


def begin(solution: Solution, of: tuple[Any, ...] = (), by_folds: bool = False) -> Everyone:
    """Leave-one-out, or a cross-validation, before the first part."""
    n = len(solution.X)
    values = solution.judge.decisions(solution.walker, np.arange(n))
    fold = deal(min(FOLDS, n), n, solution.y) if by_folds and n > 1 else np.arange(n)
    parts = [np.flatnonzero(fold == k) for k in np.unique(fold)]
    return Everyone(of, parts, by_folds, values, values.copy(), np.zeros(n, dtype=bool))


def advance(space: Workspace, solution: Solution, everyone: Everyone, seconds: float) -> None:
    """Leave out the next parts, for about so many seconds and one at least; after all of them, refit likewise."""
    until = time.perf_counter() + seconds
    try:
        if everyone.left < len(everyone.parts):
            _leave_next(solution, everyone, until)
        else:
            _refit_next(space, solution, everyone, until)
    except InvalidProblemError as error:
        everyone.problem = str(error)


def _leave_next(solution: Solution, everyone: Everyone, until: float) -> None:
    rest = everyone.parts[everyone.left :]
    at_once = 1 if everyone.by_folds else AT_ONCE
    began = time.perf_counter()
    turns = leave_each(solution.judge, solution.walker, everyone.before, rest, at_once)
    for samples, left in zip(rest, turns, strict=False):
        everyone.take(samples, left)
        if time.perf_counter() > until:
            break
    everyone.seconds += time.perf_counter() - began


def _refit_next(space: Workspace, solution: Solution, everyone: Everyone, until: float) -> None:
    for k in everyone.to_refit[everyone.refitted :]:
        began = time.perf_counter()
        everyone.refitted += 1
        with suppress(InvalidProblemError):  # without these there may be no machine
            refit(space, solution, everyone.parts[k], tol=space.tol)
            everyone.fitted += 1
            everyone.refit_seconds += time.perf_counter() - began
        if time.perf_counter() > until:
            return


def flipped(space: Workspace, everyone: Everyone) -> Array:
    """Which samples (n,) left out so far change their side; none in regression, where there are no sides."""
    n = len(everyone.before)
    if space.task == "regression":
        return np.zeros(n, dtype=bool)
    noise = rounding(everyone.before)
    if everyone.before.ndim == 1:
        flips = (everyone.before > -noise) != (everyone.decision > -noise)
    else:
        best = everyone.decision.max(axis=1)
        flips = everyone.decision[np.arange(n), everyone.before.argmax(axis=1)] < best - noise
    return flips & everyone.is_out


def influence(everyone: Everyone) -> Array:
    """How far the decision value of each sample (n,) moves when the sample itself is left out; of several the most.

    The change at the point itself, as by the deleted residuals of regression (Cook: Detection of influential
    observation in linear regression, 1977); 0 where it is but rounding, and where a sample has not been left out.
    """
    change = np.abs(everyone.decision - everyone.before).reshape(len(everyone.before), -1).max(axis=1)
    return np.where(everyone.is_out & (change > rounding(everyone.before)), change, 0.0)


# ---------------------------------------------------------------------------------------------- in words


def entry(space: Workspace, solution: Solution, everyone: Everyone) -> dict[str, Any]:
    """For the browser, see `svmviz.ui.unlearning`."""
    flips = flipped(space, everyone)
    return {
        "kind": "folds" if everyone.by_folds else "everyone",
        "done": everyone.done,
        "total": len(everyone.before),
        "over": everyone.is_over,
        "flips": [[i, turn(space, everyone, i)] for i in np.flatnonzero(flips).tolist()],
        "ranked": _ranked(everyone),
        "words": words(space, solution, everyone, flips),
    }


def _ranked(everyone: Everyone) -> list[list[Any]]:
    """Which samples matter most, the first of them first; none before all have been left out one by one."""
    if everyone.by_folds or everyone.left < len(everyone.parts):
        return []
    change = influence(everyone)
    order = np.argsort(-change, kind="stable")[: min(MOST_RANKED, np.count_nonzero(change))].tolist()
    return [[i, round(float(change[i] / change[order[0]]), 3), short(float(change[i]), 2)] for i in order]


def turn(space: Workspace, everyone: Everyone, i: int) -> str:
    """From what to what a sample goes when it is left out: its decision value, or its class of several."""
    before, after = everyone.before[i], everyone.decision[i]
    if np.ndim(before) == 0:
        return " → ".join(_values(space, [float(before), float(after)], rounding(everyone.before)))
    present = space.present()
    return f"{space.classes[present[before.argmax()]]} → {space.classes[present[after.argmax()]]}"


def _values(space: Workspace, values: list[float], noise: float) -> list[str]:
    """Decision values as numbers; where one is 0 but for rounding, as the sides that they are on."""
    if all(abs(value) > noise for value in values):
        return [short(value, 2) for value in values]
    if space.machine == "one_class":
        return ["on the edge" if abs(v) <= noise else "inside" if v > 0 else "outside" for v in values]
    return ["on the boundary" if abs(value) <= noise else short(value, 2) for value in values]


def words(space: Workspace, solution: Solution, everyone: Everyone, flips: Array) -> str:
    """What has come out so far."""
    count, left = len(everyone.parts), everyone.left
    what = " folds" if everyone.by_folds else ""
    if everyone.problem is not None:
        return f"Stopped after {left} of {count}{what}. {everyone.problem}"
    if left < count:
        return f"{left} of {count}{what} left out, {everyone.events} events so far."
    if everyone.refused == count:
        return f"None of the {count}{what or ' points'} can be left out: {_remedy(space)}."
    known = f"The machine with all {len(everyone.before)} points"
    sentences = [f"{known}: {_verdict(space, solution, everyone, flips)}", _times(space, everyone)]
    if everyone.refits:
        sentences.append(f"{everyone.refits} walks broke off and were minimised anew.")
    if everyone.refused:
        sentences.append(
            f"{everyone.refused}{what} cannot be left out and are not counted: {_remedy(space)}."
        )
    return " ".join(sentences)


def _remedy(space: Workspace) -> str:
    return REMEDIES.get(space.machine, "lower ν")


def _times(space: Workspace, everyone: Everyone) -> str:
    """What the walks took, and what refits take, from as many as there have been."""
    walked = f"{everyone.events} events in {duration(everyone.seconds)}"
    made, count = everyone.fitted, len(everyone.parts)
    if not made:
        return f"{walked}."
    refits = f"{made} refits at the tolerance {short(space.tol)}"
    if made == count:
        return f"{walked}; {refits} take {duration(everyone.refit_seconds)}."
    return f"{walked}; {refits} say about {duration(everyone.refit_seconds * count / made)} for all {count}."


def _verdict(space: Workspace, solution: Solution, everyone: Everyone, flips: Array) -> str:
    """How well the samples that have been left out are told."""
    out = everyone.is_out
    if space.task == "regression":
        assert solution.y is not None  # a regressor has targets
        known, unknown = (
            float(np.sqrt(np.mean((solution.y - values)[out] ** 2)))
            for values in (everyone.before, everyone.decision)
        )
        what = "its fold" if everyone.by_folds else "it"
        return f"root mean square error {short(known, 3)} with the point, {short(unknown, 3)} without {what}."
    n = int(out.sum())
    folds = f"the {len(everyone.parts) - everyone.refused} folds are left out in turn"
    how = folds if everyone.by_folds else "they are left out"
    changes = f"{int(flips.sum())} of {n} points change sides when {how}."
    if solution.y is None:
        return changes
    wrong = int(np.sum((solution.judge.predictions(everyone.decision) != solution.y)[out]))
    name = "Cross-validation" if everyone.by_folds else "Leave-one-out"
    return f"{changes} {name} error {wrong} of {n}."
