"""Many pairs in one go are the pairs that the general path makes, bit for bit."""

import numpy as np
import pytest

from svmviz.gram import KernelRows
from svmviz.hessian import Hessian
from svmviz.kernels import make_kernel
from svmviz.machines import svc, svr
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
