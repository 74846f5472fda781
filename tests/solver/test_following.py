"""Learning and unlearning with the SMO objects, against training without the samples."""

from dataclasses import replace

import numpy as np
import pytest
from walks import MACHINES, random_solver

from svmviz import InvalidProblemError
from svmviz.smo import (
    SMOClassifier,
    SMOMultiClass,
    SMONuClassifier,
    SMONuRegression,
    SMOOneClass,
    SMOReducedHulls,
    SMORegression,
)


def data(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signs = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    signs[:2] = 1, -1
    codes = np.concatenate([np.arange(n // 2) % 3, rng.integers(0, 3, n - n // 2)])
    return X, signs, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n), codes


# So many random problems of each machine, of which two multipliers each are walked with.
PROBLEMS = 6

MAKERS = {
    "classifier": lambda X, s, t, c: SMOClassifier(X=X, y=s, kernel="rbf", C=10.0),
    "linear classifier": lambda X, s, t, c: SMOClassifier(X=X, y=s, C=100.0),
    "squared hinge": lambda X, s, t, c: SMOClassifier(X=X, y=s, kernel="rbf", C=10.0, loss="squared_hinge"),
    "regression": lambda X, s, t, c: SMORegression(X=X, y=t, kernel="rbf", C=10.0, epsilon=0.1),
    "nu classifier": lambda X, s, t, c: SMONuClassifier(X=X, y=s, kernel="rbf", nu=0.2),
    "nu regression": lambda X, s, t, c: SMONuRegression(X=X, y=t, kernel="rbf", C=10.0, nu=0.4),
    "one-class": lambda X, s, t, c: SMOOneClass(X=X, kernel="rbf", nu=0.3),
    "reduced hulls": lambda X, s, t, c: SMOReducedHulls(X=X, y=c, kernel="rbf", mu=0.3),
    "multi-class": lambda X, s, t, c: SMOMultiClass(X=X, y=c, kernel="rbf", beta=0.1),
}


def without(machine, samples):
    """The problem in which the multipliers of these samples are zero."""
    problem = machine._problem
    out = np.isin(problem.sample, samples)
    return replace(problem, lo=np.where(out, 0.0, problem.lo), hi=np.where(out, 0.0, problem.hi))


def violation(machine, problem):
    assert problem.is_feasible(machine._z)
    return problem.violation(machine._z, machine._gradient) / np.abs(machine._gradient).max()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_is_the_solution_without_the_sample(name, seed):
    machine = MAKERS[name](*data(seed)).minimize()
    i = int(np.random.default_rng(seed).choice(machine.samples[machine.alphas > 0]))
    events = machine.unlearn(i)
    assert events > 0
    assert not machine.alphas[machine.samples == i].any()
    assert violation(machine, without(machine, [i])) < 1e-8
    assert machine.minimize().certificate.status == "optimal"


@pytest.mark.parametrize("name", MAKERS)
def test_a_fold_in_any_order_gives_the_same_model(name):
    fold = [0, 3, 7, 11, 20]
    machines = [MAKERS[name](*data(1)).minimize() for _ in range(2)]
    for machine, order in zip(machines, (fold, fold[::-1]), strict=True):
        assert all(machine.unlearn(i) >= 0 for i in order)
        assert violation(machine, without(machine, fold)) < 1e-8
    # A gradient is a decision value less what does not depend on the multipliers.
    size = np.abs(machines[0]._gradient).max()
    assert machines[0]._gradient == pytest.approx(machines[1]._gradient, abs=1e-8 * size)
    assert machines[0].alphas == pytest.approx(machines[1].alphas, abs=1e-7 * machines[0].alphas.max())


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "multi-class"])
@pytest.mark.parametrize("seed", range(3))
def test_learning_what_was_unlearned_gives_back_the_start(name, seed):
    """Not of the multi-class machine, whose multipliers of a sample sum to zero: none moves alone."""
    machine = MAKERS[name](*data(seed))
    machine._options = replace(machine._options, tol=1e-12)
    start, gradient = machine.minimize().alphas, machine._gradient
    for c in np.flatnonzero(start)[[seed, -1 - seed]].tolist():
        top = min(float(machine._problem.hi[c] - machine._problem.lo[c]), 1e3)
        assert machine.unlearn(int(machine.samples[c])) > 0
        assert machine.alphas[c] == 0
        assert machine.follow_path(c, top) > 0
        assert machine.alphas == pytest.approx(start, abs=1e-8 * start.max())
        assert machine._gradient == pytest.approx(gradient, abs=1e-8 * np.abs(gradient).max())


def can_leave(machine, indices):
    """Whether the other multipliers can sum to what they must when these are zero."""
    problem = machine._problem
    out = np.isin(np.arange(problem.n), indices)
    bounds = (np.where(out, 0.0, problem.lo), np.where(out, 0.0, problem.hi))
    least, most = (np.bincount(problem.group, bound, problem.n_groups) for bound in bounds)
    return bool((least <= problem.sums + 1e-12).all() and (most >= problem.sums - 1e-12).all())


def outcomes(machine, c):
    """Unlearn the sample of dual index c, then drive c alone to zero and back up; the result of each that can be.

    Each begins where `minimize` has ended, and after a -1 that has to be the optimum.
    """
    sample = int(machine.samples[c])
    if can_leave(machine, np.flatnonzero(machine.samples == sample)):
        yield recovered(machine, machine.unlearn(sample))
        machine.minimize()
    if can_leave(machine, [c]):
        yield recovered(machine, down := machine.follow_path(c, 0.0))
        if down >= 0:
            top = min(float(machine._problem.hi[c] - machine._problem.lo[c]), 1e3)
            yield recovered(machine, machine.follow_path(c, top))
        machine.minimize()


def recovered(machine, result):
    """The result of a walk; after a -1 the multipliers are feasible, and `minimize` gets to the optimum."""
    assert machine._problem.is_feasible(machine._z)
    if result < 0:
        assert machine.minimize().certificate.status == "optimal"
    return result


def counted(degenerate):
    """How many walks of every machine there were, and which of them were broken off."""
    count, broken = 0, []
    for machine in MACHINES:
        for k in range(PROBLEMS):
            rng = np.random.default_rng([k, MACHINES.index(machine), degenerate])
            solver, name = random_solver(rng, machine, degenerate)
            for c in rng.permutation(np.flatnonzero(solver.alphas))[:2].tolist():
                results = list(outcomes(solver, c))
                count += len(results)
                broken += [(name, k, c)] * results.count(-1)
    return count, broken


def test_no_walk_is_broken_off_without_exact_degeneracy():
    count, broken = counted(degenerate=False)
    assert count > 40 * PROBLEMS
    assert broken == []


def test_hulls_that_meet_break_off_no_walk():
    """Every gradient is zero: any margin would do, over a kernel that is singular to rounding."""
    results = []
    for seed in ([0, 6, 2, 0], [1, 132], [1, 270]):
        rng = np.random.default_rng(seed)
        solver, _ = random_solver(rng, "mu-svm", degenerate=False)
        for c in rng.permutation(np.flatnonzero(solver.alphas))[:2].tolist():
            results += outcomes(solver, c)
    assert -1 not in results


def test_duplicates_and_ties_break_off_less_than_one_walk_in_a_hundred():
    count, broken = counted(degenerate=True)
    assert count > 40 * PROBLEMS
    assert len(broken) < 0.01 * count, broken


def test_both_sides_of_a_regressor_are_driven_to_zero_and_learned_again():
    machine = MAKERS["regression"](*data(2)).minimize()
    i = int(machine.samples[machine.alphas > 0][0])
    assert machine.unlearn(i) > 0
    n = len(machine.X)
    assert machine.alphas[i] == machine.alphas[n + i] == 0
    for side in (i, n + i):
        machine.follow_path(side, 10.0, pinned=(i, n + i))
        if violation(machine, machine._problem) < 1e-8:
            break
    assert violation(machine, machine._problem) < 1e-8


def test_pinned_multipliers_stay():
    machine = MAKERS["classifier"](*data(3)).minimize()
    i, j = np.flatnonzero(machine.alphas)[:2]
    before = machine.alphas[j]
    assert machine.follow_path(int(i), 0.0, pinned=(int(j),)) > 0
    assert machine.alphas[j] == before
    assert machine.alphas[i] == 0


def test_what_is_pinned_moves_again_later_where_its_condition_holds():
    machine = MAKERS["classifier"](*data(3)).minimize()
    c, pinned = (int(k) for k in np.flatnonzero((machine.alphas > 1e-3) & (machine.alphas < 9.9))[:2])
    full = machine.alphas[c]
    idle = int(np.flatnonzero(machine.alphas == 0)[0])
    machine.follow_path(c, 0.5 * full, pinned=[idle])  # at 0, where it is right
    assert machine._held == {c}
    held = machine.alphas[pinned]
    machine.follow_path(c, 0.2 * full, pinned=iter([pinned]))
    assert machine.alphas[pinned] == held
    assert machine._held == {c, pinned}
    assert machine.minimize()._held == set()


def test_a_walk_that_cannot_begin_holds_nothing(monkeypatch):
    machine = MAKERS["classifier"](*data(3)).minimize()
    c, pinned = (int(k) for k in np.flatnonzero(machine.alphas)[:2])
    monkeypatch.setattr("svmviz.walk.settled.settled", lambda *_: None)
    assert machine.follow_path(c, 0.0, pinned=[pinned]) == -1
    assert machine._held == set()


def test_nothing_to_unlearn_takes_no_event():
    machine = MAKERS["classifier"](*data(0)).minimize()
    assert machine.unlearn(int(np.flatnonzero(machine.alphas == 0)[0])) == 0


def test_where_the_sums_cannot_be_met_it_is_minus_one_and_minimize_recovers():
    X, signs = data(0)[:2]
    # As many multipliers as the sums allow are at their bound.
    machine = SMONuClassifier(
        X=X, y=signs, kernel="rbf", nu=2 * min((signs > 0).mean(), (signs < 0).mean())
    ).minimize()
    fewer = 1.0 if (signs > 0).sum() <= (signs < 0).sum() else -1.0
    objective = machine.certificate.objective
    assert machine.unlearn(int(np.flatnonzero(signs == fewer)[0])) == -1
    assert machine._problem.is_feasible(machine._z)
    assert machine.minimize().certificate.objective == pytest.approx(objective)


def test_what_cannot_be_is_refused_and_changes_nothing():
    machine = MAKERS["classifier"](*data(0)).minimize()
    before = machine.alphas
    for c, to in ((400, 0.0), (-1, 0.0), (0.5, 0.0), (0, 11.0), (0, -1.0)):
        with pytest.raises(InvalidProblemError):
            machine.follow_path(c, to)
    with pytest.raises(InvalidProblemError, match="between 0 and 39"):
        machine.follow_path(0, 0.0, pinned=[-1])
    with pytest.raises(InvalidProblemError):
        machine.unlearn(400)
    np.testing.assert_array_equal(machine.alphas, before)


def test_a_kernel_that_is_not_definite_is_not_walked():
    X, signs = data(0)[:2]
    machine = SMOClassifier(X=X, y=signs, kernel=lambda A, B: np.tanh(A @ B.T - 1.0), C=1.0).minimize()
    before = machine.alphas
    assert machine.unlearn(int(np.flatnonzero(before)[0])) == -1
    np.testing.assert_array_equal(machine.alphas, before)


def test_who_is_left_alone_is_learned_at_once():
    """Without anyone of the other class the only multipliers are zeros, and every condition holds."""
    X, signs, _, _ = data(0, 12)
    machine = SMOClassifier(X=X, y=signs, kernel="rbf", C=10.0).minimize()
    others = np.flatnonzero(signs < 0)
    mine = int(np.flatnonzero(signs > 0)[0])
    gone = [*others.tolist(), mine]
    for i in gone:
        assert machine.unlearn(i) >= 0
    assert not machine.alphas.any()
    assert machine.follow_path(mine, 10.0) >= 0
    assert not machine.alphas.any()
    for i in others.tolist():
        assert machine.follow_path(i, 10.0) >= 0
    again = SMOClassifier(X=X, y=signs, kernel="rbf", C=10.0, tol=1e-12).minimize()
    np.testing.assert_allclose(machine.alphas, again.alphas, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_pinned_takes_no_part_of_what_rounding_leaves(seed):
    """Without bounds the pinned one may have the most room of all."""
    X, signs, _, _ = data(seed, 20)
    machine = SMOClassifier(X=X, y=signs, C=1e4, loss="squared_hinge").minimize()
    pinned, c = np.argsort(-machine.alphas)[:2]
    before = machine.alphas[pinned]
    assert machine.follow_path(int(c), 0.5 * machine.alphas[c], pinned=[int(pinned)]) >= 0
    assert machine.alphas[pinned] == before


@pytest.mark.parametrize("to", [np.inf, np.nan])
def test_a_box_without_an_end_is_not_followed_without_end(to):
    machine = MAKERS["squared hinge"](*data(0)).minimize()
    before = machine.alphas
    with pytest.raises(InvalidProblemError, match="finite"):
        machine.follow_path(0, to)
    np.testing.assert_array_equal(machine.alphas, before)


def test_after_a_walk_there_is_no_certificate_of_the_problem_before():
    rng = np.random.default_rng(0)
    samples, labels = rng.normal(size=(30, 2)), np.arange(30) % 2
    machine = SMOClassifier(X=samples, y=labels, kernel="rbf", C=10.0).minimize()
    assert machine.unlearn(int(np.abs(machine.alphas).argmax())) >= 0
    assert machine.certificate is None
    assert machine.minimize().certificate.status == "optimal"
