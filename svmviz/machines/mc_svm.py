"""MC-SVM of Crammer and Singer: one weight vector a class, one slack a sample.

Dual index (sample, class), z = delta - eta: box 0..1 where the class is the sample's own, else -1..0; p = -delta;
one group a SAMPLE, sum 0; H = k / beta within a class and 0 between classes (Crammer, Singer: On the algorithmic
implementation of multiclass kernel-based vector machines, 2001; equation 2.2.4 of the thesis lacks 1 / beta and has
the sign of the linear term turned).
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.problem import DualProblem

Array = np.ndarray


def dual_problem(codes: Array, n_classes: int, beta: float, weights: Array | None = None) -> DualProblem:
    """The dual; its indices are sample 0 with all classes, then sample 1, and so on.

    Parameters
    ----------
    codes : ndarray (n,) of int
        Class of each sample, 0 to n_classes - 1.
    n_classes : int
    beta : float
        Weight of the regulariser, above 0; 1 / C.
    weights : ndarray (n,), optional
        Weight of each sample's slack; default 1.

    Raises
    ------
    InvalidProblemError
        When beta is not a positive number.
    """
    if not (isinstance(beta, Real) and np.isfinite(beta) and beta > 0):
        raise InvalidProblemError(f"beta must be a positive finite number, not {beta!r}.")
    n = len(codes)
    own = (codes[:, None] == np.arange(n_classes)).astype(float).ravel()
    bounds = np.repeat(np.ones(n) if weights is None else weights, n_classes)
    samples = np.repeat(np.arange(n), n_classes)
    return DualProblem(
        linear=-own,
        lo=(own - 1) * bounds,
        hi=own * bounds,
        sample=samples,
        label=np.tile(np.arange(n_classes), n),
        coupling=np.eye(n_classes) / beta,
        group=samples,
    )


def read(problem: DualProblem, z: Array, n_samples: int) -> Array:
    """Coefficients (n_classes, n_samples): f_r(x) = sum of coef_ri k(x_i, x), the largest wins."""
    beta = 1.0 / problem.coupling[0, 0]
    return z.reshape(n_samples, -1).T / beta
