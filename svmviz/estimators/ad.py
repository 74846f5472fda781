"""Machines of prototypes: the All-Distances SVM and, for two classes, the mu-SVM."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from svmviz.checks import check_choice, check_labels, check_number, check_samples
from svmviz.errors import InvalidProblemError
from svmviz.estimators.base import Classifier, KernelLike, ScoreClassifier, minimized
from svmviz.gram import KernelRows
from svmviz.machines import ad_svm
from svmviz.machines.expansion import group_multipliers
from svmviz.problem import DualProblem
from svmviz.smo.loop import Options, Solution

Array = np.ndarray


class _PrototypeClassifier(Classifier):
    """Prototypes of each class in the space of the kernel."""

    mu: float
    stopping: str

    def _options(self) -> Options:
        return replace(super()._options(), stopping=self.stopping)

    def _fit_prototypes(
        self, X: Any, y: Any, pair_weights: Array | None = None, n_prototypes: int = 1
    ) -> tuple[DualProblem, Solution]:
        X = self._training_samples(X)
        y, options = check_labels(y, X), self._options()
        # All parameters first: a fit that is refused leaves the last one as it was.
        codes = np.unique(y, return_inverse=True)[1]
        mu = check_number("mu", self.mu)
        if codes.any():  # a single class is what `_encode` refuses
            mu = ad_svm.check_mu(mu, codes, n_prototypes)
        links = ad_svm.class_links(max(2, int(codes.max()) + 1), pair_weights)
        codes = self._encode(y)
        self._start_fit(X)
        rows = self._kernel_rows(X)
        prototype, owner = ad_svm.divide(rows, codes, mu, n_prototypes)
        problem = ad_svm.dual_problem(prototype, mu, links[np.ix_(owner, owner)])
        solution = minimized(problem, rows, options)
        self._read_prototypes(X, rows, owner, problem, solution)
        return problem, solution

    def _read_prototypes(
        self, X: Array, rows: KernelRows, owner: Array, problem: DualProblem, solution: Solution
    ) -> None:
        """Keep what a solution says over the samples X with the rows of their Gram matrix."""
        self.prototype_class_ = owner
        self.cluster_ = np.empty(len(X), dtype=int)
        self.cluster_[problem.sample] = problem.group
        self.prototypes_ = ad_svm.read(problem, solution.z, rows)
        self.certificate_ = solution.certificate
        self.support_ = np.flatnonzero(self.prototypes_.coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = self.prototypes_.coef[:, self.support_]
        self.n_iter_ = solution.certificate.iterations


class ADSVC(_PrototypeClassifier, ScoreClassifier):
    """All-Distances support vector classification: any number of classes at once.

    Parameters
    ----------
    mu : float, default 1.0
        Largest weight of a sample in its prototype, from 1 over the size of the smallest class to 1. With several
        prototypes that size is first divided by their number and rounded down.
    n_prototypes : int, default 1
        Prototypes of each class, at most as many as it has samples. Each is in the reduced hull of a cluster found
        by kernel k-means (`svmviz.clusters`), which keeps every cluster large enough for mu. Only prototypes of
        different classes are linked.
    rule : "thesis" or "nearest", default "thesis"
        Decision rule: w_r'(x - v_r), equation 2.2.20 of the thesis, or the nearest prototype. Of several prototypes
        the best speaks for its class.
    pair_weights : array (n_classes, n_classes), optional
        Weight of the squared distance of each two classes, in the order of `classes_`; default 1.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
        As for `SVC`.
    stopping : "violation" or "thesis", default "violation"
        Which test ends the run: the second is the relative one of the thesis (3.2.20); see `svmviz.smo.stopping`.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    prototypes_ : svmviz.machines.ad_svm.Prototypes
        Coefficients of the prototypes over the samples, their products and distances, and what the thesis calls
        w_r, b_r and rho_r (2.2.16 to 2.2.18): `prototypes_.normals`, `prototypes_.b` and `prototypes_.rho`.
    prototype_class_ : ndarray (n_prototypes in all,) of int
        Position in `classes_` of the class of each prototype.
    cluster_ : ndarray (n_samples,) of int
        The prototype that each training sample is for.
    support_, support_vectors_, n_iter_, certificate_
        As for `SVR`.
    dual_coef_ : ndarray (n_prototypes in all, n_support)
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
        n_prototypes: int = 1,
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
        shrinking: bool = True,
        cache_size: float = 200.0,
        stopping: str = "violation",
    ):
        self.mu = mu
        self.n_prototypes = n_prototypes
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
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.stopping = stopping

    def fit(self, X: Any, y: Any) -> Self:
        """Train on samples X (n, d) with labels y (n,) of any type."""
        check_choice("rule", self.rule, ad_svm.RULES)
        if not isinstance(self.n_prototypes, Integral) or self.n_prototypes < 1:
            raise InvalidProblemError(
                f"n_prototypes must be a whole number of at least 1, not {self.n_prototypes!r}."
            )
        self._fit_prototypes(X, y, self.pair_weights, int(self.n_prototypes))
        return self

    def _scores(self, values: Array) -> Array:
        scores = self.prototypes_.at(self.support_).scores(values, self.rule)
        return np.maximum.reduceat(
            scores, np.searchsorted(self.prototype_class_, range(len(self.classes_))), axis=1
        )


class MuSVC(_PrototypeClassifier):
    """mu-support vector classification: the nearest points of two reduced convex hulls.

    It is nu-SVC with mu = 2 / (nu n). f(x) = w'x + b with w = v+ - v- and b midway between the margins, thesis
    2.1.44 and 2.1.45; the margin lies at +-rho.

    Parameters
    ----------
    mu : float, default 1.0
        Largest weight of a sample, from 1 over the size of the smaller class to 1.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton, shrinking, cache_size
        As for `SVC`.
    stopping : "violation" or "thesis", default "violation"
        Which test ends the run: the second is the relative one of the thesis (3.2.20); see `svmviz.smo.stopping`.

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

    many_classes = False

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
        shrinking: bool = True,
        cache_size: float = 200.0,
        stopping: str = "violation",
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
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.stopping = stopping

    def fit(self, X: Any, y: Any) -> Self:
        """Train on samples X (n, d) with labels y (n,) of two classes."""
        classes = np.unique(check_labels(y, check_samples(X)))
        if len(classes) > 2:
            raise InvalidProblemError(
                f"Only binary classification is supported. The mu-SVM tells two classes apart, not {len(classes)}: "
                "use ADSVC."
            )
        problem, solution = self._fit_prototypes(X, y)
        # With H = k / 2 within a class a gradient is half the distance along w, turned round for the first class.
        lower, upper = group_multipliers(problem, solution.z, solution.gradient)
        self._read_function(lower - upper, lower + upper)
        return self

    def _read_function(self, bias: float, rho: float) -> None:
        """Keep w'x + b in the place of the two prototypes."""
        self.dual_coef_ = self.dual_coef_[1:] - self.dual_coef_[:1]
        self.intercept_ = np.array([bias])
        self.rho_ = rho

    def decision_function(self, X: Any) -> Array:
        """w'x + b (n,), positive for classes_[1]."""
        return self._read_values(X, lambda values: values @ self.dual_coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> Array:
        """Labels (n,) of samples X (n, d)."""
        decisions = self.decision_function(X)
        return self.classes_[(decisions > 0).astype(int)]
