"""An independent solver (Clarabel, an interior point method) for the one quadratic program."""

from collections.abc import Callable
from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from svmviz.hessian import Hessian
from svmviz.problem import DualProblem


@dataclass(frozen=True)
class Optimum:
    """Bounds on the optimum from the oracle's own primal and dual values."""

    value: float
    lower: float
    solved: bool


def dense(hessian: Hessian) -> np.ndarray:
    """The whole Hessian, entry by entry from the formula."""
    problem, K = hessian.problem, hessian.K
    coupling = problem.coupling[problem.label[:, None], problem.label]
    return coupling * K[problem.sample[:, None], problem.sample] + np.diag(problem.diagonal)


@dataclass(frozen=True)
class Program:
    """The quadratic program in variables scaled to the box (or the minimum of one), with an objective scaled to one.

    min 1/2 x'Px + q'x over Ax <= b, the first `n_sums` rows with equality. z is unit times x, the objective of z
    scale times that of x.
    """

    P: np.ndarray
    q: np.ndarray
    A: sparse.csc_matrix
    b: np.ndarray
    n_sums: int
    unit: float
    scale: float


def scaled_program(problem: DualProblem, H: np.ndarray) -> Program:
    """The program of a problem with the Hessian H (n, n)."""
    n = problem.n
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
    return Program((H + H.T) / 2 / scale, p / scale, A, b, problem.n_groups, unit, scale)


def clarabel_run(program: Program, tol: float) -> Callable[[], clarabel.DefaultSolution]:
    """What solves the program with Clarabel, to gaps and residuals of tol."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.max_iter = 300
    cones = [clarabel.ZeroConeT(program.n_sums), clarabel.NonnegativeConeT(len(program.b) - program.n_sums)]
    P = sparse.triu(sparse.csc_matrix(program.P)).tocsc()
    return lambda: clarabel.DefaultSolver(P, program.q, program.A, program.b, cones, settings).solve()


def optimum(problem: DualProblem, hessian: Hessian, smallest: float = 1e-6) -> Optimum:
    """Minimise with Clarabel.

    It counts as solved when its bounds agree to 1e-8, relative to the value or to `smallest`.
    """
    program = scaled_program(problem, dense(hessian))
    found = clarabel_run(program, 1e-13)()
    values = sorted((found.obj_val * program.scale, found.obj_val_dual * program.scale))
    tight = values[1] - values[0] <= 1e-8 * max(abs(values[0]), smallest)
    return Optimum(value=values[1], lower=values[0], solved=bool(np.isfinite(values).all() and tight))


def least_value(problem: DualProblem, hessian: Hessian, z: np.ndarray) -> tuple[float, float]:
    """A lower bound on the optimum that a feasible z proves: the least of its tangent over the box and the sums.

    The objective is convex and nowhere below the tangent. Of each group the multipliers with the smallest gradient
    are filled up first. Returned with its own rounding; -inf where the box has no bound.
    """
    if not problem.is_bounded:
        return -np.inf, 0.0
    gradient, least = hessian.gradient(z), problem.lo.copy()
    for group in range(problem.n_groups):
        mine = np.flatnonzero(problem.group == group)
        order = mine[np.argsort(gradient[mine], kind="stable")]
        room = np.cumsum(problem.hi[order] - problem.lo[order])
        filled = np.clip(problem.sums[group] - problem.lo[mine].sum(), 0.0, room)
        least[order] += np.diff(filled, prepend=0.0)
    way = least - z
    return problem.objective(z, gradient) + float(gradient @ way), rounding(problem, hessian, z, way)


def rounding(problem: DualProblem, hessian: Hessian, z: np.ndarray, way: np.ndarray) -> float:
    """What the product of a way with the gradient at z is known to: n times the rounding of its terms (Higham)."""
    terms = (np.abs(dense(hessian)) @ np.abs(z) + np.abs(problem.linear)) @ np.abs(way)
    return float(len(z) * np.finfo(float).eps * terms)
