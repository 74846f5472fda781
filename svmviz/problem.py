"""The one quadratic program that every machine of this package is an instance of.

    min  1/2 z'Hz + p'z    over  lo <= z <= hi,  sum of z_i over each group g = t_g
    H_ij = M[l_i, l_j] k(x_m(i), x_m(j)) + [i = j] d_i

z are the signed multipliers, m maps a dual index to its sample, l to its label, M is a small positive
semidefinite coupling matrix and d an added diagonal. The indices of a group stand side by side.

This file knows all but the kernel: what is feasible, how far a point is from optimal, and the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from svmviz.errors import InvalidProblemError

Array = np.ndarray
Status = Literal["optimal", "capped", "no progress", "stationary"]

EPS = float(np.finfo(float).eps)


class Thresholds(NamedTuple):
    """What a group's gradients say of its multiplier nu; one entry a group.

    Attributes
    ----------
    up : ndarray (n_groups,)
        Smallest gradient among the indices that may grow (z < hi); inf when there is none.
    low : ndarray (n_groups,)
        Largest gradient among the indices that may shrink (z > lo); -inf when there is none.
    """

    up: Array
    low: Array


@dataclass(frozen=True)
class Certificate:
    """What a result is worth.

    Attributes
    ----------
    objective : float
        Value of the minimised quadratic program.
    gap : float
        The true optimum is at least `objective - gap`; inf where no such bound holds (an unbounded
        box, a kernel that is not positive semidefinite).
    violation : float
        Largest violation of the optimality conditions over the groups, in units of the gradient.
    status : "optimal", "capped", "no progress" or "stationary"
        The violation is within tol; the iteration limit came first; the objective no longer improves in
        floating point; the violation is within tol, but the kernel is not positive semidefinite, so the
        point is stationary and perhaps not a minimum.
    iterations : int
        Pairs moved.
    primal : float or None
        Value of the textbook primal at the best bias, where the machine has one.
    """

    objective: float
    gap: float
    violation: float
    status: Status
    iterations: int
    primal: float | None = None

    def with_primal(self) -> Certificate:
        """The same with the textbook primal filled in: at the best bias it is the dual plus the gap."""
        return replace(self, primal=self.dual + self.gap)

    @property
    def dual(self) -> float:
        """Value of the textbook dual, which is maximised: -objective."""
        return -self.objective

    @property
    def lower_bound(self) -> float:
        """What the optimum of the minimised program is not below."""
        return self.objective - self.gap


@dataclass(frozen=True)
class DualProblem:
    """The quadratic program without its kernel values.

    Parameters
    ----------
    linear : ndarray (n,)
        The linear term p.
    lo, hi : ndarray (n,)
        The box; -inf and inf are allowed.
    sample : ndarray (n,) of int, optional
        Sample of each dual index; default: index i is sample i.
    label : ndarray (n,) of int, optional
        Row of `coupling` of each dual index; default 0.
    coupling : ndarray (n_labels, n_labels), optional
        Symmetric and positive semidefinite; default [[1]].
    group : ndarray (n,) of int, optional
        Group of each dual index, 0, 1, 2 ... in this order; default: one group.
    sums : ndarray (n_groups,), optional
        What the multipliers of each group sum to; default 0.
    diagonal : ndarray (n,), optional
        Added to the diagonal of H; default 0.

    Raises
    ------
    InvalidProblemError
        When arrays do not fit together, hold NaN, or no z satisfies the box and the sums.
    """

    linear: Array
    lo: Array
    hi: Array
    sample: Array = None  # type: ignore[assignment]
    label: Array = None  # type: ignore[assignment]
    coupling: Array = None  # type: ignore[assignment]
    group: Array = None  # type: ignore[assignment]
    sums: Array = None  # type: ignore[assignment]
    diagonal: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        n = len(self.linear)
        self._fill("sample", np.arange(n), int)
        self._fill("label", np.zeros(n), int)
        self._fill("coupling", np.ones((1, 1)), float)
        self._fill("group", np.zeros(n), int)
        self._fill("diagonal", np.zeros(n), float)
        for name in ("linear", "lo", "hi"):
            self._fill(name, None, float)
        self._fill("sums", np.zeros(int(self.group[-1]) + 1 if n else 0), float)
        self._check()

    def _fill(self, name: str, default: Array | None, dtype: type) -> None:
        value = getattr(self, name)
        object.__setattr__(self, name, np.asarray(default if value is None else value, dtype=dtype))

    def _check(self) -> None:
        n = len(self.linear)
        if n == 0:
            raise InvalidProblemError("There are no samples to train on: add some.")
        for name in ("lo", "hi", "sample", "label", "group", "diagonal"):
            if getattr(self, name).shape != (n,):
                raise InvalidProblemError(f"{name} must have one entry for each of the {n} dual indices.")
        for name in ("linear", "lo", "hi", "sums", "diagonal", "coupling"):
            if np.isnan(getattr(self, name)).any():
                raise InvalidProblemError(f"{name} holds NaN: replace or remove those samples.")
        steps = np.diff(self.group)
        if self.group[0] != 0 or ((steps != 0) & (steps != 1)).any() or self.n_groups != len(self.sums):
            raise InvalidProblemError("Groups must be numbered 0, 1, 2 ... side by side, with one sum each.")
        if (self.lo > self.hi).any():
            raise InvalidProblemError("A lower bound exceeds its upper bound: raise C or the sample weights.")
        self._check_sums()

    def _check_sums(self) -> None:
        least, most = self._per_group(np.add, self.lo), self._per_group(np.add, self.hi)
        slack = 1e-12 * np.maximum(1.0, np.abs(self.sums))
        for g in np.flatnonzero((self.sums < least - slack) | (self.sums > most + slack)):
            raise InvalidProblemError(
                f"The multipliers of group {g} cannot sum to {self.sums[g]:g}: their bounds allow "
                f"{least[g]:g} to {most[g]:g}. Widen the bounds or change the sum."
            )

    @property
    def n(self) -> int:
        """Number of dual indices."""
        return len(self.linear)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group[-1]) + 1

    @property
    def starts(self) -> Array:
        """First dual index of each group."""
        return np.searchsorted(self.group, np.arange(self.n_groups))

    def _per_group(self, reduction: np.ufunc, values: Array) -> Array:
        return reduction.reduceat(values, self.starts)

    def start(self) -> Array:
        """A feasible z: zero where the box and the sums allow it, else filled in the order of the indices."""
        z = np.clip(0.0, self.lo, self.hi)
        missing = self.sums - self._per_group(np.add, z)
        room = np.where(missing[self.group] > 0, self.hi - z, z - self.lo)
        before = _cumulate_before(room, self.starts, self.group)
        z += np.sign(missing)[self.group] * np.clip(np.abs(missing)[self.group] - before, 0.0, room)
        return z

    def objective(self, z: Array, gradient: Array) -> float:
        """1/2 z'Hz + p'z, from the gradient Hz + p."""
        return 0.5 * float(z @ (gradient + self.linear))

    def thresholds(self, z: Array, gradient: Array) -> Thresholds:
        """The two thresholds of each group at z (n,) with its gradient (n,)."""
        up = np.where(z < self.hi, gradient, np.inf)
        low = np.where(z > self.lo, gradient, -np.inf)
        return Thresholds(self._per_group(np.minimum, up), self._per_group(np.maximum, low))

    def violation(self, z: Array, gradient: Array) -> float:
        """Largest max{g : z > lo} - min{g : z < hi} over the groups; 0 when the conditions hold."""
        up, low = self.thresholds(z, gradient)
        return max(0.0, float(np.max(low - up)))

    def gap(self, z: Array, gradient: Array) -> float:
        """Upper bound on objective(z) - optimum, for a positive semidefinite H.

        By convexity the distance is at most g'z - min g'z' over all feasible z', a linear program that one
        sort a group solves: fill the cheapest indices first. For C-SVC it is the textbook duality gap at
        the best bias. An allowance for rounding keeps it a bound in floating point.
        """
        if not (np.isfinite(self.lo).all() and np.isfinite(self.hi).all()):
            return math.inf
        order = np.lexsort((gradient, self.group))
        room = (self.hi - self.lo)[order]
        amount = (self.sums - self._per_group(np.add, self.lo))[self.group]
        before = _cumulate_before(room, self.starts, self.group)
        cheapest = self.lo[order] + np.clip(amount - before, 0.0, room)
        costs, best = gradient * z, gradient[order] * cheapest
        rounding = 4 * EPS * float(np.abs(costs).sum() + np.abs(best).sum())
        return max(0.0, float(costs.sum() - best.sum())) + rounding

    def restore_sums(self, z: Array) -> Array:
        """Give what rounding took from a group's sum back to its multiplier with the most room."""
        z = z.copy()
        residuals = self.sums - self._per_group(np.add, z)
        room = np.minimum(self.hi - z, z - self.lo)
        for g in np.flatnonzero(residuals):
            members = np.flatnonzero(self.group == g)
            k = members[np.argmax(room[members])]
            if room[k] > abs(residuals[g]):
                z[k] += residuals[g]
        return z

    def is_feasible(self, z: Array, tol: float = 1e-9) -> bool:
        """Whether z lies in the box exactly and its sums are met to tol (relative to the largest |z|)."""
        errors = np.abs(self._per_group(np.add, z) - self.sums)
        scale = max(1.0, float(np.abs(z).max()))
        return bool((z >= self.lo).all() and (z <= self.hi).all() and (errors <= tol * scale).all())


def _cumulate_before(amounts: Array, starts: Array, group: Array) -> Array:
    """Sum of the amounts that stand before each entry in its own group; infinity counts as the largest number."""
    finite = np.minimum(amounts, np.finfo(float).max / max(len(amounts), 1) / 4)
    total = np.cumsum(finite) - finite
    return total - total[starts][group]
