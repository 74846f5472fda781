"""The inverse of the free multipliers against a dense solve of the same system, whatever leaves in which order."""

import numpy as np
import pytest

from svmviz.free_system import FreeSystem

pytestmark = pytest.mark.filterwarnings("error")


def dense_direction(H, gradient, group, inside):
    """The direction from the system as it is written: one column for each group that has an index left."""
    free = np.flatnonzero(inside)
    direction = np.zeros(len(H))
    if not len(free):
        return direction
    E = (group[free][:, None] == np.unique(group[free])).astype(float)
    corner = np.zeros((E.shape[1], E.shape[1]))
    system = np.block([[H[np.ix_(free, free)], -E], [E.T, corner]])
    right = np.concatenate([-gradient[free], np.zeros(E.shape[1])])
    direction[free] = np.linalg.solve(system, right)[: len(free)]
    return direction


def random_system(rng, rank=None):
    """H (f, f) of some rank (default: f), a gradient that a step can make zero, and the group of each index."""
    f = int(rng.integers(2, 30))
    n_groups = int(rng.integers(1, min(f, 6) + 1))
    group = np.sort(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, f - n_groups)]))
    A = rng.normal(size=(f, rank or f + 3))
    H = A @ A.T
    return (H + H.T) / 2, H @ rng.normal(size=f) + rng.normal(size=n_groups)[group], group


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1.0, 1e50])
def test_directions_are_those_of_a_dense_solve_after_any_drops(scale):
    rng = np.random.default_rng(0)
    for _ in range(40):
        H, gradient, group = random_system(rng)
        system = FreeSystem(H * scale, group)
        assert system.is_definite
        inside = np.ones(len(H), dtype=bool)
        direction = system.direction(gradient)
        for k in rng.permutation(len(H)).tolist():
            expected = dense_direction(H, gradient, group, inside)
            size = max(np.abs(expected).max(), 1e-6)
            np.testing.assert_allclose(direction * scale, expected, rtol=0, atol=1e-6 * size)
            np.testing.assert_allclose(system.direction(gradient), direction, atol=1e-6 * size / scale)
            inside[k] = False
            direction = system.drop(k, direction)
            assert not direction[~inside].any()
            assert np.abs(np.bincount(group, direction)).max() * scale <= 1e-12 * size
        assert not direction.any()


def test_a_matrix_that_is_regular_only_where_sums_are_zero():
    """Three samples in the plane with a linear kernel: H has rank two."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        X = rng.normal(size=(3, 2))
        H, gradient, group = X @ X.T, rng.normal(size=3), np.zeros(3, dtype=int)
        expected = dense_direction(H, gradient, group, np.ones(3, dtype=bool))
        found = FreeSystem(H, group).direction(gradient)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_a_singular_matrix_still_gives_the_minimum(rank):
    """Which direction is then not determined; where it leads to is: to one gradient in each group."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        H, gradient, group = random_system(rng, rank)
        system = FreeSystem(H, group)
        assert system.is_definite
        direction = system.direction(gradient)
        after = gradient + H @ direction
        spread = max(np.ptp(after[group == g]) for g in range(group[-1] + 1))
        assert spread <= 0.1 * np.abs(gradient).max()
        assert np.abs(np.bincount(group, direction)).max() <= 1e-12 * max(1.0, np.abs(direction).max())
        after += H @ system.direction(after)
        assert max(np.ptp(after[group == g]) for g in range(group[-1] + 1)) <= max(1e-9, 0.1 * spread)


def test_the_matrix_is_left_as_it_was():
    H, gradient, group = random_system(np.random.default_rng(3))
    kept = H.copy()
    system = FreeSystem(H, group)
    system.drop(0, system.direction(gradient))
    np.testing.assert_array_equal(H, kept)


def test_one_group_by_default_and_by_name_give_the_same_directions():
    rng = np.random.default_rng(4)
    H, gradient, _ = random_system(rng)
    default, named = FreeSystem(H), FreeSystem(H, np.zeros(len(H), dtype=int))
    first, second = default.direction(gradient), named.direction(gradient)
    assert np.array_equal(first, second)
    assert np.array_equal(default.drop(1, first), named.drop(1, second))


def test_a_direction_from_the_factor_is_that_of_the_inverse():
    rng = np.random.default_rng(5)
    for _ in range(20):
        H, gradient, group = random_system(rng)
        system = FreeSystem(H, group * 0)
        from_factor = system.direction(gradient)
        system.matrix()
        np.testing.assert_allclose(
            system.direction(gradient), from_factor, rtol=0, atol=1e-8 * np.abs(from_factor).max()
        )
