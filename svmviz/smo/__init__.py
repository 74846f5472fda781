"""Sequential minimal optimization: the first of the two loops."""

from svmviz.smo.loop import Loop, Options, Solution, minimize
from svmviz.smo.solvers import SMO, SMOClassifier, SMORegression

__all__ = ["SMO", "Loop", "Options", "SMOClassifier", "SMORegression", "Solution", "minimize"]
