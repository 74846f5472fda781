"""The fast stretch of a walk: its inverse, its course beside the careful one, and many walks from one start."""

from dataclasses import replace

import numpy as np
import pytest
from walks import faults

from svmviz import ADSVC, SVC, SVR, MuSVC, NuSVC, NuSVR, OneClassSVM, leave_one_out, path
from svmviz.walk import Walker
from svmviz.walk.absence import Absences
from svmviz.walk.leave_out import without
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose
from svmviz.walk.slots import SPARE
from svmviz.walk.tableau import Tableau

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 2))
y = np.where(X[:, 0] + rng.normal(scale=0.8, size=60) > 0, 1, -1)
targets = np.sin(2 * X[:, 0]) + rng.normal(scale=0.2, size=60)
codes = rng.integers(0, 3, 60)

MACHINES = {
    "SVC": (SVC(gamma=1.0, C=2.0), y),
    "SVC, linear": (SVC(kernel="linear"), y),
    "SVC, cubic": (SVC(kernel="poly", degree=3), y),
    "SVC, squared": (SVC(gamma=1.0, loss="squared_hinge"), y),
    "SVR": (SVR(gamma=1.0, C=2.0, epsilon=0.1), targets),
    "nu-SVC": (NuSVC(gamma=1.0, nu=0.4), y),
    "nu-SVR": (NuSVR(gamma=1.0, nu=0.4), targets),
    "one-class": (OneClassSVM(gamma=1.0, nu=0.2), None),
    "mu-SVM": (MuSVC(gamma=1.0, mu=0.1), y),
    "AD-SVM": (ADSVC(gamma=1.0, mu=0.15), codes),
}
PATHS = {
    "C": (SVC(gamma=1.0), y, 0.1, 100.0),
    "C downward": (SVC(gamma=1.0), y, 100.0, 0.1),
    "C, linear": (SVC(kernel="linear"), y, 0.01, 10.0),
    "epsilon": (SVR(gamma=1.0), targets, 0.01, 0.8),
    "mu": (ADSVC(gamma=1.0), codes, 0.1, 1.0),
}


@pytest.fixture
def with_care(monkeypatch):
    """Every event is taken with care."""

    def slow():
        monkeypatch.setattr(Walker, "is_generic", lambda self: False)

    return slow


def identity_of(tableau):
    """N times the columns of R, but for the slots that are free."""
    used = np.flatnonzero(tableau.slots >= 0)
    places = np.concatenate([np.arange(tableau.n_groups), used])
    columns = tableau._square[np.ix_(places, places)]
    group = tableau.margin.group[tableau.slots[used]]
    assert (
        columns[: tableau.n_groups, tableau.n_groups :]
        == np.where(np.arange(tableau.n_groups)[:, None] == group, -1.0, 0.0)
    ).all()
    return tableau._inverse[np.ix_(places, places)] @ columns


@pytest.mark.parametrize("name", MACHINES)
def test_the_inverse_is_that_of_the_margin_from_the_start_to_the_end(name):
    estimator, labels = MACHINES[name]
    walker = exact(pose(estimator, X, labels))
    tableau = Tableau(walker)
    size = tableau.n_groups + walker.count
    assert identity_of(tableau) == pytest.approx(np.eye(size), abs=1e-8)
    j = int(np.flatnonzero(walker.z)[0])
    if tableau.hold(j):
        tableau.drive(j, walker.z[j], -walker.z[j])
        tableau.run(1.0)
        found = identity_of(tableau)
        assert found == pytest.approx(np.eye(len(found)), abs=1e-6)


@pytest.fixture
def fast_events(monkeypatch):
    """How many events each tableau has taken, as a list that grows."""
    counts, run = [], Tableau.run

    def counting(tableau, length, recorder=None):
        outcome = run(tableau, length, recorder)
        counts.append(tableau.events)
        return outcome

    monkeypatch.setattr(Tableau, "run", counting)
    return counts


@pytest.mark.parametrize("name", PATHS)
def test_fast_and_careful_paths_are_the_same(name, with_care, fast_events):
    estimator, labels, start, stop = PATHS[name]
    parameter = name.split()[0].rstrip(",")
    fast = path(estimator, X, labels, parameter, start, stop)
    assert sum(fast_events) > 0.5 * len(fast.events)
    fast_events.clear()
    with_care()
    slow = path(estimator, X, labels, parameter, start, stop)
    assert fast_events == []
    for value in np.random.default_rng(0).uniform(min(start, stop), max(start, stop), 30):
        assert fast.at(value) == pytest.approx(slow.at(value), abs=1e-7 * max(1.0, abs(slow.at(value)).max()))
    assert fast.walk.nu_at(stop) == pytest.approx(slow.walk.nu_at(stop), abs=1e-6)


@pytest.mark.parametrize("name", PATHS)
def test_an_event_says_what_is_so_after_it(name):
    estimator, labels, start, stop = PATHS[name]
    found = path(estimator, X, labels, name.split()[0].rstrip(","), start, stop)
    values = np.array([event.value for event in found.events])
    for event in found.events[:-1]:
        way = np.sign(stop - start)
        after = next(s for s in found.walk.segments if way * s.start > way * event.value - 1e-12)
        if np.sum(np.abs(values - event.value) < 1e-12) > 1:
            continue  # there is more than one event, and one of them is the last
        assert (event.n_margin, event.n_lower, event.n_upper) == tuple(
            (after.side == side).sum() for side in (0, -1, 1)
        )
        posed = pose(estimator, X, labels, **{found.parameter: event.value})
        z = found.multipliers_at(event.value)
        value = 0.5 * z @ (posed.hessian.gradient(z) + posed.problem.linear)
        assert event.objective == pytest.approx(value, rel=1e-8, abs=1e-10)


def test_a_margin_that_outgrows_its_slots():
    found = path(SVC(gamma=20.0), X, y, "C", 0.1, 10.0)
    sizes = [len(segment.margin) for segment in found.walk.segments]
    assert max(sizes) > sizes[0] + 2 * SPARE
    posed = pose(SVC(gamma=20.0), X, y, C=5.0)
    assert max(faults(posed.problem, posed.hessian, found.multipliers_at(5.0))) < 1e-8


@pytest.mark.parametrize("name", MACHINES)
def test_leaving_out_fast_and_with_care_gives_the_same(name, with_care):
    estimator, labels = MACHINES[name]
    fast = leave_one_out(estimator, X, labels)
    with_care()
    slow = leave_one_out(estimator, X, labels)
    assert fast.decision == pytest.approx(slow.decision, abs=1e-8)


def test_most_walks_of_leaving_out_are_fast():
    posed = pose(SVC(gamma=1.0, C=2.0), X, y)
    full = exact(posed)
    parts = [np.array([j]) for j in np.flatnonzero(full.z)]
    found = [absence for absence in Absences(full).leave_out(parts) if absence is not None]
    assert len(found) > 0.9 * len(parts)
    for absence, part in zip(Absences(full).leave_out(parts), parts, strict=True):
        if absence is not None:
            lo, hi = full.lo.copy(), full.hi.copy()
            lo[part] = hi[part] = 0.0
            assert max(faults(replace(posed.problem, lo=lo, hi=hi), posed.hessian, absence.z)) < 1e-9


def test_the_same_start_serves_every_walk_in_any_order():
    full = exact(pose(SVC(gamma=1.0, C=2.0), X, y))
    parts = [np.array([j]) for j in np.flatnonzero(full.z)]
    together = Absences(full)
    for absence, part in zip(reversed(together.leave_out(parts)), reversed(parts), strict=True):
        alone = Absences(full).leave_out([part])[0]
        assert (absence is None) == (alone is None)
        if absence is not None:
            assert absence.z == pytest.approx(alone.z, abs=1e-10)


def test_what_depends_on_the_margin_is_left_to_care():
    doubled = np.vstack([X, X])
    labels = np.concatenate([y, y])
    posed = pose(SVC(gamma=1.0, C=2.0), doubled, labels)
    full = exact(posed)
    moving = np.flatnonzero(full.z)[:20]
    fast = Absences(full).leave_out([np.array([j]) for j in moving])
    assert fast.count(None) >= 15  # of each double one is on the margin, or may come there, but for rounding
    for j, absence in zip(moving, fast, strict=True):
        walker, walk = without(posed, full, np.array([j]))
        assert walk is not None
        assert walk.status == "arrived"
        lo, hi = full.lo.copy(), full.hi.copy()
        lo[j] = hi[j] = 0.0
        for end in [walker, absence] if absence else [walker]:
            assert max(faults(replace(posed.problem, lo=lo, hi=hi), posed.hessian, end.z)) < 1e-9


def test_a_correction_by_a_bad_inverse_changes_nothing():
    """Of a margin that depends on itself the inverse has no digit left, and 1e-14 becomes a multiplier."""
    tableau = Tableau(exact(pose(SVC(gamma=1.0, C=2.0), X, y)))
    tableau.run(0.0)
    tableau._inverse *= 1e14
    tableau.values[tableau.used()] += 1e-13
    values, room = tableau.values.copy(), tableau.slack.copy()
    assert not tableau.correct()
    np.testing.assert_array_equal(tableau.values, values)
    np.testing.assert_array_equal(tableau.slack, room)
