"""scikit-learn's own checks of an estimator, on every estimator; README lists those that do not hold, and why."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

import svmviz
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
    OneVsOneSVC,
    OneVsRestSVC,
)
from svmviz.estimators.base import Estimator

# Tight, since some checks compare two fits to seven digits; gamma="scale" would see the weights as little as it sees
# duplicates. Some checks have classes of two samples, others a class of 5 %: nu and mu must be feasible for both.
COMMON = {"tol": 1e-9, "gamma": "auto"}
ESTIMATORS = [
    SVC(**COMMON),
    SVR(**COMMON),
    NuSVC(nu=0.2, **COMMON),
    NuSVR(**COMMON),
    OneClassSVM(**COMMON),
    MuSVC(mu=0.5, **COMMON),
    ADSVC(mu=0.5, **COMMON),
    MCSVC(**COMMON),
    OneVsRestSVC(**COMMON),
    OneVsOneSVC(**COMMON),
]
ONE_ERROR = "data that cannot be used raise InvalidProblemError, a ValueError, never a TypeError"
ON_THE_BOUNDARY = "a sample on the boundary is inside or outside by rounding"
EXEMPT = {
    "check_dtype_object": {make.__name__: ONE_ERROR for make in map(type, ESTIMATORS)},
    "check_methods_subset_invariance": {"OneClassSVM": ON_THE_BOUNDARY},
    "check_sample_weight_equivalence_on_dense_data": {"OneClassSVM": ON_THE_BOUNDARY},
    "check_classifiers_train": {
        "OneVsOneSVC": "decision_function has a column for each two classes, not for each class",
        "ADSVC": "at a mu that classes of two samples allow, the hulls of its overlapping blobs meet",
    },
}


def expected_failures(estimator):
    name = type(estimator).__name__
    return {check: reasons[name] for check, reasons in EXEMPT.items() if name in reasons}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    public = [getattr(svmviz, name) for name in svmviz.__all__]
    estimators = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Estimator)}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}


def test_with_a_mu_for_large_classes_the_check_of_training_holds():
    check_classifiers_train("ADSVC", ADSVC(mu=0.05, **COMMON))


def test_readme_lists_what_is_exempt():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    section = readme.split("## scikit-learn's checks")[1].split("\n## ")[0]
    rows = re.findall(r"^\* `(check_\w+)` \((.+?)\): (.+)$", section, flags=re.MULTILINE)
    listed = {}
    for check, names, reason in rows:
        for name in ["all"] if names == "all" else re.findall(r"`(\w+)`", names):
            listed[check, name] = reason
    ours = {}
    for check, reasons in EXEMPT.items():
        if len(reasons) == len(ESTIMATORS):
            reasons = {"all": next(iter(reasons.values()))}
        ours |= {(check, name): reason for name, reason in reasons.items()}
    assert listed == ours


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_not_fitted_is_an_error_that_everyone_can_catch(model):
    for kind in (NotFittedError, InvalidProblemError, ValueError, AttributeError):
        with pytest.raises(kind, match="not fitted yet"):
            model.predict([[0.0]])


def test_the_package_does_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from svmviz import SVC\n"
        "try: SVC().predict([[0.0]])\n"
        "except ValueError as error: print(type(error).__name__, error)\n"
        "print(SVC().fit([[0.0], [1.0]], [[0], [1]]).predict([[0.2]]))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "NotFittedError This SVC is not fitted yet: call fit first.\n[0]\n"
    assert "A column-vector y" in done.stderr


def test_what_cannot_be_used_is_said_in_one_sentence():
    from scipy.sparse import csr_matrix

    X = np.arange(8.0).reshape(4, 2)
    y = np.array([0, 0, 1, 1])
    cases = [
        (csr_matrix(X), y, "Sparse input is not supported"),
        (X + 1j, y, "Complex data not supported"),
        (X[:, 0], y, "Reshape your data"),
        (X[:, :0], y, "0 feature"),
        (X, None, "requires y to be passed"),
        (X, y + 0.5, "continuous"),
    ]
    for samples, labels, message in cases:
        with pytest.raises(InvalidProblemError, match=message):
            SVC().fit(samples, labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVC().fit(X, y[:, None])
    assert [w.category.__name__ for w in caught] == ["DataConversionWarning"]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_names_of_features_are_kept_and_must_match(model):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"]), np.arange(20) % 2
    fitted = clone(model).fit(X, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(X.to_numpy()))
    with pytest.raises(InvalidProblemError, match="feature names should match"):
        fitted.predict(X[["b", "a", "c"]])
    assert not hasattr(fitted.fit(X.to_numpy(), y), "feature_names_in_")
    assert not hasattr(fitted.fit(pd.DataFrame(X.to_numpy()), y), "feature_names_in_")
