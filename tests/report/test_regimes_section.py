"""The search of a verdict on the page of its claim."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.language.claim import Verdict
from report.drawing import load_templates
from report.pages import make_claim_page
from report.regime_section import Level, make_search_section
from verify.claim_verdict import ClaimVerdict
from verify.falsify.regimes import Pairs, Regime

PLAIN = ClaimVerdict("renard2022:lemma-2.3", "supported", 200, 200, 0, 0, 0.25, None, None, 0.0)
SEARCHED = replace(
    PLAIN,
    searched=1500,
    regimes=(Regime("clients", "1", 40, 0.5), Regime("clients", "2", 50, None), Regime("loss", "Huber", 7, 1 / 3)),
    pairs=Pairs(8, 9, 1),
)


def rendered(verdict: ClaimVerdict) -> str:
    """Return the words of a page, separated by single spaces."""
    page = make_claim_page(verdict, [])
    return " ".join(load_templates(()).get_template("claim.html").render(page=page, before=None, after=None).split())


def test_levels_stand_below_what_is_varied() -> None:
    """Levels are listed below their factor with runs and ratios; without a search there is no section."""
    assert make_search_section(PLAIN) is None
    section = make_search_section(SEARCHED)
    assert section is not None
    assert section.varied == [
        ("clients", [Level("1", 40, "0.5"), Level("2", 50, "")]),
        ("loss", [Level("Huber", 7, "0.333")]),
    ]


@pytest.mark.parametrize("left_open", [0, 3])
def test_a_page_shows_the_search(left_open: int) -> None:
    """The page has regimes, pairs and open runs of the cached search."""
    verdict: Verdict = "undecided" if left_open else "supported"
    text = rendered(replace(SEARCHED, verdict=verdict, left_open=left_open))
    assert "Regimes of the search" not in rendered(PLAIN)
    assert (
        "1500 runs in floats; 8 of 9 pairs of regimes covered, 1 skipped because the claim applied to no generated run"
        in text
    )
    assert '<td>clients</td><td>1</td><td class="number">40</td><td class="number">0.5</td>' in text
    assert ("3 runs violate the claim in floats, but no exact check confirmed any of them" in text) == bool(left_open)
    assert ("Undecided: in the search 3 runs violate the claim" in text) == bool(left_open)
