"""The geometry's view without a server: any number of classes, links of its own, and prototypes within a class."""

import numpy as np
import pytest

from svmviz import ADSVC
from tests.browser.waits import at_rest

pytestmark = pytest.mark.browser

MOUNT = """([points, geometry]) => {
  window.told = [];
  window.view = new GeometryView(document.getElementById("host"), {onMu: (mu) => told.push(mu)});
  const meta = {axes: ["x1", "x2"], height: 600, geometry};
  view.board.setScene({axes: meta.axes, classNames: ["A", "B", "C"], points, view: [-3, 8, -3, 8]});
  view.update({meta, ids: null, settled: true});
}"""


def three_clouds():
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [4, 1], [1, 5]])
    return np.vstack([rng.normal(size=(25, 2)) + centre for centre in centres]), np.repeat([0, 1, 2], 25)


def geometry(**entries):
    prototypes = [{"label": c, "name": f"v{c}"} for c in range(3)]
    usual = {
        "kind": "distances",
        "for": 0,
        "examples": [],
        "linear": True,
        "prototypes": prototypes,
        "groups": None,
        "pairs": [[0, 1, 1], [0, 2, 1], [1, 2, 1]],
    }
    return usual | {"wanted": 0.2, "mu": 0.2, "critical": None, "note": None} | entries


def mounted(page, load_frontend, **entries):
    X, y = three_clouds()
    load_frontend(page, width=1200)
    rows = [[float(a), float(b), int(label)] for (a, b), label in zip(X, y, strict=True)]
    page.evaluate(MOUNT, [rows, geometry(**entries)])
    at_rest(page)
    return X, y


def test_three_prototypes_are_those_of_all_distances_at_every_mu(page, load_frontend):
    X, y = mounted(page, load_frontend)
    for mu in (0.2, 0.05, 0.5):
        page.evaluate("(mu) => view.choose(mu)", mu)
        page.wait_for_function("(mu) => view.state.mu === mu", arg=mu)
        machine = ADSVC(mu=mu, kernel="linear", tol=1e-8).fit(X, y)
        distances = page.evaluate("() => view.state.distances")
        np.testing.assert_allclose(distances, machine.prototypes_.distances(), atol=1e-4)
    assert page.evaluate("() => told") == [0.2, 0.05, 0.5]
    assert "feasible from 0.04" in page.evaluate("() => view.find('.geometry-words').textContent")


@pytest.mark.parametrize("end", ["change", "pointerup"])
def test_an_answer_that_comes_while_the_slider_is_held_does_not_move_it(page, load_frontend, end):
    """Python hears of mu when the slider is let go; what it says before is about the mu before."""
    mounted(
        page, load_frontend, prototypes=[{"label": c, "name": f"v{c}"} for c in range(2)], pairs=[[0, 1, 1]]
    )
    held, kept = page.evaluate(
        """(end) => {
          const answer = (mu) => view.update({
            meta: {axes: ["x1", "x2"], height: 600, geometry: {...view.meta, mu, wanted: mu}}, ids: null,
            settled: true,
          });
          view.slider.value = 400;
          view.slider.dispatchEvent(new Event("input"));
          const held = view.wanted;
          answer(0.1);
          const kept = view.wanted;
          view.slider.dispatchEvent(new Event(end));
          answer(0.3); // nothing is held any longer
          return [held, kept];
        }""",
        end,
    )
    assert held == kept == page.evaluate("() => told")[0]
    assert page.evaluate("() => view.wanted") == 0.3


def test_a_link_of_weight_zero_is_neither_drawn_nor_pulls(page, load_frontend):
    links = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X, y = mounted(page, load_frontend, pairs=[[0, 1, 1], [0, 2, 0], [1, 2, 1]])
    machine = ADSVC(mu=0.2, kernel="linear", tol=1e-8, pair_weights=links).fit(X, y)
    np.testing.assert_allclose(
        page.evaluate("() => view.state.distances"), machine.prototypes_.distances(), atol=1e-4
    )
    assert page.evaluate("() => view.drawn.links.map(({from, to}) => [from, to])") == [[0, 1], [1, 2]]


def test_two_prototypes_of_one_class_have_a_hull_each_and_no_link(page, load_frontend):
    _, y = three_clouds()
    groups = y.copy()
    groups[y == 2] = 2 + (np.arange(25) % 2)
    prototypes = [{"label": c, "name": name} for c, name in [(0, "a"), (1, "b"), (2, "c1"), (2, "c2")]]
    mounted(page, load_frontend, groups=groups.tolist(), prototypes=prototypes)
    assert page.evaluate("() => view.state.counts") == [25, 25, 13, 12]
    assert [2, 3] not in page.evaluate("() => view.drawn.links.map(({from, to}) => [from, to])")


def test_a_hint_goes_with_the_points_that_it_is_about(page, load_frontend):
    mounted(page, load_frontend)
    hint = "() => view.find('.geometry-hint').textContent"
    typed = """(again) => {
      const field = view.find("[data-value=mu]");
      field.value = "0.001";
      field.dispatchEvent(new Event("change"));
      const meta = {axes: ["x1", "x2"], height: 600, geometry: view.meta};
      view.update({meta: {...meta, ...again}, ids: null, settled: true});
    }"""
    page.evaluate(typed, {})
    assert "Not feasible" in page.evaluate(hint)
    page.evaluate(typed, {"revision": 2})
    assert page.evaluate(hint) == ""


def test_only_one_class_leaves_the_board_to_draw_on(page, load_frontend):
    mounted(page, load_frontend)
    page.evaluate("() => { view.setScene({points: [[0, 0, 0], [1, 1, 0]]}); }")
    assert page.evaluate("() => [view.state, view.board.count, view.root.dataset.ready]") == [
        None,
        2,
        "false",
    ]


def test_a_coordinate_in_other_units_does_not_bend_the_bisector(page, load_frontend):
    load_frontend(page)
    pixels = page.evaluate("""() => {
      const seen = [];
      const keep = (x, y) => seen.push([x, y]);
      const ctx = {setLineDash() {}, beginPath() {}, stroke() {}, moveTo: keep, lineTo: keep};
      const look = {text: "#000000", background: "#ffffff", font: "x", dark: false};
      const toPixel = (x, y) => [100 * x, 400 - 10 * y];
      const prototypes = [{label: 0, at: [1, 10], name: ""}, {label: 1, at: [3, 14], name: ""}];
      const frame = {left: 0, top: 0, width: 400, height: 400};
      paintBisector(ctx, look, toPixel, frame, prototypes[0].at, prototypes[1].at);
      return seen.map(([x, y]) => [x / 100, (400 - y) / 10]);
    }""")
    for x, y in pixels:
        assert np.hypot(x - 1, y - 10) == pytest.approx(np.hypot(x - 3, y - 14), rel=1e-9)
