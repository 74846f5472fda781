"""The multi-class machine of Crammer and Singer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_labels, check_weights
from svmviz.estimators.base import KernelLike, ScoreClassifier, minimized
from svmviz.machines import mc_svm

Array = np.ndarray


class MCSVC(ScoreClassifier):
    """Multi-class support vector classification with one slack a sample, without a bias.

    Parameters
    ----------
    beta : float, default 1.0
        Weight of the regulariser; 1 / C.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
        As for `SVC`.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    support_, support_vectors_, n_iter_, certificate_
        As for `SVR`.
    dual_coef_ : ndarray (n_classes, n_support)
        f_r(x) = sum of dual_coef_[r, i] k(x_i, x).

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    def __init__(
        self,
        *,
        beta: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        selection: str = "second_order",
        newton: bool = True,
        shrinking: bool = True,
        cache_size: float = 200.0,
    ):
        self.beta = beta
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
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
            Weight of each sample's slack.
        """
        X = self._training_samples(X)
        y, options = check_labels(y, X), self._options()
        codes = self._encode(y)
        problem = mc_svm.dual_problem(
            codes, len(self.classes_), self.beta, check_weights(sample_weight, len(X))
        )
        self._start_fit(X)
        solution = minimized(problem, self._kernel_rows(X), options)
        coef = mc_svm.read(problem, solution.z, len(X))
        self.certificate_ = solution.certificate
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = coef[:, self.support_]
        self.n_iter_ = solution.certificate.iterations
        return self

    def _scores(self, values: Array) -> Array:
        return values @ self.dual_coef_.T
