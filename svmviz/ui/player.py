"""Turn a recorded trace into what the Player in the browser shows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from svmviz import explain
from svmviz.errors import InvalidProblemError
from svmviz.hulls import prototype_plane
from svmviz.machines import ad_svm
from svmviz.problem import DualProblem
from svmviz.smo.steps import NewtonStep
from svmviz.trace import Trace
from svmviz.ui import recorders
from svmviz.ui.models import prototype_names
from svmviz.walk.steps import EVENTS

Array = np.ndarray

# The marks of the classes as text, in the order of palette.js.
CLASS_SIGNS = ("●", "▲", "■", "◆", "✖", "★")

_BLOCKED: dict[Any, int] = {"none": 0, "i": 1, "j": 2, "both": 3}  # of a pair
_INTEGERS = ("group", "i", "j")
_NUMBERS = (
    "gradient_i",
    "gradient_j",
    "pair_violation",
    "violation",
    "curvature",
    "unclipped",
    "step",
    "z_i_before",
    "z_i_after",
    "z_j_before",
    "z_j_after",
    "objective_before",
    "objective_after",
    "gap_before",
    "gap_after",
)
_WALK_INTEGERS = ("dual_index", "event", "n_margin", "n_lower", "n_upper")
_COUNTS = {"n_free": "n_free", "n_lower": "n_zero", "n_upper": "n_bound"}


def player_data(
    scene: Mapping[str, Any],
    trace: Trace | None,
    sentences: Sequence[str] | None = None,
    *,
    labels: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    position: int = 0,
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """Build what `svmviz.ui.board.stage` takes as `data` and `steps`.

    Parameters
    ----------
    scene : mapping
        What the Board shows: revision, ack, height, task, points, view, axes, classes, message; see
        `svmviz.ui.board.stage`.
    trace : Trace or None
        None when nothing can be fitted: the Board stays editable and shows the scene's message.
    sentences : sequence of str, length steps + 1, optional
        What is said at each position: before each step, and at the end; default: what `svmviz.explain` says,
        with the names that the Player shows.
    labels : sequence of int, length n_samples, optional
        Class of each sample of the trace; default: the third column of the scene's points.
    rows : sequence of int, length n_samples, optional
        Which of the scene's points each sample is, where the trace leaves some out; default: all, in order.
    position : int, default 0
        Where a Player that is mounted anew begins.

    Returns
    -------
    data : dict
    steps : DataFrame or None
        One row a step.

    Raises
    ------
    ValueError
        When the sentences or rows do not fit the trace.
    """
    data = {**scene, "mode": "player", "model": None, "trace": None}
    if trace is None:
        return data, None
    points = _sample_points(scene["points"], trace, labels, rows)
    names, groups = _names(trace, points, rows), _group_names(trace, points, rows, scene["classes"])
    sentences = explain.sentences(trace, names, groups) if sentences is None else list(sentences)
    if len(sentences) != len(trace.steps) + 1:
        raise ValueError(
            f"{len(trace.steps)} steps need {len(trace.steps) + 1} sentences, not {len(sentences)}."
        )
    data["model"] = _model(trace, points, scene)
    data["trace"] = _trace(trace) | {
        "id": _fingerprint(trace, names),
        "sentences": sentences,
        "rows": None if rows is None else [int(row) for row in rows],
        "names": names,
        "groups": groups,
        "plane": _plane(trace, groups),
        "points": points,
        "position": position,
        "jumps": _jumps(trace),
        "walk": _walk(trace),
    }
    return data, steps_table(trace)


def steps_table(trace: Trace) -> pd.DataFrame:
    """One row a step, in the columns that the browser reads; of a walk one an event, with other columns.

    What only a pair has is -1 (whole numbers) or 0 in the row of a Newton step; `_jumps` has the rest of it.
    """
    columns = trace.columns()
    if trace.walk is not None:
        events = {"event": [EVENTS.index(name) for name in columns["event"]]}
        parts = {name: np.array(columns[name], dtype=np.float64) for name in ("value", "bias", "objective")}
        return pd.DataFrame(
            parts | {name: np.array((columns | events)[name], dtype=np.int32) for name in _WALK_INTEGERS}
        )
    table: dict[str, Array] = {name: _filled(columns[name], -1, np.int32) for name in _INTEGERS}
    table |= {name: _filled(columns[name], 0.0, np.float64) for name in _NUMBERS}
    table["blocked"] = np.array([_BLOCKED.get(text, 0) for text in columns["blocked"]], dtype=np.int32)
    table |= {name: np.array(columns[source], dtype=np.int32) for name, source in _COUNTS.items()}
    return pd.DataFrame(table)


def _filled(values: Sequence[Any], missing: float, dtype: type) -> Array:
    return np.array([missing if value is None else value for value in values], dtype=dtype)


def _jumps(trace: Trace) -> list[dict[str, Any]]:
    """The Newton steps: at which position each is, and what the steps' table has no column for."""
    return [
        {
            "position": position,
            "indices": step.indices,
            "after": step.z_after,
            "blocked": step.blocked,
            "fraction": step.fraction,
            "slope": step.slope,
            "curvature": step.curvature,
            "spread": [step.spread_before, step.spread_after],
            "rounding": step.only_rounding,
        }
        for position, step in enumerate(trace.steps)
        if isinstance(step, NewtonStep)
    ]


def _walk(trace: Trace) -> dict[str, Any] | None:
    """How the problem of a walk moves, and of each event what the steps' table has no column for; None of a run."""
    walk = trace.walk
    if walk is None:
        return None
    rates = {
        "p": walk.rates.linear,
        "lo": walk.rates.lo,
        "hi": walk.rates.hi,
        "diagonal": walk.rates.diagonal,
    }
    return {
        "parameter": walk.parameter,
        "sign": explain.SIGNS.get(walk.parameter, walk.parameter),
        "isPart": walk.parameter not in explain.SIGNS,
        "start": walk.start,
        "stop": walk.stop,
        "rates": {name: None if rate is None else rate.tolist() for name, rate in rates.items()},
        "sides": walk.sides.tolist(),
        "nu": walk.nu.tolist(),
        "objective": walk.objective,
        "kinds": EVENTS,
        "events": [
            {
                "changed": step.changed,
                "sides": step.sides,
                "nu": step.nu,
                "indices": step.indices,
                "z": step.z,
            }
            for step in trace.events()
        ],
    }


def sample_name(number: int, label: int | None) -> str:
    """Short name of point `number` (from 0): the mark of its class and its number from 1, as on the Board."""
    sign = CLASS_SIGNS[0] if label is None else CLASS_SIGNS[label % len(CLASS_SIGNS)]
    return f"{sign}{number + 1}"


def _sample_points(
    points: Sequence[Sequence[float]], trace: Trace, labels: Sequence[int] | None, rows: Sequence[int] | None
) -> list[list[float]]:
    """[x, y, label] of every sample of the trace."""
    chosen = [list(points[row]) for row in (range(len(points)) if rows is None else rows)]
    if len(chosen) != len(trace.X):
        raise ValueError(
            f"The trace has {len(trace.X)} samples, but {len(chosen)} points belong to it: give rows."
        )
    if labels is None:
        return chosen
    return [[x, y, int(label)] for (x, y, *_), label in zip(chosen, labels, strict=True)]


def _model(trace: Trace, points: list[list[float]], scene: Mapping[str, Any]) -> dict[str, Any]:
    """Kernel, centres and whose functions they are; the browser computes the functions, see readers.js."""
    return {
        "for": scene.get("ack", 0),
        "kernel": dict(trace.kernel),
        "centres": trace.X.tolist(),
        "machine": recorders.machine_of(trace),
        "owners": recorders.owners(trace, _labels(points)),
        "parameters": dict(trace.parameters),
        "status": [],
    }


def _trace(trace: Trace) -> dict[str, Any]:
    problem = trace.problem
    certificate = trace.certificate
    words = explain.words_of(trace)
    return {
        "words": {
            "plus": words.plus,
            "minus": words.minus,
            "z": words.z,
            "bound": words.bound,
            "edge": words.short_edge,
        },
        "dual": dual_entries(problem),
        "z0": trace.start.tolist(),
        "tol": trace.tol,
        "rule": trace.rule,
        "status": certificate.status,
        "objective": certificate.objective,
        "gap": certificate.gap if math.isfinite(certificate.gap) else None,
    }


def dual_entries(problem: DualProblem) -> dict[str, Any]:
    """A dual problem as replay.js reads it."""
    return {
        "sample": problem.sample.tolist(),
        "label": problem.label.tolist(),
        "coupling": problem.coupling.tolist(),
        "p": problem.linear.tolist(),
        "lo": _bounds(problem.lo),
        "hi": _bounds(problem.hi),
        "group": problem.group.tolist(),
        "diagonal": problem.diagonal.tolist(),
    }


def _bounds(bounds: Array) -> list[float | None]:
    """JSON has no infinity: no bound is null."""
    return [bound if math.isfinite(bound) else None for bound in bounds.tolist()]


def _names(trace: Trace, points: list[list[float]], rows: Sequence[int] | None) -> list[str]:
    """A name for each dual index; numbers are those of the points on the Board."""
    samples = _sample_names(trace, points, rows)
    if recorders.machine_of(trace) != "mc_svm":
        return [samples[m] for m in trace.problem.sample.tolist()]
    signs = [CLASS_SIGNS[owner] for owner in recorders.owners(trace, _labels(points))]
    pairs = zip(trace.problem.sample.tolist(), trace.problem.label.tolist(), strict=True)
    return [f"{samples[m]}→{signs[label]}" for m, label in pairs]


def _plane(trace: Trace, groups: list[str]) -> dict[str, Any] | None:
    """The samples in the plane of feature space through the final prototypes; None where there is none to show.

    Of two prototypes the second is on the right, as where they are explored.
    """
    if recorders.machine_of(trace) not in ("mu_svm", "ad_svm") or trace.kernel["name"] == "linear":
        return None
    K = trace.hessian().K
    coef = ad_svm.read(trace.problem, trace.multipliers(len(trace.steps)), K).coef
    try:
        plane = prototype_plane(K, coef[::-1] if len(coef) == 2 else coef)
    except InvalidProblemError:
        return None
    first, second = ("v₋", "v₊") if recorders.machine_of(trace) == "mu_svm" else (groups[0], groups[1])
    axes = {
        2: [f"from {first} to {second}, true length", "largest spread left"],
        3: ["plane of the three prototypes", "true lengths between them"],
    }.get(len(coef), ["largest spread of the prototypes (lengths shortened)", "second largest"])
    return {"points": plane.tolist(), "axes": axes}


def _sample_names(trace: Trace, points: list[list[float]], rows: Sequence[int] | None) -> list[str]:
    regression = recorders.machine_of(trace) in recorders.REGRESSION
    numbers = range(len(points)) if rows is None else rows
    return [
        sample_name(int(number), None if regression else int(label))
        for number, (_, _, label) in zip(numbers, points, strict=True)
    ]


def _labels(points: list[list[float]]) -> Array:
    return np.array([int(label) for _, _, label in points])


def _group_names(
    trace: Trace, points: list[list[float]], rows: Sequence[int] | None, classes: Sequence[str]
) -> list[str]:
    """A name for each group: its class, side or sample."""
    machine = recorders.machine_of(trace)
    if machine == "mc_svm":
        return _sample_names(trace, points, rows)
    if machine == "nu_svr":
        return ["the upper side", "the lower side"]
    if machine not in ("nu_svc", "mu_svm", "ad_svm"):
        return []
    first = trace.problem.sample[trace.problem.starts].tolist()
    return prototype_names([classes[int(points[sample][2])] for sample in first])


def _fingerprint(trace: Trace, names: list[str]) -> str:
    """A short text that differs for traces that differ, or whose samples are other points of the Board."""
    digest = hashlib.blake2b(digest_size=12)
    counts = len(trace.steps), trace.certificate.iterations
    walk = None if trace.walk is None else (trace.walk.to_dict(), [step.value for step in trace.events()])
    parts = [trace.machine, trace.kernel, trace.parameters, trace.rule, trace.tol, counts, names, walk]
    digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
    for array in (trace.X, trace.y, trace.start, trace.problem.linear, trace.problem.lo, trace.problem.hi):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
