"""Whole paths and left-out decisions, against machines that are trained for each value and without each sample."""

import numpy as np
import pytest

from svmviz import (
    ADSVC,
    MCSVC,
    SVC,
    SVR,
    InvalidProblemError,
    MuSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    cross_validate,
    leave_one_out,
    path,
)
from svmviz.datasets import preset
from svmviz.walk.leave_out import learn, unlearned, without
from svmviz.walk.levels import gradient_scale
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose


def data(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    signs = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    codes = np.arange(n) % 3
    return X, signs, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n), codes, X + 1.5 * codes[:, None]


X, SIGNS, TARGETS, CODES, APART = data()

PATHS = {
    "C-SVC": (SVC(gamma=1.0), X, SIGNS, "C", 0.1, 1000.0),
    "C-SVC, weighted, downward": (SVC(gamma=1.0, class_weight="balanced"), X, SIGNS, "C", 100.0, 0.01),
    "SVR": (SVR(gamma=1.0), X, TARGETS, "C", 0.1, 1000.0),
    "SVR, epsilon": (SVR(C=100.0, gamma=1.0), X, TARGETS, "epsilon", 0.0, 1.0),
    "SVR, epsilon, downward": (SVR(C=10.0, gamma=1.0), X, TARGETS, "epsilon", 1.5, 0.0),
    "SVR, squared": (
        SVR(gamma=1.0, loss="squared_epsilon_insensitive"), X, TARGETS, "epsilon", 0.0, 1.0,
    ),
    "nu-SVR": (NuSVR(gamma=1.0), X, TARGETS, "C", 0.1, 100.0),
    "mu-SVM": (MuSVC(gamma=1.0), X, SIGNS, "mu", 0.08, 1.0),
    "AD-SVM, downward": (ADSVC(gamma=1.0), APART, CODES, "mu", 1.0, 0.08),
}  # fmt: skip

# Of a squared loss in C: curves between the breakpoints.
CURVED = {
    "C-SVC, squared, weighted": (
        SVC(gamma=1.0, loss="squared_hinge", class_weight="balanced"), X, SIGNS, "C", 0.1, 1000.0,
    ),
    "C-SVC, squared, linear, downward": (
        SVC(kernel="linear", loss="squared_hinge"), X, SIGNS, "C", 1000.0, 0.01,
    ),
    "SVR, squared, C": (SVR(gamma=1.0, loss="squared_epsilon_insensitive"), X, TARGETS, "C", 0.1, 100.0),
}  # fmt: skip


def spread(model, n):
    """dual_coef_ over all samples; u without its sign where the machine has prototypes."""
    coef = np.zeros((len(model.dual_coef_), n))
    coef[:, model.support_] = model.dual_coef_
    return np.abs(coef).sum(axis=0) if hasattr(model, "prototypes_") else coef[0]


@pytest.mark.parametrize("name", PATHS | CURVED)
def test_a_path_is_optimal_at_every_value(name):
    estimator, samples, y, parameter, start, stop = (PATHS | CURVED)[name]
    found = path(estimator, samples, y, parameter, start, stop)
    assert found.breakpoints[0] == start
    assert found.breakpoints[-1] == stop
    assert (np.diff(found.breakpoints) * np.sign(stop - start) > 0).all()
    assert found.coefficients.shape == (len(found.breakpoints), len(samples))
    assert found.bias.shape == found.breakpoints.shape
    for value in np.random.default_rng(1).uniform(min(start, stop), max(start, stop), 50):
        posed = pose(estimator, samples, y, **{parameter: value})
        z = found.multipliers_at(value)
        gradient = posed.hessian.gradient(z)
        assert posed.problem.is_feasible(z, tol=1e-9)
        assert posed.problem.violation(z, gradient) < 1e-8 * (np.abs(gradient).max() + 1e-3)


DECADES = {
    "C-SVC": (SVC(gamma=1.0), SIGNS),
    "C-SVC, linear": (SVC(kernel="linear"), SIGNS),
    "C-SVC, squared": (SVC(gamma=1.0, loss="squared_hinge"), SIGNS),
    "SVR": (SVR(gamma=1.0), TARGETS),
    "SVR, linear": (SVR(kernel="linear"), TARGETS),
    "nu-SVR": (NuSVR(gamma=1.0), TARGETS),
}


@pytest.mark.parametrize("name", DECADES)
def test_a_path_over_ten_decades_is_the_same_both_ways(name):
    estimator, y = DECADES[name]
    up, down = (path(estimator, X, y, "C", *ends) for ends in ((1e-4, 1e6), (1e6, 1e-4)))
    for C in [1e-4, *10 ** np.random.default_rng(1).uniform(-4, 6, 50), 1e6]:
        posed = pose(estimator, X, y, C=float(C))
        decided = []
        for found in (up, down):
            z = found.multipliers_at(C)
            gradient = posed.hessian.gradient(z)
            scale = gradient_scale(posed.hessian, posed.problem.linear, z, gradient)
            assert (z >= posed.problem.lo).all()
            assert (z <= posed.problem.hi).all()
            assert abs(z.sum()) < 1e-10 * np.abs(z).max()
            assert posed.problem.violation(z, gradient) < 1e-8 * scale
            decided.append(gradient - posed.problem.diagonal * z - posed.problem.linear + found.bias_at(C))
        assert decided[1] == pytest.approx(decided[0], abs=1e-8 * scale)


@pytest.mark.parametrize("estimator", [SVC(gamma=1.0), SVC(gamma=5.0), SVR(gamma=5.0)])
@pytest.mark.parametrize("n", [12, 40])
def test_where_all_are_free_no_larger_C_changes_anything(estimator, n):
    """However far that goes: what rounding leaves of a rate grows with it."""
    y = (TARGETS if isinstance(estimator, SVR) else SIGNS)[:n]
    found = path(estimator, X[:n], y, "C", 1e-3, 1e12)
    last = found.breakpoints[-2]
    assert last < 1e6
    for C in np.geomspace(last, 1e12, 20):
        np.testing.assert_allclose(found.at(C), found.at(last), atol=1e-7 * np.abs(found.at(last)).max())
        posed = pose(estimator, X[:n], y, C=C)
        z = found.multipliers_at(C)
        assert posed.problem.violation(z, posed.hessian.gradient(z)) < 1e-9


@pytest.mark.parametrize("name", PATHS)
def test_a_path_downward_is_the_path_upward_read_backwards(name):
    estimator, samples, y, parameter, *ends = PATHS[name]
    up, down = (path(estimator, samples, y, parameter, *pair) for pair in (sorted(ends), sorted(ends)[::-1]))
    assert down.breakpoints.tolist() == up.breakpoints[::-1].tolist()
    assert down.events[-1].kind == "arrived"
    assert [event.value for event in down.events[:-1]] == [event.value for event in up.events[-2::-1]]
    for event, turned in zip(up.events[-2::-1], down.events, strict=False):
        if event.kind != "exchange":
            assert turned.dual_index == event.dual_index
            assert (turned.kind == "joins margin") == (event.kind != "joins margin")
            assert turned.n_margin == event.n_margin + (1 if turned.kind == "joins margin" else -1)
        assert turned.objective == event.objective
    for value in np.random.default_rng(1).uniform(*sorted(ends), 10):
        np.testing.assert_array_equal(down.at(value), up.at(value))
        assert down.bias_at(value) == up.bias_at(value)


@pytest.mark.parametrize(("C", "gamma", "degree"), [(10, 2, 3), (1, 2, 4), (100, 0.5, 4)])
def test_a_path_in_epsilon_over_a_badly_scaled_polynomial(C, gamma, degree):
    """Of 80 samples five are independent, and kernel values span eight decades."""
    steps = preset("steps").points
    samples, y = steps[:, :1], steps[:, 1]
    half = 0.5 * float(np.ptp(y))
    estimator = SVR(C=C, gamma=gamma, kernel="poly", degree=degree, coef0=1.0)
    found = path(estimator, samples, y, "epsilon", 0.01 * half, 1.02 * half)
    scale = exact(found.posed).scale  # at its end nothing is left that a gradient would be the sum of
    for value in np.random.default_rng(1).uniform(0.01 * half, 1.02 * half, 20):
        posed = pose(estimator, samples, y, epsilon=value)
        z = found.multipliers_at(value)
        gradient = posed.hessian.gradient(z)
        assert posed.problem.is_feasible(z)
        assert posed.problem.violation(z, gradient) < 1e-8 * scale


@pytest.mark.parametrize("name", PATHS | CURVED)
def test_a_path_has_the_coefficients_and_the_bias_of_a_fit(name):
    estimator, samples, y, parameter, start, stop = (PATHS | CURVED)[name]
    found = path(estimator, samples, y, parameter, start, stop)
    value = start + 0.3 * (stop - start)
    model = type(estimator)(**(estimator.get_params() | {parameter: value, "tol": 1e-10})).fit(samples, y)
    expected = spread(model, len(samples))
    assert found.at(value) == pytest.approx(expected, abs=1e-6 * max(1.0, np.abs(expected).max()))
    if hasattr(model, "intercept_"):
        assert found.bias_at(value) == pytest.approx(model.intercept_[0], abs=1e-6)


@pytest.mark.parametrize(
    ("estimator", "parameter", "start", "stop"),
    [
        (SVC(), "epsilon", 0.1, 1.0),
        (SVC(), "gamma", 0.1, 1.0),
        (SVC(), "C", 0.0, 1.0),
        (SVC(kernel="sigmoid"), "C", 0.1, 1.0),
        (MuSVC(), "mu", 1e-3, 1.0),
        (MCSVC(), "C", 0.1, 1.0),
    ],
)
def test_a_path_that_there_is_not_is_refused(estimator, parameter, start, stop):
    with pytest.raises(InvalidProblemError):
        path(estimator, X, SIGNS, parameter, start, stop)


def test_a_value_that_is_not_on_the_path_is_refused():
    found = path(SVC(), X, SIGNS, "C", 1.0, 2.0)
    with pytest.raises(InvalidProblemError, match="between 1 and 2"):
        found.at(3.0)


LEFT_OUT = {
    "C-SVC": (SVC(C=10.0, gamma=1.0), X, SIGNS),
    "C-SVC, squared": (SVC(C=10.0, gamma=1.0, loss="squared_hinge"), X, SIGNS),
    "SVR": (SVR(C=10.0, gamma=1.0), X, TARGETS),
    "nu-SVC": (NuSVC(nu=0.3, gamma=1.0), X, SIGNS),
    "nu-SVR": (NuSVR(C=10.0, gamma=1.0, nu=0.4), X, TARGETS),
    "one-class": (OneClassSVM(nu=0.3, gamma=1.0), X, None),
    "mu-SVM": (MuSVC(mu=0.2, gamma=1.0), X, SIGNS),
    "AD-SVM": (ADSVC(mu=0.2, gamma=1.0), APART, CODES),
    "AD-SVM of two classes": (ADSVC(mu=0.2, gamma=1.0), X, SIGNS),
    "MC-SVM": (MCSVC(beta=0.1, gamma=1.0), APART, CODES),
}


def refit(estimator, samples, y, out):
    """The machine trained without some samples; sums that nu sets stay what they were."""
    kept = np.setdiff1d(np.arange(len(samples)), out)
    parameters = estimator.get_params() | {"tol": 1e-10}
    if "nu" in parameters:
        parameters["nu"] *= len(samples) / len(kept)
    return type(estimator)(**parameters).fit(samples[kept], None if y is None else y[kept])


def decide(model, samples):
    return (model.decision_function if hasattr(model, "decision_function") else model.predict)(samples)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_leave_one_out_is_what_machines_say_that_have_not_seen_the_sample(name):
    estimator, samples, y = LEFT_OUT[name]
    found = leave_one_out(estimator, samples, y)
    assert found.refits == 0
    assert found.n_events == found.events.sum() > 0
    for i in range(len(samples)):
        model = refit(estimator, samples, y, [i])
        assert found.decision[i] == pytest.approx(decide(model, samples[[i]])[0], abs=1e-7)
        expected = model.predict(samples[[i]])[0]
        assert found.prediction[i] == (
            pytest.approx(expected, abs=1e-7) if isinstance(expected, float) else expected
        )


@pytest.mark.parametrize("name", LEFT_OUT)
def test_cross_validation_is_what_machines_say_that_have_not_seen_the_fold(name):
    estimator, samples, y = LEFT_OUT[name]
    fold = np.arange(len(samples)) % 7 % 4
    found = cross_validate(estimator, samples, y, fold)
    for k in range(4):
        mine = np.flatnonzero(fold == k)
        model = refit(estimator, samples, y, mine)
        assert found.decision[mine] == pytest.approx(decide(model, samples[mine]), abs=1e-7)
    assert found.n_events == sum(found.events[fold == k][0] for k in range(4)) > 0
    named = cross_validate(estimator, samples, y, np.array(list("abcd"))[fold])
    np.testing.assert_array_equal(named.decision, found.decision)
    assert len(cross_validate(estimator, samples, y).prediction) == len(samples)


ENDS = {
    "C-SVC": SVC(C=0.1, kernel="linear"),
    "nu-SVC": NuSVC(nu=2 / 3, kernel="linear"),
    "mu-SVM": MuSVC(mu=0.5, kernel="linear"),
    "SVR": SVR(C=0.1, epsilon=1.0, kernel="linear"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_sample_without_a_multiplier_may_fix_an_end_of_the_bias_interval(name):
    """With no free multiplier the bias is the middle of an interval, which is wider without that sample."""
    estimator, moved, rng = ENDS[name], 0, np.random.default_rng(5)
    for _ in range(25):
        samples = rng.normal(size=(6, 1)).round(2)
        labels = np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0 if name == "C-SVC" else -1.0])
        y = samples[:, 0] if name == "SVR" else labels
        samples[:, 0] += 3.0 * (name == "nu-SVC") * (y > 0)  # hulls that do not meet
        found, full = leave_one_out(estimator, samples, y), pose(estimator, samples, y)
        everyone = full.decisions(exact(full), np.arange(6))
        for i in range(6):
            expected = decide(refit(estimator, samples, y, [i]), samples[[i]])[0]
            assert found.decision[i] == pytest.approx(expected, abs=1e-6)
            moved += found.events[i] == 0 and abs(expected - everyone[i]) > 1e-3
    assert moved > 5, name


@pytest.mark.parametrize("name", [*LEFT_OUT, "squared C-SVC", "squared SVR"])
def test_a_sample_is_learned_by_a_walk_from_the_machine_without_it(name):
    squared = {
        "squared C-SVC": (SVC(C=10.0, gamma=1.0, loss="squared_hinge"), X, SIGNS),
        "squared SVR": (SVR(C=10.0, gamma=1.0, loss="squared_epsilon_insensitive"), X, TARGETS),
    }
    estimator, samples, y = (LEFT_OUT | squared)[name]
    posed = pose(estimator, samples, y)
    full, everyone = exact(posed), np.arange(len(samples))
    objective = posed.problem.objective(full.z, full.gradient)
    learned = 0
    for i in range(0, len(samples), 3):
        indices = posed.indices(np.array([i]))
        before = unlearned(posed, indices)
        assert not before.z[indices].any()
        after, walk, moving = learn(posed, before, indices, record=True)
        assert walk is not None
        assert set(moving) <= set(indices)
        assert posed.decisions(after, everyone) == pytest.approx(posed.decisions(full, everyone), abs=1e-7)
        assert posed.problem.objective(after.z, after.gradient) == pytest.approx(objective, abs=1e-8)
        assert bool(walk.segments) or not full.z[indices].any()
        if walk.segments and full.z[indices].any():
            learned += 1
            assert walk.at(walk.start) == pytest.approx(before.z, abs=1e-12)
    assert learned > 2


@pytest.mark.parametrize("name", LEFT_OUT)
def test_learning_then_unlearning_a_sample_gives_back_the_start(name):
    estimator, samples, y = LEFT_OUT[name]
    posed = pose(estimator, samples, y)
    full = exact(posed)
    held = [i for i in range(len(samples)) if full.z[posed.indices(np.array([i]))].any()]
    for i in held[::4]:
        indices = posed.indices(np.array([i]))
        before = unlearned(posed, indices)
        after, walk, _ = learn(posed, before, indices)
        assert walk is not None
        assert after.z[indices].any()
        back, walk = without(posed, after, indices)
        assert walk is not None
        assert walk.status == "arrived"
        assert back.z == pytest.approx(before.z, abs=1e-8 * max(1.0, np.abs(before.z).max()))
        assert back.gradient == pytest.approx(before.gradient, abs=1e-8 * np.abs(before.gradient).max())
        for walker in (before, back):
            assert not walker.z[indices].any()


def test_what_cannot_be_left_out_is_said_in_one_sentence():
    with pytest.raises(InvalidProblemError, match="lower nu or raise mu"):
        leave_one_out(MuSVC(mu=1 / np.count_nonzero(SIGNS > 0), kernel="linear"), X, SIGNS)
    with pytest.raises(InvalidProblemError, match="folds"):
        cross_validate(SVC(), X, SIGNS, 1)
    with pytest.raises(InvalidProblemError, match="one entry for each"):
        cross_validate(SVC(), X, SIGNS, [0, 1])
    for folds in (2.5, "a", None, np.nan, 41):
        with pytest.raises(InvalidProblemError, match="a whole number from 2 to 40"):
            cross_validate(SVC(), X, SIGNS, folds)
    fold = np.arange(40) % 4
    for folds in (np.where(fold == 1, np.nan, fold), 0.5 * fold, np.where(fold == 1, None, fold)):
        with pytest.raises(InvalidProblemError, match="whole numbers or text"):
            cross_validate(SVC(), X, SIGNS, folds)
    with pytest.raises(InvalidProblemError, match="two folds or more"):
        cross_validate(SVC(), X, SIGNS, np.zeros(40))


@pytest.mark.parametrize(
    "left_out", [lambda one: leave_one_out(one, X, SIGNS), lambda one: path(one, X, SIGNS)]
)
def test_a_class_of_weight_zero_is_refused_as_by_fit(left_out):
    estimator = SVC(class_weight={1: 0})
    for ask in (lambda one: one.fit(X, SIGNS), left_out):
        with pytest.raises(InvalidProblemError, match="of weight above 0 are of one class"):
            ask(estimator)


@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_a_path_in_mu_may_end_where_all_are_at_a_bound(mu):
    y = np.repeat([1, -1], 10)
    found = path(MuSVC(gamma=0.5), X[:20], y, "mu", mu, 0.1)
    np.testing.assert_allclose(found.at(0.1), 0.1, rtol=1e-12)
    assert np.isfinite(found.bias).all()
    assert len(found.coefficients) == len(found.breakpoints)


def test_a_path_of_no_length_is_its_start():
    found = path(SVC(gamma=1.0), X, SIGNS, "C", 3.0, 3.0)
    np.testing.assert_allclose(
        found.at(3.0), spread(SVC(gamma=1.0, C=3.0, tol=1e-10).fit(X, SIGNS), len(X)), atol=1e-7
    )
    assert found.breakpoints.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_a_fold_may_hold_a_whole_class(loss, C):
    left = cross_validate(SVC(C=C, gamma=1.0, loss=loss), X, SIGNS, (SIGNS > 0).astype(int))
    assert left.refits == 0
    np.testing.assert_allclose(left.decision, -SIGNS, atol=1e-9)


def test_a_start_that_depends_on_itself_is_refused_in_words():
    rng = np.random.default_rng(7)
    machine = SVC(C=0.1, kernel="linear", loss="squared_hinge")
    with pytest.raises(InvalidProblemError, match="scale the features"):
        leave_one_out(machine, 1e8 * rng.normal(size=(10, 2)), np.resize([1, 1, -1], 10))
