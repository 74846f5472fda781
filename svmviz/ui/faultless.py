"""The smallest value on a path whose machine makes no training error, or has all points in its tube."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmviz.machines import ad_svm
from svmviz.ui.path_knots import Knots, Moment
from svmviz.walk.levels import group_levels
from svmviz.walk.paths import CurvedPath, Path
from svmviz.walk.posed import Prototypes

Array = np.ndarray
End = tuple[float, Array]

STRAIGHT = 1e-4
"""What a line may be off the margins of the samples, as a share of the largest, where the search goes along it."""

SMALL = 1e-6
"""Of the largest margin at both ends of the path: smaller margins are taken to be lines."""

MOST_HALVED = 30
"""A stretch is halved so often, at most, and so often again to find the place where the last error ends."""

ROUNDING = 1e-8
"""As a share of the largest margin: nearer to the boundary than this no sample is on the right side for certain."""

NEARLY = 0.01
"""As a share of the largest margin: where lines say nearly right, a curve is asked."""

EDGE = 1e-7
"""As a share of the largest target: a sample on the edge of the tube is inside, as in slide.js."""

COINCIDE = 1e-9
"""Prototypes nearer than the root of this share of their length are one point; readers.js still sees noise as two."""

JUST_ABOVE = 1e-6
"""As a share of a stretch: at its very start a multiplier is at its bound that is free right after."""


def first_faultless(found: Path, knots: Knots, y: Array) -> float | None:
    """The smallest value of the parameter without a training error, or None where no value on the path has none.

    Where the last error ends with a sample on the boundary, it is the next number above. No machine in between two
    knots is solved anew but on a curve. The boundary is the one that the page draws: with no multiplier free its bias
    is the middle of an interval, and the mu-SVM bisects the link of its hulls.

    Parameters
    ----------
    found : Path
        Upward.
    knots : Knots
        Of this path.
    y : ndarray (n_samples,)
        Labels; of a regressor the targets, of which all must lie in the tube.
    """
    search = _Search(found, knots, y)
    for j in np.flatnonzero(np.diff(knots.values) > 0).tolist():
        value = search.inside(j) if search.is_regression else search.right(j)
        if value is not None:
            return value
    return None


@dataclass(frozen=True)
class _Search:
    found: Path
    knots: Knots
    y: Array

    @property
    def is_regression(self) -> bool:
        """Whether the machine has no classes."""
        return getattr(self.found.posed, "classes", None) is None

    @cached_property
    def _codes(self) -> Array:
        """The class (n_samples,) of each sample, from 0."""
        return np.unique(self.y, return_inverse=True)[1]

    @property
    def _is_curved(self) -> bool:
        return isinstance(self.found, CurvedPath)

    # ------------------------------------------------------------------------------------ a machine

    def _solution(self, j: int, value: float, exact: bool) -> Moment:
        """Multipliers (n_dual,) and those of the groups (n_groups,) between knots j and j + 1."""
        knots = self.knots
        if exact:
            segment = self.found.walk.segment(value)
            return segment.at(value, *self.found.posed.box(self.found.parameter, value)), segment.nu_at(value)
        first, last = knots.values[j : j + 2]
        share = (value - first) / (last - first)
        z, nu = (rows[j] + share * (rows[j + 1] - rows[j]) for rows in (knots.z, knots.nu))
        return z, nu

    def _function(self, j: int, value: float, exact: bool) -> Moment:
        """Values (n_samples,) of a machine with one function, and the multipliers of its groups."""
        found, posed = self.found, self.found.posed
        z, nu = self._solution(j, value, exact)
        problem, rates = posed.problem, posed.rates(found.parameter)
        sums = posed.hessian.K @ posed.coefficients(z)
        linear, diagonal = (rates.part(problem, name, found.start, value) for name in ("linear", "diagonal"))
        gradient = sums[problem.sample] + linear + diagonal * z
        lo, hi = posed.box(found.parameter, value)
        width = float(np.abs(self.knots.z).max())
        levels = group_levels(problem.starts, z, lo, hi, gradient, nu, lo < hi, width)
        return sums + posed.bias(levels), levels

    def margins(self, j: int, value: float, exact: bool = False) -> Array:
        """How far each sample (n_samples,) is on the right side of the boundary; 0 where nothing is decided."""
        posed, codes = self.found.posed, self._codes
        if not isinstance(posed, Prototypes):
            return np.where(codes == 1, 1.0, -1.0) * self._function(j, value, exact)[0]
        z = self._solution(j, value, exact)[0]
        prototypes = ad_svm.read(posed.problem, z, posed.hessian.kernel_rows)
        largest = float(np.diagonal(prototypes.products).max())
        if float(prototypes.distances().max()) ** 2 < COINCIDE * largest:
            return np.zeros(len(codes))
        scores = prototypes.scores(posed.hessian.K, posed.rule)
        scores = np.maximum.reduceat(scores, np.searchsorted(posed.owner, range(len(posed.classes))), axis=1)
        own = np.take_along_axis(scores, codes[:, None], axis=1)[:, 0]
        np.put_along_axis(scores, codes[:, None], -np.inf, axis=1)
        return own - scores.max(axis=1)

    # ------------------------------------------------------------------------------------ the search

    def right(self, j: int) -> float | None:
        """The first value between knots j and j + 1 where all samples are on the right side, or None."""
        start, stop = self.knots.values[j : j + 2].tolist()
        if self._all_right(j, value := self._above(j)):
            return start if j == 0 else value
        return self._halved(j, (value, self.margins(j, value)), (stop, self.margins(j, stop)), MOST_HALVED)

    def inside(self, j: int) -> float | None:
        """The first value between knots j and j + 1, if all samples are in the tube there: it is so all along."""
        start, stop = self.knots.values[j : j + 2].tolist()
        middle, found = 0.5 * (start + stop), self.found
        fitted, levels = self._function(j, middle, self._is_curved)
        if found.parameter == "epsilon":
            epsilon = middle
        elif len(levels) > 1:  # the tube of nu-SVR
            epsilon = max(0.0, 0.5 * float(levels[1] - levels[0]))
        else:
            epsilon = self._own_epsilon()
        beyond = float(np.abs(self.y - fitted).max()) - epsilon
        if beyond > EDGE * float(np.abs(self.y).max()):
            return None
        return start if j == 0 else self._above(j)

    def _own_epsilon(self) -> float:
        """Of epsilon-SVR: half of what is between the two linear terms of a sample."""
        linear = self.found.posed.problem.linear
        return 0.5 * float(linear[0] - linear[self.found.posed.n_samples])

    @cached_property
    def _small(self) -> float:
        values, last = self.knots.values, len(self.knots.values) - 2
        ends = (self.margins(0, float(values[0])), self.margins(last, float(values[-1])))
        return SMALL * max(float(np.abs(one).max()) for one in ends)

    def _above(self, j: int) -> float:
        start, stop = self.knots.values[j : j + 2].tolist()
        return float(start + JUST_ABOVE * (stop - start))

    def _all_right(self, j: int, value: float) -> bool:
        margins = self.margins(j, value)
        if self._is_curved and margins.min() > -NEARLY * np.abs(margins).max():
            margins = self.margins(j, value, exact=True)
        return float(margins.min()) > ROUNDING * float(np.abs(margins).max())

    def _halved(self, j: int, first: End, last: End, left: int) -> float | None:
        """The first value from one end to another where all are right; halved until the margins are lines."""
        value = 0.5 * (first[0] + last[0])
        middle = (value, self.margins(j, value))
        bend = np.abs(middle[1] - 0.5 * (first[1] + last[1])).max()
        scale = max(self._small, *(float(np.abs(one).max()) for one in (first[1], last[1])))
        if left and bend > STRAIGHT * scale:
            before = self._halved(j, first, middle, left - 1)
            return self._halved(j, middle, last, left - 1) if before is None else before
        candidate = _middle_of_right(first, last)
        if candidate is None or not self._all_right(j, candidate):
            return None
        wrong, right = first[0], candidate
        while wrong < (value := 0.5 * (wrong + right)) < right:
            wrong, right = (wrong, value) if self._all_right(j, value) else (value, right)
        return right


def _middle_of_right(first: End, last: End) -> float | None:
    """The middle of where all margins are positive, if they are lines between two ends; None without one."""
    (start, before), (stop, after) = first, last
    rise = after - before
    if (before[rise == 0] <= 0).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -before / rise
    low = max(0.0, float(zero[rise > 0].max(initial=0.0)))
    high = min(1.0, float(zero[rise < 0].min(initial=1.0)))
    return start + 0.5 * (low + high) * (stop - start) if low < high else None
