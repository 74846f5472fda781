"""The walk: the second of the two loops. It follows an optimum exactly while its problem moves along a line."""

from svmviz.walk.record import Event, Rates, Segment, Walk
from svmviz.walk.walker import Walker

__all__ = ["Event", "Rates", "Segment", "Walk", "Walker"]
