"""Paths and left-out decisions with three classes and more, against fits for each value and without each sample."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets, svm
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale

from svmviz import (
    SVC,
    InvalidProblemError,
    NuSVC,
    OneVsOneSVC,
    OneVsRestSVC,
    Path,
    Paths,
    cross_validate,
    leave_one_out,
    path,
    record_path,
)
from svmviz.estimators.pairwise import elected, votes

TIGHT = 1e-12
SETS = {"Iris": datasets.load_iris, "Wine": datasets.load_wine}


def real(name):
    X, y = SETS[name](return_X_y=True)
    return scale(X), np.array(["setosa", "b", "C"])[y]


def blobs(seed, n_classes=4, n=40, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centres = 2.0 * np.column_stack([np.cos(np.arange(n_classes)), np.sin(2.0 * np.arange(n_classes))])
    return centres[y] + spread * rng.normal(size=(n, 2)), y


def tight(estimator, X, y, weights=None):
    """The estimator, fitted as well as floating point allows."""
    return type(estimator)(**(estimator.get_params() | {"tol": TIGHT})).fit(X, y, sample_weight=weights)


def refitted(estimator, X, y, kept, samples, weights):
    """Decisions and predictions at samples by a fit of those that are kept (a mask), with columns for all classes."""
    classes = np.unique(y)
    model = tight(estimator, X[kept], y[kept], weights[kept])
    told = model.decision_function(X[samples])
    there = np.searchsorted(classes, model.classes_)
    pairs = isinstance(estimator, SVC)
    if pairs and estimator.decision_function_shape == "ovo":
        every = list(combinations(range(len(classes)), 2))
        columns = [every.index(pair) for pair in combinations(there.tolist(), 2)]
        decisions = np.full((len(samples), len(every)), np.nan)
        told = -told[:, None] if told.ndim == 1 else told  # of two classes it is positive for the second
    else:
        columns = there
        decisions = np.full((len(samples), len(classes)), -np.inf)
        if told.ndim == 1:
            told = votes(told[:, None], [(0, 1)], 2) if pairs else np.column_stack([-told, told])
    decisions[:, columns] = told
    return decisions, model.predict(X[samples])


def assert_as_refitted(left, estimator, X, y, parts, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    for samples in parts:
        kept = ~np.isin(np.arange(len(X)), samples)
        decisions, predictions = refitted(estimator, X, y, kept, samples, weights)
        size = np.abs(decisions[np.isfinite(decisions)]).max()
        np.testing.assert_allclose(left.decision[samples], decisions, atol=1e-8 * max(1.0, size))
        np.testing.assert_array_equal(left.prediction[samples], predictions)


MACHINES = {
    "votes": SVC(C=2.0),
    "one column a pair": SVC(C=20.0, gamma=0.3, decision_function_shape="ovo"),
    "one against one": OneVsOneSVC(C=0.5, kernel="poly", degree=2, coef0=1.0, gamma=0.2),
    "squared": SVC(C=2.0, loss="squared_hinge"),
    "one against the rest": OneVsRestSVC(C=2.0),
    "one against the rest, squared": OneVsRestSVC(C=2.0, loss="squared_hinge"),
}


def with_gamma(estimator, X):
    """The same with a number in the place of gamma="scale", which a refit takes from fewer samples."""
    if estimator.gamma == "scale":
        estimator = type(estimator)(**(estimator.get_params() | {"gamma": 1.0 / (X.shape[1] * X.var())}))
    return estimator


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("name", MACHINES)
def test_leave_one_out_is_a_refit_of_all_machines(data, name):
    X, y = real(data)
    estimator = with_gamma(MACHINES[name], X)
    left = leave_one_out(estimator, X, y)
    columns = 3  # classes, and as many pairs
    assert left.decision.shape == (len(X), columns)
    assert left.refits == 0
    assert left.n_events == left.events.sum() > 0
    assert_as_refitted(left, estimator, X, y, np.arange(len(X))[::4, None])


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("name", MACHINES)
def test_folds_are_refits_of_all_machines(data, name):
    X, y = real(data)
    estimator = with_gamma(MACHINES[name], X)
    fold = np.random.default_rng(0).integers(0, 6, len(X))
    left = cross_validate(estimator, X, y, fold)
    assert left.refits == 0
    assert_as_refitted(left, estimator, X, y, [np.flatnonzero(fold == k) for k in range(6)])
    assert len(cross_validate(estimator, X, y).prediction) == len(X)


@pytest.mark.parametrize("rest", [False, True])
def test_leave_one_out_takes_samples_for_what_scikit_learn_does(rest):
    X, y = real("Iris")
    ours = OneVsRestSVC(C=2.0, gamma=0.5) if rest else SVC(C=2.0, gamma=0.5)
    theirs = svm.SVC(C=2.0, gamma=0.5, tol=1e-8)
    left = leave_one_out(ours, X, y)
    for i in range(0, len(X), 3):
        kept = np.arange(len(X)) != i
        model = (OneVsRestClassifier(theirs) if rest else theirs).fit(X[kept], y[kept])
        assert model.predict(X[[i]])[0] == left.prediction[i]
        assert model.decision_function(X[[i]])[0] == pytest.approx(left.decision[i], abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_nu_machines_keep_the_sums_of_all_samples(weighted):
    X, y = blobs(1)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    estimator, pairs = NuSVC(nu=0.2, gamma=0.5), list(combinations(range(4), 2))
    left = leave_one_out(estimator, X, y, sample_weight=weights)
    for i in range(0, len(X), 3):
        values = []
        for a, b in pairs:
            mine = np.isin(y, (a, b))
            kept = mine & (np.arange(len(X)) != i)
            nu = 0.2 * weights[mine].sum() / weights[kept].sum()
            model = NuSVC(nu=nu, gamma=0.5, tol=TIGHT).fit(X[kept], y[kept], sample_weight=weights[kept])
            values.append(model.decision_function(X[[i]]))
        counted = votes(np.column_stack(values), pairs, 4)
        np.testing.assert_allclose(left.decision[[i]], counted, atol=1e-7)
        assert left.prediction[i] == elected(counted)[0]


def drawn(seed):
    """Three to five classes, some of them of one sample or two, samples twice, weights, some of them zero."""
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(3, 6)), int(rng.integers(14, 30))
    sizes = [1, 2] if rng.random() < 0.5 else [1]
    few = np.repeat(np.arange(len(sizes)), sizes)
    y = np.concatenate([few, rng.integers(0, n_classes, n - len(few)), np.arange(n_classes)])
    X = rng.normal(size=(len(y), int(rng.integers(1, 4)))) + 0.7 * y[:, None]
    if rng.random() < 0.5:
        twice = rng.integers(0, len(y), 4)
        X[twice] = X[np.roll(twice, 1)]
    weights = rng.uniform(0.3, 2.0, len(y)) if rng.random() < 0.5 else np.ones(len(y))
    zero = np.flatnonzero(rng.random(len(y)) < 0.2)
    weights[zero[zero < len(y) - n_classes]] = 0.0
    C = float(10 ** rng.uniform(-2, 3))
    kernel = {"kernel": str(rng.choice(["linear", "rbf"])), "gamma": float(10 ** rng.uniform(-1, 0.5))}
    estimator = OneVsRestSVC(C, **kernel) if rng.random() < 0.3 else OneVsOneSVC(C, **kernel)
    return estimator, X, y, weights


def nearest_to_a_tie(decisions, votes):
    """How far (k,) from 0 the nearest decision between two classes is, or the two best scores from each other."""
    if votes:
        return np.abs(np.where(np.isnan(decisions), np.inf, decisions)).min(axis=1)
    return np.diff(np.sort(decisions, axis=1)[:, -2:]).ravel()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_what_random_machines_say_without_a_sample_or_a_fold(seed):
    estimator, X, y, weights = drawn(seed)
    fold = np.random.default_rng(seed).integers(0, 3, len(y))
    for left, parts in (
        (leave_one_out(estimator, X, y, sample_weight=weights), np.arange(len(y))[:, None]),
        (
            cross_validate(estimator, X, y, fold, sample_weight=weights),
            [np.flatnonzero(fold == k) for k in np.unique(fold)],
        ),
    ):
        for samples in parts:
            kept = (weights > 0) & ~np.isin(np.arange(len(y)), samples)
            if len(np.unique(y[kept])) < 2:
                continue  # a fit refuses
            decisions, predictions = refitted(estimator, X, y, kept, samples, weights)
            size = max(1.0, np.abs(decisions[np.isfinite(decisions)]).max())
            slack = 1e-7 * size
            np.testing.assert_allclose(left.decision[samples], decisions, atol=slack)
            sure = nearest_to_a_tie(decisions, votes=isinstance(estimator, SVC)) > 10 * slack
            np.testing.assert_array_equal(left.prediction[samples][sure], predictions[sure])


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_a_class_whose_only_sample_leaves_claims_nothing(shape):
    X, y = blobs(3, n_classes=3, n=30)
    X, y = np.vstack([X, [[9.0, 9.0]]]), np.append(y, 3)
    estimator = SVC(gamma=0.5, decision_function_shape=shape)
    left = leave_one_out(estimator, X, y)
    three = tight(estimator, X[:-1], y[:-1])
    told = three.decision_function(X[[-1]])[0]
    if shape == "ovr":
        np.testing.assert_allclose(left.decision[-1], [*told, -np.inf], atol=1e-8)
    else:  # (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
        lost = np.nan
        np.testing.assert_allclose(
            left.decision[-1], [told[0], told[1], lost, told[2], lost, lost], atol=1e-8
        )
    assert left.prediction[-1] == three.predict(X[[-1]])[0]
    assert np.isfinite(left.decision[:-1]).all()


@pytest.mark.parametrize("estimator", [SVC(), OneVsRestSVC(), NuSVC(nu=0.2, gamma=1.0)])
def test_the_last_class_that_is_left_takes_all(estimator):
    X, y = blobs(4, n_classes=3, n=30)
    left = cross_validate(estimator, X, y, (y > 0).astype(int))
    assert (left.prediction[y > 0] == 0).all()
    assert np.isneginf(left.decision[y > 0][:, 1:]).all()
    assert set(left.prediction[y == 0]) <= {1, 2}


def test_what_cannot_be_left_out_is_said_in_one_sentence():
    X, y = blobs(5)
    weights = (np.arange(len(y)) < 30).astype(float)
    with pytest.raises(
        InvalidProblemError, match="Without the 30 samples of a fold no sample of weight above 0"
    ):
        cross_validate(SVC(), X, y, weights, sample_weight=weights)
    with pytest.raises(InvalidProblemError, match="only samples of weight 0"):
        leave_one_out(SVC(), X, y, sample_weight=(y != 2).astype(float))
    with pytest.raises(InvalidProblemError, match="lower nu"):
        leave_one_out(NuSVC(nu=1.0, gamma=50.0), X, y)
    with pytest.raises(InvalidProblemError, match="decision_function_shape"):
        leave_one_out(SVC(decision_function_shape="all"), X, y)
    with pytest.raises(InvalidProblemError, match="positive semidefinite"):
        leave_one_out(SVC(kernel="sigmoid"), X, y)


PATHS = {
    "one against one": SVC(gamma=0.7),
    "weights of classes": SVC(gamma=0.7, class_weight={0: 2.0, 3: 0.5}),
    "linear": OneVsOneSVC(kernel="linear"),
    "one against the rest": OneVsRestSVC(gamma=0.7),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("ends", [(0.05, 30.0), (30.0, 0.05)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_has_the_coefficients_and_biases_of_fits(name, ends, weighted):
    X, y = blobs(6)
    rng = np.random.default_rng(7)
    weights = np.where(rng.random(len(y)) < 0.1, 0.0, rng.uniform(0.3, 2.0, len(y))) if weighted else None
    found = path(PATHS[name], X, y, "C", *ends, sample_weight=weights)
    assert isinstance(found, Paths)
    for C in rng.uniform(0.05, 30.0, 20):
        model = tight(type(PATHS[name])(**(PATHS[name].get_params() | {"C": C})), X, y, weights)
        coef = np.zeros((len(model.dual_coef_), len(y)))
        coef[:, model.support_] = model.dual_coef_
        assert found.at(C) == pytest.approx(coef, abs=1e-7 * C)
        fitted = getattr(model, "expansions_", None) or [pair.expansion for pair in model.pairs_]
        sign = 1.0 if isinstance(model, OneVsRestSVC) else -1.0
        assert sign * found.bias_at(C) == pytest.approx([one.bias for one in fitted], abs=1e-7)


def test_breakpoints_and_events_are_those_of_all_machines():
    X, y = blobs(8, n_classes=3)
    names = np.array(["a", "b", "c"])[y]
    found, back = (
        path(SVC(gamma=0.7), X, names, "C", 0.1, 20.0),
        path(SVC(gamma=0.7), X, names, "C", 20.0, 0.1),
    )
    assert found.names == (("a", "b"), ("a", "c"), ("b", "c"))
    assert found.coefficients.shape == (len(found.breakpoints), 2, len(y))
    assert found.bias.shape == (len(found.breakpoints), 3)
    assert (np.diff(found.breakpoints) > 0).all()
    assert (np.diff(back.breakpoints) < 0).all()
    assert set(np.concatenate([part.breakpoints for part in found.parts])) == set(found.breakpoints)
    assert len(found.events) == sum(len(part.events) for part in found.parts)
    values = np.array([event.value for _, event in found.events])
    assert (np.diff(values) >= 0).all()
    assert (np.diff([event.value for _, event in back.events]) <= 0).all()
    for machine, event in found.events:
        assert event.sample < 0 or names[event.sample] in found.names[machine]
    # In the middle of a stretch all is linear.
    k = len(found.breakpoints) // 2
    middle = found.breakpoints[k : k + 2].mean()
    np.testing.assert_allclose(found.at(middle), found.coefficients[k : k + 2].mean(axis=0), atol=1e-9)
    with pytest.raises(InvalidProblemError, match=r"between 0\.1 and 20"):
        found.at(21.0)


def test_two_classes_have_one_path_of_one_machine():
    X, y = blobs(9, n_classes=2)
    one, rest = path(SVC(gamma=0.7), X, y), path(OneVsRestSVC(gamma=0.7), X, y)
    assert isinstance(one, Path)
    assert isinstance(rest, Path)
    np.testing.assert_array_equal(one.coefficients, rest.coefficients)
    left = leave_one_out(OneVsRestSVC(gamma=0.7), X, y)
    np.testing.assert_array_equal(left.decision, leave_one_out(SVC(gamma=0.7), X, y).decision)


def test_a_trace_of_several_machines_is_refused_in_a_sentence():
    X, y = blobs(10, n_classes=3)
    with pytest.raises(InvalidProblemError, match="one machine: take two classes at a time"):
        record_path(SVC(gamma=0.7), X, y, "C", 0.1, 1.0)
