"""Warm starts: a solution of one problem as a feasible start of the next, in O(n) for each group.

H is linear: where z' is made of pieces whose images under H are known, so is H z', and no kernel value is read.
Nothing is clipped, since that would break the sums:

`Scaled`   where all sums are zero and the box is C times a fixed one: z C' / C. What is at a bound stays there.
`Ray`      where the box is open (the squared losses): the best multiple of z, by a line search in closed form.
`Pieces`   where the sums are not zero (nu, mu): in units of the box every multiplier is between 0 and 1 and a group
           sums to T, such as 1 / mu, so that all that changes is T. Multipliers at a bound stay there, and the free
           ones take what T has gained or lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from svmviz.problem import EPS, DualProblem

Array = np.ndarray
Product = Callable[[Array], Array]

# How many multipliers at a bound are taken to be the next to leave it, for each free one of the group, and at least.
NEXT, LEAST_NEXT = 1.0, 5.0


class Source(Protocol):
    """A solution that other problems can start from. It keeps H z itself and does not read it off the gradient.

    Where the linear term or the added diagonal is much larger, the gradient lacks the digits that scaling needs.
    """

    def start(self, problem: DualProblem) -> tuple[Array, Array]:
        """A feasible z (n,) for this problem, and H z (n,) without the added diagonal."""


class Scaled:
    """A solution whose sums are zero, as the start of problems with another size of the box or of the coupling.

    Parameters
    ----------
    problem : DualProblem
    z : ndarray (n,)
    product : callable
        H v without the added diagonal for a vector v (n,).
    """

    def __init__(self, problem: DualProblem, z: Array, product: Product):
        self._z, self._image = z, product(z)
        self._far, self._coupling = far_bounds(problem), problem.coupling[0, 0]
        self._size = np.abs(self._far).max()

    def start(self, problem: DualProblem) -> tuple[Array, Array]:
        """Multipliers at a bound are exactly at the new one."""
        far = far_bounds(problem)
        size = np.abs(far).max()
        z = np.where(self._z == self._far, far, self._z / self._size * size)
        return z, self._image / self._size * size / self._coupling * problem.coupling[0, 0]


class Ray:
    """A solution whose box is open and whose sums are zero: every multiple of it is feasible.

    Parameters
    ----------
    problem, z, product
        As for `Scaled`.
    """

    def __init__(self, problem: DualProblem, z: Array, product: Product):
        self._z, self._image = z, product(z)

    def start(self, problem: DualProblem) -> tuple[Array, Array]:
        """The multiple with the lowest objective; zero where there is none, as after a run that ran away."""
        with np.errstate(all="ignore"):
            curvature = float(self._z @ (self._image + problem.diagonal * self._z))
            best = -float(problem.linear @ self._z) / curvature if curvature > 0 else 0.0
        if not 0 < best < np.inf:
            return np.zeros(problem.n), np.zeros(problem.n)
        return best * self._z, best * self._image


class Pieces:
    """A solution whose groups each sum to a number of their own, in pieces whose images are known.

    In units of the box every multiplier is a share between 0 and 1. When a group's total T rises, some shares move
    the same part of their way to 1: the free ones; if they cannot take it all, also the zeros nearest to growing (see
    `NEXT`); if that is not enough, all. When it falls, some shares shrink in proportion: the free ones, then also the
    full ones nearest to shrinking, then all.

    Parameters
    ----------
    problem : DualProblem
        With boxes from 0 to a bound that a group has in common.
    z, gradient : ndarray (n,)
    product : callable
        H v for a vector v (n,).
    everyone : callable
        The image of each group with all its multipliers at 1, (n_groups, n). Called only where the smaller pieces
        will not do.
    """

    def __init__(
        self,
        problem: DualProblem,
        z: Array,
        gradient: Array,
        product: Product,
        everyone: Callable[[], Array],
    ):
        far = far_bounds(problem)
        self._starts, self._group = problem.starts, problem.group
        self._shares, self._everyone = z / far, everyone
        full, zero = z == far, z == 0
        free = ~(full | zero)
        pull = gradient * np.sign(far)  # the lower, the nearer to growing
        next_zero, next_full = self._nearest(zero, pull, free), self._nearest(full, -pull, free)
        self._grow = [free, free | next_zero, free | zero]
        self._shrink = [free, free | next_full, free | full]
        pieces = [self._shares * free, full, free, next_zero, next_full]
        self._images = np.array([group_images(problem, np.where(v, v, 0.0), product) for v in pieces])

    def _nearest(self, chosen: Array, distance: Array, free: Array) -> Array:
        """Of the chosen of each group those with the least distance, (n,) of bool."""
        order = np.lexsort((np.where(chosen, distance, np.inf), self._group))
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order)) - self._starts[self._group]
        most = np.maximum(LEAST_NEXT, NEXT * self._sums(free))
        return chosen & (rank < most[self._group])

    def _sums(self, values: Array) -> Array:
        return np.add.reduceat(values.astype(float), self._starts)

    def start(self, problem: DualProblem) -> tuple[Array, Array]:
        """A feasible z for other sums and bounds, and H z."""
        far = far_bounds(problem)
        unit = far[self._starts]
        change = problem.sums / unit - self._sums(self._shares)
        # What is only rounding moves nothing off its bound.
        change[np.abs(change) <= 16 * EPS * self._sums(np.ones(problem.n))] = 0.0
        up, lift = self._level(change, self._grow, 1 - self._shares)
        down, drop = self._level(-change, self._shrink, self._shares)
        group = self._group
        rising, falling = np.choose(up[group], self._grow), np.choose(down[group], self._shrink)
        shares = self._shares + np.where(rising, lift[group] * (1 - self._shares), 0.0)
        shares *= np.where(falling, 1 - drop[group], 1.0)
        image = self._image(unit, up, lift, down, drop)
        # Rounding only: 1 / mu times mu need not be 1.
        return np.clip(shares * far, problem.lo, problem.hi), image

    def _image(self, unit: Array, up: Array, lift: Array, down: Array, drop: Array) -> Array:
        """H z for what `start` makes of the shares: the level and the part of each group, up and down."""
        of_free, full, free, next_zero, next_full = self._images
        lift, drop = unit * lift, unit * drop
        image = (unit - lift - drop) @ of_free + lift @ free + unit @ full
        image += (
            (lift * (up == 1)) @ next_zero - (drop * (down == 1)) @ next_full - (drop * (down == 2)) @ full
        )
        if (up == 2).any():
            image += (lift * (up == 2)) @ (self._everyone() - full - free)
        return image

    def _level(self, change: Array, levels: list[Array], room: Array) -> tuple[Array, Array]:
        """For each group the first level with room for the change, and the part of its room that this takes."""
        rooms = np.array([self._sums(room * level) for level in levels])
        level = np.minimum((rooms < change).sum(axis=0), 2)
        there = np.take_along_axis(rooms, level[None], axis=0)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where((change > 0) & (there > 0), change / there, 0.0)
        return level, np.minimum(part, 1.0)


def far_bounds(problem: DualProblem) -> Array:
    """The end of each multiplier's box that is not zero, (n,)."""
    return np.where(problem.hi != 0, problem.hi, problem.lo)


def group_images(problem: DualProblem, values: Array, product: Product) -> Array:
    """The image of the values (n,) of each group alone, (n_groups, n)."""
    images = np.zeros((problem.n_groups, problem.n))
    for g, first in enumerate(problem.starts):
        alone = np.zeros(problem.n)
        last = problem.n if g + 1 == problem.n_groups else problem.starts[g + 1]
        alone[first:last] = values[first:last]
        images[g] = product(alone) if alone.any() else 0.0
    return images
