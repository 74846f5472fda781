"""Features of any size: the walk is right, or it says in one sentence what to change."""

import numpy as np
import pytest

from svmviz import MCSVC, SVC, SVR, InvalidProblemError, MuSVC, NuSVC, NuSVR, leave_one_out, path
from svmviz.kernels import make_kernel
from svmviz.smo import SMOClassifier
from tests.solver.test_paths import CODES, SIGNS, TARGETS, X

SIZES = (1e-8, 1e-4, 1e4, 1e8)

# With C over the square of the features' size; nothing depends on the size then. MC-SVM has beta in the place of 1/C.
MACHINES = {
    "C-SVC": (lambda C: SVC(C=C, kernel="linear"), SIGNS),
    "C-SVC, squared": (lambda C: SVC(C=C, kernel="linear", loss="squared_hinge"), SIGNS),
    "SVR": (lambda C: SVR(C=C, kernel="linear"), TARGETS),
    "nu-SVR": (lambda C: NuSVR(C=C, kernel="linear"), TARGETS),
    "MC-SVM": (lambda C: MCSVC(beta=1.0 / C, kernel="linear"), CODES),
}


def relative(found, expected):
    """The largest difference, relative to the largest value."""
    return np.abs(found - expected).max() / np.abs(expected).max()


def decisions(found, samples, C):
    """Decision values at the samples by the machine at C of a path over a linear kernel."""
    return samples @ (samples.T @ found.at(C)) + found.bias_at(C)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MACHINES)
def test_what_does_not_depend_on_the_size_of_the_features_does_not(name, size):
    make, y = MACHINES[name]
    large, small = leave_one_out(make(size**-2), size * X, y), leave_one_out(make(1.0), X, y)
    assert relative(large.decision, small.decision) < 1e-10
    if name == "MC-SVM":
        return
    large, small = path(make(1.0), size * X, y, "C", 0.1 / size**2, 10 / size**2), path(make(1.0), X, y)
    for C in np.random.default_rng(0).uniform(0.1, 10.0, 10):
        told, expected = decisions(large, size * X, C / size**2), decisions(small, X, C)
        # The bias may be an interval, whose middle shifts all of them.
        assert np.ptp(told - expected) < 1e-10 * np.abs(expected).max()


def asked(make, y, samples, C, name):
    """Decisions of leave-one-out, and of the path; in their place what is said where there are none."""
    told = []
    for ask in (
        lambda: leave_one_out(make(C), samples, y).decision,
        lambda: decisions(path(make(C), samples, y, "C", 0.1 * C, 10 * C), samples, 5 * C),
    )[: 1 if name == "MC-SVM" else 2]:
        try:
            told.append(ask())
        except InvalidProblemError as error:
            told.append(str(error))
    return told


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MACHINES)
def test_at_the_same_C_a_machine_is_right_or_refused(name, size):
    """Against features of size 1, which are rounded elsewhere: where they differ, neither can be believed."""
    make, y = MACHINES[name]
    large, small = asked(make, y, size * X, 1.0, name), asked(make, y, X, size**2, name)
    for found, expected in zip(large, small, strict=True):
        if size == 1e8:
            assert "scale the features" in found
        else:
            assert np.ptp(found - expected) < 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("machine", [SVC(gamma="scale"), SVR(gamma="scale"), NuSVC(nu=0.4), MuSVC(mu=0.1)])
def test_a_gaussian_kernel_scales_itself(machine, size):
    y = TARGETS if isinstance(machine, SVR) else SIGNS
    large, small = leave_one_out(machine, size * X, y), leave_one_out(machine, X, y)
    assert relative(large.decision, small.decision) < 1e-10


@pytest.mark.parametrize("size", SIZES)
def test_unlearning_is_right_or_not_done(size):
    def machine(samples, C):
        return SMOClassifier(X=samples, y=SIGNS, kernel=make_kernel("linear", samples), C=C, tol=1e-8)

    large, small = machine(size * X, size**-2).minimize(), machine(X, 1.0).minimize()
    left = int(np.flatnonzero(small.alphas)[0])
    assert large.unlearn(left) >= 0
    assert small.unlearn(left) >= 0
    assert large._gradient == pytest.approx(small._gradient, abs=1e-9)
    if size == 1e8:
        assert machine(size * X, 1.0).unlearn(left) == -1
