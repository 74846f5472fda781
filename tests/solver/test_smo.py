"""The loop against an independent solver, on random, degenerate and nasty problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import optimum
from zoo import nasty_case, random_case, random_groups

from svmviz.errors import InvalidProblemError
from svmviz.hessian import Hessian
from svmviz.kernels import GaussianKernel, PolynomialKernel, SigmoidKernel
from svmviz.machines import svc, svr
from svmviz.smo import Loop, Options, minimize, selection
from svmviz.smo.selection import NAMES

RANDOM_PROBLEMS = 500
NASTY_PROBLEMS = 100


def sums_hold(problem, z):
    errors = np.abs(np.bincount(problem.group, z, problem.n_groups) - problem.sums)
    return bool((errors <= 1e-9 * max(1.0, np.abs(z).max())).all())


def check_against_oracle(case, solution, best, tol):
    problem, certificate = case.problem, solution.certificate
    assert certificate.status == "optimal", case.name
    assert certificate.violation <= tol, case.name
    assert (solution.z >= problem.lo).all(), case.name
    assert (solution.z <= problem.hi).all(), case.name
    assert sums_hold(problem, solution.z), case.name
    np.testing.assert_allclose(solution.gradient, case.hessian.gradient(solution.z), rtol=1e-10, atol=1e-10)
    if not best.solved:
        return
    size = max(abs(best.value), 1e-6)
    assert abs(certificate.objective - best.value) <= 1e-7 * size, case.name
    assert certificate.gap >= certificate.objective - best.value - 1e-8 * size, case.name


def test_random_problems_reach_the_optimum_with_every_rule():
    rng = np.random.default_rng(2026)
    solved = 0
    for _ in range(RANDOM_PROBLEMS):
        case = random_case(rng)
        best = optimum(case.problem, case.hessian)
        solved += best.solved
        for rule in NAMES:
            solution = minimize(case.problem, case.hessian, Options(tol=1e-8, selection=rule))
            check_against_oracle(case, solution, best, 1e-8)
    # The oracle itself gives up on some; most it must have solved, or this test would say little.
    assert solved >= 0.9 * RANDOM_PROBLEMS


@pytest.mark.parametrize("rule", NAMES)
def test_plain_pairs_reach_the_same_optimum_as_with_the_newton_phase(rule):
    rng = np.random.default_rng(7)
    for _ in range(10):
        case = random_case(rng)
        both = minimize(case.problem, case.hessian, Options(tol=1e-6, selection=rule))
        plain = minimize(
            case.problem, case.hessian, Options(tol=1e-4, selection=rule, newton=False, max_iter=10_000)
        )
        assert plain.certificate.objective >= both.certificate.lower_bound
        if plain.certificate.status == "optimal":
            assert plain.certificate.objective - both.certificate.objective <= plain.certificate.gap


def test_platts_rule_does_not_pass_in_vain_where_rounding_leaves_no_partner():
    """A cubic kernel with values of 1e12: nearly all violators have no partner that rounding lets move."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(60, 2)) * [100, 1], np.repeat([1.0, -1.0], 30)
    problem = svc.dual_problem(signs, 1e5)
    hessian = Hessian(problem, PolynomialKernel(3, 1.0)(X, X), True)
    loop = Loop(problem, hessian, Options(selection="platt", max_iter=3_000))
    rules = []
    original = selection.make_selection
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("svmviz.smo.loop.make_selection", lambda *a: rules.append(original(*a)) or rules[-1])
        solution = loop.run()
    assert solution.certificate.status in ("capped", "no progress")
    assert problem.is_feasible(solution.z)
    assert rules[0].in_vain > 1_000
    assert rules[0].in_vain <= selection.MOST_IN_VAIN * (rules[0].pairs + problem.n) + 1


def test_a_badly_scaled_linear_problem_is_not_capped():
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = rng.normal(size=(100, 4)) * 10 ** rng.uniform(-2, 2, 4)
        signs = np.where(rng.random(100) < 0.5, 1.0, -1.0)
        problem = svc.dual_problem(signs, float(10 ** rng.uniform(2, 4)))
        certificate = minimize(problem, Hessian(problem, X @ X.T, True), Options()).certificate
        assert certificate.status == "optimal"


def test_a_recorded_run_ends_where_a_run_does():
    rng = np.random.default_rng(8)
    for _ in range(20):
        case = random_case(rng)
        recorded = Loop(case.problem, case.hessian, Options(tol=1e-8), record_jumps=True)
        for _ in recorded:
            pass
        mine, plain = recorded.solution(), minimize(case.problem, case.hessian, Options(tol=1e-8))
        assert mine.certificate.status == plain.certificate.status == "optimal"
        size = max(1e-6, abs(plain.certificate.objective))
        assert abs(mine.certificate.objective - plain.certificate.objective) <= 1e-7 * size


def test_nasty_problems_end_and_say_how():
    rng = np.random.default_rng(13)
    limit = 2_000
    seen = set()
    for k in range(NASTY_PROBLEMS):
        case = nasty_case(rng)
        rule = NAMES[k % len(NAMES)]
        solution = minimize(case.problem, case.hessian, Options(selection=rule, max_iter=limit))
        certificate = solution.certificate
        seen.add(certificate.status)
        assert sums_hold(case.problem, solution.z), case.name
        assert case.problem.is_feasible(solution.z), case.name
        within = certificate.violation <= 1e-3
        assert within == (certificate.status in ("optimal", "stationary")), case.name
        assert certificate.iterations <= limit
        assert certificate.status != "capped" or certificate.iterations == limit
        if certificate.status == "stationary":
            assert certificate.gap == np.inf
    assert {"optimal", "stationary"} <= seen


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(NAMES))
def test_any_number_of_groups(seed, rule):
    case = random_groups(np.random.default_rng(seed))
    solution = minimize(case.problem, case.hessian, Options(tol=1e-8, selection=rule))
    check_against_oracle(case, solution, optimum(case.problem, case.hessian), 1e-8)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(NAMES))
def test_every_pair_lowers_the_objective_and_stays_feasible(seed, rule):
    case = random_groups(np.random.default_rng(seed))
    loop = Loop(case.problem, case.hessian, Options(tol=1e-6, selection=rule, newton=False, max_iter=200))
    before = case.problem.objective(loop.iterate.z, loop.iterate.gradient)
    for move in loop:
        after = case.problem.objective(loop.iterate.z, loop.iterate.gradient)
        assert after <= before + 1e-12 * max(1.0, abs(before))
        assert case.problem.is_feasible(loop.iterate.z)
        assert move.gradient_j > move.gradient_i
        np.testing.assert_allclose(
            loop.iterate.gradient, case.hessian.gradient(loop.iterate.z), rtol=1e-9, atol=1e-9
        )
        before = after


def test_multipliers_that_reach_a_bound_are_exactly_on_it():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    signs = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    problem = svc.dual_problem(signs, 0.1)
    solution = minimize(problem, Hessian(problem, GaussianKernel(1.0)(X, X), True), Options(tol=1e-8))
    alpha = np.abs(solution.z)
    assert (alpha == 0.1).sum() > 20
    between = (alpha > 0) & (alpha < 0.1)
    assert (np.minimum(alpha, 0.1 - alpha)[between] > 1e-12).all()


def test_a_start_at_the_optimum_does_not_iterate():
    rng = np.random.default_rng(4)
    case = random_case(rng)
    first = minimize(case.problem, case.hessian, Options(tol=1e-4))
    again = minimize(case.problem, case.hessian, Options(tol=1e-4), first.z, first.gradient)
    assert again.certificate.iterations == 0
    assert again.certificate.objective == pytest.approx(first.certificate.objective, rel=1e-12)


@pytest.mark.parametrize("newton", [True, False])
def test_a_start_outside_of_the_box_by_rounding_ends_inside(newton):
    rng = np.random.default_rng(14)
    for k in range(60):
        case = random_case(rng) if k % 2 else random_groups(rng)
        z = minimize(case.problem, case.hessian, Options()).z
        z = z * (1 + 3e-16 * rng.integers(-2, 3, len(z)))
        options = Options(tol=1e-8, newton=newton, max_iter=2000)
        solution = minimize(case.problem, case.hessian, options, z, case.hessian.gradient(z))
        assert (solution.z >= case.problem.lo).all(), case.name
        assert (solution.z <= case.problem.hi).all(), case.name
        assert sums_hold(case.problem, solution.z), case.name


def test_the_limit_is_kept_and_reported():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 2))
    signs = np.where(rng.random(100) < 0.5, 1.0, -1.0)
    problem = svc.dual_problem(signs, 10.0)
    hessian = Hessian(problem, GaussianKernel(1.0)(X, X), True)
    certificate = minimize(problem, hessian, Options(max_iter=7)).certificate
    assert (certificate.status, certificate.iterations) == ("capped", 7)
    assert minimize(problem, hessian, Options(max_iter=0)).certificate.iterations == 0


def test_a_tolerance_below_rounding_ends_with_no_progress():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 2)) * 100
    signs = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    problem = svc.dual_problem(signs, 1e4)
    hessian = Hessian(problem, X @ X.T, True)
    certificate = minimize(problem, hessian, Options(tol=1e-300)).certificate
    assert certificate.status == "no progress"
    assert certificate.iterations < 50_000


def test_a_kernel_that_is_not_positive_semidefinite_is_stationary():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 2))
    signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    problem = svc.dual_problem(signs, 5.0)
    K = SigmoidKernel(2.0, -1.0)(X, X)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    certificate = minimize(problem, Hessian(problem, K, None), Options()).certificate
    assert certificate.status == "stationary"
    assert certificate.gap == np.inf


def test_no_free_multiplier_at_all():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = svr.dual_problem(np.array([0.0, 1.0, 2.0, 3.0]), 1.0, 10.0)
    solution = minimize(problem, Hessian(problem, X @ X.T, True), Options())
    assert not solution.z.any()
    assert solution.certificate.iterations == 0


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"tol": -1.0}, {"tol": np.nan}, {"max_iter": -2}])
def test_options_out_of_range(options):
    with pytest.raises(InvalidProblemError):
        Options(**options)


def test_an_unknown_rule():
    problem = svc.dual_problem(np.array([1.0, -1.0]), 1.0)
    with pytest.raises(InvalidProblemError, match="selection"):
        minimize(problem, Hessian(problem, np.eye(2), True), Options(selection="best"))
