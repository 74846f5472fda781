"""Fit the workspace once for what it is now, and hand the Board what it shows."""

from typing import Any

import numpy as np
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.ui.models import Fit, train
from svmviz.ui.workspace import Workspace, checked


def fit(space: Workspace) -> Fit:
    """Fit the machine of a workspace to its points.

    Parameters
    ----------
    space : Workspace

    Returns
    -------
    Fit
        With a message instead of a model when the points or the parameters do not allow one.
    """
    message = checked(space)
    if message:
        return Fit(message)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return train(space)
    except InvalidProblemError as error:
        return Fit(str(error))


def fingerprint(space: Workspace) -> tuple[Any, ...]:
    """What a fit depends on: equal fingerprints, equal fits."""
    return (
        space.points.tobytes(), space.labels.tobytes(), space.task, space.classes, space.kernel, space.gamma,
        space.degree, space.coef0, space.C, space.epsilon, space.tol, space.seq, space.revision, space.machine,
        space.loss, space.nu, space.mu, space.beta, space.decision_rule, tuple(sorted(space.pair_weights.items())),
        space.n_prototypes,
    )  # fmt: skip


def cached(space: Workspace) -> Fit:
    """The fit of a workspace; the last one again when nothing that it depends on has changed."""
    now = fingerprint(space)
    before, outcome = st.session_state.get("fit", (None, None))
    if now != before:
        outcome = fit(space)
        st.session_state["fit"] = (now, outcome)
    return outcome


def board_data(space: Workspace, outcome: Fit, height: int | str) -> dict[str, Any]:
    """What the Board shows.

    Parameters
    ----------
    space : Workspace
    outcome : Fit
    height : int or str
        Pixels, or a length in CSS.

    Returns
    -------
    dict
    """
    return {**space.scene(height, outcome.message or outcome.note), "mode": "board", "model": outcome.model}
