"""The state of one visitor: loading, editing, standardising, switching the task."""

import time

import numpy as np
import pytest

from svmviz import datasets, tables
from svmviz.datasets import CLASS_LETTERS, ROW_LIMIT
from svmviz.ui.board import Edit
from svmviz.ui.workspace import Workspace, checked, six_names, view_of


@pytest.fixture
def space():
    result = Workspace()
    result.load_preset("moons")
    return result


def test_a_preset_brings_its_points_and_parameters(space):
    assert space.C == datasets.PRESETS["moons"].settings.C
    assert np.array_equal(space.points, datasets.preset("moons").points)
    before = space.revision
    space.load_preset("sine")
    assert space.task == "regression"
    assert space.revision == before + 1
    assert space.title() == "Sine with noise"


def test_a_file_leaves_the_parameters_alone(space):
    space.C = 123.0
    space.load(tables.from_csv("u,v,kind\n1,2,p\n3,4,q\n"))
    assert space.C == 123.0
    assert space.axes == ("u", "v")
    assert space.classes[:3] == ("p", "q", "C")
    assert space.title() == "Your points"


def test_an_edit_is_taken_over(space):
    assert space.apply_edit(Edit(space.revision, 7, [(1, 2, 0), (3, 4, 5)]))
    assert space.points.tolist() == [[1, 2], [3, 4]]
    assert space.labels.tolist() == [0, 5]
    assert (space.ack, space.seq) == (7, 7)
    assert space.title() == "Moons, edited"
    assert space.rows() == [[1, 2, 0], [3, 4, 5]]


def test_an_edit_of_replaced_points_is_dropped_but_acknowledged(space):
    old = space.revision
    space.load_preset("xor")
    assert not space.apply_edit(Edit(old, 9, [(1, 2, 0)]))
    assert np.array_equal(space.points, datasets.preset("xor").points)
    assert (space.ack, space.seq) == (9, 0)
    assert not space.edited


def test_a_new_session_is_newer_than_what_a_page_left_open_shows(space):
    for name in ("xor", "moons", "sine"):
        space.load_preset(name)
    time.sleep(0.02)
    assert Workspace().revision > space.revision


def test_features_that_do_not_exist_change_nothing(space):
    space.load_preset("iris")
    before = space.points
    with pytest.raises(datasets.DataError):
        space.load_preset("iris", (2, 2))
    assert space.features == datasets.REAL["iris"]
    assert space.points is before


def test_other_features_can_keep_the_parameters(space):
    space.load_preset("iris")
    space.C = 7.0
    space.load_preset("iris", (0, 1), settings=False)
    assert (space.features, space.C) == ((0, 1), 7.0)
    space.load_preset("iris", (0, 1))
    assert space.C == datasets.PRESETS["iris"].settings.C


def test_everything_can_be_erased(space):
    assert space.apply_edit(Edit(space.revision, 1, []))
    assert space.points.shape == (0, 2)
    assert "two classes" in checked(space)


def test_standardising_says_so_once(space):
    space.points = space.points * [1000, 1] + 5
    space.standardise()
    assert np.allclose(space.points.mean(axis=0), 0)
    assert np.allclose(space.points.std(axis=0), 1)
    assert space.axes == ("x1 (standardised)", "x2 (standardised)")
    space.standardise()
    assert space.axes == ("x1 (standardised)", "x2 (standardised)")


def test_switching_the_task_keeps_the_classes(space):
    labels, revision = space.labels.copy(), space.revision
    space.switch_task("regression")
    assert space.revision == revision + 1
    assert space.dataset().classes == ()
    space.switch_task("classification")
    assert np.array_equal(space.labels, labels)
    space.switch_task("classification")
    assert space.revision == revision + 2


def test_what_cannot_be_fitted_gets_one_sentence(space):
    assert checked(space) is None
    space.labels[:] = 0
    assert "second class" in checked(space)
    space.points = np.zeros((ROW_LIMIT + 1, 2))
    assert "2,000" in checked(space)
    space.task, space.points = "regression", np.zeros((1, 2))
    assert "at least two points" in checked(space)


def test_gamma_scale_is_that_of_scikit_learn(space):
    svm = pytest.importorskip("sklearn.svm")
    space.gamma = "scale"
    machine = svm.SVC().fit(space.points, space.labels)
    assert space.gamma_value() == pytest.approx(machine._gamma)
    space.points[:] = 3.0
    assert space.gamma_value() == 1.0


@pytest.mark.parametrize("names", [(), ("a", "b"), ("B", "A"), ("C", "F", "D"), tuple("uvwxyz")])
def test_there_is_a_name_for_every_class(names):
    result = six_names(names)
    assert result[: len(names)] == names
    assert len(set(result)) == 6
    assert set(result) - set(names) <= set(CLASS_LETTERS)


@pytest.mark.parametrize(
    "points",
    [np.empty((0, 2)), np.ones((3, 2)), [[0, 0], [1, 0]], [[0, 0], [1, 1000]], [[1e9, 0], [1e9, 1e-9]]],
)
def test_the_view_has_room_round_every_point(points):
    points = np.asarray(points, float)
    left, right, bottom, top = view_of(points)
    assert left < right
    assert bottom < top
    assert (points >= [left, bottom]).all()
    assert (points <= [right, top]).all()


def test_the_machine_is_that_of_the_task(space):
    assert space.machine == "svc"
    space.classifier, space.regressor = "ad_svm", "nu_svr"
    assert space.machine == "ad_svm"
    space.switch_task("regression")
    assert space.machine == "nu_svr"


def test_the_weights_of_the_class_pairs_as_a_table(space):
    space.pair_weights = {(0, 3): 2.0, (3, 5): 0.0}
    assert space.weights_table([0, 3, 5]).tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]
    assert space.weights_table([3]).tolist() == [[0]]


def test_mu_is_moved_into_its_feasible_range(space):
    labels = np.array([0, 0, 0, 0, 4, 4])
    for mu, expected in [(0.1, 0.5), (0.7, 0.7), (2.0, 1.0)]:
        space.mu = mu
        assert space.mu_value(labels) == expected
    assert space.mu_value(np.empty(0, int)) == 2.0


def test_weights_of_pairs_belong_to_the_points_they_were_set_for():
    space = Workspace()
    space.load_preset("three_classes")
    space.pair_weights = {(0, 1): 0.0}
    space.load_preset("four_corners")
    assert space.pair_weights == {}
