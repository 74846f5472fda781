"""nu-support vector classification and regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_targets, check_weights
from svmviz.estimators.base import KernelLike, Regressor, minimized
from svmviz.estimators.pairwise import PairwiseClassifier
from svmviz.gram import KernelRows
from svmviz.machines import nu_svc, nu_svr, svc
from svmviz.machines.expansion import Expansion
from svmviz.problem import Certificate
from svmviz.smo.loop import Options

Array = np.ndarray


class NuSVC(PairwiseClassifier):
    """nu-support vector classification; more than two classes one against one.

    Parameters
    ----------
    nu : float, default 0.5
        At least this share of the samples are support vectors, at most this share errors. Above 0, and for every
        two classes at most twice the share of the smaller one.
    kernel, degree, gamma, coef0, tol, max_iter, decision_function_shape, selection, newton, shrinking, cache_size
        As for `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, certificate_, pairs_
        As for `SVC`; coefficients and bias are divided by rho, so that the margin is at 1.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used, an infeasible nu among them.
    """

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
        decision_function_shape: str = "ovr",
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
        self.decision_function_shape = decision_function_shape
        self.selection = selection
        self.newton = newton
        self.shrinking = shrinking
        self.cache_size = cache_size

    def _bounds(self, y: Array, weights: Array) -> Array:
        codes = np.unique(y, return_inverse=True)[1]
        present = np.unique(codes[weights > 0])
        # Before any kernel value: is nu feasible for every two classes?
        for k, a in enumerate(present):
            for b in present[k + 1 :]:
                rows = (codes == a) | (codes == b)
                nu_svc.dual_problem(np.where(codes[rows] == b, 1.0, -1.0), self.nu, weights[rows])
        return weights

    def _solve_two(
        self, signs: Array, bounds: Array, rows: KernelRows, options: Options
    ) -> tuple[Expansion, Certificate]:
        problem = nu_svc.dual_problem(signs, self.nu, bounds)
        solution = minimized(problem, rows, options)
        expansion = nu_svc.expand(problem, solution.z, solution.gradient, len(rows), rows.diagonal)
        return expansion, solution.certificate


class NuSVR(Regressor):
    """nu-support vector regression: nu finds the half-width of the tube.

    Parameters
    ----------
    nu : float, default 0.5
        At most this share of the samples lies outside the tube, at least this share on or outside it; 0 to 1.
    C : float, default 1.0
        Upper bound on the multipliers.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
        As for `SVC`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_iter_, certificate_, expansion_
        As for `SVR`.
    epsilon_ : float
        Half-width of the tube that nu has found, in units of the target.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
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
        self.C = C
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
        problem = nu_svr.dual_problem(targets, bounds, self.nu)
        self._start_fit(X)
        solution = minimized(problem, self._kernel_rows(X), options)
        expansion = nu_svr.expand(problem, solution.z, solution.gradient, len(X))
        self._take(X, expansion, solution.certificate)
        self.epsilon_ = nu_svr.epsilon(problem, solution.z, solution.gradient)
        return self
