"""Columns of the Hessian H_ij = M[l_i, l_j] k(x_m(i), x_m(j)) + [i = j] d_i, from a Gram matrix."""

from __future__ import annotations

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.kernels import Kernel, is_positive_semidefinite
from svmviz.problem import EPS, LARGEST, DualProblem

Array = np.ndarray


def kernel_values(kernel: Kernel, A: Array, B: Array) -> Array:
    """Kernel values (a, b) between the rows of A (a, d) and of B (b, d).

    Raises
    ------
    InvalidProblemError
        When a value is not finite, or too large to compute with.
    """
    with np.errstate(all="ignore"):  # what overflows is seen below
        K = np.asarray(kernel(A, B), dtype=float, order="C")
    if not np.abs(K).max(initial=0.0) <= LARGEST:
        raise InvalidProblemError(
            "Some kernel values are not finite or too large: scale the features down, or lower gamma or degree."
        )
    return K


def gram_matrix(kernel: Kernel, X: Array) -> Array:
    """Kernel values between all rows of X (n, d): (n, n), symmetric to the last bit.

    Raises
    ------
    InvalidProblemError
        When a value is not finite, or precomputed values are not square and symmetric.
    """
    K = kernel_values(kernel, X, X)
    if K.shape != (len(X), len(X)):
        raise InvalidProblemError(
            f"A precomputed kernel must be square, one row and column a sample, not {K.shape}."
        )
    scale = float(np.abs(K).max(initial=0.0))
    difference = float(np.abs(K - K.T).max(initial=0.0))
    if difference > 1e-8 * scale:
        raise InvalidProblemError("The kernel is not symmetric: make k(a, b) equal to k(b, a).")
    # The solver takes rows for columns: what rounding left between the two would never leave the gradient.
    return 0.5 * (K + K.T) if difference > 0 else K


class Hessian:
    """H of a dual problem, column by column, over a Gram matrix that is held whole.

    Parameters
    ----------
    problem : DualProblem
    K : ndarray (n_samples, n_samples)
        Symmetric kernel values.
    positive_semidefinite : bool, optional
        What is known of K; looked at with a Cholesky factor when None and asked for.
    """

    def __init__(self, problem: DualProblem, K: Array, positive_semidefinite: bool | None = None):
        self.problem = problem
        self.K = K
        self._positive_semidefinite = positive_semidefinite
        self._plain = (
            len(problem.coupling) == 1
            and problem.coupling[0, 0] == 1.0
            and not problem.diagonal.any()
            and np.array_equal(problem.sample, np.arange(len(K)))
        )
        own = problem.coupling[problem.label, problem.label]
        self.diagonal = own * np.diagonal(K)[problem.sample] + problem.diagonal

    def with_problem(self, problem: DualProblem) -> Hessian:
        """The Hessian of another problem over the same Gram matrix."""
        return Hessian(problem, self.K, self._positive_semidefinite)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether K, and so H (a Schur product with M), is positive semidefinite."""
        if self._positive_semidefinite is None:
            self._positive_semidefinite = is_positive_semidefinite(self.K)
        return self._positive_semidefinite

    def column(self, i: int) -> Array:
        """H[:, i], shape (n,). May be a view of K: not to be written to."""
        if self._plain:
            return self.K[i]
        problem = self.problem
        column = self.K[problem.sample[i]][problem.sample]
        if len(problem.coupling) > 1 or problem.coupling[0, 0] != 1.0:
            column *= problem.coupling[problem.label[i]][problem.label]
        column[i] += problem.diagonal[i]
        return column

    def block(self, indices: Array) -> Array:
        """Rows H[indices], shape (len(indices), n), as an array of its own."""
        problem = self.problem
        block = self.K[problem.sample[indices]]
        if not self._plain:
            block = block[:, problem.sample]
            block *= problem.coupling[problem.label[indices][:, None], problem.label]
            block[np.arange(len(indices)), indices] += problem.diagonal[indices]
        return block

    def product(self, z: Array) -> Array:
        """H z, shape (n,), with one product with K a label."""
        problem = self.problem
        if self._plain:
            return self.K @ z
        n_labels = len(problem.coupling)
        spread = np.zeros((n_labels, len(self.K)))
        np.add.at(spread, (problem.label, problem.sample), z)
        values = problem.coupling @ (spread @ self.K)
        return values[problem.label, problem.sample] + problem.diagonal * z

    def gradient(self, z: Array) -> Array:
        """H z + p, shape (n,)."""
        return self.product(z) + self.problem.linear

    def rounding(self, z: Array) -> Array:
        """Bound on the rounding error of each entry of `gradient`, shape (n,), for a positive semidefinite H.

        n EPS / 2 times the sum of the sizes of the terms, where |H_ij| is at most sqrt(H_ii H_jj).
        """
        root = np.sqrt(np.maximum(self.diagonal, 0.0))
        sizes = root * float(root @ np.abs(z)) + np.abs(self.problem.linear)
        return 0.5 * EPS * (self.problem.n + 2) * sizes
