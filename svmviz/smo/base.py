"""SMO: the solver as an object that keeps its state between calls, for any machine.

Names and conventions are those of the module optiml.ml.svm.smo.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from svmviz.checks import check_samples
from svmviz.errors import InvalidProblemError
from svmviz.gram import gram_matrix
from svmviz.hessian import Hessian
from svmviz.kernels import Kernel, LinearKernel, PrecomputedKernel, make_kernel
from svmviz.machines.expansion import Expansion, expand
from svmviz.problem import Certificate, DualProblem
from svmviz.smo.following import Following
from svmviz.smo.loop import Loop, Options, Solution
from svmviz.smo.steps import Step, pairs
from svmviz.smo.warm import Source

Array = np.ndarray


@dataclass(frozen=True)
class Kept:
    """Where a run ended: what later parameters start from.

    Attributes
    ----------
    parameters : dict
        Those that the run had.
    z, gradient : ndarray (n_dual,)
    source : Source
    """

    parameters: dict[str, float]
    z: Array
    gradient: Array
    source: Source


class SMO(Following, ABC):
    """Base of the machines: minimise, change a parameter, go on from there.

    The dual is 1/2 alphas'Q alphas + q'alphas over the box of the machine and its sums; inside, everything is written
    in the signed multipliers z = s * alphas.

    A change of a parameter takes O(n_dual) and reads no kernel value (for machines whose multipliers must sum to a
    number of their own: O(n_dual) for each group, and the first change that needs it reads the Gram matrix once). It
    starts from where the last call of `minimize` or `steps` ended, however often parameters were changed since; a
    change back leads back. Before the first such call there is nothing to keep, and the new problem starts as if it
    were made.

    Parameters
    ----------
    build : callable
        The dual problem for the parameters; raises InvalidProblemError for those that cannot be used.
    parameters : dict
        Name and value of each; they are attributes too.
    signs : ndarray (n_dual,)
        s, the sign of each multiplier.
    X : ndarray (n_samples, n_features)
    kernel : name, callable or Kernel
    K : ndarray (n_samples, n_samples), optional
        The Gram matrix, if it is there already.
    quad : object, optional
        Something with a method `function(alphas)`; verbose prints its value instead of the objective.
    verbose : bool or int
        Print iteration and cost of every pair (True) or of every verbose-th one.
    options : Options
        Rule, tolerance and limit.

    Attributes
    ----------
    alphas : ndarray (n_dual,)
        Multipliers, none negative.
    samples : ndarray (n_dual,) of int
        The sample of each multiplier.
    gradient : ndarray (n_dual,)
        Of the dual, Q alphas + q.
    n_iter : int
        Pairs moved since the object was made.
    certificate : Certificate
        Of the last call to `minimize`; None before one, and after a walk.
    """

    def __init__(
        self,
        build: Callable[..., DualProblem],
        parameters: dict[str, float],
        signs: Array,
        X: Array,
        kernel: Any,
        K: Array | None,
        quad: Any,
        verbose: bool | int,
        options: Options,
    ):
        self.quad = quad
        self.X = X
        self.tol = options.tol
        self.verbose = verbose
        self.n_iter = 0
        self.certificate: Certificate | None = None
        self._options = options
        self._build = build
        self._set(parameters, build(**parameters))
        self._signs = signs
        self.kernel = make_kernel(kernel, X)
        self._hessian = _hessian(self._problem, self.kernel, X, K)
        self._kept: Kept | None = None
        self._held: set[int] = set()
        self._restart()

    @property
    def K(self) -> Array:
        """The Gram matrix (n_samples, n_samples)."""
        return self._hessian.K

    @property
    def alphas(self) -> Array:
        """Multipliers (n_dual,), none negative."""
        return np.abs(self._z)

    @property
    def samples(self) -> Array:
        """The sample of each multiplier, (n_dual,)."""
        return self._problem.sample

    @property
    def gradient(self) -> Array:
        """Gradient of the dual in the multipliers (n_dual,), Q alphas + q."""
        return self._signs * self._gradient

    def minimize(self) -> Self:
        """Minimise from where the multipliers stand until the violation is within tol."""
        loop = self._loop(self._options)
        if self.verbose:
            for _ in loop:
                self.n_iter += 1
                if (self.n_iter - 1) % int(self.verbose) == 0:
                    print(f"{self.n_iter:6d}\t{self._cost(loop):.6e}")
            self._take(loop.solution())
        else:
            self._take(loop.run())
            self.n_iter += loop.iterations
        return self

    def steps(self) -> Iterator[Step]:
        """Minimise pair by pair: each Step is yielded after it was made. Stop whenever you like; nothing is lost.

        A call to `minimize`, `set_C` or the like in between ends the iteration.
        """
        loop = self._loop(replace(self._options, newton=False))
        self._z, self._gradient, self._kept = loop.iterate.z, loop.iterate.gradient, None
        try:
            for step in pairs(loop):
                self.n_iter += 1
                yield step
                if self._z is not loop.iterate.z:
                    return
        finally:
            if self._z is loop.iterate.z:
                self._take(loop.solution())

    @abstractmethod
    def _source(self, problem: DualProblem, z: Array, gradient: Array) -> Source:
        """What makes starts for other problems of a solution of this one."""

    def _change(self, **changed: float) -> Self:
        """Change parameters and keep the solution as a start."""
        self._held = set()
        parameters = self._parameters | changed
        problem = self._build(**parameters)
        # Up to here nothing has changed: parameters that cannot be used leave everything as it was.
        if self._kept is None and self.n_iter:  # amid a run
            self._keep(self._z.copy(), self._gradient.copy())
        self._set(parameters, problem)
        self._hessian = self._hessian.with_problem(problem)
        kept = self._kept
        if kept is None:
            self._restart()
        elif self._parameters == kept.parameters:
            self._z, self._gradient = kept.z.copy(), kept.gradient.copy()
        else:
            self._z, image = kept.source.start(problem)
            self._gradient = image + problem.diagonal * self._z + problem.linear
        return self

    def _set(self, parameters: dict[str, float], problem: DualProblem) -> None:
        self._parameters = {name: float(value) for name, value in parameters.items()}
        self._problem = problem
        for name, value in self._parameters.items():
            setattr(self, name, value)

    def _restart(self) -> None:
        self._z = self._problem.start()
        self._gradient = self._hessian.gradient(self._z)

    def _loop(self, options: Options) -> Loop:
        self._held = set()
        return Loop(self._problem, self._hessian, options, self._z, self._gradient)

    def _take(self, solution: Solution) -> None:
        self._z, self._gradient = solution.z, solution.gradient
        self.certificate = solution.certificate.with_primal()
        self._keep(solution.z, solution.gradient)

    def _keep(self, z: Array, gradient: Array) -> None:
        self._kept = Kept(self._parameters, z, gradient, self._source(self._problem, z, gradient))

    def _product(self, v: Array) -> Array:
        """H v without the added diagonal."""
        problem, hessian = self._problem, self._hessian
        if problem.diagonal.any():
            hessian = hessian.with_problem(replace(problem, diagonal=np.zeros(problem.n)))
        return hessian.product(v)

    def _cost(self, loop: Loop) -> float:
        if self.quad is not None:
            return float(self.quad.function(np.abs(loop.iterate.z)))
        return self._problem.objective(loop.iterate.z, loop.iterate.gradient)


class FunctionSMO(SMO):
    """Base of the machines that find one function f(x) = sum of coef_i k(x_i, x) + b.

    Attributes
    ----------
    expansion : Expansion
        The function as it stands.
    b : float
        Its bias.
    w : ndarray (n_features,)
        Its weights, with a linear kernel.
    """

    @property
    def expansion(self) -> Expansion:
        """The decision function as it stands."""
        return expand(self._problem, self._z, self._gradient, len(self.X))

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


def labelled(X: Array | None, y: Array | None) -> tuple[Array, Array]:
    """X checked, and y as an array."""
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
