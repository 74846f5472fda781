"""The data of the solver's benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import scale

from tests.thesis import load


@dataclass(frozen=True)
class Samples:
    """Data with the width of the Gaussian kernel that is used on them.

    Attributes
    ----------
    name : str
    X : ndarray (n, d)
    y : ndarray (n,)
        Classes or targets.
    gamma : float or "scale"
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    gamma: float | str

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)


def two_clouds(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes in the plane: points (n, 2) and signs (n,)."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-0.8, 1, (n // 2, 2)), rng.normal(0.8, 1, (n - n // 2, 2))])
    return X, np.repeat([-1.0, 1.0], [n // 2, n - n // 2])


def clouds(n: int) -> Samples:
    """The two overlapping classes of `two_clouds`."""
    return Samples("two clouds", *two_clouds(n), 1.0)


def four_clouds(n: int) -> Samples:
    """Four overlapping classes in the plane, round the corners of a square of side 2, with deviation 1."""
    rng = np.random.default_rng(0)
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.arange(n) % 4
    return Samples("four clouds", corners[y] + rng.normal(size=(n, 2)), y, 1.0)


def noisy_sine(n: int) -> Samples:
    """y = sin x with noise of deviation 0.2, x uniform in 0 to 10."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, n)
    return Samples("noisy sine", x[:, None], np.sin(x) + 0.2 * rng.normal(size=n), 1.0)


def breast_cancer(n: int) -> Samples:
    """A random n of its 569 samples, standardised; two classes, 30 features."""
    return _some("breast cancer", *datasets.load_breast_cancer(return_X_y=True), n)


def diabetes(n: int) -> Samples:
    """A random n of its 442 samples, features and targets standardised; 10 features."""
    some = _some("diabetes", *datasets.load_diabetes(return_X_y=True), n)
    return Samples(some.name, some.X, scale(some.y), some.gamma)


def vowel(n: int) -> Samples:
    """A random n of its 528 training samples; 11 classes, 10 features."""
    X, y, _, _ = load("vowel")
    return _some("vowel", X, y, n)


def letter(n: int, folder: Path) -> Samples:
    """A random n of the 20,000 samples of Letter, from letter.npz; 26 classes, 16 features."""
    with np.load(folder / "letter.npz") as arrays:
        X = np.vstack([arrays["X_train"], arrays["X_test"]]).astype(float)
        y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return _some("letter", X, y, n)


def _some(name: str, X: np.ndarray, y: np.ndarray, n: int) -> Samples:
    """A random n of the samples, standardised."""
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return Samples(name, scale(X[chosen]), y[chosen], "scale")
