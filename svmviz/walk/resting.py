"""An optimum that knows where it stands and cannot go on from there."""

from __future__ import annotations

import numpy as np

from svmviz.walk.levels import has_room
from svmviz.walk.margin import StuckError
from svmviz.walk.record import HELD, MARGIN, WalkStatus
from svmviz.walk.recorder import Recorder
from svmviz.walk.walker import Walker


class Resting(Walker):
    """A walker without a margin, as for an optimum over a kernel that is singular but for rounding.

    Its z is optimal as it is, and its parameters are those of `Walker`. Whoever wants it elsewhere minimises there,
    see `svmviz.walk.settled.followed`.
    """

    def _start_margin(self) -> None:
        self.nu = self._first_nu(np.flatnonzero(self.side == MARGIN))

    def hold(self, j: int) -> None:
        """Hold z_j where it is."""
        self.side[j], self.sigma[j] = HELD, 0.0
        self.lo[j] = self.hi[j] = self.z[j]

    def _run(self, length: float, watched: int, recorder: Recorder) -> WalkStatus:
        if not length:
            return "arrived"
        lo, hi = self.lo + length * self.lo_rate, self.hi + length * self.hi_rate
        can_arrive = has_room(self.problem, lo, hi, self.sums + length * self.sums_rate)
        raise StuckError("failed" if watched >= 0 or can_arrive else "infeasible")

    def violation(self) -> float:
        """Largest violation of the optimality conditions by the gradient as it is kept, in its units."""
        return self.problem_now().violation(self.z, self.gradient)
