"""How often a second the reduced hulls follow the slider: 200 points a class, every step of mu from end to end.

Run it with ``python -m tests.bench.hulls_frames`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from svmviz.datasets import Dataset
from svmviz.ui import frontend
from svmviz.ui.geometry import hulls_data
from svmviz.ui.workspace import Workspace
from tests.browser.conftest import FLAGS, chromium_path

POINTS = 200
GOAL = 30
# The slider goes on by one step whenever the last step has been drawn.
DRAG = """async (meta) => {
  const host = document.querySelector(".stage");
  const view = new GeometryView(host);
  view.board.setScene({axes: meta.axes, classNames: meta.classes, points: meta.points, view: meta.view, limit: 2000});
  view.update({meta, ids: null, settled: true});
  await new Promise((done) => setTimeout(done, 500));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const [before, begin, times] = [view.updates, performance.now(), []];
  let last = begin;
  for (let step = 1; step < 500; step += 1) {
    view.slider.value = step;
    view.slider.dispatchEvent(new Event("input"));
    const drawn = view.updates;
    while (view.updates === drawn) await frame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  times.sort((a, b) => a - b);
  const seconds = (last - begin) / 1000;
  const most = Math.max(...view.state.hulls.map((hull) => hull.vertices.length));
  return {updates: (view.updates - before) / seconds, seconds, median: times[times.length >> 1],
    p95: times[Math.floor(0.95 * times.length)], longest: times.at(-1), most};
}"""


def two_clouds(kernel: str) -> dict[str, Any]:
    """Data of the page for two overlapping clouds."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], POINTS)
    points = (rng.normal(size=(2 * POINTS, 2)) + 1.5 * labels[:, None]).round(4)
    space = Workspace(kernel=kernel, mu=0.02)
    space.load(Dataset(points, labels, "classification", ("x1", "x2")))
    return hulls_data(space, 630)


def main() -> None:
    """Drag once with the linear kernel and once with the Gaussian, and print how it went."""
    logging.disable(logging.WARNING)  # Streamlit misses its server
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        for kernel in ("linear", "rbf"):
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_content('<div class="stage"></div>')
            page.add_style_tag(content=frontend.style())
            page.add_script_tag(content=frontend.script().replace("export default function", "function"))
            result = page.evaluate(DRAG, two_clouds(kernel))
            page.close()
            print(
                f"{kernel}: {result['updates']:.1f} updates a second (goal: {GOAL}) in {result['seconds']:.1f} s"
            )
            for name in ("median", "p95", "longest"):
                print(f"  from input to picture, {name}: {result[name]:.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
