"""epsilon-SVR: min 1/2 |w|^2 + sum C_i max(0, |y_i - f(x_i)| - epsilon).

Dual index (sample, side): z = alpha on the upper side (first n), -alpha* on the lower (last n);
p = epsilon - y and -epsilon - y, box 0..C_i and -C_i..0, one group, sum 0.
"""

from __future__ import annotations

import numpy as np

from svmviz.checks import check_number, check_targets
from svmviz.machines.svc import upper_bounds
from svmviz.problem import DualProblem

Array = np.ndarray


def dual_problem(targets: Array, C: float | Array, epsilon: float) -> DualProblem:
    """The dual of a regression problem.

    Parameters
    ----------
    targets : ndarray (n,)
    C : float or ndarray (n,)
        Largest multiplier, of all samples or of each.
    epsilon : float
        Half-width of the tube, in units of the target; at least 0.

    Raises
    ------
    InvalidProblemError
        When C is not positive or epsilon is negative.
    """
    epsilon = check_number("epsilon", epsilon)
    targets = check_targets(targets, targets)
    n = len(targets)
    bounds, zeros = upper_bounds(C, n), np.zeros(n)
    return DualProblem(
        linear=linear_term(targets, epsilon),
        lo=np.concatenate([zeros, -bounds]),
        hi=np.concatenate([bounds, zeros]),
        sample=np.tile(np.arange(n), 2),
    )


def linear_term(targets: Array, epsilon: float) -> Array:
    """p, shape (2n,): all that epsilon moves."""
    return np.concatenate([epsilon - targets, -epsilon - targets])
