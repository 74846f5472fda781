"""The outcome of a fit as a small table in HTML."""

import html
import math

from svmviz.explain import short
from svmviz.problem import Certificate
from svmviz.trace import Trace
from svmviz.ui.fitting import Fit, MachineResult

ENDS = {
    "optimal": "optimal",
    "capped": "recording full",
    "no progress": "no further progress",
    "stationary": "stationary",
}


def table(fit: Fit) -> str:
    """The numbers of a fit.

    Parameters
    ----------
    fit : Fit
        With a model.

    Returns
    -------
    str
        HTML.
    """
    assert fit.certificate is not None
    rows = [
        ("Training error", fit.error),
        ("Status", status(fit.certificate)),
        ("Dual objective", _number(fit.certificate.objective)),
        ("Duality gap", gap(fit.certificate)),
    ]
    if len(fit.machines) == 1:
        machine = fit.machines[0]
        rows.insert(1, ("Support vectors", f"{machine.n_free} free, {machine.n_bounded} at the bound"))
        rows.insert(2, ("Bias", bias(machine)))
        if machine.margin is not None:
            rows.insert(3, ("Margin width 2/‖w‖", _number(machine.margin)))
        body = _rows(rows)
    else:
        body = _rows(rows) + "</table>" + _machines(fit.machines)
    return f'<div class="results"><table class="result">{body}</table></div>'


def _rows(rows: list[tuple[str, str]]) -> str:
    return "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)


def _machines(machines: tuple[MachineResult, ...]) -> str:
    head = "<tr><th>One against one</th><th>free</th><th>at the bound</th><th>bias</th><th>gap</th></tr>"
    lines = [
        f"<tr><td>{html.escape(m.name)}</td><td>{m.n_free}</td><td>{m.n_bounded}</td>"
        f"<td>{html.escape(_short_bias(m))}</td><td>{html.escape(gap(m.certificate))}</td></tr>"
        for m in machines
    ]
    return f'<table class="result">{head}{"".join(lines)}'


def bias(machine: MachineResult) -> str:
    """The bias; all that are optimal when no multiplier is free."""
    if machine.n_free:
        return _number(machine.bias)
    low, high = machine.bias_interval
    return f"any of [{_number(low)}, {_number(high)}]: no multiplier is free"


def _short_bias(machine: MachineResult) -> str:
    return bias(machine).removeprefix("any of ").partition(":")[0]


def gap(certificate: Certificate) -> str:
    """The duality gap, or why there is none."""
    if math.isinf(certificate.gap):
        return "unknown: the kernel is not positive semidefinite"
    return short(max(certificate.gap, 0.0), 2)


def status(certificate: Certificate) -> str:
    """How the solver ended, in a few words."""
    pairs, violation = f"{certificate.iterations:,} pairs", short(certificate.violation, 2)
    return {
        "optimal": f"optimal, violation {violation}",
        "capped": f"not optimal yet: stopped after {pairs}, violation {violation}",
        "no progress": f"no further progress after {pairs}, violation {violation}",
        "stationary": f"stationary after {pairs}: perhaps not a minimum",
    }[certificate.status]


def _number(value: float) -> str:
    return short(value, 5)


def gaps(trace: Trace) -> list[float]:
    """Duality gap before the first step of a trace and after each, (steps + 1,)."""
    if not trace.steps:
        return [trace.certificate.gap]
    return [trace.steps[0].gap_before, *(step.gap_after for step in trace.steps)]


def race_table(traces: dict[str, Trace]) -> str:
    """Pairs that each rule needed, as HTML.

    Parameters
    ----------
    traces : dict of Trace
        By the name of the rule.
    """
    head = "<tr><th>Rule</th><th>pairs</th><th>objective</th><th>gap</th><th>end</th></tr>"
    lines = [
        f"<tr><td>{html.escape(name)}</td><td>{len(trace.steps):,}</td>"
        f"<td>{_number(trace.certificate.objective)}</td><td>{html.escape(gap(trace.certificate))}</td>"
        f"<td>{ENDS[trace.certificate.status]}</td></tr>"
        for name, trace in traces.items()
    ]
    return f'<table class="result">{head}{"".join(lines)}</table>'
