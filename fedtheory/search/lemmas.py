"""Selects proved claims that a certificate about points or steps may use as lemmas.

They are claims about the same place, and bounds on the largest drift of a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from fedtheory.kernel import Rejected
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.document import document_of
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.plain_symbols import match_symbols, rename_symbols
from fedtheory.proofs.proof import check_assumed, follows
from fedtheory.search.premises import find_proved_statement
from fedtheory.search.restated import list_dependencies


def find_lemmas(claim: Claim) -> list[Claim]:
    """Return the proved claims that a claim in plain symbols may use, written in its symbols.

    A published claim may use the claims of its paper that do not depend on it.  Other claims may use all.
    """
    paper = claim.id.partition(":")[0]
    found = []
    for known in all_claims().values():
        is_near = known.place == claim.place or (claim.place == "step" and _bounds_drift(known))
        if not is_near or known.id == claim.id or known.verdict != "proved":
            continue
        if claim.is_published and (known.id.partition(":")[0] != paper or claim.id in _list_all_dependencies(known.id)):
            continue
        found += list(_use_claim(claim, known.id))
    return found


def _use_claim(claim: Claim, name: str) -> Iterator[Claim]:
    """Yield a proved claim in the symbols of another, if its assumptions and conditions hold there."""
    if certificate_of(name) is None:
        return
    known = find_proved_statement(name)
    if known.for_all or claim.for_all or not check_assumed(claim, known.assumptions, "").holds:
        return
    try:
        known = rename_symbols(known, match_symbols(claim, known))
        is_met = all(follows(condition, claim) for condition in known.conditions)
    except Rejected:
        return
    symbol = symbols_of(claim)
    sides = [side for relation in known.relations for side in relation.sides]
    if _bounds_drift(known):
        sides = [known.relations[0].right]
    if is_met and all(side.free_symbols <= symbol.known_symbols for side in sides):
        yield known


def _bounds_drift(claim: Claim) -> bool:
    """Return whether a claim is an upper bound on the largest drift of a run."""
    is_bound = claim.place == "run" and claim.rate is None and not claim.for_all and len(claim.relations) == 1
    if not is_bound or claim.relations[0].operator != "<=":
        return False
    return claim.notation.get(claim.relations[0].left) is q.max_drift


@cache
def _list_all_dependencies(name: str) -> frozenset[str]:
    """Return the claims on which the recorded certificate of a claim depends, directly or indirectly."""
    certificate = certificate_of(name)
    if certificate is None:
        return frozenset()
    direct = list_dependencies(document_of(find(name), certificate)["certificate"], name)
    return frozenset(direct).union(*map(_list_all_dependencies, direct))
