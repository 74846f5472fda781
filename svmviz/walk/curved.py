"""The walk where the diagonal moves: the squared losses, whose C is on the diagonal of H and bounds no multiplier.

With H = K + s D, s = 1/C, D diagonal, and a box whose bounds are 0 or infinite, the multipliers off their bound, M,
and the multiplier nu of the one group solve

    [ K_MM + s D_M   -1 ] [z_M]   [ -p_M ]
    [ -1'             0 ] [nu ] = [  0   ]

With w = D_M^(1/2) z_M, A = D_M^(-1/2) K_MM D_M^(-1/2) and Q the projection along D_M^(-1/2) 1, along which w has the
sum of z, this is (QAQ + s) w = -Q D_M^(-1/2) p_M. The eigenvalues lambda_k >= 0 of QAQ make w, and with it z, nu
and the gradients off the margin, sums of poles 1/(s + lambda_k): see `svmviz.walk.poles`. The next event is where the
first z_i reaches 0, or the first gradient of an index at 0 reaches nu. O(f^3) for an event with f indices off their
bound, most of it for the eigenvalues; what is told of a value of C is solved for anew, with a Cholesky factor.

At s > 0 the problem is strictly convex: one optimum, no index depends on others, and whoever changes sides alone goes
on where it came from. Where several violate at one place they change sides one after the other, the least index
first, which comes to an end (Murty: Note on a Bard-type scheme for solving the complementarity problem, 1974).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from svmviz.free_system import FreeSystem
from svmviz.problem import EPS, DualProblem
from svmviz.walk.levels import gradient_scale, group_levels
from svmviz.walk.margin import NEGLIGIBLE, SOUND, StuckError
from svmviz.walk.poles import Poles
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Event, Kind, Walk, WalkStatus
from svmviz.walk.settled import LEAPS, settled
from svmviz.walk.walker import Walker

Array = np.ndarray

# So often a solution is refined with what is left of its equations.
REFINED = 2
# Events nearer to each other than this share of their place are in one place.
PLACE = 1e-13
# Sums of poles are believed as far as this many times the parameter; so many looks at the equations for one event.
TRUSTED, MOST_TRIES = 8.0, 60
# So many events in one place, at least and for each index, and the walk leaps a little; so often, at most.
PATIENCE, PATIENCE_EACH, MOST_LEAPS = 30, 2, 20


class Solution(NamedTuple):
    """An optimum.

    Attributes
    ----------
    z : ndarray (n,)
    gradient : ndarray (n,)
    nu : float
    """

    z: Array
    gradient: Array
    nu: float


@dataclass(frozen=True)
class Curve:
    """A problem whose diagonal is `diagonal` over the parameter.

    Attributes
    ----------
    problem : DualProblem
        One group, of sum 0; bounds that are 0 or infinite. Its own diagonal does not count.
    K : ndarray (n_samples, n_samples)
    diagonal : ndarray (n,)
    sign : ndarray (n,)
        1 for an index at least 0, -1 for one at most 0, 0 for one that is held at 0.
    """

    problem: DualProblem
    K: Array
    diagonal: Array
    sign: Array

    def at(self, value: float) -> DualProblem:
        """The problem at a value of the parameter."""
        return replace(self.problem, diagonal=self.diagonal / value)

    def square(self, margin: Array) -> Array:
        """K between the samples of these indices (f,): (f, f)."""
        samples = self.problem.sample[margin]
        return self.K[np.ix_(samples, samples)]

    def image(self, margin: Array, values: Array) -> Array:
        """K times what these indices (f,) have, (f,) or (f, r): (n,) or (n, r)."""
        return (self.K[:, self.problem.sample[margin]] @ values)[self.problem.sample]

    def solved(self, margin: Array, value: float) -> Solution:
        """The solution with these indices (f,) off their bound, whatever its signs.

        Raises
        ------
        StuckError
            Where floating point does not solve for it.
        """
        linear, added = self.problem.linear, self.diagonal[margin] / value
        z = np.zeros(self.problem.n)
        if not len(margin):
            above, below = self.sign < 0, self.sign > 0
            nu = group_levels(
                self.problem.starts, z, np.where(above, -1.0, 0.0), np.where(below, 1.0, 0.0), linear,
                np.zeros(1), above | below,
            )  # fmt: skip
            return Solution(z, linear.copy(), float(nu[0]))
        H = self.square(margin)
        H.flat[:: len(margin) + 1] += added
        system = FreeSystem(H, ridge=0.0)
        if not system.is_definite:
            raise StuckError("failed")
        own = system.direction(linear[margin])
        for _ in range(REFINED):
            own += system.direction(H @ own + linear[margin])
        z[margin] = own
        gradient = self.image(margin, own) + linear
        gradient[margin] += added * own
        return Solution(z, gradient, float(gradient[margin].mean()))

    def poles(self, margin: Array) -> tuple[Array, Array, Array]:
        """What `slacks` has, as sums of poles in s: constants (n,), residues (n, r) and levels (r,)."""
        linear, sample = self.problem.linear, self.problem.sample
        root = 1.0 / np.sqrt(self.diagonal[margin])
        along = root / np.linalg.norm(root)
        A = self.square(margin) * root[:, None] * root
        image = A @ along
        A -= along[:, None] * image
        A -= (A @ along)[:, None] * along
        levels, vectors = np.linalg.eigh(0.5 * (A + A.T))
        pull = linear[margin] * root
        residues = root[:, None] * vectors * ((along @ pull) * along - pull).dot(vectors)
        # Eigenvalues that are 0 but for rounding, many of a smooth kernel, are one pole.
        none = int(np.searchsorted(levels, len(levels) * EPS * levels[-1], side="right"))
        if none > 1:
            residues = np.column_stack([residues[:, :none].sum(axis=1), residues[:, none:]])
            levels = np.concatenate([[0.0], levels[none:]])
        levels = np.maximum(levels, 0.0)
        by_sample = self.K[:, sample[margin]] @ residues
        off = by_sample[sample]
        weights = along / np.linalg.norm(root) * root
        constants = self.sign * (linear - weights @ linear[margin])
        off -= weights @ by_sample[sample[margin]]
        off[margin] = residues
        constants[margin] = 0.0
        return constants, self.sign[:, None] * off, levels

    def slacks(self, solution: Solution, margin: Array) -> Array:
        """What is not negative at the optimum, (n,): multipliers off their bound, and beyond nu at it; with signs."""
        slack = self.sign * (solution.gradient - solution.nu)
        slack[margin] = self.sign[margin] * solution.z[margin]
        return slack


class CurvedSegment(NamedTuple):
    """A stretch between two events of a walk on which the diagonal moves.

    Attributes
    ----------
    start, stop : float
        Values of the parameter.
    margin : ndarray (f,) of int
        Dual indices off their bound.
    side : ndarray (n,) of int8
        -1 at the lower bound, 1 at the upper one, 0 on the margin, 2 held.
    curve : Curve
    """

    start: float
    stop: float
    margin: Array
    side: Array
    curve: Curve

    def solution(self, value: float, lo: Array, hi: Array) -> tuple[Array, Array]:
        """Multipliers z (n,) in their box (n,) and nu (1,) at a value of the parameter, solved for anew."""
        solution = self.curve.solved(self.margin, value)
        return np.clip(solution.z, lo, hi), np.array([solution.nu])

    def at(self, value: float, lo: Array, hi: Array) -> Array:
        """Multipliers z (n,) at a value of the parameter, in the box (n,)."""
        return self.solution(value, lo, hi)[0]

    def nu_at(self, value: float) -> Array:
        """The multiplier of the group, (1,), at a value of the parameter."""
        return np.array([self.curve.solved(self.margin, value).nu])


def follow_diagonal(walker: Walker, diagonal: Array, start: float, stop: float) -> Walk:
    """Follow an optimum while the diagonal added to H is `diagonal` over a parameter that moves.

    Where floating point does not get on, a minimisation takes the walk over a little further on.

    Parameters
    ----------
    walker : Walker
        At the exact optimum at `start`; it is not moved. One group, of sum 0, and bounds that are 0 or infinite.
    diagonal : ndarray (n,)
        0 for what is held, else positive.
    start, stop : float
        Values of the parameter, above 0; either may be the larger.

    Returns
    -------
    Walk
        Over the parameter itself, with its events and stretches.

    Raises
    ------
    ValueError
        For another box, other sums, or a coupling.
    """
    problem = walker.problem
    bounds = np.concatenate([problem.lo, problem.hi])
    if (bounds[np.isfinite(bounds)] != 0).any() or problem.sums.any() or problem.coupling.tolist() != [[1.0]]:
        raise ValueError("Along the diagonal bounds must be 0 or infinite, sums 0, and nothing coupled.")
    sign = np.where(problem.lo == problem.hi, 0.0, np.where(problem.lo == 0.0, 1.0, -1.0))
    return _Course(Curve(problem, walker.hessian.K, diagonal, sign), walker, start, stop).run()


class _Course:
    """A walk under way.

    Attributes
    ----------
    value : float
        Of the parameter.
    inside : ndarray (n,) of bool
        Who is off its bound.
    solution : Solution
        Here, with these.
    """

    def __init__(self, curve: Curve, walker: Walker, start: float, stop: float):
        self.curve, self.hessian = curve, walker.hessian
        self.value, self.start, self.stop = start, start, stop
        self.inside = walker.z != 0
        self.solution = Solution(walker.z, walker.gradient, float(walker.nu[0]))
        self.events: list[Event] = []
        self.segments: list[CurvedSegment] = []
        self._leaps = self._standing = 0

    def run(self) -> Walk:
        """The whole walk."""
        status: WalkStatus = "arrived"
        try:
            self.solution = self.curve.solved(self._margin(), self.value)
            while self.value != self.stop:
                self._go_on()
        except StuckError as stuck:
            status = stuck.status
        if not self.segments:
            self._stretch(self.value, self.value)
        if status == "arrived":
            self._note(-1, "arrived")
        return self._walk(status)

    def _margin(self) -> Array:
        return np.flatnonzero(self.inside)

    def _go_on(self) -> None:
        """To the next event, through it, or with a leap where there is no getting on."""
        try:
            self._to_event()
        except (StuckError, np.linalg.LinAlgError):
            self._leap()

    def _to_event(self) -> None:
        if not self.inside.any():  # z = 0 is optimal whatever the diagonal
            self._move(self.stop, self.solution)
            return
        before = self.value
        j = self._next()
        if j < 0:
            return
        self._standing = 0 if abs(self.value - before) > PLACE * before else self._standing + 1
        if self._standing > PATIENCE + PATIENCE_EACH * len(self.inside):
            raise StuckError("failed")
        self._turn(j)

    def _move(self, value: float, solution: Solution) -> None:
        """Go on to a value, all on their sides."""
        if value != self.value:
            self._stretch(self.value, value)
            self.value, self.solution = value, solution

    def _next(self) -> int:
        """Go to the next event, and say who changes sides there; -1 where the walk ends first.

        The sums of poles say where to look: what happens there is seen by the equations themselves, and they are
        pinned to that.
        """
        margin, asked = self._margin(), np.flatnonzero(self.curve.sign)
        tolerance = self._tolerance(margin)[asked]
        here, slack = self.value, self.curve.slacks(self.solution, margin)[asked] + tolerance
        if (slack < 0).any():
            return int(asked[(slack < 0).argmax()])
        constants, residues, levels = self.curve.poles(margin)
        poles = Poles(constants[asked], residues[asked], levels)
        poles.pin(1.0 / here, slack)
        beyond = None  # where someone has gone too far
        for _ in range(MOST_TRIES):
            goal = beyond or self._trusted(here)
            s, k = poles.first_below(1.0 / here, 1.0 / goal)
            there = goal if k < 0 else 1.0 / s
            solution = self.curve.solved(margin, there)
            then = self.curve.slacks(solution, margin)[asked] + tolerance
            ends = abs(there - here) <= PLACE * here
            if then.min() >= 0:
                if there == self.stop or (ends and k >= 0):
                    self._move(there, solution)
                    return -1 if there == self.stop else int(asked[k])
                here, slack = there, then
                poles.pin(1.0 / here, slack)
            elif ends or (then >= -tolerance).all():
                self._move(there, solution)
                return int(asked[(then / tolerance).argmin()])
            else:
                beyond = there
                poles.pin(1.0 / here, slack, 1.0 / there, then)
        raise StuckError("failed")

    def _trusted(self, value: float) -> float:
        """How far ahead of a value the sums of poles are believed before the equations are asked."""
        return min(self.stop, TRUSTED * value) if self.stop > value else max(self.stop, value / TRUSTED)

    def _tolerance(self, margin: Array) -> Array:
        """What each of the slacks may be off by, (n,)."""
        z, gradient, _ = self.solution
        scale = gradient_scale(self.hessian, self.curve.problem.linear, z, gradient)
        tolerance = np.full(len(z), NEGLIGIBLE * scale)
        tolerance[margin] = NEGLIGIBLE * np.abs(z).max()
        return tolerance

    def _turn(self, j: int) -> None:
        """Index j changes sides here."""
        self.inside[j] = not self.inside[j]
        self.solution = self.curve.solved(self._margin(), self.value)
        leaves: Kind = "to lower bound" if self.curve.sign[j] > 0 else "to upper bound"
        self._note(j, "joins margin" if self.inside[j] else leaves)

    def _leap(self) -> None:
        """A little further, to where a minimisation says who is off its bound, and was so all the way."""
        curve, here = self.curve, self.value
        self._leaps += 1
        for leap in LEAPS if self._leaps <= MOST_LEAPS else ():
            there = here * (1.0 + leap) if self.stop > here else here / (1.0 + leap)
            there = min(there, self.stop) if self.stop > here else max(there, self.stop)
            problem = curve.at(there)
            end = settled(problem, self.hessian.with_problem(problem))
            if end is None:
                continue
            margin = np.flatnonzero(end.z)
            if max(self._violation(margin, here), self._violation(margin, there)) <= SOUND:
                self.inside = end.z != 0
                self._stretch(here, there)
                self.value, self._standing = there, 0
                self.solution = curve.solved(margin, there)
                return
        raise StuckError("failed")

    def _violation(self, margin: Array, value: float) -> float:
        """How far the solution with these off their bound is from optimal, relative to the gradient."""
        try:
            solution = self.curve.solved(margin, value)
        except StuckError:
            return np.inf
        problem = self.curve.at(value)
        z = np.clip(solution.z, problem.lo, problem.hi)
        hessian = self.hessian.with_problem(problem)
        gradient = hessian.gradient(z)
        return problem.violation(z, gradient) / gradient_scale(hessian, problem.linear, z, gradient)

    def _side(self) -> Array:
        sign = self.curve.sign
        side = np.where(sign == 0, HELD, np.where(sign > 0, AT_LOWER, AT_UPPER)).astype(np.int8)
        side[self.inside] = MARGIN
        return side

    def _stretch(self, start: float, stop: float) -> None:
        self.segments.append(CurvedSegment(start, stop, self._margin(), self._side(), self.curve))

    def _note(self, j: int, kind: Kind) -> None:
        z, gradient, nu = self.solution
        problem, side = self.curve.problem, self._side()
        on, lower, upper = (int(np.count_nonzero(side == at)) for at in (MARGIN, AT_LOWER, AT_UPPER))
        sample = int(problem.sample[j]) if j >= 0 else -1
        objective = problem.objective(z, gradient)
        self.events.append(Event(self.value, j, sample, kind, on, lower, upper, np.array([nu]), objective))

    def _walk(self, status: WalkStatus) -> Walk:
        problem = self.curve.at(self.value)
        z = np.clip(self.solution.z, problem.lo, problem.hi)
        hessian = self.hessian.with_problem(problem)
        gradient = hessian.gradient(z)
        still = np.zeros(problem.n)
        scale = gradient_scale(hessian, problem.linear, z, gradient)
        violation = problem.violation(z, gradient) / scale
        if violation > SOUND:
            status = "failed"
        return Walk(
            start=self.start,
            stop=self.value,
            lo=problem.lo,
            hi=problem.hi,
            lo_rate=still,
            hi_rate=still,
            segments=tuple(self.segments),
            events=tuple(self.events),
            n_events=len(self.events),
            status=status,
            z=z,
            gradient=gradient,
            violation=violation,
        )
