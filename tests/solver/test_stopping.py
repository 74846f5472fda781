"""The thesis's relative stopping test beside the one that minds neither sign nor origin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import optimum
from sklearn import datasets
from sklearn.preprocessing import scale
from zoo import make_ad_svm, make_ad_svm_with_prototypes, random_samples

from svmviz import ADSVC, InvalidProblemError, MuSVC, explain, record
from svmviz.hessian import Hessian
from svmviz.kernels import LinearKernel
from svmviz.machines import ad_svm
from svmviz.problem import Thresholds
from svmviz.smo import Loop, Options, minimize
from svmviz.smo.stopping import relative_violation

THESIS = Options(tol=1e-2, newton=False, stopping="thesis")
DEFAULT = Options(tol=1e-2, newton=False)


def ad_problem(X, y, mu=0.1):
    problem = ad_svm.dual_problem(y, mu, ad_svm.class_links(int(y.max()) + 1))
    return problem, Hessian(problem, X @ X.T, True)


def iris():
    X, y = datasets.load_iris(return_X_y=True)
    return scale(X), y


def pairs(X, y, options):
    return minimize(*ad_problem(X, y), options).certificate


def test_it_stops_when_the_thesis_says():
    """Every threshold is above 0 here, so that the test means what it says."""
    X, y = iris()
    problem, hessian = ad_problem(X, y)
    loop = Loop(problem, hessian, THESIS)
    for _ in loop:
        z = loop.iterate.z
        # 3.2.14, 3.2.15 and 3.2.20 by hand, from F = gradient; before the last pair some class violates.
        F = hessian.gradient(z)
        lows = [F[(y == s) & (z > 0)].max() for s in range(3)]
        ups = [F[(y == s) & (z < 0.1)].min() for s in range(3)]
        relative = max((low - up) / low for low, up in zip(lows, ups, strict=True))
        assert min(lows) > 0
        met = relative <= 2 * THESIS.tol
        assert met == (relative_violation(problem.thresholds(z, F)) <= 2 * THESIS.tol)
    assert met
    before = loop.iterations - 1
    earlier = minimize(problem, hessian, replace(THESIS, max_iter=before))
    assert relative_violation(problem.thresholds(earlier.z, earlier.gradient)) > 2 * THESIS.tol
    certificate = loop.solution().certificate
    assert certificate.status == ("optimal" if certificate.violation <= THESIS.tol else "relative")


def test_moving_the_samples_moves_the_stop_of_the_thesis_and_not_the_other():
    """With the linear kernel a vector added to every sample moves both thresholds of a class by the same number."""
    X, y = iris()
    shifts = [np.zeros(4), np.full(4, 5.0), np.array([20.0, 0, 0, 0]), np.array([0, -30.0, 0, 10.0])]
    default = [pairs(X + s, y, DEFAULT) for s in shifts]
    thesis = [pairs(X + s, y, THESIS) for s in shifts]
    assert len({c.iterations for c in default}) == 1
    assert all(c.status == "optimal" for c in default)
    assert len({c.iterations for c in thesis}) > 1
    # A class whose threshold is negative passes with any violation: the certificate says so.
    assert any(c.status == "relative" and c.violation > THESIS.tol for c in thesis)
    best = default[0].objective - default[0].gap
    for certificate in thesis:
        assert certificate.lower_bound <= default[0].objective + 1e-9
        assert certificate.objective >= best - 1e-9


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_thresholds_it_ends_and_says_how(seed):
    rng = np.random.default_rng(seed)
    X, codes, _ = random_samples(rng, int(rng.integers(2, 5)))
    X = X + rng.normal(size=X.shape[1]) * float(rng.choice([0.0, 1.0, 30.0]))
    problem = make_ad_svm(rng, codes)
    hessian = Hessian(problem, X @ X.T, True)
    options = Options(tol=1e-3, stopping="thesis", newton=bool(rng.random() < 0.5))
    solution = minimize(problem, hessian, options)
    certificate = solution.certificate
    assert certificate.status in ("optimal", "relative", "no progress")
    assert (certificate.status == "optimal") == (certificate.violation <= options.tol)
    assert problem.is_feasible(solution.z)
    if certificate.status == "relative":
        met = relative_violation(problem.thresholds(solution.z, solution.gradient))
        assert met <= 2 * options.tol * (1 + 1e-9)
    best = minimize(problem, hessian, Options(tol=1e-9)).certificate
    assert certificate.objective - certificate.gap <= best.objective + 1e-9 * max(1.0, best.objective)


@pytest.mark.parametrize(
    ("low", "up", "expected"),
    [
        ([2.0], [1.0], 0.5),
        ([2.0], [3.0], 0.0),
        ([-2.0], [-3.0], 0.0),  # a violation of 1 that passes
        ([-2.0], [-1.0], 0.0),  # none, although the printed quotient is 1/2
        ([0.0], [-1.0], np.inf),
        ([-0.0], [-1.0], np.inf),
        ([0.0], [0.0], 0.0),
        ([4.0, 1.0], [3.0, 0.5], 0.5),
        ([-np.inf], [1.0], 0.0),
    ],
)
def test_the_quotient(low, up, expected):
    assert relative_violation(Thresholds(up=np.array(up), low=np.array(low))) == expected


@pytest.mark.parametrize("selection", ["max_violating", "second_order"])
@pytest.mark.parametrize("make", [make_ad_svm, make_ad_svm_with_prototypes])
def test_both_strategies_of_the_thesis_reach_the_optimum(selection, make):
    rng = np.random.default_rng(21)
    solved = 0
    for k in range(100):
        _, codes, K = random_samples(rng, int(rng.integers(2, 7)))
        problem = make(rng, codes)
        hessian = Hessian(problem, K, True)
        best = optimum(problem, hessian, 1e-4)
        certificate = minimize(problem, hessian, Options(tol=1e-8, selection=selection)).certificate
        if best.solved:
            solved += 1
            assert abs(certificate.objective - best.value) <= 1e-7 * max(abs(best.value), 1e-4), k
    assert solved > 85


def test_as_a_parameter_of_the_estimators():
    X, y = iris()
    loose = ADSVC(mu=0.1, kernel="linear", tol=0.2, newton=False, stopping="thesis").fit(X, y).certificate_
    tight = ADSVC(mu=0.1, kernel="linear", tol=1e-8, newton=False).fit(X, y).certificate_
    assert loose.iterations < tight.iterations
    assert loose.objective - loose.gap <= tight.objective <= loose.objective
    two = MuSVC(mu=0.1, stopping="thesis").fit(X[:100], y[:100])
    assert two.certificate_.status in ("optimal", "relative")
    for make in (ADSVC, MuSVC):
        with pytest.raises(InvalidProblemError, match='stopping must be "violation" or "thesis"'):
            make(stopping="never").fit(X[:100], y[:100])


def test_the_end_in_words():
    X, y = iris()
    X = X + np.array([0, -30.0, 0, 10.0])
    problem, hessian = ad_problem(X, y)
    trace = record("AD-SVM", X, y, LinearKernel(), {"mu": 0.1}, problem, THESIS, hessian=hessian)
    assert trace.certificate.status == "relative"
    assert "relative to its threshold" in explain.describe_end(trace)
