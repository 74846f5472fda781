"""One against the rest: a C-SVC for every class against all the others; the largest value wins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from svmviz.checks import check_choice, check_labels, check_weights
from svmviz.estimators.base import KernelLike, ScoreClassifier, combine, solve
from svmviz.estimators.svc import upper_bounds
from svmviz.machines import svc
from svmviz.machines.expansion import Expansion

Array = np.ndarray


class OneVsRestSVC(ScoreClassifier):
    """C-support vector classification of any number of classes, each against the rest.

    All machines share one Gram matrix. A point can be claimed by several classes, or by none: the largest value
    wins (Vapnik: Statistical learning theory, 1998; called oar-SVM in the thesis, 2.2.1).

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, tol, max_iter, class_weight, loss, selection, newton, shrinking, cache_size
        As for `SVC`; class_weight multiplies C for the samples of a class in all machines.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    support_ : ndarray (n_support,) of int
        Indices of the samples that are a support vector of at least one machine.
    support_vectors_ : ndarray (n_support, n_features)
    dual_coef_ : ndarray (n_classes, n_support)
    intercept_ : ndarray (n_classes,)
        f_r(x) = sum of dual_coef_[r, i] k(x_i, x) + intercept_[r], positive where class r claims x.
    n_iter_ : ndarray (n_classes,) of int
    expansions_ : list of Expansion (n_classes,)
        The decision functions, with bias intervals and which support vectors are free.
    certificates_ : list of Certificate (n_classes,)
        With two classes one machine is trained: both are its.
    certificate_ : Certificate
        Of all trained machines together: objectives and gaps added, the largest violation, the worst status.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        loss: str = "hinge",
        selection: str = "second_order",
        newton: bool = True,
        shrinking: bool = True,
        cache_size: float = 200.0,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.loss = loss
        self.selection = selection
        self.newton = newton
        self.shrinking = shrinking
        self.cache_size = cache_size

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d) with labels y (n,) of any type.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C for each sample; a weight of 0 leaves the sample out.
        """
        X = self._training_samples(X)
        y, options = check_labels(y, X), self._options()
        check_choice("loss", self.loss, svc.LOSSES)
        bounds = upper_bounds(self.C, self.class_weight, y, check_weights(sample_weight, len(y)))
        codes = self._encode(y, bounds)
        self._start_fit(X)
        rows = self._kernel_rows(X)
        two = len(self.classes_) == 2
        fitted = [
            solve(svc.dual_problem(np.where(codes == r, 1.0, -1.0), bounds, self.loss), rows, options)
            for r in range(1 if two else 0, len(self.classes_))
        ]
        self.certificate_ = combine([certificate for _, certificate in fitted])
        if two:
            expansion, certificate = fitted[0]
            fitted.insert(0, (_turned(expansion), certificate))
        self.expansions_ = [expansion for expansion, _ in fitted]
        self.certificates_ = [certificate for _, certificate in fitted]
        coef = np.array([expansion.coef for expansion in self.expansions_])
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = coef[:, self.support_]
        self.intercept_ = np.array([expansion.bias for expansion in self.expansions_])
        self.n_iter_ = np.array([certificate.iterations for certificate in self.certificates_])
        return self

    def _scores(self, values: Array) -> Array:
        return values @ self.dual_coef_.T + self.intercept_

    @staticmethod
    def _between_two(scores: Array) -> Array:
        return scores[:, 1]


def _turned(expansion: Expansion) -> Expansion:
    """The same decision function seen from the other class."""
    low, high = expansion.bias_interval
    return replace(expansion, coef=-expansion.coef, bias=-expansion.bias, bias_interval=(-high, -low))
