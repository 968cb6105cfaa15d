"""The table of all bounds: published, proved, and refuted constants."""

from __future__ import annotations

import pytest

from fedtheory.language.registry import find
from report.drawing import SlackTask, load_templates
from report.slack import SLACK_PAGE, SlackEntry, make_slack_tables
from report.slack_overview import Overview, find_published_form, summarise_terms
from verify.slack import compute_shares


def of(name: str) -> Overview:
    """Return the table's row of a bound."""
    (table,) = make_slack_tables([find(name)])
    (entry,) = table.entries
    assert isinstance(entry, SlackEntry)
    return summarise_terms(entry)


def test_a_sharper_bound_stands_beside_the_printed_one() -> None:
    """Terms are matched by symbols: 18 and 5/6, 4 and 5/6, equal terms of start and noise."""
    found = of("renard2022:thm-2.1.sharp")
    assert found.printed is find("renard2022:thm-2.1")
    printed = {"18" in line.printed: line for line in found.lines}
    assert printed[True].constant == "1"
    assert "\u03b6" in printed[True].proved
    assert all(line.printed for line in found.lines)


def test_the_number_below_which_a_run_refutes_it() -> None:
    """The number is the attained ratio of a term times its constant."""
    found = of("renard2022:lemma-2.3")
    shared = {
        share.part.expression.as_coeff_Mul()[0]: share.constant
        for share in compute_shares(find("renard2022:lemma-2.3"))
    }
    for line in found.lines:
        assert float(line.lowest) == pytest.approx(shared[int(line.constant)], rel=0.01)


def test_a_bound_of_one_term_and_one_that_is_attained() -> None:
    """The cell has the attained ratio of the whole bound, or the word "attained"."""
    (line,) = of("renard2022:lemma-2.3.quiet").lines
    assert line.lowest == "attained"
    (line,) = of("liu2022:lemma-1.sharp").lines
    assert line.lowest == "0.817 of it"


def test_the_published_form_of_a_bound() -> None:
    """A correction refers to the published claim; a result of this project has no published form."""
    assert find_published_form(find("fraboni2022:eq-94.random-weights")) is find("fraboni2022:eq-94")
    assert find_published_form(find("liu2022:thm-3")) is find("liu2022:thm-3")
    assert find_published_form(find("comparator:average-error")) is None
    assert not any(line.printed for line in of("comparator:average-error").lines)


def test_the_page_has_the_table() -> None:
    """The page has the verdict of the published claim, and terms without a known run."""
    text = SlackTask(("fraboni2022:eq-94.random-weights",)).draw(load_templates(())).files[SLACK_PAGE]
    table = text[text.index('<table class="theorems">') : text.index("</table>")]
    assert "fraboni2022:eq-94" in table
    assert "refuted" in table
    assert "none known" in table
