"""Many pairs in one go, for the problems that are solved most: `Iterate.move` in fewer words for the interpreter.

What a pair costs is the calls it makes. Where there is one group, every index is a sample (C-SVC) or every sample an
index for each side (SVR), and all diagonal entries are equal (a Gaussian kernel), ten NumPy calls do. The pairs are
those of `SecondOrder`, moved as `Iterate.move` moves them; a test holds the two against each other.
"""

from __future__ import annotations

import numpy as np

from svmviz.smo.iterate import Iterate, snapped

Array = np.ndarray


def can_move_many(iterate: Iterate) -> bool:
    """Whether `move_pairs` can be used."""
    hessian = iterate.hessian
    return iterate.one_group and iterate.is_flat and hessian.copies > 0 and not hessian.has_added


def move_pairs(iterate: Iterate, count: int, tol: float) -> int:
    """Move up to `count` pairs by second order selection; stop at a violation within tol, or when one does not move.

    Parameters
    ----------
    iterate : Iterate
        One for which `can_move_many` says so.
    count : int
    tol : float
        In units of the gradient.

    Returns
    -------
    int
        Pairs moved.
    """
    hessian, z = iterate.hessian, iterate.z
    rows, n = hessian.kernel_rows, len(hessian.kernel_rows)
    K = rows.whole() if rows.is_whole else None
    gradient, up, low = iterate.gradients
    gradients, ups, lows = iterate.gradients.reshape(3, hessian.copies, n)
    gains, sizes = np.empty((2, hessian.copies, n))
    curvatures, change = np.empty((2, n))
    diagonal, floor = hessian.diagonal.item(0), iterate.floor
    lo, hi = iterate.lo.item, iterate.hi.item
    subtract, multiply, divide, absolute, add = np.subtract, np.multiply, np.divide, np.abs, np.add
    i, worst = iterate.extremes()
    violation, moved, done = low.item(worst) - up.item(i), True, 0
    while done < count and violation > tol and moved:
        sample_i = i % n
        if K is None and not rows.has(sample_i):
            iterate.fetch(i)
        K_i = rows.row(sample_i) if K is None else K[sample_i]
        gradient_i = gradient.item(i)
        # Half of what `Iterate.curvatures` gives, to the last bit: halving is exact.
        subtract(diagonal + 0.5 * floor, K_i, curvatures)
        subtract(lows, gradient_i, gains)
        absolute(gains, sizes)
        multiply(gains, sizes, gains)
        divide(gains, curvatures, gains)
        j = int(gains.argmax())
        sample_j = j % n
        K_i, K_j = rows.pair(sample_i, sample_j) if K is None else (K_i, K[sample_j])
        z_i, z_j, hi_i, lo_j = z.item(i), z.item(j), hi(i), lo(j)
        curvature = 2.0 * (diagonal - K_i.item(sample_j))
        step = (gradient.item(j) - gradient_i) / (curvature if curvature > floor else floor)
        room_i, room_j = hi_i - z_i, z_j - lo_j
        if step > room_i:
            step = room_i
        if step > room_j:
            step = room_j
        subtract(K_i, K_j, change)
        multiply(change, step, change)
        add(gradients, change, gradients)  # one call for all three takes longer
        add(ups, change, ups)
        add(lows, change, lows)
        after_i = hi_i if step >= room_i else snapped(z_i, step, lo(i), hi_i)
        after_j = lo_j if step >= room_j else snapped(z_j, -step, lo_j, hi(j))
        z[i], z[j] = after_i, after_j
        gradient_i, gradient_j = gradient.item(i), gradient.item(j)
        up[i] = gradient_i if after_i < hi_i else np.inf
        low[i] = gradient_i if after_i > lo(i) else -np.inf
        up[j] = gradient_j if after_j < hi(j) else np.inf
        low[j] = gradient_j if after_j > lo_j else -np.inf
        moved = after_i != z_i or after_j != z_j
        i, worst = int(up.argmin()), int(low.argmax())
        violation = low.item(worst) - up.item(i)
        done += 1
    hessian.used += 2 * n * done
    iterate.moved = moved
    iterate.scan()
    return done
