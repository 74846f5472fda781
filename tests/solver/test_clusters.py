"""Kernel k-means: every cluster large enough, the same each time, and no worse than k-means on the samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from svmviz import InvalidProblemError
from svmviz.clusters import kernel_kmeans
from svmviz.kernels import GaussianKernel


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_clusters_are_as_many_and_as_large_as_asked_for(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    X = rng.normal(size=(n, 2))
    if rng.random() < 0.4:
        X[rng.integers(0, n, n)] = X[0]
    n_clusters = int(rng.integers(1, n + 1))
    smallest = int(rng.integers(1, n // n_clusters + 1))
    K = GaussianKernel(0.5)(X, X)
    codes = kernel_kmeans(K, n_clusters, smallest)
    counts = np.bincount(codes)
    assert len(counts) == n_clusters
    assert counts.min() >= smallest
    np.testing.assert_array_equal(codes, kernel_kmeans(K, n_clusters, smallest))
    firsts = [int(np.flatnonzero(codes == c)[0]) for c in range(n_clusters)]
    assert firsts == sorted(firsts)


def inertia(X, codes):
    return sum(((X[codes == c] - X[codes == c].mean(axis=0)) ** 2).sum() for c in np.unique(codes))


@pytest.mark.parametrize("seed", range(5))
def test_with_the_linear_kernel_it_is_k_means(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 6 * rng.integers(0, 2, (60, 2))
    ours = inertia(X, kernel_kmeans(X @ X.T, 4))
    theirs = KMeans(4, n_init=5, random_state=0).fit(X).inertia_
    assert ours <= theirs * 1.0001
    # Asking for larger clusters can only cost.
    assert inertia(X, kernel_kmeans(X @ X.T, 4, 15)) >= ours * (1 - 1e-12)


def test_too_many_clusters():
    with pytest.raises(InvalidProblemError, match="fewer"):
        kernel_kmeans(np.eye(5), 3, 2)


def test_clusters_of_equal_size_come_quickly_and_lose_little():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], [70, 10, 10], axis=0)
    codes = kernel_kmeans(X @ X.T, 3, smallest=30)
    assert np.bincount(codes).tolist() == [30, 30, 30]
    means = np.array([X[codes == k].mean(axis=0) for k in range(3)])
    spread = ((X - means[codes]) ** 2).sum()
    distances = ((X[:, None] - means) ** 2).sum(-1)
    rows, places = linear_sum_assignment(np.repeat(distances, 30, axis=1))
    assert spread <= 1.1 * distances[rows, places // 30].sum()
