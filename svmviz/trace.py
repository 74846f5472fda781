"""A recorded run: every step with all that a person needs to check it by hand, saved without loss.

A step is a pair that moved or, where the recording has them, a Newton step on all free multipliers; in a walk it is
an event. A trace holds the problem too, so that it can be opened elsewhere, replayed and recomputed.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from typing import Any, get_args

import numpy as np

from svmviz import kernels
from svmviz.errors import InvalidProblemError
from svmviz.gram import gram_matrix
from svmviz.hessian import Hessian
from svmviz.kernels import Kernel
from svmviz.problem import Certificate, DualProblem, Status
from svmviz.smo import selection
from svmviz.smo.iterate import Blocked
from svmviz.smo.loop import Loop, Options
from svmviz.smo.steps import NewtonStep, Step, steps
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Rates
from svmviz.walk.steps import ENDS, EVENTS, Moving, WalkStep

Array = np.ndarray

FORMAT = "svmviz trace 1"
NEWTON_FORMAT = "svmviz trace 2"
"""With Newton steps among its steps; a file without them is one that earlier versions open."""

WALK_FORMAT = "svmviz trace 3"
"""A walk."""

AnyStep = Step | NewtonStep | WalkStep
KINDS: dict[str, type[AnyStep]] = {"pair": Step, "newton": NewtonStep, "walk": WalkStep}

SIDES = {AT_LOWER, MARGIN, AT_UPPER, HELD}

SLACK = 1e-9
"""What box and sums may be off by at an event of a file, relative to the largest multiplier."""


@dataclass(frozen=True)
class Trace:
    """A run with its problem.

    Attributes
    ----------
    machine : str
        What the problem is the dual of, a name such as "C-SVC" or "AD-SVM"; see `svmviz.explain.WORDS`.
    X : ndarray (n_samples, n_features)
        The samples; the Gram matrix where the kernel is precomputed or a function.
    y : ndarray (n_samples,)
        Signs of a two-class machine, codes of the classes of others, targets of a regressor.
    kernel : dict
        Name and parameters, see `svmviz.kernels.describe`.
    parameters : dict
        Of the machine, such as C and epsilon, for a person to read.
    problem : DualProblem
        Of a walk that at its start.
    start : ndarray (n,)
        The multipliers before the first step.
    tol : float
    rule : str
        How the pairs were picked; empty of a walk.
    steps : tuple of Step and NewtonStep, or of WalkStep
        In the order they were made; `kind` is "pair" or "newton", or "walk".
    certificate : Certificate
        At the end; "capped" when the recording was cut short.
    walk : Moving, optional
        How the problem of a walk moves; such a trace has WalkSteps only, and no other has one.
    """

    machine: str
    X: Array
    y: Array
    kernel: dict[str, Any]
    parameters: dict[str, float]
    problem: DualProblem
    start: Array
    tol: float
    rule: str
    steps: tuple[AnyStep, ...]
    certificate: Certificate
    walk: Moving | None = None

    def hessian(self, position: int = 0) -> Hessian:
        """H of the problem as it is after `position` steps, from the samples and the kernel."""
        kernel = kernels.from_description(self.kernel)
        return Hessian(self.problem_at(position), gram_matrix(kernel, self.X), kernel.positive_semidefinite)

    def problem_at(self, position: int) -> DualProblem:
        """The problem as it is after `position` steps; only that of a walk moves."""
        if self.walk is None:
            return self.problem
        return self.walk.problem_at(self.problem, self.value(position))

    def value(self, position: int) -> float:
        """Value of a walk's parameter after `position` steps; 0 of another trace."""
        if self.walk is None:
            return 0.0
        return getattr(self.steps[position - 1], "value", 0.0) if position else self.walk.start

    def sides(self, position: int) -> Array:
        """Where each dual index (n,) of a walk stands after `position` steps, as in `svmviz.walk.steps.Moving`."""
        assert self.walk is not None
        return self.walk.sides_after(self.events()[:position])

    def multipliers(self, position: int) -> Array:
        """The signed multipliers (n,) after `position` steps, 0 to len(steps)."""
        z = self.start.copy()
        if self.walk is None:
            for step in self.steps[:position]:
                step.put(z)
        elif position:
            z = self.walk.at_sides(self.problem, self.sides(position), self.value(position))
            self.steps[position - 1].put(z)
        return z

    def events(self) -> list[WalkStep]:
        """The steps of a walk; of another trace none."""
        return [step for step in self.steps if isinstance(step, WalkStep)]

    @property
    def has_newton_steps(self) -> bool:
        """Whether there is a Newton step among the steps."""
        return any(isinstance(step, NewtonStep) for step in self.steps)

    def columns(self) -> dict[str, list[Any]]:
        """The steps as one list a field, the kind first; None where a step's kind has no such field."""
        plain: tuple[type[AnyStep], ...] = (Step, NewtonStep) if self.has_newton_steps else (Step,)
        kinds = plain if self.walk is None else (WalkStep,)
        names = dict.fromkeys(["kind", *(f.name for kind in kinds for f in fields(kind))])
        return {name: [getattr(step, name, None) for step in self.steps] for name in names}

    def to_json(self) -> str:
        """The whole trace as JSON; numbers keep every bit. Infinite bounds are written as "inf" and "-inf"."""
        return json.dumps(self._head() | {"steps": _encode(self.columns())}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read back what `to_json` wrote.

        Raises
        ------
        InvalidProblemError
            When the text is no such trace.
        """
        with _reading():
            content = json.loads(text)
            return cls._from_parts(content, _steps_from_columns(content["steps"]))

    def to_csv(self) -> str:
        """One line a step under a header; a first line starting with # holds the problem as JSON."""
        out = io.StringIO()
        out.write("# " + json.dumps(self._head(), allow_nan=False) + "\n")
        writer = csv.writer(out, lineterminator="\n")
        columns = self.columns()
        writer.writerow(columns)
        writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> Trace:
        """Read back what `to_csv` wrote.

        Raises
        ------
        InvalidProblemError
            When the text is no such trace.
        """
        with _reading():
            first, _, rest = text.partition("\n")
            content = json.loads(first.removeprefix("# "))
            table = csv.DictReader(io.StringIO(rest))
            rows = list(table)
            columns = {name: [row[name] for row in rows] for name in table.fieldnames or ()}
            return cls._from_parts(content, _steps_from_columns(columns))

    def _head(self) -> dict[str, Any]:
        problem = {f.name: getattr(self.problem, f.name).tolist() for f in fields(DualProblem)}
        return {
            "format": self._format,
            "machine": self.machine,
            "kernel": self.kernel,
            "parameters": _encode(self.parameters),
            "tol": self.tol,
            "rule": self.rule,
            "X": self.X.tolist(),
            "y": self.y.tolist(),
            "problem": _encode(problem),
            "start": self.start.tolist(),
            "certificate": _encode(asdict(self.certificate)),
            **({} if self.walk is None else {"walk": self.walk.to_dict()}),
        }

    @property
    def _format(self) -> str:
        if self.walk is not None:
            return WALK_FORMAT
        return NEWTON_FORMAT if self.has_newton_steps else FORMAT

    @classmethod
    def _from_parts(cls, content: dict[str, Any], steps: tuple[AnyStep, ...]) -> Trace:
        _require(content["format"] in (FORMAT, NEWTON_FORMAT, WALK_FORMAT))
        certificate = {name: _decode(value) for name, value in content["certificate"].items()}
        trace = cls(
            machine=content["machine"],
            X=np.array(content["X"], dtype=float),
            y=np.array(content["y"], dtype=float),
            kernel=content["kernel"],
            parameters={name: _decode(value) for name, value in content["parameters"].items()},
            problem=DualProblem(**{name: _decode(value) for name, value in content["problem"].items()}),
            start=np.array(content["start"], dtype=float),
            tol=content["tol"],
            rule=content["rule"],
            steps=steps,
            certificate=Certificate(**certificate),
            walk=Moving.from_dict(content["walk"]) if content["format"] == WALK_FORMAT else None,
        )
        trace._check()
        return trace

    def _check(self) -> None:
        """Refuse what fits together only in its outer form: someone else may have written the file."""
        n_samples, n, certificate = len(self.X), self.problem.n, self.certificate
        finite = [self.tol, *(value for name, value in self.kernel.items() if name != "name")]
        numbers = [*self.parameters.values(), certificate.objective, certificate.gap, certificate.violation]
        _require(isinstance(self.machine, str))
        _require(self.rule in selection.NAMES if self.walk is None else self.rule == "")
        _require(all(type(v) in (int, float) and math.isfinite(v) for v in finite))
        _require(all(type(v) in (int, float) and not math.isnan(v) for v in numbers))
        _require(certificate.primal is None or isinstance(certificate.primal, float))
        _require(certificate.iterations == sum(isinstance(step, Step) for step in self.steps))
        _require(certificate.status in get_args(Status))
        _require(self.X.ndim == 2 and self.y.shape == (n_samples,) and self.start.shape == (n,))
        _require(all(np.isfinite(values).all() for values in (self.X, self.y, self.start)))
        _require(int(self.problem.sample.max()) < n_samples)
        Options(tol=self.tol)
        kernel = kernels.from_description(self.kernel)
        _require(kernel.name != "precomputed" or self.X.shape == (n_samples, n_samples))
        if self.walk is not None:
            self._check_walk(self.walk)
            return
        for step in self.steps:
            if isinstance(step, NewtonStep):
                self._check_newton(step)
                continue
            _require(isinstance(step, Step))
            assert isinstance(step, Step)
            _require(0 <= step.i < n and 0 <= step.j < n and 0 <= step.group < self.problem.n_groups)
            _require(0 <= step.sample_i < n_samples and 0 <= step.sample_j < n_samples)
            _require(step.reason in selection.REASONS and step.blocked in get_args(Blocked))

    def _check_newton(self, step: NewtonStep) -> None:
        free = np.array(step.indices)
        _require(len(free) >= 2 and len(np.unique(free)) == len(free))
        _require(free.min() >= 0 and free.max() < self.problem.n)
        _require(step.samples == tuple(self.problem.sample[free].tolist()))
        _require(len(step.z_before) == len(step.z_after) == len(free))
        _require(bool(np.isfinite([step.z_before, step.z_after]).all()) and step.fraction > 0)
        _require(set(step.blocked) <= set(step.indices))

    def _check_walk(self, walk: Moving) -> None:
        problem, events = self.problem, self.events()
        _require(bool(events) and len(events) == len(self.steps))
        _require(isinstance(walk.parameter, str) and walk.parameter != "")
        numbers = [walk.start, walk.stop, walk.bias, walk.objective]
        _require(all(type(v) in (int, float) and math.isfinite(v) for v in numbers))
        _require(walk.nu.shape == (problem.n_groups,) and bool(np.isfinite(walk.nu).all()))
        _require(walk.sides.shape == (problem.n,) and set(walk.sides.tolist()) <= SIDES)
        for name in (f.name for f in fields(Rates)):
            rate = getattr(walk.rates, name)
            shape = getattr(problem, name).shape
            _require(rate is None or (rate.shape == shape and bool(np.isfinite(rate).all())))
        if walk.rates.diagonal is not None:
            _require(min(walk.start, walk.stop) > 0 and float(walk.rates.diagonal.min()) >= 0)
        values = np.array([walk.start, *(step.value for step in events), walk.stop])
        _require(bool(np.isfinite(values).all()))
        back = (values[:-1] - values[1:]) * (1.0 if walk.stop >= walk.start else -1.0)
        _require(float(back.max()) <= SLACK * max(abs(walk.start), abs(walk.stop)))
        _require([step.event in ENDS for step in events] == [False] * (len(events) - 1) + [True])
        sides = walk.sides.copy()
        for number, step in enumerate(events, start=1):
            self._check_event(step, number, sides)
            self._check_feasible(walk.at_sides(problem, sides, step.value), step)

    def _check_event(self, step: WalkStep, number: int, sides: Array) -> None:
        """Whether a record fits the sides (n,) before it; they become those after it."""
        problem, n = self.problem, self.problem.n
        changed, indices = np.array(step.changed, int), np.array(step.indices, int)
        _require(step.number == number and step.event in EVENTS)
        of = -1 if step.dual_index == -1 else int(problem.sample[step.dual_index])
        _require(-1 <= step.dual_index < n and step.sample == of)
        for listed, values in ((changed, step.sides), (indices, step.z)):
            _require(len(listed) == len(values) == len(np.unique(listed)))
            _require(bool(((listed >= 0) & (listed < n)).all()))
        _require(set(step.sides) <= SIDES and len(step.nu) == problem.n_groups)
        _require(bool(np.isfinite([*step.nu, *step.z, step.bias, step.objective]).all()))
        sides[changed] = step.sides
        counts = [int((sides == side).sum()) for side in (MARGIN, AT_LOWER, AT_UPPER)]
        _require([step.n_margin, step.n_lower, step.n_upper] == counts)
        _require(set(np.flatnonzero(sides == MARGIN).tolist()) <= set(step.indices))

    def _check_feasible(self, z: Array, step: WalkStep) -> None:
        """Whether the multipliers z (n,) after an event are in the box there, and sum to what they must."""
        assert self.walk is not None
        step.put(z)
        lo, hi, sums = (self.walk.part(self.problem, name, step.value) for name in ("lo", "hi", "sums"))
        _require(bool(np.isfinite(z).all()))
        slack = SLACK * max(1.0, float(np.abs(z).max()))
        _require(bool(((z >= lo - slack) & (z <= hi + slack)).all()))
        off = np.abs(np.add.reduceat(z, self.problem.starts) - sums)
        _require(float(off.max()) <= slack * self.problem.n)


def record(
    machine: str,
    X: Array,
    y: Array,
    kernel: Kernel,
    parameters: dict[str, float],
    problem: DualProblem,
    options: Options,
    max_steps: int = 5000,
    hessian: Hessian | None = None,
    newton: bool = False,
) -> Trace:
    """Run the loop from its start and keep every step.

    Parameters
    ----------
    machine : str
        See `Trace`.
    X : ndarray (n_samples, n_features)
    y : ndarray (n_samples,)
    kernel : Kernel
    parameters : dict
        Kept for a person to read.
    problem : DualProblem
    options : Options
        But for `options.newton`.
    max_steps : int, default 5000
        The recording is cut short after this many.
    hessian : Hessian, optional
        If it is there already.
    newton : bool, default False
        Whether to take, and to record, the Newton steps that a machine takes when it is fitted. Without them every
        step is a pair.
    """
    hessian = hessian or Hessian(problem, gram_matrix(kernel, X), kernel.positive_semidefinite)
    loop = Loop(problem, hessian, replace(options, newton=newton), record_jumps=newton)
    start = loop.iterate.z.copy()
    recorded = tuple(islice(steps(loop), max_steps))
    named = kernel.name not in ("callable", "precomputed")
    return Trace(
        machine=machine,
        X=np.asarray(X, dtype=float) if named else hessian.K,
        y=np.asarray(y, dtype=float),
        kernel=kernels.describe(kernel),
        parameters=parameters,
        problem=problem,
        start=start,
        tol=options.tol,
        rule=options.selection,
        steps=recorded,
        certificate=loop.solution().certificate,
    )


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever a file that is no trace makes go wrong becomes the one error that says so."""
    try:
        yield
    except (
        ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, csv.Error
    ) as error:  # fmt: skip
        raise InvalidProblemError("This file is not a trace saved by svmviz: choose another file.") from error


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not a trace")


def _steps_from_columns(columns: dict[str, list[Any]]) -> tuple[AnyStep, ...]:
    """The steps of a table: a row each, in which the fields of the other kind are empty."""
    kinds = columns.get("kind") or ["pair"] * len(columns["number"])
    _require(all(len(column) == len(kinds) for column in columns.values()))
    readers = {kind: _reader(record, columns) for kind, record in KINDS.items() if kind in kinds}
    return tuple(readers[kind](k) for k, kind in enumerate(kinds))


def _reader(record: type[AnyStep], columns: dict[str, list[Any]]) -> Callable[[int], AnyStep]:
    """What makes a record of one kind from row k of the columns."""
    read = [(f.name, columns[f.name], READERS[str(f.type)]) for f in fields(record)]
    return lambda k: record(**{name: convert(column[k]) for name, column, convert in read})


def _whole(value: Any) -> int:
    _require(isinstance(value, int | str))
    return int(value)


def _number(value: Any) -> float:
    number = float(value)
    _require(not math.isnan(number))
    return number


def _several(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads a list, or a text with spaces between its members."""

    def read_all(value: Any) -> tuple[Any, ...]:
        _require(isinstance(value, list | str))
        return tuple(map(read, value.split() if isinstance(value, str) else value))

    return read_all


READERS: dict[str, Callable[[Any], Any]] = {
    "int": _whole,
    "float": _number,
    "str": str,
    "tuple[int, ...]": _several(_whole),
    "tuple[float, ...]": _several(_number),
}
"""How a field is read, by its type."""


def _cell(value: Any) -> Any:
    """As a cell of a CSV file: numbers with every bit, several with spaces between them, nothing for None."""
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else value


def _encode(value: Any) -> Any:
    """JSON has no infinity: write it as text, wherever it stands."""
    if isinstance(value, dict):
        return {k: _encode(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(v) for v in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(v) for v in value]
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value
