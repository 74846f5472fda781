"""One function a machine: train it on the workspace; its model for the browser and what the table says of it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmviz.estimators import ADSVC, SVR, NuSVR
from svmviz.estimators.pairwise import PairwiseClassifier
from svmviz.explain import short
from svmviz.machines.expansion import Expansion
from svmviz.problem import Certificate
from svmviz.ui.budget import early, pair_limit, sentences
from svmviz.ui.estimators import machine_of
from svmviz.ui.feasible import COINCIDE, meeting
from svmviz.ui.workspace import Workspace

Row = tuple[str, ...]


@dataclass(frozen=True)
class MachineResult:
    """One decision function and what it is worth.

    Attributes
    ----------
    name : str
        The two classes that it tells apart, or "f(x)" where there is one function.
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
        The functions that have a bias: one, or one for every two classes; none of a machine of prototypes.
    certificate : Certificate or None
        Of all machines together.
    error : str
        The training error as text.
    note : str or None
        One sentence to show on the Board beside the model, where the result means less than it seems.
    facts : tuple of (str, str)
        What only this machine has to say, name and value.
    table : tuple of tuple of str
        A table of its own, the head first; empty when it has none.
    """

    message: str | None = None
    model: dict[str, Any] | None = None
    machines: tuple[MachineResult, ...] = ()
    certificate: Certificate | None = None
    error: str = ""
    note: str | None = None
    facts: tuple[Row, ...] = ()
    table: tuple[Row, ...] = ()


def browser_model(
    space: Workspace,
    centres: np.ndarray,
    functions: list[dict[str, Any]],
    decision: str,
    status: Iterable[int] | None,
    **more: Any,
) -> dict[str, Any]:
    """What the browser needs to draw decision functions, see field.js.

    Parameters
    ----------
    space : Workspace
    centres : (n_support, n_features) array
    functions : list of dict
        coef (n_support,), bias and classes of each.
    decision : "vote", "argmax", "inside" or "tube"
    status : sequence of int or None
        One a point: 0 no support vector, 1 free, 2 at the bound; None where that is not shown.
    **more
        levels, scale, hatch, epsilon where the machine has them; regions=False when there is nothing to draw.
    """
    kernel = space.kernel_parameters()
    return {
        "kernel": {"name": kernel.pop("kernel"), **kernel},
        "centres": centres.tolist(),
        "functions": functions,
        "decision": decision,
        "epsilon": None,
        "status": np.asarray(status).tolist(),
        **more,
    }


def train(space: Workspace) -> Fit:
    """Train the workspace's machine.

    Parameters
    ----------
    space : Workspace
        One that `svmviz.ui.workspace.checked` has nothing against.

    Raises
    ------
    InvalidProblemError
        For parameters that are not feasible with these points.
    """
    fit = MACHINES[space.machine](space)
    assert fit.certificate is not None
    return replace(fit, note=sentences(early(fit.certificate), fit.note))


def parameters(space: Workspace, variables: float, machines: int = 1, part: float = 1.0) -> dict[str, Any]:
    """What every estimator takes from the workspace; see `svmviz.ui.budget.pair_limit` for the rest."""
    limit = pair_limit(variables, machines, part)
    return {**space.kernel_parameters(), "tol": space.tol, "max_iter": limit}


def one_against_one(space: Workspace) -> dict[str, Any]:
    """The same for a machine for every two classes."""
    present = len(space.present())
    return parameters(space, 2 * len(space.points) / present, present * (present - 1) // 2)


# -------------------------------------------------------------------------------- one function for two classes


def _c_svc(space: Workspace) -> Fit:
    machine = machine_of(space, **one_against_one(space))
    curvature = 0.5 / space.C if space.loss == "squared" else 0.0

    def margin(expansion: Expansion, certificate: Certificate) -> float | None:
        return _c_margin(expansion, certificate, curvature)

    return _pairwise(space, machine.fit(space.points, space.labels), margin)


def _nu_svc(space: Workspace) -> Fit:
    machine = machine_of(space, **one_against_one(space))
    fit = _pairwise(space, machine.fit(space.points, space.labels), _nu_margin)
    if len(machine.pairs_) > 1:
        return fit
    pair = machine.pairs_[0]
    rho = short(pair.expansion.rho, 5)
    verdict = judge(pair.certificate, lambda: meeting(space), rho=pair.expansion.rho)
    if verdict.apart:
        return replace(fit, note=verdict.note, facts=(("ρ, what f was divided by", rho),))
    assert fit.model is not None
    return replace(
        fit,
        machines=(),
        error="",
        note=verdict.note,
        model=fit.model | {"regions": False},
        facts=(("ρ", f"{rho}: {verdict.short}"),),
    )


NOT_SEMIDEFINITE = "This kernel is not positive semidefinite on these points"


@dataclass(frozen=True)
class Verdict:
    """Whether a machine of reduced hulls has told them apart.

    Attributes
    ----------
    apart : bool
        Whether it decides anything: otherwise only rounding would be drawn.
    note : str or None
        One sentence where the result means less than it seems.
    short : str
        The same in a few words, where nothing is decided.
    """

    apart: bool
    note: str | None = None
    short: str = ""


def judge(certificate: Certificate, met: Callable[[], str], rho: float = math.inf) -> Verdict:
    """What the certificate of a machine of reduced hulls says of them.

    Parameters
    ----------
    certificate : Certificate
        Its objective is the squared distance of the hulls but for a factor.
    met : callable
        Makes the sentence for hulls that meet.
    rho : float, optional
        Value on the margin, where the machine has one: there is no margin unless it is above 0.
    """
    nothing = certificate.may_be_zero or rho <= 0
    if not math.isfinite(certificate.gap):
        if nothing:
            note = f"{NOT_SEMIDEFINITE}, and no distance parts the hulls: choose another kernel."
            return Verdict(False, note, "the kernel is not positive semidefinite")
        return Verdict(True, f"{NOT_SEMIDEFINITE}: what is shown is stationary, but perhaps not a minimum.")
    if not nothing:
        return Verdict(True)
    if certificate.status == "capped" and rho > 0:
        return Verdict(True, "It is too early to tell whether the hulls meet.")
    return Verdict(False, met(), "the reduced hulls meet")


def _pairwise(
    space: Workspace, machine: PairwiseClassifier, margin: Callable[[Expansion, Certificate], float | None]
) -> Fit:
    present = space.present()
    results = []
    status = np.zeros(len(space.points), int)
    for pair in machine.pairs_:
        expansion, (a, b) = pair.expansion, (present[c] for c in pair.classes)
        status[pair.rows] = np.maximum(status[pair.rows], _status(expansion))
        names = f"{space.classes[a]} / {space.classes[b]}"
        results.append(_result(names, expansion, pair.certificate, margin(expansion, pair.certificate)))
    functions = pair_functions(machine, present)
    model = browser_model(space, machine.support_vectors_, functions, "vote", status)
    return Fit(
        None, model, tuple(results), machine.certificate_, _error(_drawn(space, machine), space.labels)
    )


def _drawn(space: Workspace, machine: PairwiseClassifier) -> np.ndarray:
    """The labels that the points get in the picture."""
    return np.array(space.present())[drawn_codes(machine, space.points)]


def drawn_codes(machine: PairwiseClassifier, X: np.ndarray) -> np.ndarray:
    """Position in `classes_` of the class (n,) whose region samples lie in, as the browser draws them.

    A shared first place goes to the largest sum of the decision values, and not, as `predict` has it, to the first.
    """
    scores = machine.decision_function(X)
    return scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)


def pair_functions(machine: PairwiseClassifier, present: list[int]) -> list[dict[str, Any]]:
    """The decision functions of a machine for every two classes, over its support vectors."""
    place = {int(sample): k for k, sample in enumerate(machine.support_)}
    functions = []
    for pair in machine.pairs_:
        chosen = pair.expansion.support
        coef = np.zeros(len(machine.support_))
        coef[[place[sample] for sample in pair.rows[chosen].tolist()]] = pair.expansion.coef[chosen]
        functions.append(function(coef, pair.expansion.bias, [present[c] for c in pair.classes]))
    return functions


def _c_margin(expansion: Expansion, certificate: Certificate, curvature: float) -> float | None:
    """2 / |w|: the dual objective of C-SVC is |w|^2 / 2, and half the added diagonal, minus the multipliers' sum."""
    added = curvature * float((expansion.coef**2).sum())
    squared_norm = 2 * (certificate.objective + float(np.abs(expansion.coef).sum())) - added
    return 2 / math.sqrt(squared_norm) if squared_norm > 0 else None


def _nu_margin(expansion: Expansion, certificate: Certificate) -> float | None:
    """2 / |w|: the dual objective of nu-SVC is |w|^2 / 2 before w is divided by rho."""
    if expansion.rho <= 0 or certificate.objective <= 0:
        return None
    return 2 * expansion.rho / math.sqrt(2 * certificate.objective)


def _mu_svm(space: Workspace) -> Fit:
    """The line that bisects the link of the prototypes (nu-SVC, with the same w, bisects the margins instead)."""
    two = space.two_classes()
    X = space.points[two.rows]
    machine = machine_of(space, **parameters(space, len(X))).fit(X, two.codes)
    prototypes = machine.prototypes_
    coef, offset, level = prototypes.at(machine.support_).bisector()
    status = _weight_status(prototypes.coef, space.mu)
    verdict = judge(machine.certificate_, lambda: meeting(space))
    model = browser_model(
        space,
        machine.support_vectors_,
        [function(coef, offset, list(two.classes))],
        "vote",
        _spread(status, two.rows, space),
        levels=[-level, level],
        regions=verdict.apart,
    )
    distance = short(prototypes.distances()[0, 1], 5)
    facts: tuple[Row, ...] = (
        ("Support vectors", _weights(status)),
        ("Distance of the hulls", distance if verdict.apart else f"{distance}: {verdict.short}"),
        ("Bias", short(offset, 5) if verdict.apart else "any"),
    )
    if len(space.present()) > 2:
        facts = (("Two classes", " / ".join(space.classes[c] for c in two.classes)), *facts)
    halfway = machine.decision_function(X) - machine.intercept_[0] + offset
    error = _error((halfway > 0).astype(int), two.codes) if verdict.apart else ""
    return Fit(None, model, (), machine.certificate_, error, verdict.note, facts)


# ------------------------------------------------------------------------------------- one function a class


def _ad_svm(space: Workspace) -> Fit:
    present = space.present()
    machine = machine_of(space, **parameters(space, len(space.points))).fit(space.points, space.labels)
    prototypes = machine.prototypes_
    owners = [present[r] for r in machine.prototype_class_]
    scores = prototype_functions(machine, present)
    status = _weight_status(prototypes.coef, space.mu)
    distances = prototypes.distances()
    model = _scored(
        space, machine.support_vectors_, scores, status, scale=clear_value(0.5 * distances**2), levels=[]
    )
    facts, table = _prototype_rows(space, owners, distances, _weights(status))
    if space.pair_weights:
        facts = (*facts, ("Weights of pairs", f"{len(space.pair_weights)} not 1, see All distances"))
    error = _error(machine.predict(space.points), space.labels)
    verdict = judge_prototypes(machine, space)
    if not verdict.apart:
        model["regions"], error = False, ""
    return Fit(None, model, (), machine.certificate_, error, verdict.note, facts, table)


def judge_prototypes(machine: ADSVC, space: Workspace) -> Verdict:
    """Whether the prototypes lie in one place, so that the machine decides nothing."""
    two = len(machine.prototype_class_) == 2
    return judge(
        machine.certificate_, lambda: meeting(replace(space, classifier="mu_svm")) if two else COINCIDE
    )


def prototype_functions(machine: ADSVC, present: list[int]) -> list[dict[str, Any]]:
    """How much each prototype claims a place, over the support vectors."""
    prototypes = machine.prototypes_
    normals = prototypes.at(machine.support_).normals
    rows = zip(normals, prototypes.offsets(machine.rule), machine.prototype_class_, strict=True)
    return [function(coef, offset, [present[owner]]) for coef, offset, owner in rows]


def _prototype_rows(
    space: Workspace, owners: list[int], distances: np.ndarray, support: str
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Support vectors and distances: a row where there are two prototypes, otherwise a table of its own."""
    names = prototype_names([space.classes[owner] for owner in owners])
    facts: tuple[Row, ...] = (("Support vectors", support),)
    if len(names) == 2:
        return (*facts, ("Distance of the prototypes", short(distances[0, 1], 5))), ()
    head = ("Distance of prototypes", *names[1:])
    lines = [
        (names[p], *(short(distances[p, q], 4) if q > p else "" for q in range(1, len(names))))
        for p in range(len(names) - 1)
    ]
    return facts, (head, *lines)


def prototype_names(owners: list[str]) -> list[str]:
    """A name for each prototype: its class, with a number where the class has several."""
    return [
        f"{owner} {owners[: p + 1].count(owner)}" if owners.count(owner) > 1 else owner
        for p, owner in enumerate(owners)
    ]


def _mc_svm(space: Workspace) -> Fit:
    present = space.present()
    machine = machine_of(space, **parameters(space, len(present) * len(space.points)))
    machine.fit(space.points, space.labels)
    scores = [function(coef, 0.0, [label]) for coef, label in zip(machine.dual_coef_, present, strict=True)]
    size = np.abs(machine.dual_coef_)
    free = ((size > 0) & (size < (1 - 1e-12) / space.beta)).any(axis=0)
    status = np.zeros(len(space.points), int)
    status[machine.support_] = np.where(free, 1, 2)
    model = _scored(space, machine.support_vectors_, scores, status)
    facts = (
        ("Support vectors", _counts(status)),
        ("Bias", "none, as Crammer and Singer have it"),
    )
    error = _error(machine.predict(space.points), space.labels)
    return Fit(None, model, (), machine.certificate_, error, None, facts)


def _scored(
    space: Workspace, centres: np.ndarray, scores: list[dict[str, Any]], status: np.ndarray, **more: Any
) -> dict[str, Any]:
    """The largest score wins; of two classes with a score each it is the sign of the difference."""
    if len(scores) > 2:
        return browser_model(space, centres, scores, "argmax", status, **more)
    first, second = scores
    coef = np.array(second["coef"]) - np.array(first["coef"])
    functions = [function(coef, second["bias"] - first["bias"], first["classes"] + second["classes"])]
    return browser_model(space, centres, functions, "vote", status, **more)


def clear_value(values: np.ndarray) -> float:
    """The median of the values above 0, where a decision counts as clear: the `scale` of a browser model."""
    positive = values[values > 0]
    return float(np.median(positive)) if len(positive) else 1.0


# ------------------------------------------------------------------------------ a region, and regression


def _one_class(space: Workspace) -> Fit:
    machine = machine_of(space, **parameters(space, len(space.points))).fit(space.points)
    expansion = machine.expansion_
    functions = [function(machine.dual_coef_[0], expansion.bias, [space.present()[0]])]
    values = machine.decision_function(space.points)
    model = browser_model(
        space, machine.support_vectors_, functions, "inside", _status(expansion), scale=clear_value(values)
    )
    outside = int(np.sum(values < -space.tol))
    note = None
    if machine.certificate_.may_be_zero:  # then w = 0, and every line is made of rounding
        model["regions"] = False
        note = "Nothing parts the points from the origin of the kernel's space: choose another kernel."
    facts = (
        ("Outside", f"{share(outside, len(values))}, at most ν = {short(100 * space.nu)} %"),
        ("Support vectors", f"{_counts(_status(expansion))}, at least ν of all"),
        ("ρ, the value on the border", short(machine.offset_, 5)),
    )
    return Fit(None, model, (), machine.certificate_, "", note, facts)


def _epsilon_svr(space: Workspace) -> Fit:
    machine = machine_of(space, **parameters(space, 2 * len(space.points)))
    return _regression(space, machine.fit(space.points[:, :1], space.points[:, 1]), space.epsilon)


def _nu_svr(space: Workspace) -> Fit:
    machine = machine_of(space, **parameters(space, 2 * len(space.points)))
    machine.fit(space.points[:, :1], space.points[:, 1])
    epsilon = max(0.0, machine.epsilon_)
    found = (("ε that ν has found", short(epsilon, 5)),)
    return replace(_regression(space, machine, epsilon), facts=found)


def _regression(space: Workspace, machine: SVR | NuSVR, epsilon: float) -> Fit:
    x, y = space.points[:, :1], space.points[:, 1]
    expansion = machine.expansion_
    functions = [function(machine.dual_coef_[0], expansion.bias, [0, 1])]
    model = browser_model(
        space, machine.support_vectors_, functions, "tube", _status(expansion), epsilon=epsilon
    )
    residual = y - machine.predict(x)
    outside = int(np.sum(np.abs(residual) > epsilon + space.tol))
    error = f"RMS {np.sqrt(np.mean(residual**2)):.3g}, {outside} of {len(y)} outside the tube"
    result = _result("f(x)", expansion, machine.certificate_)
    return Fit(None, model, (result,), machine.certificate_, error)


# ------------------------------------------------------------------------------------------------- shared


def function(coef: np.ndarray, bias: float, classes: list[int]) -> dict[str, Any]:
    """A decision function for `browser_model`."""
    return {"coef": np.asarray(coef).tolist(), "bias": float(bias), "classes": classes}


def _status(expansion: Expansion) -> np.ndarray:
    """A number a sample: 0 no support vector, 1 free, 2 at the bound."""
    return np.where(expansion.bounded, 2, np.where(expansion.free, 1, 0))


def _weight_status(coef: np.ndarray, mu: float) -> np.ndarray:
    """The same for the weights (P, n) of prototypes: free between 0 and mu (1 where mu is larger)."""
    largest = coef.max(axis=0)
    return np.where(largest >= min(mu, 1.0) * (1 - 1e-12), 2, np.where(largest > 0, 1, 0))


def _spread(status: np.ndarray, rows: np.ndarray, space: Workspace) -> np.ndarray:
    """The status of some of the points as one of all."""
    whole = np.zeros(len(space.points), int)
    whole[rows] = status
    return whole


def _counts(status: np.ndarray) -> str:
    return f"{int(np.sum(status == 1))} free, {int(np.sum(status == 2))} at the bound"


def _weights(status: np.ndarray) -> str:
    return f"{int(np.sum(status == 1))} free, {int(np.sum(status == 2))} at μ"


def share(count: int, n: int) -> str:
    """A count and what part of n it is."""
    return f"{count} of {n} ({100 * count / n:.1f} %)" if n else "no points"


def _error(predicted: np.ndarray, labels: np.ndarray) -> str:
    return share(int(np.sum(predicted != labels)), len(labels))


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


MACHINES: dict[str, Callable[[Workspace], Fit]] = {
    "svc": _c_svc,
    "nu_svc": _nu_svc,
    "one_class": _one_class,
    "mu_svm": _mu_svm,
    "ad_svm": _ad_svm,
    "mc_svm": _mc_svm,
    "svr": _epsilon_svr,
    "nu_svr": _nu_svr,
}
