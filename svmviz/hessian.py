"""Columns of the Hessian H_ij = M[l_i, l_j] k(x_m(i), x_m(j)) + [i = j] d_i, from rows of a Gram matrix."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import daxpy

from svmviz.gram import KernelRows, kernel_rows
from svmviz.problem import EPS, DualProblem

Array = np.ndarray


class Hessian:
    """H of a dual problem, column by column, over rows of a Gram matrix.

    Nothing of the size of H itself is ever made: where the coupling is diagonal and every sample has an index for
    every label (MC-SVM), a column is one row of K on every `n_labels`-th place, and zero elsewhere.

    Parameters
    ----------
    problem : DualProblem
    K : ndarray (n_samples, n_samples) or KernelRows
        Symmetric kernel values, or what computes their rows when they are needed.
    positive_semidefinite : bool, optional
        What is known of an array K; looked at with a Cholesky factor when None and asked for.

    Attributes
    ----------
    n : int
        Number of dual indices.
    copies : int
        Where a row of H is a row of K, so many times over: 1 for C-SVC, 2 for SVR; 0 elsewhere.
    has_added : bool
        Whether something is added to the diagonal.
    diagonal : ndarray (n,)
        That of H.
    used : int
        Kernel values read so far: n_samples for every row of K that a step or a product needs.
    """

    def __init__(
        self, problem: DualProblem, K: Array | KernelRows, positive_semidefinite: bool | None = None
    ):
        self.problem = problem
        self.kernel_rows = kernel_rows(K, positive_semidefinite)
        self.used = 0
        self.n = problem.n
        self._sample, self._label = problem.sample, problem.label
        self._coupling, self._added = problem.coupling, problem.diagonal
        self._find_structure()
        own = problem.coupling[problem.label, problem.label]
        self.diagonal = own * self.kernel_rows.diagonal[problem.sample] + problem.diagonal
        self._buffer = np.empty(len(self.kernel_rows))

    def _find_structure(self) -> None:
        """How a row of H comes from rows of K; one of three ways, or else by picking its entries out.

        `copies` > 0: it is a row of K, so many times over, as for C-SVC (once) and for SVR (twice).
        `_strips`: where the indices of each label are, when each holds all samples in order and no two are coupled.
        `_in_order`: it is a row of K times the coupling, as for AD-SVM.
        """
        problem, n = self.problem, len(self.kernel_rows)
        plain = len(self._coupling) == 1 and self._coupling[0, 0] == 1.0
        copies = problem.n // n
        alike = problem.n == copies * n and (problem.sample.reshape(copies, n) == np.arange(n)).all()
        self._plain = plain
        self._in_order = bool(alike and copies == 1)
        self.copies = copies if plain and alike else 0
        self._strips = self._find_strips()
        self.has_added = bool(self._added.any())

    def _find_strips(self) -> list[slice] | None:
        problem, n_labels = self.problem, len(self.problem.coupling)
        if n_labels < 2 or problem.n != n_labels * len(self.kernel_rows):
            return None
        if not np.array_equal(problem.coupling, np.diag(np.diagonal(problem.coupling))):
            return None
        samples, labels = np.divmod(np.arange(problem.n), n_labels)
        if not (np.array_equal(problem.sample, samples) and np.array_equal(problem.label, labels)):
            return None
        return [slice(label, None, n_labels) for label in range(n_labels)]

    @cached_property
    def _coupled(self) -> Array:
        """Row l: the coupling of label l with the label of every dual index, (n_labels, n)."""
        return self._coupling[:, self._label]

    @property
    def K(self) -> Array:
        """The Gram matrix (n_samples, n_samples), not to be written to."""
        return self.kernel_rows.whole()

    def with_problem(self, problem: DualProblem) -> Hessian:
        """The Hessian of another problem over the same Gram matrix."""
        return Hessian(problem, self.kernel_rows)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether K, and so H (a Schur product with M), is positive semidefinite."""
        return self.kernel_rows.positive_semidefinite

    @property
    def is_known_definite(self) -> bool:
        """Whether H is positive semidefinite by its kernel, so that nothing need be looked at."""
        return self.kernel_rows.is_known_definite

    def entry(self, i: int, j: int) -> float:
        """H_ij."""
        value = self.kernel_rows.row(int(self._sample[i])).item(self._sample[j])
        if not self._plain:
            value *= self._coupling.item(self._label[i], self._label[j])
        return value + self._added.item(i) if i == j else value

    def has(self, i: int) -> bool:
        """Whether row i needs no new kernel values."""
        return self.kernel_rows.has(self._sample.item(i))

    def fetch(self, indices: Array) -> None:
        """Compute the kernel values of these rows at once, where they are not there."""
        self.kernel_rows.fetch(np.unique(self._sample[indices]))

    def row(self, i: int, members: slice) -> Array:
        """H[i, members] without the added diagonal. May be a view of K: not to be written to."""
        K_i = self.kernel_rows.row(self._sample.item(i))
        if self.copies == 1:
            return K_i[members]
        row = K_i.take(self._sample[members])
        if not self._plain:
            row *= self._coupled[self._label.item(i), members]
        return row

    def add_step(self, rows: Array, i: int, j: int, step: float) -> None:
        """Add step * (H[:, i] - H[:, j]), in place, to each of several rows (m, n), C-contiguous (gradients)."""
        sample_i, sample_j = self._sample.item(i), self._sample.item(j)
        label_i, label_j = self._label.item(i), self._label.item(j)
        buffer = self._buffer
        self.used += 2 * len(buffer)
        K_i, K_j = self.kernel_rows.pair(sample_i, sample_j)
        if self._strips is not None:
            for K_k, label, change in ((K_i, label_i, step), (K_j, label_j, -step)):
                np.multiply(K_k, change * self._coupling.item(label, label), out=buffer)
                rows[:, self._strips[label]] += buffer
        elif label_i == label_j:
            np.subtract(K_i, K_j, out=buffer)
            self._add_image(rows, buffer, label_i, step)
        else:
            coupling = self._coupling
            images = step * (coupling[:, [label_i]] * K_i - coupling[:, [label_j]] * K_j)
            rows += images[self._label, self._sample]
        if self.has_added:
            rows[:, i] += step * self._added.item(i)
            rows[:, j] -= step * self._added.item(j)

    def _add_image(self, rows: Array, image: Array, label: int, step: float) -> None:
        """Add `step` times what an image (n_samples,) of this label is in dual indices to each of the rows (m, n)."""
        if self.copies:
            assert rows.flags.c_contiguous  # BLAS would change a copy
            for strip in rows.reshape(-1, len(image)):
                daxpy(image, strip, a=step)  # product and sum in one call
            return
        image *= step
        ordered = image if self._in_order else image.take(self._sample)
        rows += ordered if self._plain else ordered * self._coupled[label]

    def square(self, indices: Array) -> Array:
        """H[indices, indices], (k, k), an array of its own."""
        if self.copies == 1:
            square = self.kernel_rows.square(self._sample[indices])
        else:
            samples, place = np.unique(self._sample[indices], return_inverse=True)
            square = self.kernel_rows.square(samples).take(place, axis=0).take(place, axis=1)
        if not self._plain:
            labels = self._label[indices]
            square *= self._coupling[labels[:, None], labels]
        if self.has_added:
            square[np.diag_indices_from(square)] += self._added[indices]
        return square

    def combination(self, indices: Array, values: Array) -> Array:
        """The sum of values[k] H[indices[k]], (n,), with one product with K a label; the indices ascend."""
        samples = self._sample[indices]
        if self.copies == 1:
            spread = values[None, :]
        else:
            samples, place = np.unique(samples, return_inverse=True)
            n_labels, count = len(self._coupling), len(samples)
            cell = self._label[indices] * count + place
            spread = np.bincount(cell, weights=values, minlength=n_labels * count).reshape(n_labels, count)
        self.used += len(self.kernel_rows) * len(samples)
        products = self.kernel_rows.times(spread, samples)
        if self.copies:
            image = np.tile(products[0], self.copies) if self.copies > 1 else products[0]
        else:
            image = (self._coupling @ products)[self._label, self._sample]
        if self.has_added:
            image[indices] += self._added[indices] * values
        return image

    def product(self, z: Array) -> Array:
        """H z, shape (n,)."""
        indices = np.flatnonzero(z)
        if not len(indices):
            return np.zeros(self.n)
        return self.combination(indices, z[indices])

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
