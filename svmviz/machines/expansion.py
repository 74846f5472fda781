"""What every two-class machine and regressor is once trained: f(x) = sum of coef_i k(x_i, x) + bias."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmviz.problem import AT_BOUND, DualProblem

Array = np.ndarray


@dataclass(frozen=True)
class Expansion:
    """A decision function over the training samples.

    Attributes
    ----------
    coef : ndarray (n_samples,)
        Coefficient of each sample; 0 where it is no support vector.
    bias : float
        The midpoint of `bias_interval`.
    bias_interval : tuple of float
        All biases that are optimal. Within the tolerance it is one number when a multiplier is free.
    free, bounded : ndarray of bool (n_samples,)
        Support vectors with a multiplier strictly inside the box, and those with all of theirs at the bound.
    rho : float
        Of nu-SVC: the value on the margin before coefficients and bias were divided by it. Where it is not above 0
        the reduced hulls meet, and nothing was divided.
    """

    coef: Array
    bias: float
    bias_interval: tuple[float, float]
    free: Array
    bounded: Array
    rho: float = 1.0

    @cached_property
    def support(self) -> Array:
        """Indices of the support vectors, ascending."""
        return np.flatnonzero(self.coef)


def bias_interval(problem: DualProblem, z: Array, gradient: Array) -> tuple[float, float]:
    """Optimal biases of a problem with one group: -nu for nu between the group's two thresholds.

    At an optimum the largest gradient that may shrink is at most the smallest that may grow, and every bias
    in between is optimal. Before that they cross; the interval then has the same ends in ascending order.
    A threshold that no index sets is infinite. A multiplier that is at its bound but for rounding counts as there.
    """
    up, low = problem.thresholds(z, gradient, AT_BOUND * float(np.abs(z).max(initial=0.0)))
    ends = sorted((-float(up[0]), -float(low[0])))
    return ends[0], ends[1]


def midpoint(interval: tuple[float, float]) -> float:
    """The middle of an interval; its finite end when one is infinite."""
    low, high = interval
    if math.isinf(low) or math.isinf(high):
        return next((end for end in interval if math.isfinite(end)), 0.0)
    return 0.5 * (low + high)


def group_multipliers(problem: DualProblem, z: Array, gradient: Array) -> Array:
    """The multiplier nu of each group (n_groups,): the middle of its two thresholds."""
    up, low = problem.thresholds(z, gradient, AT_BOUND * float(np.abs(z).max(initial=0.0)))
    return np.array([midpoint((float(a), float(b))) for a, b in zip(low, up, strict=True)])


def expand(problem: DualProblem, z: Array, gradient: Array, n_samples: int) -> Expansion:
    """Read the decision function of a one-group machine from its multipliers."""
    return read(problem, z, n_samples, bias_interval(problem, z, gradient))


def read(problem: DualProblem, z: Array, n_samples: int, interval: tuple[float, float]) -> Expansion:
    """The decision function with coefficients z and a bias from this interval."""
    coef = np.bincount(problem.sample, z, minlength=n_samples)
    inside = np.zeros(n_samples, dtype=bool)
    inside[problem.sample[(z > problem.lo) & (z < problem.hi)]] = True
    support = coef != 0
    return Expansion(coef, midpoint(interval), interval, support & inside, support & ~inside)
