"""The second loop: move a problem along a straight line and follow its optimum exactly, for any number of groups.

The linear term, the box and the sums change at constant rates. While no index changes sides, everything is linear:
with M the indices on the margin, B the others, which move with their bounds, and E the indicator matrix of groups,

    [ H_MM  -E ] [dz_M]   [ -(H_MB dz_B + dp_M)        ]
    [ -E'    0 ] [dnu ] = [ sum of dz_B - rate of t_g  ]

up to the first event: an index on the margin reaches a bound, or the gradient of one at a bound reaches the nu of its
group (Cauwenberghs, Poggio: Incremental and decremental support vector machine learning, 2001; Hastie, Rosset,
Tibshirani, Zhu: The entire regularization path for the support vector machine, 2004).

Three things keep it from breaking where free multipliers run out or samples coincide:

* A group always keeps one index on the margin, if need be one that stands at its bound. When that one has to leave,
  nu alone moves, to the gradient of the index that closes its interval on the side that is needed; that one comes in.
* Who comes in and depends on the margin (a duplicate, say) makes H_MM singular. Then there is a direction along which
  nothing changes but the multipliers: it is followed to the first bound, and the two change places.
* Any feasible z is optimal for a problem with another linear term. A start that is not quite optimal is made exact by
  walking from that problem to the one that was meant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg.blas import daxpy

from svmviz.problem import DualProblem
from svmviz.walk.levels import fixed_groups, group_levels
from svmviz.walk.lookahead import STRAY, Lookahead
from svmviz.walk.margin import NEGLIGIBLE, SOUND, StuckError
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Rates, Walk, WalkStatus
from svmviz.walk.recorder import Recorder
from svmviz.walk.tableau import Outcome, Tableau

Array = np.ndarray

# So many changes, and the inverse is made from scratch.
MOST_UPDATES = 150
# After so many events in one place, at least and for each index on the margin, what is tied is set apart by random
# amounts up to this share of the scale; after so many times the walk has failed.
PATIENCE, PATIENCE_EACH, APART, MOST_SHAKES = 30, 0.5, 5e-10, 6
# A step below this share of the walk is none.
TINY = 1e-14
# So often rounding may be at fault for a gradient that is further off than `STRAY`.
MOST_ASTRAY = 20
# So many events with care before a fast stretch; after one that ended within so many events twice as many as the last
# time, up to the most.
CARE, SHORT, MOST_CARE = 2, 8, 64
# See `most_settling`.
SETTLING, SETTLING_EACH = 200, 2
# So many events, and the scale is taken anew.
BETWEEN_SCALES = 16
# With more groups a tableau, which has a row for each, gains nothing (measured with Crammer and Singer's machine).
MOST_GROUPS = 16


def most_settling(n: int) -> int:
    """So many events with care may make a start of n indices exact; where hulls meet there would be no end."""
    return SETTLING + SETTLING_EACH * n


class Walker(Lookahead):
    """An optimum that follows its problem.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
        Of a positive semidefinite kernel.
    z : ndarray (n,)
        Feasible and nearly optimal: what it lacks is walked off by `settle`.
    gradient : ndarray (n,), optional
        H z + p, fresh.

    Attributes
    ----------
    z, gradient : ndarray (n,)
    nu : ndarray (n_groups,)
    side : ndarray (n,) of int8
        -1 at the lower bound, 1 at the upper one, 0 on the margin, 2 held.
    scale : float
        Size of the gradient's terms: what violations are relative to.
    count : int
        How many indices are on the margin.
    """

    _random: np.random.Generator | None = None
    _most_careful = 10**9

    def copy(self) -> Walker:
        """A walker of its own, to go another way from here."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        for name in (
            "linear", "sums", "lo", "hi", "z", "gradient", "nu", "side", "sigma", "_places", "_edges", "base", "rate",
            "need", "missing", "anchor",
        ):  # fmt: skip
            setattr(other, name, getattr(self, name).copy())
        other._rows = np.empty((self.count + 16, self.n))
        other._rows[: self.count] = self._rows[: self.count]
        other.system = self.system.copy()
        other._speed, other._slack, other._waits = np.empty((3, self.n))
        other._ignored = []
        return other

    def settle(self) -> Walk:
        """Make the optimum exact: walk off the perturbation of the linear term.

        Returns
        -------
        Walk
            Over a parameter from 0 to 1.
        """
        perturbation, self.perturbation = self.perturbation, np.zeros(self.n)
        if float(np.abs(perturbation).max()) <= 0.1 * NEGLIGIBLE * self.scale:
            self.linear = self.linear - perturbation
            self.gradient = self.gradient - perturbation
            return self._walked(Rates(), 0.0)
        self._most_careful = most_settling(self.n)
        walk = self._walked(Rates(linear=-perturbation), 1.0)
        del self._most_careful
        if walk.status != "arrived":
            self.perturbation = self.perturbation + (1.0 - walk.stop) * perturbation
        return walk

    def hold(self, j: int) -> None:
        """Hold z_j where it is, on the margin or not."""
        if self.side[j] == MARGIN:
            self._leave(int(np.flatnonzero(self.margin == j)[0]), HELD, 0.0)
        self.side[j], self.sigma[j] = HELD, 0.0
        self.lo[j] = self.hi[j] = self.z[j]

    def follow(
        self,
        rates: Rates,
        length: float,
        *,
        start: float = 0.0,
        watched: int = -1,
        record: bool = False,
        tidy: bool = True,
    ) -> Walk:
        """Move the problem at these rates for so long, and the optimum with it.

        Parameters
        ----------
        rates : Rates
            For each unit of the parameter.
        length : float
            How far, at least 0.
        start : float, default 0
            Value of the parameter to begin with, for the record.
        watched : int, optional
            A held index: the walk stops when its own optimality condition starts holding.
        record : bool, default False
            Keep events and stretches.
        tidy : bool, default True
            Compute gradient and sums anew at the end.

        Raises
        ------
        ValueError
            Where the diagonal moves, see `svmviz.walk.curved`.
        """
        if rates.diagonal is not None:
            raise ValueError("The optimum is no line where the diagonal moves: follow_diagonal follows it.")
        walk = self._walked(rates, length, start, watched, record, tidy)
        if walk.status in ("arrived", "condition holds") and self.perturbation.any():
            settled = self.settle()
            walk = replace(walk, z=settled.z, gradient=settled.gradient, violation=settled.violation)
            if settled.status != "arrived" and not self.forgive():
                walk = replace(walk, status="failed")
        return walk

    def _walked(
        self,
        rates: Rates,
        length: float,
        start: float = 0.0,
        watched: int = -1,
        record: bool = False,
        tidy: bool = True,
    ) -> Walk:
        """`follow`, with what is left of the perturbation."""
        recorder = Recorder(self, start, record)
        status: WalkStatus = "arrived"
        self._start_moving(rates)
        try:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                status = self._run(length, watched, recorder)
            if status == "arrived":
                self.since = length
            if tidy:
                self.refresh()
                if self.count:
                    self._correct()
        except StuckError as stuck:
            status = stuck.status
        return self._finish(recorder, status, watched)

    def forgive(self) -> bool:
        """Take the optimum as exact where the perturbation is less than a condition may be off by."""
        if 2.0 * float(np.abs(self.perturbation).max()) > SOUND * self.scale or not self._is_sound():
            return False
        self.perturbation = np.zeros(self.n)
        return True

    def _start_moving(self, rates: Rates) -> None:
        zeros = np.zeros(self.n)
        self.lo_rate = zeros if rates.lo is None else rates.lo
        self.hi_rate = zeros if rates.hi is None else rates.hi
        self.linear_rate = rates.linear
        self.sums_rate = np.zeros(self.n_groups) if rates.sums is None else rates.sums
        self.since = 0.0
        self._restore_ignored()
        self.base, self.rate = zeros, zeros
        moving = np.flatnonzero((self.lo_rate != 0) | (self.hi_rate != 0))
        self.edges_move = bool((self.side[moving] != HELD).any())
        self._narrows = bool((self.hi_rate < self.lo_rate).any())
        if len(moving):
            self._open(moving)
            self.rate = np.where(self.side == AT_UPPER, self.hi_rate, self.lo_rate)
            self.rate[self.margin] = 0.0
            self.base = self.hessian.product(self.rate)
        if rates.linear is not None:
            self.base = self.base + rates.linear
        self.base = self.base.copy()
        self._base_size = float(np.abs(self.base).max())
        self._width = float(np.abs(self.z).max())
        self.need = self.sums_rate - np.add.reduceat(self.rate, self.problem.starts)
        self._note_edges()

    def _open(self, moving: Array) -> None:
        """Let those go that were held by a box of no width which now opens."""
        opening = moving[(self.side[moving] == HELD) & (self.lo_rate[moving] != self.hi_rate[moving])]
        if len(opening):
            above = self.gradient[opening] >= self.nu[self.group[opening]]
            self.side[opening] = np.where(above, AT_LOWER, AT_UPPER)
            self.sigma[opening] = -self.side[opening]
            self.edges_move = True

    def _run(self, length: float, watched: int, recorder: Recorder) -> WalkStatus:
        standing, shakes, astray, tiny, looked = 0, 0, 0, TINY * length, False
        care = wait = CARE
        careful = 0
        while True:
            if not self._fill_groups(recorder, length - self.since):
                # Nothing holds nu back any more, so that it goes to where the condition of what grows holds.
                if watched >= 0 and self.rate[watched] * self.z[watched] >= 0:
                    return "condition holds"
                raise StuckError("infeasible")
            dz, dg, dnu, total = self.direction()
            if not wait and self.is_generic():
                outcome, events = self._hasten(length, watched, recorder, dz, dg, dnu, total)
                if outcome != "gave up":
                    return outcome
                care = min(2 * care, MOST_CARE) if events < SHORT else 1
                standing, wait = 0, care
                continue
            wait = max(0, wait - 1)
            careful += 1
            if careful > self._most_careful:
                raise StuckError("failed")
            if self.edges_move and not careful % BETWEEN_SCALES:
                self.renew_scale()
            step, place, side, j = self._next(dz, dg, dnu, total, length - self.since)
            if recorder.record and self.edges_move and step > self.since and not looked:
                self._renew_base()  # what rounding has left of it has a long way to grow
                self.refresh()
                looked, wait = (
                    True,
                    wait + 1,
                )  # a look is no event: without one fast events would go in circles
                continue
            looked = False
            ends: WalkStatus | None = "arrived" if place < 0 and j < 0 else None
            if watched >= 0:
                own = self._own_condition(watched, dg, dnu)
                if own < step:
                    step, place, j, ends = own, -1, -1, "condition holds"
            strays = bool(self._ignored) and (most := self._until_stray(dg, dnu)) < step
            step = most if strays else step
            recorder.stretch(step, dz, dg, dnu)
            if step > 0:
                self._advance(step, dz, dg, dnu)
            if strays or self.violation() > SOUND * self.scale:
                astray += 1
                if astray > MOST_ASTRAY or not self._finds_back():
                    raise StuckError("failed")
                continue
            if ends:
                return ends
            standing = 0 if step > tiny else standing + 1
            if standing > PATIENCE + PATIENCE_EACH * self.count:
                shakes, standing = shakes + 1, 0
                if shakes > MOST_SHAKES:
                    raise StuckError("failed")
                self._set_apart()
            elif place >= 0:
                self._to_bound(place, side, recorder)
            else:
                kind = self._join(j)
                if kind:
                    recorder.event(j, kind)
            if self.system.updates > MOST_UPDATES:
                self.refresh()

    def is_generic(self) -> bool:
        """Whether the next events can be taken fast: few groups, each with a margin, and nothing odd."""
        return bool(
            self.count and self.n_groups <= MOST_GROUPS and self.anchor.min() >= 0 and not self._ignored
        )

    def _hasten(
        self, length: float, watched: int, recorder: Recorder, dz: Array, dg: Array, dnu: Array, total: float
    ) -> tuple[Outcome, int]:
        """Take events fast, as long as they are generic; how that ended, and how many there were."""
        tableau = Tableau(self)
        if watched >= 0:
            way = int(np.sign(self.rate[watched]))
            slack = way * (self.nu[self.group[watched]] - self.gradient[watched])
            if slack <= NEGLIGIBLE * self.scale:
                return "gave up", 0
            tableau.watch(watched, way, slack)
        tableau.set_course(dz, dg, dnu, self._noise(total, length - self.since))
        kept = len(recorder.segments)
        observer = recorder.of_tableau(tableau)
        outcome = tableau.run(length, observer)
        if outcome == "gave up" and not tableau.events:
            recorder.forget(kept)
        else:
            recorder.count += tableau.events
            if observer:
                observer.close()
            self._stand_at(tableau)
        return outcome, tableau.events

    def _stand_at(self, tableau: Tableau) -> None:
        """Take over where a tableau stands."""
        self.since, self.z, self.side = tableau.since, tableau.multipliers(), tableau.side
        self.sigma = -self.side.astype(float)
        self.sigma[self.side == HELD] = 0.0
        self.nu = tableau.values[: self.n_groups].copy()
        self._take_system(*tableau.system())
        if self.edges_move:
            self._renew_base()
        self.refresh()

    def _renew_base(self) -> None:
        """How fast all off the margin moves, and the gradient with it, from the sides as they are."""
        self.rate = np.where(self.side == AT_UPPER, self.hi_rate, self.lo_rate)
        self.rate[self.margin] = 0.0
        self.base = self.hessian.product(self.rate)
        if self.linear_rate is not None:
            self.base = self.base + self.linear_rate
        self.need = self.sums_rate - np.add.reduceat(self.rate, self.problem.starts)

    def _advance(self, step: float, dz: Array, dg: Array, dnu: Array) -> None:
        self.since += step
        self.z[self.margin] += step * dz
        daxpy(dg, self.gradient, a=step)
        self.nu = self.nu + step * dnu

    def _set_apart(self) -> None:
        """Give what is tied at a bound a linear term of its own, so that it comes in at a time of its own."""
        slack = self.sigma * (self.gradient - self.of_group(self.nu))
        most = APART * self.scale
        tied = np.flatnonzero((self.sigma != 0) & (slack < most))
        if self._random is None:
            self._random = np.random.default_rng(0)
        change = np.zeros(self.n)
        change[tied] = self.sigma[tied] * most * self._random.uniform(0.2, 1.0, len(tied))
        self.gradient += change
        self.linear = self.linear + change
        self.perturbation = self.perturbation + change

    def _to_bound(self, place: int, side: int, recorder: Recorder) -> None:
        k = self._places.item(place)
        bound = self.bound_now(k, side)
        change = bound - self.z.item(k)
        if change:
            self.z[k] = bound
            self.missing[self.group.item(k)] -= change
            self.gradient += change * self._rows[place]
        self._leave(place, side, self.bound_rate(k, side))
        recorder.event(k, "to upper bound" if side == AT_UPPER else "to lower bound")

    def _fill_groups(self, recorder: Recorder, left: float) -> bool:
        """Bring an index into each group that needs one and has none: only nu moves, to the one that is next.

        False where there is none that could come.
        """
        if self.one_group:
            if self.count:
                return True
            empty = np.zeros(1, dtype=int)
        else:
            empty = np.flatnonzero(self.anchor < 0)
        for g in empty.tolist():
            need = self.need[g]
            if abs(need) <= 1e-12 * float(np.abs(self.rate[self.group == g]).sum() + abs(self.sums_rate[g])):
                self.need[g] = 0.0
                continue
            mine = self.group == g
            if need > 0:
                able = np.flatnonzero(mine & (self.side == AT_LOWER))
            else:
                able = np.flatnonzero(mine & (self.side == AT_UPPER))
            if not len(able) and abs(need) * left <= 1e-11 * self._width:
                self.need[g] = 0.0  # it ends there, but for rounding
                continue
            if not len(able):
                return False
            gradient = self.gradient[able]
            j = int(able[gradient.argmin() if need > 0 else gradient.argmax()])
            self.nu = self.nu.copy()
            self.nu[g] = self.gradient[j]
            self.z[j] = self.bound_now(j, self.side.item(j))
            self._enter(j)
            recorder.event(j, "joins margin")
        return True

    def _finds_back(self) -> bool:
        """Whether it was rounding that piled up where the walk has gone astray; it is taken off."""
        self.refresh()
        ignored = np.array(self._ignored, dtype=int)
        off = self.side[ignored] * (self.gradient[ignored] - self.nu[self.group[ignored]])
        return max(self.violation(), float(off.max(initial=0.0))) <= 0.5 * STRAY * self.scale

    def _finish(self, recorder: Recorder, status: WalkStatus, watched: int) -> Walk:
        lo, hi, lo_rate, hi_rate = self.lo, self.hi, self.lo_rate, self.hi_rate
        self.linear = self.linear_at(self.since)
        self.z = self.all_multipliers()
        self.lo, self.hi = self.lo_now(), self.hi_now()
        self.sums = self.sums + self.since * self.sums_rate
        since = self.since
        self.lo_rate = self.hi_rate = np.zeros(self.n)
        self.linear_rate, self.since, self.sums_rate = None, 0.0, np.zeros(self.n_groups)
        np.clip(self.z, self.lo, self.hi, out=self.z)
        self._restore_ignored()
        if status in ("arrived", "condition holds") and not self._is_sound():
            status = "failed"
        recorder.end(status, watched, since)
        return Walk(
            start=recorder.start,
            stop=recorder.start + since,
            lo=lo,
            hi=hi,
            lo_rate=lo_rate,
            hi_rate=hi_rate,
            segments=tuple(recorder.segments),
            events=tuple(recorder.events),
            n_events=recorder.count,
            status=status,
            z=self.z,
            gradient=self.gradient,
            violation=self.violation() / self.scale,
        )

    def levels(self, without: Array | None = None) -> Array:
        """Multiplier of each group (n_groups,): nu, and where nothing fixes it, the middle of its interval.

        0 where no index of the group can move.

        Parameters
        ----------
        without : ndarray (k,) of int, optional
            Indices at a bound that are not asked, as if they were held: one may fix an end of such an interval.
        """
        movable = self.side != HELD
        if without is not None:
            movable[without] = False
        return group_levels(
            self.problem.starts, self.z, self.lo, self.hi, self.gradient, self.nu, movable, self._width
        )

    def fixed_groups(self) -> Array:
        """Which groups have a multiplier inside of its box, which fixes theirs: (n_groups,) of bool."""
        return fixed_groups(self.problem.starts, self.z, self.lo, self.hi, self.side != HELD, self._width)

    def _is_sound(self) -> bool:
        """Whether sums and optimality conditions hold but for rounding."""
        sums = np.add.reduceat(self.z, self.problem.starts)
        off = float(np.abs(sums - self.sums).max())
        return (
            off <= SOUND * (self._width + float(np.abs(self.z).max()))
            and self.violation() <= SOUND * self.scale
        )

    def violation(self) -> float:
        """Largest violation of the optimality conditions by the gradient as it is kept, in its units."""
        slack = self.sigma * (self.gradient - self.of_group(self.nu))
        worst = -float(slack.min(initial=0.0))
        margin = self.margin
        off = self.gradient[margin] - self.of_group(self.nu)[margin if not self.one_group else 0]
        return max(worst, float(np.abs(off).max(initial=0.0)))

    def problem_now(self) -> DualProblem:
        """The problem as it stands."""
        return replace(self.problem, linear=self.linear, lo=self.lo, hi=self.hi, sums=self.sums)
