"""What the Python side of the Board lets through."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmviz.datasets import MAX_CLASSES, ROW_LIMIT
from svmviz.ui.board import Edit, parse_edit


def edit(points, revision=3, seq=5):
    return {"revision": revision, "seq": seq, "points": points}


def test_an_edit_is_read():
    assert parse_edit(edit([[0.5, -1, 0], [2, 3.25, 5]]), 3) == Edit(3, 5, [(0.5, -1.0, 0), (2.0, 3.25, 5)])


def test_the_empty_list_is_an_edit_too():
    assert parse_edit(edit([]), 3) == Edit(3, 5, [])


@pytest.mark.parametrize("revision", [2, 4, None, "3"])
def test_an_edit_of_another_revision_is_dropped(revision):
    assert parse_edit(edit([[0, 0, 0]], revision=revision), 3) is None


@pytest.mark.parametrize(
    "point",
    [
        [0, 0],
        [0, 0, 0, 0],
        "abc",
        None,
        {"x": 0},
        [math.nan, 0, 0],
        [0, math.inf, 0],
        ["0", 0, 0],
        [True, 0, 0],
        [0, 0, 0.5],
        [0, 0, -1],
        [0, 0, MAX_CLASSES],
        [0, 0, math.nan],
        [10**400, 0, 0],
    ],
)
def test_one_bad_point_spoils_the_edit(point):
    assert parse_edit(edit([[0, 0, 0], point]), 3) is None


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, {"revision": 3}, edit(None), edit("abc"), edit({})])
def test_bad_shapes_are_dropped(value):
    assert parse_edit(value, 3) is None


@pytest.mark.parametrize("seq", [None, "5", -1, 2.5, math.nan, math.inf, True])
def test_bad_sequence_numbers_are_dropped(seq):
    assert parse_edit(edit([], seq=seq), 3) is None


def test_too_many_points_are_dropped():
    assert parse_edit(edit([[0, 0, 0]] * ROW_LIMIT), 3) is not None
    assert parse_edit(edit([[0, 0, 0]] * (ROW_LIMIT + 1)), 3) is None
    assert parse_edit(edit([[0, 0, 0]] * 3), 3, limit=2) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(json_values, json_values, json_values)
def test_nothing_that_can_arrive_raises(points, seq, value):
    parse_edit(value, 3)
    result = parse_edit(edit(points, seq=seq), 3)
    assert result is None or all(math.isfinite(x) and math.isfinite(y) for x, y, _ in result.points)


coordinates = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(coordinates, coordinates, st.integers(0, MAX_CLASSES - 1)), max_size=30))
def test_finite_points_survive_the_journey(points):
    arrived = json.loads(json.dumps(edit(points)))
    assert parse_edit(arrived, 3) == Edit(3, 5, points)
