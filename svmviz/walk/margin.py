"""The margin: the indices that move freely, and the linear system that says how; see `svmviz.walk.walker`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf

from svmviz.free_system import LEAST_DIAGONAL
from svmviz.hessian import Hessian
from svmviz.problem import EPS, DualProblem
from svmviz.walk.levels import TERMS, gradient_scale
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Kind, WalkStatus
from svmviz.walk.seats import Seats

Array = np.ndarray

# A violation this small, relative to the scale of the gradient, is none.
NEGLIGIBLE = 1e-12
# What is left of an equation of the margin, relative to its terms, before the direction is refined, and before the
# inverse is made from scratch.
REFINE, REBUILD = 1e-12, 1e-8
# A curvature v'Hv below this, relative to the diagonal entry of the index that comes, is zero.
DEPENDENT = 1e-12
# Nor is one below this share of the terms that it is the sum of: kernel values have errors of some eps themselves.
NOISE = 32 * EPS
# Nor where the inverse, which grows by v v'/(v'Hv), would lose more than this share of its digits.
MOST_LOST = 1e-2
# A curvature below this needs all digits that there are.
SUSPICIOUS = 1e-6
# What sums and conditions may be off by at the end, relative to multipliers and gradient.
SOUND = 1e-9
# A curvature is used with this relative error.
ACCURATE = 1e-4
# So many changes of the margin between two looks at what rounding has left in its equations.
BETWEEN_CORRECTIONS = 2
# Refinements of the direction of one index that comes, and of that of the whole margin; and rounds of a correction.
MOST_REFINEMENTS, MOST_ROUNDS, MOST_CORRECTIONS = 3, 60, 4


class StuckError(Exception):
    """The walk cannot go on."""

    def __init__(self, status: WalkStatus):
        super().__init__(status)
        self.status: WalkStatus = status


class Margin(Seats):
    """Multipliers, gradient and sides of all indices, with the equations of those on the margin.

    Parameters
    ----------
    problem, hessian, z, gradient
        As for `svmviz.walk.walker.Walker`.

    Attributes
    ----------
    gradient, nu, scale
        As there.
    missing : ndarray (n_groups,)
        What rounding has taken from each group's sum.
    perturbation : ndarray (n,)
        What was added to the linear term to make the start optimal, or to set ties apart, and is to be walked off.
    """

    def __init__(self, problem: DualProblem, hessian: Hessian, z: Array, gradient: Array | None = None):
        super().__init__(problem, hessian, z)
        self.edges_move = False  # those of indices that are not held
        self.gradient = hessian.gradient(self.z) if gradient is None else gradient.copy()
        self.scale = gradient_scale(hessian, self.linear, self.z, self.gradient)
        self._width = 0.0  # how large the multipliers are
        self._speed, self._slack, self._waits = np.empty((3, self.n))
        self.missing = np.zeros(self.n_groups)
        self.perturbation = np.zeros(self.n)
        self._start_margin()

    def _start_margin(self) -> None:
        """Put all that is strictly inside on the margin, and one index of each other group; see `MarginSystem`."""
        self._take_all(np.flatnonzero(self.side == MARGIN))
        # The linear term takes what is off until `settle`.
        self.nu = self._first_nu(self.margin)
        perturbation = self.of_group(self.nu) - self.gradient
        wrong = self.sigma * perturbation > 0
        wrong[self.margin] = True
        self.perturbation = np.where(wrong, perturbation, 0.0)
        self.gradient += self.perturbation
        self.linear += self.perturbation
        self._seat_all()

    def _first_nu(self, inside: Array) -> Array:
        """The mean gradient inside, and else the nearest to it that some index at a bound has."""
        up, low = self.problem.thresholds(self.z, self.gradient)
        nu = np.where(np.isfinite(up), up, np.where(np.isfinite(low), low, 0.0))
        if len(inside):
            counts = np.bincount(self.group[inside], minlength=self.n_groups)
            sums = np.bincount(self.group[inside], self.gradient[inside], minlength=self.n_groups)
            nu = np.where(counts > 0, sums / np.maximum(1, counts), nu)
        return nu

    def _seat_all(self) -> None:
        """In each group without an index on the margin put the one there whose gradient is nearest to nu."""
        self.nu = self.nu.copy()
        for g in np.flatnonzero(self.anchor < 0):
            mine = np.flatnonzero((self.group == g) & (self.side != HELD))
            if len(mine):
                k = int(mine[np.abs(self.gradient[mine] - self.nu[g]).argmin()])
                self.z[k] = self.bound_now(k, self.side.item(k))
                self.nu[g] = self.gradient[k]
                self._enter(k)

    def _take_all(self, inside: Array, one_by_one: bool = False) -> None:
        """Put these on the margin at once, or one by one where they depend on each other."""
        self.count = 0
        self.anchor[:] = -1
        self.system.clear()
        if not len(inside):
            return
        self._reserve(len(inside))
        for place, j in enumerate(inside.tolist()):
            self._rows[place] = self.row(j)
        self._places[: len(inside)] = inside
        self.count = len(inside)
        self._note_edges()
        if not one_by_one and self._rebuild():
            self.anchor[self.group[inside[::-1]]] = np.arange(len(inside) - 1, -1, -1)
            return
        order = self._independent_first()
        self.count = 0
        self.system.clear()
        self.side[inside] = AT_LOWER  # until they are back
        for j in inside[order].tolist():
            self._join(j, force=True)
        self._rebuild()

    def _independent_first(self) -> Array:
        """The places of the margin, (f,), in the order of a Cholesky factor with pivots: who depends comes last."""
        margin = self.margin
        square = self._rows[: self.count, margin]
        scale = 1.0 / np.sqrt(np.fmax(square.diagonal(), LEAST_DIAGONAL * self.largest))
        same = self.group[margin][:, None] == self.group[margin]
        pivots = dpstrf(square * scale[:, None] * scale + same)[1]
        return pivots - 1

    def _lone_direction(self, j: int, row: Array) -> tuple[Array, float, float]:
        """v (f + 1,) that moves z_j by 1 and keeps sums and equations of the margin; v'Hv, and what is 0 of that."""
        margin, count = self.margin, self.count
        anchor = self.anchor.item(self.group.item(j))
        direction = np.empty(count + 1)
        coefficients, column, own = direction[:count], row[margin], row.item(j)
        of_anchor = self._rows[anchor, margin]
        right = column - of_anchor
        np.negative(self.system.times(right), out=coefficients)
        coefficients[anchor] -= 1.0
        direction[count] = 1.0
        # H v is one number on the margin of a group: there v sums to -1 in the group of j, and to 0 in the others.
        level = float(of_anchor.dot(coefficients)) + column.item(anchor)
        curvature = own + float(column.dot(coefficients)) - level
        total = float(np.abs(direction).sum())
        doubtful = self._doubtful(own, total * float(np.abs(right).max()))
        if curvature < doubtful:
            curvature = self._refined(coefficients, column, own, anchor, doubtful)
            total = float(np.abs(direction).sum())
        least = max(
            DEPENDENT * own,
            NOISE * total**2 * self.largest,
            EPS / MOST_LOST * float(np.abs(direction).max()) ** 2 * self.largest,
        )
        return direction, curvature, least

    def _doubtful(self, own: float, terms: float) -> float:
        """Below this a curvature v'Hv, in which H times v has such terms, needs all digits that there are.

        The inverse B has lost a share of about eps |H| |B| of its digits, and v with it.
        """
        lost = EPS * self.largest * float(self.system.matrix().diagonal().max())
        return max(SUSPICIOUS * own, lost * terms / ACCURATE)

    def _refined(self, coefficients: Array, column: Array, own: float, anchor: int, doubtful: float) -> float:
        """v'Hv with all digits that there are, of a v whose coefficients (f,) are made exact in place."""
        margin = self.margin
        square = self._rows[: self.count, margin]
        levels: Any = anchor if self.one_group else self.anchor[self.group[margin]]
        sums = np.zeros(self.n_groups)
        sums[self.group.item(margin.item(anchor))] = -1.0
        self._balanced(coefficients, sums)
        last, curvature = np.inf, 0.0
        for _ in range(MOST_REFINEMENTS + 1):
            image = coefficients.dot(square) + column
            curvature = float(coefficients.dot(image)) + float(coefficients.dot(column)) + own
            image -= image[levels]
            off = float(np.abs(image).max())
            enough = REFINE if curvature > doubtful else 0.0
            if off <= enough * self.largest or off > 0.5 * last:
                break
            last = off
            coefficients -= self.system.times(image)
            self._balanced(coefficients, sums)
        return curvature

    def _join(self, j: int, force: bool = False) -> Kind | None:
        """Bring j in from its bound; where it depends on the margin, in exchange for another index.

        None where it depends on the margin and nothing pulls it off: its gradient goes with theirs, and it stays
        until the margin has lost one of them. With `force` it may go either way, and comes from inside of the box.
        """
        row = self.row(j)
        if not force:
            self.z[j] = self.bound_now(j, self.side.item(j))
        if self.anchor[self.group.item(j)] < 0:
            self._enter(j, row=row)
            return "joins margin"
        direction, curvature, least = self._lone_direction(j, row)
        if curvature > least:
            self._enter(j, direction, curvature, row)
            return "joins margin"
        if not force and not self._is_pulled(direction, j):
            self.sigma[j] = 0.0
            self._ignored.append(j)
            return None
        self._exchange(j, direction, row, force)
        return "exchange"

    def _is_pulled(self, direction: Array, j: int) -> bool:
        """Whether what moves the problem pulls j although it depends on the margin."""
        if self.linear_rate is None:
            return False
        linear_rate = self.linear_rate
        slope = float(direction[:-1] @ linear_rate[self.margin] + linear_rate[j])
        size = float(np.abs(direction).sum() * np.abs(linear_rate).max())
        return abs(slope) > 64 * EPS * size

    def _exchange(self, j: int, direction: Array, row: Array, force: bool) -> None:
        """Move along a direction without curvature until an index reaches a bound, and let j in in its place.

        Where j still depends on what is left of the margin, that goes on: each time the margin loses an index.
        """
        inward = 1.0 if force or self.side[j] == AT_LOWER else -1.0
        for _ in range(self.count):
            if self._slide(j, inward * direction, row) == j:
                return
            if self.anchor[self.group.item(j)] < 0:
                self._enter(j, row=row)
                return
            direction, curvature, least = self._lone_direction(j, row)
            if curvature > least:
                self._enter(j, direction, curvature, row)
                return
        raise StuckError("failed")

    def _slide(self, j: int, way: Array, row: Array) -> int:
        """Move margin and j this way (f + 1,) to the first bound; the index there, which is off the margin then."""
        members = np.append(self.margin, j)
        z, lo, hi = self.z[members], self.lo_now(members), self.hi_now(members)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(way > 0, (hi - z) / way, np.where(way < 0, (lo - z) / way, np.inf))
        room = np.maximum(room, 0.0)
        k = int(room.argmin())
        if not np.isfinite(room[k]):
            raise StuckError("failed")
        at_upper = way[k] > 0
        after = np.clip(z + room[k] * way, lo, hi)
        after[k] = hi[k] if at_upper else lo[k]
        change = after - z
        self._put(members, after)
        self.gradient += change[:-1] @ self._rows[: self.count] + change[-1] * row
        side, reached = AT_UPPER if at_upper else AT_LOWER, members.item(k)
        if reached == j:
            self.side[j], self.sigma[j] = side, -side
            self._set_rate(j, self.bound_rate(j, side), row)
        else:
            self._leave(k, side, self.bound_rate(reached, side))
        return reached

    def direction(self) -> tuple[Array, Array, Array, float]:
        """How fast the margin (f,), the gradient (n,) and nu (n_groups,) move; and the sum of the first's sizes."""
        count = self.count
        if not count:
            return np.empty(0), self.base.copy(), np.zeros(self.n_groups), 0.0
        if not self.system.updates % BETWEEN_CORRECTIONS:
            self._correct()
        for attempt in range(3):
            margin, rows = self.margin, self._rows[: self.count]
            dz = self._solved(self.base[margin], self.need)
            last = np.inf
            for _ in range(MOST_ROUNDS):
                dg = dz.dot(rows)
                dg += self.base
                on_margin = dg[margin]
                dnu = self._levels(on_margin)
                on_margin -= self._of_margin(dnu, margin)
                total = float(np.add.reduce(np.abs(dz)))
                size = self._base_size + 0.1 * TERMS * self.largest * total
                off = max(float(on_margin.max()), -float(on_margin.min()))
                if off <= REFINE * size:
                    return dz, dg, dnu, total
                if not off <= 0.5 * last:  # nor where it is no number
                    break
                last = off
                dz = self._balanced(dz - self.system.times(on_margin), self.need)
            if off <= REBUILD * size:
                return dz, dg, dnu, total
            if attempt == 0:
                self._rebuild()
            elif attempt == 1:
                self._take_all(self.margin.copy(), one_by_one=True)
                self._seat_all()
        raise StuckError("failed")

    def _solved(self, right: Array, need: Array) -> Array:
        """dz (f,) on the margin, of sums (n_groups,), that takes off the right side (f,) but for a constant."""
        if self.one_group:
            wanted = need.item(0)
            if wanted:
                right = right + wanted * self._rows[0, self.margin]
            dz = self.system.times(right)
            np.negative(dz, out=dz)
            dz[0] += wanted
            return self._balanced(dz, need)
        needy = np.flatnonzero((need != 0) & (self.anchor >= 0))
        places = self.anchor[needy]
        if len(needy):
            right = right + need[needy] @ self._rows[places[:, None], self.margin]
        dz = self.system.times(right)
        np.negative(dz, out=dz)
        dz[places] += need[needy]
        return self._balanced(dz, need)

    def _balanced(self, dz: Array, need: Array) -> Array:
        """dz (f,), in place, with what rounding has left of its sums taken off in equal parts."""
        if self.one_group:
            dz += (need.item(0) - float(np.add.reduce(dz))) / len(dz)
            return dz
        group = self.group[self.margin]
        counts = np.bincount(group, minlength=self.n_groups)
        missing = np.where(counts > 0, need - np.bincount(group, dz, self.n_groups), 0.0)
        dz += (missing / np.maximum(1, counts))[group]
        return dz

    def _levels(self, values: Array) -> Array:
        """The value at the anchor of each group, 0 where it has none, (n_groups,)."""
        if not len(values):  # all at a bound, as where mu is smallest
            return np.zeros(self.n_groups)
        if self.one_group:
            return values[:1].copy()
        return np.where(self.anchor >= 0, values[self.anchor], 0.0)

    def _correct(self) -> None:
        """Take off what rounding has left in the equations of the margin and in the sums."""
        margin = self.margin
        off = self._off(margin)
        worst = float(np.maximum.reduce(np.abs(off)))
        missing = abs(self.missing.item(0)) if self.one_group else float(np.abs(self.missing).max())
        lacking = missing > NEGLIGIBLE * self._width
        if not lacking and worst <= 0.1 * NEGLIGIBLE * self.scale:
            return
        enough, rebuilt = 0.1 * NEGLIGIBLE * self.scale, False
        for _ in range(MOST_CORRECTIONS):
            z = self.z[margin]
            after = z + self._solved(off, self.missing)
            after = np.clip(after, self.lo_now(margin), self.hi_now(margin))
            image = (after - z).dot(self._rows[: self.count])
            left = off + image[margin]
            left -= self._of_margin(self._levels(left), margin)
            now = float(np.abs(left).max())
            if now <= max(worst, enough):
                self._put(margin, after)
                self.gradient += image
                self.nu = np.where(self.anchor >= 0, self._levels(self.gradient[margin]), self.nu)
            if now <= enough:
                return
            if now > 0.5 * worst:
                if rebuilt or not self._rebuild():
                    return
                rebuilt = True
            off = self._off(margin)
            worst = float(np.abs(off).max())

    def _of_margin(self, values: Array, margin: Array) -> Array | float:
        """A value for each group, for each index on the margin."""
        return values.item(0) if self.one_group else values[self.group[margin]]

    def _off(self, margin: Array) -> Array:
        """Gradients on the margin less the nu of their group, (f,)."""
        return self.gradient[margin] - self._of_margin(self.nu, margin)

    def _put(self, indices: Array, values: Array) -> None:
        """Give multipliers (k,) their values, and note what their groups' sums lack then."""
        change = values - self.z[indices]
        self.z[indices] = values
        if self.one_group:
            self.missing -= change.sum()
        else:
            np.subtract.at(self.missing, self.group[indices], change)

    def refresh(self) -> None:
        """Take off what rounding has piled up: in the inverse, the bounds, the sums and the gradient."""
        self._rebuild()
        margin = self.margin
        self.z[margin] = np.clip(self.z[margin], self.lo_now(margin), self.hi_now(margin))
        self.z = self.all_multipliers()
        sums = self.sums + self.since * self.sums_rate
        there = np.add.reduceat(self.z, self.problem.starts)
        self.missing = np.where(self.anchor >= 0, sums - there, 0.0)
        self._place_lone()
        self.gradient = self.hessian.product(self.z) + self.linear_at(self.since)
        self.nu = np.where(self.anchor >= 0, self._levels(self.gradient[margin]), self.nu)
        self._base_size = float(np.abs(self.base).max())
        self.renew_scale()

    def _place_lone(self) -> None:
        """Put who is alone on the margin of its group where the sum says, however large all have been."""
        margin = self.margin
        alone = np.bincount(self.group[margin], minlength=self.n_groups)[self.group[margin]] == 1
        lone = margin[alone]
        z = self.z[lone] + self.missing[self.group[lone]]
        self._put(lone, np.clip(z, self.lo_now(lone), self.hi_now(lone)))

    def renew_scale(self) -> None:
        """Take the size of the gradient's terms as they are now: where bounds move they may change by decades."""
        self.scale = gradient_scale(
            self.hessian, self.linear_at(self.since), self.all_multipliers(), self.gradient
        )
