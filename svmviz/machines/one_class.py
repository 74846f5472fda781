"""One-class SVM: the region that holds all but a share nu of the samples.

No linear term, box 0..c_i, one group, sum nu c with c the sum of all c_i; decision value f(x) - rho
(Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution, 2001).
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.problem import DualProblem

Array = np.ndarray


def dual_problem(n: int, nu: float, weights: Array | None = None) -> DualProblem:
    """The dual for n samples.

    Parameters
    ----------
    n : int
    nu : float
        Above 0 and at most 1.
    weights : ndarray (n,), optional
        The largest multiplier of each sample; default 1.

    Raises
    ------
    InvalidProblemError
        When nu is out of its range.
    """
    if not (isinstance(nu, Real) and 0 < nu <= 1):
        raise InvalidProblemError(f"nu must be above 0 and at most 1, not {nu!r}.")
    weights = np.ones(n) if weights is None else weights
    return DualProblem(
        linear=np.zeros(n), lo=np.zeros(n), hi=weights, sums=np.array([nu * float(weights.sum())])
    )
