"""The memory of a tableau: who is in which slot, with its row of H and the inverse; see `svmviz.walk.tableau`."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger

from svmviz.walk.margin import Margin
from svmviz.walk.record import AT_UPPER

Array = np.ndarray

# Slack of what cannot be reached (finite: it is multiplied by zero), and of what is there already.
FAR, NEAR = 1e200, 1e-300
# Slots for indices that come in, beyond those on the margin at the start.
SPARE = 8


class Slots:
    """A margin with its inverse, each index in a slot of its own, and how far everything is from its next event.

    Parameters
    ----------
    margin, refines
        As of `svmviz.walk.tableau.Tableau`.

    Attributes
    ----------
    cap : int
        How many slots there are.
    slots : ndarray (cap,) of int
        The dual index of each slot, -1 where it is free or belongs to a group; those of the groups come first.
    values, rates : ndarray (cap,)
        nu of each group and the multiplier of each index on the margin, and how fast they move; 0 in free slots.
    slack, speed : ndarray (n + 2 cap + 1,)
        What is not negative at the optimum, and how fast it moves: of each index at a bound its gradient beyond nu,
        of each slot the distance from its upper and from its lower bound, and what is left of the walk.
    sigma, side, since
        As of `Tableau`.
    """

    def __init__(self, margin: Margin, refines: bool):
        self.margin, self.refines = margin, refines
        self.n, self.n_groups = margin.n, margin.n_groups
        self.sigma, self.side, self.since = margin.sigma.copy(), margin.side.copy(), margin.since
        self._driven: list[tuple[int, float, float]] = []
        self._reserve(self.n_groups + margin.count + SPARE)
        self._take_margin()

    def _reserve(self, cap: int) -> None:
        n = self.n
        self.cap, self._end = cap, n + 2 * cap
        # What is to be reached, and behind it the values of the slots, which move along.
        self._slack, self._speed, self._change = np.zeros((3, n + 3 * cap + 1))
        reached = n + 2 * cap + 1
        self.slack, self.values = self._slack[:reached], self._slack[reached:]
        self.speed, self.rates = self._speed[:reached], self._speed[reached:]
        self._ratio = np.zeros(reached)
        self.slack.fill(FAR)
        self._rows = np.zeros((cap, n))
        self._inverse, self._square = np.zeros((2, cap, cap))
        self.slots = np.full(cap, -1)
        self._of_index, self._of_upper, self._of_lower = parts_of(self._change, n, cap)
        self._of_value = self._change[reached:]
        self._inverse_T, self._square_T = self._inverse.T, self._square.T

    def _take_margin(self) -> None:
        m, first = self.margin, self.n_groups
        last = first + m.count
        indices = m.margin
        self._free = list(range(self.cap - 1, last - 1, -1))
        self.slots[first:last] = indices
        self._rows[m.group, np.arange(self.n)] = -1.0
        self._rows[first:last] = m.rows
        self.values[:first], self.values[first:last] = m.nu, m.z[indices]
        self._square[:last, first:last] = self._rows[:last, indices]
        self._square[first:last, :first] = self._square[:first, first:last].T
        self._invert(m.system.matrix(), m.anchor, last)
        of_index, to_upper, to_lower = parts_of(self.slack, self.n, self.cap)
        left = self.sigma * (m.gradient - m.of_group(m.nu))
        of_index[:] = np.where(self.sigma != 0, np.maximum(left, NEAR), FAR)
        z = m.z[indices]
        to_upper[first:last] = np.maximum(m.hi_now(indices) - z, NEAR)
        to_lower[first:last] = np.maximum(z - m.lo_now(indices), NEAR)

    def _invert(self, reduced: Array, anchor: Array, last: int) -> None:
        """N from B (f, f), the inverse of H_MM on the directions without sums, see `MarginSystem`.

        A sum of 1 of a group is met at its anchor, and B takes off what that does to the equations of the margin.
        """
        first = self.n_groups
        inside = slice(first, last)
        columns = self._rows[first + anchor][:, self.slots[inside]]  # (n_groups, f)
        shares = -columns @ reduced
        shares[np.arange(first), anchor] += 1.0
        self._inverse[inside, inside] = reduced
        self._inverse[:first, inside] = -shares
        self._inverse[inside, :first] = -shares.T
        levels = -shares @ self._square[inside, inside] @ shares.T
        self._inverse[:first, :first] = 0.5 * (levels + levels.T)

    def take(self, other: Slots) -> None:
        """Stand again where another one of the same margin stands; only without refining.

        Parameters
        ----------
        other : Tableau
            It has not moved since it was made.
        """
        if self.cap != other.cap:
            self._reserve(other.cap)
            np.copyto(self._rows, other._rows)
        changed = np.flatnonzero(self.slots != other.slots)
        self._rows[changed] = other._rows[changed]
        for name in ("sigma", "side", "_slack", "_inverse", "slots"):
            np.copyto(getattr(self, name), getattr(other, name))
        self._speed.fill(0.0)
        self._free, self._driven, self.since = other._free.copy(), [], other.since

    def _grow(self) -> None:
        """A few slots more."""
        old, n, cap = self.__dict__.copy(), self.n, self.cap
        self._reserve(cap + max(SPARE, cap // 8))
        for name in ("slack", "speed"):
            for mine, its in zip(
                parts_of(getattr(self, name), n, self.cap), parts_of(old[name], n, cap), strict=True
            ):
                mine[: len(its)] = its
            getattr(self, name)[-1] = old[name][-1]
        for name in ("_rows", "slots", "values", "rates"):
            getattr(self, name)[:cap] = old[name]
        self._inverse[:cap, :cap], self._square[:cap, :cap] = old["_inverse"], old["_square"]
        self._free = list(range(self.cap - 1, cap - 1, -1))

    def used(self) -> Array:
        """The slots (f,) of indices on the margin."""
        return (self.slots >= 0).nonzero()[0]

    def multipliers(self) -> Array:
        """z (n,) at the present; what is off the margin exactly at its bound."""
        m, since = self.margin, self.since
        z = np.where(self.side == AT_UPPER, m.hi + since * m.hi_rate, m.lo + since * m.lo_rate)
        for j, start, rate in self._driven:
            z[j] = start + since * rate
        used = self.used()
        z[self.slots[used]] = self.values[used]
        return z

    def _all_rates(self) -> Array:
        """How fast all multipliers (n,) move."""
        m = self.margin
        rates = np.where(self.side == AT_UPPER, m.hi_rate, m.lo_rate)
        for j, _, rate in self._driven:
            rates[j] = rate
        used = self.used()
        rates[self.slots[used]] = self.rates[used]
        return rates

    def system(self) -> tuple[Array, Array, Array]:
        """What is on the margin at the present.

        Returns
        -------
        indices : ndarray (f,) of int
        rows : ndarray (f, n)
            Their rows of H.
        inverse : ndarray (f, f)
            B of `MarginSystem`, the inverse without the groups' rows and columns.
        """
        used = self.used()
        return self.slots[used], self._rows[used], self._inverse[used[:, None], used]

    def _drop(self, slot: int, column: Array) -> None:
        """Free a slot, whose column of N this is."""
        dger(-1.0 / column.item(slot), column, column, a=self._inverse_T, overwrite_a=1)
        self._inverse[slot] = self._inverse_T[slot] = self._rows[slot] = 0.0
        if self.refines:
            self._square[slot] = self._square_T[slot] = 0.0
        self.values[slot] = self.rates[slot] = 0.0
        for place in (self.n + slot, self.n + self.cap + slot):
            self.slack[place], self.speed[place] = FAR, 0.0
        self.slots[slot] = -1
        self._free.append(slot)


def parts_of(vector: Array, n: int, cap: int) -> tuple[Array, Array, Array]:
    """Views of what belongs to the indices (n,) and to the upper and lower bounds of the slots (cap,) each."""
    return vector[:n], vector[n : n + cap], vector[n + cap : n + 2 * cap]
