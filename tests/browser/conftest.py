"""Fixtures for tests in a real browser: Chromium, a Streamlit server, and the frontend without a server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
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


@pytest.fixture
def open_page(chromium):
    """Open pages with options of one's own; a script error on any of them fails the test."""
    contexts, errors = [], []

    def open_one(**options):
        context = chromium.new_context(**{"viewport": {"width": 1366, "height": 768}, **options})
        context.add_init_script(FIND_STAGE)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def page(open_page):
    """A page of 1366 x 768."""
    return open_page()


@pytest.fixture
def load_frontend():
    """Load the frontend into an empty page; its functions and classes become globals of the page."""
    from svmviz.ui import frontend

    def load(page, width=680, height=600):
        page.set_content(f"<style>body{{margin:0}}</style><input id='text'><div id='host' class='stage' "
                         f"style='width:{width}px;height:{height}px'></div>")  # fmt: skip
        page.add_style_tag(content=frontend.style())
        page.add_script_tag(content=frontend.script().replace("export default function", "function"))
        return page

    return load


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
