"""What the tests of pages share: they wait for what a click, a key or a choice brings about, never for a time."""

import time

SECONDS = 30
"""For a condition that must come: a machine that also does something else may be many times slower."""

FITS = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth <= main.clientWidth && main.scrollHeight <= main.clientHeight;
}"""
IS_SETTLED = """() => !document.querySelector(
  "[data-stale=true], [data-test-script-state=running], [data-testid=stSkeleton]")"""
# A laptop and a projector: width, height, and light or dark.
SCREENS = [(1366, 768, "light"), (1024, 768, "dark")]
# While a page builds up, its controls move the Board: a click would miss its point. What is to be still has the
# same boxes at three looks after the first one. Each wait begins anew.
AT_REST = f"""([wait, ready]) => {{
  const isReady = () => {{
    try {{
      return Function(`return (${{ready}})`)();
    }} catch {{
      return false; // what it asks for is not there yet
    }}
  }};
  const parts = () => [findStage(), ...findStage().querySelectorAll("canvas, input")];
  const settled = document.fonts.status === "loaded" && ({IS_SETTLED})() && findStage() && isReady();
  const now = settled ? JSON.stringify(parts().map((part) => part.getBoundingClientRect())) : null;
  if (window.atRest?.wait !== wait) window.atRest = {{wait, before: null, still: 0}};
  window.atRest.still = now !== null && now === window.atRest.before ? window.atRest.still + 1 : 0;
  window.atRest.before = now;
  return window.atRest.still >= 3;
}}"""


def settled(page):
    """Wait until Python has run to the end. Wait first for something that this run has brought: it begins late."""
    page.wait_for_function(IS_SETTLED)


def at_rest(page, ready="true"):
    """Wait until Python has run to the end, `ready` (a JavaScript expression) holds, and the Board stands still."""
    page.wait_for_function(AT_REST, arg=[time.monotonic(), ready], polling=50)


def opened(page, url, ready="findStage().svmviz"):
    """Open an address and wait until the page is there, as `at_rest` has it; every test opens its page so."""
    page.goto(url)
    at_rest(page, ready)
    return page


def drawn(page):
    """Wait for the frame that shows what has just been done, and what was put off until after it."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def answered(page):
    """Wait until Python has answered everything that was done on the Board and its sliders."""
    drawn(page)  # what is told at most once a frame is told by then
    page.wait_for_function("() => findStage()?.unanswered === false")


def eventually(page, read, holds):
    """What `read` returns once it `holds`; after `SECONDS` what it returns then, for an assertion to complain of."""
    deadline = time.monotonic() + SECONDS
    while not holds(found := read()) and time.monotonic() < deadline:
        page.wait_for_timeout(20)  # unlike time.sleep this lets the page's events through
    return found


def fits(page, screens=SCREENS):
    """Wait until nothing scrolls, on each of some screens; the page stays on the last one."""
    for width, height, scheme in screens:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        at_rest(page)
        page.wait_for_function(FITS)


def best_second(page, move, pictures, enough):
    """The most pictures within one second of the page's own clock, of frames that each move something.

    Parameters
    ----------
    page : Page
    move : str
        JavaScript, a function of the number of the frame: what a hand would do in it.
    pictures : str
        JavaScript, a function without arguments: how many pictures there have been.
    enough : int
        It ends when there was a second with so many, or after twice `SECONDS`: other work on the machine takes
        frames away.
    """
    return page.evaluate(
        f"""async ([enough, seconds]) => {{
          const [move, pictures] = [{move}, {pictures}];
          const frame = () => new Promise((done) => requestAnimationFrame(done));
          const begin = await frame();
          const times = []; // of the frames of the last second that showed a new picture
          let best = 0;
          for (let k = 0, now = begin; best < enough && now - begin < 1000 * seconds; k += 1) {{
            const before = pictures();
            move(k);
            now = await frame();
            if (pictures() !== before) times.push(now);
            while (times[0] <= now - 1000) times.shift();
            best = Math.max(best, times.length);
          }}
          return best;
        }}""",
        [enough, 2 * SECONDS],
    )


def choose(page, label, option):
    """Choose an option from a list of the page."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def in_board(page, x, y):
    """Position on the screen of a place in data units."""
    return page.evaluate(
        """([x, y]) => {
          const board = findStage().svmviz.board ?? findStage().svmviz;
          const box = board.canvas.getBoundingClientRect();
          const [px, py] = board.toPixel(x, y);
          return [box.left + px, box.top + py];
        }""",
        [x, y],
    )
