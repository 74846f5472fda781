"""Shrinking: the problem of the indices that can still be picked, the others held where they are.

Most multipliers are at a bound long before the end, with a gradient that keeps them there (Joachims: Making
large-scale SVM learning practical, 1998). What is left is a problem of the same kind. It is solved by itself, with
shorter rows of the Gram matrix, more of which fit in the cache; then the gradient of all is computed anew, once, and
those that were left out wrongly take part again.
"""

from __future__ import annotations

import numpy as np

from svmviz.hessian import Hessian
from svmviz.problem import DualProblem

Array = np.ndarray


def active_part(
    problem: DualProblem, hessian: Hessian, active: Array, z: Array, gradient: Array
) -> tuple[DualProblem, Hessian]:
    """The problem of the active indices, and its Hessian.

    Parameters
    ----------
    problem : DualProblem
        Of all indices.
    hessian : Hessian
        Of all indices, over rows that do not all fit in the cache: those that it keeps are given up.
    active : ndarray (a,) of int
        Ascending.
    z, gradient : ndarray (n,)
        Where the solver stands, and the gradient H z + p that it keeps there.

    Returns
    -------
    problem : DualProblem
        With a indices; the active multipliers of each group keep their sum.
    hessian : Hessian
        Over the samples of the active indices.
    """
    samples, sample = np.unique(problem.sample[active], return_inverse=True)
    group = np.unique(problem.group[active], return_inverse=True)[1]
    parts = {
        "lo": problem.lo[active],
        "hi": problem.hi[active],
        "sample": sample,
        "label": problem.label[active],
        "coupling": problem.coupling,
        "group": group,
        # Not what the others leave: their rounding may be more than all that these can sum to.
        "sums": np.bincount(group, weights=z[active]),
        "diagonal": problem.diagonal[active],
    }
    rows = hessian.kernel_rows.part(samples)
    # The linear term holds what the others contribute to the gradient.
    bare = Hessian(DualProblem(linear=np.zeros(len(active)), **parts), rows)
    part = DualProblem(linear=gradient[active] - bare.product(z[active]), **parts)
    of_part = bare.with_problem(part)
    of_part.used = bare.used
    return part, of_part
