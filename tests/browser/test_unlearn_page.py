"""The page Unlearn in a real browser: a click starts the walk, which plays both ways; the proof; everyone in turn."""

import numpy as np
import pytest

from svmviz.datasets import Dataset
from svmviz.ui.link import to_query
from svmviz.ui.workspace import Workspace
from tests.browser.waits import answered, at_rest, best_second, drawn, in_board, opened

pytestmark = pytest.mark.browser

VIEW = "findStage().svmviz"


def open_unlearn(page, serve, query="preset=overlapping"):
    return opened(
        page, f"{serve('app.py')}/Unlearn?{query}", f"findStage().dataset.ready === 'true' && {VIEW}.course"
    )


def read(page, expression):
    return page.evaluate(f"() => {expression}")


def heaviest(page, count=1):
    """The points with the largest multipliers, among those without a neighbour within 14 pixels."""
    return read(
        page,
        f"""(() => {{
          const {{ course, board }} = {VIEW};
          const at = board.items.map(({{ x, y }}) => board.toPixel(x, y));
          const alone = (k) => at.every(([x, y], j) => j === k || Math.hypot(x - at[k][0], y - at[k][1]) > 14);
          const order = course.places.map((place, m) => [course.shown.rows[place], Math.abs(course.coef[m])]);
          order.sort((a, b) => b[1] - a[1]);
          return order.map(([row]) => row).filter(alone).slice(0, {count});
        }})()""",
    )


def click_point(page, row):
    place = page.evaluate(f"(row) => [{VIEW}.board.items[row].x, {VIEW}.board.items[row].y]", row)
    page.mouse.click(*in_board(page, *place))


def unlearn(page, row=None):
    """Click a point and wait until its walk is there."""
    row = heaviest(page)[0] if row is None else row
    click_point(page, row)
    page.wait_for_function(f"(row) => {VIEW}.chosen === row", arg=row)
    return row


def finish(page):
    page.get_by_role("button", name="To the end").click()
    page.wait_for_function(f"() => {VIEW}.position === {VIEW}.course.last")


def test_a_click_starts_the_walk_soon(page, serve):
    """From the event to the first picture that is not that of the start, by the page's own clock."""
    open_unlearn(page, serve)
    took = []
    for row in 4 * heaviest(page, 3):  # the best of some tries: other work on the machine shall not decide
        if min(took, default=1000) < 300:
            break
        page.evaluate(
            f"""() => {{
              const listen = (event) => {{ window.clicked = event.timeStamp; }};
              {VIEW}.board.canvas.addEventListener("pointerup", listen, {{ capture: true, once: true }});
            }}"""
        )
        unlearn(page, row)
        page.wait_for_function(f"() => {VIEW}.movedAt !== null")
        took.append(read(page, f"{VIEW}.movedAt - window.clicked"))
        finish(page)
        page.wait_for_function(f"() => {VIEW}.shown.proof")
    assert min(took) < 300, took


def test_the_boundary_moves_until_the_point_has_left(page, serve):
    open_unlearn(page, serve)
    bias = read(page, f"{VIEW}.board.model.functions[0].bias")
    row = unlearn(page)
    page.wait_for_function(
        f"(bias) => Math.abs({VIEW}.board.model.functions[0].bias - bias) > 1e-9", arg=bias
    )
    finish(page)
    assert read(page, f"{VIEW}.left") == 0
    assert "0.0 %" in page.locator(".unlearn-share").text_content()
    assert "has left" in page.locator(".unlearn-why").text_content()
    assert read(page, f"{VIEW}.board.items[{row}].hollow") is True
    legend = page.locator(".board-legend").text_content()
    assert "has left" in legend
    assert "held out" not in legend
    page.wait_for_function(
        "() => findStage().querySelector('.unlearn-proof').textContent.includes('differ by')"
    )


def empty_place(page):
    """Where on the screen no point is near, well within the picture."""
    return page.evaluate(
        f"""() => {{
          const {{ board }} = {VIEW};
          const box = board.canvas.getBoundingClientRect();
          const {{ left, top, width, height }} = board.frame;
          const at = board.items.map(({{ x, y }}) => board.toPixel(x, y));
          for (let k = 0; k < 400; k += 1) {{
            const [x, y] = [left + width * (0.2 + 0.03 * (k % 20)), top + height * (0.2 + 0.03 * Math.floor(k / 20))];
            if (at.every(([px, py]) => Math.hypot(px - x, py - y) > 30)) return [box.left + x, box.top + y];
          }}
          return null;
        }}"""
    )


def test_a_new_point_is_learned_and_stays_in_the_workspace(page, serve):
    open_unlearn(page, serve)
    count = read(page, f"{VIEW}.board.count")
    before = read(page, f"{VIEW}.board.model.functions[0].bias")
    page.locator(".board-chip[data-label='1']").click()
    assert read(page, f"{VIEW}.board.tool") == "place"
    page.mouse.click(*empty_place(page))
    page.wait_for_function(f"() => {VIEW}.course.learns && {VIEW}.position > 0")
    page.get_by_role("button", name="To the start").click()
    assert read(page, f"{VIEW}.board.count") == count + 1
    assert read(page, f"{VIEW}.left") == 0
    assert read(page, f"{VIEW}.board.items[{count}].hollow") is True
    assert "not learned yet" in page.locator(".board-legend").text_content()
    start = read(page, f"{VIEW}.board.model.functions[0].bias")
    finish(page)
    assert read(page, f"{VIEW}.left") == pytest.approx(1)
    assert read(page, f"{VIEW}.board.items[{count}].hollow") is False
    assert "is learned" in page.locator(".unlearn-why").text_content()
    assert read(page, f"{VIEW}.board.model.functions[0].bias") != pytest.approx(start, abs=1e-6)
    assert before == pytest.approx(start, abs=0.05)  # but for the kernel's width, which depends on all points
    page.wait_for_function(
        "() => findStage().querySelector('.unlearn-proof').textContent.includes('Refitted with')"
    )
    page.locator("[data-act=relearn]").click()
    page.wait_for_function(f"() => {VIEW}.position === 0")
    page.locator("[data-action=pick]").click()
    click_point(page, count)
    page.wait_for_function(f"(row) => !{VIEW}.course.learns && {VIEW}.chosen === row", arg=count)
    page.locator("[data-action=place]").click()
    for _ in range(3):  # faster than the answers come
        page.mouse.click(*empty_place(page))
    count += 3
    page.wait_for_function(f"(count) => {VIEW}.board.count === count", arg=count + 1)
    answered(page)
    page.get_by_role("button", name="Leave out everyone").focus()  # not the Board
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {VIEW}.course?.shown.rows.length === {count}")  # Python knows it too
    assert read(page, f"[{VIEW}.board.count, {VIEW}.chosen]") == [count, -1]
    page.locator("[data-action=redo]").click()
    page.wait_for_function(f"() => {VIEW}.course?.shown.rows.length === {count + 1}")
    page.get_by_role("link", name="Draw and fit").click()
    page.wait_for_function("(count) => window.findStage?.()?.svmviz?.count === count", arg=count + 1)


def test_a_finger_teaches_a_regressor_too(open_page, serve):
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_unlearn(page, serve, "preset=sine")
    page.locator("[data-action=place]").tap()
    page.locator(".unlearn-board").scroll_into_view_if_needed()
    page.touchscreen.tap(*empty_place(page))
    page.wait_for_function(f"() => {VIEW}.course.learns && {VIEW}.position > 0")
    finish(page)
    assert "is learned" in page.locator(".unlearn-why").text_content()


@pytest.mark.parametrize("machine", ["ad_svm", "mc_svm"])
def test_several_classes_have_their_regions_and_are_unlearned(page, serve, machine):
    open_unlearn(page, serve, f"preset=three_classes&classifier={machine}")
    model = f"{VIEW}.board.model"
    assert read(page, f"[{model}.decision, {model}.functions.length]") == ["argmax", 3]
    start = read(page, f"JSON.stringify({model}.functions)")
    unlearn(page)
    finish(page)
    assert read(page, f"JSON.stringify({model}.functions)") != start
    page.wait_for_function(
        "() => findStage().querySelector('.unlearn-proof').textContent.includes('differ by')"
    )


def test_data_that_are_not_here_any_more_are_asked_for(page, serve):
    open_unlearn(page, serve)
    page.evaluate(
        f"""() => {{
          const view = {VIEW};
          const has = view.id;
          [view.id, view.course] = ["lost", null];
          view.onAsk({{ kind: "everyone", row: -1, has }});
        }}"""
    )
    page.wait_for_function(f"() => {VIEW}.course && {VIEW}.shown.everyone?.done > 0")
    assert read(page, f"{VIEW}.board.count") == 100


def test_it_steps_forward_and_back_and_marks_the_event(page, serve):
    open_unlearn(page, serve)
    unlearn(page)
    page.get_by_role("button", name="To the start").click()
    assert read(page, f"{VIEW}.position") == 0
    page.get_by_role("button", name="To the next event").click()
    page.get_by_role("button", name="To the next event").click()
    assert read(page, f"{VIEW}.position") == 2
    marked = page.locator(".unlearn-event[aria-selected=true]")
    assert marked.count() == 1
    assert marked.locator("span").text_content() == page.locator(".unlearn-why").text_content()
    page.keyboard.press("ArrowLeft")
    assert read(page, f"{VIEW}.position") == 1
    page.keyboard.press("ArrowUp")
    assert read(page, f"{VIEW}.transport.speed") == 1.5
    page.locator(".unlearn-event").last.click()
    assert read(page, f"{VIEW}.position === {VIEW}.course.last")
    page.keyboard.press("Home")
    assert read(page, f"{VIEW}.left") == 1


def test_relearn_plays_backwards_to_the_same_machine(page, serve):
    open_unlearn(page, serve)
    unlearn(page)
    page.get_by_role("button", name="To the start").click()
    start = read(page, f"JSON.stringify({VIEW}.board.model.functions)")
    finish(page)
    page.get_by_role("button", name="Relearn").click()
    page.wait_for_function(f"() => {VIEW}.direction === -1 && {VIEW}.position < {VIEW}.course.last")
    back = page.evaluate(
        f"""() => {{
          const view = {VIEW};
          const [words, list] = ["why", "list"].map((part) => view.find(`.unlearn-${{part}}`));
          const {{ events, last }} = view.course;
          view.pause();
          return [...Array(last).keys()].reverse().map((k) => {{
            view.seek(k);
            const next = events.find(({{ at }}) => at >= k);
            const wanted = k ? next.back : view.course.walk.start.back;
            const marked = list.querySelector("[aria-selected=true] span")?.textContent ?? wanted;
            return words.textContent === wanted && marked === wanted;
          }});
        }}"""
    )
    assert back
    assert all(back)
    assert "is learned" in page.locator(".unlearn-why").text_content()
    finish(page)
    page.get_by_role("button", name="Relearn").click()
    page.wait_for_function(f"() => {VIEW}.position === 0")
    assert read(page, f"JSON.stringify({VIEW}.board.model.functions)") == start


# Each picture of the Board ends with what the page draws over it.
COUNT_PICTURES = f"""() => {{
  const {{ board }} = {VIEW};
  const overlay = board.overlay;
  window.pictures = 0;
  board.setOverlay((...all) => {{ window.pictures += 1; overlay(...all); }});
}}"""


def test_a_walk_plays_and_is_scrubbed_at_fifty_frames_a_second(page, serve):
    open_unlearn(page, serve)
    unlearn(page)
    answered(page)
    page.evaluate(COUNT_PICTURES)
    play = f"() => {VIEW}.direction || {VIEW}.play(1)"
    assert best_second(page, play, "() => window.pictures", 50) >= 50
    read(page, f"{VIEW}.pause()")
    scrub = f"""(k) => {{
      const {{ scrub }} = {VIEW};
      scrub.value = scrub.max * ((k % 100) / 100);
      scrub.dispatchEvent(new Event("input"));
    }}"""
    assert best_second(page, scrub, "() => window.pictures", 50) >= 50


LEAVE_OUT_EVERYONE = f"""async () => {{
  const view = {VIEW};
  const bar = view.find("progress");
  const shares = [];
  const began = performance.now();
  view.find("[data-act=everyone]").click();
  while (view.running) {{
    if (!bar.hidden) shares.push(bar.value);
    await new Promise((done) => requestAnimationFrame(done));
  }}
  return {{ took: performance.now() - began, shares, end: bar.value, hidden: bar.hidden }};
}}"""


def test_two_hundred_points_are_left_out_within_two_seconds_with_a_bar(page, serve):
    """By the page's own clock; the best of some tries: other work on the machine shall not decide."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    points = rng.normal(size=(200, 2)) + 1.5 * labels[:, None]
    space = Workspace(kernel="rbf", gamma=1.0)
    space.load(Dataset(points, labels, "classification", ("x1", "x2")))
    open_unlearn(page, serve, to_query(space))
    assert read(page, f"{VIEW}.board.count") == 200
    took = []
    while len(took) < 10 and min(took, default=np.inf) >= 2000:
        answered(page)
        run = page.evaluate(LEAVE_OUT_EVERYONE)
        assert run["shares"], "no bar was shown"
        assert (run["end"], run["hidden"]) == (1, True)
        assert read(page, f"{VIEW}.shown.everyone.done") == 200
        took.append(run["took"])
    assert min(took) < 2000, took


def test_everyone_is_left_out_with_a_bar_and_a_stop(page, serve):
    open_unlearn(page, serve)
    page.evaluate(
        f"""() => {{
          const view = {VIEW};
          const ask = view.onAsk;
          window.asked = 0;
          view.onAsk = (what) => {{ window.asked += 1; ask(what); }};
          const button = view.find("[data-act=everyone]");
          button.click();
          window.label = button.textContent;
          button.click();
        }}"""
    )
    assert read(page, "window.label") == "Stop"
    page.wait_for_function(f"() => {VIEW}.shown.everyone?.done > 0")
    answered(page)
    drawn(page)
    assert read(page, "window.asked") == 1  # stopped: no further part was asked for
    page.locator("[data-act=everyone]").click()
    page.wait_for_function(
        "() => findStage().querySelector('.unlearn-result').textContent.includes('refits')"
    )
    everyone = read(page, f"{VIEW}.shown.everyone")
    assert everyone["done"] == everyone["total"] == 100
    flips = page.locator(".unlearn-flips button")
    assert flips.count() == len(everyone["flips"]) > 0
    assert "changes sides when left out" in page.locator(".board-legend").text_content()
    page.get_by_role("button", name="Which matter most").click()
    legend = page.locator(".board-legend")
    assert "matters: its own value changes" in legend.text_content()
    assert "changes sides when left out" not in legend.text_content()
    first, share, change = everyone["ranked"][0]
    halos = read(page, f"{VIEW}.board.items.map((item) => item.size)")
    assert halos[read(page, f"{VIEW}.shown.rows[{first}]")] == share == max(halos) == 1
    assert flips.first.text_content().endswith(f"by {change}")
    page.get_by_role("button", name="Which change sides").click()
    assert max(read(page, f"{VIEW}.board.items.map((item) => item.size)")) == 0
    assert "matters" not in legend.text_content()
    row = int(flips.first.get_attribute("data-row"))
    flips.first.click()
    page.wait_for_function(f"(row) => {VIEW}.chosen === row", arg=row)
    finish(page)  # the crosses are those of the machine with all points
    assert "changes sides when left out" not in legend.text_content()
    page.get_by_role("button", name="To the start").click()
    assert "changes sides when left out" in legend.text_content()
    assert flips.count() == len(everyone["flips"])
    assert "machine with all 100 points" in page.locator(".unlearn-result").text_content()


def test_folds_are_left_out_with_the_same_bar_and_a_stop(page, serve):
    open_unlearn(page, serve)
    page.evaluate(
        f"""() => {{
          const view = {VIEW};
          const [folds, everyone] = ["folds", "everyone"].map((act) => view.find(`[data-act=${{act}}]`));
          const state = () => [folds.textContent, everyone.disabled, view.find("progress").hidden];
          folds.click();
          window.states = [state()];
          folds.click();
          window.states.push(state());
        }}"""
    )
    assert read(page, "window.states") == [["Stop", True, False], ["Fold by fold", False, True]]
    page.wait_for_function(f"() => {VIEW}.shown.everyone?.done > 0")
    folds = page.locator("[data-act=folds]")
    words = page.locator(".unlearn-result")
    assert folds.text_content() == "Go on"
    assert "5 folds" in words.text_content()
    assert "refits" not in words.text_content()
    assert page.locator("[data-act=everyone]").text_content() == "Leave out everyone"
    folds.click()
    page.wait_for_function(f"() => {VIEW}.shown.everyone.over")
    assert "5 refits at the tolerance" in words.text_content()
    assert folds.text_content() == "Fold by fold"
    page.evaluate(f"() => {{ {VIEW}.onAsk = (ask) => {{ window.asked = ask; }}; }}")
    folds.click()  # once more, from the first
    assert read(page, "[window.asked.kind, window.asked.afresh]") == ["folds", True]


def test_a_point_without_a_way_shows_what_it_would_have_come_to(loaded):
    model = loaded.evaluate("""() => {
      const model = { bias: [0.5], level: 1, classes: [[0, 1]], centres: [[0, 0], [1, 1]], decision: "vote" };
      const walk = { sample: 0, learns: false, shares: [0], places: [1], bias: [], level: [], events: [],
                     still: { bias: [-2], level: 3 }, changes: [[[0, 3]]] };
      const course = new Course({ rows: [0, 1], sets: [1, 2], model, walk }, Float64Array.of(7));
      return { ...course.model(0), sets: course.sets(0), share: course.share(0) };
    }""")
    assert model["functions"] == [{"coef": [7], "bias": -2, "classes": [0, 1]}]
    assert (model["levels"], model["centres"]) == ([-3, 3], [[1, 1]])
    assert (model["sets"], model["share"]) == ([3, 2], 0)


def test_a_number_unlearns_too_and_a_point_without_a_multiplier_says_so(page, serve):
    open_unlearn(page, serve)
    idle = read(page, f"{VIEW}.course.shown.rows.find((_, i) => {VIEW}.course.shown.sets[i] === 0)")
    box = page.get_by_label("Unlearn the point of this number")
    told = page.locator(".unlearn-pick span")
    for wrong in ("0", "101", "31.5"):
        box.fill(wrong)
        box.press("Enter")
        assert told.text_content() == "A whole number from 1 to 100."
        assert read(page, f"{VIEW}.chosen") == -1
    box.fill(str(idle + 1))
    box.press("Enter")
    page.wait_for_function(f"(row) => {VIEW}.chosen === row", arg=idle)
    assert "has no multiplier" in page.locator(".unlearn-why").text_content()
    assert told.text_content() == ""


def test_what_is_refused_is_said_once_and_explained(page, serve):
    url = f"{serve('app.py')}/Unlearn?preset=overlapping&classifier=nu_svc&kernel=linear&nu=0.2"
    opened(page, url, "findStage().querySelector('.unlearn-why')?.textContent")
    assert "reduced hulls meet" in page.locator(".board-message").text_content()
    words = page.locator(".unlearn-why").text_content()
    assert "holds its weighted means" in words
    assert "meet" not in words


CUT = """(box) => [...box.children].filter((chip) => {
  const [top, bottom] = [chip.offsetTop - box.scrollTop, chip.offsetTop + chip.offsetHeight - box.scrollTop];
  return (top < -1 && bottom > 1) || (top < box.clientHeight - 1 && bottom > box.clientHeight + 1);
}).length"""


def test_there_is_a_sign_of_more_that_change_sides(page, serve):
    open_unlearn(page, serve)
    page.evaluate(
        f"""() => {{
          const {{ turns, course }} = {VIEW};
          const flips = course.shown.rows.slice(0, 30).map((_, i) => [i, "0.12 \u2192 \u22120.34"]);
          turns.show({{ flips }}, course.shown);
        }}"""
    )
    more, chips = page.locator(".unlearn-more"), page.locator(".unlearn-flips")
    seen = 0
    while "more" in more.text_content():
        assert chips.evaluate(CUT) == 0
        before, seen = more.text_content(), seen + 1
        more.click()
        page.wait_for_function(
            "(before) => findStage().querySelector('.unlearn-more').textContent !== before", arg=before
        )
    assert seen > 1
    assert chips.evaluate(CUT) == 0
    more.click()
    assert chips.evaluate("(box) => box.scrollTop") == 0


@pytest.mark.parametrize(
    ("size", "scheme"),
    [((1366, 768), "light"), ((1024, 768), "dark"), ((390, 844), "dark")],
)
def test_the_page_fits_every_screen(open_page, serve, size, scheme):
    phone = size[0] < 500
    page = open_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, has_touch=phone, is_mobile=phone
    )
    open_unlearn(page, serve)
    unlearn(page)
    finish(page)
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")
    if size[0] >= 1024:
        assert main.evaluate("(main) => main.scrollHeight <= main.clientHeight")
    cut = page.evaluate("""() => [...findStage().querySelectorAll(".unlearn-side > *")]
      .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.className)""")
    assert cut == []
    assert page.locator(".unlearn-board").bounding_box()["height"] >= 320


def test_a_walk_that_a_switch_of_pages_cuts_off_stands_paused_on_return(page, serve):
    open_unlearn(page, serve)
    row = unlearn(page)
    page.wait_for_function(f"() => {VIEW}.direction === 1 && {VIEW}.position > 0")
    page.get_by_role("link", name="Draw and fit").click()
    at_rest(page, "!findStage().querySelector('.unlearn')")
    left = read(page, "window.svmvizWalk.position")
    page.get_by_role("link", name="Unlearn").click()
    at_rest(page, f"{VIEW}.course?.last > 0")
    assert read(page, f"{VIEW}.chosen") == row
    assert read(page, f"[{VIEW}.position, {VIEW}.direction]") == [left, 0]
    assert left > 0


def test_leaving_while_everyone_is_left_out_keeps_the_board(page, serve):
    """What was asked for at the moment of the switch is answered to a Board that has no points yet."""
    open_unlearn(page, serve, "preset=six_classes&classifier=mc_svm")
    for _ in range(3):
        page.evaluate(f"() => {VIEW}.find('[data-act=everyone]').click()")
        page.get_by_role("link", name="Draw and fit").click()
        at_rest(page, "!findStage().querySelector('.unlearn')")
        page.get_by_role("link", name="Unlearn").click()
        at_rest(page, f"findStage().querySelector('.unlearn') && {VIEW}.course")
        assert read(page, f"{VIEW}.board.count") == 108
        assert read(page, "findStage().dataset.failed ?? null") is None
        assert "take no part" not in page.locator(".unlearn-sets").text_content()
