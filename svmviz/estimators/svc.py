"""C-support vector classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmviz.checks import check_choice, check_number
from svmviz.errors import InvalidProblemError
from svmviz.estimators.base import KernelLike, solve
from svmviz.estimators.pairwise import PairwiseClassifier
from svmviz.gram import KernelRows
from svmviz.machines import svc
from svmviz.machines.expansion import Expansion
from svmviz.problem import Certificate
from svmviz.smo.loop import Options

Array = np.ndarray


class SVC(PairwiseClassifier):
    """C-support vector classification; more than two classes one against one.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss: the upper bound on the multipliers, or with the squared loss 1 over twice the diagonal.
    kernel : "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a callable or a Kernel, default "rbf"
    degree, gamma, coef0
        Of the kernel; see `svmviz.kernels.make_kernel`.
    tol : float, default 1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default -1
        Limit on the pairs moved, for each two-class problem; see `svmviz.smo.Options`.
    class_weight : dict, "balanced" or None, default None
        Multiplies C for each class.
    loss : "hinge" or "squared_hinge", default "hinge"
    decision_function_shape : "ovr" or "ovo", default "ovr"
    selection : "second_order", "max_violating" or "platt", default "second_order"
        How the pair is picked.
    newton : bool, default True
        Whether to jump to the minimum over the free multipliers from time to time; see `svmviz.smo.Options`.
    shrinking : bool, default True
        Whether to leave out, for a while, indices that cannot be picked; see `svmviz.smo.Options`.
    cache_size : float, default 200
        Memory for rows of the Gram matrix, in MB; see `svmviz.gram.KernelRows`.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray (n_features,)
        Where the samples came as a data frame with names; every estimator has it.
    support_ : ndarray (n_support,) of int
        Indices of the support vectors, class by class.
    support_vectors_ : ndarray (n_support, n_features)
    n_support_ : ndarray (n_classes,)
    dual_coef_ : ndarray (n_classes - 1, n_support)
        Laid out as in scikit-learn.
    intercept_ : ndarray (n_classes * (n_classes - 1) / 2,)
    n_iter_ : ndarray of int
        Pairs moved for each two-class problem.
    certificate_ : Certificate
        Of all problems together: objectives and gaps added, the largest violation, the worst status.
    pairs_ : list of ClassPair
        The two-class problems, each with its decision function, bias interval and certificate.

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
        decision_function_shape: str = "ovr",
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
        self.decision_function_shape = decision_function_shape
        self.selection = selection
        self.newton = newton
        self.shrinking = shrinking
        self.cache_size = cache_size

    def _bounds(self, y: Array, weights: Array) -> Array:
        check_choice("loss", self.loss, svc.LOSSES)
        return upper_bounds(self.C, self.class_weight, y, weights)

    def _solve_two(
        self, signs: Array, bounds: Array, rows: KernelRows, options: Options
    ) -> tuple[Expansion, Certificate]:
        return solve(svc.dual_problem(signs, bounds, self.loss), rows, options)


class OneVsOneSVC(SVC):
    """C-support vector classification, one against one: `SVC` with decision_function_shape="ovo".

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, tol, max_iter, class_weight, loss, selection, newton, shrinking, cache_size
        As for `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, certificate_, pairs_
        As for `SVC`.
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
        super().__init__(
            C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            max_iter=max_iter,
            class_weight=class_weight,
            loss=loss,
            decision_function_shape="ovo",
            selection=selection,
            newton=newton,
            shrinking=shrinking,
            cache_size=cache_size,
        )


def upper_bounds(C: float, class_weight: dict[Any, float] | str | None, y: Array, weights: Array) -> Array:
    """The largest multiplier of each sample (n,): C times its own weight times that of its class."""
    bounds = svc.upper_bounds(C, len(y)) * weights
    if class_weight is None:
        return bounds
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if isinstance(class_weight, dict):
        factors = [check_number(f"class_weight of {c!r}", class_weight.get(c, 1.0)) for c in classes.tolist()]
        return bounds * np.array(factors)[codes]
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise InvalidProblemError('class_weight must be a dictionary, "balanced" or None.')
    return bounds * (len(y) / (len(classes) * counts))[codes]
