"""Many pairs in one go are the pairs that the general path makes, bit for bit."""

import numpy as np
import pytest

from svmviz.gram import KernelRows
from svmviz.hessian import Hessian
from svmviz.kernels import GaussianKernel, make_kernel
from svmviz.machines import svc, svr
from svmviz.problem import DualProblem
from svmviz.smo import Options, minimize
from svmviz.smo.iterate import Iterate
from svmviz.smo.pairs import can_move_many, move_pairs
from svmviz.smo.selection import SecondOrder

TOL = 1e-9
PAIRS = 200


def flat_problem(rng):
    """A problem that `can_move_many`, often with samples there several times over; its samples and kernel."""
    n, d = int(rng.integers(2, 90)), int(rng.choice([1, 2, 20]))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.5:
        X = X[rng.integers(0, max(1, n // 3), n)]
    if rng.random() < 0.3:
        X = np.round(X)
    C = float(10 ** rng.uniform(-3, 6))
    kernel = make_kernel(str(rng.choice(["rbf", "laplacian"])), X, gamma=float(10 ** rng.uniform(-3, 1)))
    if rng.random() < 0.5:
        signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        signs[:2] = 1.0, -1.0
        return svc.dual_problem(signs, C), kernel, X
    y = np.round(X[:, 0] + rng.normal(size=n), 1)
    return svr.dual_problem(y, C, float(rng.choice([0.0, 0.1]))), kernel, X


def alike(first, second):
    return (
        np.array_equal(first.z, second.z)
        and np.array_equal(first.gradients, second.gradients)
        and first.violation == second.violation
        and first.moved == second.moved
    )


@pytest.mark.parametrize("cache_size", [0.0, 200.0])
def test_the_pairs_of_both_paths_are_the_same_to_the_last_bit(cache_size):
    rng = np.random.default_rng(0)
    rule = SecondOrder()
    for _ in range(120):
        problem, kernel, X = flat_problem(rng)
        many, single = (
            Iterate(problem, Hessian(problem, KernelRows(kernel, X, size)), problem.start())
            for size in (cache_size, 200.0)
        )
        assert can_move_many(many)
        if cache_size == 0.0 and X.shape[1] == 20:
            continue  # a row computed twice may differ by rounding
        moved = 0
        while single.violation > TOL and single.moved and moved < PAIRS:
            count = int(rng.integers(1, 30))
            done = move_pairs(many, count, TOL)
            assert 1 <= done <= count
            for _ in range(done):
                choice = rule.pick(single)
                single.move(choice.i, choice.j)
                single.scan()
            assert alike(many, single)
            assert many.hessian.used == single.hessian.used
            moved += done


@pytest.mark.parametrize("hi", [1.0, np.inf])
def test_a_fixed_multiplier_takes_the_general_path_and_the_optimum_is_that_without_it(hi):
    """Where lo equals hi both copies of a gradient are infinite: it cannot be put together from them."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(60, 2)), np.repeat([1.0, -1.0], 30)
    K = GaussianKernel(1.0)(X, X)
    lo, bounds = np.where(signs > 0, 0.0, -hi), np.where(signs > 0, hi, 0.0)
    lo[5] = bounds[5] = 0.0
    whole = DualProblem(linear=-signs, lo=lo, hi=bounds)
    kept = np.arange(60) != 5
    part = DualProblem(linear=-signs[kept], lo=lo[kept], hi=bounds[kept])
    assert not can_move_many(Iterate(whole, Hessian(whole, K), whole.start()))
    solutions = [
        minimize(problem, Hessian(problem, values, True), Options(tol=1e-6))
        for problem, values in ((whole, K), (part, K[np.ix_(kept, kept)]))
    ]
    first, second = (solution.certificate for solution in solutions)
    assert first.status == second.status == "optimal"
    assert np.isfinite(solutions[0].gradient).all()
    np.testing.assert_allclose(first.objective, second.objective, rtol=1e-6)
