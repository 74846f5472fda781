"""All distances: a prototype for every class, all of them as near to each other as the reduced hulls allow."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import controls, distances, files, lesson, page, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.DISTANCES, "How near can all classes come?")
    stepping = False
    with page.boundary(), st.container(key="controls"):
        stepping = choose(space)
    notice = st.empty()
    if stepping:
        lesson.room(space, "ad_svm", page.HEIGHT, "distances_player", notice)
    else:
        room(notice)


@st.fragment
def room(notice: DeltaGenerator) -> None:
    """Solve and draw. An edit, a new mu or a new weight runs only this: the controls above are left alone."""
    with page.boundary():
        space = workspace.get()

        def keep(mu: float) -> None:
            space.mu = mu

        stage(
            distances.distances_data(space, page.HEIGHT),
            key="distances",
            on_edit=space.apply_edit,
            on_mu=keep,
            on_weights=space.set_weights,
        )
        page.finish(notice, space)


def choose(space: Workspace) -> bool:
    """Show the controls; return whether to go step by step."""
    way, example, kernel, parameters, *rest, more = st.columns(
        [3.7, 2.4, 3, 3, 3.2, 1.7, 1.7], vertical_alignment="bottom", gap="small"
    )
    with way:
        stepping = controls.stepping(space)
    with example:
        controls.preset(space)
    with kernel:
        controls.kernel(space)
    with parameters:
        controls.kernel_parameters(space, side_by_side=True)
    shown = (
        (controls.rule_and_newton, controls.mu) if stepping else (controls.decision_rule, controls.prototypes)
    )
    for column, show in zip(rest, shown, strict=True):
        with column:
            show(space)
    with more, st.popover("Points", width="stretch"):
        if stepping:
            controls.prototypes(space)
            controls.decision_rule(space)
            controls.tolerance(space)
        files.points(space)
    return stepping


main()
