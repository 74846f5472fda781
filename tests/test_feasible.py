"""A mu that is not feasible, and hulls that meet: the same sentence on every page, with a value that is true."""

import re

import numpy as np
import pytest
from test_slide import workspace_of

from svmviz import MuSVC, NuSVC
from svmviz.ui import fitting, geometry, leaving, lesson, slide, unlearning
from svmviz.ui.feasible import feasible_mu, infeasible_mu, meeting
from svmviz.ui.leaving import MeetingError


@pytest.mark.parametrize(("machine", "several", "least"), [("mu_svm", 1, "0.02"), ("ad_svm", 2, "0.04")])
def test_a_mu_that_is_too_small_is_said_alike_on_every_page_and_the_points_stay(machine, several, least):
    space = workspace_of("overlapping", machine, mu=1e-3, n_prototypes=several)
    said, points = f"μ = 0.001 is not feasible here: {least} is the smallest, ", space.points.copy()
    assert infeasible_mu(space) == fitting.fit(space).message == said + "choose that or more."
    assert lesson.record_run(space, "second_order").message == said + "choose that or more."
    assert unlearning.unlearn_message(space) == said + "choose that or more."
    assert lesson.moved_mu(space, machine) == said + "and this run has it."
    data, path = slide.slide_data(space, "mu", 600)
    assert data["path"]["note"] == said + "and is shown."
    assert data["path"]["value"] == path["start"] == feasible_mu(space, machine)
    np.testing.assert_array_equal(space.points, points)
    space.mu = feasible_mu(space, machine)
    assert infeasible_mu(space) is None
    assert fitting.fit(space).message is None
    assert lesson.moved_mu(space, machine) is None


@pytest.mark.parametrize("machine", ["svc", "nu_svc", "svr"])
def test_other_machines_have_no_mu_to_be_infeasible(machine):
    assert (
        infeasible_mu(workspace_of("sine" if machine == "svr" else "overlapping", machine, mu=1e-3)) is None
    )


def test_the_mu_that_parts_hulls_is_named_and_parts_them():
    space = workspace_of("overlapping", "mu_svm", mu=1.0, kernel="linear")
    said = meeting(space)
    mu = float(re.search(r"choose μ below (0\.\d+), or another kernel", said)[1])
    assert fitting.fit(space).note == said
    assert geometry.critical(space, space.two_classes()) == pytest.approx(mu, rel=2e-3)
    with pytest.raises(MeetingError, match=re.escape(said)):
        leaving.solve(space)
    X, y = space.points, space.labels
    apart, met = (MuSVC(mu=m, kernel="linear", tol=1e-9).fit(X, y).rho_ for m in (0.995 * mu, 1.005 * mu))
    assert apart > 1e-6 > met


def test_the_nu_that_parts_hulls_is_named_and_parts_them():
    space = workspace_of("overlapping", "nu_svc", nu=0.2, kernel="linear")
    said = meeting(space)
    nu = float(re.search(r"choose ν above (0\.\d+), or another kernel", said)[1])
    assert fitting.fit(space).note == said
    apart, met = (
        NuSVC(nu=n, kernel="linear", tol=1e-9).fit(space.points, space.labels)
        for n in (1.005 * nu, 0.995 * nu)
    )
    assert apart.certificate_.objective > 1e-8 > met.certificate_.objective


def test_hulls_that_always_meet_need_another_kernel():
    space = workspace_of("overlapping", "mu_svm", mu=1.0, kernel="linear")
    space.points = np.vstack([space.points[:50], space.points[:50]])
    assert meeting(space).endswith("choose another kernel.")
    assert "μ below" not in meeting(space)
