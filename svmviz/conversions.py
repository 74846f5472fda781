"""nu, mu and C as one family: a machine that is trained is also the solution of its relatives.

With alpha the multipliers of the C-SVC and m the number of samples, of two classes and of equal weight:

    C-SVC     alpha                 0..C    f                       b
    nu-SVC    alpha / C             0..1    f, divided by rho = 1/C (scikit-learn's scale)
    mu-SVM    u = 2 alpha / sum     0..mu   2 f / sum               the margin at rho = 2 / sum

with nu = (sum of alpha) / (C m) and mu = 2 / (nu m) (Chang, Lin: Training nu-support vector classifiers, 2001,
theorem 3; Crisp, Burges: A geometric interpretation of nu-SVM classifiers, 1999; thesis 2.1.48, where u = u' m should
read u = 2 u' / nu). For regression nu = (sum of alpha and alpha*) / (C m), and epsilon is the half-width that nu
finds (Chang, Lin: Training nu-support vector regression, 2002).

nu grows as C falls. Its largest value makes the smaller class all support vectors. Down to some nu, 0 where the
classes can be separated, the reduced convex hulls keep apart; from there on they meet, and no C gives that machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linprog

from svmviz.checks import check_labels, check_targets
from svmviz.errors import InvalidProblemError
from svmviz.estimators import SVC, SVR, MuSVC, NuSVC, NuSVR
from svmviz.estimators.base import Estimator
from svmviz.estimators.pairwise import ClassPair
from svmviz.gram import gram_matrix, kernel_rows
from svmviz.hessian import Hessian
from svmviz.machines import ad_svm, expansion, nu_svc, nu_svr, svc, svr
from svmviz.problem import EPS, DualProblem
from svmviz.smo.loop import Options, Solution, minimize

Array = np.ndarray
Target = TypeVar("Target", bound=Estimator)

CLASSIFIERS = (SVC, NuSVC, MuSVC)
REGRESSORS = (SVR, NuSVR)
_SHARED = ("kernel", "degree", "gamma", "coef0", "max_iter", "selection", "newton", "shrinking", "cache_size")


@dataclass(frozen=True)
class Ranges:
    """For which nu and mu there is a machine, and for which there is a C with the same one.

    Attributes
    ----------
    nu_meet, nu_most : float
        nu is feasible above 0 and up to nu_most. Above nu_meet there is a C; at or below it the reduced hulls meet.
        nu_meet is 0 where the classes can be separated.
    mu_least, mu_meet : float
        mu is feasible from mu_least to 1. Below mu_meet there is a C; inf where the classes can be separated.
    """

    nu_meet: float
    nu_most: float
    mu_least: float
    mu_meet: float

    def sentence(self) -> str:
        """Where a C exists, in words."""
        mu = f"below {self.mu_meet:.6g}" if self.mu_meet <= 1 else "at most 1"
        return (
            f"nu must be above {self.nu_meet:.6g} and at most {self.nu_most:.6g}, "
            f"mu at least {self.mu_least:.6g} and {mu}"
        )


def ranges(K: Array, signs: Array) -> Ranges:
    """The ranges of nu and mu over a Gram matrix.

    The largest nu at which the hulls meet is the least sum of hinge losses without a regulariser, a linear program,
    over m. It is solved in the span of the samples in feature space.

    Parameters
    ----------
    K : ndarray (m, m)
    signs : ndarray (m,)
        +1 or -1 for each sample.
    """
    m = len(signs)
    values, vectors = eigh(K)
    # Directions that are there by rounding only do not separate anything.
    span = vectors[:, values > m * EPS * max(float(values[-1]), 0.0)] * np.sqrt(m)
    rows = -signs[:, None] * np.column_stack([span, np.ones(m)])
    cost = np.concatenate([np.zeros(rows.shape[1]), np.ones(m)])
    free = [(None, None)] * rows.shape[1] + [(0, None)] * m
    losses = float(linprog(cost, np.hstack([rows, -np.eye(m)]), -np.ones(m), bounds=free)["fun"])
    most = nu_svc.largest_nu(signs, np.ones(m))
    meet = min(losses / m, most) if losses > 1e-7 * m else 0.0
    return Ranges(meet, most, 2 / (most * m), 2 / (meet * m) if meet > 0 else np.inf)


def convert(model: Estimator, to: type[Target], X: Any, y: Any) -> Target:
    """The equivalent machine of another kind, fitted, without solving anything.

    Its decision function is that of `model` up to the scale of its kind: SVC and NuSVC are the same, MuSVC is
    theirs times its `rho_`. Its certificate is worked out anew for the problem of its own kind, and its tol is that
    of `model` in its own units. Where no multiplier of a class is free, one nu belongs to a range of C; then `to`
    trained afresh may pick another C of this range.

    Parameters
    ----------
    model : SVC, NuSVC or MuSVC of two classes with the hinge loss; or SVR or NuSVR
        Trained, without weights.
    to : type
        SVC, NuSVC or MuSVC; or SVR or NuSVR.
    X : array (m, d)
    y : array (m,)
        What `model` was trained on.

    Raises
    ------
    InvalidProblemError
        When there is no equivalent, or `model` cannot have been trained on X and y without weights.
    """
    kinds = CLASSIFIERS if isinstance(model, CLASSIFIERS) else REGRESSORS
    if not isinstance(model, kinds) or to not in kinds:
        raise InvalidProblemError(
            f"{type(model).__name__} has no equivalent {to.__name__}: SVC, NuSVC and MuSVC are one family, "
            "SVR and NuSVR another."
        )
    X = model._checked(X)
    if getattr(model, "loss", "hinge") not in ("hinge", "epsilon_insensitive"):
        raise InvalidProblemError("A squared loss has no equivalent nu: train with the plain loss.")
    K = gram_matrix(model.kernel_, X)
    target = to(**{name: getattr(model, name) for name in _SHARED})
    target._start_fit(X)
    if hasattr(model, "feature_names_in_"):
        target.feature_names_in_ = model.feature_names_in_
    if kinds is REGRESSORS:
        _convert_regressor(model, target, X, check_targets(y, X), K)
    else:
        _convert_classifier(model, target, X, check_labels(y, X), K)
    return target


@dataclass(frozen=True)
class _Separation:
    """A separating function in the scale of the C-SVC."""

    signs: Array
    alpha: Array
    C: float
    bias: float

    @property
    def half(self) -> float:
        """Sum of the multipliers of one class."""
        return float(self.alpha.sum()) / 2


@dataclass(frozen=True)
class _Form:
    """The same as the solution of a problem: its parameter, and what one unit of the C-SVC's gradient is in it."""

    parameters: dict[str, float]
    problem: DualProblem
    z: Array
    unit: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "z", _on_bounds(self.problem, self.z))


def _on_bounds(problem: DualProblem, z: Array) -> Array:
    """z in its box; on the bound where only the rounding of a division keeps it from it."""
    near = 1e-12 * (problem.hi - problem.lo)
    return np.where(problem.hi - z <= near, problem.hi, np.where(z - problem.lo <= near, problem.lo, z))


def _svc_form(s: _Separation) -> _Form:
    return _Form({"C": s.C}, svc.dual_problem(s.signs, s.C), s.signs * s.alpha, 1.0)


def _nu_form(s: _Separation) -> _Form:
    m = len(s.signs)
    nu = min(2 * s.half / (s.C * m), nu_svc.largest_nu(s.signs, np.ones(m)))
    problem = nu_svc.dual_problem(s.signs, nu)
    return _Form({"nu": nu}, problem, (s.signs * s.alpha / s.C)[problem.sample], 1 / s.C)


def _mu_form(s: _Separation) -> _Form:
    codes = (s.signs > 0).astype(int)
    mu = min(1.0, max(s.C / s.half, ad_svm.smallest_mu(codes)))
    problem = ad_svm.dual_problem(codes, mu, ad_svm.class_links(2))
    return _Form({"mu": mu}, problem, (s.alpha / s.half)[problem.sample], 0.5 / s.half)


_FORMS: dict[type, Callable[[_Separation], _Form]] = {SVC: _svc_form, NuSVC: _nu_form, MuSVC: _mu_form}


def _convert_classifier(model: Any, target: Any, X: Array, y: Array, K: Array) -> None:
    classes, codes = np.unique(y, return_inverse=True)
    if len(model.classes_) != 2:
        raise InvalidProblemError(
            "Only machines of two classes can be converted: train on two of the classes."
        )
    signs = np.where(codes > 0, 1.0, -1.0)
    if not np.array_equal(classes, model.classes_):
        raise InvalidProblemError(_NOT_ITS_SAMPLES)
    separation = _separation(model, signs, K)
    kind = next(k for k in CLASSIFIERS if isinstance(model, k))
    own = _FORMS[kind](separation)
    _check_source(model, own.problem, own.z, K)
    form = _FORMS[type(target)](separation)
    target.set_params(**form.parameters, tol=model.tol / own.unit * form.unit)
    target.classes_ = classes
    solution = _standing(form.problem, form.z, K, model, target)
    if isinstance(target, MuSVC):
        target._read_prototypes(X, kernel_rows(K), np.arange(2), form.problem, solution)
        target._read_function(separation.bias / separation.half, 1 / separation.half)
        return
    bias, plain = separation.bias, _svc_form(separation)
    whole = expansion.read(plain.problem, plain.z, len(X), (bias, bias))
    certificate = solution.certificate
    if isinstance(target, SVC):
        interval = expansion.bias_interval(form.problem, solution.z, solution.gradient)
        whole, certificate = replace(whole, bias_interval=interval), certificate.with_primal()
    if isinstance(target, NuSVC):
        whole = replace(whole, rho=1 / separation.C)
    target.pairs_ = [ClassPair((0, 1), np.arange(len(X)), whole, certificate)]
    target._read_pairs(X, codes)


def _separation(model: Any, signs: Array, K: Array) -> _Separation:
    """What the machine has found, in the scale of the C-SVC."""
    m = len(signs)
    if not isinstance(model, SVC) and model.certificate_.may_be_zero:
        if not np.isfinite(model.certificate_.gap):
            raise InvalidProblemError(_NO_HULLS)
        _raise_that_hulls_meet(model, ranges(K, signs), m)
    if isinstance(model, MuSVC):
        coef = model.prototypes_.coef[1] - model.prototypes_.coef[0]
        C = ad_svm.check_mu(model.mu, (signs > 0).astype(int)) / model.rho_
        coef, bias = coef / model.rho_, model.intercept_[0] / model.rho_
    else:
        pair = model.pairs_[0]
        if getattr(model, "class_weight", None) is not None or len(pair.rows) != m:
            raise InvalidProblemError(_NOT_ITS_SAMPLES)
        coef, bias = pair.expansion.coef, pair.expansion.bias
        C = model.C if isinstance(model, SVC) else float(np.abs(coef).sum()) / (model.nu * m)
    if len(coef) != m:
        raise InvalidProblemError(_NOT_ITS_SAMPLES)
    return _Separation(signs, np.clip(signs * coef, 0.0, C), float(C), float(bias))


def _raise_that_hulls_meet(model: Any, found: Ranges, m: int) -> None:
    name = "mu" if isinstance(model, MuSVC) else "nu"
    value = getattr(model, name)
    nu = value if name == "nu" else 2 / (min(1.0, value) * m)
    if nu > found.nu_meet:
        raise InvalidProblemError(
            f"At {name} = {value:g} the reduced convex hulls are nearer to each other than the tolerance can tell "
            f"apart: lower tol. There is a C where {found.sentence()}."
        )
    raise InvalidProblemError(
        f"At {name} = {value:g} the reduced convex hulls of the two classes meet, and no C gives this machine: "
        f"{found.sentence()}."
    )


_NO_HULLS = (
    "The kernel is not positive semidefinite on these samples, and the squared distance found between the hulls is "
    "not above 0: no C gives this machine."
)
_NOT_ITS_SAMPLES = (
    "The machine was trained on other samples, or with weights: pass its own samples, all of weight 1."
)


def _check_source(model: Any, problem: DualProblem, z: Array, K: Array) -> None:
    """Whether the machine is a solution over these samples, as good as its own certificate says."""
    gradient = Hessian(problem, K).gradient(z)
    allowed = 2 * max(model.tol, model.certificate_.violation) + 1e-6 * float(np.abs(gradient).max())
    if not (problem.is_feasible(z, 1e-6) and problem.violation(z, gradient) <= allowed):
        raise InvalidProblemError(_NOT_ITS_SAMPLES)


def _standing(problem: DualProblem, z: Array, K: Array, model: Estimator, target: Estimator) -> Solution:
    """z as it is, certified for this problem."""
    hessian = Hessian(problem, K, model.kernel_.positive_semidefinite)
    return minimize(problem, hessian, Options(tol=target.tol, max_iter=0), z)


def _convert_regressor(model: Any, target: Any, X: Array, y: Array, K: Array) -> None:
    m, coef = len(X), model.expansion_.coef
    if len(coef) != m or np.abs(coef).max() > model.C * (1 + 1e-9):
        raise InvalidProblemError(_NOT_ITS_SAMPLES)
    z = np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])
    z = np.clip(z, -float(model.C), float(model.C))
    epsilon = max(0.0, model.epsilon_) if isinstance(model, NuSVR) else float(model.epsilon)
    _check_source(model, svr.dual_problem(y, model.C, epsilon), z, K)
    target.set_params(C=model.C, tol=model.tol)
    if isinstance(target, NuSVR):
        nu = min(1.0, float(np.abs(coef).sum()) / (model.C * m))
        if not nu > 0:
            raise InvalidProblemError(
                f"Every sample lies inside the tube, which no nu above 0 gives: epsilon must be below "
                f"{(y.max() - y.min()) / 2:.6g}, half the range of the targets."
            )
        problem = nu_svr.dual_problem(y, model.C, nu)
        target.set_params(nu=nu)
        target.epsilon_ = epsilon
    else:
        problem = svr.dual_problem(y, model.C, epsilon)
        target.set_params(epsilon=epsilon)
    solution = _standing(problem, z, K, model, target)
    certificate = solution.certificate
    function = model.expansion_
    if isinstance(target, SVR):
        certificate = certificate.with_primal()
        interval = expansion.bias_interval(problem, solution.z, solution.gradient)
        function = replace(function, bias_interval=interval)
    target._take(X, function, certificate)
