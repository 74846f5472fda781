"""C-SVC with the hinge loss: min 1/2 |w|^2 + sum C_i max(0, 1 - y_i f(x_i)).

In signed multipliers z = y alpha: p = -y, box 0..C_i where y = 1 and -C_i..0 where y = -1, one group, sum 0.
"""

from __future__ import annotations

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.problem import LARGEST, DualProblem

Array = np.ndarray


def dual_problem(signs: Array, C: float | Array) -> DualProblem:
    """The dual of a two-class problem.

    Parameters
    ----------
    signs : ndarray (n,)
        +1 or -1 for each sample.
    C : float or ndarray (n,)
        Largest multiplier, of all samples or of each.

    Raises
    ------
    InvalidProblemError
        When C is not positive or one class has no sample.
    """
    signs = np.asarray(signs, dtype=float)
    bounds = upper_bounds(C, len(signs))
    if not ((signs > 0).any() and (signs < 0).any()):
        raise InvalidProblemError("There is only one class: add samples of a second class.")
    return DualProblem(
        linear=-signs, lo=np.where(signs > 0, 0.0, -bounds), hi=np.where(signs > 0, bounds, 0.0)
    )


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
