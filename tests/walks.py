"""Random problems of every machine, ways to move them, and how far from optimal a point is."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from svmviz.hessian import Hessian
from svmviz.kernels import Kernel, make_kernel
from svmviz.machines import ad_svm, mc_svm, nu_svc, nu_svr, one_class, svc, svr
from svmviz.problem import DualProblem
from svmviz.smo import (
    SMOClassifier,
    SMOMultiClass,
    SMONuClassifier,
    SMONuRegression,
    SMOOneClass,
    SMOReducedHulls,
    SMORegression,
)
from svmviz.walk import Rates

MACHINES = ("svc", "squared", "svr", "nu-svc", "nu-svr", "one-class", "mu-svm", "ad-svm", "mc-svm")
SEVERAL = ("mu-svm", "ad-svm", "mc-svm")


@dataclass(frozen=True)
class Case:
    """A problem with its Hessian and a name that says how it was made."""

    name: str
    problem: DualProblem
    hessian: Hessian


@dataclass(frozen=True)
class Draw:
    """Data and parameters of a random problem, as a machine takes them.

    Attributes
    ----------
    name : str
        Says how it was made.
    kernel : Kernel
    X : ndarray (n, d)
    y : ndarray (n,)
        Signs, targets or codes of the classes.
    parameters : dict
        Of the machine: C, epsilon, nu, mu or beta.
    """

    name: str
    kernel: Kernel
    X: np.ndarray
    y: np.ndarray
    parameters: dict[str, float]


def draw(rng, machine, degenerate):
    """C from 1e-2 to 1e4, three kernels; duplicates, rounded features and rounded targets where degenerate."""
    n, d = int(rng.integers(8, 40)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    if degenerate:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
        X = np.round(X) if rng.random() < 0.3 else X
    name = str(rng.choice(["linear", "poly", "rbf"]))
    kernel = make_kernel(name, X, gamma=float(10 ** rng.uniform(-1, 0.5)), degree=2, coef0=1.0)
    C = float(10 ** rng.uniform(-2, 4))
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    signs[:2] = 1, -1
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
    y = np.round(y, 1) if degenerate else y
    n_classes = 2 if machine == "mu-svm" else int(rng.integers(3, 5))
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    parameters = {
        "svc": lambda: {"C": C},
        "squared": lambda: {"C": C},
        "svr": lambda: {"C": C, "epsilon": float(rng.choice([0.0, 0.01, 0.1, 0.5]))},
        "nu-svc": lambda: {"nu": 0.7 * nu_svc.largest_nu(signs, np.ones(n))},
        "nu-svr": lambda: {"C": C, "nu": float(rng.uniform(0.1, 0.9))},
        "one-class": lambda: {"nu": float(rng.uniform(0.1, 0.9))},
        "mu-svm": lambda: {"mu": float(rng.uniform(ad_svm.smallest_mu(codes), 1))},
        "ad-svm": lambda: {"mu": float(rng.uniform(ad_svm.smallest_mu(codes), 1))},
        "mc-svm": lambda: {"beta": 1 / min(C, 1e3)},
    }[machine]()
    labels = y if machine in ("svr", "nu-svr") else codes if machine in SEVERAL else signs
    return Draw(f"{machine} {name} n={n} C={C:.3g}", kernel, X, labels, parameters)


def random_machine(rng, machine, degenerate):
    """A random problem of this machine, see `draw`."""
    drawn = draw(rng, machine, degenerate)
    y, n, parameters = drawn.y, len(drawn.X), drawn.parameters
    n_classes = int(y.max()) + 1
    makers = {
        "svc": lambda: svc.dual_problem(y, **parameters),
        "squared": lambda: svc.dual_problem(y, **parameters, loss="squared_hinge"),
        "svr": lambda: svr.dual_problem(y, **parameters),
        "nu-svc": lambda: nu_svc.dual_problem(y, **parameters),
        "nu-svr": lambda: nu_svr.dual_problem(y, **parameters),
        "one-class": lambda: one_class.dual_problem(n, **parameters),
        "mu-svm": lambda: ad_svm.dual_problem(y, **parameters, links=ad_svm.class_links(n_classes)),
        "ad-svm": lambda: ad_svm.dual_problem(y, **parameters, links=ad_svm.class_links(n_classes)),
        "mc-svm": lambda: mc_svm.dual_problem(y, n_classes, **parameters),
    }
    problem = makers[machine]()
    return Case(drawn.name, problem, Hessian(problem, drawn.kernel(drawn.X, drawn.X), True))


SOLVERS = {
    "svc": SMOClassifier,
    "squared": partial(SMOClassifier, loss="squared_hinge"),
    "svr": SMORegression,
    "nu-svc": SMONuClassifier,
    "nu-svr": SMONuRegression,
    "one-class": SMOOneClass,
    "mu-svm": SMOReducedHulls,
    "ad-svm": SMOReducedHulls,
    "mc-svm": SMOMultiClass,
}


def random_solver(rng, machine, degenerate):
    """The SMO object of a random problem, minimised, and a name that says how it was made; see `draw`."""
    drawn = draw(rng, machine, degenerate)
    labels = {} if machine == "one-class" else {"y": drawn.y}
    solver = SOLVERS[machine](X=drawn.X, **labels, kernel=drawn.kernel, **drawn.parameters)
    return solver.minimize(), drawn.name


def random_rates(rng, problem):
    """Rates and a length: the linear term goes anywhere, or the box and the sums grow or shrink together."""
    if rng.random() < 0.4 or not problem.is_bounded:
        return Rates(linear=rng.normal(size=problem.n)), float(rng.uniform(0.2, 1.0))
    if rng.random() < 0.5:
        return Rates(lo=problem.lo, hi=problem.hi, sums=problem.sums), float(rng.uniform(0.5, 9))
    return Rates(lo=-problem.lo, hi=-problem.hi, sums=-problem.sums), float(rng.uniform(0.1, 0.95))


def moved(problem, rates, length):
    """The problem after so much of its way."""
    parts = {name: getattr(rates, name) for name in ("linear", "lo", "hi", "sums")}
    changes = {k: getattr(problem, k) + length * rate for k, rate in parts.items() if rate is not None}
    return replace(problem, **changes)


def scale_of(hessian, z, gradient):
    """Size of the gradient: its largest entry, or where all cancel a share of the terms that it is the sum of."""
    terms = 1e-3 * np.abs(hessian.diagonal).max() * np.abs(z).sum()
    return max(float(np.abs(gradient).max() + np.abs(hessian.problem.linear).max() + terms), 1e-300)


def faults(problem, hessian, z):
    """Violation relative to the gradient and error of the sums relative to the multipliers, of z (n,)."""
    hessian = hessian.with_problem(problem)
    gradient = hessian.gradient(z)
    assert (z >= problem.lo).all()
    assert (z <= problem.hi).all()
    sums = np.abs(np.bincount(problem.group, z, problem.n_groups) - problem.sums).max()
    violation = problem.violation(z, gradient) / scale_of(hessian, z, gradient)
    return violation, sums / max(1.0, float(np.abs(z).max()))
