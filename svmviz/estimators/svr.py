"""epsilon-support vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_targets, check_weights
from svmviz.estimators.base import KernelLike, Regressor, solve
from svmviz.machines import svc, svr

Array = np.ndarray


class SVR(Regressor):
    """epsilon-support vector regression.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss: the upper bound on the multipliers, or with the squared loss 1 over twice the diagonal.
    epsilon : float, default 0.1
        Half-width of the tube, in units of the target.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive", default "epsilon_insensitive"
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
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

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
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
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
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
        """Train on samples X (n, d) with targets y (n,).

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C for each sample.
        """
        X, options = self._training_samples(X), self._options()
        targets = check_targets(y, X)
        bounds = svc.upper_bounds(self.C, len(X)) * check_weights(sample_weight, len(X))
        problem = svr.dual_problem(targets, bounds, self.epsilon, self.loss)
        self._start_fit(X)
        self._take(X, *solve(problem, self._kernel_rows(X), options))
        return self
