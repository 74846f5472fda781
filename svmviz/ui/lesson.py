"""Record the runs that the lesson plays, play them, open saved ones, and race the three rules."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.datasets import ROW_LIMIT
from svmviz.errors import InvalidProblemError
from svmviz.projection import principal_components
from svmviz.smo.loop import Options
from svmviz.trace import Trace, record
from svmviz.ui import recorders
from svmviz.ui.board import stage
from svmviz.ui.feasible import feasible_mu, infeasible_mu
from svmviz.ui.fitting import fingerprint, remembered
from svmviz.ui.page import boundary, finish
from svmviz.ui.player import player_data
from svmviz.ui.workspace import KERNELS, RULES, Workspace, checked

STEP_LIMIT = 3000
"""Most steps that are recorded for the Player."""

STEP_BUDGET = 600_000
"""Most steps times points that are recorded: a recording takes a second or two at most."""

A_WALK = "This trace is a walk. Change anything, and a run of SMO is recorded on these points instead."
A_PROJECTION = (
    "The samples of this trace do not lie in a plane: the Board shows their first principal components, "
    "without regions. Change anything, and a new run is recorded on the points as drawn."
)

OPENED, RECORDED, PLAYED, RESTED = "opened_trace", "recorded_trace", "played_trace", "rested_trace"


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
    now = _what_is_played(space)
    before, opened = st.session_state.get(OPENED, (None, None))
    if now == before:
        return opened
    return remembered(RECORDED, now, lambda: record_run(space, space.rule, space.newton))


def _what_is_played(space: Workspace) -> tuple[Any, ...]:
    """What a recording depends on."""
    return (*fingerprint(space), space.rule, space.newton)


def chosen(space: Workspace, machine: str | None) -> Workspace:
    """The workspace itself, or with another classifier, for a page that is about one machine.

    Such a page has a slider for mu that cannot leave its feasible range: mu is moved into it.
    """
    if machine is None:
        return space
    return replace(space, classifier=machine, mu=feasible_mu(space, machine))


def moved_mu(space: Workspace, machine: str | None) -> str | None:
    """One sentence where a run on `chosen` has another mu than the workspace, otherwise None."""
    if machine is None:
        return None
    return infeasible_mu(replace(space, classifier=machine), "and this run has it")


def _run(space: Workspace, machine: str | None) -> Recording:
    if machine is not None and space.task == "regression":
        return Recording(None, np.empty(0, int), CLASSES_ONLY)
    return recording(chosen(space, machine))


CLASSES_ONLY = (
    "This machine tells classes apart: choose Classes under Points, and these points get theirs back."
)


def about(run: Recording) -> str:
    """One sentence where what is played is not a run on the points as drawn, otherwise none."""
    if run.projected:
        return A_PROJECTION
    return A_WALK if run.trace is not None and run.trace.walk is not None else ""


def rest(run: Recording, position: int) -> None:
    """Remember where the Player of a run came to rest."""
    st.session_state[RESTED] = (run, position)


def start(run: Recording) -> int:
    """Where a Player of this run begins when it is mounted anew: where it rested last.

    A Player that is there already decides for itself where it goes with another run.
    """
    before, position = st.session_state.get(RESTED, (None, 0))
    return position if run is before else 0


def room(
    space: Workspace,
    machine: str | None,
    height: int | str,
    key: str,
    notice: DeltaGenerator | None = None,
    controls: Callable[[Workspace], object] | None = None,
) -> None:
    """Record SMO on the points of the workspace and play it, with a Board to draw on. Not inside a fragment.

    Parameters
    ----------
    space : Workspace
    machine : str or None
        One of `svmviz.ui.workspace.CLASSIFIERS`, with mu moved into its feasible range; None: the workspace's.
    height : int or str
        Pixels, or a length in CSS.
    key : str
        Key of the component.
    notice : DeltaGenerator, optional
        Where the workspace's notice is shown.
    controls : callable, optional
        What the page's controls depend on, from the workspace: when an edit changes it the whole page runs again.
    """
    with boundary():
        begin = start(_run(space, machine))
        _room(space, machine, height, key, begin, notice, controls, controls(space) if controls else None)


@st.fragment
def _room(
    space: Workspace,
    machine: str | None,
    height: int | str,
    key: str,
    begin: int,
    notice: DeltaGenerator | None,
    controls: Callable[[Workspace], object] | None,
    shown: object,
) -> None:
    """An edit runs only this: the controls of the page are neither run nor drawn again.

    `begin` stays the same until the whole page runs, since every change of it would send the run again.
    """
    with boundary():
        if controls is not None and controls(space) != shown:
            st.rerun()
        run = _run(space, machine)
        data, steps = playable(space, run, height, begin, moved_mu(space, machine))
        stage(data, key=key, on_edit=space.apply_edit, on_position=lambda k: rest(run, k), steps=steps)
        if notice is not None:
            finish(notice, space, about(run))


def record_run(space: Workspace, rule: str, newton: bool = False) -> Recording:
    """Run SMO on the workspace and keep every step.

    Parameters
    ----------
    space : Workspace
    rule : str
        How the pair is picked.
    newton : bool, default False
        Whether to take Newton steps among the pairs.

    Returns
    -------
    Recording
    """
    message = checked(space) or infeasible_mu(space)
    if message:
        return Recording(None, np.empty(0, int), message)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _record(space, Options(tol=space.tol, selection=rule), newton)
    except InvalidProblemError as error:
        return Recording(None, np.empty(0, int), str(error))


def _record(space: Workspace, options: Options, newton: bool) -> Recording:
    setup, X, kernel = recorders.set_up(space)
    name = recorders.TRACE_NAMES[space.machine]
    most = min(STEP_LIMIT, STEP_BUDGET // setup.problem.n)
    what = (name, X, setup.y, kernel, setup.parameters, setup.problem, options)
    trace = record(*what, max_steps=most, newton=newton)
    return Recording(trace, setup.rows)


def playable(
    space: Workspace, run: Recording, height: int | str, position: int, note: str | None = None
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
    note : str, optional
        One sentence about the run.

    Returns
    -------
    data : dict
    steps : DataFrame or None
        The same objects again as long as nothing that they depend on changes: a Player that only reports where it
        rests costs no more than the rerun.
    """
    now = (space.ack, height, position, note)
    known, before, played = st.session_state.get(PLAYED, (None, None, None))
    if run is not known or now != before:
        played = _play(space, run, height, position, note)
        st.session_state[PLAYED] = (run, now, played)
    return played


def _play(
    space: Workspace, run: Recording, height: int | str, position: int, note: str | None
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    picture = space.scene(height, run.message or note)
    if run.trace is None:
        return player_data(picture, None)
    picture["editable"] = not run.projected
    data, steps = player_data(picture, run.trace, rows=run.rows.tolist(), position=position)
    data["model"]["regions"] = not run.projected
    return data, steps


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
    st.session_state[OPENED] = (_what_is_played(space), run)


def play_walk(space: Workspace, run: Recording) -> None:
    """Have a walk on the points of the workspace played, until anything changes.

    Parameters
    ----------
    space : Workspace
        Its points and parameters stay as they are.
    run : Recording
    """
    st.session_state[OPENED] = (_what_is_played(space), run)


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
    features = 1 if recorders.machine_of(trace) in recorders.REGRESSION else 2
    return trace.kernel["name"] not in KERNELS or trace.X.shape[1] != features


def _coordinates(trace: Trace, count: int) -> np.ndarray:
    """Samples as (n, count) coordinates: their features, or their first principal components."""
    if not _is_projected(trace):
        return trace.X
    named = trace.kernel["name"] in KERNELS
    return principal_components(trace.X @ trace.X.T if named else trace.hessian().K, count)


def _adopt(space: Workspace, trace: Trace) -> None:
    regression = recorders.machine_of(trace) in recorders.REGRESSION
    least = 1 if recorders.machine_of(trace) == "one_class" else 2
    if trace.X.ndim != 2 or not least <= len(trace.X) <= ROW_LIMIT:
        raise InvalidProblemError(f"The app draws traces of 2 to {ROW_LIMIT:,} points.")
    recorders.check_size(trace)
    coordinates = _coordinates(trace, 1 if regression else 2)
    axes = ("component 1", "y" if regression else "component 2") if _is_projected(trace) else ("x1", "x2")
    space.load(recorders.dataset(trace, coordinates, axes))
    space.pair = (0, 1)
    if trace.walk is None:
        space.tol, space.newton = float(trace.tol), trace.has_newton_steps
    space.rule = trace.rule if trace.rule in RULES else space.rule
    if trace.kernel["name"] in KERNELS:
        space.kernel = trace.kernel["name"]
    for name in ("gamma", "degree", "coef0"):
        if name in trace.kernel:
            setattr(space, name, trace.kernel[name])
    for name, value in recorders.settings(trace).items():
        setattr(space, name, value)


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
