"""No fit that follows the pen takes long: all share one budget, and what it ended says so."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from test_fitting import loaded

from svmviz.ui import budget, compare, geometry
from svmviz.ui.budget import EARLY, LEAST_PAIRS, WORK, pair_limit
from svmviz.ui.distances import all_distances, trained
from svmviz.ui.fitting import fit


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A session of its own for every test, without a server."""
    monkeypatch.setattr(geometry, "st", SimpleNamespace(session_state={}))


def crowd(n=600, classes=6, **changes):
    """Overlapping classes on a ring."""
    space = loaded("six_classes", **changes)
    rng = np.random.default_rng(0)
    space.labels = np.arange(n) % classes
    angles = 2 * np.pi * space.labels / classes
    space.points = 2 * np.column_stack([np.cos(angles), np.sin(angles)]) + rng.normal(size=(n, 2))
    return space


def test_more_variables_and_more_machines_mean_fewer_pairs_each():
    assert pair_limit(100) == WORK / 10
    assert pair_limit(400) == WORK / 20
    assert pair_limit(400, machines=4) == WORK / 80
    assert pair_limit(400, part=0.5) == WORK / 40
    assert pair_limit(12_000) == pair_limit(2000)
    assert pair_limit(2000, machines=1000) == LEAST_PAIRS


@pytest.mark.parametrize(
    ("changes", "variables"),
    [
        ({"classifier": "svc", "C": 1e5}, 200),
        ({"classifier": "mc_svm", "beta": 1e-3}, 3600),
        ({"classifier": "nu_svc", "nu": 0.5, "tol": 1e-6}, 200),
        ({"classifier": "ad_svm", "mu": 0.2, "tol": 1e-6}, 600),
    ],
)
def test_no_machine_does_more_than_a_page_may(changes, variables):
    outcome = fit(crowd(kernel="poly", **changes))
    limit = WORK / math.sqrt(min(variables, budget.MOST_VARIABLES))
    assert outcome.certificate.iterations <= limit
    assert (outcome.certificate.status == "capped") == (outcome.note is not None and EARLY in outcome.note)


def test_all_machines_of_a_comparison_share_the_work():
    outcome = compare.compare(space := crowd(kernel="poly", C=1e5), np.zeros(600, bool))
    spent = 0.0
    for rival, machines in zip(outcome.rivals, (6, 15, 1, 1), strict=True):
        spent += rival.pairs * math.sqrt(min(rival.variables / machines, budget.MOST_VARIABLES))
    assert spent <= 2 * WORK
    assert not outcome.rivals[2].finished
    assert "early" in compare.words(outcome, space)


@pytest.mark.parametrize("machine", ["svc", "nu_svc", "mu_svm", "ad_svm", "mc_svm"])
def test_a_machine_that_stopped_early_says_so_in_one_sentence(machine, monkeypatch):
    monkeypatch.setattr(budget, "LEAST_PAIRS", 1)
    monkeypatch.setattr(budget, "WORK", 1)
    outcome = fit(loaded("overlapping", classifier=machine, tol=1e-6, mu=0.2, nu=0.7))
    assert outcome.certificate.status == "capped"
    assert outcome.note.count(EARLY) == 1
    assert "hulls meet, so" not in outcome.note
    assert outcome.model.get("regions", True)


def test_the_pages_of_hulls_say_so_too(monkeypatch):
    monkeypatch.setattr(budget, "LEAST_PAIRS", 1)
    monkeypatch.setattr(budget, "WORK", 1)
    space = loaded("overlapping", kernel="rbf", mu=0.2)
    assert EARLY in geometry.two_hulls(space)[0]["note"]
    shown, _ = all_distances(space)
    assert shown["note"] == EARLY
    assert "stopped after" in shown["certificate"]["status"]


def test_with_very_many_points_the_pages_of_hulls_are_content_with_less():
    machine, _ = trained(crowd(1200, kernel="rbf"), 0.1)
    assert machine.tol == geometry.ROUGH_TOLERANCE
    machine, _ = trained(crowd(300, kernel="rbf"), 0.1)
    assert machine.tol == geometry.TOLERANCE
