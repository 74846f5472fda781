"""All solutions of a machine while one of its parameters slides, exactly, in the browser."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.errors import InvalidProblemError
from svmviz.ui import controls, files, page, results, slide, warm_cold, workspace
from svmviz.ui.board import keep_path, stage
from svmviz.ui.walk_menu import walk_menu
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.SLIDE, "What happens as C, ε or μ grows?")
    parameter = ""
    with page.boundary(), st.container(key="controls"):
        parameter = choose(space)
    room(parameter, st.empty())


@st.fragment
def room(parameter: str, notice: DeltaGenerator) -> None:
    """Follow the path and draw. An edit runs only this: the controls above are left alone."""
    with page.boundary():
        space = workspace.get()

        def keep(value: float) -> None:
            setattr(space, parameter, value)

        data, path = slide.slide_data(space, parameter, page.HEIGHT)
        keep_path(data["path"]["key"] if data["path"] else "", path)
        stage(data, key="slide", on_edit=space.apply_edit, on_value=keep, on_ask=slide.take)
        page.finish(notice, space)


def choose(space: Workspace) -> str:
    """Show the controls; return the parameter that slides, or ""."""
    several = controls.tells_two_of_more(space)
    widths = [2.5, 2.3, 2.5, 1.8, 2, 1.7, 3.2, 1.7] if several else [3, 3, 2, 2, 1.9, 2.8, 1.9]
    columns = iter(st.columns(widths, vertical_alignment="bottom", gap="small"))
    with next(columns):
        controls.preset(space)
    if several:
        with next(columns):
            controls.classes(space)
    with next(columns):
        controls.kernel(space)
    with next(columns):
        parameter = controls.sliding(space)
    with next(columns), st.popover(controls.MACHINE_NAMES[space.machine], width="stretch"):
        controls.machine(space, among=controls.SLIDING)
        controls.beside_path(space, parameter)
        controls.tolerance(space)
    with next(columns), st.popover("Points", width="stretch"):
        files.points(space)
    with next(columns):
        if st.button("Warm against cold", key="count", help=COUNT_HELP, width="stretch"):
            count(space, parameter)
    with next(columns):
        walk_menu(partial(slide.recording, space, parameter))
    return parameter


COUNT_HELP = (
    f"Solve for {warm_cold.COMPARED} values of the parameter on these points: each from zero, and each from the "
    "solution before. Then the exact path, which has all values."
)


@st.dialog("Warm against cold on these points", width="large")
def count(space: Workspace, parameter: str) -> None:
    with page.boundary():
        message = slide.slide_message(space)
        if message is not None:
            st.info(controls.plain(message))
            return
        try:
            with st.spinner("Counting …"):
                counts = warm_cold.warm_and_cold(space, parameter)
        except InvalidProblemError as error:
            st.info(controls.plain(str(error)))
            return
        rows = [(one.name, one.work) for one in counts]
        st.html(results.headed((("Way", "Work"), *rows)))
        st.html(f'<p class="note">{warm_cold.count_note(space, parameter, counts)}</p>')


main()
