"""The inverse of a set that grows and shrinks, against one that is made from scratch."""

import numpy as np
import pytest

from svmviz.free_system import MarginSystem


def dense(H, group, members):
    """B on these members: the inverse of H on the directions whose sums are zero over each group."""
    E = (group[members][:, None] == np.unique(group[members])).astype(float)
    basis = np.linalg.svd(E.T)[2][E.shape[1] :].T
    return basis @ np.linalg.solve(basis.T @ H[np.ix_(members, members)] @ basis, basis.T)


def lone(H, group, members, B, j):
    """What moves j by 1 and keeps the sums and the equations of the members."""
    anchor = next(k for k, i in enumerate(members) if group[i] == group[j])
    start = np.zeros(len(members))
    start[anchor] = -1.0
    square = H[np.ix_(members, members)]
    moved = start - B @ (square @ start + H[members, j])
    direction = np.append(moved, 1.0)
    everyone = [*members, j]
    return direction, float(direction @ H[np.ix_(everyone, everyone)] @ direction)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_any_changes_leave_the_inverse_that_a_fresh_start_gives(n_groups):
    rng = np.random.default_rng(n_groups)
    A = rng.normal(size=(40, 60))
    H, group = A @ A.T, np.arange(40) % n_groups
    members = [0, 1, 2, 3, 4, 5]
    system = MarginSystem(capacity=4)
    assert system.rebuild(H[np.ix_(members, members)], group[members] if n_groups > 1 else None)
    values = rng.normal(size=len(members))
    np.testing.assert_allclose(system.times(values), dense(H, group, members) @ values, atol=1e-10)
    for _ in range(200):
        outside = [i for i in range(40) if i not in members]
        if len(members) < 4 or (outside and rng.random() < 0.55):
            j = int(rng.choice(outside))
            if not any(group[i] == group[j] for i in members):
                system.add(np.empty(0), 0.0)
            else:
                system.add(*lone(H, group, members, system.matrix(), j))
            members.append(j)
        else:
            k = int(rng.integers(len(members)))
            system.drop(k)
            members[k] = members[-1]
            members.pop()
        assert system.count == len(members)
        np.testing.assert_allclose(system.matrix(), dense(H, group, members), atol=1e-9)
    other = system.copy()
    other.drop(0)
    np.testing.assert_allclose(system.matrix(), dense(H, group, members), atol=1e-9)


def test_a_singular_set_is_refused():
    system = MarginSystem()
    assert not system.rebuild(np.ones((3, 3)), None, 1e-12)
