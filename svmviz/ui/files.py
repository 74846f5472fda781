"""Open a CSV file into the workspace, and save the workspace to one."""

from typing import Any

import streamlit as st

from svmviz import tables
from svmviz.datasets import MAX_CLASSES, ROW_LIMIT, DataError
from svmviz.tables import Table
from svmviz.ui import controls
from svmviz.ui.workspace import Workspace

TABLE = "opened_table"
COLUMNS = ("column_across", "column_up", "column_class")
NO_CLASS = -1
HELP = (
    f"Two columns of numbers and, for classes, a class column (any text or numbers, up to "
    f"{MAX_CLASSES} classes); at most {ROW_LIMIT:,} rows. Without a class column: x and y."
)


def points(space: Workspace) -> None:
    """All that replaces the points or reads them anew: the contents of a menu."""
    controls.task(space)
    controls.features(space)
    open_and_save(space)


def open_and_save(space: Workspace) -> None:
    """The contents of the file menu."""
    uploaded = st.file_uploader(
        "Open a CSV file", type=["csv", "tsv", "txt"], help=HELP, key="file", on_change=_open, args=(space,)
    )
    table = st.session_state.get(TABLE)
    if uploaded is not None and table is not None:
        _choose_columns(space, table)
    if space.notice:
        st.warning(controls.plain(space.notice))
    st.button(
        "Standardise both columns",
        key="standardise",
        help="Shift and scale each column to mean 0 and deviation 1.",
        on_click=space.standardise,
        width="stretch",
    )
    st.download_button(
        "Save the points as CSV",
        lambda: tables.to_csv(space.dataset()),
        file_name="points.csv",
        mime="text/csv",
        on_click="ignore",
        width="stretch",
    )


def _open(space: Workspace) -> None:
    """Take over the file that has just been chosen; a bad one leaves the points as they are."""
    uploaded = st.session_state["file"]
    for key in (TABLE, *COLUMNS):
        st.session_state.pop(key, None)
    if uploaded is None:
        return
    try:
        table = tables.read_table(uploaded.getvalue())
        space.load(tables.from_table(table))
    except DataError as error:
        space.notice = str(error)
    else:
        st.session_state[TABLE] = table


def _choose_columns(space: Workspace, table: Table) -> None:
    """Which columns of the file to show, where there is a choice."""
    label = table.class_column()
    numeric = [k for k in table.numeric() if k != label]
    everything = range(len(table.names))
    if len(everything) == 2:
        return
    arguments: dict[str, Any] = {
        "format_func": table.names.__getitem__,
        "on_change": _reload,
        "args": (space, table),
    }
    across, up = st.columns(2)
    across.selectbox("Across", everything, index=numeric[0], key="column_across", **arguments)
    up.selectbox("Up", everything, index=numeric[1], key="column_up", **arguments)
    names = {NO_CLASS: "none: x and y", **dict(enumerate(table.names))}
    arguments["format_func"] = names.__getitem__
    options = list(names)
    first = options.index(NO_CLASS if label is None else label)
    st.selectbox("Class", options, index=first, key="column_class", **arguments)


def _reload(space: Workspace, table: Table) -> None:
    if table is not st.session_state.get(TABLE):
        return  # the browser still tells of the choices of a file that another one has replaced
    across, up, label = (st.session_state[key] for key in COLUMNS)
    try:
        space.load(tables.from_table(table, (across, up), None if label == NO_CLASS else label))
    except DataError as error:
        space.notice = str(error)
