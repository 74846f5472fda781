"""A whole path for the browser: every solution of a machine while C, epsilon or mu moves, to be scrubbed.

A stage of mode "slide" (see `svmviz.ui.board.stage`) shows the Board over a slider for the parameter, and beside it
multipliers and errors against the parameter. Its data are those of the Board (`Workspace.scene`) and one more entry,
"path", None when there is nothing to show:

    key         text that differs for paths that differ
    for         Workspace.seq of the points that the path is about
    parameter   "C", "epsilon" or "mu"
    value       where the slider begins
    note        None, or that the workspace's own value is not feasible
    left_out    the leave-one-out error as far as it is known, see `svmviz.ui.path_errors.PathErrors.entry`; "refused"
                in its place where there is none: why

The path itself is large and changes with data and settings only, so that it travels apart and once
(`svmviz.ui.board.keep_path`). It has:

    parameter   as above; start, stop: its range, start < stop; logarithmic: whether the slider is
    rows        the point of the workspace that each sample is
    labels      the class of each sample
    targets     the target of each sample of a regressor, otherwise None
    model       machine, owners, parameters, kernel and centres, as the Player's (see readers.js)
    dual        the dual problem at `start`, as in the Player's trace
    bound       the bound of the multipliers: a number, "value" where the parameter is the bound, None without one
    curved      None; where the diagonal of the dual problem is inversely proportional to the parameter, and all are
                curves between the breakpoints, what lines between the knots are off by, as a share of the picture
    faultless   the smallest value without a training error, or with all points in the tube; None without one
    negligible  nearer to a bound than this share of the largest multiplier on the path, a multiplier is there
    knots       (k,) values between which everything is linear, or drawn so, ascending; where the solution jumps
                (another one is optimal too) a value stands there twice
    z, nu       multipliers (k, n_dual) and multiplier of each group (k, n_groups) at the knots
    status      (k - 1, n_samples) of each sample between two knots, 0 none, 1 free, 2 at the bound
    note        one sentence more, or None
    events      [value, sample, what]; what is one of `svmviz.ui.path_knots.WHAT`

z, nu and status are bytes in base 64, little-endian, of float64, float64 and uint8, row by row.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.machines.ad_svm import smallest_mu
from svmviz.ui.board import KEPT_PATHS
from svmviz.ui.budget import PART_SECONDS
from svmviz.ui.controls import MACHINE_NAMES, SLIDING
from svmviz.ui.estimators import Samples, machine_of, samples_of
from svmviz.ui.faultless import first_faultless
from svmviz.ui.feasible import infeasible_mu
from svmviz.ui.fitting import digest, fingerprint, remembered_some
from svmviz.ui.lesson import Recording
from svmviz.ui.path_errors import SEVERAL_PROTOTYPES, VALUES, PathErrors, advance
from svmviz.ui.path_knots import DRAWN, NEGLIGIBLE, happenings, knots_of, with_knot
from svmviz.ui.player import dual_entries
from svmviz.ui.workspace import CLASSIFIERS, REGRESSORS, Workspace, checked
from svmviz.walk.as_trace import trace_of_path
from svmviz.walk.paths import CurvedPath, Path, path

Array = np.ndarray

C_RANGE = (0.01, 1000.0)

LEAST_EPSILON, MOST_EPSILON = 0.01, 1.02
"""Ends of the path in epsilon, in half the range of the targets: at the latter no sample is outside of the tube."""

MOST_POINTS = 300
"""A path has several events for each point: more of them would keep the visitor waiting."""

MOST_NUMBERS = 1_000_000
"""Of multipliers that are sent to the browser, 8 bytes each."""

TOO_MANY = "This path has {:,} breakpoints, too many to show: erase some points."
"""Why a path is not shown, with how many there are."""

KEPT_ERRORS = 12
"""So many errors along a path a visitor may go back to without their being computed again."""

ASKED = "slide_asked"
"""Where the session has the key of the path whose leave-one-out error the browser has asked for."""


@dataclass(frozen=True)
class Scale:
    """The range of a parameter.

    Attributes
    ----------
    parameter : "C", "epsilon" or "mu"
    start, stop : float
        start < stop.
    logarithmic : bool
        Whether equal distances are equal ratios.
    """

    parameter: str
    start: float
    stop: float
    logarithmic: bool

    def values(self, count: int) -> Array:
        """So many values (count,) from start to stop, both included."""
        if self.logarithmic:
            return np.geomspace(self.start, self.stop, count)
        return np.linspace(self.start, self.stop, count)


# ------------------------------------------------------------------------------------------ what is shown


def slide_data(
    space: Workspace, parameter: str, height: int | str
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the page shows.

    Parameters
    ----------
    space : Workspace
    parameter : str
        One of `SLIDING` of the machine; "" when there is none.
    height : int or str
        Pixels, or a length in CSS.

    Returns
    -------
    data : dict
        For `svmviz.ui.board.stage`; with a message and no path where there is none.
    path : dict or None
        For `svmviz.ui.board.keep_path`.
    """
    # The value of the parameter itself changes nothing of its path.
    elsewhere: dict[str, Any] = {parameter: 1.0} if parameter else {}
    key = digest(parameter, fingerprint(replace(space, **elsewhere)))
    message, path = remembered_some("whole_paths", key, lambda: _built(space, parameter), KEPT_PATHS)
    entry = None
    if path is not None:
        entry = {
            "key": key,
            "for": space.seq,
            "parameter": parameter,
            "note": infeasible_mu(space, "and is shown") if parameter == "mu" else None,
            "value": float(np.clip(getattr(space, parameter), path["start"], path["stop"])),
            **_left_out_entry(space, parameter, key),
        }
    return {**space.scene(height, message), "mode": "slide", "model": None, "path": entry}, path


def take(value: object) -> None:
    """Remember for the next run that the browser wants more of the leave-one-out error, ``{"key": text}``."""
    key = value.get("key") if isinstance(value, Mapping) else None
    if isinstance(key, str):
        st.session_state[ASKED] = key


def _left_out_entry(space: Workspace, parameter: str, key: str) -> dict[str, Any]:
    """The leave-one-out error along the path of this key, a part further where the browser has asked for it."""
    if space.machine == "ad_svm" and space.n_prototypes > 1:
        return {"refused": SEVERAL_PROTOTYPES}
    errors = remembered_some(
        "path_errors", key, lambda: PathErrors(scale_of(space, parameter).values(VALUES)), KEPT_ERRORS
    )
    if st.session_state.get(ASKED) == key:
        st.session_state[ASKED] = None  # the next part has to be asked for
        advance(space, samples_of(space), parameter, errors, PART_SECONDS)
    return {"left_out": errors.entry()}


def _built(space: Workspace, parameter: str) -> tuple[str | None, dict[str, Any] | None]:
    """A message or None, and the path."""
    message = slide_message(space)
    if message is not None:
        return message, None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            samples, scale = samples_of(space), scale_of(space, parameter)
            found = follow(space, samples, scale)
            return None, path_entries(space, samples, scale, found) | {"note": _others(space, samples)}
    except InvalidProblemError as error:
        return str(error), None


def slide_message(space: Workspace) -> str | None:
    """Why there is no path, as one sentence, or None."""
    if space.machine not in SLIDING:
        offered = REGRESSORS if space.task == "regression" else CLASSIFIERS
        *others, last = (MACHINE_NAMES[name] for name in offered if name in SLIDING)
        return (
            f"{MACHINE_NAMES[space.machine]} has no C, ε or μ to slide: choose {', '.join(others)} or {last}."
        )
    message = checked(space)
    if message is not None:
        return message
    n = len(samples_of(space).rows)
    if n > MOST_POINTS:
        return f"{n:,} points are too many for a whole path: erase some until {MOST_POINTS} are left."
    if space.task == "regression" and not np.ptp(space.points[:, 1]):
        return "All targets are equal, so that nothing depends on the parameter: move a point up or down."
    return None


def _others(space: Workspace, samples: Samples) -> str | None:
    if len(samples.rows) == len(space.points):
        return None
    a, b = (space.classes[label] for label in space.present_pair())
    return f"Only {a} and {b} take part."


def scale_of(space: Workspace, parameter: str) -> Scale:
    """The range of a parameter on these points."""
    if parameter == "C":
        return Scale("C", *C_RANGE, logarithmic=True)
    if parameter == "epsilon":
        half = 0.5 * float(np.ptp(space.points[:, 1]))
        return Scale("epsilon", LEAST_EPSILON * half, MOST_EPSILON * half, logarithmic=False)
    codes = np.unique(samples_of(space).y, return_inverse=True)[1]
    least = smallest_mu(codes, space.n_prototypes if space.machine == "ad_svm" else 1)
    if least >= 1:
        raise InvalidProblemError("A class with one sample gives it all the weight, so that μ can only be 1.")
    return Scale("mu", least, 1.0, logarithmic=True)


def follow(space: Workspace, samples: Samples, scale: Scale) -> Path:
    """The path of the workspace's machine.

    Raises
    ------
    InvalidProblemError
        Where there is none, or it has too many breakpoints.
    """
    found = path(machine_of(space), samples.X, samples.y, scale.parameter, scale.start, scale.stop)
    assert isinstance(found, Path)  # of more classes two take part
    if len(found.walk.segments) * found.posed.problem.n > MOST_NUMBERS:
        raise InvalidProblemError(TOO_MANY.format(len(found.walk.segments)))
    return found


def recording(space: Workspace, parameter: str) -> Recording:
    """Every event of the path, to be played and saved; with a message where there is none.

    Parameters
    ----------
    space : Workspace
    parameter : str
        As for `slide_data`.
    """
    message = slide_message(space)
    if message is not None:
        return Recording(None, np.empty(0, int), message)
    samples = samples_of(space)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = follow(space, samples, scale_of(space, parameter))
        trace = trace_of_path(found, machine_of(space), samples.X, samples.y)
    except InvalidProblemError as error:
        return Recording(None, np.empty(0, int), str(error))
    return Recording(trace, samples.rows)


def path_entries(space: Workspace, samples: Samples, scale: Scale, found: Path) -> dict[str, Any]:
    """The path for the browser; see the head of this file."""
    knots, problem = knots_of(found), found.posed.problem
    faultless = first_faultless(found, knots, samples.y)
    if faultless is not None and isinstance(found, CurvedPath):
        knots = with_knot(found, knots, faultless)
    if knots.z.size > MOST_NUMBERS:
        raise InvalidProblemError(TOO_MANY.format(len(found.walk.segments)))
    labels = (
        space.labels[samples.rows] if space.task == "classification" else np.zeros(len(samples.rows), int)
    )
    kernel = space.kernel_parameters()
    if scale.parameter == "epsilon":
        bound: str | float | None = space.C if problem.is_bounded else None
    elif isinstance(found, CurvedPath):
        bound = None
    else:
        bound = "value"
    return {
        "parameter": scale.parameter,
        "start": scale.start,
        "stop": scale.stop,
        "logarithmic": scale.logarithmic,
        "rows": samples.rows.tolist(),
        "labels": labels.tolist(),
        "targets": samples.y.tolist() if space.task == "regression" else None,
        "model": {
            "machine": space.machine,
            "owners": _owners(labels, found),
            "parameters": {"epsilon": space.epsilon, "nearest": float(space.decision_rule == "nearest")},
            "kernel": {"name": kernel.pop("kernel"), **kernel},
            "centres": samples.X.tolist(),
        },
        "dual": dual_entries(problem),
        "bound": bound,
        "curved": DRAWN if isinstance(found, CurvedPath) else None,
        "faultless": faultless,
        "negligible": NEGLIGIBLE,
        "knots": knots.values.tolist(),
        "z": _packed(knots.z, "<f8"),
        "nu": _packed(knots.nu, "<f8"),
        "status": _packed(knots.status, "u1"),
        "events": [list(happening) for happening in happenings(found)],
    }


def _owners(labels: Array, found: Path) -> list[int]:
    """The class that each side of a two-class machine, or each prototype, is for."""
    problem = found.posed.problem
    if problem.n_groups > 1:
        return [int(label) for label in labels[problem.sample[problem.starts]]]
    return [int(label) for label in np.unique(labels)]


def _packed(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")
