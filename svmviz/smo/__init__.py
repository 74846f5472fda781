"""Sequential minimal optimization: the first of the two loops."""

from svmviz.smo.base import SMO
from svmviz.smo.loop import Loop, Options, Solution, minimize
from svmviz.smo.shares import SMONuClassifier, SMONuRegression, SMOOneClass, SMOReducedHulls
from svmviz.smo.solvers import SMOClassifier, SMOMultiClass, SMORegression

__all__ = [
    "SMO",
    "Loop",
    "Options",
    "SMOClassifier",
    "SMOMultiClass",
    "SMONuClassifier",
    "SMONuRegression",
    "SMOOneClass",
    "SMOReducedHulls",
    "SMORegression",
    "Solution",
    "minimize",
]
