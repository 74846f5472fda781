"""Learning and unlearning: one multiplier moves, all others stay at their own optimality conditions.

The walk starts from what this room's loop finds. So that arrows point one way, from the walk to the loop, the walk is
imported only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.hessian import Hessian
from svmviz.problem import Certificate, DualProblem

if TYPE_CHECKING:
    from svmviz.walk import Walk, Walker

Array = np.ndarray


class Following:
    """`follow_path` and `unlearn` of an SMO object; names and contract are those of optiml.ml.svm.smo.

    What has been unlearned, and what a walk has moved or pinned to where its own condition does not hold, is held
    there by later walks, also after one that could not be followed, until `minimize`, `steps` or a change of a
    parameter takes all samples in again. What was pinned where its condition does hold moves again with later walks.
    """

    _problem: DualProblem
    _hessian: Hessian
    _z: Array
    _gradient: Array
    _signs: Array
    _held: set[int]
    _kept: Any
    n_iter: int
    certificate: Certificate | None

    def follow_path(self, c: int, to: float, pinned: Iterable[int] = ()) -> int:
        """Move the multiplier of dual index c towards `to`, all others at their own optimality conditions.

        It stops early where the condition of c itself starts holding: a sample that grows from zero is learned then.

        Parameters
        ----------
        c : int
            Dual index.
        to : float
            Within the box of c, as a multiplier that is not negative; finite, also where the box has no end.
        pinned : iterable of int, optional
            Dual indices that stay where they are during this walk, whatever their conditions; see the class for what
            becomes of them later.

        Returns
        -------
        int
            Number of events, or -1 if the path could not be followed: the multipliers are feasible then, and
            `minimize` recovers.

        Raises
        ------
        InvalidProblemError
            When there is no such dual index, or `to` is outside of its box or not finite.
        """
        c, *others = (self._dual_index(k) for k in (c, *pinned))
        target = float(self._signs[c] * to)
        if not (np.isfinite(target) and self._problem.lo[c] <= target <= self._problem.hi[c]):
            raise InvalidProblemError(
                f"The multiplier of dual index {c} cannot be {to:g}: take a finite number within its box."
            )
        new = {c, *others} - self._held
        walk = self._walk(np.array([c]), np.array([target]), set(others), watched=c)
        if walk is not None and walk.status == "condition holds":
            self._held.discard(c)
        self._release(new if walk is None else new | {c})
        if walk is None:
            return -1
        return walk.n_events if walk.stop > walk.start else 0

    def unlearn(self, i: int) -> int:
        """Drive all multipliers of sample i to zero: what is left is the solution without that sample.

        Returns
        -------
        int
            Number of events, or -1 if the path could not be followed, as where the sums of the other multipliers
            cannot be what they must be: the multipliers are feasible then, and `minimize` recovers.

        Raises
        ------
        InvalidProblemError
            When there is no such sample.
        """
        indices = np.flatnonzero(self._problem.sample == i)
        if not len(indices):
            raise InvalidProblemError(f"There is no sample {i} with a multiplier.")
        walk = self._walk(indices, np.zeros(len(indices)), set())
        if walk is None:
            return -1
        return walk.n_events if walk.stop > walk.start else 0

    def _dual_index(self, k: int) -> int:
        """k, if there is such a dual index."""
        if not (isinstance(k, (int, np.integer)) and 0 <= k < self._problem.n):
            raise InvalidProblemError(f"A dual index must be between 0 and {self._problem.n - 1}, not {k!r}.")
        return int(k)

    def _walk(self, moving: Array, targets: Array, pinned: set[int], watched: int = -1) -> Walk | None:
        """Move these multipliers to their targets together; None where that fails."""
        from svmviz.walk import Rates
        from svmviz.walk.settled import followed

        if not self._hessian.positive_semidefinite:
            return None
        before = self._held
        self._held = before | pinned | set(moving.tolist())
        walker = self._walker()
        if walker is None:
            self._held = before
            return None
        change = np.zeros(self._problem.n)
        change[moving] = targets - walker.z[moving]
        if not change.any():
            self._leave(walker)
            return walker.follow(Rates(), 0.0)
        walker, walk = followed(walker, Rates(lo=change, hi=change), 1.0, watched=watched)
        if walk.status == "arrived":
            walker.z[moving] = targets
        self._leave(walker)
        return walk if walk.status in ("arrived", "condition holds") else None

    def _walker(self) -> Walker | None:
        """A walker that stands at the exact optimum of all that is not held; None where that fails."""
        from svmviz.walk.levels import is_lost
        from svmviz.walk.settled import settled

        held = np.array(sorted(self._held), dtype=int)
        lo, hi = self._problem.lo.copy(), self._problem.hi.copy()
        lo[held] = hi[held] = self._z[held]
        try:
            problem = replace(self._problem, lo=lo, hi=hi)
        except InvalidProblemError:  # what is held and what may move cannot sum to what they must
            return None
        walker = settled(problem, self._hessian.with_problem(problem), self._z, self._gradient)
        return None if walker is None or is_lost(self._hessian, problem.linear, walker.z) else walker

    def _leave(self, walker: Walker) -> None:
        """Stand where the walker does."""
        from svmviz.walk.levels import at_bounds

        now = walker.problem_now()  # in whose box what is held stays where it is
        z = np.where(now.lo < now.hi, at_bounds(walker.z, now.lo, now.hi), walker.z)
        z = np.clip(now.restore_sums(z), self._problem.lo, self._problem.hi)
        self._z, self._gradient = z, self._hessian.gradient(z)
        self._kept = None
        self.certificate = None  # the one that there was is of another problem
        self.n_iter = max(1, self.n_iter)  # there is a solution to go on from

    def _release(self, indices: set[int]) -> None:
        """Hold no longer those of these whose own condition holds, one after the other."""
        for k in sorted(indices & self._held):
            if self._is_right(k):
                self._held.discard(k)

    def _is_right(self, c: int) -> bool:
        """Whether c meets its optimality condition among those that are not held."""
        from svmviz.walk.levels import gradient_scale
        from svmviz.walk.margin import SOUND

        others = np.ones(self._problem.n, dtype=bool)
        others[list(self._held)] = False
        others[c] = True
        z, gradient = self._z, self._gradient
        mine = others & (self._problem.group == self._problem.group[c])
        up = gradient[mine & (z < self._problem.hi)].min(initial=np.inf)
        low = gradient[mine & (z > self._problem.lo)].max(initial=-np.inf)
        return bool(low - up <= SOUND * gradient_scale(self._hessian, self._problem.linear, z, gradient))
