"""All distances: a prototype for every class, all of them as near to each other as the reduced hulls allow."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import controls, distances, page, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace

HEIGHT = "calc(100dvh - 8.1rem)"


def main() -> None:
    space = page.setup(page.DISTANCES, "How near can all classes come?")
    with page.boundary(), st.container(key="controls"):
        choose(space)
    room(st.empty())


@st.fragment
def room(notice: DeltaGenerator) -> None:
    """Solve and draw. An edit, a new mu or a new weight runs only this: the controls above are left alone."""
    with page.boundary():
        space = workspace.get()

        def keep(mu: float) -> None:
            space.mu = mu

        stage(
            distances.distances_data(space, HEIGHT),
            key="distances",
            on_edit=space.apply_edit,
            on_mu=keep,
            on_weights=space.set_weights,
        )
        page.show_notice(notice, space)


def choose(space: Workspace) -> None:
    example, kernel, parameters, decision, prototypes = st.columns(
        [2.6, 2.6, 4.4, 2.5, 2.4], vertical_alignment="bottom", gap="small"
    )
    with example:
        controls.preset(space)
    with kernel:
        controls.kernel(space)
    with parameters:
        controls.kernel_row(space)
    with decision:
        controls.decision_rule(space)
    with prototypes:
        controls.prototypes(space)


main()
