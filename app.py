"""The workspace: draw points, choose a machine, and see the fitted result under the pen."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.datasets import PRESETS
from svmviz.ui import controls, files, fitting, page, results, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace

HEIGHT = "min(calc(100dvh - 3.6rem), calc(60vw + 17rem))"


def main() -> None:
    space = page.setup(page.WORKSPACE, "Which points hold the boundary?")
    left, right = st.columns([6, 5])
    with right:
        with st.container(key="controls"):
            with page.boundary():
                choose_points(space)
            about = st.empty()
            with page.boundary():
                controls.features(space)
                choose_machine(space)
        notice, result = st.empty(), st.empty()
        with st.container(key="onward"):
            st.page_link(page.LESSON, label="Watch SMO find this solution, step by step  →", width="stretch")
    with left:
        board(about, notice, result, controls.needs_two(space))


@st.fragment
def board(about: DeltaGenerator, notice: DeltaGenerator, result: DeltaGenerator, several: bool) -> None:
    """Fit and draw. An edit runs only this: the controls beside it are neither run nor drawn again."""
    with page.boundary():
        space = workspace.get()
        if controls.needs_two(space) != several:
            st.rerun()  # the controls have a choice of two classes to show, or to hide
        fit = fitting.cached(space)
        stage(fitting.board_data(space, fit, HEIGHT), key="board", on_edit=space.apply_edit)
        about.html(f'<p class="note">{description(space)}</p>')
        page.finish(notice, space)
        if fit.message:
            result.info(controls.plain(fit.message))
        else:
            result.html(results.table(fit, controls.parameter_rows(space)))


def description(space: Workspace) -> str:
    """What the example shows, as long as its points are as they were."""
    if not space.preset:
        return ""
    return (
        f"{space.title()}: these are your points now." if space.edited else PRESETS[space.preset].description
    )


def choose_points(space: Workspace) -> None:
    example, file = st.columns([5, 3], vertical_alignment="bottom")
    with example:
        controls.preset(space)
    with file, st.popover("File", width="stretch"):
        files.open_and_save(space)


def choose_machine(space: Workspace) -> None:
    several = controls.needs_two(space)
    columns = iter(st.columns([4, 4, 3] if several else 2, vertical_alignment="bottom"))
    with next(columns):
        controls.task(space)
    with next(columns):
        controls.machine(space)
    if several:
        with next(columns):
            controls.classes(space)
    left, right = st.columns(2)
    with left:
        controls.kernel(space)
    with right:
        controls.primary(space)
    controls.parameters(space)


main()
