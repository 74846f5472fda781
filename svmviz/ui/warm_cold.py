"""What warm starts save along the path of a machine, counted on the workspace's own points."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.smo import SMO, SMOClassifier, SMONuRegression, SMOReducedHulls, SMORegression
from svmviz.ui.budget import pair_limit
from svmviz.ui.controls import SIGNS
from svmviz.ui.estimators import Samples, loss, samples_of
from svmviz.ui.path_knots import breakpoints, happenings
from svmviz.ui.slide import follow, scale_of
from svmviz.ui.workspace import Workspace

Array = np.ndarray

COMPARED = 25
"""Values of the parameter at which warm and cold starts are counted."""

PATIENCE = 10.0
"""How many times a page's usual work the count may spend: it is asked for."""


@dataclass(frozen=True)
class Count:
    """What one way through the values of a parameter took.

    Attributes
    ----------
    name : str
    work : str
        Pairs, or events, as text.
    milliseconds : float
    """

    name: str
    work: str
    milliseconds: float


def warm_and_cold(space: Workspace, parameter: str) -> list[Count]:
    """What it takes to solve for many values of a parameter: each from zero, each from the last, and the exact path.

    Parameters
    ----------
    space : Workspace
        One that `slide_message` has nothing against.
    parameter : str

    Returns
    -------
    list of Count

    Raises
    ------
    InvalidProblemError
        Where there is no path.
    """
    samples, scale = samples_of(space), scale_of(space, parameter)
    if space.machine == "ad_svm" and space.n_prototypes > 1:
        raise InvalidProblemError("Warm starts are counted with one prototype a class: choose 1.")
    values = scale.values(COMPARED)
    K = space.kernel_on(samples.X)(samples.X, samples.X)
    make = _solvers(space, samples, K, pair_limit(len(K), 2 * COMPARED, part=PATIENCE))

    def cold() -> list[tuple[int, bool]]:
        machines = (make(**{parameter: value}).minimize() for value in values.tolist())
        return [(machine.n_iter, _capped(machine)) for machine in machines]

    def warm() -> list[tuple[int, bool]]:
        machine = make(**{parameter: float(values[0])}).minimize()
        ends = [_capped(machine)]
        for value in values[1:].tolist():
            getattr(machine, f"set_{parameter}")(value).minimize()
            ends.append(_capped(machine))
        return [(machine.n_iter, any(ends))]

    counts = []
    for name, run in (("Cold: each value from zero", cold), ("Warm: each from the last", warm)):
        runs, spent = _timed(run)
        early = ", stopped early" if any(capped for _, capped in runs) else ""
        counts.append(Count(name, f"{sum(pairs for pairs, _ in runs):,} pairs{early}", spent))
    found, spent = _timed(lambda: follow(space, samples, scale))
    events = [value for value, _, _ in happenings(found)]
    work = f"{len(events):,} events at {breakpoints(events):,} breakpoints"
    return [*counts, Count("Exact path: every value between, too", work, spent)]


def count_note(space: Workspace, parameter: str, counts: list[Count]) -> str:
    """What was counted, what an event is, and the times, in a few sentences."""
    scale = scale_of(space, parameter)
    sign = SIGNS[parameter]
    return (
        f"{COMPARED} values of {sign} from {scale.start:.3g} to {scale.stop:.4g}, each solved to "
        f"tolerance {space.tol:g} with the same kernel matrix; the path computes its own. An event is one "
        f"sample that changes sides; all at the same value of {sign} are one breakpoint. This time it took "
        f"{', '.join(f'{one.milliseconds:.0f} ms' for one in counts)}, in this order: times vary, counts do not."
    )


def _capped(machine: SMO) -> bool:
    return machine.certificate is not None and machine.certificate.status == "capped"


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and its milliseconds."""
    begin = time.perf_counter()
    outcome = run()
    return outcome, 1000 * (time.perf_counter() - begin)


def _solvers(space: Workspace, samples: Samples, K: Array, limit: int) -> Callable[..., SMO]:
    """Makes a solver of the workspace's machine, at the workspace's parameters but for those given."""
    shared: dict[str, Any] = {
        "X": samples.X, "y": samples.y, "K": K, "kernel": space.kernel_on(samples.X), "tol": space.tol,
        "max_iter": limit,
    }  # fmt: skip
    if space.machine == "svc":
        return lambda **given: SMOClassifier(**shared, loss=loss(space), **given)
    if space.machine == "svr":
        own = {"C": space.C, "epsilon": space.epsilon}
        return lambda **given: SMORegression(**shared, loss=loss(space), **(own | given))
    if space.machine == "nu_svr":
        return lambda **given: SMONuRegression(**shared, nu=space.nu, **given)
    weights = space.weights_table(space.present()) if space.machine == "ad_svm" else None
    return lambda **given: SMOReducedHulls(**shared, pair_weights=weights, **given)
