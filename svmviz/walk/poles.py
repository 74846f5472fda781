"""Sums of poles, and how far none of them falls below zero.

What the optimum is where only the diagonal of H moves: functions h(s) = c + sum of r_k / (s + lambda_k), s > 0, with
lambda_k >= 0. The terms with r_k > 0 sum to a convex function P, and those with r_k < 0 to -N with another one, N.
Over an interval P lies above its tangents and N below its chord, so that

    h(s)  >=  c + tangent of P - chord of N,

which is linear: where it is not negative at both ends, h has no zero in between, and where it is at one of them, none
before the zero of that line. No two zeros between two values can be overlooked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray

# The first interval that is looked at, and the most, as shares of its place.
FIRST, MOST = 0.1, 0.5
# An interval in which something may fall below zero is divided by so much.
DIVIDED = 8.0
# Intervals below this share of their place are none.
SHORTEST = 1e-15


class Values(NamedTuple):
    """P, N and their derivatives at one s, (m,) each."""

    above: Array
    below: Array
    above_slope: Array
    below_slope: Array


class Poles:
    """m functions with the same poles.

    Parameters
    ----------
    constants : ndarray (m,)
    residues : ndarray (m, r)
    levels : ndarray (r,)
        lambda, at least 0.
    """

    def __init__(self, constants: Array, residues: Array, levels: Array):
        self.constants, self.levels = constants, levels
        self._drift, self._origin = np.zeros(len(constants)), 0.0
        self._parts = np.concatenate([np.maximum(residues, 0.0), np.maximum(-residues, 0.0)])

    def at(self, s: float) -> Array:
        """The values (m,) at s."""
        values = self._values(s)
        return self.constants + values.above - values.below

    def pin(self, here: float, values: Array, there: float | None = None, then: Array | None = None) -> None:
        """Take off what rounding has left: add the lines that give the functions their true values.

        Parameters
        ----------
        here : float
        values : ndarray (m,)
            Those at `here`.
        there, then : float and ndarray (m,), optional
            Another place and the values there; without it a constant is added.
        """
        self._drift = np.zeros(len(self.constants))
        self.constants = self.constants + values - self.at(here)
        self._origin = here
        if there is not None and then is not None:
            self._drift = (then - self.at(there)) / (there - here)

    def _values(self, s: float) -> Values:
        inverse = 1.0 / (s + self.levels)
        parts = self._parts @ np.array([inverse, -inverse * inverse]).T
        m = len(self.constants)
        line = self._drift * (s - self._origin)  # which P may have: it stays convex
        return Values(parts[:m, 0] + line, parts[m:, 0], parts[:m, 1] + self._drift, parts[m:, 1])

    def first_below(self, start: float, stop: float) -> tuple[float, int]:
        """Where the first of the functions falls below zero on the way, and which; `stop` and -1 where none does.

        Parameters
        ----------
        start, stop : float
            Positive; either may be the larger.
        """
        here, way = start, 1.0 if stop > start else -1.0
        length, now = FIRST * start, self._values(start)
        while here != stop:
            height = self.constants + now.above - now.below
            if (height < 0).any():
                return here, int(height.argmin())
            length = min(length, MOST * here)
            there = stop if length >= abs(stop - here) else here + way * length
            then = self._values(there)
            low = self._least(now, then, there - here)
            unsafe = np.flatnonzero(low < 0)
            if 0 < len(unsafe) < len(low):  # the others are safe all the way
                reached, k = self._only(unsafe).first_below(here, there)
                if k >= 0:
                    return reached, int(unsafe[k])
            if len(unsafe) < len(low):
                here, now, length = there, then, 2.0 * length
                continue
            shares = height / (height - low)
            k = int(shares.argmin())
            if length <= SHORTEST * here:
                return here, k
            advance = float(shares[k]) * abs(there - here)
            length = max(2.0 * advance, abs(there - here) / DIVIDED)
            here += way * advance
            now = self._values(here)
        return stop, -1

    def _only(self, rows: Array) -> Poles:
        """Those of the functions."""
        other = object.__new__(Poles)
        other.constants, other.levels = self.constants[rows], self.levels
        other._drift, other._origin = self._drift[rows], self._origin
        other._parts = self._parts[np.concatenate([rows, rows + len(self.constants)])]
        return other

    def _least(self, now: Values, then: Values, step: float) -> Array:
        """The lower bound (m,) at the far end of an interval; 0 where another one says that all of it is safe."""
        low = self.constants + now.above + step * now.above_slope - then.below
        height = self.constants + then.above - then.below
        near = self.constants + then.above - step * then.above_slope - now.below
        return np.where((low < 0) & (height >= 0) & (near >= 0), 0.0, low)
