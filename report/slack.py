"""Tightness of proved bounds, on the page of a claim and on a page of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq
from markupsafe import Markup

from fedtheory.language.claim import Claim
from fedtheory.language.numbers import decimal, exact
from fedtheory.language.registry import all_sources
from fedtheory.language.source import Source
from fedtheory.language.typesetting import latex
from fedtheory.runfile import run_toml
from report.mathml import displayed, formula
from verify.slack import WHOLE, Share, compute_shares, parts_of, proved_bounds
from verify.slack.tightened import tightened_constants

SLACK_PAGE = "slack.html"
_SHORT = 40
"""Characters of an exact share that is worth printing."""


@dataclass(frozen=True)
class PartRow:
    """One part of a bound."""

    part: Markup
    constant: str
    """The number in front of it, as the claim has it; empty for the whole."""
    share: str
    """Largest share of the part that a run needs; empty where no run is known that needs any."""
    exact: str
    """Largest share of the part that a run needs, as a fraction where that is short."""
    lowest: str
    """Lowest value that the number can have."""
    proved: str
    """Smallest value of the number that is proved, together with those of the other parts; empty where none is kept."""
    run_file: str
    is_attained: bool


@dataclass(frozen=True)
class SlackSection:
    """Content of the section on a claim's page."""

    rows: Sequence[PartRow]

    @property
    def whole(self) -> PartRow:
        """The row of the whole right side."""
        return self.rows[0]

    @property
    def is_tightened(self) -> bool:
        """Whether smaller numbers are known to be proved."""
        return any(row.proved for row in self.rows)


@dataclass(frozen=True)
class SlackEntry:
    """One bound on the page of all."""

    claim: Claim
    statement: Markup
    rows: Sequence[PartRow]


@dataclass(frozen=True)
class SlackTable:
    """The bounds of one source."""

    source: Source
    entries: Sequence[SlackEntry]


def slack_section(claim: Claim) -> SlackSection | None:
    """Return the section on the tightness of a proved bound; None for other claims, and where no run is stored."""
    found = compute_shares(claim) if proved_bounds([claim]) else []
    return SlackSection(_rows(claim, found)) if found else None


def slack_tables(claims: Iterable[Claim]) -> list[SlackTable]:
    """The proved bounds among these claims that have runs, by source."""
    sections = [(claim, slack_section(claim)) for claim in proved_bounds(claims)]
    entries = [SlackEntry(claim, displayed(claim.encoded), found.rows) for claim, found in sections if found]
    tables = [SlackTable(s, [e for e in entries if e.claim.source == s.key]) for s in all_sources().values()]
    return [table for table in tables if table.entries]


def _rows(claim: Claim, found: Sequence[Share]) -> list[PartRow]:
    """A row for each part, also for those of which no run is known to need any."""
    known = {share.part.name: share for share in found}
    tightened = tightened_constants(claim)
    rows = []
    for part in parts_of(claim):
        with claim.typesetting():
            words = Markup("the whole right side") if part.name == WHOLE else formula(latex(part.expression))
        share = known.get(part.name)
        constant = "" if part.name == WHOLE else _exact(fmpq(int(part.constant.p), int(part.constant.q)))
        proved = str(tightened.get(part.name, ""))
        rows.append(PartRow(words, constant, *_numbers(share, proved)))
    return rows


def _numbers(share: Share | None, proved: str) -> tuple[str, str, str, str, str, bool]:
    if share is None:
        return "", "", "", proved, "", False
    lowest = "" if share.part.name == WHOLE else decimal(share.constant, 3)
    return _format_share(share), _exact(share.value), lowest, proved, run_toml(share.run), share.is_attained


def _format_share(share: Share) -> str:
    """Write a share in three digits, below 1 unless it is all of the part."""
    text = decimal(share.value, 3)
    return "> 0.999" if text == "1" and not share.is_attained else text


def _exact(value: fmpq) -> str:
    text = exact(value)
    return text if len(text) <= _SHORT else ""
