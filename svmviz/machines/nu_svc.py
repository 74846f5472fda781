"""nu-SVC: C-SVC with nu, the least share of support vectors, in the place of C.

In signed multipliers z = y alpha: no linear term, box 0..c_i where y = 1 and -c_i..0 where y = -1, one group a
class, sums +nu c / 2 and -nu c / 2 with c the sum of all c_i (Schoelkopf, Smola, Williamson, Bartlett: New support
vector algorithms, 2000; Chang, Lin: Training nu-SVC, 2001).
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.machines.expansion import Expansion, group_multipliers, read
from svmviz.problem import DualProblem, squared_noise

Array = np.ndarray


def largest_nu(signs: Array, weights: Array) -> float:
    """The largest feasible nu: twice the weight of the lighter class over the weight of all."""
    positive = float(weights[signs > 0].sum())
    return 2 * min(positive, float(weights.sum()) - positive) / float(weights.sum())


def dual_problem(signs: Array, nu: float, weights: Array | None = None) -> DualProblem:
    """The dual of a two-class problem; its indices are the samples of y = 1, then those of y = -1.

    Parameters
    ----------
    signs : ndarray (n,)
        +1 or -1 for each sample.
    nu : float
        Above 0 and at most `largest_nu`.
    weights : ndarray (n,), optional
        The largest multiplier of each sample; default 1.

    Raises
    ------
    InvalidProblemError
        When one class has no sample, or nu is out of its range, which the message names.
    """
    signs = np.asarray(signs, dtype=float)
    weights = np.ones(len(signs)) if weights is None else weights
    if not ((signs > 0).any() and (signs < 0).any()):
        raise InvalidProblemError("There is only one class: add samples of a second class.")
    most = largest_nu(signs, weights)
    if not (isinstance(nu, Real) and 0 < nu <= most * (1 + 1e-12)):
        raise InvalidProblemError(
            f"nu must be above 0 and at most {most:.6g} with these classes, not {nu!r}."
        )
    order = np.argsort(signs < 0, kind="stable")
    positive = signs[order] > 0
    half = min(nu, most) * float(weights.sum()) / 2
    return DualProblem(
        linear=np.zeros(len(signs)),
        lo=np.where(positive, 0.0, -weights[order]),
        hi=np.where(positive, weights[order], 0.0),
        sample=order,
        group=(~positive).astype(int),
        sums=np.array([half, -half]),
    )


def margin(problem: DualProblem, z: Array, gradient: Array) -> float:
    """rho, half the distance of the groups' multipliers: f0 + b is rho on the margin, before the division.

    Not above 0 when the reduced convex hulls meet: then no direction separates them.
    """
    upper, lower = group_multipliers(problem, z, gradient)
    return 0.5 * (upper - lower)


def without_noise(rho: float, z: Array, diagonal: Array) -> float:
    """rho, 0 where it is above 0 by rounding alone.

    Parameters
    ----------
    rho : float
        |w|^2 over the sum of all multipliers.
    z : ndarray (n,)
    diagonal : ndarray (n,)
        That of H.
    """
    return 0.0 if 0 < rho * float(np.abs(z).sum()) <= squared_noise(diagonal, z) else rho


def expand(
    problem: DualProblem, z: Array, gradient: Array, n_samples: int, diagonal: Array | None = None
) -> Expansion:
    """Read the decision function, divided by rho so that the margin is at 1, as scikit-learn does.

    Where rho is not above 0 nothing is divided. With the diagonal (n,) of H rounding does not pass for more than 0.
    """
    upper, lower = group_multipliers(problem, z, gradient)
    bias = -0.5 * (upper + lower)
    rho = margin(problem, z, gradient)
    rho = rho if diagonal is None else without_noise(rho, z, diagonal)
    scale = 1.0 / rho if rho > 0 else 1.0
    expansion = read(problem, z, n_samples, (bias, bias))
    bias *= scale
    return replace(expansion, coef=scale * expansion.coef, bias=bias, bias_interval=(bias, bias), rho=rho)
