"""The four machines for many classes: their numbers against the estimators, and the points that are held out."""

import numpy as np
import pytest

from svmviz import ADSVC, MCSVC, OneVsOneSVC, OneVsRestSVC
from svmviz.datasets import PRESETS
from svmviz.errors import InvalidProblemError
from svmviz.kernels import make_kernel
from svmviz.ui import compare
from svmviz.ui.budget import pair_limit
from svmviz.ui.workspace import Workspace

NONE = np.zeros(0, bool)


def loaded(name, **changes):
    space = Workspace()
    space.load_preset(name)
    for field, value in changes.items():
        setattr(space, field, value)
    return space


def rows_of(space):
    return [(x, y, int(label)) for x, y, label in space.rows()]


def held_of(space, share=0.3):
    return compare.held_out(space.labels, share, np.array(compare.kept_draws(rows_of(space), [])))


def estimators(space):
    kernel = {
        "kernel": space.kernel, "gamma": space.gamma_value(), "degree": space.degree, "coef0": space.coef0,
        "tol": space.tol,
    }  # fmt: skip
    return [
        OneVsRestSVC(C=space.C, **kernel),
        OneVsOneSVC(C=space.C, **kernel),
        MCSVC(beta=1 / space.C, **kernel),
        ADSVC(mu=space.mu, rule=space.decision_rule, **kernel),
    ]


@pytest.mark.parametrize("rule", ["thesis", "nearest"])
@pytest.mark.parametrize("name", ["three_classes", "four_corners", "iris", "moons"])
def test_the_numbers_are_those_of_the_estimators(name, rule):
    space = loaded(name, decision_rule=rule)
    held = held_of(space)
    outcome = compare.compare(space, held)
    assert outcome.message is None
    X, y = space.points, space.labels
    n, classes = int((~held).sum()), len(np.unique(y))
    two = classes == 2
    sizes = [n if two else classes * n, (classes - 1) * n, classes * n, n]
    for rival, machine, size in zip(outcome.rivals, estimators(space), sizes, strict=True):
        machine.fit(X[~held], y[~held])
        assert rival.message is None
        assert rival.variables == size
        assert rival.pairs == machine.certificate_.iterations
        assert rival.seconds > 0
        wrong = machine.predict(X) != y
        if rival.title == "One against one" and not two:
            continue  # see the next test: a shared first place is decided by the values
        assert rival.train_wrong == wrong[~held].sum()
        assert rival.held_wrong == wrong[held].sum()


def regions(model, X):
    """Label and whether it is ambiguous, worked out from the model as the browser does."""
    spec, centres = model["kernel"], np.array(model["centres"])
    K = make_kernel(spec["name"], X, gamma=spec["gamma"], degree=spec["degree"], coef0=spec["coef0"])(
        X, centres
    )
    values = np.array([K @ f["coef"] + f["bias"] for f in model["functions"]]).T
    labels = sorted({label for f in model["functions"] for label in f["classes"]})
    if model["decision"] == "argmax":
        return np.array(labels)[values.argmax(axis=1)], (values > 0).sum(axis=1) != 1
    votes, sums = np.zeros((2, len(X), len(labels)))
    for f, value in zip(model["functions"], values.T, strict=True):
        a, b = map(labels.index, f["classes"])
        votes[:, a] += value <= 0
        votes[:, b] += value > 0
        sums[:, a] -= value
        sums[:, b] += value
    first = votes == votes.max(axis=1, keepdims=True)
    return np.array(labels)[np.where(first, sums, -np.inf).argmax(axis=1)], first.sum(axis=1) > 1


@pytest.mark.parametrize("name", ["three_classes", "four_corners", "wine"])
def test_errors_and_ambiguous_points_are_those_of_the_picture(name):
    space = loaded(name)
    held = held_of(space)
    for rival in compare.compare(space, held).rivals:
        drawn, unclear = regions(rival.model, space.points)
        wrong = drawn != space.labels
        assert (rival.train_wrong, rival.held_wrong) == (wrong[~held].sum(), wrong[held].sum())
        assert bool(rival.model.get("hatch")) == (rival.ambiguous is not None)
        if rival.ambiguous is not None:
            assert rival.ambiguous == unclear.sum()


def test_some_points_are_ambiguous_one_against_the_rest():
    space = loaded("four_corners")
    rest, one, *others = compare.compare(space, held_of(space)).rivals
    assert rest.ambiguous > 0
    assert one.ambiguous is not None
    assert [rival.ambiguous for rival in others] == [None, None]


# ---- held-out points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("name", ["three_classes", "iris", "unbalanced"])
def test_every_class_gives_its_share(name, share):
    space = loaded(name)
    held = held_of(space, share)
    for label in space.present():
        own = space.labels == label
        assert held[own].sum() == pytest.approx(share * own.sum(), abs=0.5)
        assert not held[own].all()


def test_a_class_of_one_point_is_trained_on():
    assert not compare.held_out(np.array([0, 0, 0, 1]), 0.5, np.zeros(4))[3]


def test_the_split_is_the_same_every_time():
    assert (held_of(loaded("iris")) == held_of(loaded("iris"))).all()


def changed_by(edit):
    """Points (that are still there) that an edit of one point moves between training and held out."""
    space = loaded("three_classes")
    before = rows_of(space)
    draws = compare.kept_draws(before, [])
    held = compare.held_out(space.labels, 0.3, np.array(draws))
    after = edit(before)
    now = compare.kept_draws(after, list(zip(before, draws, strict=True)))
    labels = np.array([label for _, _, label in after])
    held_now = dict(zip(after, compare.held_out(labels, 0.3, np.array(now)), strict=True))
    return sum(
        held_now[row] != was for row, was in zip(before, held, strict=True) if row in held_now
    ), held_now


def test_a_drag_changes_no_side():
    moved = (9.0, 9.0, 0)
    count, held = changed_by(lambda rows: [moved if k == 3 else row for k, row in enumerate(rows)])
    space = loaded("three_classes")
    assert count == 0
    assert held[moved] == held_of(space)[3]


@pytest.mark.parametrize("k", range(0, 90, 9))
def test_a_point_more_or_less_changes_at_most_one_other(k):
    assert changed_by(lambda rows: rows[:k] + rows[k + 1 :])[0] <= 1
    assert changed_by(lambda rows: [*rows, (8.0, 8.0, k % 3)])[0] <= 1


# ---- what cannot be compared -------------------------------------------------------------------------------


def test_one_class_is_a_sentence():
    space = loaded("overlapping")
    space.labels[:] = 0
    outcome = compare.compare(space, held_of(space))
    assert "second class" in outcome.message
    data = compare.stage_data(space, outcome, 600)
    assert all(panel["model"] is None and panel["message"] == outcome.message for panel in data["panels"])


def test_no_point_at_all_is_a_sentence():
    space = loaded("overlapping", points=np.empty((0, 2)), labels=np.empty(0, int))
    assert "Draw points" in compare.compare(space, NONE).message


def test_the_one_class_machine_of_the_workspace_does_not_matter():
    space = loaded("overlapping", classifier="one_class")
    space.labels[:] = 1
    assert compare.compare(space, held_of(space)).message


def test_a_curve_is_a_sentence():
    space = loaded("sine")
    outcome = compare.compare(space, held_of(space))
    assert "curve" in outcome.message
    assert not outcome.held.any()


def test_mu_is_moved_into_its_range_and_said():
    space = loaded("three_classes", mu=0.001)
    rival = compare.compare(space, held_of(space)).rivals[3]
    assert rival.message is None
    assert "least possible" in rival.note
    assert "least" not in compare.compare(loaded("three_classes"), held_of(space)).rivals[3].note


def test_beta_follows_C():
    space = loaded("three_classes", C=50.0)
    assert compare.compare(space, held_of(space)).rivals[2].note == "β = 1/C = 0.02"


def test_one_machine_that_fails_leaves_the_others(monkeypatch):
    def fail(machine, X, y):
        raise InvalidProblemError("There are too many points.")

    monkeypatch.setattr(MCSVC, "fit", fail)
    space = loaded("three_classes")
    outcome = compare.compare(space, held_of(space))
    assert [rival.model is None for rival in outcome.rivals] == [False, False, True, False]
    panel = compare.stage_data(space, outcome, 600)["panels"][2]
    assert "too many" in panel["message"]
    assert {row["value"] for row in panel["numbers"]} == {"–"}


def test_prototypes_in_one_place_decide_nothing():
    space = loaded("three_classes", kernel="linear", mu=1.0)
    space.labels = np.arange(len(space.labels)) % 3  # every class all over the plane: all hulls share a point
    outcome = compare.compare(space, held_of(space))
    rest, _, _, ad = outcome.rivals
    assert "coincide" in ad.message
    assert ad.model["regions"] is False
    assert ad.held_wrong is None
    values = {row["name"]: row["value"] for row in compare.numbers(outcome, ad)}
    assert values["Held-out error"] == values["Training error"] == "–"
    assert values["Variables"] == "63"
    assert compare.numbers(outcome, rest)


def test_a_kernel_without_a_feature_space_may_decide_all_the_same():
    space = loaded("overlapping", kernel="sigmoid")
    ad = compare.compare(space, held_of(space)).rivals[3]
    assert ad.message is None
    assert ad.train_wrong is not None


def test_a_hard_problem_stops_in_time_and_says_so():
    rng = np.random.default_rng(1)
    space = loaded("three_classes", C=1e5, kernel="poly", degree=9, gamma=1.0, tol=1e-9)
    space.points, space.labels = rng.normal(size=(200, 2)) * 10, rng.integers(0, 4, 200)
    outcome = compare.compare(space, held_of(space))
    values = [compare.numbers(outcome, rival)[1]["value"] for rival in outcome.rivals]
    assert max(rival.pairs for rival in outcome.rivals) <= pair_limit(1)
    assert any(value.endswith(", stopped") for value in values)


# ---- what is shown -----------------------------------------------------------------------------------------


def test_the_fewest_held_out_errors_are_marked_unless_all_are_equal():
    space = loaded("wine")
    outcome = compare.compare(space, held_of(space))
    wrong = [rival.held_wrong for rival in outcome.rivals]
    assert len(set(wrong)) > 1
    marked = [
        any(number.get("best") for number in compare.numbers(outcome, rival)) for rival in outcome.rivals
    ]
    assert marked == [count == min(wrong) for count in wrong]
    nothing_held = compare.compare(space, np.zeros(len(space.points), bool))
    assert not any(
        number.get("best") for rival in nothing_held.rivals for number in compare.numbers(nothing_held, rival)
    )


def test_the_words_say_what_hatching_means():
    three, two = loaded("three_classes"), loaded("moons")
    assert "ambiguous" in compare.words(compare.compare(three, held_of(three)), three)
    assert "third class" in compare.words(compare.compare(two, held_of(two)), two)


@pytest.mark.parametrize(("labels", "key"), [((0, 1), 3), ((0, 2), 2), ((4, 5), 1)])
def test_the_key_that_is_named_adds_a_class(labels, key):
    space = loaded("moons")
    space.labels = np.array(labels)[space.labels]
    text = compare.words(compare.compare(space, held_of(space)), space)
    assert f"choose {key} " in text
    assert key - 1 not in space.present()
    for name in ("three_classes", "four_corners", "iris"):
        assert PRESETS[name].title in text
    assert PRESETS["moons"].title not in text


def test_the_kernel_values_are_those_that_the_steps_read():
    space = loaded("three_classes")
    outcome = compare.compare(space, np.zeros(len(space.points), bool))
    for rival, machine in zip(outcome.rivals, estimators(space), strict=True):
        machine.fit(space.points, space.labels)
        assert rival.kernel_values == machine.certificate_.kernel_values > 0
    row = compare.numbers(outcome, outcome.rivals[0])[2]
    assert row["name"] == "Kernel values read"
    assert row["name"] in compare.words(outcome, space)
