"""epsilon-SVR: min 1/2 |w|^2 + sum C_i L(|y_i - f(x_i)| - epsilon), with L(s) = max(0, s) or its square.

Dual index (sample, side): z = alpha on the upper side (first n), -alpha* on the lower (last n);
p = epsilon - y and -epsilon - y, box 0..C_i and -C_i..0, one group, sum 0 (Smola, Schoelkopf: A tutorial on support
vector regression, 2004). With the squared loss each side has the slack alpha / (2 C_i) of its own, so 1 / (2 C_i)
goes on the diagonal of each and the upper bound away. That is exact: lowering alpha and alpha* of a sample together
lowers the objective, so at the optimum one of them is 0, and the other carries the whole slack.
"""

from __future__ import annotations

import numpy as np

from svmviz.checks import check_choice, check_number, check_targets
from svmviz.machines.svc import box, upper_bounds
from svmviz.problem import DualProblem

Array = np.ndarray


LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


def dual_problem(
    targets: Array, C: float | Array, epsilon: float, loss: str = "epsilon_insensitive"
) -> DualProblem:
    """The dual of a regression problem.

    Parameters
    ----------
    targets : ndarray (n,)
    C : float or ndarray (n,)
        Weight of the loss, of all samples or of each: the largest multiplier where it is not squared.
    epsilon : float
        Half-width of the tube, in units of the target; at least 0.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive", default "epsilon_insensitive"

    Raises
    ------
    InvalidProblemError
        When C is not positive, epsilon is negative or the loss is unknown.
    """
    check_choice("loss", loss, LOSSES)
    epsilon = check_number("epsilon", epsilon)
    targets = check_targets(targets, targets)
    n = len(targets)
    bounds, diagonal = box(upper_bounds(C, n), loss != "epsilon_insensitive")
    zeros = np.zeros(n)
    return DualProblem(
        linear=linear_term(targets, epsilon),
        lo=np.concatenate([zeros, -bounds]),
        hi=np.concatenate([bounds, zeros]),
        sample=np.tile(np.arange(n), 2),
        diagonal=np.tile(diagonal, 2),
    )


def linear_term(targets: Array, epsilon: float) -> Array:
    """p, shape (2n,): all that epsilon moves."""
    return np.concatenate([epsilon - targets, -epsilon - targets])
