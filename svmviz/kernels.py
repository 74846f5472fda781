"""Kernels k(x, x') and their Gram matrices.

A Gram matrix is made from one matrix product or from SciPy's pairwise distances, never from an
(n, n, d) array of differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.spatial.distance import cdist, pdist, squareform

from svmviz.errors import InvalidProblemError

Array = np.ndarray

# Up to this many features the distances are summed directly (exact for near-duplicates);
# beyond it one matrix product is many times faster.
_DIRECT_FEATURES = 8


# Kernel values (a, b) between some samples and others, given by number or as slices.
Between = Callable[[Any, Any], Array]


@runtime_checkable
class Kernel(Protocol):
    """What the solver needs of a kernel."""

    @property
    def name(self) -> str:
        """As in `NAMES`, or "callable"."""

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b) between the rows of A (a, d) and of B (b, d)."""

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x), shape (a,), of the rows of A (a, d)."""

    @property
    def positive_semidefinite(self) -> bool | None:
        """True where every Gram matrix is positive semidefinite, None where that must be looked at."""


@dataclass(frozen=True)
class LinearKernel:
    """k(x, x') = x'x."""

    name = "linear"
    positive_semidefinite = True

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b)."""
        return A @ B.T

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x)."""
        return np.einsum("ij,ij->i", A, A)


@dataclass(frozen=True)
class PolynomialKernel:
    """k(x, x') = (gamma x'x + coef0)^degree.

    Parameters
    ----------
    degree : float, default 3
    gamma : float, default 1.0
    coef0 : float, default 0.0
    """

    degree: float = 3
    gamma: float = 1.0
    coef0: float = 0.0

    name = "poly"

    @property
    def positive_semidefinite(self) -> bool | None:
        """Known for a whole degree, a gamma and a coef0 that are not negative (a product of kernels)."""
        whole = float(self.degree).is_integer() and self.degree >= 0
        return True if whole and self.gamma >= 0 and self.coef0 >= 0 else None

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b)."""
        return self._power(A @ B.T)

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x)."""
        return self._power(np.einsum("ij,ij->i", A, A))

    def _power(self, products: Array) -> Array:
        products *= self.gamma
        products += self.coef0
        return products**self.degree


@dataclass(frozen=True)
class GaussianKernel:
    """k(x, x') = exp(-gamma |x - x'|^2), Euclidean distance.

    Parameters
    ----------
    gamma : float, default 1.0
        Must be positive. `from_width` takes the standard deviation sigma instead.
    """

    gamma: float = 1.0

    name = "rbf"
    positive_semidefinite = True

    @classmethod
    def from_width(cls, sigma: float) -> GaussianKernel:
        """exp(-|x - x'|^2 / (2 sigma^2)): the Gaussian whose standard deviation is sigma (> 0)."""
        if not sigma > 0:
            raise InvalidProblemError(f"The width of a Gaussian kernel must be positive, not {sigma}.")
        return cls(gamma=1.0 / (2.0 * sigma**2))

    @property
    def width(self) -> float:
        """The standard deviation sigma, 1 / sqrt(2 gamma), in units of x."""
        return float(1.0 / np.sqrt(2.0 * self.gamma))

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b)."""
        if A.shape[1] <= _DIRECT_FEATURES:
            return _decay(cdist(A, B, "sqeuclidean"), self.gamma)
        centre = _far_centre(B)
        left, right = self._left_factor(A, centre), _right_factor(self._left_factor(B, centre))
        return self._of_exponents(left @ right.T)

    def between(self, X: Array) -> Between:
        """Kernel values between the samples X (n, d), by number."""
        if X.shape[1] <= _DIRECT_FEATURES:
            return lambda rows, columns: self(X[rows], X[columns])
        left = self._left_factor(X, _far_centre(X))
        right = _right_factor(left)
        return lambda rows, columns: self._of_exponents(left[rows] @ right[columns].T)

    def condensed(self, X: Array) -> Array:
        """The values k(x_i, x_j), i < j, row after row, (n (n - 1) / 2,)."""
        if X.shape[1] <= _DIRECT_FEATURES:
            return _decay(pdist(X, "sqeuclidean"), self.gamma)
        left = self._left_factor(X, _far_centre(X))
        return self._of_exponents(squareform(left @ _right_factor(left).T, checks=False))

    def _left_factor(self, A: Array, centre: Array | None) -> Array:
        """(a, d + 2); its products with a `_right_factor` are -gamma |x - x'|^2.

        That is 2 gamma x'x' - gamma |x|^2 - gamma |x'|^2, the last two as products with a column of ones: all in one
        matrix product, and no pass over the values for each.
        """
        factor = np.ones((len(A), A.shape[1] + 2))
        scaled = factor[:, :-2]
        np.multiply(A if centre is None else A - centre, np.sqrt(2.0 * self.gamma), out=scaled)
        factor[:, -2] = -0.5 * np.einsum("ij,ij->i", scaled, scaled)
        return factor

    @staticmethod
    def _of_exponents(exponents: Array) -> Array:
        """Their exponentials, in place; rounding may have left them above 0."""
        np.minimum(exponents, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x) = 1."""
        return np.ones(len(A))


@dataclass(frozen=True)
class LaplacianKernel:
    """k(x, x') = exp(-gamma |x - x'|_1), sum of absolute differences.

    Parameters
    ----------
    gamma : float, default 1.0
    """

    gamma: float = 1.0

    name = "laplacian"
    positive_semidefinite = True

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b)."""
        return _decay(cdist(A, B, "cityblock"), self.gamma)

    def condensed(self, X: Array) -> Array:
        """The values k(x_i, x_j), i < j, row after row, (n (n - 1) / 2,)."""
        return _decay(pdist(X, "cityblock"), self.gamma)

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x) = 1."""
        return np.ones(len(A))


@dataclass(frozen=True)
class SigmoidKernel:
    """k(x, x') = tanh(gamma x'x + coef0). Not positive semidefinite in general.

    Parameters
    ----------
    gamma : float, default 1.0
    coef0 : float, default 0.0
    """

    gamma: float = 1.0
    coef0: float = 0.0

    name = "sigmoid"
    positive_semidefinite = None

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b)."""
        return np.tanh(self.gamma * (A @ B.T) + self.coef0)

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x)."""
        return np.tanh(self.gamma * np.einsum("ij,ij->i", A, A) + self.coef0)


@dataclass(frozen=True)
class PrecomputedKernel:
    """The rows given as data are kernel values already: (n, n) to train on, (a, n) to predict from."""

    name = "precomputed"
    positive_semidefinite = None

    def __call__(self, A: Array, B: Array) -> Array:
        """A itself: its columns are the samples of B."""
        return np.asarray(A, dtype=float)

    def diagonal(self, A: Array) -> Array:
        """The diagonal of the Gram matrix A (n, n)."""
        return np.diagonal(A).copy()


@dataclass(frozen=True)
class CallableKernel:
    """A function of the visitor's own: `function(A, B)` returns the values (a, b) between rows."""

    function: Callable[[Array, Array], Array]

    name = "callable"
    positive_semidefinite = None

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values (a, b); ValueError when the function returns another shape."""
        try:
            values = np.asarray(self.function(A, B), dtype=float)
        except (TypeError, ValueError) as error:
            raise InvalidProblemError(
                f"The kernel function does not work on these samples: {error}."
            ) from error
        if values.shape != (len(A), len(B)):
            raise InvalidProblemError(
                f"The kernel function must return an array of shape ({len(A)}, {len(B)}), not {values.shape}."
            )
        return values

    def diagonal(self, A: Array) -> Array:
        """The values k(x, x), one call a sample: never an (a, a) matrix."""
        return np.array([self(row[None, :], row[None, :])[0, 0] for row in A])


NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")


def _right_factor(left: Array) -> Array:
    """The other factor of the samples of a left one (b, d + 2): its last two columns exchanged."""
    right = left.copy()
    right[:, -2], right[:, -1] = left[:, -1], left[:, -2]
    return right


def _decay(distances: Array, gamma: float) -> Array:
    """exp(-gamma distances), in place."""
    distances *= -gamma
    return np.exp(distances, out=distances)


def _far_centre(X: Array) -> Array | None:
    """The mean of the rows of X (n, d), or None where it is near the origin.

    Distances taken about it keep |a|^2 + |b|^2 - 2 a'b from cancelling far from the origin. Where the mean is near,
    as for standardised data, that gains nothing and a copy of the samples is saved.
    """
    if not len(X):
        return None
    centre = X.mean(axis=0)
    return centre if centre @ centre > 0.5 * np.einsum("ij,ij->", X, X) / len(X) else None


def resolve_gamma(gamma: str | float, X: Array) -> float:
    """The number behind scikit-learn's "scale" (1 / (d var(X))) and "auto" (1 / d).

    Parameters
    ----------
    gamma : "scale", "auto" or a float that is not negative
    X : ndarray (n, d)

    Raises
    ------
    InvalidProblemError
        For any other text and for a negative number.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float(X.shape[1] * X.var())
        if variance == 0:
            return 1.0
        if not 1e-300 < variance < np.inf:
            raise InvalidProblemError("The features are too large or too small: scale them to around 1.")
        return 1.0 / variance
    if not (isinstance(gamma, Real) and np.isfinite(gamma) and gamma >= 0):
        raise InvalidProblemError(f'gamma must be "scale", "auto" or a number of at least 0, not {gamma!r}.')
    return float(gamma)


def make_kernel(
    kernel: str | Kernel | Callable[[Array, Array], Array],
    X: Array,
    *,
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 0.0,
) -> Kernel:
    """A kernel from its scikit-learn name, from a function, or the kernel itself.

    Parameters
    ----------
    kernel : one of `NAMES`, a callable of two matrices, or a Kernel
    X : ndarray (n, d)
        The training data that "scale" and "auto" refer to.
    gamma, degree, coef0
        As in scikit-learn; those that the kernel has no use for are ignored.

    Raises
    ------
    InvalidProblemError
        For an unknown name or a parameter outside its range.
    """
    if isinstance(kernel, str):
        return _named_kernel(kernel, X, gamma, degree, coef0)
    if isinstance(kernel, Kernel) and not isinstance(kernel, type):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    raise InvalidProblemError(f"kernel must be one of {', '.join(NAMES)} or a function, not {kernel!r}.")


def _named_kernel(name: str, X: Array, gamma: str | float, degree: float, coef0: float) -> Kernel:
    if name == "linear":
        return LinearKernel()
    if name == "precomputed":
        return PrecomputedKernel()
    if name not in NAMES:
        raise InvalidProblemError(f"There is no kernel {name!r}: choose one of {', '.join(NAMES)}.")
    value = resolve_gamma(gamma, X)
    if name == "rbf":
        return GaussianKernel(value)
    if name == "laplacian":
        return LaplacianKernel(value)
    if not (isinstance(coef0, Real) and np.isfinite(coef0)):
        raise InvalidProblemError(f"coef0 must be a number, not {coef0!r}.")
    if name == "sigmoid":
        return SigmoidKernel(value, float(coef0))
    if not (isinstance(degree, Real) and np.isfinite(degree) and degree >= 0):
        raise InvalidProblemError(f"degree must be a number of at least 0, not {degree!r}.")
    return PolynomialKernel(degree, value, float(coef0))


def describe(kernel: Kernel) -> dict[str, Any]:
    """Name and parameters of a kernel, as plain numbers: what a trace or a browser needs."""
    fields = {f: float(getattr(kernel, f)) for f in ("gamma", "degree", "coef0") if hasattr(kernel, f)}
    return {"name": kernel.name, **fields}


def from_description(description: dict[str, Any]) -> Kernel:
    """The kernel that `describe` described; a callable comes back as "precomputed"."""
    parameters = {k: v for k, v in description.items() if k != "name"}
    kinds: dict[str, Callable[..., Kernel]] = {
        "linear": LinearKernel,
        "poly": PolynomialKernel,
        "rbf": GaussianKernel,
        "laplacian": LaplacianKernel,
        "sigmoid": SigmoidKernel,
        "precomputed": PrecomputedKernel,
        "callable": PrecomputedKernel,
    }
    if description["name"] not in kinds:
        raise InvalidProblemError(f"There is no kernel called {description['name']!r}.")
    return kinds[description["name"]](**parameters)


def between_samples(kernel: Kernel, X: Array) -> Between:
    """The kernel over the rows of X (n, d); where it can be, what depends on them alone is computed once.

    What overflows is not finite in the values, and no warning.
    """
    if not isinstance(kernel, GaussianKernel):
        return lambda rows, columns: kernel(X[rows], X[columns])
    with np.errstate(all="ignore"):
        return kernel.between(X)


def condensed(kernel: Kernel, X: Array) -> Array | None:
    """The values k(x_i, x_j), i < j, row after row, (n (n - 1) / 2,); None where a kernel has no way to them.

    What overflows is not finite among them, and no warning.
    """
    if not isinstance(kernel, GaussianKernel | LaplacianKernel):
        return None
    with np.errstate(all="ignore"):
        return kernel.condensed(X)


def is_exactly_symmetric(kernel: Kernel, X: Array) -> bool:
    """Whether k(a, b) and k(b, a) between these samples are equal to the last bit, however they are computed."""
    summed = isinstance(kernel, GaussianKernel) and X.shape[1] <= _DIRECT_FEATURES
    return summed or isinstance(kernel, LaplacianKernel)


def is_positive_semidefinite(K: Array) -> bool:
    """Whether a symmetric Gram matrix (n, n) is positive semidefinite up to rounding, by a Cholesky factor."""
    if len(K) == 0:
        return True
    scale = max(float(np.abs(np.diagonal(K)).max()), np.finfo(float).tiny)
    ridge = 1e-12 * len(K) * scale
    shifted = np.array(K, dtype=float)
    shifted[np.diag_indices_from(shifted)] += ridge
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
