"""How far it is to the next event of a walk, and which it is; see `svmviz.walk.walker`."""

from __future__ import annotations

import numpy as np

from svmviz.problem import EPS
from svmviz.walk.margin import NEGLIGIBLE, SOUND, Margin
from svmviz.walk.record import AT_LOWER, AT_UPPER

Array = np.ndarray

# A gradient that should go with the margin's may be off by this share of the scale.
STRAY = 0.25 * SOUND


class Lookahead(Margin):
    """A margin that knows where each index would leave it, and where each other one would come in."""

    _narrows = False

    def _next(
        self, dz: Array, dg: Array, dnu: Array, total: float, left: float
    ) -> tuple[float, int, int, int]:
        """How far to the next event, and which: place and side of what leaves, or the index that comes in."""
        place, upper, to_bound = -1, False, np.inf
        if self.count:
            steps, uppers = self._steps_to_bounds(dz, total)
            place = int(steps.argmin())
            to_bound, upper = steps.item(place), bool(uppers[place])
        waits = self._steps_to_margin(dg, dnu, total, left)
        j = int(waits.argmin())
        to_margin = waits.item(j)
        if not min(to_bound, to_margin) < left:
            return left, -1, 0, -1
        if to_bound <= to_margin:
            return max(0.0, to_bound), place, AT_UPPER if upper else AT_LOWER, -1
        return max(0.0, to_margin), -1, 0, j

    def _steps_to_bounds(self, dz: Array, total: float) -> tuple[Array, Array]:
        """How far until each index on the margin reaches a bound, and whether it is the upper one, (f,) each."""
        lo, hi, lo_rate, hi_rate = self._edges[:, : self.count]
        z = self.z[self.margin]
        if not self.edges_move:
            upper = dz > 0
            room = np.where(upper, hi, lo)
            room -= z
            room /= dz
            room[dz == 0] = np.inf
            return room, upper
        noise = 1e-13 * total
        speed = dz - hi_rate
        upper = speed > noise
        speed = np.where(upper, speed, dz - lo_rate)
        room = np.where(upper, hi + self.since * hi_rate, lo + self.since * lo_rate)
        room -= z
        room /= speed
        room[~upper & (speed >= -noise)] = np.inf
        if self._narrows:  # a box that narrows may reach its index from both ends
            other = (lo + self.since * lo_rate - z) / (dz - lo_rate)
            sooner = upper & (dz - lo_rate < -noise) & (other < room)
            room, upper = np.where(sooner, other, room), upper & ~sooner
        return room, upper

    def _steps_to_margin(self, dg: Array, dnu: Array, total: float, left: float) -> Array:
        """How far until the gradient of each index at a bound reaches the nu of its group, (n,)."""
        speed, slack, waits = self._speed, self._slack, self._waits
        np.subtract(self.of_group(dnu), dg, out=speed)
        speed *= self.sigma
        np.subtract(self.gradient, self.of_group(self.nu), out=slack)
        slack *= self.sigma
        waits.fill(np.inf)
        return np.divide(slack, speed, out=waits, where=speed > self._noise(total, left))

    def _noise(self, total: float, left: float) -> float:
        """How fast a gradient may move by rounding, or without getting anywhere in what is left of the walk."""
        by_rounding = 4 * EPS * (self.largest * total + self._base_size)
        return max(by_rounding, NEGLIGIBLE * self.scale / left if left else 0.0)

    def _own_condition(self, c: int, dg: Array, dnu: Array) -> float:
        """How far until the gradient of the moving index reaches nu from the side on which it is pulled along."""
        way = np.sign(self.rate[c])
        g = self.group.item(c)
        slack = way * (self.nu[g] - self.gradient[c])
        speed = way * (dg[c] - dnu[g])
        if self.anchor[g] < 0:
            return np.inf
        if slack <= NEGLIGIBLE * self.scale:
            # It holds already: then nothing is left to learn; what is being unlearned goes on.
            return 0.0 if way * self.z[c] >= 0 else np.inf
        return float(slack / speed) if speed > 0 else np.inf

    def _until_stray(self, dg: Array, dnu: Array) -> float:
        """How far until the gradient of one that depends on the margin no longer goes with its gradients."""
        ignored = np.array(self._ignored)
        side, group = self.side[ignored], self.group[ignored]
        off = side * (self.gradient[ignored] - self.nu[group])
        speed = side * (dg[ignored] - dnu[group])
        room = np.maximum(0.0, STRAY * self.scale - off)
        return float(np.divide(room, speed, out=np.full(len(room), np.inf), where=speed > 0).min())
