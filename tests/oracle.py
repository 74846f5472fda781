"""An independent solver (Clarabel, an interior point method) for the one quadratic program."""

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from svmviz.gram import Hessian
from svmviz.problem import DualProblem


@dataclass(frozen=True)
class Optimum:
    """Bounds on the optimum from the oracle's own primal and dual values."""

    value: float
    lower: float
    solved: bool


def dense(hessian: Hessian, n: int) -> np.ndarray:
    """The whole Hessian, column by column."""
    return np.array([hessian.column(i) for i in range(n)])


def optimum(problem: DualProblem, hessian: Hessian, smallest: float = 1e-6) -> Optimum:
    """Minimise with Clarabel, in variables scaled to the box (or the minimum of one) and an objective scaled to one.

    It counts as solved when its bounds agree to 1e-8, relative to the value or to `smallest`.
    """
    n = problem.n
    H = dense(hessian, n)
    width = problem.hi - problem.lo
    bounded = np.isfinite(width)
    unit = float(width.max()) if bounded.all() else np.abs(problem.linear).max() / np.diagonal(H).max()
    unit = max(unit, 1e-300)
    H = H * unit**2
    p = problem.linear * unit
    scale = max(np.abs(H).max(), np.abs(p).max(), 1e-300)
    sums = sparse.csc_matrix((np.ones(n), (problem.group, np.arange(n))), shape=(problem.n_groups, n))
    above, below = np.isfinite(problem.hi), np.isfinite(problem.lo)
    eye = sparse.eye(n, format="csr")
    A = sparse.vstack([sums, eye[above], -eye[below]]).tocsc()
    b = np.concatenate([problem.sums, problem.hi[above], -problem.lo[below]]) / unit
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    settings.max_iter = 300
    cones = [clarabel.ZeroConeT(problem.n_groups), clarabel.NonnegativeConeT(int(above.sum() + below.sum()))]
    P = sparse.triu(sparse.csc_matrix((H + H.T) / 2 / scale)).tocsc()
    found = clarabel.DefaultSolver(P, p / scale, A, b, cones, settings).solve()
    values = sorted((found.obj_val * scale, found.obj_val_dual * scale))
    tight = values[1] - values[0] <= 1e-8 * max(abs(values[0]), smallest)
    return Optimum(value=values[1], lower=values[0], solved=bool(np.isfinite(values).all() and tight))
