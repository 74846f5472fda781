"""Every step can be recomputed from its own fields, and a trace is saved without loss."""

import math

import numpy as np
import pytest

from svmviz import InvalidProblemError, Trace, explain, record
from svmviz.kernels import GaussianKernel, LinearKernel, PolynomialKernel, PrecomputedKernel
from svmviz.machines import svc, svr
from svmviz.smo import Options
from svmviz.smo.iterate import CURVATURE_FLOOR
from svmviz.smo.selection import NAMES


def classifier(rule="second_order", n=60, C=2.0, kernel=None, max_steps=500):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-0.7, 1, (n // 2, 2)), rng.normal(0.7, 1, (n - n // 2, 2))])
    signs = np.repeat([-1.0, 1.0], [n // 2, n - n // 2])
    options = Options(selection=rule)
    problem = svc.dual_problem(signs, C)
    return record("C-SVC", X, signs, kernel or GaussianKernel(1.0), {"C": C}, problem, options, max_steps)


def regressor(rule="second_order"):
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(-3, 3, (40, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    problem = svr.dual_problem(y, 1.0, 0.1)
    parameters = {"C": 1.0, "epsilon": 0.1}
    return record("epsilon-SVR", X, y, GaussianKernel(0.5), parameters, problem, Options(selection=rule), 500)


TRACES = [(make, rule) for make in (classifier, regressor) for rule in NAMES]


@pytest.mark.parametrize(("make", "rule"), TRACES)
def test_each_step_follows_from_its_own_fields(make, rule):
    trace = make(rule)
    assert len(trace.steps) > 20
    for step in trace.steps:
        assert step.pair_violation == step.gradient_j - step.gradient_i
        assert step.curvature == pytest.approx(step.h_ii + step.h_jj - 2 * step.h_ij, abs=1e-12)
        floor = CURVATURE_FLOOR * np.abs(trace.hessian().diagonal).max()
        assert step.unclipped == pytest.approx(step.pair_violation / max(step.curvature, floor), rel=1e-12)
        room_i, room_j = step.hi_i - step.z_i_before, step.z_j_before - step.lo_j
        assert step.step == min(step.unclipped, room_i, room_j)
        blocked = {(True, True): "both", (True, False): "i", (False, True): "j", (False, False): "none"}
        assert step.blocked == blocked[step.unclipped >= room_i and step.step == room_i, step.step == room_j]
        assert step.z_i_after == pytest.approx(step.z_i_before + step.step, abs=1e-14)
        assert step.z_j_after == pytest.approx(step.z_j_before - step.step, abs=1e-14)
        fall = step.step * step.pair_violation - 0.5 * step.curvature * step.step**2
        assert step.objective_before - step.objective_after == pytest.approx(fall, rel=1e-6, abs=1e-10)
        assert step.lo_i <= step.z_i_after <= step.hi_i
        assert step.lo_j <= step.z_j_after <= step.hi_j
        assert step.n_free + step.n_zero + step.n_bound == trace.problem.n


@pytest.mark.parametrize(("make", "rule"), TRACES)
def test_a_trace_replays_from_its_problem(make, rule):
    trace = make(rule)
    hessian, problem = trace.hessian(), trace.problem
    for k in range(0, len(trace.steps), 7):
        step, z = trace.steps[k], trace.multipliers(k)
        g = hessian.gradient(z)
        assert g[step.i] == pytest.approx(step.gradient_i, abs=1e-9)
        assert g[step.j] == pytest.approx(step.gradient_j, abs=1e-9)
        assert problem.violation(z, g) == pytest.approx(step.violation, abs=1e-9)
        assert problem.objective(z, g) == pytest.approx(step.objective_before, abs=1e-9)
        assert problem.gap(z, g) == pytest.approx(step.gap_before, rel=1e-6, abs=1e-8)
        assert problem.sample[step.i] == step.sample_i
    z = trace.multipliers(len(trace.steps))
    assert problem.objective(z, hessian.gradient(z)) == pytest.approx(trace.certificate.objective)


def test_the_rules_choose_as_they_say():
    for rule in ("max_violating", "second_order"):
        trace = classifier(rule)
        hessian, problem = trace.hessian(), trace.problem
        for k in range(0, len(trace.steps), 5):
            step, z = trace.steps[k], trace.multipliers(k)
            g = hessian.gradient(z)
            assert g[step.i] == pytest.approx(g[z < problem.hi].min())
            down = np.flatnonzero(z > problem.lo)
            if rule == "max_violating":
                assert g[step.j] == pytest.approx(g[down].max())
                continue
            curvature = hessian.diagonal[step.i] + hessian.diagonal[down] - 2 * hessian.column(step.i)[down]
            gains = np.maximum(g[down] - g[step.i], 0) ** 2 / np.maximum(curvature, 1e-12)
            own = step.pair_violation**2 / step.curvature
            assert own == pytest.approx(gains.max(), rel=1e-6)


def test_platt_uses_all_of_its_heuristic():
    reasons = {step.reason for step in classifier("platt", n=120, C=10.0, max_steps=2000).steps}
    assert {"farthest error", "free sweep", "full sweep"} <= reasons


@pytest.mark.parametrize("make", [classifier, regressor])
def test_json_and_csv_lose_nothing(make):
    trace = make()
    for again in (Trace.from_json(trace.to_json()), Trace.from_csv(trace.to_csv())):
        assert again.steps == trace.steps
        assert again.certificate == trace.certificate
        assert again.kernel == trace.kernel
        assert again.parameters == trace.parameters
        assert (again.machine, again.tol, again.rule) == (trace.machine, trace.tol, trace.rule)
        for name in ("X", "y", "start"):
            np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
        for name in ("linear", "lo", "hi", "sample", "label", "coupling", "group", "sums", "diagonal"):
            np.testing.assert_array_equal(getattr(again.problem, name), getattr(trace.problem, name))
        assert again.to_json() == trace.to_json()


def test_infinite_values_survive():
    trace = classifier(kernel=PolynomialKernel(3, -1.0, 0.5), max_steps=20)
    assert math.isinf(trace.certificate.gap)
    assert Trace.from_json(trace.to_json()).certificate == trace.certificate
    assert Trace.from_csv(trace.to_csv()).certificate == trace.certificate


def test_a_precomputed_kernel_keeps_its_values():
    trace = classifier()
    K = GaussianKernel(1.0)(trace.X, trace.X)
    other = record("C-SVC", K, trace.y, PrecomputedKernel(), {"C": 2.0}, trace.problem, Options())
    assert [s.z_i_after for s in other.steps] == pytest.approx([s.z_i_after for s in trace.steps])
    np.testing.assert_array_equal(Trace.from_json(other.to_json()).hessian().K, K)


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", "[1, 2]", "# {}\n", '{"format": "svmviz trace 1"}', "a,b\n1,2\n"]
)
def test_files_that_are_no_trace(text):
    for read in (Trace.from_json, Trace.from_csv):
        with pytest.raises(InvalidProblemError, match="not a trace"):
            read(text)


def test_a_cut_recording_says_so():
    trace = classifier(max_steps=5)
    assert len(trace.steps) == 5
    assert trace.certificate.status == "capped"
    assert "recording ends here" in explain.sentences(trace)[-1]


@pytest.mark.parametrize(("make", "rule"), TRACES)
def test_sentences_carry_the_numbers_of_the_step(make, rule):
    trace = make(rule)
    texts = explain.sentences(trace)
    assert len(texts) == len(trace.steps) + 1
    for step, text in zip(trace.steps, texts, strict=False):
        assert text.startswith(f"Step {step.number} of {len(trace.steps)}")
        assert explain.short(step.pair_violation) in text
        for before, after in ((step.z_i_before, step.z_i_after), (step.z_j_before, step.z_j_after)):
            first, second = explain.apart(abs(before), abs(after))
            assert first != second
            assert f"{first} → {second}" in text
        assert explain.short(step.objective_after) in text
        assert ("reach" in text) == (step.blocked != "none")
    assert explain.short(trace.certificate.violation) in texts[-1]


def test_sentences_take_names():
    trace = classifier()
    names = [f"<{k}>" for k in range(trace.problem.n)]
    first = trace.steps[0]
    text = explain.sentences(trace, names)[0]
    assert f"<{first.i}>" in text
    assert f"<{first.j}>" in text


def test_sentences_say_which_side_of_the_tube():
    trace = regressor()
    for step, text in zip(trace.steps, explain.sentences(trace), strict=False):
        assert text.count("α*") == (step.hi_i == 0) + (step.hi_j == 0)


def test_a_pair_without_curvature_has_no_minimum():
    X, signs = np.zeros((2, 2)), np.array([1.0, -1.0])
    trace = record("C-SVC", X, signs, LinearKernel(), {"C": 3.0}, svc.dual_problem(signs, 3.0), Options())
    assert "falls without end; both reach a bound after 3" in explain.sentences(trace)[0]


def test_numbers_that_differ_look_different():
    assert explain.apart(26.6671, 26.6672) == ("26.6671", "26.6672")
    assert explain.apart(1.0, 2.0) == ("1", "2")
    assert explain.apart(1.0, 1.0) == ("1", "1")


def test_short_numbers():
    assert explain.short(-0.0012345) == "−0.001234"
    assert explain.short(1e-7) == "1e−7"
    assert explain.short(12.0) == "12"


def test_a_linear_trace_on_points_that_coincide():
    X = np.zeros((4, 2))
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    trace = record("C-SVC", X, signs, LinearKernel(), {"C": 1.0}, svc.dual_problem(signs, 1.0), Options())
    assert trace.certificate.status == "optimal"
    assert trace.certificate.objective == -4.0
