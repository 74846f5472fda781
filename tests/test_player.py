"""What the Player gets from Python."""

import json

import numpy as np
import pytest

from svmviz.explain import apart, short
from svmviz.kernels import make_kernel
from svmviz.machines import ad_svm, svc, svr
from svmviz.smo.loop import Options
from svmviz.trace import record
from svmviz.ui import lesson
from svmviz.ui.player import player_data, sample_name, steps_table
from svmviz.ui.workspace import CLASSIFIERS, REGRESSORS, Workspace


def scene_of(points, task="classification"):
    return {
        "revision": 1,
        "ack": 0,
        "height": 620,
        "task": task,
        "points": points,
        "view": [-4, 4, -4, 4],
        "axes": ["x1", "x2"],
        "classes": ["A", "B"],
        "message": None,
    }


def classifier(n=30, C=1.0, seed=0, shift=0.0, **options):
    """A recorded C-SVC and the scene it belongs to."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    X = (rng.normal(size=(n, 2)) + np.where(labels == 1, 0.8, -0.8)[:, None] + shift).round(3)
    signs = np.where(labels == 1, 1.0, -1.0)
    kernel = make_kernel("rbf", X, gamma=0.5, degree=3, coef0=0.0)
    trace = record("C-SVC", X, signs, kernel, {"C": C}, svc.dual_problem(signs, C), Options(**options))
    return trace, scene_of([[*map(float, x), int(label)] for x, label in zip(X, labels, strict=True)])


def regressor(n=25, C=2.0, epsilon=0.1):
    """A recorded epsilon-SVR and the scene it belongs to."""
    x = np.linspace(-3, 3, n)
    y = np.sin(2 * x) + 0.2 * np.random.default_rng(1).normal(size=n)
    kernel = make_kernel("rbf", x[:, None], gamma=1.0, degree=3, coef0=0.0)
    problem = svr.dual_problem(y, C, epsilon)
    parameters = {"C": C, "epsilon": epsilon}
    trace = record("epsilon-SVR", x[:, None], y, kernel, parameters, problem, Options())
    return trace, scene_of([[float(a), float(b), 0] for a, b in zip(x, y, strict=True)], "regression")


MACHINES = [
    *((name, "moons", {}) for name in CLASSIFIERS),
    *((name, "three_classes", {}) for name in CLASSIFIERS),
    ("svc", "moons", {"loss": "squared"}),
    ("mu_svm", "four_corners", {"pair": (1, 3)}),
    ("ad_svm", "four_corners", {"decision_rule": "nearest", "pair_weights": {(0, 2): 3.0}}),
    ("ad_svm", "three_classes", {"n_prototypes": 2, "mu": 0.2}),
    *((name, "sine", {"tol": 0.01}) for name in REGRESSORS),  # well below the longest run that is kept
    ("svr", "sine", {"loss": "squared"}),
]
"""A machine, an example, and what else is chosen in the workspace."""


def workspace_of(machine, example, changes):
    """The workspace with a machine, cut to every second point so that runs are short."""
    space = Workspace()
    space.load_preset(example)
    space.points, space.labels = space.points[::2], space.labels[::2]
    setattr(space, "regressor" if machine in REGRESSORS else "classifier", machine)
    for field, value in changes.items():
        setattr(space, field, value)
    return space


def recorded(machine, example, changes, newton=False):
    """A recorded run of a machine and what the Player takes of it."""
    space = workspace_of(machine, example, changes)
    run = lesson.record_run(space, "second_order", newton)
    assert run.message is None
    data, steps = player_data(space.scene(620, None), run.trace, rows=run.rows.tolist())
    return run, data, steps


@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES)
def test_every_machine_can_be_sent(machine, example, changes):
    run, data, steps = recorded(machine, example, changes)
    trace = run.trace
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["model"]["machine"] == machine
    assert len(steps) == len(trace.steps) > 0
    assert len(data["trace"]["names"]) == trace.problem.n
    assert len(set(data["trace"]["names"])) == trace.problem.n / (2 if machine in REGRESSORS else 1)
    assert len(data["trace"]["groups"]) == (trace.problem.n_groups if trace.problem.n_groups > 1 else 0)
    for step, text in zip(trace.steps, data["trace"]["sentences"], strict=False):
        assert data["trace"]["names"][step.i] in text
        if data["trace"]["groups"]:
            assert f"Within {data['trace']['groups'][step.group]}" in text


JUMPERS = [
    *((name, "moons", {}) for name in CLASSIFIERS),
    ("svc", "moons", {"kernel": "linear", "C": 100.0}),
    ("svc", "moons", {"loss": "squared"}),
    ("ad_svm", "three_classes", {"n_prototypes": 2, "mu": 0.2}),
    *((name, "sine", {"tol": 0.01}) for name in REGRESSORS),  # well below the longest run that is kept
]
"""Machines whose runs have Newton steps when these are switched on."""


@pytest.mark.parametrize(("machine", "example", "changes"), JUMPERS)
def test_newton_steps_of_every_machine_can_be_sent(machine, example, changes):
    run, data, table = recorded(machine, example, changes, newton=True)
    steps = run.trace.steps
    assert json.loads(json.dumps(data, allow_nan=False)) == json.loads(json.dumps(data))
    assert len(table) == len(steps)
    assert np.isfinite(table.to_numpy(dtype=float)).all() or not np.isfinite(run.trace.certificate.gap)
    jumps = data["trace"]["jumps"]
    assert [jump["position"] for jump in jumps] == [k for k, s in enumerate(steps) if s.kind == "newton"]
    assert jumps
    for jump in jumps:
        k = jump["position"]
        step = steps[k]
        assert (jump["indices"], jump["after"], jump["blocked"]) == (step.indices, step.z_after, step.blocked)
        assert (table["i"][k], table["group"][k]) == (-1, -1)
        assert table["objective_after"][k] == step.objective_after
        assert f"Newton step: {len(step.indices)} multipliers" in data["trace"]["sentences"][k]
        assert ("no more than rounding" in data["trace"]["sentences"][k]) == jump["rounding"]
        assert all(data["trace"]["names"][d] in data["trace"]["sentences"][k] for d in step.blocked[:2])
    assert recorded(machine, example, changes)[1]["trace"]["jumps"] == []


def test_two_prototypes_jump_to_a_smaller_distance():
    run, data, _ = recorded("mu_svm", "moons", {}, newton=True)
    trace = run.trace
    K = trace.hessian().K
    for jump in data["trace"]["jumps"]:
        k = jump["position"]
        before, after = (
            ad_svm.read(trace.problem, trace.multipliers(p), K).distances()[0, 1] for p in (k, k + 1)
        )
        if short(trace.steps[k].objective_before, 13) != short(trace.steps[k].objective_after, 13):
            assert f"Distance {apart(before, after)[0][:5]}" in data["trace"]["sentences"][k]


def test_the_sentence_of_a_prototype_says_how_far_it_moves():
    run, data, _ = recorded("mu_svm", "moons", {})
    trace = run.trace
    K = trace.hessian().K
    for k, step in enumerate(trace.steps[:5]):
        text = data["trace"]["sentences"][k]
        u = [np.zeros(len(trace.X)) for _ in range(4)]
        for where, position in ((0, k), (2, k + 1)):
            z = trace.multipliers(position)
            for g in (0, 1):
                u[where + g][trace.problem.sample] = np.where(trace.problem.group == g, z, 0.0)
        move = u[2 + step.group] - u[step.group]
        assert f"v moves {short(np.sqrt(move @ K @ move))}" in text
        before, after = (np.sqrt((a - b) @ K @ (a - b)) for a, b in (u[:2], u[2:]))
        assert f"distance {apart(before, after)[0]} → {apart(before, after)[1]}" in text


def test_the_end_of_two_prototypes_says_how_far_apart_they_are():
    run, data, _ = recorded("mu_svm", "moons", {})
    trace = run.trace
    found = ad_svm.read(trace.problem, trace.multipliers(len(trace.steps)), trace.hessian().K)
    assert f"are {short(found.distances()[0, 1])} apart" in data["trace"]["sentences"][-1]
    _, data, _ = recorded("mu_svm", "xor", {"kernel": "linear", "mu": 1.0})
    assert "hulls meet" in data["trace"]["sentences"][-1]


def test_three_prototypes_have_their_true_distances_in_the_feature_plane():
    run, data, _ = recorded("ad_svm", "three_classes", {})
    trace = run.trace
    found = ad_svm.read(trace.problem, trace.multipliers(len(trace.steps)), trace.hessian().K)
    places = found.coef @ np.array(data["trace"]["plane"]["points"])
    between = np.linalg.norm(places[:, None] - places, axis=2)
    np.testing.assert_allclose(between, found.distances(), atol=1e-9)
    assert recorded("ad_svm", "three_classes", {"kernel": "linear"})[1]["trace"]["plane"] is None
    assert recorded("svc", "moons", {})[1]["trace"]["plane"] is None


@pytest.mark.parametrize("build", [classifier, regressor])
def test_data_can_be_sent(build):
    trace, scene = build()
    data, steps = player_data(scene, trace, [str(k) for k in range(len(trace.steps) + 1)])
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert len(steps) == len(trace.steps)
    assert len(data["trace"]["sentences"]) == len(trace.steps) + 1
    assert len(data["trace"]["names"]) == len(data["trace"]["dual"]["p"]) == trace.problem.n


def test_table_replays_to_the_same_multipliers():
    trace, _ = classifier(C=10.0)
    table = steps_table(trace)
    z = trace.start.copy()
    for step in table.itertuples():
        assert (z[step.i], z[step.j]) == (step.z_i_before, step.z_j_before)
        z[step.i], z[step.j] = step.z_i_after, step.z_j_after
    assert np.array_equal(z, trace.multipliers(len(trace.steps)))


def test_unbounded_boxes_are_sent_as_null():
    trace, scene = classifier()
    object.__setattr__(trace.problem, "hi", np.where(trace.problem.hi > 0, np.inf, 0.0))
    data, _ = player_data(scene, trace)
    assert set(data["trace"]["dual"]["hi"]) == {0.0, None}


def test_without_a_trace_the_scene_stays():
    data, steps = player_data(scene_of([[0.0, 0.0, 0]]) | {"message": "Draw a second class."}, None)
    assert steps is None
    assert data["trace"] is None
    assert data["message"] == "Draw a second class."


def test_another_run_has_another_id():
    traces = [classifier()[0], classifier(C=2.0)[0], classifier(seed=1)[0], classifier(selection="platt")[0]]
    scene = classifier()[1]
    assert len({player_data(scene, trace)[0]["trace"]["id"] for trace in traces}) == 4
    assert player_data(scene, traces[0])[0] == player_data(scene, classifier()[0])[0]


def test_the_same_run_on_other_points_of_the_board_has_another_id():
    trace, scene = classifier()
    scene["points"] += [[9.0, 9.0, 2]]
    before = player_data(scene, trace, rows=range(30))[0]["trace"]
    scene["points"].insert(0, scene["points"].pop())
    after = player_data(scene, trace, rows=range(1, 31))[0]["trace"]
    assert before["names"] != after["names"]
    assert before["id"] != after["id"]


def test_a_trace_may_leave_points_out():
    trace, scene = classifier()
    scene["points"].insert(0, [9.0, 9.0, 2])
    with pytest.raises(ValueError, match="give rows"):
        player_data(scene, trace)
    data, _ = player_data(scene, trace, rows=range(1, 31))
    assert data["trace"]["points"] == scene["points"][1:]
    assert data["trace"]["names"][:2] == ["●2", "▲3"]
    assert data["model"]["owners"] == [0, 1]


def test_sentences_use_the_names_of_the_board():
    trace, scene = classifier()
    data, _ = player_data(scene, trace)
    first = data["trace"]["sentences"][0]
    assert all(data["trace"]["names"][d] in first for d in (trace.steps[0].i, trace.steps[0].j))


def test_sentences_must_fit():
    trace, scene = classifier()
    with pytest.raises(ValueError, match="sentences"):
        player_data(scene, trace, ["only one"])


def test_names_are_mark_and_number():
    assert sample_name(0, 1) == "▲1"
    assert sample_name(16, None) == "●17"
