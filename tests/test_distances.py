"""The page of all distances: what its numbers say is what the solver found, and everything chosen reaches it."""

import numpy as np
import pytest
from test_fitting import decisions, loaded

from svmviz import ADSVC
from svmviz.datasets import PRESETS
from svmviz.kernels import make_kernel
from svmviz.ui import link
from svmviz.ui.board import parse_weights
from svmviz.ui.distances import LINES, all_distances, distances_data, trained

KERNELS = ["rbf", "poly", "laplacian"]


def distances(name="four_corners", **changes):
    return loaded(name, **{"kernel": "rbf", **changes})


def pair_sum(geometry, table):
    """A quarter of weight times squared distance over the pairs: what the sum under the table adds up."""
    labels = [p["label"] for p in geometry["prototypes"]]
    weights = {(a, b): weight for a, b, weight in geometry["pairs"]}
    return sum(
        weights[a, b] * table[p][q] ** 2 / 4
        for p, a in enumerate(labels)
        for q, b in enumerate(labels)
        if a < b
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("example", ["three_classes", "four_corners", "six_classes"])
@pytest.mark.parametrize("changes", [{}, {"pair_weights": {(0, 1): 3.0, (1, 2): 0.0}}, {"n_prototypes": 2}])
def test_the_sum_over_the_pairs_is_the_objective_of_the_certificate(example, kernel, changes):
    geometry, _ = all_distances(distances(example, kernel=kernel, mu=0.2, **changes))
    objective = geometry["certificate"]["objective"]
    assert pair_sum(geometry, geometry["distances"]) == pytest.approx(objective, rel=1e-6)
    assert geometry["certificate"]["status"].startswith("optimal")


@pytest.mark.parametrize("n_prototypes", [1, 2])
def test_with_the_linear_kernel_the_distances_are_those_in_the_plane(n_prototypes):
    space = distances(kernel="linear", mu=0.2, n_prototypes=n_prototypes)
    geometry, model = all_distances(space)
    assert model is None
    assert "weights" not in geometry
    machine, certificate = trained(space, geometry["mu"])
    places = machine.prototypes_.coef @ space.points
    table = np.linalg.norm(places[:, None] - places, axis=2)
    np.testing.assert_allclose(machine.prototypes_.distances(), table, atol=1e-7)
    assert geometry["certificate"]["objective"] == certificate.objective
    assert pair_sum(geometry, table) == pytest.approx(certificate.objective, rel=1e-6)


def test_what_the_plane_shows_is_true_of_three_prototypes_and_shorter_of_more():
    for example, exact in [("three_classes", True), ("four_corners", False)]:
        geometry, _ = all_distances(distances(example))
        places = np.array(geometry["plane"]["prototypes"])
        shown = np.linalg.norm(places[:, None] - places, axis=2)
        table = np.array(geometry["distances"])
        assert np.allclose(shown, table, atol=1e-9) == exact
        assert (shown <= table + 1e-9).all()


LATTICE = np.stack(np.meshgrid(np.linspace(-3, 3, 41), np.linspace(-3, 3, 41)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("n_prototypes", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", ["thesis", "nearest"])
def test_both_rules_are_those_of_the_estimator_on_a_lattice(rule, kernel, n_prototypes):
    space = distances(kernel=kernel, decision_rule=rule, mu=0.2, n_prototypes=n_prototypes)
    geometry, model = all_distances(space)
    other = {"thesis": "nearest", "nearest": "thesis"}[rule]
    predicted = {}
    for name, functions in [(rule, model["functions"]), (other, model["rival"])]:
        machine = ADSVC(mu=0.2, rule=name, n_prototypes=n_prototypes, tol=1e-6, **space.kernel_parameters())
        machine.fit(space.points, space.labels)
        predicted[name] = machine.predict(space.points)
        found = decisions({**model, "functions": functions}, LATTICE)
        np.testing.assert_array_equal(found.argmax(axis=1), machine.predict(LATTICE))
    assert geometry["counts"] == {
        "samples": len(space.points),
        "disagree": np.sum(predicted["thesis"] != predicted["nearest"]),
        "thesis": np.sum(predicted["thesis"] != space.labels),
        "nearest": np.sum(predicted["nearest"] != space.labels),
    }
    assert model["lines"] == [LINES[rule], LINES[other]]


def test_weights_and_prototypes_reach_the_solver():
    space = distances("three_classes", mu=0.2, pair_weights={(0, 2): 4.0}, n_prototypes=2)
    geometry, _ = all_distances(space)
    weights = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    machine = ADSVC(
        mu=0.2, n_prototypes=2, pair_weights=weights, kernel="rbf", gamma=space.gamma_value(), tol=1e-6
    ).fit(space.points, space.labels)
    np.testing.assert_allclose(geometry["distances"], machine.prototypes_.distances(), atol=1e-9)
    assert geometry["groups"] == machine.cluster_.tolist()
    assert [p["name"] for p in geometry["prototypes"]] == ["A 1", "A 2", "B 1", "B 2", "C 1", "C 2"]
    assert geometry["pairs"] == [[0, 1, 1.0], [0, 2, 4.0], [1, 2, 1.0]]
    before, _ = all_distances(distances("three_classes", mu=0.2, n_prototypes=2))
    assert np.abs(np.array(before["distances"]) - geometry["distances"]).max() > 0.01


def test_a_larger_weight_brings_two_classes_nearer():
    light, _ = all_distances(distances("four_corners"))
    heavy, _ = all_distances(distances("four_corners", pair_weights={(0, 2): 5.0}))
    assert heavy["distances"][0][2] < light["distances"][0][2]


def test_clusters_hold_their_samples():
    space = distances("three_classes", mu=0.2, n_prototypes=3, kernel="linear")
    geometry, _ = all_distances(space)
    owners = np.array([p["label"] for p in geometry["prototypes"]])
    np.testing.assert_array_equal(owners[geometry["groups"]], space.labels)


def test_mu_is_taken_into_its_range():
    geometry, _ = all_distances(distances("four_corners", mu=0.001))
    assert geometry["wanted"] == 0.001
    assert geometry["mu"] == pytest.approx(1 / 22)
    assert geometry["least"] is None
    geometry, _ = all_distances(distances("four_corners", mu=0.001, n_prototypes=2, kernel="linear"))
    assert geometry["mu"] == geometry["least"] == pytest.approx(1 / 11)


def test_two_classes_are_the_mu_svm_and_have_one_boundary():
    geometry, model = all_distances(distances("moons"))
    assert len(geometry["pairs"]) == 1
    assert model["rival"] is None
    assert geometry["counts"]["disagree"] == 0


def test_without_any_weight_nothing_is_decided():
    space = distances("three_classes", kernel="rbf", pair_weights={(0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.0})
    data = distances_data(space, 600)
    assert data["message"] is None
    assert data["model"] is None
    assert data["geometry"]["certificate"] is None
    assert [pair[2] for pair in data["geometry"]["pairs"]] == [0, 0, 0]
    weights = np.array(data["geometry"]["weights"])
    for label, row in enumerate(weights):
        np.testing.assert_allclose(row, (space.labels == label) / np.sum(space.labels == label))


def test_prototypes_that_coincide_decide_nothing():
    space = distances("xor", kernel="poly", degree=1, mu=1.0)
    data = distances_data(space, 600)
    assert data["model"] is None
    assert data["geometry"]["certificate"]["objective"] == 0


@pytest.mark.parametrize("classifier", ["svc", "one_class"])
def test_fewer_than_two_classes_get_one_sentence(classifier):
    space = distances("moons", classifier=classifier)
    space.labels[:] = 3
    data = distances_data(space, 600)
    assert data["geometry"] is None
    assert data["message"].startswith("Draw a point of a second class")
    space.points, space.labels = space.points[:0], space.labels[:0]
    assert distances_data(space, 600)["message"].endswith(".")
    assert "belong to classes" in distances_data(loaded("sine"), 600)["message"]


def test_what_is_not_a_kernel_is_said_to_be():
    geometry, _ = all_distances(distances("three_classes", kernel="sigmoid", gamma=2.0, coef0=-1.0))
    assert "not positive semidefinite" in geometry["note"]


def test_the_certificate_does_not_mind_where_the_origin_is():
    near, far = (distances("three_classes", kernel="linear", mu=0.2) for _ in range(2))
    far.points = far.points + 1e6
    found = [all_distances(space)[0]["certificate"]["objective"] for space in (near, far)]
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_long_names_are_cut_beside_a_prototype():
    geometry, _ = all_distances(distances("iris"))
    assert [p["name"] for p in geometry["prototypes"]] == ["setosa", "versicolor", "virginica"]
    space = distances("three_classes", n_prototypes=2, mu=0.2)
    space.classes = ("a rather long name", "a rather long one too", *space.classes[2:])
    geometry, _ = all_distances(space)
    names = [p["name"] for p in geometry["prototypes"]]
    assert names == ["a rather … 1", "a rather … 2", "a rather … 1", "a rather … 2", "C 1", "C 2"]


def test_the_geometry_is_about_the_points_of_the_workspace():
    space = distances("three_classes")
    geometry, _ = all_distances(space)
    weights = np.array(geometry["weights"])
    K = make_kernel("rbf", space.points, gamma=space.gamma_value())(space.points, space.points)
    products = weights @ K @ weights.T
    own = np.diagonal(products)
    table = np.sqrt(np.maximum(own[:, None] + own - 2 * products, 0))
    np.testing.assert_allclose(geometry["distances"], table, atol=1e-7)
    assert len(geometry["plane"]["points"]) == len(space.points)


def test_what_was_chosen_travels_in_the_link():
    space = distances("four_corners", kernel="linear", mu=0.3, n_prototypes=2, decision_rule="nearest")
    space.set_weights({(0, 1): 2.5, (1, 3): 0.0, (2, 3): 1.0})
    query = dict(part.split("=") for part in link.to_query(space).split("&"))
    opened = link.from_query({name: value.replace("%3A", ":") for name, value in query.items()})
    assert (opened.mu, opened.n_prototypes, opened.decision_rule) == (0.3, 2, "nearest")
    assert opened.pair_weights == {(0, 1): 2.5, (1, 3): 0.0}


def test_weights_of_other_pairs_stay():
    space = distances("three_classes", pair_weights={(0, 1): 2.0, (3, 4): 0.5})
    space.set_weights({(0, 1): 1.0, (0, 2): 3.0, (1, 2): 1.0})
    assert space.pair_weights == {(3, 4): 0.5, (0, 2): 3.0}


def test_weights_are_read_as_the_browser_sends_them():
    assert parse_weights({"seq": 3, "weights": [[0, 1, 2.5], [0, 5, 0]]}) == {(0, 1): 2.5, (0, 5): 0.0}
    assert parse_weights({"weights": []}) == {}


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"seq": 1},
        {"weights": "abc"},
        {"weights": [[0, 1]]},
        {"weights": [[1, 0, 1]]},
        {"weights": [[0, 6, 1]]},
        {"weights": [[0, 1, -1]]},
        {"weights": [[0, 1, float("nan")]]},
        {"weights": [[0, 1.5, 1]]},
        {"weights": [[0, 1, 1]] * 16},
    ],
)
def test_weights_that_make_no_sense_are_dropped(value):
    assert parse_weights(value) is None


def test_a_kernel_without_a_feature_space_is_not_said_to_make_hulls_meet():
    geometry, model = all_distances(distances("overlapping", kernel="sigmoid"))
    assert geometry["critical"] is None
    assert geometry["certificate"]["objective"] > 0
    assert model is not None
    assert "not positive semidefinite" in geometry["note"]


def test_the_examples_that_are_named_have_more_classes():
    geometry, _ = all_distances(distances("moons"))
    assert "Four corners" in geometry["examples"]
    assert {PRESETS["moons"].title, PRESETS["sine"].title}.isdisjoint(geometry["examples"])
