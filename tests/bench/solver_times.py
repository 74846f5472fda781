"""What recording a trace costs, and how nasty problems end. Times beside LIBSVM are in `tests.bench.libsvm`.

Run it with ``python -m tests.bench.solver_times`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from svmviz import record
from svmviz.kernels import GaussianKernel
from svmviz.machines import svc
from svmviz.smo import Options, minimize
from svmviz.smo.selection import NAMES
from tests.bench.samples import two_clouds
from tests.bench.timing import median_seconds
from tests.zoo import nasty_case


def nasty_problems(count: int = 100) -> str:
    """How the nasty problems of the tests end at the default limits, where an endless loop would show."""
    rng = np.random.default_rng(13)
    certificates = []
    for k in range(count):
        case = nasty_case(rng)
        options = Options(selection=NAMES[k % len(NAMES)])
        certificates.append(minimize(case.problem, case.hessian, options).certificate)
    ends = Counter(c.status for c in certificates)
    most = max(c.iterations for c in certificates)
    return f"{', '.join(f'{n} {status}' for status, n in ends.most_common())}; at most {most:,} pairs"


def main() -> None:
    """Print the time of a recording, and how nasty problems end."""
    X, y = two_clouds(300)
    problem = svc.dual_problem(y, 100.0)
    seconds = median_seconds(
        lambda: record("C-SVC", X, y, GaussianKernel(1.0), {"C": 100.0}, problem, Options(), max_steps=1000)
    )
    print(f"Recording 1,000 steps on 300 points: {seconds:.2f} s")
    print(f"Nasty problems: {nasty_problems()}")


if __name__ == "__main__":
    main()
