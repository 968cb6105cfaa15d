"""All claims of all sources, found by themselves."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from fedtheory import sources
from fedtheory.claim import Claim, Source
from fedtheory.errors import InputError


@cache
def all_sources() -> dict[str, Source]:
    """Every source by its key."""
    modules = sorted(module.name for module in pkgutil.iter_modules(sources.__path__))
    found = [importlib.import_module(f"{sources.__name__}.{name}").SOURCE for name in modules]
    return {source.key: source for source in found}


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
