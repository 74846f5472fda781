"""The runs that the lesson plays are those of the machine, can be saved and opened, and race fairly."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA

from svmviz import SVC, SVR, projection, record_unlearning
from svmviz.errors import InvalidProblemError
from svmviz.explain import describe_end
from svmviz.kernels import CallableKernel, GaussianKernel
from svmviz.machines import svc
from svmviz.plots.race import race_figure
from svmviz.projection import principal_components
from svmviz.smo import Options
from svmviz.trace import Trace, record
from svmviz.ui import leaving, lesson, recorders, results
from svmviz.ui.workspace import RULES, Workspace
from tests.test_fitting import estimator
from tests.test_player import JUMPERS, MACHINES, workspace_of


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A session of its own for every test, without a server."""
    state: dict = {}
    monkeypatch.setattr(lesson, "st", SimpleNamespace(session_state=state))
    return state


def loaded(name, **changes):
    space = Workspace()
    space.load_preset(name)
    for field, value in changes.items():
        setattr(space, field, value)
    return space


@pytest.mark.parametrize("rule", RULES)
def test_a_recorded_run_ends_at_the_optimum_of_the_machine(rule):
    space = loaded("moons")
    trace = lesson.record_run(space, rule).trace
    machine = SVC(C=space.C, gamma=space.gamma_value(), tol=1e-9).fit(space.points, space.labels)
    assert trace.rule == rule
    assert trace.certificate.status == "optimal"
    excess = trace.certificate.objective - machine.certificate_.objective
    assert -1e-7 <= excess <= trace.certificate.gap
    space = loaded("sine")
    trace = lesson.record_run(space, rule).trace
    machine = SVR(C=space.C, gamma=space.gamma_value(), epsilon=space.epsilon, tol=1e-9)
    machine.fit(space.points[:, :1], space.points[:, 1])
    excess = trace.certificate.objective - machine.certificate_.objective
    assert -1e-7 <= excess <= trace.certificate.gap


@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES)
def test_a_recorded_run_of_every_machine_ends_at_its_optimum(machine, example, changes):
    space = workspace_of(machine, example, changes)
    trace = lesson.record_run(space, space.rule).trace
    if machine in recorders.TWO_CLASSES:
        rows = np.isin(space.labels, space.present_pair())
        space.points, space.labels = space.points[rows], space.labels[rows]
    trained, _ = estimator(space)
    assert trace.certificate.status == "optimal"
    certificates = trace.certificate, trained.certificate_
    excess = certificates[0].objective - certificates[1].objective
    assert -certificates[1].gap - 1e-12 <= excess <= certificates[0].gap + 1e-12


@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES)
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_saved_trace_of_every_machine_is_opened(machine, example, changes, kind):
    space = workspace_of(machine, example, changes)
    space.mu, space.nu, space.beta = max(space.mu, 0.15), 0.35, 2.0
    run = lesson.recording(space)
    other = loaded("xor")
    lesson.open_trace(other, getattr(run.trace, f"to_{kind}")())
    names = ["machine", "C", "loss"] if machine in ("svc", "svr") else ["machine", "tol"]
    names += ["decision_rule", "n_prototypes"] if machine == "ad_svm" else []
    names += [name for name in ("nu", "mu", "beta", "epsilon") if name in run.trace.parameters]
    for name in names:
        assert getattr(other, name) == getattr(space, name), name
    assert np.array_equal(other.points, space.points[run.rows])
    if machine == "ad_svm":
        present = space.present()
        assert np.array_equal(other.weights_table(other.present()), space.weights_table(present))
    assert lesson.recording(other).trace.steps == run.trace.steps
    other.tol *= 0.1
    again = lesson.recording(other).trace
    assert again.steps[: len(run.trace.steps)] == run.trace.steps or machine == "ad_svm"


@pytest.mark.parametrize(("machine", "example", "changes"), JUMPERS)
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_saved_trace_with_newton_steps_is_opened(machine, example, changes, kind):
    space = workspace_of(machine, example, changes | {"newton": True})
    trace = lesson.recording(space).trace
    assert trace.has_newton_steps
    other = loaded("xor")
    lesson.open_trace(other, lesson.save_trace(space, kind))
    assert other.newton
    assert lesson.recording(other).trace.steps == trace.steps
    other.newton = False
    assert not lesson.recording(other).trace.has_newton_steps
    lesson.open_trace(other, lesson.save_trace(other, kind))
    assert not other.newton


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["moons", "spirals", "sine"])
def test_with_newton_steps_a_run_is_shorter_and_the_race_as_it_was(name, rule):
    space = loaded(name, rule=rule)
    pairs = lesson.recording(space)
    race = lesson.race(space)
    space.newton = True
    both = lesson.recording(space)
    assert both is not pairs
    assert both.trace.certificate.status == "optimal"
    assert both.trace.certificate.iterations < pairs.trace.certificate.iterations
    assert {key: trace.steps for key, trace in lesson.race(space).items()} == {
        key: trace.steps for key, trace in race.items()
    }


def test_a_trace_of_an_unknown_machine_is_refused():
    space = loaded("moons")
    text = lesson.recording(space).trace.to_json()
    with pytest.raises(InvalidProblemError, match="another machine"):
        lesson.open_trace(space, text.replace('"machine": "C-SVC"', '"machine": "tree"', 1))


@pytest.mark.parametrize("name", ["nu-SVC", "AD-SVM", "MC-SVM", "mu-SVM", "nu-SVR"])
def test_a_trace_under_the_name_of_another_machine_is_refused(name):
    space = loaded("moons")
    text = lesson.recording(space).trace.to_json()
    before = space.revision
    with pytest.raises(InvalidProblemError):
        lesson.open_trace(space, text.replace('"machine": "C-SVC"', f'"machine": "{name}"', 1))
    assert space.revision == before


@pytest.mark.parametrize("machine", ["nu_svc", "ad_svm", "mc_svm"])
def test_the_race_is_run_for_other_machines_too(machine):
    traces = lesson.race(workspace_of(machine, "moons", {}))
    assert list(traces) == list(RULES)


def test_of_three_classes_two_are_recorded():
    space = loaded("iris", pair=(1, 2))
    run = lesson.record_run(space, space.rule)
    assert run.rows.tolist() == list(range(50, 150))
    assert run.trace.y.tolist() == [-1.0] * 50 + [1.0] * 50
    data, steps = lesson.playable(space, run, 600, 0)
    assert len(steps) == len(run.trace.steps)
    assert len(data["points"]) == 150


def test_a_pair_without_points_falls_back_to_the_first_two():
    space = loaded("iris", pair=(4, 5))
    assert lesson.record_run(space, space.rule).rows.tolist() == list(range(100))


def test_nothing_to_record_is_one_sentence():
    space = loaded("moons")
    space.labels[:] = 0
    run = lesson.record_run(space, space.rule)
    assert run.trace is None
    assert run.message.endswith(".")
    data, steps = lesson.playable(space, run, 600, 0)
    assert data["message"] == run.message
    assert steps is None


def test_a_run_is_recorded_once():
    space = loaded("moons")
    first = lesson.recording(space)
    assert lesson.recording(space) is first
    space.rule = "platt"
    assert lesson.recording(space) is not first


def test_what_the_player_takes_is_made_once():
    space = loaded("moons")
    played = lesson.playable(space, lesson.recording(space), 600, 0)
    assert lesson.playable(space, lesson.recording(space), 600, 0) is played
    space.C = 2.0
    other = lesson.playable(space, lesson.recording(space), 600, 0)
    assert other[0]["trace"]["id"] != played[0]["trace"]["id"]


def test_a_long_run_is_cut_short_and_says_so():
    rng = np.random.default_rng(1)
    space = loaded("moons", C=1e5, tol=1e-6)
    space.points, space.labels = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    trace = lesson.record_run(space, space.rule).trace
    assert len(trace.steps) == lesson.STEP_BUDGET // 400
    assert trace.certificate.status == "capped"


@pytest.mark.parametrize("name", ["moons", "circles", "sine"])
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_saved_trace_is_opened_with_its_points_and_parameters(name, kind):
    space = loaded(name, C=3.0, tol=1e-2, rule="platt")
    trace = lesson.recording(space).trace
    text = getattr(trace, f"to_{kind}")()
    other = loaded("xor")
    lesson.open_trace(other, text)
    for field in ("task", "kernel", "C", "tol", "rule"):
        assert getattr(other, field) == getattr(space, field)
    assert np.array_equal(other.points, space.points)
    assert np.array_equal(other.labels, space.labels)
    opened = lesson.recording(other).trace
    assert opened.steps == trace.steps
    other.C = 4.0
    assert lesson.recording(other).trace.steps != trace.steps


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{}",
        "[1, 2]",
        "# {}\n1,2\n",
        '{"format": "svmviz trace 1"}',
        "x1,x2,class\n1,2,a\n",
        "\x00",
    ],
)
def test_a_file_that_is_no_trace_is_refused(text):
    space = loaded("moons")
    before = space.revision
    with pytest.raises(InvalidProblemError) as caught:
        lesson.open_trace(space, text)
    assert str(caught.value).endswith(".")
    assert space.revision == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"i": [', '"i": [99999, '),
        ('"name": "rbf"', '"name": "callable"'),
        ('"machine": "C-SVC"', '"machine": "epsilon-SVR"'),
    ],
)
def test_a_trace_that_was_tampered_with_is_refused(old, new):
    space = loaded("moons")
    text = lesson.recording(space).trace.to_json()
    assert old in text
    before = space.revision
    with pytest.raises(InvalidProblemError):
        lesson.open_trace(space, text.replace(old, new, 1))
    assert space.revision == before


def test_a_player_begins_where_that_run_rested():
    space = loaded("moons")
    first = lesson.recording(space)
    assert lesson.start(first) == 0
    lesson.rest(first, 5)
    assert lesson.start(first) == 5
    space.C = 2.0
    assert lesson.start(lesson.recording(space)) == 0


def test_a_page_about_one_machine_moves_mu_into_its_range():
    space = loaded("three_classes", mu=0.001)
    assert lesson.chosen(space, None) is space
    other = lesson.chosen(space, "ad_svm")
    assert (other.machine, other.mu) == ("ad_svm", 1 / 30)
    assert (space.machine, space.mu) == ("svc", 0.001)
    assert lesson.recording(other).trace.machine == "AD-SVM"
    space.points, space.labels = space.points[:0], space.labels[:0]
    assert lesson.recording(lesson.chosen(space, "mu_svm")).message.endswith(".")


def many_features(kernel):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-1, 1, (15, 5)), rng.normal(1, 1, (15, 5))])
    signs = np.repeat([-1.0, 1.0], 15)
    return record("C-SVC", X, signs, kernel, {"C": 2.0}, svc.dual_problem(signs, 2.0), Options())


@pytest.mark.parametrize("kernel", [GaussianKernel(0.2), CallableKernel(lambda a, b: a @ b.T)])
def test_a_trace_of_many_features_or_a_kernel_of_ones_own_is_drawn_as_a_projection(kernel):
    trace = many_features(kernel)
    space = loaded("xor")
    lesson.open_trace(space, trace.to_json())
    run = lesson.recording(space)
    assert "principal components" in lesson.about(run)
    assert run.trace.steps == trace.steps
    data, steps = lesson.playable(space, run, 600, 0)
    assert (data["editable"], data["model"]["regions"]) == (False, False)
    assert len(steps) == len(trace.steps)
    # The first axis is the one along which the samples spread most, and here it parts the classes.
    assert space.points[:, 0].var() > space.points[:, 1].var() > 0
    assert abs(np.corrcoef(space.points[:, 0], trace.y)[0, 1]) > 0.8


@pytest.mark.parametrize("spread", [[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
def test_of_many_samples_the_components_found_by_iteration_are_as_true(spread):
    X = np.random.default_rng(0).normal(size=(projection.MANY + 50, 3)) * spread
    found = principal_components(X @ X.T, 2)
    X = X - X.mean(axis=0)
    lengths = np.linalg.svd(X, compute_uv=False)[:2]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), lengths, atol=1e-6)
    inner = found.T @ (X @ X.T) @ found
    np.testing.assert_allclose(inner, np.diag(lengths**4), atol=1e-7 * max(1.0, lengths[0] ** 4))


def test_principal_components_are_those_of_scikit_learn():
    X = np.random.default_rng(4).normal(size=(40, 6)) * [3, 2, 1, 1, 1, 1]
    theirs = PCA(2).fit_transform(X)
    ours = principal_components(X @ X.T, 2)
    assert np.allclose(np.abs(ours), np.abs(theirs))
    assert not principal_components(np.ones((1, 1)), 2).any()


@pytest.mark.parametrize("n", [2, 50, 200])
def test_principal_components_of_samples_that_are_all_equally_far_apart(n):
    found = principal_components(np.eye(n), 1)[:, 0]
    assert np.linalg.norm(found) == pytest.approx(1.0)
    assert found.sum() == pytest.approx(0.0, abs=1e-9)


def test_a_trace_that_was_cut_short_is_refused():
    space = loaded("moons")
    lines = lesson.recording(space).trace.to_csv().splitlines(keepends=True)
    lesson.open_trace(space, "".join(lines))
    with pytest.raises(InvalidProblemError):
        lesson.open_trace(space, "".join(lines[: len(lines) // 2]))


def test_an_index_out_of_range_is_refused():
    space = loaded("moons")
    trace = lesson.recording(space).trace
    text = trace.to_json().replace('"i": [' + str(trace.steps[0].i), '"i": [99999', 1)
    with pytest.raises(InvalidProblemError):
        lesson.open_trace(space, text)


def test_the_race_compares_three_rules_on_one_problem():
    traces = lesson.race(loaded("moons"))
    assert list(traces) == list(RULES)
    assert all(isinstance(trace, Trace) for trace in traces.values())
    objectives = [trace.certificate.objective for trace in traces.values()]
    assert max(objectives) - min(objectives) < 0.1
    gaps = {rule: results.gaps(trace) for rule, trace in traces.items()}
    figure = race_figure(gaps)
    assert len(figure.data) == 3
    assert len({line.line.dash for line in figure.data}) == 3
    assert len({line.marker.symbol for line in figure.data}) == 3
    assert figure.layout.yaxis.type == "log"
    for line, trace in zip(figure.data, traces.values(), strict=True):
        assert len(line.x) == len(trace.steps) + 1
    table = results.race_table(traces)
    assert all(f"<td>{len(trace.steps):,}</td>" in table for trace in traces.values())


def test_gaps_that_a_log_scale_cannot_show_are_left_out():
    line = race_figure({"rule": [1.0, 0.0, -1e-16, float("inf"), 0.5]}).data[0]
    assert np.isnan(line.y[1:4]).all()
    assert line.y[4] == 0.5


def test_a_curve_is_told_where_a_page_of_hulls_has_its_classes():
    run = lesson._run(loaded("sine"), "mu_svm")
    assert run.trace is None
    assert "choose Classes under Points" in run.message


def test_the_end_of_a_run_does_not_take_a_missing_bound_for_hulls_that_meet():
    space = loaded("overlapping", classifier="mu_svm", kernel="sigmoid")
    assert "meet" not in describe_end(lesson.record_run(space, "second_order").trace)


UNDECIDED = [
    ("overlapping", {"classifier": "nu_svc", "nu": 0.1}, "The reduced hulls meet, so no direction"),
    ("overlapping", {"classifier": "mu_svm", "mu": 1.0}, "The hulls meet, so no direction"),
    ("overlapping", {"classifier": "one_class"}, "Nothing parts the points from the origin"),
]


@pytest.mark.parametrize(("preset", "changes", "words"), UNDECIDED)
def test_a_run_that_ends_without_a_boundary_says_why(preset, changes, words):
    space = loaded(preset, **changes, kernel="linear")
    assert words in describe_end(lesson.record_run(space, "second_order").trace)
    space.kernel, space.nu, space.mu = "rbf", 0.6, 0.03
    assert words not in describe_end(lesson.record_run(space, "second_order").trace)


@pytest.mark.parametrize(("machine", "several", "least"), [("mu_svm", 1, "0.02"), ("ad_svm", 2, "0.04")])
def test_a_run_with_another_mu_says_so(machine, several, least):
    space = loaded("overlapping", mu=0.001, n_prototypes=several)
    assert lesson.moved_mu(space, machine) == (
        f"μ = 0.001 is not feasible here: {least} is the smallest, and this run has it."
    )
    run = lesson.record_run(lesson.chosen(space, machine), space.rule)
    data, _ = lesson.playable(space, run, 600, 0, lesson.moved_mu(space, machine))
    assert "not feasible" in data["message"]
    space.mu = 0.1
    assert lesson.moved_mu(space, machine) is None
    data, _ = lesson.playable(space, run, 600, 0, lesson.moved_mu(space, machine))
    assert data["message"] is None


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES[:4] + MACHINES[-3:-1])
def test_the_trace_of_a_walk_is_opened_and_played(machine, example, changes, kind):
    space = workspace_of(machine, example, changes)
    solution = leaving.solve(space)
    used = int(solution.posed.problem.sample[np.flatnonzero(solution.walker.z)[0]])
    y = None if machine == "one_class" else solution.y
    trace = record_unlearning(leaving.estimator(space), solution.X, y, used)
    other = loaded("xor", tol=1e-4)
    lesson.open_trace(other, getattr(trace, f"to_{kind}")())
    assert other.machine == machine
    assert other.tol == 1e-4
    run = lesson.recording(other)
    assert "is a walk" in lesson.about(run)
    other.rule = "platt"
    assert lesson.about(lesson.recording(other)) == other.notice == ""
    other.rule = "second_order"
    assert run.trace.steps == trace.steps
    data, steps = lesson.playable(other, run, 600, 0)
    assert len(steps) == len(trace.steps)
    assert data["trace"]["walk"]["parameter"] == "unlearned"
    assert data["trace"]["sentences"][0].startswith(f"Event 1 of {len(trace.steps)}, ")
    assert lesson.save_trace(other, kind) == getattr(trace, f"to_{kind}")()
    other.C *= 2
    other.nu *= 0.9
    assert lesson.recording(other).trace.walk is None
