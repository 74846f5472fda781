"""The outcome of a fit as a small table in HTML."""

import html
import math

from svmviz.explain import short
from svmviz.problem import Certificate
from svmviz.trace import Trace
from svmviz.ui.models import Fit, MachineResult, Row
from svmviz.walk.steps import WalkStep

ENDS = {
    "optimal": "optimal",
    "capped": "recording full",
    "no progress": "no further progress",
    "stationary": "stationary",
    "relative": "within the relative tolerance",
}


def table(fit: Fit, rows_above: int = 1) -> str:
    """The numbers of a fit.

    Parameters
    ----------
    fit : Fit
        With a model.
    rows_above : int, default 1
        Rows of parameters above the table: it is as much lower as they are higher, and scrolls.

    Returns
    -------
    str
        HTML.
    """
    assert fit.certificate is not None
    rows: list[Row] = [("Training error", fit.error)] if fit.error else []
    if len(fit.machines) == 1:
        machine = fit.machines[0]
        rows.append(("Support vectors", f"{machine.n_free} free, {machine.n_bounded} at the bound"))
        rows.append(("Bias", bias(machine)))
        if machine.margin is not None:
            rows.append(("Margin width 2/‖w‖", _number(machine.margin)))
    rows += [
        *fit.facts,
        ("Status", status(fit.certificate)),
        (
            "Dual objective" + (f", sum of {len(fit.machines)} pairs" if len(fit.machines) > 1 else ""),
            _number(fit.certificate.objective),
        ),
        ("Duality gap", gap(fit.certificate)),
    ]
    table = _machines(fit.machines) if len(fit.machines) > 1 else fit.table
    body = _rows(rows) + (f"</table>{headed(table)}" if table else "")
    lower = f"--above: {5.6 * max(0, rows_above - 1):g}rem"
    return f'<div class="results" style="{lower}"><table class="result">{body}</table></div>'


def _rows(rows: list[Row]) -> str:
    return "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)


def _machines(machines: tuple[MachineResult, ...]) -> tuple[Row, ...]:
    head = ("One against one", "free", "at the bound", "bias", "gap")
    lines = [(m.name, str(m.n_free), str(m.n_bounded), _short_bias(m), gap(m.certificate)) for m in machines]
    return (head, *lines)


def headed(table: tuple[Row, ...]) -> str:
    """A table whose first row is its head, as HTML."""
    lines = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th"] + ["td"] * (len(table) - 1), table, strict=True)
    ]
    return '<table class="result">' + "".join(f"<tr>{line}</tr>" for line in lines)


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
        indefinite = certificate.status == "stationary"
        return "unknown: the kernel is not positive semidefinite" if indefinite else "unknown"
    return short(max(certificate.gap, 0.0), 2)


def status(certificate: Certificate) -> str:
    """How the solver ended, in a few words."""
    pairs, violation = f"{certificate.iterations:,} pairs", short(certificate.violation, 2)
    return {
        "optimal": f"optimal, violation {violation}",
        "capped": f"not optimal yet: stopped after {pairs}, violation {violation}",
        "no progress": f"no further progress after {pairs}, violation {violation}",
        "stationary": f"stationary after {pairs}: perhaps not a minimum",
        "relative": f"within the relative tolerance, violation {violation}",
    }[certificate.status]


def _number(value: float) -> str:
    return short(value, 5)


def gaps(trace: Trace) -> list[float]:
    """Duality gap before the first step of a trace and after each, (steps + 1,); not of a walk."""
    steps = [step for step in trace.steps if not isinstance(step, WalkStep)]
    if not steps:
        return [trace.certificate.gap]
    return [steps[0].gap_before, *(step.gap_after for step in steps)]


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


def duration(seconds: float) -> str:
    """A wall time as text: "0.4 ms", "36 ms" or "1.25 s"."""
    return f"{seconds:.2f} s" if seconds >= 0.995 else f"{1000 * seconds:.{0 if seconds >= 0.01 else 1}f} ms"
