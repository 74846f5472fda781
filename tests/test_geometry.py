"""What Python adds to the geometry: solutions in the space of a kernel, their plane, and the first touch."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from svmviz import MuSVC
from svmviz.datasets import PRESETS, Dataset
from svmviz.hulls import nearest_points, weighted_hull
from svmviz.ui import distances, geometry
from svmviz.ui.board import Edit, parse_mu
from svmviz.ui.distances import distances_data
from svmviz.ui.feasible import critical, gram
from svmviz.ui.geometry import hulls_data
from svmviz.ui.workspace import Workspace

PAGE = "pages/2_Reduced_convex_hulls.py"


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A session of its own, without a server."""
    state: dict = {}
    monkeypatch.setattr(geometry.st, "session_state", state)
    return state


def clouds(kernel="rbf", mu=0.1, shift=2.0, sizes=(20, 30), **parameters):
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], sizes)
    points = rng.normal(size=(sum(sizes), 2)) + shift * labels[:, None]
    space = Workspace(kernel=kernel, mu=mu, **parameters)
    space.load(Dataset(points, labels, "classification", ("x1", "x2")))
    return space


def estimator(space):
    machine = MuSVC(mu=space.mu_value(space.labels), tol=1e-8, **space.kernel_parameters())
    return machine.fit(space.points, space.labels)


@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian"])
def test_the_gap_along_the_first_axis_is_the_distance_of_the_machine(kernel):
    space = clouds(kernel, shift=4.0)
    data = hulls_data(space, 600)
    shown = data["geometry"]
    expected = estimator(space).prototypes_.distances()[0, 1]
    low, high = np.array(shown["plane"]["prototypes"])
    assert expected > 0.1
    assert high[0] - low[0] == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(high[1] - low[1], 0, atol=1e-8)
    assert shown["distances"][0][1] == pytest.approx(expected, rel=1e-4)
    # The shadows of the hulls are as far apart as the hulls: the nearest points lie in the plane.
    plane = np.array(shown["plane"]["points"])
    halves = [weighted_hull(plane[space.labels == c], shown["mu"]) for c in (0, 1)]
    assert nearest_points(*halves).distance == pytest.approx(expected, rel=1e-3)


def test_the_boundary_on_the_board_is_halfway_between_the_prototypes():
    space = clouds("rbf")
    data = hulls_data(space, 600)
    model, shown = data["model"], data["geometry"]
    assert model["levels"] == []
    K = gram(space, np.arange(len(space.points)))
    weights = np.array(shown["weights"])
    coef = weights[1] - weights[0]
    at_prototypes = weights @ K @ coef + model["functions"][0]["bias"]
    np.testing.assert_allclose(
        at_prototypes, np.array([-0.5, 0.5]) * shown["distances"][0][1] ** 2, rtol=1e-9
    )


def test_nu_svc_moves_the_boundary_by_what_is_said():
    space = clouds("rbf")
    data = hulls_data(space, 600)
    machine = estimator(space)
    K = gram(space, np.arange(len(space.points)))
    weights = np.array(data["geometry"]["weights"])
    # nu-SVC's f at the point between the prototypes, over |w|.
    middle = machine.decision_function(space.points) @ weights.mean(axis=0)
    assert K.shape == (50, 50)
    assert data["geometry"]["shift"] == pytest.approx(-middle / data["geometry"]["distances"][0][1], abs=1e-4)


def test_the_browser_needs_no_solution_with_the_linear_kernel():
    data = hulls_data(clouds("linear"), 600)
    assert data["model"] is None
    assert data["geometry"]["linear"]
    assert "plane" not in data["geometry"]
    assert [p["name"] for p in data["geometry"]["prototypes"]] == ["v₋", "v₊"]


@pytest.mark.parametrize(
    ("kernel", "shift"), [("linear", 1.0), ("linear", 2.5), ("poly", 1.0), ("poly", 1.5)]
)
def test_the_hulls_first_touch_where_it_is_said(kernel, shift):
    space = clouds(kernel, shift=shift, coef0=1.0, degree=2, gamma=0.1)
    two = space.two_classes()
    touch = critical(space, two)
    assert isinstance(touch, float)
    for factor, meet in ((0.9, False), (1.1, True)):
        mu = touch * factor
        if not 1 / 20 <= mu <= 1:
            continue
        machine = MuSVC(mu=mu, tol=1e-8, **space.kernel_parameters()).fit(space.points, space.labels)
        scale = float(np.sqrt(np.diagonal(gram(space, two.rows)).max()))
        assert (machine.prototypes_.distances()[0, 1] < 3e-4 * scale) == meet


def test_gaussian_hulls_never_touch_unless_the_classes_share_a_point():
    space = clouds("rbf", shift=0.0)
    assert critical(space, space.two_classes()) == "never"
    space.points[0] = space.points[-1]
    assert (
        critical(space, space.two_classes()) == 1.0
    )  # the shared point itself, when it may have all the weight
    space.points[1] = space.points[2] = space.points[-2]
    assert critical(space, space.two_classes()) == 0.5
    space.points[-20:] = space.points[:20]
    assert critical(space, space.two_classes()) == "always"


def test_overlapping_hulls_have_no_boundary_and_say_so():
    space = clouds("poly", mu=1.0, shift=0.3, degree=2)
    data = hulls_data(space, 600)
    assert data["model"] is None
    assert data["geometry"]["critical"] == "always" or data["geometry"]["critical"] < 1
    assert data["geometry"]["plane"]["axes"] == ["largest spread", "second largest"]


def test_mu_is_taken_into_its_range():
    shown = hulls_data(clouds("rbf", mu=0.001), 600)["geometry"]
    assert (shown["wanted"], shown["mu"]) == (0.001, 1 / 20)


def test_one_class_no_class_and_a_curve_get_one_sentence_each():
    space = clouds("rbf")
    space.labels[:] = 0
    data = hulls_data(space, 600)
    assert data["geometry"] is None
    assert "second class" in data["message"]
    space.load_preset("sine")
    assert "Classes" in hulls_data(space, 600)["message"]
    assert "Draw points" in hulls_data(Workspace(), 600)["message"]


def test_of_three_classes_two_are_shown_and_the_third_is_named():
    space = Workspace()
    space.load_preset("three_classes")
    space.kernel, space.pair = "rbf", (0, 2)
    shown = hulls_data(space, 600)["geometry"]
    assert [p["label"] for p in shown["prototypes"]] == [0, 2]
    assert "take no part" in shown["note"]
    assert [place is None for place in shown["plane"]["points"]] == (space.labels == 1).tolist()


def test_a_polynomial_with_a_negative_constant_is_said_to_have_no_feature_space():
    space = clouds("poly", degree=3, gamma=0.5, coef0=-2.0)
    assert np.linalg.eigvalsh(gram(space, np.arange(40)))[0] < -1
    assert "not positive semidefinite" in hulls_data(space, 600)["geometry"]["note"]
    space.coef0 = 2.0
    assert "not positive semidefinite" not in (hulls_data(space, 600)["geometry"]["note"] or "")


def test_the_second_axis_does_not_flip():
    plane = np.random.default_rng(0).normal(size=(5, 2))
    geometry.steady_plane(plane)
    np.testing.assert_array_equal(geometry.steady_plane(plane * [1, -1]), plane)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("name", PRESETS)
def test_every_example_has_a_picture(name, kernel):
    space = Workspace()
    space.load_preset(name)
    space.kernel = kernel
    for mu in (0.001, 0.1, 1.0):
        space.mu = mu
        data = hulls_data(space, 600)
        assert (data["geometry"] is None) == (space.task == "regression")
        json.dumps(data, allow_nan=False)


@pytest.mark.parametrize(
    "value", [None, 3, {}, {"mu": "1"}, {"mu": 0}, {"mu": 1.5}, {"mu": float("nan")}, {"mu": True}]
)
def test_a_malformed_mu_is_dropped(value):
    assert parse_mu(value) is None


def test_a_mu_is_read():
    assert parse_mu({"seq": 3, "mu": 0.25}) == 0.25


def test_the_page_runs_for_classes_and_for_a_curve(monkeypatch):
    monkeypatch.undo()
    for preset in ("overlapping", "three_classes", "sine"):
        app = AppTest.from_file("../app.py", default_timeout=30)
        app.query_params["preset"] = preset
        app.run().switch_page(PAGE).run()
        assert not app.exception
        assert not app.error


@pytest.mark.parametrize(("page", "solve"), [(hulls_data, "MuSVC"), (distances_data, "ADSVC")])
def test_an_edit_that_changes_nothing_is_not_solved_again(monkeypatch, page, solve):
    calls = []
    module = geometry if solve == "MuSVC" else distances
    machine = getattr(module, solve)
    monkeypatch.setattr(module, solve, lambda **options: calls.append(1) or machine(**options))
    space = Workspace()
    space.load_preset("moons")
    for seq in (1, 2):
        space.apply_edit(Edit(space.revision, seq, space.rows()))
        assert [page(space, 600)[part]["for"] for part in ("geometry", "model")] == [seq, seq]
    assert len(calls) == 1
