"""Rows of the Gram matrix are those of the whole matrix, whatever the cache holds and in any order of requests."""

import numpy as np
import pytest

from svmviz import SVC
from svmviz.errors import InvalidProblemError
from svmviz.gram import FEWEST_ROWS, MOST_CONDENSED, SMALL, KernelRows, gram_matrix
from svmviz.kernels import GaussianKernel, PolynomialKernel, between_samples, condensed, make_kernel
from svmviz.smo.loop import EARLY_PAIRS

pytestmark = pytest.mark.filterwarnings("error")

MEGABYTE = 2**20
NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", "callable")


def quadratic(A, B):
    """A function as a kernel."""
    return (A @ B.T + 1.0) ** 2


def samples_and_kernel(rng, name, n, d):
    X = rng.normal(size=(n, d))
    if name == "precomputed":
        return GaussianKernel(0.3)(X, X), make_kernel(name, X)
    return X, make_kernel(quadratic if name == "callable" else name, X, gamma=0.3, coef0=1.0)


def cache_of(rows, n):
    """The cache size, in MB, that has room for so many rows."""
    return (rows + 0.5) * 8 * n / MEGABYTE


def some(rng, n, least=1):
    return np.sort(rng.choice(n, int(rng.integers(least, n + 1)), replace=False))


def check_request(rng, rows, K, tol):
    """One request of a random kind against the whole matrix."""
    n, kind = len(K), int(rng.integers(5))
    i, j = (int(k) for k in rng.integers(n, size=2))
    chosen = some(rng, n)
    if kind == 0:
        np.testing.assert_allclose(rows.row(i), K[i], rtol=0, atol=tol)
    elif kind == 1:
        np.testing.assert_allclose(rows.pair(i, j), K[[i, j]], rtol=0, atol=tol)
    elif kind == 2:
        rows.fetch(rng.permutation(chosen))
    elif kind == 3:
        np.testing.assert_allclose(rows.square(chosen), K[np.ix_(chosen, chosen)], rtol=0, atol=tol)
    else:
        weights = rng.normal(size=(2, len(chosen)))
        np.testing.assert_allclose(rows.times(weights, chosen), weights @ K[chosen], rtol=0, atol=n * tol)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 20])
def test_rows_are_those_of_the_whole_matrix_with_any_cache(name, d):
    rng = np.random.default_rng(0)
    for n in (1, 2, 50, 64, 65, 130, 300):
        X, kernel = samples_and_kernel(rng, name, n, d)
        K = gram_matrix(kernel, X)
        for size in (0.0, cache_of(100, n), 200.0):
            rows = KernelRows(kernel, X, size)
            np.testing.assert_allclose(rows.diagonal, np.diagonal(K), rtol=1e-13, atol=1e-13)
            for _ in range(40):
                check_request(rng, rows, K, 1e-13 * np.abs(K).max())


def test_rows_of_many_samples_are_computed_one_by_one():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2100, 20))
    kernel = GaussianKernel(0.05)
    rows = KernelRows(kernel, X)
    assert not rows.is_whole
    assert rows.computed == 0
    rows.fetch(np.array([3, 7]))
    rows.pair(7, 3)
    rows.row(3)
    assert rows.computed == 2 * len(X)
    np.testing.assert_array_equal(rows.row(3)[7], rows.row(7)[3])
    np.testing.assert_allclose(rows.whole(), gram_matrix(kernel, X), rtol=0, atol=1e-13)
    assert rows.is_whole
    np.testing.assert_array_equal(rows.whole(), rows.whole().T)


def test_the_row_used_least_recently_goes_first():
    X = np.random.default_rng(2).normal(size=(200, 3))
    rows = KernelRows(GaussianKernel(1.0), X, 0.0)
    for i in range(FEWEST_ROWS):
        rows.row(i)
    rows.row(0)
    rows.row(100)
    assert rows.has(0)
    assert not rows.has(1)
    rows.pair(2, 101)
    assert rows.has(2)
    assert not rows.has(3)
    assert rows.computed == (FEWEST_ROWS + 2) * len(X)
    assert sum(rows.has(i) for i in range(len(X))) == FEWEST_ROWS


@pytest.mark.parametrize("places", [FEWEST_ROWS, 100])
def test_memory_is_bounded_also_when_more_rows_are_wanted_than_fit(places):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    kernel = GaussianKernel(1.0)
    K = gram_matrix(kernel, X)
    rows = KernelRows(kernel, X, cache_of(places, len(X)))
    for _ in range(60):
        rows.fetch(rng.choice(len(X), int(rng.integers(1, 200)), replace=False))
        held = [i for i in range(len(X)) if rows.has(i)]
        assert len(held) <= places
        for i in held:
            np.testing.assert_array_equal(rows.row(i), K[i])
    with pytest.raises(InvalidProblemError, match="cache_size"):
        rows.whole()


def test_near_duplicates_far_from_the_origin_do_not_pass_for_an_asymmetric_kernel():
    rng = np.random.default_rng(4)
    X = 1e5 * rng.normal(size=(150, 300)) + 1e6
    X = np.vstack([X, X + 1e-7 * rng.normal(size=X.shape)])
    rows = KernelRows(GaussianKernel(1.0), X, 0.0)
    np.testing.assert_array_equal(np.diagonal(rows.square(np.arange(100))), rows.diagonal[:100])
    rows.fetch(np.arange(len(X)))
    assert np.isfinite(rows.square(np.arange(len(X)))).all()


def test_a_function_that_is_not_symmetric_is_refused_where_that_is_seen():
    X = np.random.default_rng(5).normal(size=(100, 2))
    for size in (0.0, 200.0):
        with pytest.raises(InvalidProblemError, match="not symmetric"):
            SVC(kernel=lambda A, B: A @ B.T + A[:, :1], cache_size=size).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("cache_size", [0.0, 200.0])
def test_values_that_overflow_for_one_sample_only_are_refused(cache_size):
    X = np.random.default_rng(6).normal(size=(100, 2))
    X[77] *= 1e30
    with pytest.raises(InvalidProblemError, match="scale the features down"):
        SVC(kernel=PolynomialKernel(7, 1.0, 1.0), cache_size=cache_size).fit(X, X[:, 0] > 0)
    X[77] *= 1e30
    with pytest.raises(InvalidProblemError, match="scale the features down"):
        SVC(kernel=PolynomialKernel(7, 1.0, 1.0), cache_size=cache_size).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("name", ["linear", "rbf", quadratic])
@pytest.mark.parametrize("n", [40, 64, 90, 250])
def test_a_machine_reaches_the_same_optimum_with_a_tiny_cache(name, n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + rng.normal(size=n) > 0
    whole = SVC(10.0, kernel=name, tol=1e-6).fit(X, y)
    for size in (0.0, cache_of(80, n)):
        model = SVC(10.0, kernel=name, tol=1e-6, cache_size=size).fit(X, y)
        bound = max(whole.certificate_.gap, 1e-9 * abs(whole.certificate_.objective))
        assert abs(model.certificate_.objective - whole.certificate_.objective) <= bound
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(("name", "d"), [("rbf", 2), ("rbf", 9), ("laplacian", 2), ("laplacian", 9)])
@pytest.mark.parametrize("n", [1, 2, 3, 65, MOST_CONDENSED, MOST_CONDENSED + 1])
def test_a_gram_matrix_from_its_half_is_that_of_the_kernel(name, d, n):
    X = np.random.default_rng(0).normal(size=(n, d))
    kernel = make_kernel(name, X, gamma=0.3)
    K = gram_matrix(kernel, X)
    np.testing.assert_allclose(K, kernel(X, X), rtol=0, atol=1e-13)
    assert np.array_equal(K, K.T)
    if n > MOST_CONDENSED and d > 2:
        np.testing.assert_allclose(condensed(kernel, X), K[np.triu_indices(n, 1)], rtol=0, atol=1e-13)
        return
    assert np.array_equal(condensed(kernel, X), K[np.triu_indices(n, 1)])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "precomputed"])
@pytest.mark.parametrize("d", [2, 9, 40])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_values_between_samples_by_number_are_those_of_the_kernel(name, d, far):
    rng = np.random.default_rng(0)
    X, kernel = samples_and_kernel(rng, name, 60, d)
    X = X + far
    between = between_samples(kernel, X)
    rows = rng.choice(60, 7, replace=False)
    for columns in (slice(None), slice(20, 50), rng.choice(60, 9, replace=False)):
        expected = kernel(X[rows], X[columns])
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(between(rows, columns), expected, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("d", [2, 8, 9, 40])
def test_a_gaussian_kernel_is_that_of_the_distances_however_many_features(d):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(20, d)) + 3.0, rng.normal(size=(30, d)) + 3.0
    distances = ((A[:, None] - B) ** 2).sum(axis=2)
    np.testing.assert_allclose(GaussianKernel(0.2)(A, B), np.exp(-0.2 * distances), rtol=1e-12)


def test_all_rows_come_at_once_when_most_are_going_to_be_needed():
    rng = np.random.default_rng(0)
    X, kernel = samples_and_kernel(rng, "rbf", SMALL + 1, 2)
    rows = KernelRows(kernel, X)
    rows.row(5)
    assert not rows.is_whole
    rows.expect_all()
    assert rows.is_whole
    assert np.array_equal(rows.whole(), gram_matrix(kernel, X))
    small = KernelRows(kernel, X, cache_of(100, SMALL + 1))
    small.expect_all()
    assert not small.is_whole


def test_a_run_that_is_long_from_the_start_has_the_whole_matrix_and_a_short_one_has_not(monkeypatch):
    made = []
    monkeypatch.setattr(
        SVC, "_kernel_rows", lambda self, X: made.append(KernelRows(self._kernel, X)) or made[-1]
    )
    rng = np.random.default_rng(0)
    half = (SMALL + 2) // 2
    y = np.repeat([0, 1], half)
    noise = rng.normal(size=(2 * half, 2))
    for apart in (1.6, 8.0):
        X = noise + apart * (y[:, None] - 0.5)
        machine = SVC(C=1.0, gamma=1.0 if apart < 2 else 0.05).fit(X, y)
        assert (machine.n_iter_[0] > EARLY_PAIRS) == (apart < 2)
    assert [rows.is_whole for rows in made] == [True, False]
