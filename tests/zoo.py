"""Named and random problems for the solver's tests."""

from dataclasses import dataclass

import numpy as np

from svmviz.gram import Hessian
from svmviz.kernels import make_kernel
from svmviz.machines import svc, svr
from svmviz.problem import DualProblem


@dataclass(frozen=True)
class Case:
    """A problem with its Hessian and a name that says how it was made."""

    name: str
    problem: DualProblem
    hessian: Hessian


def random_case(rng: np.random.Generator) -> Case:
    """C from 1e-3 to 1e3, epsilon from 0 to beyond the range of y, three kernels, duplicates, unbalanced classes."""
    n, d = int(rng.integers(4, 50)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
    name = str(rng.choice(["linear", "poly", "rbf"]))
    kernel = make_kernel(
        name, X, gamma=float(10 ** rng.uniform(-1, 0.5)), degree=int(rng.integers(2, 4)), coef0=1.0
    )
    C = float(10 ** rng.uniform(-3, 3))
    if rng.random() < 0.5:
        signs = np.where(rng.random(n) < rng.choice([0.5, 0.1, 0.03]), 1.0, -1.0)
        signs[:2] = 1.0, -1.0
        problem, what = svc.dual_problem(signs, C), "svc"
    else:
        y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
        epsilon = float(rng.choice([0.0, 0.01, 0.1, 0.5, 5.0]))
        problem, what = svr.dual_problem(y, C, epsilon), f"svr epsilon={epsilon}"
    return Case(f"{what} {name} n={n} C={C:.3g}", problem, Hessian(problem, kernel(X, X), True))


def nasty_case(rng: np.random.Generator) -> Case:
    """One feature times 1000, C up to 1e5, tanh kernels, near-duplicates."""
    n, d = int(rng.integers(10, 80)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    X[:, 0] *= 1000
    if rng.random() < 0.5:
        half = n // 2
        X[half : 2 * half] = X[:half] + 1e-9 * rng.normal(size=(half, d))
    name = str(rng.choice(["linear", "poly", "rbf", "sigmoid"]))
    coef0 = 1.0 if name == "poly" else float(rng.choice([0.0, 1.0, -1.0]))
    kernel = make_kernel(name, X, gamma=float(10 ** rng.uniform(-2, 1)), degree=3, coef0=coef0)
    C = float(10 ** rng.uniform(0, 5))
    if rng.random() < 0.5:
        signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        signs[:2] = 1.0, -1.0
        problem = svc.dual_problem(signs, C)
    else:
        y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
        problem = svr.dual_problem(y, C, float(rng.choice([0.0, 0.1])))
    hessian = Hessian(problem, kernel(X, X), kernel.positive_semidefinite)
    return Case(f"{name} n={n} C={C:.3g}", problem, hessian)


def random_groups(rng: np.random.Generator) -> Case:
    """Several groups, labels, a coupling matrix, sums that are not zero, an added diagonal."""
    n_groups, n_labels = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    sizes = rng.integers(1, 9, n_groups)
    n = int(sizes.sum())
    n_samples = int(rng.integers(2, n + 2))
    X = rng.normal(size=(n_samples, 2))
    B = rng.normal(size=(n_labels, n_labels))
    lo = np.where(rng.random(n) < 0.3, -1.0, 0.0)
    hi = lo + rng.uniform(0.2, 2.0, n)
    group = np.repeat(np.arange(n_groups), sizes)
    inside = lo + rng.random(n) * (hi - lo)
    problem = DualProblem(
        linear=rng.normal(size=n),
        lo=lo,
        hi=hi,
        sample=rng.integers(0, n_samples, n),
        label=rng.integers(0, n_labels, n),
        coupling=B @ B.T,
        group=group,
        sums=np.bincount(group, inside, n_groups),
        diagonal=rng.choice([0.0, 0.5]) * np.ones(n),
    )
    K = make_kernel("rbf", X, gamma=1.0)(X, X)
    return Case(f"{n_groups} groups, {n_labels} labels, n={n}", problem, Hessian(problem, K, True))
