"""The controls of the pages in a real browser: what one in a closed popover remembers must not come back."""

import pytest

from svmviz import datasets
from tests.browser.waits import choose, opened, settled

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(open_page, serve):
    def go(path, query):
        return opened(open_page(), f"{serve('app.py')}/{path}?{query}", "findStage().svmviz.state")

    return go


def look_into(page, name, control):
    """Open a popover, wait for one of its controls, and close it again."""
    page.get_by_role("button", name=name, exact=True).click()
    control.wait_for()
    page.keyboard.press("Escape")
    control.wait_for(state="detached")


PATH = """([key, value]) => {
  const {state} = findStage()?.svmviz ?? {};
  return state && (key === "gamma" ? state.path.model.kernel.gamma : state.path.parameter) === value;
}"""


def test_the_task_of_a_popover_that_was_closed_does_not_come_back(visit):
    page = visit("Slide_C_and_epsilon", "preset=overlapping")
    look_into(page, "Points", page.get_by_role("radio", name="Curve"))
    choose(page, "Example", "Sine with noise")
    page.wait_for_function("() => findStage()?.svmviz?.state?.regression")
    settled(page)
    page.get_by_role("radio", name="ε").click()  # sends all that the browser knows
    page.wait_for_function(PATH, arg=["parameter", "epsilon"])
    settled(page)
    assert page.evaluate("() => findStage().svmviz.state.regression")


def test_gamma_of_a_popover_that_was_closed_does_not_come_back(visit):
    page = visit("Slide_C_and_epsilon", "preset=moons")
    look_into(page, "C-SVC", page.get_by_role("slider", name="γ"))
    choose(page, "Example", "Sine with noise")
    page.wait_for_function("() => findStage()?.svmviz?.state?.regression")
    settled(page)
    page.get_by_role("radio", name="ε").click()
    page.wait_for_function(PATH, arg=["parameter", "epsilon"])
    settled(page)
    gamma = page.evaluate("() => findStage().svmviz.state.path.model.kernel.gamma")
    assert gamma == datasets.PRESETS["sine"].settings.gamma
