"""Settings of all tests."""

import os

# Two processes share the machine: with threads of their own for small matrices they would mostly wait for each other.
# NumPy reads this when it is first imported, after this file.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right.
# On a fresh clone the same examples every time: what is new there is the change, not the luck. Elsewhere new ones.
settings.register_profile("svmviz", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("svmviz")
