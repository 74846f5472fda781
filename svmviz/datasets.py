"""Data for the plane: seeded presets and two real data sets.

A :class:`Dataset` is what the app's drawing board shows: points in the plane with a class each
(classification), or (x, y) pairs whose second column is the target (regression), together with machine
parameters that suit them.
"""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from svmviz.errors import InvalidProblemError

Task = Literal["classification", "regression"]

ROW_LIMIT = 2000
"""Most points a data set may have: beyond it an edit takes more than a second to be fitted."""

MAX_CLASSES = 6
"""Most classes a data set may have: as many as can be told apart by colour and by shape."""

CLASS_LETTERS = ("A", "B", "C", "D", "E", "F")
LARGEST = 1e12
STANDARDISED = " (standardised)"


def standardised_name(name: str) -> str:
    """The name of a column once it is standardised: a unit in brackets at its end no longer holds."""
    return re.sub(r" \([^()]*\)$", "", name) + STANDARDISED


class DataError(InvalidProblemError):
    """Data that cannot be used; the message is one sentence that says what to change."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Machine parameters that suit a data set.

    Parameters
    ----------
    kernel : str, default "rbf"
        "linear", "poly", "rbf", "laplacian" or "sigmoid".
    C : float, default 1.0
        Bound of the multipliers.
    gamma : "scale" or float, default "scale"
        Factor in the kernel; "scale" is 1 / (n_features * variance of the data).
    degree : int, default 3
        Degree of the polynomial kernel.
    coef0 : float, default 1.0
        Constant in the polynomial and the sigmoid kernel.
    epsilon : float, default 0.1
        Half the width of the regression tube, in units of y.
    mu : float, default 0.1
        Largest weight of a sample in a prototype.
    """

    kernel: str = "rbf"
    C: float = 1.0
    gamma: float | Literal["scale"] = "scale"
    degree: int = 3
    coef0: float = 1.0
    epsilon: float = 0.1
    mu: float = 0.1


@dataclass(frozen=True, slots=True)
class Dataset:
    """Points in the plane, with what is needed to show and fit them.

    Parameters
    ----------
    points : (n, 2) array
        Coordinates; in regression the second column is the target.
    labels : (n,) int array
        Index into `classes`; all 0 in regression.
    task : "classification" or "regression"
    axes : pair of str
        Names of the two columns.
    classes : tuple of str
        Class names; empty in regression.
    settings : Settings
        Machine parameters that suit the data.
    title, description : str
        What to call it, and one line about it.
    """

    points: np.ndarray
    labels: np.ndarray
    task: Task = "classification"
    axes: tuple[str, str] = ("x1", "x2")
    classes: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    title: str = ""
    description: str = ""

    def __len__(self) -> int:
        return len(self.points)


# ---------------------------------------------------------------------------------------------- presets


def _classes(*groups: np.ndarray) -> Dataset:
    """One class a group of points, rounded to three decimals so that they travel in few characters."""
    points = np.round(np.concatenate(groups), 3) + 0.0
    labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    return Dataset(points, labels, classes=CLASS_LETTERS[: len(groups)])


def _pairs(x: np.ndarray, y: np.ndarray) -> Dataset:
    """A regression problem of (x, y) pairs."""
    points = np.round(np.column_stack([x, y]), 3) + 0.0
    return Dataset(points, np.zeros(len(points), int), task="regression", axes=("x", "y"))


def _cloud(rng: np.random.Generator, n: int, centre: Sequence[float], width: float) -> np.ndarray:
    return np.asarray(centre) + width * rng.standard_normal((n, 2))


def _separable(rng: np.random.Generator) -> Dataset:
    points = rng.uniform(-2.5, 2.5, (160, 2))
    side = points @ np.array([0.8, 0.6])
    return _classes(points[side < -0.4][:30], points[side > 0.4][:30])


def _overlapping(rng: np.random.Generator) -> Dataset:
    return _classes(_cloud(rng, 50, (-0.9, -0.4), 1.0), _cloud(rng, 50, (0.9, 0.4), 1.0))


def _moons(rng: np.random.Generator) -> Dataset:
    angle = np.linspace(0, np.pi, 50)
    upper = np.column_stack([np.cos(angle), np.sin(angle)]) - [0.5, 0.25]
    return _classes(upper + _cloud(rng, 50, (0, 0), 0.12), -upper + _cloud(rng, 50, (0, 0), 0.12))


def _circles(rng: np.random.Generator) -> Dataset:
    angle = rng.uniform(0, 2 * np.pi, 110)
    radius = np.where(np.arange(110) < 50, 0.6, 1.6) + 0.16 * rng.standard_normal(110)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return _classes(ring[:50], ring[50:])


def _xor(rng: np.random.Generator) -> Dataset:
    corners = [_cloud(rng, 22, (sx, sy), 0.4) for sx, sy in ((1, 1), (-1, -1), (1, -1), (-1, 1))]
    return _classes(np.concatenate(corners[:2]), np.concatenate(corners[2:]))


def _spirals(rng: np.random.Generator) -> Dataset:
    turn = np.sqrt(np.linspace(0.03, 1, 75)) * 3 * np.pi
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / (3 * np.pi) * 2
    return _classes(arm + _cloud(rng, 75, (0, 0), 0.04), -arm + _cloud(rng, 75, (0, 0), 0.04))


def _outlier(rng: np.random.Generator) -> Dataset:
    left, right = _cloud(rng, 25, (-1.2, 0), 0.4), _cloud(rng, 25, (1.2, 0), 0.4)
    return _classes(np.vstack([left, [[1.0, 0.15]]]), right)


def _duplicates(rng: np.random.Generator) -> Dataset:
    sites = np.round(rng.uniform(-2, 2, (14, 2)) * 2) / 2
    left, right = sites[:7] - np.array([1.0, 0.0]), sites[7:] + np.array([1.0, 0.0])
    shared = np.array([[0.0, 0.0], [0.0, 0.0], [0.5, -1.0]])
    return _classes(*(np.vstack([np.repeat(side, 4, axis=0), shared]) for side in (left, right)))


def _unbalanced(rng: np.random.Generator) -> Dataset:
    return _classes(_cloud(rng, 110, (-0.4, 0), 0.9), _cloud(rng, 10, (1.7, 0.9), 0.4))


def _three_classes(rng: np.random.Generator) -> Dataset:
    angles = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
    return _classes(*(_cloud(rng, 30, (1.4 * np.cos(a), 1.4 * np.sin(a)), 0.65) for a in angles))


def _four_corners(rng: np.random.Generator) -> Dataset:
    corners = ((-1.2, 1.2), (1.2, 1.2), (1.2, -1.2), (-1.2, -1.2))
    return _classes(*(_cloud(rng, 22, corner, 0.5) for corner in corners))


def _six_classes(rng: np.random.Generator) -> Dataset:
    angles = np.pi / 2 - 2 * np.pi * np.arange(6) / 6
    return _classes(*(_cloud(rng, 18, (2 * np.cos(a), 2 * np.sin(a)), 0.5) for a in angles))


def _sine(rng: np.random.Generator) -> Dataset:
    x = np.sort(rng.uniform(0, 6.3, 70))
    return _pairs(x, np.sin(x) + 0.15 * rng.standard_normal(70))


def _steps(rng: np.random.Generator) -> Dataset:
    x = np.linspace(0, 6, 80)
    y = np.floor(x / 1.5) * 0.8 + 0.08 * rng.standard_normal(80)
    far = rng.choice(80, 6, replace=False)
    y[far] += rng.choice([-1, 1], 6) * rng.uniform(1.2, 2.2, 6)
    return _pairs(x, y)


class Preset(NamedTuple):
    """A named data set: how to make it, and the parameters to begin with."""

    title: str
    description: str
    make: Callable[[np.random.Generator], Dataset]
    seed: int
    settings: Settings


REAL: dict[str, tuple[int, int]] = {"iris": (2, 3), "wine": (0, 6)}
"""Presets that are real data, with the two features shown at first; :func:`preset` takes others."""

PRESETS: dict[str, Preset] = {
    "separable": Preset(
        "Separable",
        "Two classes with a clear gap: a few points on the margin carry the whole solution.",
        _separable,
        4,
        Settings(kernel="linear", C=100.0),
    ),
    "overlapping": Preset(
        "Overlapping",
        "Two normal clouds that overlap: the points on the wrong side count as much as one point may.",
        _overlapping,
        2,
        Settings(kernel="linear", C=1.0, mu=0.04),
    ),
    "moons": Preset(
        "Moons",
        "Two half moons: no line separates them, a Gaussian kernel does.",
        _moons,
        3,
        Settings(C=10.0, gamma=2.0),
    ),
    "circles": Preset(
        "Circles",
        "One class around the other: a polynomial of degree 2 is enough.",
        _circles,
        4,
        Settings(kernel="poly", degree=2, gamma=1.0, C=10.0),
    ),
    "xor": Preset(
        "XOR",
        "Opposite corners share a class: neither coordinate alone tells anything.",
        _xor,
        5,
        Settings(C=10.0, gamma=0.5),
    ),
    "spirals": Preset(
        "Spirals",
        "Two spirals: a narrow kernel follows them, a wide one cannot.",
        _spirals,
        6,
        Settings(C=100.0, gamma=10.0),
    ),
    "outlier": Preset(
        "One outlier",
        "One point deep in the other class: lower C and see how little it then counts.",
        _outlier,
        7,
        Settings(kernel="linear", C=100.0),
    ),
    "duplicates": Preset(
        "Duplicates",
        "Every point several times, some in both classes: the multipliers are not unique.",
        _duplicates,
        8,
        Settings(kernel="linear", C=1.0),
    ),
    "unbalanced": Preset(
        "Unbalanced",
        "Eleven points of one class for each of the other: a small C gives the small class up.",
        _unbalanced,
        9,
        Settings(C=1.0, gamma=0.5),
    ),
    "three_classes": Preset(
        "Three classes",
        "Three clouds that touch in the middle: each machine for several classes parts them its own way.",
        _three_classes,
        10,
        Settings(C=1.0, gamma=0.5),
    ),
    "four_corners": Preset(
        "Four corners",
        "Four classes, six ways to pair them: see where the votes tie.",
        _four_corners,
        11,
        Settings(kernel="linear", C=1.0),
    ),
    "six_classes": Preset(
        "Six classes",
        "Six classes on a ring: fifteen pairs, and as many distances.",
        _six_classes,
        14,
        Settings(kernel="linear", C=1.0),
    ),
    "sine": Preset(
        "Sine with noise",
        "Regression: the points inside the tube do not count.",
        _sine,
        12,
        Settings(C=10.0, gamma=0.5, epsilon=0.2),
    ),
    "steps": Preset(
        "Steps with outliers",
        "Regression: each outlier pulls no harder than its bound, however far it lies.",
        _steps,
        13,
        Settings(C=10.0, gamma=2.0, epsilon=0.1),
    ),
    "iris": Preset(
        "Iris (real data)",
        "Fisher's 150 irises of three species, two measurements at a time.",
        lambda rng: real("iris", REAL["iris"]),
        0,
        Settings(C=1.0, gamma=0.5),
    ),
    "wine": Preset(
        "Wine (real data)",
        "178 Italian wines of three cultivars, two chemical measurements at a time.",
        lambda rng: real("wine", REAL["wine"]),
        0,
        Settings(C=1.0, gamma=0.5),
    ),
}


@cache
def feature_names(name: str) -> tuple[str, ...]:
    """Names of the columns of a real data set ("iris" or "wine")."""
    names, _, _ = _real_table(name)
    return names


@cache
def class_names(name: str) -> tuple[str, ...]:
    """Names of the classes of a real data set ("iris" or "wine")."""
    _, _, rows = _real_table(name)
    return tuple(dict.fromkeys(rows))


@cache
def _real_table(name: str) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    text = (Path(__file__).parent / "data" / f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text))
    values = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    return tuple(header[:-1]), values, tuple(row[-1] for row in rows)


def real(name: str, features: tuple[int, int], classes: Sequence[str] | None = None) -> Dataset:
    """Two standardised features of a real data set.

    Parameters
    ----------
    name : "iris" or "wine"
    features : pair of int
        Columns to show, see :func:`feature_names`.
    classes : sequence of str, optional
        Classes to keep, see :func:`class_names`; all of them by default.

    Returns
    -------
    Dataset
        Each column with mean 0 and deviation 1 over the rows kept; the axes say so.

    Raises
    ------
    DataError
        If the features are not two different columns, or fewer than two classes are kept.
    """
    names, values, labels = _real_table(name)
    wanted = [c for c in class_names(name) if classes is None or c in classes]
    if len(wanted) < 2:
        raise DataError("Keep at least two classes.")
    if features[0] == features[1] or not all(0 <= f < len(names) for f in features):
        raise DataError("Choose two different features.")
    rows = [i for i, label in enumerate(labels) if label in wanted]
    points = standardised(values[np.ix_(rows, features)])
    axes = (standardised_name(names[features[0]]), standardised_name(names[features[1]]))
    return Dataset(
        points, np.array([wanted.index(labels[i]) for i in rows]), axes=axes, classes=tuple(wanted)
    )


def preset(
    name: str, features: tuple[int, int] | None = None, classes: Sequence[str] | None = None
) -> Dataset:
    """A preset by name.

    Parameters
    ----------
    name : str
        A key of :data:`PRESETS`.
    features, classes : optional
        Only for the real data sets, see :func:`real`.

    Returns
    -------
    Dataset
        The same points on every call.

    Raises
    ------
    DataError
        If there is no such preset.
    """
    if name not in PRESETS:
        raise DataError(f"There is no preset {name!r}: choose one of {', '.join(PRESETS)}.")
    entry = PRESETS[name]
    if name in REAL and features is not None:
        data = real(name, features, classes)
    else:
        data = entry.make(np.random.default_rng(entry.seed))
    return replace(data, title=entry.title, description=entry.description, settings=entry.settings)


@cache
def titles_of_many_classes() -> tuple[str, ...]:
    """What the presets with three classes or more are called."""
    return tuple(entry.title for name, entry in PRESETS.items() if len(preset(name).classes) > 2)


def standardised(points: np.ndarray) -> np.ndarray:
    """Columns shifted to mean 0 and scaled to deviation 1; a constant column is only shifted.

    Parameters
    ----------
    points : (n, d) array

    Returns
    -------
    (n, d) array
    """
    if not len(points):
        return points
    centred = points - points.mean(axis=0)
    deviation = centred.std(axis=0)
    return centred / np.where(deviation > 0, deviation, 1.0)
