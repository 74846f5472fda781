"""When the loop may stop: two tests on the thresholds of each group.

violation  low_g - up_g <= tol in every group (Keerthi and others, 2001). It does not mind the sign of the thresholds,
           nor where the origin of the samples is.
thesis     (low_g - up_g) / low_g <= 2 tol in every group (Candel: SMO for the AD-SVM, 2011, equations 3.2.17 to
           3.2.20), relative to the threshold itself. Where low_g is negative any violation passes, where it is small
           hardly one does; and with the linear kernel a vector added to all samples adds a number to both thresholds,
           so that the same problem stops sooner or later. It is here for the thesis's experiments.
"""

from __future__ import annotations

import numpy as np

from svmviz.problem import Thresholds

NAMES = ("violation", "thesis")


def relative_violation(thresholds: Thresholds) -> float:
    """Largest (low - up) / low over the groups in which a pair violates, equation 3.2.20; 0 when none does."""
    up, low = thresholds
    violates = low > up
    if not violates.any():
        return 0.0
    up, low = up[violates], low[violates]
    with np.errstate(divide="ignore", over="ignore"):  # low + 0.0: a negative zero divides as zero does
        return max(0.0, float(np.max((low - up) / (low + 0.0))))
