"""Fit the workspace once for what it is now, and hand the Board what it shows."""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.ui.feasible import infeasible_mu
from svmviz.ui.models import Fit, train
from svmviz.ui.workspace import Workspace, checked

T = TypeVar("T")


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
    message = checked(space) or infeasible_mu(space)
    if message:
        return Fit(message)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return train(space)
    except InvalidProblemError as error:
        return Fit(str(error))


def fingerprint(space: Workspace) -> tuple[Any, ...]:
    """What a fit depends on: equal fingerprints, equal fits. An edit that changes nothing is no reason for one."""
    return (
        space.points.tobytes(), space.labels.tobytes(), space.task, space.classes, space.kernel, space.gamma,
        space.degree, space.coef0, space.C, space.epsilon, space.tol, space.revision, space.machine,
        space.pair, space.loss, space.nu, space.mu, space.beta, space.decision_rule,
        tuple(sorted(space.pair_weights.items())), space.n_prototypes,
    )  # fmt: skip


def digest(*parts: Any) -> str:
    """A short text that is another one for other fingerprints: the browser knows by it what it has already."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def remembered(key: str, now: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What was made last under a key of the session, or made anew when what it depends on has changed."""
    before, outcome = st.session_state.get(key, (None, None))
    if now != before:
        outcome = make()
        st.session_state[key] = (now, outcome)
    return outcome


def remembered_some(key: str, now: str, make: Callable[[], T], most: int) -> T:
    """As `remembered`, of so many last digests instead of one: going back computes nothing."""
    kept: dict[str, T] = st.session_state.setdefault(key, {})
    outcome = kept.pop(now) if now in kept else make()
    kept[now] = outcome
    while len(kept) > most:
        del kept[next(iter(kept))]
    return outcome


def cached(space: Workspace) -> Fit:
    """The fit of a workspace; the last one again when nothing that it depends on has changed."""
    return remembered("fit", fingerprint(space), lambda: fit(space))


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
    model = outcome.model and {**outcome.model, "for": space.seq}
    return {**space.scene(height, outcome.message or outcome.note), "mode": "board", "model": model}
