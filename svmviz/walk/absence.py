"""Many walks from one optimum, to those without some of its samples: fast, and checked together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from svmviz.problem import EPS
from svmviz.walk.levels import at_bounds, group_levels
from svmviz.walk.margin import SOUND
from svmviz.walk.tableau import Tableau

if TYPE_CHECKING:
    from svmviz.walk.walker import Walker

Array = np.ndarray

# What a condition may be off by, as a share of the terms of the gradient.
ROUNDING = 64 * EPS


@dataclass(frozen=True)
class Absence:
    """The optimum without some samples.

    Attributes
    ----------
    z, gradient, linear : ndarray (n,)
    nu : ndarray (n_groups,)
        Multiplier of each group.
    n_events : int
    """

    z: Array
    gradient: Array
    linear: Array
    nu: Array
    n_events: int

    def levels(self) -> Array:
        """Multiplier of each group (n_groups,), as of `Walker`."""
        return self.nu


class Absences:
    """Leaves out parts of the samples, each from the same optimum.

    Parameters
    ----------
    full : Walker
        At the optimum; it is not moved, and must not be.
    """

    def __init__(self, full: Walker):
        self.full = full
        # Rounding counts here, not what a walk may be off by: the terms may be much larger than what they cancel to.
        terms = full.largest * float(np.abs(full.z).sum())
        sizes = float(np.abs(full.gradient).max() + np.abs(full.linear).max())
        self._tolerance = SOUND * sizes + ROUNDING * terms
        self._start = Tableau(full) if full.is_generic() else None
        # Walks of few events, checked at the end, need no refining.
        self._tableau = Tableau(full, refines=False) if self._start else None

    def leave_out(self, parts: list[Array]) -> list[Absence | None]:
        """Drive the multipliers of each part of the dual indices to zero, from the start every time.

        Parameters
        ----------
        parts : list of ndarray (k,) of int

        Returns
        -------
        list of Absence or None
            None where nothing moves, or where a walk needs care.
        """
        found: list[Absence | None] = [None] * len(parts)
        ends = {place: end for place, indices in enumerate(parts) if (end := self._walk(indices))}
        if not ends:
            return found
        full = self.full
        z = at_bounds(np.array([end[0] for end in ends.values()]), full.lo, full.hi)
        nu = np.array([end[1] for end in ends.values()])
        movable = np.ones(z.shape, dtype=bool)
        for k, place in enumerate(ends):
            movable[k, parts[place]] = False
        gradient = self._gradients(z)
        sound = self._sound(z, gradient, nu, movable)
        nu = group_levels(full.problem.starts, z, full.lo, full.hi, gradient, nu, movable)
        for k, (place, end) in enumerate(ends.items()):
            if sound[k]:
                found[place] = Absence(z[k], gradient[k], full.linear, nu[k], end[2])
        return found

    def _walk(self, indices: Array) -> tuple[Array, Array, int] | None:
        """z (n,) without these, nu (n_groups,) and the number of events; None where that needs care."""
        full, tableau = self.full, self._tableau
        moving = indices[full.z[indices] != 0]
        if tableau is None or self._start is None or not len(moving):
            return None
        tableau.take(self._start)
        if not all(tableau.hold(j) for j in indices.tolist()):
            return None
        for j in moving.tolist():
            tableau.drive(j, full.z.item(j), -full.z.item(j))
        if tableau.run(1.0) != "arrived":
            return None
        z = tableau.multipliers()
        z[indices] = 0.0
        return z, tableau.values[: full.n_groups].copy(), tableau.events + 1

    def _gradients(self, z: Array) -> Array:
        """H z + p for each z (b, n), from what moved: (b, n)."""
        full = self.full
        moved = z - full.z
        columns = np.flatnonzero(moved.any(axis=0))
        rows = np.array([full.row(j) for j in columns.tolist()])
        return full.gradient + moved[:, columns] @ rows

    def _sound(self, z: Array, gradient: Array, nu: Array, movable: Array) -> Array:
        """Whether sums and conditions hold but for rounding, for each z (b, n): (b,)."""
        full = self.full
        beyond = gradient - nu[:, full.group]
        violation = np.maximum(np.where(z < full.hi, -beyond, 0.0), np.where(z > full.lo, beyond, 0.0))
        violation[~movable] = 0.0
        sums = np.add.reduceat(z, full.problem.starts, axis=1) - full.sums
        width = np.abs(z).max(axis=1)
        return (violation.max(axis=1) <= self._tolerance) & (np.abs(sums).max(axis=1) <= SOUND * width)
