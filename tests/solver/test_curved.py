"""The path in C of the squared losses, on which the diagonal moves and every multiplier is a curve."""

import numpy as np
import oracle
import pytest
from walks import draw, faults

from svmviz import SVC, SVR, InvalidProblemError, path
from svmviz.walk import Rates, curved
from svmviz.walk.margin import StuckError
from svmviz.walk.poles import Poles
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose
from svmviz.walk.record import MARGIN

TOLERANCE = 1e-8
LOW, HIGH = 1e-2, 1e4


def classifier(kernel="rbf", **options):
    return SVC(kernel=kernel, loss="squared_hinge", **({"gamma": 1.0} | options))


def regressor(kernel="rbf", **options):
    return SVR(kernel=kernel, loss="squared_epsilon_insensitive", **({"gamma": 1.0} | options))


def worst_fault(found, estimator, X, y, values):
    """Largest violation, error of the sums, and what the objective is above that of an independent solver."""
    worst = 0.0
    for value in values:
        posed = pose(estimator, X, y, C=value)
        worst = max(worst, *faults(posed.problem, posed.hessian, found.multipliers_at(value)))
    return worst


def scattered(rng, count, low=LOW, high=HIGH):
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


def clouds(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return (
        X,
        np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1, -1),
        np.sin(X[:, 0]) + 0.2 * rng.normal(size=n),
    )


@pytest.mark.parametrize("seed", range(8))
def test_where_the_first_sum_of_poles_falls_below_zero(seed):
    """Beside many values, and with two zeros as near to each other as 1e-6."""
    rng = np.random.default_rng(seed)
    levels = np.concatenate([[0.0], 10 ** rng.uniform(-6, 2, 5)])
    residues = rng.normal(size=(30, 6)) * 10 ** rng.uniform(-2, 0, (30, 1))
    start, stop = (30.0, 1e-3) if seed % 2 else (1e-3, 30.0)
    values = np.geomspace(start, stop, 40_000)
    curves = residues @ (1 / (values + levels[:, None]))
    constants = np.maximum(0.0, -curves[:, 0]) + 1e-6
    for height in (0.0, 0.1, 10.0):
        poles = Poles(constants + height, residues, levels)
        below = (curves + (constants + height)[:, None] < 0).any(axis=0)
        reached, k = poles.first_below(start, stop)
        first = below.argmax() if below.any() else len(values) - 1
        assert (
            abs(np.log(reached / values[first])) <= 1.001 * abs(np.log(values[1] / values[0])) * below.any()
        )
        assert (k >= 0) == below.any()
        if below.any():
            assert abs(poles.at(reached)[k]) < 1e-9 * (1 + height) + 1e-12 * np.abs(residues[k]).sum() / start
    # One that dips below zero between 1 and 1 + 1e-6 only.
    roots = np.array([1.0, 1.0 + 1e-6])
    table = np.array([1 / (roots + level) for level in (0.1, 1.0)]).T
    dip = np.linalg.solve(table, [-1.0, -1.0])
    poles = Poles(np.array([1.0]), dip[None], np.array([0.1, 1.0]))
    dips = poles.at(1.0 + 5e-7)[0] < 0
    for begin, end, root in ((0.5, 2.0, roots[0]), (2.0, 0.5, roots[1])):
        reached, k = poles.first_below(begin, end)
        assert not dips or (k == 0 and reached == pytest.approx(root, abs=1e-7))


@pytest.mark.parametrize("machine", ["squared", "svr"])
def test_paths_of_random_problems_are_optimal_everywhere(machine):
    """Up and down, every other one with duplicates and ties; the objective beside an independent solver's."""
    rng = np.random.default_rng(["squared", "svr"].index(machine))
    solved = 0
    for k in range(20):
        drawn = draw(rng, machine, degenerate=k % 2 == 1)
        weights = [None, "balanced", {1.0: 0.5, -1.0: 3.0}][k % 3]
        if machine == "squared":
            estimator = classifier(drawn.kernel, class_weight=weights)
        else:
            estimator = regressor(drawn.kernel, epsilon=drawn.parameters["epsilon"])
        start, stop = (LOW, HIGH) if k % 4 < 2 else (HIGH, LOW)
        found = path(estimator, drawn.X, drawn.y, "C", start, stop)
        values = np.concatenate([scattered(rng, 50), found.breakpoints])
        assert worst_fault(found, estimator, drawn.X, drawn.y, values) < TOLERANCE, (k, drawn.name)
        sums = [abs(found.multipliers_at(value).sum()) for value in values]
        assert max(sums) < 1e-9 * max(1.0, np.abs(found.coefficients).max()), (k, drawn.name)
        for value in values[:2]:
            posed = pose(estimator, drawn.X, drawn.y, C=value)
            z = found.multipliers_at(value)
            objective = posed.problem.objective(z, posed.hessian.gradient(z))
            expected = oracle.optimum(posed.problem, posed.hessian)
            noise = TOLERANCE * abs(expected.value) + oracle.rounding(posed.problem, posed.hessian, z, z)
            assert objective <= expected.value + noise, (k, drawn.name)
            assert objective >= expected.lower - noise or not expected.solved, (k, drawn.name)
            solved += expected.solved
    assert solved > 25


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("estimator", [classifier(class_weight={1: 0.3}), regressor(epsilon=0.05)])
def test_events_say_who_changes_sides_and_where(estimator, way):
    X, signs, targets = clouds()
    found = path(estimator, X, signs if isinstance(estimator, SVC) else targets, "C", *[LOW, HIGH][::way])
    walk = found.walk
    assert walk.events[-1].kind == "arrived"
    assert len(walk.events) == walk.n_events > 10
    assert (np.diff(found.breakpoints) * way > 0).all()
    objectives = np.array([event.objective for event in walk.events])
    assert (np.diff(objectives) * way < 0).all()  # a smaller diagonal, a smaller minimum
    largest = np.abs(found.coefficients).max()
    for event, before, after in zip(walk.events, walk.segments, walk.segments[1:], strict=False):
        changed = np.flatnonzero((before.side == MARGIN) != (after.side == MARGIN))
        assert changed.tolist() == [event.dual_index]
        assert event.kind == "joins margin" or before.side[event.dual_index] == MARGIN
        assert event.n_margin == np.count_nonzero(after.side == MARGIN)
        assert event.sample == event.dual_index % len(X)
        z = found.multipliers_at(event.value)
        assert abs(z[event.dual_index]) < 1e-9 * largest
        # All are where they were on the other side of the event, too.
        for segment in (before, after):
            assert segment.at(event.value, walk.lo, walk.hi) == pytest.approx(z, abs=1e-9 * largest)
            assert segment.nu_at(event.value) == pytest.approx(walk.nu_at(event.value), abs=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_lattices_duplicates_and_samples_all_alike(kernel):
    """Where many change sides at once."""
    lattice = np.array([(i, j) for i in range(6) for j in range(6)], dtype=float)
    line, rng = np.arange(12.0), np.random.default_rng(0)
    sets = [
        (regressor(kernel, epsilon=0.5), lattice, np.round(lattice[:, 0] / 2)),
        (regressor(kernel, epsilon=0.0), np.repeat(lattice, 2, axis=0), np.repeat(lattice[:, 0] % 3, 2)),
        (classifier(kernel), np.repeat(clouds(20)[0], 3, axis=0), np.repeat(clouds(20)[1], 3)),
        (classifier(kernel), np.ones((20, 2)), np.resize([1, -1, 1], 20)),
        (classifier(kernel), line[:, None], np.where(line % 4 < 2, 1, -1)),
        (regressor(kernel, epsilon=0.1), line[:, None], line),
    ]
    for estimator, X, y in sets:
        for start, stop in ((LOW, HIGH), (HIGH, LOW)):
            found = path(estimator, X, y, "C", start, stop)
            assert worst_fault(found, estimator, X, y, [*scattered(rng, 20), *found.breakpoints]) < TOLERANCE


def test_a_tube_that_holds_every_target_stays_as_it_is():
    X, _, targets = clouds()
    found = path(regressor(epsilon=5.0), X, targets, "C", 0.1, 10.0)
    assert found.breakpoints.tolist() == [0.1, 10.0]
    assert not found.at(3.0).any()
    assert found.bias_at(3.0) == pytest.approx(0.5 * (targets.max() + targets.min()))


def test_samples_of_weight_zero_stay_out():
    X, signs, _ = clouds()
    codes = np.where(np.arange(40) % 4 == 0, 2, signs)  # of which one class weighs nothing
    estimator = classifier(class_weight={2: 0.0, -1: 1.0})
    with pytest.raises(InvalidProblemError, match="only samples of weight 0"):
        path(estimator, X, codes, "C", 0.1, 10.0)
    with pytest.raises(InvalidProblemError, match="of weight above 0"):
        path(classifier(class_weight={1: 0.0}), X, signs, "C", 0.1, 10.0)


@pytest.mark.parametrize(("start", "stop"), [(LOW, HIGH), (HIGH, LOW)])
def test_where_floating_point_does_not_get_on_a_minimisation_takes_over(monkeypatch, start, stop):
    """As if it broke off before every third event."""
    X, signs, _ = clouds()
    estimator, count, solve = classifier(), [0], curved.Curve.poles

    def breaks(curve, margin):
        count[0] += 1
        if count[0] % 3 == 0:
            raise StuckError("failed")
        return solve(curve, margin)

    monkeypatch.setattr(curved.Curve, "poles", breaks)
    found = path(estimator, X, signs, "C", start, stop)
    assert count[0] > 3
    values = scattered(np.random.default_rng(0), 50)
    assert worst_fault(found, estimator, X, signs, [*values, *found.breakpoints]) < TOLERANCE
    monkeypatch.setattr(curved, "settled", lambda *_: None)
    with pytest.raises(InvalidProblemError, match=r"The path ends at C = .* no further in floating point"):
        path(estimator, X, signs, "C", start, stop)


def test_the_walk_along_a_line_does_not_take_a_diagonal():
    X, signs, _ = clouds()
    walker = exact(pose(classifier(), X, signs))
    with pytest.raises(ValueError, match="diagonal"):
        walker.follow(Rates(diagonal=np.ones(40)), 1.0)
    plain = exact(pose(SVC(gamma=1.0), X, signs))
    with pytest.raises(ValueError, match="0 or infinite"):
        curved.follow_diagonal(plain, np.ones(40), 1.0, 2.0)
