"""svmviz: support vector machines solved step by step, with a certificate for every result."""

from svmviz.errors import InvalidProblemError
from svmviz.estimators import SVC, SVR
from svmviz.problem import Certificate, DualProblem
from svmviz.smo.steps import Step
from svmviz.trace import Trace, record

__all__ = ["SVC", "SVR", "Certificate", "DualProblem", "InvalidProblemError", "Step", "Trace", "record"]
