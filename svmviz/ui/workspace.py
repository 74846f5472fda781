"""The workspace: what one visitor has drawn and chosen, in one typed table.

It lives under ``st.session_state["workspace"]``, so that it survives a switch of pages; the controls, the
link, the fit and both pages read and write it. The browser owns the list of points while a person draws;
Python owns the `revision`, which it raises whenever it replaces the points itself.
"""

import time
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import streamlit as st

from svmviz import datasets
from svmviz.datasets import CLASS_LETTERS, MAX_CLASSES, ROW_LIMIT, Dataset, Task
from svmviz.kernels import Kernel, make_kernel, resolve_gamma
from svmviz.machines.ad_svm import smallest_mu
from svmviz.ui.board import Edit

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
RULES = ("second_order", "max_violating", "platt")
CLASSIFIERS = ("svc", "nu_svc", "one_class", "mu_svm", "ad_svm", "mc_svm")
REGRESSORS = ("svr", "nu_svr")
LOSSES = ("hinge", "squared")
DECISION_RULES = ("thesis", "nearest")
SLIDERS = ("C", "epsilon", "mu")
MAX_PROTOTYPES = 5
KEY = "workspace"
FIRST_PRESET = "overlapping"


@dataclass(frozen=True)
class TwoClasses:
    """The part of a workspace that a machine for two classes is about.

    Attributes
    ----------
    classes : pair of int
        The first is on the negative side, the second on the positive.
    rows : ndarray of int
        Their points.
    codes : ndarray of int
        0 or 1 for each of these.
    """

    classes: tuple[int, int]
    rows: np.ndarray
    codes: np.ndarray


@dataclass(slots=True)
class Workspace:
    """Points, machine and parameters of one visitor.

    Parameters
    ----------
    points : (n, 2) array
        Coordinates; in regression the second column is the target.
    labels : (n,) int array
        Class of each point, 0 to 5. Kept, but not used, in regression.
    task : "classification" or "regression"
    axes : pair of str
        Names of the two columns.
    classes : tuple of six str
        A name for every class a person can draw.
    view : 4-tuple of float
        Part of the plane to show first: left, right, bottom, top.
    kernel, gamma, degree, coef0, C, epsilon, tol
        Parameters of the machine, named as in scikit-learn.
    classifier, regressor : str
        The machine for each task, see `CLASSIFIERS` and `REGRESSORS`; `machine` is the one in use.
    loss : "hinge" or "squared"
        Of C-SVC and epsilon-SVR.
    nu, mu, beta : float
        Of the machines that have them, see `svmviz.estimators`.
    decision_rule : "thesis" or "nearest"
        Of the AD-SVM.
    pair_weights : dict of (int, int) to float
        Weights of the AD-SVM's class pairs (a, b), a < b; only those that are not 1. Replace it, do not change it.
    n_prototypes : int
        Prototypes of each class in the AD-SVM.
    held_out : float
        Share of the points that no machine is trained on where machines are compared.
    rule : str
        How SMO picks its pair, see `RULES`.
    newton : bool
        Whether the run that is played has Newton steps among its pairs, as that of a fitted machine has.
    sliding : str
        The parameter whose path is shown, of a machine that has several, see `SLIDERS`.
    stepping : bool
        Whether pages that can do both play a machine's training, and not its solution.
    preset : str
        Key of the preset that was loaded last, or "" for a file or a link.
    edited : bool
        Whether the points or the task have changed since they were loaded.
    features : pair of int
        Columns of a real data set that are shown.
    pair : pair of int
        The two classes that the lesson looks at when there are more.
    revision : int
        Raised whenever Python replaces the points: the browser then adopts them. It starts at the clock's
        milliseconds, so that the workspace of a new session (the server was restarted, a laptop slept) is newer
        than the one that a page left open still shows.
    ack : int
        Sequence number of the last message from the browser, whether its points were taken over or not.
    seq : int
        Sequence number of the edit that the points come from; 0 when they come from Python.
    notice : str
        One sentence to show until the next change, for instance why a file was refused.
    """

    points: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    labels: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    task: Task = "classification"
    axes: tuple[str, str] = ("x1", "x2")
    classes: tuple[str, ...] = CLASS_LETTERS
    view: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0)
    kernel: str = "rbf"
    gamma: float | Literal["scale"] = "scale"
    degree: int = 3
    coef0: float = 1.0
    C: float = 1.0
    epsilon: float = 0.1
    tol: float = 1e-3
    classifier: str = "svc"
    regressor: str = "svr"
    loss: str = "hinge"
    nu: float = 0.2
    mu: float = 0.1
    beta: float = 1.0
    decision_rule: str = "thesis"
    pair_weights: dict[tuple[int, int], float] = field(default_factory=dict)
    n_prototypes: int = 1
    held_out: float = 0.3
    rule: str = "second_order"
    newton: bool = False
    sliding: str = "C"
    stepping: bool = False
    preset: str = ""
    edited: bool = False
    features: tuple[int, int] = (0, 1)
    pair: tuple[int, int] = (0, 1)
    revision: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    ack: int = 0
    seq: int = 0
    notice: str = ""

    # ------------------------------------------------------------------------------------ replacing points

    def load(self, data: Dataset, preset: str = "", settings: bool = True) -> None:
        """Take over a data set; with its machine parameters when it is a preset and `settings` is True."""
        self.task, self.axes, self.classes = data.task, data.axes, six_names(data.classes)
        self.preset, self.edited = preset, False
        self.pair_weights = {}  # they belong to the classes that were there
        if preset and settings:
            for item in fields(data.settings):
                setattr(self, item.name, getattr(data.settings, item.name))
        self._replace(data.points, data.labels)

    def load_preset(
        self,
        name: str,
        features: tuple[int, int] | None = None,
        classes: tuple[str, ...] | None = None,
        settings: bool = True,
    ) -> None:
        """Load a preset by name, with its machine parameters unless `settings` is False.

        For a real data set the two features and the classes can be chosen.

        Raises
        ------
        DataError
            If there is no such preset, or it has no such features and classes; the workspace stays as it is.
        """
        features = features or datasets.REAL.get(name)
        self.load(datasets.preset(name, features, classes), name, settings)
        if features:
            self.features = features

    def standardise(self) -> None:
        """Shift and scale both columns to mean 0 and deviation 1."""
        self.axes = (datasets.standardised_name(self.axes[0]), datasets.standardised_name(self.axes[1]))
        self.edited = True
        self._replace(datasets.standardised(self.points), self.labels)

    def switch_task(self, task: Task) -> None:
        """Read the same points as classes or as (x, y) pairs; classes are kept for the way back."""
        if task == self.task:
            return
        self.task, self.edited = task, True
        self._replace(self.points, self.labels)

    def _replace(self, points: np.ndarray, labels: np.ndarray) -> None:
        self.points, self.labels = np.asarray(points, float), np.asarray(labels, int)
        self.view = view_of(self.points, square=self.task == "classification")
        self.revision += 1
        self.seq = 0
        self.notice = ""

    # -------------------------------------------------------------------------------------- drawing points

    def apply_edit(self, edit: Edit) -> bool:
        """Take over the list of points that the browser sent.

        Parameters
        ----------
        edit : Edit

        Returns
        -------
        bool
            False when the edit belongs to points that Python has replaced since.
        """
        self.ack = edit.seq
        if edit.revision != self.revision:
            return False
        table = np.array(edit.points, float).reshape(-1, 3)
        self.points, self.labels = table[:, :2], table[:, 2].astype(int)
        self.seq, self.edited, self.notice = edit.seq, True, ""
        return True

    def add_point(self, x: float, y: float, label: int) -> int:
        """Add a point, unlike `apply_edit` on this side; the view stays. Returns its row."""
        self.points = np.vstack([self.points, [x, y]])
        self.labels = np.append(self.labels, label)
        self.revision += 1
        self.seq, self.edited, self.notice = 0, True, ""
        return len(self.points) - 1

    # --------------------------------------------------------------------------------------------- reading

    def dataset(self) -> Dataset:
        """The points as a data set, for instance to write them to a file."""
        labels = np.zeros(len(self.points), int) if self.task == "regression" else self.labels
        classes = () if self.task == "regression" else self.classes
        return Dataset(self.points, labels, self.task, self.axes, classes)

    def rows(self) -> list[list[float]]:
        """Points as the browser wants them: [x, y, label] each."""
        pairs = zip(self.points.tolist(), self.labels.tolist(), strict=True)
        return [[x, y, label] for (x, y), label in pairs]

    def scene(self, height: int | str, message: str | None) -> dict[str, Any]:
        """What Board and Player show of the workspace, see `svmviz.ui.board.stage`.

        Parameters
        ----------
        height : int or str
            Pixels, or a length in CSS.
        message : str or None
            A sentence to show on the Board.
        """
        return {
            "revision": self.revision,
            "ack": self.ack,
            "height": height,
            "task": self.task,
            "points": self.rows(),
            "view": list(self.view),
            "axes": list(self.axes),
            "classes": list(self.classes),
            "message": message,
        }

    def present(self) -> list[int]:
        """Classes that have at least one point, in order."""
        return np.unique(self.labels).tolist()

    def next_class(self) -> int:
        """The first class that has no point; the last where all have some."""
        present = self.present()
        return next((k for k in range(MAX_CLASSES) if k not in present), MAX_CLASSES - 1)

    def present_pair(self) -> tuple[int, int]:
        """`pair`, or the first two classes that have points when one of it has none."""
        present = self.present()
        return self.pair if set(self.pair) <= set(present) else (present[0], present[1])

    def two_classes(self) -> "TwoClasses":
        """The points of `present_pair`; of a workspace with at least two classes."""
        a, b = self.present_pair()
        rows = np.flatnonzero((self.labels == a) | (self.labels == b))
        return TwoClasses((a, b), rows, (self.labels[rows] == b).astype(int))

    @property
    def machine(self) -> str:
        """The machine that is in use for the task."""
        return self.regressor if self.task == "regression" else self.classifier

    def weights_table(self, present: list[int]) -> np.ndarray:
        """`pair_weights` as a symmetric table with a row a class that is present, as `ADSVC` takes it."""
        weights = [[self.pair_weights.get((min(a, b), max(a, b)), 1.0) for b in present] for a in present]
        return np.array(weights) * (1 - np.eye(len(present)))

    def set_weights(self, weights: dict[tuple[int, int], float]) -> None:
        """Take over weights of class pairs; those of other pairs stay."""
        merged = {**self.pair_weights, **weights}
        self.pair_weights = {pair: weight for pair, weight in merged.items() if weight != 1}

    def mu_value(self, labels: np.ndarray, n_prototypes: int = 1) -> float:
        """`mu`, moved into its range for these labels, which `svmviz.machines.ad_svm.smallest_mu` begins, to 1."""
        codes = np.unique(labels, return_inverse=True)[1]
        return float(np.clip(self.mu, smallest_mu(codes, n_prototypes), 1.0)) if len(codes) else self.mu

    def kernel_parameters(self) -> dict[str, Any]:
        """The kernel, as estimators and `svmviz.kernels.make_kernel` take it."""
        return {
            "kernel": self.kernel,
            "gamma": self.gamma_value(),
            "degree": self.degree,
            "coef0": self.coef0,
        }

    def kernel_on(self, X: np.ndarray) -> Kernel:
        """The kernel for some of the samples X (m, d)."""
        return make_kernel(X=X, **self.kernel_parameters())

    def gamma_value(self) -> float:
        """`gamma` as a number, see `svmviz.kernels.resolve_gamma`; "scale" needs at least one point."""
        return resolve_gamma(self.gamma, self.points[:, :1] if self.task == "regression" else self.points)

    def title(self) -> str:
        """What the points are called: the preset, edited or not."""
        if self.preset not in datasets.PRESETS:
            return "Your points"
        return datasets.PRESETS[self.preset].title + (", edited" if self.edited else "")


def get() -> Workspace:
    """The workspace of this visitor, made with the first preset on the first call.

    Returns
    -------
    Workspace
    """
    if KEY not in st.session_state:
        space = Workspace()
        space.load_preset(FIRST_PRESET)
        st.session_state[KEY] = space
    return st.session_state[KEY]


def six_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """A name for every class a person can draw: those given, then letters that are not taken.

    Parameters
    ----------
    names : tuple of str

    Returns
    -------
    tuple of six str
    """
    free = [letter for letter in CLASS_LETTERS[len(names) :] + CLASS_LETTERS if letter not in names]
    return (*names, *free)[:MAX_CLASSES]


def view_of(points: np.ndarray, square: bool = True) -> tuple[float, float, float, float]:
    """The part of the plane that shows all points with some room round them.

    Parameters
    ----------
    points : (n, 2) array
    square : bool, default True
        Whether to use one scale for both axes, so that distances look true, unless one range is more than
        four times the other.

    Returns
    -------
    tuple of float
        Left, right, bottom, top.
    """
    if not len(points):
        return (-3.0, 3.0, -3.0, 3.0)
    low, high = points.min(axis=0), points.max(axis=0)
    half = (high - low) / 2
    widest = half.max()
    if widest == 0:
        half = np.full(2, max(1.0, float(np.abs(points).max()) * 0.1))
    elif (square and half.min() * 4 >= widest) or half.min() < widest * 1e-6:
        half = np.full(2, widest)
    centre = (high + low) / 2
    half = 1.12 * np.maximum(half, np.abs(centre) * 1e-6)  # else the edges round to the same number
    return (
        float(centre[0] - half[0]),
        float(centre[0] + half[0]),
        float(centre[1] - half[1]),
        float(centre[1] + half[1]),
    )


def checked(space: Workspace, machine: str = "") -> str | None:
    """Why the points cannot be fitted, as one sentence, or None when they can.

    Parameters
    ----------
    space : Workspace
    machine : str, optional
        One of `CLASSIFIERS` to be fitted instead of the workspace's own.

    Returns
    -------
    str or None
    """
    n = len(space.points)
    if n > ROW_LIMIT:
        return f"{n:,} points are too many to follow the pen: erase some until {ROW_LIMIT:,} are left."
    if space.task == "regression":
        return None if n >= 2 else "Draw at least two points: the curve appears as soon as they are there."
    if (machine or space.machine) == "one_class":
        return None if n else "Draw points: the region that holds most of them appears at once."
    if n == 0:
        return "Draw points of two classes: the boundary appears as soon as both are there."
    if len(space.present()) < 2:
        return "Draw a point of a second class too: pick it above the plane."
    return None
