"""All distances: the geometry of the AD-SVM, its pairs with their weights, and both its decision rules.

The data are those of `svmviz.ui.geometry`, kind "distances". With the linear kernel the browser works prototypes,
distances and rules out itself, live; the certificate, and the clusters of several prototypes, come from here.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from svmviz.datasets import titles_of_many_classes
from svmviz.estimators import ADSVC
from svmviz.hulls import feature_plane, prototype_plane
from svmviz.machines.ad_svm import RULES, Prototypes, means, smallest_mu
from svmviz.problem import Certificate
from svmviz.ui import results
from svmviz.ui.feasible import gram
from svmviz.ui.geometry import (
    geometry_data,
    kernel_note,
    solution_entries,
    solver_parameters,
    steady_plane,
)
from svmviz.ui.models import (
    Verdict,
    browser_model,
    clear_value,
    judge_prototypes,
    prototype_functions,
    prototype_names,
)
from svmviz.ui.workspace import Workspace

Array = np.ndarray

LINES = {"thesis": "boundary: own rule", "nearest": "boundary: nearest"}
NAME_LENGTH = 10


def distances_data(space: Workspace, height: int | str) -> dict[str, Any]:
    """What the page of all distances shows.

    Parameters
    ----------
    space : Workspace
    height : int or str
        Pixels, or a length in CSS.

    Returns
    -------
    dict
        For `svmviz.ui.board.stage`; with a message and no geometry when there are not two classes.
    """
    return geometry_data(space, height, all_distances)


def all_distances(space: Workspace) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The geometry of all classes, and the decision rules for the Board when the kernel is not linear.

    Raises
    ------
    InvalidProblemError
        For points or parameters that cannot be used.
    """
    present = space.present()
    mu = space.mu_value(space.labels, space.n_prototypes)
    machine, certificate = trained(space, mu)
    owners = [present[r] for r in machine.prototype_class_]
    names = names_of(space, owners)
    several = len(owners) > len(present)
    least = smallest_mu(np.searchsorted(present, space.labels), space.n_prototypes)
    geometry: dict[str, Any] = {
        "kind": "distances",
        "linear": space.kernel == "linear",
        "prototypes": [{"label": owner, "name": name} for owner, name in zip(owners, names, strict=True)],
        "groups": machine.cluster_.tolist() if several else None,
        "pairs": [[a, b, space.pair_weights.get((a, b), 1.0)] for a, b in combinations(present, 2)],
        "wanted": space.mu,
        "mu": mu,
        "least": least if several else None,
        "critical": None,
        "note": None,
        "examples": list(titles_of_many_classes()),
        "rule": space.decision_rule,
        "lines": [LINES[rule] for rule in _rules(space)],
        "certificate": certificate and _certificate(certificate, judge_prototypes(machine, space)),
    }
    if space.kernel == "linear":
        return (
            geometry,
            None,
        )  # the browser's own solution is exact: only the certificate may have stopped early
    prototypes, rows = machine.prototypes_, np.arange(len(space.points))
    K = gram(space, rows)
    apart = certificate is not None and judge_prototypes(machine, space).apart
    plane = steady_plane(_plane(K, prototypes.coef, apart))
    geometry |= solution_entries(space, rows, prototypes, plane, _axes(len(owners), names, apart))
    if certificate is not None:
        geometry["note"] = kernel_note(space, K, apart, certificate)
        geometry["critical"] = None if apart or math.isinf(certificate.gap) else "always"
    if not apart:
        return geometry, None
    geometry["counts"] = rule_counts(space, machine)
    return geometry, _model(space, machine, prototypes)


def trained(space: Workspace, mu: float) -> tuple[ADSVC, Certificate | None]:
    """The machine of a workspace, and its certificate.

    Where no pair has a weight nothing moves the prototypes: they are the means of their samples, uncertified.
    """
    weights = space.weights_table(space.present())
    idle = not weights.any()
    machine = ADSVC(
        mu=mu,
        n_prototypes=space.n_prototypes,
        rule=space.decision_rule,
        pair_weights=None if idle else weights,
        **solver_parameters(space, len(space.points)),
    )
    # With the linear kernel distances do not depend on the origin; far from it they would drown in rounding.
    origin = space.points.mean(axis=0) if space.kernel == "linear" else 0.0
    machine.fit(space.points - origin, space.labels)
    if not idle:
        return machine, machine.certificate_
    machine.prototypes_ = means(machine.cluster_, gram(space, np.arange(len(space.points))))
    return machine, None


def rule_counts(space: Workspace, machine: ADSVC) -> dict[str, int]:
    """On how many samples the two decision rules disagree, and how many each gets wrong."""
    chosen = machine.rule
    predicted = {rule: machine.set_params(rule=rule).predict(space.points) for rule in RULES}
    machine.set_params(rule=chosen)
    wrong = {rule: int(np.sum(labels != space.labels)) for rule, labels in predicted.items()}
    disagree = int(np.sum(predicted["thesis"] != predicted["nearest"]))
    return {"samples": len(space.points), "disagree": disagree, **wrong}


def names_of(space: Workspace, owners: list[int]) -> list[str]:
    """A name that has room beside its prototype for each; a number tells those of one class apart."""
    numbers = [
        name.removeprefix(str(k))
        for name, k in zip(prototype_names(list(map(str, owners))), owners, strict=True)
    ]
    return [_short(space.classes[owner]) + number for owner, number in zip(owners, numbers, strict=True)]


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def _rules(space: Workspace) -> tuple[str, str]:
    """The rule that was chosen, and the other."""
    return space.decision_rule, RULES[1 - RULES.index(space.decision_rule)]


def _certificate(certificate: Certificate, verdict: Verdict) -> dict[str, Any]:
    return {
        "objective": certificate.objective if verdict.apart or math.isinf(certificate.gap) else 0.0,
        "gap": results.gap(certificate),
        "status": results.status(certificate),
    }


def _plane(K: Array, coef: Array, apart: bool) -> Array:
    """Of two prototypes the first axis is their link; where all coincide, rounding would be its direction."""
    if not apart:
        return prototype_plane(K, coef.mean(axis=0))
    return feature_plane(K, coef[1], coef[0]) if len(coef) == 2 else prototype_plane(K, coef)


def _axes(count: int, names: list[str], apart: bool) -> list[str]:
    if not apart:
        return ["largest spread", "second largest"]
    if count == 2:
        return [f"from {names[0]} to {names[1]}, true length", "largest spread left"]
    if count == 3:
        return ["plane of the prototypes, true distances", ""]
    return ["largest spread of the prototypes (lengths shortened)", "second largest"]


def _model(space: Workspace, machine: ADSVC, prototypes: Prototypes) -> dict[str, Any]:
    """The rule that was chosen, and as its rival the other, which differs where there are more than two."""
    present, chosen = space.present(), machine.rule
    mine, other = _rules(space)
    functions = {rule: prototype_functions(machine.set_params(rule=rule), present) for rule in (mine, other)}
    machine.set_params(rule=chosen)
    return browser_model(
        space,
        machine.support_vectors_,
        functions[mine],
        "argmax",
        np.zeros(len(space.points), int),
        rival=functions[other] if len(prototypes.coef) > 2 else None,
        lines=[LINES[mine], LINES[other]],
        scale=clear_value(0.5 * prototypes.distances() ** 2),
        levels=[],
    )
