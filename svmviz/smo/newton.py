"""The Newton phase: jump to the minimum over the free multipliers, as far as the box lets.

Pairs find out quickly which multipliers are free and then need many small steps to say what they are. With the free
set fixed, the minimum solves a linear system, see `svmviz.free_system`. The phase steps towards it up to the first
bound that blocks, takes that index out of the free set, and repeats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmviz.free_system import FreeSystem
from svmviz.problem import EPS
from svmviz.smo.iterate import Iterate

Array = np.ndarray

# A factor of more is not tried: it needs the square of their number in memory.
LARGEST_FREE_SET = 3000
# A phase starts when its budget allows this many steps: the first few mostly end at a bound.
LEAST_STEPS = 8
# Steps that reach the minimum over the free set, one after the other: each takes off most of what rounding left in
# the inverse.
LARGEST_REFINEMENTS = 3
# Gradients this equal, relative to where they started, need no refinement.
EQUAL_ENOUGH = 1e-9


class _FreeSet:
    """The multipliers of the free set by themselves, while a phase moves them."""

    def __init__(self, iterate: Iterate, free: Array):
        self.z, self.gradient = iterate.z[free], iterate.gradient[free]
        self.lo, self.hi = iterate.lo[free], iterate.hi[free]
        self.H = iterate.hessian.square(free)
        self.group = iterate.group[free]
        self.system = FreeSystem(self.H, self.group)
        self.room = np.empty(len(free))
        self.inside = np.ones(len(free), dtype=bool)

    def step(self) -> tuple[float, int] | None:
        """Go along the direction to the minimum of the true objective, or to the first bound.

        How far, as a share of the way to the minimum, and the place that blocks there, -1 for the minimum; None when
        nothing descends.
        """
        direction = self.system.direction(self.gradient)
        image = self.H @ direction
        slope, curvature = float(self.gradient @ direction), float(direction @ image)
        if not (slope < 0 and np.isfinite(curvature)):
            return None
        room = self.room
        room.fill(np.inf)
        bound = np.where(direction > 0, self.hi, self.lo)
        bound -= self.z
        np.divide(bound, direction, out=room, where=direction != 0)
        k = int(room.argmin())
        nearest = max(0.0, room.item(k))
        best = -slope / curvature if curvature > 0 else np.inf
        if best < nearest and curvature <= 4 * EPS * float(np.abs(direction) @ np.abs(image)):
            best = np.inf  # a curvature that is rounding only says nothing of where the minimum is
        length = min(best, nearest)
        if length == np.inf:
            return None
        forward = bool(direction[k] > 0)
        direction *= length
        image *= length
        self.z += direction
        self.gradient += image
        if best < nearest:
            return 1.0, -1
        self.z[k] = self.hi[k] if forward else self.lo[k]
        self.inside[k] = False
        self.system.drop(k)
        return nearest / best, k

    def spread(self) -> float:
        """Largest difference of two gradients within a group, which the minimum makes zero."""
        inside = np.flatnonzero(self.inside)
        if not len(inside):
            return 0.0
        gradient = self.gradient[inside]
        if self.group[0] == self.group[-1]:
            return float(gradient.max() - gradient.min())
        starts = np.flatnonzero(np.diff(self.group[inside], prepend=-1))
        return float((np.maximum.reduceat(gradient, starts) - np.minimum.reduceat(gradient, starts)).max())


class Phase(NamedTuple):
    """What a Newton phase did.

    Attributes
    ----------
    work : float
        About how many floating-point operations it took.
    indices : ndarray (f,) of int
        The free set before.
    fraction : float
        How far the last step went along its direction: 1 reached the minimum over what was left of the free set,
        0 nothing was done.
    blocked : list of int
        Dual indices that are now at a bound, in the order in which they reached it.
    """

    work: float
    indices: Array
    fraction: float
    blocked: list[int]


def newton_phase(iterate: Iterate, budget: float = np.inf, most_steps: float = np.inf) -> Phase:
    """Minimise over the free multipliers in place.

    The objective never rises. Multipliers that reach a bound are exactly on it. Where H is not positive
    definite on the free set, so that no factor exists, nothing is done.

    Parameters
    ----------
    iterate : Iterate
    budget : float, optional
        About how many floating-point operations it may take; nothing is done when it is too small for a few steps.
    most_steps : float, optional
        It ends after so many steps.
    """
    free = iterate.free()
    count, n = float(len(free)), float(iterate.n)
    fixed = count**3 + count * n
    each = 6 * count**2
    if not 2 <= count <= LARGEST_FREE_SET or fixed + LEAST_STEPS * each > budget:
        return Phase(0.0, free, 0.0, [])
    inside = _FreeSet(iterate, free)
    if not inside.system.is_definite:
        return Phase(fixed, free, 0.0, [])
    steps, refinements, fraction, blocked = 0, 0, 0.0, []
    first_spread = inside.spread()
    while steps < min(most_steps, (budget - fixed) / each) and refinements < LARGEST_REFINEMENTS:
        done = inside.step()
        if done is None:
            break
        steps += 1
        fraction, stopped = done
        if stopped >= 0:
            blocked.append(int(free[stopped]))
        else:
            refinements += 1
            if inside.spread() <= EQUAL_ENOUGH * first_spread:
                break
    if steps:
        iterate.shift(free, inside.z)
    return Phase(fixed + steps * each, free, fraction, blocked)
