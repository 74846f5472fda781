"""SMOClassifier and SMORegression, and SMOMultiClass beside them: the machines whose sums are all zero."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_labels, check_number, check_targets
from svmviz.errors import InvalidProblemError
from svmviz.kernels import LinearKernel
from svmviz.machines import mc_svm, svc, svr
from svmviz.problem import DualProblem
from svmviz.smo.base import SMO, FunctionSMO, labelled
from svmviz.smo.loop import Options
from svmviz.smo.warm import Ray, Scaled, Source

Array = np.ndarray

# From here on, multipliers can be scaled to any other C and keep their digits.
SMALLEST_C = 1e-60


class _LossSMO(FunctionSMO):
    """C is the weight of the loss."""

    C: float

    def set_C(self, C: float) -> Self:
        """Change C and keep the solution as a start, in O(n_dual).

        Both up and down all multipliers are scaled together, so their sum stays zero and those at the old bound
        are at the new one; the gradient is affine in them: z -> c z gives g -> c (g - p) + p. With a squared loss,
        where nothing bounds them, c is the best there is.

        Raises
        ------
        InvalidProblemError
            When C is not a positive number (1e-60 to 1e60).
        """
        return self._change(C=C)

    def _source(self, problem: DualProblem, z: Array, gradient: Array) -> Source:
        return (Scaled if problem.is_bounded else Ray)(problem, z, self._product)


class SMOClassifier(_LossSMO):
    """C-SVC: one multiplier a sample, 0 to C, with the sign of its target.

    Parameters
    ----------
    quad : object, optional
        See `SMO`.
    X : ndarray (n_samples, n_features)
    y : ndarray (n_samples,)
        Two different values; the larger is the positive class.
    K : ndarray (n_samples, n_samples), optional
        The Gram matrix, if it is there already.
    kernel : name, callable or Kernel, default LinearKernel()
    C : float, default 1.0
    tol : float, default 1e-3
    verbose : bool or int, default False
    selection, max_iter, newton
        See `svmviz.smo.Options`.
    loss : "hinge" or "squared_hinge", default "hinge"

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used; the message says what to change.
    """

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        C: float = 1.0,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
        loss: str = "hinge",
    ):
        X, y = labelled(X, y)
        signs = two_signs(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(C: float) -> DualProblem:
            return svc.dual_problem(signs, check_number("C", C, least=SMALLEST_C), loss)

        super().__init__(build, {"C": C}, signs, X, kernel, K, quad, verbose, options)


class SMORegression(_LossSMO):
    """epsilon-SVR: two multipliers a sample, 0 to C, first those above the tube (n), then those below it (n).

    Parameters
    ----------
    quad, X, y, K, kernel, C, tol, verbose, selection, max_iter, newton
        As for `SMOClassifier`; y are numbers.
    epsilon : float, default 0.1
        Half-width of the tube, in units of y.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive", default "epsilon_insensitive"

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used; the message says what to change.
    """

    epsilon: float

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
        loss: str = "epsilon_insensitive",
    ):
        X, y = labelled(X, y)
        targets = check_targets(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(C: float, epsilon: float) -> DualProblem:
            return svr.dual_problem(targets, check_number("C", C, least=SMALLEST_C), epsilon, loss)

        signs = np.repeat([1.0, -1.0], len(targets))
        parameters = {"C": C, "epsilon": epsilon}
        super().__init__(build, parameters, signs, X, kernel, K, quad, verbose, options)

    def set_epsilon(self, epsilon: float) -> Self:
        """Change the half-width of the tube and keep the solution as a start, in O(n_dual): only p moves.

        Raises
        ------
        InvalidProblemError
            When epsilon is negative.
        """
        return self._change(epsilon=epsilon)


class SMOMultiClass(SMO):
    """MC-SVM of Crammer and Singer: a multiplier for each sample and class, 0 to 1, sample by sample.

    Parameters
    ----------
    quad, X, y, K, kernel, tol, verbose, selection, max_iter, newton
        As for `SMOClassifier`; y are any number of classes.
    beta : float, default 1.0
        Weight of the regulariser; 1 / C.

    Attributes
    ----------
    coef : ndarray (n_classes, n_samples)
        f_r(x) = sum of coef_ri k(x_i, x); the largest wins.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used; the message says what to change.
    """

    beta: float

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        beta: float = 1.0,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
    ):
        X, y = labelled(X, y)
        codes, n_classes = class_codes(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(beta: float) -> DualProblem:
            return mc_svm.dual_problem(codes, n_classes, beta)

        signs = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0).ravel()
        super().__init__(build, {"beta": beta}, signs, X, kernel, K, quad, verbose, options)

    @property
    def coef(self) -> Array:
        """Coefficients (n_classes, n_samples)."""
        return mc_svm.read(self._problem, self._z, len(self.X))

    def set_beta(self, beta: float) -> Self:
        """Change beta and keep the solution as a start, in O(n_dual): H is k / beta, and the box stays.

        Raises
        ------
        InvalidProblemError
            When beta is not a positive number.
        """
        return self._change(beta=beta)

    def _source(self, problem: DualProblem, z: Array, gradient: Array) -> Source:
        return Scaled(problem, z, self._product)


def two_signs(y: Array, X: Array) -> Array:
    """+1 for the larger of two labels and -1 for the other, (n,)."""
    classes = np.unique(check_labels(y, X))
    if len(classes) != 2:
        raise InvalidProblemError(f"A two-class machine needs two classes of targets, not {len(classes)}.")
    return np.where(y == classes[1], 1.0, -1.0)


def class_codes(y: Array, X: Array) -> tuple[Array, int]:
    """Position of each label (n,) among the sorted classes, and how many classes there are, at least two."""
    classes, codes = np.unique(check_labels(y, X), return_inverse=True)
    if len(classes) < 2:
        raise InvalidProblemError("There is only one class: add samples of a second class.")
    return codes, len(classes)
