"""The errata page: each false statement as published, the error, and the correction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from markupsafe import Markup

from fedtheory.arithmetic import ENCLOSED, Number
from fedtheory.language.claim import Claim, Fault
from fedtheory.language.numbers import format_decimal, format_exactly
from fedtheory.language.registry import all_sources
from fedtheory.language.source import Source
from fedtheory.runfile import run_toml
from report.evidence import describe_size
from report.mathml import typeset_prose, typeset_statement
from verify.errata import Erratum, list_errata
from verify.witness import PrintedSides

ERRATA_PAGE = "errata.html"
_LONG = 160
"""Number of LaTeX characters in a statement above which it needs the full width of a page."""


@dataclass(frozen=True)
class Correction:
    """Corrected claim in place of a refuted one."""

    claim: Claim
    statement: Sequence[Markup]
    remark: Markup


@dataclass(frozen=True)
class ErratumEntry:
    """One erratum, with the fields of its template."""

    claim: Claim
    fault: Fault
    printed: Markup
    reason: Markup
    violated: Markup | None
    """The violated link, if the published statement has several links, or is in words."""
    repairs: Sequence[Correction]
    sides: Sequence[tuple[str, str, str]]
    """Name, exact value if it is short, and decimal value of each side."""
    run_file: str
    check_with: str
    """The command that checks the counterexample."""
    size: str
    """Reason why the counterexample is too large to be checked by hand; empty if it is small."""

    @property
    def is_long(self) -> bool:
        """Return whether a statement needs the full width."""
        return any(
            len(line) > _LONG for claim in (self.claim, *(r.claim for r in self.repairs)) for line in _list_lines(claim)
        )


@dataclass(frozen=True)
class Ledger:
    """The errata of one source."""

    source: Source
    entries: Sequence[ErratumEntry]
    counts: Sequence[tuple[Fault, int]]


def list_ledgers(claims: Iterable[Claim]) -> list[Ledger]:
    """Return the errata of the sources that have refuted claims among the given ones."""
    entries = list_errata(claims)
    by_source = {source: [e for e in entries if e.claim.source == source.key] for source in all_sources().values()}
    return [
        Ledger(source, [_build_entry(erratum) for erratum in found], _count_faults(found))
        for source, found in by_source.items()
        if found
    ]


def _count_faults(entries: Sequence[Erratum]) -> list[tuple[Fault, int]]:
    counted = Counter(entry.fault for entry in entries)
    return [(fault, counted[fault]) for fault in get_args(Fault) if counted[fault]]


def _build_entry(erratum: Erratum) -> ErratumEntry:
    return ErratumEntry(
        claim=erratum.claim,
        fault=erratum.fault,
        printed=typeset_statement(erratum.claim.statement),
        reason=typeset_prose(erratum.reason),
        violated=_describe_violation(erratum),
        repairs=[_build_correction(claim) for claim in erratum.repairs],
        sides=_list_sides(erratum),
        run_file=run_toml(erratum.run),
        check_with=_format_command(erratum),
        size=describe_size(erratum.run, PrintedSides.from_check(erratum.check)),
    )


def _format_command(erratum: Erratum) -> str:
    """Return the command that checks the run: in rationals, or in enclosures if these are too long."""
    exactly = "" if erratum.check.arithmetic is ENCLOSED else " --arithmetic rational"
    return f"fedtheory check {erratum.claim.id} run.toml{exactly}"


def _describe_violation(erratum: Erratum) -> Markup | None:
    worst = erratum.check.worst
    plain = len(erratum.check.comparisons) == 1 and r"\text" not in erratum.claim.statement
    return None if worst is None or plain else typeset_statement(worst.relation.latex)


def _build_correction(claim: Claim) -> Correction:
    return Correction(claim, [typeset_statement(line) for line in _list_lines(claim)], typeset_prose(claim.note))


def _list_lines(claim: Claim) -> list[str]:
    """Return the statement as published, or link by link."""
    return [claim.printed] if claim.printed else claim.links


def _list_sides(erratum: Erratum) -> list[tuple[str, str, str]]:
    """Return left and right side; for a rate, the measured quantity and the claimed order."""
    if erratum.sides is None:
        return []
    names = ("left side", "right side")
    if erratum.check.rate is not None:
        names = ("limit", "promised") if erratum.check.rate.growth is not None else ("measured", "promised")
    return [(name, *_format_number(value)) for name, value in zip(names, erratum.sides, strict=True)]


def _format_number(value: Number) -> tuple[str, str]:
    """Return the exact value, and decimal digits unless it is an integer."""
    whole = format_exactly(value)
    return whole, "" if whole.removeprefix("-").isdigit() else format_decimal(value)
