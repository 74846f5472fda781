"""Reduced hulls that meet: w is 0 but for rounding, and so are the eigenvalues of a smooth kernel."""

from dataclasses import replace

import numpy as np
import pytest
from walks import faults

from svmviz import MuSVC, NuSVC, leave_one_out, path
from svmviz.kernels import make_kernel
from svmviz.machines import ad_svm
from svmviz.problem import MEETS
from svmviz.smo import Options, SMOReducedHulls, minimize
from svmviz.walk.levels import vanishes
from svmviz.walk.posed import exact
from svmviz.walk.posing import pose

SEEDS = range(60)


def overlapping(seed, n=40):
    """One feature that says nothing of the class; and a mu and a gamma."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 1)), np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    least = ad_svm.smallest_mu((y > 0).astype(int))
    return X, y, float(rng.uniform(1.3 * least, 1)), float(10 ** rng.uniform(-1, 0.5))


def least_objective(problem, hessian):
    """The objective of a minimisation of its own, as far as pairs and Newton steps get."""
    solution = minimize(problem, hessian.with_problem(problem), Options(tol=1e-13, max_iter=5000))
    return solution.certificate.objective


@pytest.mark.parametrize("part", range(4))
def test_whoever_leaves_is_unlearned(part):
    """Every walk arrives at an optimum: by its violation, and by the objective of a fit without the sample."""
    walked = 0
    for seed in SEEDS[part::4]:
        X, y, mu, gamma = overlapping(seed)
        kernel = make_kernel("rbf", X, gamma=gamma)
        machine = SMOReducedHulls(X=X, y=(y > 0).astype(int), kernel=kernel, mu=mu).minimize()
        for i in machine.samples[machine.alphas > 0][:2].tolist():
            out = machine._problem.sample == i
            hi = np.where(out, 0.0, machine._problem.hi)
            if (np.bincount(machine._problem.group, hi) < machine._problem.sums - 1e-12).any():
                continue  # the others have no room for what it leaves
            assert machine.unlearn(i) >= 0, (seed, i)
            assert not machine._z[out].any()
            used = machine._z[machine._z > 0]
            assert used.min() > 1e-13 * used.max()  # nothing that rounding has left
            without = replace(machine._problem, hi=hi)
            assert max(faults(without, machine._hessian, machine._z)) < 2e-9, (seed, i)
            found = without.objective(machine._z, machine._gradient)
            size = float(np.abs(machine._z).sum()) ** 2  # of the terms that the objective is the sum of
            assert abs(found - least_objective(without, machine._hessian)) < 1e-10 * size, (seed, i)
            walked += 1
            machine.minimize()
    assert walked > len(SEEDS[part::4])


@pytest.mark.parametrize("part", range(4))
def test_a_path_in_mu_goes_on_where_the_hulls_meet(part):
    """Optimal all along: by its violation, or where w is 0 by its objective, which is never negative."""
    for seed in SEEDS[part::4]:
        X, y, _, gamma = overlapping(seed)
        least = ad_svm.smallest_mu((y > 0).astype(int))
        found = path(MuSVC(gamma=gamma), X, y, "mu", least, 1.0)
        assert len(found.events) == found.walk.n_events
        assert found.events[-1].kind == "arrived"
        for mu in np.random.default_rng(seed).uniform(least, 1, 8).tolist():
            posed = pose(MuSVC(gamma=gamma), X, y, mu=mu)
            z = found.multipliers_at(mu)
            violation, sums = faults(posed.problem, posed.hessian, z)
            assert sums < 1e-9
            meets = vanishes(posed.hessian, posed.problem.linear, z, posed.hessian.gradient(z))
            assert violation < 1e-8 or meets, (seed, mu)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_no_decision_value_is_made_of_rounding(seed):
    """Of nu-SVC, which divides by rho: 0 where the hulls meet, and else that of the fit."""
    X, y, mu, gamma = overlapping(seed)
    nu = 2 / (mu * len(X))
    machine = NuSVC(nu=nu, gamma=gamma, tol=1e-10)
    posed = pose(machine, X, y)
    everyone = posed.decisions(walker := exact(posed), np.arange(len(X)))
    model = machine.fit(X, y)
    objective = model.certificate_.objective
    if posed.meets(walker):
        assert not everyone.any()
        assert objective < 1e-9
    elif objective > 1e-8:
        np.testing.assert_allclose(everyone, model.decision_function(X), atol=1e-4)
    left = leave_one_out(machine, X, y)
    # |w|^2 is above its noise wherever anything is divided.
    for values in (everyone, model.decision_function(X), left.decision):
        assert np.abs(values).max() < 2 / np.sqrt(MEETS)


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_each_sample_is_left_out_as_by_a_fit_without_it(seed):
    """Where w is not 0 without it, the decision value is that of the fit."""
    X, y, mu, gamma = overlapping(seed)
    left = leave_one_out(MuSVC(mu=mu, gamma=gamma), X, y)
    kernel = make_kernel("rbf", X, gamma=gamma)
    for i in range(0, len(X), 5):
        rest = np.arange(len(X)) != i
        fit = MuSVC(mu=mu, kernel=kernel, tol=1e-12).fit(X[rest], y[rest])
        if fit.certificate_.objective > 1e-8:
            assert left.decision[i] == pytest.approx(fit.decision_function(X[[i]])[0], abs=1e-7)
