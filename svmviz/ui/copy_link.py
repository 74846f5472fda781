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

/** Copy a text that is still to come, also where the clipboard is closed to pages without a certificate. */
async function copy(promise) {
  if (navigator.clipboard && window.ClipboardItem) {
    const blob = promise.then((text) => new Blob([text], { type: "text/plain" }));
    const item = new ClipboardItem({ "text/plain": blob });
    await navigator.clipboard.write([item]).catch(async () => typed(await promise));
  } else {
    typed(await promise);
  }
}

/** The old way to copy: select the text in a field of its own. */
function typed(text) {
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** What Python answers, once it has: the text of the link, or an error that says what to do instead. */
function ask(state, setTriggerValue) {
  return new Promise((resolve, reject) => {
    state.answer = ({ query, problem }) =>
      query ? resolve(`${location.origin}${location.pathname}?${query}`) : reject(new Error(problem));
    setTriggerValue("asked", true);
  });
}

export default function copyLink({ parentElement, data, setTriggerValue }) {
  const button = parentElement.querySelector(".copy");
  let state = live.get(parentElement);
  if (!state) {
    state = { serial: data.serial, answer: null };
    live.set(parentElement, state);
    button.addEventListener("click", async () => {
      let said = "Copied";
      try {
        await copy(ask(state, setTriggerValue));
      } catch (error) {
        said = error.message;
      }
      button.textContent = said;
      setTimeout(() => (button.textContent = "Copy link"), said === "Copied" ? 1500 : 6000);
    });
  }
  if (data.serial !== state.serial) {
    state.serial = data.serial;
    state.answer?.(data);
  }
}
"""


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("svmviz_copy_link", html=HTML, css=STYLE, js=SCRIPT)


def copy_link(space: Workspace) -> None:
    """Show the button; the link is made when it is pressed, so that drawing costs nothing for it.

    Parameters
    ----------
    space : Workspace
    """
    answer = st.session_state.setdefault("link", {"serial": 0, "query": "", "problem": ""})

    def make() -> None:
        st.session_state["link"] = {"serial": answer["serial"] + 1, **_link(space)}

    _component()(key="copy_link", data=answer, on_asked_change=make)


def _link(space: Workspace) -> dict[str, str]:
    try:
        return {"query": link.to_query(space), "problem": ""}
    except DataError as error:
        return {"query": "", "problem": str(error)}
