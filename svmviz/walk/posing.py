"""From an estimator and its data to the dual problem that it solves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmviz.checks import (
    check_choice,
    check_labels,
    check_number,
    check_present,
    check_samples,
    check_targets,
    check_weights,
)
from svmviz.errors import InvalidProblemError
from svmviz.estimators import ADSVC, MCSVC, SVC, SVR, MuSVC, NuSVC, NuSVR, OneClassSVM, OneVsRestSVC
from svmviz.estimators.base import Estimator
from svmviz.estimators.svc import upper_bounds
from svmviz.gram import KernelRows
from svmviz.kernels import make_kernel
from svmviz.machines import ad_svm, mc_svm, nu_svc, nu_svr, one_class, svc, svr
from svmviz.walk.posed import CrammerSinger, Function, OneClass, Posed, Prototypes, TwoGroups
from svmviz.walk.record import Rates

Array = np.ndarray


def pose(estimator: Estimator, X: Any, y: Any = None, sample_weight: Any = None, **changed: float) -> Posed:
    """The problem that an estimator would solve for samples X (n, d) with labels or targets y (n,).

    Parameters
    ----------
    estimator : Estimator
        It is not fitted, and not changed.
    X : array (n, d)
    y : array (n,), optional
        Not for `OneClassSVM`.
    sample_weight : array (n,), optional
        As of the estimator's `fit`; `ADSVC` and `MuSVC` take none.
    **changed
        Parameters that take other values than the estimator's.

    Raises
    ------
    InvalidProblemError
        For data or parameters that cannot be used, a kernel that is not positive semidefinite, or `SVC`, `NuSVC` and
        `OneVsRestSVC` with more than two classes: those are several problems, see `svmviz.walk.multiclass`.
    """
    return pose_given(Given.of(estimator, X, y, sample_weight, **changed))


def pose_given(given: Given) -> Posed:
    """`pose` for what it was given."""
    estimator = given.estimator
    make = next((make for kind, make in _MAKERS.items() if isinstance(estimator, kind)), None)
    if make is None:
        raise InvalidProblemError(f"{type(estimator).__name__} is no machine that can be walked.")
    posed: Posed = make(given)
    given.check_kernel()
    return posed


@dataclass(frozen=True)
class Given:
    """An estimator and what it is to be trained on.

    Attributes
    ----------
    estimator : Estimator
        A copy.
    X : ndarray (n, d)
    y : object
        Labels or targets as they came.
    weights : ndarray (n,)
        Of the samples.
    rows : KernelRows
        Of the Gram matrix.
    """

    estimator: Any
    X: Array
    y: Any
    weights: Array
    rows: KernelRows

    @classmethod
    def of(cls, estimator: Estimator, X: Any, y: Any, sample_weight: Any, **changed: float) -> Given:
        """What `pose` was given; raises like it."""
        X = check_samples(X)
        if sample_weight is not None and isinstance(estimator, (ADSVC, MuSVC)):
            raise InvalidProblemError(f"{type(estimator).__name__} takes no sample_weight: leave it out.")
        estimator = type(estimator)(**(estimator.get_params() | changed))
        kernel = make_kernel(
            estimator.kernel, X, gamma=estimator.gamma, degree=estimator.degree, coef0=estimator.coef0
        )
        rows = KernelRows(kernel, X, estimator.cache_size)
        return cls(estimator, X, y, check_weights(sample_weight, len(X)), rows)

    def check_kernel(self) -> None:
        """InvalidProblemError for a kernel that cannot be walked with."""
        if not self.rows.positive_semidefinite:
            raise InvalidProblemError(
                "A walk needs a kernel that is positive semidefinite: choose another kernel."
            )

    def classes(self) -> tuple[Array, Array]:
        """The classes, and the code of each sample (n,)."""
        classes, codes = np.unique(check_labels(self.y, self.X), return_inverse=True)
        if len(classes) < 2:
            raise InvalidProblemError("There is only one class: add samples of a second class.")
        return classes, codes

    def targets(self) -> Array:
        """Targets of a regression (n,)."""
        return check_targets(self.y, self.X)

    def bounds(self) -> Array:
        """The largest multiplier of each sample (n,) of a machine of two classes, over C where it has one."""
        if isinstance(self.estimator, NuSVC):
            return self.weights
        return upper_bounds(1.0, self.estimator.class_weight, check_labels(self.y, self.X), self.weights)


def pose_two(
    given: Given, classes: Array | None, signs: Array, bounds: Array, samples: Array | None = None
) -> Posed:
    """Two classes that are told apart by `SVC`, `OneVsRestSVC` or `NuSVC`.

    Parameters
    ----------
    given : Given
    classes : ndarray (2,), optional
        Their labels.
    signs : ndarray (m,)
        1 for samples of the second, -1 for those of the first.
    bounds : ndarray (m,)
        As of `Given.bounds`.
    samples : ndarray (m,) of int, optional
        Which samples they are; default: all.

    Raises
    ------
    InvalidProblemError
        For parameters that cannot be used.
    """
    estimator = given.estimator
    posed: Function
    if isinstance(estimator, NuSVC):
        posed, problem = TwoGroups(classes, scaled=True), nu_svc.dual_problem(signs, estimator.nu, bounds)
    else:
        posed = Function(classes, _loss_rates(signs, bounds, estimator.loss != svc.LOSSES[0]))
        check_number("C", estimator.C)
        problem = svc.dual_problem(signs, estimator.C * bounds, estimator.loss)
    if samples is not None:
        problem = replace(problem, sample=samples[problem.sample])
    posed.pose(problem, given.rows)
    return posed


def _pose_two_classes(given: Given) -> Posed:
    classes, codes = given.classes()
    if len(classes) > 2:
        raise InvalidProblemError(
            f"A walk of this machine needs two classes, not {len(classes)}: take two at a time, or MCSVC or ADSVC."
        )
    bounds = given.bounds()
    check_present(codes, bounds)
    return pose_two(given, classes, np.where(codes == 1, 1.0, -1.0), bounds)


def _loss_rates(signs: Array, weights: Array, squared: bool) -> Rates:
    """What C moves, for signs and weights (n,): the bounds, or where the loss is squared the diagonal."""
    if squared:
        return Rates(diagonal=svc.box(weights, squared)[1])
    return Rates(lo=np.where(signs > 0, 0.0, -weights), hi=np.where(signs > 0, weights, 0.0))


def _pose_svr(given: Given) -> Posed:
    estimator, weights = given.estimator, given.weights
    bounds = svc.upper_bounds(estimator.C, len(weights)) * weights
    problem = svr.dual_problem(given.targets(), bounds, estimator.epsilon, estimator.loss)
    sides, squared = np.repeat([1.0, -1.0], len(weights)), estimator.loss != svr.LOSSES[0]
    posed = Function(unit=_loss_rates(sides, np.tile(weights, 2), squared), by_epsilon=True)
    posed.pose(problem, given.rows)
    return posed


def _pose_nu_svr(given: Given) -> Posed:
    estimator, targets, weights = given.estimator, given.targets(), given.weights
    one = nu_svr.dual_problem(targets, weights, estimator.nu)
    posed = TwoGroups(unit=Rates(lo=one.lo, hi=one.hi, sums=one.sums))
    bounds = svc.upper_bounds(estimator.C, len(weights)) * weights
    posed.pose(nu_svr.dual_problem(targets, bounds, estimator.nu), given.rows)
    return posed


def _pose_one_class(given: Given) -> Posed:
    posed = OneClass()
    posed.pose(one_class.dual_problem(len(given.X), given.estimator.nu, given.weights), given.rows)
    return posed


def _pose_prototypes(given: Given) -> Posed:
    estimator, is_mu_svc = given.estimator, isinstance(given.estimator, MuSVC)
    classes, codes = given.classes()
    if is_mu_svc and len(classes) > 2:
        raise InvalidProblemError(f"The machine needs two classes, not {len(classes)}.")
    n_prototypes = 1 if is_mu_svc else int(estimator.n_prototypes)
    mu = ad_svm.check_mu(check_number("mu", estimator.mu), codes, n_prototypes)
    links = ad_svm.class_links(len(classes), None if is_mu_svc else estimator.pair_weights)
    prototype, owner = ad_svm.divide(given.rows, codes, mu, n_prototypes)
    rule = "nearest" if is_mu_svc else estimator.rule
    check_choice("rule", rule, ad_svm.RULES)
    posed = Prototypes(classes, owner, rule, is_mu_svc)
    posed.pose(ad_svm.dual_problem(prototype, mu, links[np.ix_(owner, owner)]), given.rows)
    return posed


def _pose_crammer_singer(given: Given) -> Posed:
    classes, codes = given.classes()
    posed = CrammerSinger(classes)
    posed.pose(mc_svm.dual_problem(codes, len(classes), given.estimator.beta, given.weights), given.rows)
    return posed


_MAKERS: dict[type, Any] = {
    SVC: _pose_two_classes,
    OneVsRestSVC: _pose_two_classes,
    SVR: _pose_svr,
    NuSVC: _pose_two_classes,
    NuSVR: _pose_nu_svr,
    OneClassSVM: _pose_one_class,
    MuSVC: _pose_prototypes,
    ADSVC: _pose_prototypes,
    MCSVC: _pose_crammer_singer,
}
