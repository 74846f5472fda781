"""SVC and SVR against scikit-learn: decision values, layout, conventions."""

import numpy as np
import pytest
from sklearn import datasets, svm
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from svmviz import SVC, SVR, InvalidProblemError

TIGHT = 1e-10
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
]


def two_classes():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return scale(X)[:200], y[:200]


@pytest.mark.parametrize("parameters", KERNELS)
def test_two_classes(parameters):
    X, y = two_classes()
    ours = SVC(C=2.0, tol=TIGHT, **parameters).fit(X, y)
    theirs = svm.SVC(C=2.0, tol=TIGHT, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize("load", [datasets.load_iris, datasets.load_wine])
def test_three_classes(parameters, load):
    X, y = load(return_X_y=True)
    X, names = scale(X), np.array(["setosa", "b", "C"])[y]
    for shape in ("ovr", "ovo"):
        ours = SVC(tol=TIGHT, decision_function_shape=shape, **parameters).fit(X, names)
        theirs = svm.SVC(tol=TIGHT, decision_function_shape=shape, **parameters).fit(X, names)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    if load is datasets.load_wine:  # Iris holds duplicates, which share their multipliers in many ways
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression(parameters, epsilon):
    X, y = datasets.load_diabetes(return_X_y=True)
    X, y = scale(X)[:150], scale(y[:150])
    ours = SVR(C=0.5, epsilon=epsilon, tol=TIGHT, **parameters).fit(X, y)
    theirs = svm.SVR(C=0.5, epsilon=epsilon, tol=TIGHT, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)


def test_weights_as_in_scikit_learn():
    X, y = two_classes()
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    weights[:10] = 0
    for options in ({"class_weight": "balanced"}, {"class_weight": {0: 3.0}}, {}):
        ours = SVC(tol=TIGHT, **options).fit(X, y, sample_weight=weights)
        theirs = svm.SVC(tol=TIGHT, **options).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    y = X[:, 0]
    ours = SVR(tol=TIGHT).fit(X, y, sample_weight=weights)
    theirs = svm.SVR(tol=TIGHT).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_precomputed_and_callable():
    X, y = two_classes()
    plain = SVC(kernel="linear", tol=TIGHT).fit(X, y)
    pre = SVC(kernel="precomputed", tol=TIGHT).fit(X @ X.T, y)
    call = SVC(kernel=lambda a, b: a @ b.T, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(pre.decision_function(X @ X.T), plain.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(call.decision_function(X), plain.decision_function(X), atol=1e-6)
    assert pre.certificate_.status == "optimal"


def test_scikit_learn_can_clone_and_cross_validate():
    X, y = datasets.load_iris(return_X_y=True)
    scores = cross_val_score(SVC(C=10.0), X, y, cv=3, scoring="accuracy")
    assert scores.min() > 0.9
    assert clone(SVR(epsilon=0.3)).epsilon == 0.3


def test_pairs_alone_come_within_their_gap_of_the_newton_phase():
    X, y = two_classes()
    for make, target in ((SVC, y), (SVR, X[:, 0])):
        exact = make(C=10.0).fit(X, target).certificate_
        plain = make(C=10.0, newton=False).fit(X, target).certificate_
        assert plain.iterations > exact.iterations
        assert exact.objective - exact.gap <= plain.objective <= exact.objective + plain.gap


def test_bias_interval_without_free_multipliers():
    # Tiny C: every multiplier is at its bound and any bias in an interval is optimal.
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    model = SVC(C=1e-3, kernel="linear", tol=1e-12).fit(X, y)
    expansion = model.pairs_[0].expansion
    assert not expansion.free.any()
    low, high = expansion.bias_interval
    assert high - low > 1.0
    assert model.intercept_[0] == pytest.approx((low + high) / 2)


def test_parameters():
    model = SVC(C=3.0)
    assert model.get_params()["C"] == 3.0
    assert model.set_params(C=4.0, gamma="auto").C == 4.0
    assert repr(SVC(C=2.0, kernel="linear")) == "SVC(C=2.0, kernel='linear')"
    with pytest.raises(ValueError, match="no parameter"):
        model.set_params(depth=3)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [1.0]], [1, 1], "one class"),
        ([[0.0], [np.nan]], [0, 1], "NaN"),
        ([[0.0], ["a"]], [0, 1], "numbers"),
        ([0.0, 1.0], [0, 1], "table"),
        ([[0.0], [1.0]], [0, 1, 2], "one label"),
        (np.zeros((0, 2)), [], "no samples"),
        ([[0.0], [1.0]], [0.0, np.nan], "labels"),
    ],
)
def test_bad_data_for_a_classifier(X, y, message):
    with pytest.raises(InvalidProblemError, match=message):
        SVC().fit(X, y)


def test_bad_parameters():
    X, y = [[0.0], [1.0]], [0, 1]
    for parameters in ({"C": 0}, {"C": -1}, {"tol": 0}, {"kernel": "cubic"}, {"class_weight": "even"}):
        with pytest.raises(InvalidProblemError):
            SVC(**parameters).fit(X, y)
    with pytest.raises(InvalidProblemError, match="epsilon"):
        SVR(epsilon=-0.1).fit(X, y)
    with pytest.raises(InvalidProblemError, match="targets"):
        SVR().fit(X, [0.0, np.inf])
    with pytest.raises(InvalidProblemError, match="sample_weight"):
        SVC().fit(X, y, sample_weight=[-1, 1])
    with pytest.raises(InvalidProblemError, match="one class"):
        SVC().fit(X, y, sample_weight=[0, 1])
    with pytest.raises(InvalidProblemError, match="square"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not fitted"):
        SVC().predict(X)
    with pytest.raises(ValueError, match="not fitted"):
        SVR().predict(X)
    with pytest.raises(InvalidProblemError, match="features"):
        SVC().fit(X, y).predict([[1.0, 2.0]])


def test_bad_C_is_found_before_any_kernel_value():
    def explode(a, b):
        raise AssertionError("the kernel was evaluated")

    for model in (SVC(C=-1, kernel=explode), SVR(C=-1, kernel=explode), SVR(epsilon=-1, kernel=explode)):
        with pytest.raises(InvalidProblemError):
            model.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidProblemError, match="one class"):
        SVC(kernel=explode).fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(InvalidProblemError, match="selection"):
        SVC(selection="best", kernel=explode).fit([[0.0], [1.0]], [0, 1])
