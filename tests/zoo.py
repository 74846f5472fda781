"""Named and random problems for the solver's tests."""

from dataclasses import dataclass

import numpy as np

from svmviz.hessian import Hessian
from svmviz.kernels import make_kernel
from svmviz.machines import ad_svm, svc, svr
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


def random_samples(rng, n_classes):
    """Samples (n, d), codes (n,) with at least two a class, and the Gram matrix of some kernel."""
    n, d = int(rng.integers(3 * n_classes, 12 * n_classes)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    codes = np.concatenate(
        [np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n - 2 * n_classes)]
    )
    X += 0.7 * codes[:, None]
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 4)] = X[rng.integers(0, n, n // 4)]
    kernel = make_kernel(
        str(rng.choice(["linear", "poly", "rbf"])),
        X,
        gamma=float(10 ** rng.uniform(-1, 0.3)),
        degree=2,
        coef0=1,
    )
    return X, codes, kernel(X, X)


def random_mu(rng, prototype):
    """mu from the smallest that is feasible to 1, both ends often."""
    least = ad_svm.smallest_mu(prototype)
    return float(rng.choice([1.0, least, rng.uniform(least, 1)]))


def make_ad_svm(rng, codes):
    """AD-SVM, one prototype a class."""
    return ad_svm.dual_problem(codes, random_mu(rng, codes), ad_svm.class_links(int(codes.max()) + 1))


def make_weighted_ad_svm(rng, codes):
    """AD-SVM with a weight for each two classes."""
    n_classes = int(codes.max()) + 1
    weights = np.triu(rng.uniform(0, 3, (n_classes, n_classes)), 1)
    links = ad_svm.class_links(n_classes, weights + weights.T)
    return ad_svm.dual_problem(codes, random_mu(rng, codes), links)


def make_ad_svm_with_prototypes(rng, codes):
    """AD-SVM with two prototypes a class, links between classes only."""
    n_classes = int(codes.max()) + 1
    prototype = 2 * codes + np.arange(len(codes)) % 2
    prototype[: 2 * n_classes] = np.arange(2 * n_classes)  # every one has a sample
    links = np.kron(ad_svm.class_links(n_classes), np.ones((2, 2)))
    return ad_svm.dual_problem(prototype, random_mu(rng, prototype), links)


def make_ad_svm_of_unequal_clusters(rng, codes):
    """AD-SVM with one to three prototypes a class, of any sizes, and class weights of which some are 0."""
    n_classes = int(codes.max()) + 1
    counts = np.minimum(rng.integers(1, 4, n_classes), np.bincount(codes))
    owner = np.repeat(np.arange(n_classes), counts)
    first = np.cumsum(counts) - counts
    prototype = np.empty(len(codes), dtype=int)
    for r in range(n_classes):
        rows = np.flatnonzero(codes == r)
        each = np.concatenate([np.arange(counts[r]), rng.integers(0, counts[r], len(rows) - counts[r])])
        prototype[rows] = first[r] + rng.permutation(each)
    weights = np.triu(
        rng.uniform(0, 3, (n_classes, n_classes)) * (rng.random((n_classes, n_classes)) < 0.7), 1
    )
    weights[0, 1] += 0.1
    links = ad_svm.class_links(n_classes, weights + weights.T)[np.ix_(owner, owner)]
    return ad_svm.dual_problem(prototype, random_mu(rng, prototype), links)
