"""Sequential minimal optimization: the first of the two loops."""

from svmviz.smo.solvers import SMO, SMOClassifier, SMORegression
from svmviz.smo.loop import Loop, Options, Solution, minimize

__all__ = ["SMO", "Loop", "Options", "SMOClassifier", "SMORegression", "Solution", "minimize"]
