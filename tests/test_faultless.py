"""The smallest value on a path without a training error, beside machines that are fitted below and above it."""

from dataclasses import replace

import numpy as np
import pytest
from test_slide import table, workspace_of

from svmviz import SVC, path
from svmviz.ui import faultless, path_knots, slide
from svmviz.ui.estimators import machine_of

PARTED = [
    ("moons", "svc", "C", {}),
    ("three_classes", "svc", "C", {}),
    ("overlapping", "svc", "C", {"kernel": "rbf", "gamma": 5.0}),
    ("moons", "svc", "C", {"loss": "squared"}),
    ("moons", "mu_svm", "mu", {"kernel": "rbf", "gamma": 2.0}),
    ("moons", "ad_svm", "mu", {"kernel": "rbf", "gamma": 2.0}),
    ("three_classes", "ad_svm", "mu", {"kernel": "rbf", "gamma": 20.0}),
    ("sine", "svr", "epsilon", {}),
    ("sine", "svr", "C", {"epsilon": 0.3}),
    ("sine", "svr", "epsilon", {"loss": "squared"}),
]


def faults(space, samples, parameter, value):
    """How many samples a fit takes for another class, or leaves outside of its tube."""
    machine = machine_of(replace(space, **{parameter: value}), tol=1e-10).fit(samples.X, samples.y)
    if space.task == "regression":
        epsilon = value if parameter == "epsilon" else space.epsilon
        return np.sum(np.abs(samples.y - machine.predict(samples.X)) > epsilon + 1e-7)
    if space.machine == "mu_svm":  # the page draws the bisector of the link
        coef, offset, _ = machine.prototypes_.bisector()
        K = space.kernel_on(samples.X)(samples.X, samples.X)
        return np.sum((K @ coef + offset > 0) != (samples.y == np.unique(samples.y)[1]))
    return np.sum(machine.predict(samples.X) != samples.y)


@pytest.mark.parametrize(("example", "machine", "parameter", "changes"), PARTED)
def test_fits_below_make_an_error_and_one_above_makes_none(example, machine, parameter, changes):
    space = workspace_of(example, machine, **changes)
    samples, scale = slide.samples_of(space), slide.scale_of(space, parameter)
    _, entry = slide.slide_data(space, parameter, 600)
    value = entry["faultless"]
    assert scale.start < value < scale.stop
    assert faults(space, samples, parameter, value * (1 + 1e-5)) == 0
    assert faults(space, samples, parameter, value * (1 - 1e-4)) > 0
    for below in scale.values(25)[:-1]:
        assert below > value or faults(space, samples, parameter, below) > 0
    if entry["curved"]:  # the browser is exact there, not drawn by a line
        assert value in entry["knots"]
        assert len(table(entry, "status", np.uint8)) == len(entry["knots"]) - 1


@pytest.mark.parametrize(
    ("example", "machine", "parameter"),
    [("overlapping", "svc", "C"), ("overlapping", "mu_svm", "mu"), ("sine", "nu_svr", "C")],
)
def test_no_value_is_said_to_be_none(example, machine, parameter):
    assert slide.slide_data(workspace_of(example, machine), parameter, 600)[1]["faultless"] is None


@pytest.mark.parametrize("seed", range(8))
def test_the_bias_is_the_middle_where_no_multiplier_is_free(seed):
    """Few samples at small C, all of them at it: the error ends where the middle of an interval says so."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(-0.7, 0.6, (4, 2)), rng.normal(0.7, 0.6, (3, 2))])
    y = np.repeat([0, 1], [4, 3])
    found = path(SVC(kernel="linear"), X, y, "C", 1e-3, 100.0)
    value = faultless.first_faultless(found, path_knots.knots_of(found), y)
    for C in [*np.geomspace(1e-3, 100.0, 80), *([value * (1 - 1e-6), value * (1 + 1e-6)] if value else [])]:
        wrong = np.sum(SVC(C=C, kernel="linear", tol=1e-12).fit(X, y).predict(X) != y)
        if value is None or value > C:
            assert wrong > 0
        elif value * 1.00001 > C:
            assert wrong == 0


def test_the_first_value_of_the_path_is_taken_as_it_is():
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1])
    found = path(SVC(kernel="linear"), X, y, "C", 0.01, 10.0)
    assert faultless.first_faultless(found, path_knots.knots_of(found), y) == 0.01
