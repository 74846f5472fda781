"""Walks of machines whose samples have weights, against machines that are trained with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

RNG = np.random.default_rng(3)
N = 30
X = RNG.normal(size=(N, 2))
SIGNS = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0, 1, -1)
TARGETS = np.sin(X[:, 0]) + 0.2 * RNG.normal(size=N)
CODES = np.arange(N) % 3
WEIGHTS = RNG.uniform(0.2, 2.0, N)
WEIGHTS[::7] = 0.0

MACHINES = {
    "C-SVC": (SVC(C=5.0, gamma=1.0), SIGNS),
    "C-SVC, weights of classes too": (SVC(C=5.0, gamma=1.0, class_weight={1: 3.0}), SIGNS),
    "C-SVC, squared": (SVC(C=5.0, gamma=1.0, loss="squared_hinge"), SIGNS),
    "SVR": (SVR(C=5.0, gamma=1.0), TARGETS),
    "SVR, squared": (SVR(C=5.0, gamma=1.0, loss="squared_epsilon_insensitive"), TARGETS),
    "nu-SVC": (NuSVC(nu=0.3, gamma=1.0), SIGNS),
    "nu-SVR": (NuSVR(C=5.0, gamma=1.0, nu=0.4), TARGETS),
    "one-class": (OneClassSVM(nu=0.3, gamma=1.0), None),
    "MC-SVM": (MCSVC(beta=0.2, gamma=1.0), CODES),
}


def fitted(estimator, y, kept, **changed):
    """The machine of the samples that are kept (a mask), with the sums that all of them set."""
    parameters = estimator.get_params() | changed | {"tol": 1e-11}
    if "nu" in parameters:
        parameters["nu"] *= WEIGHTS.sum() / WEIGHTS[kept].sum()
    targets = () if y is None else (y[kept],)
    return type(estimator)(**parameters).fit(X[kept], *targets, sample_weight=WEIGHTS[kept])


def decide(model, samples):
    return (model.decision_function if hasattr(model, "decision_function") else model.predict)(samples)


@pytest.mark.parametrize("name", MACHINES)
def test_leave_one_out_with_weights_is_a_refit_with_weights(name):
    estimator, y = MACHINES[name]
    left = leave_one_out(estimator, X, y, sample_weight=WEIGHTS)
    plain = leave_one_out(estimator, X, y)
    for i in range(N):
        model = fitted(estimator, y, np.arange(N) != i)
        assert left.decision[i] == pytest.approx(decide(model, X[[i]])[0], rel=1e-8, abs=1e-7)
        assert left.prediction[i] == pytest.approx(model.predict(X[[i]])[0], rel=1e-8, abs=1e-7)
    assert not left.events[WEIGHTS == 0].any()
    assert np.abs(left.decision - plain.decision).max() > 0.01


@pytest.mark.parametrize("name", MACHINES)
def test_folds_with_weights_are_refits_with_weights(name):
    estimator, y = MACHINES[name]
    fold = np.arange(N) % 5 % 3
    left = cross_validate(estimator, X, y, fold, sample_weight=WEIGHTS)
    for k in range(3):
        model = fitted(estimator, y, fold != k)
        assert left.decision[fold == k] == pytest.approx(decide(model, X[fold == k]), rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("name", ["C-SVC", "C-SVC, weights of classes too", "SVR", "nu-SVR"])
@pytest.mark.parametrize("ends", [(0.1, 50.0), (50.0, 0.1)])
def test_a_path_with_weights_is_that_of_fits_with_weights(name, ends):
    estimator, y = MACHINES[name]
    found = path(estimator, X, y, "C", *ends, sample_weight=WEIGHTS)
    everyone = np.ones(N, dtype=bool)
    for C in np.random.default_rng(1).uniform(0.1, 50.0, 20):
        model = fitted(estimator, y, everyone, C=C)
        coef = np.zeros(N)
        coef[model.support_] = model.dual_coef_[0]
        assert found.at(C) == pytest.approx(coef, abs=1e-6 * C)
        assert found.bias_at(C) == pytest.approx(model.intercept_[0], abs=1e-6)
    assert not found.coefficients[:, WEIGHTS == 0].any()
    assert not {event.sample for event in found.events} & set(np.flatnonzero(WEIGHTS == 0).tolist())


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.05, 1.0, 100.0]))
def test_a_sample_of_weight_zero_is_as_if_it_were_not_there(seed, C):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(N) < 0.3, 0.0, rng.uniform(0.1, 2.0, N))
    weights[:2], y = 1.0, SIGNS.copy()
    y[:2] = 1, -1
    there = weights > 0
    whole = leave_one_out(SVC(C=C, gamma=1.0), X, y, sample_weight=weights)
    part = leave_one_out(SVC(C=C, gamma=1.0), X[there], y[there], sample_weight=weights[there])
    np.testing.assert_allclose(whole.decision[there], part.decision, atol=1e-8)
    model = SVC(C=C, gamma=1.0, tol=1e-11).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(whole.decision[~there], model.decision_function(X[~there]), atol=1e-7)


@pytest.mark.parametrize("estimator", [ADSVC(mu=0.5), MuSVC(mu=0.5)])
def test_machines_that_take_no_weights_say_so(estimator):
    for walked, options in ((leave_one_out, {}), (cross_validate, {}), (path, {"parameter": "mu"})):
        with pytest.raises(InvalidProblemError, match="takes no sample_weight"):
            walked(estimator, X, SIGNS, sample_weight=WEIGHTS, **options)


def test_weights_that_cannot_be_used_are_refused_as_by_fit():
    for weights in (WEIGHTS[1:], -WEIGHTS, np.zeros(N)):
        with pytest.raises(InvalidProblemError, match="sample_weight must hold 30 numbers"):
            leave_one_out(SVC(), X, SIGNS, sample_weight=weights)
    with pytest.raises(InvalidProblemError, match="of weight above 0 are of one class"):
        leave_one_out(SVC(), X, SIGNS, sample_weight=SIGNS > 0)
