"""Degenerate, huge and damaged inputs: right answers, one clear error, or an honest status; never a warning."""

import json
from fractions import Fraction

import numpy as np
import pytest
from oracle import dense

from svmviz import SVC, SVR, DualProblem, InvalidProblemError, Trace, explain, record
from svmviz.gram import gram_matrix
from svmviz.hessian import Hessian
from svmviz.kernels import (
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    make_kernel,
    resolve_gamma,
)
from svmviz.machines import svc, svr
from svmviz.smo import Loop, Options, SMOClassifier, SMORegression, minimize
from svmviz.smo.iterate import Iterate
from svmviz.smo.loop import NEWTON_SHARE_MOST, PAIR_WORK, PAIR_WORK_EACH
from svmviz.smo.newton import newton_phase
from svmviz.smo.selection import NAMES

pytestmark = pytest.mark.filterwarnings("error")

POINTS = np.random.default_rng(0).normal(size=(12, 2))
SIGNS = np.tile([1.0, -1.0], 6)
GRAM = GaussianKernel(1.0)(POINTS, POINTS)
VALUES = np.random.default_rng(1).normal(size=12)
GRAMS = {
    "zero": np.zeros((12, 12)),
    "ones": np.ones((12, 12)),
    "rank one": np.outer(VALUES, VALUES),
    "opposite twins": np.kron(np.eye(6), np.ones((2, 2))),
    "tiny": GRAM * 1e-300,
    "small": GRAM * 1e-20,
    "large": GRAM * 1e50,
}


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("C", [1e-300, 1.0, 1e10])
def test_degenerate_kernels(rule, newton, gram, C):
    problem = svc.dual_problem(SIGNS, C)
    hessian = Hessian(problem, GRAMS[gram])
    solution = minimize(problem, hessian, Options(selection=rule, newton=newton, max_iter=2000))
    certificate = solution.certificate
    assert problem.is_feasible(solution.z)
    fresh = problem.violation(solution.z, hessian.gradient(solution.z))
    assert (certificate.status == "optimal") == (fresh <= 1e-3)
    assert certificate.status == "optimal" or gram == "large" or (C == 1e10 and not newton)
    assert np.isfinite(certificate.gap)


@pytest.mark.parametrize("newton", [True, False])
def test_weights_over_six_hundred_decades_and_targets_of_any_size(newton):
    rng = np.random.default_rng(3)
    problems = [svc.dual_problem(SIGNS, 10 ** rng.uniform(-300, 50, 12))]
    for size in (1e-300, 1e10, 1e50):
        for epsilon in (0.0, 0.1, 1e50):
            problems.append(svr.dual_problem(VALUES * size, 1.0, epsilon))
    for problem in problems:
        solution = minimize(problem, Hessian(problem, GRAM, True), Options(newton=newton, max_iter=2000))
        assert problem.is_feasible(solution.z)
        assert solution.certificate.status == "optimal"


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("rule", NAMES)
def test_a_box_without_an_end(newton, rule):
    """The squared hinge: no upper bound, and a diagonal that keeps the minimum finite."""
    problem = DualProblem(
        linear=-SIGNS,
        lo=np.where(SIGNS > 0, 0.0, -np.inf),
        hi=np.where(SIGNS > 0, np.inf, 0.0),
        diagonal=np.full(12, 0.5),
    )
    boxed = DualProblem(
        problem.linear, np.maximum(problem.lo, -100), np.minimum(problem.hi, 100), diagonal=problem.diagonal
    )
    options = Options(tol=1e-9, selection=rule, newton=newton)
    solution = minimize(problem, Hessian(problem, GRAM, True), options)
    reference = minimize(boxed, Hessian(boxed, GRAM, True), options)
    assert solution.certificate.status == "optimal"
    assert np.isfinite(solution.z).all()
    assert solution.certificate.objective == pytest.approx(reference.certificate.objective, rel=1e-9)


def test_a_newton_direction_that_never_reaches_a_distant_bound():
    """The third multiplier wants to move by 1e-290 and has room for 1e50."""
    problem = DualProblem(
        np.array([-1.0, 1.0, 1e-290, 0.0]), np.full(4, -1e50), np.full(4, 1e50), group=np.array([0, 0, 1, 1])
    )
    iterate = Iterate(problem, Hessian(problem, np.eye(4), True), np.zeros(4))
    phase = newton_phase(iterate)
    assert phase.fraction == 1.0
    np.testing.assert_allclose(iterate.z[:2], [1.0, -1.0])


def test_an_open_group_takes_nothing_from_the_start_of_the_next():
    hi = np.array([1.0, np.inf, 1.0, 1.0, 1e16, 1.0, 1.0])
    group = np.array([0, 0, 1, 1, 2, 3, 3])
    problem = DualProblem(np.zeros(7), np.zeros(7), hi, group=group, sums=np.array([2.0, 1.5, 1e16, 1.25]))
    np.testing.assert_array_equal(problem.start(), [1, 1, 1, 0.5, 1e16, 1, 0.25])


def test_sums_at_the_edge():
    lo, hi = np.array([0.1, 0.2, -0.3, 0.0]), np.array([0.1, 0.2, -0.3, 1.0])
    group = np.array([0, 0, 0, 1])
    problem = DualProblem(np.ones(4), lo, hi, group=group, sums=np.array([0.0, 1.0]))
    solution = minimize(problem, Hessian(problem, np.eye(4), True))
    assert solution.certificate.status == "optimal"
    np.testing.assert_array_equal(solution.z, hi)
    for scale in (1.0, 1e-13, 1e20):
        with pytest.raises(InvalidProblemError, match="cannot sum to"):
            DualProblem(np.ones(2), np.zeros(2), np.full(2, scale), sums=np.array([2.001 * scale]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"linear": 1.0}, "linear must be"),
        ({"linear": ["a", "b"]}, "numbers only"),
        ({"hi": [1e300, 1.0]}, "beyond"),
        ({"lo": [np.inf, 0.0], "hi": [np.inf, 1.0]}, "infinity"),
        ({"sample": [0, -1]}, "sample"),
        ({"sample": [0.5, 1]}, "whole"),
        ({"label": [0, 1]}, "label"),
        ({"group": [0, 10**15]}, "Groups"),
        ({"coupling": [[1.0, 2.0], [0.0, 1.0]]}, "symmetric"),
        ({"coupling": [[1.0, 2.0], [2.0, 1.0]]}, "positive semidefinite"),
        ({"diagonal": [-1.0, 0.0]}, "negative"),
        ({"sums": [0.0, 0.0]}, "one entry"),
    ],
)
def test_problems_that_do_not_fit_together(changes, message):
    fields = {"linear": [0.0, 0.0], "lo": [0.0, 0.0], "hi": [1.0, 1.0]} | changes
    with pytest.raises(InvalidProblemError, match=message):
        DualProblem(**fields)


def exact_lower_bound(problem, H, z):
    """objective - gap at z in exact arithmetic."""
    z, n = [Fraction(float(v)) for v in z], problem.n
    H = [[Fraction(float(v)) for v in row] for row in H]
    p, lo, hi = ([Fraction(float(v)) for v in values] for values in (problem.linear, problem.lo, problem.hi))
    Hz = [sum((H[i][j] * z[j] for j in range(n) if z[j]), Fraction(0)) for i in range(n)]
    g = [a + b for a, b in zip(Hz, p, strict=True)]
    left, best = -sum(lo), [Fraction(0)] * n
    for i in sorted(range(n), key=lambda i: g[i]):
        amount = max(Fraction(0), min(left, hi[i] - lo[i]))
        left -= amount
        best[i] = lo[i] + amount
    return sum(z[i] * (Hz[i] / 2 + p[i]) - g[i] * (z[i] - best[i]) for i in range(n))


def test_the_gap_is_a_bound_in_floating_point_too():
    rng = np.random.default_rng(5)
    for k in range(60):
        n = int(rng.integers(4, 20))
        X = rng.normal(size=(n, 2)) * np.where(rng.random() < 0.5, [1000.0, 1.0], 1.0)
        kernel = (LinearKernel(), GaussianKernel(0.5), PolynomialKernel(3, 1.0, 1.0))[k % 3]
        C, signs = 10 ** rng.uniform(-2, 8), np.tile([1.0, -1.0], n)[:n]
        problem = svc.dual_problem(signs, C) if k % 2 else svr.dual_problem(rng.normal(size=n), C, 0.1)
        hessian = Hessian(problem, gram_matrix(kernel, X), True)
        H = dense(hessian)
        for options in (
            Options(max_iter=3),
            Options(max_iter=40, newton=False),
            Options(tol=1e-6, max_iter=500),
        ):
            solution = minimize(problem, hessian, options)
            assert solution.certificate.lower_bound <= exact_lower_bound(problem, H, solution.z)


def test_kernel_values_that_overflow_or_differ_by_rounding():
    for kernel, X in ((LinearKernel(), POINTS * 1e200), (PolynomialKernel(50, 1e30, 0.0), POINTS)):
        with pytest.raises(InvalidProblemError, match="scale the features down"):
            gram_matrix(kernel, X)
    noisy = GRAM + 1e-12 * np.random.default_rng(2).normal(size=GRAM.shape)
    kept = noisy.copy()
    K = gram_matrix(PrecomputedKernel(), noisy)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(noisy, kept)
    for size in (1e-160, 1e200):
        with pytest.raises(InvalidProblemError, match="scale them"):
            resolve_gamma("scale", POINTS * size)


@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("size", [1e155, 1e160, 1.7e308])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_features_that_overflow_are_refused_without_a_warning(kernel, d, size):
    X = np.clip(np.random.default_rng(0).normal(size=(20, d)), -0.99, 0.99) * size
    refused = 0
    for gamma in (0.0, 1.0, 1e6, "scale"):
        try:
            SVC(kernel=kernel, gamma=gamma).fit(X, np.arange(20) % 2)
        except InvalidProblemError:  # which of them are refused depends on the kernel
            refused += 1
    assert refused


@pytest.mark.parametrize("d", [2, 9])
def test_a_machine_without_support_vectors_predicts_without_a_warning(d):
    X = np.random.default_rng(0).normal(size=(20, d))
    machine = SVR(epsilon=100.0).fit(X, X[:, 0])
    assert not len(machine.support_)
    np.testing.assert_array_equal(machine.predict(X), np.full(20, machine.intercept_[0]))


def test_a_run_that_does_not_end_does_not_spend_its_time_on_newton_phases():
    """A quartic kernel far from the origin: values of 1e24, and no progress to be had."""
    rng = np.random.default_rng(0)
    X = 1e3 + rng.normal(size=(60, 2))
    problem = svr.dual_problem(np.sin(3 * X[:, 0]), 10.0, 0.05)
    hessian = Hessian(problem, PolynomialKernel(4, 1.0, 1.0)(X, X), True)
    loop = Loop(problem, hessian, Options(tol=1e-5, max_iter=10_000))
    loop.run()
    pairs_work = loop.iterations * (PAIR_WORK + PAIR_WORK_EACH * problem.n)
    # The last phase is not cut short, and ends within as much again.
    assert loop._newton_work <= (NEWTON_SHARE_MOST + 1) * pairs_work


@pytest.mark.parametrize("field", ["linear", "diagonal"])
def test_complex_numbers_are_refused(field):
    fields = {"linear": np.zeros(4), "lo": np.zeros(4), "hi": np.ones(4), "diagonal": np.zeros(4)}
    with pytest.raises(InvalidProblemError, match="real"):
        DualProblem(**(fields | {field: np.zeros(4) + 1j}))


def test_an_empty_coupling_is_refused():
    with pytest.raises(InvalidProblemError, match="coupling"):
        DualProblem(linear=np.zeros(4), lo=np.zeros(4), hi=np.ones(4), coupling=np.zeros((0, 0)))


def test_the_floor_of_a_tiny_diagonal_is_not_a_warning():
    problem = DualProblem(
        linear=np.ones(4), lo=-np.ones(4), hi=np.full(4, np.inf), diagonal=np.full(4, 5e-324)
    )
    assert problem.floor == -4.0


@pytest.mark.parametrize(
    "parameters", [{"gamma": None}, {"gamma": [1]}, {"degree": None}, {"degree": np.nan}, {"coef0": "a"}]
)
def test_kernel_parameters_of_the_wrong_kind(parameters):
    with pytest.raises(InvalidProblemError):
        make_kernel("poly", POINTS, **parameters)


def recorded():
    return record(
        "C-SVC", POINTS, SIGNS, GaussianKernel(1.0), {"C": 1.0}, svc.dual_problem(SIGNS, 1.0), Options(), 30
    )


def test_traces_keep_every_bit():
    X = POINTS.copy()
    X[0] = -0.0, 5e-324
    problem = svc.dual_problem(SIGNS, 1.0)
    trace = record(
        'text, "quoted"\n\u2028é',
        X,
        SIGNS,
        GaussianKernel(1.0),
        {"C": np.inf, 'a "name",\r\n': -0.0},
        problem,
        Options(),
        9,
    )
    for again in (Trace.from_json(trace.to_json()), Trace.from_csv(trace.to_csv())):
        assert repr(again.steps) == repr(trace.steps)
        assert repr(again.parameters) == repr(trace.parameters)
        assert again.machine == trace.machine
        assert again.X.tobytes() == trace.X.tobytes()
        assert again.start.tobytes() == trace.start.tobytes()


def test_a_recording_cut_at_its_optimum_says_optimal():
    full = recorded()
    problem = full.problem
    cut = record("C-SVC", POINTS, SIGNS, GaussianKernel(1.0), {}, problem, Options(), len(full.steps))
    assert cut.certificate.status == full.certificate.status == "optimal"


WRONG = (None, 1, -1, 1e400, "x", "inf", [], {}, [[]], [1, [2]], True, {"a": 1}, [None] * 12, ["x"] * 12, [1.5] * 12,
         [10**400] * 12, [-1] * 12, [10**12] * 12, [float("nan")] * 12)  # fmt: skip


def damaged():
    content = json.loads(recorded().to_json())
    for name in content:
        yield {k: v for k, v in content.items() if k != name}
        for value in WRONG:
            yield content | {name: value}
    for part in ("problem", "steps", "certificate", "kernel", "parameters"):
        for name in content[part]:
            yield content | {part: {k: v for k, v in content[part].items() if k != name}}
            for value in WRONG:
                yield content | {part: content[part] | {name: value}}


def test_damaged_traces_are_refused_or_can_be_shown():
    rows = recorded().to_csv().split("\n", 1)[1]
    refused = 0
    for content in damaged():
        head = {k: v for k, v in content.items() if k != "steps"}
        texts = (
            (Trace.from_json, json.dumps(content)),
            (Trace.from_csv, "# " + json.dumps(head) + "\n" + rows),
        )
        for read, text in texts:
            try:
                trace = read(text)
            except InvalidProblemError:
                refused += 1
                continue
            explain.sentences(trace)
            trace.multipliers(len(trace.steps))
            trace.to_json()
            trace.to_csv()
    assert refused > 1000


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"format":' * 100_000, "1" * 5000, "\0", '"\\ud800"', "# 1\n" + "9" * 200_000]
)
def test_texts_that_are_no_trace(text):
    for read in (Trace.from_json, Trace.from_csv):
        with pytest.raises(InvalidProblemError, match="not a trace"):
            read(text)


def test_a_field_of_a_csv_that_is_too_long():
    first, header, _ = recorded().to_csv().split("\n", 2)
    with pytest.raises(InvalidProblemError, match="not a trace"):
        Trace.from_csv(f"{first}\n{header}\n{'9' * 200_000}\n")


LABELS = np.where(SIGNS > 0, "b", "a")


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 1e300}, {"C": "a"}, {"C": None}, {"C": [1, 2]}, {"tol": "a"}, {"tol": None}, {"max_iter": None},
        {"max_iter": 1.5}, {"gamma": None}, {"class_weight": 5}, {"class_weight": {"a": -1}},
        {"class_weight": {"a": "x"}}, {"class_weight": {"a": 0}}, {"decision_function_shape": "x"},
        {"kernel": lambda A, B: "text"}, {"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)},
        {"kernel": GaussianKernel}, {"kernel": "poly", "degree": 2000},
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_used(parameters):
    with pytest.raises(InvalidProblemError) as error:
        SVC(**parameters).fit(POINTS, LABELS)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "y",
    [
        np.array([1, "a"] * 6, dtype=object), np.array([None, 1] * 6, dtype=object),
        np.array([np.nan, 1] * 6, dtype=object), None, 1, np.zeros((12, 2)),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_used(y):
    with pytest.raises(InvalidProblemError):
        SVC().fit(POINTS, y)


@pytest.mark.parametrize("weights", ["a", ["a"] * 12, [1e300] * 12, np.eye(12), 2.0])
def test_weights_that_cannot_be_used(weights):
    for model, y in ((SVC(), LABELS), (SVR(), VALUES)):
        with pytest.raises(InvalidProblemError) as error:
            model.fit(POINTS, y, weights)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("y", [["a"] * 12, VALUES * 1j, [10**400] * 12, VALUES * 1e200])
def test_targets_that_cannot_be_used(y):
    with pytest.raises(InvalidProblemError):
        SVR().fit(POINTS, y)
    with pytest.raises(InvalidProblemError):
        SMORegression(X=POINTS, y=y)


@pytest.mark.parametrize("epsilon", ["a", None, -1, np.nan, 1e300])
def test_an_epsilon_that_cannot_be_used(epsilon):
    machine = SMORegression(X=POINTS, y=VALUES)
    for use in (lambda: SVR(epsilon=epsilon).fit(POINTS, VALUES), lambda: machine.set_epsilon(epsilon)):
        with pytest.raises(InvalidProblemError, match="epsilon"):
            use()
    assert machine.epsilon == 0.1


def test_predictions_that_overflow_and_scores_of_the_wrong_length():
    model = SVC(kernel="poly").fit(POINTS, LABELS)
    with pytest.raises(InvalidProblemError, match="not finite"):
        model.predict([[1e300, 1e300]])
    for wrong in (lambda: model.score(POINTS, LABELS[:3]), lambda: model.score(POINTS, LABELS, np.zeros(12))):
        with pytest.raises(InvalidProblemError):
            wrong()


@pytest.mark.parametrize(
    "K", [np.eye(3), np.full((12, 12), np.nan), np.full((12, 12), "a"), np.triu(np.ones((12, 12)))]
)
def test_a_given_gram_matrix_is_looked_at(K):
    with pytest.raises(InvalidProblemError):
        SMOClassifier(X=POINTS, y=SIGNS, K=K)
    indefinite = SMOClassifier(X=POINTS, y=SIGNS, K=GRAM - np.eye(12) * 1.5).minimize()
    assert indefinite.certificate.status == "stationary"


@pytest.mark.parametrize("kernel", [LinearKernel(), GaussianKernel(1.0)])
def test_C_over_many_decades_and_back(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    signs, y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0), X[:, 0] + 0.1 * rng.normal(size=40)
    classifier = SMOClassifier(X=X, y=signs, kernel=kernel, tol=1e-6)
    regressor = SMORegression(X=X, y=y, kernel=kernel, tol=1e-6)
    for C in (1.0, 1e-60, 1e5, 1e-10, 1e60, 1e-3, 1e3):
        for machine in (classifier, regressor):
            machine.set_C(C)
            if machine is regressor:
                machine.set_epsilon(float(rng.choice([0.0, 0.1, 1e10])))
            alphas, signs_of = machine.alphas, machine._signs
            assert abs((signs_of * alphas).sum()) <= 1e-9 * max(1.0, alphas.max())
            fresh = machine._hessian.gradient(signs_of * alphas)
            np.testing.assert_allclose(
                signs_of * machine.gradient, fresh, rtol=1e-7, atol=1e-7 * np.abs(fresh).max()
            )
            if C > 1e5:
                continue
            machine.minimize()
            more = {"epsilon": machine.epsilon} if machine is regressor else {}
            targets = y if machine is regressor else signs
            cold = type(machine)(X=X, y=targets, kernel=kernel, tol=1e-6, C=C, **more).minimize().certificate
            assert machine.certificate.status == cold.status == "optimal"
            apart = abs(machine.certificate.objective - cold.objective)
            assert apart <= max(machine.certificate.gap, cold.gap)
    for C in ("a", None, 0, -1, np.nan, 1e300, 5e-324):
        with pytest.raises(InvalidProblemError, match="C must"):
            classifier.set_C(C)
    assert classifier.C == 1e3


def test_another_call_ends_an_iteration_over_steps():
    machine = SMOClassifier(X=POINTS, y=SIGNS, kernel=GaussianKernel(1.0), C=10.0)
    open_steps = machine.steps()
    next(open_steps)
    machine.set_C(0.1)
    assert list(open_steps) == []
    assert machine.alphas.max() <= 0.1
    open_steps = machine.steps()
    next(open_steps)
    optimum = machine.minimize().alphas
    open_steps.close()
    np.testing.assert_array_equal(machine.alphas, optimum)


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("newton", [True, False])
def test_groups_that_cannot_move_beside_one_without_curvature(rule, newton):
    """A group at both of its bounds, one of a single index, and one whose minimum is a corner."""
    group = np.array([0, 0, 1, 2, 2, 2])
    problem = DualProblem(
        linear=np.array([1.0, -1.0, 5.0, -3.0, 2.0, 1.0]),
        lo=np.array([0.0, 1.0, -2.0, 0.0, -1.0, 0.0]),
        hi=np.array([0.0, 1.0, 3.0, 1.0, 0.0, 2.0]),
        group=group,
        sums=np.array([1.0, 0.5, 0.25]),
        coupling=np.zeros((1, 1)),
    )
    certificate = minimize(
        problem, Hessian(problem, np.eye(6)), Options(selection=rule, newton=newton)
    ).certificate
    assert certificate.status == "optimal"
    # Group 2: index 3 rises to 1, index 4 falls to -1, index 5 pays the difference.
    assert certificate.objective == pytest.approx(-1.0 + 2.5 - 3.0 - 2.0 + 0.25)
    assert certificate.gap <= 1e-12
