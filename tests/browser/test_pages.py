"""Both pages in a real browser: they fit the window, follow the pen, and keep the work on a switch."""

import re

import numpy as np
import pytest

from svmviz import datasets
from svmviz.kernels import CallableKernel, GaussianKernel
from svmviz.machines import svc
from svmviz.smo import Options
from svmviz.trace import record
from tests.browser.waits import FITS, answered, at_rest, choose, eventually, fits, in_board, opened, settled

pytestmark = pytest.mark.browser

LESSON = "SMO_step_by_step"
BOARD = "(findStage().svmviz.board ?? findStage().svmviz)"


@pytest.fixture
def visit(open_page, serve):
    """Open a page of the app and wait until the Board or the Player is there."""

    def go(path="", **options):
        return opened(open_page(**options), f"{serve('app.py')}/{path}")

    return go


def points(page):
    return page.evaluate("() => findStage().svmviz.points")


def wait_for_text(page, pattern):
    page.get_by_text(re.compile(pattern)).first.wait_for()


@pytest.mark.parametrize("path", ["", LESSON])
def test_nothing_scrolls_on_a_laptop_or_a_projector(visit, path):
    page = visit(path)
    for name in ("overlapping", "wine", "sine", "four_corners"):
        choose(page, "Example", datasets.PRESETS[name].title)
        page.wait_for_function(
            f"(n) => {BOARD}.points.length === n", arg=len(datasets.preset(name).points)
        )  # each has a number of its own
        settled(page)
        fits(page)


@pytest.mark.parametrize(
    "path", ["", LESSON, "Reduced_convex_hulls", "All_distances", "Many_classes", "Slide_C_and_epsilon"]
)
def test_nothing_scrolls_below_a_notice(visit, path):
    page = visit(f"{path}?preset=moons&kernel=unknown")
    page.locator("[data-testid=stAlert]").wait_for()
    settled(page)
    page.wait_for_function(FITS)


@pytest.mark.parametrize("path", ["", LESSON])
def test_nothing_is_wider_than_a_phone(visit, path):
    page = visit(path, viewport={"width": 390, "height": 844})
    settled(page)
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


MACHINES = ["ν-SVC", "One-class SVM", "μ-SVM", "AD-SVM", "MC-SVM", "C-SVC"]  # the last is chosen at first
MACHINE_KEYS = {
    "ν-SVC": "nu_svc", "One-class SVM": "one_class", "μ-SVM": "mu_svm", "AD-SVM": "ad_svm", "MC-SVM": "mc_svm",
    "ν-SVR": "nu_svr",
}  # fmt: skip
FAILURES = "[data-testid=stException], [data-testid=stAlert]"


def choose_machine(page, machine):
    """Choose another machine on the workspace, and wait until its model is on the Board."""
    page.evaluate("() => { window.before = findStage().svmviz.model; }")
    choose(page, "Machine", machine)
    page.wait_for_function("() => findStage().svmviz.model && findStage().svmviz.model !== window.before")
    settled(page)


def test_on_a_phone_on_its_side_there_is_room_for_the_board(visit):
    page = visit(LESSON, viewport={"width": 844, "height": 390})
    height, tools, charts = page.evaluate(
        """() => {
          const box = (name) => findStage().querySelector(name).getBoundingClientRect();
          const tools = [...findStage().querySelectorAll(".board-bar button")];
          const ends = tools.map((tool) => tool.getBoundingClientRect().right);
          return [box(".board-canvas").height, Math.max(...ends), box(".player-charts").left];
        }"""
    )
    assert height > 200
    assert tools < charts


def test_every_machine_can_be_chosen_on_the_workspace(visit):
    page = visit("?preset=wine&kernel=poly&nu=0.3&n_prototypes=2")
    for machine in MACHINES:
        choose_machine(page, machine)
        assert page.locator(FAILURES).count() == 0, machine
        assert page.locator("table.result tr").count() > 4, machine
        fits(page)
        assert page.evaluate("() => findStage().svmviz.model !== null"), machine
    choose(page, "Example", "Sine with noise")
    page.get_by_text("ε", exact=True).first.wait_for()  # the controls have changed to those of a curve
    settled(page)
    for machine in ["ν-SVR", "ε-SVR"]:
        choose_machine(page, machine)
        assert page.locator(FAILURES).count() == 0, machine


def test_every_machine_can_be_chosen_in_the_lesson(visit):
    page = visit(f"{LESSON}?preset=wine&kernel=poly&nu=0.3&n_prototypes=2")
    before = "C-SVC"
    machines = ["ν-SVC", "One-class SVM", "μ-SVM", "AD-SVM", "MC-SVM"]
    for machine in [*machines, "ε-SVR", "ν-SVR"]:
        if machine == "ε-SVR":
            choose(page, "Example", "Sine with noise")
            page.get_by_role("button", name=machine, exact=True).wait_for()
            settled(page)
            assert page.get_by_role("button", name=machine, exact=True).count() == 1
            continue
        page.get_by_role("button", name="ε-SVR" if machine == "ν-SVR" else before, exact=True).click()
        choose(page, "Machine", machine)
        page.keyboard.press("Escape")
        page.wait_for_function(
            "(n) => findStage().svmviz.meta.model.machine === n", arg=MACHINE_KEYS[machine]
        )
        settled(page)
        assert page.locator(FAILURES).count() == 0, machine
        page.evaluate("() => findStage().svmviz.jump(findStage().svmviz.last)")
        page.wait_for_function("() => findStage().svmviz.replay.position === findStage().svmviz.last")
        assert page.evaluate("() => findStage().dataset.failed ?? null") is None
        fits(page)
        before = machine


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("preset=unbalanced&classifier=nu_svc&nu=0.9", "nu must be above 0 and at most"),
        ("preset=unbalanced&classifier=mu_svm&mu=0.001", "is not feasible here: "),
        ("preset=three_classes&classifier=ad_svm&mu=0.001", "is not feasible here: "),
    ],
)
def test_what_is_not_feasible_gets_its_sentence_and_the_points_stay(visit, query, sentence):
    page = visit(f"?{query}")
    wait_for_text(page, sentence)
    assert len(points(page)) > 50
    assert page.locator("[data-testid=stException]").count() == 0


def test_the_one_class_machine_needs_one_class(visit):
    page = visit("?preset=moons&classifier=one_class")
    page.get_by_role("button", name="Clear").click()
    wait_for_text(page, "the region that holds most of them")
    at_rest(page)
    for x, y in [(-1, 0), (0, 0.5), (0.4, -0.5)]:
        page.mouse.click(*in_board(page, x, y))
    wait_for_text(page, r"of 3 \(")
    assert page.locator(FAILURES).count() == 0


def test_a_third_class_brings_the_choice_of_two_for_the_mu_svm(visit):
    page = visit("?preset=moons&classifier=mu_svm")
    assert page.get_by_role("combobox", name="Two classes").count() == 0
    page.mouse.move(*in_board(page, 0, 1.2))
    page.keyboard.press("3")
    page.mouse.click(*in_board(page, 0, 1.2))
    page.get_by_role("combobox", name="Two classes").wait_for()


def test_a_click_is_fitted(visit):
    page = visit()
    before = len(points(page))
    wait_for_text(page, rf"of {before} \(")
    page.mouse.click(*in_board(page, -3.2, 2.8))
    wait_for_text(page, rf"of {before + 1} \(")
    assert len(points(page)) == before + 1


def test_twenty_fast_clicks_give_twenty_points(visit):
    page = visit()
    before = len(points(page))
    for k in range(20):
        page.mouse.click(*in_board(page, -3.2 + 0.3 * k, 2.9))
    wait_for_text(page, rf"of {before + 20} \(")


def add_point(page):
    """Click on the workspace's Board, wait until Python has fitted the point too, and return all points."""
    count = len(points(page)) + 1
    page.mouse.click(*in_board(page, -3.2, 2.8))
    wait_for_text(page, rf"of {count} \(")
    return points(page)


def test_the_points_survive_a_switch_of_pages_and_back(visit):
    page = visit()
    drawn = add_point(page)
    page.get_by_role("link", name="SMO step by step").click()
    page.wait_for_url(f"**/{LESSON}")
    page.wait_for_function("() => findStage()?.svmviz?.board")
    page.get_by_role("link", name="Draw and fit").click()
    page.wait_for_function("() => findStage()?.svmviz && !findStage().svmviz.board")
    assert eventually(page, lambda: points(page), drawn.__eq__) == drawn


def test_an_edit_at_the_moment_of_the_switch_is_not_lost(visit):
    page = visit()
    before = len(points(page))
    page.mouse.click(*in_board(page, -3.2, 2.8))
    page.get_by_role("link", name="SMO step by step").click()
    page.wait_for_function("() => findStage()?.svmviz?.board")
    page.wait_for_function("(n) => findStage().svmviz.board.points.length === n", arg=before + 1)
    page.wait_for_function("() => { const {seq, ack} = findStage().dataset; return ack === (seq ?? ack); }")
    settled(page)
    assert len(page.evaluate("() => findStage().svmviz.board.points")) == before + 1


def test_the_copied_link_and_a_reload_open_the_same_page_with_the_same_points(visit):
    page = visit("?preset=overlapping&sliding=epsilon", new=True)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    drawn = add_point(page)
    page.get_by_role("link", name="Slide C and ε").click()
    page.wait_for_url("**/Slide_C_and_epsilon?**points=**")  # the address has the link by itself
    page.wait_for_function("() => findStage()?.svmviz?.state")
    page.keyboard.press("Control+z")  # the history is that of the points, and no matter where the focus is
    page.wait_for_function("(n) => findStage().svmviz.points.length === n", arg=len(drawn) - 1)
    page.keyboard.press("Control+y")
    page.wait_for_function("(n) => findStage().svmviz.points.length === n", arg=len(drawn))
    answered(page)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Copied").wait_for()
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert link == page.url
    assert len(link) < 2100
    page.reload()
    at_rest(page, "findStage().svmviz")
    copy = visit(link.split("/", 3)[3])
    assert points(copy) == points(page)
    assert len(points(copy)) == len(drawn)
    for (x, y, label), (u, v, other) in zip(points(copy), drawn, strict=True):
        assert (x, y, label) == (pytest.approx(u, abs=0.005), pytest.approx(v, abs=0.005), other)


def test_a_bad_file_gets_one_sentence_and_the_points_stay(visit):
    page = visit()
    before = points(page)
    page.get_by_role("button", name="File").click()
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"1,2,a\nNaN,3,b\n"}
    page.locator("input[type=file]").set_input_files(file)
    wait_for_text(page, "not a finite number")
    assert points(page) == before
    assert page.locator("[data-testid=stException]").count() == 0


def test_a_good_file_is_drawn(visit):
    page = visit()
    page.get_by_role("button", name="File").click()
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"u,v,kind\n1,2,p\n3,4,q\n5,6,p\n"}
    page.locator("input[type=file]").set_input_files(file)
    wait_for_text(page, r"of 3 \(")
    assert points(page) == [[1, 2, 0], [3, 4, 1], [5, 6, 0]]


def test_points_that_the_address_cannot_hold_get_one_sentence(visit):
    page = visit()
    rows = np.random.default_rng(1).normal(size=(2000, 2)).round(3)
    text = "u,v,kind\n" + "".join(f"{u},{v},{'pq'[int(u > 0)]}\n" for u, v in rows)
    page.get_by_role("button", name="File").click()
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)
    wait_for_text(page, "2,000 points do not fit in the address: a reload loses them. Save a CSV file.")
    page.wait_for_function("() => location.search === ''")


def test_the_race_shows_three_rules(visit):
    page = visit(LESSON)
    page.get_by_role("button", name="Race", exact=True).click()
    page.locator(".js-plotly-plot").wait_for()
    assert page.locator("[role=dialog] table.result tr").count() == 4


def test_newton_steps_can_be_switched_on_watched_and_opened_again(visit):
    page = visit(f"{LESSON}?preset=moons")
    pairs = page.evaluate("() => findStage().svmviz.last")
    page.get_by_text("Newton steps", exact=True).click()
    page.wait_for_function("() => findStage().svmviz.replay.jumps.size > 0")
    settled(page)
    last = page.evaluate("() => findStage().svmviz.last")
    assert last < pairs
    first = page.evaluate("() => Math.min(...findStage().svmviz.replay.jumps.keys())")
    page.evaluate("(k) => findStage().svmviz.jump(k - 1)", first)
    page.keyboard.press("ArrowRight")  # the switch, which has the focus, lets it pass
    page.wait_for_function("(k) => findStage().svmviz.replay.position === k", arg=first)
    wait_for_text(page, r"Newton step: \d+ multipliers are free")
    multipliers = "() => [...findStage().svmviz.replay.z]"
    before = page.evaluate(multipliers)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(k) => findStage().svmviz.replay.position === k", arg=first + 1)
    after = page.evaluate(multipliers)
    assert sum(a != b for a, b in zip(before, after, strict=True)) > 2
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("(k) => findStage().svmviz.replay.position === k", arg=first)
    assert page.evaluate(multipliers) == before
    page.get_by_role("button", name="Trace", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the trace as CSV").click()
    saved = download.value.path().read_bytes()
    other = visit(f"{LESSON}?preset=xor")
    assert not other.get_by_role("checkbox", name="Newton steps").is_checked()
    other.get_by_role("button", name="Trace", exact=True).click()
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": saved}
    other.locator("input[type=file]").set_input_files(file)
    other.wait_for_function("(n) => findStage().svmviz.last === n", arg=last)
    assert other.evaluate("() => Math.min(...findStage().svmviz.replay.jumps.keys())") == first
    assert other.get_by_role("checkbox", name="Newton steps").is_checked()
    assert other.locator(FAILURES).count() == 0


def test_the_switch_for_newton_steps_is_on_every_page_that_plays(visit):
    for path in ("Reduced_convex_hulls", "All_distances"):
        page = visit(f"{path}?preset=moons&newton=on")
        page.get_by_text("Step by step", exact=True).click()
        page.wait_for_function("() => findStage()?.svmviz?.replay?.jumps.size > 0")
        if path == "Reduced_convex_hulls":
            page.get_by_role("button", name="Points", exact=True).click()
        page.get_by_text("Newton steps", exact=True).click()
        page.wait_for_function("() => findStage()?.svmviz?.replay?.jumps.size === 0")
        assert page.locator(FAILURES).count() == 0


def test_nothing_is_requested_from_outside(open_page, serve):
    url, outside = serve("app.py"), []
    page = open_page(new=True)
    own = (url, url.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(own) else outside.append(request.url))
    for path in ("", LESSON):
        opened(page, f"{url}/{path}")
        page.wait_for_load_state("networkidle")
    assert outside == []


def test_a_third_class_brings_the_choice_of_two_classes_to_the_lesson(visit):
    page = visit(LESSON)
    assert page.get_by_role("combobox", name="Two classes").count() == 0
    page.mouse.move(*in_board(page, -3, 2.5))
    page.keyboard.press("3")
    page.mouse.click(*in_board(page, -3, 2.5))
    page.get_by_role("combobox", name="Two classes").wait_for()
    settled(page)
    page.evaluate("() => { window.before = findStage().svmviz.replay; }")
    choose(page, "Two classes", "A / C")
    page.wait_for_function("() => findStage().svmviz.replay && findStage().svmviz.replay !== window.before")
    settled(page)
    assert page.locator("[data-testid=stAlert], [data-testid=stException]").count() == 0


def test_an_empty_board_asks_for_points_and_recovers(visit):
    page = visit()
    page.get_by_role("button", name="Clear").click()
    wait_for_text(page, "points of two classes")
    at_rest(page)
    page.mouse.click(*in_board(page, -1, 0))
    wait_for_text(page, "second class")
    at_rest(page)
    page.keyboard.press("2")
    page.mouse.click(*in_board(page, 1, 0))
    wait_for_text(page, r"of 2 \(")


@pytest.mark.parametrize("kernel", [GaussianKernel(0.2), CallableKernel(lambda a, b: a @ b.T)])
def test_a_trace_of_five_features_is_opened_as_a_projection(visit, kernel):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-1, 1, (15, 5)), rng.normal(1, 1, (15, 5))])
    signs = np.repeat([-1.0, 1.0], 15)
    trace = record("C-SVC", X, signs, kernel, {"C": 2.0}, svc.dual_problem(signs, 2.0), Options())
    page = visit(LESSON)
    page.get_by_role("button", name="Trace", exact=True).click()
    file = {"name": "a.json", "mimeType": "application/json", "buffer": trace.to_json().encode()}
    page.locator("input[type=file]").set_input_files(file)
    wait_for_text(page, "principal components")
    page.wait_for_function("(n) => findStage().svmviz.last === n", arg=len(trace.steps))
    page.evaluate("() => findStage().svmviz.jump(findStage().svmviz.last)")
    page.wait_for_function("(n) => findStage().svmviz.replay.position === n", arg=len(trace.steps))
    violation = page.evaluate("() => findStage().svmviz.replay.thresholds.violation")
    assert violation == pytest.approx(trace.certificate.violation, abs=1e-9)
    assert page.get_by_role("button", name="Draw").count() == 0


OVERFLOWING = """() => {
  const why = findStage().querySelector(".player-why");
  const text = why.querySelector("span");
  return findStage().svmviz.replay.trace.sentences.filter((sentence) => {
    text.textContent = sentence;
    return why.scrollHeight > why.clientHeight;
  });
}"""


@pytest.mark.parametrize("newton", ["off", "on"])
def test_every_sentence_fits_its_place(visit, newton):
    page = visit(f"{LESSON}?preset=moons&newton={newton}")
    choose(page, "Example", "Spirals")
    for width in (1366, 1024):
        page.set_viewport_size({"width": width, "height": 768})
        at_rest(page, "findStage().svmviz.samples?.length === 150")
        assert page.evaluate(OVERFLOWING) == []


@pytest.mark.parametrize("machine", ["nu_svc", "mu_svm", "ad_svm", "mc_svm"])
@pytest.mark.parametrize("newton", ["off", "on"])
def test_every_sentence_of_every_machine_fits_its_place(visit, machine, newton):
    page = visit(
        f"{LESSON}?preset=wine&classifier={machine}&newton={newton}", viewport={"width": 1024, "height": 768}
    )
    page.wait_for_function("(n) => findStage().svmviz.meta.model?.machine === n", arg=machine)
    page.evaluate("() => document.fonts.ready")
    settled(page)
    # What rounding has left of a weight has many digits.
    assert [text for text in page.evaluate(OVERFLOWING) if "e−16" not in text] == []


def test_the_example_is_not_described_when_its_points_have_changed(visit):
    page = visit()
    wait_for_text(page, "Two normal clouds that overlap")
    page.mouse.click(*in_board(page, -2, 2))
    wait_for_text(page, "Overlapping, edited")
    assert "Two normal clouds" not in page.inner_text("body")
    choose(page, "Example", "Moons")
    wait_for_text(page, "Two half moons")


def test_a_file_may_follow_another_one_with_other_columns(visit):
    page = visit()
    page.get_by_role("button", name="File").click()
    for count, text in [
        (2, "x,y,c\n1,2,a\n2,3,b\n"),
        (3, "1,2\n2,3\n4,1\n"),
        (4, "u,v,k\n1,2,p\n2,3,q\n3,3,q\n0,1,p\n"),
    ]:
        file = {"name": f"{count}.csv", "mimeType": "text/csv", "buffer": text.encode()}
        page.locator("input[type=file]").set_input_files(file)
        page.wait_for_function("(n) => findStage()?.svmviz.points.length === n", arg=count)
        settled(page)
    assert page.locator("[data-testid=stAlert], [data-testid=stException]").count() == 0


def test_keys_come_back_to_the_player_after_a_choice_or_a_click_beside_it(visit):
    page = visit(LESSON)
    choose(page, "Kernel", "Gaussian (RBF)")
    at_rest(page, "findStage().svmviz.meta.model.kernel.name === 'rbf'")
    page.mouse.move(*in_board(page, 0, 0))
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => findStage().svmviz.position === 1")
    page.mouse.click(800, 20)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => findStage().svmviz.position === 2")


def test_no_minimum_is_named_where_the_line_is_not_curved(visit):
    page = visit(LESSON)
    step = {"i": 0, "j": 99, "gradient_i": -1, "gradient_j": 1, "curvature": 0, "unclipped": 2e12, "step": 1}
    step |= {"z_i_after": 1, "z_j_after": -1, "blocked": 3}
    lines = page.evaluate("(step) => findStage().svmviz.charts[0].numbers(step).map(({text}) => text)", step)
    assert lines[0] == "now: g differs by 2, curvature 0"
    assert "no minimum" in lines[1]
    assert lines[2].startswith("cut to t = 1")


def test_the_step_is_kept_across_a_switch_of_pages_and_back(visit):
    page = visit(f"{LESSON}?preset=overlapping")
    page.evaluate("() => findStage().svmviz.jump(7)")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => findStage().svmviz.position > 7")
    page.get_by_role("link", name="Draw and fit").click()
    at_rest(page, "!findStage().querySelector('.player')")
    left = page.evaluate("() => window.svmvizStep.position")
    assert left > 7
    page.get_by_role("link", name="SMO step by step").click()
    at_rest(page, "findStage().svmviz.replay")
    view = "findStage().svmviz"
    assert page.evaluate(f"() => [{view}.position, {view}.playing]") == [left, False]
    page.get_by_role("link", name="Draw and fit").click()
    at_rest(page, "!findStage().querySelector('.player')")
    choose(page, "Example", "Moons")
    page.get_by_role("link", name="SMO step by step").click()
    at_rest(page, "findStage().svmviz.replay")
    assert page.evaluate(f"() => {view}.position") == 0  # another run
