"""SMO, SMOClassifier, SMORegression: the solver as an object that keeps its state between calls.

Names and conventions are those of the module optiml.ml.svm.smo.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from svmviz.checks import check_labels, check_number, check_samples, check_targets
from svmviz.errors import InvalidProblemError
from svmviz.gram import Hessian, gram_matrix
from svmviz.kernels import Kernel, LinearKernel, PrecomputedKernel, make_kernel
from svmviz.machines import svc, svr
from svmviz.machines.expansion import Expansion, expand
from svmviz.problem import Certificate, DualProblem
from svmviz.smo.loop import Loop, Options
from svmviz.smo.steps import Step, pairs

Array = np.ndarray

# From here on, multipliers can be scaled to any other C and keep their digits.
SMALLEST_C = 1e-60


class SMO(ABC):
    """Base of the two machines: minimise, change a parameter, go on from there.

    The dual is 1/2 alphas'Q alphas + q'alphas over 0 <= alphas <= C, s'alphas = 0; inside, everything is written
    in the signed multipliers z = s * alphas.

    Parameters
    ----------
    hessian : Hessian
        Of the dual.
    signs : ndarray (n_dual,)
        s, the sign of each multiplier.
    X : ndarray (n_samples, n_features)
    kernel : Kernel
    C : float
    quad : object, optional
        Something with a method `function(alphas)`; verbose prints its value instead of the objective.
    verbose : bool or int
        Print iteration and cost of every pair (True) or of every verbose-th one.
    options : Options
        Rule, tolerance and limit.

    Attributes
    ----------
    alphas : ndarray (n_dual,)
        Multipliers, 0 to C.
    b : float
        Bias of the decision function.
    w : ndarray (n_features,)
        Weights, with a linear kernel.
    gradient : ndarray (n_dual,)
        Of the dual, Q alphas + q.
    n_iter : int
        Pairs moved since the object was made.
    certificate : Certificate
        Of the last call to `minimize`.
    """

    def __init__(
        self,
        hessian: Hessian,
        signs: Array,
        X: Array,
        kernel: Kernel,
        C: float,
        quad: Any,
        verbose: bool | int,
        options: Options,
    ):
        self.quad = quad
        self.X = X
        self.K = hessian.K
        self.kernel = kernel
        self.C = check_number("C", C, least=SMALLEST_C)
        self.tol = options.tol
        self.verbose = verbose
        self.n_iter = 0
        self.certificate: Certificate | None = None
        self._options = options
        self._signs = signs
        self._problem = hessian.problem
        self._hessian = hessian
        self._z = self._problem.start()
        # H z, and not the gradient H z + p: where p is much larger, scaling needs the digits that p would hide.
        self._image = self._hessian.product(self._z)

    @property
    def alphas(self) -> Array:
        """Multipliers (n_dual,), 0 to C."""
        return np.abs(self._z)

    @property
    def gradient(self) -> Array:
        """Gradient of the dual in the multipliers (n_dual,), Q alphas + q."""
        return self._signs * (self._image + self._problem.linear)

    @property
    def expansion(self) -> Expansion:
        """The decision function as it stands."""
        return expand(self._problem, self._z, self._image + self._problem.linear, len(self.K))

    @property
    def b(self) -> float:
        """Bias; the midpoint of its interval when no multiplier is free."""
        return self.expansion.bias

    @property
    def w(self) -> Array:
        """Weights (n_features,) in the primal; AttributeError unless the kernel is linear."""
        if not isinstance(self.kernel, LinearKernel):
            raise AttributeError("w exists for the linear kernel only: use alphas.")
        return self.expansion.coef @ self.X

    def minimize(self) -> Self:
        """Minimise from where the multipliers stand until the violation is within tol."""
        loop = self._loop(self._options)
        for _ in loop:
            self.n_iter += 1
            if self.verbose and (self.n_iter - 1) % int(self.verbose) == 0:
                print(f"{self.n_iter:6d}\t{self._cost(loop):.6e}")
        self._take(loop)
        return self

    def steps(self) -> Iterator[Step]:
        """Minimise pair by pair: each Step is yielded after it was made. Stop whenever you like; nothing is lost.

        A call to `minimize`, `set_C` or the like in between ends the iteration.
        """
        loop = self._loop(replace(self._options, newton=False))
        self._z = loop.iterate.z
        try:
            for step in pairs(loop):
                self.n_iter += 1
                self._image = loop.iterate.gradient - self._problem.linear
                yield step
                if self._z is not loop.iterate.z:
                    return
        finally:
            if self._z is loop.iterate.z:
                self._take(loop)

    def set_C(self, C: float) -> Self:
        """Change C and keep the solution as a start, in O(n_dual).

        Both up and down all multipliers are scaled together, so their sum stays zero and those at the old bound
        are at the new one; the gradient is affine in them: z -> c z gives g -> c (g - p) + p.

        Raises
        ------
        InvalidProblemError
            When C is not a positive number (1e-60 to 1e60).
        """
        C = check_number("C", C, least=SMALLEST_C)
        old, old_C = self._problem, self.C
        self.C = C
        self._problem = self._build()
        at_lo, at_hi = self._z == old.lo, self._z == old.hi
        scaled = self._z / old_C * C
        self._z = np.where(at_lo, self._problem.lo, np.where(at_hi, self._problem.hi, scaled))
        self._image = self._image / old_C * C
        self._rebase()
        return self

    @abstractmethod
    def _build(self) -> DualProblem:
        """The dual for the parameters as they stand now."""

    def _rebase(self) -> None:
        self._hessian = self._hessian.with_problem(self._problem)

    def _loop(self, options: Options) -> Loop:
        return Loop(self._problem, self._hessian, options, self._z, self._image + self._problem.linear)

    def _take(self, loop: Loop) -> None:
        solution = loop.solution()
        self._z, self._image = solution.z, self._hessian.product(solution.z)
        self.certificate = solution.certificate.with_primal()

    def _cost(self, loop: Loop) -> float:
        if self.quad is not None:
            return float(self.quad.function(np.abs(loop.iterate.z)))
        return self._problem.objective(loop.iterate.z, loop.iterate.gradient)


class SMOClassifier(SMO):
    """C-SVC: one multiplier a sample, with the sign of its target.

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
    selection, max_iter
        See `svmviz.smo.Options`.

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
    ):
        X, y = _data(X, y)
        classes = np.unique(check_labels(y, X))
        if len(classes) != 2:
            raise InvalidProblemError(
                f"A two-class machine needs two classes of targets, not {len(classes)}."
            )
        signs = np.where(y == classes[1], 1.0, -1.0)
        options = Options(tol=tol, max_iter=max_iter, selection=selection)
        problem, kernel = svc.dual_problem(signs, C), make_kernel(kernel, X)
        super().__init__(_hessian(problem, kernel, X, K), signs, X, kernel, C, quad, verbose, options)

    def _build(self) -> DualProblem:
        return svc.dual_problem(self._signs, self.C)


class SMORegression(SMO):
    """epsilon-SVR: two multipliers a sample, first those above the tube (n), then those below it (n).

    Parameters
    ----------
    quad, X, y, K, kernel, C, tol, verbose, selection, max_iter
        As for `SMOClassifier`; y are numbers.
    epsilon : float, default 0.1
        Half-width of the tube, in units of y.

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
        epsilon: float = 0.1,
        tol: float = 1e-3,
        verbose: bool | int = False,
        *,
        selection: str = "second_order",
        max_iter: int = -1,
    ):
        X, y = _data(X, y)
        self.epsilon = check_number("epsilon", epsilon)
        self._targets = y = check_targets(y, X)
        options = Options(tol=tol, max_iter=max_iter, selection=selection)
        problem, kernel = svr.dual_problem(self._targets, C, self.epsilon), make_kernel(kernel, X)
        signs = np.repeat([1.0, -1.0], len(y))
        super().__init__(_hessian(problem, kernel, X, K), signs, X, kernel, C, quad, verbose, options)

    def set_epsilon(self, epsilon: float) -> Self:
        """Change the half-width of the tube and keep the solution as a start, in O(n_dual): only p moves.

        Raises
        ------
        InvalidProblemError
            When epsilon is negative.
        """
        self.epsilon = check_number("epsilon", epsilon)
        self._problem = self._build()
        self._z = self._z.copy()
        self._rebase()
        return self

    def _build(self) -> DualProblem:
        return svr.dual_problem(self._targets, self.C, self.epsilon)


def _data(X: Array | None, y: Array | None) -> tuple[Array, Array]:
    if X is None or y is None:
        raise InvalidProblemError("X and y are both needed.")
    return check_samples(X), np.asarray(y)


def _hessian(problem: DualProblem, kernel: Kernel, X: Array, K: Array | None) -> Hessian:
    """Over the Gram matrix of the kernel, or one that is there already: then all that is known of it is seen."""
    if K is None:
        return Hessian(problem, gram_matrix(kernel, X), kernel.positive_semidefinite)
    if np.shape(K) != (len(X), len(X)):
        raise InvalidProblemError(f"K must be square, one row and column for each of the {len(X)} samples.")
    return Hessian(problem, gram_matrix(PrecomputedKernel(), check_samples(K)))
