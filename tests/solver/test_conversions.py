"""nu, mu and C as one family: the same decision function, converted and trained afresh."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.preprocessing import scale

from svmviz import ADSVC, SVC, SVR, InvalidProblemError, MuSVC, NuSVC, NuSVR, OneVsOneSVC, convert
from svmviz.conversions import ranges
from svmviz.kernels import LinearKernel, make_kernel

TIGHT = 1e-11
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
]


def cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return scale(X)[:200], np.array(["bad", "good"])[y[:200]]


def wine():
    X, y = datasets.load_wine(return_X_y=True)
    return scale(X[y > 0]), y[y > 0]


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return scale(X)[:150], scale(y[:150])


def sources(parameters):
    return [
        SVC(C=0.37, tol=TIGHT, **parameters),
        NuSVC(nu=0.203, tol=TIGHT, **parameters),
        MuSVC(mu=0.047, tol=TIGHT, **parameters),
    ]


def values(model, X):
    """Decision values in the scale of the C-SVC."""
    return model.decision_function(X) / (model.rho_ if isinstance(model, MuSVC) else 1.0)


@pytest.mark.parametrize("load", [cancer, wine])
@pytest.mark.parametrize("parameters", KERNELS)
def test_classifiers_are_their_relatives(load, parameters):
    X, y = load()
    for source in sources(parameters):
        source.fit(X, y)
        for to in (SVC, NuSVC, MuSVC):
            twin = convert(source, to, X, y)
            np.testing.assert_allclose(values(twin, X), values(source, X), rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(twin.predict(X), source.predict(X))
            certificate = twin.certificate_
            assert certificate.status == "optimal"
            assert certificate.iterations == 0
            assert certificate.gap <= 1e-6 * max(abs(certificate.objective), 1e-3)
            fresh = to(**twin.get_params()).fit(X, y)
            np.testing.assert_allclose(values(fresh, X), values(source, X), atol=1e-6)
            assert fresh.certificate_.objective == pytest.approx(certificate.objective, rel=1e-7)
            assert twin.dual_coef_.shape == fresh.dual_coef_.shape
            np.testing.assert_array_equal(twin.support_, fresh.support_)


@pytest.mark.parametrize("parameters", KERNELS)
def test_regressors_are_their_relatives(parameters):
    X, y = diabetes()
    for source in (
        SVR(C=0.5, epsilon=0.2, tol=TIGHT, **parameters),
        NuSVR(C=0.5, nu=0.305, tol=TIGHT, **parameters),
    ):
        source.fit(X, y)
        for to in (SVR, NuSVR):
            twin = convert(source, to, X, y)
            np.testing.assert_array_equal(twin.predict(X), source.predict(X))
            assert twin.certificate_.status == "optimal"
            fresh = to(**twin.get_params()).fit(X, y)
            np.testing.assert_allclose(fresh.predict(X), source.predict(X), atol=1e-6)
    assert isinstance(twin, NuSVR)
    assert twin.nu == pytest.approx(0.305)
    assert twin.epsilon_ == pytest.approx(fresh.epsilon_, abs=1e-6)


def test_the_parameters_are_those_of_the_books():
    X, y = cancer()
    source = NuSVC(nu=0.2, tol=TIGHT).fit(X, y)
    plain, mu = convert(source, SVC, X, y), convert(source, MuSVC, X, y)
    assert mu.mu == pytest.approx(2 / (0.2 * len(X)))
    assert np.abs(plain.dual_coef_).sum() / (plain.C * len(X)) == pytest.approx(0.2)
    assert convert(plain, NuSVC, X, y).nu == pytest.approx(0.2)
    assert convert(mu, NuSVC, X, y).nu == pytest.approx(0.2)
    assert convert(convert(mu, SVC, X, y), MuSVC, X, y).mu == pytest.approx(mu.mu)
    np.testing.assert_allclose(mu.prototypes_.coef.sum(axis=1), 1.0)
    assert plain.certificate_.primal == pytest.approx(plain.certificate_.dual)


def test_a_converted_machine_can_be_pickled_and_predicts_new_samples():
    X, y = cancer()
    K = X @ X.T
    source = NuSVC(nu=0.2, kernel="precomputed", tol=TIGHT, cache_size=50.0, shrinking=False).fit(K, y)
    for to in (SVC, MuSVC):
        twin = pickle.loads(pickle.dumps(convert(source, to, K, y)))
        np.testing.assert_array_equal(twin.predict(K[:7]), source.predict(K[:7]))
        assert (twin.cache_size, twin.shrinking) == (50.0, False)
    # OneVsOneSVC is an SVC.
    assert convert(OneVsOneSVC().fit(X, y), NuSVC, X, y).nu > 0


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_round_trips_on_random_data(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    source = SVC(C=float(10 ** rng.uniform(-3, 3)), gamma=0.5, tol=1e-9).fit(X, y)
    for through in (NuSVC, MuSVC):
        twin = convert(source, through, X, y)
        np.testing.assert_allclose(values(twin, X), source.decision_function(X), rtol=1e-6, atol=1e-8)
        back = convert(twin, SVC, X, y)
        np.testing.assert_allclose(
            back.decision_function(X), source.decision_function(X), rtol=1e-6, atol=1e-8
        )
        # A mu above 1 counts as 1: then no multiplier is at C, and C can be lower.
        assert back.C <= source.C * (1 + 1e-6)
        assert twin.certificate_.gap >= 0


@pytest.mark.parametrize("seed", range(8))
def test_where_the_hulls_meet(seed):
    """The range agrees with the machines: apart just above, together just below."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > rng.choice([0.0, 0.8]), 1, 0)
    y[X[:, 0] > 1.2] = (
        1  # else the mean of the smaller class can lie among the others, and the hulls always meet
    )
    found = ranges(LinearKernel()(X, X), np.where(y > 0, 1.0, -1.0))
    assert 0 < found.nu_meet <= found.nu_most
    assert found.nu_most == pytest.approx(2 * np.bincount(y).min() / 60)
    assert found.mu_least == pytest.approx(1 / np.bincount(y).min())
    assert found.mu_meet == pytest.approx(2 / (found.nu_meet * 60))
    above = found.nu_meet + 0.2 * (found.nu_most - found.nu_meet)
    apart = NuSVC(nu=above, kernel="linear", tol=1e-9).fit(X, y)
    assert convert(apart, SVC, X, y).C > 0
    # The C that goes with it grows without end as nu falls to where they meet.
    near = NuSVC(nu=found.nu_meet * 1.001, kernel="linear", tol=1e-12).fit(X, y)
    assert convert(near, SVC, X, y).C > convert(apart, SVC, X, y).C
    large = SVC(C=1e5, kernel="linear", tol=1e-8).fit(X, y)
    assert convert(large, NuSVC, X, y).nu == pytest.approx(found.nu_meet, rel=1e-3)
    together = NuSVC(nu=0.95 * found.nu_meet, kernel="linear", tol=1e-9).fit(X, y)
    message = rf"hulls of the two classes meet.*above {found.nu_meet:.6g}.*below {found.mu_meet:.6g}"
    with pytest.raises(InvalidProblemError, match=message):
        convert(together, SVC, X, y)
    if found.mu_meet < 0.9:
        together = MuSVC(mu=1.1 * found.mu_meet, kernel="linear", tol=1e-9).fit(X, y)
        with pytest.raises(InvalidProblemError, match=message):
            convert(together, SVC, X, y)


def test_where_classes_can_be_separated_every_nu_has_a_C():
    X, y = datasets.load_iris(return_X_y=True)
    X, signs = X[:100], np.where(y[:100] > 0, 1.0, -1.0)
    for parameters in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 1.0}):
        kernel = make_kernel(X=X, **parameters)
        found = ranges(kernel(X, X), signs)
        assert (found.nu_meet, found.nu_most, found.mu_meet) == (0.0, 1.0, np.inf)
        assert "mu at least 0.02 and at most 1" in found.sentence()
    tiny = NuSVC(nu=1e-3, kernel="linear").fit(X, signs)
    np.testing.assert_array_equal(convert(tiny, MuSVC, X, signs).predict(X), signs)


def test_what_has_no_relative_says_so():
    X, y = cancer()
    weights = np.ones(len(y))
    weights[:50] = 2.5
    three = np.arange(len(y)) % 3
    target = X[:, 0]
    cases = [
        (SVC().fit(X, three), NuSVC, three, "two classes"),
        (SVC().fit(X, y, weights), NuSVC, y, "with weights"),
        (NuSVC(nu=0.2).fit(X, y, weights), SVC, y, "with weights"),
        (SVC(class_weight="balanced").fit(X, y), NuSVC, y, "with weights"),
        (SVC().fit(X, y), NuSVC, y[::-1], "other samples"),
        (SVC().fit(X, y), NuSVC, three % 2, "other samples"),
        (SVC(loss="squared_hinge").fit(X, y), NuSVC, y, "squared"),
        (SVC().fit(X, y), NuSVR, y, "one family"),
        (SVC().fit(X, y), ADSVC, y, "one family"),
        (ADSVC(mu=0.1).fit(X, y), SVC, y, "one family"),
        (SVR().fit(X, target), NuSVR, target[::-1], "other samples"),
        (SVR(C=0.01).fit(X, target, weights), NuSVR, target, "with weights"),
        (SVR(epsilon=9.0).fit(X, target), NuSVR, target, "below 2.87"),
        (SVR(loss="squared_epsilon_insensitive").fit(X, target), NuSVR, target, "squared"),
    ]
    for model, to, labels, message in cases:
        with pytest.raises(InvalidProblemError, match=message):
            convert(model, to, X, labels)
    with pytest.raises(InvalidProblemError, match="other samples"):
        convert(SVC().fit(X, y), NuSVC, X[:90], y[:90])
    with pytest.raises(ValueError, match="not fitted"):
        convert(SVC(), NuSVC, X, y)


def test_without_a_feature_space_the_sentence_is_about_the_kernel():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = NuSVC(nu=0.5, kernel="sigmoid", gamma=1.0, coef0=1.0).fit(X, y)
    assert np.isinf(model.certificate_.gap)
    assert model.certificate_.objective <= 0
    with pytest.raises(InvalidProblemError, match="not positive semidefinite"):
        convert(model, SVC, X, y)


def test_a_converted_nu_svc_has_the_rho_of_one_that_is_trained():
    X, y = np.array([[0.0, 0], [1, 0], [2, 1], [3, 1]]), [0, 0, 1, 1]
    trained = NuSVC(nu=0.5, kernel="linear", tol=1e-8).fit(X, y)
    again = convert(trained, NuSVC, X, y)
    assert again.pairs_[0].expansion.rho == pytest.approx(trained.pairs_[0].expansion.rho)
    plain = convert(trained, SVC, X, y)
    back = convert(plain, NuSVC, X, y)
    assert back.pairs_[0].expansion.rho == pytest.approx(1 / plain.C)
