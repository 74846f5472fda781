"""Feasibility, thresholds and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import dense, optimum
from scipy.optimize import linprog, minimize_scalar
from zoo import random_case, random_groups

from svmviz import SVC, SVR, DualProblem, InvalidProblemError
from svmviz.hessian import Hessian
from svmviz.machines import mc_svm, svc

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=80)
@given(seed=SEEDS)
def test_start_is_feasible(seed):
    problem = random_groups(np.random.default_rng(seed)).problem
    assert problem.is_feasible(problem.start())


@settings(max_examples=40)
@given(seed=SEEDS)
def test_gap_is_the_value_of_a_linear_program(seed):
    case = random_groups(np.random.default_rng(seed))
    problem, z = case.problem, case.problem.start()
    g = case.hessian.gradient(z)
    A = (problem.group == np.arange(problem.n_groups)[:, None]).astype(float)
    found = linprog(g, A_eq=A, b_eq=problem.sums, bounds=np.column_stack([problem.lo, problem.hi]))
    np.testing.assert_allclose(problem.gap(z, g), g @ z - found.fun, rtol=1e-7, atol=1e-7)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_gap_bounds_the_distance_anywhere(seed):
    case = random_groups(np.random.default_rng(seed))
    z = case.problem.start()
    g = case.hessian.gradient(z)
    best = optimum(case.problem, case.hessian)
    assert case.problem.gap(z, g) >= case.problem.objective(z, g) - best.value - 1e-8


@settings(max_examples=40)
@given(seed=SEEDS)
def test_columns_blocks_and_products_agree(seed):
    case = random_groups(np.random.default_rng(seed))
    H = dense(case.hessian)
    np.testing.assert_allclose(H, H.T)
    np.testing.assert_allclose(case.hessian.diagonal, np.diagonal(H))
    z = case.problem.start()
    np.testing.assert_allclose(case.hessian.product(z), H @ z, atol=1e-12)
    chosen = np.arange(0, case.problem.n, 2)
    values = np.linspace(-1, 1, len(chosen))
    np.testing.assert_allclose(case.hessian.square(chosen), H[np.ix_(chosen, chosen)], atol=1e-15)
    np.testing.assert_allclose(case.hessian.combination(chosen, values), values @ H[chosen], atol=1e-12)
    last = case.problem.n - 1
    for i, j in ((0, last), (last, 0), (0, last // 2)):
        assert case.hessian.entry(i, j) == pytest.approx(H[i, j])
        gradients = np.zeros((2, case.problem.n))
        case.hessian.add_step(gradients, i, j, 0.5)
        np.testing.assert_allclose(gradients, np.tile(0.5 * (H[i] - H[j]), (2, 1)), atol=1e-12)


def test_a_column_of_mc_svm_touches_one_label_only():
    rng = np.random.default_rng(4)
    X, codes = rng.normal(size=(12, 2)), np.arange(12) % 3
    problem = mc_svm.dual_problem(codes, 3, 0.5)
    hessian = Hessian(problem, X @ X.T, True)
    H = dense(hessian)
    np.testing.assert_allclose(H, np.kron(X @ X.T, np.eye(3) / 0.5))
    gradient = np.zeros((1, problem.n))
    hessian.add_step(gradient, 4, 5, 2.0)
    np.testing.assert_allclose(gradient[0], 2.0 * (H[4] - H[5]), atol=1e-12)
    assert hessian.used == 2 * len(X)


def test_the_primal_is_the_textbook_one_at_its_best_bias():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0, 1.0, -1.0)
    for max_iter in (5, 30, -1):
        model = SVC(C=2.0, kernel="linear", max_iter=max_iter).fit(X, y)
        w = model.dual_coef_[0] @ model.support_vectors_

        def primal(b, w=w):
            return 0.5 * w @ w + 2.0 * np.maximum(0, 1 - y * (X @ w + b)).sum()

        best = min(minimize_scalar(primal, bracket=(-b, b)).fun for b in (0.1, 1.0, 5.0))
        np.testing.assert_allclose(model.certificate_.primal, best, rtol=1e-6)


def test_the_primal_of_the_regressor():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 1))
    y = X[:, 0] + 0.3 * rng.normal(size=50)
    model = SVR(C=3.0, epsilon=0.2, kernel="linear").fit(X, y)
    w, b = model.dual_coef_[0] @ model.support_vectors_, model.intercept_[0]
    primal = 0.5 * w @ w + 3.0 * np.maximum(0, np.abs(y - X @ w - b) - 0.2).sum()
    assert model.certificate_.primal <= primal + 1e-9
    np.testing.assert_allclose(model.certificate_.primal, primal, rtol=1e-3)
    assert model.certificate_.dual <= model.certificate_.primal


def test_the_certificate_of_a_hand_made_problem():
    # Two points at -1 and 1: alpha = 1/2 each, w = 1, objective 1/2 - 1.
    model = SVC(C=10.0, kernel="linear", tol=1e-9).fit([[-1.0], [1.0]], [-1, 1])
    np.testing.assert_allclose(model.certificate_.objective, -0.5)
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]])
    np.testing.assert_allclose(model.intercept_, 0.0, atol=1e-12)
    np.testing.assert_allclose(model.certificate_.primal, 0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sums": [3.0]}, "cannot sum to 3"),
        ({"linear": [np.nan, 0.0]}, "NaN"),
        ({"lo": [2.0, 0.0]}, "lower bound"),
        ({"group": [0, 2]}, "Groups"),
        ({"group": [1, 1]}, "Groups"),
        ({"hi": [1.0, 1.0, 1.0]}, "one entry"),
        ({"linear": [], "lo": [], "hi": []}, "no samples"),
    ],
)
def test_problems_that_cannot_be_solved_say_what_to_change(changes, message):
    fields = {"linear": [0.0, 0.0], "lo": [0.0, 0.0], "hi": [1.0, 1.0], "sums": [1.0]} | changes
    if "linear" in changes and not changes["linear"]:
        fields.pop("sums")
    with pytest.raises(InvalidProblemError, match=message):
        DualProblem(**{name: np.array(value) for name, value in fields.items()})


def test_an_open_box_has_no_bound():
    problem = DualProblem(
        linear=np.array([-1.0, 1.0]), lo=np.array([0.0, -np.inf]), hi=np.array([np.inf, 0.0])
    )
    assert problem.gap(np.zeros(2), problem.linear) == np.inf


def test_one_class_and_bad_C():
    with pytest.raises(InvalidProblemError, match="second class"):
        svc.dual_problem(np.ones(3), 1.0)
    for C in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidProblemError, match="C must"):
            svc.dual_problem(np.array([1.0, -1.0]), C)


def test_restored_sums_are_exact_and_inside_the_box():
    rng = np.random.default_rng(9)
    case = random_case(rng)
    z = case.problem.start()
    z[0] += 1e-7 * (case.problem.hi[0] > 0) - 1e-7 * (case.problem.hi[0] == 0)
    mended = case.problem.restore_sums(z)
    assert abs(mended.sum()) <= abs(z.sum())
    assert (mended >= case.problem.lo).all()
    assert (mended <= case.problem.hi).all()
