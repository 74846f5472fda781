"""What is sent to the browser is what scikit-learn computes, and the table says what came out."""

import numpy as np
import pytest

from svmviz import datasets
from svmviz.datasets import PRESETS
from svmviz.ui import fitting, results
from svmviz.ui.fitting import fit
from svmviz.ui.workspace import KERNELS, Workspace


def loaded(name, **changes):
    space = Workspace()
    space.load_preset(name)
    for field, value in changes.items():
        setattr(space, field, value)
    return space


def kernel_values(spec, A, B):
    """The kernels once more, as the browser has them."""
    inner = A @ B.T
    difference = A[:, None, :] - B[None, :, :]
    return {
        "linear": lambda: inner,
        "poly": lambda: (spec["gamma"] * inner + spec["coef0"]) ** spec["degree"],
        "rbf": lambda: np.exp(-spec["gamma"] * (difference**2).sum(axis=2)),
        "laplacian": lambda: np.exp(-spec["gamma"] * np.abs(difference).sum(axis=2)),
        "sigmoid": lambda: np.tanh(spec["gamma"] * inner + spec["coef0"]),
    }[spec["name"]]()


def values(model, X):
    """Every decision function of a model at X, (functions, n)."""
    K = kernel_values(model["kernel"], X, np.array(model["centres"]).reshape(-1, X.shape[1]))
    return np.array([K @ np.array(f["coef"]) + f["bias"] for f in model["functions"]])


@pytest.mark.parametrize("name", PRESETS)
def test_the_model_of_every_preset_agrees_with_scikit_learn(name):
    svm = pytest.importorskip("sklearn.svm")
    space = loaded(name, tol=1e-6)
    outcome = fit(space)
    assert outcome.message is None
    shared = {
        "kernel": space.kernel,
        "gamma": space.gamma_value(),
        "degree": space.degree,
        "coef0": space.coef0,
        "C": space.C,
        "tol": 1e-8,
    }
    if space.task == "regression":
        X = space.points[:, :1]
        machine = svm.SVR(**shared, epsilon=space.epsilon).fit(X, space.points[:, 1])
        assert values(outcome.model, X)[0] == pytest.approx(machine.predict(X), abs=1e-3)
        return
    machine = svm.SVC(**shared, decision_function_shape="ovo").fit(space.points, space.labels)
    expected = machine.decision_function(space.points)
    expected = expected[None] if expected.ndim == 1 else -expected.T
    for ours, theirs, result in zip(
        values(outcome.model, space.points), expected, outcome.machines, strict=True
    ):
        shift = (
            0.0 if result.n_free else np.median(theirs - ours)
        )  # without a free multiplier the bias is open
        assert ours + shift == pytest.approx(theirs, abs=5e-3)
        assert result.bias_interval[0] - 5e-3 <= result.bias + shift <= result.bias_interval[1] + 5e-3


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["overlapping", "three_classes", "sine"])
def test_every_kernel_gives_a_model_of_the_agreed_form(name, kernel):
    space = loaded(name, kernel=kernel)
    outcome = fit(space)
    model = outcome.model
    assert model["for"] == 0
    assert model["kernel"] == {
        "name": kernel,
        "gamma": space.gamma_value(),
        "degree": space.degree,
        "coef0": 1.0,
    }
    assert len(model["status"]) == len(space.points)
    assert set(model["status"]) <= {0, 1, 2}
    assert all(len(f["coef"]) == len(model["centres"]) for f in model["functions"])
    assert np.count_nonzero(model["status"]) == len(model["centres"])
    assert model["decision"] == ("tube" if name == "sine" else "vote")
    assert model["epsilon"] == (space.epsilon if name == "sine" else None)
    assert [f["classes"] for f in model["functions"]] == (
        [[0, 1], [0, 2], [1, 2]] if name == "three_classes" else [[0, 1]]
    )


def test_classes_without_points_are_left_out():
    space = loaded("overlapping")
    space.labels = space.labels * 3 + 1
    model = fit(space).model
    assert model["functions"][0]["classes"] == [1, 4]


def test_status_marks_the_bound():
    outcome = fit(loaded("overlapping"))
    status = np.array(outcome.model["status"])
    machine = outcome.machines[0]
    assert (status == 1).sum() == machine.n_free
    assert (status == 2).sum() == machine.n_bounded
    coef = np.abs(outcome.model["functions"][0]["coef"])
    assert np.sum(coef == 1.0) == machine.n_bounded


def test_the_margin_is_two_over_the_norm_of_w():
    outcome = fit(loaded("separable", tol=1e-6))
    model = outcome.model
    w = np.array(model["functions"][0]["coef"]) @ np.array(model["centres"])
    assert outcome.machines[0].margin == pytest.approx(2 / np.linalg.norm(w), rel=1e-5)
    assert fit(loaded("sine")).machines[0].margin is None


def test_without_a_free_multiplier_the_bias_is_an_interval():
    space = loaded("overlapping")
    space.points, space.labels = np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1])
    space.C = 0.01
    outcome = fit(space)
    assert outcome.machines[0].n_free == 0
    low, high = outcome.machines[0].bias_interval
    assert low < high
    assert "no multiplier is free" in results.table(outcome)


def test_points_that_cannot_be_fitted_give_one_sentence():
    space = loaded("overlapping")
    space.labels[:] = 0
    outcome = fit(space)
    assert outcome.model is None
    assert outcome.message.endswith("click.")


def test_a_kernel_that_is_not_psd_is_said_to_be():
    text = results.table(fit(loaded("moons", kernel="sigmoid", gamma=2.0, coef0=-1.0, C=10.0)))
    assert "stationary" in text
    assert "not positive semidefinite" in text


def test_a_hard_problem_stops_in_time_and_says_so():
    rng = np.random.default_rng(1)
    space = loaded("overlapping", C=1e5, kernel="poly", degree=9, gamma=1.0, tol=1e-9)
    space.points, space.labels = rng.normal(size=(200, 2)) * 10, rng.integers(0, 2, 200)
    outcome = fit(space)
    assert outcome.certificate.iterations <= fitting.PAIR_LIMIT
    assert outcome.certificate.status != "optimal"
    assert "after" in results.table(outcome)


def test_overflow_becomes_a_sentence_or_a_result_but_no_exception():
    space = loaded("overlapping", kernel="poly", degree=10, gamma=100.0)
    space.points = space.points * 1e12
    outcome = fit(space)
    assert outcome.message or outcome.model


def test_names_are_escaped():
    space = loaded("three_classes")
    space.classes = ("<b>", "&", *space.classes[2:])
    text = results.table(fit(space))
    assert "&lt;b&gt; / &amp;" in text
    assert "<b>" not in text


def test_the_fingerprint_follows_everything_that_matters():
    space = loaded("moons")
    seen = {fitting.fingerprint(space)}
    for name, value in {
        "C": 3.0,
        "kernel": "poly",
        "gamma": 0.1,
        "degree": 4,
        "coef0": 0.0,
        "tol": 0.1,
        "classifier": "ad_svm",
        "loss": "squared",
        "nu": 0.3,
        "mu": 0.3,
        "beta": 2.0,
        "decision_rule": "nearest",
        "pair_weights": {(0, 1): 2.0},
        "n_prototypes": 2,
    }.items():
        setattr(space, name, value)
        seen.add(fitting.fingerprint(space))
    space.points = space.points + 1
    seen.add(fitting.fingerprint(space))
    assert len(seen) == 16


def test_the_board_gets_what_was_agreed():
    space = loaded("iris")
    data = fitting.board_data(space, fit(space), 600)
    assert data["mode"] == "board"
    assert len(data["points"]) == 150
    assert data["points"][0][2] == 0
    assert data["classes"][:3] == list(datasets.class_names("iris"))
    assert len(data["view"]) == 4
