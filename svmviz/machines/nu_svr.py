"""nu-SVR: epsilon-SVR in which nu, the share of samples outside the tube, finds epsilon.

Dual index (sample, side) as in epsilon-SVR, but p = -y on both sides and one group a side, sums +C nu c / 2 and
-C nu c / 2 with c the sum of the weights (Schoelkopf and others, 2000; Chang, Lin: Training nu-SVR, 2002).
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.machines import svr
from svmviz.machines.expansion import Expansion, group_multipliers, read
from svmviz.problem import DualProblem

Array = np.ndarray


def dual_problem(targets: Array, C: float | Array, nu: float) -> DualProblem:
    """The dual of a regression problem.

    Parameters
    ----------
    targets : ndarray (n,)
    C : float or ndarray (n,)
        Largest multiplier, of all samples or of each.
    nu : float
        Above 0 and at most 1.

    Raises
    ------
    InvalidProblemError
        When C is not positive or nu is out of its range.
    """
    if not (isinstance(nu, Real) and 0 < nu <= 1):
        raise InvalidProblemError(f"nu must be above 0 and at most 1, not {nu!r}.")
    flat = svr.dual_problem(targets, C, 0.0)
    n = len(flat.linear) // 2
    half = nu * float(flat.hi[:n].sum()) / 2
    return replace(flat, group=np.repeat([0, 1], n), sums=np.array([half, -half]))


def epsilon(problem: DualProblem, z: Array, gradient: Array) -> float:
    """Half-width of the tube that nu has found, in units of the target."""
    upper, lower = group_multipliers(problem, z, gradient)
    return 0.5 * (lower - upper)


def expand(problem: DualProblem, z: Array, gradient: Array, n_samples: int) -> Expansion:
    """Read the regression function."""
    upper, lower = group_multipliers(problem, z, gradient)
    bias = -0.5 * (upper + lower)
    return read(problem, z, n_samples, (bias, bias))
