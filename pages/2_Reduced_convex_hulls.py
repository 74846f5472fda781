"""Reduced convex hulls: two classes, the hulls at every mu, their nearest points, and the line between them."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz.ui import controls, files, geometry, lesson, page, workspace
from svmviz.ui.board import stage
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.HULLS, "How near do two hulls come?")
    stepping = False
    with page.boundary(), st.container(key="controls"):
        stepping = choose(space)
    notice = st.empty()
    if stepping:
        lesson.room(space, "mu_svm", page.HEIGHT, "hulls_steps", notice, several_classes)
    else:
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

        stage(geometry.hulls_data(space, page.HEIGHT), key="hulls", on_edit=space.apply_edit, on_mu=keep)
        page.finish(notice, space)


def several_classes(space: Workspace) -> bool:
    return space.task == "classification" and len(space.present()) > 2


def choose(space: Workspace) -> bool:
    """The controls; returns whether SMO is to be played step by step."""
    several = several_classes(space)
    switch, example, *more = st.columns(widths(several), vertical_alignment="bottom", gap="small")
    with switch:
        stepping = controls.stepping(space)
    with example:
        controls.preset(space)
    if several:
        with more.pop(0):
            controls.classes(space)
    kernel, parameters, points = more
    with kernel:
        controls.kernel(space)
    with parameters:
        if stepping:
            shown = [controls.gamma] if space.kernel != "linear" else []
            shown += [controls.mu, controls.rule]
            for column, show in zip(st.columns([1] * (len(shown) - 1) + [1.9]), shown, strict=True):
                with column:
                    show(space)
        else:
            controls.kernel_parameters(space, side_by_side=True)
    with points, st.popover("Points", width="stretch"):
        if stepping:
            controls.kernel_parameters(space, without_gamma=True)
            controls.tolerance(space)
            controls.newton(space)
        files.points(space)
    return stepping


def widths(several: bool) -> list[float]:
    return [3.5, 2.6, 2.2, 2.4, 4.6, 1.7] if several else [3.5, 2.6, 2.8, 5.4, 1.7]


main()
