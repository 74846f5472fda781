"""The browser side: the files beside this one, joined into one script and one style sheet."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent

# Plain scripts that share one scope. The order matters: what a constant or a class uses comes first.
SCRIPTS = (
    "palette.js",
    "kernels.js",
    "lattice.js",
    "field.js",
    "paint.js",
    "toolbar.js",
    "gestures.js",
    "board.js",
    "hull.js",
    "chart.js",
    "replay.js",
    "walk_replay.js",
    "readers.js",
    "lesson.js",
    "geometry.js",
    "plane.js",
    "hull_words.js",
    "distances.js",
    "geometry_view.js",
    "pair_chart.js",
    "pair_marks.js",
    "newton_marks.js",
    "walk_charts.js",
    "step_list.js",
    "travel.js",
    "transport.js",
    "player.js",
    "compare.js",
    "slide.js",
    "slide_chart.js",
    "slide_view.js",
    "course.js",
    "unlearn_turns.js",
    "unlearn.js",
    "hide.js",
    "main.js",
)
STYLES = ("stage.css", "player.css", "geometry.css", "compare.css", "slide.css", "unlearn.css")
HTML = '<div class="stage"></div>\n'


@cache
def script() -> str:
    """Return the whole JavaScript, the style sheet included, as one module."""
    return f"const STAGE_CSS = {json.dumps(style())};\n{_joined(SCRIPTS)}"


@cache
def loader() -> str:
    """Return the short script of the component that is mounted for every Board and Player."""
    return _joined(("loader.js",))


@cache
def keeper() -> str:
    """Return the short script of the component that carries a path."""
    return _joined(("hide.js", "keeper.js"))


@cache
def copier() -> str:
    """Return the short script of the button that copies the link."""
    return _joined(("copy_link.js",))


@cache
def addresser() -> str:
    """Return the short script of the component that carries the link."""
    return _joined(("hide.js", "keep_link.js"))


@cache
def style() -> str:
    """Return the style sheet of the component."""
    return _joined(STYLES)


def _joined(names: tuple[str, ...]) -> str:
    """Return the contents of the files of these names, one after the other."""
    paths = [HERE / name for name in names]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
