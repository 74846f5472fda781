"""Samples of any number of features, or known by their kernel values only, laid out in a plane."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

Array = np.ndarray


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
    values, vectors = eigh(centred, subset_by_index=(n - kept, n - 1))
    components = np.zeros((n, count))
    components[:, :kept] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    farthest = components[np.abs(components).argmax(axis=0), np.arange(count)]
    return components * np.where(farthest < 0, -1.0, 1.0)
