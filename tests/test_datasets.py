"""Presets are sound and repeatable; CSV comes back without loss; bad files get one clear sentence."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmviz import datasets
from svmviz.datasets import MAX_CLASSES, PRESETS, REAL, ROW_LIMIT, DataError, Dataset
from svmviz.tables import from_csv, to_csv


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_sound_and_repeatable(name):
    data, again = datasets.preset(name), datasets.preset(name)
    assert data.points.shape == (len(data), 2)
    assert np.isfinite(data.points).all()
    assert data.labels.shape == (len(data),)
    assert np.array_equal(data.points, again.points)
    assert data.title
    assert data.description.endswith(".")
    if data.task == "classification":
        assert 2 <= len(data.classes) <= MAX_CLASSES
        assert set(data.labels) == set(range(len(data.classes)))
    else:
        assert data.classes == ()
    assert 20 <= len(data) <= 300


def test_there_are_at_least_twelve_presets_of_both_tasks_and_two_real_sets():
    tasks = [datasets.preset(name).task for name in PRESETS]
    assert len(PRESETS) >= 12
    assert tasks.count("regression") >= 2
    assert set(REAL) == {"iris", "wine"}


def test_separable_is_separable_and_duplicates_are_duplicated():
    data = datasets.preset("separable")
    side = data.points @ [0.8, 0.6]
    assert side[data.labels == 0].max() < side[data.labels == 1].min()
    points = datasets.preset("duplicates").points
    assert len(np.unique(points, axis=0)) < len(points) / 2


@pytest.mark.parametrize("name", REAL)
def test_every_pair_of_features_of_the_real_sets_is_standardised(name):
    names = datasets.feature_names(name)
    for a in range(len(names)):
        for b in range(a):
            data = datasets.preset(name, (a, b))
            assert np.allclose(data.points.mean(axis=0), 0)
            assert np.allclose(data.points.std(axis=0), 1)
            assert data.axes == tuple(map(datasets.standardised_name, (names[a], names[b])))
            assert len(data.classes) == 3


def test_a_standardised_column_has_lost_its_unit():
    name = datasets.standardised_name("petal length (cm)")
    assert name == "petal length (standardised)"
    assert datasets.standardised_name(name) == name
    assert datasets.standardised_name("x1") == "x1 (standardised)"


def test_a_real_set_can_be_taken_with_two_classes():
    data = datasets.preset("iris", (0, 1), ["versicolor", "virginica"])
    assert data.classes == ("versicolor", "virginica")
    assert np.bincount(data.labels).tolist() == [50, 50]
    assert np.allclose(data.points.mean(axis=0), 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: datasets.preset("nothing"),
        lambda: datasets.preset("iris", (1, 1)),
        lambda: datasets.preset("iris", (0, 9)),
        lambda: datasets.preset("iris", (0, 1), ["setosa"]),
    ],
)
def test_a_wrong_choice_is_a_data_error(call):
    with pytest.raises(DataError):
        call()


def test_a_constant_column_is_only_shifted():
    points = datasets.standardised(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert points.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


numbers = st.floats(-1e12, 1e12, allow_nan=False)
words = st.text(string.ascii_letters + "äé \",;'\n\t", min_size=1, max_size=12).map(str.strip).filter(bool)
names = words.filter(
    lambda word: word.lower() not in {"nan", "inf", "infinity", "na", "null", "none", "class"}
)


@st.composite
def classified(draw):
    classes = tuple(sorted(draw(st.lists(names, min_size=2, max_size=MAX_CLASSES, unique=True))))
    extra = draw(st.lists(st.integers(0, len(classes) - 1), max_size=20))
    labels = draw(st.permutations([*range(len(classes)), *extra]))
    points = draw(st.lists(st.tuples(numbers, numbers), min_size=len(labels), max_size=len(labels)))
    axes = tuple(draw(st.lists(names, min_size=2, max_size=2, unique=True)))
    return Dataset(np.array(points), np.array(labels), axes=axes, classes=classes)


@st.composite
def pairs(draw):
    points = np.array(draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20)))
    return Dataset(points, np.zeros(len(points), int), task="regression", axes=("x", "y"))


@given(st.one_of(classified(), pairs()))
def test_csv_round_trip_is_without_loss(data):
    back = from_csv(to_csv(data))
    assert back.task == data.task
    assert back.axes == data.axes
    assert back.classes == data.classes
    assert np.array_equal(back.points, data.points)
    assert np.array_equal(back.labels, data.labels)
    assert from_csv(to_csv(data).encode()).classes == data.classes


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_the_round_trip(name):
    data = datasets.preset(name)
    back = from_csv(to_csv(data))
    assert (back.task, back.axes, back.classes) == (data.task, data.axes, data.classes)
    assert np.array_equal(back.points, data.points)
    assert np.array_equal(back.labels, data.labels)


@pytest.mark.parametrize(
    ("text", "axes", "classes"),
    [
        ("x1,x2,class\n1,2,a\n3,4,b\n", ("x1", "x2"), ("a", "b")),
        ("1,2,a\n3,4,b\n", ("column 1", "column 2"), ("a", "b")),
        ("1;2;0\n3;4;1\n", ("column 1", "column 2"), ("0", "1")),
        ("x\ty\tlabel\n1\t2\t-1\n3\t4\t1\n", ("x", "y"), ("-1", "1")),
        ("species;width;height\nb;0,5;1,5\na;1,5;2\n", ("width", "height"), ("a", "b")),
        ("x1, x2, class\r\n1, 2, yes\r\n\r\n3, 4, no\r\n", ("x1", "x2"), ("no", "yes")),
        (",u,v,kind\n0,1.5,2,p\n1,3,4.5,q\n", ("column 1", "u"), ("p", "q")),
        ("a,b,c\n0.5,1,2.5\n1.5,0,3.5\n", ("a", "c"), ("0", "1")),
        ("x1,x2,class\n1,2,1.0\n3,4,2\n", ("x1", "x2"), ("1", "2")),
        ('x1,x2,class\n1,2,"a, b"\n3,4,c\n', ("x1", "x2"), ("a, b", "c")),
    ],
)
def test_many_kinds_of_csv_are_read(text, axes, classes):
    for data in (text, text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        result = from_csv(data)
        assert result.axes == axes
        assert result.classes == classes


def test_two_columns_are_pairs_for_regression():
    data = from_csv("x,y\n1,2\n3,4\n")
    assert data.task == "regression"
    assert data.points.tolist() == [[1, 2], [3, 4]]


def test_columns_can_be_chosen():
    text = "a,b,c,kind\n1,2,3,p\n4,5,6,q\n"
    data = from_csv(text, columns=(2, 1), label=3)
    assert data.axes == ("c", "b")
    assert data.points.tolist() == [[3, 2], [6, 5]]
    assert from_csv(text, columns=(0, 2), label=None).task == "regression"


def test_the_row_limit_is_what_it_says():
    rows = [f"{k},{k % 7}.5,{'ab'[k % 2]}" for k in range(ROW_LIMIT + 1)]
    assert len(from_csv("\n".join(rows[:-1]))) == ROW_LIMIT
    with pytest.raises(DataError, match=r"2,001 rows.*2,000"):
        from_csv("\n".join(rows))


BAD = {
    "empty": ("", "empty"),
    "blank lines": ("\n\n  \n", "empty"),
    "header only": ("x1,x2,class\n", "no rows"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not a text file"),
    "zeros": (b"\x00" * 100, "not a text file"),
    "prose": ("This is a letter.\nIt has no columns\nat all.", "one column"),
    "html": ("<html><body>\n<p>1, 2</p>\n</body></html>", "cells|column"),
    "json": ('{"points": [[1, 2], [3, 4]]}', "no rows"),
    "one column": ("x\n1\n2\n", "one column"),
    "one number column": ("x,class\n1,a\n2,b\n", "one column of numbers"),
    "ragged": ("1,2,a\n3,4\n5,6,b\n", "Row 2 has 2 cells"),
    "nan": ("x1,x2,class\n1,2,a\nNaN,4,b\n5,6,b\n", 'Row 3, column "x1" is NaN'),
    "inf": ("1,2,a\n3,-inf,b\n", 'Row 2, column "column 2" is -inf'),
    "missing": ("1,2,a\n3,,b\n5,6,b\n", "Row 2.*is empty"),
    "missing first": (",2,a\n3,4,b\n5,6,b\n", "Row 1.*is empty"),
    "no class": ("1,2,a\n3,4,\n5,6,b\n", "Row 2 has no class"),
    "word": ("1,2,a\n3,four,b\n5,6,b\n", 'Row 2.*"four" is not a number'),
    "one class": ("x1,x2,class\n1,2,a\n3,4,a\n", "one class"),
    "many classes": ("\n".join(f"1,{k},c{k}" for k in range(9)), "9 classes"),
    "many rows": ("\n".join(f"{k},1,{'ab'[k % 2]}" for k in range(100_000)), "100,000 rows"),
    "huge": ("1,2,a\n3,1e300,b\n", "too large"),
    "quote never closed": ('1,2,"a\n3,4,b\n5,6,c\n', "one class|no rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(name):
    data, expected = BAD[name]
    with pytest.raises(DataError, match=expected) as caught:
        from_csv(data)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 160


@given(
    st.one_of(
        st.binary(max_size=200), st.text(max_size=200), st.text('0123456789.,;\n"ab \t-e', max_size=200)
    )
)
def test_garbage_is_read_or_refused_but_never_breaks(data):
    try:
        points = from_csv(data).points
    except DataError:
        return
    assert np.isfinite(points).all()
