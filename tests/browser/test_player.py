"""The Player in a real browser: without a server first, then live against Python."""

import itertools
import json

import numpy as np
import pytest
from oracle import dense

from svmviz.datasets import Dataset
from svmviz.machines import ad_svm, mc_svm, nu_svc, nu_svr
from svmviz.machines.expansion import bias_interval, expand, midpoint
from svmviz.problem import squared_noise
from svmviz.ui import lesson
from svmviz.ui.player import player_data
from svmviz.ui.workspace import Workspace
from tests.browser.waits import at_rest, drawn, opened
from tests.test_player import JUMPERS, MACHINES, classifier, recorded, regressor

pytestmark = pytest.mark.browser

APP = "tests/browser/apps/player_app.py"
LIVE = "findStage().querySelector('.player')"
PICTURES = """async () => {
  for (let frame = 0; frame < 3; frame += 1) await new Promise((done) => requestAnimationFrame(done));
  return [...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL());
}"""


def message(trace, scene, **options):
    """What the component gets, with the steps as plain lists."""
    total = len(trace.steps)
    sentences = [f"Step {k + 1} of {total}: because {k}." for k in range(total)] + ["Done."]
    data, steps = player_data(scene, trace, sentences, **options)
    return {"meta": data, "steps": {name: steps[name].tolist() for name in steps}}


def new_player(page, trace, scene, **options):
    page.evaluate(
        """(message) => {
          const host = document.getElementById("host");
          host.style.width = "auto";
          window.edits = [];
          window.reports = [];
          window.player = new Player(host, {
            onEdit: (points) => edits.push(points), onStep: (position) => reports.push(position),
          });
          player.update({...message, fresh: true});
        }""",
        message(trace, scene, **options),
    )
    at_rest(page)
    return page


@pytest.fixture
def load(open_page, load_frontend):
    """A Player over a trace, on a page without a server."""

    def load_player(trace, scene, rows=None, **options):
        return new_player(load_frontend(open_page(**options)), trace, scene, rows=rows)

    return load_player


@pytest.fixture
def player(load):
    return load(*classifier())


def state(page):
    drawn(page)
    return page.evaluate("() => ({...player.root.dataset})")


def position(page):
    return int(state(page)["position"])


def jump(page, k):
    page.evaluate("(k) => player.jump(k)", k)
    drawn(page)


def button(page, act):
    return page.locator(f".player [data-act={act}]")


# ---- the numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [classifier, regressor])
def test_the_browser_computes_what_python_computes(load, build):
    trace, scene = build()
    page = load(trace, scene)
    hessian = trace.hessian()
    H = dense(hessian)
    looks = page.evaluate("""() => Array.from({length: player.replay.length + 1}, (_, k) => {
      player.replay.seek(k);
      const {z, gradient, thresholds, bias} = player.replay;
      const coef = [...player.replay.coefficients()];
      return {z: [...z], gradient: [...gradient], ...thresholds, bias, coef};
    })""")
    assert len(looks) == len(trace.steps) + 1
    for k, look in enumerate(looks):
        z = trace.multipliers(k)
        assert look["z"] == z.tolist()
        gradient = H @ z + trace.problem.linear
        np.testing.assert_allclose(look["gradient"], gradient, atol=1e-9)
        assert look["violation"] == pytest.approx(
            trace.steps[k].violation if k < len(trace.steps) else trace.certificate.violation, abs=1e-9
        )
        bias = midpoint(bias_interval(trace.problem, z, gradient))
        assert look["bias"] == pytest.approx(bias, abs=1e-9)
        coef = np.zeros(len(trace.X))
        np.add.at(coef, trace.problem.sample, z)
        np.testing.assert_allclose(look["coef"], coef, atol=1e-12)


def functions(machine, trace, z, gradient):
    """Coefficients (functions, n_samples) and biases of a machine's functions, and epsilon, from its own file."""
    problem, n = trace.problem, len(trace.X)
    if machine in ("svc", "one_class", "svr"):
        expansion = expand(problem, z, gradient, n)
        return expansion.coef[None], [expansion.bias], trace.parameters.get("epsilon")
    if machine == "nu_svc":
        expansion = nu_svc.expand(problem, z, gradient, n, trace.hessian().diagonal)
        return expansion.coef[None], [expansion.bias], None
    if machine == "nu_svr":
        expansion = nu_svr.expand(problem, z, gradient, n)
        return expansion.coef[None], [expansion.bias], max(0.0, nu_svr.epsilon(problem, z, gradient))
    if machine == "mc_svm":
        coef = mc_svm.read(problem, z, n)
        return (coef if len(coef) > 2 else coef[1:] - coef[:1]), [0.0] * len(coef), None
    prototypes = ad_svm.read(problem, z, trace.hessian().K)
    if machine == "mu_svm":
        coef, offset, _ = prototypes.bisector()
        return coef[None], [offset], None
    offsets = prototypes.offsets("nearest" if trace.parameters["nearest"] else "thesis")
    if len(offsets) == 2:
        return prototypes.normals[1:] - prototypes.normals[:1], [offsets[1] - offsets[0]], None
    return prototypes.coef, offsets, None  # the normals but for their mean, which changes no decision


@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES)
def test_the_browser_reads_every_machine_as_python_does(load, machine, example, changes):
    run, data, _ = recorded(machine, example, changes)
    trace = run.trace
    page = load(
        trace, {key: data[key] for key in data if key not in ("trace", "model")}, rows=run.rows.tolist()
    )
    last = len(trace.steps)
    positions = sorted({0, 1, last // 3, last // 2, last - 1, last})
    looks = page.evaluate(
        """(positions) => positions.map((k) => {
          player.replay.seek(k);
          const {gradient, thresholds} = player.replay;
          const picture = readModel(player.replay, player.meta.model);
          return {gradient: [...gradient], ...thresholds, epsilon: picture?.epsilon ?? null,
            functions: picture?.functions.map(({coef, bias, classes}) => ({coef: [...coef], bias, classes}))};
        })""",
        positions,
    )
    H = dense(trace.hessian())
    for k, look in zip(positions, looks, strict=True):
        z = trace.multipliers(k)
        gradient = H @ z + trace.problem.linear
        np.testing.assert_allclose(look["gradient"], gradient, atol=1e-9)
        up, low = trace.problem.thresholds(z, gradient)
        assert look["lowestRise"] == pytest.approx(up[look["group"]], abs=1e-9)
        assert look["highestFall"] == pytest.approx(low[look["group"]], abs=1e-9)
        if k < last:
            assert look["group"] == trace.steps[k].group
        coef, biases, epsilon = functions(machine, trace, z, gradient)
        if look["functions"] is None:
            assert not coef.any()
            continue
        np.testing.assert_allclose([f["coef"] for f in look["functions"]], coef, atol=1e-9)
        np.testing.assert_allclose([f["bias"] for f in look["functions"]], biases[: len(coef)], atol=1e-9)
        assert look["epsilon"] == pytest.approx(epsilon)


@pytest.mark.parametrize("machine", ["nu_svc", "mu_svm", "ad_svm"])
def test_where_the_hulls_meet_a_run_ends_undecided(load, machine):
    """As `svmviz.ui.models` has it: the objective, a squared distance, is no more than the gap."""
    run, data, _ = recorded(machine, "overlapping", {"kernel": "linear", "mu": 1.0, "nu": 0.1})
    assert run.trace.certificate.objective <= run.trace.certificate.gap
    page = load(
        run.trace, {key: data[key] for key in data if key not in ("trace", "model")}, rows=run.rows.tolist()
    )
    pictures = page.evaluate(
        """(positions) => positions.map((k) => {
          player.replay.seek(k);
          return readModel(player.replay, player.meta.model) !== null;
        })""",
        [1, len(run.trace.steps)],
    )
    assert pictures == [True, False]


def test_where_the_hulls_meet_on_the_way_nothing_is_divided_by_rounding(load):
    """Both classes are on the same points: again and again w is 0 there, and rho what rounding makes of 0."""
    space = Workspace()
    points = np.array([[-0.1, 1.5], [-1.0, -1.3], [0.6, -0.5]])
    space.load(Dataset(np.vstack([points, points[::-1]]), np.repeat([0, 1], 3), "classification"))
    space.classifier, space.kernel, space.nu, space.tol = "nu_svc", "linear", 0.63, 1e-9
    run = lesson.record_run(space, "max_violating")
    trace = run.trace
    page = load(trace, space.scene(620, None))
    looks = page.evaluate(
        """() => Array.from({length: player.last}, (_, k) => {
          player.replay.seek(k);
          const picture = readModel(player.replay, player.meta.model);
          return picture && {coef: [...picture.functions[0].coef], levels: picture.levels ?? null};
        })"""
    )
    hessian = trace.hessian()
    noisy = 0
    for k, look in enumerate(looks):
        z = trace.multipliers(k)
        square = abs(nu_svc.margin(trace.problem, z, hessian.gradient(z))) * np.abs(z).sum()
        if look is None or square > squared_noise(hessian.diagonal, z) / 2:
            continue
        noisy += 1
        assert look["levels"] == []
        assert np.abs(look["coef"]).max() <= np.abs(z).max()
    assert noisy > 5


def test_thresholds_and_pair_are_not_named_on_each_other(load):
    """Of a sample's multipliers, which are beside each other: there is no room for names over them."""
    run, data, _ = recorded("mc_svm", "three_classes", {})
    page = load(
        run.trace, {key: data[key] for key in data if key not in ("trace", "model")}, rows=run.rows.tolist()
    )
    page.locator(".player-charts").evaluate("(charts) => { charts.style.width = '500px'; }")
    drawn(page)
    named = page.evaluate(
        """() => Array.from({length: player.last}, (_, k) => {
          const { prototype } = CanvasRenderingContext2D;
          const [fillText, found] = [prototype.fillText, []];
          prototype.fillText = function (text, x) {
            const width = this.measureText(text).width;
            const left = this.textAlign === "right" ? x - width : x;
            if (/^(highest|lowest) .$/.test(text)) found.push(["threshold", left, left + width]);
            else if (/ [↑↓]$/.test(text)) found.push(["pair", left, left + width]);
          };
          player.replay.seek(k);
          player.charts[1].draw();
          prototype.fillText = fillText;
          return found;
        })"""
    )
    assert sum(len(found) == 4 for found in named) > 20  # most have room for all
    for found in named:
        pairs = [span for kind, *span in found if kind == "pair"]
        assert len(pairs) == 2
        for kind, left, right in found:
            assert kind == "pair" or all(right < begin or left > end for begin, end in pairs)


@pytest.mark.parametrize(("machine", "example", "changes"), MACHINES)
def test_every_machine_is_drawn_forward_and_back(load, machine, example, changes):
    run, data, _ = recorded(machine, example, changes)
    page = load(
        run.trace, {key: data[key] for key in data if key not in ("trace", "model")}, rows=run.rows.tolist()
    )
    last = int(state(page)["steps"])
    seen = {}
    for k in (0, 1, last - 1, last):
        jump(page, k)
        seen[k] = page.evaluate(PICTURES)
    for k in reversed(seen):
        jump(page, k)
        assert page.evaluate(PICTURES) == seen[k], k


TRAVELLERS = [
    ("mu_svm", "moons", {}),
    ("ad_svm", "four_corners", {}),
    ("ad_svm", "three_classes", {"n_prototypes": 2, "mu": 0.2}),
]


@pytest.mark.parametrize(("machine", "example", "changes"), TRAVELLERS)
def test_prototypes_travel_where_their_weights_say(load, machine, example, changes):
    run, data, _ = recorded(machine, example, changes)
    trace = run.trace
    page = load(
        trace, {key: data[key] for key in data if key not in ("trace", "model")}, rows=run.rows.tolist()
    )
    K, plane = trace.hessian().K, data["trace"]["plane"]
    for k in (0, 1, len(trace.steps) // 2, len(trace.steps)):
        jump(page, k)
        coef = ad_svm.read(trace.problem, trace.multipliers(k), K).coef
        for name, points in [("input", trace.X), ("feature", plane and np.array(plane["points"]))]:
            if points is None:
                continue
            places, ways = page.evaluate(
                """([name, k]) => {
                  const {geometry, ways} = player.travel[name];
                  return [geometry.prototypes.map(({at}) => at),
                    ways.map((way) => way.filter(({step}) => step <= k).pop().at)];
                }""",
                [name, k],
            )
            np.testing.assert_allclose(places, coef @ points, atol=1e-9)
            np.testing.assert_allclose(ways, coef @ points, atol=1e-9)


# ---- Newton steps ------------------------------------------------------------------------------------


def jumping(load, machine="svc", example="moons", changes=None, **options):
    """A Player over a run with Newton steps, the run, and at which positions they are."""
    run, data, _ = recorded(machine, example, changes or {}, newton=True)
    scene = {key: data[key] for key in data if key not in ("trace", "model")}
    page = load(run.trace, scene, rows=run.rows.tolist(), **options)
    return page, run.trace, [k for k, step in enumerate(run.trace.steps) if step.kind == "newton"]


@pytest.mark.parametrize(("machine", "example", "changes"), JUMPERS)
def test_the_browser_jumps_as_python_does(load, machine, example, changes):
    page, trace, jumps = jumping(load, machine, example, changes)
    H = dense(trace.hessian())
    positions = sorted({0, *jumps, *(k + 1 for k in jumps), len(trace.steps)})
    looks = page.evaluate(
        """(positions) => positions.map((k) => {
          player.replay.seek(k);
          const {z, gradient, pair, jump, step, objective} = player.replay;
          return {z: [...z], gradient: [...gradient], pair: pair !== null, jump, step: step !== null,
            objective: objective[k]};
        })""",
        positions,
    )
    for k, look in zip(positions, looks, strict=True):
        z = trace.multipliers(k)
        assert look["z"] == z.tolist()
        gradient = H @ z + trace.problem.linear
        np.testing.assert_allclose(look["gradient"], gradient, atol=1e-9)
        assert look["objective"] == pytest.approx(0.5 * z @ (gradient + trace.problem.linear), abs=1e-9)
        assert (look["pair"], look["jump"] is not None) == (
            k not in jumps and k < len(trace.steps),
            k in jumps,
        )
        if k not in jumps:
            continue
        step, jump = trace.steps[k], look["jump"]
        free = list(step.indices)
        np.testing.assert_allclose(jump["change"], trace.multipliers(k + 1)[free] - z[free], atol=1e-12)
        for shown, position, spread in zip(
            jump["apart"], (k, k + 1), (step.spread_before, step.spread_after), strict=True
        ):
            g = (H @ trace.multipliers(position) + trace.problem.linear)[free]
            groups = trace.problem.group[free]
            means = np.array([g[groups == group].mean() for group in groups])
            np.testing.assert_allclose(shown, g - means, atol=1e-9)
            assert np.abs(shown).max() == pytest.approx(spread, abs=1e-9)


@pytest.mark.parametrize(("machine", "example", "changes"), JUMPERS)
def test_newton_steps_are_drawn_forward_and_back(load, machine, example, changes):
    page, trace, jumps = jumping(load, machine, example, changes)
    seen = {}
    for k in sorted({0, jumps[0] - 1, *jumps[:3], jumps[0] + 1, jumps[-1], len(trace.steps)}):
        jump(page, k)
        seen[k] = page.evaluate(PICTURES)
    for k in reversed(seen):
        jump(page, k)
        assert page.evaluate(PICTURES) == seen[k], k
    jump(page, jumps[0])
    button(page, "next").click()
    button(page, "back").click()
    page.mouse.move(0, 0)
    assert page.evaluate(PICTURES) == seen[jumps[0]]


@pytest.mark.parametrize(("machine", "example", "changes"), TRAVELLERS)
def test_prototypes_jump_where_their_weights_say(load, machine, example, changes):
    page, trace, jumps = jumping(load, machine, example, changes)
    for k in {*jumps, *(k + 1 for k in jumps), len(trace.steps)}:
        jump(page, k)
        coef = ad_svm.read(trace.problem, trace.multipliers(k), trace.hessian().K).coef
        ways = page.evaluate(
            "(k) => player.travel.input.ways.map((way) => way.filter(({step}) => step <= k).pop().at)", k
        )
        np.testing.assert_allclose(ways, coef @ trace.X, atol=1e-9)


def test_a_newton_step_has_its_own_picture_row_and_marks(load):
    page, trace, jumps = jumping(load)
    title = page.locator(".player-charts h4").first
    assert title.inner_text() == "The pair's own problem"
    jump(page, jumps[0])
    assert title.inner_text() == "The Newton step"
    row = page.locator(".player-row[aria-selected=true]")
    step = trace.steps[jumps[0]]
    assert f"Newton: {len(step.indices)} free" in row.inner_text()
    lines = page.evaluate("() => jumpNumbers(player.replay, player.replay.jump).map(({text}) => text)")
    assert lines[0].startswith(f"now: {len(step.indices)} free")
    assert ("all the way" in lines[2]) == (not step.blocked)
    page.keyboard.press("ArrowRight")
    assert position(page) == jumps[0] + 1
    assert (jumps[0] + 1 in jumps) == (title.inner_text() == "The Newton step")
    jump(page, len(trace.steps))
    assert title.inner_text() == "The pair's own problem"


@pytest.mark.parametrize(("machine", "example"), [("svc", "moons"), ("svr", "sine")])
def test_the_arrows_of_a_newton_step_go_as_its_stems_do(load, machine, example):
    page, trace, jumps = jumping(load, machine, example)
    jump(page, jumps[0])
    arrows, stems = page.evaluate(
        """() => {
          const {replay, style, board, charts} = player;
          const {indices, before, after} = replay.jump;
          const arrows = [];
          window.drawArrow = (ctx, x0, y0, x1, y1) => arrows.push(Math.sign(y0 - y1));
          const ctx = document.createElement("canvas").getContext("2d");
          paintJumpOnBoard(ctx, style, board.frame, replay, replay.jump, () => [0, 0]);
          const height = (d, z) => charts[2].value(d, z);
          return [arrows, indices.map((d, f) => Math.sign(height(d, after[f]) - height(d, before[f])))];
        }"""
    )
    assert arrows == stems
    step = trace.steps[jumps[0]]
    moves = np.sign(np.subtract(step.z_after, step.z_before))
    growing = np.sign(np.abs(step.z_after) - np.abs(step.z_before))
    assert arrows == (growing if machine == "svc" else moves).tolist()


def test_what_stops_a_newton_step_is_named(load):
    page, _, _ = jumping(load)
    words = page.evaluate(
        """() => {
          const {replay} = player;
          const made = (blocked, slope = -1, curvature = 1) => ({
            indices: [0, 1, 2, 3], after: [0, replay.hi[1], 0, 0], blocked, slope, curvature, fraction: 0.25,
            spread: [1, 0.5],
          });
          const texts = [[], [0], [1], [0, 1], [0, 1, 2]].map((blocked) =>
            [jumpEnd(replay, made(blocked)), jumpNumbers(replay, made(blocked))[2].text]);
          return {texts, endless: jumpNumbers(replay, made([0], -1, 0)).map(({text}) => text),
            names: [0, 1].map((d) => replay.name(d)), sign: replay.hi[1] > 0};
        }"""
    )
    first, second = words["names"]
    end = "C" if words["sign"] else "0"
    assert words["texts"] == [
        ["all the way", "all the way: the free have the same g"],
        [f"0.25, {first} at 0", f"cut to 0.25: {first} reaches 0"],
        [f"0.25, {second} at {end}", f"cut to 0.25: {second} reaches {end}"],
        ["0.25, 2 at bounds", f"cut to 0.25: {first} and {second} reach bounds"],
        ["0.25, 3 at bounds", f"cut to 0.25: {first} and 2 more reach bounds"],
    ]
    assert words["endless"][1:] == ["no minimum: the objective falls without end", f"until {first} reaches 0"]


def test_the_feature_plane_takes_the_place_of_the_board_and_gives_it_back(load):
    run, data, _ = recorded("mu_svm", "moons", {})
    scene = {key: data[key] for key in data if key not in ("trace", "model")}
    page = load(run.trace, scene, rows=run.rows.tolist())
    jump(page, 3)
    board = page.evaluate(PICTURES)[0]
    assert not page.locator(".travel-plane").is_visible()
    page.get_by_role("button", name="feature space").click()
    assert page.locator(".travel-plane").is_visible()
    drawn(page)
    before = page.locator(".plane-canvas").evaluate("(canvas) => canvas.toDataURL()")
    page.keyboard.press("ArrowRight")
    drawn(page)
    assert page.locator(".plane-canvas").evaluate("(canvas) => canvas.toDataURL()") != before
    page.keyboard.press("ArrowLeft")
    drawn(page)
    assert page.locator(".plane-canvas").evaluate("(canvas) => canvas.toDataURL()") == before
    page.get_by_role("button", name="input", exact=True).click()
    assert page.evaluate(PICTURES)[0] == board
    page.keyboard.press("Space")  # the button that was clicked does not keep the keys
    assert state(page)["playing"] == "true"


def test_the_numbers_below_the_pairs_own_problem_do_not_meet(load):
    run, data, _ = recorded("mu_svm", "moons", {})
    scene = {key: data[key] for key in data if key not in ("trace", "model")}
    page = load(run.trace, scene, rows=run.rows.tolist())
    page.locator(".player-charts").evaluate("(charts) => { charts.style.width = '500px'; }")
    drawn(page)
    labels = page.evaluate(
        """() => Array.from({length: player.last}, (_, k) => {
          const { prototype } = CanvasRenderingContext2D;
          const [fillText, found] = [prototype.fillText, []];
          prototype.fillText = function (text, x, y) {
            const half = this.measureText(text).width / 2;
            if (this.textBaseline === "top" && this.textAlign === "center") found.push([y, x - half, x + half]);
          };
          player.replay.seek(k);
          player.charts[0].draw();
          prototype.fillText = fillText;
          return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        })"""
    )
    assert len(labels) > 20
    for found in labels:
        assert len(found) >= 4
        for (y, _, right), (other, left, _) in itertools.pairwise(found):
            assert y != other or right < left
    give(page, *classifier())
    assert not page.locator(".travel-switch").is_visible()


@pytest.mark.parametrize("build", [classifier, regressor])
def test_forward_and_back_give_the_same_pictures(load, build):
    page = load(*build())
    last = int(state(page)["steps"])
    seen = {}
    for k in [*range(0, 9), last - 1, last]:
        jump(page, k)
        seen[k] = page.evaluate(PICTURES)
    assert len({tuple(pictures) for pictures in seen.values()}) == len(seen)
    for k in reversed(seen):
        jump(page, k)
        assert page.evaluate(PICTURES) == seen[k], k
    jump(page, 6)
    button(page, "back").click()
    button(page, "next").click()
    page.mouse.move(0, 0)
    assert page.evaluate(PICTURES) == seen[6]


def test_played_pictures_are_those_of_a_jump(player):
    last = int(state(player)["steps"])
    jump(player, last)
    wanted = player.evaluate(PICTURES)
    jump(player, 0)
    player.evaluate("() => { player.setSpeed(200); player.play(); }")
    player.wait_for_function("player.position === player.last && !player.playing")
    assert player.evaluate(PICTURES) == wanted


# ---- going about ------------------------------------------------------------------------------------


def test_buttons_and_words(player):
    last = int(state(player)["steps"])
    assert player.locator(".player-count").inner_text() == f"step 1 of {last}"
    button(player, "next").click()
    assert position(player) == 1
    assert player.locator(".player-why").inner_text() == f"Step 2 of {last}: because 1."
    button(player, "last").click()
    assert position(player) == last
    assert player.locator(".player-why").inner_text() == "Done."
    assert button(player, "next").is_disabled()
    button(player, "back").click()
    button(player, "first").click()
    assert position(player) == 0
    assert player.evaluate("() => reports") == [1, last, last - 1, 0]


def test_keys(player):
    last = int(state(player)["steps"])
    for key, expected in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)]:
        player.keyboard.press(key)
        assert position(player) == expected, key
    speed = float(state(player)["speed"])
    player.keyboard.press("ArrowUp")
    assert float(state(player)["speed"]) == pytest.approx(1.5 * speed)
    player.keyboard.press("Space")
    assert state(player)["playing"] == "true"
    player.keyboard.press("Space")
    assert state(player)["playing"] == "false"


def test_keys_are_left_to_someone_who_types(player):
    player.locator("#text").focus()
    for key in ["ArrowRight", "Space", "End", "ArrowUp"]:
        player.keyboard.press(key)
    assert position(player) == 0
    assert state(player)["playing"] == "false"


def test_space_after_a_click_on_a_button_plays(player):
    button(player, "next").click()
    player.keyboard.press("Space")
    assert state(player)["playing"] == "true"


def test_reports_only_at_rest(player):
    player.evaluate("() => { player.setSpeed(6); player.play(); }")
    player.wait_for_function("player.position >= 2")
    assert player.evaluate("() => reports") == []
    button(player, "play").click()
    drawn(player)
    assert player.evaluate("() => reports") == [position(player)]


def test_plays_to_the_end_and_again_from_the_start(player):
    last = int(state(player)["steps"])
    player.evaluate("() => { player.setSpeed(500); player.play(); }")
    player.wait_for_function("!player.playing")
    assert position(player) == last
    player.evaluate("() => { player.setSpeed(1); player.play(); }")
    assert state(player)["playing"] == "true"
    assert position(player) < last


def test_slider_scrubs(player):
    last = int(state(player)["steps"])
    box = player.locator(".player-scrub").bounding_box()
    middle = box["y"] + box["height"] / 2
    player.mouse.move(box["x"] + 10, middle)
    player.mouse.down()
    player.mouse.move(box["x"] + box["width"] / 2, middle, steps=5)
    assert abs(position(player) - last / 2) <= 2
    assert player.evaluate("() => reports") == []
    player.mouse.up()
    drawn(player)
    assert player.evaluate("() => reports") == [position(player)]
    before = position(player)
    player.keyboard.press("ArrowRight")
    assert position(player) == before + 1


def test_drag_on_the_progress_chart_scrubs(player):
    last = int(state(player)["steps"])
    box = player.locator(".chart canvas").nth(3).bounding_box()
    x = player.evaluate("(k) => player.charts[3].lower.x.at(k)", last - 3)
    player.mouse.move(box["x"] + 80, box["y"] + 60)
    player.mouse.down()
    player.mouse.move(box["x"] + x, box["y"] + 60, steps=4)
    assert player.evaluate("() => reports") == []
    player.mouse.up()
    assert position(player) == last - 3
    assert player.evaluate("() => reports") == [last - 3]


def test_go_to_step(player):
    field = player.locator(".player-goto input")
    field.fill("5")
    field.press("Enter")
    assert position(player) == 4
    field.fill("99999")
    field.press("Enter")
    assert position(player) == int(state(player)["steps"])


# ---- the list ---------------------------------------------------------------------------------------


def test_thousands_of_steps_make_few_rows(load):
    trace, scene = classifier(n=200, C=1000.0, tol=1e-5, max_iter=3000)
    page = load(trace, scene)
    assert int(state(page)["steps"]) > 1000
    assert page.locator(".player-row").count() < 40
    jump(page, 900)
    current = page.locator(".player-row[aria-selected=true]")
    assert current.locator("b").inner_text() == "901"
    row, window = current.bounding_box(), page.locator(".player-list").bounding_box()
    assert window["y"] <= row["y"] <= window["y"] + window["height"] - row["height"]
    page.locator(".player-row[data-row='903']").click()
    assert position(page) == 903


# ---- new data -----------------------------------------------------------------------------------------


def test_theme_change_keeps_position_and_zoom(player):
    jump(player, 6)
    player.evaluate("""() => {
      player.board.zoomAt([300, 200], 0.5);
      player.charts[1].zoom.scale(0.5, 0.25);
      player.charts[3].zoom.scale(0.5, 0);
    }""")
    keep = """() => [player.position, player.board.zoom, player.charts[1].zoom.from, player.charts[1].zoom.to,
      player.charts[3].zoom.to]"""
    before, pictures = player.evaluate(keep), player.evaluate(PICTURES)
    player.evaluate("""() => {
      document.documentElement.style.cssText = "--st-background-color: #111; --st-text-color: #eee";
      player.update({meta: player.meta, steps: null, fresh: false});
    }""")
    assert player.evaluate(keep) == before
    dark = player.evaluate(PICTURES)
    assert all(one != other for one, other in zip(pictures, dark, strict=True))


def give(page, trace, scene, fresh=True):
    page.evaluate("(message) => player.update(message)", message(trace, scene) | {"fresh": fresh})


def test_a_new_trace_starts_anew_but_stays_at_the_end(player):
    player.evaluate("() => player.board.zoomAt([300, 200], 0.5)")
    zoom = player.evaluate("() => player.board.zoom")
    jump(player, 5)
    give(player, *classifier(C=3.0))
    assert position(player) == 0
    button(player, "last").click()
    give(player, *classifier(C=10.0))
    assert position(player) == int(state(player)["steps"]) > 0
    assert player.evaluate("() => player.board.zoom") == zoom


def test_the_same_trace_again_changes_nothing(player):
    jump(player, 5)
    give(player, *classifier(), fresh=False)
    assert position(player) == 5


def test_an_edit_pauses_and_hides_the_pair(player):
    player.evaluate("() => { player.setSpeed(1); player.play(); }")
    with_pair = player.evaluate(PICTURES)[0]
    place = player.evaluate("""() => {
      const box = player.board.canvas.getBoundingClientRect();
      const [x, y] = player.board.toPixel(2.5, -2.5);
      return [box.left + x, box.top + y];
    }""")
    player.mouse.click(*place)
    assert state(player)["playing"] == "false"
    drawn(player)
    assert len(player.evaluate("() => edits")[-1]) == 31
    assert player.evaluate("() => player.stale")
    assert player.evaluate(PICTURES)[0] != with_pair


def test_nothing_to_fit(load):
    trace, scene = classifier()
    page = load(trace, scene)
    data, _ = player_data(scene | {"message": "Draw a point of a second class."}, None)
    page.evaluate("(meta) => player.update({meta, steps: null, fresh: false})", json.loads(json.dumps(data)))
    assert state(page)["steps"] == "0"
    assert page.locator(".player-why").inner_text() == "Draw a point of a second class."
    assert button(page, "play").is_disabled()
    give(page, trace, scene, fresh=False)
    assert int(state(page)["steps"]) == len(trace.steps)


def test_a_run_without_steps(load):
    trace, scene = classifier(tol=10.0)
    assert len(trace.steps) == 0
    page = load(trace, scene)
    assert page.locator(".player-why").inner_text() == "Done."
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert state(page)["playing"] == "false"


# ---- what one sees -----------------------------------------------------------------------------------


def test_hover_reads_out(player):
    jump(player, 6)
    box = player.locator(".chart canvas").nth(1).bounding_box()
    x, y = player.evaluate("() => player.charts[1].markAt(player.replay.step.i)")
    player.mouse.move(box["x"] + x, box["y"] + y)
    drawn(player)
    text = player.locator(".chart-readout").nth(1).inner_text()
    assert player.evaluate("() => player.replay.name(player.replay.step.i)") in text
    assert "g = " in text


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1024, 768), (390, 844)])
def test_fits(load, width, height):
    page = load(*classifier(), viewport={"width": width, "height": height})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    bar = page.locator(".player-bar").bounding_box()
    assert bar["y"] + bar["height"] <= height
    small = page.evaluate("""() => [...document.querySelectorAll(".player button, .player input")]
      .filter((control) => control.offsetParent && control.scrollWidth > control.offsetWidth + 1).length""")
    assert small == 0
    if width > 1100:
        assert page.locator(".player-list").is_visible()
        assert page.locator(".player-charts").is_visible()
        return
    assert not page.locator(".player-list").is_visible()
    page.get_by_role("button", name="Steps").click()
    assert page.locator(".player-list").is_visible()
    assert page.locator(".player-row").count() > 3


def test_nothing_moves_or_blanks_while_it_plays(player):
    player.evaluate("""() => {
      window.shifts = 0;
      const outsideList = ({node}) => node && !node.parentElement.closest(".player-list");
      new PerformanceObserver((list) => {
        for (const {sources, value} of list.getEntries()) if (sources.some(outsideList)) shifts += value;
      }).observe({type: "layout-shift"});
      window.sizes = new Set();
      window.blanks = 0;
      const look = () => {
        const canvases = [...document.querySelectorAll("canvas")];
        sizes.add(canvases.map((canvas) => canvas.width + "x" + canvas.height).join());
        for (const canvas of canvases) {
          const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          if (!data.some((value) => value !== 0)) blanks += 1;
        }
        if (player.playing) requestAnimationFrame(look);
        else window.done = true;
      };
      player.setSpeed(20);
      player.play();
      requestAnimationFrame(look);
    }""")
    player.wait_for_function("window.done")
    assert player.evaluate("() => [sizes.size, blanks]") == [1, 0]
    assert player.evaluate("() => shifts") < 0.001


# ---- live ----------------------------------------------------------------------------------------------


@pytest.fixture
def live(page, serve):
    return opened(page, serve(APP), f"Number({LIVE}?.dataset.steps) > 0")


def server_says(page, text):
    page.get_by_text(text).wait_for()


def test_python_hears_where_the_player_rests(live):
    live.locator("[data-act=next]").click()
    live.locator("[data-act=next]").click()
    server_says(live, "server knows position 2 and 40 points")
    assert live.locator(".player-why").inner_text() == "Position 2."
    live.keyboard.press("ArrowRight")
    server_says(live, "server knows position 3 and 40 points")


def test_an_edit_gives_a_new_run(live):
    live.locator("[data-act=last]").click()
    before = live.evaluate(f"() => {LIVE}.dataset.trace")
    box = live.locator(".board-canvas").bounding_box()
    live.mouse.click(box["x"] + 200, box["y"] + 150)
    server_says(live, "and 41 points")
    live.wait_for_function(f"{LIVE}.dataset.trace !== '{before}'")
    drawn(live)
    shown = live.evaluate(f"() => ({{...{LIVE}.dataset}})")
    assert shown["position"] == shown["steps"]
    assert not live.evaluate("() => findStage().svmviz.stale")


def test_position_and_zoom_survive_the_theme(live):
    live.evaluate("() => { findStage().svmviz.jump(5); findStage().svmviz.board.zoomAt([200, 200], 0.5); }")
    server_says(live, "server knows position 5")
    look = """() => {
      const {position, board, style} = findStage().svmviz;
      return [position, board.zoom, style.dark];
    }"""
    at, zoom, dark = live.evaluate(look)
    live.emulate_media(color_scheme="light" if dark else "dark")
    live.wait_for_function(f"findStage().svmviz.style.dark === {'false' if dark else 'true'}")
    assert live.evaluate(look)[:2] == [at, zoom]


def test_without_a_bound_no_gap_is_shown(load):
    run, data, _ = recorded("svc", "moons", {"kernel": "sigmoid"})
    assert run.trace.certificate.gap == np.inf
    page = load(run.trace, {key: data[key] for key in data if key not in ("trace", "model")})
    assert page.evaluate("() => player.replay.gap.some(Number.isFinite)") is False
    jump(page, len(run.trace.steps))
    assert "gap unknown" in page.locator(".player-list").inner_text()
    jump(page, 0)
