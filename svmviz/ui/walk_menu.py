"""The menu of a walk that a page shows: play it event by event, and save it as a trace."""

from collections.abc import Callable

import streamlit as st

from svmviz.trace import Trace
from svmviz.ui import controls, lesson, page, workspace
from svmviz.ui.lesson import Recording

KINDS = {"json": "application/json", "csv": "text/csv"}
KEY = "walk_menu"
HELP = "Every event of this walk: play it step by step, or save it."


@st.fragment
def walk_menu(recorded: Callable[[], Recording]) -> None:
    """A button that opens the menu; what is in it is made when it is opened.

    Parameters
    ----------
    recorded : callable
        Makes the recording of the walk that is shown; with a message where there is none.
    """
    with page.boundary():
        menu = st.popover("Trace", width="stretch", help=HELP, key=KEY, on_change="rerun")
        if not menu.open:
            return
        with menu:
            run = recorded()
            if run.trace is None:
                st.info(controls.plain(run.message or ""))
                return
            _contents(run, run.trace)


def _contents(run: Recording, trace: Trace) -> None:
    count = len(trace.steps)
    st.html(f'<p class="note">This walk has {count:,} event{"" if count == 1 else "s"}.</p>')
    if st.button("Play step by step", key="walk_play", width="stretch", type="primary"):
        lesson.play_walk(workspace.get(), run)
        st.switch_page(page.LESSON)
    for kind, mime in KINDS.items():
        st.download_button(
            f"Save the walk as {kind.upper()}",
            trace.to_json if kind == "json" else trace.to_csv,
            file_name=f"walk.{kind}",
            mime=mime,
            on_click="ignore",
            width="stretch",
            key=f"walk_{kind}",
        )
