"""nu and mu: the machines whose multipliers sum to a number of their own in each group."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from svmviz.checks import check_number, check_samples, check_targets
from svmviz.errors import InvalidProblemError
from svmviz.kernels import LinearKernel
from svmviz.machines import ad_svm, nu_svc, nu_svr, one_class
from svmviz.machines.expansion import Expansion
from svmviz.problem import DualProblem
from svmviz.smo.base import SMO, FunctionSMO, labelled
from svmviz.smo.loop import Options
from svmviz.smo.solvers import SMALLEST_C, class_codes, two_signs
from svmviz.smo.warm import Pieces, Source, group_images

Array = np.ndarray


class _SharesSMO(SMO):
    """A change moves the free multipliers alone, as long as they can take it, and leaves those at a bound there."""

    _everyone: Array | None = None

    def _source(self, problem: DualProblem, z: Array, gradient: Array) -> Source:
        return Pieces(problem, z, gradient, self._product, self._of_everyone)

    def _of_everyone(self) -> Array:
        if self._everyone is None:
            self._everyone = group_images(self._problem, np.ones(self._problem.n), self._product)
        return self._everyone


class _NuSMO(_SharesSMO, FunctionSMO):
    nu: float

    def set_nu(self, nu: float) -> Self:
        """Change nu and keep the solution as a start, in O(n_dual).

        Raises
        ------
        InvalidProblemError
            When nu is out of its range, which the message names; nothing has changed then.
        """
        return self._change(nu=nu)


class SMONuClassifier(_NuSMO):
    """nu-SVC: one multiplier a sample, 0 to 1, first those of the positive class; see `samples`.

    Parameters
    ----------
    quad, X, y, K, kernel, tol, verbose, selection, max_iter, newton
        As for `SMOClassifier`.
    nu : float, default 0.5
        Least share of support vectors, above 0; at most twice the share of the smaller class.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, an infeasible nu among them.
    """

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        nu: float = 0.5,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
    ):
        X, y = labelled(X, y)
        signs = two_signs(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(nu: float) -> DualProblem:
            return nu_svc.dual_problem(signs, nu)

        ordered = -np.sort(-signs)
        super().__init__(build, {"nu": nu}, ordered, X, kernel, K, quad, verbose, options)

    @property
    def expansion(self) -> Expansion:
        """The decision function as it stands, divided by rho so that the margin is at 1."""
        return nu_svc.expand(self._problem, self._z, self._gradient, len(self.X), self._hessian.diagonal)


class SMONuRegression(_NuSMO):
    """nu-SVR: two multipliers a sample, 0 to C, first those above the tube (n), then those below it (n).

    Parameters
    ----------
    quad, X, y, K, kernel, C, tol, verbose, selection, max_iter, newton
        As for `SMORegression`.
    nu : float, default 0.5
        Share of the samples outside the tube or on it, above 0 to 1.

    Attributes
    ----------
    epsilon : float
        Half-width of the tube that nu has found, in units of y.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used; the message says what to change.
    """

    C: float

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        C: float = 1.0,
        nu: float = 0.5,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
    ):
        X, y = labelled(X, y)
        targets = check_targets(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(C: float, nu: float) -> DualProblem:
            return nu_svr.dual_problem(targets, check_number("C", C, least=SMALLEST_C), nu)

        signs = np.repeat([1.0, -1.0], len(targets))
        super().__init__(build, {"C": C, "nu": nu}, signs, X, kernel, K, quad, verbose, options)

    def set_C(self, C: float) -> Self:
        """Change C and keep the solution as a start, in O(n_dual): box and sums scale, and z with them.

        Raises
        ------
        InvalidProblemError
            When C is not a positive number (1e-60 to 1e60).
        """
        return self._change(C=C)

    @property
    def expansion(self) -> Expansion:
        """The regression function as it stands."""
        return nu_svr.expand(self._problem, self._z, self._gradient, len(self.X))

    @property
    def epsilon(self) -> float:
        """Half-width of the tube as it stands, in units of y."""
        return nu_svr.epsilon(self._problem, self._z, self._gradient)


class SMOOneClass(_NuSMO):
    """One-class SVM: one multiplier a sample, 0 to 1.

    Parameters
    ----------
    quad, X, K, kernel, tol, verbose, selection, max_iter, newton
        As for `SMOClassifier`.
    nu : float, default 0.5
        Largest share of samples outside the region, above 0 to 1.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used; the message says what to change.
    """

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        nu: float = 0.5,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
    ):
        if X is None:
            raise InvalidProblemError("X is needed.")
        X = check_samples(X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(nu: float) -> DualProblem:
            return one_class.dual_problem(len(X), nu)

        super().__init__(build, {"nu": nu}, np.ones(len(X)), X, kernel, K, quad, verbose, options)


class SMOReducedHulls(_SharesSMO):
    """AD-SVM, which with two classes is the mu-SVM: one weight a sample, 0 to mu, class by class; see `samples`.

    Parameters
    ----------
    quad, X, y, K, kernel, tol, verbose, selection, max_iter, newton
        As for `SMOClassifier`; y are any number of classes.
    mu : float, default 1.0
        Largest weight of a sample in its prototype, from 1 over the size of the smallest class to 1.
    pair_weights : ndarray (n_classes, n_classes), optional
        Weight of the squared distance of each two classes; default 1.

    Attributes
    ----------
    prototypes : Prototypes
        The prototypes as they stand.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, an infeasible mu among them.
    """

    mu: float

    def __init__(
        self,
        quad: Any = None,
        X: Array | None = None,
        y: Array | None = None,
        K: Array | None = None,
        kernel: Any = LinearKernel(),  # noqa: B008  (frozen)
        mu: float = 1.0,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
        newton: bool = True,
        pair_weights: Array | None = None,
    ):
        X, y = labelled(X, y)
        codes, n_classes = class_codes(y, X)
        links = ad_svm.class_links(n_classes, pair_weights)
        options = Options(tol=tol, max_iter=max_iter, selection=selection, newton=newton)

        def build(mu: float) -> DualProblem:
            return ad_svm.dual_problem(codes, check_number("mu", mu), links)

        super().__init__(build, {"mu": mu}, np.ones(len(X)), X, kernel, K, quad, verbose, options)

    def set_mu(self, mu: float) -> Self:
        """Change mu and keep the solution as a start, in O(n_dual) for each class.

        Raises
        ------
        InvalidProblemError
            When mu is below the smallest that is feasible, which the message names; nothing has changed then.
        """
        return self._change(mu=mu)

    @property
    def prototypes(self) -> ad_svm.Prototypes:
        """The prototypes as combinations of the samples."""
        return ad_svm.read(self._problem, self._z, self.K)
