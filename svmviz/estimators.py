"""fit and predict with scikit-learn's conventions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from svmviz.checks import check_labels, check_number, check_samples, check_targets, check_weights
from svmviz.errors import InvalidProblemError
from svmviz.gram import Hessian, gram_matrix, kernel_values
from svmviz.kernels import Kernel, make_kernel
from svmviz.machines import svc, svr
from svmviz.machines.expansion import Expansion, expand
from svmviz.problem import Certificate, DualProblem, Status
from svmviz.smo.loop import Options, minimize

Array = np.ndarray
KernelLike = str | Kernel | Callable[[Array, Array], Array]

# From best to worst: of several problems the worst status is that of the whole.
_STATUSES: tuple[Status, ...] = ("optimal", "stationary", "no progress", "capped")


class Estimator:
    """What all machines share: parameters, the kernel, checked data."""

    estimator_type: str
    kernel: KernelLike
    support_: Array
    support_vectors_: Array
    gamma: str | float
    degree: float
    coef0: float
    tol: float
    max_iter: int
    selection: str
    newton: bool

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters by name; `deep` is there for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name; ValueError for a name that the constructor does not have."""
        unknown = set(parameters) - set(self._parameter_names())
        if unknown:
            raise ValueError(f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}.")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; imported only when it is scikit-learn that asks."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        classifier = self.estimator_type == "classifier"
        return Tags(
            estimator_type=self.estimator_type,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if classifier else None,
            regressor_tags=None if classifier else RegressorTags(),
            input_tags=InputTags(pairwise=self.kernel == "precomputed"),
        )

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        changed = (f"{n}={v!r}" for n, v in self.get_params().items() if v is not parameters[n].default)
        return f"{type(self).__name__}({', '.join(changed)})"

    def _options(self) -> Options:
        return Options(self.tol, self.max_iter, self.selection, self.newton)

    def _start_fit(self, X: Array) -> Kernel:
        """Remember the training data and make the kernel."""
        self.n_features_in_ = X.shape[1]
        self._kernel = make_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        if self._kernel.name == "precomputed" and X.shape[0] != X.shape[1]:
            raise InvalidProblemError(
                f"A precomputed kernel must be square, one row and column a sample, not {X.shape}."
            )
        return self._kernel

    def _kernel_values(self, X: Any) -> Array:
        """k(x, support vectors), (n, n_support), for new samples."""
        if not hasattr(self, "_kernel"):
            raise ValueError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        X = check_samples(X)
        if X.shape[1] != self.n_features_in_:
            raise InvalidProblemError(
                f"X has {X.shape[1]} features, but {type(self).__name__} was trained with {self.n_features_in_}."
            )
        if self._kernel.name == "precomputed":
            return X[:, self.support_]
        return kernel_values(self._kernel, X, self.support_vectors_)

    @property
    def kernel_(self) -> Kernel:
        """The kernel with the numbers behind "scale" and "auto" filled in."""
        return self._kernel


class SVC(Estimator):
    """C-support vector classification; more than two classes one against one.

    Parameters
    ----------
    C : float, default 1.0
        Upper bound on the multipliers.
    kernel : "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a callable or a Kernel, default "rbf"
    degree, gamma, coef0
        Of the kernel; see `svmviz.kernels.make_kernel`.
    tol : float, default 1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default -1
        Limit on the pairs moved, for each two-class problem; see `svmviz.smo.Options`.
    class_weight : dict, "balanced" or None, default None
        Multiplies C for each class.
    decision_function_shape : "ovr" or "ovo", default "ovr"
    selection : "second_order", "max_violating" or "platt", default "second_order"
        How the pair is picked.
    newton : bool, default True
        Whether to jump to the minimum over the free multipliers from time to time; see `svmviz.smo.Options`.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
    support_ : ndarray (n_support,) of int
        Indices of the support vectors, class by class.
    support_vectors_ : ndarray (n_support, n_features)
    n_support_ : ndarray (n_classes,)
    dual_coef_ : ndarray (n_classes - 1, n_support)
        Laid out as in scikit-learn.
    intercept_ : ndarray (n_classes * (n_classes - 1) / 2,)
    n_iter_ : ndarray of int
        Pairs moved for each two-class problem.
    certificate_ : Certificate
        Of all problems together: objectives and gaps added, the largest violation, the worst status.
    pairs_ : list of ClassPair
        The two-class problems, each with its decision function, bias interval and certificate.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    estimator_type = "classifier"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        decision_function_shape: str = "ovr",
        selection: str = "second_order",
        newton: bool = True,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.selection = selection
        self.newton = newton

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d) with labels y (n,) of any type.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C for each sample; a weight of 0 leaves the sample out.
        """
        X = check_samples(X)
        y, options = check_labels(y, X), self._options()
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise InvalidProblemError(
                f'decision_function_shape must be "ovr" or "ovo", not {self.decision_function_shape!r}.'
            )
        bounds = self._bounds(y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        present = np.unique(codes[bounds > 0])
        if len(self.classes_) < 2:
            raise InvalidProblemError("There is only one class: add samples of a second class.")
        if len(present) < 2:
            raise InvalidProblemError("All samples of weight above 0 are of one class: give others a weight.")
        kernel = self._start_fit(X)
        K = gram_matrix(kernel, X)
        self.pairs_ = [
            _fit_pair(K, kernel, codes, bounds, (a, b), options)
            for a, b in combinations(range(len(self.classes_)), 2)
        ]
        self._read_pairs(X, codes)
        return self

    def _bounds(self, y: Array, sample_weight: Any) -> Array:
        """The largest multiplier of each sample (n,)."""
        bounds = svc.upper_bounds(self.C, len(y)) * check_weights(sample_weight, len(y))
        if not (self.class_weight is None or isinstance(self.class_weight, str | dict)):
            raise InvalidProblemError('class_weight must be a dictionary, "balanced" or None.')
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        if self.class_weight is None:
            return bounds
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise InvalidProblemError('class_weight must be a dictionary, "balanced" or None.')
            return bounds * (len(y) / (len(classes) * counts))[codes]
        weights = [
            check_number(f"class_weight of {c!r}", self.class_weight.get(c, 1.0)) for c in classes.tolist()
        ]
        return bounds * np.array(weights)[codes]

    def _read_pairs(self, X: Array, codes: Array) -> None:
        support = np.zeros(len(X), dtype=bool)
        for pair in self.pairs_:
            support[pair.rows[pair.expansion.support]] = True
        indices = np.flatnonzero(support)
        self.support_ = indices[np.argsort(codes[indices], kind="stable")]
        self.support_vectors_ = X[self.support_]
        self.n_support_ = np.bincount(codes[self.support_], minlength=len(self.classes_))
        self.dual_coef_ = self._dual_coef(codes)
        # scikit-learn: with two classes a positive value means the second, with more the first of the pair.
        sign = 1.0 if len(self.classes_) == 2 else -1.0
        self.intercept_ = sign * np.array([pair.expansion.bias for pair in self.pairs_])
        self.n_iter_ = np.array([pair.certificate.iterations for pair in self.pairs_])
        self.certificate_ = combine([pair.certificate for pair in self.pairs_])

    def _dual_coef(self, codes: Array) -> Array:
        place = {int(sample): k for k, sample in enumerate(self.support_)}
        n_classes = len(self.classes_)
        sign = 1.0 if n_classes == 2 else -1.0
        dual_coef = np.zeros((n_classes - 1, len(self.support_)))
        for pair in self.pairs_:
            a, b = pair.classes
            for k in pair.expansion.support:
                sample = int(pair.rows[k])
                row = b - 1 if codes[sample] == a else a
                dual_coef[row, place[sample]] = sign * pair.expansion.coef[k]
        return dual_coef

    def _pair_decisions(self, X: Any) -> Array:
        """(n, n_pairs): positive votes for the second class of the pair."""
        values = self._kernel_values(X)
        place = np.full(int(self.support_.max(initial=-1)) + 1, -1)
        place[self.support_] = np.arange(len(self.support_))
        decisions = np.empty((len(values), len(self.pairs_)))
        for k, pair in enumerate(self.pairs_):
            chosen = pair.expansion.support
            decisions[:, k] = values[:, place[pair.rows[chosen]]] @ pair.expansion.coef[chosen]
            decisions[:, k] += pair.expansion.bias
        return decisions

    def decision_function(self, X: Any) -> Array:
        """Decision values of samples X (n, d).

        Returns
        -------
        ndarray
            Two classes: (n,), positive for classes_[1]. More: (n, n_classes) for "ovr", votes plus a fraction
            that orders ties; (n, n_pairs) for "ovo", positive for the first class of the pair.
        """
        decisions = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return -decisions
        return self._votes(decisions)

    def _votes(self, decisions: Array) -> Array:
        """Votes and, between equal votes, the summed decision values squeezed into (-1/3, 1/3)."""
        n_classes = len(self.classes_)
        votes, confidence = np.zeros((2, len(decisions), n_classes))
        for k, pair in enumerate(self.pairs_):
            a, b = pair.classes
            confidence[:, b] += decisions[:, k]
            confidence[:, a] -= decisions[:, k]
            votes[:, b] += decisions[:, k] > 0
            votes[:, a] += decisions[:, k] <= 0
        return votes + confidence / (3 * (np.abs(confidence) + 1))

    def predict(self, X: Any) -> Array:
        """Labels of samples X (n, d); with more than two classes the most votes, ties to the earlier class."""
        decisions = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return self.classes_[(decisions[:, 0] > 0).astype(int)]
        votes = np.floor(self._votes(decisions) + 0.5)
        return self.classes_[votes.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the samples whose label is predicted right, 0 to 1."""
        predicted = self.predict(X)
        y = check_labels(y, predicted)
        return float(np.average(predicted == y, weights=check_weights(sample_weight, len(y))))


@dataclass(frozen=True)
class ClassPair:
    """A two-class problem inside a `SVC`.

    Attributes
    ----------
    classes : tuple of int
        Codes (a, b), a < b; positive decision values vote for b.
    rows : ndarray (m,)
        The samples of the two classes.
    expansion : Expansion
        Over these rows.
    certificate : Certificate
    """

    classes: tuple[int, int]
    rows: Array
    expansion: Expansion
    certificate: Certificate


def _fit_pair(
    K: Array, kernel: Kernel, codes: Array, bounds: Array, classes: tuple[int, int], options: Options
) -> ClassPair:
    a, b = classes
    rows = np.flatnonzero(((codes == a) | (codes == b)) & (bounds > 0))
    signs = np.where(codes[rows] == b, 1.0, -1.0)
    if not ((signs > 0).any() and (signs < 0).any()):
        raise InvalidProblemError(
            "A class has only samples of weight 0: give one of them a weight or drop the class."
        )
    problem = svc.dual_problem(signs, bounds[rows])
    pair_K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
    expansion, certificate = _solve(problem, pair_K, kernel, options)
    return ClassPair(classes, rows, expansion, certificate)


def _solve(problem: DualProblem, K: Array, kernel: Kernel, options: Options) -> tuple[Expansion, Certificate]:
    solution = minimize(problem, Hessian(problem, K, kernel.positive_semidefinite), options)
    expansion = expand(problem, solution.z, solution.gradient, len(K))
    return expansion, solution.certificate.with_primal()


class SVR(Estimator):
    """epsilon-support vector regression.

    Parameters
    ----------
    C : float, default 1.0
        Upper bound on the multipliers.
    epsilon : float, default 0.1
        Half-width of the tube, in units of the target.
    kernel, degree, gamma, coef0, tol, max_iter, selection, newton
        As for `SVC`.

    Attributes
    ----------
    support_ : ndarray (n_support,) of int
    support_vectors_ : ndarray (n_support, n_features)
    dual_coef_ : ndarray (1, n_support)
    intercept_ : ndarray (1,)
    n_iter_ : int
        Pairs moved.
    certificate_ : Certificate
    expansion_ : Expansion
        The decision function with its bias interval and which support vectors are free.

    Raises
    ------
    InvalidProblemError
        By `fit`, for data or parameters that cannot be used; the message says what to change.
    """

    estimator_type = "regressor"

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: KernelLike = "rbf",
        degree: float = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        selection: str = "second_order",
        newton: bool = True,
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.selection = selection
        self.newton = newton

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X (n, d) with targets y (n,).

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C for each sample.
        """
        X, options = check_samples(X), self._options()
        targets = check_targets(y, X)
        bounds = svc.upper_bounds(self.C, len(X)) * check_weights(sample_weight, len(X))
        problem = svr.dual_problem(targets, bounds, self.epsilon)
        kernel = self._start_fit(X)
        self.expansion_, self.certificate_ = _solve(problem, gram_matrix(kernel, X), kernel, options)
        self.support_ = self.expansion_.support
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = self.expansion_.coef[self.support_][None, :]
        self.intercept_ = np.array([self.expansion_.bias])
        self.n_iter_ = self.certificate_.iterations
        return self

    def predict(self, X: Any) -> Array:
        """Predicted targets (n,) of samples X (n, d)."""
        values = self._kernel_values(X)
        return values @ self.dual_coef_[0] + self.intercept_[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2: 1 minus the squared errors over those of the mean; at most 1."""
        predicted = self.predict(X)
        y = check_targets(y, predicted)
        weights = check_weights(sample_weight, len(y))
        errors = float((weights * (y - predicted) ** 2).sum())
        spread = float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
        if spread == 0:
            return 1.0 if errors == 0 else 0.0
        return 1.0 - errors / spread


def combine(certificates: list[Certificate]) -> Certificate:
    """One certificate for several independent problems."""
    whole = Certificate(
        objective=sum(c.objective for c in certificates),
        gap=sum(c.gap for c in certificates),
        violation=max(c.violation for c in certificates),
        status=max((c.status for c in certificates), key=_STATUSES.index),
        iterations=sum(c.iterations for c in certificates),
    )
    return whole.with_primal()
