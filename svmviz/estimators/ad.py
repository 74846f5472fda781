"""Machines of prototypes: the All-Distances SVM and, for two classes, the mu-SVM."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_labels, check_number, check_samples
from svmviz.errors import InvalidProblemError
from svmviz.estimators.base import Classifier, KernelLike, ScoreClassifier, minimized
from svmviz.gram import gram_matrix
from svmviz.machines import ad_svm
from svmviz.machines.expansion import group_multipliers
from svmviz.smo.loop import Solution

Array = np.ndarray


class _PrototypeClassifier(Classifier):
    """One prototype a class in the space of the kernel."""

    mu: float

    def _fit_prototypes(self, X: Any, y: Any, pair_weights: Array | None) -> Solution:
        X = check_samples(X)
        y, options = check_labels(y, X), self._options()
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidProblemError("There is only one class: add samples of a second class.")
        links = ad_svm.class_links(len(self.classes_), pair_weights)
        problem = ad_svm.dual_problem(codes, check_number("mu", self.mu), links)
        kernel = self._start_fit(X)
        K = gram_matrix(kernel, X)
        solution = minimized(problem, K, kernel, options)
        self._problem = problem
        self.prototypes_ = ad_svm.read(problem, solution.z, K)
        self.certificate_ = solution.certificate
        self.support_ = np.flatnonzero(self.prototypes_.coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = self.prototypes_.coef[:, self.support_]
        self.n_iter_ = solution.certificate.iterations
        return solution


class ADSVC(_PrototypeClassifier, ScoreClassifier):
    """All-Distances support vector classification: any number of classes at once.

    Parameters
    ----------
    mu : float, default 1.0
        Largest weight of a sample in its prototype, from 1 over the size of the smallest class to 1.
    rule : "thesis" or "nearest", default "thesis"
        Decision rule: w_r'(x - v_r), equation 2.2.20 of the thesis, or the nearest prototype.
    pair_weights : array (n_classes, n_classes), optional
        Weight of the squared distance of each two classes, in the order of `classes_`; default 1.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton
        As for `SVC`.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    prototypes_ : svmviz.machines.ad_svm.Prototypes
        Coefficients of the prototypes over the samples, their products and distances.
    support_, support_vectors_, n_iter_, certificate_
        As for `SVR`.
    dual_coef_ : ndarray (n_classes, n_support)
        Weights u of the support vectors in their prototypes.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used, an infeasible mu among them.
    """

    def __init__(
        self,
        *,
        mu: float = 1.0,
        rule: str = "thesis",
        pair_weights: Any = None,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        selection: str = "second_order",
        newton: bool = True,
    ):
        self.mu = mu
        self.rule = rule
        self.pair_weights = pair_weights
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.selection = selection
        self.newton = newton

    def fit(self, X: Any, y: Any) -> Self:
        """Train on samples X (n, d) with labels y (n,) of any type."""
        if self.rule not in ("thesis", "nearest"):
            raise InvalidProblemError(f'rule must be "thesis" or "nearest", not {self.rule!r}.')
        self._fit_prototypes(X, y, self.pair_weights)
        return self

    def _scores(self, values: Array) -> Array:
        return self.prototypes_.at(self.support_).scores(values, self.rule)


class MuSVC(_PrototypeClassifier):
    """mu-support vector classification: the nearest points of two reduced convex hulls.

    It is nu-SVC with mu = 2 / (nu n). f(x) = w'x + b with w = v+ - v- and b midway between the margins, thesis
    2.1.44 and 2.1.45; the margin lies at +-rho.

    Parameters
    ----------
    mu : float, default 1.0
        Largest weight of a sample, from 1 over the size of the smaller class to 1.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton
        As for `SVC`.

    Attributes
    ----------
    classes_, prototypes_, support_, support_vectors_, n_iter_, certificate_
        As for `ADSVC`.
    dual_coef_ : ndarray (1, n_support)
        u, negative for classes_[0].
    intercept_ : ndarray (1,)
    rho_ : float
        Value of f on the margin; not above 0 when the reduced hulls meet.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used, an infeasible mu among them.
    """

    def __init__(
        self,
        *,
        mu: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        selection: str = "second_order",
        newton: bool = True,
    ):
        self.mu = mu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.selection = selection
        self.newton = newton

    def fit(self, X: Any, y: Any) -> Self:
        """Train on samples X (n, d) with labels y (n,) of two classes."""
        classes = np.unique(check_labels(y, check_samples(X)))
        if len(classes) > 2:
            raise InvalidProblemError(f"The mu-SVM tells two classes apart, not {len(classes)}: use ADSVC.")
        solution = self._fit_prototypes(X, y, None)
        # With H = k / 2 within a class a gradient is half the distance along w, turned round for the first class.
        lower, upper = group_multipliers(self._problem, solution.z, solution.gradient)
        self.dual_coef_ = self.dual_coef_[1:] - self.dual_coef_[:1]
        self.intercept_ = np.array([lower - upper])
        self.rho_ = lower + upper
        return self

    def decision_function(self, X: Any) -> Array:
        """w'x + b (n,), positive for classes_[1]."""
        return self._kernel_values(X) @ self.dual_coef_[0] + self.intercept_[0]

    def predict(self, X: Any) -> Array:
        """Labels (n,) of samples X (n, d)."""
        decisions = self.decision_function(X)
        return self.classes_[(decisions > 0).astype(int)]
