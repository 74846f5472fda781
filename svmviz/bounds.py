"""A bound on the optimum that an open box leaves finite, from the curvature of the added diagonal.

With H = G + diag(d) and G positive semidefinite, a step D from z changes the objective by at least the sum of
g_i D_i + 1/2 d_i D_i^2. Its sum over a group is zero, so a multiplier nu of the group may be taken off g:

    objective - optimum  <=  sum of max over lo_i - z_i <= D <= hi_i - z_i of  (nu - g_i) D - 1/2 d_i D^2

for any nu, each term by itself. The best nu is where the maximisers sum to zero. For the squared losses nu is -b, and
the bound is the textbook duality gap at the best bias b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

EPS = float(np.finfo(float).eps)
# The sum of the maximisers is piecewise linear in nu: Newton's steps reach its zero in a few, halving in this many.
LARGEST_ROUNDS = 80
# A sum this small, relative to the maximisers, is zero.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class SeparableBound:
    """The terms of the bound for a step D from z.

    Parameters
    ----------
    gradient, error : ndarray (n,)
        The gradient, and what it may be off by.
    low, high : ndarray (n,)
        The room of D: lo - z, not above 0, and hi - z, not below 0.
    diagonal : ndarray (n,)
        d.
    group, starts : ndarray (n,), (n_groups,)
        Group of each index, and the first index of each group.
    """

    gradient: Array
    error: Array
    low: Array
    high: Array
    diagonal: Array
    group: Array
    starts: Array

    def total(self) -> tuple[float, Array]:
        """The sum of the terms, with the rounding of this sum; and nu (n_groups,). inf where there is no bound."""
        least, most = self._range()
        if (least > most).any():
            return np.inf, np.zeros(len(self.starts))
        nu = np.clip(self._best(least, most), least, most)
        slack = self.error + 2 * EPS * (np.abs(self.gradient) + np.abs(nu[self.group]))
        # A term is convex in the gradient, so it is largest at one end of what the gradient can be.
        ends = [self._terms(nu, self.gradient + side * slack) for side in (-1, 1)]
        terms, sizes = np.maximum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
        total = float(terms.sum()) + (len(terms) + 8) * EPS * float(sizes.sum())
        return (total if np.isfinite(total) else np.inf), nu

    def _range(self) -> tuple[Array, Array]:
        """Between which nu (n_groups,) no term is infinite: what is open and has no curvature must not gain."""
        slack = self.error + 4 * EPS * np.abs(self.gradient)
        flat = self.diagonal == 0
        least = np.where(flat & np.isneginf(self.low), self.gradient + slack, -np.inf)
        most = np.where(flat & np.isposinf(self.high), self.gradient - slack, np.inf)
        return np.maximum.reduceat(least, self.starts), np.minimum.reduceat(most, self.starts)

    def _best(self, least: Array, most: Array) -> Array:
        """nu (n_groups,) at which the maximisers sum to zero."""
        up = np.minimum.reduceat(np.where(self.high > 0, self.gradient, np.inf), self.starts)
        low = np.maximum.reduceat(np.where(self.low < 0, self.gradient, -np.inf), self.starts)
        # Between the thresholds of an optimum nothing gains; a threshold that no index sets is left to the other.
        up, low = np.where(np.isinf(up), low, up), np.where(np.isinf(low), up, low)
        up, low = np.where(np.isinf(up), 0.0, up), np.where(np.isinf(low), 0.0, low)
        left, right = np.minimum(up, low), np.maximum(up, low)
        nu = 0.5 * (left + right)
        open_ = up < low
        left, right = np.maximum(left, least), np.minimum(right, most)
        for _ in range(LARGEST_ROUNDS):
            nu = np.where(open_, np.clip(nu, np.minimum(left, right), right), nu)
            total, slope, size = self._response(nu)
            left, right = np.where(total < 0, nu, left), np.where(total > 0, nu, right)
            # The bound is flat at its best nu: what is left of the sum counts for its square only.
            open_ &= np.abs(total) > NEGLIGIBLE * size
            open_ &= right - left > 2 * EPS * np.maximum(np.abs(left), np.abs(right))
            if not open_.any():
                break
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                newton = nu - total / slope
            inside = (newton > left) & (newton < right)
            nu = np.where(open_, np.where(inside, newton, 0.5 * (left + right)), nu)
        return nu

    def _response(self, nu: Array) -> tuple[Array, Array, Array]:
        """Sum of the maximisers over each group, how fast it grows with nu, and their sizes; all (n_groups,)."""
        step = self._maximisers(nu, self.gradient)
        inside = (self.diagonal > 0) & (step > self.low) & (step < self.high)
        slope = np.where(inside, 1.0 / np.where(inside, self.diagonal, 1.0), 0.0)
        total, slopes, size = np.add.reduceat([step, slope, np.abs(step)], self.starts, axis=1)
        return total, slopes, size

    def _maximisers(self, nu: Array, gradient: Array) -> Array:
        """D (n,) that maximises each term."""
        slope = nu[self.group] - gradient
        flat = self.diagonal == 0
        with np.errstate(over="ignore"):
            step = slope / np.where(flat, 1.0, self.diagonal)
        step = np.where(flat, np.where(slope == 0, 0.0, np.copysign(np.inf, slope)), step)
        return np.clip(step, self.low, self.high)

    def _terms(self, nu: Array, gradient: Array) -> tuple[Array, Array]:
        """The terms (n,), and the sizes of what they are made of."""
        step = self._maximisers(nu, gradient)
        with np.errstate(over="ignore", invalid="ignore"):
            gain = (nu[self.group] - gradient) * step
            loss = 0.5 * self.diagonal * step**2
            terms = gain - loss
        return np.where(np.isnan(terms), np.inf, terms), np.abs(gain) + loss
