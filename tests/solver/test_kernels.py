"""Kernels against scikit-learn's, and their Gram matrices."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import pairwise

from svmviz import kernels
from svmviz.errors import InvalidProblemError
from svmviz.gram import gram_matrix
from svmviz.kernels import CallableKernel, GaussianKernel, PolynomialKernel, SigmoidKernel, make_kernel

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(20, 3)), RNG.normal(size=(15, 3))
OTHERS = {
    "linear": pairwise.linear_kernel(A, B),
    "poly": pairwise.polynomial_kernel(A, B, degree=2, gamma=0.7, coef0=0.5),
    "rbf": pairwise.rbf_kernel(A, B, gamma=0.7),
    "laplacian": pairwise.laplacian_kernel(A, B, gamma=0.7),
    "sigmoid": pairwise.sigmoid_kernel(A, B, gamma=0.7, coef0=0.5),
}


@pytest.mark.parametrize("name", OTHERS)
def test_values_and_diagonal(name):
    kernel = make_kernel(name, A, gamma=0.7, degree=2, coef0=0.5)
    np.testing.assert_allclose(kernel(A, B), OTHERS[name], atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), np.diagonal(kernel(A, A)), atol=1e-12)
    again = kernels.from_description(kernels.describe(kernel))
    np.testing.assert_array_equal(again(A, B), kernel(A, B))


@pytest.mark.parametrize("features", [3, 40])
def test_gaussian_far_from_the_origin_and_with_near_duplicates(features):
    X = RNG.normal(size=(30, features)) + 1e4
    X[1] = X[0] + 1e-6
    K = GaussianKernel(0.5)(X, X)
    differences = X[:, None, :] - X[None, :, :]
    np.testing.assert_allclose(K, np.exp(-0.5 * (differences**2).sum(-1)), rtol=1e-6)


def test_width_and_gamma_are_one_kernel():
    kernel = GaussianKernel.from_width(0.5)
    assert kernel.gamma == pytest.approx(2.0)
    assert kernel.width == pytest.approx(0.5)
    with pytest.raises(InvalidProblemError):
        GaussianKernel.from_width(0.0)


def test_gram_needs_no_array_of_differences():
    X = RNG.normal(size=(800, 100))
    tracemalloc.start()
    gram_matrix(GaussianKernel(0.1), X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8 * 800 * 800  # a few n x n arrays; the differences would be 100 of them


def test_gamma_scale_and_auto():
    assert kernels.resolve_gamma("scale", A) == pytest.approx(1 / (3 * A.var()))
    assert kernels.resolve_gamma("auto", A) == pytest.approx(1 / 3)
    assert kernels.resolve_gamma("scale", np.ones((4, 2))) == 1.0
    for bad in ("big", -1.0, np.nan):
        with pytest.raises(InvalidProblemError, match="gamma"):
            kernels.resolve_gamma(bad, A)


def test_positive_semidefinite():
    assert PolynomialKernel(3, 1.0, 1.0).positive_semidefinite
    assert PolynomialKernel(2.5, 1.0, 1.0).positive_semidefinite is None
    assert PolynomialKernel(3, 1.0, -1.0).positive_semidefinite is None
    assert kernels.is_positive_semidefinite(GaussianKernel(1.0)(A, A))
    assert kernels.is_positive_semidefinite(np.zeros((3, 3)))
    assert not kernels.is_positive_semidefinite(SigmoidKernel(2.0, -1.0)(A, A))


def test_callables():
    kernel = make_kernel(lambda a, b: a @ b.T + 1.0, A)
    np.testing.assert_allclose(kernel(A, B), A @ B.T + 1.0)
    np.testing.assert_allclose(kernel.diagonal(A), (A**2).sum(1) + 1.0)
    with pytest.raises(InvalidProblemError, match="shape"):
        gram_matrix(CallableKernel(lambda a, b: a), A)
    with pytest.raises(InvalidProblemError, match="symmetric"):
        gram_matrix(CallableKernel(lambda a, b: np.arange(400.0).reshape(20, 20)), A)
    with pytest.raises(InvalidProblemError, match="finite"):
        gram_matrix(CallableKernel(lambda a, b: np.full((20, 20), np.nan)), A)


def test_unknown_kernels():
    with pytest.raises(InvalidProblemError, match="choose one of"):
        make_kernel("gaussian", A)
    with pytest.raises(InvalidProblemError, match="kernel must be"):
        make_kernel(3, A)
    with pytest.raises(InvalidProblemError, match="degree"):
        make_kernel("poly", A, degree=-1)
    with pytest.raises(InvalidProblemError, match="no kernel"):
        kernels.from_description({"name": "cubic"})
