"""The link to the workspace: in the address of every page, so that a reload keeps the work, and under a button."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from svmviz.ui import frontend, link
from svmviz.ui.workspace import Workspace

BUTTON = """
<button type="button" class="copy" aria-label="Copy link"
        title="Copy link: it opens this page with these points and parameters">
  <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M8.5 11.5a3 3 0 0 0 4.3 0l3-3a3 3 0 0 0-4.3-4.3l-1 1"/>
    <path d="M11.5 8.5a3 3 0 0 0-4.3 0l-3 3a3 3 0 0 0 4.3 4.3l1-1"/>
  </svg>
</button>
<span class="said" role="status" hidden></span>
"""

STYLE = """
.copy {
  display: grid; place-items: center; width: 2.1rem; height: 2rem; padding: 0; cursor: pointer;
  color: var(--st-text-color); background: none; border: 1px solid transparent;
  border-radius: var(--st-base-radius, 0.4rem);
}
.copy svg { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; }
.copy:hover, .copy:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
.said {
  position: absolute; top: 2.3rem; right: 0; z-index: 1000; width: max-content; max-width: 17rem;
  padding: 0.35rem 0.7rem;
  font-family: var(--st-font, sans-serif); font-size: 15px; color: var(--st-background-color);
  background: var(--st-text-color); border-radius: var(--st-base-radius, 0.4rem);
}
.said[hidden] { display: none; }
"""


@cache
def _button() -> Callable[..., Any]:
    return st.components.v2.component("svmviz_copy_link", html=BUTTON, css=STYLE, js=frontend.copier())


@cache
def _address() -> Callable[..., Any]:
    return st.components.v2.component("svmviz_link", html="<i hidden></i>\n", js=frontend.addresser())


def copy_link() -> None:
    """Show the button; it copies what `keep_link` has brought last."""
    _button()(key="copy_link")


def keep_link(space: Workspace) -> None:
    """Bring the link to the workspace into the browser, which writes it into the address of the page.

    A reload begins a new session, and the address is all that it brings along; where it cannot hold all points, a
    sentence at the button says so, once. Call it in the part of a page that
    runs after every edit.

    Parameters
    ----------
    space : Workspace
    """
    query = link.full_query(space)
    problem = link.too_long(space) if len(query) > link.LONGEST else ""
    fits = len(query) <= link.LONGEST_ADDRESS
    data = {
        "query": query if fits else "",
        "problem": problem,
        "loss": "" if fits else link.too_long_for_address(space),
    }
    _address()(key="svmviz_link", data=data)
