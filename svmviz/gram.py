"""Columns of the Hessian H_ij = M[l_i, l_j] k(x_m(i), x_m(j)) + [i = j] d_i, from a Gram matrix."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.kernels import Kernel, is_positive_semidefinite
from svmviz.problem import EPS, LARGEST, DualProblem

Array = np.ndarray


# Numbers handled at once when a whole Gram matrix is looked at: temporaries stay small beside it.
BLOCK = 2**18
# Rows of the Gram matrix that a Newton phase may keep a copy of, in numbers (32 MB); more are gathered as needed.
KEPT = 2**22


def kernel_values(kernel: Kernel, A: Array, B: Array) -> Array:
    """Kernel values (a, b) between the rows of A (a, d) and of B (b, d).

    Raises
    ------
    InvalidProblemError
        When a value is not finite, or too large to compute with.
    """
    with np.errstate(all="ignore"):  # what overflows is seen below
        K = np.asarray(kernel(A, B), dtype=float, order="C")
    # NaN passes through both and is not within the limit; an array of sizes |K| would double the memory.
    if not (K.max(initial=0.0) <= LARGEST and K.min(initial=0.0) >= -LARGEST):
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
    scale = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    step = max(1, BLOCK // max(1, len(K)))
    strips = [slice(first, first + step) for first in range(0, len(K), step)]
    difference = max((float(np.abs(K[s] - K[:, s].T).max()) for s in strips), default=0.0)
    if difference > 1e-8 * scale:
        raise InvalidProblemError("The kernel is not symmetric: make k(a, b) equal to k(b, a).")
    if difference == 0:
        return K
    # The solver takes rows for columns: what rounding left between the two would never leave the gradient.
    K = K.copy() if kernel.name in ("precomputed", "callable") else K
    for s in strips:
        after = slice(s.start, None)
        mean = 0.5 * (K[s, after] + K[after, s].T)
        K[s, after] = mean
        K[after, s] = mean.T
    return K


class Hessian:
    """H of a dual problem, column by column, over a Gram matrix that is held whole.

    Nothing of the size of H itself is ever made: where the coupling is diagonal and every sample has an index for
    every label (MC-SVM), a column is one row of K on every `n_labels`-th place, and zero elsewhere.

    Parameters
    ----------
    problem : DualProblem
    K : ndarray (n_samples, n_samples)
        Symmetric kernel values.
    positive_semidefinite : bool, optional
        What is known of K; looked at with a Cholesky factor when None and asked for.

    Attributes
    ----------
    diagonal : ndarray (n,)
        That of H.
    used : int
        Kernel values read so far: n_samples for every row of K that a step or a product needs.
    """

    def __init__(self, problem: DualProblem, K: Array, positive_semidefinite: bool | None = None):
        self.problem = problem
        self.K = K
        self.used = 0
        self._positive_semidefinite = positive_semidefinite
        self._in_order = np.array_equal(problem.sample, np.arange(len(K)))
        self._plain = self._in_order and len(problem.coupling) == 1 and problem.coupling[0, 0] == 1.0
        self._strips = self._find_strips()
        self._has_diagonal = bool(problem.diagonal.any())
        own = problem.coupling[problem.label, problem.label]
        self.diagonal = own * np.diagonal(K)[problem.sample] + problem.diagonal
        self._buffer = np.empty(len(K))

    def _find_strips(self) -> list[slice] | None:
        """Where the indices of each label are, when each holds all samples in order and no two are coupled."""
        problem, n_labels = self.problem, len(self.problem.coupling)
        diagonal = np.array_equal(problem.coupling, np.diag(np.diagonal(problem.coupling)))
        if n_labels < 2 or not diagonal or problem.n != n_labels * len(self.K):
            return None
        samples, labels = np.divmod(np.arange(problem.n), n_labels)
        if not (np.array_equal(problem.sample, samples) and np.array_equal(problem.label, labels)):
            return None
        return [slice(label, None, n_labels) for label in range(n_labels)]

    @cached_property
    def _coupled(self) -> Array:
        """Row l: the coupling of label l with the label of every dual index, (n_labels, n)."""
        return self.problem.coupling[:, self.problem.label]

    def with_problem(self, problem: DualProblem) -> Hessian:
        """The Hessian of another problem over the same Gram matrix."""
        return Hessian(problem, self.K, self._positive_semidefinite)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether K, and so H (a Schur product with M), is positive semidefinite."""
        if self._positive_semidefinite is None:
            self._positive_semidefinite = is_positive_semidefinite(self.K)
        return self._positive_semidefinite

    def entry(self, i: int, j: int) -> float:
        """H_ij."""
        problem = self.problem
        coupling = problem.coupling[problem.label[i], problem.label[j]]
        value = float(coupling * self.K[problem.sample[i], problem.sample[j]])
        return value + float(problem.diagonal[i]) if i == j else value

    def row(self, i: int, members: slice) -> Array:
        """H[i, members] without the added diagonal. May be a view of K: not to be written to."""
        problem = self.problem
        if self._plain:
            return self.K[i, members]
        row = self.K[problem.sample[i]][problem.sample[members]]
        row *= problem.coupling[problem.label[i]][problem.label[members]]
        return row

    def column(self, i: int) -> Array:
        """H[:, i], shape (n,), an array of its own."""
        column = np.array(self.row(i, slice(None)))
        column[i] += self.problem.diagonal[i]
        return column

    def add_step(self, gradient: Array, i: int, j: int, step: float) -> None:
        """Add step * (H[:, i] - H[:, j]) to the gradient (n,) in place."""
        problem, K, buffer = self.problem, self.K, self._buffer
        sample_i, sample_j = problem.sample[i], problem.sample[j]
        label_i, label_j = problem.label[i], problem.label[j]
        self.used += 2 * len(K)
        if self._strips is not None:
            for sample, label, change in ((sample_i, label_i, step), (sample_j, label_j, -step)):
                np.multiply(K[sample], change * problem.coupling[label, label], out=buffer)
                gradient[self._strips[label]] += buffer
        elif label_i == label_j:
            np.subtract(K[sample_i], K[sample_j], out=buffer)
            buffer *= step
            ordered = buffer if self._in_order else buffer[problem.sample]
            gradient += ordered if self._plain else ordered * self._coupled[label_i]
        else:
            gradient += step * (self.row(i, slice(None)) - self.row(j, slice(None)))
        if self._has_diagonal:
            gradient[i] += step * problem.diagonal[i]
            gradient[j] -= step * problem.diagonal[j]

    def rows(self, indices: Array) -> Rows:
        """The rows H[indices] in a form that multiplies, for the Newton phase."""
        return Rows(self, indices)

    def product(self, z: Array) -> Array:
        """H z, shape (n,), with one product with K a label."""
        problem = self.problem
        samples = np.unique(problem.sample[z != 0])
        self.used += len(self.K) * len(samples)
        if self._plain and 2 * len(samples) > len(self.K):
            return self.K @ z + problem.diagonal * z
        spread = np.zeros((len(problem.coupling), len(self.K)))
        np.add.at(spread, (problem.label, problem.sample), z)
        values = problem.coupling @ _times_rows(spread[:, samples], self.K, samples)
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


class Rows:
    """The rows H[indices] of a Hessian, multiplied by blocks of rows of K that are never held all at once.

    Parameters
    ----------
    hessian : Hessian
    indices : ndarray (f,) of int
        Dual indices.
    """

    def __init__(self, hessian: Hessian, indices: Array):
        problem, K = hessian.problem, hessian.K
        self.hessian, self.indices = hessian, indices
        self.samples, self.place = np.unique(problem.sample[indices], return_inverse=True)
        hessian.used += len(self.samples) * len(K)
        few = len(self.samples) * len(K) <= KEPT
        self._kept = K[self.samples] if few else None

    def square(self) -> Array:
        """H[indices, indices], (f, f), an array of its own."""
        problem, K = self.hessian.problem, self.hessian.K
        samples, labels = problem.sample[self.indices], problem.label[self.indices]
        square = K[samples[:, None], samples]
        if len(problem.coupling) > 1 or problem.coupling[0, 0] != 1.0:
            square *= problem.coupling[labels[:, None], labels]
        square[np.diag_indices_from(square)] += problem.diagonal[self.indices]
        return square

    def image(self, chosen: Array, values: Array) -> Array:
        """The sum of values[k] H[indices[chosen[k]]], (n,)."""
        problem, K = self.hessian.problem, self.hessian.K
        indices = self.indices[chosen]
        spread = np.zeros((len(problem.coupling), len(self.samples)))
        np.add.at(spread, (problem.label[indices], self.place[chosen]), values)
        products = _times_rows(spread, K, self.samples) if self._kept is None else spread @ self._kept
        sums = problem.coupling @ products
        image = sums[0] if self.hessian._plain else sums[problem.label, problem.sample]
        image[indices] += problem.diagonal[indices] * values
        return image


def _times_rows(spread: Array, K: Array, samples: Array) -> Array:
    """spread (l, s) times the rows K[samples], (l, n): by blocks, since a copy of the rows may be as large as K."""
    step = max(1, BLOCK // len(K))
    sums = np.zeros((len(spread), len(K)))
    for first in range(0, len(samples), step):
        block = slice(first, first + step)
        sums += spread[:, block] @ K[samples[block]]
    return sums
