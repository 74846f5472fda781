"""The walk on random problems of every machine: optimal at its end, at every breakpoint and in between."""

import inspect
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import MACHINES, faults, moved, random_machine, random_rates

from svmviz.hessian import Hessian
from svmviz.kernels import GaussianKernel
from svmviz.machines import ad_svm, one_class, svc
from svmviz.smo import Options, minimize
from svmviz.walk import Rates, Walker
from svmviz.walk.settled import followed, nearby, settled
from svmviz.walk.walker import most_settling

TOLERANCE = 1e-8


def walked(case, rates, length):
    """A walk with its record from the exact optimum of a problem, and the walker."""
    walker = settled(case.problem, case.hessian)
    assert walker is not None, case.name
    return walker.follow(rates, length, record=True), walker


@pytest.mark.parametrize("machine", MACHINES)
def test_a_walk_is_optimal_at_its_end_and_in_between(machine):
    rng = np.random.default_rng(MACHINES.index(machine))
    for k in range(15):
        case = random_machine(rng, machine, degenerate=False)
        rates, length = random_rates(rng, case.problem)
        walk, _ = walked(case, rates, length)
        assert walk.status == "arrived", (k, case.name)
        assert len(walk.events) == walk.n_events
        end = moved(case.problem, rates, length)
        found = np.clip(walk.z, end.lo, end.hi)
        assert max(faults(end, case.hessian, found)) < TOLERANCE, (k, case.name)
        assert faults(end, case.hessian, found)[1] < 1e-9, (k, case.name)
        for value in rng.uniform(0, length, 50):
            there = moved(case.problem, rates, value)
            assert max(faults(there, case.hessian, walk.at(value, (there.lo, there.hi)))) < TOLERANCE


@pytest.mark.parametrize("machine", MACHINES)
def test_after_any_of_300_walks_the_objective_is_that_of_an_independent_solver(machine):
    """34 problems of each of nine machines, every other one with duplicates and ties.

    From below the oracle's dual value, or the tangent where that is not tight, as where two hulls meet; of all these
    problems it is three of the squared hinge that neither of them bounds.
    """
    rng = np.random.default_rng(100 + MACHINES.index(machine))
    unbounded = 0
    for k in range(34):
        case = random_machine(rng, machine, degenerate=k % 2 == 1)
        rates, length = random_rates(rng, case.problem)
        walker = settled(case.problem, case.hessian)
        assert walker is not None, (k, case.name)
        walk = walker.copy().follow(rates, length)
        if walk.status != "arrived":  # only from where two hulls meet: a minimisation takes over
            assert not case.problem.linear.any(), (k, case.name)
            size = np.abs(case.hessian.diagonal).max() * np.abs(walker.z).sum() ** 2
            assert walker.z @ walker.gradient <= 1e-13 * size, (k, case.name)
            _, walk = followed(walker, rates, length)
        assert walk.status == "arrived", (k, case.name)
        end = moved(case.problem, rates, length)
        z = np.clip(walk.z, end.lo, end.hi)
        violation, sums = faults(end, case.hessian, z)
        assert violation < TOLERANCE, (k, case.name)
        assert sums < 1e-9, (k, case.name)
        hessian = case.hessian.with_problem(end)
        gradient = hessian.gradient(z)
        found, expected = end.objective(z, gradient), oracle.optimum(end, hessian)
        noise = TOLERANCE * abs(expected.value) + oracle.rounding(end, hessian, z, z)
        assert found <= expected.value + noise, (k, case.name)
        if expected.value - expected.lower <= noise:
            assert found >= expected.lower - noise, (k, case.name)
            continue
        lower, more = oracle.least_value(end, hessian, z)
        if not end.linear.any():
            lower = max(0.0, lower)  # a squared distance
        assert found <= lower + noise + more or not end.is_bounded, (k, case.name)
        unbounded += not end.is_bounded
    assert unbounded <= (3 if machine == "squared" else 0)


def test_duplicates_and_ties_break_less_than_one_walk_in_a_hundred():
    """Of `Walker.follow`, before a minimisation takes over; `followed` brings every walk to its end."""
    rng = np.random.default_rng(7)
    broken, count = [], 20 * len(MACHINES)
    for k in range(count):
        case = random_machine(rng, MACHINES[k % len(MACHINES)], degenerate=True)
        rates, length = random_rates(rng, case.problem)
        walker = settled(case.problem, case.hessian)
        assert walker is not None, (k, case.name)
        walk = walker.copy().follow(rates, length)
        if walk.status != "arrived":
            broken.append((k, case.name))
            _, walk = followed(walker, rates, length)
            assert walk.status == "arrived", (k, case.name)
        end = moved(case.problem, rates, length)
        assert max(faults(end, case.hessian, np.clip(walk.z, end.lo, end.hi))) < TOLERANCE, (k, case.name)
    assert len(broken) < 0.01 * count, broken


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    machine=st.sampled_from(MACHINES),
    degenerate=st.booleans(),
)
def test_there_and_back_again(seed, machine, degenerate):
    rng = np.random.default_rng(seed)
    case = random_machine(rng, machine, degenerate)
    walker = settled(case.problem, case.hessian)
    assert walker is not None
    linear = rng.normal(size=case.problem.n)
    for rates in (Rates(linear=linear), Rates(linear=-linear)):
        walker, walk = followed(walker, rates, 0.5)
        assert walk.status == "arrived"
    assert max(faults(case.problem, case.hessian, walk.z)) < TOLERANCE


def clouds(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    signs = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, signs


def test_events_say_what_changes_and_the_objective_falls_as_the_box_grows():
    X, signs = clouds()
    problem = svc.dual_problem(signs, 0.1)
    walker = settled(problem, Hessian(problem, GaussianKernel(1.0)(X, X), True))
    rates = Rates(lo=np.where(signs > 0, 0.0, -1.0), hi=np.where(signs > 0, 1.0, 0.0))
    walk = walker.follow(rates, 99.9, start=0.1, record=True)
    assert walk.status == "arrived"
    assert walk.events[-1].kind == "arrived"
    assert len(walk.events) == walk.n_events
    values = np.array([event.value for event in walk.events])
    assert (np.diff(values) >= 0).all()
    assert (np.diff([event.objective for event in walk.events]) <= 1e-9).all()
    for event in walk.events:
        assert event.n_margin + event.n_lower + event.n_upper == len(signs)
        assert event.sample == event.dual_index
    for before, after in zip(walk.segments, walk.segments[1:], strict=False):
        assert before.stop == pytest.approx(after.start)
    np.testing.assert_allclose(walk.at(100.0), walk.z, atol=1e-9)
    with pytest.raises(ValueError, match="is not on it"):
        walk.at(101.0)


def test_a_start_that_is_only_nearly_optimal_is_made_exact():
    X, signs = clouds()
    problem = svc.dual_problem(signs, 10.0)
    hessian = Hessian(problem, GaussianKernel(1.0)(X, X), True)
    start = minimize(problem, hessian, Options(tol=1e-2, newton=False))
    assert start.certificate.violation > 1e-4
    walker = Walker(problem, hessian, start.z, start.gradient)
    assert walker.settle().status == "arrived"
    assert max(faults(problem, hessian, walker.z)) < 1e-12


def test_a_walker_starts_from_anywhere_that_is_feasible():
    X, signs = clouds(30)
    problem = svc.dual_problem(signs, 10.0)
    hessian = Hessian(problem, GaussianKernel(1.0)(X, X), True)
    walker = Walker(problem, hessian, problem.start())
    walker.settle()
    assert max(faults(problem, hessian, walker.z)) < TOLERANCE


def test_a_walk_that_the_sums_do_not_allow_says_so():
    X, _ = clouds(10)
    problem = one_class.dual_problem(10, 0.9)
    walker = settled(problem, Hessian(problem, GaussianKernel(1.0)(X, X), True))
    walk = walker.follow(Rates(hi=-np.ones(10), lo=np.zeros(10)), 0.5)
    assert walk.status == "infeasible"
    assert walk.stop == pytest.approx(0.1)
    assert walk.z.sum() == pytest.approx(9.0)


def test_rates_that_are_no_numbers_end_a_walk():
    X, signs = clouds(20)
    problem = svc.dual_problem(signs, 10.0)
    walker = settled(problem, Hessian(problem, GaussianKernel(1.0)(X, X), True))
    assert walker.follow(Rates(linear=np.full(20, np.nan)), 1.0).status == "failed"


def test_all_samples_alike():
    """Every index ties with every other, and H has rank one."""
    signs = np.repeat([1.0, -1.0], 10)
    problem = svc.dual_problem(signs, 1.0)
    walker = settled(problem, Hessian(problem, np.ones((20, 20)), True))
    walk = walker.follow(Rates(lo=np.where(signs > 0, 0.0, -1.0), hi=np.where(signs > 0, 1.0, 0.0)), 5.0)
    assert walk.status == "arrived"
    assert walk.n_events < 200
    end = svc.dual_problem(signs, 6.0)
    assert max(faults(end, Hessian(end, np.ones((20, 20)), True), walk.z)) < TOLERANCE


def test_several_groups_whose_margins_run_out():
    X, _ = clouds(12)
    codes = np.arange(12) % 3
    problem = ad_svm.dual_problem(codes, 1.0, ad_svm.class_links(3))
    hessian = Hessian(problem, X @ X.T, True)
    walker = settled(problem, hessian)
    walk = walker.follow(Rates(hi=-np.ones(12), lo=np.zeros(12)), 0.74, record=True)
    assert walk.status == "arrived"
    end = replace(problem, hi=problem.hi - 0.74)
    assert max(faults(end, hessian, np.clip(walk.z, end.lo, end.hi))) < TOLERANCE


@pytest.mark.parametrize("seed", range(12))
def test_hulls_that_meet_over_a_smooth_kernel(seed):
    """Gradient and objective cancel to rounding, and the Gram matrix of the margin is singular to rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 36))
    X = rng.normal(size=(n, 1))
    codes = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    mu = float(rng.uniform(ad_svm.smallest_mu(codes), 1))
    problem = ad_svm.dual_problem(codes, mu, ad_svm.class_links(2))
    hessian = Hessian(problem, GaussianKernel(10 ** rng.uniform(-2, 0))(X, X), True)
    walker = settled(problem, hessian)
    assert walker is not None
    assert max(faults(problem, hessian, walker.z)) < TOLERANCE
    rates = Rates(linear=1e-2 * rng.normal(size=n))
    _, walk = followed(walker, rates, 1.0)
    assert walk.status == "arrived"
    assert max(faults(moved(problem, rates, 1.0), hessian, walk.z)) < TOLERANCE


def test_a_margin_that_is_exchanged_down_to_nothing_takes_no_deeper_stack(monkeypatch):
    """As if whoever comes in depended on all that is left, each time."""
    X, signs = clouds(60)
    problem = svc.dual_problem(signs, 10.0)
    walker = settled(problem, Hessian(problem, GaussianKernel(0.01)(X, X), True))
    j = int(np.flatnonzero(walker.side == -1)[0])
    count, depths, leave, lone = walker.count, [], Walker._leave, Walker._lone_direction

    def leaves(walker, *where):
        depths.append(len(inspect.stack(0)))
        leave(walker, *where)

    monkeypatch.setattr(Walker, "_leave", leaves)
    monkeypatch.setattr(Walker, "_lone_direction", lambda *of: (lone(*of)[0], 0.0, 1.0))
    row = walker.row(j)
    walker._exchange(j, walker._lone_direction(j, row)[0], row, force=False)
    assert 1 < len(depths) <= count
    assert len(set(depths)) == 1


def broken_off(monkeypatch, share):
    """Make the first walk that is asked for end after a share of its way, as if floating point had ended it there."""
    follow, calls = Walker.follow, []

    def fails(walker, rates, length, **options):
        calls.append(length)
        if len(calls) > 1:
            return follow(walker, rates, length, **options)
        return replace(follow(walker, rates, share * length, **options), status="failed")

    monkeypatch.setattr(Walker, "follow", fails)


@pytest.mark.parametrize("record", [False, True])
def test_a_walk_that_floating_point_ends_is_handed_over(monkeypatch, record):
    X, signs = clouds()
    problem = svc.dual_problem(signs, 0.1)
    hessian = Hessian(problem, GaussianKernel(1.0)(X, X), True)
    walker = settled(problem, hessian)
    rates = Rates(lo=np.where(signs > 0, 0.0, -1.0), hi=np.where(signs > 0, 1.0, 0.0))
    broken_off(monkeypatch, share=0.3)
    end, walk = followed(walker, rates, 9.9, record=record)
    assert end is not walker
    assert walk.status == "arrived"
    assert walk.stop == pytest.approx(9.9)
    assert max(faults(svc.dual_problem(signs, 10.0), hessian, np.clip(walk.z, -10, 10))) < TOLERANCE
    if record:
        assert (np.diff(walk.breakpoints) > 0).all()
        for value in [*walk.breakpoints, *np.random.default_rng(0).uniform(0, 9.9, 50)]:
            there = moved(problem, rates, value)
            assert max(faults(there, hessian, walk.at(value, (there.lo, there.hi)))) < TOLERANCE


def test_across_a_place_where_floating_point_ends_a_walk_nu_is_that_of_the_stretch(monkeypatch):
    """At the place itself no multiplier is inside, and nu is free in an interval; right after it one comes in."""
    X = np.array([[0.0], [1.0], [3.0]])
    problem = one_class.dual_problem(3, 2 / 3)
    hessian = Hessian(problem, GaussianKernel(0.1)(X, X), True)
    walker = settled(problem, hessian)
    assert sorted(walker.z) == [0, 1, 1]
    rates = Rates(hi=-np.ones(3), lo=np.zeros(3))
    broken_off(monkeypatch, share=0.0)
    _, walk = followed(walker, rates, 0.3, record=True)
    assert walk.status == "arrived"
    for value in np.concatenate([np.geomspace(1e-12, 0.3, 30), walk.breakpoints[1:]]):
        there = moved(problem, rates, value)
        z = walk.at(value, (there.lo, there.hi))
        assert max(faults(there, hessian, z)) < TOLERANCE
        gradient = hessian.with_problem(there).gradient(z)
        inside = (z > 0) & (z < there.hi)
        assert gradient[inside] == pytest.approx(walk.nu_at(value)[0], abs=1e-9)


@pytest.mark.parametrize("mu", [0.05, 1.0])
def test_hulls_that_meet_are_told_soon(mu):
    """A start that floating point cannot make exact is given up after some events, not after all that there are."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(1, 1, (150, 2))])
    codes = np.repeat([0, 1], 150)
    problem = ad_svm.dual_problem(codes, mu, ad_svm.class_links(2))
    hessian = Hessian(problem, GaussianKernel(0.5)(X, X), True)
    events = []
    follow = Walker.follow

    def counted(walker, *arguments, **options):
        walk = follow(walker, *arguments, **options)
        events.append(walk.n_events)
        return walk

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Walker, "follow", counted)
        walker = settled(problem, hessian)
    assert sum(events) < 9 * most_settling(300)
    assert walker is None or max(faults(problem, hessian, walker.z)) < TOLERANCE


def test_what_a_sum_lacks_is_shared_where_no_multiplier_has_a_bound():
    case = random_machine(np.random.default_rng(0), "squared", degenerate=False)
    walker = settled(case.problem, case.hessian)
    assert np.isinf(np.maximum(np.abs(case.problem.lo), np.abs(case.problem.hi))).all()
    j = int(np.abs(walker.z).argmax())
    walker.z[j] += 0.1 * walker.z[j]
    with np.errstate(all="raise"):
        found = nearby(case.problem, walker)
    assert case.problem.is_feasible(found)
    np.testing.assert_allclose(found, walker.z, atol=0.2 * abs(walker.z[j]))


def test_a_walk_that_may_be_taken_over_is_not_recorded_and_watched():
    case = random_machine(np.random.default_rng(0), "svc", degenerate=False)
    with pytest.raises(ValueError, match="watches nobody"):
        followed(settled(case.problem, case.hessian), Rates(), 1.0, watched=0, record=True)
