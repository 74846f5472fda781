"""Reduced convex hulls: two classes, the hulls at every mu, their nearest points, and the line between them."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import controls, files, geometry, page, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace

HEIGHT = "calc(100dvh - 8.1rem)"


def main() -> None:
    space = page.setup(page.HULLS, "How near do two hulls come?")
    with page.boundary(), st.container(key="controls"):
        choose(space)
    notice = st.empty()
    room(notice, several_classes(space))


@st.fragment
def room(notice: DeltaGenerator, several: bool) -> None:
    """Solve and draw. An edit or a new mu runs only this: the controls above are neither run nor drawn again."""
    with page.boundary():
        space = workspace.get()
        if several_classes(space) != several:
            st.rerun()  # the controls have a choice of two classes to show, or to hide

        def keep(mu: float) -> None:
            space.mu = mu

        stage(geometry.hulls_data(space, HEIGHT), key="hulls", on_edit=space.apply_edit, on_mu=keep)
        page.show_notice(notice, space)


def several_classes(space: Workspace) -> bool:
    return space.task == "classification" and len(space.present()) > 2


def choose(space: Workspace) -> None:
    several = several_classes(space)
    widths = [3, 2.6, 2.8, 5.2, 1.7] if several else [3, 2.8, 7.2, 1.7]
    columns = iter(st.columns(widths, vertical_alignment="bottom", gap="small"))
    with next(columns):
        controls.preset(space)
    if several:
        with next(columns):
            controls.classes(space)
    with next(columns):
        controls.kernel(space)
    with next(columns):
        controls.kernel_parameters(space, side_by_side=True)
    with next(columns), st.popover("Points", width="stretch"):
        controls.task(space)
        controls.features(space)
        files.open_and_save(space)


main()
