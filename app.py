"""The workspace: draw points, choose a machine, and see the fitted result under the pen."""

import streamlit as st

from svmviz.datasets import PRESETS
from svmviz.ui import controls, files, fitting, page, results, workspace
from svmviz.ui.board import stage
from svmviz.ui.copy_link import copy_link

HEIGHT = "min(calc(100dvh - 3.6rem), calc(60vw + 17rem))"


def main() -> None:
    page.setup("app.py", "Which points hold the boundary?")
    workbench()


@st.fragment
def workbench() -> None:
    """Board and controls: an edit runs only this."""
    with page.boundary():
        space = workspace.get()
        fit = fitting.cached(space)
        left, right = st.columns([6, 5])
        with left:
            stage(fitting.board_data(space, fit, HEIGHT), key="board", on_edit=space.apply_edit)
        with right:
            with st.container(key="controls"):
                choose_points(space)
                choose_machine(space)
            show_result(space, fit)


def choose_points(space: workspace.Workspace) -> None:
    example, file, share = st.columns([5, 3, 3], vertical_alignment="bottom")
    with example:
        controls.preset(space)
    with file, st.popover("File", width="stretch"):
        files.open_and_save(space)
    with share:
        copy_link(space)
    if space.preset:
        st.html(f'<p class="note">{PRESETS[space.preset].description}</p>')
    controls.features(space)


def choose_machine(space: workspace.Workspace) -> None:
    controls.task(space)
    left, right = st.columns(2)
    with left:
        controls.kernel(space)
    with right:
        controls.penalty(space)
    controls.parameters(space)


def show_result(space: workspace.Workspace, fit: fitting.Fit) -> None:
    if space.notice:
        st.warning(space.notice)
    if fit.message:
        st.info(fit.message)
    else:
        st.html(results.table(fit))
        with st.container(key="onward"):
            st.page_link(page.LESSON, label="Watch SMO find this solution, step by step  →", width="stretch")


main()
