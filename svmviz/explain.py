"""A step in words: why this pair, how far it wants to go, and what stops it; or what an event of a walk is.

All numbers are the step's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from svmviz.smo.steps import NewtonStep, Step
from svmviz.trace import Trace
from svmviz.walk.record import HELD, MARGIN
from svmviz.walk.steps import Moving, WalkStep

Array = np.ndarray


@dataclass(frozen=True)
class Words:
    """What the multipliers of a machine are called.

    Attributes
    ----------
    plus, minus : str
        The multiplier |z| where z is not negative, and where it is not positive.
    z : str
        The signed multiplier.
    bound : str
        Its largest size.
    group : str
        What the multipliers of a group have in common; empty where there is one group.
    edge : str
        Where the samples of the free multipliers are.
    """

    plus: str
    minus: str
    z: str
    bound: str
    group: str = ""
    edge: str = "the margin"

    @property
    def short_edge(self) -> str:
        """The same where several samples are counted: the edge, whatever it is of."""
        return self.edge.split(" of ")[0]


TUBE, HULL = "the edge of the tube", "the edge of its reduced hull"
WORDS = {
    "C-SVC": Words("α", "α", "±α", "C"),
    "epsilon-SVR": Words("α", "α*", "α or −α*", "C", edge=TUBE),
    "nu-SVC": Words("α", "α", "±α", "1", "class"),
    "nu-SVR": Words("α", "α*", "α or −α*", "C", "side", TUBE),
    "one-class SVM": Words("α", "α", "α", "1", edge="the edge"),
    "mu-SVM": Words("u", "u", "u", "μ", "class", HULL),
    "AD-SVM": Words("u", "u", "u", "μ", "prototype", HULL),
    "MC-SVM": Words("1−η", "η", "δ−η", "1", "sample"),
}
UNDECIDED = {
    "nu-SVC": "The reduced hulls meet, so no direction parts the classes. ",
    "one-class SVM": "Nothing parts the points from the origin of the kernel's space. ",
}
SIGNS = {"C": "C", "epsilon": "ε", "mu": "μ"}


def words_of(trace: Trace) -> Words:
    """What the multipliers of a trace are called; those of C-SVC where the machine is not known."""
    return WORDS.get(trace.machine, WORDS["C-SVC"])


def sentences(
    trace: Trace,
    names: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[str]:
    """What to say at each position of a trace.

    Parameters
    ----------
    trace : Trace
    names : sequence of str (n,), optional
        A name for each dual index; default: "point" and the number of its sample from 1.
    groups : sequence of str (n_groups,), optional
        A name for each group; default: what its multipliers have in common and its number from 1.

    Returns
    -------
    list of str, length len(trace.steps) + 1
        Before each step, what it is about to do; at the end, why the run stopped.
    """
    words = words_of(trace)
    names = names or [f"point {sample + 1}" for sample in trace.problem.sample]
    groups = groups or [f"{words.group or 'group'} {g + 1}" for g in range(trace.problem.n_groups)]
    teller = _Teller(trace, words, names, groups)
    if trace.walk is not None:
        return [*_WalkTeller(trace, trace.walk, words, names).sentences(), describe_end(trace)]
    plain = [step for step in trace.steps if not isinstance(step, WalkStep)]
    return [teller.step(step) for step in plain] + [describe_end(trace)]


@dataclass(frozen=True)
class _Teller:
    """Tells the steps of one trace."""

    trace: Trace
    words: Words
    names: Sequence[str]
    groups: Sequence[str]

    def step(self, step: Step | NewtonStep) -> str:
        """Three sentences about one step: the choice, the move, the gain."""
        if isinstance(step, NewtonStep):
            parts = (self._free_set(step), self._jump(step), self._newton_gain(step))
        else:
            parts = (self._choice(step), self._move(step), self._gain(step))
        return f"Step {step.number} of {len(self.trace.steps)}: {' '.join(parts)}"

    def _free_set(self, step: NewtonStep) -> str:
        if step.only_rounding:
            return (
                f"Newton step: {len(step.indices)} multipliers are free, and the minimum over them has been "
                "reached already."
            )
        return (
            f"Newton step: {len(step.indices)} multipliers are free; their gradients lie up to "
            f"{short(step.spread_before)} from their mean{self._each(step)}."
        )

    def _jump(self, step: NewtonStep) -> str:
        if step.only_rounding:
            return "Solving the linear system once more changes no more than rounding."
        solving = "Solving one linear system moves them all at once"
        if not step.blocked:
            now = f"{solving}, all the way: now the gradients of the free are"
            if step.spread_after <= 0.01 * self.trace.tol:
                return f"{now} equal{self._each(step)}, so no pair of them can gain."
            return f"{now} within {short(step.spread_after)} of their mean{self._each(step)}."
        if step.curvature < -0.5 * step.slope:
            return f"{solving}; that way the objective falls without end, until {self._stop(step)}."
        stop = "stops" if len(step.blocked) == 1 else "stop"
        return (
            f"{solving}, {short(step.fraction, 3)} of the way: there {self._stop(step)} and {stop} the step."
        )

    def _stop(self, step: NewtonStep) -> str:
        names = [self.names[d] for d in step.blocked]
        if len(names) == 1:
            return f"{names[0]} reaches {_bound(step.z_after[step.indices.index(step.blocked[0])])}"
        named = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
        return f"{', '.join(named[:-1])} and {named[-1]} reach their bounds"

    def _each(self, step: NewtonStep) -> str:
        """Within what the gradients are compared, where several groups have free multipliers."""
        several = len(set(self.trace.problem.group[list(step.indices)].tolist())) > 1
        return f" within each {self.words.group or 'group'}" if several else ""

    def _newton_gain(self, step: NewtonStep) -> str:
        same = short(step.objective_before, 13) == short(step.objective_after, 13)
        if same or step.objective_after > step.objective_before:  # by rounding
            return f"The objective, {short(step.objective_after)}, does not change any more."
        distances = self._distances(step)
        fall = self._fall(step)
        return f"Distance {distances}; t{fall[1:]}" if distances else fall

    def _within(self, step: Step) -> str:
        """Which group the pair is of, and what its multipliers sum to."""
        if self.trace.problem.n_groups == 1:
            return ""
        name = self.groups[step.group]
        if self.words.plus == "u":
            return f"Within {name}, "
        return f"Within {name} (sum kept at {short(abs(float(self.trace.problem.sums[step.group])))}), "

    def _choice(self, step: Step) -> str:
        i, j = self.names[step.i], self.names[step.j]
        g_i, g_j, violation = short(step.gradient_i), short(step.gradient_j), short(step.pair_violation)
        lowest = f"{self._within(step)}{i} has the lowest gradient of all that may go up ({g_i})"
        if step.reason == "maximal violation":
            return (
                f"{lowest}, {j} the highest of all that may go down ({g_j}): "
                f"no pair violates more, {violation}."
            )
        if step.reason == "largest gain":
            worst = short(step.violation)
            others = "" if worst == violation else f", the worst pair by {worst}"
            return (
                f"{lowest}; with {j} ({g_j}) going down, the objective would fall most without the box. "
                f"They violate by {violation}{others}."
            )
        how = {
            "farthest error": "the free multiplier with the farthest error",
            "free sweep": "a free multiplier that moves it, found going round from a random place",
            "full sweep": "the first of all multipliers that moves it, found going round from a random place",
        }[step.reason]
        return (
            f"{self._within(step)}{i} ({g_i}) and {j} ({g_j}) violate by {violation}: "
            f"one of them broke its condition, the other is {how}."
        )

    def _move(self, step: Step) -> str:
        i, j = self.names[step.i], self.names[step.j]
        first = self._change(step.z_i_before, step.z_i_after, step.hi_i)
        second = self._change(step.z_j_before, step.z_j_after, step.hi_j)
        changes = f"{i} {first}, {j} {second}."
        if step.blocked == "none":
            return f"The minimum is {short(step.unclipped)} away, inside the box: {changes}"
        stops = {
            "i": f"{i} reaches {_bound(step.hi_i)}",
            "j": f"{j} reaches {_bound(step.lo_j)}",
            "both": "both reach a bound",
        }[step.blocked]
        if step.curvature * step.unclipped < 0.5 * step.pair_violation:  # the step used the floor
            return (
                f"Along the pair the objective falls without end; {stops} after {short(step.step)}: {changes}"
            )
        return f"The minimum is {short(step.unclipped)} away, but {stops} after {short(step.step)}: {changes}"

    def _change(self, before: float, after: float, hi: float) -> str:
        """How a multiplier changes."""
        sizes = apart(abs(before), abs(after))
        return f"{self.words.minus if hi == 0 else self.words.plus} {sizes[0]} → {sizes[1]}"

    def _gain(self, step: Step) -> str:
        if self.words.plus != "u":
            return self._fall(step)
        problem = self.trace.problem
        label = problem.label[step.i]
        own = float(problem.coupling[label, label])
        apart_ = math.sqrt(max(0.0, step.h_ii + step.h_jj - 2 * step.h_ij) / own) if own > 0 else 0.0
        moves = f"v moves {short(step.step * apart_)} towards {self.names[step.i]}"
        distances = self._distances(step)
        if distances:
            falls = f"the objective falls to {short(step.objective_after)}"
            return f"{moves}, distance {distances}; {falls}."
        return f"{moves}. {self._fall(step)}"

    def _distances(self, step: Step | NewtonStep) -> str:
        """How far two prototypes are apart before and after; empty for other machines."""
        problem = self.trace.problem
        own = float(problem.coupling[0, 0])
        if self.words.plus != "u" or problem.n_groups != 2 or not own > 0:
            return ""
        values = step.objective_before, step.objective_after
        before, after = (math.sqrt(max(0.0, 2 * value / own)) for value in values)
        return " → ".join(_both(before, after))

    @staticmethod
    def _fall(step: Step | NewtonStep) -> str:
        fall = short(step.objective_before - step.objective_after)
        return f"The objective falls by {fall}, to {short(step.objective_after)}."


@dataclass(frozen=True)
class _WalkTeller:
    """Tells the events of a walk."""

    trace: Trace
    walk: Moving
    words: Words
    names: Sequence[str]

    def sentences(self) -> Iterator[str]:
        """For each event: where it is, who changes sides, and what has come out."""
        sides = self.walk.sides.copy()
        for step in self.trace.events():
            before = sides.copy()
            sides[list(step.changed)] = step.sides
            head = f"Event {step.number} of {len(self.trace.steps)}, {self._place(step.value)}"
            yield f"{head}: {self._what(step, before, sides)} {self._result(step, sides)}"

    def _place(self, value: float) -> str:
        if self.walk.parameter in SIGNS:
            return f"at {SIGNS[self.walk.parameter]} = {short(value)}"
        return f"{short(100 * value)} % {self.walk.parameter}"

    def _what(self, step: WalkStep, before: Array, after: Array) -> str:
        if step.event in ("arrived", "condition holds"):
            return self._end(step)
        if step.event == "minimised":
            count = f"{len(step.changed)} multiplier" + ("s" if len(step.changed) > 1 else "")
            return f"rounding broke the walk off, and a minimisation took it on: {count} changed sides."
        name, edge = self.names[step.dual_index], self.words.edge
        if step.event == "exchange":
            return f"{name} comes to {edge}, where it depends on others{self._instead(step)}."
        joins = step.event == "joins margin"
        bound = self.walk.at_sides(self.trace.problem, before if joins else after, step.value)
        multiplier, size = self._letter(step.dual_index), abs(float(bound[step.dual_index]))
        if joins and size == 0:
            return f"{name} comes to {edge}: its {multiplier} begins to grow."
        if joins:
            return f"{name} comes back to {edge}: its {multiplier} comes off {_bound(size)}."
        return f"{name} leaves {edge}: its {multiplier} reaches {_bound(size)}."

    def _instead(self, step: WalkStep) -> str:
        """Whose place is taken in an exchange."""
        gone = [self.names[d] for d in step.changed if d != step.dual_index]
        if not gone:
            return ""
        verb = "leaves" if len(gone) == 1 else "leave"
        return f", and {gone[0] if len(gone) == 1 else f'{len(gone)} of them'} {verb} it instead"

    def _letter(self, d: int) -> str:
        """What the multiplier of a dual index is called."""
        return self.words.minus if self.trace.problem.hi[d] <= 0 else self.words.plus

    def _end(self, step: WalkStep) -> str:
        who, several = self._held()
        if self.walk.parameter == "unlearned":
            return f"nothing is left of {who}: the machine no longer knows {'them' if several else 'it'}."
        if step.event == "condition holds":
            return f"the own condition of {who} holds now: {'they are' if several else 'it is'} learned."
        if self.walk.parameter == "learned":
            return f"{who} {'are' if several else 'is'} learned."
        return "the path ends here."

    def _held(self) -> tuple[str, bool]:
        """The samples that are learned or unlearned, and whether they are several."""
        held = np.flatnonzero(self.walk.sides == HELD).tolist()
        names = list(dict.fromkeys(self.names[d] for d in held))
        count = len(set(self.trace.problem.sample[held].tolist()))
        if count == 1 and len(names) > 1:
            return f"the sample ({len(names)} multipliers)", False
        return (f"{count} samples" if count > 2 else " and ".join(names) or "the sample"), count > 1

    def _result(self, step: WalkStep, sides: Array) -> str:
        """The three sets, the bias and the objective afterwards."""
        z = self.walk.at_sides(self.trace.problem, sides, step.value)
        rest = (sides != MARGIN) & (sides != HELD)
        n_zero = int((rest & (z == 0)).sum())
        place = self.words.short_edge
        counts = f"{step.n_margin} on {place}, {int(rest.sum()) - n_zero} at the bound, {n_zero} at zero"
        has_bias = self.trace.machine not in ("AD-SVM", "MC-SVM")
        bias = f"bias {short(step.bias)}, " if has_bias else ""
        return f"Then {counts}; {bias}objective {short(step.objective)}."


def _both(before: float, after: float) -> tuple[str, str]:
    """Two numbers, told apart where that takes no more than six digits."""
    texts = apart(before, after)
    return texts if len(texts[0]) < 9 else (short(before), short(after))


def describe_end(trace: Trace) -> str:
    """Why the run stopped, and what the result is worth."""
    certificate = trace.certificate
    violation, tol = short(certificate.violation), short(trace.tol)
    count = f"{len(trace.steps)} step" + ("" if len(trace.steps) == 1 else "s")
    if trace.walk is not None:
        count = count.replace("step", "event")
    if trace.has_newton_steps:
        count += f" ({sum(isinstance(step, NewtonStep) for step in trace.steps)} of them Newton)"
    ending = {
        "optimal": f"Done after {count}: the largest violation, {violation}, is within the tolerance {tol}.",
        "stationary": f"Stopped after {count} with a violation of {violation}, within the tolerance {tol}; "
        "but this kernel is not positive semidefinite, so a better point may exist.",
        "relative": f"Stopped after {count}: relative to its threshold no violation exceeds twice {tol}; the "
        f"largest is {violation}.",
        "capped": f"The recording ends here, after {count}: the violation, {violation}, is still above {tol}.",
        "no progress": f"Stopped after {count}: floating point can no longer lower the objective, although "
        f"the violation, {violation}, is still above {tol}.",
    }[certificate.status]
    objective = f"{_distance(trace)}The objective is {short(certificate.objective)}"
    if not math.isfinite(certificate.gap):
        return f"{ending} {objective}; no bound on the optimum holds."
    return f"{ending} {objective}; no solution lies more than {short(certificate.gap)} below it."


def _distance(trace: Trace) -> str:
    """Of two prototypes at the end: how far they are apart; of them and their like, that nothing is decided."""
    certificate, problem = trace.certificate, trace.problem
    has_two = words_of(trace).plus == "u" and problem.n_groups == 2 and problem.coupling[0, 0] > 0
    if certificate.may_be_zero and (has_two or trace.machine in UNDECIDED):
        if not math.isfinite(certificate.gap):
            return ""  # a squared distance below 0 is that of no hulls
        if certificate.status == "capped":
            return "It is too early to tell whether anything is decided. "
        return UNDECIDED.get(trace.machine, "The hulls meet, so no direction parts the classes. ")
    if not has_two:
        return ""
    return (
        f"The prototypes are {short(math.sqrt(2 * certificate.objective / problem.coupling[0, 0]))} apart. "
    )


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


def _bound(bound: float) -> str:
    return "0" if bound == 0 else f"its upper bound {short(abs(bound))}"
