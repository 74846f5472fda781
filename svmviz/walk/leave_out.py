"""What a machine says of samples that it has not seen, without training it again: they are unlearned.

From the exact solution for all samples the multipliers of those that are left out are driven to zero, all others at
their own optimality conditions. A sample without a multiplier needs no walk: at most the middle of a bias interval
moves. Learning goes the same way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from svmviz.checks import check_weights
from svmviz.errors import InvalidProblemError
from svmviz.estimators.base import Estimator
from svmviz.walk.absence import Absence, Absences
from svmviz.walk.levels import has_room
from svmviz.walk.multiclass import Machines, machines_of
from svmviz.walk.posed import Posed, exact, exact_optimum
from svmviz.walk.record import Rates, Walk
from svmviz.walk.settled import settled
from svmviz.walk.walker import Walker

Array = np.ndarray

# So many walks are checked together.
AT_ONCE = 64


@dataclass(frozen=True)
class LeaveOneOut:
    """What each sample is taken for by the machine that has not seen it.

    Attributes
    ----------
    decision : ndarray (n,), (n, n_classes) or (n, n_pairs)
        Decision values in the shape of `decision_function`, of a regressor the predicted targets. Where several
        machines make the estimator and all samples of a class are left out together, the others vote or score as if
        there were no such class: it has -inf itself, and the columns of its pairs NaN.
    prediction : ndarray (n,)
        Labels, 1 and -1 of `OneClassSVM`, or predicted targets.
    events : ndarray (n,) of int
        Events of the walks that left the sample out, of all machines that know it; 0 where it needed none. Of
        `cross_validate` those of its fold.
    refits : int
        Walks that floating point broke off, and that a new minimisation took the place of.
    n_events : int
        Events of all walks.
    """

    decision: Array
    prediction: Array
    events: Array
    refits: int
    n_events: int


def leave_one_out(estimator: Estimator, X: Any, y: Any = None, *, sample_weight: Any = None) -> LeaveOneOut:
    """Leave out each sample in turn, exactly, at the cost of a walk instead of a fit.

    What is set by all samples stays that way: the sums of nu machines, which a refit has with nu n / (n - 1) in the
    place of nu (with weights, their sums in the place of n and n - 1), what class_weight="balanced" makes of their
    numbers, and the clusters of an AD-SVM with several prototypes a class, which a refit would divide anew.

    Parameters
    ----------
    estimator : Estimator
        Any; it is not fitted and not changed. Of `SVC` and `NuSVC` with more than two classes every machine of two
        classes is walked on its own samples, of `OneVsRestSVC` every machine of a class against the rest.
    X : array (n, d)
        The kernel's gamma="scale" is taken from all samples.
    y : array (n,), optional
        Labels or targets; not for `OneClassSVM`.
    sample_weight : array (n,), optional
        As of the estimator's `fit`; `ADSVC` and `MuSVC` take none. A sample of weight 0 is judged like the others.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, features or a C so large that rounding hides the optimum, or a
        sample without which the sums cannot be met: of nu and mu machines, whose other multipliers may not grow any
        further.
    """
    machines = machines_of(estimator, X, y, sample_weight)
    n = machines.posed[0].n_samples
    return _leave_out(machines, [np.array([i]) for i in range(n)], check_weights(sample_weight, n))


def cross_validate(
    estimator: Estimator, X: Any, y: Any = None, folds: Any = 5, *, sample_weight: Any = None
) -> LeaveOneOut:
    """Leave out one fold after the other, exactly.

    Parameters
    ----------
    estimator, X, y
        As for `leave_one_out`.
    folds : int or array (n,) of int or str, default 5
        The fold of each sample, or how many to deal the samples into in turn, class by class.
    sample_weight : array (n,), optional
        As for `leave_one_out`.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    InvalidProblemError
        As by `leave_one_out`, and for folds that do not fit the samples.
    """
    machines = machines_of(estimator, X, y, sample_weight)
    n = machines.posed[0].n_samples
    fold = deal(folds, n, y)
    parts = [np.flatnonzero(fold == k) for k in np.unique(fold)]
    return _leave_out(machines, parts, check_weights(sample_weight, n))


def deal(folds: Any, n: int, y: Any = None) -> Array:
    """The fold of each of n samples, (n,).

    Parameters
    ----------
    folds : int or array (n,) of int or str
        As of `cross_validate`.
    n : int
    y : array (n,), optional
        Labels or targets: samples are dealt in their order.

    Raises
    ------
    InvalidProblemError
        For folds that do not fit the samples, or are not told apart by whole numbers or text.
    """
    if np.ndim(folds):
        return _check_folds(np.asarray(folds), n)
    if not (isinstance(folds, (int, np.integer)) and 2 <= folds <= n):
        raise InvalidProblemError(
            f"folds must be a whole number from 2 to {n}, or the fold of each sample, not {folds!r}."
        )
    order = np.arange(n) if y is None else np.argsort(np.asarray(y), kind="stable")
    fold = np.empty(n, dtype=int)
    fold[order] = np.arange(n) % int(folds)
    return fold


def _check_folds(fold: Array, n: int) -> Array:
    """Folds as they came, (n,), two or more of them and told apart by whole numbers or by text."""
    if fold.shape != (n,):
        raise InvalidProblemError(f"folds must have one entry for each of the {n} samples.")
    is_whole = fold.dtype.kind == "f" and bool((np.isfinite(fold) & (fold == np.floor(fold))).all())
    if not (is_whole or fold.dtype.kind in "biuU"):
        raise InvalidProblemError(
            "folds must hold whole numbers or text: replace NaN and what else there is."
        )
    if (fold == fold[0]).all():
        raise InvalidProblemError(
            "folds must hold two folds or more: without all samples there is no machine."
        )
    return fold


def _leave_out(machines: Machines, parts: list[Array], weights: Array) -> LeaveOneOut:
    _check_parts(parts, weights)
    gone = [machines.gone(samples) for samples in parts]
    values, events, refits, n_events = [], np.zeros(len(weights), dtype=int), 0, 0
    for k, posed in enumerate(machines.posed):
        walked = [
            samples for samples, classes in zip(parts, gone, strict=True) if machines.stands(k, classes)
        ]
        full = exact(posed)
        everyone = posed.decisions(full, np.arange(posed.n_samples))
        decision = everyone.copy()
        for samples, left in zip(walked, leave_each(posed, full, everyone, walked), strict=True):
            if left.outcome == "infeasible":
                raise InvalidProblemError(
                    f"Without {_named(samples)} the other multipliers cannot sum to what they must: "
                    "lower nu or raise mu."
                )
            refits += left.outcome == "refit"
            n_events += left.n_events
            decision[samples] = left.decision
            events[samples] += left.n_events
        values.append(decision)
    decision, prediction = machines.judge(values)
    for samples, classes in zip(parts, gone, strict=True):
        if classes:
            decision[samples], prediction[samples] = machines.judge([v[samples] for v in values], classes)
    return LeaveOneOut(decision, prediction, events, refits, n_events)


def _check_parts(parts: list[Array], weights: Array) -> None:
    """InvalidProblemError for a part of the samples without which none has a weight (n,)."""
    for samples in parts:
        if np.count_nonzero(weights) == np.count_nonzero(weights[samples]):
            raise InvalidProblemError(f"Without {_named(samples)} no sample of weight above 0 is left.")


def _named(samples: Array) -> str:
    return f"sample {samples[0]}" if len(samples) == 1 else f"the {len(samples)} samples of a fold"


@dataclass(frozen=True)
class Left:
    """What is known of samples that have been left out.

    Attributes
    ----------
    outcome : str
        "known": they have no multiplier, and no other one moves. "walked". "refit": floating point broke the
        walk off, and what is left was minimised anew. "infeasible": the others cannot sum to what they must.
    decision : ndarray (k,) or (k, n_classes)
        Decision values at them by the machine that has not seen them; where it is infeasible, by the one that has.
    n_events : int
    """

    outcome: Literal["known", "walked", "refit", "infeasible"]
    decision: Array
    n_events: int = 0


def leave_each(
    posed: Posed, full: Walker, everyone: Array, parts: Iterable[Array], at_once: int = AT_ONCE
) -> Iterator[Left]:
    """Leave out parts of the samples, each in turn, from the solution for all of them.

    Parameters
    ----------
    posed : Posed
    full : Walker
        At that solution; it is not moved.
    everyone : ndarray (n,) or (n, n_classes)
        Decision values of all samples there.
    parts : iterable of ndarray (k,) of int
        Which samples to leave out together.
    at_once : int, default 64
        So many walks are checked together, before the first of them is told.

    Yields
    ------
    Left

    Raises
    ------
    InvalidProblemError
        Where there is no exact optimum in floating point.
    """
    quick = Absences(full)
    loose = ~full.fixed_groups()[posed.problem.group]
    remaining = iter(parts)
    while some := list(islice(remaining, at_once)):
        indices = [posed.indices(samples) for samples in some]
        absent = quick.leave_out(indices)
        for samples, of_samples, found in zip(some, indices, absent, strict=True):
            if not full.z[of_samples].any():
                is_loose = loose[of_samples].any()
                yield Left(
                    "known", _unmoved(posed, full, samples, of_samples) if is_loose else everyone[samples]
                )
            elif found is not None:
                yield Left("walked", posed.decisions(found, samples), found.n_events)
            else:
                yield _carefully(posed, full, everyone, samples, of_samples)


def _unmoved(posed: Posed, full: Walker, samples: Array, indices: Array) -> Array:
    """Decision values at samples without a multiplier, one of which may fix an end of a bias interval."""
    levels = full.levels(without=indices)
    return posed.decisions(Absence(full.z, full.gradient, full.linear, levels, n_events=0), samples)


def _carefully(posed: Posed, full: Walker, everyone: Array, samples: Array, indices: Array) -> Left:
    walker, walk = without(posed, full, indices)
    if walk is None:
        return Left("refit", posed.decisions(walker, samples))
    if walk.status == "infeasible":
        return Left("infeasible", everyone[samples])
    return Left("walked", posed.decisions(walker, samples), walk.n_events)


def without(posed: Posed, full: Walker, indices: Array, record: bool = False) -> tuple[Walker, Walk | None]:
    """Drive the multipliers of some samples to zero, all others at their own optimality conditions.

    Parameters
    ----------
    posed : Posed
    full : Walker
        At the solution for all samples; it is not moved.
    indices : ndarray (k,) of int
        The dual indices of the samples that are left out, not all of them zero.
    record : bool, default False
        Keep events and stretches.

    Returns
    -------
    walker : Walker
        At the solution without them, unless the walk is "infeasible".
    walk : Walk or None
        "infeasible" where the others cannot sum to what they must; None where floating point broke it off, and what
        is left was minimised anew.

    Raises
    ------
    InvalidProblemError
        Where there is no exact optimum in floating point.
    """
    walker = full.copy()
    for j in indices.tolist():
        walker.hold(j)
    change = np.zeros(walker.n)
    change[indices] = -walker.z[indices]
    walk = walker.follow(Rates(lo=change, hi=change), 1.0, record=record, tidy=record)
    if walk.status != "failed":
        return walker, walk
    return unlearned(posed, indices), None


def unlearned(posed: Posed, indices: Array) -> Walker:
    """A walker at the exact solution that does not know some samples: their multipliers are held at zero.

    Parameters
    ----------
    posed : Posed
        With all samples.
    indices : ndarray (k,) of int
        The dual indices of the samples that are left out.

    Raises
    ------
    InvalidProblemError
        Where the others cannot sum to what they must, or there is no exact optimum in floating point.
    """
    problem = posed.problem
    lo, hi = problem.lo.copy(), problem.hi.copy()
    lo[indices] = hi[indices] = 0.0
    if not has_room(problem, lo, hi, problem.sums):
        raise InvalidProblemError("The other multipliers cannot sum to what they must: lower nu or raise mu.")
    held = replace(problem, lo=lo, hi=hi)
    return exact_optimum(held, posed.hessian.with_problem(held))


def learn(
    posed: Posed, before: Walker, indices: Array, record: bool = False
) -> tuple[Walker, Walk | None, Array]:
    """Let the multipliers of a sample grow from zero until its own condition holds, all others at theirs.

    Parameters
    ----------
    posed : Posed
        With all samples.
    before : Walker
        At the solution that does not know the sample, see `unlearned`; it is not moved.
    indices : ndarray (k,) of int
        The dual indices of the sample.
    record : bool, default False
        Keep events and stretches.

    Returns
    -------
    walker : Walker
        At the solution for all samples.
    walk : Walk or None
        Over a parameter from 0 on: of an index that shares its group with other samples, its multiplier over where it
        goes to; of a sample that is a group of its own (Crammer and Singer), its box over what it becomes. None where
        floating point broke it off, and the rest was minimised anew.
    moving : ndarray of int
        The dual indices that have grown.

    Raises
    ------
    InvalidProblemError
        Where there is no exact optimum in floating point.
    """
    problem, walker = posed.problem, before.copy()
    lo, hi, watched = np.zeros(walker.n), np.zeros(walker.n), -1
    if np.isin(problem.group, problem.group[indices]).sum() == len(indices):
        moving = indices
        lo[indices], hi[indices] = problem.lo[indices], problem.hi[indices]
    else:
        watched, goal = _grows(posed, walker, indices)
        moving = np.array([watched])
        lo[watched] = hi[watched] = goal
    walk = walker.follow(Rates(lo=lo, hi=hi), 1.0, watched=watched, record=record)
    if walk.status not in ("arrived", "condition holds"):
        return exact(posed), None, moving
    after = settled(problem, posed.hessian, walk.z, walk.gradient)
    return (exact(posed), None, moving) if after is None else (after, walk, moving)


def _grows(posed: Posed, walker: Walker, indices: Array) -> tuple[int, float]:
    """Which of the indices of a sample, all at zero, violates its condition most, and the bound it grows towards."""
    problem = posed.problem
    upward = problem.hi[indices] > 0
    lack = walker.nu[problem.group[indices]] - walker.gradient[indices]
    lack = np.where(upward, lack, -lack)
    k = int(lack.argmax())
    j = int(indices[k])
    bound = float(problem.hi[j] if upward[k] else problem.lo[j])
    if np.isfinite(bound):
        return j, bound
    # Without a bound the curvature has an addition of its own, which alone would stop it there.
    enough = 2.0 * max(float(lack[k]), walker.scale) / float(problem.diagonal[j])
    return j, float(np.sign(bound)) * enough
