"""All claims of all papers, found by themselves.

A paper is a package with a `SOURCE`: a folder of `fedtheory.sources`, an entry
point of the group ``fedtheory.sources``, or a folder that was opened by name.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import fedtheory
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.source import Paper, Source

GROUP = "fedtheory.sources"
"""Entry points of other distributions: ``my2026 = "my_package.my2026"``."""
_OPENED: dict[str, Paper] = {}
"""Papers that were opened from a folder, by their keys."""


def papers() -> dict[str, Paper]:
    """Every paper by the key of its source: those of the package, installed ones, and those that were opened."""
    return {**_lasting_papers(), **_OPENED}


@cache
def _lasting_papers() -> dict[str, Paper]:
    found: dict[str, Paper] = {}
    for name in (*_names_of_the_package(), *_names_of_entry_points()):
        paper = paper_of(name)
        if paper.source.key in found:
            raise InputError(name, f"another paper already has the key {paper.source.key!r}")
        found[paper.source.key] = paper
    return found


def _names_of_the_package() -> Iterator[str]:
    folder = Path(fedtheory.__path__[0]) / "sources"
    yield from sorted(f"{GROUP}.{module.name}" for module in pkgutil.iter_modules([str(folder)]))


def _names_of_entry_points() -> Iterator[str]:
    yield from sorted({point.value for point in importlib.metadata.entry_points(group=GROUP)})


def paper_of(package: str) -> Paper:
    """The paper that is imported under a name; `InputError` where that is none."""
    module = importlib.import_module(package)
    source = getattr(module, "SOURCE", None)
    if not isinstance(source, Source) or not hasattr(module, "__path__"):
        raise InputError(package, "expected a package with a SOURCE, which is a fedtheory.Source")
    return Paper(source, package, Path(module.__path__[0]))


def add_paper(paper: Paper) -> None:
    """Let a paper's claims be found by their ids; `InputError` where another paper has its key."""
    known = papers().get(paper.source.key)
    if known is not None and known.folder != paper.folder:
        raise InputError("key", f"another paper already has the key {paper.source.key!r}")
    _OPENED[paper.source.key] = paper
    all_claims.cache_clear()


def all_sources() -> dict[str, Source]:
    """Every source by its key."""
    return {key: paper.source for key, paper in papers().items()}


@cache
def all_claims() -> dict[str, Claim]:
    """Every claim by its id, source by source, in the order of the pages; ids must be unique."""
    claims = [claim for source in all_sources().values() for claim in source.claims]
    by_id = {claim.id: claim for claim in claims}
    if len(by_id) != len(claims):
        raise ValueError("two claims have the same id")
    return by_id


def claims_of(source: str | None = None) -> list[Claim]:
    """The claims of a source, or all; `InputError` for an unknown source."""
    if source is not None and source not in all_sources():
        raise InputError("source", f"expected one of {', '.join(all_sources())}, got {source!r}")
    return [claim for claim in all_claims().values() if source in (None, claim.source)]


def find(claim_id: str) -> Claim:
    """The claim of that id; `InputError`, with near ids, where there is none."""
    claims = all_claims()
    if claim_id in claims:
        return claims[claim_id]
    from difflib import get_close_matches

    endings = [known for known in claims if known.endswith(f":{claim_id}")]
    near = endings or get_close_matches(claim_id, claims, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `fedtheory claims` lists all"
    raise InputError("id", f"no claim is called {claim_id!r}{hint}")


def repairs_of(claim: Claim) -> tuple[Claim, ...]:
    """The claims that correct a claim, in the order of their source."""
    return tuple(other for other in all_claims().values() if other.corrects == claim.id)


def sharper_claims(claim: Claim) -> tuple[Claim, ...]:
    """The claims whose bounds improve that of a claim, in the order of their source."""
    return tuple(other for other in all_claims().values() if other.sharpens == claim.id)
