"""What the README says of the code: the arrows between the rooms, and the script that it shows."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOLVER = {"numpy", "scipy", "svmviz"}
ROOMS = {
    "solver": (
        [p for p in (ROOT / "svmviz").rglob("*.py") if not {"ui", "plots"} & set(p.parts)],
        SOLVER,
        ("svmviz.ui", "svmviz.plots"),
    ),
    "smo": ([*(ROOT / "svmviz" / "smo").rglob("*.py")], SOLVER, ("svmviz.ui", "svmviz.plots", "svmviz.walk")),
    "plots": ([*(ROOT / "svmviz" / "plots").rglob("*.py")], SOLVER | {"plotly"}, ("svmviz.ui",)),
    "pages": ([ROOT / "app.py", *(ROOT / "pages").glob("*.py")], {"streamlit", "svmviz"}, ()),
}


def imported(path):
    """Every module that a file imports as soon as it is imported itself, by its full name."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole name of a module"
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_between_the_rooms_point_one_way(room):
    paths, packages, closed = ROOMS[room]
    assert paths
    for path in paths:
        for module in imported(path):
            package = module.partition(".")[0]
            assert package in packages | sys.stdlib_module_names, f"{path} imports {module}"
            assert not module.startswith(closed), f"{path} imports {module}"


@pytest.mark.parametrize("module", ["walk.settled", "walk.leave_out", "smo.following", "smo", "estimators"])
def test_a_module_of_the_solver_may_be_imported_first(module):
    """Without the package's own __init__, which imports all of them in an order that works."""
    script = f"""
import importlib, sys, types
package = types.ModuleType("svmviz")
package.__path__ = [{str(ROOT / "svmviz")!r}]
sys.modules["svmviz"] = package
importlib.import_module("svmviz.{module}")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_script_in_the_readme_runs(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scripts = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert scripts
    for script in scripts:
        exec(compile(script, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "['left']" in printed
    assert "status='optimal'" in printed


def test_the_files_that_the_readme_names_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme)
    assert len(named) == 8
    table = re.findall(r"^\| (`.*?) \|", readme, flags=re.MULTILINE)
    rooms = re.findall(r"`([^`]+)`", " ".join(table))
    # A name without a folder stands in the folder of the one before it.
    folder = ROOT
    for name in named + rooms:
        path = ROOT / name if (ROOT / name).exists() else folder / name
        assert path.exists(), name
        folder = path.parent
