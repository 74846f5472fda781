"""Shrinking: what can still be picked is solved by itself, and the result is that of all."""

import numpy as np
import pytest

from svmviz import SVC
from svmviz.gram import KernelRows
from svmviz.hessian import Hessian
from svmviz.kernels import GaussianKernel
from svmviz.machines import ad_svm, mc_svm, nu_svc, svc, svr
from svmviz.smo import Options
from svmviz.smo.loop import Loop
from svmviz.smo.shrinking import active_part

SMALLEST_CACHE = 0.01


def samples(n):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 2)) + np.repeat([[-0.9, 0.0], [0.9, 0.0]], n // 2, axis=0)
    return X, np.repeat([-1.0, 1.0], n // 2)


def problems():
    X, signs = samples(400)
    codes = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    return {
        "C-SVC": svc.dual_problem(signs, 10.0),
        "epsilon-SVR": svr.dual_problem(np.sin(2 * X[:, 0]) + 0.3 * signs * X[:, 1], 5.0, 0.1),
        "nu-SVC": nu_svc.dual_problem(signs, 0.3),
        "AD-SVM": ad_svm.dual_problem(codes, 0.05, ad_svm.class_links(3)),
        "MC-SVM": mc_svm.dual_problem(codes, 3, 0.2),
    }


@pytest.mark.parametrize("name", problems())
def test_a_shrunk_run_ends_where_a_whole_one_does(name, monkeypatch):
    monkeypatch.setattr("svmviz.smo.loop.ACTIVE_SHARE", 0.95)
    monkeypatch.setattr("svmviz.smo.loop.SHRINKING_INTERVAL", 20)
    problem, X = problems()[name], samples(400)[0]
    shrunk = {}
    for shrinking in (True, False):
        hessian = Hessian(problem, KernelRows(GaussianKernel(1.0), X, SMALLEST_CACHE))
        loop = Loop(problem, hessian, Options(tol=1e-6, shrinking=shrinking, newton=name != "MC-SVM"))
        shrunk[shrinking] = loop.run()
        assert (loop._shrunk > 0) == shrinking
    ours, whole = shrunk[True].certificate, shrunk[False].certificate
    assert ours.status == whole.status == "optimal"
    assert abs(ours.objective - whole.objective) <= ours.gap + whole.gap
    z = shrunk[True].z
    assert problem.is_feasible(z)
    exact = Hessian(problem, GaussianKernel(1.0)(X, X), True)
    assert problem.violation(z, exact.gradient(z)) <= 1.01e-6


def test_the_part_has_the_gradient_of_the_whole():
    problem, X = problems()["C-SVC"], samples(400)[0]
    hessian = Hessian(problem, KernelRows(GaussianKernel(1.0), X, SMALLEST_CACHE))
    rng = np.random.default_rng(0)
    z = np.zeros(400)
    z[:100], z[300:] = problem.lo[:100], problem.hi[300:]
    gradient = hessian.gradient(z)
    active = np.flatnonzero(rng.random(400) < 0.4)
    part, of_part = active_part(problem, hessian, active, z, gradient)
    np.testing.assert_allclose(of_part.gradient(z[active]), gradient[active], atol=1e-9)
    assert part.sums[0] + np.delete(z, active).sum() == pytest.approx(z.sum(), abs=1e-9)


@pytest.mark.parametrize("most", [150, 215, 300])
def test_the_limit_on_the_pairs_is_that_of_the_parts_too(most, monkeypatch):
    monkeypatch.setattr("svmviz.smo.loop.ACTIVE_SHARE", 0.95)
    monkeypatch.setattr("svmviz.smo.loop.SHRINKING_INTERVAL", 20)
    problem, X = problems()["C-SVC"], samples(400)[0]
    hessian = Hessian(problem, KernelRows(GaussianKernel(1.0), X, SMALLEST_CACHE))
    loop = Loop(problem, hessian, Options(tol=1e-12, max_iter=most, newton=False))
    solution = loop.run()
    assert loop._shrunk > 0
    assert solution.certificate.status == "capped"
    assert solution.certificate.iterations == most
    assert problem.is_feasible(solution.z)


def test_the_estimators_parameter_says_whether(monkeypatch):
    shrunk = []

    def counted(*arguments):
        shrunk.append(arguments)
        return active_part(*arguments)

    monkeypatch.setattr("svmviz.smo.loop.active_part", counted)
    monkeypatch.setattr("svmviz.smo.loop.ACTIVE_SHARE", 0.95)
    monkeypatch.setattr("svmviz.smo.loop.SHRINKING_INTERVAL", 20)
    X, y = samples(600)
    off = SVC(C=10.0, gamma=1.0, cache_size=0.3, shrinking=False).fit(X, y).certificate_
    assert not shrunk
    SVC(C=10.0, gamma=1.0).fit(X, y)
    assert not shrunk  # all rows fit
    on = SVC(C=10.0, gamma=1.0, cache_size=0.3).fit(X, y).certificate_
    assert shrunk
    assert on.status == off.status == "optimal"
    assert abs(on.objective - off.objective) <= on.gap + off.gap


def test_the_rounding_of_huge_multipliers_that_are_held_leaves_a_problem_of_tiny_ones():
    C = np.full(200, 1e-10)
    C[:2] = 1e11
    X = np.random.default_rng(0).normal(size=(200, 2))
    problem = svc.dual_problem(np.tile([1.0, -1.0], 100), C)
    hessian = Hessian(problem, KernelRows(GaussianKernel(1.0), X, 0.0))
    z = np.zeros(200)
    z[:2] = 1e10, -np.nextafter(1e10, 0)
    assert problem.is_feasible(z)
    part, _ = active_part(problem, hessian, np.arange(2, 200), z, hessian.gradient(z))
    assert part.is_feasible(z[2:])
