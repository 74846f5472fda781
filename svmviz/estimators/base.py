"""What all estimators share: parameters, kernel values, and one solved problem or several."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from svmviz.checks import (
    check_labels,
    check_present,
    check_samples,
    check_targets,
    check_weights,
    column_names,
)
from svmviz.errors import InvalidProblemError, not_fitted
from svmviz.gram import KernelRows, kernel_values
from svmviz.hessian import Hessian
from svmviz.kernels import Kernel, is_positive_semidefinite, make_kernel
from svmviz.machines.expansion import Expansion, expand
from svmviz.problem import Certificate, DualProblem, Status
from svmviz.smo.loop import Options, Solution, minimize

Array = np.ndarray
KernelLike = str | Kernel | Callable[[Array, Array], Array]

# Kernel values that prediction holds at once (32 MB).
VALUES_AT_ONCE = 2**22
# From best to worst: of several problems the worst status is that of the whole.
_STATUSES: tuple[Status, ...] = ("optimal", "relative", "stationary", "no progress", "capped")


class Estimator(ABC):
    """What all machines share: parameters, the kernel, checked data."""

    estimator_type: str
    many_classes = True
    kernel: KernelLike
    support_: Array
    support_vectors_: Array
    n_iter_: int | Array
    feature_names_in_: Array
    gamma: str | float
    degree: float
    coef0: float
    tol: float
    max_iter: int
    selection: str
    newton: bool
    shrinking: bool
    cache_size: float

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

        kind = self.estimator_type
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind in ("classifier", "regressor")),
            classifier_tags=ClassifierTags(multi_class=self.many_classes) if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(pairwise=self.kernel == "precomputed"),
        )

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        changed = (f"{n}={v!r}" for n, v in self.get_params().items() if v is not parameters[n].default)
        return f"{type(self).__name__}({', '.join(changed)})"

    def _options(self) -> Options:
        return Options(self.tol, self.max_iter, self.selection, self.newton, shrinking=self.shrinking)

    def _training_samples(self, X: Any) -> Array:
        """Samples X (n, d) to train on; where they come with names, these are kept as `feature_names_in_`."""
        names, X = column_names(X), check_samples(X)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return X

    def _start_fit(self, X: Array) -> None:
        """Remember the training data and make the kernel."""
        self.n_features_in_ = X.shape[1]
        self._kernel = make_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        if self._kernel.name == "precomputed" and X.shape[0] != X.shape[1]:
            raise InvalidProblemError(
                f"A precomputed kernel must be square, one row and column a sample, not {X.shape}."
            )

    def _kernel_rows(self, X: Array) -> KernelRows:
        """Rows of the Gram matrix of samples X (n, d): computed when they are needed, kept within `cache_size`."""
        return KernelRows(self._kernel, X, self.cache_size)

    def _kernel_values(self, X: Array) -> Array:
        """k(x, support vectors), (n, n_support), for new samples."""
        if self._kernel.name == "precomputed":
            return X[:, self.support_]
        return kernel_values(self._kernel, X, self.support_vectors_)

    def _read_values(self, X: Any, read: Callable[[Array], Array]) -> Array:
        """`read` of the values k(x, support vectors), for new samples: by blocks, so that memory stays bounded."""
        X = self._checked(X)
        step = max(1, VALUES_AT_ONCE // max(1, len(self.support_)))
        blocks = [read(self._kernel_values(X[first : first + step])) for first in range(0, len(X), step)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _checked(self, X: Any) -> Array:
        """Samples X (n, d) for a machine that is trained, with as many features as it was trained on."""
        if not hasattr(self, "_kernel"):
            raise not_fitted(type(self).__name__)
        names, X = column_names(X), check_samples(X)
        if X.shape[1] != self.n_features_in_:
            raise InvalidProblemError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        own = getattr(self, "feature_names_in_", None)
        if names is not None and own is not None and not np.array_equal(names, own):
            raise InvalidProblemError(
                "The feature names should match those that were passed during fit, in the same order."
            )
        return X

    def _take(self, X: Array, expansion: Expansion, certificate: Certificate) -> None:
        """Keep the fitted function."""
        self.expansion_, self.certificate_ = expansion, certificate
        self.support_ = expansion.support
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = expansion.coef[self.support_][None, :]
        self.intercept_ = np.array([expansion.bias])
        self.n_iter_ = certificate.iterations

    @property
    def kernel_(self) -> Kernel:
        """The kernel with the numbers behind "scale" and "auto" filled in."""
        return self._kernel


class Classifier(Estimator):
    """What all classifiers share."""

    estimator_type = "classifier"
    classes_: Array

    def _encode(self, y: Array, weights: Array | None = None) -> Array:
        """Keep the classes; the code of each sample (n,), each with samples of weight above 0."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidProblemError("There is only one class: add samples of a second class.")
        if weights is not None:
            check_present(codes, weights)
        return codes

    @abstractmethod
    def predict(self, X: Any) -> Array:
        """Labels (n,) of samples X (n, d)."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the samples whose label is predicted right, 0 to 1."""
        predicted = self.predict(X)
        y = check_labels(y, predicted)
        return float(np.average(predicted == y, weights=check_weights(sample_weight, len(y))))


class ScoreClassifier(Classifier):
    """A classifier that scores every class: the largest score wins."""

    @abstractmethod
    def _scores(self, values: Array) -> Array:
        """Scores (n, n_classes) from values k(x, support vectors) (n, n_support)."""

    def decision_function(self, X: Any) -> Array:
        """How much each class claims samples X (n, d).

        Returns
        -------
        ndarray
            (n, n_classes), the largest wins; with two classes (n,), positive for classes_[1].
        """
        scores = self._read_values(X, self._scores)
        return self._between_two(scores) if len(self.classes_) == 2 else scores

    @staticmethod
    def _between_two(scores: Array) -> Array:
        """One value (n,) from the scores of two classes (n, 2)."""
        return scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> Array:
        """Labels (n,) of samples X (n, d)."""
        decisions = self.decision_function(X)
        if len(self.classes_) == 2:
            return self.classes_[(decisions > 0).astype(int)]
        return self.classes_[decisions.argmax(axis=1)]


class Regressor(Estimator):
    """What all regressors share: f(x) = sum of coef_i k(x_i, x) + bias."""

    estimator_type = "regressor"

    def predict(self, X: Any) -> Array:
        """Predicted targets (n,) of samples X (n, d)."""
        return self._read_values(X, lambda values: values @ self.dual_coef_[0] + self.intercept_[0])

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


def minimized(problem: DualProblem, rows: KernelRows, options: Options) -> Solution:
    """The solution of a problem over the rows of a Gram matrix.

    Raises
    ------
    InvalidProblemError
        When the box is open and the kernel so far from positive semidefinite that there is no minimum.
    """
    hessian = Hessian(problem, rows)
    if not problem.is_bounded and not hessian.positive_semidefinite:
        _check_minimum(problem, rows)
    return minimize(problem, hessian, options)


def _check_minimum(problem: DualProblem, rows: KernelRows) -> None:
    """Whether the added diagonal makes up for what the kernel lacks: K + D must be positive definite."""
    samples = np.unique(problem.sample)
    diagonal = np.full(len(rows), np.inf)
    np.minimum.at(diagonal, problem.sample, problem.diagonal)
    if not is_positive_semidefinite(rows.square(samples) + np.diag(diagonal[samples])):
        raise InvalidProblemError(
            "With this kernel, which is not positive semidefinite, the squared loss has no minimum: "
            "choose the plain loss, another kernel, or a smaller C."
        )


def solve(problem: DualProblem, rows: KernelRows, options: Options) -> tuple[Expansion, Certificate]:
    """Minimise a problem of one group over the rows of a Gram matrix and read its decision function."""
    solution = minimized(problem, rows, options)
    expansion = expand(problem, solution.z, solution.gradient, len(rows))
    return expansion, solution.certificate.with_primal()


def combine(certificates: list[Certificate]) -> Certificate:
    """One certificate for several independent problems."""
    whole = Certificate(
        objective=sum(c.objective for c in certificates),
        gap=sum(c.gap for c in certificates),
        violation=max(c.violation for c in certificates),
        status=max((c.status for c in certificates), key=_STATUSES.index),
        iterations=sum(c.iterations for c in certificates),
        kernel_values=sum(c.kernel_values for c in certificates),
    )
    return whole.with_primal() if all(c.primal is not None for c in certificates) else whole
