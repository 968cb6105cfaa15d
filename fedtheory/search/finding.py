"""Selects the search for the proof of a claim, and limits its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.work import Exhausted, limited
from fedtheory.language.claim import Claim, Place
from fedtheory.search.cases import find_maximum, search_cases
from fedtheory.search.chains import search_chains
from fedtheory.search.known import search_known
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.terms import search_terms

EFFORT = 7 * 10**7
"""Default limit on the work of a search: some seconds."""


def _search_run(claim: Claim) -> Found | NotFound:
    """Search proved claims about the same quantities, then chains of steps; report the closest bound of the first.

    If a paper defines the quantities by vectors, inequalities between vectors are tried last.
    """
    known = search_known(claim)
    for family in (search_chains, _search_in_vectors):
        if not isinstance(known, Found):
            found = family(claim)
            known = found if isinstance(found, Found) else known
    return known


def _search_in_vectors(claim: Claim) -> Found | NotFound:
    """Search for a proof in vectors."""
    try:
        return search_terms(claim)
    except (Rejected, InputError) as reason:
        return NotFound(str(reason))


_FAMILIES: Mapping[Place, Callable[[Claim], Found | NotFound]] = {
    "run": _search_run,
    **dict.fromkeys(("points", "step", "path", "round"), search_terms),
}


def find_proof(claim: Claim, effort: int = EFFORT) -> Found | NotFound:
    """Search for a certificate of a claim from its statement alone; a result has been accepted by the kernel.

    `effort` limits counted work, not seconds: the search has the same result on every machine.
    """
    family = _FAMILIES.get(claim.place)
    if family is None:
        return NotFound(f"no family of proofs is searched for statements about a {claim.place}")
    with limited(effort) as meter:
        try:
            maximum = find_maximum(claim)
            found = family(claim) if maximum is None else search_cases(claim, maximum, family)
        except (Rejected, InputError) as reason:
            found = NotFound(str(reason))
        except Exhausted:
            found = NotFound("the search took all the work that it may", is_exhausted=True)
        return replace(found, work=meter.spent)
