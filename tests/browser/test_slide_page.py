"""The page of paths in a real browser: the slider scrubs, and what it shows is the machine at that value."""

import numpy as np
import pytest

from svmviz import ADSVC, SVC, SVR, datasets, leave_one_out
from tests.browser.waits import FITS, answered, at_rest, best_second, choose, drawn, fits, opened, settled

pytestmark = pytest.mark.browser

PATH = "Slide_C_and_epsilon"
READY = "findStage()?.svmviz?.state"
STATE = """() => {
  const view = findStage().svmviz;
  const {state} = view;
  const text = (selector) => view.find(selector).textContent.trim();
  return {
    value: state.value, coef: [...state.coefficients()], bias: state.bias, sums: [...state.sums[0]],
    rows: state.path.rows, status: [...state.status()], numbers: Object.fromEntries(state.numbers()),
    words: text(".geometry-made"), hint: text(".geometry-hint"),
    breaks: state.breaks.map(({value}) => value), picture: state.picture,
    wrong: state.regression ? null : state.wrong(),
    rings: view.board.items.map(({status}) => status), updates: view.updates, shown: view.input.value,
    margins: view.board.regions.margins?.length ?? 0, boundary: view.board.regions.boundary?.length ?? 0,
  };
}"""
SLIDE = """(value) => {
  const view = findStage().svmviz;
  view.slider.value = Math.round(2000 * view.state.placeOf(value));
  view.slider.dispatchEvent(new Event("input", {bubbles: true}));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(view.state.value))));
}"""


@pytest.fixture
def visit(open_page, serve):
    def go(query, **options):
        return opened(open_page(**options), f"{serve('app.py')}/{PATH}?{query}", READY)

    return go


def test_the_slider_shows_the_machine_at_its_value(visit):
    page = visit("preset=overlapping&kernel=rbf&gamma=0.5&C=1")
    data = datasets.preset("overlapping")
    seen = set()
    for wanted in (0.05, 1.0, 40.0, 700.0):
        value = page.evaluate(SLIDE, wanted)
        assert value == pytest.approx(wanted, rel=0.01)
        shown = page.evaluate(STATE)
        machine = SVC(C=value, kernel="rbf", gamma=0.5, tol=1e-9).fit(data.points, data.labels)
        decision = machine.decision_function(data.points)
        np.testing.assert_allclose(np.array(shown["sums"]) + shown["bias"], decision, atol=1e-5)
        assert shown["wrong"] == np.sum((decision > 0) != data.labels)
        assert shown["numbers"]["Support vectors"].startswith(
            f"{len(machine.support_)} of {len(data.points)}:"
        )
        coef = np.zeros(len(data.points))
        coef[machine.support_] = machine.dual_coef_[0]
        width = 2 / np.sqrt(coef @ (decision - machine.intercept_[0]))
        assert float(shown["numbers"]["Margin width 2/‖w‖"]) == pytest.approx(width, rel=1e-3)
        assert shown["rings"] == shown["status"]
        assert shown["boundary"]
        seen.add(shown["words"])
    assert len(seen) == 4


def test_the_slider_scrubs_at_fifty_frames_a_second(visit):
    page = visit("preset=overlapping&kernel=rbf&gamma=0.5&C=1")
    scrub = """(k) => {
      const {slider} = findStage().svmviz;
      slider.value = (10 * k) % 2000;
      slider.dispatchEvent(new Event("input", {bubbles: true}));
    }"""
    assert best_second(page, scrub, "() => findStage().svmviz.updates", 50) >= 50


def test_the_buttons_go_from_breakpoint_to_breakpoint(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    before = page.evaluate(STATE)
    page.get_by_role("button", name="To the next breakpoint").click()
    drawn(page)
    after = page.evaluate(STATE)
    assert after["value"] == min(value for value in before["breaks"] if value > before["value"])
    assert f"of {len(before['breaks'])}" in after["words"]
    assert before["hint"].startswith(f"{len(before['breaks'])} breakpoints")
    page.get_by_role("button", name="To the breakpoint before").click()
    drawn(page)
    assert page.evaluate(STATE)["value"] < after["value"]
    value = "findStage().svmviz.state.value"
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"(wanted) => {value} === wanted", arg=after["value"])
    page.keyboard.press("Home")
    page.wait_for_function(
        f"(start) => {value} === start", arg=page.evaluate("findStage().svmviz.state.path.start")
    )
    page.keyboard.press("Space")  # it plays along the path, until it is stopped
    page.wait_for_function(f"(wanted) => {value} > wanted", arg=1.05 * page.evaluate(value))
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play", exact=True).wait_for()


def test_a_value_can_be_typed(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    field = page.get_by_role("textbox", name="C", exact=True)
    field.fill("12,5")
    field.press("Enter")
    drawn(page)
    assert page.evaluate(STATE)["value"] == 12.5
    field.fill("1e9")
    field.press("Enter")
    drawn(page)
    shown = page.evaluate(STATE)
    assert "type a number between" in shown["hint"]
    assert (shown["value"], shown["shown"]) == (12.5, "12.5")


def test_an_example_brings_its_own_value(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    choose(page, "Example", "Moons")
    page.wait_for_function("() => findStage().svmviz.state?.value === 10")


def test_the_point_of_the_words_is_named_on_the_board(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    page.evaluate("""() => {
      window.called = [];
      const paint = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        if (this.canvas.matches(".board-canvas")) window.called.push(text);
        return paint.call(this, text, ...rest);
      };
    }""")
    page.get_by_role("button", name="To the next breakpoint").click()
    page.wait_for_function("""() => {
      const view = findStage().svmviz;
      const words = view.find(".geometry-made span").textContent;
      return window.called.some((name) => /\\d/.test(name) && words.startsWith(name + ":"));
    }""")


def test_the_tube_widens_with_epsilon(visit):
    page = visit("preset=sine&regressor=svr&C=1")
    page.get_by_role("radio", name="ε").click()
    page.wait_for_function("() => findStage().svmviz.root.dataset.parameter === 'epsilon'")
    data = datasets.preset("sine")
    X, y = data.points[:, :1], data.points[:, 1]
    widths, outside = [], []
    for wanted in (0.05, 0.3, 0.6):
        value = page.evaluate(SLIDE, wanted)
        shown = page.evaluate(STATE)
        assert shown["picture"]["epsilon"] == value
        gamma = page.evaluate("() => findStage().svmviz.state.path.model.kernel.gamma")
        machine = SVR(C=1.0, epsilon=value, kernel="rbf", gamma=gamma, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(np.array(shown["sums"]) + shown["bias"], machine.predict(X), atol=1e-5)
        widths.append(float(shown["numbers"]["Tube width 2ε"]))
        outside.append(int(shown["numbers"]["Outside of the tube"].split()[0]))
    assert widths == sorted(widths)
    assert outside == sorted(outside, reverse=True)


def test_prototypes_slide_along_mu(visit):
    page = visit("preset=three_classes&classifier=ad_svm&kernel=rbf&gamma=0.5&mu=0.1")
    data = datasets.preset("three_classes")
    for wanted in (0.08, 0.3):
        value = page.evaluate(SLIDE, wanted)
        shown = page.evaluate(STATE)
        machine = ADSVC(mu=value, kernel="rbf", gamma=0.5, tol=1e-10).fit(data.points, data.labels)
        assert shown["wrong"] == np.sum(machine.predict(data.points) != data.labels)
        distances = machine.prototypes_.distances()
        smallest = distances[np.triu_indices(3, 1)].min()
        number = float(shown["numbers"]["Nearest prototypes"])
        assert number == pytest.approx(smallest, rel=1e-3, abs=1e-4)


def test_an_edit_brings_another_path_and_the_value_stays(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    value = page.evaluate(SLIDE, 30.0)
    count = len(page.evaluate(STATE)["rows"])
    box = page.evaluate("() => findStage().svmviz.board.canvas.getBoundingClientRect().toJSON()")
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.2 * box["height"])
    page.wait_for_function("(n) => findStage().svmviz.state.path.rows.length === n", arg=count + 1)
    assert page.evaluate(STATE)["value"] == pytest.approx(value)


def test_nothing_scrolls_on_a_laptop_or_a_projector(visit):
    for query in (
        "preset=overlapping",
        "preset=wine&C=1",
        "preset=four_corners&classifier=ad_svm",
        "preset=sine",
    ):
        fits(visit(query))


def test_the_charts_keep_some_height_below_the_bars_of_a_browser(visit):
    page = visit("preset=overlapping", viewport={"width": 1366, "height": 625})
    page.wait_for_function(FITS)
    heights = page.evaluate("""() => {
      const {chart, survey} = findStage().svmviz;
      return [chart.canvas.clientHeight, survey.canvas.clientHeight];
    }""")
    assert min(heights) >= 110


def test_nothing_is_wider_than_a_phone(visit):
    page = visit("preset=overlapping", viewport={"width": 390, "height": 844})
    settled(page)
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


def test_a_squared_loss_slides_along_curves_and_warm_and_cold_are_counted(visit):
    page = visit("preset=overlapping&kernel=rbf&gamma=0.5&loss=squared")
    data = datasets.preset("overlapping")
    for wanted in (0.02, 40.0):
        value = page.evaluate(SLIDE, wanted)
        shown = page.evaluate(STATE)
        machine = SVC(C=value, kernel="rbf", gamma=0.5, loss="squared_hinge", tol=1e-9)
        decision = machine.fit(data.points, data.labels).decision_function(data.points)
        np.testing.assert_allclose(np.array(shown["sums"]) + shown["bias"], decision, atol=1e-3)
        assert "every multiplier is a curve, drawn to 0.1 % of the picture" in shown["hint"]
    page.get_by_role("button", name="Warm against cold").click()
    page.get_by_text("Warm: each from the last").wait_for()
    assert page.get_by_text("events").count()


def test_a_machine_without_a_parameter_says_so(open_page, serve):
    page = open_page()
    page.goto(f"{serve('app.py')}/{PATH}?preset=overlapping&classifier=nu_svc")
    page.get_by_text("no C, ε or μ to slide").wait_for()


def test_the_value_goes_along_to_the_other_pages(visit):
    page = visit("preset=overlapping&kernel=linear&C=1")
    page.evaluate(SLIDE, 100.0)
    page.evaluate("() => findStage().svmviz.slider.dispatchEvent(new Event('change', {bubbles: true}))")
    answered(page)
    page.get_by_role("link", name="Draw and fit").click()
    page.wait_for_function("() => findStage()?.svmviz && !findStage().svmviz.state")
    page.get_by_role("link", name="Slide C and ε").click()
    at_rest(page, READY)
    assert page.evaluate(STATE)["value"] == pytest.approx(100.0, rel=0.01)


LET_GO = "() => findStage().svmviz.slider.dispatchEvent(new Event('change', {bubbles: true}))"
HEARD = "(seq) => findStage().svmviz.late === null && Number(findStage().svmviz.root.dataset.leftOut) >= seq"


@pytest.fixture
def listen(open_page, serve):
    """Open the page and list the lengths of all messages from the server."""

    def go(query):
        page, lengths = open_page(new=True), []
        page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: lengths.append(len(frame)))
        )
        opened(page, f"{serve('app.py')}/{PATH}?{query}", READY)
        return page, lengths

    return go


def test_a_path_is_sent_once(listen):
    page, lengths = listen("preset=overlapping&kernel=rbf&gamma=0.5&C=1")
    whole = page.evaluate("() => JSON.stringify([...window.svmvizPaths.values()][0]).length")
    assert sum(length > 0.9 * whole for length in lengths) >= 1
    lengths.clear()
    for value in (2.0, 200.0):  # let go twice
        page.evaluate(SLIDE, value)
        page.evaluate(LET_GO)
    page.get_by_role("button", name="Leave one out").click()
    page.wait_for_function(HEARD, arg=3)
    assert lengths
    assert max(lengths) < 0.05 * whole
    page.reload()  # a new browser side: it has nothing and gets it all
    at_rest(page, READY)
    assert page.evaluate("() => window.svmvizPaths.size") == 1
    page.get_by_role("link", name="Draw and fit").click()
    page.wait_for_function("() => findStage()?.svmviz && !findStage().svmviz.state")
    page.get_by_role("link", name="Slide C and ε").click()
    at_rest(page, READY)


def test_words_explain_a_leave_one_out_error_that_is_none_or_all_wrong(visit):
    page = visit("preset=overlapping&kernel=rbf&C=1")
    said = """([value, error, total]) => {
      const {state} = findStage().svmviz;
      state.leftOut = {known: [[value, error]], total};
      return [state.unseenWords(), state.unseenText()];
    }"""
    n = len(datasets.preset("overlapping").points)
    page.evaluate(SLIDE, 0.01)
    words, text = page.evaluate(said, [0.01, n, 33])
    assert words["head"] == "Leave-one-out is wrong every time at C = 0.01."
    assert "the larger class wins everywhere" in words["text"]
    assert text == f"{n} of {n} (100 %) at C = 0.01"
    assert page.evaluate(said, [0.01, n - 1, 33])[0] is None  # it is not wrong every time
    words, text = page.evaluate(said, [0.01, "Rounding.", 33])
    assert words == {"head": "No leave-one-out error at C = 0.01.", "text": "Rounding."}
    assert text == "none at C = 0.01"
    page.evaluate("() => { findStage().svmviz.refresh(); }")
    assert page.evaluate(STATE)["words"] == "No leave-one-out error at C = 0.01. Rounding."
    page.evaluate(SLIDE, 0.05)  # too far from the value at which it was computed
    assert page.evaluate(said, [0.01, n, 33])[0] is None
    page.evaluate(SLIDE, 10.0)  # where the multipliers are not all at C
    assert page.evaluate(said, [10.0, n, 33])[0] is None


@pytest.mark.parametrize(
    "query", ["preset=outlier&kernel=rbf&gamma=0.5&C=1", "preset=sine&gamma=1&C=1&epsilon=0.1"]
)
def test_leave_one_out_is_drawn_beside_the_training_error(visit, query):
    page = visit(query)
    page.get_by_role("button", name="Leave one out").click()
    page.wait_for_function(
        """() => {
      const {state, survey} = findStage().svmviz;
      const {known, total} = state.leftOut;
      return state.isSurveyed && known.length === total && survey.lines[0].values.every(isFinite);
    }""",
        timeout=60_000,
    )
    known, n, lines = page.evaluate("""() => {
      const {state, survey} = findStage().svmviz;
      return [state.leftOut.known, state.labels.length, survey.lines.map(({name, values}) => [name, [...values]])];
    }""")
    assert [name for name, _ in lines] == ["training", f"leave-one-out, at {len(known)} values"]
    regression = "sine" in query
    data = datasets.preset("sine" if regression else "outlier")
    X, y = (data.points[:, :1], data.points[:, 1]) if regression else (data.points, data.labels)
    for k in (0, 9, 20, 32):
        value, error = known[k]
        machine = (
            SVR(C=value, epsilon=0.1, gamma=1.0) if regression else SVC(C=value, kernel="rbf", gamma=0.5)
        )
        unseen = leave_one_out(machine, X, y).prediction
        wanted = np.sqrt(np.mean((unseen - y) ** 2)) if regression else np.sum(unseen != y)
        assert error == pytest.approx(wanted)
        assert lines[1][1][k] == pytest.approx(wanted if regression else 100 * wanted / n)
        page.evaluate(SLIDE, value)
        shown = page.evaluate(STATE)["numbers"]
        assert f"at C = {float(f'{value:.3g}'):g}" in shown["Leave-one-out error"]
        training = page.evaluate("() => findStage().svmviz.state.error()")
        assert lines[0][1][5 * k] == pytest.approx(training, abs=1e-3 if regression else 2.1)
    assert page.get_by_role("button", name="Leave one out").count() == 0


def test_a_count_steps_half_way_between_its_values(loaded):
    drawn_as = loaded.evaluate("""() => stepsOf(
      {xs: [1, 100, 10000], values: [5, 4, NaN]}, {placeOf: Math.log10, valueAt: (place) => 10 ** place})""")
    assert drawn_as["xs"] == pytest.approx([1, 10, 10, 1000, 1000, 10000])
    np.testing.assert_equal(drawn_as["values"], [5, 5, 4, 4, np.nan, np.nan])


def test_a_button_goes_to_the_smallest_value_without_an_error(visit):
    page = visit("preset=moons&kernel=rbf&loss=squared")
    page.get_by_role("button", name="Go there").click()
    drawn(page)
    shown, value = page.evaluate(STATE), page.evaluate("() => findStage().svmviz.state.path.faultless")
    assert (shown["value"], shown["wrong"]) == (value, 0)
    said = page.evaluate("() => findStage().svmviz.find('.slide-faultless span').textContent")
    assert said == f"Smallest C without training error: {value:.4g}"
    wrong = page.evaluate(
        "(value) => { const {state} = findStage().svmviz; state.go(value); return state.wrong(); }",
        0.99 * value,
    )
    assert wrong > 0
    page = visit("preset=overlapping&kernel=linear")
    assert page.get_by_text("No C up to 1000 classes all points right.").count() == 1
    assert not page.get_by_role("button", name="Go there").is_visible()
