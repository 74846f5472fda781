"""What all pages share: the set-up, the strip with the navigation, and no traceback, ever."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from svmviz import datasets
from svmviz.ui import controls, link, server, workspace
from svmviz.ui.address import copy_link, keep_link
from svmviz.ui.board import load_frontend
from svmviz.ui.workspace import Workspace

WORKSPACE, LESSON, HULLS = "app.py", "pages/1_SMO_step_by_step.py", "pages/2_Reduced_convex_hulls.py"
DISTANCES = "pages/3_All_distances.py"
CLASSES = "pages/4_Many_classes.py"
SLIDE = "pages/5_Slide_C_and_epsilon.py"
UNLEARN = "pages/6_Unlearn.py"
PAGES = {
    WORKSPACE: "Draw and fit",
    LESSON: "SMO step by step",
    HULLS: "Reduced convex hulls",
    DISTANCES: "All distances",
    CLASSES: "Many classes",
    SLIDE: "Slide C and ε",
    UNLEARN: "Unlearn",
}

ICON = Path(datasets.__file__).parent / "data" / "icon.svg"

HEIGHT = "max(26rem, calc(100dvh - 8.1rem - var(--notice, 0rem)))"  # a phone on its side scrolls
"""What the window leaves below a row of controls, and below the notice where there is one."""

STYLE = """
<style>
  [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] { display: none; }
  [data-testid="stHeader"] { height: 2.4rem; min-height: 0; left: auto; width: auto; background: none; }
  /* Only its buttons take a finger: its box lies over the last pages of the strip on a phone on its side. */
  [data-testid="stHeader"], [data-testid="stHeader"] div { pointer-events: none; }
  [data-testid="stHeader"] button, [data-testid="stHeader"] button * { pointer-events: auto; }
  [data-testid="stMainBlockContainer"] { padding: 0.4rem 1rem 0.3rem; max-width: none; }
  [data-testid="stMain"] [data-testid="stVerticalBlock"] { gap: 0.45rem; }
  [data-testid="stMain"] [data-testid="stHorizontalBlock"] { gap: 0.9rem; }
  [data-testid="stWidgetLabel"] { min-height: 0; margin-bottom: 0.1rem; }
  [data-testid="stWidgetLabel"] p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  /* Help stands beside the name that it is about, not beside that of the next control. */
  .st-key-controls [data-testid="stWidgetLabel"]:not(.st-key-rule *) > div { flex: none; margin-left: 0.35rem; }
  [data-testid="stMain"]:has([data-testid="stAlert"]) { --notice: 3.7rem; }
  .st-key-strip { border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
  /* Beside the menu, in nobody's way. */
  .st-key-strip { position: relative; }
  .st-key-link { position: absolute; top: 0; right: 2.4rem; width: auto; overflow: visible; }
  .st-key-strip h1 { font-size: 1.15rem; font-weight: 650; padding: 0; margin: 0; white-space: nowrap; }
  .st-key-strip p { margin: 0; }
  p.note { margin: 0; font-size: 0.93rem; opacity: 0.85; }
  /* The switch for Newton steps stands beside the name of the rule, above its list. */
  .st-key-rule { position: relative; }
  .st-key-rule [class*="st-key-control_newton"] { position: absolute; top: -0.1rem; right: 1.45rem; width: auto; }
  .st-key-rule [class*="st-key-control_newton"] label { gap: 0.3rem; padding: 0; min-height: 0; }
  .st-key-onward a { justify-content: center; border-radius: 0.4rem; color: inherit; }
  .st-key-onward a { border: 1px solid color-mix(in srgb, currentColor 45%, transparent); }
  .st-key-onward p { font-weight: 600; }
  .st-key-strip a { padding: 0.1rem 0.7rem; border-radius: 0; }
  /* Seven pages and a question fit beside each other on a projector. */
  @media (min-width: 641px) and (max-width: 1200px) {
    [data-testid="stMain"] .st-key-strip { gap: 0.25rem; }
    .st-key-strip a { padding: 0.1rem 0.35rem; }
    .st-key-strip a p { font-size: 0.93rem; }
    .st-key-strip h1 { font-size: 1.05rem; margin-left: 0.8rem; }
  }
  [class*="st-key-here_"] a { border-bottom: 3px solid var(--st-primary-color, #0b5fa5); }
  [class*="st-key-here_"] p { font-weight: 650; }
  table.result { width: 100%; border-collapse: collapse; font-size: 0.95rem; }
  table.result th, table.result td { padding: 0.16rem 0.8rem 0.16rem 0; font-variant-numeric: tabular-nums; }
  table.result th { text-align: left; font-weight: 500; opacity: 0.8; white-space: nowrap; }
  table.result tr { border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
  div.results { max-height: max(11rem, calc(100dvh - 29.3rem - var(--above, 0rem))); overflow-y: auto; }
  /* On a phone two controls stand side by side instead of one below the other. */
  @media (max-width: 640px) {
    .st-key-controls [data-testid="stHorizontalBlock"] { flex-flow: row wrap; gap: 0.5rem; }
    .st-key-controls [data-testid="stColumn"] { flex: 1 1 40%; min-width: 40%; }
    .st-key-controls [data-testid="stVerticalBlock"] { gap: 0.2rem; }
  }
</style>
"""


def setup(path: str, question: str) -> Workspace:
    """Begin a page: configuration, style, navigation, and the visitor's workspace.

    Parameters
    ----------
    path : str
        The page's file, a key of `PAGES`.
    question : str
        The one question that the page answers.

    Returns
    -------
    Workspace
    """
    st.set_page_config(
        page_title=f"svmviz · {PAGES[path]}",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state="collapsed",
    )
    server.tune()
    server.one_thread()
    load_frontend()
    st.html(STYLE)
    with st.container(key="strip", horizontal=True, vertical_alignment="center", gap="small"):
        for file, title in PAGES.items():
            with st.container(key=f"here_{file}" if file == path else None, width="content"):
                st.page_link(file, label=title)
        st.html(f"<h1>{question}</h1>")
        with st.container(key="link", width="content"):
            copy_link()
    return _workspace()


def _workspace() -> Workspace:
    """The visitor's workspace; at first the one that the link describes, if it does."""
    if workspace.KEY not in st.session_state:
        linked = link.from_query(st.query_params.to_dict())
        if linked is not None:
            st.session_state[workspace.KEY] = linked
    return workspace.get()


def finish(place: DeltaGenerator, space: Workspace, about: str = "") -> None:
    """End a run: keep the link to what there is now, and show or clear the one sentence that there is to say.

    That is the workspace's notice, or else what there is to say about what the page shows.
    """
    keep_link(space)
    if space.notice or about:
        place.warning(controls.plain(space.notice or about))
    else:
        place.empty()


@contextmanager
def boundary() -> Iterator[None]:
    """Whatever fails inside is logged on the server and shown as one sentence, never as a traceback."""
    try:
        yield
    except Exception:
        logging.getLogger("svmviz").exception("A page failed")
        st.error("Something went wrong here: undo the last change or load an example; your points are kept.")
