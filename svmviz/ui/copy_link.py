"""A button that copies the link to the workspace."""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from svmviz.datasets import DataError
from svmviz.ui import link
from svmviz.ui.workspace import Workspace

HTML = """
<button type="button" class="copy" title="A link that opens these points and parameters">Copy link</button>
"""

STYLE = """
.copy {
  width: 100%; min-height: 2.4rem; padding: 0.2rem 0.7rem; cursor: pointer; font: inherit;
  font-family: var(--st-font, sans-serif); font-size: 15px; color: var(--st-text-color);
  background: var(--st-background-color); border-radius: var(--st-base-radius, 0.4rem);
  border: 1px solid color-mix(in srgb, var(--st-text-color) 25%, transparent);
}
.copy:hover, .copy:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""

SCRIPT = """
const live = new WeakMap();

/** Copy text, also where the clipboard is closed to pages without a certificate. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export default function copyLink({ parentElement, data }) {
  const button = parentElement.querySelector(".copy");
  if (!live.has(parentElement)) {
    button.addEventListener("click", async () => {
      const { query, problem } = live.get(parentElement);
      if (query) await copy(`${location.origin}${location.pathname}?${query}`);
      button.textContent = query ? "Copied" : problem;
      setTimeout(() => (button.textContent = "Copy link"), query ? 1500 : 6000);
    });
  }
  live.set(parentElement, data);
}
"""


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("svmviz_copy_link", html=HTML, css=STYLE, js=SCRIPT)


def copy_link(space: Workspace) -> None:
    """Show the button; without a link that is short enough it says what to do instead.

    Parameters
    ----------
    space : Workspace
    """
    try:
        data = {"query": link.to_query(space), "problem": ""}
    except DataError as error:
        data = {"query": "", "problem": str(error)}
    _component()(key="copy_link", data=data)
