"""One against one: a two-class machine for every two classes, then a vote."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy import sparse

from svmviz.checks import check_choice, check_labels, check_weights
from svmviz.estimators.base import Classifier, combine
from svmviz.gram import KernelRows
from svmviz.machines.expansion import Expansion
from svmviz.problem import Certificate
from svmviz.smo.loop import Options

Array = np.ndarray
Pair = tuple[int, int]


@dataclass(frozen=True)
class ClassPair:
    """A two-class problem inside a `PairwiseClassifier`.

    Attributes
    ----------
    classes : tuple of int
        Codes (a, b), a < b; positive decision values vote for b.
    rows : ndarray (m,)
        The samples of the two classes.
    expansion : Expansion
        Over these rows.
    certificate : Certificate
    """

    classes: Pair
    rows: Array
    expansion: Expansion
    certificate: Certificate


class PairwiseClassifier(Classifier):
    """What `SVC` and `NuSVC` share: all but the two-class problem."""

    decision_function_shape: str

    @abstractmethod
    def _bounds(self, y: Array, weights: Array) -> Array:
        """The largest multiplier of each sample (n,)."""

    @abstractmethod
    def _solve_two(
        self, signs: Array, bounds: Array, rows: KernelRows, options: Options
    ) -> tuple[Expansion, Certificate]:
        """Train on two classes, with signs (m,), bounds (m,) and the rows of their Gram matrix (m, m)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d) with labels y (n,) of any type.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies the largest multiplier of each sample; a weight of 0 leaves the sample out.
        """
        X = self._training_samples(X)
        y, options = check_labels(y, X), self._options()
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        bounds = self._bounds(y, check_weights(sample_weight, len(y)))
        codes = self._encode(y, bounds)
        self._start_fit(X)
        self.pairs_ = [
            self._fit_pair(X, codes, bounds, (a, b), options)
            for a, b in combinations(range(len(self.classes_)), 2)
        ]
        self._read_pairs(X, codes)
        return self

    def _fit_pair(
        self,
        X: Array,
        codes: Array,
        bounds: Array,
        classes: Pair,
        options: Options,
    ) -> ClassPair:
        a, b = classes
        rows = np.flatnonzero(((codes == a) | (codes == b)) & (bounds > 0))
        signs = np.where(codes[rows] == b, 1.0, -1.0)
        mine = X if len(rows) == len(X) else self._restricted(X, rows)
        expansion, certificate = self._solve_two(signs, bounds[rows], self._kernel_rows(mine), options)
        return ClassPair(classes, rows, expansion, certificate)

    def _restricted(self, X: Array, rows: Array) -> Array:
        """What the machine of some rows is trained on."""
        return X[np.ix_(rows, rows)] if self._kernel.name == "precomputed" else X[rows]

    def _read_pairs(self, X: Array, codes: Array) -> None:
        support = np.zeros(len(X), dtype=bool)
        for pair in self.pairs_:
            support[pair.rows[pair.expansion.support]] = True
        indices = np.flatnonzero(support)
        self.support_ = indices[np.argsort(codes[indices], kind="stable")]
        self.support_vectors_ = X[self.support_]
        self.n_support_ = np.bincount(codes[self.support_], minlength=len(self.classes_))
        coefficients = ((pair.classes, pair.rows, pair.expansion.coef) for pair in self.pairs_)
        self.dual_coef_ = laid_out(coefficients, codes)[:, self.support_]
        self.intercept_ = turned(np.array([pair.expansion.bias for pair in self.pairs_]), len(self.classes_))
        self.n_iter_ = np.array([pair.certificate.iterations for pair in self.pairs_])
        self.certificate_ = combine([pair.certificate for pair in self.pairs_])

    def _pair_decisions(self, X: Any) -> Array:
        """(n, n_pairs): positive votes for the second class of the pair."""
        X = self._checked(X)
        place = np.full(int(self.support_.max(initial=-1)) + 1, -1)
        place[self.support_] = np.arange(len(self.support_))
        supports = [pair.expansion.support for pair in self.pairs_]
        columns = np.concatenate([place[p.rows[s]] for p, s in zip(self.pairs_, supports, strict=True)])
        coef = np.concatenate([p.expansion.coef[s] for p, s in zip(self.pairs_, supports, strict=True)])
        starts = np.cumsum([0] + [len(s) for s in supports])
        # Each machine has coefficients for few of the support vectors of all.
        by_pair = sparse.csr_array((coef, columns, starts), shape=(len(self.pairs_), len(self.support_)))
        biases = np.array([pair.expansion.bias for pair in self.pairs_])
        return self._read_values(X, lambda values: (by_pair @ values.T).T + biases)

    def decision_function(self, X: Any) -> Array:
        """Decision values of samples X (n, d).

        Returns
        -------
        ndarray
            Two classes: (n,), positive for classes_[1]. More: (n, n_classes) for "ovr", votes plus a fraction
            that orders ties; (n, n_pairs) for "ovo", positive for the first class of the pair.
        """
        decisions = self._pair_decisions(X)
        return shaped(decisions, self._classes_of_pairs, len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> Array:
        """Labels of samples X (n, d); with more than two classes the most votes, ties to the earlier class."""
        decisions = self._pair_decisions(X)
        return self.classes_[elected(votes(decisions, self._classes_of_pairs, len(self.classes_)))]

    @property
    def _classes_of_pairs(self) -> list[Pair]:
        return [pair.classes for pair in self.pairs_]


# What machines of two classes say together, each in a column of decisions (n, n_pairs), positive for its second.


def shaped(decisions: Array, pairs: Sequence[Pair], n_classes: int, shape: str) -> Array:
    """Decision values of all machines together, see `PairwiseClassifier.decision_function`."""
    if n_classes == 2:
        return decisions[:, 0]
    return turned(decisions, n_classes) if shape == "ovo" else votes(decisions, pairs, n_classes)


def turned(values: Array, n_classes: int) -> Array:
    """Values, biases or coefficients of the pairs with the sign that they have in scikit-learn.

    With two classes a positive value means the second, with more the first of the pair.
    """
    return values if n_classes == 2 else -values


def votes(decisions: Array, pairs: Sequence[Pair], n_classes: int) -> Array:
    """Votes (n, n_classes) and, between equal votes, the summed decision values squeezed into (-1/3, 1/3)."""
    votes, confidence = np.zeros((2, len(decisions), n_classes))
    for k, (a, b) in enumerate(pairs):
        confidence[:, b] += decisions[:, k]
        confidence[:, a] -= decisions[:, k]
        votes[:, b] += decisions[:, k] > 0
        votes[:, a] += decisions[:, k] <= 0
    return votes + confidence / (3 * (np.abs(confidence) + 1))


def elected(votes: Array) -> Array:
    """The class (n,) with the most `votes` (n, n_classes), ties to the earlier one."""
    return np.floor(votes + 0.5).argmax(axis=1)


def laid_out(coefficients: Iterable[tuple[Pair, Array, Array]], codes: Array) -> Array:
    """Coefficients as scikit-learn lays them out: each sample has one for every class but its own.

    Parameters
    ----------
    coefficients : iterable of (tuple of int, ndarray (m,) of int, ndarray (m,))
        The codes (a, b) of each pair, a < b, its samples and their coefficients.
    codes : ndarray (n,)
        Class of each sample.

    Returns
    -------
    ndarray (n_classes - 1, n)
    """
    n_classes = int(codes.max()) + 1
    laid = np.zeros((n_classes - 1, len(codes)))
    for (a, b), rows, coef in coefficients:
        laid[np.where(codes[rows] == a, b - 1, a), rows] = coef
    return turned(laid, n_classes)
