"""How long the solver takes beside scikit-learn's LIBSVM, and what recording a trace costs.

Run it with ``python -m tests.bench.solver_times`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from sklearn import svm

from svmviz import SVC, record
from svmviz.kernels import GaussianKernel
from svmviz.machines import svc
from svmviz.smo import Options, minimize
from svmviz.smo.selection import NAMES
from tests.zoo import nasty_case

REPEATS = 5


def two_clouds(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes in the plane: points (n, 2) and signs (n,)."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-0.8, 1, (n // 2, 2)), rng.normal(0.8, 1, (n - n // 2, 2))])
    return X, np.repeat([-1.0, 1.0], [n // 2, n - n // 2])


def median_seconds(run: Callable[[], object]) -> float:
    """Median time of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


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
    """Print the table, the time of a recording, and how nasty problems end."""
    print("Time of SVC over that of LIBSVM, Gaussian kernel, gamma 1, tol 1e-3")
    print("     n        C   ratio   gap here")
    for n in (200, 500, 1000):
        X, y = two_clouds(n)
        for C in (1.0, 100.0, 1e4):
            ours, theirs = SVC(C=C, gamma=1.0), svm.SVC(C=C, gamma=1.0)
            ratio = median_seconds(lambda m=ours, X=X, y=y: m.fit(X, y)) / median_seconds(
                lambda m=theirs, X=X, y=y: m.fit(X, y)
            )
            print(f"{n:6d} {C:8g} {ratio:7.2f}   {ours.certificate_.gap:.1e}")

    X, y = two_clouds(300)
    problem = svc.dual_problem(y, 100.0)
    seconds = median_seconds(
        lambda: record("C-SVC", X, y, GaussianKernel(1.0), {"C": 100.0}, problem, Options(), max_steps=1000)
    )
    print(f"Recording 1,000 steps on 300 points: {seconds:.2f} s")
    print(f"Nasty problems: {nasty_problems()}")


if __name__ == "__main__":
    main()
