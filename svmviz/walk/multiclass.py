"""The machines that an estimator is made of: one, one for every two classes, or one for each class against the rest.

They are walked one after the other, each on its own samples, and judge all of them. What they say together is up to
the estimator's own rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from svmviz.checks import check_choice, check_present
from svmviz.estimators import OneVsRestSVC
from svmviz.estimators.base import Estimator
from svmviz.estimators.pairwise import Pair, PairwiseClassifier, elected, laid_out, turned, votes
from svmviz.walk.posed import Posed
from svmviz.walk.posing import Given, pose_given, pose_two

Array = np.ndarray
Gone = tuple[int, ...]


@dataclass(frozen=True)
class Machines:
    """One machine, which itself says what it decides; `Several` are more.

    Attributes
    ----------
    posed : tuple of Posed
        The problem of each machine; each has `n_samples` of all samples.
    """

    posed: tuple[Posed, ...]

    def gone(self, samples: Array) -> Gone:
        """Positions of the classes of which nothing is left without some samples (k,), where that matters."""
        return ()

    def stands(self, k: int, gone: Gone) -> bool:
        """Whether there is a machine k without these classes."""
        return True

    def judge(self, values: Sequence[Array], gone: Gone = ()) -> tuple[Array, Array]:
        """What comes of what the machines decide.

        Parameters
        ----------
        values : sequence of ndarray (k,) or (k, n_classes)
            Decision values of each machine.
        gone : tuple of int
            Positions of classes that have no sample left; what a machine that does not stand says is not looked at.

        Returns
        -------
        decisions : ndarray (k,) or (k, n_columns)
            In the shape that the estimator's `decision_function` has. A class that is gone scores -inf, and in the
            columns of its pairs stands NaN.
        predictions : ndarray (k,)
        """
        return values[0], self.posed[0].predictions(values[0])


@dataclass(frozen=True)
class Several(Machines, ABC):
    """Machines that each tell two classes apart, or one from the rest.

    Attributes
    ----------
    classes : ndarray (n_classes,)
        Three or more labels.
    codes : ndarray (n,) of int
        Position of each sample's class.
    used : ndarray (n,) of bool
        Which samples have a weight.
    """

    classes: Array
    codes: Array
    used: Array

    def gone(self, samples: Array) -> Gone:
        """See `Machines`."""
        left = self._counts(self.used) - self._counts(samples[self.used[samples]])
        return tuple(np.flatnonzero(left == 0).tolist())

    def _counts(self, samples: Array) -> Array:
        return np.bincount(self.codes[samples], minlength=len(self.classes))

    @property
    @abstractmethod
    def names(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of the two classes that each machine tells apart, or the one that it tells from the rest."""

    @abstractmethod
    def coefficients(self, parts: Sequence[Array]) -> Array:
        """Coefficients of each machine (n,), laid out as the estimator's dual_coef_ but over all samples."""

    @abstractmethod
    def biases(self, parts: Sequence[float]) -> Array:
        """The bias of each machine as the estimator's intercept_, (n_machines,)."""


@dataclass(frozen=True)
class Pairs(Several):
    """A machine for every two classes.

    Attributes
    ----------
    pairs : tuple of tuple of int
        Positions (a, b) of its classes, a < b.
    shape : "ovr" or "ovo"
        Of the decisions: votes, or one column a machine.
    """

    pairs: tuple[Pair, ...]
    shape: str

    def stands(self, k: int, gone: Gone) -> bool:
        """See `Machines`."""
        return not set(self.pairs[k]) & set(gone)

    def judge(self, values: Sequence[Array], gone: Gone = ()) -> tuple[Array, Array]:
        """See `Machines`."""
        n_classes = len(self.classes)
        decided = np.column_stack(values)
        standing = [k for k in range(len(self.pairs)) if self.stands(k, gone)]
        counted = votes(decided[:, standing], [self.pairs[k] for k in standing], n_classes)
        counted[:, gone] = -np.inf
        predictions = self.classes[elected(counted)]
        if self.shape == "ovr":
            return counted, predictions
        decided[:, np.setdiff1d(np.arange(len(self.pairs)), standing)] = np.nan
        return turned(decided, n_classes), predictions

    @property
    def names(self) -> tuple[tuple[Any, ...], ...]:
        """See `Several`."""
        labels = self.classes.tolist()
        return tuple((labels[a], labels[b]) for a, b in self.pairs)

    def coefficients(self, parts: Sequence[Array]) -> Array:
        """See `Several`: (n_classes - 1, n)."""
        rows = [posed.problem.sample for posed in self.posed]
        own = zip(self.pairs, rows, parts, strict=True)
        return laid_out(((pair, mine, coef[mine]) for pair, mine, coef in own), self.codes)

    def biases(self, parts: Sequence[float]) -> Array:
        """See `Several`."""
        return turned(np.array(parts), len(self.classes))


@dataclass(frozen=True)
class AgainstRest(Several):
    """A machine for each class against all others."""

    def stands(self, k: int, gone: Gone) -> bool:
        """See `Machines`."""
        return k not in gone

    def judge(self, values: Sequence[Array], gone: Gone = ()) -> tuple[Array, Array]:
        """See `Machines`."""
        scores = np.column_stack(values)
        scores[:, gone] = -np.inf
        return scores, self.classes[scores.argmax(axis=1)]

    @property
    def names(self) -> tuple[tuple[Any, ...], ...]:
        """See `Several`."""
        return tuple((label,) for label in self.classes.tolist())

    def coefficients(self, parts: Sequence[Array]) -> Array:
        """See `Several`: (n_classes, n)."""
        return np.array(parts)

    def biases(self, parts: Sequence[float]) -> Array:
        """See `Several`."""
        return np.array(parts)


def machines_of(
    estimator: Estimator, X: Any, y: Any = None, sample_weight: Any = None, **changed: float
) -> Machines:
    """The machines that an estimator would train, over one Gram matrix.

    Parameters
    ----------
    estimator, X, y, sample_weight, **changed
        As of `svmviz.walk.posing.pose`, with any number of classes.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, or a kernel that is not positive semidefinite.
    """
    given = Given.of(estimator, X, y, sample_weight, **changed)
    if not isinstance(estimator, (PairwiseClassifier, OneVsRestSVC)) or len(given.classes()[0]) == 2:
        return Machines((pose_given(given),))
    machines = _against_rest(given) if isinstance(estimator, OneVsRestSVC) else _pairs(given)
    given.check_kernel()
    return machines


def _pairs(given: Given) -> Pairs:
    classes, codes, bounds = _parts(given)
    shape = given.estimator.decision_function_shape
    check_choice("decision_function_shape", shape, ("ovr", "ovo"))
    pairs = tuple(combinations(range(len(classes)), 2))
    posed = []
    for a, b in pairs:
        rows = np.flatnonzero(((codes == a) | (codes == b)) & (bounds > 0))
        signs = np.where(codes[rows] == b, 1.0, -1.0)
        posed.append(pose_two(given, classes[[a, b]], signs, bounds[rows], rows))
    return Pairs(tuple(posed), classes, codes, bounds > 0, pairs, shape)


def _against_rest(given: Given) -> AgainstRest:
    classes, codes, bounds = _parts(given)
    signs = [np.where(codes == k, 1.0, -1.0) for k in range(len(classes))]
    posed = tuple(pose_two(given, None, own, bounds) for own in signs)
    return AgainstRest(posed, classes, codes, bounds > 0)


def _parts(given: Given) -> tuple[Array, Array, Array]:
    """Classes, codes (n,) and bounds (n,), each class with a sample that has a weight."""
    classes, codes = given.classes()
    bounds = given.bounds()
    check_present(codes, bounds)
    return classes, codes, bounds
