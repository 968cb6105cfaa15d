"""Tightness of proved bounds, on the page of a claim and on a page of all claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq
from markupsafe import Markup

from fedtheory.language.claim import Claim
from fedtheory.language.numbers import format_decimal
from fedtheory.language.registry import all_sources
from fedtheory.language.source import Source
from fedtheory.language.typesetting import latex
from fedtheory.runfile import run_toml
from report.mathml import typeset_formula, typeset_statement
from verify.slack import WHOLE, Share, compute_shares, list_parts, select_proved_bounds
from verify.slack.tightened_constants import read_tightened_constants

SLACK_PAGE = "slack.html"
_SHORT = 40
"""Number of characters up to which an exact ratio is displayed."""


@dataclass(frozen=True)
class PartRow:
    """One part of a bound."""

    part: Markup
    constant: str
    """The number in front of the part, as in the claim; empty for the whole right side."""
    share: str
    """Largest attained ratio of the part; empty if no run with a positive ratio is known."""
    exact: str
    """Largest attained ratio of the part, as a fraction if that is short."""
    lowest: str
    """Lower bound on the number in front of the part."""
    proved: str
    """Smallest proved value of the number, jointly with those of the other parts; empty if none is stored."""
    run_file: str
    is_attained: bool


@dataclass(frozen=True)
class SlackSection:
    """Content of the section on a claim's page."""

    rows: Sequence[PartRow]

    @property
    def whole(self) -> PartRow:
        """Return the row of the whole right side."""
        return self.rows[0]

    @property
    def is_tightened(self) -> bool:
        """Return whether smaller numbers are proved."""
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


def make_slack_section(claim: Claim) -> SlackSection | None:
    """Return the section on the tightness of a proved bound; None for other claims, and where no run is stored."""
    found = compute_shares(claim) if select_proved_bounds([claim]) else []
    return SlackSection(_list_rows(claim, found)) if found else None


def make_slack_tables(claims: Iterable[Claim]) -> list[SlackTable]:
    """Return the proved bounds among these claims that have stored runs, by source."""
    sections = [(claim, make_slack_section(claim)) for claim in select_proved_bounds(claims)]
    entries = [SlackEntry(claim, typeset_statement(claim.encoded), found.rows) for claim, found in sections if found]
    tables = [SlackTable(s, [e for e in entries if e.claim.source == s.key]) for s in all_sources().values()]
    return [table for table in tables if table.entries]


def _list_rows(claim: Claim, found: Sequence[Share]) -> list[PartRow]:
    """Return a row for each part, including parts without a stored run."""
    known = {share.part.name: share for share in found}
    tightened = read_tightened_constants(claim)
    rows = []
    for part in list_parts(claim):
        with claim.typesetting():
            words = Markup("the whole right side") if part.name == WHOLE else typeset_formula(latex(part.expression))
        share = known.get(part.name)
        constant = "" if part.name == WHOLE else _format_exact(fmpq(int(part.constant.p), int(part.constant.q)))
        proved = str(tightened.get(part.name, ""))
        rows.append(PartRow(words, constant, *_format_numbers(share, proved)))
    return rows


def _format_numbers(share: Share | None, proved: str) -> tuple[str, str, str, str, str, bool]:
    if share is None:
        return "", "", "", proved, "", False
    lowest = "" if share.part.name == WHOLE else format_decimal(share.constant, 3)
    return _format_share(share), _format_exact(share.value), lowest, proved, run_toml(share.run), share.is_attained


def _format_share(share: Share) -> str:
    """Write a ratio in three digits, below 1 unless it is attained."""
    text = format_decimal(share.value, 3)
    return "> 0.999" if text == "1" and not share.is_attained else text


def _format_exact(value: fmpq) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else ""
