"""Three ways to pick the violating pair (i, j): z_i will grow and z_j shrink by the same amount.

maximal violating pair  Keerthi, Shevade, Bhattacharyya, Murthy: Improvements to Platt's SMO algorithm (2001)
second order            Fan, Chen, Lin: Working set selection using second order information (2005), WSS 2
Platt                   Platt: Sequential minimal optimization: a fast algorithm for training SVMs (1998), section 2.2
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np

from svmviz.errors import InvalidProblemError
from svmviz.smo.iterate import Iterate

SelectionName = Literal["second_order", "max_violating", "platt"]
NAMES: tuple[SelectionName, ...] = ("second_order", "max_violating", "platt")
# What part of a rule can have found a pair.
REASONS = ("maximal violation", "largest gain", "farthest error", "free sweep", "full sweep")
# Violators without a partner that Platt's rule looks at, for each pair moved and each dual index.
MOST_IN_VAIN = 2


class Choice(NamedTuple):
    """A pair, and the part of the rule that found it."""

    i: int
    j: int
    reason: str


class Selection(Protocol):
    """A rule; it may keep a state of its own between pairs."""

    def pick(self, iterate: Iterate) -> Choice:
        """The next pair, given that the problem's violation exceeds the tolerance."""

    def moved(self, iterate: Iterate, choice: Choice) -> None:
        """Told after the pair was moved and the gradient updated."""

    def restart(self) -> bool:
        """Told when the objective no longer improves: whether the rule has another place to look."""


class MaximalViolatingPair:
    """The smallest gradient that may grow with the largest that may shrink, in the most violated group."""

    def pick(self, iterate: Iterate) -> Choice:
        """The maximal violating pair."""
        i, j = iterate.extremes()
        return Choice(i, j, "maximal violation")

    def moved(self, iterate: Iterate, choice: Choice) -> None:
        """Nothing to remember."""

    def restart(self) -> bool:
        """It always looks at all indices."""
        return False


class SecondOrder:
    """The index with the smallest gradient that may grow, and the partner that lowers the objective most.

    An unclipped step along (i, j) gains (g_j - g_i)^2 / (2 curvature): WSS 2 of Fan, Chen, Lin.
    """

    def pick(self, iterate: Iterate) -> Choice:
        """First index by gradient, second by gain."""
        i, _ = iterate.extremes()
        members = iterate.members(i)
        return Choice(i, members.start + int(iterate.gains(i, members).argmax()), "largest gain")

    def moved(self, iterate: Iterate, choice: Choice) -> None:
        """Nothing to remember."""

    def restart(self) -> bool:
        """It always looks at all indices."""
        return False


class Platt:
    """Platt's two loops over one threshold, in signed multipliers.

    The outer loop passes over all indices, then over the free ones until nothing changes, and takes the
    first that violates its condition against the group's threshold by more than tol / 2. Its partner is the
    free index with the farthest error |E_i - E_j|; if that one makes no progress, the free indices and then
    all are tried from a random place on. The threshold follows the last pair moved. Keerthi and others
    showed that it can mislead; when a full pass finds no pair, it is put midway between the true thresholds. Where
    rounding leaves most violators without a partner, the maximal violating pair is taken, not ever longer passes.

    Parameters
    ----------
    tol : float
        The tolerance on the violation; half of it on either side of the threshold.
    seed : int, default 0
        Of the random starting places.
    """

    def __init__(self, tol: float, seed: int = 0):
        self.tol = tol
        self.random = np.random.default_rng(seed)
        self.threshold: np.ndarray | None = None
        self.cursor = 0
        self.all_indices = True
        self.changed = False
        self.pairs = self.in_vain = 0  # moved so far, and violators that had no partner

    def restart(self) -> bool:
        """Go on with a pass over all indices.

        Passes over the free indices may go on for ever in the last digits of one group while another is far off.
        """
        self.threshold, self.cursor, self.all_indices, self.changed = None, 0, True, False
        self.pairs = self.in_vain = 0
        return True

    def pick(self, iterate: Iterate) -> Choice:
        """Continue the pass where the last pair left it."""
        if self.threshold is None:
            self._reset_threshold(iterate)
        fruitless = 0
        while fruitless < 3 and self.in_vain <= MOST_IN_VAIN * (self.pairs + iterate.n):
            i = self._next_violator(iterate)
            if i is None:
                fruitless += not self.changed
                self._next_pass(iterate)
                continue
            self.cursor = i + 1
            choice = self._partner(iterate, i)
            if choice is not None:
                self.changed = True
                return choice
            self.in_vain += 1
        # No pair makes progress in floating point from here: hand the worst one to the loop, which will see it.
        i, j = iterate.extremes()
        return Choice(i, j, "maximal violation")

    def moved(self, iterate: Iterate, choice: Choice) -> None:
        """The threshold goes where the pair says: to the gradient of its free index, else between the two."""
        assert self.threshold is not None
        self.pairs += 1
        g = iterate.gradient
        group = iterate.group[choice.i]
        if iterate.is_free(choice.i):
            self.threshold[group] = g[choice.i]
        elif iterate.is_free(choice.j):
            self.threshold[group] = g[choice.j]
        else:
            self.threshold[group] = 0.5 * (g[choice.i] + g[choice.j])

    def _reset_threshold(self, iterate: Iterate) -> None:
        up, low = iterate.thresholds()
        # A group in which nothing may grow, or nothing may shrink, has one finite threshold or none.
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (up + low)
        self.threshold = np.where(np.isfinite(middle), middle, np.where(np.isfinite(up), up, low))

    def _next_violator(self, iterate: Iterate) -> int | None:
        assert self.threshold is not None
        error = iterate.gradient - self.threshold[iterate.group]
        half = 0.5 * self.tol
        violates = ((error < -half) & iterate.may_grow) | ((error > half) & iterate.may_shrink)
        if not self.all_indices:
            violates &= iterate.may_grow & iterate.may_shrink
        ahead = violates[self.cursor :]
        k = int(ahead.argmax()) if len(ahead) else 0
        return self.cursor + k if len(ahead) and ahead[k] else None

    def _next_pass(self, iterate: Iterate) -> None:
        if self.all_indices and not self.changed:
            self._reset_threshold(iterate)
        elif self.all_indices:
            self.all_indices = False
        elif not self.changed:
            self.all_indices = True
        self.changed = False
        self.cursor = 0

    def _partner(self, iterate: Iterate, i: int) -> Choice | None:
        members = iterate.members(i)
        productive = self._productive(iterate, i, members)
        free = (iterate.may_grow & iterate.may_shrink)[members]
        farthest = np.where(free, np.abs(iterate.gradient[members] - iterate.gradient[i]), -1.0)
        k = int(farthest.argmax())
        if free.any() and productive[k]:
            return self._ordered(iterate, i, members.start + k, "farthest error")
        for candidates, reason in ((productive & free, "free sweep"), (productive, "full sweep")):
            found = np.flatnonzero(candidates)
            if len(found):
                first = np.searchsorted(found, self.random.integers(len(productive)))
                return self._ordered(iterate, i, members.start + int(found[first % len(found)]), reason)
        return None

    @staticmethod
    def _productive(iterate: Iterate, i: int, members: slice) -> np.ndarray:
        """Which partners move the pair by more than rounding, whichever of the two grows."""
        difference = iterate.gradient[members] - iterate.gradient[i]
        z, lo, hi = iterate.z, iterate.lo, iterate.hi
        grow = np.minimum(hi[i] - z[i], z[members] - lo[members])
        shrink = np.minimum(z[i] - lo[i], hi[members] - z[members])
        room = np.where(difference > 0, grow, shrink)
        step = np.minimum(np.abs(difference) / iterate.curvatures(i, members), room)
        productive = step > 1e-12 * (np.abs(z[members]) + abs(z[i])) + 1e-300
        productive[i - members.start] = False
        return productive

    @staticmethod
    def _ordered(iterate: Iterate, i: int, j: int, reason: str) -> Choice:
        """The one with the smaller gradient grows."""
        if iterate.gradient[i] < iterate.gradient[j]:
            return Choice(i, j, reason)
        return Choice(j, i, reason)


def check_name(name: str) -> None:
    """InvalidProblemError unless there is a rule of that name."""
    if name not in NAMES:
        raise InvalidProblemError(f"selection must be one of {', '.join(NAMES)}, not {name!r}.")


def make_selection(name: str, tol: float) -> Selection:
    """The rule of that name, one of `NAMES`."""
    if name == "platt":
        return Platt(tol)
    return SecondOrder() if name == "second_order" else MaximalViolatingPair()
