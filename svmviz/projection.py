"""Samples of any number of features, or known by their kernel values only, laid out in a plane."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh

Array = np.ndarray

MANY = 500
"""Of more samples than so many a few axes are found by iteration: a full decomposition takes most of a second."""
RESTARTS = 30
"""Of that iteration; where axes are so much alike that it needs more, the full decomposition is the faster way."""


def principal_components(gram: Array, count: int) -> Array:
    """Coordinates of samples along their principal axes in the space of the kernel.

    With X X' as Gram matrix it is principal component analysis; with any other, kernel PCA (Schoelkopf, Smola,
    Mueller: Nonlinear component analysis as a kernel eigenvalue problem, 1998, equations 13 and 20).

    Parameters
    ----------
    gram : ndarray (n, n)
        Inner products of the samples; need not be centred.
    count : int
        How many axes.

    Returns
    -------
    ndarray (n, count)
        The axis of the largest spread first; zeros where there is no such axis. The farthest sample is on the
        positive side of each.
    """
    n = len(gram)
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    kept = min(count, n)
    values, vectors = _largest(centred, kept)
    components = np.zeros((n, count))
    components[:, :kept] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    farthest = components[np.abs(components).argmax(axis=0), np.arange(count)]
    return components * np.where(farthest < 0, -1.0, 1.0)


def _largest(matrix: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues (count,) of a symmetric matrix (n, n), in ascending order, and their vectors."""
    n = len(matrix)
    if n > MANY and 40 * count < n:
        # The same start every time, with something of every sample in it: the same picture every time.
        start = np.sin(np.arange(1.0, n + 1))
        try:
            values, vectors = eigsh(
                matrix, count, which="LA", v0=start, tol=1e-10, maxiter=2 + RESTARTS // count
            )
        except ArpackError:
            pass
        else:
            order = np.argsort(values)
            return values[order], vectors[:, order]
    values, vectors = eigh(matrix, subset_by_index=(n - count, n - 1))
    if len(values) < count:  # among many equal ones LAPACK's syevr may find none
        values, vectors = eigh(matrix)
        values, vectors = values[-count:], vectors[:, -count:]
    return values, vectors
