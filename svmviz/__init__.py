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

__all__ = [
    "ADSVC",
    "MCSVC",
    "SVC",
    "SVR",
    "Certificate",
    "DualProblem",
    "InvalidProblemError",
    "MuSVC",
    "NewtonStep",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OneVsOneSVC",
    "OneVsRestSVC",
    "Step",
    "Trace",
    "convert",
    "record",
]
