"""Two data sets of the thesis, standardised as its figures ask for: with the training mean and deviation."""

from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training samples (n, d) and labels, test samples and labels, of "satimage" or "vowel"."""
    with np.load(DATA / f"{name}.npz") as arrays:
        X, y, X_test, y_test = (arrays[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    return (X - mean) / deviation, y, (X_test - mean) / deviation, y_test
