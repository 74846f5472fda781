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

from svmviz.problem import DualProblem

Array = np.ndarray
Product = Callable[[Array], Array]


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
        """The multiple with the lowest objective."""
        curvature = float(self._z @ (self._image + problem.diagonal * self._z))
        best = -float(problem.linear @ self._z) / curvature if curvature > 0 else 1.0
        factor = max(0.0, best) if np.isfinite(best) else 1.0
        return factor * self._z, factor * self._image


class Pieces:
    """A point in pieces: for each group the free multipliers, those at the far bound, and those at zero.

    Parameters
    ----------
    problem : DualProblem
        With boxes from 0 to a bound that a group has in common.
    z : ndarray (n,)
    product : callable
        H v for a vector v (n,).
    everyone : callable
        The image of each group with all its multipliers at 1, (n_groups, n). Called only where the free multipliers
        cannot take the change on their own.
    """

    def __init__(
        self,
        problem: DualProblem,
        z: Array,
        product: Product,
        everyone: Callable[[], Array],
    ):
        far = far_bounds(problem)
        self._shares = z / far
        self._full = z == far
        self._free = (z != 0) & ~self._full
        self._starts, self._group, self._everyone = problem.starts, problem.group, everyone
        of_free = self._shares * self._free
        self._counts = np.array([self._sums(a) for a in (self._free, self._full, np.ones(problem.n))])
        self._free_sums = self._sums(of_free)
        self._images = np.array(
            [group_images(problem, v, product) for v in (of_free, self._free, self._full)]
        )

    def _sums(self, values: Array) -> Array:
        return np.add.reduceat(values.astype(float), self._starts)

    def start(self, problem: DualProblem) -> tuple[Array, Array]:
        """A feasible z for other sums and bounds, and H z.

        The free multipliers shrink in proportion, or move the same share of their way to the bound. When they are all
        at 0, those at the bound shrink in proportion; when they are all at the bound, those at zero grow alike.
        """
        far = far_bounds(problem)
        unit = far[self._starts]
        shrink, lift, full, empty = self._coefficients(problem.sums / unit)
        group = self._group
        shares = np.where(
            self._free, np.minimum(shrink[group] * self._shares + lift[group], 1.0), empty[group]
        )
        shares[self._full] = full[group][self._full]
        of_free, free_ones, full_ones = self._images
        image = (unit * shrink) @ of_free + (unit * lift) @ free_ones + (unit * full) @ full_ones
        if empty.any():
            image += (unit * empty) @ (self._everyone() - free_ones - full_ones)
        # Rounding only: 1 / mu times mu need not be 1.
        return np.clip(shares * far, problem.lo, problem.hi), image

    def _coefficients(self, totals: Array) -> tuple[Array, Array, Array, Array]:
        """For each group with its new total: a free share x becomes shrink x + lift; what is full, what is empty."""
        n_free, n_full, n = self._counts
        n_empty = n - n_free - n_full
        totals = np.minimum(totals, n)
        left = np.clip(totals - n_full, 0.0, n_free)
        with np.errstate(divide="ignore", invalid="ignore"):
            down = np.where(n_free > 0, left / self._free_sums, 0.0)
            up = np.where(n_free > 0, (left - self._free_sums) / (n_free - self._free_sums), 0.0)
            full = np.where(totals < n_full, totals / n_full, 1.0)
            over = totals - n_full - n_free
            empty = np.where((over > 0) & (n_empty > 0), over / n_empty, 0.0)
        lift = np.clip(up, 0.0, 1.0)
        return np.where(lift > 0, 1 - lift, np.minimum(down, 1.0)), lift, full, np.minimum(empty, 1.0)


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
