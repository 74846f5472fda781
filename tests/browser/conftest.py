"""Fixtures for tests in a real browser: Chromium, a Streamlit server, and the frontend without a server."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from pathlib import Path

import pytest

from tests.browser.waits import SECONDS

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
SERVER_OPTIONS = [
    "--server.headless=true",
    "--server.address=127.0.0.1",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
    "--runner.postScriptGC=false",
]
START_SECONDS = 30
LAPTOP = {"width": 1366, "height": 768}
FAILED = pytest.StashKey[bool]()
# Streamlit mounts the component inside a shadow root, which page scripts have to look into.
FIND_STAGE = """
window.findStage = (root = document) => root.querySelector(".stage")
  ?? [...root.querySelectorAll("*")].map((e) => e.shadowRoot && findStage(e.shadowRoot)).find(Boolean);
"""


def _missing(what: str) -> None:
    """Skip on a machine without a browser, but never in continuous integration."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and in CI the browser tests must run.")
    pytest.skip(f"{what} is missing.")


def chromium_path() -> str | None:
    """The browser to use: $CHROMIUM, the system's, or (None) the one Playwright has installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def pytest_collection_modifyitems(items):
    """Run a browser test once more that failed by a timeout, and by nothing else.

    What a test waits for comes late on a machine that does much else at the time; a wrong value does not become
    right by another try, so that no assertion gets one. The summary names what was run again.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun="^TimeoutError: "))


@pytest.fixture(scope="session")
def chromium():
    """A running browser."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("Playwright")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        except Error:
            _missing("Chromium")
        yield browser
        browser.close()


class Tab:
    """A page of the browser with a context of its own, which one test after the other may use.

    A page that has been elsewhere before compiles Streamlit's scripts from its cache: it opens the app in less than
    half of the time, and with a quarter of the work. A test gets another document and another session of the server.

    Parameters
    ----------
    browser : Browser
    options : dict
        What a context can only have from its beginning.
    """

    def __init__(self, browser, options):
        context = browser.new_context(**options)
        context.add_init_script(FIND_STAGE)
        self.page = context.new_page()
        self.page.set_default_timeout(1000 * SECONDS)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.errors = []

    def ready(self, viewport, color_scheme):
        """The page, for the next test: of this size, light or dark."""
        self.errors = []
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=color_scheme)
        return self.page

    def leave(self):
        """Leave what the test had open, with the pointer outside and nothing stored."""
        self.page.mouse.move(-9, -9)
        if self.page.url.startswith("http"):
            self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.goto("about:blank")

    def close(self):
        self.page.context.close()


@pytest.fixture(scope="session")
def tabs(chromium):
    """The tabs that no test has at the moment, in a list for each set of options."""
    free = defaultdict(list)
    yield free
    for tab in itertools.chain(*free.values()):
        tab.close()


@pytest.fixture
def open_page(request, chromium, tabs):
    """Open pages with options of one's own; a script error on any of them fails the test.

    A page is one that a test before has left, unless it is to be ``new``: where a test listens to the page or changes
    its clock, its permissions, or needs a browser that has nothing in its cache.
    """
    used = []

    def open_one(*, viewport=LAPTOP, color_scheme="light", new=False, **options):
        kept = None if new else tabs[tuple(sorted(options.items()))]
        tab = kept.pop() if kept else Tab(chromium, options)
        used.append((kept, tab))
        return tab.ready(viewport, color_scheme)

    yield open_one
    for kept, tab in used:
        if kept is None or request.node.stash.get(FAILED, False):
            tab.close()
        else:
            tab.leave()
            kept.append(tab)
    assert [error for _, tab in used for error in tab.errors] == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note a failure, so that what the test had open is not used again."""
    report = yield
    item.stash[FAILED] = report.failed or (call.when != "setup" and item.stash.get(FAILED, False))
    return report


@pytest.fixture
def page(open_page):
    """A page of 1366 x 768."""
    return open_page()


@pytest.fixture
def load_frontend():
    """Load the frontend into an empty page; its functions and classes become globals of the page."""
    return put_frontend


@pytest.fixture(scope="session")
def loaded(chromium):
    """A page with the frontend, for all tests that only call its functions and leave nothing behind."""
    context, errors = chromium.new_context(), []
    page = context.new_page()
    page.set_default_timeout(1000 * SECONDS)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield put_frontend(page)
    context.close()
    assert errors == []


def put_frontend(page, width=680, height=600):
    from svmviz.ui import frontend

    page.set_content(f"<style>body{{margin:0}}</style><input id='text'><div id='host' class='stage' "
                     f"style='width:{width}px;height:{height}px'></div>")  # fmt: skip
    page.add_style_tag(content=frontend.style())
    page.add_script_tag(content=frontend.script().replace("export default function", "function"))
    return page


@pytest.fixture(scope="session")
def serve():
    """Start a Streamlit server for an app file (once for each file) and return its address."""
    running: dict[Path, tuple[subprocess.Popen, str]] = {}

    def start(app: str | Path) -> str:
        path = (ROOT / app).resolve()
        if path not in running:
            running[path] = start_server(path)
        return running[path][1]

    yield start
    for process, _ in running.values():
        process.terminate()
        process.wait(timeout=10)


def start_server(path: Path) -> tuple[subprocess.Popen, str]:
    """A Streamlit server for an app file, ready to answer, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", str(path), f"--server.port={port}", *SERVER_OPTIONS,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(process, url)
    except BaseException:
        process.kill()
        raise
    return process, url


def _wait_until_healthy(process: subprocess.Popen, url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"The server stopped with code {process.returncode}.")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"The server did not start within {START_SECONDS} s.")
