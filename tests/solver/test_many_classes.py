"""One against the rest, one against one, and several prototypes a class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets, multiclass, svm
from sklearn.preprocessing import scale

from svmviz import ADSVC, MCSVC, SVC, InvalidProblemError, NuSVC, OneClassSVM, OneVsOneSVC, OneVsRestSVC
from svmviz.machines import ad_svm

TIGHT = 1e-10
NAMES = np.array(["setosa", "b", "C"])
KERNELS = [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "rbf"}]


def three_classes():
    X, y = datasets.load_wine(return_X_y=True)
    return scale(X), NAMES[y]


@pytest.mark.parametrize("kind", [SVC, NuSVC, OneVsOneSVC, OneVsRestSVC, MCSVC, ADSVC, OneClassSVM])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_decisions_by_blocks_are_those_in_one_go(kind, kernel, monkeypatch):
    X, y = three_classes()
    samples = X @ X.T if kernel == "precomputed" else X
    parameters = {"nu": 0.2} if kind in (NuSVC, OneClassSVM) else {"mu": 0.1} if kind is ADSVC else {}
    model = kind(kernel=kernel, **parameters).fit(samples, y)
    whole = model.decision_function(samples)
    for values in (1, 7 * len(model.support_)):  # one sample at once, and seven
        monkeypatch.setattr("svmviz.estimators.base.VALUES_AT_ONCE", values)
        np.testing.assert_allclose(model.decision_function(samples), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("parameters", KERNELS)
def test_one_against_the_rest_is_that_of_scikit_learn(parameters):
    X, y = three_classes()
    ours = OneVsRestSVC(C=0.5, tol=TIGHT, **parameters).fit(X, y)
    theirs = multiclass.OneVsRestClassifier(svm.SVC(C=0.5, tol=TIGHT, **parameters)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.dual_coef_.shape == (3, len(ours.support_))
    assert ours.intercept_.shape == ours.n_iter_.shape == (3,)
    assert ours.certificate_.status == "optimal"
    assert ours.certificate_.objective == sum(c.objective for c in ours.certificates_)
    assert ours.certificate_.primal == pytest.approx(ours.certificate_.dual, rel=1e-6)


def test_one_against_the_rest_evaluates_the_kernel_once():
    X, y = three_classes()
    calls = []

    def kernel(a, b):
        calls.append(len(a))
        return a @ b.T

    OneVsRestSVC(kernel=kernel).fit(X, y)
    assert calls == [len(X)]


def test_one_against_the_rest_with_two_classes_is_one_machine():
    X, y = three_classes()
    X, y = X[y != "b"], y[y != "b"]
    rest, plain = OneVsRestSVC(tol=TIGHT).fit(X, y), SVC(tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(rest.decision_function(X), plain.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(rest.predict(X), plain.predict(X))
    assert rest.certificate_.objective == pytest.approx(plain.certificate_.objective)
    np.testing.assert_array_equal(rest.dual_coef_[0], -rest.dual_coef_[1])
    first, second = (e.bias_interval for e in rest.expansions_)
    assert first == (-second[1], -second[0])


def test_weights_one_against_the_rest():
    X, y = three_classes()
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    weights[:10] = 0
    ours = OneVsRestSVC(tol=TIGHT, class_weight={"b": 3.0}).fit(X, y, sample_weight=weights)
    for r, name in enumerate(ours.classes_):
        each = weights * np.where(y == "b", 3.0, 1.0)
        theirs = svm.SVC(tol=TIGHT).fit(X, y == name, sample_weight=each)
        np.testing.assert_allclose(ours.decision_function(X)[:, r], theirs.decision_function(X), atol=1e-5)
    with pytest.raises(InvalidProblemError, match="weight 0"):
        OneVsRestSVC().fit(X, y, sample_weight=(y != "b").astype(float))


def test_one_against_one_is_svc_by_another_name():
    X, y = three_classes()
    named, plain = OneVsOneSVC(C=2.0).fit(X, y), SVC(C=2.0, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_array_equal(named.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(named.predict(X), plain.predict(X))
    assert len(named.pairs_) == 3
    assert "decision_function_shape" not in named.get_params()
    assert set(named.get_params()) == set(OneVsRestSVC().get_params())


def rings(rng, n):
    """Two classes that take turns along a line: one prototype a class cannot tell them apart."""
    codes = np.repeat([0, 1], n)
    X = rng.normal(scale=0.3, size=(2 * n, 2))
    X[:, 0] += 3 * (codes + 2 * (np.arange(2 * n) % 2))
    return X, codes


def test_several_prototypes_tell_apart_what_one_cannot():
    X, y = rings(np.random.default_rng(0), 40)
    for rule in ("thesis", "nearest"):
        one, two = (ADSVC(mu=0.1, n_prototypes=p, rule=rule, kernel="linear").fit(X, y) for p in (1, 2))
        assert one.score(X, y) < 0.8
        assert two.prototypes_.coef.shape == (4, len(X))
        np.testing.assert_array_equal(two.prototype_class_, [0, 0, 1, 1])
        assert two.decision_function(X).shape == (len(X),)
    assert two.score(X, y) == 1.0  # the nearest of four prototypes, one in each heap


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_prototypes_link_and_score_as_they_should(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_prototypes = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, int(rng.integers(5, 40)))])
    X = rng.normal(size=(len(codes), 2)) + codes[:, None]
    weights = np.triu(rng.uniform(0.1, 3, (n_classes, n_classes)), 1)
    weights += weights.T
    least = ad_svm.smallest_mu(codes, n_prototypes)
    mu = float(rng.choice([1.0, least, rng.uniform(least, 1)]))
    rule = str(rng.choice(["thesis", "nearest"]))
    model = ADSVC(
        mu=mu, n_prototypes=n_prototypes, kernel="linear", rule=rule, pair_weights=weights, tol=1e-9
    ).fit(X, codes)
    owner, u = model.prototype_class_, model.prototypes_.coef
    np.testing.assert_array_equal(np.bincount(owner), np.minimum(n_prototypes, np.bincount(codes)))
    np.testing.assert_allclose(u.sum(axis=1), 1.0)
    assert u.max() <= mu
    assert not u[owner[:, None] != codes].any()
    v = u @ X
    squared = ((v[:, None] - v) ** 2).sum(-1)
    linked = np.where(owner[:, None] == owner, 0.0, weights[owner][:, owner])
    assert model.certificate_.objective == pytest.approx(np.sum(linked * squared) / 8, abs=1e-9)
    w = v - v.mean(axis=0)
    scores = X @ w.T - np.einsum("pd,pd->p", w, v if rule == "thesis" else (v + v.mean(axis=0)) / 2)
    best = np.column_stack([scores[:, owner == r].max(axis=1) for r in range(n_classes)])
    got = model.decision_function(X)
    np.testing.assert_allclose(got, best if n_classes > 2 else best[:, 1] - best[:, 0], atol=1e-9)
    np.testing.assert_allclose(model.prototypes_.normals @ X, w, atol=1e-9)


def test_with_several_prototypes_mu_has_another_range():
    y = np.repeat([0, 1], [7, 9])
    X = np.random.default_rng(1).normal(size=(16, 2))
    # Seven samples in three clusters: at least two each, so mu is at least 1/2.
    with pytest.raises(InvalidProblemError, match=r"at least 0\.5.*3 prototypes"):
        ADSVC(mu=0.4, n_prototypes=3).fit(X, y)
    model = ADSVC(mu=0.5, n_prototypes=3).fit(X, y)
    assert (model.prototypes_.coef > 0).sum(axis=1).min() >= 2
    assert len(ADSVC(n_prototypes=20).fit(X, y).prototype_class_) == 16
    for wrong in (0, 1.5, "two"):
        with pytest.raises(InvalidProblemError, match="n_prototypes"):
            ADSVC(n_prototypes=wrong).fit(X, y)
