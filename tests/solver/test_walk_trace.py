"""A walk is a trace: every event can be recomputed from it, it is saved without loss, and nonsense is refused."""

import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from svmviz import (
    MCSVC,
    SVC,
    SVR,
    InvalidProblemError,
    MuSVC,
    Trace,
    WalkStep,
    explain,
    path,
    record_learning,
    record_path,
    record_unlearning,
)
from svmviz.estimators import OneVsRestSVC
from svmviz.problem import DualProblem
from svmviz.walk.as_trace import trace_of_path, trace_of_walk
from svmviz.walk.leave_out import without
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose
from svmviz.walk.record import HELD, MARGIN
from tests.solver.test_paths import APART, CODES, LEFT_OUT, PATHS, SIGNS, TARGETS, X

DUPLICATES = np.round(X)


def paths():
    return {name: record_path(*arguments) for name, arguments in PATHS.items()}


@pytest.fixture(scope="module")
def recorded():
    """A path of every machine that has one, and of points of which many coincide."""
    ties = {
        "ties": record_path(SVC(gamma=1.0), DUPLICATES, SIGNS, "C", 0.01, 100.0),
        "squared": record_path(SVC(gamma=1.0, loss="squared_hinge"), X, SIGNS, "C", 0.1, 1000.0),
        "squared, downward": record_path(
            SVR(gamma=1.0, loss="squared_epsilon_insensitive"), X, TARGETS, "C", 100.0, 0.1
        ),
        "ties, SVR": record_path(
            SVR(kernel="linear", C=10.0), DUPLICATES, np.round(TARGETS, 1), "epsilon", 1.0, 0.0
        ),
    }
    return paths() | ties


def moves(name):
    """One support vector unlearned and one sample learned."""
    estimator, samples, y = LEFT_OUT[name]
    posed = pose(estimator, samples, y)
    used = np.unique(posed.problem.sample[np.flatnonzero(exact(posed).z)])
    return [
        record_unlearning(estimator, samples, y, int(used[3])),
        record_learning(estimator, samples, y, int(used[3])),
    ]


def assert_recomputable(trace, rtol=1e-8):
    """Every position is the optimum of its problem, with the sets, the bias and the objective that are recorded."""
    hessian = trace.hessian()
    # Where all multipliers vanish, an objective is what rounding has left of the others.
    rounding = 1e-14 * max(abs(step.objective) for step in (trace.walk, *trace.steps))
    for position in range(len(trace.steps) + 1):
        problem, z, sides = trace.problem_at(position), trace.multipliers(position), trace.sides(position)
        gradient = hessian.with_problem(problem).gradient(z)
        scale = float(np.abs(gradient).max() + np.abs(problem.linear).max() + np.abs(z).max())
        assert problem.is_feasible(np.clip(z, problem.lo, problem.hi))
        assert np.abs(z - np.clip(z, problem.lo, problem.hi)).max() < 1e-12 * max(1.0, np.abs(z).max())
        assert problem.violation(z, gradient) < rtol * scale
        step = trace.steps[position - 1] if position else trace.walk
        # What cancels in the objective is as large as its terms.
        terms = float(np.abs(z) @ (np.abs(gradient) + np.abs(problem.linear)))
        noise = rtol * terms + rounding
        assert step.objective == pytest.approx(problem.objective(z, gradient), rel=rtol, abs=noise)
        off = gradient - np.array(step.nu)[problem.group]
        assert np.abs(off[sides == MARGIN]).max(initial=0.0) < rtol * scale
        free = (sides != HELD) & (z > problem.lo + 1e-9 * scale) & (z < problem.hi - 1e-9 * scale)
        assert not free.any() or (sides[free] == MARGIN).all() or "exchange" in {s.event for s in trace.steps}
        if position:
            counts = [int((sides == side).sum()) for side in (0, -1, 1)]
            assert [step.n_margin, step.n_lower, step.n_upper] == counts
            assert step.sample == (-1 if step.dual_index < 0 else problem.sample[step.dual_index])


@pytest.mark.parametrize("name", [*PATHS, "ties", "ties, SVR", "squared", "squared, downward"])
def test_every_event_of_a_path_can_be_recomputed(recorded, name):
    trace = recorded[name]
    assert len(trace.steps) > 20
    assert_recomputable(trace)


@pytest.mark.parametrize("name", PATHS)
def test_a_trace_has_the_multipliers_of_the_path(recorded, name):
    trace, found = recorded[name], path(*PATHS[name])
    assert trace.walk.parameter == found.parameter
    assert [step.value for step in trace.steps] == pytest.approx([event.value for event in found.events])
    assert [step.dual_index for step in trace.steps] == [event.dual_index for event in found.events]
    low, high = sorted((found.start, found.stop))
    for position in range(len(trace.steps) + 1):
        value = min(max(trace.value(position), low), high)
        expected = found.multipliers_at(value)
        z = trace.multipliers(position)
        np.testing.assert_allclose(z, expected, rtol=0, atol=1e-8 * max(1.0, np.abs(expected).max()))
        step = trace.steps[position - 1] if position else trace.walk
        if found.walk.segment(value).side.tolist().count(MARGIN) > 1:  # else the bias may be an interval
            assert step.bias == pytest.approx(found.posed.bias(np.array(step.nu)))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_learning_and_unlearning_can_be_recomputed(name):
    unlearned, learned = moves(name)
    for trace in (unlearned, learned):
        assert trace.steps[-1].event in ("arrived", "condition holds")
        assert_recomputable(trace)
    held = np.flatnonzero(unlearned.walk.sides == HELD)
    assert len(held)
    assert (unlearned.multipliers(len(unlearned.steps))[held] == 0).all()
    # There and back again.
    first, last = unlearned.multipliers(0), learned.multipliers(len(learned.steps))
    assert unlearned.walk.objective == pytest.approx(learned.steps[-1].objective, rel=1e-8)
    assert np.abs(first - last).max() < 1e-6 * np.abs(first).max()


def every_machine():
    yield from paths().values()
    for name in LEFT_OUT:
        yield from moves(name)


def test_json_and_csv_lose_nothing():
    machines = set()
    for trace in every_machine():
        machines.add(trace.machine)
        text = trace.to_json()
        assert json.loads(text)["format"] == "svmviz trace 3"
        for again in (Trace.from_json(text), Trace.from_csv(trace.to_csv())):
            assert again.steps == trace.steps
            assert again.to_json() == text
            assert again.certificate == trace.certificate
            for f in fields(DualProblem):
                np.testing.assert_array_equal(getattr(again.problem, f.name), getattr(trace.problem, f.name))
            last = len(trace.steps)
            np.testing.assert_array_equal(again.multipliers(last), trace.multipliers(last))
            np.testing.assert_array_equal(again.sides(last), trace.sides(last))
    assert machines == set(explain.WORDS)


def test_a_path_that_moves_the_diagonal_is_saved_with_how_it_does(recorded):
    trace = recorded["squared, downward"]
    again = Trace.from_json(trace.to_json())
    assert again.to_json() == trace.to_json()
    for position in (0, len(trace.steps)):
        C = again.value(position)
        np.testing.assert_allclose(again.problem_at(position).diagonal, 1 / (2 * C), rtol=1e-12)
    content = json.loads(trace.to_json())
    content["walk"]["rates"]["diagonal"][0] = -1.0
    with pytest.raises(InvalidProblemError, match="not a trace"):
        Trace.from_json(json.dumps(content))


def test_a_file_stays_small():
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(-0.7, 1, (100, 2)), rng.normal(0.7, 1, (100, 2))])
    trace = record_path(SVC(gamma=1.0), samples, np.repeat([-1.0, 1.0], 100), "C", 0.01, 1000.0)
    assert len(trace.steps) > 300
    assert len(trace.to_json()) < 1e6
    assert len(trace.to_csv()) < 1e6


def test_the_columns_are_those_of_the_events(recorded):
    trace = recorded["C-SVC"]
    assert list(trace.columns()) == ["kind", *(f.name for f in fields(WalkStep))]
    assert set(trace.columns()["kind"]) == {"walk"}
    assert not trace.has_newton_steps


def test_whose_place_an_exchange_takes_is_recorded(recorded):
    steps = [step for name in ("ties", "ties, SVR") for step in recorded[name].steps]
    exchanges = [step for step in steps if step.event == "exchange"]
    assert any(step.dual_index in step.changed and len(step.changed) > 1 for step in exchanges)


def test_a_walk_that_a_minimisation_took_on_says_so():
    """A stretch without an event between: what stands elsewhere after it has changed sides there."""
    found = path(*PATHS["C-SVC"])
    walk, gone = found.walk, found.walk.events[20]
    events = tuple(event for event in walk.events if event.value != gone.value)
    trace = trace_of_path(replace(found, walk=replace(walk, events=events)), *PATHS["C-SVC"][:3])
    made = [step for step in trace.steps if step.event == "minimised"]
    assert [step.value for step in made] == pytest.approx([gone.value])
    assert made[0].changed == (gone.dual_index,)
    assert_recomputable(trace)
    assert any("a minimisation took it on: 1 multiplier changed sides" in s for s in explain.sentences(trace))
    Trace.from_json(trace.to_json())


def test_what_has_no_walk_is_refused():
    estimator, samples, y = LEFT_OUT["C-SVC"]
    posed = pose(estimator, samples, y)
    unused = int(np.flatnonzero(exact(posed).z == 0)[0])
    with pytest.raises(InvalidProblemError, match="no multiplier"):
        record_unlearning(estimator, samples, y, unused)
    for wrong in (-1, 40, 1.5):
        with pytest.raises(InvalidProblemError, match="whole numbers"):
            record_unlearning(estimator, samples, y, wrong)
    with pytest.raises(InvalidProblemError, match="broke"):
        trace_of_walk(None, posed, "unlearned", estimator, samples, y)
    _, walk = without(posed, exact(posed), np.array([0]), record=True)
    with pytest.raises(InvalidProblemError, match="broke"):
        trace_of_walk(replace(walk, status="failed"), posed, "unlearned", estimator, samples, y)


TAMPERED = {
    "number": lambda s: {"number": s.number + 1},
    "value beyond the end": lambda s: {"value": 1e9},
    "value that is not finite": lambda s: {"value": math.inf},
    "index": lambda s: {"dual_index": 10**6},
    "sample": lambda s: {"sample": s.sample + 1},
    "event": lambda s: {"event": "leaves"},
    "an end in the middle": lambda s: {"event": "arrived"},
    "count": lambda s: {"n_margin": s.n_margin + 1},
    "changed": lambda s: {"changed": (10**6,)},
    "changed twice": lambda s: {"changed": s.changed * 2, "sides": s.sides * 2},
    "side": lambda s: {"sides": tuple(7 for _ in s.sides)},
    "another side": lambda s: {"sides": tuple(-1 if side == 0 else 0 for side in s.sides)},
    "nu": lambda s: {"nu": ()},
    "objective": lambda s: {"objective": math.inf},
    "indices": lambda s: {"indices": s.indices[1:], "z": s.z[1:]},
    "indices and z": lambda s: {"z": s.z[1:]},
    "negative index": lambda s: {"indices": (-1, *s.indices[1:])},
    "outside of the box": lambda s: {"z": tuple(1e3 + value for value in s.z)},
    "another sum": lambda s: {"z": (s.z[0] + 1e-3, *s.z[1:])},
    "infinite multiplier": lambda s: {"z": (math.inf, *s.z[1:])},
}


@pytest.mark.parametrize("what", TAMPERED)
def test_an_event_that_was_tampered_with_is_refused(recorded, what):
    trace = recorded["C-SVC"]
    k = 10
    changes = TAMPERED[what](trace.steps[k])
    other = replace(
        trace, steps=(*trace.steps[:k], replace(trace.steps[k], **changes), *trace.steps[k + 1 :])
    )
    with pytest.raises(InvalidProblemError, match="not a trace"):
        Trace.from_csv(other.to_csv())


HEADS = {
    "parameter": lambda walk: walk | {"parameter": ""},
    "start": lambda walk: walk | {"start": None},
    "rates of another length": lambda walk: walk | {"rates": {"hi": [1.0]}},
    "rates that are none": lambda walk: walk | {"rates": {"speed": [1.0]}},
    "sides": lambda walk: walk | {"sides": [0]},
    "other sides": lambda walk: walk | {"sides": [5] * len(walk["sides"])},
    "nu": lambda walk: walk | {"nu": [0.0, 0.0]},
    "objective": lambda walk: walk | {"objective": "low"},
    "one more": lambda walk: walk | {"more": 1},
    "nothing": lambda walk: {},
}


@pytest.mark.parametrize("what", HEADS)
def test_a_head_that_was_tampered_with_is_refused(recorded, what):
    content = json.loads(recorded["C-SVC"].to_json())
    with pytest.raises(InvalidProblemError, match="not a trace"):
        Trace.from_json(json.dumps(content | {"walk": HEADS[what](content["walk"])}))
    with pytest.raises(InvalidProblemError, match="not a trace"):
        Trace.from_json(json.dumps(content | {"format": "svmviz trace 2"}))


def test_sentences_carry_the_numbers_of_the_events():
    signs = {"C": "C", "epsilon": "ε", "mu": "μ"}
    for trace in every_machine():
        names = [f"<{d}>" for d in range(trace.problem.n)]
        texts = explain.sentences(trace, names)
        assert len(texts) == len(trace.steps) + 1
        for step, text in zip(trace.steps, texts, strict=False):
            assert text.startswith(f"Event {step.number} of {len(trace.steps)}, ")
            if trace.walk.parameter in signs:
                assert f"at {signs[trace.walk.parameter]} = {explain.short(step.value)}: " in text
            else:
                assert f"% {trace.walk.parameter}: " in text
            if step.dual_index >= 0 and step.event not in ("arrived", "condition holds"):
                assert f"<{step.dual_index}>" in text
            assert f"{step.n_margin} on {explain.words_of(trace).short_edge}, " in text
            assert explain.short(step.objective) in text
            assert ("bias" in text) == (trace.machine not in ("AD-SVM", "MC-SVM"))
        assert f"after {len(trace.steps)} event" in texts[-1]


def test_what_each_event_is_called():
    trace = record_path(*PATHS["C-SVC"])
    texts = " ".join(explain.sentences(trace))
    for words in ("comes to the margin", "comes back to the margin", "reaches 0", "reaches its upper bound"):
        assert words in texts
    assert "the path ends here" in texts
    assert "no longer knows it" in explain.sentences(moves("SVR")[0])[-2]
    assert "learned" in explain.sentences(moves("MC-SVM")[1])[-2]
    trace = moves("MC-SVM")[0]
    names = [f"<{d}>" for d in range(trace.problem.n)]
    assert "the sample (3 multipliers): the machine no longer knows it" in explain.sentences(trace, names)[-2]
    assert " on the edge, " in explain.sentences(moves("SVR")[0])[0]


def test_samples_that_are_unlearned_together():
    estimator, samples, y = LEFT_OUT["C-SVC"]
    posed = pose(estimator, samples, y)
    used = np.flatnonzero(exact(posed).z)[:3].tolist()
    trace = record_unlearning(estimator, samples, y, used)
    assert_recomputable(trace)
    assert np.flatnonzero(trace.walk.sides == HELD).tolist() == used
    assert "nothing is left of 3 samples: the machine no longer knows them." in explain.sentences(trace)[-2]


def test_a_callable_kernel_keeps_its_values():
    def linear(A, B):
        return A @ B.T

    trace = record_path(SVC(kernel=linear), X, SIGNS, "C", 0.1, 1.0)
    np.testing.assert_allclose(Trace.from_json(trace.to_json()).hessian().K, X @ X.T)


def test_records_of_machines_read_back_as_they_are_named():
    assert record_path(MuSVC(gamma=1.0), X, SIGNS, "mu", 0.08, 1.0).parameters == {"mu": 0.08}
    trace = record_unlearning(MCSVC(beta=0.1, gamma=1.0), APART, CODES, [0, 1])
    assert trace.parameters == {"beta": 0.1}
    assert trace.y.tolist() == CODES.tolist()


def test_a_machine_without_a_trace_says_so():
    samples, labels = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(InvalidProblemError, match="OneVsRestSVC has no trace: use SVC"):
        record_path(OneVsRestSVC(kernel="linear"), samples, labels, "C", 0.1, 1.0)
