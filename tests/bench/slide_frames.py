"""How often a second the page of a path follows its slider, and what the path costs the server.

Two overlapping clouds, Gaussian kernel, the whole path in C with either loss. Run it with
``python -m tests.bench.slide_frames`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import json
import logging
import time
from itertools import product
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from svmviz.datasets import Dataset
from svmviz.ui import frontend, server
from svmviz.ui.slide import slide_data
from svmviz.ui.workspace import LOSSES, Workspace
from tests.browser.conftest import FLAGS, chromium_path

SIZES = (30, 100)
GOAL = 50
# The slider goes on by ten steps whenever the last ones have been drawn.
DRAG = """async ([meta, path]) => {
  window.svmvizPaths = new Map([[meta.path.key, path]]);
  const host = document.querySelector(".stage");
  const view = new SlideView(host);
  view.board.setScene({axes: meta.axes, classNames: meta.classes, points: meta.points, view: meta.view, limit: 2000});
  view.update({meta, ids: null});
  await new Promise((done) => setTimeout(done, 500));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const [before, begin, times] = [view.updates, performance.now(), []];
  let last = begin;
  for (let step = 10; step <= 2000; step += 10) {
    view.slider.value = step;
    view.slider.dispatchEvent(new Event("input"));
    const drawn = view.updates;
    while (view.updates === drawn) await frame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  times.sort((a, b) => a - b);
  return {updates: (view.updates - before) / ((last - begin) / 1000), median: times[times.length >> 1],
    p95: times[Math.floor(0.95 * times.length)], breaks: view.state.breaks.length};
}"""


def two_clouds(size: int, loss: str = "hinge") -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Data of the page, and path, for two overlapping clouds of so many points each."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], size)
    points = (rng.normal(size=(2 * size, 2)) + 1.5 * labels[:, None]).round(4)
    space = Workspace(kernel="rbf", gamma=1.0, loss=loss)
    space.load(Dataset(points, labels, "classification", ("x1", "x2")))
    return slide_data(space, "C", 630)


def main() -> None:
    """Drag from end to end with few and with many points, and print how it went."""
    logging.disable(logging.WARNING)  # Streamlit misses its server
    server.one_thread()  # as in the app
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        for loss, size in product(LOSSES, SIZES):
            begin = time.perf_counter()
            data = two_clouds(size, loss)
            spent = 1000 * (time.perf_counter() - begin)
            once, again = len(json.dumps(data[1])) / 1e6, len(json.dumps(data[0])) / 1e3
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_content("<div class='stage' style='width:1334px;height:640px'></div>")
            page.add_style_tag(content=frontend.style())
            page.add_script_tag(content=frontend.script().replace("export default function", "function"))
            run = page.evaluate(DRAG, data)
            print(
                f"{loss} loss, {2 * size} points, {run['breaks']} breakpoints: server {spent:.0f} ms, "
                f"{once:.2f} MB once and {again:.1f} kB each time; "
                f"{run['updates']:.0f} pictures a second (goal {GOAL}), median {run['median']:.1f} ms, "
                f"95 % {run['p95']:.1f} ms"
            )
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
