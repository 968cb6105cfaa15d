"""Finding runs that need much of a bound, and keeping the best ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from flint import fmpq

from fedtheory.arithmetic import plain_float
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import paper_with
from fedtheory.runfile import read_toml, run_toml
from verify.falsify import falsify
from verify.falsify.tables import size
from verify.slack import RunTable, proved_bounds, share_on, stored_files, witness_file
from verify.slack.parts import Part, parts_of
from verify.verdict import verify

Found = tuple[fmpq, RunTable]
_DIGITS = 3
"""Of a share, that count; among shares below 1 that agree in these the smaller run is kept."""


def regenerate(
    claims: Sequence[Claim],
    seconds: float,
    also: Sequence[RunTable] = (),
    on_found: Callable[[Part, fmpq | None], None] = lambda _part, _share: None,
) -> None:
    """Write the run that needs most of each part of each bound; each part is searched for so many seconds.

    Candidates are the stored runs of the paper, the instance of the claim's verdict, what the search finds, and the
    runs of `also`.
    """
    for claim in claims:
        witness = verify(claim)[0].run
        candidates = also if witness is None else [*also, witness]
        for part in parts_of(claim):
            on_found(part, _renewed(part, seconds, candidates))


def _renewed(part: Part, seconds: float, also: Sequence[RunTable]) -> fmpq | None:
    file = witness_file(part.bound, part.name)
    assert file is not None
    best = max(_found(part, [*also, *_known(part.bound), *_searched(part, seconds)]), key=_rank, default=None)
    if best is None:
        file.unlink(missing_ok=True)
        return None
    file.parent.mkdir(exist_ok=True)
    file.write_text(run_toml(best[1]), encoding="utf-8")
    return best[0]


def _rank(found: Found) -> tuple[bool, float, int]:
    share, table = found
    return bool(share == 1), round(plain_float(share), _DIGITS), -size(table)


def _searched(part: Part, seconds: float) -> Iterator[RunTable]:
    """What a search for a violation of the part alone ends with."""
    run = falsify(part.asked, seconds).run if seconds > 0 else None
    if run is not None:
        yield run


def _known(claim: Claim) -> list[RunTable]:
    """The runs that are stored beside a claim: what one bound needs another one of the same paper may need as well."""
    paper = paper_with(claim.source)
    return [] if paper is None else [read_toml(file) for file in sorted(paper.folder.glob("slack/*.toml"))]


def _found(part: Part, tables: Iterable[RunTable]) -> Iterator[Found]:
    for table in tables:
        with suppress(FedtheoryError, ArithmeticError, LookupError):
            share = share_on(part, table)
            if share is not None:
                yield share, table


def remove_stale() -> None:
    """Remove the files of what is no part of a proved bound any more."""
    kept = {witness_file(claim, part.name) for claim in proved_bounds() for part in parts_of(claim)}
    for file in stored_files() - kept:
        file.unlink()
