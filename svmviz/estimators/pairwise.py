"""One against one: a two-class machine for every two classes, then a vote."""

from __future__ import annotations

from abc import abstractmethod
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

    classes: tuple[int, int]
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
        classes: tuple[int, int],
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
        self.dual_coef_ = self._dual_coef(codes)
        # scikit-learn: with two classes a positive value means the second, with more the first of the pair.
        sign = 1.0 if len(self.classes_) == 2 else -1.0
        self.intercept_ = sign * np.array([pair.expansion.bias for pair in self.pairs_])
        self.n_iter_ = np.array([pair.certificate.iterations for pair in self.pairs_])
        self.certificate_ = combine([pair.certificate for pair in self.pairs_])

    def _dual_coef(self, codes: Array) -> Array:
        place = np.empty(len(codes), dtype=int)
        place[self.support_] = np.arange(len(self.support_))
        n_classes = len(self.classes_)
        sign = 1.0 if n_classes == 2 else -1.0
        dual_coef = np.zeros((n_classes - 1, len(self.support_)))
        for pair in self.pairs_:
            a, b = pair.classes
            samples = pair.rows[pair.expansion.support]
            row = np.where(codes[samples] == a, b - 1, a)
            dual_coef[row, place[samples]] = sign * pair.expansion.coef[pair.expansion.support]
        return dual_coef

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
        if len(self.classes_) == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return -decisions
        return self._votes(decisions)

    def _votes(self, decisions: Array) -> Array:
        """Votes and, between equal votes, the summed decision values squeezed into (-1/3, 1/3)."""
        n_classes = len(self.classes_)
        votes, confidence = np.zeros((2, len(decisions), n_classes))
        for k, pair in enumerate(self.pairs_):
            a, b = pair.classes
            confidence[:, b] += decisions[:, k]
            confidence[:, a] -= decisions[:, k]
            votes[:, b] += decisions[:, k] > 0
            votes[:, a] += decisions[:, k] <= 0
        return votes + confidence / (3 * (np.abs(confidence) + 1))

    def predict(self, X: Any) -> Array:
        """Labels of samples X (n, d); with more than two classes the most votes, ties to the earlier class."""
        decisions = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return self.classes_[(decisions[:, 0] > 0).astype(int)]
        votes = np.floor(self._votes(decisions) + 0.5)
        return self.classes_[votes.argmax(axis=1)]
