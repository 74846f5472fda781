"""Unlearning and learning on the Board: a sample's multiplier is walked to zero, or from there, exactly.

A stage of mode "unlearn" (see `svmviz.ui.board.stage`) has the data of the Board (`Workspace.scene`, not editable)
and three more entries: "adds", whether there is room for one more point, "explained", what the message of the Board
means where that needs a sentence, and "unlearn", None when there is nothing to show:

    id          text that differs for walks that differ
    rows        points of the workspace that take part, in the order of all lists of samples below
    names       short name of each sample
    sets        0 the rest, 1 on the margin, 2 at the bound, 3 leaving or coming: of each sample, with all of them
    terms       names of margin, bound and rest
    model       the machine with all samples, for the Board, without its P functions
    walk        None until a sample was chosen:
        sample      position in rows
        learns      whether it comes, and does not leave
        shares      (k + 1,) part of the multiplier that is there at each breakpoint, from 1 to 0 or from 0 to 1
        places      (m,) positions in rows of the samples that have a coefficient somewhere on the walk
        bias        (k, P, 3) at the start, in the middle and at the end of each stretch
        level       (k, 3) likewise
        still       {"bias": (P,), "level"} where there is no stretch, k = 0; otherwise not there
        changes     k times [[sample, set]], what is different on a stretch from the one before; where a sample is
                    learned, or there is no stretch, once more, for the end
        start       {"text": sentence, "back": sentence}: what it sets out to do, and, played backwards, has come to;
                    None where nothing moves
        events      [{"at": breakpoint, "sample": position in rows or -1, "text": sentence, "back": sentence}], the
                    second one for playing backwards
        total       events, those at the same breakpoint counted each
        note        one sentence, or None
    proof       the comparison with a refit as a sentence, None until it was asked for
    refused     instead of a walk: why the sample cannot be left out, or learned
    everyone    None until it was asked for:
        kind        "everyone" or "folds"
        done, total samples whose turn has been, and all
        over        whether nothing is left to do, or nothing can be
        flips       [[sample, words]] of those that change sides
        ranked      [[sample, share of the largest, number as text]]: how far the own decision value of each goes when
                    it is left out, the farthest first; only when all have been, one by one
        words       what has come out so far

The coefficients (k + 1, P, m) of the walk travel as Arrow; without a walk they are those of all samples. Between two
breakpoints all is linear or quadratic, so the browser interpolates.

What the browser has is not sent again: it says with every message which walk that is, and then "unlearn" holds only
id, proof and everyone, and the scene no points.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.explain import short
from svmviz.ui import workspace
from svmviz.ui.board import Point, is_whole, parse_point
from svmviz.ui.budget import PART_SECONDS
from svmviz.ui.controls import MACHINE_NAMES
from svmviz.ui.courses import TERMS, base_model, course, manner, names
from svmviz.ui.everyone import Everyone, advance, begin, entry
from svmviz.ui.feasible import infeasible_mu
from svmviz.ui.fitting import digest, fingerprint, remembered
from svmviz.ui.leaving import (
    EXPLAINED,
    MeetingError,
    Solution,
    Way,
    estimator,
    leave_out,
    refit,
    sample_sets,
    solve,
    take_in,
)
from svmviz.ui.lesson import Recording
from svmviz.ui.results import duration
from svmviz.ui.workspace import Workspace, checked
from svmviz.walk.as_trace import trace_of_walk

Array = np.ndarray

MOST_POINTS = 1000
"""More would keep the visitor waiting for the exact solution."""

MOST_MULTIPLIERS = 3000
"""The same for machines that have several for each point."""

NO_WALK = (
    "No point is on its way: click or tap one that has a multiplier, a ringed one, and then open this again."
)

ASKED, LEARNED, HAS, EVERYONE, EXACT, WALK, PROOF = (
    f"unlearn_{name}" for name in ("asked", "learned", "has", "everyone", "exact", "walk", "proof")
)


# ------------------------------------------------------------------------------------------- the browser asks


@dataclass(frozen=True)
class Ask:
    """What the browser asks for.

    Attributes
    ----------
    kind : "point", "learn", "proof", "everyone", "folds" or "whole"
        Unlearn a sample; add a point and learn it; compare with a refit; leave out some more samples, one after the
        other, or the next fold; send all data again.
    row : int
        The point of the workspace; -1 for none.
    revision : int
        Of the points.
    has : str
        The id of the walk that the browser has; "" for none.
    point : (x, y, label), optional
        The one to be learned; no other kind has one.
    afresh : bool, default False
        Whether everyone, or the folds, begin with the first again.
    seq : int, default 0
        Of the workspace's points then; the browser does not tell it.
    """

    kind: str
    row: int
    revision: int
    has: str = ""
    point: Point | None = None
    afresh: bool = False
    seq: int = 0


KINDS = ("point", "learn", "proof", "everyone", "folds", "whole")


def forget_browser() -> None:
    """Send everything: a page that is built anew is in a browser that has nothing yet, whatever it had before."""
    st.session_state.pop(HAS, None)


def parse_ask(value: object) -> Ask | None:
    """Read a message from the browser; None for a malformed one.

    Parameters
    ----------
    value : object
        ``{"kind": text, "row": int, "revision": int, "has": text, "point": [x, y, label], "afresh": bool}``; the last
        three optional.
    """
    if not isinstance(value, Mapping):
        return None
    kind, row, revision = value.get("kind"), value.get("row"), value.get("revision")
    if kind not in KINDS or not is_whole(row) or not is_whole(revision):
        return None
    point = parse_point(value.get("point")) if kind == "learn" else None
    if kind == "learn" and point is None:
        return None
    has, afresh = str(value.get("has") or ""), value.get("afresh") is True
    return Ask(kind, int(row), int(revision), has, point, afresh)


def take(value: object) -> None:
    """Remember for the next run what the browser has asked for; a point to be learned joins the workspace's."""
    ask = parse_ask(value)
    if ask is None:
        return
    st.session_state[HAS] = ask.has
    space = workspace.get()
    if ask.kind == "point":
        st.session_state[LEARNED] = None
    if ask.point is not None:
        if ask.revision != space.revision:
            return  # other points have come since, or it is the same message again
        row = space.add_point(*ask.point)
        ask = replace(ask, row=row, revision=space.revision)
        st.session_state[LEARNED] = (space.revision, row)
    st.session_state[ASKED] = replace(ask, seq=space.seq)


# ------------------------------------------------------------------------------------------ what is shown


def stage_data(space: Workspace, height: int | str) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """What the page shows: the data of the stage and the coefficients of the walk.

    Parameters
    ----------
    space : Workspace
    height : int or str
        Pixels, or a length in CSS.
    """
    message, explained, shown, coef = unlearn_message(space), None, None, None
    if message is None:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                shown, coef = _shown(space)
        except InvalidProblemError as error:
            message = str(error)
            explained = EXPLAINED.get(space.machine) if isinstance(error, MeetingError) else None
    has = st.session_state.pop(HAS, "")
    data = {**space.scene(height, message), "mode": "unlearn", "editable": False, "unlearn": shown}
    data["adds"] = len(space.points) < MOST_POINTS
    data["explained"] = explained
    if shown is None or coef is None or shown["id"] != has:
        return data, None if coef is None else pd.DataFrame({"coef": coef.ravel()})
    data["unlearn"] = {name: shown[name] for name in ("id", "proof", "everyone")}
    return {name: part for name, part in data.items() if name not in ("points", "view")}, None


def unlearn_message(space: Workspace) -> str | None:
    """Why nothing can be unlearned, as one sentence, or None."""
    message, n = checked(space) or infeasible_mu(space), len(space.points)
    if message is not None:
        return message
    each = len(space.present()) if space.machine == "mc_svm" else 1
    most = min(MOST_POINTS, MOST_MULTIPLIERS // each)
    if n > most:
        return f"Exact unlearning of {n:,} points would keep you waiting: take at most {most}."
    return None


def _shown(space: Workspace) -> tuple[dict[str, Any], Array]:
    """The entry of the data, and the coefficients (k + 1, P * m)."""
    now = fingerprint(space)
    solution = remembered(EXACT, now, lambda: solve(space))
    asked = st.session_state.get(ASKED)
    if asked is not None and (asked.revision, asked.seq) != (space.revision, space.seq):
        asked = st.session_state[ASKED] = None
    row = -1 if asked is None else asked.row
    learns = row >= 0 and st.session_state.get(LEARNED) == (space.revision, row)
    key = (now, row, learns)
    fixed, coef, way = remembered(WALK, key, lambda: _walked(space, solution, row, learns))
    shown = {**fixed, "id": digest(*key), "proof": None, "everyone": _everyone(space, solution, asked, now)}
    if way is None:
        return shown, coef
    if asked is not None and asked.kind == "proof":
        sample = fixed["walk"]["sample"]
        shown["proof"] = remembered(PROOF, key, lambda: proof(space, solution, sample, way))
    elif st.session_state.get(PROOF, (None,))[0] == key:
        shown["proof"] = st.session_state[PROOF][1]
    return shown, coef


def _walked(
    space: Workspace, solution: Solution, row: int, learns: bool
) -> tuple[dict[str, Any], Array, Way | None]:
    """What does not change any more: the solution, and the walk of the point at a row, if there is one."""
    model, coef = base_model(space, solution)
    fixed: dict[str, Any] = {
        "rows": solution.rows.tolist(),
        "names": names(space, solution),
        "sets": sample_sets(solution.posed, solution.walker.side, solution.walker.z).tolist(),
        "terms": TERMS[manner(space)],
        "model": model,
        "walk": None,
    }
    found = np.flatnonzero(solution.rows == row)
    if not len(found):
        return fixed | ({"refused": _no_part(space, row, learns)} if row >= 0 else {}), coef, None
    sample = int(found[0])
    try:
        way = take_in(solution, sample) if learns else leave_out(solution, sample, record=True)
    except InvalidProblemError as error:
        return fixed | {"refused": str(error)}, coef, None
    walk, coef = course(space, solution, sample, way)
    return fixed | {"walk": walk}, coef, way


def _no_part(space: Workspace, row: int, learns: bool) -> str:
    """Why a point of another class than the two is not learned, or has nothing to unlearn."""
    a, b = (space.classes[label] for label in space.two_classes().classes)
    name, point = MACHINE_NAMES[space.machine], "the new point" if learns else f"point {row + 1}"
    return (
        f"{name} tells only {a} and {b} apart, so that {point} takes no part: choose other two classes, "
        "MC-SVM or AD-SVM."
    )


def recording(space: Workspace) -> Recording:
    """Every event of the walk that is shown, to be played and saved; with a message where there is none."""
    message, trace, solution = unlearn_message(space), None, None
    if message is None:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                _shown(space)
            solution, way = st.session_state[EXACT][1], st.session_state[WALK][1][2]
            if way is None or (way.walk is None and not way.is_broken):
                message = NO_WALK
            else:
                kind, machine = "learned" if way.learns else "unlearned", estimator(space)
                trace = trace_of_walk(way.walk, solution.posed, kind, machine, solution.X, solution.y)
        except InvalidProblemError as error:
            message = str(error)
    if trace is None or solution is None:
        return Recording(None, np.empty(0, int), message)
    return Recording(trace, solution.rows)


# -------------------------------------------------------------------------------------------- the proof


def proof(space: Workspace, solution: Solution, sample: int, way: Way) -> str:
    """Refit without the sample, or with it where it was learned, and say how far the two machines differ."""
    name, n, without = names(space, solution)[sample], len(solution.X), not way.learns
    began = time.perf_counter()
    try:
        machine = refit(space, solution, [sample] if without else [])
    except InvalidProblemError as error:
        return f"There is nothing to compare with: a machine without {name} cannot be fitted. {error}"
    seconds = time.perf_counter() - began
    values = solution.judge.decisions(way.walker, np.arange(n))
    refitted = (
        machine.predict(solution.X) if space.task == "regression" else machine.decision_function(solution.X)
    )
    if values.shape != refitted.shape:
        return f"There is nothing to compare with: a machine fitted without {name} has one class less."
    difference = float(np.abs(values - refitted).max())
    largest = float(np.abs(refitted).max())
    how = "without" if without else "with"
    sentence = (
        f"Refitted {how} {name}: the decision values of all {n} points differ by {short(difference, 2)} at most "
        f"(the largest is {short(largest, 3)}). The walk took {duration(way.seconds)}, the refit {duration(seconds)}."
    )
    if machine.certificate_.status != "optimal":
        sentence += f" The refit ended with the status “{machine.certificate_.status}”."
    if without and space.machine == "ad_svm" and space.n_prototypes > 1 and difference > 1e-6 * largest:
        sentence += " The refit has divided the classes among their prototypes anew."
    return sentence


# -------------------------------------------------------------------------------------------- everyone in turn


def _everyone(
    space: Workspace, solution: Solution, asked: Ask | None, now: tuple[Any, ...]
) -> dict[str, Any] | None:
    """Leave-one-out, or the folds, as far as it has come, a part further where the browser has asked for it."""
    known: Everyone | None = st.session_state.get(EVERYONE)
    if asked is not None and asked.kind in ("everyone", "folds"):
        st.session_state[ASKED] = replace(asked, kind="point")  # the next part has to be asked for
        by_folds = asked.kind == "folds"
        if known is None or known.of != now or known.by_folds != by_folds or asked.afresh:
            known = st.session_state[EVERYONE] = begin(solution, now, by_folds)
        advance(space, solution, known, PART_SECONDS)
    return None if known is None or known.of != now else entry(space, solution, known)
