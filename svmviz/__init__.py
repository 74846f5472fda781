"""svmviz: support vector machines solved step by step, with a certificate for every result."""

from svmviz.conversions import convert
from svmviz.errors import InvalidProblemError
from svmviz.estimators import (
    ADSVC,
    MCSVC,
    SVC,
    SVR,
    MuSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OneVsOneSVC,
    OneVsRestSVC,
)
from svmviz.problem import Certificate, DualProblem
from svmviz.smo.steps import NewtonStep, Step
from svmviz.trace import Trace, record
from svmviz.walk.as_trace import record_learning, record_path, record_unlearning
from svmviz.walk.leave_out import LeaveOneOut, cross_validate, leave_one_out
from svmviz.walk.paths import Path, Paths, path
from svmviz.walk.steps import WalkStep

__all__ = [
    "ADSVC",
    "MCSVC",
    "SVC",
    "SVR",
    "Certificate",
    "DualProblem",
    "InvalidProblemError",
    "LeaveOneOut",
    "MuSVC",
    "NewtonStep",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OneVsOneSVC",
    "OneVsRestSVC",
    "Path",
    "Paths",
    "Step",
    "Trace",
    "WalkStep",
    "convert",
    "cross_validate",
    "leave_one_out",
    "path",
    "record",
    "record_learning",
    "record_path",
    "record_unlearning",
]
