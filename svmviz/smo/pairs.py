"""Many pairs in one go, for the problems that are solved most: `Iterate.move` in fewer words for the interpreter.

What a pair costs is the calls it makes. Where there is one group, every index is a sample (C-SVC) or every sample an
index for each side (SVR), and all diagonal entries are equal (a Gaussian kernel), a dozen calls do. The pairs are
those of `SecondOrder`, moved as `Iterate.move` moves them; a test holds the two against each other.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import daxpy

from svmviz.smo.iterate import Iterate, snapped

Array = np.ndarray


def can_move_many(iterate: Iterate) -> bool:
    """Whether `move_pairs` can be used."""
    hessian = iterate.hessian
    fits = iterate.one_group and iterate.is_flat and hessian.copies > 0 and not hessian.has_added
    # A multiplier that may neither grow nor shrink has no finite copy to take its gradient from.
    return fits and bool((iterate.lo < iterate.hi).all())


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
    rows, n, copies = hessian.kernel_rows, len(hessian.kernel_rows), hessian.copies
    K = rows.whole() if rows.is_whole else None
    # The gradient itself is where one of its copies is finite: it is put together at the end.
    gradient, up, low = iterate.gradients
    ups, lows = iterate.gradients[1:].reshape(2, copies, n)
    strips = [*ups, *lows]
    gains, sizes = np.empty((2, copies, n))
    curvatures, change = np.empty((2, n))
    diagonal, floor, margin = hessian.diagonal.item(0), iterate.floor, iterate.margin
    # NumPy takes an array of no dimension faster than a number. Half of what `Iterate.curvatures` gives, to the last
    # bit: halving is exact.
    highest, threshold = np.array(diagonal + 0.5 * floor), np.array(0.0)
    z_at, up_at, low_at, lo_at, hi_at = z.item, up.item, low.item, iterate.lo.item, iterate.hi.item
    subtract, multiply, divide, absolute = np.subtract, np.multiply, np.divide, np.absolute
    i, worst = iterate.extremes()
    gradient_i, done, moved = up_at(i), 0, True
    violated = low_at(worst) - gradient_i > tol
    while violated and moved and done < count:
        sample_i = i if copies == 1 else i % n
        if K is None and not rows.has(sample_i):
            iterate.fetch(i)
        K_i = rows.row(sample_i) if K is None else K[sample_i]
        threshold[()] = gradient_i
        subtract(highest, K_i, curvatures)
        subtract(lows, threshold, gains)
        absolute(gains, sizes)
        multiply(gains, sizes, gains)
        divide(gains, curvatures, gains)
        j = int(gains.argmax())
        sample_j = j if copies == 1 else j % n
        K_i, K_j = rows.pair(sample_i, sample_j) if K is None else (K_i, K[sample_j])
        z_i, z_j, lo_i, hi_i, lo_j, hi_j = z_at(i), z_at(j), lo_at(i), hi_at(i), lo_at(j), hi_at(j)
        gradient_j, curvature = low_at(j), 2.0 * (diagonal - K_i.item(sample_j))
        step = (gradient_j - gradient_i) / (curvature if curvature > floor else floor)
        room_i, room_j = hi_i - z_i, z_j - lo_j
        if step > room_i:
            step = room_i
        if step > room_j:
            step = room_j
        low[i], up[j] = gradient_i, gradient_j
        subtract(K_i, K_j, change)
        for strip in strips:
            daxpy(change, strip, n, step)
        after_i, after_j = z_i + step, z_j - step
        if step >= room_i:
            after_i = hi_i
        elif after_i - lo_i < margin or hi_i - after_i < margin:
            after_i = snapped(z_i, step, lo_i, hi_i)
        if step >= room_j:
            after_j = lo_j
        elif after_j - lo_j < margin or hi_j - after_j < margin:
            after_j = snapped(z_j, -step, lo_j, hi_j)
        z[i], z[j] = after_i, after_j
        if after_i == hi_i:
            up[i] = np.inf
        if after_i == lo_i:
            low[i] = -np.inf
        if after_j == lo_j:
            low[j] = -np.inf
        if after_j == hi_j:
            up[j] = np.inf
        moved = after_i != z_i or after_j != z_j
        i = int(up.argmin())
        gradient_i = up_at(i)
        violated = low_at(j) - gradient_i > tol or low_at(low.argmax()) - gradient_i > tol
        done += 1
    gradient[:] = np.where(up < np.inf, up, low)
    hessian.used += 2 * n * done
    iterate.moved = moved
    iterate.scan()
    return done
