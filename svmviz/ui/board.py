"""Mount the Board or the Player and take what the visitor drew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeGuard

import streamlit as st

from svmviz.datasets import MAX_CLASSES, ROW_LIMIT
from svmviz.ui import frontend

Point = tuple[float, float, int]

KEPT_PATHS = 2
"""So many paths a visitor may go back to without their being computed, or sent, again."""


@dataclass(frozen=True)
class Edit:
    """The whole list of points after an edit in the browser.

    Attributes
    ----------
    revision : int
        The revision of the points that the edit started from.
    seq : int
        The edit's number. Send it back as ``ack``, and as ``for`` of the model that was fitted to it.
    points : list of (x, y, label)
        Finite coordinates and class labels from 0.
    """

    revision: int
    seq: int
    points: list[Point]


def parse_edit(value: object, revision: int, *, limit: int = ROW_LIMIT) -> Edit | None:
    """Read an edit as the browser sends it.

    Parameters
    ----------
    value : object
        ``{"revision": int, "seq": int, "points": [[x, y, label], ...]}``.
    revision : int
        The current revision; an edit that carries another one came too late and is dropped.
    limit : int, default ROW_LIMIT
        The largest number of points.

    Returns
    -------
    Edit or None
        None for what is stale, malformed, not finite or too long: the points stay as they are.
    """
    if not isinstance(value, Mapping):
        return None
    seq, points = value.get("seq"), value.get("points")
    if value.get("revision") != revision or not _is_count(seq):
        return None
    if not isinstance(points, list | tuple) or len(points) > limit:
        return None
    parsed = [point for point in map(parse_point, points) if point is not None]
    return Edit(revision, int(seq), parsed) if len(parsed) == len(points) else None


def parse_mu(value: object) -> float | None:
    """Read a mu as the browser sends it, ``{"seq": int, "mu": number}``; None when it is not in 0..1."""
    mu = value.get("mu") if isinstance(value, Mapping) else None
    return float(mu) if _is_number(mu) and 0 < mu <= 1 else None


def parse_value(value: object, parameter: str) -> float | None:
    """Read the value of a parameter, ``{"seq": int, "parameter": str, "value": number}``; None when it is not one."""
    if not isinstance(value, Mapping) or value.get("parameter") != parameter:
        return None
    number = value.get("value")
    return float(number) if _is_number(number) and number > 0 else None


def parse_weights(value: object) -> dict[tuple[int, int], float] | None:
    """Read weights of class pairs, ``{"seq": int, "weights": [[a, b, weight], ...]}`` with a < b, or None."""
    rows = value.get("weights") if isinstance(value, Mapping) else None
    if not isinstance(rows, list | tuple) or len(rows) > MAX_CLASSES * (MAX_CLASSES - 1) // 2:
        return None
    weights = {}
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != 3:
            return None
        a, b, weight = row
        if not (_is_count(a) and _is_count(b) and a < b < MAX_CLASSES and _is_number(weight) and weight >= 0):
            return None
        weights[int(a), int(b)] = float(weight)
    return weights


def _sequence(value: object) -> int:
    """Return the sequence number of a message from the browser, 0 if there was none."""
    seq = value.get("seq") if isinstance(value, Mapping) else None
    return int(seq) if _is_count(seq) else 0


def _is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def is_whole(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a whole number (the browser may send 3.0 for 3)."""
    return _is_number(value) and value == int(value)


def _is_count(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a whole number from 0."""
    return is_whole(value) and value >= 0


def parse_point(point: object) -> Point | None:
    """Read one point, or return None if it is not one."""
    if not isinstance(point, list | tuple) or len(point) != 3:
        return None
    x, y, label = point
    if not (_is_number(x) and _is_number(y) and _is_count(label) and label < MAX_CLASSES):
        return None
    return float(x), float(y), int(label)


@cache
def _component() -> Callable[..., Any]:
    """Register the component of Board and Player, once."""
    return st.components.v2.component("svmviz_stage", html=frontend.HTML, js=frontend.loader())


@cache
def _code() -> Callable[..., Any]:
    """Register the component that carries the code, once."""
    return st.components.v2.component("svmviz_code", html="<i hidden></i>\n", js=frontend.script())


def load_frontend() -> None:
    """Bring the code of Board and Player into the browser; call it once in every page, outside of fragments.

    Streamlit sends a component's script again whenever the component's data change, which would be
    150 kB for every point that is drawn. The code is therefore a component of its own that never changes.
    """
    _code()(key="svmviz_code")


@cache
def _keeper() -> Callable[..., Any]:
    """Register the component that carries a path, once."""
    return st.components.v2.component("svmviz_path", html="<i hidden></i>\n", js=frontend.keeper())


def keep_path(key: str, path: Mapping[str, Any] | None) -> None:
    """Bring a path into the browser, or none; the stage of mode "slide" finds it there by its key.

    A component's data are sent again as a whole when anything in them changes, and a path has megabytes. Apart from
    what changes with every touch of the slider it is sent once: as long as it stays the same, Streamlit sends a
    reference to the message that the browser has, and the whole again to a browser that has not.
    """
    _keeper()(key="svmviz_path", data={"key": key, "path": path, "most": KEPT_PATHS})


def stage(
    data: Mapping[str, Any],
    *,
    key: str,
    on_edit: Callable[[Edit], object] | None = None,
    on_position: Callable[[int], None] | None = None,
    on_mu: Callable[[float], None] | None = None,
    on_weights: Callable[[dict[tuple[int, int], float]], None] | None = None,
    on_value: Callable[[float], None] | None = None,
    on_ask: Callable[[object], None] | None = None,
    steps: Any = None,
) -> None:
    """Mount what ``data["mode"]`` names: "board", "player", "geometry", "compare" (several), "slide" or "unlearn".

    The page must have called `load_frontend`.

    Parameters
    ----------
    data : mapping
        What the browser shows: mode, revision, ack, height, task, points, view, axes, classes, model,
        message; optional: editable (default True), limit (default ROW_LIMIT); the Player's trace; the
        geometry, see `svmviz.ui.geometry`; the path, see `svmviz.ui.slide`.
    key : str
        The key of the component.
    on_edit : callable, optional
        Called with an `Edit` before the rerun that answers it. Edits of another revision than
        ``data["revision"]`` and malformed ones are dropped before.
    on_position : callable, optional
        Called with the Player's position when it pauses or a scrub ends.
    on_mu : callable, optional
        Called with the mu from 0 to 1 that the person chose on the slider of a geometry.
    on_weights : callable, optional
        Called with the weights of all pairs of classes (a, b), a < b, after one of them was chosen.
    on_value : callable, optional
        Called with the value at which the slider of a path was let go.
    on_ask : callable, optional
        Called with what the browser asks for, unchecked, see `svmviz.ui.unlearning.parse_ask` and
        `svmviz.ui.slide.take`.
    steps : DataFrame, optional
        The columns of the Player's trace, or the coefficients of a walk; they travel as Arrow.
    """
    meta = {"limit": ROW_LIMIT, **data}

    def take_edit() -> None:
        edit = parse_edit(_state(key, "edit"), meta["revision"], limit=meta["limit"])
        if edit is not None and on_edit is not None:
            on_edit(edit)

    def take_position() -> None:
        position = _state(key, "position")
        if _is_count(position) and on_position is not None:
            on_position(int(position))

    def take_mu() -> None:
        mu = parse_mu(_state(key, "mu"))
        if mu is not None and on_mu is not None:
            on_mu(mu)

    def take_weights() -> None:
        weights = parse_weights(_state(key, "weights"))
        if weights is not None and on_weights is not None:
            on_weights(weights)

    def take_value() -> None:
        value = parse_value(_state(key, "value"), (meta.get("path") or {}).get("parameter", ""))
        if value is not None and on_value is not None:
            on_value(value)

    def take_ask() -> None:
        if on_ask is not None:
            on_ask(_state(key, "ask"))

    if meta["mode"] == "slide":
        meta["value_ack"] = _sequence(_state(key, "value"))
    if meta["mode"] in ("slide", "unlearn"):
        meta["ask_ack"] = _sequence(_state(key, "ask"))
    if meta["mode"] == "geometry":
        meta["mu_ack"] = _sequence(_state(key, "mu"))
        meta["weights_ack"] = _sequence(_state(key, "weights"))
    _component()(
        key=key,
        data=meta if steps is None else {"meta": meta, "steps": steps},
        on_edit_change=take_edit,
        on_position_change=take_position,
        on_mu_change=take_mu,
        on_weights_change=take_weights,
        on_value_change=take_value,
        on_ask_change=take_ask,
    )


def _state(key: str, name: str) -> object:
    """Return a state value of the mounted component, or None."""
    state = st.session_state.get(key)
    return None if state is None else state.get(name)
