"""An estimator with its data as the dual problem that it solves, and what can be read off a solution of it.

Two-class machines and regressors have one function, whose value at a training sample is a gradient less its linear
term: no kernel value is read for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.gram import KernelRows
from svmviz.hessian import Hessian
from svmviz.machines import ad_svm, mc_svm, nu_svc
from svmviz.problem import DualProblem
from svmviz.walk.levels import fixed_groups, group_levels, is_lost, vanishes
from svmviz.walk.record import Rates
from svmviz.walk.settled import settled
from svmviz.walk.walker import Walker

Array = np.ndarray


class Optimum(Protocol):
    """Where a walker, or a walk, stands."""

    @property
    def z(self) -> Array:
        """Multipliers (n,)."""
        ...

    @property
    def gradient(self) -> Array:
        """H z + p, (n,)."""
        ...

    @property
    def linear(self) -> Array:
        """The linear term p, (n,)."""
        ...

    def levels(self) -> Array:
        """Multiplier of each group (n_groups,)."""
        ...


class Posed(ABC):
    """The problem of an estimator.

    Attributes
    ----------
    problem : DualProblem
    hessian : Hessian
    n_samples : int
    """

    problem: DualProblem
    hessian: Hessian
    n_samples: int

    def pose(self, problem: DualProblem, rows: KernelRows) -> None:
        """Keep the problem over the rows of the Gram matrix."""
        self.problem, self.hessian, self.n_samples = problem, Hessian(problem, rows), len(rows)
        # The dual indices of each sample, and the first of them, -1 where there is none.
        self._by_sample = np.argsort(problem.sample, kind="stable")
        self._first = np.searchsorted(problem.sample[self._by_sample], np.arange(self.n_samples + 1))
        self.place = np.append(self._by_sample, -1)[self._first[:-1]]
        self.place[np.diff(self._first) == 0] = -1

    def indices(self, samples: Array) -> Array:
        """The dual indices of some samples.

        Parameters
        ----------
        samples : ndarray (k,) of int

        Returns
        -------
        ndarray of int
            None of a sample that has no multiplier.
        """
        if len(samples) == 1:
            i = int(samples[0])
            return self._by_sample[self._first[i] : self._first[i + 1]]
        return np.flatnonzero(np.isin(self.problem.sample, samples))

    def rates(self, parameter: str) -> Rates:
        """How the problem moves with the parameter; InvalidProblemError where the machine has no path in it."""
        raise InvalidProblemError(f"There is no path in {parameter} for this machine.")

    def box(self, parameter: str, value: float) -> tuple[Array, Array]:
        """Lower and upper bounds (n,) at this value of the parameter, as the machine itself computes them."""
        rates, lo, hi = self.rates(parameter), self.problem.lo, self.problem.hi
        if rates.lo is None or rates.hi is None:
            return lo, hi
        return np.where(rates.lo != 0, value * rates.lo, lo), np.where(rates.hi != 0, value * rates.hi, hi)

    def moved(self, parameter: str, start: float, value: float) -> Posed:
        """The same at another value of the parameter, which was `start`."""
        return self.of(self.rates(parameter).moved(self.problem, start, value))

    def of(self, problem: DualProblem) -> Posed:
        """The same with another problem of these indices."""
        other = copy(self)
        other.problem, other.hessian = problem, self.hessian.with_problem(problem)
        return other

    def levels(self, z: Array, nu: Array, movable: Array, width: float = 0.0) -> Array:
        """Multiplier of each group (n_groups,) at an optimum: nu, or the middle where no multiplier fixes it.

        Parameters
        ----------
        z : ndarray (n,)
        nu : ndarray (n_groups,)
        movable : ndarray (n,) of bool
            Which indices are not held.
        width : float, default 0
            How large the multipliers have been.
        """
        problem = self.problem
        box = problem.starts, z, problem.lo, problem.hi
        if fixed_groups(*box, movable, width).all():
            return nu
        return group_levels(*box, self.hessian.gradient(z), nu, movable, width)

    def meets(self, optimum: Optimum) -> bool:
        """Whether nothing is decided: w is 0 but for rounding, as where reduced hulls meet."""
        return vanishes(self.hessian, self.problem.linear, optimum.z, optimum.gradient)

    def coefficients(self, z: Array) -> Array:
        """Coefficient of each sample, in the sense of dual_coef_.

        Parameters
        ----------
        z : ndarray (n_dual,)

        Returns
        -------
        ndarray (n_samples,), or (n_classes, n_samples) of `MCSVC`
        """
        return np.bincount(self.problem.sample, z, minlength=self.n_samples)

    def bias(self, nu: Array) -> float:
        """The bias that belongs to these multipliers (n_groups,) of the groups."""
        return -float(nu[0])

    @abstractmethod
    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """Decision values at training samples.

        Parameters
        ----------
        optimum : Optimum
        samples : ndarray (k,) of int

        Returns
        -------
        ndarray (k,), or (k, n_classes) with more than two classes
            As by `decision_function`, of a regressor the predicted targets; 0 where nothing is decided, see `meets`.
        """

    @abstractmethod
    def predictions(self, decisions: Array) -> Array:
        """Labels or targets (k,) for decision values (k,) or (k, n_classes)."""


@dataclass
class Function(Posed):
    """One group, f(x) = sum of coef_i k(x_i, x) + bias."""

    classes: Array | None = None
    unit: Rates | None = None
    by_epsilon: bool = False

    def rates(self, parameter: str) -> Rates:
        """See `Posed`."""
        if parameter == "C" and self.unit is not None:
            return self.unit
        if parameter == "epsilon" and self.by_epsilon:
            return Rates(linear=np.repeat([1.0, -1.0], self.n_samples))
        return super().rates(parameter)

    def _values(self, optimum: Optimum, samples: Array) -> Array:
        """Decision values without the bias."""
        places = self.place[samples]
        values = optimum.gradient[places] - optimum.linear[places]
        values -= self.problem.diagonal[places] * optimum.z[places]
        outside = places < 0
        if outside.any():
            values[outside] = self._values_outside(optimum.z, samples[outside])
        return values

    def _values_outside(self, z: Array, samples: Array) -> Array:
        """The same at samples (k,) that have no index, and no gradient."""
        coef = self.coefficients(z)
        support = np.flatnonzero(coef)
        return self.hessian.kernel_rows.times(coef[None, support], support)[0, samples]

    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """See `Posed`."""
        return self._values(optimum, samples) + self.bias(optimum.levels())

    def predictions(self, decisions: Array) -> Array:
        """See `Posed`."""
        return decisions if self.classes is None else self.classes[(decisions > 0).astype(int)]


@dataclass
class TwoGroups(Function):
    """nu-SVC and nu-SVR: a multiplier for each of two groups."""

    scaled: bool = False

    def bias(self, nu: Array) -> float:
        """See `Posed`."""
        return -0.5 * float(nu[0] + nu[1])

    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """See `Posed`."""
        nu = optimum.levels()
        if not self.scaled:
            return self._values(optimum, samples) + self.bias(nu)
        rho = nu_svc.without_noise(0.5 * float(nu[0] - nu[1]), optimum.z, self.hessian.diagonal)
        if rho <= 0 or self.meets(optimum):
            return np.zeros(len(samples))
        return (self._values(optimum, samples) + self.bias(nu)) / rho


@dataclass
class OneClass(Function):
    """One group; what is inside has no negative value."""

    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """See `Posed`."""
        return np.zeros(len(samples)) if self.meets(optimum) else super().decisions(optimum, samples)

    def predictions(self, decisions: Array) -> Array:
        """See `Posed`."""
        return np.where(decisions >= 0, 1, -1)


@dataclass
class Prototypes(Posed):
    """AD-SVM; with two classes and no other rule, the mu-SVM."""

    classes: Array
    owner: Array
    rule: str
    is_mu_svc: bool

    def rates(self, parameter: str) -> Rates:
        """See `Posed`."""
        if parameter != "mu":
            return super().rates(parameter)
        return Rates(hi=(self.problem.lo < self.problem.hi).astype(float), lo=np.zeros(self.problem.n))

    def bias(self, nu: Array) -> float:
        """See `Posed`."""
        return float(nu[0] - nu[1]) if self.is_mu_svc else 0.0

    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """See `Posed`."""
        if self.meets(optimum):
            several = len(self.classes) > 2
            return np.zeros((len(samples), len(self.classes)) if several else len(samples))
        if self.is_mu_svc:
            places = self.place[samples]
            sign = np.where(self.problem.group[places] == 1, 2.0, -2.0)
            return sign * optimum.gradient[places] + self.bias(optimum.levels())
        rows = self.hessian.kernel_rows
        prototypes = ad_svm.read(self.problem, optimum.z, rows)
        values = np.array([rows.row(int(i)) for i in samples])
        first = np.searchsorted(self.owner, range(len(self.classes)))
        scores = np.maximum.reduceat(prototypes.scores(values, self.rule), first, axis=1)
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predictions(self, decisions: Array) -> Array:
        """See `Posed`."""
        return _winners(self.classes, decisions)


@dataclass
class CrammerSinger(Posed):
    """The machine of Crammer and Singer: a group for each sample, an index for each class."""

    classes: Array

    def coefficients(self, z: Array) -> Array:
        """See `Posed`."""
        return mc_svm.read(self.problem, z, self.n_samples)

    def decisions(self, optimum: Optimum, samples: Array) -> Array:
        """See `Posed`."""
        # A gradient is the score of its class, less 1 for the own class of the sample.
        scores = (optimum.gradient - optimum.linear).reshape(self.n_samples, -1)[samples]
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predictions(self, decisions: Array) -> Array:
        """See `Posed`."""
        return _winners(self.classes, decisions)


def _winners(classes: Array, decisions: Array) -> Array:
    if decisions.ndim == 1:
        return classes[(decisions > 0).astype(int)]
    return classes[decisions.argmax(axis=1)]


def exact(posed: Posed) -> Walker:
    """A walker at the exact optimum of the problem; raises as `exact_optimum`."""
    return exact_optimum(posed.problem, posed.hessian)


def exact_optimum(problem: DualProblem, hessian: Hessian) -> Walker:
    """A walker at the exact optimum of a problem.

    Raises
    ------
    InvalidProblemError
        When floating point does not get there.
    """
    walker = settled(problem, hessian)
    if walker is None and not problem.linear.any():
        raise InvalidProblemError(
            "The optimum is 0 but for rounding, since the reduced hulls meet: take a larger nu, a smaller mu, or "
            "another kernel."
        )
    if walker is None or is_lost(hessian, problem.linear, walker.z):
        raise InvalidProblemError("No exact optimum in floating point: scale the features, or lower C.")
    return walker
