"""Data and parameters as the solver needs them, or one sentence that says what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svmviz.errors import InvalidProblemError, warn_of_conversion
from svmviz.problem import LARGEST

Array = np.ndarray


def check_number(name: str, value: Any, least: float = 0.0) -> float:
    """The value of a parameter that is at least `least`; InvalidProblemError otherwise."""
    if isinstance(value, (int, float, np.integer, np.floating)) and least <= value <= LARGEST:
        return float(value)
    raise InvalidProblemError(f"{name} must be a number from {least:g} to {LARGEST:g}, not {value!r}.")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """InvalidProblemError unless the value of a parameter is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        quoted = [f'"{choice}"' for choice in choices]
        listed = " or ".join([", ".join(quoted[:-1]), quoted[-1]])
        raise InvalidProblemError(f"{name} must be {listed}, not {value!r}.")


def check_samples(X: Any) -> Array:
    """X as a table of finite floats (n, d), n >= 1; InvalidProblemError otherwise."""
    X = _floats(X, "X must be a table of numbers: remove or encode the other columns.")
    if X.ndim != 2:
        raise InvalidProblemError(
            f"X must be a table (n_samples, n_features), not an array of shape {X.shape}. Reshape your data."
        )
    if X.shape[0] == 0:
        raise InvalidProblemError("There are no samples: add some.")
    if X.shape[1] == 0:
        raise InvalidProblemError(
            f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: add some."
        )
    if not np.isfinite(X).all():
        raise InvalidProblemError("X holds NaN or infinite values: replace or remove those samples.")
    return X


def column_names(X: Any) -> Array | None:
    """The names of the columns of a data frame (d,), where all of them are text; None otherwise."""
    columns = getattr(X, "columns", None)
    names = None if columns is None else list(columns)
    return np.array(names, dtype=object) if names and all(isinstance(n, str) for n in names) else None


def check_labels(y: Any, X: Array) -> Array:
    """y as one label a sample (n,); InvalidProblemError otherwise."""
    y = _one_column(y)
    if y.shape != (len(X),):
        raise InvalidProblemError(
            f"y must have one label for each of the {len(X)} samples, not shape {y.shape}."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InvalidProblemError("y holds NaN or infinite labels: replace or remove those samples.")
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise InvalidProblemError(
            "Unknown label type: continuous. Classes are whole numbers or text: round y, or use a regressor."
        )
    if y.dtype.kind == "O":
        if any(label != label for label in y):
            raise InvalidProblemError("y holds NaN labels: replace or remove those samples.")
        try:
            np.sort(y)
        except TypeError as error:
            raise InvalidProblemError(
                "The labels y must be of one kind: all text, or all numbers."
            ) from error
    return y


def check_targets(y: Any, X: Array) -> Array:
    """y as one finite number a sample (n,); InvalidProblemError otherwise."""
    y = _floats(_one_column(y), "The targets y of a regression must be numbers.")
    if y.shape != (len(X),):
        raise InvalidProblemError(
            f"y must have one target for each of the {len(X)} samples, not shape {y.shape}."
        )
    if not np.isfinite(y).all():
        raise InvalidProblemError("y holds NaN or infinite targets: replace or remove those samples.")
    if (np.abs(y) > LARGEST).any():
        raise InvalidProblemError(f"y holds targets beyond {LARGEST:g}: scale them down.")
    return y


def check_weights(sample_weight: Any, n: int) -> Array:
    """Weights (n,), ones by default; InvalidProblemError when one is negative or not finite, or all are 0."""
    if sample_weight is None:
        return np.ones(n)
    message = f"sample_weight must hold {n} numbers from 0 to {LARGEST:g}, not all of them zero."
    weights = _floats(sample_weight, message)
    if weights.shape != (n,) or not ((weights >= 0) & (weights <= LARGEST)).all() or not weights.any():
        raise InvalidProblemError(message)
    return weights


def check_present(codes: Array, weights: Array) -> None:
    """InvalidProblemError unless all classes, two at least, have samples of weight above 0.

    Parameters
    ----------
    codes : ndarray (n,) of int
        Class of each sample, from 0 on.
    weights : ndarray (n,)
    """
    present = np.count_nonzero(np.bincount(codes[weights > 0]))
    if present < 2:
        raise InvalidProblemError("All samples of weight above 0 are of one class: give others a weight.")
    if present < codes.max() + 1:
        raise InvalidProblemError(
            "A class has only samples of weight 0: give one of them a weight or drop the class."
        )


def _one_column(y: Any) -> Array:
    """y as an array; a table of one column as that column, with a warning."""
    if y is None:
        raise InvalidProblemError("Training requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn_of_conversion("A column-vector y was passed when a 1d array was expected: y[:, 0] is used.")
        return y[:, 0]
    return y


def _floats(values: Any, message: str) -> Array:
    if hasattr(values, "toarray"):
        raise InvalidProblemError("Sparse input is not supported: pass a dense array, such as X.toarray().")
    try:
        values = np.asarray(values)
        if values.dtype.kind == "c":
            raise InvalidProblemError("Complex data not supported: pass real numbers.")
        return values.astype(float, copy=False)
    except InvalidProblemError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblemError(message) from error
