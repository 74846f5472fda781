"""SMOClassifier and SMORegression: the names of the first source document."""

import numpy as np
import pytest

from svmviz import SVC, SVR, InvalidProblemError
from svmviz.kernels import GaussianKernel
from svmviz.smo import SMO, SMOClassifier, SMORegression

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(-0.8, 1, (40, 2)), RNG.normal(0.8, 1, (40, 2))])
Y = np.repeat([-1.0, 1.0], 40)
T = X[:, 0] + 0.2 * RNG.normal(size=80)
GAUSS = GaussianKernel(0.5)


def gradient_from_scratch(signs, K, alphas, q):
    return signs * (K @ (signs * alphas)) + q


def test_classifier():
    machine = SMOClassifier(X=X, y=Y, kernel=GAUSS, C=2.0, tol=1e-8)
    assert isinstance(machine, SMO)
    assert machine.minimize() is machine
    other = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, Y)
    spread = np.zeros(80)
    spread[other.support_] = other.dual_coef_[0]
    np.testing.assert_allclose(Y * machine.alphas, spread, atol=1e-6)
    assert machine.b == pytest.approx(other.intercept_[0], abs=1e-7)
    assert machine.n_iter > 0
    assert machine.certificate.status == "optimal"
    K = GAUSS(X, X)
    np.testing.assert_allclose(machine.gradient, gradient_from_scratch(Y, K, machine.alphas, -1.0), atol=1e-9)
    with pytest.raises(AttributeError, match="linear"):
        _ = machine.w


def test_weights_with_the_linear_kernel():
    machine = SMOClassifier(X=X, y=Y, C=1.0, tol=1e-8).minimize()
    other = SVC(kernel="linear", tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(machine.w, other.dual_coef_[0] @ other.support_vectors_, atol=1e-6)


def test_regression():
    machine = SMORegression(X=X, y=T, kernel=GAUSS, C=2.0, epsilon=0.1, tol=1e-8).minimize()
    other = SVR(C=2.0, gamma=0.5, epsilon=0.1, tol=1e-8).fit(X, T)
    alphas = machine.alphas
    assert alphas.shape == (160,)
    coef = alphas[:80] - alphas[80:]
    np.testing.assert_allclose(GAUSS(X, X) @ coef + machine.b, other.predict(X), atol=1e-6)
    q = np.concatenate([0.1 - T, 0.1 + T])
    signs = np.repeat([1.0, -1.0], 80)
    K = np.tile(GAUSS(X, X), (2, 2))
    np.testing.assert_allclose(machine.gradient, gradient_from_scratch(signs, K, alphas, q), atol=1e-9)


def test_positional_order_of_the_document():
    class Quad:
        calls = 0

        def function(self, alphas):
            self.calls += 1
            return float(alphas.sum())

    quad = Quad()
    machine = SMOClassifier(quad, X, Y, GAUSS(X, X), GAUSS, 2.0, 1e-6, 5).minimize()
    assert quad.calls == -(-machine.n_iter // 5)
    assert machine.tol == 1e-6


def test_verbose_prints_iteration_and_cost(capsys):
    machine = SMOClassifier(X=X, y=Y, kernel=GAUSS, verbose=True).minimize()
    lines = capsys.readouterr().out.strip().split("\n")
    assert len(lines) == machine.n_iter
    number, cost = lines[-1].split()
    assert int(number) == machine.n_iter
    assert float(cost) >= machine.certificate.objective - 1e-6


@pytest.mark.parametrize("C", [0.05, 0.7, 40.0])
def test_set_C_is_followed_exactly_in_both_directions(C):
    machine = SMOClassifier(X=X, y=Y, kernel=GAUSS, C=1.0).minimize()
    at_bound = machine.alphas == 1.0
    before = machine.n_iter
    machine.set_C(C)
    assert machine.alphas.max() <= C
    assert (machine.alphas[at_bound] == C).all()
    assert abs(Y @ machine.alphas) < 1e-12 * max(1, C)
    K = GAUSS(X, X)
    np.testing.assert_allclose(machine.gradient, gradient_from_scratch(Y, K, machine.alphas, -1.0), atol=1e-9)
    assert machine.n_iter == before
    warm = machine.minimize().certificate
    cold = SMOClassifier(X=X, y=Y, kernel=GAUSS, C=C).minimize().certificate
    assert warm.status == "optimal"
    assert warm.lower_bound <= cold.objective
    assert cold.lower_bound <= warm.objective


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 5.0])
def test_set_epsilon_is_followed_exactly(epsilon):
    machine = SMORegression(X=X, y=T, kernel=GAUSS, C=1.0, epsilon=0.1).minimize()
    alphas = machine.alphas
    machine.set_epsilon(epsilon)
    np.testing.assert_array_equal(machine.alphas, alphas)
    q = np.concatenate([epsilon - T, epsilon + T])
    signs, K = np.repeat([1.0, -1.0], 80), np.tile(GAUSS(X, X), (2, 2))
    np.testing.assert_allclose(machine.gradient, gradient_from_scratch(signs, K, alphas, q), atol=1e-9)
    warm = machine.minimize().certificate
    cold = SMORegression(X=X, y=T, kernel=GAUSS, C=1.0, epsilon=epsilon).minimize().certificate
    assert warm.status == "optimal"
    assert warm.lower_bound <= cold.objective <= warm.objective + cold.gap


def test_setting_costs_no_kernel_value():
    calls = []

    def kernel(a, b):
        calls.append(1)
        return a @ b.T

    machine = SMORegression(X=X, y=T, kernel=kernel, C=1.0, epsilon=0.1, max_iter=50).minimize()
    calls.clear()
    machine.set_C(2.0).set_epsilon(0.2)
    assert not calls


def test_bad_settings_leave_the_machine_as_it_was():
    machine = SMORegression(X=X, y=T, kernel=GAUSS).minimize()
    before = machine.certificate
    for call in (lambda: machine.set_C(0), lambda: machine.set_C(np.nan), lambda: machine.set_epsilon(-1)):
        with pytest.raises(InvalidProblemError):
            call()
    assert (machine.C, machine.epsilon) == (1.0, 0.1)
    assert machine.minimize().certificate.objective == before.objective


def test_steps_can_be_left_and_taken_up_again():
    machine = SMOClassifier(X=X, y=Y, kernel=GAUSS, C=2.0)
    first = []
    for step in machine.steps():
        first.append(step)
        if len(first) == 10:
            break
    assert machine.n_iter == 10
    objective = machine.certificate.objective
    assert objective == pytest.approx(first[-1].objective_after)
    rest = list(machine.steps())
    assert rest[0].objective_before == pytest.approx(objective)
    assert machine.certificate.status == "optimal"
    assert machine.n_iter == 10 + len(rest)


def test_data_that_cannot_be_used():
    with pytest.raises(InvalidProblemError, match="both needed"):
        SMOClassifier(X=X)
    with pytest.raises(InvalidProblemError, match="two classes"):
        SMOClassifier(X=X, y=np.arange(80))
    with pytest.raises(InvalidProblemError, match="table"):
        SMOClassifier(X=X[:, 0], y=Y)
    with pytest.raises(InvalidProblemError, match="finite"):
        SMORegression(X=X * np.nan, y=T)
    with pytest.raises(InvalidProblemError, match="targets"):
        SMORegression(X=X, y=T * np.nan)
