"""Both pages run, follow their controls, and never show a traceback."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from svmviz.datasets import PRESETS
from svmviz.ui import controls, files, fitting
from svmviz.ui.board import Edit
from svmviz.ui.controls import plain
from svmviz.ui.workspace import KERNELS

ROOT = Path(__file__).parent.parent
LESSON = "pages/1_SMO_step_by_step.py"


@pytest.fixture
def app():
    return healthy(AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run())


def healthy(test):
    assert not test.exception
    assert not test.error
    return test


def space_of(test):
    return test.session_state["workspace"]


def controls_of(widgets):
    """Widgets by the names of their controls: the keys have numbers behind once a value has changed elsewhere."""
    return {re.sub(r"^control_|_\d+$", "", item.key): item for item in widgets if item.key}


def shown(test):
    return " ".join(item.proto.body for item in test.get("html"))


@pytest.mark.parametrize("page", ["app.py", LESSON])
def test_every_example_loads_on_both_pages(app, page):
    app.switch_page(page).run()
    for name in reversed(PRESETS):
        healthy(app.selectbox(key="control_preset").select(name).run())
        assert space_of(app).title() == PRESETS[name].title
        assert space_of(app).C == PRESETS[name].settings.C


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("page", ["app.py", LESSON])
def test_every_kernel_and_task_runs(app, page, task):
    app.switch_page(page).run()
    healthy(app.button_group(key="control_task").set_value(task).run())
    for kernel in KERNELS:
        healthy(app.selectbox(key="control_kernel").select(kernel).run())
        assert (space_of(app).kernel, space_of(app).task) == (kernel, task)
        keys = {item.key for item in app.select_slider}
        assert ("control_gamma" in keys) == (kernel != "linear")
        assert ("control_epsilon" in keys) == (task == "regression")


@pytest.mark.parametrize("page", ["app.py", LESSON])
def test_every_machine_runs_with_its_own_parameters(app, page):
    app.switch_page(page).run()
    app.selectbox(key="control_preset").select("three_classes").run()
    own = {"svc": "C", "nu_svc": "nu", "one_class": "nu", "mu_svm": "mu", "ad_svm": "mu", "mc_svm": "beta"}
    for machine, name in own.items():
        healthy(app.selectbox(key="control_classifier").select(machine).run())
        assert space_of(app).machine == machine
        names = set(controls_of(app.select_slider))
        assert {"C", "nu", "mu", "beta"} & names == {name}
        assert ("n_prototypes" in names) == (machine == "ad_svm")
        assert ("pair" in controls_of(app.selectbox)) == (
            machine == "mu_svm" or (page == LESSON and machine in ("svc", "nu_svc"))
        )
    app.selectbox(key="control_preset").select("sine").run()
    for machine, wanted in {"nu_svr": {"C", "nu"}, "svr": {"C", "epsilon"}}.items():
        healthy(app.selectbox(key="control_regressor").select(machine).run())
        assert {"C", "nu", "epsilon"} & set(controls_of(app.select_slider)) == wanted


@pytest.mark.parametrize(
    "change", [{"classifier": "nu_svc", "nu": 1.0}, {"classifier": "mu_svm", "mu": 0.001}]
)
@pytest.mark.parametrize("page", ["app.py", LESSON])
def test_what_is_not_feasible_shows_one_sentence_and_keeps_the_points(app, page, change):
    app.switch_page(page).run()
    app.selectbox(key="control_preset").select("unbalanced").run()
    points = space_of(app).points
    for name, value in change.items():
        setattr(space_of(app), name, value)
    healthy(app.run())
    assert space_of(app).points is points
    if page == "app.py":
        assert len(app.info) == 1
        assert re.search("must be|is the smallest", app.info[0].value)


def test_the_table_follows_the_parameters(app):
    before = shown(app)
    assert "Duality gap" in before
    app.select_slider(key="control_C").set_value(100.0).run()
    assert space_of(app).C == 100.0
    assert shown(healthy(app)) != before


def test_an_edit_is_fitted(app):
    space = space_of(app)
    space.apply_edit(Edit(space.revision, 5, [(0.0, 0.0, 0), (1.0, 1.0, 1)]))
    healthy(app.run())
    assert "of 2 (0.0 %)" in shown(app)
    _, outcome = app.session_state["fit"]
    assert fitting.board_data(space, outcome, 600)["model"]["for"] == 5


def test_an_empty_board_shows_one_sentence(app):
    space = space_of(app)
    for points in ([], [(0.0, 0.0, 0)], [(0.0, 0.0, 0), (1.0, 0.0, 0)]):
        space.apply_edit(Edit(space.revision, 1, points))
        healthy(app.run())
        assert len(app.info) == 1
    healthy(app.switch_page(LESSON).run())


def test_the_workspace_survives_a_switch_of_pages(app):
    app.selectbox(key="control_preset").select("xor").run()
    controls_of(app.select_slider)["C"].set_value(50.0).run()
    healthy(app.switch_page(LESSON).run())
    assert app.selectbox(key="control_preset").value == "xor"
    assert controls_of(app.select_slider)["C"].value == 50.0
    healthy(app.switch_page("app.py").run())
    assert controls_of(app.select_slider)["C"].value == 50.0
    assert space_of(app).preset == "xor"


def test_an_example_that_was_edited_can_be_chosen_again(app):
    space = space_of(app)
    space.apply_edit(Edit(space.revision, 1, [(0.0, 0.0, 0), (1.0, 0.0, 1)]))
    for page in ("app.py", "pages/6_Unlearn.py"):
        healthy(app.switch_page(page).run())
        (example,) = [box for box in app.selectbox if box.label == "Example"]
        assert (example.value, example.placeholder) == (None, "Overlapping, edited")
    healthy(example.select("overlapping").run())
    assert len(space.points) == 100


def test_a_link_opens_its_workspace():
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    test.query_params.update({"preset": "spirals", "C": "3"})
    healthy(test.run())
    assert space_of(test).preset == "spirals"
    assert test.select_slider(key="control_C").value == 3.0


def test_a_damaged_link_says_so():
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    test.query_params.update({"points": "AAA", "C": "-3"})
    healthy(test.run())
    assert "could not be read" in test.warning[0].value


def test_features_and_classes_of_real_data(app):
    app.selectbox(key="control_preset").select("iris").run()
    app.select_slider(key="control_C").set_value(50.0).run()
    healthy(app.selectbox(key="control_feature_a").select(0).run())
    assert space_of(app).features == (0, 3)
    assert space_of(app).C == 50.0
    healthy(app.button_group(key="control_shown").set_value(["versicolor", "virginica"]).run())
    assert len(space_of(app).points) == 100
    app.button_group(key="control_shown").set_value(["virginica"]).run()
    assert "two classes" in app.warning[0].value
    assert len(space_of(app).points) == 100


def upload(test, key, name, data):
    test.file_uploader(key=key).upload(name, data, "text/csv").run()
    return healthy(test)


def test_a_good_file_is_opened_and_its_columns_can_be_changed(app):
    upload(app, "file", "a.csv", b"u,v,w,kind\n1,2,9,p\n3,4,8,q\n")
    assert space_of(app).axes == ("u", "v")
    assert space_of(app).classes[:2] == ("p", "q")
    healthy(app.selectbox(key="column_up").select(2).run())
    assert space_of(app).points.tolist() == [[1, 9], [3, 8]]
    healthy(app.selectbox(key="column_class").select(files.NO_CLASS).run())
    assert space_of(app).task == "regression"


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n\0", b"1,2,a\nnan,3,b\n", b"1,2,a\n3,4,a\n", b"1,2,a\n" * 100_000, b"hello"],
)
def test_a_bad_file_gets_one_sentence_and_the_points_stay(app, data):
    before = space_of(app).points.copy()
    upload(app, "file", "a.csv", data)
    assert (space_of(app).points == before).all()
    assert {item.value for item in app.warning} == {plain(space_of(app).notice)}
    assert space_of(app).notice.endswith(".")
    healthy(app.selectbox(key="control_kernel").select("poly").run())
    assert not app.warning


def test_standardise(app):
    app.button(key="standardise").click().run()
    assert space_of(healthy(app)).axes[0].endswith("(standardised)")


def test_a_failure_is_shown_as_one_sentence(app, monkeypatch):
    def broken(space):
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr(fitting, "fit", broken)
    app.select_slider(key="control_C").set_value(2.0).run()
    assert not app.exception
    assert len(app.error) == 1
    assert "deep" not in app.error[0].value


def test_the_race_runs_all_three_rules(app):
    app.switch_page(LESSON).run()
    healthy(app.button(key="race").click().run())
    assert "Platt" in shown(app)


def test_the_configuration_asks_nothing_of_the_outside():
    import tomllib

    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["browser"]["gatherUsageStats"] is False
    assert config["runner"]["postScriptGC"] is False
    assert config["client"]["showErrorDetails"] == "none"


def test_a_sentence_that_quotes_a_file_is_no_markdown():
    quoted = plain("Line 3 has ![x](//a.bc/d) and **bold** :red[y], choose C: it *is* $1$.")
    assert quoted == (r"Line 3 has \!\[x\](//a.bc/d) and \*\*bold\*\* \:red\[y\], choose C: it \*is\* \$1\$.")


@pytest.mark.parametrize(
    "page", ["2_Reduced_convex_hulls.py", "3_All_distances.py", "5_Slide_C_and_epsilon.py"]
)
def test_a_control_that_fails_is_one_sentence(app, monkeypatch, page):
    def broken(space):
        raise RuntimeError

    monkeypatch.setattr(controls, "preset", broken)
    app.switch_page(f"pages/{page}").run()
    assert not app.exception
    assert len(app.error) == 1
