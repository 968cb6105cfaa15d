"""Displays of objects in a terminal and in a notebook: short, well formed, escaped."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_functions import FALSE, RUN

import fedtheory as ft
import fedtheory.shown
from fedtheory.shown import Card, short, short_below


def shown() -> dict[str, Any]:
    """One object of each kind."""
    run = ft.simulate(RUN).run
    claim = ft.all_claims()["renard2022:thm-2.1"]
    return {
        "claim": claim,
        "own claim": FALSE,
        "run": run,
        "problem": run.problem,
        "simulation": ft.simulate(RUN, arithmetic="rational"),
        "check": ft.check(claim, RUN),
        "proof": ft.prove("liu2022:thm-1"),
        "plan": ft.plan(RUN, claims=[claim]),
        "verdicts": ft.verify(FALSE, search=0),
        "data": ft.problem_from([[1.0], [2.0]], [0.0, 1.0], client=[0, 1]),
    }


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    """The objects are created once."""
    return shown()


def test_a_terminal_shows_one_line(objects: dict[str, Any]) -> None:
    """Every object is displayed in one line."""
    for thing in objects.values():
        assert repr(thing).startswith(f"<{type(thing).__name__} ")
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 200


def test_a_notebook_shows_well_formed_html(objects: dict[str, Any]) -> None:
    """HTML of every object is well formed: tables are tables, and formulas are escaped."""
    for name, thing in objects.items():
        page = ET.fromstring(thing._repr_html_())
        assert page.find("script") is None, name
        for table in page.iter("table"):
            assert len({len(row) for row in table.iter("tr")}) == 1, name


def test_statements_are_typeset(objects: dict[str, Any]) -> None:
    """Objects with a statement show its formula; others show none."""
    assert objects["claim"].statement in objects["claim"]._repr_latex_()
    assert objects["simulation"]._repr_latex_() is None
    assert r"\(\eta \leq \frac{1}{4 L}\)" in objects["own claim"]._repr_html_()


def test_numbers_are_shown(objects: dict[str, Any]) -> None:
    """A counterexample comes with both sides and the run file; a simulation with its curve."""
    worst = objects["verdicts"][0].evidence.worst
    for side in (worst.lhs, worst.rhs):
        assert f">{side}</td>" in objects["verdicts"]._repr_html_()
    assert "[algorithm]" in objects["verdicts"]._repr_html_()
    assert "data:image/svg+xml;base64," in objects["simulation"]._repr_html_()


@pytest.mark.parametrize("name", ["simulation", "check", "proof", "plan", "verdicts"])
def test_results_have_a_small_figure(name: str, objects: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Results show a small figure where Matplotlib is installed; cards have none."""
    assert "data:image/svg+xml;base64," in objects[name]._repr_html_()
    monkeypatch.setattr(fedtheory.shown, "find_spec", lambda _name: None)
    assert "data:image/svg+xml" not in objects[name]._repr_html_()


def test_figures_show_what_they_should() -> None:
    """Figures show rounds for a synchronous run, clock time for an asynchronous one, and the ladder of a rate."""
    alike = fedtheory.shown.PICTURES
    drawn: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("report.figures.errors.finish", lambda canvas, *_: drawn.append(canvas.axes[0].get_xlabel()))
        for clock in ({}, {"clock": {"policy": "async", "times": [1, 2]}}):
            found = ft.simulate({**RUN, "algorithm": {**RUN["algorithm"], **clock}})
            with pytest.raises(AttributeError):
                alike["Simulation"](found)
    assert drawn == ["rounds (server updates)", "clock time $t$"]
    assert alike["Check"](ft.check("liu2022:thm-1.rate", RUN)) is not None


def test_results_are_tables(objects: dict[str, Any]) -> None:
    """A row for each round, or for each claim."""
    pytest.importorskip("pandas")
    assert objects["simulation"].to_frame().shape == (4, 4)
    assert objects["verdicts"].to_frame().loc["mine:drift", "verdict"] == "refuted"
    assert objects["plan"].to_frame().loc["renard2022:thm-2.1", "applicable"]


def test_text_is_escaped() -> None:
    """A title is text, whatever is in it."""
    assert "<b>" not in Card("<b>bold</b>", facts={"a<b": "c&d"}).html


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_printed_limits_are_rounded_down(value: float) -> None:
    """A limit is rounded down to six digits, so that the printed value satisfies the condition."""
    assert value * (1 - 2e-5) <= float(short_below(value)) <= value
    if float(short(value)) <= value:
        assert short_below(value) == short(value)
