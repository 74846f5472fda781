"""The page with four machines side by side, in a real browser."""

import pytest

from tests.browser.waits import drawn, opened

pytestmark = pytest.mark.browser

BOARDS = "findStage().svmviz.boards"
TITLES = ["One against the rest", "One against one", "MC-SVM", "AD-SVM"]


def open_classes(page, serve, query="preset=three_classes"):
    return opened(page, f"{serve('app.py')}/Many_classes?{query}", "findStage().dataset.ready === 'true'")


def settle(page):
    """Wait until Python's answer to the last edit is drawn."""
    drawn(page)  # the last edit of a burst is told a frame later
    page.wait_for_function(
        """() => {
          const {seq, ack, modelSeq} = findStage().dataset;
          return ack === (seq ?? ack) && modelSeq === ack;
        }"""
    )
    drawn(page)


def points(page):
    """The points of every Board."""
    drawn(page)
    return page.evaluate(f"() => {BOARDS}.map((board) => board.points)")


def place(page, k, x, y):
    """Position on the screen of a place in data units on Board k."""
    return page.evaluate(
        f"""([k, x, y]) => {{
          const board = {BOARDS}[k];
          const box = board.canvas.getBoundingClientRect();
          const [px, py] = board.toPixel(x, y);
          return [box.left + px, box.top + py];
        }}""",
        [k, x, y],
    )


def shown(page, k):
    """Names and values under panel k."""
    return page.evaluate(
        """(k) => Object.fromEntries([...findStage().querySelectorAll(".compare-panel")[k]
          .querySelectorAll(".compare-number")].map((row) => [...row.children].map((cell) => cell.textContent)))""",
        k,
    )


def test_four_panels_are_painted_each_with_its_numbers(page, serve):
    open_classes(page, serve)
    assert page.locator(".compare-panel h3").all_text_contents() == TITLES
    assert page.locator(".stage .board-bar").count() == 1  # one set of tools for all
    names = page.evaluate(f"() => {BOARDS}.map(({{canvas}}) => canvas.getAttribute('aria-label'))")
    assert names == [f"{title}: drawing board with 90 points" for title in TITLES]
    colours = page.evaluate(f"""() => {BOARDS}.map(({{ctx, canvas}}) => {{
      const {{data}} = ctx.getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let k = 0; k < data.length; k += 4 * 7) seen.add((data[k] << 16) | (data[k + 1] << 8) | data[k + 2]);
      return seen.size;
    }})""")
    assert min(colours) > 200
    for k in range(4):
        numbers = shown(page, k)
        assert list(numbers) == [
            "Variables", "Pairs moved", "Kernel values read", "Time", "Training error", "Held-out error",
            "Ambiguous points", "Hatched",
        ]  # fmt: skip
        assert numbers["Held-out error"].endswith("%)")
    assert [shown(page, k)["Variables"] for k in range(4)] == ["189", "126", "189", "63"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_ambiguous_is_hatched_and_counted(page, serve, scheme):
    page.emulate_media(color_scheme=scheme)
    open_classes(page, serve, "preset=four_corners")
    # The brightness along a row of 40 pixels that lie in the hatched part and touch no mark of a point.
    contrast = page.evaluate(f"""() => {{
      const board = {BOARDS}[0];
      const {{hatching}} = board.regions;
      const {{mask}} = hatching;
      const marks = mask.getContext("2d").getImageData(0, 0, mask.width, mask.height).data;
      const inside = (x, y) => marks[4 * (Math.floor((y / board.frame.height) * mask.height) * mask.width
        + Math.floor((x / board.frame.width) * mask.width)) + 3] > 0;
      const pixels = board.items.map((item) => board.toPixel(item.x, item.y));
      for (let y = 4; y < board.frame.height - 4; y += 2) {{
        for (let x = 4; x < board.frame.width - 44; x += 4) {{
          const [left, top] = [board.frame.left + x, board.frame.top + y];
          const row = Array.from({{length: 41}}, (_, k) => k);
          if (!row.every((k) => inside(x + k, y))) continue;
          if (pixels.some(([px, py]) => Math.abs(py - top) < 14 && px > left - 14 && px < left + 54)) continue;
          const {{data}} = board.ctx.getImageData(Math.round(left), Math.round(top), 40, 1);
          const light = row.slice(0, 40).map((k) => data[4 * k] + data[4 * k + 1] + data[4 * k + 2]);
          return (Math.max(...light) - Math.min(...light)) / 3;
        }}
      }}
      return null;
    }}""")
    assert contrast > 40
    assert "% of the picture" in shown(page, 0)["Hatched"]
    assert not shown(page, 0)["Hatched"].startswith("0.0")
    assert not shown(page, 0)["Ambiguous points"].startswith("0 of")
    assert [shown(page, k)["Hatched"] for k in (2, 3)] == ["nothing", "nothing"]
    assert page.evaluate(f"() => {BOARDS}.slice(2).map((board) => board.regions.hatching.share)") == [0, 0]
    assert "ambiguous" in page.locator(".compare-foot").text_content()


def test_an_edit_on_one_panel_shows_on_all_and_is_undone_on_all(page, serve):
    open_classes(page, serve)
    n = len(points(page)[0])
    before = shown(page, 3)["Training error"]
    page.mouse.click(*place(page, 2, 0.5, -3))
    page.keyboard.press("2")
    page.mouse.click(*place(page, 1, -0.5, -3))
    everywhere = points(page)
    assert [len(own) for own in everywhere] == [n + 2] * 4
    assert all(own == everywhere[0] for own in everywhere)
    assert [label for _, _, label in everywhere[3][-2:]] == [0, 1]
    settle(page)
    assert shown(page, 3)["Training error"] != before
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    assert [len(own) for own in points(page)] == [n] * 4
    assert page.get_by_role("button", name="Undo").is_disabled()
    page.get_by_role("button", name="Redo").click()
    assert [len(own) for own in points(page)] == [n + 1] * 4
    settle(page)


def test_a_drag_moves_the_point_on_all_panels_while_it_lasts(page, serve):
    open_classes(page, serve)
    x, y, _ = points(page)[0][0]
    page.mouse.move(*place(page, 3, x, y))
    page.mouse.down()
    page.mouse.move(*place(page, 3, x + 0.5, y + 0.5), steps=5)
    page.wait_for_function(
        f"([x, y]) => {BOARDS}.every(({{ items: [first] }}) => first.x !== x && first.y !== y)", arg=[x, y]
    )
    moved = [own[0][:2] for own in points(page)]
    page.mouse.up()
    assert moved[3] != [x, y]
    assert all(own == moved[3] for own in moved)
    settle(page)


def test_tool_class_and_zoom_are_those_of_all_panels(page, serve):
    open_classes(page, serve)
    page.get_by_role("button", name="Erase").click()
    assert page.evaluate(f"() => {BOARDS}.map((board) => board.tool)") == ["erase"] * 4
    page.mouse.move(*place(page, 1, 0, 0))
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"() => {BOARDS}[0].zoom !== null")
    drawn(page)
    views = page.evaluate(f"() => {BOARDS}.map((board) => board.view.map((v) => v.toFixed(2)).join())")
    assert len(set(views)) == 1
    page.get_by_role("button", name="Fit view").click()
    drawn(page)
    assert page.evaluate(f"() => {BOARDS}.map((board) => board.zoom)") == [None] * 4


def test_held_out_points_are_hollow_and_said_to_be(page, serve):
    open_classes(page, serve)
    hollow = page.evaluate(f"() => {BOARDS}.map((board) => board.items.filter((item) => item.hollow).length)")
    assert hollow == [27] * 4
    assert "held out" in page.locator(".compare-foot").text_content()


def test_a_burst_of_clicks_on_different_panels_loses_none(page, serve):
    open_classes(page, serve)
    n = len(points(page)[0])
    for k in range(16):
        page.mouse.click(*place(page, k % 4, -2 + 0.25 * k, -2.7))
    settle(page)
    assert page.locator(".stage").get_attribute("data-points") == str(n + 16)
    assert shown(page, 0)["Ambiguous points"].split()[2] == str(n + 16)


def test_one_class_is_a_sentence_and_the_panels_keep_their_size(page, serve):
    open_classes(page, serve)
    height = page.locator(".compare-board").first.bounding_box()["height"]
    page.get_by_role("button", name="Clear").click()
    page.mouse.click(*place(page, 0, 0, 0))
    settle(page)
    assert page.locator(".compare-board").first.bounding_box()["height"] == height
    messages = page.locator(".compare-panel .board-message").all_text_contents()
    assert all("second class" in message for message in messages)
    assert set(shown(page, 2).values()) == {"–"}
    page.keyboard.press("2")
    page.mouse.click(*place(page, 3, 1, 1))
    settle(page)
    assert "third class" in page.locator(".compare-words").text_content()
    assert shown(page, 2)["Variables"] == "4"


@pytest.mark.parametrize(
    ("size", "scheme", "abreast"),
    [
        ((1366, 768), "light", 4),
        ((1024, 768), "dark", 4),
        ((800, 1100), "light", 2),
        ((390, 844), "dark", 1),
    ],
)
def test_the_page_fits_every_screen(open_page, serve, size, scheme, abreast):
    phone = size[0] < 500
    page = open_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, has_touch=phone, is_mobile=phone
    )
    open_classes(page, serve, "preset=iris")
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")
    if size[0] >= 1024:
        assert main.evaluate("(main) => main.scrollHeight <= main.clientHeight")
    cut = page.evaluate("""() => [...findStage().querySelectorAll(".compare-number, .compare-head")]
      .filter((row) => row.scrollWidth > row.clientWidth + 1).map((row) => row.textContent)""")
    assert cut == []
    boxes = [panel.bounding_box() for panel in page.locator(".compare-board").all()]
    assert len({box["x"] for box in boxes}) == abreast
    assert min(box["height"] for box in boxes) >= 220
