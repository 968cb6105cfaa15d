"""The best comparator in the explorer of a bound, tested in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fedtheory.language.registry import find
from fedtheory.planner import NumericBound, bound_of_run, comparators
from fedtheory.planner.comparators import QuadraticComparators
from report.explorer.subject import ExploredLink, find_subject
from report.user_runs import UserRun

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

RUN = """[problem]
kind = "quadratic"
hessians = {hessians}
linear = {linear}
start = {start}
noise = "1/4"

[algorithm]
local_step_size = "1/50"
local_steps = 3
rounds = 10
"""
UNEQUAL = {
    "hessians": '[[[2, 0], [0, 1]], [[1, 0], [0, "1/2"]], [[1, 0], [0, "1/4"]]]',
    "linear": '[[1, 1], [2, -1], [0, "1/2"]]',
    "start": "[3, -2]",
}
AGREEING = {"hessians": "[[[1]], [[2]]]", "linear": '[[1], ["3/2"]]', "start": "[0]"}
"""Clients whose gradients agree at a point on the way to the optimum, where dissimilarity is zero."""
BOUND = "comparator:average-error"
CURVED = (log(10) / 20) ** 2 / 8
"""Relative interpolation error between notches for second derivative one in logarithms: 1/600."""
ROUNDING = 1e-4
"""Relative rounding error of five digits at both ends."""


def written_run(folder: Path, name: str, content: Mapping[str, str]) -> UserRun:
    """Return a user-defined run."""
    (folder / name).write_text(RUN.format(**content), encoding="utf-8")
    return UserRun(str(folder / name))


@pytest.fixture
def unequal(tmp_path: Path) -> UserRun:
    """Return clients of unequal Hessians."""
    return written_run(tmp_path, "unequal.toml", UNEQUAL)


@pytest.fixture
def agreeing(tmp_path: Path) -> UserRun:
    """Return clients whose gradients agree at one point."""
    return written_run(tmp_path, "agreeing.toml", AGREEING)


def explored(claim_id: str = BOUND) -> ExploredLink:
    """Return the subject of the explorer of a claim."""
    subject = find_subject(find(claim_id))
    assert subject is not None
    return subject


def names() -> list[str]:
    """Return the names of the sliders."""
    return [explored().notation[symbol].name for symbol in explored().symbols]


def at_sliders(browser: Chrome) -> dict[str, float]:
    """Return the number next to each slider."""
    script = "return [...document.querySelectorAll('.explorer .slider data')].map((element) => Number(element.value))"
    return dict(zip(names(), browser.execute_script(script), strict=True))


def bound_shown(browser: Chrome) -> float:
    """Return the value of the right side."""
    return float(browser.execute_script("return Number(document.getElementById('bound').value)"))


def is_free(browser: Chrome) -> dict[str, bool]:
    """Return whether each slider can be moved."""
    script = "return [...document.querySelectorAll('.explorer input[type=range]')].map((slider) => !slider.disabled)"
    return dict(zip(names(), browser.execute_script(script), strict=True))


def press(browser: Chrome, name: str, *keys: str) -> None:
    """Press keys on the slider of a quantity."""
    element = browser.find_element("id", f"slider-{names().index(name)}")
    browser.execute_script("arguments[0].focus()", element)
    element.send_keys(*keys)


def choose(browser: Chrome, point: str) -> None:
    """Select a menu entry by its prefix."""
    from selenium.webdriver.support.ui import Select

    menu = Select(browser.find_element("id", "point"))
    (chosen,) = (option.text for option in menu.options if option.text.startswith(point))
    menu.select_by_visible_text(chosen)


def followed(browser: Chrome, steps: list[float]) -> list[dict[str, float]]:
    """Return the numbers of the page for some step sizes, with the other sliders fixed."""
    script = "return arguments[0].map((step) => withNumber(present(), 0, step))"
    return [dict(zip(names(), found, strict=True)) for found in browser.execute_script(script, steps)]


def between_notches() -> list[float]:
    """Return step sizes a third and two thirds of the way between notches, over six decades."""
    return [0.02 * 10 ** ((n + share) / 20) for n in range(-59, 59) for share in (1 / 3, 2 / 3)]


def planned(own: UserRun) -> NumericBound:
    """Return the bound with the numbers of a run, as in plans."""
    return bound_of_run(find(BOUND), own.run)


def test_the_page_starts_at_the_run_with_its_best_point(desk: Chrome, written: Any, unequal: UserRun) -> None:
    """The bound agrees with `check` and `plan`; numbers of the point are shown without sliders."""
    desk.get(written(BOUND, unequal))
    assert bound_shown(desk) == pytest.approx(planned(unequal).value(), rel=ROUNDING)
    assert {name for name, free in is_free(desk).items() if not free} == comparators.NAMES & {*names()}
    assert desk.find_element("id", "best-point").is_displayed()
    assert not desk.find_element("id", "any-point").is_displayed()
    assert desk.find_element("css selector", "label[for=point]").text.startswith("point")
    assert desk.get_log("browser") == []


def test_the_point_follows_step_size_local_steps_and_rounds(desk: Chrome, written: Any, unequal: UserRun) -> None:
    """When one of the three sliders moves, the numbers are those of the point for that length."""
    from selenium.webdriver.common.keys import Keys

    desk.get(written(BOUND, unequal))
    for name, key in (("local_step_size", Keys.PAGE_DOWN), ("local_steps", Keys.ARROW_UP), ("rounds", Keys.PAGE_UP)):
        before = at_sliders(desk)
        press(desk, name, key)
        shown = at_sliders(desk)
        changes = {one: shown[one] for one in ("local_step_size", "local_steps", "rounds")}
        assert shown[comparators.GAP] != before[comparators.GAP]
        assert bound_shown(desk) == pytest.approx(planned(unequal).value(changes), rel=2 * CURVED)
        exact = QuadraticComparators(unequal.run).numbers(prod(changes.values()))
        for one in comparators.NAMES & shown.keys():
            assert shown[one] == pytest.approx(exact[one], rel=CURVED + ROUNDING)


def test_interpolation_loses_a_sixth_of_a_percent_at_most(desk: Chrome, written: Any, unequal: UserRun) -> None:
    """Logarithms of the gap, over that of the length, have a second derivative of one at most; distances have half."""
    desk.get(written(BOUND, unequal))
    points, steps = QuadraticComparators(unequal.run), between_notches()
    lost = dict.fromkeys(comparators.NAMES & {*names()}, 0.0)
    for step, found in zip(steps, followed(desk, steps), strict=True):
        exact = points.numbers(step * 30)
        lost = {name: max(most, abs(found[name] / exact[name] - 1)) for name, most in lost.items()}
    assert lost.pop(comparators.DISTANCE) <= CURVED / 2 + ROUNDING
    assert max(lost.values()) <= CURVED + ROUNDING


def test_a_number_that_vanishes_at_a_point_stays_between_its_neighbours(
    desk: Chrome, written: Any, agreeing: UserRun
) -> None:
    """Near a zero of a number its value is between the two neighbouring ones."""
    desk.get(written(BOUND, agreeing))
    points = QuadraticComparators(agreeing.run)
    numbers = [points.numbers(0.6 * 10 ** (n / 20))[comparators.DISSIMILARITY] for n in range(-59, 60)]
    steps = between_notches()
    found = [one[comparators.DISSIMILARITY] for one in followed(desk, steps)]
    assert min(numbers) < 0.05 * max(numbers)
    for n, ends in enumerate(pairwise(numbers)):
        for shown, step in zip(found[2 * n : 2 * n + 2], steps[2 * n : 2 * n + 2], strict=True):
            exact = points.numbers(step * 30)[comparators.DISSIMILARITY]
            assert (1 - ROUNDING) * min(ends) <= shown <= (1 + ROUNDING) * max(ends)
            assert abs(shown - exact) <= max(abs(ends[1] - ends[0]), min(ends), CURVED * shown) + ROUNDING


def test_the_curve_over_the_step_size_is_the_bound_with_its_best_points(
    desk: Chrome, written: Any, unequal: UserRun
) -> None:
    """The curve over the step size uses the best points, and is flat for small steps."""
    desk.get(written(BOUND, unequal))
    steps = [0.02 * 10 ** (n / 7) for n in range(-20, 10)]
    script = "return arguments[0].map((step) => compiled.bound(...withNumber(present(), 0, step)))"
    for step, value in zip(steps, desk.execute_script(script, steps), strict=True):
        assert value == pytest.approx(planned(unequal).value({"local_step_size": step}), rel=2 * CURVED)
    choose(desk, "any point")
    first = desk.execute_script(script, steps)[0]
    assert first > 5 * planned(unequal).value({"local_step_size": steps[0]})


def test_any_point_takes_over_the_numbers_and_frees_the_sliders(desk: Chrome, written: Any, unequal: UserRun) -> None:
    """With an arbitrary point lengths change nothing at the point; a reset restores the run."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait

    desk.get(written(BOUND, unequal))
    start = bound_shown(desk)
    assert [o.is_enabled() for o in Select(desk.find_element("id", "across")).options] == [*is_free(desk).values()]
    choose(desk, "any point")
    assert all(is_free(desk).values())
    assert bound_shown(desk) == pytest.approx(start, rel=ROUNDING)
    assert desk.find_element("id", "any-point").is_displayed()
    Select(desk.find_element("id", "across")).select_by_index(names().index(comparators.GAP))
    before = at_sliders(desk)
    press(desk, "local_step_size", Keys.PAGE_DOWN)
    after = at_sliders(desk)
    assert {name for name in names() if after[name] != before[name]} == {"local_step_size"}
    desk.find_element("css selector", "button[type=reset]").click()
    WebDriverWait(desk, 10).until(lambda page: at_sliders(page)["local_step_size"] == 0.02)
    assert bound_shown(desk) == start
    assert not is_free(desk)[comparators.GAP]
    assert desk.execute_script("return Number(document.getElementById('across').value)") == 0


def test_each_of_several_runs_has_its_own_numbers(
    desk: Chrome, written: Any, unequal: UserRun, agreeing: UserRun
) -> None:
    """Choosing a run moves all sliders to its numbers."""
    desk.get(written(BOUND, unequal, agreeing))
    for own in (agreeing, unequal):
        choose(desk, f"best on {own.name}")
        assert bound_shown(desk) == pytest.approx(planned(own).value(), rel=ROUNDING)
        assert at_sliders(desk)["clients"] == own.run.problem.clients


def test_on_a_phone_the_choice_fits(phone: Chrome, written: Callable[..., str], unequal: UserRun) -> None:
    """On a phone the menu is large enough for a finger, and the page does not scroll sideways."""
    phone.get(written("comparator:curvatures.rounds", unequal))
    width, inner = phone.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner
    menu = phone.find_element("id", "point")
    assert menu.size["height"] >= 40
    assert menu.location["x"] + menu.size["width"] <= inner
