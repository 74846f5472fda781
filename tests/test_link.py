"""A link carries the workspace, is short enough to send, and never breaks however it was cut."""

from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmviz import datasets
from svmviz.datasets import DataError, Dataset
from svmviz.ui.board import Edit
from svmviz.ui.link import (
    LONGEST,
    LONGEST_ADDRESS,
    READERS,
    from_query,
    full_query,
    to_query,
    too_long_for_address,
)
from svmviz.ui.workspace import Workspace

MACHINE = (
    "classifier",
    "regressor",
    "loss",
    "nu",
    "mu",
    "beta",
    "decision_rule",
    "pair_weights",
    "n_prototypes",
)
SETTINGS = (
    *(
        "kernel",
        "gamma",
        "degree",
        "coef0",
        "C",
        "epsilon",
        "tol",
        "rule",
        "newton",
        "sliding",
        "stepping",
        "task",
        "axes",
        "classes",
    ),
    *MACHINE,
)


def opened(query):
    return from_query(dict(parse_qsl(query, keep_blank_values=True)))


def drawn(points, labels=None, task="classification"):
    space = Workspace()
    space.load(Dataset(np.array(points, float), np.array(labels or [0] * len(points)), task))
    space.edited = True
    return space


@pytest.mark.parametrize("name", datasets.PRESETS)
def test_a_preset_travels_by_its_name(name):
    space = Workspace()
    space.load_preset(name)
    query = to_query(space)
    assert len(query) < 60
    back = opened(query)
    assert np.array_equal(back.points, space.points)
    assert np.array_equal(back.labels, space.labels)
    assert all(getattr(back, item) == getattr(space, item) for item in SETTINGS)
    assert to_query(back) == query


def test_features_and_classes_of_a_real_set_travel():
    space = Workspace()
    space.load_preset("wine", (3, 12), ("cultivar 1", "cultivar 3"))
    space.C = 200.0
    back = opened(to_query(space))
    assert np.array_equal(back.points, space.points)
    assert back.features == (3, 12)
    assert back.classes == space.classes
    assert back.C == 200.0


def test_parameters_travel():
    space = drawn([[0, 0], [1, 2], [3, 1]], [0, 1, 5])
    space.kernel, space.gamma, space.degree, space.coef0 = "poly", 0.02, 5, -1.5
    space.C, space.epsilon, space.rule, space.newton = 1e5, 0.0, "platt", True
    space.axes, space.classes = ("width (cm)", "höhe"), ("yes & no", "b", "c", "d", "e", "f")
    back = opened(to_query(space))
    assert all(getattr(back, item) == getattr(space, item) for item in SETTINGS)
    assert back.labels.tolist() == [0, 1, 5]
    assert back.notice == ""


def test_the_switch_for_newton_steps_travels_in_a_word():
    space = Workspace()
    space.load_preset("moons")
    assert "newton" not in to_query(space)
    space.newton = True
    assert to_query(space) == "newton=on&preset=moons"
    assert opened("preset=moons&newton=off").newton is False
    broken = opened("preset=moons&newton=perhaps")
    assert broken.newton is False
    assert "could not be read" in broken.notice


def test_the_machine_and_its_parameters_travel():
    space = drawn([[0, 0], [1, 2], [3, 1]], [0, 1, 5])
    space.classifier, space.regressor, space.loss = "ad_svm", "nu_svr", "squared"
    space.nu, space.mu, space.beta, space.n_prototypes = 0.35, 0.05, 20.0, 3
    space.decision_rule, space.pair_weights = "nearest", {(0, 1): 2.0, (1, 5): 0.0}
    back = opened(to_query(space))
    assert all(getattr(back, item) == getattr(space, item) for item in MACHINE)
    assert back.notice == ""
    assert "machine" not in to_query(drawn([[0, 0]]))
    assert "pair_weights" not in to_query(drawn([[0, 0]]))


def test_every_setting_travels_to_the_last_digit():
    changed = {
        "kernel": "poly", "gamma": 1 / 3, "degree": 5, "coef0": -0.1234567891, "C": 1e3 / 7, "epsilon": 0.1 / 3,
        "tol": 1e-7 / 3, "rule": "platt", "pair": (1, 3), "classifier": "ad_svm", "regressor": "nu_svr",
        "loss": "squared", "nu": 2 / 7, "mu": 1 / 3, "beta": 1 / 3, "decision_rule": "nearest",
        "pair_weights": {(0, 2): 1 / 3}, "n_prototypes": 2, "held_out": 0.1 / 3, "newton": True,
        "sliding": "mu", "stepping": True,
    }  # fmt: skip
    assert set(changed) == set(READERS)
    space = drawn([[0, 0], [1, 1], [2, 2]], [0, 1, 3])
    for name, value in changed.items():
        setattr(space, name, value)
    back = opened(to_query(space))
    assert {name: getattr(back, name) for name in changed} == changed
    assert back.notice == ""


def test_a_hundred_points_take_about_four_hundred_characters():
    rng = np.random.default_rng(1)
    query = to_query(drawn(rng.normal(size=(100, 2)), rng.integers(0, 3, 100).tolist()))
    assert 400 < len(query) < 520


def test_too_many_points_are_refused_with_advice():
    rng = np.random.default_rng(1)
    assert len(to_query(drawn(rng.normal(size=(450, 2))))) <= LONGEST
    with pytest.raises(DataError, match="save a CSV file"):
        to_query(drawn(rng.normal(size=(600, 2))))
    many = drawn(rng.normal(size=(1900, 2)), rng.integers(0, 6, 1900).tolist())
    assert len(full_query(many)) <= LONGEST_ADDRESS
    assert len(opened(full_query(many)).points) == 1900
    assert "a reload loses them. Save a CSV file." in too_long_for_address(many)


def test_an_edited_preset_carries_its_points():
    space = Workspace()
    space.load_preset("moons")
    space.apply_edit(Edit(space.revision, 1, [(0, 0, 0), (1, 1, 1)]))
    assert opened(to_query(space)).points.tolist() == [[0, 0], [1, 1]]
    space.load_preset("iris")
    space.switch_task("regression")
    back = opened(to_query(space))
    assert back.task == "regression"
    assert len(back.points) == 150


coordinates = st.floats(-1e6, 1e6).map(lambda v: round(v, 6))
points = st.lists(st.tuples(coordinates, coordinates, st.integers(0, 5)), max_size=60)


@given(points, st.sampled_from(["classification", "regression"]))
def test_points_come_back_within_half_a_step_of_the_box(rows, task):
    space = drawn([[x, y] for x, y, _ in rows] or np.empty((0, 2)), [c for _, _, c in rows], task)
    back = opened(to_query(space))
    assert back.task == task
    assert back.labels.tolist() == space.labels.tolist()
    assert back.points.shape == space.points.shape
    if rows:
        low, high = space.points.min(axis=0), space.points.max(axis=0)
        allowed = (high - low) / 2046 + 1e-12 * np.maximum(np.abs(low), np.abs(high)) + 1e-12
        assert (np.abs(back.points - space.points) <= allowed).all()
    back.edited = True
    assert opened(to_query(back)).labels.tolist() == space.labels.tolist()


@pytest.mark.parametrize("query", [{}, {"embed": "true"}, {"kernel": "rbf"}])
def test_a_link_without_points_opens_nothing(query):
    assert from_query(query) is None


@pytest.mark.parametrize(
    "query",
    [
        "preset=nothing",
        "preset=iris&features=1",
        "preset=iris&features=0,99",
        "preset=iris&features=a,b",
        "preset=moons&C=-1",
        "preset=moons&C=nan&kernel=cosine&gamma=lots&degree=2.5e9&rule=&tol=0",
        "preset=moons&classifier=tree&nu=0&mu=2&beta=0&n_prototypes=99&decision_rule=best&loss=",
        "preset=moons&pair_weights=0-1:2,1-0:3",
        "preset=moons&pair_weights=0-9:2",
        "preset=moons&pair_weights=0:1:2",
        "preset=moons&pair_weights=0-1:-2",
        "points=",
        "points=abc&box=0,0,1,1",
        "points=AAAA",
        "points=AAAA&box=0,0,1",
        "points=AAAA&box=0,0,nan,1",
        "points=AAAA&box=0,0,1e300,1",
        "points=%00%FF&box=0,0,1,1",
    ],
)
def test_a_damaged_link_opens_with_a_notice(query):
    space = opened(query)
    assert space.notice.endswith(".")
    assert np.isfinite(space.points).all()
    assert space.C > 0


@given(
    st.dictionaries(
        st.sampled_from(["preset", "points", "box", "features", "classes", "axes", "C", "gamma", "task"]),
        st.text(max_size=30),
    )
)
def test_garbage_never_breaks(query):
    space = from_query(query)
    if space is not None:
        assert np.isfinite(space.points).all()
        assert len(space.classes) == 6


@given(st.integers(0, 200), st.text(max_size=5))
def test_a_cut_link_never_breaks(length, tail):
    space = Workspace()
    space.load_preset("three_classes")
    space.edited = True
    result = opened(to_query(space)[:length] + tail)
    assert result is None or np.isfinite(result.points).all()
