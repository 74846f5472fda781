"""AD-SVM: one prototype a class (or several), all of them as near to each other as the reduced hulls allow.

Prototype v_p = sum of u_i x_i over its samples, sum of u_i = 1, 0 <= u_i <= mu. The objective is 1/4 of the sum over
the linked pairs of their weight times their squared distance: with L the Laplacian of the graph of links,
H_ij = L[p_i, p_j] / 2 k(x_i, x_j) (Candel: SMO for the AD-SVM, 2011, equations 2.2.11 to 2.2.13; the sum of plain
distances in 2.2.7 is not what the dual there minimises). With two classes it is the mu-SVM (2.1.37 to 2.1.39).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from svmviz.clusters import kernel_kmeans
from svmviz.errors import InvalidProblemError
from svmviz.gram import KernelRows, kernel_rows
from svmviz.problem import DualProblem

Array = np.ndarray

RULES = ("thesis", "nearest")
# 1 / (1 / n) need not be n in floating point.
_SLACK = 1e-12


def prototype_counts(codes: Array, n_prototypes: int) -> Array:
    """Prototypes of each class (n_classes,): so many, but not more than the class has samples."""
    return np.minimum(n_prototypes, np.bincount(codes))


def smallest_mu(codes: Array, n_prototypes: int = 1) -> float:
    """The smallest feasible mu: 1 over the size of the smallest class. There its reduced hull is its mean.

    With several prototypes each needs samples of its own: 1 over the size of the smallest class divided by their
    number, rounded down.
    """
    return 1.0 / int((np.bincount(codes) // prototype_counts(codes, n_prototypes)).min())


def smallest_cluster(mu: float) -> int:
    """How many samples a prototype needs at this mu, for their weights to sum to 1."""
    return max(1, math.ceil(1.0 / mu * (1 - _SLACK)))


def check_mu(mu: float, codes: Array, n_prototypes: int = 1) -> float:
    """mu within its range, 1 where it is above 1.

    Raises
    ------
    InvalidProblemError
        When mu is below the smallest that is feasible, which the message names.
    """
    least = smallest_mu(codes, n_prototypes)
    if not mu >= least * (1 - _SLACK):
        share = f", which {n_prototypes} prototypes divide" if n_prototypes > 1 else ""
        raise InvalidProblemError(
            f"mu must be at least {least:.6g}, 1 over the size of the smallest class{share}, not {mu!r}."
        )
    return min(1.0, max(mu, least))


def divide(K: Array | KernelRows, codes: Array, mu: float, n_prototypes: int) -> tuple[Array, Array]:
    """Divide each class into a cluster for each of its prototypes, all of them large enough for mu.

    Parameters
    ----------
    K : ndarray (n, n) or KernelRows
        Gram matrix.
    codes : ndarray (n,) of int
        Class of each sample.
    mu : float
        Within its range for these classes; see `check_mu`.
    n_prototypes : int

    Returns
    -------
    prototype : ndarray (n,) of int
        Prototype of each sample, class by class.
    owner : ndarray (P,) of int
        Class of each prototype.
    """
    counts = prototype_counts(codes, n_prototypes)
    owner = np.repeat(np.arange(len(counts)), counts)
    prototype = (np.cumsum(counts) - counts)[codes]
    for r in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(codes == r)
        prototype[rows] += kernel_kmeans(kernel_rows(K).square(rows), int(counts[r]), smallest_cluster(mu))
    return prototype, owner


def class_links(n_classes: int, pair_weights: Array | None = None) -> Array:
    """Weights (n_classes, n_classes) of the links between classes: all 1, or those given.

    Parameters
    ----------
    n_classes : int
    pair_weights : ndarray (n_classes, n_classes), optional
        Symmetric and not negative; the diagonal is ignored.

    Raises
    ------
    InvalidProblemError
        For weights of another shape, negative ones, or when none is above 0.
    """
    try:
        weights = np.array(
            np.ones((n_classes, n_classes)) if pair_weights is None else pair_weights, dtype=float
        )
    except (TypeError, ValueError) as error:
        raise InvalidProblemError("pair_weights must be a table of numbers, one row a class.") from error
    if weights.shape != (n_classes, n_classes):
        raise InvalidProblemError(
            f"pair_weights must be a table of {n_classes} by {n_classes}, one row a class."
        )
    np.fill_diagonal(weights, 0.0)
    if not np.isfinite(weights).all() or (weights < 0).any() or not np.array_equal(weights, weights.T):
        raise InvalidProblemError("pair_weights must be symmetric, finite and not negative.")
    if not weights.any():
        raise InvalidProblemError("At least one pair of classes needs a weight above 0.")
    return weights


def laplacian(links: Array) -> Array:
    """diag(sum of the links) - links: positive semidefinite for links that are not negative."""
    return np.diag(links.sum(axis=1)) - links


def dual_problem(prototype: Array, mu: float, links: Array) -> DualProblem:
    """The dual; its indices are the samples, prototype by prototype.

    Of a prototype without links the objective says nothing: equal weights make it the mean of its samples.

    Parameters
    ----------
    prototype : ndarray (n,) of int
        The prototype of each sample, 0 to P - 1, each with at least one sample.
    mu : float
        Largest weight of a sample, `smallest_mu` to 1; above 1 counts as 1.
    links : ndarray (P, P)
        Weights between prototypes; 0 between those of one class.

    Raises
    ------
    InvalidProblemError
        When a prototype has no sample, or mu is below the smallest that is feasible, which the message names.
    """
    prototype = np.asarray(prototype, dtype=int)
    counts = np.bincount(prototype, minlength=len(links))
    if (counts == 0).any():
        raise InvalidProblemError("Every class (and every prototype of it) needs at least one sample.")
    bound = check_mu(mu, prototype)
    order = np.argsort(prototype, kind="stable")
    n = len(prototype)
    linked = (links.sum(axis=1) > 0)[prototype[order]]
    equal = 1.0 / counts[prototype[order]]
    return DualProblem(
        linear=np.zeros(n),
        lo=np.where(linked, 0.0, equal),
        hi=np.where(linked, bound, equal),
        sample=order,
        label=prototype[order],
        coupling=laplacian(links) / 2,
        group=prototype[order],
        sums=np.ones(len(links)),
    )


@dataclass(frozen=True)
class Prototypes:
    """The prototypes as combinations of the samples, and what the decision rules need of them.

    Attributes
    ----------
    coef : ndarray (P, n_samples)
        Row p holds the weights u of prototype p.
    products : ndarray (P, P)
        v_p'v_q.
    """

    coef: Array
    products: Array

    def at(self, samples: Array) -> Prototypes:
        """The same prototypes over these samples only, which must hold all that have a weight."""
        return Prototypes(self.coef[:, samples], self.products)

    @property
    def normals(self) -> Array:
        """Weights (P, n_samples) of w_p = v_p - mean(v), equation 2.2.16."""
        return self.coef - self.coef.mean(axis=0)

    @property
    def b(self) -> Array:
        """b_p = -w_p'mean(v), (P,), equation 2.2.17."""
        centred = self.products - self.products.mean(axis=0)
        return -centred.mean(axis=1)

    @property
    def rho(self) -> Array:
        """rho_p = |w_p|^2, (P,), equation 2.2.18."""
        means = self.products.mean(axis=0)
        return np.diagonal(self.products) - 2 * means + means.mean()

    def distances(self) -> Array:
        """Distances (P, P) between the prototypes."""
        own = np.diagonal(self.products)
        return np.sqrt(np.maximum(own[:, None] + own - 2 * self.products, 0.0))

    def scores(self, values: Array, rule: str) -> Array:
        """How much each prototype claims each sample, (n, P), from values k(x, x_i), (n, n_samples).

        "thesis" is w_p'(x - v_p), equation 2.2.20: with three or more its boundaries do not bisect the segments
        between prototypes. "nearest" has half the offset, and is largest for the nearest prototype.
        """
        return values @ self.normals.T + self.offsets(rule)

    def offsets(self, rule: str) -> Array:
        """What `scores` adds to w_p'x, (P,)."""
        return self.b - self.rho if rule == "thesis" else self.b - self.rho / 2

    def bisector(self) -> tuple[Array, float, float]:
        """Of two prototypes: what is zero halfway between them, f(x) = w'x + offset with w = v_1 - v_0.

        Returns
        -------
        coef : ndarray (n_samples,)
            Weights of w.
        offset : float
        level : float
            f is +-level where w'x is that of a prototype: there lie the lines that support the two hulls.
        """
        (offset_0, offset_1), distance = self.offsets("nearest"), self.distances()[0, 1]
        return self.coef[1] - self.coef[0], float(offset_1 - offset_0), float(distance**2 / 2)


def read(problem: DualProblem, z: Array, K: Array | KernelRows) -> Prototypes:
    """The prototypes of a solution z (n_dual,) over the Gram matrix K (n_samples, n_samples) or its rows."""
    coef = np.zeros((problem.n_groups, len(K)))
    coef[problem.group, problem.sample] = z
    used = np.flatnonzero(coef.any(axis=0))
    return Prototypes(coef, kernel_rows(K).times(coef[:, used], used) @ coef.T)


def means(prototype: Array, K: Array) -> Prototypes:
    """Every prototype as the mean of its samples, as where it has no link; the prototype (n,) of each sample."""
    mine = prototype == np.arange(prototype.max() + 1)[:, None]
    coef = mine / mine.sum(axis=1, keepdims=True)
    return Prototypes(coef, coef @ K @ coef.T)
