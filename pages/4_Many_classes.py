"""Four machines for many classes, side by side on the same points."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import compare, controls, page, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.CLASSES, "Which machine for many classes?")
    with page.boundary(), st.container(key="controls"):
        choose(space)
    room(st.empty())


@st.fragment
def room(notice: DeltaGenerator) -> None:
    """Train and draw. An edit runs only this: the controls above are neither run nor drawn again."""
    with page.boundary():
        space = workspace.get()
        outcome = compare.cached(space)
        stage(compare.stage_data(space, outcome, page.HEIGHT), key="compare", on_edit=space.apply_edit)
        page.finish(notice, space)


def choose(space: Workspace) -> None:
    columns = iter(st.columns([3, 2.6, 3, 3, 2.6, 2.6, 2], vertical_alignment="bottom", gap="small"))
    with next(columns):
        controls.preset(space)
    with next(columns):
        controls.kernel(space)
    with next(columns):
        controls.penalty(space)
    with next(columns):
        controls.mu(space, "μ of AD-SVM")
    with next(columns):
        controls.decision_rule(space, "AD-SVM decides by")
    with next(columns):
        controls.held_out(space)
    with next(columns), st.popover("More", width="stretch"):
        controls.kernel_parameters(space)
        controls.tolerance(space)
        controls.features(space)


main()
