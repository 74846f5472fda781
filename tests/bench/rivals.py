"""Those that the solver is measured beside: how they are called, and what they reach."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
from sklearn import svm

from svmviz.problem import EPS
from tests.bench.samples import Samples
from tests.oracle import Program, clarabel_run

Array = np.ndarray
# A value and the rounding that it may hold.
Value = tuple[float, float]

# To so many digits an objective of Clarabel counts, an interior point method.
QP_TOLERANCE = 1e-8
# quadprog asks for a strictly convex program: this is added to the diagonal, in units of the largest entry.
RIDGE = 1e-10


def installed(name: str) -> bool:
    """Whether a package is there; if not, a sentence says so."""
    if find_spec(name):
        return True
    print(f"{name} is not installed: left out.")
    return False


def libsvm_objective(
    model: svm.SVC | svm.SVR, some: Samples, kernel: Callable[[Array, Array], Array]
) -> Value:
    """The objective that LIBSVM has reached, all its two-class problems added, from its coefficients.

    In double precision: LIBSVM itself computes with kernel values in single precision, which shows where C is large.
    """
    vectors = model.support_vectors_
    if isinstance(model, svm.SVR):
        coef = model.dual_coef_[0]
        linear = model.epsilon * np.abs(coef) - some.y[model.support_] * coef
        return objective(kernel(vectors, vectors), coef, linear)
    ends = np.cumsum(model.n_support_)
    members = [slice(end - count, end) for end, count in zip(ends, model.n_support_, strict=True)]
    values = np.zeros(2)
    for a, b in combinations(range(len(members)), 2):
        # Of each two classes, row b - 1 holds the coefficients of a, and row a those of b.
        coef = np.concatenate([model.dual_coef_[b - 1, members[a]], model.dual_coef_[a, members[b]]])
        used = coef != 0
        X = np.vstack([vectors[members[a]], vectors[members[b]]])[used]
        values += objective(kernel(X, X), coef[used], -np.abs(coef[used]))
    return float(values[0]), float(values[1])


def objective(K: Array, coef: Array, linear: Array) -> Value:
    """1/2 coef'K coef + sum of the linear terms (n,)."""
    sizes = np.abs(coef) @ (np.abs(K) @ np.abs(coef)) + np.abs(linear).sum()
    return float(0.5 * coef @ (K @ coef) + linear.sum()), float(EPS * sizes)


def _clarabel(program: Program) -> Callable[[], Array]:
    run = clarabel_run(program, QP_TOLERANCE)
    return lambda: np.array(run().x)


def _quadprog(program: Program) -> Callable[[], Array]:
    import quadprog

    P = program.P + RIDGE * np.abs(program.P).max() * np.eye(len(program.q))
    A, b = -program.A.toarray().T, -program.b
    return lambda: quadprog.solve_qp(P, -program.q, A, b, program.n_sums)[0]


# By name: what makes a function that solves a program.
QP_SOLVERS = {"clarabel": _clarabel, "quadprog": _quadprog}


def optiml_run(some: Samples, K: Array, C: float, tol: float) -> Callable[[], Any]:
    """What trains optiml's SMOClassifier on two classes with the Gram matrix K."""
    from optiml.ml.svm.kernels import GaussianKernel
    from optiml.ml.svm.smo import SMOClassifier

    kernel = GaussianKernel(some.gamma)
    # It stops at a violation of twice its tol.
    return lambda: SMOClassifier(None, some.X, some.y, K, kernel, C, tol / 2).minimize()
