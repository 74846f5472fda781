"""The Newton phase: jump to the minimum over the free multipliers, as far as the box lets.

Pairs find out quickly which multipliers are free and then need many small steps to say what they are. With the free
set fixed, the minimum solves a linear system, see `svmviz.free_system`. The phase steps towards it up to the first
bound that blocks, takes that index out of the free set, and repeats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmviz.free_system import FreeSystem, run_starts
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


class Jump(NamedTuple):
    """One Newton step on the free set.

    Attributes
    ----------
    indices : ndarray (f,) of int
        The free set before the step, dual indices.
    z_before, z_after : ndarray (f,)
    fraction : float
        How far along the Newton direction: 1 reached the minimum over the free set; below, a bound blocked.
    blocked : ndarray (b,) of int
        Dual indices that are now at the bound.
    violation : float
        Of the whole problem before the step.
    """

    indices: Array
    z_before: Array
    z_after: Array
    fraction: float
    blocked: Array
    violation: float


class _FreeSet:
    """The multipliers of the free set by themselves, while a phase moves them.

    A full step along the Newton direction d takes all gradients of a group to one value, so after a share t of it the
    direction is (1 - t) d, and a bound that blocks there takes its index out of it: no step needs H until `settle`.
    """

    def __init__(self, iterate: Iterate, free: Array):
        self.z, self.lo, self.hi = iterate.z[free], iterate.lo[free], iterate.hi[free]
        self.H = iterate.hessian.square(free)
        self.group, self.one_group = iterate.group[free], iterate.one_group
        self.system = FreeSystem(self.H, self.group)
        self.inside = np.ones(len(free), dtype=bool)
        self._settled_z, self.gradient = self.z.copy(), iterate.gradient[free]
        self._room = np.empty(len(free))

    def aim(self) -> bool:
        """Find the direction at the gradient as it is; whether there is one."""
        self._direction = self.system.direction(self.gradient)
        return bool(np.isfinite(self._direction).all())

    def step(self) -> tuple[float, int]:
        """Go along the direction to its end or to the first bound.

        How far, as a share, and the place that blocks there, -1 at the end.
        """
        direction, room = self._direction, self._room
        forward = direction > 0
        bound = np.where(forward, self.hi, self.lo)
        bound -= self.z
        room.fill(np.inf)
        with np.errstate(over="ignore"):  # a bound that a tiny direction never reaches
            np.divide(bound, direction, out=room, where=direction != 0)
        k = int(room.argmin())
        share = room.item(k)
        if share >= 1:
            self.z += direction
            return 1.0, -1
        share = max(0.0, share)
        self.z += share * direction
        self.z[k] = self.hi[k] if forward[k] else self.lo[k]
        self.inside[k] = False
        direction *= 1 - share
        self._direction = self.system.drop(k, direction)
        return share, k

    def settle(self) -> bool:
        """Whether the steps since the last call have lowered the objective; then the gradient where they led to.

        Where rounding has made them raise it, they are shortened to its minimum on the way.
        """
        change = self.z - self._settled_z
        image = self.H @ change
        slope, curvature = float(self.gradient @ change), float(change @ image)
        descends = slope < 0 and np.isfinite(curvature)
        if not descends or slope + 0.5 * curvature > 0:
            change *= -slope / curvature if descends else 0.0
            self.z = np.clip(self._settled_z + change, self.lo, self.hi)
            return False
        self.gradient += image
        self._settled_z = self.z.copy()
        return True

    def spread(self) -> float:
        """Largest difference of two gradients within a group, which the minimum makes zero."""
        gradient = self.gradient[self.inside]
        if not len(gradient):
            return 0.0
        if self.one_group:
            return float(gradient.max() - gradient.min())
        starts = run_starts(self.group[self.inside])
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
    most_steps = min(most_steps, (budget - fixed) / each)
    steps, fraction, blocked = 0, 0.0, []
    enough = EQUAL_ENOUGH * inside.spread()
    for _ in range(LARGEST_REFINEMENTS):
        if not inside.aim():
            break
        blocks = 0
        while steps < most_steps and blocks >= 0:
            fraction, blocks = inside.step()
            steps += 1
            if blocks >= 0:
                blocked.append(int(free[blocks]))
        if not inside.settle() or blocks >= 0 or inside.spread() <= enough:
            break
    iterate.shift(free, inside.z)
    return Phase(fixed + steps * each, free, fraction, blocked)
