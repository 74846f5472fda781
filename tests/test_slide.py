"""The page of paths: what is sent is optimal everywhere, its events are true, and bad states get one sentence."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from test_fitting import loaded

from svmviz import SVC, Trace, leave_one_out, path
from svmviz.errors import InvalidProblemError
from svmviz.ui import leaving, lesson, page, path_errors, path_knots, slide, unlearning, walk_menu, warm_cold
from svmviz.ui.board import Edit, parse_value
from svmviz.ui.estimators import judging_machine, machine_of
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose

ROOT = Path(__file__).parent.parent

MACHINES = [
    ("overlapping", "svc", "C"),
    ("moons", "svc", "C"),
    ("three_classes", "svc", "C"),
    ("overlapping", "mu_svm", "mu"),
    ("three_classes", "ad_svm", "mu"),
    ("sine", "svr", "C"),
    ("sine", "svr", "epsilon"),
    ("sine", "nu_svr", "C"),
]


def workspace_of(example, machine, **changes):
    which = "regressor" if machine.endswith("svr") else "classifier"
    return loaded(example, **{which: machine, **changes})


def sent(example, machine, parameter, **changes):
    space = workspace_of(example, machine, **changes)
    data, path = slide.slide_data(space, parameter, 600)
    assert path is not None, data["message"]
    return space, path


def table(entry, name, kind="<f8"):
    numbers = np.frombuffer(base64.b64decode(entry[name]), kind)
    rows = len(entry["knots"]) - (name == "status")
    return numbers.reshape(rows, -1)


def between(entry, name, value):
    """A row of a table at a value, as the browser has it."""
    knots, rows = np.array(entry["knots"]), table(entry, name)
    k = min(int(np.searchsorted(knots, value, side="right")) - 1, len(knots) - 2)
    share = (value - knots[k]) / (knots[k + 1] - knots[k])
    return k, rows[k] + share * (rows[k + 1] - rows[k])


def inside(entry, count=12):
    """Values of the parameter in the middle of some stretches."""
    knots = np.unique(entry["knots"])
    middles = 0.5 * (knots[:-1] + knots[1:])
    return middles[np.linspace(0, len(middles) - 1, count).astype(int)]


def problem_at(space, parameter, value):
    samples = slide.samples_of(space)
    return pose(machine_of(space), samples.X, samples.y, **{parameter: value})


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_what_the_browser_interpolates_is_optimal(example, machine, parameter):
    space, entry = sent(example, machine, parameter)
    for value in inside(entry):
        posed = problem_at(space, parameter, value)
        _, z = between(entry, "z", value)
        _, nu = between(entry, "nu", value)
        problem = posed.problem
        X = slide.samples_of(space).X
        K = space.kernel_on(X)(X, X)[np.ix_(problem.sample, problem.sample)]
        gradient = (problem.coupling[np.ix_(problem.label, problem.label)] * K) @ z
        gradient += problem.linear + problem.diagonal * z - nu[problem.group]
        slack = 1e-9 * np.abs(z).max()
        assert (z >= problem.lo - slack).all()
        assert (z <= problem.hi + slack).all()
        violation = 1e-7 * max(1.0, np.abs(gradient).max())
        assert gradient[z < problem.hi - slack].min(initial=0.0) >= -violation
        assert gradient[z > problem.lo + slack].max(initial=0.0) <= violation


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_the_status_is_that_of_the_multipliers(example, machine, parameter):
    space, entry = sent(example, machine, parameter)
    statuses = table(entry, "status", np.uint8)
    assert statuses.shape[1] == len(entry["rows"])
    largest = np.abs(table(entry, "z")).max()
    for value in inside(entry):
        k, z = between(entry, "z", value)
        problem = problem_at(space, parameter, value).problem
        moved = np.abs(z) > 1e-10 * largest
        far = (z - problem.lo <= 1e-10 * largest) | (problem.hi - z <= 1e-10 * largest)
        used = np.bincount(problem.sample, moved) > 0
        free = np.bincount(problem.sample, moved & ~far) > 0
        np.testing.assert_array_equal(statuses[k], np.where(free, 1, np.where(used, 2, 0)))


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_an_event_says_what_its_sample_does(example, machine, parameter):
    _, entry = sent(example, machine, parameter)
    knots, statuses = np.array(entry["knots"]), table(entry, "status", np.uint8)
    widths = np.diff(knots)
    expected = {"to zero": (1, 0), "to bound": (1, 2), "from zero": (0, 1), "from bound": (2, 1)}
    assert entry["events"]
    checked = 0
    for value, sample, what in entry["events"]:
        assert what in path_knots.WHAT
        assert entry["start"] <= value <= entry["stop"]
        close = np.abs(knots - value) <= 1e-12 * abs(value)
        together = sum(abs(other[0] - value) <= 1e-9 * abs(value) for other in entry["events"])
        if not close.any() or together > 1 or what not in expected:
            continue
        at = np.flatnonzero(close)
        before, after = at[0] - 1, at[-1]
        if before < 0 or after >= len(statuses) or not widths[before] or not widths[after]:
            continue
        # The other side of a sample of a regressor may be at its bound or free as well.
        assert (statuses[before][sample], statuses[after][sample]) == expected[what]
        checked += 1
    assert checked > 3


@pytest.mark.parametrize(("example", "machine"), [("overlapping", "svc"), ("sine", "svr")])
def test_a_curve_is_exact_at_its_knots_and_drawn_well_between_them(example, machine):
    """With a squared loss: the function at the samples, and the multipliers, beside those solved for anew."""
    space, entry = sent(example, machine, "C", loss="squared")
    assert entry["bound"] is None
    samples, knots = slide.samples_of(space), np.array(entry["knots"])
    breaks = {value for value, _, _ in entry["events"]}
    assert breaks < set(knots)
    assert len(breaks) + 2 < len(knots) < 600
    half = 0.5 * np.ptp(samples.y.astype(float)) if machine == "svr" else 1.0
    largest = np.abs(table(entry, "z")).max()
    values = np.exp(np.random.default_rng(0).uniform(*np.log(knots[[0, -1]]), 60))
    for value, tolerance in [
        *((one, 1e-8) for one in knots[:-1:5]),
        *((one, entry["curved"]) for one in values),
    ]:
        posed = problem_at(space, "C", value)
        true = exact(posed)
        z, nu = between(entry, "z", value)[1], between(entry, "nu", value)[1]
        assert np.abs(z - true.z).max() <= tolerance * largest
        slacks = posed.problem.diagonal * (z - true.z)
        assert np.abs(slacks).max() <= tolerance * half
        drawn = posed.coefficients(z) @ posed.hessian.K - nu[0]
        assert np.abs(drawn - posed.decisions(true, np.arange(len(drawn)))).max() <= tolerance * half
    # As the browser has it: the diagonal at the start, and inversely proportional to C from there.
    diagonal = np.array(entry["dual"]["diagonal"]) * entry["start"] / value
    np.testing.assert_allclose(diagonal, posed.problem.diagonal, rtol=1e-12)


def test_the_range_belongs_to_the_points():
    _, entry = sent("overlapping", "mu_svm", "mu")
    assert entry["start"] == pytest.approx(1 / min(np.bincount(entry["labels"])))
    space, entry = sent("sine", "svr", "epsilon")
    assert entry["stop"] > 0.5 * np.ptp(space.points[:, 1])
    assert not table(entry, "status", np.uint8)[-1].any()  # everything is in the tube
    data, path = slide.slide_data(workspace_of("overlapping", "svc", C=5000.0), "C", 600)
    assert data["path"]["value"] == path["stop"] == 1000.0


def test_only_two_of_three_classes_take_part():
    space = loaded("three_classes", pair=(0, 2))
    data, path = slide.slide_data(space, "C", 600)
    assert set(path["labels"]) == {0, 2}
    np.testing.assert_array_equal(space.labels[path["rows"]], path["labels"])
    assert data["message"] is None
    assert path["note"].startswith("Only")


def many_points():
    space = loaded("overlapping")
    points = np.random.default_rng(0).normal(size=(slide.MOST_POINTS + 1, 2))
    space.apply_edit(Edit(space.revision, 1, [(x, y, k % 2) for k, (x, y) in enumerate(points.tolist())]))
    return space


def one_class_only():
    space = loaded("overlapping")
    space.apply_edit(Edit(space.revision, 1, [(0.0, 0.0, 0), (1.0, 0.0, 0)]))
    return space


def flat():
    space = loaded("sine")
    space.apply_edit(Edit(space.revision, 1, [(0.0, 1.0, 0), (1.0, 1.0, 0), (2.0, 1.0, 0)]))
    return space


@pytest.mark.parametrize(
    ("space", "parameter", "sentence"),
    [
        (loaded("overlapping", classifier="nu_svc"), "", "no C, ε or μ to slide"),
        (loaded("overlapping", kernel="sigmoid"), "C", "positive semidefinite"),
        (many_points(), "C", "too many"),
        (one_class_only(), "C", "second class"),
        (flat(), "epsilon", "equal"),
    ],
)
def test_a_bad_state_gets_one_sentence(space, parameter, sentence):
    data, path = slide.slide_data(space, parameter, 600)
    assert data["path"] is path is None
    assert sentence in data["message"]


# ------------------------------------------------------------------------------- leave-one-out, and what is sent


def test_from_coarse_to_fine_comes_everyone_once():
    order = path_errors.coarse_to_fine(path_errors.VALUES)
    assert sorted(order) == list(range(path_errors.VALUES))
    assert order[:5] == [0, 32, 16, 8, 24]


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_the_error_along_a_path_is_that_of_leave_one_out(example, machine, parameter):
    space = workspace_of(example, machine)
    samples, scale = slide.samples_of(space), slide.scale_of(space, parameter)
    errors = path_errors.PathErrors(scale.values(5))
    while len(errors.found) < len(errors.values):
        before = len(errors.found)
        path_errors.advance(space, samples, parameter, errors, 0.0)
        assert len(errors.found) == before + 1
    for value, found in errors.entry()["known"]:
        if parameter == "mu" and value == scale.start:
            assert found.startswith("Without point")
            assert found.endswith("cannot sum to what they must: raise μ.")
            continue
        unseen = leave_one_out(judging_machine(replace(space, **{parameter: value})), samples.X, samples.y)
        wrong = np.sum(unseen.prediction != samples.y)
        rms = np.sqrt(np.mean((unseen.prediction - samples.y) ** 2))
        assert found == pytest.approx(rms if space.task == "regression" else wrong)


def test_why_there_is_no_error_is_kept_and_names_the_point(monkeypatch):
    space = loaded("three_classes", classifier="mu_svm", kernel="rbf", mu=1.0, pair=(1, 2))
    space.labels = space.labels.copy()
    space.labels[space.labels == 2] = 0
    space.labels[-1] = 2
    samples = slide.samples_of(space)
    assert len(samples.rows) < len(space.points)  # a sample's number is not that of its point
    only = f"There is no machine without point {len(space.points)}: it is the only one of its class."
    assert path_errors.error_at(space, samples) == only

    def rounding(*_):
        raise InvalidProblemError("No exact optimum.")

    monkeypatch.setattr(path_errors, "exact", rounding)
    assert path_errors.error_at(space, samples) == "No exact optimum."


def test_a_squared_loss_has_a_leave_one_out_error_and_counts_of_its_own(app):
    space = loaded("overlapping", loss="squared", C=3.0)
    samples = slide.samples_of(space)
    left = leave_one_out(machine_of(space), samples.X, samples.y)
    assert path_errors.error_at(space, samples) == np.sum(left.prediction != samples.y)
    cold, warm, exactly = warm_cold.warm_and_cold(space, "C")
    plain = warm_cold.warm_and_cold(replace(space, loss="hinge"), "C")
    assert [cold.work, warm.work, exactly.work] != [one.work for one in plain]
    assert exactly.work.startswith(
        f"{len(sent('overlapping', 'svc', 'C', loss='squared')[1]['events'])} events"
    )
    choose(app, loss="squared")
    assert [one for one in app.button if one.label == "Warm against cold"]


def test_equal_classes_and_a_tiny_C_make_every_left_out_sample_wrong():
    space = loaded("overlapping", C=0.01, kernel="rbf")
    assert np.ptp(np.bincount(space.labels)) == 0
    samples = slide.samples_of(space)
    assert path_errors.error_at(space, samples) == len(samples.y)


def test_a_path_has_a_key_of_its_own_and_without_it_little_is_sent():
    space = loaded("overlapping")
    data, path = slide.slide_data(space, "C", 600)
    assert len(json.dumps(path)) > 100_000
    assert len(json.dumps(data)) < 5_000
    keys = {slide.slide_data(replace(space, **changes), "C", 600)[0]["path"]["key"]
            for changes in ({}, {"C": 3.0}, {"gamma": 3.0}, {"points": space.points + 1.0})}  # fmt: skip
    assert len(keys) == 3
    assert data["path"]["key"] in keys


def test_several_prototypes_have_no_leave_one_out():
    data, path = slide.slide_data(workspace_of("three_classes", "ad_svm", n_prototypes=2), "mu", 600)
    assert path is not None
    assert "one prototype" in data["path"]["refused"]


def test_only_the_key_of_a_path_is_taken(monkeypatch):
    state = {}
    monkeypatch.setattr(slide.st, "session_state", state)
    for value in (None, "key", {"key": 3}, {}):
        slide.take(value)
        assert state == {}
    slide.take({"key": "of a path"})
    assert state == {slide.ASKED: "of a path"}


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_warm_starts_take_fewer_pairs_than_cold_ones(example, machine, parameter):
    cold, warm, exact = warm_cold.warm_and_cold(workspace_of(example, machine), parameter)
    pairs = [int(one.work.split()[0].replace(",", "")) for one in (cold, warm)]
    assert 0 < pairs[1] < pairs[0]
    path = slide.slide_data(workspace_of(example, machine), parameter, 600)[1]
    values = [value for value, _, _ in path["events"]]
    apart = 1 + np.sum(np.diff(values) > 1e-10 * np.abs(values[1:]))
    assert exact.work == f"{len(values)} events at {apart} breakpoints"
    assert min(one.milliseconds for one in (cold, warm, exact)) > 0


# ------------------------------------------------------------------------------------------------ the page


@pytest.fixture
def app():
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    return healthy(test.switch_page(page.SLIDE).run())


def healthy(test):
    assert not test.exception
    assert not test.error
    return test


def choose(test, **changes):
    for field, value in changes.items():
        setattr(test.session_state["workspace"], field, value)
    return healthy(test.run())


@pytest.mark.parametrize(
    ("example", "machine", "choices"),
    [
        ("overlapping", "svc", ["C"]),
        ("three_classes", "svc", ["C"]),
        ("overlapping", "mu_svm", ["μ"]),
        ("three_classes", "ad_svm", ["μ"]),
        ("sine", "svr", ["C", "ε"]),
        ("sine", "nu_svr", ["C"]),
        ("overlapping", "nu_svc", None),
    ],
)
def test_a_machine_slides_the_parameters_that_it_has(app, example, machine, choices):
    app.selectbox(key="control_preset").set_value(example).run()
    choose(app, **{"regressor" if machine.endswith("svr") else "classifier": machine})
    controls = [group for group in app.get("button_group") if group.proto.label == "Slide"]
    assert len(controls) == (choices is not None)
    if choices:
        assert [option.content for option in controls[0].proto.options] == choices
    healthy(app.button(key="count").click().run())


def test_the_value_is_kept_and_changes_no_path():
    space = loaded("overlapping")
    (before, path), (after, same) = [slide.slide_data(replace(space, C=C), "C", 600) for C in (1.0, 7.5)]
    assert (before["path"]["value"], after["path"]["value"]) == (1.0, 7.5)
    assert before["path"] | {"value": 0} == after["path"] | {"value": 0}
    assert path == same


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ({"seq": 1, "parameter": "C", "value": 2.5}, 2.5),
        ({"seq": 1, "parameter": "epsilon", "value": 2.5}, None),
        ({"seq": 1, "parameter": "C", "value": -1}, None),
        ({"seq": 1, "parameter": "C", "value": float("nan")}, None),
        ({"seq": 1, "parameter": "C"}, None),
        ("C", None),
    ],
)
def test_only_a_value_of_the_parameter_that_slides_is_taken(message, value):
    assert parse_value(message, "C") == value


def test_leave_one_out_comes_in_parts_and_nothing_is_computed_twice(app, monkeypatch):
    computed = []

    def counted(space, samples):
        computed.append((space.C, space.gamma))
        return 1.0

    monkeypatch.setattr(path_errors, "error_at", counted)
    monkeypatch.setattr(slide, "PART_SECONDS", 0.0)
    key = next(reversed(app.session_state["path_errors"]))

    def ask(which):
        app.session_state[slide.ASKED] = which
        healthy(app.run())
        return len(app.session_state["path_errors"][key].found)

    assert [ask(key), ask("another"), ask(key)] == [1, 1, 2]
    choose(app, C=30.0)  # a touch of the slider
    assert ask(key) == 3
    choose(app, gamma=9.0)
    other = next(reversed(app.session_state["path_errors"]))
    assert other != key
    ask(other)
    choose(app, gamma="scale")
    while ask(key) < path_errors.VALUES:
        pass
    ask(key)
    assert len(computed) == len(set(computed)) == path_errors.VALUES + 1


def test_a_multiplier_that_stays_at_its_bound_is_not_told_to_move():
    """Where none is free, one of a group is on the margin all the same, and stands at its bound."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-1, 0.4, (7, 2)), rng.normal(1, 0.4, (6, 2)), [[-0.9, -0.8]]])
    found = path(SVC(kernel="linear"), X, np.repeat([-1, 1], 7), "C", 0.01, 100.0)
    told = path_knots.happenings(found)
    assert {"onto edge", "off edge"} <= {what for _, _, what in told}
    for value, sample, what in told:
        before, after = (np.abs(found.at(value * factor))[sample] for factor in (1 - 1e-6, 1 + 1e-6))
        moves = [abs(after - at) > 1e-9 for at in (0.0, value * (1 + 1e-6))]
        moved = [abs(before - at) > 1e-9 for at in (0.0, value * (1 - 1e-6))]
        if what in ("from zero", "from bound"):
            assert all(moves), (value, sample, what)
        elif what in ("to zero", "to bound"):
            assert all(moved), (value, sample, what)


@pytest.mark.parametrize(("example", "machine", "parameter"), MACHINES)
def test_the_walk_of_a_path_is_recorded_and_played(monkeypatch, example, machine, parameter):
    space = workspace_of(example, machine)
    run = slide.recording(space, parameter)
    scale = slide.scale_of(space, parameter)
    assert (run.trace.walk.parameter, run.trace.walk.start) == (parameter, scale.start)
    assert run.trace.steps[-1].value == scale.stop
    assert Trace.from_json(run.trace.to_json()).steps == run.trace.steps
    monkeypatch.setattr(lesson.st, "session_state", {})
    lesson.play_walk(space, run)
    assert lesson.recording(space) is run
    assert "is a walk" in lesson.about(run)
    data, steps = lesson.playable(space, run, 600, 0)
    assert len(steps) == len(run.trace.steps)
    assert len(data["points"]) == len(space.points)
    space.set_weights({})
    space.C *= 2
    assert lesson.recording(space).trace.walk is None


def test_where_there_is_no_path_the_menu_of_its_walk_says_why():
    assert "has no C" in slide.recording(workspace_of("overlapping", "nu_svc"), "").message


@pytest.mark.parametrize("which", [page.SLIDE, page.UNLEARN])
def test_the_menu_of_the_walk_is_on_both_pages_and_opens_the_player(app, which):
    test = healthy(app.switch_page(which).run())
    if which == page.UNLEARN:
        space = test.session_state["workspace"]
        test.session_state[walk_menu.KEY] = True
        assert "No point is on its way" in " ".join(info.value for info in healthy(test.run()).info)
        row = int(leaving.solve(space).walker.margin[0])
        test.session_state[unlearning.ASKED] = unlearning.Ask("point", row, space.revision)
        healthy(test.run())
    test.session_state[walk_menu.KEY] = True
    healthy(test.run())
    labels = [button.proto.label for button in test.get("download_button")]
    assert {"Save the walk as JSON", "Save the walk as CSV"} <= set(labels)
    healthy(test.button(key="walk_play").click().run())
    _, run = test.session_state[lesson.OPENED]
    assert run.trace.walk.parameter == ("C" if which == page.SLIDE else "unlearned")
    assert any("is a walk" in warning.value for warning in test.warning)
    healthy(test.selectbox(key="control_rule").select("platt").run())
    assert not test.warning
