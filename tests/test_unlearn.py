"""What the page Unlearn sends: at every breakpoint, and between them, the exact machine; and what it says."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from svmviz.errors import InvalidProblemError
from svmviz.kernels import make_kernel
from svmviz.ui import courses, everyone, leaving, unlearning
from svmviz.ui.estimators import judging_machine
from svmviz.ui.leaving import AT_BOUND, LEAVING, ON_MARGIN, REST
from svmviz.ui.unlearning import Ask
from svmviz.ui.workspace import Workspace
from svmviz.walk.leave_out import cross_validate, leave_one_out, unlearned

ROOT = Path(__file__).parent.parent
PAGE = "pages/6_Unlearn.py"


def workspace_of(preset="overlapping", **changes):
    space = Workspace()
    space.load_preset(preset)
    for name, value in changes.items():
        setattr(space, name, value)
    return space


def largest(solution):
    """The sample with the largest multiplier."""
    posed = solution.posed
    return int(np.bincount(posed.problem.sample, np.abs(solution.walker.z), posed.n_samples).argmax())


def played(space, sample=None, learns=False):
    """The solution, what is sent of a walk, and its coefficients over all samples at every breakpoint."""
    solution = leaving.solve(space)
    sample = largest(solution) if sample is None else sample
    way = leaving.take_in(solution, sample) if learns else leaving.leave_out(solution, sample, record=True)
    shown, coef = courses.course(space, solution, sample, way)
    functions = len(courses.look(space, solution, way.before.z, way.before.levels()).bias)
    whole = np.zeros((len(coef), functions, len(solution.X)))
    whole[:, :, shown["places"]] = coef.reshape(len(coef), functions, -1)
    return solution, way, shown, whole


def between(three, part):
    """The parabola through the values at the start, in the middle and at the end of a stretch."""
    first, middle, last = np.moveaxis(np.asarray(three, float), -1, 0)
    return first + part * (4 * middle - 3 * first - last) + part**2 * 2 * (first + last - 2 * middle)


def sets_of(solution, shown):
    """The sets of all samples on each stretch."""
    sets = leaving.sample_sets(solution.posed, solution.walker.side, solution.walker.z)
    stretches = []
    for changes in shown["changes"]:
        for sample, after in changes:
            sets[sample] = after
        stretches.append(sets.copy())
    return stretches


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_between_breakpoints_the_interpolated_machine_is_optimal(C):
    space = workspace_of(C=C)
    solution, _, shown, coef = played(space)
    K = make_kernel(X=solution.X, **space.kernel_parameters())(solution.X, solution.X)
    signs = np.where(solution.y == 1, 1.0, -1.0)
    assert len(shown["bias"]) == len(coef) - 1 == len(shown["changes"])
    for k, sets in enumerate(sets_of(solution, shown)):
        for part in (0.0, 0.3, 1.0):
            z = (1 - part) * coef[k, 0] + part * coef[k + 1, 0]
            yf = signs * (K @ z + between(shown["bias"][k][0], part))
            scale = 1e-8 * max(1.0, np.abs(yf).max())
            assert np.abs(yf[sets == ON_MARGIN] - 1).max(initial=0) < scale
            assert (yf[sets == AT_BOUND] - 1).max(initial=-1) < scale
            assert (1 - yf[sets == REST]).max(initial=-1) < scale
            assert abs(z.sum()) < 1e-9 * C
            assert np.allclose(np.abs(z[sets == AT_BOUND]), C)
            assert not z[sets == REST].any()
    assert list(np.flatnonzero(sets_of(solution, shown)[-1] == LEAVING)) == [shown["sample"]]
    assert coef[-1, 0, shown["sample"]] == pytest.approx(0, abs=1e-12)
    assert shown["shares"][0] == 1
    assert shown["shares"][-1] == 0


MACHINES = [
    ("overlapping", {"C": 100.0}),
    ("overlapping", {"loss": "squared"}),
    ("overlapping", {"classifier": "nu_svc", "kernel": "rbf", "nu": 0.5}),
    ("overlapping", {"classifier": "one_class", "kernel": "rbf"}),
    ("overlapping", {"classifier": "mu_svm", "kernel": "rbf", "mu": 0.1}),
    ("overlapping", {"classifier": "ad_svm", "kernel": "rbf", "mu": 0.1}),
    ("overlapping", {"classifier": "mc_svm"}),
    ("three_classes", {"classifier": "svc"}),
    ("three_classes", {"classifier": "ad_svm", "kernel": "rbf", "mu": 0.2, "decision_rule": "thesis"}),
    ("three_classes", {"classifier": "ad_svm", "kernel": "rbf", "mu": 0.2, "decision_rule": "nearest"}),
    ("three_classes", {"classifier": "mc_svm", "beta": 0.1}),
    ("sine", {}),
    ("sine", {"regressor": "nu_svr"}),
]


@pytest.mark.parametrize(("preset", "changes"), MACHINES)
def test_the_end_of_the_walk_is_the_machine_without_the_sample(preset, changes):
    space = workspace_of(preset, **changes)
    solution, way, shown, coef = played(space)
    sample = shown["sample"]
    machine = leaving.refit(space, solution, sample)
    seen = courses.look(space, solution, way.walker.z, way.walker.levels())
    assert coef[-1] == pytest.approx(seen.coef, abs=1e-7 * np.abs(seen.coef).max())
    assert [bias[-1] for bias in shown["bias"][-1]] == pytest.approx(seen.bias, abs=1e-6)
    assert differing(solution, way, machine, space) < 1e-6
    assert "differ by" in unlearning.proof(space, solution, sample, way)
    assert shown["events"][-1]["at"] == len(coef) - 1
    assert [event["at"] for event in shown["events"]] == sorted(event["at"] for event in shown["events"])


def differing(solution, way, machine, space):
    """By how much the decisions at the end of a way differ from those of a fitted machine, over the largest."""
    values = solution.judge.decisions(way.walker, np.arange(len(solution.X)))
    decide = machine.predict if space.task == "regression" else machine.decision_function
    wanted = decide(solution.X)
    return np.abs(values - wanted).max() / max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize(("preset", "changes"), MACHINES)
def test_a_sample_is_learned_on_the_way_that_it_would_leave(preset, changes):
    space = workspace_of(preset, **changes)
    solution, way, shown, coef = played(space, learns=True)
    sample = shown["sample"]
    assert way.walk is not None
    assert shown["shares"][0] == 0
    assert shown["shares"][-1] == pytest.approx(1)
    assert differing(solution, way, leaving.refit(space, solution, []), space) < 1e-6
    assert not coef[0, :, sample].any()
    assert "is learned" in shown["events"][-1]["text"]
    assert "Refitted with" in unlearning.proof(space, solution, sample, way)
    assert len(shown["changes"]) == len(shown["bias"]) + 1 == len(coef)
    sets = sets_of(solution, shown)
    full = leaving.sample_sets(solution.posed, solution.walker.side, solution.walker.z)
    assert (sets[-1] == full).all()
    assert all(part[sample] == LEAVING for part in sets[:-1])
    _, _, back, gone = played(space)
    assert coef[0] == pytest.approx(gone[-1], abs=1e-7 * np.abs(coef).max())
    assert coef[-1] == pytest.approx(gone[0], abs=1e-7 * np.abs(coef).max())
    if space.machine != "mc_svm":  # whose box grows instead, and a multiplier may stay behind it
        assert shown["shares"] == pytest.approx(back["shares"][::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("preset", "machine"), [("overlapping", "mu_svm"), ("overlapping", "ad_svm"), ("three_classes", "ad_svm")]
)
def test_prototypes_between_breakpoints_are_those_of_the_multipliers(preset, machine):
    space = workspace_of(preset, classifier=machine, kernel="rbf", mu=0.2)
    solution, way, shown, coef = played(space)
    breakpoints = [1 - share for share in shown["shares"]]
    for k, (first, last) in enumerate(pairwise(breakpoints)):
        for part in (0.25, 0.9):
            value = (1 - part) * first + part * last
            seen = courses.look(space, solution, way.walk.at(value), way.walk.nu_at(value))
            assert (1 - part) * coef[k] + part * coef[k + 1] == pytest.approx(seen.coef, abs=1e-9)
            assert between(shown["bias"][k], part) == pytest.approx(seen.bias, abs=1e-9)
            assert between(shown["level"][k], part) == pytest.approx(seen.level, abs=1e-9)


def test_the_events_say_what_the_sets_do():
    space = workspace_of(C=10.0)
    solution, _, shown, _ = played(space)
    full = leaving.sample_sets(solution.posed, solution.walker.side, solution.walker.z)
    sets = [full, *sets_of(solution, shown)]
    for event in shown["events"]:
        if event["sample"] < 0:
            continue
        before, after = (sets[min(event["at"] + k, len(sets) - 1)][event["sample"]] for k in range(2))
        said = {ON_MARGIN: "comes to the margin", AT_BOUND: "at the bound", REST: "has no say"}
        assert said[after] in event["text"]
        assert said[before] in event["back"]  # played backwards it comes to where it was
    assert "goes to zero" in shown["start"]["text"]
    assert "is learned" in shown["start"]["back"]
    assert "has left" in shown["events"][-1]["text"]
    assert "grows from zero" in shown["events"][-1]["back"]


def test_a_learned_sample_is_unlearned_in_words_when_it_is_played_backwards():
    _, _, shown, _ = played(workspace_of(), learns=True)
    assert "grows from zero" in shown["start"]["text"]
    assert "has left" in shown["start"]["back"]
    assert "goes to zero" in shown["events"][-1]["back"]


@pytest.mark.parametrize(("preset", "changes"), MACHINES)
def test_no_machine_calls_a_multiplier_at_its_bound_an_error(preset, changes):
    space = workspace_of(preset, **changes)
    _, _, shown, _ = played(space)
    texts = [words[way] for words in [shown["start"], *shown["events"]] for way in ("text", "back")]
    assert not any("error" in text for text in [*texts, *courses.TERMS[courses.manner(space)]])


def test_a_sample_without_a_multiplier_moves_nothing():
    space = workspace_of()
    solution = leaving.solve(space)
    idle = int(np.flatnonzero(solution.posed.coefficients(solution.walker.z) == 0)[0])
    _, way, shown, coef = played(space, idle)
    assert way.walk is None
    assert "has no multiplier" in shown["note"]
    assert len(coef) == 1
    assert shown["events"] == []


@pytest.mark.parametrize("learns", [False, True])
def test_a_sample_that_fixes_an_end_of_the_bias_interval_is_said_to(learns):
    space = workspace_of(C=0.1, kernel="linear")
    space.points = np.array([[0.3, 0.0], [-1.4, 0.0], [-0.6, 0.0], [-0.5, 0.0], [-0.8, 0.0], [0.9, 0.0]])
    space.labels = np.array([1, 0, 1, 0, 1, 1])
    for sample, words in ((0, "its middle is 0.9925 without the point, and 1.008"), (5, "does not change")):
        solution, way, shown, _ = played(space, sample, learns)
        machine = leaving.refit(space, solution, [] if learns else sample)
        assert differing(solution, way, machine, space) < 1e-6
        assert not way.is_broken
        assert words in shown["note"]
        seen = courses.look(space, solution, way.walker.z, way.walker.levels())
        assert shown["still"]["bias"] == pytest.approx(seen.bias)
        if sample == 0:
            assert shown["note"].endswith(f"Drawn is the machine {'with' if learns else 'without'} it.")


@pytest.mark.parametrize(
    ("preset", "changes"),
    [("overlapping", {}), ("sine", {}), ("three_classes", {}), MACHINES[4], MACHINES[8], MACHINES[10]],
)
def test_everyone_left_out_part_by_part_is_leave_one_out(preset, changes):
    space = workspace_of(preset, **changes)
    solution = leaving.solve(space)
    turns = everyone.begin(solution)
    steps = in_parts(space, solution, turns, 0.01)
    assert all(refitted == 0 for done, refitted in steps if done < len(solution.X))
    assert everyone.entry(space, solution, everyone.begin(solution))["ranked"] == []
    targets = () if solution.y is None else (solution.y,)
    wanted = leave_one_out(judging_machine(space, tol=leaving.TOLERANCE), solution.X, *targets)
    np.testing.assert_allclose(turns.decision, wanted.decision, rtol=0, atol=1e-10)
    assert turns.events == wanted.n_events
    assert turns.refit_seconds > 0
    change = np.abs(wanted.decision - turns.before).reshape(len(solution.X), -1).max(axis=1)
    ranked = everyone.entry(space, solution, turns)["ranked"]
    order = [i for i, _, _ in ranked]
    assert len(order) == min(20, np.sum(change > leaving.rounding(turns.before))) > 0
    np.testing.assert_allclose(change[order], np.sort(change)[::-1][: len(order)], atol=1e-9)
    np.testing.assert_allclose([share for _, share, _ in ranked], change[order] / change.max(), atol=6e-4)
    flips = everyone.flipped(space, turns)
    words = everyone.words(space, solution, turns, flips)
    assert "8 refits at the tolerance" in words
    if space.task == "regression":
        assert not flips.any()
        assert "root mean square" in words
        return
    predictions = solution.judge.predictions
    assert (flips == (predictions(turns.before) != predictions(wanted.decision))).all()
    assert f"{int(flips.sum())} of {len(flips)} points change sides" in words
    assert all("→" in everyone.turn(space, turns, i) for i in np.flatnonzero(flips))
    wrong = int(np.sum(wanted.prediction != solution.y))
    assert f"Leave-one-out error {wrong} of {len(flips)}" in words


def test_a_sample_on_the_edge_that_changes_sides_says_so():
    space = workspace_of("moons", classifier="one_class", kernel="rbf")
    solution = leaving.solve(space)
    turns = everyone.begin(solution)
    in_parts(space, solution, turns)
    entry = everyone.entry(space, solution, turns)
    noise = leaving.rounding(turns.before)
    told = dict(entry["flips"])
    edge = [i for i in told if abs(turns.before[i]) <= noise]
    assert edge
    assert all(told[i] == "on the edge → outside" for i in edge)
    assert not any("e−" in words for words in told.values())
    assert f"The machine with all {len(space.points)} points" in entry["words"]


@pytest.mark.parametrize(("preset", "changes"), MACHINES)
def test_a_sample_that_has_left_is_told_by_the_machine_without_it(preset, changes):
    space = workspace_of(preset, **changes)
    solution, _, shown, _ = played(space)
    sample, words = shown["sample"], shown["events"][-1]["text"]
    machine = leaving.refit(space, solution, sample)
    told = machine.predict(solution.X[[sample]])[0]
    if space.task == "regression":
        assert float(words.split(" is ")[1].split(" now")[0].replace("−", "-")) == pytest.approx(told, 1e-2)
    elif space.machine == "one_class":
        assert ("inside" in words) == (told > 0)
    else:
        assert ("its own" in words) == (told == solution.y[sample])
        assert ("which is wrong" in words) == (told != solution.y[sample])
    _, _, learned, _ = played(space, learns=True)
    assert learned["start"]["back"] == words


def in_parts(space, solution, turns, seconds=0.0):
    """Go on until all is over; how far it was after each part: samples left out, and refits."""
    steps = []
    while not turns.is_over:
        everyone.advance(space, solution, turns, seconds)
        steps.append((turns.done, turns.refitted))
    return steps


@pytest.mark.parametrize(("preset", "changes"), [("overlapping", {}), ("sine", {}), ("three_classes", {})])
def test_folds_are_left_out_one_by_one_each_as_a_whole(preset, changes):
    space = workspace_of(preset, **changes)
    solution = leaving.solve(space)
    n = len(solution.X)
    turns = everyone.begin(solution, by_folds=True)
    everyone.advance(space, solution, turns, 0.0)
    words = everyone.entry(space, solution, turns)["words"]
    assert words == f"1 of 5 folds left out, {turns.events} events so far."
    steps = in_parts(space, solution, turns)
    ends = np.cumsum([len(part) for part in turns.parts])
    assert steps == [*((end, 0) for end in ends[1:]), *((n, k) for k in range(1, 6))]
    wanted = cross_validate(leaving.estimator(space), solution.X, solution.y)
    np.testing.assert_allclose(turns.decision, wanted.decision, atol=1e-10)
    assert turns.events == sum(wanted.events[part[0]] for part in turns.parts)
    machine = leaving.refit(space, solution, turns.parts[2])
    decide = machine.predict if space.task == "regression" else machine.decision_function
    np.testing.assert_allclose(turns.decision[turns.parts[2]], decide(solution.X)[turns.parts[2]], atol=1e-7)
    words = everyone.entry(space, solution, turns)["words"]
    assert "5 refits at the tolerance 0.001 take" in words
    assert ("with the point" in words) == ("without its fold" in words) == (space.task == "regression")
    if space.task == "classification":
        wrong = int(np.sum(wanted.prediction != solution.y))
        assert f"Cross-validation error {wrong} of {n}." in words


def test_times_of_some_refits_are_said_to_be_an_estimate():
    space = workspace_of()
    solution = leaving.solve(space)
    turns = everyone.begin(solution, by_folds=True)
    for _ in range(5 + 2):
        everyone.advance(space, solution, turns, 0.0)
    turns.refit_seconds = 2.0
    shown = everyone.entry(space, solution, turns)
    assert not shown["over"]
    assert "2 refits at the tolerance 0.001 say about 5.00 s for all 5." in shown["words"]


def test_folds_that_cannot_be_left_out_are_not_counted():
    space = workspace_of(classifier="mu_svm", kernel="rbf", mu=1 / 38.5)
    kept = np.flatnonzero(space.labels == 1)[2:]  # 48: without 10 of them the others weigh less than 1
    rows = np.sort([*np.flatnonzero(space.labels == 0), *kept])
    space.points, space.labels = space.points[rows], space.labels[rows]
    solution = leaving.solve(space)
    turns = everyone.begin(solution, by_folds=True)
    in_parts(space, solution, turns)
    lost = np.array([np.sum(solution.y[part] == 1) for part in turns.parts])
    assert turns.refused == np.sum(lost == 10) == 3
    counted = sum(len(part) for part, count in zip(turns.parts, lost, strict=True) if count < 10)
    words = everyone.entry(space, solution, turns)["words"]
    assert f"of {counted} points change sides when the 2 folds are left out in turn" in words
    assert "3 folds cannot be left out and are not counted: raise μ." in words


def test_rounding_ends_the_turns_with_a_sentence_that_stays(monkeypatch):
    space = workspace_of()
    solution = leaving.solve(space)
    turns = everyone.begin(solution)
    everyone.advance(space, solution, turns, 0.0)

    def fails(*_):
        raise InvalidProblemError("No exact optimum.")

    monkeypatch.setattr(everyone, "leave_each", fails)
    everyone.advance(space, solution, turns, 0.0)
    shown = everyone.entry(space, solution, turns)
    assert shown["over"]
    assert shown["words"] == f"Stopped after {turns.left} of 100. No exact optimum."


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize(("preset", "changes"), [MACHINES[0], MACHINES[8], MACHINES[11]])
def test_a_walk_that_rounding_breaks_off_shows_where_it_would_have_come_to(
    monkeypatch, preset, changes, learns
):
    space = workspace_of(preset, **changes)
    full, _, walked, coef = played(space, learns=learns)
    monkeypatch.setattr(
        leaving, "without", lambda posed, _, indices, record: (unlearned(posed, indices), None)
    )
    monkeypatch.setattr(
        leaving, "learn", lambda posed, _, indices, record: (full.walker.copy(), None, indices)
    )
    solution, way, shown, end = played(space, learns=learns)
    assert way.is_broken
    assert f"the machine {'with' if learns else 'without'} it, minimised anew" in shown["note"]
    assert end[0] == pytest.approx(coef[-1], abs=1e-7 * np.abs(coef).max())
    assert end[0, :, shown["sample"]].any() == learns
    assert shown["still"]["bias"] == pytest.approx([bias[-1] for bias in walked["bias"][-1]], abs=1e-6)
    assert shown["still"]["level"] == pytest.approx(walked["level"][-1][-1], abs=1e-6)
    assert shown["shares"] == [float(learns)]
    (sets,) = sets_of(solution, shown)
    assert (sets == sets_of(solution, walked)[-1]).all()


def test_what_cannot_be_unlearned_is_one_sentence():
    few = workspace_of()
    few.points, few.labels = few.points[:3], np.zeros(3, int)
    assert "second class" in unlearning.unlearn_message(few)
    many = workspace_of()
    many.points, many.labels = np.tile(many.points, (11, 1)), np.tile(many.labels, 11)
    assert "1,100 points" in unlearning.unlearn_message(many)
    with pytest.raises(InvalidProblemError, match="reduced hulls meet"):
        leaving.solve(workspace_of(classifier="nu_svc", kernel="linear", nu=0.2))


@pytest.mark.parametrize(
    ("machine", "changes", "bound"), [("nu_svc", {"nu": 0.2}, "2 / (νn)"), ("mu_svm", {"mu": 1.0}, "μ")]
)
def test_a_reduced_hull_is_explained_where_it_is_the_reason(monkeypatch, machine, changes, bound):
    monkeypatch.setattr(unlearning.st, "session_state", {})
    monkeypatch.setattr("svmviz.ui.fitting.st.session_state", {})
    data, _ = unlearning.stage_data(workspace_of(classifier=machine, kernel="linear", **changes), 600)
    assert "reduced hulls meet" in data["message"]
    assert f"no point weighs more than {bound}:" in data["explained"]
    data, _ = unlearning.stage_data(workspace_of(), 600)
    assert (data["message"], data["explained"]) == (None, None)


def test_a_sample_that_the_sums_need_is_refused():
    space = workspace_of(classifier="one_class", kernel="rbf", nu=1.0)
    solution = leaving.solve(space)
    for way in (leaving.leave_out, leaving.take_in):
        with pytest.raises(InvalidProblemError, match="lower ν"):
            way(solution, 0)


@pytest.mark.parametrize("machine", ["mu_svm", "ad_svm"])
def test_what_a_hull_needs_is_refused(machine):
    space = workspace_of("three_classes", classifier=machine, kernel="rbf", mu=1.0)
    space.points = np.vstack([space.points, [0.3, 0.2]])
    space.labels = np.append(np.where(space.labels == 0, 2, space.labels), 0)
    solution = leaving.solve(space)
    only = int(np.flatnonzero(solution.rows == len(space.points) - 1)[0])
    for way in (leaving.leave_out, leaving.take_in):
        with pytest.raises(InvalidProblemError, match="only one of its class"):
            way(solution, only)
    counts = np.bincount(solution.y)
    tight = workspace_of(classifier=machine, kernel="rbf")
    tight.mu = 1 / min(np.bincount(tight.labels))
    solution = leaving.solve(tight)
    with pytest.raises(InvalidProblemError, match="raise μ"):
        leaving.leave_out(solution, 0)
    assert counts.min() == 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"kind": "point"},
        {"kind": "other", "row": 1, "revision": 1},
        {"kind": "point", "row": "1", "revision": 1},
        {"kind": "point", "row": 1.5, "revision": 1},
        {"kind": "learn", "row": -1, "revision": 1},
        {"kind": "learn", "row": -1, "revision": 1, "point": [0, float("nan"), 0]},
        {"kind": "point", "row": float("nan"), "revision": 1},
        {"kind": "point", "row": float("inf"), "revision": 1},
        {"kind": "again", "row": 1, "revision": 1},
    ],
)
def test_a_malformed_message_is_dropped(value):
    assert unlearning.parse_ask(value) is None


def test_a_message_is_read():
    assert unlearning.parse_ask({"kind": "proof", "row": 3.0, "revision": 7, "seq": 1}) == Ask("proof", 3, 7)
    drawn = {"kind": "learn", "row": -1, "revision": 7, "has": "abc", "point": [0.5, 1, 2]}
    assert unlearning.parse_ask(drawn) == Ask("learn", -1, 7, "abc", (0.5, 1.0, 2))
    again = {"kind": "folds", "row": 3, "revision": 7, "afresh": True, "point": [0, 0, 0]}
    assert unlearning.parse_ask(again) == Ask("folds", 3, 7, afresh=True)


@pytest.fixture
def app():
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    return healthy(test.switch_page(PAGE).run())


def healthy(test):
    assert not test.exception
    assert not test.error
    return test


def ask(test, kind, row=-1, **more):
    revision = test.session_state["workspace"].revision
    test.session_state[unlearning.ASKED] = Ask(kind, row, revision, **more)
    return healthy(test.run())


def test_the_page_unlearns_proves_and_leaves_out_everyone(app):
    ask(app, "point", 0)
    ask(app, "proof", 0)
    _, sentence = app.session_state[unlearning.PROOF]
    assert "differ by" in sentence or "Refitted" in sentence
    ask(app, "everyone", 0)
    done = app.session_state[unlearning.EVERYONE].done
    assert done > 0
    healthy(app.run())  # nothing goes on that was not asked for
    assert app.session_state[unlearning.EVERYONE].done == done
    while not (turns := app.session_state[unlearning.EVERYONE]).is_over:
        ask(app, "everyone", 0)
    ask(app, "everyone", 0)  # a message that came twice
    assert app.session_state[unlearning.EVERYONE] is turns
    ask(app, "everyone", 0, afresh=True)
    assert app.session_state[unlearning.EVERYONE] is not turns
    ask(app, "folds", 0)
    assert app.session_state[unlearning.EVERYONE].by_folds
    assert len(app.session_state[unlearning.EVERYONE].parts) == 5


def take(test, monkeypatch, **message):
    """What the browser sends: the callback of the stage, which AppTest cannot call, and the run after it."""
    space = test.session_state["workspace"]
    state = {"workspace": space}
    monkeypatch.setattr(unlearning.st, "session_state", state)
    unlearning.take({"row": -1, "revision": space.revision, **message})
    monkeypatch.undo()
    for key, value in state.items():
        test.session_state[key] = value
    return healthy(test.run())


def test_a_new_point_joins_the_workspace_and_is_learned_once(app, monkeypatch):
    space = app.session_state["workspace"]
    n, revision = len(space.points), space.revision
    message = {"kind": "learn", "point": [0.25, 0.5, 1], "revision": revision}
    take(app, monkeypatch, **message)
    assert space.points[-1].tolist() == [0.25, 0.5]
    assert (len(space.points), space.labels[-1], space.revision) == (n + 1, 1, revision + 1)
    _, (fixed, _, way) = app.session_state[unlearning.WALK]
    assert way.learns
    assert fixed["walk"]["sample"] == n
    take(app, monkeypatch, **message)  # the same once more, as where the answer was slow
    assert len(space.points) == n + 1
    take(app, monkeypatch, kind="proof", row=n)
    assert "Refitted with" in app.session_state[unlearning.PROOF][1]
    take(app, monkeypatch, kind="point", row=n)
    assert not app.session_state[unlearning.WALK][1][2].learns


def test_a_point_of_a_third_class_takes_no_part_and_that_is_said(app, monkeypatch):
    assert "control_pair" not in app.session_state
    take(app, monkeypatch, kind="learn", point=[0.25, 0.5, 4])
    fixed, _, way = app.session_state[unlearning.WALK][1]
    assert way is None
    assert "the new point takes no part" in fixed["refused"]
    row = len(app.session_state["workspace"].points) - 1
    take(app, monkeypatch, kind="point", row=row)
    assert f"point {row + 1} takes no part" in app.session_state[unlearning.WALK][1][0]["refused"]
    pair = app.selectbox(key="control_pair")
    healthy(pair.select((0, 4)).run())
    take(app, monkeypatch, kind="point", row=row)
    fixed, _, way = app.session_state[unlearning.WALK][1]
    assert fixed["rows"][-1] == row
    assert way is not None
    healthy(app.selectbox(key="control_classifier").select("ad_svm").run())
    assert "control_pair" not in [one.key for one in app.selectbox]


@pytest.fixture
def session(monkeypatch):
    """The state of a session without a browser."""
    state = {}
    monkeypatch.setattr(unlearning.st, "session_state", state)
    monkeypatch.setattr("svmviz.ui.fitting.st.session_state", state)
    return state


@pytest.mark.parametrize(("kind", "count"), [("folds", "5 folds"), ("everyone", "100 points")])
def test_what_cannot_be_left_out_stays_said(session, kind, count):
    space = workspace_of(classifier="one_class", kernel="rbf", nu=1.0)
    for _ in range(40):
        session[unlearning.ASKED] = Ask(kind, 0, space.revision)
        if unlearning.stage_data(space, 600)[0]["unlearn"]["everyone"]["over"]:
            break
    session[unlearning.ASKED] = Ask("proof", 0, space.revision)
    shown = unlearning.stage_data(space, 600)[0]["unlearn"]["everyone"]
    assert shown["words"] == f"None of the {count} can be left out: lower ν."


def test_what_the_browser_has_is_not_sent_again(session):
    space = workspace_of()
    session["workspace"] = space
    data, coef = unlearning.stage_data(space, 600)
    assert len(data["points"]) == len(space.points)
    has = data["unlearn"]["id"]
    unlearning.take({"kind": "everyone", "row": -1, "revision": space.revision, "has": has})
    part, nothing = unlearning.stage_data(space, 600)
    assert nothing is None
    assert "points" not in part
    assert set(part["unlearn"]) == {"id", "proof", "everyone"}
    assert part["unlearn"]["everyone"]["done"] > 0
    assert len(json.dumps(part)) < 0.2 * len(json.dumps(data))  # what is known of every sample by then
    again, coef_again = unlearning.stage_data(space, 600)  # a page that is opened anew has nothing
    assert again["unlearn"]["model"] == data["unlearn"]["model"]
    assert len(coef_again) == len(coef)


@pytest.mark.parametrize("machine", ["nu_svc", "one_class", "mu_svm", "ad_svm", "mc_svm", "svc"])
def test_every_machine_is_shown(app, machine):
    healthy(app.selectbox(key="control_classifier").select(machine).run())
    space = app.session_state["workspace"]
    space.kernel, space.nu, space.mu = "rbf", 0.5, 0.1
    ask(app, "point", 5)
    assert space.machine == machine
    assert unlearning.unlearn_message(space) is None
    fixed, _, _ = app.session_state[unlearning.WALK][1]
    assert fixed["walk"]["sample"] == 5


def test_a_message_about_other_points_is_dropped(app):
    ask(app, "point", 5)
    healthy(app.selectbox(key="control_preset").select("sine").run())
    assert app.session_state[unlearning.ASKED] is None
    healthy(app.selectbox(key="control_regressor").select("nu_svr").run())
