"""The one kind of error that this package raises for data it cannot use."""

import sys
import warnings


class InvalidProblemError(ValueError):
    """Data or parameters that no machine can be trained on.

    The message is one sentence that says what to change, so that a program can show it to a person as it is.
    """


class NotFittedError(InvalidProblemError, AttributeError):
    """An estimator was asked for what only training gives."""


class DataConversionWarning(UserWarning):
    """Data came in another shape than asked for, and could be used."""


def not_fitted(name: str) -> Exception:
    """The error for an estimator of this name that is not trained."""
    return _kin(NotFittedError)(f"This {name} is not fitted yet: call fit first.")


def _kin(kind: type) -> type:
    """The class; where scikit-learn is in use, one that is also its class of that name, for those who catch it."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), kind.__name__, None)
    return type(kind.__name__, (kind, theirs), {}) if theirs else kind


def warn_of_conversion(message: str) -> None:
    """Say that data came in another shape than asked for."""
    warnings.warn(message, _kin(DataConversionWarning), stacklevel=5)
