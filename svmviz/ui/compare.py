"""Four machines for many classes on the same points: how each decides, what it costs, and where it errs."""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from svmviz import datasets
from svmviz.datasets import ROW_LIMIT
from svmviz.errors import InvalidProblemError
from svmviz.estimators import ADSVC, MCSVC, SVC, OneVsRestSVC
from svmviz.estimators.base import Classifier
from svmviz.explain import short
from svmviz.ui import fitting
from svmviz.ui.models import (
    Verdict,
    browser_model,
    clear_value,
    drawn_codes,
    function,
    judge_prototypes,
    pair_functions,
    parameters,
    prototype_functions,
    share,
)
from svmviz.ui.workspace import Workspace, checked

SEED = 20111130
"""Of the draw that decides which points are held out."""

PART = 0.5
"""Of the work of a page for each of the four machines: the AD-SVM, and often others, need far less."""

READ = "Kernel values read: entries of the Gram matrix that the steps looked up."

FIT, SPLIT = "compare_fit", "compare_split"

Row = tuple[float, float, int]


@dataclass(frozen=True)
class Rival:
    """One of the machines and what came out.

    Attributes
    ----------
    title, note : str
        Its name, and the parameter it was trained with.
    message : str or None
        Why it could not be trained, or why it decides nothing.
    model : dict or None
        What the browser needs to draw it; None when it could not be trained, and nothing of the rest means anything.
    variables, pairs : int
        Of the dual problem, or of all problems together; pairs that SMO moved.
    kernel_values : int
        Kernel values that the steps read, see `svmviz.problem.Certificate`.
    seconds : float
        Wall time of the fit.
    train_wrong, held_wrong : int or None
        Samples that are predicted wrong; None for a machine that decides nothing.
    ambiguous : int or None
        Samples in a hatched region; None for a machine that takes one decision only.
    finished : bool
        Whether the solver reached its tolerance.
    """

    title: str
    note: str
    message: str | None = None
    model: dict[str, Any] | None = None
    variables: int = 0
    pairs: int = 0
    kernel_values: int = 0
    seconds: float = 0.0
    train_wrong: int | None = None
    held_wrong: int | None = None
    ambiguous: int | None = None
    finished: bool = True


@dataclass(frozen=True)
class Comparison:
    """All machines on the same points.

    Attributes
    ----------
    message : str or None
        One sentence when there is nothing to compare.
    rivals : tuple of Rival
    held : (n,) bool array
        Points that no machine was trained on.
    """

    message: str | None
    rivals: tuple[Rival, ...]
    held: np.ndarray


TITLES = ("One against the rest", "One against one", "MC-SVM", "AD-SVM")


def compare(space: Workspace, held: np.ndarray) -> Comparison:
    """Train the four machines on the points that are not held out.

    The AD-SVM has one prototype a class here and equal weights, as in the thesis; the MC-SVM has beta = 1 / C, with
    which its slack costs as much as that of the other machines.

    Parameters
    ----------
    space : Workspace
    held : (n,) bool array
        See `held_out`.

    Returns
    -------
    Comparison
        With a message instead of rivals when the points do not allow a comparison.
    """
    message = checked(space, "svc")
    if space.task == "regression":
        message = "These points are a curve. Choose an example with classes to compare machines for classes."
    if message:
        return Comparison(message, tuple(Rival(title, "") for title in TITLES), np.zeros_like(held))
    makers = (_one_against_rest, _one_against_one, _mc_svm, _ad_svm)
    return Comparison(None, tuple(_trained(space, held, make) for make in makers), held)


@dataclass(frozen=True)
class _Entry:
    """A machine to be trained, and how to read it."""

    title: str
    note: str
    machine: Any
    variables: int
    read: Callable[[Any], tuple[list[dict[str, Any]], str, dict[str, Any]]]
    decide: Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray | None]]


def _trained(space: Workspace, held: np.ndarray, make: Callable[[Workspace, np.ndarray], _Entry]) -> Rival:
    labels = space.labels[~held]
    entry = make(space, labels)
    machine = entry.machine
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            start = time.perf_counter()
            machine.fit(space.points[~held], labels)
            seconds = time.perf_counter() - start
            predicted, unclear = entry.decide(machine, space.points)
    except InvalidProblemError as error:
        return Rival(entry.title, entry.note, str(error))
    functions, decision, more = entry.read(machine)
    verdict = judge_prototypes(machine, space) if isinstance(machine, ADSVC) else Verdict(True)
    message = None if verdict.apart else verdict.note
    wrong = predicted != space.labels
    certificate = machine.certificate_
    return Rival(
        title=entry.title,
        note=entry.note,
        message=message,
        model=browser_model(
            space, machine.support_vectors_, functions, decision, (), regions=message is None, **more
        ),
        variables=entry.variables,
        pairs=certificate.iterations,
        kernel_values=certificate.kernel_values,
        seconds=seconds,
        train_wrong=None if message else int(wrong[~held].sum()),
        held_wrong=None if message else int(wrong[held].sum()),
        ambiguous=None if unclear is None else int(unclear.sum()),
        finished=certificate.status in ("optimal", "stationary"),
    )


# ------------------------------------------------------------------------------------------- the four machines


def _one_against_rest(space: Workspace, labels: np.ndarray) -> _Entry:
    classes = np.unique(labels)
    machines = len(classes) if len(classes) > 2 else 1

    def read(machine: OneVsRestSVC) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
        rows = zip(machine.dual_coef_, machine.intercept_, classes.tolist(), strict=True)
        functions = [function(coef, bias, [label]) for coef, bias, label in rows]
        return functions, "argmax", {"hatch": machines > 1}

    def decide(machine: OneVsRestSVC, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        scores = machine.decision_function(X)
        unclear = (scores > 0).sum(axis=1) != 1 if machines > 1 else np.zeros(len(X), bool)
        return machine.predict(X), unclear

    estimator = OneVsRestSVC(C=space.C, **parameters(space, len(labels), machines, PART))
    return _Entry(TITLES[0], f"C = {short(space.C)}", estimator, machines * len(labels), read, decide)


def _one_against_one(space: Workspace, labels: np.ndarray) -> _Entry:
    classes = np.unique(labels)
    machines = len(classes) * (len(classes) - 1) // 2

    def read(machine: SVC) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
        return pair_functions(machine, classes.tolist()), "vote", {"hatch": machines > 1, "levels": []}

    def decide(machine: SVC, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        if machines == 1:
            return machine.predict(X), np.zeros(len(X), bool)
        votes = np.floor(machine.decision_function(X) + 0.5)
        unclear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return classes[drawn_codes(machine, X)], unclear

    estimator = SVC(C=space.C, **parameters(space, 2 * len(labels) / len(classes), machines, PART))
    variables = (len(classes) - 1) * len(labels)  # a sample takes part once for every other class
    return _Entry(TITLES[1], f"C = {short(space.C)}", estimator, variables, read, decide)


def _mc_svm(space: Workspace, labels: np.ndarray) -> _Entry:
    classes = np.unique(labels)

    def read(machine: MCSVC) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
        rows = zip(machine.dual_coef_, classes.tolist(), strict=True)
        return [function(coef, 0.0, [label]) for coef, label in rows], "argmax", {}

    variables = len(classes) * len(labels)
    estimator = MCSVC(beta=1 / space.C, **parameters(space, variables, part=PART))
    note = f"β = 1/C = {short(1 / space.C)}"
    return _Entry(TITLES[2], note, estimator, variables, read, _once)


def _ad_svm(space: Workspace, labels: np.ndarray) -> _Entry:
    classes = np.unique(labels)
    mu = space.mu_value(labels)

    def read(machine: ADSVC) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
        scale = clear_value(0.5 * machine.prototypes_.distances() ** 2)
        return prototype_functions(machine, classes.tolist()), "argmax", {"scale": scale}

    note = f"μ = {short(mu)}" + (
        "" if mu == space.mu else ", the least possible" if mu > space.mu else ", the most"
    )
    estimator = ADSVC(mu=mu, rule=space.decision_rule, **parameters(space, len(labels), part=PART))
    return _Entry(TITLES[3], note, estimator, len(labels), read, _once)


def _once(machine: Classifier, X: np.ndarray) -> tuple[np.ndarray, None]:
    """Of a machine that takes one decision."""
    return machine.predict(X), None


# ---------------------------------------------------------------------------------------------- held-out points


def held_out(labels: np.ndarray, share: float, draws: np.ndarray) -> np.ndarray:
    """Which points are held out: in every class this share of its points, those with the smallest draws.

    Parameters
    ----------
    labels : (n,) int array
    share : float
        0 to 1.
    draws : (n,) array
        A number a point, see `kept_draws`.

    Returns
    -------
    (n,) bool array
        At least one point of every class is left for training.
    """
    held = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        count = min(int(share * len(rows) + 0.5), len(rows) - 1)
        held[rows[np.argsort(draws[rows], kind="stable")[:count]]] = True
    return held


def kept_draws(rows: list[Row], before: list[tuple[Row, float]]) -> list[float]:
    """A random number a point that stays with it through edits.

    A point that was there keeps its number, and one that was moved takes it along, so that an edit of one point
    moves no other one between training and held out, but for the one that keeps the share.

    Parameters
    ----------
    rows : list of (x, y, label)
        The points now.
    before : list of (row, float)
        Points and their numbers before; empty for new points.

    Returns
    -------
    list of float
    """
    known: dict[Row, deque[float]] = defaultdict(deque)
    for row, draw in before:
        known[row].append(draw)
    kept = [known[row].popleft() if known[row] else None for row in rows]
    moved: dict[int, deque[float]] = defaultdict(deque)
    for row, left in known.items():
        moved[row[2]].extend(left)
    draws = np.random.default_rng(SEED).random(max(ROW_LIMIT, len(rows))).tolist()
    for k, (row, own) in enumerate(zip(rows, kept, strict=True)):
        if own is not None:
            draws[k] = own
        elif moved[row[2]]:
            draws[k] = moved[row[2]].popleft()
    return draws[: len(rows)]


def _split(space: Workspace) -> np.ndarray:
    """The held-out points of the workspace; the draws are kept for as long as the browser edits the same points."""
    revision, before = st.session_state.get(SPLIT, (None, []))
    rows = [(x, y, int(label)) for x, y, label in space.rows()]
    draws = kept_draws(rows, before if revision == space.revision else [])
    st.session_state[SPLIT] = (space.revision, list(zip(rows, draws, strict=True)))
    return held_out(space.labels, space.held_out, np.array(draws))


# ------------------------------------------------------------------------------------------ what the page shows


def cached(space: Workspace) -> Comparison:
    """The comparison of a workspace; the last one again when nothing that it depends on has changed."""
    now = (*fitting.fingerprint(space), space.held_out)
    return fitting.remembered(FIT, now, lambda: compare(space, _split(space)))


def stage_data(space: Workspace, outcome: Comparison, height: int | str) -> dict[str, Any]:
    """What the browser shows, see compare.js.

    Parameters
    ----------
    space : Workspace
    outcome : Comparison
    height : int or str
        Pixels, or a length in CSS.

    Returns
    -------
    dict
    """
    scene = space.scene(height, None)
    panels = [
        {
            "title": rival.title,
            "note": rival.note,
            "model": rival.model,
            "message": outcome.message or rival.message,
            "numbers": numbers(outcome, rival),
        }
        for rival in outcome.rivals
    ]
    held = outcome.held.astype(int).tolist()
    return {
        **scene,
        "mode": "compare",
        "for": space.seq,
        "panels": panels,
        "held": held,
        "words": words(outcome, space),
    }


def numbers(outcome: Comparison, rival: Rival) -> list[dict[str, Any]]:
    """The rows under a machine's picture: name, value, and whether it is the best or the browser fills it in."""
    n_held = int(outcome.held.sum())
    wrongs = [other.held_wrong for other in outcome.rivals if other.held_wrong is not None]
    best = rival.held_wrong is not None and rival.held_wrong == min(wrongs) < max(wrongs)
    unclear = share(rival.ambiguous, len(outcome.held)) if rival.ambiguous is not None else "never"

    def part(count: int | None, n: int) -> str:
        return "–" if count is None else share(count, n)

    trained = rival.model is not None
    rows = {
        "Variables": f"{rival.variables:,}",
        "Pairs moved": f"{rival.pairs:,}" + ("" if rival.finished else ", stopped"),
        "Kernel values read": f"{rival.kernel_values:,}",
        "Time": f"{1000 * rival.seconds:,.0f} ms",
        "Training error": part(rival.train_wrong, len(outcome.held) - n_held),
        "Held-out error": part(rival.held_wrong, n_held),
        "Ambiguous points": unclear,
        "Hatched": "nothing",
    }
    return [
        {
            "name": name,
            "value": value if trained else "–",
            "best": best and name == "Held-out error",
            "hatched": name == "Hatched" and rival.model is not None and bool(rival.model.get("hatch")),
        }
        for name, value in rows.items()
    ]


def words(outcome: Comparison, space: Workspace) -> str:
    """What the hatching means, in plain words, and that a machine has not finished."""
    if outcome.message:
        return ""
    finished = all(rival.finished for rival in outcome.rivals)
    return f"{_hatching(space)} {READ}" + (
        ""
        if finished
        else " Stopped: ended early, so that its regions and errors are not yet those of the machine."
    )


def _hatching(space: Workspace) -> str:
    if len(space.present()) == 2:
        return (
            f"With two classes nothing is ambiguous. For a third class, choose {space.next_class() + 1} above and "
            f"draw, or choose an example with more: {', '.join(datasets.titles_of_many_classes())}."
        )
    return (
        "Hatched is ambiguous. One against the rest: no class claims the place, or several do. One against one: "
        "several classes share the most votes. The larger values then decide. MC-SVM and AD-SVM decide all at once."
    )
