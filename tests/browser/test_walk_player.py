"""A walk in the Player: the browser replays it as Python does, forward and back, and the Board's model follows."""

import re

import numpy as np
import pytest

from svmviz import record_learning, record_path, record_unlearning
from svmviz.ui import lesson
from svmviz.ui.player import player_data
from svmviz.ui.workspace import Workspace
from tests.browser.waits import drawn, opened, settled
from tests.solver.test_paths import APART, CODES, CURVED, LEFT_OUT, PATHS

pytestmark = pytest.mark.browser

WALKS = {
    "C-SVC, downward": lambda: record_path(*PATHS["C-SVC, weighted, downward"]),
    "SVR, epsilon": lambda: record_path(*PATHS["SVR, epsilon"]),
    "nu-SVR": lambda: record_path(*PATHS["nu-SVR"]),
    "mu-SVM": lambda: record_path(*PATHS["mu-SVM"]),
    "C-SVC, squared": lambda: record_unlearning(*LEFT_OUT["C-SVC, squared"], [0, 1, 2]),
    "C-SVC, squared, C": lambda: record_path(*CURVED["C-SVC, squared, linear, downward"]),
    "one-class": lambda: record_learning(*LEFT_OUT["one-class"], 4),
    "AD-SVM": lambda: record_unlearning(*LEFT_OUT["AD-SVM"], [0, 1, 2, 3]),
    "MC-SVM": lambda: record_learning(LEFT_OUT["MC-SVM"][0], APART, CODES, 4),
}

SHOW = """(message) => {
  window.player?.destroy();
  const host = document.getElementById("host");
  host.style.width = "auto";
  window.player = new Player(host);
  player.update({...message, fresh: true});
}"""
STATES = """() => Array.from({length: player.last + 1}, (_, k) => {
  player.replay.seek(k);
  const { model } = player.meta;
  const picture = model.regions === false ? null : readModel(player.replay, player.replay.modelHere(model));
  const { value, z, gradient, objective, lo, hi, nu, counts } = player.replay;
  return {value, z: [...z], gradient: [...gradient], objective: objective[k], lo: [...lo], hi: [...hi], nu,
    margin: counts.margin[k],
    shown: picture === null || picture.functions.every(({coef}) => coef.every(Number.isFinite))};
})"""


def message(trace):
    """What the component gets of a trace that is opened in an empty workspace."""
    space = Workspace()
    lesson._adopt(space, trace)
    data, steps = player_data(space.scene(620, None), trace)
    data["model"]["regions"] = not lesson._is_projected(trace)
    return {"meta": data, "steps": {name: steps[name].tolist() for name in steps}}


@pytest.fixture
def load(page, load_frontend):
    load_frontend(page)

    def show(trace):
        page.evaluate(SHOW, message(trace))
        return page

    return show


def test_the_browser_walks_as_python_does(load):
    for name, make in WALKS.items():
        trace = make()
        page = load(trace)
        hessian = trace.hessian()
        states = page.evaluate(STATES)
        assert len(states) == len(trace.steps) + 1, name
        for position, state in enumerate(states):
            problem, z = trace.problem_at(position), trace.multipliers(position)
            scale = 1e-12 * max(1.0, np.abs(z).max())
            step = trace.steps[position - 1] if position else trace.walk
            assert state["value"] == trace.value(position)
            assert state["objective"] == step.objective
            assert state["margin"] == int((trace.sides(position) == 0).sum())
            assert state["nu"] == pytest.approx(np.array(step.nu).tolist())
            np.testing.assert_allclose(state["z"], z, rtol=0, atol=scale, err_msg=name)
            ends = np.isfinite(problem.hi)
            np.testing.assert_allclose(np.array(state["hi"], float)[ends], problem.hi[ends], atol=scale)
            gradient = hessian.with_problem(problem).gradient(z)
            size = 1e-9 * (np.abs(gradient).max() + np.abs(z).max())
            np.testing.assert_allclose(state["gradient"], gradient, rtol=0, atol=size, err_msg=name)
            assert state["shown"]


WRITTEN = """() => {
  const { prototype } = CanvasRenderingContext2D;
  const [fillText, texts] = [prototype.fillText, []];
  prototype.fillText = function (text, ...place) { texts.push(text); return fillText.call(this, text, ...place); };
  player.charts[1].draw();
  prototype.fillText = fillText;
  return texts.join("\\n");
}"""
BOARD = """() => JSON.stringify(player.board.model.functions.map(({coef, bias}) => [[...coef], bias]))"""


def test_a_walk_steps_forward_and_back_in_the_player(load):
    trace = WALKS["C-SVC, downward"]()
    page = load(trace)
    state = page.locator(".player")
    pictures = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        drawn(page)
        pictures.append(page.evaluate(BOARD))
        page.keyboard.press(key)
    drawn(page)
    pictures.append(page.evaluate(BOARD))
    assert len(set(pictures)) == 3
    assert pictures == pictures[::-1]
    assert state.get_attribute("data-position") == "0"
    assert page.locator(".player-why b").inner_text().startswith(f"Event 1 of {len(trace.steps)}, at C = ")
    assert page.locator(".player-count").inner_text() == f"event 1 of {len(trace.steps)}"
    assert page.locator(".player-goto").inner_text().strip() == "go to event"
    titles = page.locator(".player-charts h4").all_inner_texts()
    assert titles == ["Who changes sides", "Violations", "Multipliers", "Objective and sets"]
    rows = page.locator(".player-row").all_inner_texts()
    assert all(" to 0" in row or " to C" in row or " joins" in row for row in rows[:5])
    # From optimum to optimum: what the thresholds differ by is no violation.
    assert re.search(r"^▼ \S+ = ▲ \S+: optimal$", page.evaluate(WRITTEN), re.MULTILINE)
    # A drag on the chart over the parameter goes to the event that is nearest.
    box = page.locator(".player-charts > div:nth-child(4) canvas").bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"])
    page.wait_for_function("() => Number(player.root.dataset.position) > 0")
    page.keyboard.press("End")
    page.wait_for_function("() => player.root.dataset.position === player.root.dataset.steps")
    assert "Done after" in page.locator(".player-why").inner_text()


def test_the_path_of_the_page_is_played_step_by_step(page, serve):
    """From the page of the path to the Player: on and back, and the Board's model with it."""
    opened(page, f"{serve('app.py')}/Slide_C_and_epsilon", "findStage().svmviz?.state")
    points = page.evaluate("() => findStage().svmviz.points")
    page.get_by_role("button", name="Trace", exact=True).click()
    page.get_by_role("button", name="Play step by step").click()
    page.wait_for_function("() => findStage()?.svmviz?.replay?.walk?.parameter === 'C'")
    settled(page)
    assert page.evaluate("() => findStage().svmviz.board.points") == points
    seen = []
    for key in ("ArrowRight", "ArrowLeft", None):
        drawn(page)
        seen.append(page.evaluate(BOARD.replace("player.", "findStage().svmviz.")))
        if key:
            page.keyboard.press(key)
    assert seen[0] != seen[1]
    assert seen[0] == seen[2]
