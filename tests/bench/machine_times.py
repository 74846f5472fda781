"""What the machines for several classes take on the thesis's Satimage, and AD-SVM on 5,000 samples of 784 features.

Run it with ``python -m tests.bench.machine_times`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import tracemalloc

import numpy as np

from svmviz import ADSVC, MCSVC
from svmviz.estimators.base import Estimator
from tests.bench.timing import timed
from tests.thesis import load


def peak_bytes(model: Estimator, X: np.ndarray, y: np.ndarray) -> int:
    """Most memory that NumPy holds during a fit, beyond what was there before."""
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def images(n: int = 5000, d: int = 784, n_classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Samples (n, d) that are as spread as standardised images: classes round prototypes, with noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return 0.8 * rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(n_classes, d))[y], y


def main() -> None:
    """Print time and memory of AD-SVM on images, then times and their ratio on Satimage."""
    X, y = images()
    gram = 8 * len(X) ** 2
    model = ADSVC(mu=0.032, gamma=1 / 784)
    took = timed(lambda: model.fit(X, y)).seconds
    print(
        f"AD-SVM, {len(X):,} x {X.shape[1]}: {took:.1f} s, {model.n_iter_:,} pairs, {model.certificate_.status}"
    )
    share = peak_bytes(model, X, y) / gram
    print(f"  memory beyond the data: {share:.2f} times the Gram matrix of {gram / 2**20:.0f} MB")

    X, y, _, _ = load("satimage")
    ad, mc = ADSVC(mu=0.034, gamma=1 / 2.828), MCSVC(beta=0.5, gamma=1 / 4)
    times = [timed(lambda m=model: m.fit(X, y)).seconds for model in (ad, mc)]
    for model, took in zip((ad, mc), times, strict=True):
        c = model.certificate_
        print(f"{model}: {took:.1f} s, {c.iterations:,} pairs, {c.kernel_values:,} kernel values, {c.status}")
    print(
        f"  MC-SVM takes {times[1] / times[0]:.1f} times as long as AD-SVM on Satimage (4,435 samples, 6 classes)"
    )


if __name__ == "__main__":
    main()
