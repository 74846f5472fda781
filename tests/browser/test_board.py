"""The Board in a real browser: without a server first, then live against Python."""

import time

import numpy as np
import pytest

from tests.browser.waits import at_rest, drawn, opened

pytestmark = pytest.mark.browser

MODEL = """{
  kernel: {name: "rbf", gamma: 0.7, degree: 3, coef0: 0}, centres: [[-1, 0], [1, 0]],
  functions: [{coef: [-1, 1], bias: 0, classes: [0, 1]}], decision: "vote", epsilon: null, status: [1, 1],
}"""
LIVE = "findStage().svmviz"  # the Board of an app
IS_READY = "findStage().dataset.ready === 'true'"
APP = "tests/browser/apps/board_app.py"


@pytest.fixture
def board(page, load_frontend):
    """A Board with nothing on it, on a page without a server; edits are collected in `edits`."""
    return new_board(load_frontend(page))


def new_board(page):
    page.evaluate("""() => {
      window.edits = [];
      window.board = new Board(document.getElementById("host"), {onEdit: (points) => edits.push(points)});
      board.setScene({view: [-2, 2, -2, 2], axes: ["x1", "x2"], classNames: ["A", "B"]});
    }""")
    at_rest(page)  # its size is measured a frame later
    return page


def pixel(page, x, y, board="window.board"):
    """Position on the screen of a place in data units."""
    return page.evaluate(
        f"""([x, y]) => {{
          const board = {board};
          const box = board.canvas.getBoundingClientRect();
          const [px, py] = board.toPixel(x, y);
          return [box.left + px, box.top + py];
        }}""",
        [x, y],
    )


def points(page):
    return page.evaluate("() => board.points")


def told(page):
    """Wait until the present points have been told; the last edit of a burst is told a frame later."""
    page.wait_for_function("() => JSON.stringify(edits.at(-1)) === JSON.stringify(board.points)")


def click(page, x, y, **options):
    page.mouse.click(*pixel(page, x, y), **options)


def drag(page, start, end, steps=8):
    page.mouse.move(*pixel(page, *start))
    page.mouse.down()
    page.mouse.move(*pixel(page, *end), steps=steps)
    page.mouse.up()


def picture(page):
    return page.evaluate("() => { board.redraw(); return board.canvas.toDataURL(); }")


# ---- drawing ---------------------------------------------------------------------------------------


def test_click_adds_a_point_of_the_active_class(board):
    click(board, 0.5, 1)
    board.keyboard.press("2")
    click(board, -1, -0.5)
    np.testing.assert_allclose(points(board), [[0.5, 1, 0], [-1, -0.5, 1]], atol=0.01)
    told(board)


def test_chips_choose_the_class(board):
    board.get_by_role("button", name="Class D").click()
    click(board, 0, 0)
    assert points(board)[0][2] == 3


def test_long_names_take_the_room_of_unused_classes(board):
    visible = "() => [...document.querySelectorAll('.board-chip')].filter((chip) => chip.offsetWidth).length"
    assert board.evaluate(visible) == 6
    board.evaluate("() => board.setScene({classNames: ['setosa', 'versicolor', 'virginica']})")
    assert board.evaluate(visible) == 4
    board.evaluate("() => board.setScene({points: [[0, 0, 5]]})")
    assert board.evaluate(visible) == 5


def test_coordinates_are_short(board):
    click(board, 1 / 3, -2 / 3)
    assert all(len(str(value)) <= 8 for value in points(board)[0])


def test_drag_moves_a_point_and_tells_on_the_way(board):
    click(board, 0, 0)
    drag(board, (0, 0), (1, 1), steps=12)
    np.testing.assert_allclose(points(board), [[1, 1, 0]], atol=0.02)
    assert board.evaluate("() => edits.length") >= 4
    told(board)


def test_a_click_on_the_middle_of_a_point_adds_none_and_one_beside_it_does(board):
    click(board, 0, 0)
    click(board, 0, 0)
    assert len(points(board)) == 1
    x, y = pixel(board, 0, 0)
    board.mouse.click(x + 8, y)
    assert len(points(board)) == 2


def test_right_click_and_delete_remove(board):
    for x in (-1, 0, 1):
        click(board, x, 0)
    click(board, 0, 0, button="right")
    assert [round(p[0]) for p in points(board)] == [-1, 1]
    board.mouse.move(*pixel(board, -1, 0))
    board.keyboard.press("Delete")
    assert [round(p[0]) for p in points(board)] == [1]


def test_delete_removes_the_last_touched_point_when_none_is_under_the_pointer(board):
    click(board, 1, 0)
    click(board, -1, 0)
    board.mouse.move(*pixel(board, 0, 1))
    board.keyboard.press("Delete")
    assert [round(p[0]) for p in points(board)] == [1]


def test_spray_adds_points_round_the_pointer(board):
    board.get_by_role("button", name="Spray").click()
    board.mouse.move(*pixel(board, 0.5, 0.5))
    board.mouse.down()
    board.wait_for_function("() => board.points.length >= 8")
    board.mouse.up()
    sprayed = np.array(points(board))
    assert np.abs(sprayed[:, :2] - 0.5).max() < 0.6
    board.get_by_role("button", name="Undo").click()
    assert points(board) == []  # the whole stroke is one edit


def test_erase_removes_what_it_passes(board):
    for x in (-1, 0, 1):
        click(board, x, 0)
    click(board, 0, 1.5)
    board.get_by_role("button", name="Erase").click()
    drag(board, (-1.5, 0), (1.5, 0), steps=40)
    assert len(points(board)) == 1


def test_undo_redo_and_clear(board):
    click(board, -1, 0)
    click(board, 1, 0)
    drag(board, (1, 0), (1, 1))
    moved = points(board)
    board.keyboard.press("Control+z")
    np.testing.assert_allclose(points(board), [[-1, 0, 0], [1, 0, 0]], atol=0.01)
    board.keyboard.press("Control+y")
    assert points(board) == moved
    board.get_by_role("button", name="Clear").click()
    assert points(board) == []
    board.get_by_role("button", name="Undo").click()
    assert points(board) == moved
    for _ in range(3):
        board.keyboard.press("Control+z")
    assert points(board) == []
    board.keyboard.press("Control+Shift+Z")
    assert len(points(board)) == 1
    told(board)


def test_keys_do_nothing_while_someone_types(board):
    click(board, 0, 0)
    board.focus("#text")
    board.keyboard.type("3")
    board.keyboard.press("Delete")
    assert board.evaluate("() => [board.points.length, board.activeClass]") == [1, 0]
    assert board.input_value("#text") == "3"


def test_keys_do_nothing_when_the_pointer_and_the_focus_are_elsewhere(board):
    board.evaluate("() => document.activeElement.blur()")
    board.mouse.move(1200, 700)
    board.keyboard.press("3")
    assert board.evaluate("() => board.activeClass") == 0


def test_the_board_says_when_it_is_full(board):
    board.evaluate("() => board.setScene({limit: 2})")
    for x in (-1, 0, 1):
        click(board, x, 0)
    assert len(points(board)) == 2
    assert "2 points" in board.text_content(".board-message")


def test_edits_are_told_at_most_once_a_frame(board):
    counts = board.evaluate("""async () => {
      for (let k = 0; k < 50; k += 1) board.add([200 + 3 * k, 200]);
      const atOnce = edits.length;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return [atOnce, edits.length, edits.at(-1).length];
    }""")
    assert counts == [1, 2, 50]


def test_regression_draws_without_classes(board):
    board.evaluate("() => board.setScene({task: 'regression', view: [0, 10, -1, 1], axes: ['x', 'y']})")
    board.keyboard.press("3")
    click(board, 5, 0.5)
    np.testing.assert_allclose(points(board), [[5, 0.5, 0]], atol=0.02)
    assert not board.is_visible(".board-chips")


def test_a_board_that_is_not_editable_only_pans(board):
    board.evaluate("() => board.setScene({editable: false, points: [[0, 0, 0]]})")
    click(board, 1, 1)
    click(board, 0, 0, button="right")
    board.keyboard.press("Delete")
    assert points(board) == [[0, 0, 0]]
    assert not board.is_visible("[data-action=clear]")


# ---- touch -----------------------------------------------------------------------------------------


def touch(page, kind, pointer, x, y):
    page.evaluate(
        """([kind, id, x, y]) => {
          const init = {pointerId: id, pointerType: "touch", clientX: x, clientY: y, button: 0};
          board.canvas.setPointerCapture = () => {};
          board.canvas.dispatchEvent(new PointerEvent(kind, init));
        }""",
        [kind, pointer, x, y],
    )


def test_a_tap_adds_and_two_fingers_zoom_without_leaving_a_point(board):
    x, y = pixel(board, 0, 0)
    touch(board, "pointerdown", 5, x, y)
    touch(board, "pointerup", 5, x, y)
    assert len(points(board)) == 1
    x, y = pixel(board, -1, -1)
    touch(board, "pointerdown", 6, x, y)
    assert len(points(board)) == 2
    touch(board, "pointerdown", 7, x + 100, y)
    assert len(points(board)) == 1
    touch(board, "pointermove", 7, x + 200, y)
    touch(board, "pointerup", 7, x + 200, y)
    touch(board, "pointerup", 6, x, y)
    assert board.evaluate("() => board.zoom.scale") == pytest.approx(0.5)
    assert len(points(board)) == 1
    assert not board.evaluate("() => board.busy")


# ---- view ------------------------------------------------------------------------------------------


def test_the_wheel_zooms_about_the_pointer(board):
    place = pixel(board, 1, 0.5)
    board.mouse.move(*place)
    board.mouse.wheel(0, -400)
    board.wait_for_function("() => board.zoom !== null")
    np.testing.assert_allclose(pixel(board, 1, 0.5), place, atol=1)  # pointers report whole pixels
    x0, x1, _, _ = board.evaluate("() => board.view")
    assert x1 - x0 < 4
    board.get_by_role("button", name="Fit view").click()
    assert board.evaluate("() => board.zoom") is None


def test_pan_moves_the_picture(board):
    board.get_by_role("button", name="Pan").click()
    drag(board, (0, 0), (1, 0.5))
    np.testing.assert_allclose(
        board.evaluate("() => board.toData(...board.toPixel(0, 0))"), [0, 0], atol=1e-9
    )
    x0, x1, y0, y1 = board.evaluate("() => board.view")
    np.testing.assert_allclose([(x0 + x1) / 2, (y0 + y1) / 2], [-1, -0.5], atol=0.02)
    assert points(board) == []


def test_zoom_survives_the_same_scene_and_ends_with_another_view(board):
    board.evaluate("() => board.zoomAt([300, 200], 0.5)")
    board.evaluate("() => board.setScene({view: [-2, 2, -2, 2], points: [[0, 0, 1]]})")
    assert board.evaluate("() => board.zoom.scale") == 0.5
    board.evaluate("() => board.setScene({view: [0, 9, 0, 9]})")
    assert board.evaluate("() => board.zoom") is None


def test_both_axes_have_the_same_units_where_the_ranges_are_alike(board):
    units = """() => {
      const [x0, x1, y0, y1] = board.view;
      return (x1 - x0) / board.frame.width / ((y1 - y0) / board.frame.height);
    }"""
    board.evaluate("() => { board.setScene({view: [0, 2, 0, 3]}); board.redraw(); }")
    assert board.evaluate(units) == pytest.approx(1)
    board.evaluate("() => { board.setScene({view: [0, 2, 0, 3000]}); board.redraw(); }")
    assert board.evaluate("() => board.view") == [0, 2, 0, 3000]


def test_an_empty_view_is_widened(board):
    board.evaluate("() => { board.setScene({view: [3, 3, 5, 5]}); board.redraw(); }")
    x0, x1, y0, y1 = board.evaluate("() => board.view")
    assert x0 < 3 < x1
    assert y0 < 5 < y1


def test_the_middle_button_pans(board):
    board.mouse.move(*pixel(board, 0, 0))
    board.mouse.down(button="middle")
    board.mouse.move(*pixel(board, 1, 0))
    board.mouse.up(button="middle")
    assert board.evaluate("() => board.zoom.x") == pytest.approx(-1, abs=0.02)
    assert points(board) == []


def test_fit_shows_points_outside_the_scene(board):
    board.evaluate("() => { board.setScene({points: [[7, 0, 0], [0, 0, 1]]}); board.fit(); }")
    x0, x1, _, _ = board.evaluate("() => board.view")
    assert x0 <= 0
    assert x1 >= 7


# ---- picture ---------------------------------------------------------------------------------------


def colour(page, x, y):
    return page.evaluate(
        """([x, y]) => {
          board.redraw();
          const [px, py] = board.toPixel(x, y).map((v) => Math.round(v * devicePixelRatio));
          return [...board.ctx.getImageData(px, py, 1, 1).data];
        }""",
        [x, y],
    )


def test_regions_are_tinted_by_class(board):
    board.evaluate(f"() => board.setModel({MODEL})")
    left, right = colour(board, -1.03, 0.53), colour(board, 1.03, 0.53)
    assert left[2] > left[0]  # class A is blue
    assert right[0] > right[2]  # class B is orange
    middle = colour(board, 0, 0.53)
    assert max(middle[:3]) < 120  # the decision line has the colour of the text


def lines_of(board, model):
    """Colours along a row well inside the left half, once `model` is shown."""
    board.evaluate("(model) => board.setModel(model)", model)
    return board.evaluate("""() => {
      board.redraw();
      const [px, py] = board.toPixel(-1.5, 0.53).map((v) => Math.round(v * devicePixelRatio));
      return Array.from(board.ctx.getImageData(px, py, 40, 1).data).filter((_, k) => k % 4 === 0);
    }""")


@pytest.mark.parametrize("dark", [False, True])
def test_only_what_is_ambiguous_is_hatched(board, dark):
    if dark:
        board.evaluate("""() => {
          const {style} = document.getElementById("host");
          style.setProperty("--st-background-color", "#0e1117");
          style.setProperty("--st-text-color", "#fafafa");
        }""")
    model = board.evaluate(f"() => ({MODEL})")
    model |= {"decision": "argmax", "hatch": True}
    one, other = ({"coef": [sign, -sign], "bias": 0, "classes": [r]} for r, sign in enumerate((1, -1)))
    unhatched = lines_of(board, {**model, "functions": [one, other]})  # one of the two is always positive
    below = [{**f, "bias": -5} for f in (one, other)]
    hatched = lines_of(board, {**model, "functions": below})  # no class claims any place
    plain = lines_of(board, {**model, "functions": below, "hatch": False})
    assert max(hatched) - min(hatched) > 60
    assert max(unhatched) - min(unhatched) < 15
    assert max(plain) - min(plain) < 15
    assert "ambiguous" not in board.text_content(".board-legend")
    lines_of(board, {**model, "functions": below})
    assert "ambiguous" in board.text_content(".board-legend")


def test_one_class_is_tinted_inside_only(board):
    function = {"coef": [1, 1], "bias": -0.7, "classes": [0]}
    model = board.evaluate(f"() => ({MODEL})")
    board.evaluate(
        "(model) => board.setModel(model)", {**model, "decision": "inside", "functions": [function]}
    )
    outside, inside = colour(board, -1.9, 1.9), colour(board, -1.03, 0.03)
    assert outside[:3] == [255, 255, 255]
    assert inside[2] > inside[0]
    assert "edge of the region" in board.text_content(".board-legend")
    assert "margin" not in board.text_content(".board-legend")


def test_other_levels_move_the_margin(board):
    model = board.evaluate(f"() => ({MODEL})")
    model["functions"][0]["coef"] = [-2, 2]  # so that 1 is reached
    pictures = []
    for levels in (None, [], [-0.2, 0.2]):
        board.evaluate("(model) => board.setModel(model)", {**model, "levels": levels})
        pictures.append(picture(board))
        assert ("margin" in board.text_content(".board-legend")) == (levels != [])
    assert len(set(pictures)) == 3


def test_the_same_state_gives_the_same_picture(board):
    board.evaluate("() => board.setScene({points: [[-1, 0, 0], [1, 0, 1]]})")
    board.evaluate(f"() => {{ board.setModel({MODEL}); board.setStatus([1, 2]); board.setSizes([0.5, 1]); }}")
    first = picture(board)
    board.evaluate("() => { board.setModel(null); board.setStatus(null); board.setSizes(null); }")
    empty = picture(board)
    board.evaluate(f"() => {{ board.setModel({MODEL}); board.setStatus([1, 2]); board.setSizes([0.5, 1]); }}")
    assert picture(board) == first
    assert empty != first


def test_free_and_bound_rings_differ_without_colour(board):
    board.evaluate("() => board.setScene({points: [[-1, 0, 0], [1, 0, 1]]})")
    pictures = []
    for status in ([0, 0], [1, 0], [2, 0]):
        board.evaluate("(status) => board.setStatus(status)", status)
        pictures.append(picture(board))
    assert len(set(pictures)) == 3
    assert "at the bound" in board.text_content(".board-legend")
    assert "free" not in board.text_content(".board-legend")


def test_the_status_follows_its_points_when_others_have_gone(board):
    board.evaluate("""() => {
      board.setScene({points: [[-1, 0, 0], [0, 0, 0], [1, 0, 1]]});
      const ids = board.ids;
      board.beginEdit();
      board.eraseAt(board.toPixel(0, 0), 10);
      board.endEdit();
      board.setStatus([1, 0, 2], ids);
    }""")
    assert board.evaluate("() => board.items.map((item) => item.status)") == [1, 2]


def test_the_overlay_is_drawn_with_the_boards_own_mapping(board):
    seen = board.evaluate("""() => {
      let seen = null;
      board.setOverlay((ctx, toPixel, b) => { seen = [toPixel(0, 0), b === board, ctx === board.ctx]; });
      board.redraw();
      return [seen, board.toPixel(0, 0)];
    }""")
    assert seen == [[seen[1], True, True], seen[1]]


def test_a_new_size_is_drawn_at_once(board):
    blank = board.evaluate("""async () => {
      board.setModel(null);
      const host = document.getElementById("host");
      let blank = 0;
      for (const width of [600, 500, 650, 420]) {
        host.style.width = `${width}px`;
        await new Promise((done) => requestAnimationFrame(done));
        await new Promise((done) => setTimeout(done, 0));
        const {data} = board.ctx.getImageData(5, 5, 1, 1);
        if (data[3] !== 255 || board.canvas.width !== board.box.clientWidth) blank += 1;
      }
      return blank;
    }""")
    assert blank == 0


@pytest.mark.parametrize("labels", [[-1.5, 0, 1.5], [1e-7, 3e-7], [-2e8, 2e8]])
def test_ticks_are_round_and_readable(board, labels):
    ticks = board.evaluate(
        """([lo, hi]) => {
          const ticks = boardTicks(lo, hi, 6);
          return ticks.values.map((value) => boardNumber(value, ticks.digits));
        }""",
        [labels[0], labels[-1]],
    )
    assert 3 <= len(ticks) <= 12
    assert all(len(text) <= 8 for text in ticks)


def test_one_edit_is_in_flight_and_the_latest_wins(page, load_frontend):
    load_frontend(page)
    log = page.evaluate("""() => {
      const sent = [];
      const gate = new EditGate((edit) => sent.push([edit.seq, edit.points.length]), 7);
      gate.push({revision: 1, points: [[0, 0, 0]]});
      gate.push({revision: 1, points: [[0, 0, 0], [1, 1, 0]]});
      gate.push({revision: 1, points: []});
      const before = sent.length;
      gate.acknowledge(8);
      gate.acknowledge(8);
      gate.acknowledge(10);
      gate.push({revision: 1, points: [[2, 2, 0]]});
      gate.reset();
      return [before, sent];
    }""")
    assert log == [1, [[8, 1], [10, 0], [11, 1]]]


@pytest.fixture
def gate(open_page, load_frontend):
    """An EditGate, on a page whose time `page.clock` makes pass; what it sends is collected in `sent`."""
    page = open_page(new=True)
    page.clock.install()
    load_frontend(page)
    page.evaluate("""() => {
      Object.assign(window, {sent: [], silences: []});
      window.gate = new EditGate((edit) => sent.push(edit), 0, () => silences.push(sent.length));
    }""")
    return page


def test_an_unanswered_edit_is_sent_again(gate):
    gate.evaluate("() => { gate.push({revision: 1, points: [[0, 0, 0]]}); }")
    gate.clock.run_for(gate.evaluate("() => RETRIES_IN_SILENCE * WATCHDOG + 200"))
    sent = gate.evaluate("() => sent.map((edit) => [edit.seq, edit.points.length, edit.again ?? 0])")
    assert sent == [[1, 1, 0], [1, 1, 1], [1, 1, 2]]
    assert gate.evaluate("() => silences") == [2]


def test_a_slow_answer_settles_the_edit_that_was_sent_again(gate):
    gate.evaluate("() => { gate.push({points: []}); gate.push({points: [1]}); }")
    # Python takes one run after the other, each longer than the watchdog has patience.
    slow = gate.evaluate("() => 1.2 * WATCHDOG")
    for seq in (1, 2):
        gate.clock.run_for(slow)
        gate.evaluate("(seq) => { gate.acknowledge(seq); }", seq)
    assert gate.evaluate("() => gate.unanswered") is None
    gate.clock.run_for(slow)
    sent = gate.evaluate("() => sent.map((edit) => [edit.seq, edit.again ?? 0])")
    assert sent == [[1, 0], [2, 0], [2, 1]]
    assert gate.evaluate("() => silences") == []


# ---- the component, with a test in the place of Python ---------------------------------------------


@pytest.fixture
def component(page, load_frontend):
    """`mount(data)` mounts or updates the component; what it sends is collected in `sent`."""
    load_frontend(page)
    page.evaluate(f"""() => {{
      window.sent = [];
      const place = document.getElementById("host");
      place.className = "";
      const setStateValue = (name, value) => sent.push(value);
      window.newPlace = () => {{
        const inner = document.createElement("div");
        place.replaceChildren(inner);
        window.root = inner.attachShadow({{mode: "open"}});
        root.innerHTML = '<div class="stage"></div>';
      }};
      window.mount = (data) => {{
        const whole = {{mode: "board", revision: 1, ack: 0, height: 500, task: "classification", points: [],
          view: [-2, 2, -2, 2], axes: ["x1", "x2"], classes: ["A", "B"], model: null, message: null, ...data}};
        window.unmount = stage({{parentElement: root, data: whole, setStateValue}});
        window.board = root.querySelector(".stage").svmviz;
      }};
      window.model = {MODEL};
      newPlace();
    }}""")
    return page


def test_the_component_keeps_its_board_when_it_is_called_again(component):
    kept = component.evaluate("""() => {
      mount({points: [[0, 0, 0]]});
      const first = board;
      board.zoomAt([200, 200], 0.5);
      mount({points: [[0, 0, 0]], message: "hello"});
      return [board === first, board.zoom.scale, root.querySelectorAll("canvas").length];
    }""")
    assert kept == [True, 0.5, 1]


def test_a_late_answer_changes_no_points(component):
    result = component.evaluate("""() => {
      mount({points: [[-1, 0, 0], [1, 0, 1]]});
      board.removeAt(board.toPixel(-1, 0), 9);
      board.add(board.toPixel(0, 1));
      mount({ack: 0, points: [[-1, 0, 0], [1, 0, 1]], model: {...model, for: 0, status: [1, 2]}});
      const late = board.items.map((item) => item.status);
      mount({ack: 1, points: [[1, 0, 1]], model: {...model, for: 1, status: [2]}});
      return [late, board.points.length, sent.map((edit) => edit.seq)];
    }""")
    assert result == [[2, 0], 2, [1]]


def test_a_late_answer_about_an_example_lands_on_its_own_points(component):
    status = component.evaluate("""() => {
      mount({ack: 7, points: [[-1, 0, 0], [1, 0, 1], [0, 1, 1]], model: {...model, for: 0, status: [0, 0, 0]}});
      board.removeAt(board.toPixel(-1, 0), 9);
      mount({ack: 7, model: {...model, for: 0, status: [0, 1, 2]}});
      return board.items.map((item) => item.status);
    }""")
    assert status == [1, 2]


def test_a_newer_revision_wins_over_waiting_edits(component):
    result = component.evaluate("""async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      mount({});
      board.add([200, 200]);
      await frame();
      board.add([250, 200]);
      await frame();
      mount({revision: 2, ack: 0, points: [[1, 1, 0]]});
      board.add([300, 200]);
      return [board.points.length, sent.map((edit) => [edit.revision, edit.points.length])];
    }""")
    assert result == [2, [[1, 1], [2, 2]]]


@pytest.mark.parametrize(("revision", "kept"), [(1, 1), (2, 0)])
def test_an_edit_cut_off_by_a_page_switch_is_taken_up_again(component, revision, kept):
    result = component.evaluate(
        """(revision) => {
          mount({});
          board.add([200, 200]);
          unmount();
          newPlace();
          mount({revision});
          return [board.points.length, sent.length];
        }""",
        revision,
    )
    assert result == [kept, 1 + kept]


def test_a_failure_is_one_sentence(component):
    component.evaluate("""() => {
      window.console.error = () => {};
      mount({points: [[0, 0, 0]], model: {...model, kernel: {name: "unheard of"}}});
    }""")
    assert "reload the page" in component.text_content(".board-message")


# ---- live, through Python --------------------------------------------------------------------------


def open_app(page, serve, query=""):
    return opened(page, f"{serve(APP)}/{query}", IS_READY)


def settle(page):
    """Wait until Python's answer to the last edit is drawn."""
    drawn(page)  # the last edit of a burst is told a frame later
    page.wait_for_function(
        """() => {
          const {seq, ack, modelSeq} = findStage().dataset;
          return ack === (seq ?? "0") && modelSeq === ack;
        }"""
    )


def attribute(page, name):
    drawn(page)
    return page.locator(".stage").get_attribute(f"data-{name}")


def test_twenty_clicks_in_two_seconds_give_twenty_points(page, serve):
    open_app(page, serve, "?start=empty")
    places = [pixel(page, -2 + 1.0 * (k % 5), -1.5 + 1.0 * (k // 5), LIVE) for k in range(20)]
    start = time.monotonic()
    for k, place in enumerate(places):
        if k == 10:
            page.keyboard.press("2")
        page.mouse.click(*place)
        time.sleep(max(0, start + 0.1 * (k + 1) - time.monotonic() - 0.01))
    assert attribute(page, "points") == "20"
    settle(page)
    page.get_by_text("server has 20 points").wait_for()


def test_a_burst_of_clicks_loses_none(page, serve):
    open_app(page, serve, "?start=empty")
    for k in range(30):
        page.mouse.click(*pixel(page, -2.5 + 0.8 * (k % 6), -2 + 0.8 * (k // 6), LIVE))
    settle(page)
    assert attribute(page, "points") == "30"
    page.get_by_text("server has 30 points").wait_for()


def test_a_drag_updates_the_boundary_while_the_pointer_moves(page, serve):
    open_app(page, serve)
    first = page.locator(".stage").evaluate("(stage) => stage.svmviz.points[0].slice(0, 2)")
    page.mouse.move(*pixel(page, *first, LIVE))
    page.mouse.down()
    models = set()
    for k in range(1000):
        page.mouse.move(*pixel(page, first[0] + 0.04 * (k % 40), first[1], LIVE))
        models.add(attribute(page, "model-seq"))
        if len(models) >= 5:
            break
    before_release = len(models)
    page.mouse.up()
    settle(page)
    assert before_release >= 5


def test_zoom_survives_a_theme_change_and_reruns(page, serve):
    page.emulate_media(color_scheme="light")
    open_app(page, serve)
    page.mouse.move(*pixel(page, 0.5, 0.5, LIVE))
    page.mouse.wheel(0, -300)
    page.wait_for_selector('.stage[data-zoomed="true"]')
    view = attribute(page, "view")
    light = page.locator(".stage").evaluate("(stage) => stage.svmviz.look.dark")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => findStage().svmviz.look.dark")
    assert attribute(page, "view") == view
    page.get_by_role("button", name="Rerun").click()
    page.mouse.click(*pixel(page, 0.5, 0.9, LIVE))
    settle(page)
    assert attribute(page, "view") == view
    assert light is False


def test_a_new_revision_replaces_the_points_and_old_edits_are_dropped(page, serve):
    open_app(page, serve)
    page.mouse.click(*pixel(page, 2.5, -2.5, LIVE))
    settle(page)
    assert attribute(page, "points") == "41"
    page.get_by_role("button", name="Load example").click()
    page.wait_for_selector('.stage[data-revision="2"]')
    assert attribute(page, "points") == "40"
    page.get_by_text("server has 40 points").wait_for()
    page.mouse.click(*pixel(page, 2.5, -2.5, LIVE))
    settle(page)
    page.get_by_text("server has 41 points").wait_for()


def test_nothing_flickers_while_drawing(page, serve):
    open_app(page, serve)
    page.locator(".stage").evaluate("""(stage) => {
      const {ctx, canvas} = stage.svmviz;
      window.seen = {frames: 0, blank: 0, canvases: new Set()};
      const look = () => {
        // A place far from every point: it is always in one of the two tinted regions.
        const [r, g, b, a] = ctx.getImageData(canvas.width - 40, 40, 1, 1).data;
        seen.frames += 1;
        if (a !== 255 || (r === g && g === b)) seen.blank += 1;
        seen.canvases.add(stage.querySelector("canvas"));
        if (!seen.stop) requestAnimationFrame(look);
      };
      look();
    }""")
    for k in range(12):
        page.mouse.click(*pixel(page, -2 + 0.3 * k, -2.2, LIVE))
        drawn(page)
    settle(page)
    page.wait_for_function("() => seen.frames > 20")
    seen = page.evaluate("() => { seen.stop = true; return [seen.frames, seen.blank, seen.canvases.size]; }")
    assert seen[0] > 20
    assert seen[1:] == [0, 1]


def test_the_code_is_sent_once_and_not_with_every_edit(open_page, serve):
    page, received = open_page(new=True), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    open_app(page, serve)
    settle(page)
    received.clear()
    page.mouse.click(*pixel(page, 2.5, -2.5, LIVE))
    settle(page)
    assert 0 < sum(received) < 20_000


def test_a_fit_that_takes_long_is_made_once_and_settles(page, serve):
    opened(page, serve("tests/browser/apps/slow_app.py"), IS_READY)
    for k, (x, y) in enumerate([(0.0, 0.0), (0.3, -0.2)], 1):
        page.mouse.click(*pixel(page, x, y, LIVE))
        settle(page)
        page.get_by_text(f"fits {list(range(1, k + 1))}", exact=True).wait_for()
    page.wait_for_timeout(3500)  # longer than the watchdog waits: nothing more is on its way
    page.get_by_text("fits [1, 2]", exact=True).wait_for()
    assert not page.locator(".board-message").is_visible()
