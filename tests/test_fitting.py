"""What is sent to the browser is what scikit-learn computes, and the table says what came out."""

from typing import get_args

import numpy as np
import pytest
import streamlit as st
from test_compare import regions

from svmviz import ADSVC, MCSVC, SVC, SVR, NuSVC, NuSVR, OneClassSVM, datasets
from svmviz.datasets import PRESETS
from svmviz.problem import Certificate, Status
from svmviz.ui import budget, compare, fitting, models, results
from svmviz.ui.board import Edit
from svmviz.ui.fitting import fit
from svmviz.ui.workspace import CLASSIFIERS, KERNELS, REGRESSORS, Workspace


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


ESTIMATORS = {
    "svc": lambda space: SVC(
        C=space.C,
        loss="squared_hinge" if space.loss == "squared" else "hinge",
        decision_function_shape="ovo",
    ),
    "nu_svc": lambda space: NuSVC(nu=space.nu, decision_function_shape="ovo"),
    "one_class": lambda space: OneClassSVM(nu=space.nu),
    "mu_svm": lambda space: ADSVC(mu=space.mu),  # of two classes: the line that bisects the link
    "ad_svm": lambda space: ADSVC(
        mu=space.mu,
        rule=space.decision_rule,
        n_prototypes=space.n_prototypes,
        pair_weights=space.weights_table(space.present()),
    ),
    "mc_svm": lambda space: MCSVC(beta=space.beta),
    "svr": lambda space: SVR(
        C=space.C,
        epsilon=space.epsilon,
        loss="squared_epsilon_insensitive" if space.loss == "squared" else "epsilon_insensitive",
    ),
    "nu_svr": lambda space: NuSVR(C=space.C, nu=space.nu),
}


def estimator(space):
    """The workspace's machine, trained without the workspace's help, and the samples it saw."""
    machine = ESTIMATORS[space.machine](space)
    machine.set_params(
        kernel=space.kernel, gamma=space.gamma_value(), degree=space.degree, coef0=space.coef0, tol=space.tol
    )
    if space.task == "regression":
        X = space.points[:, :1]
        return machine.fit(X, space.points[:, 1]), X
    rows = np.isin(space.labels, space.present_pair()) if space.machine == "mu_svm" else slice(None)
    return machine.fit(space.points[rows], space.labels[rows]), space.points


def decisions(model, X):
    """What the browser computes from a model, in the shape of decision_function."""
    found = values(model, X)
    if model["decision"] == "argmax":
        owners = [f["classes"][0] for f in model["functions"]]
        best = np.array([found[[o == c for o in owners]].max(axis=0) for c in sorted(set(owners))])
        return best[1] - best[0] if len(best) == 2 else best.T
    return found[0] if len(found) == 1 else -found.T


CASES = [
    ("nu_svc", "overlapping", {"nu": 0.5}),
    *((name, example, {}) for name in CLASSIFIERS for example in ("moons", "three_classes")),
    ("ad_svm", "three_classes", {"decision_rule": "nearest", "pair_weights": {(0, 2): 3.0}}),
    ("ad_svm", "moons", {"n_prototypes": 2}),
    ("ad_svm", "three_classes", {"n_prototypes": 2, "kernel": "linear"}),
    *((name, "sine", {}) for name in REGRESSORS),
    *((name, example, {"loss": "squared"}) for name, example in [("svc", "moons"), ("svr", "sine")]),
]


@pytest.mark.parametrize(("machine", "example", "changes"), CASES)
def test_the_model_of_every_machine_is_that_of_its_estimator(machine, example, changes):
    name = "regressor" if machine in REGRESSORS else "classifier"
    space = loaded(example, **{name: machine}, **changes)
    outcome = fit(space)
    assert outcome.message is None
    trained, X = estimator(space)
    theirs = trained.predict(X) if space.task == "regression" else trained.decision_function(X)
    np.testing.assert_allclose(decisions(outcome.model, X), theirs, atol=1e-9)
    assert outcome.certificate.objective == pytest.approx(trained.certificate_.objective)
    status = np.array(outcome.model["status"])
    assert np.count_nonzero(status) == len(outcome.model["centres"])
    assert set(status.tolist()) <= {0, 1, 2}
    table = results.table(outcome)
    assert "Duality gap" in table
    assert "Status" in table
    assert "nan" not in table


def facts(outcome):
    return dict(outcome.facts)


def test_one_class_is_enough_for_the_one_class_machine():
    space = loaded("moons", classifier="one_class", nu=0.3)
    space.labels[:] = 4
    outcome = fit(space)
    assert outcome.model["decision"] == "inside"
    assert outcome.model["functions"][0]["classes"] == [4]
    outside = int(facts(outcome)["Outside"].split()[0])
    assert 0 < outside <= 0.3 * len(space.points)
    space.points, space.labels = space.points[:1], space.labels[:1]
    assert fit(space).message is None
    space.points, space.labels = space.points[:0], space.labels[:0]
    assert fit(space).message.endswith(".")


def test_the_mu_svm_takes_the_chosen_pair():
    space = loaded("three_classes", classifier="mu_svm", pair=(1, 2))
    outcome = fit(space)
    assert outcome.model["functions"][0]["classes"] == [1, 2]
    assert not np.array(outcome.model["status"])[space.labels == 0].any()
    assert facts(outcome)["Two classes"] == "B / C"


def test_the_margin_of_nu_svc_is_two_over_the_norm_of_w():
    space = loaded("separable", classifier="nu_svc", kernel="linear", tol=1e-8)
    outcome = fit(space)
    w = np.array(outcome.model["functions"][0]["coef"]) @ np.array(outcome.model["centres"])
    assert outcome.machines[0].margin == pytest.approx(2 / np.linalg.norm(w), rel=1e-4)


@pytest.mark.parametrize("machine", ["nu_svc", "mu_svm"])
def test_hulls_that_meet_have_no_margin_and_say_so(machine):
    space = loaded("xor", classifier=machine, kernel="linear", nu=0.05, mu=1.0)
    outcome = fit(space)
    assert outcome.model["regions"] is False
    assert outcome.note.endswith(".")
    assert fitting.board_data(space, outcome, 600)["message"] == outcome.note
    assert "hulls meet" in results.table(outcome)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"classifier": "nu_svc", "nu": 1.0}, "nu must be"),
        ({"classifier": "mu_svm", "mu": 0.001}, "0.02 is the smallest"),
        ({"classifier": "ad_svm", "mu": 0.001}, "0.02 is the smallest"),
        ({"classifier": "ad_svm", "n_prototypes": 5, "mu": 0.02}, "0.1 is the smallest"),
    ],
)
def test_what_is_not_feasible_gets_one_sentence_with_the_range(changes, word):
    space = loaded("overlapping", **changes)
    if changes["classifier"] == "nu_svc":
        space.points, space.labels = space.points[:-5], space.labels[:-5]
    points = space.points
    outcome = fit(space)
    assert outcome.model is None
    assert word in outcome.message
    assert outcome.message.endswith(".")
    assert space.points is points


def test_several_prototypes_are_named_by_their_classes():
    outcome = fit(loaded("three_classes", classifier="ad_svm", n_prototypes=2))
    assert outcome.table[0] == ("Distance of prototypes", "A 2", "B 1", "B 2", "C 1", "C 2")
    assert [line[0] for line in outcome.table[1:]] == ["A 1", "A 2", "B 1", "B 2", "C 1"]
    assert fit(loaded("overlapping", classifier="ad_svm")).table == ()


def test_the_tube_of_nu_svr_is_the_one_that_nu_has_found():
    space = loaded("sine", regressor="nu_svr", nu=0.5, epsilon=99.0)
    outcome = fit(space)
    assert 0 < outcome.model["epsilon"] < 2
    assert float(facts(outcome)["ε that ν has found"]) == pytest.approx(outcome.model["epsilon"], rel=1e-4)


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
    outcome = fit(loaded("separable", tol=1e-6, loss="squared"))
    w = np.array(outcome.model["functions"][0]["coef"]) @ np.array(outcome.model["centres"])
    assert outcome.machines[0].margin == pytest.approx(2 / np.linalg.norm(w), rel=1e-4)


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
    assert outcome.message.endswith("pick it above the plane.")


def test_a_kernel_that_is_not_psd_is_said_to_be():
    text = results.table(fit(loaded("moons", kernel="sigmoid", gamma=2.0, coef0=-1.0, C=10.0)))
    assert "stationary" in text
    assert "not positive semidefinite" in text


def test_a_hard_problem_stops_in_time_and_says_so():
    rng = np.random.default_rng(1)
    space = loaded("overlapping", C=1e5, kernel="poly", degree=9, gamma=1.0, tol=1e-9)
    space.points, space.labels = rng.normal(size=(200, 2)) * 10, rng.integers(0, 2, 200)
    outcome = fit(space)
    assert outcome.certificate.iterations <= budget.pair_limit(200)
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
        "pair": (0, 2),
    }.items():
        setattr(space, name, value)
        seen.add(fitting.fingerprint(space))
    space.points = space.points + 1
    seen.add(fitting.fingerprint(space))
    assert len(seen) == 17


def test_an_edit_that_changes_nothing_is_not_fitted_again(monkeypatch):
    calls = []
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(fitting, "train", lambda space: calls.append(space.seq) or models.train(space))
    space = loaded("moons")
    for seq in (1, 2):
        space.apply_edit(Edit(space.revision, seq, space.rows()))
        data = fitting.board_data(space, fitting.cached(space), 600)
        assert data["model"]["for"] == seq
    assert calls == [1]


def test_the_board_gets_what_was_agreed():
    space = loaded("iris")
    data = fitting.board_data(space, fit(space), 600)
    assert data["mode"] == "board"
    assert len(data["points"]) == 150
    assert data["points"][0][2] == 0
    assert data["classes"][:3] == list(datasets.class_names("iris"))
    assert len(data["view"]) == 4


@pytest.mark.parametrize("machine", ["nu_svc", "mu_svm", "ad_svm"])
def test_a_kernel_without_a_feature_space_has_no_hulls_that_meet(machine):
    outcome = fit(loaded("overlapping", classifier=machine, kernel="sigmoid"))
    assert np.isinf(outcome.certificate.gap)
    assert "not positive semidefinite" in outcome.note
    assert outcome.note.endswith(".")
    assert "meet" not in outcome.note + results.table(outcome)
    assert outcome.model.get("regions", True) == (outcome.certificate.objective > 0)
    assert bool(outcome.error) == (outcome.certificate.objective > 0)


def test_the_training_error_is_that_of_the_picture():
    rng = np.random.default_rng(3)
    space = loaded("three_classes", kernel="rbf", gamma=0.5)
    space.points, space.labels = rng.normal(size=(60, 2)), np.arange(60) % 4
    outcome = fit(space)
    drawn, _ = regions(outcome.model, space.points)
    wrong = int(np.sum(drawn != space.labels))
    assert wrong != np.sum(estimator(space)[0].predict(space.points) != space.labels)  # a tie is among them
    assert outcome.error.startswith(f"{wrong} of 60")
    rivals = compare.compare(space, np.zeros(60, bool)).rivals
    assert rivals[1].train_wrong == wrong


def test_every_end_of_the_solver_has_words():
    for status in get_args(Status):
        certificate = Certificate(1.0, 0.1, 0.1, status, 5)
        assert results.status(certificate)
        assert results.ENDS[status]


def test_the_mu_svm_with_whole_hulls_is_the_hard_margin_machine():
    space = loaded("separable", classifier="mu_svm", mu=1.0, kernel="linear", tol=1e-8)
    model, X = fit(space).model, space.points
    hard = SVC(C=1e6, kernel="linear", tol=1e-8).fit(X, space.labels)
    level = model["levels"][1]
    np.testing.assert_allclose(decisions(model, X) / level, hard.decision_function(X), atol=1e-4)


def test_one_class_without_a_direction_draws_no_border():
    space = loaded("overlapping", classifier="one_class", kernel="linear", nu=0.2)
    outcome = fit(space)
    assert outcome.model["regions"] is False
    assert "choose another kernel" in outcome.note
