"""Where the walk needs the first loop: for the optimum that it starts from, and where floating point ends it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmviz.hessian import Hessian
from svmviz.problem import EPS, DualProblem
from svmviz.smo.loop import Options, minimize
from svmviz.walk.levels import gradient_scale, intervals, middles, vanishes
from svmviz.walk.margin import SOUND, StuckError
from svmviz.walk.record import AT_LOWER, AT_UPPER, HELD, MARGIN, Event, Rates, Segment, Walk
from svmviz.walk.resting import Resting
from svmviz.walk.vanished import central
from svmviz.walk.walker import Walker, most_settling

Array = np.ndarray

# Relative to the gradient, what is first left to violate when a start is made exact, and what then, where floating
# point did not get there from that.
TOLERANCES = (1e-6, 1e-9, 1e-12)
# So many pairs for each of them, and for each index: on badly scaled features pairs creep, and the walk gets there
# from any start.
PAIRS, PAIRS_EACH = 2000, 20
# So often: the gradient may have fallen by decades meanwhile.
MOST_MINIMISATIONS = 3
# So often the walk may start anew from where it got to, for each of them.
ROUNDS = 5
# How far beyond the place where a recorded walk broke off it is tried again, as shares of its length.
LEAPS = (1e-9, 1e-7, 1e-5, 1e-3)
# So often, at most.
MOST_LEAPS = 20
# What the straight line across a leap may violate, relative to the gradient.
OPTIMAL = 1e-9


def settled(
    problem: DualProblem, hessian: Hessian, z: Array | None = None, gradient: Array | None = None
) -> Walker | None:
    """A walker at the exact optimum of a problem; None where floating point does not get there.

    Parameters
    ----------
    problem : DualProblem
    hessian : Hessian
        Of a positive semidefinite kernel.
    z, gradient : ndarray (n,), optional
        A feasible start and its gradient; default: the problem's own.
    """
    if z is None or gradient is None:
        z = problem.start()
        gradient = hessian.gradient(z)
    standing = None
    for tol in TOLERANCES:
        if _may_vanish(problem, z, gradient):
            z, gradient = _minimized(problem, hessian, z, gradient, SOUND)
            if _may_vanish(problem, z, gradient) and (rest := _at_rest(problem, hessian, z, gradient)):
                rounds = 1 if vanishes(hessian, problem.linear, z, gradient) else ROUNDS
                return _walked_off(problem, hessian, z, gradient, rounds)[0] or rest
        z, gradient = _minimized(problem, hessian, z, gradient, tol)
        standing = _at_rest(problem, hessian, z, gradient) or standing
        walker, z, gradient = _walked_off(problem, hessian, z, gradient)
        if walker is not None:
            return walker
    walker = _standing(problem, hessian, z, gradient)
    return walker if walker and walker.forgive() else standing


def _may_vanish(problem: DualProblem, z: Array, gradient: Array) -> bool:
    """Whether w may be 0 at the optimum: see `svmviz.walk.levels.vanishes`."""
    if problem.linear.any() or not problem.is_bounded:
        return False
    return problem.objective(z, gradient) <= problem.gap(z, gradient)


def _minimized(
    problem: DualProblem, hessian: Hessian, z: Array, gradient: Array, tol: float
) -> tuple[Array, Array]:
    """z and gradient (n,) that violate no condition by more than this share of the gradient, if pairs get there."""
    for _ in range(MOST_MINIMISATIONS):
        scale = gradient_scale(hessian, problem.linear, z, gradient)
        if problem.violation(z, gradient) <= tol * scale:
            break
        options = Options(tol=max(1e-300, 0.1 * tol * scale), max_iter=PAIRS + PAIRS_EACH * problem.n)
        solution = minimize(problem, hessian, options, z, gradient)
        z, gradient = solution.z, solution.gradient
        if solution.certificate.status != "optimal":
            break
    return z, gradient


def _walked_off(
    problem: DualProblem, hessian: Hessian, z: Array, gradient: Array, rounds: int = ROUNDS
) -> tuple[Walker | None, Array, Array]:
    """A walker at the exact optimum near z, or None; and from where to go on then."""
    most = problem.violation(z, gradient)
    for _ in range(rounds):
        walker = _standing(problem, hessian, z, gradient)
        if walker is None:
            break
        walk = walker.settle()
        if walk.status == "arrived":
            return walker, z, gradient
        if walk.n_events >= most_settling(problem.n):
            break
        # Nearly there, as a rule: from where it got to there is less to walk off.
        nearer = problem.restore_sums(np.clip(walker.z, problem.lo, problem.hi))
        slope = hessian.gradient(nearer)
        if not problem.is_feasible(nearer) or problem.violation(nearer, slope) > most:
            break
        z, gradient = nearer, slope
    return None, z, gradient


def _at_rest(problem: DualProblem, hessian: Hessian, z: Array, gradient: Array) -> Walker | None:
    """A walker that stands at z and cannot go on; None where z is not an optimum but for rounding."""
    if problem.linear.any():  # terms much larger than what they cancel to would hide what it violates
        scale = float(np.abs(gradient).max() + np.abs(problem.linear).max())
    else:
        scale = gradient_scale(hessian, problem.linear, z, gradient)
    if problem.violation(z, gradient) > SOUND * scale or not problem.is_feasible(z):
        return None
    return Resting(problem, hessian, z, gradient)


def _standing(problem: DualProblem, hessian: Hessian, z: Array, gradient: Array) -> Walker | None:
    """A walker at z; None where its margin depends on itself and, without bounds, has no one to lose."""
    try:
        return Walker(problem, hessian, z, gradient)
    except StuckError:
        return None


def followed(
    walker: Walker,
    rates: Rates,
    length: float,
    *,
    start: float = 0.0,
    watched: int = -1,
    record: bool = False,
) -> tuple[Walker, Walk]:
    """`Walker.follow`, and where floating point breaks the walk off, a minimisation takes it over.

    With a record it goes on a little beyond that place, across a straight line that is optimal all along; without one
    it is at its end at once. A walk that not even this brings to its end is "failed".

    Parameters
    ----------
    walker : Walker
        It is moved.
    rates, length, start, watched, record
        As of `Walker.follow`.

    Returns
    -------
    walker : Walker
        The one that stands at the end: the same, or another.
    walk : Walk

    Raises
    ------
    ValueError
        With a record and someone who is watched: across a line nobody looks at its condition.
    """
    if record and watched >= 0:
        raise ValueError("A walk with a record watches nobody.")
    stop = start + length
    walk = walker.follow(rates, length, start=start, watched=watched, record=record)
    for _ in range(MOST_LEAPS):
        if walk.status != "failed":
            break
        found = _across(walker, walk, rates, stop) if record else _at_end(walker, walk, rates, stop, watched)
        if found is None:
            break
        walker, part = found
        walk = _joined(walk, part)
        if walk.status == "arrived" and walk.stop < stop:
            rest = walker.follow(rates, stop - walk.stop, start=walk.stop, record=record)
            walk = _joined(walk, rest)
        elif walk.status == "arrived" and record:
            walk = replace(
                walk, events=(*walk.events, arrival(walker, walk.stop)), n_events=walk.n_events + 1
            )
    return walker, walk


def _at_end(
    walker: Walker, walk: Walk, rates: Rates, stop: float, watched: int
) -> tuple[Walker, Walk] | None:
    """The end of a walk without its way there, as a walk of one event.

    A multiplier that grows and is watched stops where its own condition holds: that is the optimum where it is free
    to be anything up to its target.
    """
    problem = _ahead(walker, rates, stop - walk.stop)
    way = 0.0 if watched < 0 or rates.lo is None else float(np.sign(rates.lo[watched]))
    grows = bool(way * walker.z[watched] >= 0) if way else False
    if grows:
        now = walker.z[watched]
        lo, hi = problem.lo.copy(), problem.hi.copy()
        lo[watched], hi[watched] = sorted((now, problem.lo[watched]))
        problem = replace(problem, lo=lo, hi=hi)
    end = _settled_at(problem, walker)
    if end is None:
        return None
    status: Any = "arrived"
    if grows:
        target = problem.hi[watched] if way > 0 else problem.lo[watched]
        if end.z[watched] != target:
            status = "condition holds"
        end.hold(watched)
    return end, replace(_stretch(walk, end, walk.stop, stop, (), status), n_events=1)


def _across(walker: Walker, walk: Walk, rates: Rates, stop: float) -> tuple[Walker, Walk] | None:
    """A little further, across a straight line that is optimal all along; None where there is none.

    Where the walk has gone astray it begins anew in the same place. Where w is 0 the line goes to the end.
    """
    here = _ahead(walker, rates, 0.0)
    if not isinstance(walker, Resting) and (fresh := _settled_at(here, walker)):
        walker = fresh
        moves = not isinstance(walker, Resting)
        if moves and walk.segments and walk.segments[-1].stop > walk.segments[-1].start:
            return walker, _stretch(walk, walker, walk.stop, walk.stop, (), "arrived")
    there = _ahead(walker, rates, stop - walk.stop)
    if (start := _vanished(here, walker)) and (end := _vanished(there, walker)):
        return _led_to(here, start, there, end, walk, stop)
    for leap in LEAPS:
        to = min(stop, walk.stop + leap * (stop - walk.start))
        there = _ahead(walker, rates, to - walk.stop)
        if (end := _settled_at(there, walker)) and (found := _led_to(here, walker, there, end, walk, to)):
            return found
        if to == stop:
            break
    return None


def _vanished(problem: DualProblem, walker: Walker) -> Walker | None:
    """A walker at rest where w is 0 but for rounding, in the middle of the box if possible; None where it is not."""
    if problem.linear.any():
        return None
    hessian = walker.hessian.with_problem(problem)
    if found := central(problem, hessian):
        return Resting(problem, hessian, *found)
    end = _settled_at(problem, walker)
    return end if end and vanishes(hessian, problem.linear, end.z, end.gradient) else None


def _led_to(
    here: DualProblem, walker: Walker, there: DualProblem, end: Walker, walk: Walk, stop: float
) -> tuple[Walker, Walk] | None:
    """The walker at the end of a straight line, with the line as a walk; None where it is not optimal all along."""
    segment = _line(here, walker, there, end, walk.stop, stop)
    if segment is None:
        return None
    return end, _stretch(walk, end, walk.stop, stop, (segment,) if stop > walk.stop else (), "arrived")


def _ahead(walker: Walker, rates: Rates, left: float) -> DualProblem:
    """The problem so much further than where the walker stands, without its perturbation."""
    now = walker.problem_now()
    now = replace(now, linear=now.linear - walker.perturbation)
    parts = {name: getattr(rates, name) for name in ("linear", "lo", "hi", "sums")}
    there = {name: getattr(now, name) + left * part for name, part in parts.items() if part is not None}
    linear = there.get("linear", now.linear)
    terms = 0.0 if rates.linear is None else np.abs(rates.linear)
    # What rounding leaves of a term that is 0 is taken off: where w is 0 it would have a say.
    there["linear"] = np.where(np.abs(linear) <= EPS * (walker.scale + terms), 0.0, linear)
    return replace(now, **there)


def _settled_at(problem: DualProblem, walker: Walker) -> Walker | None:
    """A walker at the optimum of this problem, None where there is none or floating point does not get there."""
    if (problem.lo > problem.hi).any() or not problem.is_feasible(problem.start()):
        return None
    hessian = walker.hessian.with_problem(problem)
    z = nearby(problem, walker)
    return settled(problem, hessian, z, hessian.gradient(z))


def nearby(problem: DualProblem, walker: Walker) -> Array:
    """A feasible z (n,) near that of the walker: what a sum lacks is shared by those who have room."""
    starts, group = problem.starts, problem.group
    z = np.where(walker.side == AT_UPPER, problem.hi, np.where(walker.side == AT_LOWER, problem.lo, walker.z))
    z = np.clip(z, problem.lo, problem.hi)
    for movable in (walker.side == MARGIN, walker.side == walker.side):
        missing = (problem.sums - np.add.reduceat(z, starts))[group]
        room = np.where(movable, np.where(missing > 0, problem.hi - z, z - problem.lo), 0.0)
        room = np.minimum(room, np.abs(missing))  # without a bound there is no end of it
        most = np.add.reduceat(room, starts)[group]
        z = z + np.clip(missing / np.where(most > 0, most, 1.0), -1.0, 1.0) * room
    z = problem.restore_sums(np.clip(z, problem.lo, problem.hi))
    return z if problem.is_feasible(z) else problem.start()


def _line(
    here: DualProblem, walker: Walker, there: DualProblem, end: Walker, start: float, stop: float
) -> Segment | None:
    """The straight line between two optima as a stretch; None unless it is optimal all along.

    Off its margin is what is at one bound at both ends. Bounds, sums, multipliers and gradient are linear between the
    ends: where the conditions of the stretch's own sides hold at both of them, they hold in between. Where w is 0 at
    both ends it is 0 in between as well, and no objective is lower, however the gradients differ by rounding.
    """
    side = _sides_between(here, walker, there, end)
    margin = np.flatnonzero(side == MARGIN)
    values = []
    for problem, z in ((here, walker.z), (there, end.z)):
        hessian = end.hessian.with_problem(problem)
        gradient = hessian.gradient(z)
        above = (side == MARGIN) | (side == AT_UPPER)
        low, up = intervals(problem.starts, above, (side == MARGIN) | (side == AT_LOWER), gradient)
        is_optimal = (low - up).max() <= OPTIMAL * end.scale or vanishes(hessian, problem.linear, z, gradient)
        if not (is_optimal and problem.is_feasible(z)):
            return None
        values.append(np.concatenate([middles(low, up), z[margin]]))
    slots = np.concatenate([np.full(walker.n_groups, -1), margin])
    rates = (values[1] - values[0]) / max(stop - start, 1e-300)
    return Segment(start, stop, slots, values[0], rates, side, walker.n_groups)


def _sides_between(here: DualProblem, walker: Walker, there: DualProblem, end: Walker) -> Array:
    """Where each index (n,) stands between two optima: at a bound where it is there at both ends."""
    lower = (walker.z == here.lo) & (end.z == there.lo)
    upper = (walker.z == here.hi) & (end.z == there.hi)
    side = np.where(lower, AT_LOWER, np.where(upper, AT_UPPER, MARGIN))
    return np.where(walker.side == HELD, HELD, side).astype(walker.side.dtype)


def _stretch(
    walk: Walk, end: Walker, start: float, stop: float, segments: tuple[Segment, ...], status: Any
) -> Walk:
    """The part of a walk that a minimisation took the place of, without events."""
    return replace(
        walk,
        start=start,
        stop=stop,
        segments=segments,
        events=(),
        n_events=0,
        status=status,
        z=end.z,
        gradient=end.gradient,
        violation=end.violation() / end.scale,
    )


def arrival(walker: Walker, value: float) -> Event:
    """The event that a walk of a parameter arrives where this walker stands."""
    n_margin, n_lower, n_upper = (int(np.sum(walker.side == side)) for side in (MARGIN, AT_LOWER, AT_UPPER))
    objective = walker.problem_now().objective(walker.z, walker.gradient)
    return Event(value, -1, -1, "arrived", n_margin, n_lower, n_upper, walker.nu.copy(), objective)


def _joined(first: Walk, second: Walk) -> Walk:
    """One walk of two, the second where the first one stopped; its box is that of the first."""
    return replace(
        first,
        stop=second.stop,
        segments=first.segments + second.segments,
        events=first.events + second.events,
        n_events=first.n_events + second.n_events,
        status=second.status,
        z=second.z,
        gradient=second.gradient,
        violation=second.violation,
    )
