"""A record for each step of the loop: a Step for a pair that it moves, a NewtonStep for a jump on the free set.

Each holds all that a person needs to check it by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from svmviz.problem import EPS, DualProblem
from svmviz.smo.iterate import Move
from svmviz.smo.loop import Loop
from svmviz.smo.newton import Jump

Array = np.ndarray


@dataclass(frozen=True, slots=True)  # thousands are kept for each visitor
class Step:
    """One pair moved: z_i grew and z_j shrank by `step`. "Before" and "after" are of this step.

    Attributes
    ----------
    kind : "pair"
    number : int
        1 for the first step, of either kind.
    group : int
    i, j : int
        Dual indices of the pair.
    sample_i, sample_j : int
    rule : "second_order", "max_violating" or "platt"
    reason : str
        The part of the rule that found the pair.
    gradient_i, gradient_j : float
        Gradients of the pair before.
    pair_violation : float
        gradient_j - gradient_i.
    violation : float
        The largest violation of the problem before.
    h_ii, h_jj, h_ij, curvature : float
        Entries of H, and h_ii + h_jj - 2 h_ij.
    lo_i, hi_i, lo_j, hi_j : float
        The box of the pair.
    unclipped, step : float
        pair_violation over the curvature (or its floor), and what the box left of it.
    blocked : "none", "i", "j" or "both"
        Whose bound clipped the step: hi_i, lo_j or both.
    z_i_before, z_i_after, z_j_before, z_j_after : float
        Signed multipliers.
    objective_before, objective_after, gap_before, gap_after : float
    n_free, n_zero, n_bound : int
        Multipliers after the step that are strictly inside the box, zero, and at their other bound.
    """

    kind: ClassVar[Literal["pair"]] = "pair"

    number: int
    group: int
    i: int
    j: int
    sample_i: int
    sample_j: int
    rule: str
    reason: str
    gradient_i: float
    gradient_j: float
    pair_violation: float
    violation: float
    h_ii: float
    h_jj: float
    h_ij: float
    curvature: float
    lo_i: float
    hi_i: float
    lo_j: float
    hi_j: float
    unclipped: float
    step: float
    blocked: str
    z_i_before: float
    z_i_after: float
    z_j_before: float
    z_j_after: float
    objective_before: float
    objective_after: float
    gap_before: float
    gap_after: float
    n_free: int
    n_zero: int
    n_bound: int

    def put(self, z: Array) -> None:
        """Write the multipliers after the step into z (n,)."""
        z[self.i], z[self.j] = self.z_i_after, self.z_j_after


@dataclass(frozen=True, slots=True)
class NewtonStep:
    """All free multipliers moved at once, towards the minimum over them. "Before" and "after" are of this step.

    The free set F is that before the step, d the Newton direction: with it the gradients of each group's free
    multipliers would be equal. Along z + t d the objective is objective_before + slope t + 1/2 curvature t^2.

    Attributes
    ----------
    kind : "newton"
    number : int
        1 for the first step, of either kind.
    indices, samples : tuple of int
        Dual indices of F, and the sample of each.
    z_before, z_after : tuple of float
        Their signed multipliers.
    fraction : float
        t: how far the step went along d, up to rounding. 1 reached the minimum; below 1 a bound stopped it.
    blocked : tuple of int
        Dual indices that reached a bound and stopped it there.
    slope, curvature : float
        g'd and d'Hd, of the gradient g before; 0 is a curvature that rounding hides. Where it is much below -slope
        the objective has no minimum along d, or one far away: then H is singular on F.
    spread_before, spread_after : float
        Largest distance of a gradient in F from the mean of F in its group: what the step removes.
    violation : float
        The largest violation of the problem before.
    objective_before, objective_after, gap_before, gap_after : float
    n_free, n_zero, n_bound : int
        Multipliers after the step that are strictly inside the box, zero, and at their other bound.
    """

    kind: ClassVar[Literal["newton"]] = "newton"

    number: int
    indices: tuple[int, ...]
    samples: tuple[int, ...]
    z_before: tuple[float, ...]
    z_after: tuple[float, ...]
    fraction: float
    blocked: tuple[int, ...]
    slope: float
    curvature: float
    spread_before: float
    spread_after: float
    violation: float
    objective_before: float
    objective_after: float
    gap_before: float
    gap_after: float
    n_free: int
    n_zero: int
    n_bound: int

    def put(self, z: Array) -> None:
        """Write the multipliers after the step into z (n,)."""
        z[list(self.indices)] = self.z_after

    @property
    def only_rounding(self) -> bool:
        """Whether the minimum over F was reached before: nothing changes in the first nine digits."""
        before, after = np.array(self.z_before), np.array(self.z_after)
        return not self.blocked and bool(np.abs(after - before).max() <= 1e-9 * np.abs(before).max())


AnyStep = Step | NewtonStep


def steps(loop: Loop) -> Iterator[AnyStep]:
    """Run a loop and yield a record for each step: a pair, or where the loop yields them a Newton step."""
    iterate, problem = loop.iterate, loop.problem
    objective, gap = _value(loop)
    gradient = iterate.gradient.copy()
    for number, made in enumerate(loop, start=loop.iterations + 1):
        before = objective, gap
        objective, gap = _value(loop)
        after, counts = (objective, gap), _counts(problem, iterate.z)
        if isinstance(made, Jump):
            yield _newton_step(loop, number, made, gradient, before, after, counts)
        else:
            yield _step(loop, number, made, before, after, counts)
        gradient[:] = iterate.gradient


def pairs(loop: Loop) -> Iterator[Step]:
    """The steps of a loop that moves pairs only."""
    return (step for step in steps(loop) if isinstance(step, Step))


def _value(loop: Loop) -> tuple[float, float]:
    z, g = loop.iterate.z, loop.iterate.gradient
    return loop.problem.objective(z, g), loop.problem.gap(z, g, loop.hessian.rounding(z))


def _counts(problem: DualProblem, z: Array) -> tuple[int, int, int]:
    free = int(((z > problem.lo) & (z < problem.hi)).sum())
    zero = int((z == 0.0).sum())
    return free, zero, problem.n - free - zero


def _step(
    loop: Loop,
    number: int,
    move: Move,
    before: tuple[float, float],
    after: tuple[float, float],
    counts: tuple[int, int, int],
) -> Step:
    problem, hessian = loop.problem, loop.hessian
    i, j = move.i, move.j
    return Step(
        number=number,
        group=move.group,
        i=i,
        j=j,
        sample_i=int(problem.sample[i]),
        sample_j=int(problem.sample[j]),
        rule=loop.options.selection,
        reason=loop.reason,
        gradient_i=move.gradient_i,
        gradient_j=move.gradient_j,
        pair_violation=move.gradient_j - move.gradient_i,
        violation=move.violation,
        h_ii=float(hessian.diagonal[i]),
        h_jj=float(hessian.diagonal[j]),
        h_ij=hessian.entry(i, j),
        curvature=move.curvature,
        lo_i=float(problem.lo[i]),
        hi_i=float(problem.hi[i]),
        lo_j=float(problem.lo[j]),
        hi_j=float(problem.hi[j]),
        unclipped=move.unclipped,
        step=move.step,
        blocked=move.blocked,
        z_i_before=move.z_i_before,
        z_i_after=move.z_i_after,
        z_j_before=move.z_j_before,
        z_j_after=move.z_j_after,
        objective_before=before[0],
        objective_after=after[0],
        gap_before=before[1],
        gap_after=after[1],
        n_free=counts[0],
        n_zero=counts[1],
        n_bound=counts[2],
    )


def _newton_step(
    loop: Loop,
    number: int,
    jump: Jump,
    gradient: Array,
    before: tuple[float, float],
    after: tuple[float, float],
    counts: tuple[int, int, int],
) -> NewtonStep:
    """The record of a jump, from the gradient (n,) before it."""
    problem, free = loop.problem, jump.indices
    direction = (jump.z_after - jump.z_before) / jump.fraction
    first, then = gradient[free], loop.iterate.gradient[free]
    curvature = float((then - first) @ direction) / jump.fraction
    rounding = problem.n * EPS * float((np.abs(first) + np.abs(then)) @ np.abs(direction)) / jump.fraction
    return NewtonStep(
        number=number,
        indices=tuple(free.tolist()),
        samples=tuple(problem.sample[free].tolist()),
        z_before=tuple(jump.z_before.tolist()),
        z_after=tuple(jump.z_after.tolist()),
        fraction=float(jump.fraction),
        blocked=tuple(jump.blocked.tolist()),
        slope=float(first @ direction),
        curvature=curvature if curvature > rounding else 0.0,
        spread_before=_spread(first, problem.group[free]),
        spread_after=_spread(then, problem.group[free]),
        violation=float(jump.violation),
        objective_before=before[0],
        objective_after=after[0],
        gap_before=before[1],
        gap_after=after[1],
        n_free=counts[0],
        n_zero=counts[1],
        n_bound=counts[2],
    )


def _spread(gradient: Array, group: Array) -> float:
    """Largest distance of a gradient (f,) from the mean of its group (f,)."""
    _, member, count = np.unique(group, return_inverse=True, return_counts=True)
    means = np.bincount(member, weights=gradient) / count
    return float(np.abs(gradient - means[member]).max())
