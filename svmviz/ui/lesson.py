"""Record the runs that the lesson plays, open saved ones, and race the three rules."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from svmviz import explain
from svmviz.datasets import ROW_LIMIT, Dataset
from svmviz.errors import InvalidProblemError
from svmviz.kernels import make_kernel
from svmviz.machines import svc, svr
from svmviz.projection import principal_components
from svmviz.smo.loop import Options
from svmviz.trace import Trace, record
from svmviz.ui.fitting import fingerprint
from svmviz.ui.player import player_data, sample_name
from svmviz.ui.workspace import KERNELS, RULES, Workspace, checked

STEP_LIMIT = 3000
"""Most steps that are recorded for the Player."""

STEP_BUDGET = 600_000
"""Most steps times points that are recorded: a recording takes a second or two at most."""

OPENED, RECORDED, PLAYED = "opened_trace", "recorded_trace", "played_trace"


@dataclass(frozen=True)
class Recording:
    """A trace and which of the workspace's points its samples are.

    Attributes
    ----------
    trace : Trace or None
        None together with a message.
    rows : ndarray of int
    message : str or None
        One sentence when nothing could be recorded.
    projected : bool
        Whether the points are a projection of the samples: they can be looked at, but neither moved nor
        surrounded by regions.
    """

    trace: Trace | None
    rows: np.ndarray
    message: str | None = None
    projected: bool = False


def recording(space: Workspace) -> Recording:
    """The run to play: a trace that was opened and still fits the workspace, or a new recording.

    Parameters
    ----------
    space : Workspace

    Returns
    -------
    Recording
        The same object again as long as nothing that it depends on changes.
    """
    now = (*fingerprint(space), space.rule, space.pair)
    before, opened = st.session_state.get(OPENED, (None, None))
    if now == before:
        return opened
    before, recorded = st.session_state.get(RECORDED, (None, None))
    if now != before:
        new = record_run(space, space.rule)
        space.position = _position_in(new, recorded, space.position)
        recorded = new
        st.session_state[RECORDED] = (now, recorded)
    return recorded


def _position_in(new: Recording, old: Recording | None, position: int) -> int:
    """Where the Player goes by itself with a new run: to its end if it stood at an end, otherwise to the start."""
    if old is None or old.trace is None:
        return position
    at_end = 0 < position >= len(old.trace.steps)
    return len(new.trace.steps) if at_end and new.trace is not None else 0


def record_run(space: Workspace, rule: str) -> Recording:
    """Run SMO on the workspace and keep every step.

    Parameters
    ----------
    space : Workspace
    rule : str
        How the pair is picked.

    Returns
    -------
    Recording
    """
    message = checked(space)
    if message:
        return Recording(None, np.empty(0, int), message)
    record_task = _record_regressor if space.task == "regression" else _record_classifier
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return record_task(space, Options(tol=space.tol, selection=rule))
    except InvalidProblemError as error:
        return Recording(None, np.empty(0, int), str(error))


def _record_classifier(space: Workspace, options: Options) -> Recording:
    a, b = space.present_pair()
    rows = np.flatnonzero((space.labels == a) | (space.labels == b))
    signs = np.where(space.labels[rows] == b, 1.0, -1.0)
    problem = svc.dual_problem(signs, space.C)
    X = space.points[rows]
    return Recording(_record(space, "C-SVC", X, signs, problem, options, {"C": space.C}), rows)


def _record_regressor(space: Workspace, options: Options) -> Recording:
    X, y = space.points[:, :1], space.points[:, 1]
    problem = svr.dual_problem(y, space.C, space.epsilon)
    parameters = {"C": space.C, "epsilon": space.epsilon}
    return Recording(_record(space, "epsilon-SVR", X, y, problem, options, parameters), np.arange(len(X)))


def _record(
    space: Workspace,
    machine: str,
    X: np.ndarray,
    y: np.ndarray,
    problem: Any,
    options: Options,
    parameters: dict[str, float],
) -> Trace:
    kernel = make_kernel(space.kernel, X, gamma=space.gamma_value(), degree=space.degree, coef0=space.coef0)
    most = min(STEP_LIMIT, STEP_BUDGET // len(X))
    return record(machine, X, y, kernel, parameters, problem, options, max_steps=most)


def playable(
    space: Workspace, run: Recording, height: int | str, position: int
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """What the Player takes: the scene with the trace, and the table of its steps.

    Parameters
    ----------
    space : Workspace
    run : Recording
    height : int or str
        Pixels, or a length in CSS.
    position : int
        Where a Player that is mounted anew begins.

    Returns
    -------
    data : dict
    steps : DataFrame or None
        The same objects again as long as nothing that they depend on changes: a Player that only reports where it
        rests costs no more than the rerun.
    """
    now = (space.ack, height, position)
    known, before, played = st.session_state.get(PLAYED, (None, None, None))
    if run is not known or now != before:
        played = _play(space, run, height, position)
        st.session_state[PLAYED] = (run, now, played)
    return played


def _play(
    space: Workspace, run: Recording, height: int | str, position: int
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    picture = space.scene(height, run.message)
    if run.trace is None:
        return player_data(picture, None)
    picture["editable"] = not run.projected
    sentences = explain.sentences(run.trace, _names(space, run))
    data, steps = player_data(picture, run.trace, sentences, rows=run.rows.tolist(), position=position)
    data["model"]["regions"] = not run.projected
    return data, steps


def _names(space: Workspace, run: Recording) -> list[str]:
    """A name for every dual index of a run: the mark of the point's class and its number."""
    assert run.trace is not None
    labels = None if space.task == "regression" else space.labels
    points = run.rows[run.trace.problem.sample].tolist()
    return [sample_name(point, None if labels is None else int(labels[point])) for point in points]


# ----------------------------------------------------------------------------------------- saved traces


def open_trace(space: Workspace, text: str) -> None:
    """Take over a saved trace: its points and parameters become the workspace's.

    Parameters
    ----------
    space : Workspace
    text : str
        What `Trace.to_json` or `Trace.to_csv` wrote.

    Raises
    ------
    InvalidProblemError
        If the text is no trace, or one that cannot be drawn; the workspace stays as it is.
    """
    trace = Trace.from_csv(text) if text.lstrip().startswith("#") else Trace.from_json(text)
    attempt = replace(space)
    try:
        _adopt(attempt, trace)
        run = Recording(trace, np.arange(len(trace.X)), projected=_is_projected(trace))
        playable(attempt, run, 0, 0)
    except InvalidProblemError:
        raise
    except Exception as error:  # a file written by hand can be wrong in any way
        raise InvalidProblemError("The steps of this trace do not fit its problem: save it again.") from error
    _adopt(space, trace)
    st.session_state[OPENED] = ((*fingerprint(space), space.rule, space.pair), run)


def save_trace(space: Workspace, kind: str) -> str:
    """The run that is played, as the text of a file; empty when there is none.

    Parameters
    ----------
    space : Workspace
    kind : "json" or "csv"
    """
    trace = recording(space).trace
    if trace is None:
        return ""
    return trace.to_json() if kind == "json" else trace.to_csv()


def _is_projected(trace: Trace) -> bool:
    """Whether the samples are not themselves points of the plane."""
    features = 1 if trace.machine == "epsilon-SVR" else 2
    return trace.kernel["name"] not in KERNELS or trace.X.shape[1] != features


def _coordinates(trace: Trace, count: int) -> np.ndarray:
    """Samples as (n, count) coordinates: their features, or their first principal components."""
    if not _is_projected(trace):
        return trace.X
    named = trace.kernel["name"] in KERNELS
    return principal_components(trace.X @ trace.X.T if named else trace.hessian().K, count)


def _adopt(space: Workspace, trace: Trace) -> None:
    regression = trace.machine == "epsilon-SVR"
    if trace.X.ndim != 2 or not 2 <= len(trace.X) <= ROW_LIMIT:
        raise InvalidProblemError(f"The app draws traces of 2 to {ROW_LIMIT:,} points.")
    if trace.problem.n != len(trace.X) * (2 if regression else 1):
        raise InvalidProblemError("The problem of this trace is not that of its machine: save it again.")
    coordinates = _coordinates(trace, 1 if regression else 2)
    points = np.column_stack([coordinates, trace.y]) if regression else coordinates
    labels = np.zeros(len(points), int) if regression else (trace.y > 0).astype(int)
    axes = ("component 1", "y" if regression else "component 2") if _is_projected(trace) else ("x1", "x2")
    space.load(Dataset(points, labels, "regression" if regression else "classification", axes))
    space.tol, space.pair = float(trace.tol), (0, 1)
    space.rule = trace.rule if trace.rule in RULES else space.rule
    if trace.kernel["name"] in KERNELS:
        space.kernel = trace.kernel["name"]
    for name in ("gamma", "degree", "coef0"):
        if name in trace.kernel:
            setattr(space, name, trace.kernel[name])
    for name in ("C", "epsilon"):
        if name in trace.parameters:
            setattr(space, name, float(trace.parameters[name]))
    if _is_projected(trace):
        space.notice = (
            "The samples of this trace do not lie in a plane: the Board shows their first principal components, "
            "without regions. Change anything, and a new run is recorded on the points as drawn."
        )


# --------------------------------------------------------------------------------------------- the race


def race(space: Workspace) -> dict[str, Trace]:
    """Record all three rules on the same problem.

    Parameters
    ----------
    space : Workspace
        One that can be fitted.

    Returns
    -------
    dict of Trace
        By the name of the rule.
    """
    runs = {rule: record_run(space, rule).trace for rule in RULES}
    return {rule: trace for rule, trace in runs.items() if trace is not None}
