"""A Step for each pair the loop moves: all that a person needs to check it by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from svmviz.problem import DualProblem
from svmviz.smo.iterate import Move
from svmviz.smo.loop import Loop

Array = np.ndarray


@dataclass(frozen=True, slots=True)  # thousands are kept for each visitor
class Step:
    """One pair moved: z_i grew and z_j shrank by `step`. "Before" and "after" are of this step.

    Attributes
    ----------
    number : int
        1 for the first step.
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


def steps(loop: Loop) -> Iterator[Step]:
    """Run a loop and yield a Step for each pair it moves."""
    iterate, problem = loop.iterate, loop.problem
    objective, gap = _value(loop)
    for number, move in enumerate(loop, start=loop.iterations + 1):
        before = objective, gap
        objective, gap = _value(loop)
        yield _step(loop, number, move, before, (objective, gap), _counts(problem, iterate.z))


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
