"""fit and predict with scikit-learn's conventions; one family of estimators a file."""

from svmviz.estimators.ad import ADSVC, MuSVC
from svmviz.estimators.mc import MCSVC
from svmviz.estimators.nu import NuSVC, NuSVR
from svmviz.estimators.one_class import OneClassSVM
from svmviz.estimators.one_vs_rest import OneVsRestSVC
from svmviz.estimators.svc import SVC, OneVsOneSVC
from svmviz.estimators.svr import SVR

__all__ = [
    "ADSVC",
    "MCSVC",
    "SVC",
    "SVR",
    "MuSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OneVsOneSVC",
    "OneVsRestSVC",
]
