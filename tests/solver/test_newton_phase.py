"""Newton phases by themselves: what takes part, and what they never do."""

import numpy as np
import pytest
from zoo import random_case

from svmviz import SVC
from svmviz.datasets import preset
from svmviz.hessian import Hessian
from svmviz.kernels import make_kernel
from svmviz.machines import svr
from svmviz.smo import Loop, Options, minimize
from svmviz.smo.iterate import Iterate
from svmviz.smo.newton import MOST_RELEASED, RELEASED_SHARE, newton_phase, worst_at_bounds

pytestmark = pytest.mark.filterwarnings("error")


def iterates_on_the_way(seed, count):
    """Iterates of random problems after some pairs, with something free and something violating."""
    rng = np.random.default_rng(seed)
    while count:
        case = random_case(rng)
        loop = Loop(
            case.problem, case.hessian, Options(tol=1e-9, newton=False, max_iter=int(rng.integers(5, 200)))
        )
        loop.run()
        if len(loop.iterate.free()) >= 4 and loop.iterate.violation > 1e-6:
            count -= 1
            yield loop.iterate


def beyond_the_free_ones(iterate, i):
    """By how much index i, at a bound, violates against the mean gradient of the free ones of its group."""
    peers = [k for k in iterate.free() if iterate.group[k] == iterate.group[i]]
    if not peers or i in peers:
        return 0.0
    ahead = iterate.gradient[i] - np.mean([iterate.gradient[k] for k in peers])
    may_grow, may_shrink = iterate.z[i] < iterate.hi[i], iterate.z[i] > iterate.lo[i]
    return max(0.0, -ahead if may_grow else 0.0, ahead if may_shrink else 0.0)


def test_those_at_the_bounds_that_violate_most_are_found():
    found = 0
    for iterate in iterates_on_the_way(0, 40):
        tol = 1e-3
        worst = worst_at_bounds(iterate, tol)
        most = min(int(RELEASED_SHARE * len(iterate.free())), MOST_RELEASED)
        amounts = np.array([beyond_the_free_ones(iterate, i) for i in range(iterate.n)])
        expected = np.sort(amounts[amounts > tol])[::-1][:most]
        np.testing.assert_allclose(np.sort(amounts[worst])[::-1], expected, rtol=1e-9)
        found += len(worst)
    assert found > 20


def test_a_phase_that_releases_some_lowers_the_objective_and_stays_feasible():
    moved = 0
    for iterate in iterates_on_the_way(1, 100):
        newton_phase(iterate)
        problem = iterate.problem
        released = worst_at_bounds(iterate, 1e-9)
        before, z = problem.objective(iterate.z, iterate.gradient), iterate.z.copy()
        newton_phase(iterate, released=released)
        after = problem.objective(iterate.z, iterate.gradient)
        size = np.abs(iterate.z) @ np.abs(iterate.gradient + problem.linear)
        assert after <= before + 1e-12 * size
        assert problem.is_feasible(iterate.z)
        np.testing.assert_allclose(
            iterate.gradient, iterate.hessian.gradient(iterate.z), rtol=1e-8, atol=1e-8 * max(1.0, size)
        )
        moved += bool((iterate.z[released] != z[released]).any())
    assert moved > 20


def test_a_run_within_its_tolerance_is_nearly_always_well_within():
    """Pairs stop at the tolerance; the phases at the end go on where little is in the way."""
    rng = np.random.default_rng(3)
    within = []
    for _ in range(20):
        X = np.vstack([rng.normal(-0.8, 1, (60, 2)), rng.normal(0.8, 1, (60, 2))])
        machine = SVC(C=float(10 ** rng.uniform(0, 3)), gamma=1.0, tol=1e-2).fit(X, np.repeat([0, 1], 60))
        assert machine.certificate_.status == "optimal"
        within.append(machine.certificate_.violation <= 1e-3)
    assert np.mean(within) > 0.8


def test_an_iterate_with_nothing_free_takes_in_nothing():
    case = random_case(np.random.default_rng(0))
    iterate = Iterate(case.problem, case.hessian, case.problem.start())
    for i in iterate.free():
        iterate.z[i] = iterate.lo[i] if np.isfinite(iterate.lo[i]) else iterate.hi[i]
    iterate._look()
    assert not len(worst_at_bounds(iterate, 0.0))


def test_a_sample_at_the_origin_of_a_homogeneous_kernel_takes_nothing_from_the_sums():
    """Its row of H is zero, and a direction along it is longer than any number that the others could be told from."""
    steps = preset("steps").points
    kernel = make_kernel("poly", steps[:, :1], gamma=0.1, degree=4, coef0=0.0)
    problem = svr.dual_problem(steps[:, 1], 100.0, 0.02)
    hessian = Hessian(problem, kernel(steps[:, :1], steps[:, :1]), True)
    solution = minimize(problem, hessian, Options(tol=1e-4))
    assert solution.certificate.status == "optimal"
    assert problem.is_feasible(solution.z)
