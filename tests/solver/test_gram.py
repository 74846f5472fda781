"""Rows of the Gram matrix are those of the whole matrix, whatever the cache holds and in any order of requests."""

import numpy as np
import pytest

from svmviz import SVC
from svmviz.errors import InvalidProblemError
from svmviz.gram import FEWEST_ROWS, KernelRows, gram_matrix
from svmviz.kernels import GaussianKernel, PolynomialKernel, make_kernel

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
