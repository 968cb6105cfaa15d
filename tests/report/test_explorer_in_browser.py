"""Explorers in Chromium: pages opened from a file, on desktop and phone, by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sympy as sp

from fedtheory.language.registry import all_claims, find
from report.explorer.subject import find_subject

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SAID = "return [...document.querySelectorAll('.explorer .holds')].map((element) => element.textContent)"
THEOREM = "renard2022:thm-2.1"


@cache
def explored() -> tuple[str, ...]:
    """Return the ids of all claims that have an explorer."""
    return tuple(claim_id for claim_id, claim in all_claims().items() if find_subject(claim) is not None)


def numbers(browser: Chrome) -> dict[str, float]:
    """Return the machine-readable numbers of the page, by id."""
    script = "return [...document.querySelectorAll('.explorer data')].map((element) => [element.id, element.value])"
    return {name: float(value) for name, value in browser.execute_script(script)}


def press(browser: Chrome, name: str, *keys: str) -> None:
    """Press keys on an element that has the focus."""
    element = browser.find_element("id", name)
    browser.execute_script("arguments[0].focus()", element)
    element.send_keys(*keys)


def agrees(browser: Chrome, claim_id: str) -> float:
    """Return the right side on a page, after comparing all its numbers with SymPy."""
    subject = find_subject(find(claim_id))
    assert subject is not None
    shown, said = numbers(browser), browser.execute_script(SAID)
    point = {s: sp.Rational(shown[f"value-{n}"]) for n, s in enumerate(subject.symbols)}
    expected = {"bound": subject.link.right} | {f"term-{n}": term for n, term in enumerate(subject.terms)}
    for n, condition in enumerate(subject.conditions):
        gap = condition.rhs - condition.lhs
        expected[f"slack-{n}"] = -gap if condition.rel_op in (">=", ">") else gap
        assert said[n] == ("holds" if condition.subs(point) else "fails"), claim_id
    for name, expression in expected.items():
        precise = float(expression.xreplace(point).evalf(30))
        assert shown[name] == pytest.approx(precise, rel=1e-9, abs=1e-15 * name.startswith("slack")), (
            f"{claim_id}: {name}"
        )
    return shown["bound"]


def test_sliders_move_by_keyboard_and_the_numbers_are_those_of_sympy(desk: Chrome, written: Any) -> None:
    """Keys move sliders; bound, terms and slack follow, and the dominating term is named."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    desk.get(written(THEOREM))
    start = agrees(desk, THEOREM)
    press(desk, "slider-0", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert numbers(desk)["value-0"] == 0.0794
    press(desk, "slider-1", Keys.PAGE_UP, Keys.ENTER)
    press(desk, "slider-6", Keys.HOME)
    assert numbers(desk)["value-6"] == 0.001
    moved = agrees(desk, THEOREM)
    assert moved != start
    assert desk.find_element("id", "value-0").text == "0.0794"
    dominating = [row.text for row in desk.find_elements("css selector", "tr.dominating")]
    assert len(dominating) == 1
    assert "dominates" in dominating[0]
    desk.find_element("css selector", "button[type=reset]").click()
    # The page reads the sliders after the form was reset.
    WebDriverWait(desk, 10).until(lambda page: numbers(page)["value-6"] != 0.001)
    assert agrees(desk, THEOREM) == start
    assert desk.get_log("browser") == []


def test_outside_the_conditions_nothing_is_promised(desk: Chrome, written: Any) -> None:
    """The value is marked as outside the claim where a condition fails, and the slack is negative."""
    from selenium.webdriver.common.keys import Keys

    desk.get(written(THEOREM))
    assert "the conditions hold" in desk.find_element("id", "headline").text
    press(desk, "slider-0", Keys.END)
    agrees(desk, THEOREM)
    headline = desk.find_element("id", "headline")
    assert "outside the conditions: nothing is promised" in headline.text
    assert headline.get_attribute("aria-live") == "polite"
    assert numbers(desk)["slack-0"] < 0


def test_the_drawing_marks_where_the_conditions_hold(desk: Chrome, written: Any) -> None:
    """The valid range is drawn and described: step sizes up to 1/(4L), and all rounds."""
    from selenium.webdriver.support.ui import Select

    desk.get(written(THEOREM))
    plot = desk.find_element("id", "plot")
    assert (plot.get_attribute("aria-label") or "").startswith("right side and its terms over η: local step size")
    assert (plot.get_attribute("aria-label") or "").endswith("conditions hold from 0.0001 to 0.25")
    assert len(desk.find_elements("css selector", "#plot .forbidden")) == 1
    assert len(desk.find_elements("css selector", "#plot path.term")) == 4
    Select(desk.find_element("id", "across")).select_by_index(2)
    assert (plot.get_attribute("aria-label") or "").endswith(
        "over T: rounds, from 1 to 1·10⁶; conditions hold from 1 to 1·10⁶"
    )
    assert desk.find_elements("css selector", "#plot .forbidden") == []
    assert desk.find_element("id", "axis-symbol").text == "T"


def test_a_refuted_inequality_of_formulas_fails_before_the_reader(desk: Chrome, written: Any) -> None:
    """If the left side is a formula too, it is drawn and compared."""
    desk.get(written("fraboni2022:eq-38"))
    assert find("fraboni2022:eq-38").verdict == "refuted"
    assert numbers(desk)["left"] > agrees(desk, "fraboni2022:eq-38")
    assert desk.find_element("id", "left-part").text == "fails"
    assert len(desk.find_elements("css selector", "#plot path.left")) == 1


@pytest.mark.parametrize("claim_id", [THEOREM, "liu2022:thm-1", "fraboni2022:thm-3.loss"])
def test_on_a_phone_nothing_scrolls_sideways_and_fingers_find_their_targets(
    phone: Chrome, written: Any, claim_id: str
) -> None:
    """The page and its sliders are as wide as the screen; controls are 40 pixels high."""
    phone.get(written(claim_id))
    width, inner = phone.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert inner == phone.execute_script("return screen.width") < 500
    assert width <= inner
    sliders = phone.find_elements("css selector", "input[type=range]")
    targets = [*sliders, phone.find_element("id", "across"), phone.find_element("css selector", "button[type=reset]")]
    assert all(slider.size["width"] > 0.85 * inner for slider in sliders)
    assert all(target.size["height"] >= 40 for target in targets)


def test_a_slider_with_the_focus_is_not_hidden_on_a_phone(phone: Chrome, written: Any) -> None:
    """The drawing stays in sight while sliders move, and a slider that gets the focus is visible below the drawing."""
    from selenium.webdriver.common.keys import Keys

    phone.get(written(THEOREM))
    press(phone, "slider-7", Keys.SHIFT + Keys.TAB)
    focused = phone.execute_script(
        "const box = document.activeElement.getBoundingClientRect();"
        "const view = document.querySelector('.explorer .view').getBoundingClientRect();"
        "return [document.activeElement.id, box.top >= view.bottom, box.bottom <= innerHeight, view.bottom > 0]"
    )
    assert focused == ["slider-6", True, True, True]


def without_errors(browser: Chrome, address: Callable[[str], str], claim_ids: tuple[str, ...]) -> None:
    """Assert that each page opens without errors, agrees with SymPy, and starts inside the conditions."""
    for claim_id in claim_ids:
        browser.get(address(claim_id))
        assert browser.get_log("browser") == [], claim_id
        agrees(browser, claim_id)
        assert browser.find_element("id", "headline").get_attribute("class") == "inside", claim_id
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), claim_id


def test_pages_of_a_sample_open_without_errors(desk: Chrome, written: Any) -> None:
    """Every eighth page with an explorer opens without errors."""
    without_errors(desk, written, explored()[::8])


@pytest.mark.slow
def test_all_pages_open_without_errors(desk: Chrome, phone: Chrome, written: Any) -> None:
    """Every page with an explorer opens without errors on both screens."""
    without_errors(desk, written, explored())
    without_errors(phone, written, explored())


def test_without_scripts_the_page_says_so(written: Any) -> None:
    """Without scripts the explorer is hidden, and a line explains why."""
    address = written(THEOREM)
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    assert "<noscript>" in text
    assert 'id="explorer" aria-labelledby="explore" hidden>' in text
