"""The lesson: every pair that SMO moves on the points of the workspace, forward and back."""

from functools import partial

import streamlit as st

from svmviz.errors import InvalidProblemError
from svmviz.plots.race import race_figure
from svmviz.ui import controls, lesson, page, results, workspace
from svmviz.ui.workspace import Workspace


def main() -> None:
    space = page.setup(page.LESSON, "Which pair moves next, and why?")
    with page.boundary(), st.container(key="controls"):
        choose(space)
    notice = st.empty()
    lesson.room(space, None, page.HEIGHT, "player", notice, controls.tells_two_of_more)


def choose(space: Workspace) -> None:
    several = controls.tells_two_of_more(space)
    widths = [2.8, 2.6, 3.3, 2, 3.6, 2.1, 1.9, 1.7] if several else [3, 2.8, 2.6, 3.8, 2, 1.8, 1.6]
    columns = iter(st.columns(widths, vertical_alignment="bottom", gap="small"))
    with next(columns):
        controls.preset(space)
    if several:
        with next(columns):
            controls.classes(space)
    with next(columns):
        controls.kernel(space)
    with next(columns):
        controls.primary(space)
    with next(columns):
        controls.rule_and_newton(space)
    with next(columns), st.popover(controls.MACHINE_NAMES[space.machine], width="stretch"):
        controls.task(space)
        controls.machine(space)
        controls.parameters(space)
        controls.tolerance(space)
        controls.features(space)
    with next(columns), st.popover("Trace", width="stretch"):
        open_and_save(space)
    with next(columns):
        if st.button("Race", key="race", help="Race the three rules on these points.", width="stretch"):
            show_race(space)


def open_and_save(space: Workspace) -> None:
    st.file_uploader(
        "Open a trace", type=["json", "csv"], key="trace_file", on_change=open_file, args=(space,)
    )
    for kind, mime in (("json", "application/json"), ("csv", "text/csv")):
        st.download_button(
            f"Save the trace as {kind.upper()}",
            partial(lesson.save_trace, space, kind),
            file_name=f"trace.{kind}",
            mime=mime,
            on_click="ignore",
            width="stretch",
        )


def open_file(space: Workspace) -> None:
    uploaded = st.session_state["trace_file"]
    if uploaded is None:
        return
    try:
        lesson.open_trace(space, uploaded.getvalue().decode("utf-8"))
    except UnicodeDecodeError:
        space.notice = "This file is not a trace saved by svmviz: choose another file."
    except InvalidProblemError as error:
        space.notice = str(error)


@st.dialog("The three rules on the same points", width="large")
def show_race(space: Workspace) -> None:
    with page.boundary():
        with st.spinner("The rules are running …"):
            traces = lesson.race(space)
        if not traces:
            st.info(controls.plain(workspace.checked(space) or ""))
            return
        names = {rule: controls.RULE_NAMES[rule] for rule in traces}
        gaps = {names[rule]: results.gaps(trace) for rule, trace in traces.items()}
        st.plotly_chart(race_figure(gaps), width="stretch", config={"displayModeBar": False})
        st.html(results.race_table({names[rule]: trace for rule, trace in traces.items()}))


main()
