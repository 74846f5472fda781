"""C-SVC: min 1/2 |w|^2 + sum C_i L(1 - y_i f(x_i)), with the hinge loss L(s) = max(0, s) or its square.

In signed multipliers z = y alpha: p = -y, box 0..C_i where y = 1 and -C_i..0 where y = -1, one group, sum 0
(Cortes, Vapnik: Support-vector networks, 1995). With the squared loss the slack is alpha_i / (2 C_i), which puts
1 / (2 C_i) on the diagonal in the place of the upper bound.
"""

from __future__ import annotations

import numpy as np

from svmviz.checks import check_choice
from svmviz.errors import InvalidProblemError
from svmviz.problem import LARGEST, DualProblem

Array = np.ndarray

# 1 / (2 C) goes on the diagonal and must not overflow.
SMALLEST_SQUARED = 1 / LARGEST


LOSSES = ("hinge", "squared_hinge")


def dual_problem(signs: Array, C: float | Array, loss: str = "hinge") -> DualProblem:
    """The dual of a two-class problem.

    Parameters
    ----------
    signs : ndarray (n,)
        +1 or -1 for each sample.
    C : float or ndarray (n,)
        Weight of the loss, of all samples or of each: the largest multiplier where it is not squared.
    loss : "hinge" or "squared_hinge", default "hinge"

    Raises
    ------
    InvalidProblemError
        When C is not positive, the loss is unknown or one class has no sample.
    """
    signs = np.asarray(signs, dtype=float)
    check_choice("loss", loss, LOSSES)
    bounds, diagonal = box(upper_bounds(C, len(signs)), loss != "hinge")
    if not ((signs > 0).any() and (signs < 0).any()):
        raise InvalidProblemError("There is only one class: add samples of a second class.")
    return DualProblem(
        linear=-signs,
        lo=np.where(signs > 0, 0.0, -bounds),
        hi=np.where(signs > 0, bounds, 0.0),
        diagonal=diagonal,
    )


def box(bounds: Array, squared: bool) -> tuple[Array, Array]:
    """Largest multipliers (n,) and the diagonal (n,) that a loss asks for, from the weight C_i of each sample.

    Where the loss is squared nothing bounds a multiplier; a sample of weight 0 stays out.
    """
    if not squared:
        return bounds, np.zeros(len(bounds))
    used = bounds > 0
    if (bounds[used] < SMALLEST_SQUARED).any():
        raise InvalidProblemError(
            f"With a squared loss C must be at least {SMALLEST_SQUARED:g}, also times the weights."
        )
    return np.where(used, np.inf, 0.0), np.where(used, 0.5 / np.where(used, bounds, 1.0), 0.0)


def upper_bounds(C: float | Array, n: int) -> Array:
    """The largest multiplier of each sample, (n,), from one C or one for each."""
    try:
        bounds = np.broadcast_to(np.asarray(C, dtype=float), (n,))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblemError(
            f"C must be a positive number, or one for each of the {n} samples."
        ) from error
    if not ((bounds >= 0) & (bounds <= LARGEST)).all() or (n > 0 and not bounds.any()):
        given = f", not {C!r}" if np.ndim(C) == 0 else ", also times the weights"
        raise InvalidProblemError(f"C must be a positive number of at most {LARGEST:g}{given}.")
    return bounds
