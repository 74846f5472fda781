"""fit and predict with scikit-learn's conventions; one estimator a file."""

from svmviz.estimators.svc import SVC
from svmviz.estimators.svr import SVR

__all__ = ["SVC", "SVR"]
