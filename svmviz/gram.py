"""Gram matrices: whole, or row by row as far as memory allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from scipy.linalg.blas import daxpy
from scipy.spatial.distance import squareform

from svmviz.checks import check_number
from svmviz.errors import InvalidProblemError
from svmviz.kernels import (
    Between,
    Kernel,
    between_samples,
    condensed,
    is_exactly_symmetric,
    is_positive_semidefinite,
)
from svmviz.problem import LARGEST

Array = np.ndarray


# Numbers handled at once when a whole Gram matrix is looked at: temporaries stay small beside it.
BLOCK = 2**18
# Default size of the cache, in MB, as in scikit-learn.
CACHE_SIZE = 200.0
# Up to so many samples the whole matrix costs less than the calls that fetch its rows in parts.
SMALL = 1280
# ... and for any number once so large a share of the rows has been asked for.
SHARE = 1 / 4
# Up to so many it is best computed for all pairs in one row of numbers, where the kernel can.
MOST_CONDENSED = 1024
# Elsewhere in about so many strips, of at least so many rows but for the last: more of them leave less to compute
# twice.
STRIPS, SMALLEST_STRIP = 16, 64
# From so many samples on the sum of rows is taken one by one.
LONG = 1500
# However small the cache, a pair and the rows fetched with it must fit.
FEWEST_ROWS = 64


def kernel_values(kernel: Kernel, A: Array, B: Array) -> Array:
    """Kernel values (a, b) between the rows of A (a, d) and of B (b, d).

    Raises
    ------
    InvalidProblemError
        When a value is not finite, or too large to compute with.
    """
    return _checked(lambda: kernel(A, B))


def _checked(compute: Callable[[], Array]) -> Array:
    with np.errstate(all="ignore"):  # what overflows is seen below
        values = np.asarray(compute(), dtype=float, order="C")
    _check_size(values)
    return values


def _check_size(values: Array) -> None:
    # NaN passes through both and is not within the limit; an array of sizes |K| would double the memory.
    if not (values.max(initial=0.0) <= LARGEST and values.min(initial=0.0) >= -LARGEST):
        raise InvalidProblemError(
            "Some kernel values are not finite or too large: scale the features down, or lower gamma or degree."
        )


def gram_matrix(kernel: Kernel, X: Array) -> Array:
    """Kernel values between all rows of X (n, d): (n, n), symmetric to the last bit.

    Raises
    ------
    InvalidProblemError
        When a value is not finite, or precomputed values are not square and symmetric.
    """
    if kernel.name not in ("precomputed", "callable"):
        return _half_by_half(kernel, X)
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
    K = K.copy()
    for s in strips:
        after = slice(s.start, None)
        mean = 0.5 * (K[s, after] + K[after, s].T)
        K[s, after] = mean
        K[after, s] = mean.T
    return K


def _half_by_half(kernel: Kernel, X: Array) -> Array:
    """The Gram matrix of a kernel that is known to be symmetric: what lies below the diagonal is not computed."""
    n = len(X)
    half = condensed(kernel, X) if 1 < n <= MOST_CONDENSED else None
    if half is not None:
        _check_size(half)
        K = squareform(half, checks=False)
    else:
        K = _strip_by_strip(between_samples(kernel, X), n, is_exactly_symmetric(kernel, X))
    K.flat[:: n + 1] = kernel.diagonal(X)  # which a matrix product gives but for rounding
    return K


def _strip_by_strip(between: Between, n: int, exact: bool) -> Array:
    """The Gram matrix (n, n) from strips right of the diagonal; `exact` as `is_exactly_symmetric` says."""
    K = np.empty((n, n))
    step = max(SMALLEST_STRIP, n // STRIPS)
    lower = None if exact else np.tri(min(step, n), dtype=bool)
    for first in range(0, n, step):
        last = min(n, first + step)
        strip = _checked(partial(between, slice(first, last), slice(first, n)))
        if lower is not None:
            own = strip[:, : last - first]
            own[:] = np.where(lower[: len(own), : len(own)], own.T, own)
        K[first:last, first:] = strip
        K[last:, first:last] = strip[:, last - first :].T
    return K


class KernelRows:
    """Rows k(x_i, .) over the training samples, by number.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray (n, d)
        The samples; kernel values (n, n) where the kernel is precomputed.
    cache_size : float, default 200
        Memory for rows, in MB (2^20 bytes); at least 64 rows are kept. A Gaussian kernel of many features takes twice
        the memory of the samples besides, while not all rows are there.

    Attributes
    ----------
    positive_semidefinite : bool
        Whether the whole matrix is; where that is not known of the kernel it is looked at with a Cholesky factor,
        and taken not to be where the matrix does not fit in the cache.
    computed : int
        Kernel values computed so far, those over a `part` not counted.

    Raises
    ------
    InvalidProblemError
        When a value is not finite or the kernel is not symmetric, as soon as that is seen.
    """

    def __init__(self, kernel: Kernel, X: Array, cache_size: float = CACHE_SIZE):
        n = len(X)
        self._cache_size = check_number("cache_size", cache_size)
        fit = max(FEWEST_ROWS, int(self._cache_size * 2**20 // (8 * max(1, n))))
        self.computed = 0
        self._kernel: Kernel | None = kernel
        self._X = X
        self._known_definite = kernel.positive_semidefinite is True
        self._fits = fit >= n or kernel.name == "precomputed"
        if self._fits and (n <= SMALL or kernel.positive_semidefinite is None):
            self._own(gram_matrix(kernel, X))
            self.computed = n * n
            return
        self._between_samples: Between | None = None
        self._is_exact = is_exactly_symmetric(kernel, X)
        self._kept = min(n, fit)
        self._forget()

    def _forget(self) -> None:
        """Keep no row."""
        n = len(self._X)
        self._values = np.empty((self._kept, n))  # memory is taken when it is written to
        # Place of each sample's row, -1 where there is none: a plain list, since it is read one by one.
        self._slot = [-1] * n
        # The samples whose rows are there, in the order of the places; of their coming where each has its own.
        self._owner = np.full(self._kept, -1)
        self._filled = 0
        self._last_use = np.zeros(self._kept, dtype=np.int64)
        self._clock = 0

    @classmethod
    def of(cls, K: Array, positive_semidefinite: bool | None = None) -> KernelRows:
        """Over a Gram matrix (n, n) that is there already and symmetric."""
        rows = cls.__new__(cls)
        rows.computed = 0
        rows._kernel, rows._fits = None, True
        rows._known_definite = positive_semidefinite is True
        rows._own(K)
        if positive_semidefinite is False:
            rows.positive_semidefinite = False
        return rows

    def _own(self, K: Array) -> None:
        self._values = K
        self._slot = list(range(len(K)))
        self._owner = np.arange(len(K))
        self._filled = len(K)

    def __len__(self) -> int:
        return len(self._slot)

    @property
    def is_whole(self) -> bool:
        """Whether every row is there."""
        return self._filled == len(self._slot)

    @cached_property
    def positive_semidefinite(self) -> bool:
        """See the class."""
        if self._known_definite:
            return True
        return self._fits and is_positive_semidefinite(self.whole())

    @cached_property
    def diagonal(self) -> Array:
        """k(x, x) of every sample, (n,)."""
        if self._kernel is None or self.is_whole:
            return np.diagonal(self._values).copy()
        with np.errstate(all="ignore"):  # what overflows is seen below
            values = np.asarray(self._kernel.diagonal(self._X), dtype=float)
        _check_size(values)
        return values

    @property
    def is_known_definite(self) -> bool:
        """Whether the matrix is positive semidefinite by its kernel, without a look at it."""
        return self._known_definite

    @property
    def fits(self) -> bool:
        """Whether all rows can be kept."""
        return self._fits

    def part(self, samples: Array) -> KernelRows:
        """Rows over some of the samples (k,), which may take as much memory: those that are kept here are given up.

        For rows that do not all fit, so never over a precomputed matrix.
        """
        assert self._kernel is not None
        self._forget()
        return KernelRows(self._kernel, self._X[samples], self._cache_size)

    def has(self, i: int) -> bool:
        """Whether the row of sample i need not be computed."""
        return self._slot[i] >= 0

    def row(self, i: int) -> Array:
        """Row i, (n,): a view, good until the next row is fetched; not to be written to."""
        slot = self._slot[i]
        if slot < 0:
            self.fetch(np.array([i]))
            slot = self._slot[i]
        if not self._fits:
            self._clock += 1
            self._last_use[slot] = self._clock
        return self._values[slot]

    def pair(self, i: int, j: int) -> tuple[Array, Array]:
        """Rows i and j, (n,) each, as `row`."""
        if not self._fits and (self._slot[i] < 0 or self._slot[j] < 0):
            self.fetch(np.array([i, j] if i != j else [i]))
        return self.row(i), self.row(j)

    def fetch(self, samples: Array) -> None:
        """Compute the rows of these samples (k,), all different, that are not there."""
        slots = self._slot
        missing = np.array([s for s in samples.tolist() if slots[s] < 0], dtype=int)
        if not len(missing):
            return
        if self._fits and self._filled + len(missing) > SHARE * len(slots):
            self._complete()
            return
        step = max(1, min(BLOCK // len(slots), len(self._values) // 2))
        for first in range(0, len(missing), step):
            self._compute(missing[first : first + step], samples)

    def expect_all(self) -> None:
        """Most rows are going to be needed: where they fit, all are computed at once, which costs half as much.

        Raises
        ------
        InvalidProblemError
            As the class.
        """
        if self._fits and not self.is_whole:
            self._complete()

    def _compute(self, missing: Array, wanted: Array) -> None:
        values = self._between(missing, slice(None))
        values[np.arange(len(missing)), missing] = self.diagonal[missing]
        if not self._is_exact:
            self._make_symmetric(values, missing)
            # Of a value that is there already the other row gets a copy: rounding must not tell the two apart.
            there = self._owner[: self._filled]
            places = there if self._fits else np.arange(self._filled)
            values[:, there] = self._values[places[:, None], missing].T
        if self._fits:
            places = missing
            self._owner[self._filled : self._filled + len(missing)] = missing
            self._filled += len(missing)
        else:
            places = self._places(len(missing), wanted)
            self._owner[places] = missing
            self._clock += 1
            self._last_use[places] = self._clock
        self._values[places] = values
        for sample, place in zip(missing.tolist(), places.tolist(), strict=True):
            self._slot[sample] = place

    def _make_symmetric(self, values: Array, samples: Array) -> None:
        """Where rows (k, n) of these samples meet each other, both get the mean of the two values."""
        inner = values[:, samples]
        if np.array_equal(inner, inner.T):
            return
        # The package's own kernels are symmetric, whatever rounding near-duplicates far from the origin cost.
        if self._kernel is not None and self._kernel.name == "callable":
            scale = float(np.abs(inner).max(initial=0.0))
            if float(np.abs(inner - inner.T).max(initial=0.0)) > 1e-8 * scale:
                raise InvalidProblemError("The kernel is not symmetric: make k(a, b) equal to k(b, a).")
        values[:, samples] = 0.5 * (inner + inner.T)

    def _complete(self) -> None:
        assert self._kernel is not None
        self._values = np.empty((0, 0))  # before as much is needed again
        self._between_samples = None
        self._own(gram_matrix(self._kernel, self._X))
        self.computed += len(self) ** 2

    def _between(self, rows: Array, columns: Array | slice) -> Array:
        assert self._kernel is not None
        if self._between_samples is None:
            self._between_samples = between_samples(self._kernel, self._X)
        values = _checked(partial(self._between_samples, rows, columns))
        self.computed += values.size
        return values

    def _places(self, count: int, wanted: Array) -> Array:
        """Where `count` new rows go: to free places, else to those of the rows used least recently."""
        free = min(count, len(self._values) - self._filled)
        places = np.arange(self._filled, self._filled + free)
        self._filled += free
        if free == count:
            return places
        # Rows that the same request wants are the last to go, and the places just given are not to be given twice.
        self._clock += 1
        kept = [slot for slot in (self._slot[s] for s in wanted.tolist()) if slot >= 0]
        self._last_use[kept] = self._clock
        self._last_use[places] = self._clock + 1
        oldest = np.argpartition(self._last_use, count - free - 1)[: count - free]
        for sample in self._owner[oldest].tolist():
            self._slot[sample] = -1
        return np.concatenate([places, oldest])

    def square(self, samples: Array) -> Array:
        """Kernel values between these samples (k,), (k, k), a copy."""
        slots = samples if self.is_whole else [self._slot[s] for s in samples.tolist()]
        if self.is_whole or min(slots, default=0) >= 0:
            return self._values.ravel().take(np.asarray(slots)[:, None] * len(self) + samples)
        values = self._between(samples, samples)
        values.flat[:: len(samples) + 1] = self.diagonal[samples]
        self._make_symmetric(values, np.arange(len(samples)))
        return values

    def times(self, weights: Array, samples: Array) -> Array:
        """weights (l, k) times the rows of these samples (k,), (l, n).

        Where they are too many for the cache, those that are not there are computed, used and forgotten: they must
        not push out those that the pairs need.
        """
        n = len(self)
        # A few rows are worth keeping: those of the free multipliers come again at every Newton phase.
        if not self.is_whole and (self._fits or 4 * len(samples) <= len(self._values)):
            self.fetch(samples)
        if self.is_whole and 2 * len(samples) > n:
            spread = np.zeros((len(weights), n))
            spread[:, samples] = weights
            return spread @ self._values
        if self._fits and n < LONG:
            return weights @ self._values[samples]
        sums = np.zeros((len(weights), n))
        places = self._places_of(samples)
        there = places >= 0
        # One row after the other: a copy of them all takes longer than the sums.
        for label, k in zip(*np.nonzero(weights * there), strict=True):
            daxpy(self._values[places[k]], sums[label], a=weights[label, k])
        step = max(1, BLOCK // n)
        missing = np.flatnonzero(~there)
        for first in range(0, len(missing), step):
            block = missing[first : first + step]
            sums += weights[:, block] @ self._between(samples[block], slice(None))
        return sums

    def _places_of(self, samples: Array) -> Array:
        if self._fits:
            return samples
        return np.array([self._slot[s] for s in samples.tolist()], dtype=int)

    def whole(self) -> Array:
        """The Gram matrix (n, n), not to be written to.

        Raises
        ------
        InvalidProblemError
            When it does not fit in the cache.
        """
        if not self._fits:
            raise InvalidProblemError("The Gram matrix does not fit in the cache: raise cache_size.")
        if not self.is_whole:
            self.fetch(np.arange(len(self)))
        return self._values


def kernel_rows(K: Array | KernelRows, positive_semidefinite: bool | None = None) -> KernelRows:
    """Rows of a Gram matrix (n, n) that is there already and symmetric, or K itself where it is rows."""
    return K if isinstance(K, KernelRows) else KernelRows.of(K, positive_semidefinite)
