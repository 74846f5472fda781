"""How many frames a second the Player paints: 500 steps on 200 points, one step a frame.

Run it with ``python -m tests.bench.player_frames`` in the repository, on a machine that is otherwise idle.
"""

from __future__ import annotations

import json

import numpy as np
from playwright.sync_api import sync_playwright

from svmviz.kernels import make_kernel
from svmviz.machines import svc
from svmviz.smo.loop import Options
from svmviz.trace import Trace, record
from svmviz.ui import frontend
from svmviz.ui.player import player_data
from tests.browser.conftest import FLAGS, chromium_path

POINTS = 200
STEPS = 500
GOAL = 50
PLAY = """async (message) => {
  const host = document.querySelector(".stage");
  const player = new Player(host, {});
  player.update({...message, fresh: true});
  await new Promise((done) => setTimeout(done, 500));
  const times = [];
  let drawn = 0;
  const render = player.render.bind(player);
  player.render = () => { drawn += 1; render(); };
  player.setSpeed(60);
  player.play();
  await new Promise((done) => {
    const look = (now) => { times.push(now); player.playing ? requestAnimationFrame(look) : done(); };
    requestAnimationFrame(look);
  });
  const gaps = times.slice(1).map((time, k) => time - times[k]).sort((a, b) => a - b);
  const seconds = (times.at(-1) - times[0]) / 1000;
  return {frames: gaps.length / seconds, drawn, seconds, median: gaps[gaps.length >> 1],
    p95: gaps[Math.floor(0.95 * gaps.length)], longest: gaps.at(-1)};
}"""


def long_run() -> tuple[Trace, list[list[float]]]:
    """Two overlapping clouds, and a run that is cut after STEPS steps."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(POINTS) % 2, 1.0, -1.0)
    X = (0.8 * rng.normal(size=(POINTS, 2)) + 0.6 * signs[:, None]).round(4)
    kernel = make_kernel("rbf", X, gamma=1.0, degree=3, coef0=0.0)
    problem = svc.dual_problem(signs, 100.0)
    trace = record("C-SVC", X, signs, kernel, {"C": 100.0}, problem, Options(tol=1e-5), max_steps=STEPS)
    return trace, [[float(x), float(y), int(sign > 0)] for (x, y), sign in zip(X, signs, strict=True)]


def main() -> None:
    """Play the run once and print how it went."""
    trace, points = long_run()
    scene = {
        "revision": 1,
        "ack": 0,
        "height": 630,
        "task": "classification",
        "points": points,
        "view": [-3, 3, -3, 3],
        "axes": ["x1", "x2"],
        "classes": ["A", "B"],
        "message": None,
    }
    data, steps = player_data(scene, trace)
    assert steps is not None
    message = json.loads(json.dumps({"meta": data, "steps": {name: steps[name].tolist() for name in steps}}))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.set_content('<div class="stage"></div>')
        page.add_style_tag(content=frontend.style())
        page.add_script_tag(content=frontend.script().replace("export default function", "function"))
        result = page.evaluate(PLAY, message)
        browser.close()
    print(f"{len(trace.steps)} steps on {POINTS} points in {result['seconds']:.1f} s")
    print(f"{result['frames']:.1f} frames a second (goal: {GOAL}), {result['drawn']} of them drew a new step")
    for name in ("median", "p95", "longest"):
        print(f"between frames, {name}: {result[name]:.1f} ms")


if __name__ == "__main__":
    main()
