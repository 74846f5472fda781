"""Reduced convex hulls: what they look like, where two are nearest, and from which mu on they meet.

The reduced convex hull of n points is all sums u_i x_i with sum of u = 1 and 0 <= u <= mu: the convex hull at
mu = 1, the mean alone at mu = 1/n (Bennett and Bredensteiner: Duality and geometry in SVM classifiers, 2000).
In direction d it reaches as far as the points that lie farthest in d, each with weight mu until the weights sum
to 1. All here is built on that support function.

A linear map commutes with the reduction: the image of a reduced hull is the reduced hull of the image. So the
hulls in the feature space of any kernel have an exact shadow in a plane; `feature_plane` and `prototype_plane`
choose one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from svmviz.errors import InvalidProblemError
from svmviz.problem import EPS, LARGEST
from svmviz.projection import principal_components

Array = np.ndarray

# What a hull may be off by, and what does not count as a corner, in units of the spread of the points (along
# each coordinate): well above the rounding of a sum over many points, far below what anyone can see.
TOL = 1e-12
# Directions asked first. They are close together, so that even at the tip of a needle no direction is far from
# one whose support is known.
FIRST_DIRECTIONS = 32
# Scores held at once: (directions) x (points).
BLOCK = 2_000_000


@dataclass(frozen=True)
class ReducedHull:
    """A reduced convex hull in the plane and what it is made of.

    Attributes
    ----------
    vertices : ndarray (v, 2)
        Counter-clockwise, none twice and none between its neighbours; one for a point, two for a segment.
    weights : ndarray (v, n)
        Row i makes vertex i: weights @ points is vertices. Each is from 0 to mu; each row sums to 1.
    """

    vertices: Array
    weights: Array


@dataclass(frozen=True)
class NearestPoints:
    """A point of one hull and a point of another that are nearest to each other.

    Attributes
    ----------
    a, b : ndarray (2,)
        The two points; where the hulls overlap, the same point, which both contain.
    distance : float
        From a to b; 0 where the hulls overlap.
    overlap : bool
        Whether the hulls have a point in common, if only a corner. Then no line separates them.
    weights_a : ndarray (n_a,)
        Weights on the first hull's samples that make a.
    weights_b : ndarray (n_b,)
        Weights on the second hull's samples that make b.
    """

    a: Array
    b: Array
    distance: float
    overlap: bool
    weights_a: Array
    weights_b: Array


@dataclass(frozen=True)
class _Reduction:
    """How mu spreads a weight of 1 over n points: to the first `full` mu each, to the next the rest."""

    mu: float
    full: int
    rest: float

    @classmethod
    def of(cls, mu: Any, n: int) -> _Reduction:
        if isinstance(mu, bool) or not isinstance(mu, (int, float, np.integer, np.floating)) or not mu > 0:
            raise InvalidProblemError(f"mu must be a number from 1/n to 1, not {mu!r}.")
        # 1/n is often reached by another way than dividing 1 by n.
        if mu * n < 1 - 1e-12:
            raise InvalidProblemError(
                f"mu = {mu:.6g} is too small for {n} points, whose weights cannot sum to 1: "
                f"choose a mu of at least 1/{n}."
            )
        mu = min(max(float(mu), 1 / n), 1.0)
        # At mu = 1/k exactly k points share the weight, on whichever side of k rounding puts 1/mu.
        full = min(math.ceil((1 / mu) * (1 - 4 * EPS)) - 1, n - 1)
        return cls(mu, full, min(1 - full * mu, mu))

    def weigh(self, scores: Array) -> Array:
        """Weights (d, n) of the points that reach farthest by their scores (d, n), one row a direction.

        The points at the threshold share what is left: at most mu each, since they are enough to take it.
        """
        last = scores.shape[1] - 1 - self.full
        threshold = np.partition(scores, last, axis=1)[:, last : last + 1]
        above, level = scores > threshold, scores == threshold
        rest = 1 - self.mu * np.count_nonzero(above, axis=1, keepdims=True)
        shares = np.minimum(rest / np.count_nonzero(level, axis=1, keepdims=True), self.mu)
        return self.mu * above + shares * level

    def reach(self, scores: Array) -> Array:
        """The largest weighted sum (d,) of the scores (d, n)."""
        last = scores.shape[1] - 1 - self.full
        ordered = np.partition(scores, last, axis=1)
        return self.mu * ordered[:, last + 1 :].sum(axis=1) + self.rest * ordered[:, last]


@dataclass(frozen=True)
class _Frame:
    """Points (n, d) moved to the middle of their box and scaled to about -1..1 along each coordinate.

    Reduced hulls move and stretch with their points; so neither a far origin nor a coordinate in other units
    costs accuracy. The scales are powers of two: scaling itself does not round.
    """

    centre: Array
    scale: Array
    local: Array

    @classmethod
    def of(cls, points: Array) -> _Frame:
        least, most = points.min(axis=0), points.max(axis=0)
        centre = least + (most - least) / 2
        local = points - centre
        _, exponent = np.frexp(np.abs(local).max(axis=0))
        scale = np.ldexp(1.0, np.maximum(exponent, -1000))
        return cls(centre, scale, local / scale)

    def tolerance(self, tol: float) -> Array:
        """Tol along each local coordinate (d,), or what rounding makes of the restored ones if that is more."""
        return np.maximum(max(tol, TOL), 4 * EPS * np.abs(self.centre) / self.scale)

    def restore(self, local: Array) -> Array:
        """Where local coordinates (m, d) lie among the points."""
        return self.centre + local * self.scale


def support(points: Array, mu: float, directions: Array) -> Array:
    """How far the reduced convex hull reaches: the largest d'x over its points x.

    Parameters
    ----------
    points : ndarray (n, dim)
        In any number of dimensions.
    mu : float
        Largest weight of a point, from 1/n to 1; more than 1 counts as 1.
    directions : ndarray (d, dim)
        Of any length; the result is in units of that length times those of the points.

    Returns
    -------
    ndarray (d,)

    Raises
    ------
    InvalidProblemError
        When mu is below 1/n, or the arrays hold no points, no finite numbers or do not fit together.
    """
    points = _check_points(points)
    reduction = _Reduction.of(mu, len(points))
    directions = _check_points(directions, "directions")
    if directions.shape[1] != points.shape[1]:
        raise InvalidProblemError("directions must have as many coordinates as the points.")
    centre = _Frame.of(points).centre
    local = points - centre
    parts = [reduction.reach(directions[block] @ local.T) for block in _blocks(len(directions), len(points))]
    return directions @ centre + np.concatenate(parts)


def reduced_hull(points: Array, mu: float, tol: float = TOL) -> Array:
    """The corners of the reduced convex hull of points in the plane.

    Parameters
    ----------
    points : ndarray (n, 2)
        May coincide or lie on a line.
    mu : float
        Largest weight of a point, from 1/n (the mean alone) to 1 (the convex hull); more than 1 counts as 1.
    tol : float, default (and at least) 1e-12
        What the hull may be off by, relative to the spread of the points. The hull of many thousand points has
        too many corners to list all of them: 1e-4 is enough to draw it.

    Returns
    -------
    ndarray (v, 2)
        Counter-clockwise, none twice and none between its neighbours; one for a point, two for a segment.

    Raises
    ------
    InvalidProblemError
        When mu is below 1/n, or points is not a table (n, 2) of finite numbers with n >= 1.
    """
    frame = _Frame.of(_check_plane(points))
    return frame.restore(_corners(frame, _Reduction.of(mu, len(frame.local)), tol))


def weighted_hull(points: Array, mu: float, tol: float = TOL) -> ReducedHull:
    """The corners of the reduced convex hull, each with the weights on the points that make it.

    Parameters and errors are those of `reduced_hull`; holds a table (v, n) of weights.

    Returns
    -------
    ReducedHull
    """
    frame = _Frame.of(_check_plane(points))
    reduction = _Reduction.of(mu, len(frame.local))
    # Asked in the middle of the directions in which it is the farthest, a corner has no rival.
    directions = _bisectors(_corners(frame, reduction, tol))
    weights = reduction.weigh(directions @ frame.local.T)
    corners = weights @ frame.local
    # Corners that hardly are ones may still find the same.
    kept = _needed(corners, frame.tolerance(tol))
    return ReducedHull(frame.restore(corners[kept]), weights[kept])


def _corners(frame: _Frame, reduction: _Reduction, tol: float) -> Array:
    """Corners (v, 2) of the reduced hull, in the local coordinates of the frame.

    An inner polygon grows: each edge is asked once how far the hull reaches beyond it; if it does, the point
    that reaches farthest comes in between. An edge that nothing lies beyond is an edge of the hull.
    """
    local, tol = frame.local, max(tol, TOL)
    angles = np.arange(FIRST_DIRECTIONS) * (2 * np.pi / FIRST_DIRECTIONS)
    corners = _farthest(local, reduction, np.column_stack([np.cos(angles), np.sin(angles)]))
    unasked = np.arange(len(corners))
    while len(unasked):
        ends = corners[(unasked + 1) % len(corners)]
        edges = ends - corners[unasked]
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        long = lengths > tol
        unasked, ends, edges = unasked[long], ends[long], edges[long] / lengths[long, None]
        normals = np.column_stack([edges[:, 1], -edges[:, 0]])
        found = _farthest(local, reduction, normals)
        gain = np.minimum(_dots(normals, found - ends), _dots(normals, found - corners[unasked]))
        beyond = gain > tol
        after = unasked[beyond] + 1
        corners = np.insert(corners, after, found[beyond], axis=0)
        # The k-th point that came in moved all later ones by k; both edges it ends are new.
        came = after + np.arange(len(after))
        unasked = np.column_stack([came - 1, came]).ravel()
    return corners[_needed(corners, frame.tolerance(tol))]


def _farthest(local: Array, reduction: _Reduction, directions: Array) -> Array:
    """A point of the reduced hull that lies farthest in each direction, (d, 2)."""
    parts = [
        reduction.weigh(directions[block] @ local.T) @ local for block in _blocks(len(directions), len(local))
    ]
    return np.concatenate(parts) if parts else np.empty((0, 2))


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows that hold at most `BLOCK` numbers each, if a row has `width`."""
    step = max(1, BLOCK // width)
    return (slice(first, first + step) for first in range(0, count, step))


def _needed(corners: Array, tol: Array) -> Array:
    """Indices of a polygon's corners without those within tol, (2,), of the segment between their neighbours."""
    kept = np.arange(len(corners))
    while len(kept) > 1:
        here = corners[kept]
        before, after = np.roll(here, 1, axis=0), np.roll(here, -1, axis=0)
        along = _fractions(before, after - before, here)
        off = here - before - along[:, None] * (after - before)
        # Never two neighbours at once: each may be needless only because of the other.
        dropped: list[int] = []
        for i in np.flatnonzero((np.abs(off) <= tol).all(axis=1)).tolist():
            beside = bool(dropped) and (i == dropped[-1] + 1 or (dropped[0] == 0 and i == len(kept) - 1))
            if not beside:
                dropped.append(i)
        if not dropped:
            break
        kept = np.delete(kept, dropped)
    return kept


def _bisectors(corners: Array) -> Array:
    """A direction (v, 2) for each corner of a polygon, in the middle of those in which it is the farthest."""
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    edges = edges / np.where(lengths > 0, lengths, 1.0)[:, None]
    before = np.roll(edges, 1, axis=0)
    # Both halves point along the bisector. The normals fade at the end of a needle, the difference of the edges
    # at a corner that hardly turns; never both.
    turn = before + edges
    return np.column_stack([turn[:, 1], -turn[:, 0]]) + (before - edges)


def nearest_points(a: Array | ReducedHull, b: Array | ReducedHull) -> NearestPoints:
    """The points of two convex polygons, or of two reduced hulls, that are nearest to each other.

    Exact: the differences of their points fill one convex polygon, whose edges are the edges of both in order
    of direction; its point nearest to the origin is the shortest way from one hull to the other.

    Parameters
    ----------
    a, b : ReducedHull, or ndarray (n, 2)
        Of an array the convex hull is taken.

    Returns
    -------
    NearestPoints
        Hulls that are no farther apart than rounding (1e-12 of their size) touch, which counts as overlapping.

    Raises
    ------
    InvalidProblemError
        When an array is not a table (n, 2) of finite numbers with n >= 1.
    """
    a, b = _as_hull(a), _as_hull(b)
    i, j = _difference(a.vertices, b.vertices)
    corners = a.vertices[i] - b.vertices[j]
    both = np.concatenate([a.vertices, b.vertices])
    scale = _Frame.of(both).scale
    # Whether they meet does not depend on the units of the coordinates; how far they are apart does.
    touching = TOL + 4 * EPS * np.abs(both).max(axis=0) / scale
    common = _make_origin(corners / scale, touching)
    share = _make_foot(corners / scale.max())[0] if common is None else common
    share_a, share_b = np.bincount(i, share, len(a.vertices)), np.bincount(j, share, len(b.vertices))
    point_a, point_b = share_a @ a.vertices, share_b @ b.vertices
    if common is not None:
        point_a = point_b = (point_a + point_b) / 2
    distance = float(np.hypot(*(point_a - point_b)))
    return NearestPoints(
        point_a, point_b, distance, common is not None, share_a @ a.weights, share_b @ b.weights
    )


def overlap(a: Array | ReducedHull, b: Array | ReducedHull) -> bool:
    """Whether two convex polygons, or two reduced hulls, have a point in common.

    Parameters and errors are those of `nearest_points`. If they have, no line separates them.
    """
    return nearest_points(a, b).overlap


def critical_mu(points_a: Array, points_b: Array) -> float | None:
    """The mu at which two reduced hulls first touch, exactly: below it they are apart, from it on they meet.

    The hulls grow with mu, so there is one such value. With u and v in units of mu, and t = 1/mu, it is the
    optimum of a linear program: the largest t = sum of u_i = sum of v_j with sum u_i a_i = sum v_j b_j and
    0 <= u, v <= 1. At its optimal vertex at most dim + 1 of the weights are strictly between 0 and 1; they are
    solved for anew from the equations, so that the result is exact but for rounding.

    Parameters
    ----------
    points_a : ndarray (n_a, dim)
        In any number of dimensions. For a kernel, coordinates that have its inner products, such as those columns
        of `svmviz.projection.principal_components(K, len(K))` that are more than rounding: each coordinate counts
        in units of its own spread, so that a column of rounded zeros keeps hulls apart.
    points_b : ndarray (n_b, dim)

    Returns
    -------
    float or None
        inf: the hulls never touch, not even the whole convex hulls at mu = 1. (In three or more dimensions a gap
        of less than about 1e-9 of the spread passes for none. In the plane, where the points lie so nearly on a
        slanted line that the program cannot tell, the hulls are asked, which touch at 1e-12 of their size.)
        None: there is no mu at which they are apart; they meet at the smallest that both classes allow,
        1 / min(n_a, n_b), where the smaller class is only its mean.

    Raises
    ------
    InvalidProblemError
        When the arrays hold no points, or no finite numbers, or differ in their number of coordinates.
    """
    points_a, points_b = _check_points(points_a), _check_points(points_b)
    if points_a.shape[1] != points_b.shape[1]:
        raise InvalidProblemError("Both classes must have the same number of coordinates.")
    n_a, smallest = len(points_a), min(len(points_a), len(points_b))
    # The linear program counts tiny gaps as none; in the plane the hulls themselves tell.
    if points_a.shape[1] == 2 and not overlap(points_a, points_b):
        return math.inf
    local = _Frame.of(np.concatenate([points_a, points_b])).local
    if points_a.shape[1] == 2 and _is_needle(local):
        return _bisected_touch(points_a, points_b)
    sides = np.where(np.arange(len(local)) < n_a, 1.0, -1.0)
    columns = np.vstack([local.T * sides, sides])
    found = linprog(
        -(sides > 0).astype(float),
        A_eq=columns,
        b_eq=np.zeros(len(columns)),
        bounds=(0, 1),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise InvalidProblemError("The points are too close to degenerate to tell where the hulls meet.")
    total = math.fsum(_exact_vertex(columns, found.x)[:n_a])
    # Sums that are equal and not zero can be scaled up until a weight is 1: there is no t between 0 and 1.
    if total < 0.5:
        return math.inf
    return None if total >= smallest * (1 - TOL) else min(1 / total, 1.0)


def _is_needle(local: Array) -> bool:
    """Whether points (n, 2) lie so nearly on a slanted line, though not on it, that a program sees them on it."""
    lengths = np.linalg.svd(local - local.mean(axis=0), compute_uv=False)
    return bool(1e-13 * lengths[0] < lengths[-1] < 1e-6 * lengths[0])


def _bisected_touch(points_a: Array, points_b: Array) -> float | None:
    """The mu at which two reduced hulls that meet at mu = 1 first touch as `overlap` sees it, by bisection."""
    apart, meeting = 1 / min(len(points_a), len(points_b)), 1.0

    def meet(mu: float) -> bool:
        return overlap(weighted_hull(points_a, mu), weighted_hull(points_b, mu))

    if meet(apart):
        return None
    while meeting - apart > TOL * meeting:
        middle = 0.5 * (apart + meeting)
        apart, meeting = (apart, middle) if meet(middle) else (middle, meeting)
    return meeting


def feature_plane(K: Array, u_plus: Array, u_minus: Array) -> Array:
    """Samples projected on a plane in feature space that shows the true distance between two prototypes.

    The first axis runs from v- to v+, with v = sum of u_i phi(x_i); the second is the direction of the largest
    spread that is left. The reduced hulls of the projected samples are the exact shadow of the hulls in feature
    space. If v+ and v- are the points of the hulls that are nearest to each other, the gap along the first axis
    is the true distance, and the vertical line through the origin separates where the decision does.

    Parameters
    ----------
    K : ndarray (n, n)
        Inner products of the samples in feature space.
    u_plus, u_minus : ndarray (n,)
        Coefficients of v+ and v- on all samples; the sum of each is 1.

    Returns
    -------
    ndarray (n, 2)
        The origin is midway between v- and v+. Where they coincide (the hulls overlap), no axis is special:
        both are directions of the largest spread.

    Raises
    ------
    InvalidProblemError
        When the arrays do not fit together or hold no finite numbers.
    """
    return prototype_plane(K, np.stack([_check_coefficients(u_plus), _check_coefficients(u_minus)]))


def prototype_plane(K: Array, coefficients: Array) -> Array:
    """Samples projected on the plane in feature space through prototypes, such as those of AD-SVM.

    Three prototypes lie in it, and their distances in it are the true ones; of more, it is the plane in which
    their spread is the largest. Axes that the prototypes leave open (two of them, or some that coincide) go
    along the largest spread of the samples that is left.

    Parameters
    ----------
    K : ndarray (n, n)
        Inner products of the samples in feature space.
    coefficients : ndarray (k, n)
        Of each prototype on all samples; each row sums to 1.

    Returns
    -------
    ndarray (n, 2)
        Along orthonormal axes; `coefficients` times it is where the prototypes are. The origin is their mean. So
        that the picture does not jump when they move, the first is on the right, level with the origin (of more
        than three: as seen in the plane), the second above it if they do not lie on a line.

    Raises
    ------
    InvalidProblemError
        When the arrays do not fit together or hold no finite numbers.
    """
    K = _check_points(K, "K")
    coefficients = np.atleast_2d(_check_coefficients(coefficients))
    if K.shape[0] != K.shape[1] or coefficients.shape[1] != len(K):
        raise InvalidProblemError("K must be square, with one coefficient a prototype for each of its rows.")
    from_mean = coefficients - coefficients.mean(axis=0)
    spread, mixes = np.linalg.eigh(from_mean @ K @ from_mean.T)
    # Squares of lengths below this are rounding of the sums that they are.
    rounding = 4 * len(K) * EPS * float((np.abs(from_mean) @ np.abs(K) @ np.abs(from_mean.T)).max())
    kept = [r for r in range(len(spread) - 1, -1, -1) if spread[r] > rounding][:2]
    shown = K @ from_mean.T @ (mixes[:, kept] / np.sqrt(spread[kept]))
    shown = _turned(shown, from_mean @ shown)
    plane = shown
    if len(kept) < 2:
        plane = np.column_stack([shown, principal_components(K - shown @ shown.T, 2 - len(kept))])
    return plane - coefficients.mean(axis=0) @ plane


def _turned(shown: Array, prototypes: Array) -> Array:
    """Samples (n, axes) turned, and mirrored, so that the first prototype is on the right, the second above."""
    axes = shown.shape[1]
    if axes == 0:
        return shown
    first = prototypes[0]
    if axes == 2 and first.any():
        turn = np.array([[first[0], -first[1]], [first[1], first[0]]]) / np.hypot(*first)
        shown, prototypes = shown @ turn, prototypes @ turn
    heights = prototypes[np.arange(axes), np.arange(axes)]
    return shown * np.where(heights < 0, -1.0, 1.0)


def _exact_vertex(columns: Array, x: Array) -> Array:
    """The vertex of columns @ x = 0, 0 <= x <= 1 that x is near to.

    What is at a bound is put on it, the few others are solved for. How near a bound counts as at it is tried from
    wide to narrow until the equations hold.
    """
    for near in (1e-6, 1e-8, 1e-10, 0.0):
        free = np.minimum(x, 1 - x) > near
        vertex = np.where(free, x, np.round(x))
        for _ in range(2):  # the second time for the rounding of the first
            residual = columns @ vertex
            vertex[free] -= np.linalg.lstsq(columns[:, free], residual)[0]
        off = float(np.abs(columns @ vertex).max())
        if off <= TOL * max(1.0, float(np.abs(vertex).sum())) and np.abs(vertex - 0.5).max() <= 0.5 + TOL:
            return np.clip(vertex, 0.0, 1.0)
    return x


def _difference(a: Array, b: Array) -> tuple[Array, Array]:
    """Corners a[i] - b[j], counter-clockwise, of all differences of two convex polygons, as (i, j)."""
    first_a = np.lexsort((a[:, 0], a[:, 1]))[0]
    first_b = np.lexsort((b[:, 0], b[:, 1]))[-1]
    angles_a, angles_b = _edge_angles(a, int(first_a)), _edge_angles(-b, int(first_b))
    from_b = np.repeat([0, 1], [len(angles_a), len(angles_b)])
    step = from_b[np.argsort(np.concatenate([angles_a, angles_b]), kind="stable")]
    # The corner before each edge; the last edge leads back to the first corner.
    i = (first_a + np.cumsum(step == 0) - (step == 0)) % len(a)
    j = (first_b + np.cumsum(step == 1) - (step == 1)) % len(b)
    return (i, j) if len(step) else (np.array([first_a]), np.array([first_b]))


def _edge_angles(polygon: Array, first: int) -> Array:
    """Directions of the edges in 0..2 pi, never falling, from the lowest (of these leftmost) corner on."""
    if len(polygon) == 1:
        return np.empty(0)
    edges = np.roll(polygon, -1, axis=0) - polygon
    angles = np.arctan2(edges[:, 1], edges[:, 0]) % (2 * np.pi)
    return np.maximum.accumulate(np.roll(angles, -first))


def _make_foot(corners: Array) -> tuple[Array, Array, int]:
    """The point of a polygon's edges nearest to the origin: shares (v,) of the corners in it, itself, its edge."""
    following = np.roll(corners, -1, axis=0)
    along = _fractions(corners, following - corners, np.zeros(2))
    feet = corners + along[:, None] * (following - corners)
    edge = int(np.hypot(feet[:, 0], feet[:, 1]).argmin())
    return _share(len(corners), edge, along[edge]), feet[edge], edge


def _make_origin(corners: Array, touching: Array) -> Array | None:
    """Shares (v,) of the corners of a convex polygon that make the origin; None when it is outside.

    It counts as inside when the edges come as near as touching, (2,), along each coordinate.
    """
    share, foot, edge = _make_foot(corners)
    if (np.abs(foot) <= touching).all():
        return share
    distance = float(np.hypot(*foot))
    towards = foot / distance
    heights = corners @ towards
    if _is_beyond(corners, towards, edge):
        return None
    # The line from the foot through the origin leaves the polygon on the other side.
    aside = corners @ np.array([-towards[1], towards[0]])
    change = aside - np.roll(aside, -1)
    crossing = (aside * np.roll(aside, -1) <= 0) & (change != 0)
    along = np.divide(aside, change, out=np.zeros_like(aside), where=crossing)
    height = np.where(crossing, heights + along * (np.roll(heights, -1) - heights), np.inf)
    far = int(height.argmin())
    back = -float(height[far])
    if back <= 0:
        return share
    return (back * share + distance * _share(len(corners), far, along[far])) / (back + distance)


def _is_beyond(corners: Array, towards: Array, edge: int) -> bool:
    """Whether a line separates all corners of a convex polygon from the origin.

    The foot on the given edge lies in the direction towards. When it is near, rounding turns that direction
    too much for far corners; then the edges around have better ones.
    """
    around = (edge + np.arange(-8, 9)) % len(corners)
    edges = corners[(around + 1) % len(corners)] - corners[around]
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    inwards = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.where(lengths > 0, lengths, 1.0)[:, None]
    lowest = (np.vstack([towards, inwards]) @ corners.T).min(axis=1)
    return bool(lowest.max() > 0)


def _share(count: int, edge: int, along: float) -> Array:
    """Shares (count,) of the corners of a polygon in a point of an edge, a fraction along it."""
    share = np.zeros(count)
    share[edge] += 1 - along
    share[(edge + 1) % count] += along
    return share


def _fractions(starts: Array, edges: Array, points: Array) -> Array:
    """Where on each segment (v, 2), from 0 to 1, the point nearest to the given one lies."""
    lengths = _dots(edges, edges)
    along = _dots(points - starts, edges)
    return np.clip(np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0), 0.0, 1.0)


def _dots(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]


def _as_hull(hull: Array | ReducedHull) -> ReducedHull:
    return hull if isinstance(hull, ReducedHull) else weighted_hull(hull, 1.0)


def _check_points(points: Any, name: str = "points") -> Array:
    """A table (n, dim) of finite floats, n >= 1; InvalidProblemError otherwise."""
    points = _check_coefficients(points, name)
    if points.ndim != 2 or points.size == 0:
        raise InvalidProblemError(f"{name} must be a table with at least one row and one column.")
    return points


def _check_plane(points: Any) -> Array:
    points = _check_points(points)
    if points.shape[1] != 2:
        raise InvalidProblemError(
            f"A hull is drawn in the plane: points must have 2 coordinates, not {points.shape[1]}."
        )
    return points


def _check_coefficients(values: Any, name: str = "coefficients") -> Array:
    """The values as finite floats; InvalidProblemError otherwise."""
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblemError(f"{name} must hold numbers only.") from error
    if not (np.abs(values) <= LARGEST).all():
        raise InvalidProblemError(f"{name} holds NaN or numbers beyond {LARGEST:g}: replace or remove those.")
    return values
