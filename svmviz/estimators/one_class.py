"""One-class support vector machine."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_weights
from svmviz.estimators.base import Estimator, KernelLike, minimized
from svmviz.machines import one_class
from svmviz.machines.expansion import expand

Array = np.ndarray


class OneClassSVM(Estimator):
    """The region that holds all but a share nu of the samples.

    Parameters
    ----------
    nu : float, default 0.5
        At most this share of the samples lies outside, at least this share are support vectors; 0 to 1.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
        As for `SVC`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_iter_, certificate_, expansion_
        As for `SVR`.
    offset_ : float
        rho: `decision_function` is `score_samples` less this.
    intercept_ : ndarray (1,)
        -rho.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    estimator_type = "outlier_detector"

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        self.nu = nu
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d); y is there for scikit-learn and not looked at.

        Parameters
        ----------
        X : array (n, d)
        y : ignored
        sample_weight : array (n,), optional
            The largest multiplier of each sample, relative to the others.
        """
        X, options = self._training_samples(X), self._options()
        problem = one_class.dual_problem(len(X), self.nu, check_weights(sample_weight, len(X)))
        self._start_fit(X)
        solution = minimized(problem, self._kernel_rows(X), options)
        self._take(X, expand(problem, solution.z, solution.gradient, len(X)), solution.certificate)
        self.offset_ = -self.expansion_.bias
        return self

    def score_samples(self, X: Any) -> Array:
        """Sum of coef_i k(x_i, x), (n,), for samples X (n, d)."""
        return self._read_values(X, lambda values: values @ self.dual_coef_[0])

    def decision_function(self, X: Any) -> Array:
        """Signed value (n,), positive inside the region."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 inside the region, -1 outside, (n,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
