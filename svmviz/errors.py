"""The one kind of error that this package raises for data it cannot use."""


class InvalidProblemError(ValueError):
    """Data or parameters that no machine can be trained on.

    The message is one sentence that says what to change, so that a program can show it to a person as it is.
    """
