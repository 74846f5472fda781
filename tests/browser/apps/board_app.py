"""A small app for the browser tests: a Board with a live support vector machine."""

import numpy as np
import streamlit as st

from svmviz import SVC
from svmviz.ui.board import load_frontend, stage

GAMMA = 0.7
C = 1.0

st.set_page_config(layout="wide")
load_frontend()


def example(shift=0.0):
    rng = np.random.default_rng(1)
    centres = np.array([[-1.2, -0.8], [1.2, 0.8]])
    labels = np.arange(40) % 2
    places = centres[labels] + 0.6 * rng.standard_normal((40, 2)) + shift
    return [[round(x, 4), round(y, 4), int(label)] for (x, y), label in zip(places, labels, strict=True)]


def fit(points, seq):
    X = np.array([point[:2] for point in points]).reshape(-1, 2)
    y = np.array([point[2] for point in points], dtype=int)
    if len(np.unique(y)) < 2:
        return None, "Draw a point of a second class."
    machine = SVC(C=C, kernel="rbf", gamma=GAMMA).fit(X, y)
    status = np.zeros(len(points), dtype=int)
    status[machine.support_] = np.where(np.abs(machine.dual_coef_[0]) >= C, 2, 1)
    function = {
        "coef": machine.dual_coef_[0].tolist(),
        "bias": float(machine.intercept_[0]),
        "classes": [int(label) for label in machine.classes_],
    }
    model = {
        "for": seq,
        "kernel": {"name": "rbf", "gamma": GAMMA, "degree": 3, "coef0": 0.0},
        "centres": machine.support_vectors_.tolist(),
        "functions": [function],
        "decision": "vote",
        "epsilon": None,
        "status": status.tolist(),
    }
    return model, None


if "work" not in st.session_state:
    empty = st.query_params.get("start") == "empty"
    st.session_state.work = {"points": [] if empty else example(), "revision": 1, "ack": 0}
work = st.session_state.work


def take(edit):
    work["points"] = [list(point) for point in edit.points]
    work["ack"] = edit.seq


def load_example():
    work["points"] = example(shift=0.3)
    work["revision"] += 1


st.button("Load example", on_click=load_example)
st.button("Rerun")


@st.fragment
def live():
    model, message = fit(work["points"], work["ack"])
    data = {
        "mode": "board",
        "revision": work["revision"],
        "ack": work["ack"],
        "height": 560,
        "task": "classification",
        "points": work["points"],
        "view": [-3, 3, -3, 3],
        "axes": ["x1", "x2"],
        "classes": ["A", "B"],
        "model": model,
        "message": message,
    }
    stage(data, key="board", on_edit=take)
    st.text(f"server has {len(work['points'])} points")


live()
