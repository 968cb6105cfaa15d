"""Attained ratios of a bound, on its own page and on the page of all bounds."""

from __future__ import annotations

import re

import pytest
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.registry import find
from fedtheory.runfile import read_run
from report.drawing import SlackTask, load_templates
from report.slack import SLACK_PAGE, _format_exact, make_slack_section
from verify.check import check
from verify.slack import list_parts

ATTAINED, LEMMA, PRINTED = "renard2022:lemma-2.3.mean.quiet", "renard2022:lemma-2.3.growing", "renard2022:lemma-2.3"


def page(*targets: str) -> str:
    """Return the page of these claims."""
    return SlackTask(targets).draw(load_templates(())).files.get(SLACK_PAGE, "")


def test_a_row_for_each_part() -> None:
    """Each row has the stated constant and its lower bound."""
    section = make_slack_section(find(PRINTED))
    assert section is not None
    assert len(section.rows) == len(list_parts(find(PRINTED))) == 3
    constants = {row.constant: float(row.lowest) / float(row.share) for row in section.rows[1:]}
    assert {int(constant): pytest.approx(ratio, rel=0.01) for constant, ratio in constants.items()} == {18: 18, 4: 4}
    assert not section.whole.is_attained


def test_attained_terms_are_marked() -> None:
    """An attained term is marked in the table and in words; others have their largest ratio."""
    found = make_slack_section(find(ATTAINED))
    assert found is not None
    assert found.whole.is_attained
    text = page(ATTAINED, LEMMA)
    assert "1, attained" in text
    assert "renard2022-lemma-2-3-growing" in text


def test_runs_can_be_taken_from_the_page(tmp_path) -> None:
    """A run file of the page has the displayed ratio."""
    rows = make_slack_section(find(LEMMA)).rows
    text = page(LEMMA)
    assert rows[0].run_file in text.replace("&#34;", '"')
    (tmp_path / "run.toml").write_text(rows[0].run_file)
    found = check(find(LEMMA), read_run(tmp_path / "run.toml", RATIONAL))
    assert found.ratio == pytest.approx(float(rows[0].share), rel=1e-2)
    assert re.search(rf"fedtheory check {LEMMA} run.toml --arithmetic rational", text)


def test_other_claims_have_no_section() -> None:
    """Refuted claims and definitions have no section, and a site of these has no such page."""
    assert make_slack_section(find("renard2022:lemma-2.2")) is None
    assert page("renard2022:lemma-2.2") == ""


def test_nearly_all_is_not_all() -> None:
    """A ratio that only rounds to 1 is not displayed as 1."""
    first = make_slack_section(find("comparator:average-error")).whole
    assert not first.is_attained
    assert first.share == "> 0.999"


def test_exact_ratios_are_fractions_or_left_out() -> None:
    """A long fraction is not replaced by a sentence, because the rounded ratio stands before it."""
    assert _format_exact(fmpq(1, 2)) == "1/2"
    assert _format_exact(fmpq(1, 10**40)) == ""
