"""The workspace's machine as an estimator, and what it is trained on."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmviz.estimators import ADSVC, MCSVC, SVC, SVR, MuSVC, NuSVC, NuSVR, OneClassSVM
from svmviz.ui import recorders
from svmviz.ui.workspace import Workspace
from svmviz.walk.posed import Posed, Prototypes

Array = np.ndarray

MANY_CLASSES = ("ad_svm", "mc_svm")
"""The machines of which every class is a part."""

MAKERS: dict[str, Callable[..., Any]] = {
    "svc": lambda space, **options: SVC(C=space.C, loss=loss(space), **options),
    "nu_svc": lambda space, **options: NuSVC(nu=space.nu, **options),
    "one_class": lambda space, **options: OneClassSVM(nu=space.nu, **options),
    "mu_svm": lambda space, **options: MuSVC(mu=space.mu, **options),
    "ad_svm": lambda space, **options: ADSVC(
        mu=space.mu,
        rule=space.decision_rule,
        pair_weights=space.weights_table(space.present()),
        n_prototypes=space.n_prototypes,
        **options,
    ),
    "mc_svm": lambda space, **options: MCSVC(beta=space.beta, **options),
    "svr": lambda space, **options: SVR(C=space.C, epsilon=space.epsilon, loss=loss(space), **options),
    "nu_svr": lambda space, **options: NuSVR(C=space.C, nu=space.nu, **options),
}


def machine_of(space: Workspace, **options: Any) -> Any:
    """The machine with the workspace's kernel and parameters, not fitted.

    Parameters
    ----------
    space : Workspace
    **options
        Those that the machine itself does not name, such as tol and max_iter.
    """
    return MAKERS[space.machine](space, **{**space.kernel_parameters(), **options})


def judge_of(posed: Posed) -> Posed:
    """What tells the decision values that a page shows: the mu-SVM's by the bisector of its prototypes, as drawn.

    `MuSVC` has the line midway between the margins (thesis, 2.1.45), which is another where a prototype is not on its
    class's margin.
    """
    if not isinstance(posed, Prototypes) or not posed.is_mu_svc:
        return posed
    judge = copy(posed)
    judge.is_mu_svc = False  # its rule is "nearest" already
    return judge


def judging_machine(space: Workspace, **options: Any) -> Any:
    """As `machine_of`, but one whose decision values are those of `judge_of`."""
    if space.machine != "mu_svm":
        return machine_of(space, **options)
    return ADSVC(mu=space.mu, rule="nearest", **{**space.kernel_parameters(), **options})


def loss(space: Workspace) -> str:
    """The name that the estimators have for the workspace's loss."""
    plain = "hinge" if space.task == "classification" else "epsilon_insensitive"
    return f"squared_{plain}" if space.loss == "squared" else plain


@dataclass(frozen=True)
class Samples:
    """What a machine is trained on.

    Attributes
    ----------
    rows : ndarray of int (n,)
        Points of the workspace.
    X : ndarray (n, d)
    y : ndarray (n,)
        Labels of the workspace, or targets.
    """

    rows: Array
    X: Array
    y: Array


def samples_of(space: Workspace) -> Samples:
    """What the workspace's machine is trained on: of a machine for two classes, these. One class has no use for y."""
    regression = space.task == "regression"
    everyone = regression or space.machine in ("one_class", *MANY_CLASSES)
    rows = np.arange(len(space.points)) if everyone else space.two_classes().rows
    y = space.points[:, 1] if regression else space.labels[rows]
    return Samples(rows, recorders.samples(space, rows), y)
