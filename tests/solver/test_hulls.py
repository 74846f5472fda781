"""Reduced hulls against their support function, SciPy's hulls, and independent solvers."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import optimum
from scipy.optimize import brentq, linprog
from scipy.spatial import ConvexHull

from svmviz import DualProblem, InvalidProblemError
from svmviz.gram import gram_matrix
from svmviz.hessian import Hessian
from svmviz.hulls import (
    _exact_vertex,
    critical_mu,
    feature_plane,
    nearest_points,
    overlap,
    prototype_plane,
    reduced_hull,
    support,
    weighted_hull,
)
from svmviz.kernels import GaussianKernel, LinearKernel
from svmviz.smo.loop import Options, minimize

EPS = np.finfo(float).eps
SEEDS = st.integers(0, 2**32 - 1)
ANGLES = np.arange(720) * (np.pi / 360)
DIRECTIONS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
KINDS = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "uniform": lambda rng, n: rng.uniform(size=(n, 2)),
    "two far clusters": lambda rng, n: rng.normal(size=(n, 2)) + 100 * rng.integers(0, 2, size=(n, 1)),
    "one outlier": lambda rng, n: np.vstack([rng.normal(size=(n - 1, 2)), [[1e4, 3e3]]]),
    "coincident": lambda rng, n: np.tile(rng.normal(size=(1, 2)), (n, 1)),
    "two places": lambda rng, n: rng.normal(size=(2, 2))[rng.integers(0, 2, n)],
    "duplicates": lambda rng, n: rng.normal(size=(max(1, n // 3), 2))[rng.integers(0, max(1, n // 3), n)],
    "horizontal": lambda rng, n: np.column_stack([rng.normal(size=n), np.full(n, 0.3)]),
    "vertical": lambda rng, n: np.column_stack([np.full(n, -7.1), rng.normal(size=n)]),
    "on a line": lambda rng, n: rng.normal(size=(n, 1)) * rng.normal(size=(1, 2)) + rng.normal(size=(1, 2)),
    "integers on a line": lambda rng, n: rng.integers(-3, 4, size=(n, 1)) * np.array([[3.0, 1.0]]),
    "nearly on a line": lambda rng, n: rng.normal(size=(n, 1)) + 1e-9 * rng.normal(size=(n, 2)),
    "small grid": lambda rng, n: rng.integers(0, 4, size=(n, 2)).astype(float),
    "grid": lambda rng, n: rng.integers(0, 40, size=(n, 2)).astype(float),
    "square of a grid": lambda rng, n: np.argwhere(np.ones((math.isqrt(n), math.isqrt(n)))) / 10,
    "circle": lambda rng, n: DIRECTIONS[(720 * np.arange(n)) // n],
    "one coordinate x 1e6": lambda rng, n: rng.normal(size=(n, 2)) * [1e6, 1.0],
    "line, one coordinate x 1e6": lambda rng, n: rng.normal(size=(n, 1)) * [1.0, 1e6],
    "far away": lambda rng, n: rng.normal(size=(n, 2)) + 1e8,
    "grid far away": lambda rng, n: rng.integers(0, 5, size=(n, 2)) + 1e8,
    "tiny": lambda rng, n: 1e-200 * rng.normal(size=(n, 2)),
    "huge": lambda rng, n: 1e50 * rng.normal(size=(n, 2)),
}


def point_set(rng, kind=None, n=None):
    kind = kind or rng.choice(list(KINDS))
    return KINDS[kind](rng, n or int(rng.choice([1, 2, 3, 4, 7, 20, 60, 150, 300])))


def some_mu(rng, n):
    """Often exactly 1/k, often at an end."""
    k = int(rng.integers(1, n + 1))
    return float(
        rng.choice([1.0, 1 / n, 1 / k, rng.uniform(1 / n, 1), 2 / (2 * k - 1) if k > 1 else 1.0, 1.7])
    )


def plain_support(points, mu, directions):
    """By the definition: sort, fill from the top."""
    mu = min(mu, 1.0)
    scores = np.sort(directions @ points.T, axis=1)[:, ::-1]
    before = mu * np.arange(len(points))
    return scores @ np.clip(1 - before, 0.0, mu)


def spread(points):
    """Size of the points along each coordinate, and of what rounding does to them."""
    size = np.ptp(points, axis=0)
    size[size == 0] = max(float(np.abs(points).max()), 1e-300)
    return size, 8 * EPS * np.abs(points).max(axis=0) / size


def check_hull(points, mu, hull):
    size, rounding = spread(points)
    vertices, centre = (hull.vertices - points[0]) / size, (points - points[0]) / size
    # Both with the axes as they are and with each coordinate in units of its own spread.
    for directions in (DIRECTIONS, DIRECTIONS * size / size.max()):
        reach = (directions @ vertices.T).max(axis=1)
        off = np.abs(reach - plain_support(centre, mu, directions))
        assert (off <= 1e-10 + np.abs(directions) @ rounding).all()
    assert hull.weights.shape == (len(hull.vertices), len(points))
    assert (hull.weights >= 0).all()
    assert (hull.weights <= min(mu, 1.0) * (1 + 1e-12)).all()
    np.testing.assert_allclose(hull.weights.sum(axis=1), 1, atol=1e-13)
    assert (np.abs(hull.weights @ centre - vertices) <= 1e-12 + rounding).all()
    check_corners(vertices)


def check_corners(vertices):
    if len(vertices) > 1:
        before, after = np.roll(vertices, 1, axis=0), np.roll(vertices, -1, axis=0)
        assert (np.hypot(*(after - vertices).T) > 1e-13).all()
    if len(vertices) > 2:
        chord = after - before
        turn = chord[:, 0] * (vertices - before)[:, 1] - chord[:, 1] * (vertices - before)[:, 0]
        assert (turn < -1e-14 * np.hypot(*chord.T)).all()
        edges = after - vertices
        turns = np.diff(np.unwrap(np.arctan2(edges[:, 1], edges[:, 0])), append=np.nan)[:-1]
        assert (turns > 0).all()
        assert turns.sum() < 2 * np.pi


@pytest.mark.parametrize("kind", KINDS)
def test_hull_is_its_support_function(kind):
    rng = np.random.default_rng(list(KINDS).index(kind))
    for i in range(24):
        points = point_set(rng, kind, [1, 2, 3, 4, 5, 7, 10, 20, 40, 90, 180, 300][i // 2])
        mu = some_mu(rng, len(points))
        check_hull(points, mu, weighted_hull(points, mu))


@settings(max_examples=100)
@given(seed=SEEDS, kind=st.sampled_from(list(KINDS)))
def test_hull_of_any_set(seed, kind):
    rng = np.random.default_rng(seed)
    points = point_set(rng, kind)
    mu = some_mu(rng, len(points))
    check_hull(points, mu, weighted_hull(points, mu))


@pytest.mark.parametrize("seed", [432, 3498])
def test_needles_whose_corners_hardly_turn(seed):
    rng = np.random.default_rng(seed)
    points = point_set(rng, "nearly on a line")
    mu = some_mu(rng, len(points))
    check_hull(points, mu, weighted_hull(points, mu))


@pytest.mark.parametrize("seed", [8, 10, 11, 13, 30])
def test_corners_far_away_stay_corners_when_rounded(seed):
    points = point_set(np.random.default_rng(seed), "far away", 300)
    mu = 1.12 / 300
    check_hull(points, mu, weighted_hull(points, mu))


@settings(max_examples=150)
@given(
    corners=st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9),
    parts=st.integers(1, 9),
    more=st.sampled_from([0.0, 0.3, 1e-9, 1e-14]),
)
def test_hull_of_few_integers(corners, parts, more):
    points = np.array(corners, dtype=float)
    mu = (1 + more) / min(parts, len(points))
    check_hull(points, mu, weighted_hull(points, mu))


@settings(max_examples=60)
@given(seed=SEEDS)
def test_hulls_are_nested(seed):
    rng = np.random.default_rng(seed)
    points = point_set(rng)
    size, rounding = spread(points)
    reach = -np.inf
    for mu in np.sort(np.append(rng.uniform(1 / len(points), 1, 4), [1 / len(points), 1.0])):
        vertices = reduced_hull(points, mu)
        now = (DIRECTIONS @ ((vertices - points[0]) / size).T).max(axis=1)
        assert (now >= reach - 1e-11 - 4 * rounding.sum()).all()
        reach = now
    assert len(reduced_hull(points, 1 / len(points))) == 1


@settings(max_examples=60)
@given(seed=SEEDS, kind=st.sampled_from(["normal", "uniform", "grid", "circle", "one coordinate x 1e6"]))
def test_with_mu_one_it_is_the_convex_hull(seed, kind):
    points = point_set(np.random.default_rng(seed), kind, 60)
    mine = reduced_hull(points, 1)
    theirs = points[ConvexHull(points).vertices]
    assert len(mine) == len(theirs)
    start = int(np.abs(theirs - mine[0]).sum(axis=1).argmin())
    size, _ = spread(points)
    np.testing.assert_allclose(mine / size, np.roll(theirs, -start, axis=0) / size, atol=1e-14)


def test_fewer_corners_when_less_is_asked_for():
    points = np.random.default_rng(0).normal(size=(300, 2))
    rough, fine = reduced_hull(points, 0.01, 1e-3), reduced_hull(points, 0.01)
    assert len(rough) < len(fine) / 3
    off = (DIRECTIONS @ fine.T).max(axis=1) - (DIRECTIONS @ rough.T).max(axis=1)
    assert off.min() > -1e-12
    assert off.max() < 2e-3 * np.ptp(points, axis=0).max()
    assert (reduced_hull(points, 0.01, 0.0) == fine).all()


def test_many_scores_are_made_in_blocks(monkeypatch):
    points = np.random.default_rng(1).normal(size=(40, 2))
    whole, reach = weighted_hull(points, 0.1), support(points, 0.1, DIRECTIONS)
    monkeypatch.setattr("svmviz.hulls.BLOCK", 100)
    np.testing.assert_allclose(reduced_hull(points, 0.1), whole.vertices, atol=1e-14)
    np.testing.assert_allclose(support(points, 0.1, DIRECTIONS), reach, atol=1e-14)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_support_in_any_dimension_is_the_optimum_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    points, directions = rng.normal(size=(n, dim)), rng.normal(size=(3, dim))
    mu = some_mu(rng, n)
    bounds = (0, min(mu, 1.0) * (1 + 1e-12))
    found = [-linprog(-points @ d, A_eq=np.ones((1, n)), b_eq=[1], bounds=bounds).fun for d in directions]
    np.testing.assert_allclose(support(points, mu, directions), found, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 10, 49, 98, 100])
def test_exactly_one_kth(k):
    points = np.array([[i * i, i] for i in range(100)], dtype=float)
    expected = Fraction(sum(i * i for i in range(100 - k, 100)), k)
    for mu in (1 / k, 1 / k * (1 + EPS), 1 / k * (1 - EPS)):
        assert support(points, mu, [[1.0, 0.0]])[0] == pytest.approx(float(expected), rel=1e-14)
        assert (np.count_nonzero(weighted_hull(points, mu).weights, axis=1) == k).all()


@pytest.mark.parametrize(
    ("points", "mu", "message"),
    [
        (np.eye(2), 0.49, "at least 1/2"),
        (np.eye(2), 0.0, "mu must be"),
        (np.eye(2), math.nan, "mu must be"),
        (np.eye(2), "much", "mu must be"),
        (np.eye(3), 1, "2 coordinates"),
        (np.empty((0, 2)), 1, "at least one row"),
        ([[0.0, math.nan]], 1, "NaN"),
        ([[0.0, math.inf]], 1, "NaN or numbers beyond"),
        ([["a", "b"]], 1, "numbers only"),
        ([1.0, 2.0], 1, "table"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(points, mu, message):
    with pytest.raises(InvalidProblemError, match=message) as caught:
        reduced_hull(points, mu)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def nearest_problem(n_a, n_b, mu):
    """Half the squared distance is twice the objective: the table row of mu-SVM."""
    group = np.repeat([0, 1], [n_a, n_b])
    coupling = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2
    n = n_a + n_b
    return DualProblem(
        np.zeros(n), np.zeros(n), np.full(n, min(mu, 1.0)),
        label=group, group=group, sums=np.ones(2), coupling=coupling,
    )  # fmt: skip


PAIRS = ["normal", "uniform", "duplicates", "coincident", "on a line", "small grid", "horizontal", "circle"]


def two_classes(rng):
    a, b = (point_set(rng, rng.choice(PAIRS), int(rng.integers(1, 40))) for _ in range(2))
    return a, b + rng.choice([0.0, 0.5, 2.0, 8.0]) * DIRECTIONS[rng.integers(720)]


def common_mu(rng, a, b):
    n = min(len(a), len(b))
    return max(some_mu(rng, n), 1 / n)


@settings(max_examples=150)
@given(seed=SEEDS)
def test_nearest_points_against_an_independent_solver(seed):
    rng = np.random.default_rng(seed)
    a, b = two_classes(rng)
    mu = common_mu(rng, a, b)
    found = nearest_points(weighted_hull(a, mu), weighted_hull(b, mu))
    X = np.concatenate([a, b]) - a.mean(axis=0)
    problem = nearest_problem(len(a), len(b), mu)
    best = optimum(problem, Hessian(problem, X @ X.T))
    scale = max(1.0, float(np.abs(X).max()) ** 2)
    # Within the oracle's own bounds, which are not always tight.
    assert best.lower - 1e-8 * scale <= found.distance**2 / 4 <= best.value + 1e-8 * scale
    check_nearest(found, a, b, mu)


def check_nearest(found, a, b, mu):
    size = np.ptp(np.concatenate([a, b]), axis=0) + 1e-3 * np.abs(a).max() * EPS
    for weights, points, point in ((found.weights_a, a, found.a), (found.weights_b, b, found.b)):
        assert weights.shape == (len(points),)
        assert (weights >= 0).all()
        assert (weights <= min(mu, 1.0) * (1 + 1e-12)).all()
        assert weights.sum() == pytest.approx(1, abs=1e-13)
        assert (np.abs(weights @ points - point) <= 1e-11 * size + 8 * EPS * np.abs(points).max(axis=0)).all()
    if found.overlap:
        assert found.distance == 0
        assert (found.a == found.b).all()
    else:
        # No point of either hull is beyond the lines through the two points: nothing can be nearer.
        towards = (found.b - found.a) / found.distance
        rounding = 8 * EPS * np.abs(np.concatenate([a, b])).max() * (1 + size.max() / found.distance)
        slack = 1e-10 * size.max() + rounding
        assert support(a - found.a, mu, [towards])[0] <= slack
        assert support(b - found.b, mu, [-towards])[0] <= slack


@settings(max_examples=100)
@given(seed=SEEDS)
def test_nearest_points_of_badly_scaled_classes(seed):
    rng = np.random.default_rng(seed)
    a, b = two_classes(rng)
    mu = common_mu(rng, a, b)
    plain = nearest_points(weighted_hull(a, mu), weighted_hull(b, mu))
    stretched = [p * [2.0**20, 1.0] for p in (a, b)]
    assert nearest_points(*(weighted_hull(p, mu) for p in stretched)).overlap == plain.overlap
    for unit in (1e-200, 1e50):
        small = nearest_points(*(weighted_hull(p * unit, mu) for p in (a, b)))
        assert small.distance == pytest.approx(plain.distance * unit, rel=1e-9, abs=1e-11 * unit)
    moved = nearest_points(*(weighted_hull(p + 2.0**26, mu) for p in (a, b)))
    if plain.overlap or plain.distance > 1e-6:
        assert moved.overlap == plain.overlap
    check_nearest(moved, a + 2.0**26, b + 2.0**26, mu)


def test_segments_and_points():
    corner = nearest_points([[0.0, 0.0]], [[3.0, 4.0]])
    assert (corner.distance, corner.overlap) == (5.0, False)
    same = nearest_points([[1.0, 2.0]], [[1.0, 2.0]])
    assert (same.distance, same.overlap) == (0.0, True)
    cross = nearest_points([[-1.0, -1.0], [1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]])
    assert cross.overlap
    np.testing.assert_allclose(cross.a, 0, atol=1e-15)
    apart = nearest_points([[0.0, 0.0], [2.0, 0.0]], [[1.0, 1.0], [5.0, 1.0]])
    assert apart.distance == 1
    on_one_line = nearest_points([[0.0, 0.0], [1.0, 1.0]], [[3.0, 3.0], [7.0, 7.0]])
    assert on_one_line.distance == pytest.approx(math.sqrt(8))
    np.testing.assert_allclose(on_one_line.weights_a, [0, 1])
    inside = nearest_points([[0.5, 0.25]], [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    assert inside.overlap
    np.testing.assert_allclose(inside.a, [0.5, 0.25])


def test_touching_in_a_corner_counts_as_meeting():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert overlap(square, square + 1)
    assert overlap(square, square + np.array([1.0, 0.5]))
    assert not overlap(square, square + np.array([1.0, 1.0 + 1e-9]))
    assert not overlap(square, square + np.array([1.0 + 1e-9, 0.3]))


@settings(max_examples=150)
@given(seed=SEEDS)
def test_hulls_meet_from_the_critical_mu_on(seed):
    rng = np.random.default_rng(seed)
    a, b = two_classes(rng)
    found = critical_mu(a, b)
    least = 1 / min(len(a), len(b))

    def meet(mu):
        return overlap(weighted_hull(a, mu), weighted_hull(b, mu))

    if found is None:
        assert meet(least)
    elif found == math.inf:
        assert not meet(1)
    else:
        assert least < found <= 1
        at = nearest_points(weighted_hull(a, found), weighted_hull(b, found))
        assert at.distance <= 1e-10 * max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max())
        assert meet(found * (1 + 1e-8))
        assert not meet(max(found * (1 - 1e-8), least)) or found * (1 - 1e-8) < least


def meeting_mu(a, b, direction):
    """The mu from which on the hulls are no longer apart along one direction; 0 if they never are."""

    def gap(mu):  # a gap may stay at 0, but for rounding, from the first touch on
        return -support(a, mu, [-direction])[0] - support(b, mu, [direction])[0] - 4e-15

    least = 1 / min(len(a), len(b))
    if gap(least) <= 0:
        return 0.0
    return math.inf if gap(1.0) > 0 else brentq(gap, least, 1.0, xtol=1e-16, rtol=4 * EPS)


@settings(max_examples=60)
@given(seed=SEEDS)
def test_critical_mu_is_exact(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(int(rng.integers(3, 8)), 2))
    b = rng.normal(size=(int(rng.integers(3, 8)), 2)) + rng.uniform(0.5, 2)
    if rng.random() < 0.3:
        a, b = a.round(), b.round()
    # Where they first touch, an edge of one of them separates them, and is parallel to a pair of its points.
    edges = np.concatenate([(p[:, None] - p).reshape(-1, 2) for p in (a, b)])
    edges = edges[edges.any(axis=1)]
    normals = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.hypot(*edges.T)[:, None]
    expected = max(meeting_mu(a, b, d) for d in np.vstack([normals, np.eye(2), -np.eye(2)]))
    found = critical_mu(a, b)
    assert (found or 0.0) == pytest.approx(expected, rel=1e-11)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_critical_mu_does_not_depend_on_units_and_origin(seed):
    rng = np.random.default_rng(seed)
    a, b = two_classes(rng)
    found = critical_mu(a, b) or 0.0
    assert (critical_mu(b, a) or 0.0) == pytest.approx(found, rel=1e-11)
    assert (critical_mu(a * [2.0**20, 1.0], b * [2.0**20, 1.0]) or 0.0) == pytest.approx(found, rel=1e-11)
    if 1.01 / min(len(a), len(b)) < found < 0.99:
        assert critical_mu(a * 1e3 + 1e8, b * 1e3 + 1e8) == pytest.approx(found, rel=1e-6)


@settings(max_examples=60)
@given(seed=SEEDS, dim=st.integers(1, 6))
def test_critical_mu_in_any_dimension(seed, dim):
    rng = np.random.default_rng(seed)
    n_a, n_b = rng.integers(1, 30, 2)
    a, b = rng.normal(size=(n_a, dim)), rng.normal(size=(n_b, dim)) + rng.choice([0.0, 1.0])
    found = critical_mu(a, b)
    # The definition: the smallest mu, as a variable of its own, at which the two sums can be equal.
    ones = np.repeat([[1.0, 0.0], [0.0, 1.0]], [n_a, n_b], axis=0).T
    A = np.column_stack([np.vstack([np.column_stack([a.T, -b.T]), ones]), np.zeros(dim + 2)])
    limits = np.column_stack([np.eye(n_a + n_b), -np.ones(n_a + n_b)])
    cost = np.append(np.zeros(n_a + n_b), 1.0)
    plain = linprog(
        cost, A_eq=A, b_eq=np.append(np.zeros(dim), [1, 1]), A_ub=limits, b_ub=np.zeros(n_a + n_b)
    )
    if plain.status == 2:
        assert found == math.inf
    elif found is None:
        assert plain.fun == pytest.approx(1 / min(n_a, n_b), abs=1e-7)
    else:
        assert found == pytest.approx(plain.fun, abs=1e-7)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([2], [2], None),
        ([0, 2], [1, 3], Fraction(3, 4)),  # 2 mu = 3 - 2 mu
        ([0, 1], [1, 2], Fraction(1)),
        ([0, 1], [2, 3], math.inf),
        ([0, 3], [1, 2], None),  # the same mean
        ([1], [0, 0, 0, 9], None),  # a point within the others at mu = 1
        ([0, 0, 3], [1, 9, 9], Fraction(9, 11)),  # 3 mu = 9 - 8 mu
        ([0, 1, 5], [2, 7, 8], Fraction(2, 3)),  # 5 mu + (1 - mu) = 2 mu + 7 (1 - mu)
    ],
)
def test_critical_mu_of_intervals(a, b, expected):
    columns = [np.array(p, dtype=float)[:, None] for p in (a, b)]
    for places in (
        columns,
        [np.column_stack([p, p]) for p in columns],
        [np.tile(p, 3) + 1e6 for p in columns],
    ):
        found = critical_mu(*places)
        if isinstance(expected, Fraction):
            assert found == pytest.approx(float(expected), abs=1e-14)
        else:
            assert found == expected


@pytest.mark.parametrize("seed", range(10))
def test_the_vertex_of_a_linear_program_is_made_exact(seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(3, 40))
    bounds = (0, 1)
    vertex = linprog(rng.normal(size=40), A_eq=columns, b_eq=np.zeros(3), bounds=bounds, method="highs-ds").x
    near = np.clip(vertex + 1e-9 * rng.uniform(-1, 1, 40), 0, 1)
    found = _exact_vertex(columns, near)
    np.testing.assert_allclose(found, vertex, atol=1e-13)
    np.testing.assert_allclose(columns @ found, 0, atol=1e-14)
    assert np.count_nonzero((found > 0) & (found < 1)) <= 3


def test_critical_mu_refuses_what_does_not_fit():
    with pytest.raises(InvalidProblemError, match="same number"):
        critical_mu(np.eye(2), np.eye(3))


def feature_case(seed, kernel, dim=2, mu=0.2):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(30, dim)), rng.normal(size=(20, dim)) + 1
    X = np.concatenate([a, b])
    problem = nearest_problem(30, 20, mu)
    z = minimize(problem, Hessian(problem, gram_matrix(kernel, X)), Options(tol=1e-12)).z
    side = np.arange(50) < 30
    return X, kernel(X, X), np.where(side, z, 0), np.where(side, 0, z)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", [GaussianKernel(0.7), GaussianKernel(5.0)])
def test_the_shadow_shows_the_true_distance(seed, kernel):
    mu = 0.2
    _, K, plus, minus = feature_case(seed, kernel, mu=mu)
    distance = math.sqrt((plus - minus) @ K @ (plus - minus))
    plane = feature_plane(K, plus, minus)
    np.testing.assert_allclose(plus @ plane, [distance / 2, 0], atol=1e-9)
    np.testing.assert_allclose(minus @ plane, [-distance / 2, 0], atol=1e-9)
    shadow = nearest_points(weighted_hull(plane[:30], mu), weighted_hull(plane[30:], mu))
    assert shadow.distance == pytest.approx(distance, abs=1e-7)
    gap = -support(plane[:30], mu, [[-1.0, 0.0]])[0] - support(plane[30:], mu, [[1.0, 0.0]])[0]
    assert gap == pytest.approx(distance, abs=1e-7)


def axes_of(X, plane):
    """The linear map from the samples, from their mean, to the plane."""
    centred = X - X.mean(axis=0)
    axes = np.linalg.lstsq(centred, plane - plane.mean(axis=0))[0]
    np.testing.assert_allclose(centred @ axes, plane - plane.mean(axis=0), atol=1e-9)
    return axes


@pytest.mark.parametrize("seed", range(5))
def test_axes_are_orthonormal_and_the_second_has_the_largest_spread_left(seed):
    X, K, plus, minus = feature_case(seed, LinearKernel(), dim=5, mu=0.06)
    plane = feature_plane(K, plus, minus)
    axes = axes_of(X, plane)
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-9)
    first = X.T @ (plus - minus)
    np.testing.assert_allclose(axes[:, 0], first / np.linalg.norm(first), atol=1e-8)
    rest = (X - X.mean(axis=0)) @ (np.eye(5) - np.outer(axes[:, 0], axes[:, 0]))
    assert np.linalg.norm(rest, 2) == pytest.approx(np.linalg.norm(rest @ axes[:, 1]), rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_plane_through_prototypes(count):
    rng = np.random.default_rng(count)
    X = rng.normal(size=(40, 6))
    coefficients = rng.dirichlet(np.ones(40), size=count)
    plane = prototype_plane(X @ X.T, coefficients)
    axes = axes_of(X, plane)
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-9)
    seen, true = coefficients @ plane, coefficients @ X
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-12)
    if count <= 3:
        gaps = [np.linalg.norm(p[:, None] - p, axis=2) for p in (seen, true)]
        np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-10)
    best = np.append(np.linalg.svd(true - true.mean(axis=0), compute_uv=False), 0.0)[:2]
    np.testing.assert_allclose(np.append(np.linalg.svd(seen, compute_uv=False), 0)[:2], best, atol=1e-9)
    if count >= 2:
        np.testing.assert_allclose(seen[0, 1], 0, atol=1e-9)
        assert seen[0, 0] > 0
    if count >= 3:
        assert seen[1, 1] > 0


def test_prototypes_that_coincide_leave_the_plane_to_the_samples():
    X = np.random.default_rng(3).normal(size=(30, 4)) * [3.0, 2.0, 1.0, 0.5]
    u = np.full(30, 1 / 30)
    plane = feature_plane(X @ X.T, u, u)
    spreads = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(plane, axis=0), spreads[:2], rtol=1e-9)


def test_a_plane_needs_a_coefficient_a_sample():
    with pytest.raises(InvalidProblemError, match="one coefficient"):
        feature_plane(np.eye(3), np.ones(2) / 2, np.ones(2) / 2)
    with pytest.raises(InvalidProblemError, match="NaN"):
        feature_plane(np.full((2, 2), math.nan), np.ones(2) / 2, np.ones(2) / 2)


def test_a_kernel_that_is_not_positive_semidefinite_still_has_a_picture():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.isfinite(feature_plane(K, np.array([1.0, 0.0]), np.array([0.0, 1.0]))).all()
    assert feature_plane(np.ones((1, 1)), np.ones(1), np.ones(1)).tolist() == [[0, 0]]


def test_hulls_follow_a_slider_at_thirty_updates_a_second():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + np.array([2.5, 0.0])
    for mu in (1.0, 0.1, 0.02, 0.006):
        times = []
        for _ in range(5):
            start = time.process_time()
            nearest_points(weighted_hull(a, mu), weighted_hull(b, mu))
            times.append(time.process_time() - start)
        assert min(times) < 1 / 30


def test_critical_mu_of_needles_is_that_of_the_sheared_hulls():
    a = np.array([[29, 31], [23, -18], [-27, 42], [41, -35]]) / 64
    b = np.array([[-33, 6], [-45, 45], [43, 55], [-38, -15], [41, 7], [31, 17]]) / 64
    plain = critical_mu(a, b)
    for exponent in (15, 20, 27, 30):  # powers of two: the shear does not round

        def sheared(points, e=2.0**-exponent):
            return np.column_stack([points[:, 0], points[:, 0] + e * points[:, 1]])

        assert critical_mu(sheared(a), sheared(b)) == pytest.approx(plain, rel=2e-3)
