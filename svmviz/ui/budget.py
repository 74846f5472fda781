"""How much work the solver may do for a drawing that follows the pen.

What a pair costs, with its share of the Newton phases, grows about with the root of the number of variables, from a
tenth of a millisecond at 100 to half of one at 2,000; beyond, no faster. A machine that has used up its part stops
with the status "capped", and the page says so.
"""

import math

from svmviz.problem import Certificate

WORK = 100_000
"""Pairs times the root of the variables that a page may spend: about a second of one core, all machines together."""

MOST_VARIABLES = 2000
"""More than so many variables make a pair no dearer."""

PART_SECONDS = 0.15
"""What takes long is computed in parts of about this length, and the browser hears of each."""

LEAST_PAIRS = 100
"""Every machine may move so many."""

EARLY = (
    "The solver stopped early, so as not to keep you waiting: the gap says how far it is from the optimum."
)


def pair_limit(variables: float, machines: int = 1, part: float = 1.0) -> int:
    """Most pairs that each of some machines may move.

    Parameters
    ----------
    variables : float
        Of the dual problem of one machine.
    machines : int, default 1
        How many are trained, one after the other.
    part : float, default 1
        What part of the page's work is theirs.

    Returns
    -------
    int
        For the `max_iter` of an estimator.
    """
    each = WORK * part / machines / math.sqrt(max(1.0, min(variables, MOST_VARIABLES)))
    return max(LEAST_PAIRS, int(each))


def early(certificate: Certificate) -> str | None:
    """One sentence when the solver has used up its work, or None."""
    return EARLY if certificate.status == "capped" else None


def sentences(*parts: str | None) -> str | None:
    """Those that there are, one after the other, each once."""
    return " ".join(dict.fromkeys(part for part in parts if part)) or None
