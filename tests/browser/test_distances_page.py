"""The page of all distances in a real browser: what is live follows the hand, and the numbers are the solver's."""

import re

import numpy as np
import pytest

from svmviz import ADSVC, datasets
from tests.browser.waits import answered, at_rest, choose, drawn, fits, in_board, opened

pytestmark = pytest.mark.browser

CURRENT = "() => findStage()?.querySelector('.geometry-table')?.dataset.current === 'true'"
STATE = """() => {
  const view = findStage().svmviz;
  const texts = (selector) => [...view.root.querySelectorAll(selector)].map((node) => node.textContent);
  return {
    mu: view.state.mu, places: view.state.prototypes.map(({at}) => at), distances: view.state.distances,
    rows: [...view.root.querySelectorAll(".distance-row")]
      .map((row) => [...row.children].map((cell) => cell.textContent.trim())),
    sum: texts("[data-value=sum]")[0], certificate: texts(".distance-certificate")[0],
    words: texts(".geometry-words")[0], legend: texts(".board-legend-item"), updates: view.updates,
    objective: Number(view.find(".geometry-table").dataset.objective),
    total: Number(view.find(".geometry-table").dataset.sum),
    links: view.drawn.links ?? [], decision: view.board.model?.decision ?? null,
    rival: view.board.regions.rival?.length ?? 0, boundary: view.board.regions.boundary?.length ?? 0,
  };
}"""
SLIDE = """([selector, value]) => {
  const slider = findStage().querySelector(selector);
  slider.value = value;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
}"""
RELEASE = (
    "(selector) => findStage().querySelector(selector).dispatchEvent(new Event('change', {bubbles: true}))"
)
MU = ".geometry-track input"


def weight(pair):
    return f".distance-row[data-pair='{pair}'] input"


@pytest.fixture
def visit(open_page, serve):
    def go(query, **options):
        return opened(
            open_page(**options), f"{serve('app.py')}/All_distances?{query}", "findStage().svmviz.root"
        )

    return go


def state(page):
    """What the page shows once Python has answered everything: nothing is current from a choice to its answer."""
    answered(page)
    page.wait_for_function(CURRENT)
    drawn(page)
    return page.evaluate(STATE)


def fitted(example, mu, pairs=(), **options):
    data = datasets.preset(example)
    count = len(set(data.labels.tolist()))
    weights = np.ones((count, count)) - np.eye(count)
    for a, b, value in pairs:
        weights[a, b] = weights[b, a] = value
    options = {"kernel": "linear", "tol": 1e-8, **options}
    return ADSVC(mu=mu, pair_weights=weights, **options).fit(data.points, data.labels), data


@pytest.mark.parametrize(
    ("example", "pairs"), [("three_classes", 3), ("four_corners", 6), ("six_classes", 15)]
)
def test_the_table_has_all_pairs_and_adds_up_to_the_objective(visit, example, pairs):
    shown = state(visit(f"preset={example}&kernel=linear&mu=0.2"))
    machine, data = fitted(example, 0.2)
    assert len(shown["rows"]) == pairs
    places = machine.prototypes_.coef @ data.points
    np.testing.assert_allclose(shown["places"], places, atol=1e-5)
    np.testing.assert_allclose(shown["distances"], machine.prototypes_.distances(), atol=1e-5)
    assert shown["total"] == pytest.approx(machine.certificate_.objective, rel=1e-6)
    assert shown["objective"] == pytest.approx(machine.certificate_.objective, rel=1e-6)
    assert f"objective {shown['sum']}," in shown["certificate"]
    assert "optimal" in shown["certificate"]
    added = sum(float(row[3]) for row in shown["rows"])
    assert added == pytest.approx(float(shown["sum"]), abs=1e-3)
    assert (sum(link["text"] != "" for link in shown["links"]) == pairs) == (pairs <= 6)


SUM = "findStage().querySelector('.geometry-table').dataset.sum"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_slider_for_mu_is_live(visit, kernel):
    page = visit(f"preset=four_corners&kernel={kernel}&gamma=0.5&mu=0.1")
    before = state(page)
    seen = []
    for value in range(150, 480, 30):
        page.evaluate(SLIDE, [MU, value])
        drawn(page)
        if kernel == "rbf":  # from the server, while the slider is still held
            answered(page)
        seen.append(page.evaluate(f"() => {SUM}"))
    page.evaluate(RELEASE, MU)
    after = state(page)
    assert len(set(seen)) > 5
    assert after["mu"] != before["mu"]
    machine, _ = fitted("four_corners", after["mu"], kernel=kernel, gamma=0.5)
    assert after["total"] == pytest.approx(machine.certificate_.objective, rel=1e-6)
    assert f"objective {after['sum']}," in after["certificate"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_weight_of_a_pair_moves_the_prototypes_and_resets(visit, kernel):
    page = visit(f"preset=three_classes&kernel={kernel}&gamma=0.5&mu=0.15")
    before = state(page)
    reset = page.get_by_role("button", name="reset")
    assert reset.is_disabled()
    machine, _ = fitted("three_classes", 0.15, [(0, 2, 5)], kernel=kernel, gamma=0.5)
    page.evaluate(SLIDE, [weight("0 2"), 5])
    after = state(page)
    np.testing.assert_allclose(after["distances"], machine.prototypes_.distances(), atol=1e-4)
    assert after["distances"][0][2] < before["distances"][0][2] - 1e-3
    assert after["total"] == pytest.approx(machine.certificate_.objective, rel=1e-5)
    assert after["rows"][1][2] == "5"
    reset.click()
    np.testing.assert_allclose(state(page)["distances"], before["distances"], atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_all_weights_zero_are_survived(visit, kernel):
    page = visit(f"preset=three_classes&kernel={kernel}&gamma=0.5")
    state(page)
    for pair in ("0 1", "0 2", "1 2"):
        page.evaluate(SLIDE, [weight(pair), 0])
        drawn(page)
    shown = state(page)
    assert "All weights are 0" in shown["words"]
    assert shown["links"] == []
    assert shown["decision"] is None
    assert "true one" not in shown["words"]
    page.get_by_role("button", name="reset").click()
    assert "Two rules" in state(page)["words"]


def test_more_than_two_hulls_that_overlap_decide_nothing(visit):
    page = visit("preset=three_classes&kernel=linear&mu=1")
    state(page)
    page.evaluate("""() => {
      const {board} = findStage().svmviz;
      board.setScene({points: board.points.map(([x, y], k) => [x, y, k % 3])});
      findStage().svmviz.refresh();
    }""")
    shown = page.evaluate(STATE)
    assert "The prototypes coincide" in shown["words"]
    assert np.max(shown["distances"]) == 0
    assert shown["decision"] is None
    assert shown["links"] == []


def test_what_is_said_of_the_plane_is_true_of_its_axes(visit):
    for example, axis, words in [
        ("separable", "from A to B, true length", "the distance of the prototypes is the true one"),
        ("overlapping", "largest spread", "shows the two directions of the largest spread"),
    ]:
        page = visit(f"preset={example}&kernel=poly&degree=1&mu=1")
        shown = state(page)
        assert page.evaluate("() => findStage().svmviz.meta.plane.axes[0]") == axis
        assert words in shown["words"]


@pytest.mark.parametrize("example", ["separable", "three_classes"])
def test_without_weights_the_prototypes_are_the_means(visit, example):
    data = datasets.preset(example)
    labels = np.unique(data.labels).tolist()
    zero = [f"{a}-{b}:0" for a in labels for b in labels if a < b]
    shown = state(visit(f"preset={example}&kernel=linear&mu=1&pair_weights={','.join(zero)}"))
    expected = [data.points[data.labels == label].mean(axis=0) for label in labels]
    np.testing.assert_allclose(shown["places"], expected, atol=1e-9)
    assert shown["decision"] is None


PREDICTED = """(lattice) => {
  const {model} = findStage().svmviz.board;
  const winners = (functions) => {
    const decision = decisionOf({...model, functions});
    return lattice.map((point) => decision.labels[decision.winner(decisionValues({...model, functions}, point))]);
  };
  return [winners(model.functions), winners(model.rival)];
}"""


def test_both_rules_are_drawn_and_counted(visit):
    page = visit("preset=six_classes&kernel=linear&mu=0.1")
    shown = state(page)
    assert shown["rival"] > 0
    assert shown["boundary"] > 0
    assert {"boundary: own rule", "boundary: nearest"} <= set(shown["legend"])
    machine, data = fitted("six_classes", 0.1)
    thesis = machine.predict(data.points)
    nearest = machine.set_params(rule="nearest").predict(data.points)
    disagree, wrong = np.sum(thesis != nearest), [np.sum(p != data.labels) for p in (thesis, nearest)]
    assert f"disagree on {disagree} of 108 samples" in shown["words"]
    assert f"own rule {wrong[0]}, nearest {wrong[1]}" in shown["words"]
    choose(page, "Decision", "Nearest prototype")
    page.wait_for_function("() => findStage().svmviz.meta.rule === 'nearest'")
    assert state(page)["legend"][:2] == ["boundary: nearest", "boundary: own rule"]


def test_the_live_rules_are_those_of_the_estimator(visit, load_frontend, page):
    """The model that the browser makes of its prototypes, evaluated by its own functions."""
    shown = visit("preset=six_classes&kernel=linear&mu=0.1")
    state(shown)
    model = shown.evaluate("() => findStage().svmviz.board.model")
    lattice = np.stack(np.meshgrid(np.linspace(-4, 4, 33), np.linspace(-4, 4, 33)), -1).reshape(-1, 2)
    load_frontend(page)
    script = PREDICTED.replace("(lattice)", "([model, lattice])").replace(
        "const {model} = findStage().svmviz.board;", ""
    )
    found = page.evaluate(script, [model, lattice.tolist()])
    machine, _ = fitted("six_classes", 0.1)
    for rule, labels in zip(("thesis", "nearest"), found, strict=True):
        np.testing.assert_array_equal(labels, machine.set_params(rule=rule).predict(lattice))


def test_the_dashed_line_is_joined(page, load_frontend):
    load_frontend(page)
    paths = page.evaluate(
        """() => joinedPaths([[[0, 0], [1, 0]], [[2, 1], [1, 0]], [[2, 1], [3, 1]], [[9, 9], [8, 8]]])
             .map((path) => path.length)"""
    )
    assert sorted(paths) == [2, 4]


def test_looking_at_a_row_shows_its_link(visit):
    page = visit("preset=six_classes&kernel=linear&mu=0.1")
    state(page)
    page.locator(".distance-row[data-pair='1 4']").hover()
    links = state(page)["links"]
    assert [(link["from"], link["to"]) for link in links if link["text"]] == [(1, 4)]
    page.mouse.move(*in_board(page, 5, 3.5))
    assert not any(link["text"] for link in state(page)["links"])
    page.mouse.move(*in_board(page, *state(page)["places"][0]))
    assert sum(link["text"] != "" for link in state(page)["links"]) == 5


def test_several_prototypes_have_hulls_of_their_own(visit):
    page = visit("preset=four_corners&kernel=linear&mu=0.2&n_prototypes=2")
    shown = state(page)
    machine, data = fitted("four_corners", 0.2, n_prototypes=2)
    np.testing.assert_allclose(shown["places"], machine.prototypes_.coef @ data.points, atol=1e-5)
    assert shown["total"] == pytest.approx(machine.certificate_.objective, rel=1e-6)
    assert len(shown["links"]) == 24
    assert "–" in shown["rows"][0][1]
    page.evaluate(SLIDE, [MU, 0])
    page.evaluate(RELEASE, MU)
    lowest = state(page)
    assert lowest["mu"] == pytest.approx(1 / 11, rel=1e-3)


def test_a_dragged_point_moves_the_prototypes_at_once(visit):
    page = visit("preset=three_classes&kernel=linear&mu=0.1")
    before = state(page)
    page.mouse.click(*in_board(page, 0.3, 0.2))
    after = state(page)
    assert after["distances"] != before["distances"]
    assert after["total"] == pytest.approx(after["objective"], rel=1e-6)
    assert "of 91 samples" in after["words"]


def test_two_classes_work_and_ask_for_a_third(visit):
    page = visit("preset=separable&kernel=linear&mu=0.3")
    shown = state(page)
    assert "Draw a third class" in shown["words"]
    assert len(shown["rows"]) == 1
    assert shown["rival"] == 0
    page.mouse.move(*in_board(page, 2.5, 2.5))
    page.keyboard.press("3")
    for x in (2.2, 2.4, 2.6, 2.3):
        page.mouse.click(*in_board(page, x, -2.4))
    page.wait_for_function("() => findStage().svmviz.state?.prototypes.length === 3")
    assert len(state(page)["rows"]) == 3


def test_one_class_gets_one_sentence_and_recovers(visit):
    page = visit("preset=separable&kernel=linear")
    state(page)
    page.get_by_role("button", name="Clear").click()
    page.get_by_text(re.compile("points of two classes")).wait_for()
    at_rest(page)
    page.mouse.click(*in_board(page, -1, 0))
    page.get_by_text(re.compile("second class")).wait_for()
    at_rest(page)
    assert page.evaluate("() => findStage().svmviz.board.model") is None
    page.keyboard.press("2")
    page.mouse.click(*in_board(page, 1, 0))
    page.wait_for_function("() => findStage().svmviz.state?.prototypes.length === 2")
    assert page.locator("[data-testid=stException]").count() == 0


def test_a_class_may_be_one_point_or_go_again(visit):
    page = visit("preset=separable&kernel=linear")
    state(page)
    page.get_by_role("button", name="Clear").click()
    page.get_by_text(re.compile("points of two classes")).wait_for()
    at_rest(page)
    for key, place in [("1", (-1, 0)), ("2", (1, 0)), ("3", (0, 1.5))]:
        page.mouse.move(*in_board(page, *place))
        page.keyboard.press(key)
        page.mouse.click(*in_board(page, *place))
    page.wait_for_function("() => findStage().svmviz.state?.prototypes.length === 3")
    shown = state(page)
    assert shown["mu"] == 1
    assert shown["distances"][0][1] == pytest.approx(2, abs=0.01)
    page.mouse.click(*in_board(page, 0, 1.5), button="right")
    page.wait_for_function("() => findStage().svmviz.state?.prototypes.length === 2")
    assert len(state(page)["rows"]) == 1
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0


def test_a_curve_is_asked_to_become_classes(visit):
    page = visit("preset=three_classes&kernel=linear")
    state(page)
    choose(page, "Example", "Sine with noise")
    page.get_by_text(re.compile("belong to classes")).wait_for()
    assert page.evaluate("() => findStage().svmviz.board.model") is None
    choose(page, "Example", "Four corners")
    page.wait_for_function("() => findStage().svmviz.state?.prototypes.length === 4")
    assert state(page)["decision"] == "argmax"


def test_a_kernel_brings_the_feature_plane_and_takes_it_away(visit):
    page = visit("preset=three_classes&kernel=linear&mu=0.1")
    state(page)
    choose(page, "Kernel", "Gaussian (RBF)")
    page.wait_for_function("() => findStage().svmviz.meta.plane")
    shown = state(page)
    assert "goes through the three prototypes" in shown["words"]
    assert shown["decision"] == "argmax"
    assert shown["rival"] > 0
    choose(page, "Kernel", "Linear")
    page.wait_for_function("() => findStage().svmviz.meta.linear")
    assert state(page)["decision"] == "argmax"


def test_smo_finds_the_same_prototypes_step_by_step(visit):
    page = visit("preset=three_classes&kernel=linear&mu=0.1&pair_weights=0-1:3&n_prototypes=2")
    explored = state(page)
    page.get_by_text("Step by step", exact=True).click()
    page.wait_for_function("() => findStage()?.svmviz?.last > 3")
    last = page.evaluate("() => findStage().svmviz.meta.trace.sentences.at(-1)")
    assert f"{explored['objective']:.4g}" in last
    page.get_by_text("Explore", exact=True).click()
    page.wait_for_function("() => findStage()?.svmviz?.root?.dataset?.ready === 'true'")
    assert state(page)["total"] == pytest.approx(explored["total"])


def test_fifteen_sliders_keep_up_with_the_hand(visit):
    page = visit("preset=six_classes&kernel=linear&mu=0.1")
    state(page)
    milliseconds = page.evaluate("""() => {
      const view = findStage().svmviz;
      const times = [];
      for (let k = 0; k < 40; k += 1) {
        view.weights.set("0 3", (k % 20) / 4);
        const begin = performance.now();
        view.refresh();
        times.push(performance.now() - begin);
      }
      return times.sort((a, b) => a - b)[20];
    }""")
    print(f"median {milliseconds:.1f} ms")
    assert milliseconds < 60


def test_nothing_scrolls_on_a_laptop_or_a_projector(visit):
    for query in ("preset=six_classes&kernel=linear", "preset=wine&kernel=poly&n_prototypes=2"):
        page = visit(query)
        state(page)
        fits(page)


def test_a_phone_shows_it_all_below_each_other(visit):
    for query, scheme in [("preset=six_classes&kernel=linear", "light"), ("preset=iris&kernel=rbf", "dark")]:
        page = visit(query, viewport={"width": 390, "height": 844}, color_scheme=scheme)
        state(page)
        assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
