"""Warm starts: every change of a parameter, for every machine, from where the last run ended."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import optimum

from svmviz import InvalidProblemError
from svmviz.kernels import GaussianKernel
from svmviz.smo import (
    SMO,
    SMOClassifier,
    SMOMultiClass,
    SMONuClassifier,
    SMONuRegression,
    SMOOneClass,
    SMOReducedHulls,
    SMORegression,
)

SQUARED_HINGE, SQUARED_TUBE = {"loss": "squared_hinge"}, {"loss": "squared_epsilon_insensitive"}


@dataclass(frozen=True)
class Case:
    """A machine: how to make it, its two classes or more or targets, and the range of each parameter."""

    machine: type[SMO]
    y: str | None
    ranges: dict[str, tuple[float, float]]
    more: dict
    grid: tuple[str, float, float]

    def data(self, n: int, rng: np.random.Generator) -> dict:
        """Overlapping clouds, as many as there are classes, with equal numbers; targets on a noisy wave."""
        codes = np.arange(n) % (3 if self.y == "three" else 2)
        X = rng.normal(size=(n, 2)) + 1.5 * np.array([[0, 0], [1, 1], [-1, 1]])[codes]
        labels = {"two": codes, "three": codes, "targets": np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)}
        y = {} if self.y is None else {"y": labels[self.y]}
        return {"X": X, "kernel": GaussianKernel(0.5), **y, **self.more}


C, WIDTH, SHARE = (1e-3, 1e3), (0.0, 3.0), (1e-3, 1.0)
CASES = {
    "SVC": Case(SMOClassifier, "two", {"C": C}, {}, ("C", 0.1, 100)),
    "SVC squared": Case(SMOClassifier, "two", {"C": C}, SQUARED_HINGE, ("C", 0.1, 100)),
    "SVR": Case(SMORegression, "targets", {"C": C, "epsilon": WIDTH}, {}, ("C", 0.1, 100)),
    "SVR epsilon": Case(SMORegression, "targets", {"epsilon": WIDTH}, {}, ("epsilon", 0.01, 1)),
    "SVR squared": Case(SMORegression, "targets", {"C": C, "epsilon": WIDTH}, SQUARED_TUBE, ("C", 0.1, 100)),
    "nu-SVC": Case(SMONuClassifier, "two", {"nu": SHARE}, {}, ("nu", 0.1, 0.9)),
    "nu-SVR": Case(SMONuRegression, "targets", {"C": C, "nu": SHARE}, {}, ("nu", 0.1, 0.9)),
    "nu-SVR C": Case(SMONuRegression, "targets", {"C": C}, {}, ("C", 0.1, 100)),
    "one-class": Case(SMOOneClass, None, {"nu": SHARE}, {}, ("nu", 0.1, 0.9)),
    "mu-SVM": Case(SMOReducedHulls, "two", {"mu": (1 / 12, 1.0)}, {}, ("mu", 0.04, 0.2)),
    "AD-SVM": Case(SMOReducedHulls, "three", {"mu": (1 / 8, 1.0)}, {}, ("mu", 0.06, 0.2)),
    "AD-SVM weighted": Case(
        SMOReducedHulls,
        "three",
        {"mu": (1 / 8, 1.0)},
        {"pair_weights": np.array([[0, 2.0, 0], [2.0, 0, 0], [0, 0, 0]])},
        ("mu", 0.06, 0.2),
    ),
    "MC-SVM": Case(SMOMultiClass, "three", {"beta": C}, {}, ("beta", 0.01, 10)),
}
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def change(machine, name, value):
    """Call the setter of a parameter."""
    assert getattr(machine, f"set_{name}")(value) is machine
    assert getattr(machine, name) == value


def assert_followed_exactly(machine):
    """Box and sums hold, and the gradient is that of the multipliers."""
    problem, z = machine._problem, machine._z
    assert (z >= problem.lo).all()
    assert (z <= problem.hi).all()
    sums = np.add.reduceat(z, problem.starts)
    assert (np.abs(sums - problem.sums) <= 1e-9 * np.add.reduceat(np.abs(z), problem.starts) + 1e-300).all()
    fresh = machine._hessian.gradient(z)
    allowed = 100 * machine._hessian.rounding(z) + 1e-14 * np.abs(fresh).max()
    assert (np.abs(machine._gradient - fresh) <= allowed).all()
    np.testing.assert_array_equal(machine.alphas, np.abs(z))
    np.testing.assert_array_equal(machine.gradient, machine._signs * machine._gradient)


def assert_same_optimum(one, other):
    """Each certificate's lower bound is below the other's objective."""
    rounding = 1e-13 * (abs(one.objective) + abs(other.objective))
    assert one.lower_bound <= other.objective + rounding
    assert other.lower_bound <= one.objective + rounding


def values_of(low, high):
    """Values of a range: its ends, 1 (which may be the one it has), or between, evenly in decades."""
    least = max(low, 1e-3 * high)
    between = st.floats(np.log(least), np.log(high)).map(lambda v: float(np.clip(np.exp(v), low, high)))
    return st.one_of(st.sampled_from([low, high]), between)


def changes_of(case):
    """Sequences of (name, value, whether to minimise then)."""
    each = [
        st.tuples(st.just(name), values_of(*ends), st.sampled_from([True, True, False]))
        for name, ends in case.ranges.items()
    ]
    return st.lists(st.one_of(each), min_size=1, max_size=5)


@EVERY
@settings(max_examples=20)
@given(data=st.data())
def test_any_sequence_of_changes_is_followed_exactly_and_ends_at_the_optimum(case, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    made = case.data(24, rng)
    parameters = {name: data.draw(values_of(*ends)) for name, ends in case.ranges.items()}
    machine = case.machine(**made, **parameters, tol=1e-8).minimize()
    for name, value, go_on in data.draw(changes_of(case)):
        parameters[name] = value
        change(machine, name, value)
        assert_followed_exactly(machine)
        if go_on:
            machine.minimize()
    warm = machine.minimize().certificate
    cold = case.machine(**made, **parameters, tol=1e-8).minimize().certificate
    assert warm.status == cold.status
    assert_same_optimum(warm, cold)
    best = optimum(machine._problem, machine._hessian)
    if best.solved:
        slack = 1e-8 * max(1e-4, abs(best.value))
        assert warm.lower_bound <= best.value + slack
        assert best.lower <= warm.objective + slack


@EVERY
def test_a_change_reads_no_kernel_value(case):
    name, low, high = case.grid
    machine = case.machine(**case.data(120, np.random.default_rng(0)), **{name: low}).minimize()
    for used in (machine._problem.n * len(machine.X), 0):  # the Gram matrix may be read once a side
        for value in (high, 0.5 * (low + high), low):
            change(machine, name, value)
            assert machine._hessian.used <= used
            machine.minimize()


@EVERY
def test_at_the_optimum_no_pair_is_taken(case):
    name, low, high = case.grid
    middle = float(np.sqrt(low * high))
    machine = case.machine(**case.data(60, np.random.default_rng(1)), **{name: middle}, tol=1e-6).minimize()
    pairs, alphas = machine.n_iter, machine.alphas
    assert pairs > 0
    change(machine, name, middle)
    assert machine.minimize().n_iter == pairs
    # However far it went in between: as long as nothing was minimised there, back is back.
    for value in (high, low, high, middle):
        change(machine, name, value)
    np.testing.assert_allclose(machine.alphas, alphas, rtol=1e-14)  # but for what sums get back from rounding
    assert machine.minimize().n_iter == pairs


def run(make, name, values):
    """Pairs and certificates of a machine that is led through these values."""
    machine, certificates = make(values[0]), []
    for value in values:
        change(machine, name, value)
        certificates.append(machine.minimize().certificate)
        assert certificates[-1].status == "optimal"
    return machine.n_iter, certificates


@EVERY
def test_a_grid_takes_fewer_pairs_than_from_scratch(case):
    name, low, high = case.grid
    made = case.data(120, np.random.default_rng(2))
    values = [float(v) for v in np.geomspace(low, high, 30)]

    def make(value):
        return case.machine(**made, **{name: value}, tol=1e-6)

    cold = [make(value).minimize() for value in values]
    pairs = sum(machine.n_iter for machine in cold)
    for order in (slice(None), slice(None, None, -1)):
        warm, certificates = run(make, name, values[order])
        assert warm < pairs
        for certificate, machine in zip(certificates, cold[order], strict=True):
            assert_same_optimum(certificate, machine.certificate)


def test_a_hundred_values_of_C_take_less_than_a_quarter_of_the_pairs():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-0.8, 1, (250, 2)), rng.normal(0.8, 1, (250, 2))])
    made = {"X": X, "y": np.repeat([-1, 1], 250), "kernel": GaussianKernel(1.0), "tol": 1e-6}
    values = [float(v) for v in np.geomspace(0.1, 1000, 100)]
    K = made["kernel"](X, X)

    def make(value):
        return SMOClassifier(**made, C=value, K=K)

    cold = [make(value).minimize() for value in values]
    pairs = sum(machine.n_iter for machine in cold)
    for order in (slice(None), slice(None, None, -1)):
        warm, certificates = run(make, "C", values[order])
        assert warm < 0.25 * pairs
        for certificate, machine in zip(certificates, cold[order], strict=True):
            other = machine.certificate
            assert certificate.objective <= other.objective + certificate.gap + other.gap


@pytest.mark.parametrize("case", ["SVC squared", "SVR squared", "nu-SVR"])
def test_C_over_many_decades_and_back(case):
    case = CASES[case]
    made = {**case.data(40, np.random.default_rng(7)), "tol": 1e-6}
    machine = case.machine(**made)
    for C in (1.0, 1e-59, 1e5, 1e-10, 1e58, 1e-3, 1e3):
        change(machine, "C", C)
        assert_followed_exactly(machine)
        if C <= 1e5:
            cold = case.machine(**made, C=C).minimize().certificate
            assert_same_optimum(machine.minimize().certificate, cold)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("case", ["SVC squared", "SVR squared", "one-class", "MC-SVM", "AD-SVM"])
def test_a_kernel_that_is_not_positive_semidefinite(case):
    """Where the objective has no minimum a run may end anywhere; what comes after it is sound again."""
    case = CASES[case]
    name, low, high = case.grid
    made = {**case.data(40, np.random.default_rng(8)), "kernel": "sigmoid"}
    made["X"] = 3 * made["X"]
    least = {"mu": 1 / 13, "C": 1e-3}.get(name, low)
    machine = case.machine(**made, **{name: least})
    for value in (1e3 if name == "C" else high, 1e2 if name == "C" else high, least):
        change(machine, name, value)
        machine.minimize()
        assert np.isfinite(machine.alphas).all()
    cold = case.machine(**made, **{name: least}).minimize().certificate
    assert machine.certificate.status == cold.status == "stationary"
    if name == "C":  # so small that the added diagonal makes up for the kernel
        assert machine.certificate.objective == pytest.approx(cold.objective, rel=1e-6)


@pytest.mark.parametrize(
    ("case", "name", "bad", "message"),
    [
        ("nu-SVC", "nu", [0.0, 1.5, -1, np.nan, "a"], "nu must"),
        ("nu-SVR", "nu", [0.0, 1.5, np.nan], "nu must"),
        ("nu-SVR", "C", [0.0, -1, np.inf, None], "C must"),
        ("one-class", "nu", [0.0, 1.0001, np.nan], "nu must"),
        ("mu-SVM", "mu", [0.01, 0.0, -1, np.nan, "a"], "mu must"),
        ("AD-SVM", "mu", [0.04], r"mu must be at least 0\.05"),
        ("MC-SVM", "beta", [0.0, -1, np.nan, "a", 1e-300], "beta must|coupling"),
        ("SVC squared", "C", [0.0, 1e-100, "a"], "C must"),
    ],
)
def test_what_cannot_be_used_leaves_everything_as_it_was(case, name, bad, message):
    case = CASES[case]
    machine = case.machine(**case.data(60, np.random.default_rng(3))).minimize()
    before, objective, alphas = getattr(machine, name), machine.certificate.objective, machine.alphas
    for value in bad:
        with pytest.raises(InvalidProblemError, match=message):
            getattr(machine, f"set_{name}")(value)
        assert getattr(machine, name) == before
    np.testing.assert_array_equal(machine.alphas, alphas)
    pairs = machine.n_iter
    again = machine.minimize().certificate.objective  # from a fresh gradient
    assert again == pytest.approx(objective, rel=1e-9)
    assert machine.n_iter == pairs


def test_nu_above_what_unequal_classes_allow():
    rng = np.random.default_rng(4)
    machine = SMONuClassifier(X=rng.normal(size=(20, 2)), y=np.arange(20) < 4, nu=0.3)
    with pytest.raises(InvalidProblemError, match=r"at most 0\.4"):
        machine.set_nu(0.41)
    assert machine.nu == 0.3
    assert machine.set_nu(0.4).minimize().certificate.status == "optimal"


@EVERY
def test_before_the_first_run_and_amid_one(case):
    name, low, high = case.grid
    made = case.data(60, np.random.default_rng(5))
    machine = case.machine(**made, **{name: low}, tol=1e-6)
    change(machine, name, high)
    assert_followed_exactly(machine)
    np.testing.assert_array_equal(machine.alphas, case.machine(**made, **{name: high}).alphas)
    open_steps = machine.steps()
    for _ in range(5):
        next(open_steps)
    change(machine, name, low)
    assert_followed_exactly(machine)
    assert list(open_steps) == []
    assert machine.n_iter == 5
    cold = case.machine(**made, **{name: low}, tol=1e-6).minimize().certificate
    assert_same_optimum(machine.minimize().certificate, cold)


def test_what_the_other_machines_have_to_say():
    hulls, classes = CASES["AD-SVM"], CASES["MC-SVM"]
    machine = hulls.machine(**hulls.data(60, np.random.default_rng(6)), mu=0.1).minimize()
    assert machine.prototypes.coef.shape == (3, 60)
    np.testing.assert_allclose(machine.prototypes.coef.sum(axis=0)[machine.samples], machine.alphas)
    machine = classes.machine(**classes.data(60, np.random.default_rng(6))).minimize()
    scores = machine.coef @ machine.K
    assert (scores.argmax(axis=0) == np.arange(60) % 3).mean() > 0.7
    made = CASES["nu-SVR"].data(60, np.random.default_rng(6))
    machine = SMONuRegression(**made, nu=0.3, tol=1e-8).minimize()
    residuals = np.abs(made["y"] - machine.expansion.coef @ machine.K - machine.b)
    assert (residuals > machine.epsilon + 1e-6).mean() <= 0.3 <= (residuals > machine.epsilon - 1e-6).mean()
    assert SMOOneClass(X=made["X"], nu=0.2).minimize().w.shape == (2,)
