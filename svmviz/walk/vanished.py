"""Where reduced hulls meet: the optimum is 0 but for rounding, and so is every gradient in the middle of the box.

The Gram matrix of a smooth kernel is singular to rounding. Its minimisers are many then, and those at the edges of
the box, which a minimisation finds, differ from place to place. One in the middle of the box stays optimal for as
long as it is feasible, and what lies on the straight line between two of them is optimal as well.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf

from svmviz.hessian import Hessian
from svmviz.problem import EPS, DualProblem

Array = np.ndarray

# Pivots of H below this share of the largest count as 0: what they leave out is less than a condition may be off by.
LEAST_PIVOT = 1e-13
# The share of the way to the nearest bound that a step goes; how many there are at most; and what a gradient may be
# at the end, relative to the terms that it is the sum of.
SHARE, MOST_STEPS, ENOUGH = 0.9, 40, 2e-13
# Indices: the factor takes their square in memory, and a step their number times the square of the rank.
MOST = 2000


def central(problem: DualProblem, hessian: Hessian) -> tuple[Array, Array] | None:
    """A feasible z strictly inside of the box where H z is 0 but for rounding, with its gradient; None where none is.

    With H = L L', L of few columns, that is L'z = 0. It is found from the point that is as far into the box of every
    group as its sum demands, by affine scaling: each step is the shortest to L'z = 0 in units of the room that every
    multiplier has to its nearest bound.

    Parameters
    ----------
    problem : DualProblem
        Without a linear term, in a bounded box.
    hessian : Hessian
        Of a positive semidefinite kernel.
    """
    n, lo, hi = problem.n, problem.lo, problem.hi
    if n > MOST or problem.linear.any() or not problem.is_bounded:
        return None
    factor = _factor(hessian, n)
    equations = np.vstack([factor.T, problem.group == np.arange(problem.n_groups)[:, None]])
    goal = np.concatenate([np.zeros(factor.shape[1]), problem.sums])
    share = (problem.sums - np.add.reduceat(lo, problem.starts)) / np.add.reduceat(hi - lo, problem.starts)
    z = lo + share[problem.group] * (hi - lo)
    for _ in range(MOST_STEPS):
        gradient = hessian.gradient(z)
        if np.abs(gradient).max() <= ENOUGH * hessian.diagonal.max() * np.abs(z).sum():
            z = problem.restore_sums(np.clip(z, lo, hi))
            return (z, hessian.gradient(z)) if problem.is_feasible(z) else None
        room = np.minimum(z - lo, hi - z)
        step = room * np.linalg.lstsq(equations * room, goal - equations @ z, rcond=EPS)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(step > 0, (hi - z) / step, np.where(step < 0, (lo - z) / step, np.inf))
        z = z + min(1.0, SHARE * float(most.min())) * step
    return None


def _factor(hessian: Hessian, n: int) -> Array:
    """L (n, rank) with H = L L' but for rounding: Cholesky with pivots."""
    H = np.array([hessian.row(j, slice(0, n)) for j in range(n)])
    lower, pivots, rank, _ = dpstrf(H, lower=1, tol=LEAST_PIVOT * float(H.diagonal().max()))
    factor = np.empty((n, rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    return factor
