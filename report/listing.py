"""Lists of claims for the front page and the pages of sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import get_args

from markupsafe import Markup

from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.registry import all_sources, find_publisher, list_sharper_claims, repairs_of
from fedtheory.language.source import Source
from fedtheory.language.targets import display_name
from report.figures.dependency_graph import DependencyGraph, Node, draw_dependency_graph
from report.mathml import typeset_statement
from report.pages import format_largest_ratio, name_page
from report.statement_premises import list_dependencies
from verify import cache
from verify.claim_verdict import ClaimVerdict
from verify.digests import digest_claim, digest_code, digest_paper

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class ClaimRow:
    """A claim in a list."""

    target: str
    claim: Claim
    called: str
    file: str
    verdict: Verdict
    instances: int
    ratio: str

    @classmethod
    def from_verdict(cls, found: ClaimVerdict) -> ClaimRow:
        """Return the row of a verdict."""
        called = display_name(found.target, found.claim)
        return cls(
            found.target,
            found.claim,
            called,
            name_page(found.claim),
            found.verdict,
            found.instances,
            format_largest_ratio(found),
        )

    @property
    def title(self) -> str:
        """Return the title, or the id if there is none."""
        return self.claim.title or self.claim.id

    @property
    def own_file(self) -> str | None:
        """Return the file of a user-defined claim; None for a claim of a paper."""
        return self.called.rpartition(":")[0] if find_publisher(self.claim) is None else None

    @cached_property
    def searched(self) -> str:
        """Return the text that a search covers besides title and id: the formula and the names of its symbols."""
        key = "searched", digest_code(_HERE), digest_claim(self.claim)
        known: str | None = cache.find(*key)
        if known is None:
            names = {quantity.name.replace("_", " ") for quantity in self.claim.notation.values()}
            formula = " ".join([self.claim.printed or "", *self.claim.links])
            known = " ".join([formula.replace("\\", ""), *sorted(names)])
            cache.save(known, *key)
        return known


@dataclass(frozen=True)
class ClaimCounts:
    """Numbers of statements, proofs and refutations."""

    statements: int
    proved: int
    refuted: int
    corrected: int
    """Number of refuted statements with a corrected claim."""

    @classmethod
    def from_rows(cls, rows: Sequence[ClaimRow]) -> ClaimCounts:
        """Count the rows."""
        refuted = [row for row in rows if row.verdict == "refuted"]
        proved = sum(row.verdict == "proved" for row in rows)
        return cls(len(rows), proved, len(refuted), sum(bool(repairs_of(row.claim)) for row in refuted))


@dataclass(frozen=True)
class MainTheorem:
    """The main theorem of a source, with its verdict."""

    row: ClaimRow
    statement: Markup
    corrections: Sequence[ClaimRow]
    tightened: Sequence[ClaimRow]


@dataclass(frozen=True)
class SourceGroup:
    """Claims of one source, or of one user file, which form a page."""

    key: str
    heading: Markup
    short: str
    rows: Sequence[ClaimRow]
    source: Source | None

    @property
    def file(self) -> str:
        """Return the file name of the page."""
        return f"{self.key}.html"

    @property
    def counts(self) -> list[tuple[Verdict, int]]:
        """Count the claims of each verdict."""
        counted = Counter(row.verdict for row in self.rows)
        return [(verdict, counted[verdict]) for verdict in get_args(Verdict) if counted[verdict]]

    @property
    def is_whole(self) -> bool:
        """Return whether all claims of the source are included."""
        return self.source is not None and len(self.rows) >= len(self.source.claims)

    @cached_property
    def main(self) -> MainTheorem | None:
        """Return the main theorem; None if the source names none, or it is not included."""
        rows = {row.claim.id: row for row in self.rows}
        row = None if self.source is None else rows.get(f"{self.source.key}:{self.source.main}")
        if row is None:
            return None
        beside = [
            [rows[c.id] for c in found if c.id in rows]
            for found in (repairs_of(row.claim), list_sharper_claims(row.claim))
        ]
        return MainTheorem(row, typeset_statement(row.claim.statement), *beside)

    def graph(self) -> DependencyGraph | None:
        """Return the graph of the claims' dependencies; None if there are none."""
        place = {row.claim.id: n for n, row in enumerate(self.rows)}
        arrows = [(place[premise], place[result]) for premise, result in self._list_dependencies()]
        nodes = [Node(row.claim.id.partition(":")[2], row.title, row.verdict, row.file) for row in self.rows]
        return draw_dependency_graph(nodes, arrows) if arrows else None

    def _list_dependencies(self) -> list[tuple[str, str]]:
        """Return pairs of a premise and a claim that rests on it; those of a paper are cached."""
        claims = [row.claim for row in self.rows]
        if self.source is None:
            return list_dependencies(claims)
        key = "dependencies", digest_code(_HERE), digest_paper(self.source.key), *(claim.id for claim in claims)
        known: list[tuple[str, str]] | None = cache.find(*key)
        if known is None:
            known = list_dependencies(claims)
            cache.save(known, *key)
        return known


def list_groups(rows: Sequence[ClaimRow]) -> list[SourceGroup]:
    """Return the claims of each user file, then those of each source, in reading order."""
    own = dict.fromkeys(row.own_file for row in rows if row.own_file is not None)
    by_file = [_build_file_group(file, [row for row in rows if row.own_file == file]) for file in own]
    sources = sorted(all_sources().values(), key=lambda source: source.reading)
    by_source = [
        _build_source_group(s, [row for row in rows if row.own_file is None and row.claim.source == s.key])
        for s in sources
    ]
    return [*by_file, *(group for group in by_source if group.rows)]


def _build_source_group(source: Source, rows: Sequence[ClaimRow]) -> SourceGroup:
    heading = Markup("{}, <em>{}</em> ({})").format(source.authors, source.title, source.year)
    return SourceGroup(source.key, heading, f"{source.authors} ({source.year})", rows, source)


def _build_file_group(file: str, rows: Sequence[ClaimRow]) -> SourceGroup:
    heading = Markup("Your claims in <code>{}</code>").format(file)
    return SourceGroup(f"claims-of-{Path(file).stem}", heading, Path(file).name, rows, None)
