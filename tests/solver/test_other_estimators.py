"""nu-machines, one-class, mu-SVM, AD-SVM and MC-SVM as estimators: against scikit-learn and each other."""

import numpy as np
import pytest
from sklearn import datasets, svm
from sklearn.base import clone
from sklearn.preprocessing import scale

from svmviz import ADSVC, MCSVC, InvalidProblemError, MuSVC, NuSVC, NuSVR, OneClassSVM

TIGHT = 1e-10
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
]
ALL = [ADSVC, MCSVC, MuSVC, NuSVC, NuSVR, OneClassSVM]


def two_classes():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return scale(X)[:200], y[:200]


@pytest.mark.parametrize("parameters", KERNELS)
def test_nu_svc_on_two_classes(parameters):
    X, y = two_classes()
    ours = NuSVC(nu=0.203, tol=TIGHT, **parameters).fit(X, y)
    theirs = svm.NuSVC(nu=0.203, tol=TIGHT, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.certificate_.status == "optimal"


@pytest.mark.parametrize("parameters", KERNELS)
def test_nu_svc_on_three_classes(parameters):
    X, y = datasets.load_wine(return_X_y=True)
    X, names = scale(X), np.array(["x", "b", "C"])[y]
    for shape in ("ovr", "ovo"):
        ours = NuSVC(nu=0.203, tol=TIGHT, decision_function_shape=shape, **parameters).fit(X, names)
        theirs = svm.NuSVC(nu=0.203, tol=TIGHT, decision_function_shape=shape, **parameters).fit(X, names)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape


@pytest.mark.parametrize("parameters", KERNELS)
def test_nu_svr(parameters):
    X, y = datasets.load_diabetes(return_X_y=True)
    X, y = scale(X)[:150], scale(y[:150])
    ours = NuSVR(C=0.5, nu=0.305, tol=TIGHT, **parameters).fit(X, y)
    theirs = svm.NuSVR(C=0.5, nu=0.305, tol=TIGHT, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    outside = np.abs(y - ours.predict(X)) > ours.epsilon_ + 1e-6
    assert outside.mean() <= 0.305
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)


@pytest.mark.parametrize("parameters", KERNELS[1:])
def test_one_class(parameters):
    X = scale(datasets.load_iris(return_X_y=True)[0])
    ours = OneClassSVM(nu=0.203, tol=1e-9, **parameters).fit(X)
    theirs = svm.OneClassSVM(nu=0.203, tol=1e-9, **parameters).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert ours.offset_ == pytest.approx(theirs.offset_[0], abs=1e-5)
    # A sample on the boundary is inside or outside by rounding only.
    clear = np.abs(ours.decision_function(X)) > 1e-6
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


@pytest.mark.parametrize("parameters", KERNELS)
def test_mu_svm_is_nu_svc_under_the_conversion(parameters):
    X, y = two_classes()
    nu = 0.203
    mu_machine = MuSVC(mu=2 / (nu * len(X)), tol=TIGHT, **parameters).fit(X, y)
    nu_machine = NuSVC(nu=nu, tol=TIGHT, **parameters).fit(X, y)
    scaled = mu_machine.decision_function(X) / mu_machine.rho_
    np.testing.assert_allclose(scaled, nu_machine.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("parameters", KERNELS)
def test_ad_svm_on_two_classes_is_the_mu_svm(parameters):
    X, y = two_classes()
    ad, mu = (make(mu=0.05, tol=TIGHT, **parameters).fit(X, y) for make in (ADSVC, MuSVC))
    np.testing.assert_allclose(ad.prototypes_.distances(), mu.prototypes_.distances(), atol=1e-7)
    # Their offsets differ: AD-SVM bisects the prototypes, the mu-SVM the margins.
    difference = ad.decision_function(X) - mu.decision_function(X)
    np.testing.assert_allclose(difference, difference[0], atol=1e-6)
    assert ad.certificate_.objective == pytest.approx(ad.prototypes_.distances()[0, 1] ** 2 / 4)


def test_ad_svm_rules_and_weights():
    X, y = datasets.load_iris(return_X_y=True)
    X = scale(X)
    thesis = ADSVC(mu=0.1, kernel="linear").fit(X, y)
    nearest = ADSVC(mu=0.1, kernel="linear", rule="nearest").fit(X, y)
    v = nearest.prototypes_.coef @ X
    closest = ((X[:, None] - v) ** 2).sum(-1).argmin(axis=1)
    np.testing.assert_array_equal(nearest.predict(X), closest)
    assert thesis.score(X, y) > 0.8
    weights = np.ones((3, 3))
    weights[0, 1] = weights[1, 0] = 20.0
    pulled = ADSVC(mu=0.1, kernel="linear", pair_weights=weights).fit(X, y)
    assert pulled.prototypes_.distances()[0, 1] <= thesis.prototypes_.distances()[0, 1] + 1e-6


def test_at_the_smallest_mu_prototypes_are_means():
    X, y = datasets.load_iris(return_X_y=True)
    model = ADSVC(mu=1 / 50, kernel="linear").fit(X, y)
    means = np.array([X[y == r].mean(axis=0) for r in range(3)])
    np.testing.assert_allclose(model.prototypes_.coef @ X, means, atol=1e-9)


def test_mc_svm_separates_what_can_be_separated():
    X, y = datasets.load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = MCSVC(beta=1e-2, gamma=0.5).fit(scale(X), names)
    assert model.score(scale(X), names) > 0.96
    assert model.decision_function(scale(X)).shape == (150, 3)
    two = MCSVC(kernel="linear").fit(X[:100], names[:100])
    assert two.decision_function(X[:100]).shape == (100,)
    assert two.score(X[:100], names[:100]) == 1.0


@pytest.mark.parametrize("make", ALL)
def test_conventions(make):
    X, y = two_classes()
    X, y = X[:60], y[:60]
    parameters = {"nu": 0.3} if "nu" in make().get_params() else {}
    model = clone(make(**parameters)).fit(X, y)
    assert model.n_features_in_ == X.shape[1]
    assert model.support_vectors_.shape == (len(model.support_), X.shape[1])
    assert model.dual_coef_.shape[1] == len(model.support_)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.gap >= 0
    K = model.kernel_(X, X)
    again = make(kernel="precomputed", **parameters).fit(K, y)
    value = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(again, value)(K), getattr(model, value)(X), atol=1e-6)
    with pytest.raises(ValueError, match="not fitted"):
        make().predict(X)
    with pytest.raises(InvalidProblemError, match="features"):
        model.predict(X[:, :3])


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (NuSVC(nu=0.9), [0, 0, 0, 1], "at most 0.5"),
        (NuSVC(nu=0.0), [0, 0, 1, 1], "nu must"),
        (NuSVR(nu=1.5), [0, 0, 1, 1], "nu must"),
        (NuSVR(nu=None), [0, 0, 1, 1], "nu must"),
        (NuSVC(nu="much"), [0, 0, 1, 1], "nu must"),
        (OneClassSVM(nu=None), None, "nu must"),
        (MCSVC(beta=None), [0, 0, 1, 1], "beta must"),
        (ADSVC(pair_weights="x"), [0, 0, 1, 1], "pair_weights must"),
        (ADSVC(pair_weights=[[0, 1], [1]]), [0, 0, 1, 1], "pair_weights must"),
        (OneClassSVM(nu=0.0), None, "nu must"),
        (ADSVC(mu=0.3), [0, 0, 1, 1], "at least 0.5"),
        (ADSVC(rule="best"), [0, 0, 1, 1], "rule"),
        (MuSVC(mu=0.3), [0, 0, 1, 1], "at least 0.5"),
        (MuSVC(), [0, 1, 2, 2], "two classes"),
        (MCSVC(beta=0.0), [0, 0, 1, 1], "beta"),
        (MCSVC(), [1, 1, 1, 1], "one class"),
        (ADSVC(), [1, 1, 1, 1], "one class"),
    ],
)
def test_what_is_not_feasible_is_said_before_any_kernel_value(model, y, message):
    def explode(a, b):
        raise AssertionError("the kernel was evaluated")

    model.set_params(kernel=explode)
    with pytest.raises(InvalidProblemError, match=message):
        model.fit([[0.0], [1.0], [2.0], [3.0]], y)


def test_a_fit_that_is_refused_leaves_the_last_one_as_it_was():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model = MuSVC(mu=0.5).fit(X, y)
    before = model.predict(X)
    with pytest.raises(InvalidProblemError):
        model.set_params(mu=1e-3).fit(X, np.array(["a", "b"])[y])
    np.testing.assert_array_equal(model.predict(X), before)
