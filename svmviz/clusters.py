"""Kernel k-means: the samples of a class divided into clusters, one for each of its prototypes.

Lloyd's two steps in the space of the kernel, where the distance of a sample to the mean of a cluster needs the Gram
matrix only (Schoelkopf, Smola, Mueller: Nonlinear component analysis as a kernel eigenvalue problem, 1998, appendix;
Dhillon, Guan, Kulis: Kernel k-means, spectral clustering and normalized cuts, 2004, equation 2). No cluster becomes
smaller than asked for: it takes the samples that lose least by coming to it. (Constrained k-means of Bradley,
Bennett and Demiriz, 2000, would assign them exactly, by a transport problem in every round: seconds for what is
only a start for the machine.)
"""

from __future__ import annotations

import numpy as np

from svmviz.errors import InvalidProblemError

Array = np.ndarray

STARTS = 5
LARGEST_ROUNDS = 100


def kernel_kmeans(K: Array, n_clusters: int, smallest: int = 1, seed: int = 0) -> Array:
    """The cluster of each sample (n,), 0 to n_clusters - 1, in the order of their first samples.

    The best of a few starts from k-means++ (Arthur, Vassilvitskii, 2007); the same data give the same clusters.

    Parameters
    ----------
    K : ndarray (n, n)
        Gram matrix of the samples.
    n_clusters : int
        1 to n.
    smallest : int, default 1
        No cluster holds fewer samples than this.
    seed : int, default 0
        Of the starts.

    Raises
    ------
    InvalidProblemError
        When there are too few samples for so many clusters of that size.
    """
    n = len(K)
    if not (n_clusters >= 1 and smallest >= 1 and n_clusters * smallest <= n):
        raise InvalidProblemError(
            f"{n} samples cannot be divided into {n_clusters} clusters of at least {smallest}: ask for fewer."
        )
    if n_clusters == 1:
        return np.zeros(n, dtype=int)
    random = np.random.default_rng(seed)
    found = [_lloyd(K, _spread(K, n_clusters, random), smallest) for _ in range(STARTS)]
    codes = min(found, key=lambda pair: pair[0])[1]
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def _spread(K: Array, n_clusters: int, random: np.random.Generator) -> Array:
    """Squared distances (n, n_clusters) to samples that are drawn far from each other."""
    own = np.diagonal(K)
    chosen: list[int] = [int(random.integers(len(K)))]
    columns: list[Array] = []
    while True:
        newest = chosen[-1]
        columns.append(np.maximum(own + own[newest] - 2 * K[newest], 0.0))
        if len(chosen) == n_clusters:
            return np.column_stack(columns)
        nearest = np.min(columns, axis=0)
        nearest[chosen] = 0.0
        if not nearest.any():  # all that is left are duplicates
            nearest = np.ones(len(K))
            nearest[chosen] = 0.0
        chosen.append(int(random.choice(len(K), p=nearest / nearest.sum())))


def _lloyd(K: Array, distances: Array, smallest: int) -> tuple[float, Array]:
    """Assign and take means until nothing changes: the sum of squared distances, and the clusters (n,)."""
    n, n_clusters = distances.shape
    codes = _assigned(distances, smallest)
    best = np.inf
    for _ in range(LARGEST_ROUNDS):
        distances = _to_means(K, codes, n_clusters)
        now = float(distances[np.arange(n), codes].sum())
        moved = _assigned(distances, smallest)
        if now >= best or np.array_equal(moved, codes):
            return now, codes
        codes, best = moved, now
    return best, codes


def _to_means(K: Array, codes: Array, n_clusters: int) -> Array:
    """Squared distances (n, n_clusters) of the samples to the means of the clusters."""
    member = (codes[:, None] == np.arange(n_clusters)).astype(float)
    member /= member.sum(axis=0)
    products = K @ member
    return np.diagonal(K)[:, None] - 2 * products + np.einsum("ip,ip->p", member, products)


def _assigned(distances: Array, smallest: int) -> Array:
    """The cluster of each sample (n,): the nearest, or one that would be too small without it."""
    n, n_clusters = distances.shape
    codes = distances.argmin(axis=1)
    sizes = np.bincount(codes, minlength=n_clusters)
    for cluster in np.argsort(sizes, kind="stable").tolist():
        if sizes[cluster] >= smallest:
            continue
        loss = distances[:, cluster] - distances[np.arange(n), codes]
        for sample in np.argsort(loss, kind="stable").tolist():
            if sizes[cluster] == smallest:
                break
            if sizes[codes[sample]] > smallest:
                sizes[codes[sample]] -= 1
                sizes[cluster] += 1
                codes[sample] = cluster
    return codes
