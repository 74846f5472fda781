"""Where no multiplier is free the bias is an interval: its middle is told by a fit, a walk, a path and its record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmviz import SVC, SVR, InvalidProblemError, MuSVC, NuSVR, OneClassSVM, path, record_path
from svmviz.machines.expansion import expand
from svmviz.walk import Rates
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose

MACHINES = {
    "C-SVC": lambda C, nu: SVC(C=C),
    "SVR": lambda C, nu: SVR(C=C, epsilon=nu),
    "nu-SVR": lambda C, nu: NuSVR(C=C, nu=nu),
    "one-class": lambda C, nu: OneClassSVM(nu=nu),
    "mu-SVM": lambda C, nu: MuSVC(mu=nu),
}


def drawn(seed, name):
    """A machine with its data, of which about every second one has no free multiplier."""
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(4, 12))
    X = rng.normal(size=(n, int(rng.integers(1, 4)))).round(int(rng.choice([1, 2, 8])))
    signs = np.repeat([-1.0, 1.0], n // 2)
    targets = (np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)).round(1)
    C, nu = float(10 ** rng.uniform(-3, 1)), float(rng.choice([0.25, 0.5, 1.0]))
    nu = max(nu, 2 / n) if name == "mu-SVM" else nu
    kernel = {"kernel": str(rng.choice(["linear", "rbf"])), "gamma": 1.0, "tol": 1e-10}
    machine = MACHINES[name](C, nu)
    estimator = type(machine)(**(machine.get_params() | kernel))
    return estimator, X, targets if name.endswith("SVR") else signs, rng


def middle(posed, z):
    """The bias from the definition: of the middle of what the gradients at the bounds leave to each multiplier."""
    problem, gradient, levels = posed.problem, posed.hessian.gradient(z), []
    near = 1e-9 * np.abs(z).max()
    for g in range(problem.n_groups):
        mine = problem.group == g
        low = gradient[mine & (z > problem.lo + near)].max(initial=-np.inf)
        up = gradient[mine & (z < problem.hi - near)].min(initial=np.inf)
        ends = [end for end in (low, up) if np.isfinite(end)]
        levels.append(np.mean(ends))
    return posed.bias(np.array(levels))


def is_told(bias, expected):
    return bias == pytest.approx(expected, abs=1e-7 * max(1.0, abs(expected)))


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_fit_a_walker_and_a_path_tell_the_middle(name, seed):
    estimator, X, y, _ = drawn(seed, name)
    posed = pose(estimator, X, y)
    try:
        walker = exact(posed)
    except InvalidProblemError:
        return
    if not posed.problem.linear.any() and posed.problem.objective(walker.z, walker.gradient) < 1e-6:
        return  # the hulls nearly meet, and a fit has few digits of what decides
    expected = middle(posed, walker.z)
    assert is_told(posed.bias(walker.levels()), expected)
    assert is_told(estimator.fit(X, y).intercept_[0], expected)
    for ends in (
        ((0.2, 1.0), (1.0, 5.0), (5.0, 0.2)) if hasattr(estimator, "C") and name != "one-class" else ()
    ):
        found = path(estimator, X, y, "C", *(estimator.C * np.array(ends)))
        assert is_told(found.bias_at(estimator.C), expected)


@pytest.mark.parametrize("name", ["C-SVC", "SVR", "nu-SVR"])
def test_a_walk_ends_with_the_middle(name):
    """Wherever it came from: the nu that it carries along may be any number of the interval."""
    intervals = 0
    for seed in range(40):
        estimator, X, y, rng = drawn(seed, name)
        posed = pose(estimator, X, y)
        walker = exact(posed)
        change = rng.normal(size=posed.problem.n)
        for way in (change, -change):
            assert walker.follow(Rates(linear=way), 0.1).status == "arrived"
        expected = middle(posed, walker.z)
        intervals += not walker.fixed_groups().all()
        assert is_told(posed.bias(walker.levels()), expected), seed
        function = expand(posed.problem, walker.z, walker.gradient, len(X))
        assert name == "nu-SVR" or is_told(function.bias, expected), seed
    assert intervals > 3


def test_the_record_of_a_path_tells_the_middle():
    told = 0
    for seed in range(10):
        estimator, X, y, _ = drawn(seed, "C-SVC")
        trace = record_path(estimator, X, y, "C", 1e-3, 1.0)
        posed = pose(estimator, X, y)
        for position in range(len(trace.steps) + 1):
            problem, z = trace.problem_at(position), trace.multipliers(position)
            step = trace.steps[position - 1] if position else trace.walk
            assert is_told(step.bias, middle(posed.of(problem), z)), (seed, position)
            told += abs(step.bias + step.nu[0]) > 1e-6
    assert told > 3
