"""Fit the workspace and say what came out: the model for the browser and the numbers for the table."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.estimators import SVC, SVR
from svmviz.machines.expansion import Expansion
from svmviz.problem import Certificate
from svmviz.ui.workspace import Workspace, checked

PAIR_LIMIT = 10_000
"""Most pairs that a fit may move: a drawing must not wait much longer than half a second."""


@dataclass(frozen=True)
class MachineResult:
    """One decision function and what it is worth.

    Attributes
    ----------
    name : str
        The two classes that it tells apart, or "f(x)" for a regressor.
    n_free, n_bounded : int
        Support vectors with a multiplier inside the box, and with all of theirs at the bound.
    bias : float
    bias_interval : tuple of float
        All optimal biases; one number (within the tolerance) when a multiplier is free.
    margin : float or None
        Width of the margin, 2 / |w|, in the kernel's space; None for a regressor and where there is none.
    certificate : Certificate
    """

    name: str
    n_free: int
    n_bounded: int
    bias: float
    bias_interval: tuple[float, float]
    margin: float | None
    certificate: Certificate


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit.

    Attributes
    ----------
    message : str or None
        One sentence when there is nothing to fit, or when it failed.
    model : dict or None
        What the browser needs to draw the decision functions; None together with a message.
    machines : tuple of MachineResult
        One; for more than two classes one for every two classes.
    certificate : Certificate or None
        Of all machines together.
    error : str
        The training error as text.
    """

    message: str | None = None
    model: dict[str, Any] | None = None
    machines: tuple[MachineResult, ...] = ()
    certificate: Certificate | None = None
    error: str = ""


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
    fit_task = _fit_regressor if space.task == "regression" else _fit_classifier
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return fit_task(space)
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


def _parameters(space: Workspace, machines: int) -> dict[str, Any]:
    return {
        "kernel": space.kernel,
        "gamma": space.gamma_value(),
        "degree": space.degree,
        "coef0": space.coef0,
        "C": space.C,
        "tol": space.tol,
        "max_iter": max(1000, PAIR_LIMIT // machines),
    }


def _fit_classifier(space: Workspace) -> Fit:
    present = space.present()
    count = len(present) * (len(present) - 1) // 2
    machine = SVC(**_parameters(space, count)).fit(space.points, space.labels)
    place = np.full(len(space.points), -1)
    place[machine.support_] = np.arange(len(machine.support_))
    functions, results = [], []
    status = np.zeros(len(space.points), int)
    for pair in machine.pairs_:
        expansion, (a, b) = pair.expansion, (present[c] for c in pair.classes)
        coef = np.zeros(len(machine.support_))
        coef[place[pair.rows[expansion.support]]] = expansion.coef[expansion.support]
        functions.append({"coef": coef.tolist(), "bias": expansion.bias, "classes": [a, b]})
        status[pair.rows] = np.maximum(status[pair.rows], _status(expansion))
        names = f"{space.classes[a]} / {space.classes[b]}"
        margin = _margin(expansion, pair.certificate)
        results.append(_result(names, expansion, pair.certificate, margin))
    model = _model(space, machine.support_vectors_, functions, "vote", status)
    wrong = int(np.sum(machine.predict(space.points) != space.labels))
    error = f"{wrong} of {len(space.points)} ({100 * wrong / len(space.points):.1f} %)"
    return Fit(None, model, tuple(results), machine.certificate_, error)


def _fit_regressor(space: Workspace) -> Fit:
    x, y = space.points[:, :1], space.points[:, 1]
    machine = SVR(**_parameters(space, 1), epsilon=space.epsilon).fit(x, y)
    expansion = machine.expansion_
    coef = expansion.coef[expansion.support].tolist()
    functions = [{"coef": coef, "bias": expansion.bias, "classes": [0, 1]}]
    model = _model(space, machine.support_vectors_, functions, "tube", _status(expansion))
    residual = y - machine.predict(x)
    outside = int(np.sum(np.abs(residual) > space.epsilon + space.tol))
    error = f"RMS {np.sqrt(np.mean(residual**2)):.3g}, {outside} of {len(y)} outside the tube"
    result = _result("f(x)", expansion, machine.certificate_)
    return Fit(None, model, (result,), machine.certificate_, error)


def _status(expansion: Expansion) -> np.ndarray:
    """A number a sample: 0 no support vector, 1 free, 2 at the bound."""
    return np.where(expansion.bounded, 2, np.where(expansion.free, 1, 0))


def _margin(expansion: Expansion, certificate: Certificate) -> float | None:
    """2 / |w|: the dual objective of C-SVC is |w|^2 / 2 minus the sum of the multipliers."""
    squared_norm = 2 * (certificate.objective + float(np.abs(expansion.coef).sum()))
    return 2 / math.sqrt(squared_norm) if squared_norm > 0 else None


def _result(
    name: str, expansion: Expansion, certificate: Certificate, margin: float | None = None
) -> MachineResult:
    return MachineResult(
        name,
        int(expansion.free.sum()),
        int(expansion.bounded.sum()),
        expansion.bias,
        expansion.bias_interval,
        margin,
        certificate,
    )


def _model(
    space: Workspace,
    centres: np.ndarray,
    functions: list[dict[str, Any]],
    decision: str,
    status: Iterable[int],
) -> dict[str, Any]:
    kernel = {
        "name": space.kernel,
        "gamma": space.gamma_value(),
        "degree": space.degree,
        "coef0": space.coef0,
    }
    return {
        "for": space.seq,
        "kernel": kernel,
        "centres": centres.tolist(),
        "functions": functions,
        "decision": decision,
        "epsilon": space.epsilon if decision == "tube" else None,
        "status": np.asarray(status).tolist(),
    }


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
    return {**space.scene(height, outcome.message), "mode": "board", "model": outcome.model}
