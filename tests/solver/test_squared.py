"""The squared losses: the diagonal they add, and the bound on the optimum that an open box leaves."""

from fractions import Fraction

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import dense, optimum
from scipy import sparse
from scipy.optimize import minimize_scalar
from zoo import random_groups

from svmviz import SVC, SVR, InvalidProblemError, OneVsRestSVC
from svmviz.hessian import Hessian
from svmviz.kernels import make_kernel
from svmviz.machines import svc, svr
from svmviz.problem import DualProblem
from svmviz.smo import Options, minimize
from svmviz.smo.selection import NAMES

PROBLEMS = 200
SEEDS = st.integers(0, 2**32 - 1)


def random_data(rng):
    """Samples with duplicates, also with other labels; weights, some of them 0; the Gram matrix of some kernel."""
    n, d = int(rng.integers(6, 50)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.4:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
    signs = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    signs[:4] = 1.0, -1.0, 1.0, -1.0
    C = np.full(n, 10 ** rng.uniform(-3, 3))
    if rng.random() < 0.5:
        C *= rng.choice([0.0, 0.5, 2.0], n)
        C[:2] = 1.0
    name = str(rng.choice(["linear", "poly", "rbf"]))
    gamma = float(10 ** rng.uniform(-1, 0.5))
    return X, signs, C, make_kernel(name, X, gamma=gamma, degree=2, coef0=1.0)


def make_svc(rng, X, signs, C):
    return svc.dual_problem(signs, C, "squared_hinge")


def make_svr(rng, X, signs, C):
    epsilon = float(rng.choice([0.0, 0.01, 0.1, 0.5, 5.0]))
    return svr.dual_problem(np.sin(X[:, 0]) + 0.3 * signs, C, epsilon, "squared_epsilon_insensitive")


@pytest.mark.parametrize("make", [make_svc, make_svr])
def test_objectives_are_those_of_an_independent_solver(make):
    rng = np.random.default_rng(12)
    solved = 0
    for k in range(PROBLEMS):
        X, signs, C, kernel = random_data(rng)
        problem = make(rng, X, signs, C)
        hessian = Hessian(problem, kernel(X, X), True)
        best = optimum(problem, hessian)
        solution = minimize(problem, hessian, Options(tol=1e-8, selection=NAMES[k % 3]))
        certificate = solution.certificate
        assert certificate.status in ("optimal", "no progress"), k
        assert problem.is_feasible(solution.z), k
        assert not solution.z[np.tile(C == 0, problem.n // len(C))].any(), k
        assert 0 <= certificate.gap < np.inf, k
        assert certificate.gap <= 1e-5 * max(1.0, abs(certificate.objective)), k
        if make is make_svr:
            above, below = np.split(solution.z, 2)
            assert not ((above > 0) & (below < 0)).any(), k
        if not best.solved:
            continue
        solved += 1
        size = max(abs(best.value), 1e-6)
        assert abs(certificate.objective - best.value) <= 1e-7 * size, k
        assert certificate.gap >= certificate.objective - best.value - 1e-8 * size, k
    assert solved >= 0.85 * PROBLEMS


def ridge_optimum(A, targets, C):
    """Where epsilon is 0 the regressor is a ridge regression with a bias that costs nothing."""
    f = np.column_stack([A, np.ones(len(A))])
    ridge = np.diag([1.0] * A.shape[1] + [0.0])
    w = np.linalg.solve(2 * f.T @ (C[:, None] * f) + ridge, 2 * f.T @ (C * targets))
    return 0.5 * w @ ridge @ w + C @ (targets - f @ w) ** 2


def primal_optimum(A, targets, C, epsilon=None):
    """Clarabel on the primal in w, b and the slacks; a regression where epsilon is given.

    Each sample has one slack xi, of cost C xi^2, for a classifier at least 1 - y f(x); a regressor has one for each
    side, at least the distance from the tube. That xi is not negative need not be said.
    """
    n, d = A.shape
    f = np.column_stack([A, np.ones(n)])
    if epsilon is None:
        rows, least = targets[:, None] * f, np.ones(n)
        costs = C
    else:
        rows, least = np.vstack([f, -f]), np.concatenate([targets - epsilon, -targets - epsilon])
        costs = np.tile(C, 2)
    m = len(rows)
    P = sparse.diags(np.concatenate([np.ones(d), [0.0], 2 * costs])).tocsc()
    # rows @ (w, b) + xi >= least
    G = sparse.hstack([sparse.csc_matrix(-rows), -sparse.eye(m)]).tocsc()
    quiet = clarabel.DefaultSettings()
    quiet.verbose = False
    quiet.tol_gap_abs = quiet.tol_gap_rel = quiet.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(m)]
    return clarabel.DefaultSolver(P, np.zeros(d + 1 + m), G, -least, cones, quiet).solve().obj_val


@pytest.mark.parametrize("seed", range(20))
def test_the_primal_is_half_the_square_of_w_and_C_times_the_squared_slacks(seed):
    """The diagonal is right: the dual's value is that of the primal, which knows nothing of it."""
    rng = np.random.default_rng(seed)
    X, signs, C, _ = random_data(rng)
    C = np.clip(C, 0.05, 20)
    y = np.sin(X[:, 0]) + 0.3 * signs
    found = [SVC(kernel="linear", tol=1e-9, loss="squared_hinge").fit(X, signs, C)]
    values = [primal_optimum(X, signs, C)]
    for epsilon in (0.0, 0.2):
        loss = "squared_epsilon_insensitive"
        found.append(SVR(kernel="linear", tol=1e-9, loss=loss, epsilon=epsilon).fit(X, y, C))
        values.append(primal_optimum(X, y, C, epsilon) if epsilon else ridge_optimum(X, y, C))
    for model, value in zip(found, values, strict=True):
        assert model.certificate_.dual == pytest.approx(value, rel=1e-6)
        assert model.certificate_.primal == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("max_iter", [3, 30, -1])
def test_the_primal_of_the_certificate_is_that_at_the_best_bias(max_iter):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0, 1.0, -1.0)
    options = {"C": 2.0, "kernel": "linear", "max_iter": max_iter}
    classifier = SVC(loss="squared_hinge", **options).fit(X, y)
    regressor = SVR(loss="squared_epsilon_insensitive", epsilon=0.2, **options).fit(X, X[:, 1] + y)
    losses = (
        lambda f: np.maximum(0, 1 - y * f) ** 2,
        lambda f: np.maximum(0, np.abs(X[:, 1] + y - f) - 0.2) ** 2,
    )
    for model, loss in zip((classifier, regressor), losses, strict=True):
        w = model.dual_coef_[0] @ model.support_vectors_
        best = minimize_scalar(lambda b, w=w, loss=loss: loss(X @ w + b).sum(), tol=1e-12).fun
        assert model.certificate_.primal == pytest.approx(0.5 * w @ w + 2.0 * best, rel=1e-9)


def exact_terms(problem, gradient, low, nu):
    """The bound at nu, and the sum of the maximisers, in exact arithmetic."""
    total = change = Fraction(0)
    for i in range(problem.n):
        lo, hi = low[i]
        slope, d = nu - gradient[i], Fraction(float(problem.diagonal[i]))
        step = slope / d if d else Fraction(0)
        step = step if lo is None else max(step, lo)
        step = step if hi is None else min(step, hi)
        total += slope * step - d * step * step / 2
        change += step
    return total, change


def exact_lower_bound(problem, K, z):
    """The largest objective - gap over nu, in exact arithmetic; for a squared loss over plain samples."""
    n = problem.n
    z = [Fraction(float(v)) for v in z]
    d = [Fraction(float(v)) for v in problem.diagonal]
    p = [Fraction(float(v)) for v in problem.linear]
    rows = [[Fraction(float(K[a, b])) for b in problem.sample] for a in problem.sample]
    Hz = [sum((rows[i][j] * z[j] for j in range(n) if z[j]), d[i] * z[i]) for i in range(n)]
    g = [a + b for a, b in zip(Hz, p, strict=True)]
    ends = ((problem.lo, -1), (problem.hi, 1))
    room = [
        tuple(None if np.isinf(e[i]) else Fraction(float(e[i])) - z[i] for e, _ in ends) for i in range(n)
    ]
    # Where a maximiser meets its bound; between two such places their sum is linear in nu.
    places = sorted({g[i] + d[i] * r for i in range(n) for r in room[i] if r is not None and d[i]})
    far = Fraction(10) ** 40
    places = [places[0] - far, *places, places[-1] + far]
    sums = [exact_terms(problem, g, room, nu)[1] for nu in places]
    left = max(k for k, s in enumerate(sums) if s <= 0)
    nu = places[left]
    if sums[left] < 0:
        nu += (places[left + 1] - nu) * -sums[left] / (sums[left + 1] - sums[left])
    off = sum(z)  # a feasible z' has the sum 0
    value = exact_terms(problem, g, room, nu)[0] - nu * -off
    return sum(z[i] * (Hz[i] / 2 + p[i]) for i in range(n)) - value


def test_the_gap_is_a_bound_in_floating_point_too():
    rng = np.random.default_rng(5)
    tight = 0
    for k in range(60):
        n = int(rng.integers(4, 20))
        X = rng.normal(size=(n, 2)) * np.where(rng.random() < 0.5, [1000.0, 1.0], 1.0)
        kernel = make_kernel(("linear", "rbf", "poly")[k % 3], X, gamma=0.5, coef0=1.0)
        K = kernel(X, X)
        K = 0.5 * (K + K.T)
        C, signs = 10 ** rng.uniform(-2, 6), np.tile([1.0, -1.0], n)[:n]
        problem = (
            svc.dual_problem(signs, C, "squared_hinge")
            if k % 2
            else svr.dual_problem(rng.normal(size=n), C, 0.1, "squared_epsilon_insensitive")
        )
        hessian = Hessian(problem, K, True)
        for options in (
            Options(max_iter=3),
            Options(max_iter=40, newton=False),
            Options(tol=1e-6, max_iter=500),
        ):
            solution = minimize(problem, hessian, options)
            exact = exact_lower_bound(problem, K, solution.z)
            bound = solution.certificate.lower_bound
            assert bound <= exact
            if np.abs(K).max() < 1e4:  # else the rounding of the gradient is what the bound allows for
                size = abs(solution.certificate.objective) + solution.certificate.gap
                assert float(exact) - bound <= 1e-6 * size
                tight += 1
    assert tight > 80


@settings(max_examples=80)
@given(seed=SEEDS)
def test_the_bound_holds_in_any_open_box(seed):
    """Groups, sums and couplings of all kinds, some bounds taken away; where no diagonal helps it may be infinite."""
    rng = np.random.default_rng(seed)
    case = random_groups(rng)
    old, n = case.problem, case.problem.n
    problem = DualProblem(
        linear=old.linear,
        lo=np.where(rng.random(n) < 0.4, -np.inf, old.lo),
        hi=np.where(rng.random(n) < 0.4, np.inf, old.hi),
        sample=old.sample,
        label=old.label,
        coupling=old.coupling,
        group=old.group,
        sums=old.sums,
        diagonal=rng.choice([0.0, 0.5, 3.0], n) if rng.random() < 0.5 else np.full(n, 0.5),
    )
    hessian = Hessian(problem, case.hessian.K, True)
    z = problem.start()
    g = hessian.gradient(z)
    gap = problem.gap(z, g)
    assert gap >= 0
    if problem.diagonal.all():
        assert np.isfinite(gap)
    if np.isfinite(gap):
        best = optimum(problem, hessian)
        end = minimize(problem, hessian, Options(tol=1e-10)).certificate
        assert end.status == "optimal"
        # The own bound of the oracle may be loose where it stops early.
        lower = best.lower if best.solved else end.objective
        assert gap >= problem.objective(z, g) - lower - 1e-7 * max(1.0, abs(lower))
        assert end.objective <= best.value + 1e-6 * max(1.0, abs(best.value))


def test_the_bound_is_the_best_over_the_multiplier():
    rng = np.random.default_rng(3)
    X, signs, _, kernel = random_data(rng)
    problem = svc.dual_problem(signs, 3.0, "squared_hinge")
    hessian = Hessian(problem, kernel(X, X), True)
    z = minimize(problem, hessian, Options(max_iter=5, newton=False)).z
    g, d = hessian.gradient(z), problem.diagonal

    def bound(nu):
        step = np.clip((nu - g) / d, problem.lo - z, problem.hi - z)
        return float(((nu - g) * step - d * step**2 / 2).sum())

    best = minimize_scalar(bound, bounds=(g.min(), g.max()), method="bounded", options={"xatol": 1e-12})
    assert problem.gap(z, g) == pytest.approx(best.fun, rel=1e-9)


def test_estimators_with_a_squared_loss():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=80), [-0.5, 0.5])
    for make in (SVC, OneVsRestSVC):
        model = make(C=5.0, loss="squared_hinge").fit(X, y, sample_weight=(np.arange(80) > 9).astype(float))
        assert model.certificate_.status == "optimal"
        assert np.isfinite(model.certificate_.gap)
        assert model.support_.min() > 9
        assert model.score(X, y) > 0.8
        with pytest.raises(InvalidProblemError, match='loss must be "hinge" or "squared_hinge"'):
            make(loss="epsilon_insensitive").fit(X, y)
    with pytest.raises(InvalidProblemError, match="loss must be"):
        SVR(loss="hinge").fit(X, X[:, 0])
    with pytest.raises(InvalidProblemError, match="at least 1e-60"):
        SVC(C=1e-70, loss="squared_hinge").fit(X, y)
    assert dense(Hessian(svc.dual_problem([1.0, -1.0], 2.0, "squared_hinge"), np.eye(2)))[0, 0] == 1.25


def test_multipliers_that_grow_without_end_get_a_sentence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)) * 3, rng.integers(0, 2, 200)
    with pytest.raises(InvalidProblemError, match="not positive semidefinite"):
        SVC(C=1e3, kernel="sigmoid", gamma=0.5, coef0=1.0, loss="squared_hinge").fit(X, y)


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("K", [-np.eye(4), np.diag([1.0, -1, 1, -1])])
def test_a_kernel_without_a_minimum_is_refused(K, rule):
    with pytest.raises(InvalidProblemError, match="no minimum"):
        SVC(kernel="precomputed", loss="squared_hinge", selection=rule).fit(K, [0, 1, 0, 1])
    with pytest.raises(InvalidProblemError, match="no minimum"):
        SVR(kernel="precomputed", loss="squared_epsilon_insensitive", selection=rule).fit(K, [0.0, 1, 2, 3])


def test_a_kernel_that_the_diagonal_makes_up_for_ends_stationary():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    certificate = SVC(C=0.01, kernel="sigmoid", loss="squared_hinge").fit(X, y).certificate_
    assert certificate.status == "stationary"
    assert certificate.objective < 0


@pytest.mark.parametrize(("shift", "C"), [(1e5, 1e6), (1e6, 1e6), (1e4, 1e2)])
@pytest.mark.parametrize("rule", NAMES)
def test_rounding_of_the_kernel_never_makes_the_objective_run_away(shift, C, rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    model = SVC(C=C, kernel="linear", loss="squared_hinge", selection=rule).fit(X + shift, y)
    # The textbook primal at w = 0 is C a sample; at z = 0 the dual is 0.
    assert -C * len(y) * (1 + 1e-9) <= model.certificate_.objective <= 0
    assert np.isfinite([model.certificate_.gap, model.certificate_.violation, model.intercept_[0]]).all()
