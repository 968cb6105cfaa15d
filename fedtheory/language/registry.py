"""All claims of all papers, discovered automatically.

A paper is a package with a `SOURCE`: a folder of `fedtheory.sources`, an entry
point of the group ``fedtheory.sources``, or a folder opened by name. The
papers of `fedtheory.sources` have it in their module ``source``, so that the
package loads without the statements: any claim may use a paper's quantities.
"""

from __future__ import annotations

import importlib
import importlib.util
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import GROUP, list_paper_folders
from fedtheory.language.source import Paper, Source

_OPENED: dict[str, Paper] = {}
"""Papers that were opened from a folder, by their keys."""


def papers() -> dict[str, Paper]:
    """Return every paper by the key of its source: those of the package, installed ones, and opened folders."""
    return {**_load_installed_papers(), **_OPENED}


def is_of_the_package(key: str) -> bool:
    """Return whether a source belongs to this package."""
    return key in list_paper_folders()


def find_paper(key: str) -> Paper | None:
    """Return the paper of that key, None if there is none; a paper of the package is imported without the others."""
    if key in _OPENED:
        return _OPENED[key]
    return require_paper(f"{GROUP}.{key}") if key in list_paper_folders() else _list_installed_papers().get(key)


def find_publisher(claim: Claim) -> Paper | None:
    """Return the paper that states a claim; None for a user-defined claim, whatever its id."""
    return find_paper(claim.source) if claim.is_published else None


def is_registered(claim: Claim) -> bool:
    """Return whether a claim is in a paper's own list, and not a modified copy."""
    paper = find_publisher(claim)
    return paper is not None and any(known is claim for known in paper.source.claims)


@cache
def _load_installed_papers() -> dict[str, Paper]:
    """Return the papers of the package and of installed packages, by key."""
    return _index_by_key([f"{GROUP}.{key}" for key in list_paper_folders()]) | _list_installed_papers()


@cache
def _list_installed_papers() -> dict[str, Paper]:
    from importlib.metadata import entry_points

    names = sorted({point.value for point in entry_points(group=GROUP)})
    return _index_by_key(names, taken=list_paper_folders())


def _index_by_key(packages: list[str], taken: tuple[str, ...] = ()) -> dict[str, Paper]:
    """Return papers by their keys; raise `InputError` if a key occurs twice, or is in `taken`."""
    found: dict[str, Paper] = {}
    for name in packages:
        paper = require_paper(name)
        if paper.source.key in (*found, *taken):
            raise InputError(name, f"another paper already has the key {paper.source.key!r}")
        found[paper.source.key] = paper
    return found


def require_paper(package: str) -> Paper:
    """Return the paper that is imported under a name; raise `InputError` if the module is no paper."""
    return _load_paper(importlib.import_module(package), package)


@cache
def _load_paper(module: ModuleType, package: str) -> Paper:
    """Return the paper of a package with a SOURCE in itself or in its module ``source``; else raise `InputError`."""
    source, own = getattr(module, "SOURCE", None), f"{module.__name__}.source"
    if source is None and hasattr(module, "__path__") and importlib.util.find_spec(own) is not None:
        source = getattr(importlib.import_module(own), "SOURCE", None)
    if not isinstance(source, Source) or not hasattr(module, "__path__"):
        raise InputError(package, "expected a package with a SOURCE, which is a fedtheory.Source")
    return Paper(source, package, Path(module.__path__[0]))


def add_paper(paper: Paper) -> None:
    """Register a paper, so that its claims are found by their ids; raise `InputError` if another paper has its key."""
    known = find_paper(paper.source.key)
    if known is not None and known.folder != paper.folder:
        raise InputError("key", f"another paper already has the key {paper.source.key!r}")
    _OPENED[paper.source.key] = paper
    all_claims.cache_clear()


def all_sources() -> dict[str, Source]:
    """Every source by its key."""
    return {key: paper.source for key, paper in papers().items()}


@cache
def all_claims() -> dict[str, Claim]:
    """Return every claim by its id, source by source, in the order of the pages; ids must be unique."""
    claims = [claim for source in all_sources().values() for claim in source.claims]
    by_id = {claim.id: claim for claim in claims}
    if len(by_id) != len(claims):
        raise ValueError("two claims have the same id")
    return by_id


def claims_of(source: str | None = None) -> list[Claim]:
    """Return the claims of a source, or all; raise `InputError` for an unknown source."""
    if source is None:
        return list(all_claims().values())
    paper = find_paper(source)
    if paper is None:
        raise InputError("source", f"expected one of {', '.join(all_sources())}, got {source!r}")
    return list(paper.source.claims)


def match_claims(pattern: str) -> list[Claim]:
    """Return the claims whose ids match a pattern such as ``liu2022:thm-*``, in the order of their sources."""
    paper = find_paper(pattern.partition(":")[0])
    claims = all_claims().values() if paper is None else paper.source.claims
    return [claim for claim in claims if fnmatchcase(claim.id, pattern)]


def find(claim_id: str) -> Claim:
    """Return the claim of that id; if there is none, raise `InputError` with similar ids."""
    claim = _find_claim(claim_id)
    if claim is not None:
        return claim
    from difflib import get_close_matches

    claims = all_claims()
    endings = [known for known in claims if known.endswith(f":{claim_id}")]
    near = endings or get_close_matches(claim_id, claims, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `fedtheory claims` lists all"
    raise InputError("id", f"no claim is called {claim_id!r}{hint}")


def is_an_id(claim_id: str) -> bool:
    """Return whether a paper has a claim of that id."""
    return _find_claim(claim_id) is not None


def _find_claim(claim_id: str) -> Claim | None:
    paper = find_paper(claim_id.partition(":")[0])
    claims = () if paper is None else paper.source.claims
    return next((claim for claim in claims if claim.id == claim_id), None)


def explain_unproved(claim: Claim) -> str | None:
    """Return the reason why a claim recorded as supported has no certificate; None for others, or without a reason."""
    paper = find_publisher(claim) if claim.verdict == "supported" else None
    name = claim.id.partition(":")[2]
    reasons = {} if paper is None else paper.source.unproved
    return next((reason for reason, names in reasons.items() if name in names.split()), None)


def repairs_of(claim: Claim) -> tuple[Claim, ...]:
    """Return the claims that correct a claim, in the order of its source."""
    return tuple(other for other in _list_claims_of_same_paper(claim) if other.corrects == claim.id)


def list_sharper_claims(claim: Claim) -> tuple[Claim, ...]:
    """Return the claims whose bounds improve that of a claim, in the order of its source."""
    return tuple(other for other in _list_claims_of_same_paper(claim) if other.sharpens == claim.id)


def _list_claims_of_same_paper(claim: Claim) -> tuple[Claim, ...]:
    """Return the claims of the same paper, the only ones that may correct or improve the claim."""
    paper = find_publisher(claim)
    return () if paper is None else paper.source.claims
