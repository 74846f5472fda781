"""The course of a walk as the browser plays it: what is drawn at every moment, the sets, and the events in words.

Between two breakpoints all coefficients are linear and all biases at most quadratic (of reduced hulls they hold
products of prototypes): the browser interpolates, and shows the exact machine at every moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from svmviz.explain import short
from svmviz.machines import ad_svm
from svmviz.ui.estimators import MANY_CLASSES
from svmviz.ui.leaving import AT_BOUND, LEAVING, ON_MARGIN, REST, Solution, Way, rounding, sample_sets
from svmviz.ui.models import browser_model, clear_value
from svmviz.ui.player import sample_name
from svmviz.ui.workspace import Workspace
from svmviz.walk import Event, Walk
from svmviz.walk.levels import fixed_groups, intervals, middles, off_bounds
from svmviz.walk.posed import Posed
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Segment

Array = np.ndarray

SHORTEST = 1e-9
"""Stretches below this share of the walk are one breakpoint."""

STILL = 1e-12
"""Multipliers that change by less than this share of the largest have not moved."""

SAME = 1e-9
"""Biases that differ by less than this share of the gradient's scale are the same."""

WITHOUT_NU = ("mu_svm", "ad_svm", "mc_svm")
"""Machines whose functions do not hang on the multipliers of the groups."""

SIDES = {"to lower bound": AT_LOWER, "to upper bound": AT_UPPER}
"""Where an index stands after an event; after all others it is on the margin."""

NO_SAY = "the rest: no say"
TERMS = {
    "classification": ("on the margin", "at the bound", NO_SAY),
    "hulls": ("on the edge of a reduced hull", "beyond it: at the bound μ", NO_SAY),
    "one_class": ("on the edge", "outside: at the bound", NO_SAY),
    "regression": ("on the edge of the tube", "outside the tube: at the bound", NO_SAY),
}
OUTSIDE = {
    "classification": "inside that margin",
    "hulls": "beyond that edge",
    "one_class": "outside",
    "regression": "outside the tube",
}
BEYOND = {
    "classification": "inside the margin, or on the wrong side",
    "hulls": "beyond the edge of its reduced hull",
    "one_class": "outside",
    "regression": "outside the tube",
}
EDGES = {
    "classification": "the margin",
    "hulls": "the edge of its reduced hull",
    "one_class": "the edge",
    "regression": "the edge of the tube",
}


@dataclass(frozen=True)
class Look:
    """What is drawn at one moment.

    Attributes
    ----------
    coef : ndarray (P, n)
        Of each function over the samples.
    bias : ndarray (P,)
    level : float
        Where the margin is drawn, or how far the tube reaches; 0 where there is neither.
    """

    coef: Array
    bias: Array
    level: float


def manner(space: Workspace) -> str:
    """Which of the words above fit the workspace's machine."""
    if space.machine in ("mu_svm", "ad_svm"):
        return "hulls"
    return "one_class" if space.machine == "one_class" else space.task


def names(space: Workspace, solution: Solution) -> list[str]:
    """A short name of each sample, with the number that its point has on the Board."""
    labels = [None if space.task == "regression" else int(label) for label in space.labels[solution.rows]]
    return [sample_name(row, label) for row, label in zip(solution.rows.tolist(), labels, strict=True)]


# ------------------------------------------------------------------------------------------- what is drawn


def look(space: Workspace, solution: Solution, z: Array, nu: Array) -> Look:
    """What is drawn for multipliers z (n_dual,) and those of the groups, nu (n_groups,)."""
    posed = solution.posed
    if space.machine == "mc_svm":
        coef = posed.coefficients(z)
        return _difference(coef, np.zeros(len(coef)), 1.0)
    if space.machine not in ("mu_svm", "ad_svm"):
        level = _level(space, nu)
        return Look(posed.coefficients(z)[None], np.array([posed.bias(nu)]), level)
    prototypes = ad_svm.read(posed.problem, z, posed.hessian.kernel_rows)
    if space.machine == "mu_svm":
        coef, offset, level = prototypes.bisector()
        return Look(coef[None], np.array([offset]), level)
    # The same function less everywhere changes no decision, so that v_p does in the place of w_p.
    return _difference(prototypes.coef, prototypes.offsets(space.decision_rule), 0.0)


def _difference(coef: Array, bias: Array, level: float) -> Look:
    """A score a class; of two the sign of their difference decides."""
    if len(coef) > 2:
        return Look(coef, bias, 0.0)
    return Look(np.diff(coef, axis=0), np.diff(bias), level)


def _level(space: Workspace, nu: Array) -> float:
    if space.machine == "nu_svc":
        return 0.5 * float(nu[0] - nu[1])
    if space.machine == "nu_svr":
        return max(0.0, 0.5 * float(nu[1] - nu[0]))
    return {"svc": 1.0, "svr": space.epsilon}.get(space.machine, 0.0)


def base_model(space: Workspace, solution: Solution) -> tuple[dict[str, Any], Array]:
    """The model of the Board with all samples, and its coefficients (1, P * n).

    The browser puts in the functions of each moment. "bias" is that of each function, "classes" theirs.
    """
    walker = solution.walker
    now = look(space, solution, walker.z, walker.levels())
    decision, classes = _decision(space, solution, len(now.bias))
    model = browser_model(space, solution.X, [], decision, None)
    entries = {
        "classes": classes,
        "bias": now.bias.tolist(),
        "level": now.level,
        "scale": _scale(space, solution),
    }
    return model | entries, now.coef.reshape(1, -1)


def _decision(space: Workspace, solution: Solution, count: int) -> tuple[str, list[list[int]]]:
    """How the functions decide, and the classes of each."""
    if space.task == "regression":
        return "tube", [[0, 1]]
    if space.machine == "one_class":
        return "inside", [[space.present()[0]]]
    present = np.unique(space.labels[solution.rows]).tolist()
    if count == 1:
        return "vote", [present if space.machine in MANY_CLASSES else list(space.two_classes().classes)]
    owner = getattr(solution.posed, "owner", range(count))
    return "argmax", [[present[r]] for r in owner]


def _scale(space: Workspace, solution: Solution) -> float:
    """Where a decision counts as clear, for machines that have no margin."""
    posed, walker = solution.posed, solution.walker
    if space.machine == "one_class":
        return clear_value(posed.decisions(walker, np.arange(len(solution.X))))
    if space.machine == "ad_svm":
        prototypes = ad_svm.read(posed.problem, walker.z, posed.hessian.kernel_rows)
        return clear_value(0.5 * prototypes.distances() ** 2)
    return 1.0


# ------------------------------------------------------------------------------------------------- the walk


def course(space: Workspace, solution: Solution, sample: int, way: Way) -> tuple[dict[str, Any], Array]:
    """The walk that leaves out or learns a sample as the browser plays it, and its coefficients (k + 1, P * m).

    Parameters
    ----------
    space : Workspace
    solution : Solution
        With all samples.
    sample : int
    way : Way
        With a record.
    """
    walk = way.walk
    name = names(space, solution)[sample]
    kept = [] if walk is None else _stretches(walk)
    if walk is None or not kept:
        return _still(space, solution, sample, name, way)
    breakpoints = np.array([part.start for part in kept] + [kept[-1].stop])
    looks = [_looks(space, solution, walk, part) for part in kept]
    coef = np.array([three[0].coef for three in looks] + [looks[-1][2].coef])
    places = np.flatnonzero(coef.any(axis=(0, 1)))
    sizes = np.array([np.abs(walk.at(value)[way.moving]).sum() for value in breakpoints])
    shares = sizes / sizes[-1 if way.learns else 0]
    shares[0 if way.learns else -1] = 0.0
    sets = _sets(solution, walk, kept, sample, way.learns)
    shown: dict[str, Any] = {
        "sample": sample,
        "learns": way.learns,
        "shares": shares.tolist(),
        "places": places.tolist(),
        "bias": [np.array([one.bias for one in three]).T.tolist() for three in looks],
        "level": [[one.level for one in three] for three in looks],
        "changes": _changes(sets),
        "start": _first_words(space, solution, sample, name, way),
        "events": _events(space, solution, sample, name, way, breakpoints, sets),
        "total": walk.n_events,
        "note": None,
    }
    return shown, coef[:, :, places].reshape(len(coef), -1)


def _stretches(walk: Walk) -> list[Segment]:
    """The stretches that can be seen; not those at the end on which nothing moves any more."""
    longest = max((abs(part.stop - walk.start) for part in walk.segments), default=0.0)
    kept = [part for part in walk.segments if abs(part.stop - part.start) > SHORTEST * longest]
    while kept:
        first, last = walk.at(kept[-1].start), walk.at(kept[-1].stop)
        if np.abs(last - first).max() > STILL * np.abs(last).max():
            break
        kept.pop()
    return kept


def _looks(space: Workspace, solution: Solution, walk: Walk, part: Segment) -> list[Look]:
    """What is drawn at the start, in the middle and at the end of a stretch."""
    values = (part.start, 0.5 * (part.start + part.stop), part.stop)
    boxes = [(walk.lo + value * walk.lo_rate, walk.hi + value * walk.hi_rate) for value in values]
    z = [part.at(value, *box) for value, box in zip(values, boxes, strict=True)]
    nu = [part.nu_at(value) for value in values]
    if space.machine not in WITHOUT_NU:
        nu = _middles(solution.posed, boxes, z, nu, part.side != HELD)
    return [look(space, solution, *moment) for moment in zip(z, nu, strict=True)]


def _middles(
    posed: Posed, boxes: list[tuple[Array, Array]], z: list[Array], nu: list[Array], movable: Array
) -> list[Array]:
    """The multipliers of the groups at three moments of a stretch, in the middle of an interval at both of its ends.

    Such an interval lies between gradients, which are linear: what is between two of its numbers stays in it.
    """
    starts = posed.problem.starts
    fixed = fixed_groups(starts, z[1], *boxes[1], movable)
    if fixed.all():
        return nu
    first, last = (
        np.where(fixed, nu[k], middles(*intervals(starts, *off_bounds(z[k], *boxes[k], movable), gradient)))
        for k, gradient in ((0, posed.hessian.gradient(z[0])), (2, posed.hessian.gradient(z[2])))
    )
    return [first, np.where(fixed, nu[1], 0.5 * (first + last)), last]


def _sets(solution: Solution, walk: Walk, kept: list[Segment], sample: int, learns: bool) -> list[Array]:
    """The sets (n,) of the solution with all samples, and on each stretch; where one is learned, again at the end."""
    full = sample_sets(solution.posed, solution.walker.side, solution.walker.z)
    on = [sample_sets(solution.posed, part.side, walk.at(0.5 * (part.start + part.stop))) for part in kept]
    for sets in on:
        sets[sample] = LEAVING
    return [full, *on, full] if learns else [full, *on]


def _changes(sets: list[Array]) -> list[list[list[int]]]:
    """What is different from one to the next, [[sample, set], ...]."""
    return [
        [[int(i), int(after[i])] for i in np.flatnonzero(before != after)] for before, after in pairwise(sets)
    ]


def _still(
    space: Workspace, solution: Solution, sample: int, name: str, way: Way
) -> tuple[dict[str, Any], Array]:
    """A course without a way: nothing moves, or floating point broke it off. It shows what it would have come to."""
    verb = "is learned without a" if way.learns else "has no"
    note = f"{name} {verb} multiplier: {_still_words(space, solution, way)}"
    if way.is_broken:
        what = "with it" if way.learns else "without it"
        note = f"Rounding broke off the walk of {name}: this is the machine {what}, minimised anew."
    end = look(space, solution, way.walker.z, way.walker.levels())
    places = np.flatnonzero(end.coef.any(axis=0))
    full, sets = (sample_sets(solution.posed, at.side, at.z) for at in (solution.walker, way.walker))
    if not way.learns:
        sets[sample] = LEAVING
    shown: dict[str, Any] = {
        "sample": sample,
        "learns": way.learns,
        "shares": [1.0 if way.learns else 0.0],
        "places": places.tolist(),
        "bias": [],
        "level": [],
        "still": {"bias": end.bias.tolist(), "level": end.level},
        "changes": _changes([full, sets]),
        "start": None,
        "events": [],
        "total": 0,
        "note": note,
    }
    return shown, end.coef[:, places].reshape(1, -1)


# ---------------------------------------------------------------------------------------------- in words


def _still_words(space: Workspace, solution: Solution, way: Way) -> str:
    """What a sample without a multiplier changes: nothing, or the middle of an interval that the bias is free in."""
    ends = (way.before, way.walker) if way.learns else (way.walker, way.before)
    without, known = (look(space, solution, walker.z, walker.levels()) for walker in ends)
    now = np.append(known.bias, known.level)
    if np.abs(now - np.append(without.bias, without.level)).max() <= SAME * way.before.scale:
        return f"the machine does not change when it is {'learned' if way.learns else 'unlearned'}."
    which = int(np.abs(now[:-1] - without.bias).argmax())
    return (
        "no other one moves. But the bias is anywhere in an interval that this point ends: its middle is "
        f"{short(without.bias[which])} without the point, and {short(now[which])} with it. "
        f"Drawn is the machine {'with' if way.learns else 'without'} it."
    )


def _events(
    space: Workspace,
    solution: Solution,
    sample: int,
    name: str,
    way: Way,
    breakpoints: Array,
    sets: list[Array],
) -> list[dict[str, Any]]:
    """The events with the breakpoint of each, in words, and in those of the walk backwards."""
    walk, known = way.walk, names(space, solution)
    assert walk is not None
    side = way.before.side.copy()
    last, noise = len(breakpoints) - 1, SHORTEST * float(breakpoints[-1])
    rows = []
    for event in walk.events:
        at, j = int(np.searchsorted(breakpoints[1:], event.value + noise, side="right")), event.dual_index
        before, after = int(side[j]), SIDES.get(event.kind, MARGIN)
        if event.kind in ("arrived", "condition holds"):
            rows.append({"at": last, "sample": -1, **_last_words(space, solution, sample, name, way)})
        elif event.sample != sample and _is_seen(sets, min(at, last), event.sample):
            gone = _gone(walk, sets, at, event) if event.kind == "exchange" and at < last else []
            place = known[gone[0]] if len(gone) == 1 else f"a point on {EDGES[manner(space)]}"
            words = _words(space, solution, event, known[event.sample], before, after, place)
            rows.append({"at": min(at, last), "sample": event.sample, **words})
        side[j] = after
    return rows


def _gone(walk: Walk, sets: list[Array], at: int, event: Event) -> list[int]:
    """The samples that are off the margin after this breakpoint, and of which no other event there tells."""
    own = {other.sample for other in walk.events if other.value == event.value}
    left = (sets[at] == ON_MARGIN) & (sets[at + 1] != ON_MARGIN)
    return [i for i in np.flatnonzero(left).tolist() if i not in own]


def _is_seen(sets: list[Array], at: int, sample: int) -> bool:
    """Whether a sample has a say before or after a breakpoint: otherwise only the walk's bookkeeping has changed."""
    return any(part[sample] != REST for part in sets[at : at + 2])


def _first_words(space: Workspace, solution: Solution, sample: int, name: str, way: Way) -> dict[str, str]:
    """What the walk sets out to do, and where it ends when it is played backwards."""
    if way.learns:
        return {"text": _growing(f"the new {name}"), "back": _without(space, solution, sample, name, way)}
    return {"text": _going(name), "back": _with(space, solution, sample, name)}


def _last_words(space: Workspace, solution: Solution, sample: int, name: str, way: Way) -> dict[str, str]:
    """What has come out for the sample itself, and what the walk sets out to do when it is played backwards."""
    if way.learns:
        return {"text": _with(space, solution, sample, name), "back": _going(name)}
    return {"text": _without(space, solution, sample, name, way), "back": _growing(name)}


def _going(name: str) -> str:
    return f"The multiplier of {name} goes to zero; the points on the margin make up for it."


def _growing(name: str) -> str:
    return f"The multiplier of {name} grows from zero until its own condition holds; the others follow."


def _without(space: Workspace, solution: Solution, sample: int, name: str, way: Way) -> str:
    """What the machine that does not know a sample says of it."""
    values = solution.judge.decisions(way.before if way.learns else way.walker, np.arange(len(solution.X)))
    if values.ndim > 1:
        return f"{name} has left. It would be {_side(space, solution, sample, values)} now."
    number = short(float(values[sample]), 3)
    if space.task == "regression":
        assert solution.y is not None  # a regressor has targets
        return f"{name} has left. The prediction there is {number} now; its own y is {short(solution.y[sample], 3)}."
    if abs(values[sample]) > rounding(values):
        side = _side(space, solution, sample, values)
        return f"{name} has left. Its decision value is {number} now: it would be {side}."
    edge = "edge of the region" if space.machine == "one_class" else "boundary"
    return f"{name} has left. Its decision value is 0 now: it would be on the {edge}."


def _side(space: Workspace, solution: Solution, sample: int, values: Array) -> str:
    """On which side of the boundary these decision values put a sample."""
    told = solution.judge.predictions(values)[sample]
    if solution.y is None:
        return "inside" if told > 0 else "outside"
    name = space.classes[int(space.labels[solution.rows[solution.y == told][0]])]
    return f"on the side of class {name}, {'its own' if told == solution.y[sample] else 'which is wrong'}"


def _with(space: Workspace, solution: Solution, sample: int, name: str) -> str:
    sets = sample_sets(solution.posed, solution.walker.side, solution.walker.z)
    if sets[sample] == AT_BOUND:
        what = BEYOND[manner(space)]
        return f"{name} is learned: its multiplier is at the bound, it is {what}."
    return f"{name} is learned: its own condition holds, it is on {EDGES[manner(space)]}."


def _words(
    space: Workspace, solution: Solution, event: Event, name: str, before: int, after: int, place: str
) -> dict[str, str]:
    """One event as a sentence, "text", and as it is seen when the walk is played backwards, "back".

    Parameters
    ----------
    space : Workspace
    solution : Solution
    event : Event
    name : str
        Of its sample.
    before, after : int
        Where the index stood, and where it stands.
    place : str
        Whose place it takes in an exchange.
    """
    problem, j, edge = solution.posed.problem, event.dual_index, EDGES[manner(space)]
    if event.kind == "exchange":
        return {
            "text": f"{name} comes to {edge} in the place of {place}: the one can do what the other did.",
            "back": f"{name} leaves {edge} and gives its place back to {place}: the one can do what the other did.",
        }
    if space.machine == "mc_svm" and problem.hi[j] == 0:
        rival = space.classes[space.present()[int(problem.label[j])]]
        return {"text": _rival(name, rival, before, after), "back": _rival(name, rival, after, before)}
    rest = {AT_LOWER: bool(problem.lo[j] == 0), AT_UPPER: bool(problem.hi[j] == 0)}
    outside = OUTSIDE[manner(space)]
    return {
        "text": _move(name, edge, outside, rest, before, after),
        "back": _move(name, edge, outside, rest, after, before),
    }


def _move(name: str, edge: str, outside: str, rest: Mapping[int, bool], before: int, after: int) -> str:
    """From a bound to the margin, or from there to a bound; `rest` tells of each whether a multiplier is 0 there."""
    if after == MARGIN:
        was_rest = rest.get(before, True)
        why = "its multiplier begins to grow" if was_rest else "its multiplier comes off the bound"
        return f"{name} comes to {edge}: {why}."
    if rest[after]:
        return f"{name} leaves {edge}: its multiplier is 0, it has no say any more."
    return f"{name} leaves {edge}: its multiplier is at the bound, it is {outside} now."


def _rival(name: str, rival: str, before: int, after: int) -> str:
    """What happens between a sample and a class that is not its own (Crammer and Singer)."""
    if after == AT_UPPER:
        return f"{name} leaves its margin against class {rival}: that has no part in its multiplier any more."
    if after == AT_LOWER:
        return f"All of the multiplier of {name} is against class {rival} now."
    if before == AT_LOWER:
        return f"Not all of the multiplier of {name} is against class {rival} any more."
    return f"{name} comes to its margin against class {rival}."
