"""The workspace as the query string of a link, and back.

A preset that nobody has edited travels by its name. Drawn points travel as 3 bytes each (10 bits for each
coordinate inside their bounding box, 4 for the class) in base64url, so a link moves a point by at most
1/2046 of the box.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

import numpy as np

from svmviz import datasets
from svmviz.datasets import CLASS_LETTERS, MAX_CLASSES, DataError, Dataset, Task
from svmviz.ui.workspace import (
    CLASSIFIERS,
    DECISION_RULES,
    FIRST_PRESET,
    KERNELS,
    LOSSES,
    MAX_PROTOTYPES,
    REGRESSORS,
    RULES,
    SLIDERS,
    Workspace,
    six_names,
)

LONGEST = 2000
"""Most characters of a query string: longer ones are cut by mail programs and chat windows."""

LONGEST_ADDRESS = 7900
"""Most characters in the address of a page: servers in front of the app take 8 kB in the first line of a request."""

STEPS = 1023
SEPARATOR = "|"
SWITCH = ("off", "on")


def to_query(space: Workspace) -> str:
    """The workspace as a query string, without the question mark.

    Parameters
    ----------
    space : Workspace

    Returns
    -------
    str
        At most `LONGEST` characters.

    Raises
    ------
    DataError
        If there are too many points; the sentence says to save a file.
    """
    query = full_query(space)
    if len(query) > LONGEST:
        raise DataError(too_long(space))
    return query


def full_query(space: Workspace) -> str:
    """The same, however long."""
    values = _settings_to_text(space) | _points_to_text(space)
    return urlencode(values, quote_via=quote, safe=",|")


def too_long(space: Workspace) -> str:
    """What to do where a link would have more than `LONGEST` characters."""
    return f"{len(space.points):,} points do not fit in a link: save a CSV file and share that."


def too_long_for_address(space: Workspace) -> str:
    """What to do where a link would have more than `LONGEST_ADDRESS` characters."""
    return f"{len(space.points):,} points do not fit in the address: a reload loses them. Save a CSV file."


def from_query(query: Mapping[str, str]) -> Workspace | None:
    """The workspace that a link describes.

    Parameters
    ----------
    query : mapping of str to str
        Parameters of the link, decoded.

    Returns
    -------
    Workspace or None
        None when the link carries no workspace. What cannot be read is left out, and `notice` says so.
    """
    if not {"preset", "points"} & set(query):
        return None
    space = Workspace()
    unread = 0
    try:
        _read_points(space, query)
    except (DataError, ValueError, KeyError, IndexError):
        space.load_preset(FIRST_PRESET)
        unread += 1
    for name, read in READERS.items():
        if name not in query:
            continue
        try:
            setattr(space, name, read(query[name]))
        except (DataError, ValueError, KeyError, OverflowError):
            unread += 1
    if unread:
        space.notice = "Part of this link could not be read: ask for it again, or for a CSV file."
    return space


# ----------------------------------------------------------------------------------------------- settings


def _number(low: float, high: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise DataError(f"{text[:20]} is not between {low:g} and {high:g}.")
        return value

    return read


def _one_of(names: tuple[str, ...]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise DataError(f"{text[:20]} is not one of {', '.join(names)}.")
        return text

    return read


def _switch(text: str) -> bool:
    return _one_of(SWITCH)(text) == "on"


def _pair(text: str) -> tuple[int, int]:
    """Two classes, the earlier first, from "0,2"."""
    a, b = (int(_number(0, MAX_CLASSES - 1)(code)) for code in text.split(","))
    if a >= b:
        raise DataError("A pair names two classes, the earlier first.")
    return a, b


def _pair_weights(text: str) -> dict[tuple[int, int], float]:
    """Weights of class pairs from "0-1:2,1-3:0.5"."""
    weights = {}
    for item in text.split(","):
        pair, weight = item.split(":")
        weights[_pair(pair.replace("-", ","))] = _number(0, 1e6)(weight)
    return weights


READERS: dict[str, Callable[[str], object]] = {
    "kernel": _one_of(KERNELS),
    "gamma": lambda text: "scale" if text == "scale" else _number(1e-9, 1e9)(text),
    "degree": lambda text: int(_number(1, 20)(text)),
    "coef0": _number(-1e6, 1e6),
    "C": _number(1e-6, 1e9),
    "epsilon": _number(0, 1e9),
    "tol": _number(1e-12, 1),
    "rule": _one_of(RULES),
    "newton": _switch,
    "pair": _pair,
    "classifier": _one_of(CLASSIFIERS),
    "regressor": _one_of(REGRESSORS),
    "loss": _one_of(LOSSES),
    "nu": _number(1e-6, 1),
    "mu": _number(1e-6, 1),
    "beta": _number(1e-9, 1e9),
    "decision_rule": _one_of(DECISION_RULES),
    "pair_weights": _pair_weights,
    "n_prototypes": lambda text: int(_number(1, MAX_PROTOTYPES)(text)),
    "held_out": _number(0, 0.5),
    "sliding": _one_of(SLIDERS),
    "stepping": _switch,
}


def _settings_to_text(space: Workspace) -> dict[str, str]:
    """Parameters that differ from what opening the link would give anyway."""
    untouched = space.preset and not space.edited
    usual = Workspace()
    if untouched:
        usual.load_preset(space.preset)
    values = {name: getattr(space, name) for name in READERS}
    return {name: _text(value) for name, value in values.items() if value != getattr(usual, name)}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{a}-{b}:{_text(weight)}" for (a, b), weight in sorted(value.items()))
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return SWITCH[value]
    # In full: 1/3 cut to 0.333333 would be below the least mu of a class of three.
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


# ------------------------------------------------------------------------------------------------- points


def _points_to_text(space: Workspace) -> dict[str, str]:
    if space.preset and not space.edited:
        values = {"preset": space.preset}
        if space.preset in datasets.REAL:
            values["features"] = f"{space.features[0]},{space.features[1]}"
            shown = [c for c in space.classes if c in datasets.class_names(space.preset)]
            if len(shown) < len(datasets.class_names(space.preset)):
                values["classes"] = SEPARATOR.join(shown)
        return values
    low, high, packed = _pack(space.points, space.labels)
    values = {"task": space.task, "box": ",".join(repr(float(v)) for v in (*low, *high)), "points": packed}
    if space.axes != Workspace().axes:
        values["axes"] = SEPARATOR.join(space.axes)
    if space.classes != CLASS_LETTERS:
        values["classes"] = SEPARATOR.join(space.classes)
    return values


def _pack(points: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """Bounding box and points as base64url, 3 bytes each."""
    if not len(points):
        return np.zeros(2), np.ones(2), ""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    steps = np.clip(np.rint((points - low) / width * STEPS), 0, STEPS).astype(np.uint32)
    words = steps[:, 0] << 14 | steps[:, 1] << 4 | labels.astype(np.uint32)
    raw = words.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    return low, high, base64.urlsafe_b64encode(raw).decode()


def _unpack(text: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and labels from base64url."""
    try:
        raw = np.frombuffer(base64.b64decode(text, altchars=b"-_", validate=True), np.uint8)
    except binascii.Error as error:
        raise DataError("The points of the link are cut off.") from error
    if len(raw) % 3:
        raise DataError("The points of the link are cut off.")
    words = raw.reshape(-1, 3).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    steps = np.column_stack([words >> 14, words >> 4 & STEPS])
    labels = np.minimum(words & 15, MAX_CLASSES - 1).astype(int)
    return low + steps / STEPS * (high - low), labels


def _read_points(space: Workspace, query: Mapping[str, str]) -> None:
    if "points" not in query:
        features = tuple(int(f) for f in query["features"].split(",")) if "features" in query else None
        classes = tuple(query["classes"].split(SEPARATOR)) if "classes" in query else None
        if features is not None and len(features) != 2:
            raise DataError("A link names two features.")
        space.load_preset(query["preset"], features, classes)
        return
    box = np.array([float(v) for v in query["box"].split(",")])
    if box.shape != (4,) or not (np.abs(box) <= datasets.LARGEST).all():
        raise DataError("The box of the link has four numbers.")
    points, labels = _unpack(query["points"], box[:2], box[2:])
    task: Task = "regression" if query.get("task") == "regression" else "classification"
    axes = tuple(query["axes"].split(SEPARATOR)) if "axes" in query else space.axes
    classes = tuple(query["classes"].split(SEPARATOR)[:MAX_CLASSES]) if "classes" in query else ()
    if len(axes) != 2:
        axes = space.axes
    space.load(Dataset(points, labels, task, axes, six_names(classes)))
