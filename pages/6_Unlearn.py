"""Unlearn: a point's multiplier goes to zero, exactly, and everyone sees what the others do meanwhile."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import controls, files, page, unlearning, workspace
from svmviz.ui.board import stage
from svmviz.ui.walk_menu import walk_menu
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.UNLEARN, "What does one point change?")
    with page.boundary(), st.container(key="controls"):
        choose(space)
    unlearning.forget_browser()
    room(st.empty())


@st.fragment
def room(notice: DeltaGenerator) -> None:
    """Unlearn and draw. What the browser asks for runs only this."""
    with page.boundary():
        space = workspace.get()
        data, coefficients = unlearning.stage_data(space, page.HEIGHT)
        # No drawing here, but a page switch may have cut off an edit of another page: it arrives here.
        stage(data, key="unlearn", on_edit=space.apply_edit, on_ask=unlearning.take, steps=coefficients)
        page.finish(notice, space)


def choose(space: Workspace) -> None:
    several = controls.tells_two_of_more(space)
    widths = [2.4, 2.2, 2.4, 2.6, 2.4, 1.5, 1.6] if several else [2.6, 2.6, 3, 3, 1.6, 1.6]
    columns = iter(st.columns(widths, vertical_alignment="bottom", gap="small"))
    with next(columns):
        controls.preset(space)
    with next(columns):
        controls.machine(space, "visible")
    if several:
        with next(columns):
            controls.classes(space)
    with next(columns):
        controls.kernel(space)
    with next(columns):
        controls.primary(space)
    with next(columns), st.popover("More", width="stretch"):
        controls.parameters(space)
        files.points(space)
    with next(columns):
        walk_menu(partial(unlearning.recording, space))


main()
