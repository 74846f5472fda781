"""The Newton phase: jump to the minimum over the free multipliers, as far as the box lets.

Pairs find out quickly which multipliers are free and then need many small steps to say what they are. With the free
set fixed, the minimum solves a linear system, see `svmviz.free_system`. The phase steps towards it up to the first
bound that blocks, takes that index out of the free set, and repeats. It may also release indices from their bounds:
those that violate most, when the free set is nearly right (`worst_at_bounds`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

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
# Where a phase reached its end nearly unblocked, the free set is nearly right, and another that takes in what
# violates most at the bounds costs less than the pairs that would find it: at most this share of the free set, and
# so many.
RELEASED_SHARE, MOST_RELEASED = 0.25, 20
# Gradients this equal, relative to where they started, need no refinement.
EQUAL_ENOUGH = 1e-9
# What rounding may take from the sums, relative to the multipliers: where a direction is so long that it takes more,
# it says nothing.
SUMS_KEPT = 1e-10


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

    A full step along the Newton direction d takes all gradients of a group to one value, so after a share t of it
    1 - t of it is left to go, and a bound that blocks there takes its index out of d: no step needs H until `settle`.
    """

    def __init__(self, iterate: Iterate, free: Array):
        self.z, self.lo, self.hi = iterate.z[free], iterate.lo[free], iterate.hi[free]
        self.H = iterate.hessian.square(free)
        self.group = None if iterate.one_group else iterate.group[free]
        self.system = FreeSystem(self.H, self.group)
        self.inside = np.ones(len(free), dtype=bool)
        self._settled_z, self.gradient = self.z.copy(), iterate.gradient[free]
        # The bounds again: an index that is left out has none, so that it blocks no more.
        self._ahead, self._behind = self.hi.copy(), self.lo.copy()

    def aim(self) -> bool:
        """Find the direction at the gradient as it is; whether there is one."""
        self._direction = self.system.direction(self.gradient)
        self._left = 1.0
        return bool(np.isfinite(self._direction).all())

    def step(self) -> tuple[float, int]:
        """Go along the direction to its end or to the first bound.

        How far, as a share, and the place that blocks there, -1 at the end.
        """
        direction, left = self._direction, self._left
        forward = direction > 0
        room = np.where(forward, self._ahead, self._behind)
        room -= self.z
        room /= direction
        k = int(room.argmin())
        reach = room.item(k)
        if not reach >= 0:  # an index that stays where it is, at a bound or before one
            room[direction == 0] = np.inf
            k = int(room.argmin())
            reach = max(0.0, room.item(k))
        if reach >= left:
            daxpy(direction, self.z, a=left)
            return 1.0, -1
        daxpy(direction, self.z, a=reach)
        self.z[k] = self.hi[k] if forward[k] else self.lo[k]
        self.inside[k] = False
        self._ahead[k] = self._behind[k] = np.inf
        self._left = left - reach
        self._direction = self.system.drop(k, direction)
        return reach / left, k

    def settle(self) -> bool:
        """Whether the steps since the last call have lowered the objective; then the gradient where they led to.

        Where rounding has made them raise it, they are shortened to its minimum on the way; where it has taken from
        the sums, they are taken back.
        """
        change = self.z - self._settled_z
        if self._lost(change) > SUMS_KEPT * float(np.abs(self.z).max() + np.abs(self._settled_z).max()):
            self.z = self._settled_z
            return False
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

    def _lost(self, change: Array) -> float:
        """The largest sum over a group of a change (f,) that should have none."""
        if self.group is None:
            return abs(float(np.add.reduce(change)))
        return float(np.abs(np.add.reduceat(change, run_starts(self.group))).max())

    def spread(self) -> float:
        """Largest difference of two gradients within a group, which the minimum makes zero."""
        gradient = self.gradient[self.inside]
        if not len(gradient):
            return 0.0
        if self.group is None:
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
        The free set before, and what took part besides.
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


def newton_phase(
    iterate: Iterate, budget: float = np.inf, most_steps: float = np.inf, released: Array | None = None
) -> Phase:
    """Minimise over the free multipliers in place, and over those at a bound that are named.

    The objective never rises. Multipliers that reach a bound are exactly on it. Where H is not positive
    definite on the free set, so that no factor exists, nothing is done.

    Parameters
    ----------
    iterate : Iterate
    budget : float, optional
        About how many floating-point operations it may take; nothing is done when it is too small for a few steps.
    most_steps : float, optional
        It ends after so many steps.
    released : ndarray (k,) of int, optional
        Dual indices at a bound that take part; those that would leave the box are taken out again, one a step.
    """
    free = iterate.free()
    if released is not None:
        free = np.sort(np.concatenate([free, released]))
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
    with np.errstate(all="ignore"):  # a bound that a tiny direction never reaches, and no direction at all
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


def worst_at_bounds(iterate: Iterate, tol: float) -> Array:
    """The multipliers at a bound that violate most against the free ones of their group.

    Parameters
    ----------
    iterate : Iterate
    tol : float
        By how much at least, in units of the gradient.

    Returns
    -------
    ndarray (k,) of int
        Their dual indices, in no order: at most `RELEASED_SHARE` of the free set, and at most `MOST_RELEASED`.
    """
    free = iterate.free()
    most = min(int(RELEASED_SHARE * len(free)), MOST_RELEASED, iterate.n)
    if not most:
        return np.empty(0, dtype=int)
    violation = np.maximum(*_beyond(iterate, free))
    violation[free] = 0.0
    worst = violation.argpartition(-most)[-most:]
    return worst[violation[worst] > tol]


def _beyond(iterate: Iterate, free: Array) -> tuple[Array, Array]:
    """By how much each index that may grow, and each that may shrink, is beyond the free ones of its group, (n,)."""
    group, gradient = iterate.group, iterate.gradient[free]
    if iterate.one_group:
        level: Array | float = float(gradient.mean())
        return level - iterate.up_gradient, iterate.low_gradient - level
    counts = np.bincount(group[free], minlength=iterate.n_groups)
    level = (np.bincount(group[free], gradient, minlength=iterate.n_groups) / np.maximum(1, counts))[group]
    known = (counts > 0)[group]
    return (
        np.where(known, level - iterate.up_gradient, 0.0),
        np.where(known, iterate.low_gradient - level, 0.0),
    )
