"""A small app for the browser tests: a fit of drawn points takes longer than the browser's patience."""

import time

import streamlit as st

from svmviz.ui import fitting, workspace
from svmviz.ui.board import load_frontend, stage

SECONDS = 4.0

st.set_page_config(layout="wide")
load_frontend()
runs = st.session_state.setdefault("runs", [])
train = getattr(fitting.train, "quick", fitting.train)


def slow(space):
    if space.edited:
        runs.append(space.seq)
        time.sleep(SECONDS)
    return train(space)


slow.quick = train
fitting.train = slow


@st.fragment
def live():
    space = workspace.get()
    data = fitting.board_data(space, fitting.cached(space), 500)
    stage(data, key="board", on_edit=space.apply_edit)
    st.text(f"fits {runs}")


live()
