"""Every step can be recomputed from its own fields, and a trace is saved without loss."""

import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from oracle import dense

from svmviz import InvalidProblemError, Trace, explain, record
from svmviz.kernels import GaussianKernel, LinearKernel, PolynomialKernel, PrecomputedKernel
from svmviz.machines import mc_svm, nu_svc, svc, svr
from svmviz.smo import Options
from svmviz.smo.iterate import CURVATURE_FLOOR
from svmviz.smo.selection import NAMES
from svmviz.smo.steps import NewtonStep, Step


def classifier(rule="second_order", n=60, C=2.0, kernel=None, max_steps=500, **options):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-0.7, 1, (n // 2, 2)), rng.normal(0.7, 1, (n - n // 2, 2))])
    signs = np.repeat([-1.0, 1.0], [n // 2, n - n // 2])
    options_ = Options(selection=rule)
    problem = svc.dual_problem(signs, C)
    kernel = kernel or GaussianKernel(1.0)
    return record("C-SVC", X, signs, kernel, {"C": C}, problem, options_, max_steps, **options)


def regressor(rule="second_order", **options):
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(-3, 3, (40, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    problem = svr.dual_problem(y, 1.0, 0.1)
    parameters = {"C": 1.0, "epsilon": 0.1}
    options_ = Options(selection=rule)
    return record("epsilon-SVR", X, y, GaussianKernel(0.5), parameters, problem, options_, 500, **options)


def three_classes(**options):
    """Many groups of a few multipliers, with a coupling."""
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(45, 2)) + np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])[codes]
    problem = mc_svm.dual_problem(codes, 3, 0.5)
    return record("MC-SVM", X, codes, GaussianKernel(1.0), {"beta": 0.5}, problem, Options(), 2000, **options)


def two_groups(**options):
    trace = classifier()
    problem = nu_svc.dual_problem(trace.y, 0.4)
    parameters = {"nu": 0.4}
    return record("nu-SVC", trace.X, trace.y, GaussianKernel(1.0), parameters, problem, Options(), **options)


JUMPS = [
    classifier,
    regressor,
    two_groups,
    three_classes,
    lambda **options: classifier("platt", C=10.0, **options),
    lambda **options: classifier(kernel=LinearKernel(), **options),
]
"""Runs with Newton steps when asked for."""


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
            curvature = hessian.diagonal[step.i] + hessian.diagonal[down] - 2 * dense(hessian)[step.i, down]
            gains = np.maximum(g[down] - g[step.i], 0) ** 2 / np.maximum(curvature, 1e-12)
            own = step.pair_violation**2 / step.curvature
            assert own == pytest.approx(gains.max(), rel=1e-6)


@pytest.mark.parametrize("make", JUMPS)
def test_each_newton_step_can_be_recomputed(make):
    trace = make(newton=True)
    jumps = [step for step in trace.steps if step.kind == "newton"]
    assert len(jumps) >= 2
    assert [step.number for step in trace.steps] == list(range(1, len(trace.steps) + 1))
    assert trace.certificate.iterations == len(trace.steps) - len(jumps)
    problem, hessian = trace.problem, trace.hessian()
    for k, step in enumerate(trace.steps):
        if not isinstance(step, NewtonStep):
            continue
        z, after = trace.multipliers(k), trace.multipliers(k + 1)
        g, g_after = hessian.gradient(z), hessian.gradient(after)
        free = np.flatnonzero((z > problem.lo) & (z < problem.hi))
        # Before the last phase sums get back what rounding took; that may put what is only rounding on its bound.
        odd = np.setxor1d(step.indices, free)
        assert np.minimum(z[odd] - problem.lo[odd], problem.hi[odd] - z[odd]).max(initial=0.0) < 1e-15
        free = np.array(step.indices)
        assert step.samples == tuple(problem.sample[free])
        np.testing.assert_allclose(step.z_before, z[free], atol=1e-12)
        np.testing.assert_array_equal(step.z_after, after[free])
        for g_at, spread in ((g, step.spread_before), (g_after, step.spread_after)):
            groups = [g_at[free[problem.group[free] == group]] for group in set(problem.group[free].tolist())]
            assert spread == pytest.approx(max(np.abs(v - v.mean()).max() for v in groups), abs=1e-9)
        d = (after - z) / step.fraction
        rounding = 1e-10 + 1e-11 * np.abs(d).sum()  # without curvature the direction is huge
        assert step.slope == pytest.approx(g @ d, rel=1e-6, abs=rounding)
        H_d = hessian.gradient(z + d) - g
        assert step.curvature == pytest.approx(d @ H_d, rel=1e-6, abs=rounding / step.fraction)
        change = step.slope * step.fraction + 0.5 * step.curvature * step.fraction**2
        assert step.objective_after - step.objective_before == pytest.approx(change, rel=1e-6, abs=1e-10)
        for at, gradient, objective, gap in (
            (z, g, step.objective_before, step.gap_before),
            (after, g_after, step.objective_after, step.gap_after),
        ):
            assert objective == pytest.approx(0.5 * at @ (gradient + problem.linear), abs=1e-9)
            assert gap == pytest.approx(problem.gap(at, gradient), rel=1e-6, abs=1e-8)
        assert step.violation == pytest.approx(problem.violation(z, g), abs=1e-9)
        after[odd] = np.round(after[odd])
        inside = (after > problem.lo) & (after < problem.hi)
        counts = inside.sum(), (after == 0).sum(), ((after != 0) & ~inside).sum()
        assert (step.n_free, step.n_zero, step.n_bound) == counts
        assert all(after[d] in (problem.lo[d], problem.hi[d]) for d in step.blocked)
        assert step.objective_after <= step.objective_before + 1e-9


@pytest.mark.parametrize("make", JUMPS)
def test_a_newton_step_that_nothing_stops_makes_the_free_gradients_equal(make):
    trace = make(newton=True)
    whole = [step for step in trace.steps if step.kind == "newton" and not step.blocked]
    assert whole
    for step in whole:
        assert step.spread_after < 1e-7
        if step.spread_before > 1e-6:
            assert step.fraction == pytest.approx(1.0, abs=1e-3)
            assert step.slope == pytest.approx(-step.curvature, rel=1e-3)
    for step in trace.steps:
        if step.kind == "newton" and step.blocked:
            assert 0 < step.fraction <= 1


@pytest.mark.parametrize("make", JUMPS)
def test_with_newton_steps_a_run_ends_at_the_same_optimum_sooner(make):
    pairs, both = make(), make(newton=True)
    assert all(step.kind == "pair" for step in pairs.steps)
    assert not pairs.has_newton_steps
    assert both.certificate.iterations < pairs.certificate.iterations
    assert both.certificate.status == "optimal"
    first = [step.kind for step in both.steps].index("newton")
    assert both.steps[:first] == pairs.steps[:first]
    assert both.certificate.objective <= pairs.certificate.objective + pairs.certificate.gap


def test_platt_uses_all_of_its_heuristic():
    reasons = {step.reason for step in classifier("platt", n=120, C=10.0, max_steps=2000).steps}
    assert {"farthest error", "free sweep", "full sweep"} <= reasons


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("make", [classifier, regressor, three_classes])
def test_json_and_csv_lose_nothing(make, newton):
    trace = make(newton=newton)
    assert trace.has_newton_steps == newton
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


def test_a_run_of_no_steps_is_saved():
    trace = record(
        "C-SVC", np.zeros((2, 2)), np.array([1.0, -1.0]), LinearKernel(), {}, QUIET, Options(tol=10.0)
    )
    assert trace.steps == ()
    assert Trace.from_json(trace.to_json()).steps == Trace.from_csv(trace.to_csv()).steps == ()


QUIET = svc.dual_problem(np.array([1.0, -1.0]), 1.0)


def test_a_file_of_an_earlier_version_is_opened():
    """Before there were Newton steps a file had no column for the kind."""
    trace = classifier()
    content = json.loads(trace.to_json())
    assert content["format"] == "svmviz trace 1"
    assert list(content["steps"]) == ["kind", *(f.name for f in fields(Step))]
    del content["steps"]["kind"]
    assert Trace.from_json(json.dumps(content)).steps == trace.steps
    head, *rows = trace.to_csv().splitlines()
    text = "\n".join([head, *(row.partition(",")[2] for row in rows)]) + "\n"
    assert Trace.from_csv(text).steps == trace.steps


def test_a_file_with_newton_steps_says_so_to_earlier_versions():
    trace = classifier(newton=True)
    assert json.loads(trace.to_json())["format"] == "svmviz trace 2"
    table = trace.columns()
    k = table["kind"].index("newton")
    assert table["indices"][k] == trace.steps[k].indices
    assert table["i"][k] is None
    assert table["indices"][0] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": (0, 10**6)},
        {"indices": (-1, 1)},
        {"indices": (3, 3)},
        {"blocked": (59,)},
        {"z_after": (1.0,)},
        {"z_after": (math.inf, 0.0)},
        {"samples": (5, 5)},
        {"fraction": 0.0},
    ],
)
def test_a_newton_step_that_was_tampered_with_is_refused(changes):
    trace = classifier(newton=True)
    k = [step.kind for step in trace.steps].index("newton")
    two = {"indices": (3, 4), "samples": (3, 4), "z_before": (0.1, 0.1), "z_after": (0.1, 0.1), "blocked": ()}
    for expected, fix in ((True, two), (False, two | changes)):
        step = replace(trace.steps[k], **fix)
        text = replace(trace, steps=(*trace.steps[:k], step, *trace.steps[k + 1 :])).to_csv()
        if expected:
            Trace.from_csv(text)
            continue
        with pytest.raises(InvalidProblemError, match="not a trace"):
            Trace.from_csv(text)


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


@pytest.mark.parametrize("make", JUMPS)
def test_sentences_of_newton_steps_carry_their_numbers(make):
    trace = make(newton=True)
    names = [f"<{d}>" for d in range(trace.problem.n)]
    texts = explain.sentences(trace, names)
    for step, text in zip(trace.steps, texts, strict=False):
        if step.kind != "newton":
            continue
        start = (
            f"Step {step.number} of {len(trace.steps)}: Newton step: {len(step.indices)} multipliers are free"
        )
        assert text.startswith(start)
        assert "falls by −" not in text
        assert ("no more than rounding" in text) == step.only_rounding
        if step.only_rounding:
            assert step.spread_before < 1e-9
            continue
        assert explain.short(step.spread_before) in text
        assert explain.short(step.objective_after) in text
        assert ("all the way" in text) == (not step.blocked)
        assert ("no pair of them can gain" in text) == (
            not step.blocked and step.spread_after <= 0.01 * trace.tol
        )
        if step.blocked and step.curvature < -0.5 * step.slope:
            assert "falls without end" in text
        elif step.blocked:
            assert f"{explain.short(step.fraction, 3)} of the way" in text
            assert ("stop the step" if len(step.blocked) > 1 else "stops the step") in text
        assert not step.blocked or f"<{step.blocked[0]}>" in text
        groups = len(set(trace.problem.group[list(step.indices)].tolist()))
        assert ("within each" in text) == (groups > 1)
    count = sum(step.kind == "newton" for step in trace.steps)
    assert f"({count} of them Newton)" in texts[-1]


def test_many_multipliers_at_their_bounds_are_named_shortly():
    trace = classifier(newton=True)
    k = [step.kind for step in trace.steps].index("newton")
    for count, words in (
        (2, "<1> and <2> reach"),
        (3, "<1>, <2> and <3> reach"),
        (5, "<1>, <2> and 3 more reach"),
    ):
        step = replace(trace.steps[k], blocked=tuple(range(1, count + 1)))
        other = replace(trace, steps=(step,))
        assert f"{words} their bounds" in explain.sentences(other, [f"<{d}>" for d in range(60)])[0]


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
