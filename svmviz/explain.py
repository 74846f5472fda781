"""A step in words: why this pair, how far it wants to go, and what stops it. All numbers are the step's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmviz.smo.steps import Step
from svmviz.trace import Trace


def sentences(trace: Trace, names: Sequence[str] | None = None) -> list[str]:
    """What to say at each position of a trace.

    Parameters
    ----------
    trace : Trace
    names : sequence of str (n,), optional
        A name for each dual index; default: "point" and the number of its sample from 1.

    Returns
    -------
    list of str, length len(trace.steps) + 1
        Before each step, what it is about to do; at the end, why the run stopped.
    """
    names = names or [f"point {sample + 1}" for sample in trace.problem.sample]
    total, regression = len(trace.steps), trace.machine == "epsilon-SVR"
    return [describe_step(step, total, names, regression) for step in trace.steps] + [describe_end(trace)]


def describe_step(step: Step, total: int, names: Sequence[str], regression: bool = False) -> str:
    """Three sentences about one step: the choice, the move, the gain."""
    parts = (_choice(step, names), _move(step, names, regression), _gain(step))
    return f"Step {step.number} of {total}: {' '.join(parts)}"


def describe_end(trace: Trace) -> str:
    """Why the run stopped, and what the result is worth."""
    certificate = trace.certificate
    violation, tol = short(certificate.violation), short(trace.tol)
    count = len(trace.steps)
    ending = {
        "optimal": f"Done after {count} steps: the largest violation, {violation}, is within the tolerance {tol}.",
        "stationary": f"Stopped after {count} steps with a violation of {violation}, within the tolerance {tol}; "
        "but this kernel is not positive semidefinite, so a better point may exist.",
        "relative": f"Stopped after {count} steps: relative to its threshold no violation exceeds twice {tol}; the "
        f"largest is {violation}.",
        "capped": f"The recording ends here, after {count} steps: the violation, {violation}, is still above {tol}.",
        "no progress": f"Stopped after {count} steps: floating point can no longer lower the objective, although "
        f"the violation, {violation}, is still above {tol}.",
    }[certificate.status]
    objective = f"The objective is {short(certificate.objective)}"
    if not math.isfinite(certificate.gap):
        return f"{ending} {objective}; no bound on the optimum holds."
    return f"{ending} {objective}; no solution lies more than {short(certificate.gap)} below it."


def short(value: float, digits: int = 4) -> str:
    """A number with so many significant digits and a true minus sign."""
    text = f"{value:.{digits}g}".replace("inf", "∞")
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def apart(before: float, after: float) -> tuple[str, str]:
    """Two numbers with as many digits, four to twelve, as it takes to tell them apart."""
    for digits in range(4, 13):
        texts = short(before, digits), short(after, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _choice(step: Step, names: Sequence[str]) -> str:
    i, j = names[step.i], names[step.j]
    g_i, g_j, violation = short(step.gradient_i), short(step.gradient_j), short(step.pair_violation)
    lowest = f"{i} has the lowest gradient of all that may go up ({g_i})"
    if step.reason == "maximal violation":
        return (
            f"{lowest}, {j} the highest of all that may go down ({g_j}): no pair violates more, {violation}."
        )
    if step.reason == "largest gain":
        worst = short(step.violation)
        others = "" if worst == violation else f", the worst pair by {worst}"
        return (
            f"{lowest}; with {j} ({g_j}) going down, the objective would fall most if there were no box. "
            f"They violate by {violation}{others}."
        )
    how = {
        "farthest error": "the free multiplier with the farthest error",
        "free sweep": "a free multiplier that moves it, found going round from a random place",
        "full sweep": "the first of all multipliers that moves it, found going round from a random place",
    }[step.reason]
    return (
        f"{i} ({g_i}) and {j} ({g_j}) violate by {violation}: one of them broke its condition, "
        f"the other is {how}."
    )


def _move(step: Step, names: Sequence[str], regression: bool) -> str:
    i, j = names[step.i], names[step.j]
    first = _change(step.z_i_before, step.z_i_after, step.hi_i, regression)
    second = _change(step.z_j_before, step.z_j_after, step.hi_j, regression)
    changes = f"{i} {first}, {j} {second}."
    if step.blocked == "none":
        return f"The minimum along the pair is {short(step.unclipped)} away, inside the box: {changes}"
    stops = {
        "i": f"{i} reaches {_bound(step.hi_i)}",
        "j": f"{j} reaches {_bound(step.lo_j)}",
        "both": "both reach a bound",
    }[step.blocked]
    if step.curvature * step.unclipped < 0.5 * step.pair_violation:  # the step used the floor
        return f"Along the pair the objective falls without end; {stops} after {short(step.step)}: {changes}"
    return f"The minimum is {short(step.unclipped)} away, but {stops} after {short(step.step)}: {changes}"


def _change(before: float, after: float, hi: float, regression: bool) -> str:
    """How a multiplier changes; the lower side of a regressor has stars."""
    first, second = apart(abs(before), abs(after))
    return f"{'α*' if regression and hi == 0 else 'α'} {first} → {second}"


def _bound(bound: float) -> str:
    return "0" if bound == 0 else f"its upper bound {short(abs(bound))}"


def _gain(step: Step) -> str:
    fall = step.objective_before - step.objective_after
    return f"The objective falls by {short(fall)}, to {short(step.objective_after)}."
