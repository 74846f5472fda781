"""The first loop: sequential minimal optimization, once, for any number of groups.

Pick a pair in one group, move it, update the gradient, until the violation is within the tolerance, the
iteration limit is reached, or the objective no longer improves in floating point. In between, as `Options` allow,
Newton phases move all free multipliers at once, and shrinking leaves out for a while what cannot be picked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from svmviz.checks import check_choice, check_number
from svmviz.errors import InvalidProblemError
from svmviz.hessian import Hessian
from svmviz.problem import EPS, Certificate, DualProblem, Status
from svmviz.smo.iterate import Iterate, Move
from svmviz.smo.newton import Jump, newton_phase, worst_at_bounds
from svmviz.smo.pairs import can_move_many, move_pairs
from svmviz.smo.selection import Selection, check_name, make_selection
from svmviz.smo.shrinking import active_part
from svmviz.smo.stopping import NAMES, relative_violation

Array = np.ndarray

# Pairs between two looks at the objective.
PROGRESS_WINDOW = 1000
# Limits on the pairs for max_iter = -1, as (at least, for each dual index). With the Newton phase a problem takes
# hundreds of pairs, and on badly scaled features up to 40,000 where it can be solved at all; without it LIBSVM's
# limit holds.
LIMIT_WITH_NEWTON = (50_000, 200)
LIMIT_WITHOUT = (10_000_000, 100)
# Pairs between two looks at whether a Newton phase is due.
NEWTON_INTERVAL = 20
# A violation that after so many pairs is no smaller than at a cold start says that the run will be a long one.
EARLY_PAIRS = 3 * NEWTON_INTERVAL
# It waits until the pairs since the last look have changed the free set by at most this share of it, but for no
# more than so many looks.
STANDING_SHARE, LONGEST_WAIT = 0.3, 4
# Pairs between two looks at what can be left out; that is done when so small a share is left, and so many times.
SHRINKING_INTERVAL, ACTIVE_SHARE, MOST_SHRINKINGS = 200, 0.5, 5
# All phases together may take this many times the work of the pairs so far: what a phase costs grows with the cube
# of the number of free multipliers, and with very many of them the pairs do better on their own.
NEWTON_SHARE = 2.0
# It grows by so much whenever as many pairs have moved as there are dual indices: pairs that come back again and
# again only polish a free set that is nearly known.
NEWTON_SHARE_LATER = 8.0
# ... but to no more than this: a run that does not end is not to spend all its time on them.
NEWTON_SHARE_MOST = 15.0
# So many phases follow each other while no more than these multipliers are blocked in each.
PHASES_IN_A_ROW, FEW_BLOCKED = 6, 4
# At the end they go on to this share of the tolerance: pairs stop within it, and LIBSVM's now and then well within.
FINAL_TOL_SHARE = 0.1
# What a pair costs in the units of `newton_phase`, at least and for each dual index: measured, as floating-point
# operations that are as fast as those of a matrix product.
PAIR_WORK, PAIR_WORK_EACH = 3e5, 120.0


@dataclass(frozen=True)
class Options:
    """How to run the loop.

    Attributes
    ----------
    tol : float, default 1e-3
        Largest violation that counts as optimal, in units of the gradient.
    max_iter : int, default -1
        Limit on the pairs moved; -1: 50,000, or 200 a dual index where that is more (without Newton phases 10
        million, or 100 a dual index).
    selection : "second_order", "max_violating" or "platt"
        How the pair is picked.
    newton : bool, default True
        Jump towards the minimum over the free multipliers: at a warm start, then whenever the pairs have left the
        free set nearly as it was, as long as that does not cost much more than the pairs, and once more at the end.
        Where a phase was hardly blocked another follows that releases the worst violators from their bounds. See
        `svmviz.smo.newton`.
    shrinking : bool, default True
        Where the rows of the Gram matrix do not all fit in the cache, leave out for a while what cannot be picked:
        see `svmviz.smo.shrinking`. Only with the default selection and stopping and a box without an open end; a run
        that is recorded or stepped through goes without.
    stopping : "violation" or "thesis"
        Which test ends the run; see `svmviz.smo.stopping`. The second is relative: it can be met while the violation,
        which the certificate still reports, is above tol; the status then is "relative".

    Raises
    ------
    InvalidProblemError
        When tol is not a positive number (1e-300 to 1e60), max_iter is neither -1 nor at least 0, or the rule is
        unknown.
    """

    tol: float = 1e-3
    max_iter: int = -1
    selection: str = "second_order"
    newton: bool = True
    stopping: str = "violation"
    shrinking: bool = True

    def __post_init__(self) -> None:
        check_number("tol", self.tol, least=1e-300)
        check_name(self.selection)
        check_choice("stopping", self.stopping, NAMES)
        if not isinstance(self.max_iter, Integral) or self.max_iter < -1:
            raise InvalidProblemError(
                f"max_iter must be -1 (no limit of yours) or a whole number of at least 0, not {self.max_iter!r}."
            )

    def limit(self, n: int) -> int:
        """The number of pairs after which the loop gives up."""
        if self.max_iter != -1:
            return self.max_iter
        least, each = LIMIT_WITH_NEWTON if self.newton else LIMIT_WITHOUT
        return max(least, each * n)


@dataclass(frozen=True)
class Solution:
    """Where the loop ended.

    Attributes
    ----------
    z : ndarray (n,)
        Signed multipliers, in their box, sums met.
    gradient : ndarray (n,)
        H z + p, computed anew at the end.
    certificate : Certificate
    """

    z: Array
    gradient: Array
    certificate: Certificate


class Loop:
    """One run, pair by pair: iterating yields each Move after it was made; then `solution()` says how it ended.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
    options : Options
    z, gradient : ndarray (n,), optional
        Where to start from; default: `problem.start()`.
    record_jumps : bool, default False
        Yield each Newton step as a Jump; iterate.z and iterate.gradient are then those after it. A phase then waits
        for nothing but its interval, so that there is something to see, and moves free multipliers alone.
    """

    def __init__(
        self,
        problem: DualProblem,
        hessian: Hessian,
        options: Options,
        z: Array | None = None,
        gradient: Array | None = None,
        record_jumps: bool = False,
    ):
        self.problem = problem
        self.hessian = hessian
        self.options = options
        self._used_before = hessian.used
        self.iterate = Iterate(problem, hessian, problem.start() if z is None else z, gradient)
        self.reason = ""
        self.iterations = 0
        self._limit = options.limit(problem.n)
        self._newton_work = 0.0
        self._record_jumps = record_jumps
        self._is_warm = z is not None
        self._many_at_once = self._may_shrink = False
        self._shrunk, self._fresh, self._phase_at = 0, -1, -1
        self._free = self.iterate.free_mask()
        self._waited = 0
        self._refuted = False
        self._status: Status = "capped"
        self._guard: _OpenBox | None = None
        if not problem.is_bounded:
            self._guard = _OpenBox(self.iterate, problem.floor if hessian.positive_semidefinite else -np.inf)

    def __iter__(self) -> Iterator[Move | Jump]:
        """Move pairs until the loop has a status: each Move after it was made, and each Jump where they are recorded.

        The part of the rule that found a pair is in `reason`.
        """
        for jump in self._events():
            yield self.iterate.last_move() if jump is None else jump

    def _events(self) -> Iterator[Jump | None]:
        """The run, step by step: a Jump that is recorded, or None for a pair."""
        iterate, tol = self.iterate, self.options.tol
        selection = make_selection(self.options.selection, tol)
        progress = _Progress(iterate)
        # What is asked before every pair: one comparison each, the rest only when one of them says so.
        at_start = iterate.violation
        satisfied = tol if self.options.stopping == "violation" else np.inf
        if self.options.newton and self._is_warm and iterate.violation > tol:
            yield from self._newton()
        while True:
            look = min(progress.next_look, self._limit)
            due = self.iterations >= look or not iterate.moved
            if (due or iterate.violation <= satisfied) and (yield from self._ended(progress, selection)):
                return
            if self._many_at_once:
                count = min(look - self.iterations, NEWTON_INTERVAL - self.iterations % NEWTON_INTERVAL)
                self.iterations += move_pairs(iterate, max(1, count), tol)
            else:
                self._pair(selection)
                yield None
            if self.iterations % NEWTON_INTERVAL:
                continue
            if self.iterations == EARLY_PAIRS and not self._is_warm and iterate.violation >= at_start:
                self.hessian.kernel_rows.expect_all()
            if self.options.newton and (self._record_jumps or self._free_set_stands()):
                yield from self._newton()
            if self._guard is not None and self._guard.ran_away():
                self._status = "no progress"
                return
            if self._may_shrink and self.iterations % SHRINKING_INTERVAL == 0:
                self._solve_active()

    def _solve_active(self) -> None:
        """Solve the problem of the indices that can still be picked by itself, when they are few enough.

        Afterwards all take part again, with a fresh gradient.
        """
        iterate = self.iterate
        active = np.flatnonzero(iterate.selectable())
        if iterate.violation <= self.options.tol or len(active) > ACTIVE_SHARE * iterate.n:
            return
        part, hessian = active_part(self.problem, self.hessian, active, iterate.z, iterate.gradient)
        options = replace(self.options, max_iter=self._limit - self.iterations)
        loop = Loop(part, hessian, options, iterate.z[active], iterate.gradient[active])
        iterate.z[active] = loop.run().z
        iterate.negative_curvature |= loop.iterate.negative_curvature
        iterate.refresh()
        self._fresh = self.iterations + loop.iterations
        self.iterations += loop.iterations
        self.hessian.used += hessian.used
        self._shrunk += 1
        self._may_shrink = self._shrunk < MOST_SHRINKINGS

    def _ended(self, progress: _Progress, selection: Selection) -> Generator[Jump, None, bool]:
        """Whether the loop has a status."""
        if self._met() and (yield from self._confirmed()):
            self._status = "optimal" if self.iterate.violation <= self.options.tol else "relative"
            return True
        if self.iterations >= self._limit:
            self._status = "capped"
            return True
        if progress.stalled(self.iterations) and (progress.stalls > 1 or not selection.restart()):
            self._status = "no progress"
            return True
        return False

    def _pair(self, selection: Selection) -> None:
        iterate = self.iterate
        choice = selection.pick(iterate)
        self.reason = choice.reason
        iterate.move(choice.i, choice.j)
        selection.moved(iterate, choice)
        iterate.scan()
        self.iterations += 1

    def _free_set_stands(self) -> bool:
        """Whether the pairs have left the free set nearly as it was, or a phase has waited long enough for that."""
        free = self.iterate.free_mask()
        changed = int(np.count_nonzero(free != self._free))
        stands = changed <= STANDING_SHARE * int(np.count_nonzero(free)) or self._waited >= LONGEST_WAIT
        self._free, self._waited = free, 0 if stands else self._waited + 1
        return stands

    def _newton(self) -> Iterator[Jump]:
        """Newton phases, as far as their work stays within their share.

        Where its steps are recorded, they are yielded, and what they cost is not counted.
        """
        yield from self._phase(self._budget() - self._newton_work, self.options.tol)
        self._free = self.iterate.free_mask()

    def _budget(self) -> float:
        """What all phases may cost up to now."""
        share = min(NEWTON_SHARE + NEWTON_SHARE_LATER * self.iterations / self.problem.n, NEWTON_SHARE_MOST)
        pairs = max(self.iterations, NEWTON_INTERVAL)
        return share * pairs * (PAIR_WORK + PAIR_WORK_EACH * self.problem.n)

    def _phase(self, budget: float, enough: float) -> Iterator[Jump]:
        if not self._record_jumps:
            self._phases_in_a_row(budget, enough)
            return
        fraction = 0.0
        while fraction < 1:
            z, violation = self.iterate.z.copy(), self.iterate.violation
            phase = newton_phase(self.iterate, budget, most_steps=1)
            if (self.iterate.z == z).all():
                return
            fraction, indices = phase.fraction, phase.indices
            blocked = np.array(phase.blocked, dtype=int)
            yield Jump(indices, z[indices], self.iterate.z[indices], fraction, blocked, violation)

    def _phases_in_a_row(self, budget: float, enough: float) -> None:
        """A phase over the free set, then others that release what violates at the bounds, while hardly blocked."""
        iterate = self.iterate
        for _ in range(PHASES_IN_A_ROW):
            released = worst_at_bounds(iterate, enough) if self._phase_at == self.iterations else None
            if released is not None and not len(released):
                return
            phase = newton_phase(iterate, budget, released=released)
            self._newton_work += phase.work
            budget -= phase.work
            if phase.fraction < 1:
                self._phase_at = -1 if phase.blocked else self._phase_at
                return
            self._phase_at = self.iterations
            if len(phase.blocked) > FEW_BLOCKED or iterate.violation <= enough:
                return

    def _met(self) -> bool:
        """Whether the test that ends the run is met."""
        if self.options.stopping == "violation":
            return self.iterate.violation <= self.options.tol
        thresholds = self.problem.thresholds(self.iterate.z, self.iterate.gradient)
        return relative_violation(thresholds) <= 2 * self.options.tol

    def _confirmed(self) -> Generator[Jump, None, bool]:
        """Whether the test is still met on a fresh gradient.

        Last Newton phases make the multipliers exact for the free set found, and bring what is within the tolerance
        well within it. Where shrinking has solved the rest by itself nothing is left to do: the part had such phases,
        and the gradient is fresh.
        """
        if self._fresh == self.iterations:
            return True
        enough = FINAL_TOL_SHARE * self.options.tol
        exact = self._phase_at == self.iterations
        if self.options.newton and self.iterations and not (exact and self.iterate.violation <= enough):
            # A test that is met again and again and refuted each time must not cost a phase each time.
            budget = np.inf if not self._refuted else self._budget() - self._newton_work
            yield from self._phase(budget, enough)
        self.iterate.refresh()
        self._refuted = not self._met()
        return not self._refuted

    def run(self) -> Solution:
        """Move pairs to the end: those that nobody looks at many at once where they can be, and with shrinking."""
        options = self.options
        usual = options.selection == "second_order" and options.stopping == "violation"
        self._many_at_once = usual and can_move_many(self.iterate)
        self._may_shrink = (
            options.shrinking and usual and self._guard is None and not self.hessian.kernel_rows.fits
        )
        for _ in self._events():
            pass
        return self.solution()

    def solution(self) -> Solution:
        """What the run has reached, certified."""
        iterate, problem = self.iterate, self.problem
        if self._status != "optimal":  # else that is where it was just confirmed
            if self._guard is not None:
                self._guard.restore_best()
            iterate.refresh()
        status: Status = "optimal" if iterate.violation <= self.options.tol else self._status
        z, gradient = iterate.z.copy(), iterate.gradient.copy()
        convex = not iterate.negative_curvature and self.hessian.positive_semidefinite
        if status == "optimal" and not convex:
            status = "stationary"
        certificate = Certificate(
            objective=problem.objective(z, gradient),
            gap=problem.gap(z, gradient, self.hessian.rounding(z)) if convex else np.inf,
            violation=iterate.violation,
            status=status,
            iterations=self.iterations,
            kernel_values=self.hessian.used - self._used_before,
        )
        return Solution(z, gradient, certificate)


class _Progress:
    """Sees when the objective no longer improves, also when two pairs undo each other for ever.

    Once a window, and whenever a pair did not move at all, sums and gradient are computed anew, so that drift
    does not pass for progress. A window over which the objective has not fallen by more than its own rounding
    ends the run, unless the violation has fallen by a tenth: close to the optimum the objective stands still in
    floating point while the gradient still has digits to gain, and it cannot fall by a tenth for ever.
    """

    def __init__(self, iterate: Iterate):
        self.iterate = iterate
        self.window = max(PROGRESS_WINDOW, iterate.problem.n)
        self.next_look = self.window
        self.stalls = 0  # looks in a row without an improvement
        self.best = self._objective()[0]
        self.least_violation = iterate.violation

    def stalled(self, iterations: int) -> bool:
        """Whether to give up."""
        if iterations < self.next_look and self.iterate.moved:
            return False
        self.next_look = iterations + self.window
        self.iterate.moved = True
        self.iterate.refresh()
        objective, rounding = self._objective()
        improved = objective < self.best - rounding
        closer = self.iterate.violation <= 0.9 * self.least_violation
        self.best = min(self.best, objective)
        self.least_violation = min(self.least_violation, self.iterate.violation)
        self.stalls = 0 if improved or closer else self.stalls + 1
        return self.stalls > 0

    def _objective(self) -> tuple[float, float]:
        terms = self.iterate.z * (self.iterate.gradient + self.iterate.problem.linear)
        return 0.5 * float(terms.sum()), 2 * EPS * float(np.abs(terms).sum())


class _OpenBox:
    """Keeps a run whose box is open from running away.

    There the objective has a minimum only thanks to the added diagonal. Where the kernel is not positive
    semidefinite, if only by its rounding, the diagonal may be too small for that: the objective then falls below
    what it can be, and a gradient kept up to date by sums loses all its digits.

    Parameters
    ----------
    iterate : Iterate
    floor : float
        What the objective cannot be below.
    """

    def __init__(self, iterate: Iterate, floor: float):
        self.iterate = iterate
        self.floor = floor
        self.start = iterate.z.copy()
        self.best_z, self.best = self.start, self._objective()

    def ran_away(self) -> bool:
        """Whether the objective is below what it can be; otherwise the best multipliers so far are kept."""
        objective = self._objective()
        if not self._is_possible(objective):
            return True
        if objective < self.best:
            self.best_z, self.best = self.iterate.z.copy(), objective
        return False

    def restore_best(self) -> None:
        """Go back to the start or to the best multipliers on the way if they are better than the present ones."""
        choices: list[tuple[float, int, Array]] = []
        for z in (self.iterate.z.copy(), self.best_z, self.start):
            self.iterate.z[:] = z
            if np.isfinite(z).all():
                self.iterate.refresh()
                objective = self._objective()
                choices.append((objective if self._is_possible(objective) else np.inf, len(choices), z))
        self.iterate.z[:] = min(choices)[2]

    def _is_possible(self, objective: float) -> bool:
        problem, z = self.iterate.problem, self.iterate.z
        with np.errstate(all="ignore"):
            rounding = problem.n * EPS * float(np.abs(z) @ np.abs(self.iterate.gradient + problem.linear))
        return bool(objective + rounding >= self.floor and np.isfinite(objective))

    def _objective(self) -> float:
        with np.errstate(all="ignore"):
            return self.iterate.problem.objective(self.iterate.z, self.iterate.gradient)


def minimize(
    problem: DualProblem,
    hessian: Hessian,
    options: Options | None = None,
    z: Array | None = None,
    gradient: Array | None = None,
) -> Solution:
    """Solve a dual problem by sequential minimal optimization.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
        Of this problem.
    options : Options, optional
    z, gradient : ndarray (n,), optional
        A feasible start and its gradient.

    Returns
    -------
    Solution
    """
    return Loop(problem, hessian, options or Options(), z, gradient).run()
