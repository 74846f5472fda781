"""epsilon-support vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_samples, check_targets, check_weights
from svmviz.estimators.base import Estimator, KernelLike, solve
from svmviz.gram import gram_matrix
from svmviz.machines import svc, svr

Array = np.ndarray


class SVR(Estimator):
    """epsilon-support vector regression.

    Parameters
    ----------
    C : float, default 1.0
        Upper bound on the multipliers.
    epsilon : float, default 0.1
        Half-width of the tube, in units of the target.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton
        As for `SVC`.

    Attributes
    ----------
    support_ : ndarray (n_support,) of int
    support_vectors_ : ndarray (n_support, n_features)
    dual_coef_ : ndarray (1, n_support)
    intercept_ : ndarray (1,)
    n_iter_ : int
        Pairs moved.
    certificate_ : Certificate
    expansion_ : Expansion
        The decision function with its bias interval and which support vectors are free.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    estimator_type = "regressor"

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        selection: str = "second_order",
        newton: bool = True,
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.selection = selection
        self.newton = newton

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d) with targets y (n,).

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C for each sample.
        """
        X, options = check_samples(X), self._options()
        targets = check_targets(y, X)
        bounds = svc.upper_bounds(self.C, len(X)) * check_weights(sample_weight, len(X))
        problem = svr.dual_problem(targets, bounds, self.epsilon)
        kernel = self._start_fit(X)
        self.expansion_, self.certificate_ = solve(problem, gram_matrix(kernel, X), kernel, options)
        self.support_ = self.expansion_.support
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = self.expansion_.coef[self.support_][None, :]
        self.intercept_ = np.array([self.expansion_.bias])
        self.n_iter_ = self.certificate_.iterations
        return self

    def predict(self, X: Any) -> Array:
        """Predicted targets (n,) of samples X (n, d)."""
        values = self._kernel_values(X)
        return values @ self.dual_coef_[0] + self.intercept_[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2: 1 minus the squared errors over those of the mean; at most 1."""
        predicted = self.predict(X)
        y = check_targets(y, predicted)
        weights = check_weights(sample_weight, len(y))
        errors = float((weights * (y - predicted) ** 2).sum())
        spread = float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
        if spread == 0:
            return 1.0 if errors == 0 else 0.0
        return 1.0 - errors / spread
