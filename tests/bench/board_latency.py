"""How long the app takes from a click to the redrawn boundary, and how often a drag redraws it.

Run it with ``python -m tests.bench.board_latency`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
CLICKS = 100
PAUSE = 200  # milliseconds between clicks
DRAG_SECONDS = 3
GOAL = 120  # milliseconds at the 95th percentile
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FIND_STAGE = """
window.findStage = (root = document) => root.querySelector(".stage")
  ?? [...root.querySelectorAll("*")].map((e) => e.shadowRoot && findStage(e.shadowRoot)).find(Boolean);
"""
# A click is answered when the model that was fitted to it has been drawn.
WATCH = """() => {
  const stage = findStage();
  window.clicks = [];
  window.redraws = 0;
  let pressed = null;
  stage.addEventListener("pointerdown", () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    redraws += 1;
    const { seq, modelSeq } = stage.dataset;
    if (pressed === null || seq !== modelSeq) return;
    clicks.push(performance.now() - pressed);
    pressed = null;
  }).observe(stage, { attributes: true, attributeFilter: ["data-model-seq"] });
}"""
PLOT = """() => {
  const board = findStage().svmviz;
  const box = board.canvas.getBoundingClientRect();
  const { left, top, width, height } = board.frame;
  return [box.left + left, box.top + top, width, height];
}"""
FIRST_POINT = """() => {
  const board = findStage().svmviz;
  const box = board.canvas.getBoundingClientRect();
  const [x, y] = board.toPixel(...board.points[0]);
  return [box.left + x, box.top + y];
}"""


@contextmanager
def server():
    """The app on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1"]
    process = subprocess.Popen([sys.executable, "-m", "streamlit", "run", "app.py", *options], cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            time.sleep(0.1)
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                    break
            except OSError:
                continue
        yield url
    finally:
        process.terminate()
        process.wait()


def click_times(page: Page) -> np.ndarray:
    """Milliseconds from each click at a random place to its answer."""
    left, top, width, height = page.evaluate(PLOT)
    rng = np.random.default_rng(0)
    for across, down in rng.uniform(0.03, 0.97, (CLICKS, 2)):
        page.mouse.click(left + width * across, top + height * down)
        page.wait_for_timeout(PAUSE)
    page.wait_for_timeout(1000)
    return np.array(page.evaluate("() => clicks"))


def drag_rate(page: Page) -> float:
    """Redrawn boundaries a second while a point is dragged in a circle."""
    x, y = page.evaluate(FIRST_POINT)
    before = page.evaluate("() => redraws")
    page.mouse.move(x, y)
    page.mouse.down()
    start = time.monotonic()
    while (passed := time.monotonic() - start) < DRAG_SECONDS:
        page.mouse.move(x + 60 * np.sin(4 * passed), y + 60 * np.cos(4 * passed))
        page.wait_for_timeout(8)
    redraws = page.evaluate("() => redraws") - before
    page.mouse.up()
    return redraws / DRAG_SECONDS


def main() -> None:
    """Click, drag, and print how long it took."""
    with server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.add_init_script(FIND_STAGE)
        page.goto(url)
        page.wait_for_selector('.stage[data-ready="true"]')
        page.wait_for_timeout(1000)
        page.evaluate(WATCH)
        times = click_times(page)
        median, late, longest = np.percentile(times, [50, 95, 100])
        rate = drag_rate(page)
        browser.close()
    print(f"click to redrawn boundary, {len(times)} clicks: median {median:.0f} ms, 95 % {late:.0f} ms, "
          f"longest {longest:.0f} ms (goal: 95 % under {GOAL} ms)")  # fmt: skip
    print(f"drag: {rate:.0f} redrawn boundaries a second")


if __name__ == "__main__":
    main()
