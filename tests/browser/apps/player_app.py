"""A small app for the browser tests: the Player over a recorded run, redone after every edit."""

import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.ui.board import load_frontend, stage
from svmviz.ui.player import player_data
from tests.test_player import classifier, scene_of

st.set_page_config(layout="wide")
load_frontend()

if "work" not in st.session_state:
    trace, scene = classifier(n=40, C=10.0)
    st.session_state.work = {"trace": trace, "scene": scene, "position": 0}
work = st.session_state.work


def record_again(points):
    import numpy as np

    from svmviz.kernels import make_kernel
    from svmviz.machines import svc
    from svmviz.smo.loop import Options
    from svmviz.trace import record

    X = np.array([point[:2] for point in points])
    signs = np.array([1.0 if point[2] else -1.0 for point in points])
    kernel = make_kernel("rbf", X, gamma=0.5, degree=3, coef0=0.0)
    return record("C-SVC", X, signs, kernel, {"C": 10.0}, svc.dual_problem(signs, 10.0), Options())


def take(edit):
    work["scene"] |= {"points": [list(point) for point in edit.points], "ack": edit.seq}
    try:
        work["trace"] = record_again(edit.points)
    except InvalidProblemError:
        work["trace"] = None


def keep(position):
    work["position"] = position


@st.fragment
def live():
    trace = work["trace"]
    sentences = [] if trace is None else [f"Position {k}." for k in range(len(trace.steps) + 1)]
    data, steps = player_data(scene_of([]) | work["scene"], trace, sentences)
    stage(data, key="player", on_edit=take, on_position=keep, steps=steps)
    st.text(f"server knows position {work['position']} and {len(work['scene']['points'])} points")


live()
