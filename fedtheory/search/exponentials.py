"""Bounds with exponentials: a search for the claim with powers in their place."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import spend
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.document.notation import Scope, write_expression
from fedtheory.proofs.document.symbols import symbols_of
from fedtheory.proofs.exponentials import Exponentials, list_exponentials, write_powers
from fedtheory.proofs.run_terms import with_relations
from fedtheory.search.cases import Search
from fedtheory.search.conditions import derive_conditions
from fedtheory.search.outcome import Found, NotFound

_COUNTS = (q.local_steps, q.rounds, q.iterations)


def search_powers(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim on a run with powers (1 - a)^n for its exponentials exp(-a n)."""
    count = _find_count(claim)
    try:
        given = derive_conditions(_without_exponentials(claim))
        to_write = Exponentials(claim=claim.id, count=count, why=Combination(claim=claim.id, links=[]), given=given)
        found = search(write_powers(claim, to_write))
    except Rejected as reason:
        return NotFound(f"with powers for its exponentials: {reason}")
    if not isinstance(found, Found):
        return replace(found, reason=f"with powers for its exponentials: {found.reason}")
    original = replace(claim, assumptions=(*claim.assumptions, *found.supposed)) if found.supposed else claim
    document = found.proof.document or {}
    scope = Scope(symbols_of(claim))
    certificate = {
        "kind": Exponentials.kind,
        "claim": claim.id,
        "count": write_expression(count, scope),
        "why": document["certificate"],
        **({"given": [write_expression(one, scope) for one in given]} if given else {}),
    }
    proof = check_certificate(original, document | {"certificate": certificate})
    spend(sum(proof.work.values()))
    return replace(found, proof=proof) if proof.verdict == "proved" else NotFound("the powers are not accepted")


def _without_exponentials(claim: Claim) -> Claim:
    """Return a claim with symbols for its exponentials, whose conditions are the same."""
    symbols = {one: sp.Dummy(real=True) for one in list_exponentials(claim)}
    return with_relations(claim, [one.transform(lambda side: side.xreplace(symbols)) for one in claim.relations])


def _find_count(claim: Claim) -> Expr:
    """Return the product of the counts on which every exponential of a claim depends."""
    symbols = {symbol for symbol, quantity in claim.notation.items() if quantity in _COUNTS}
    shared = symbols.intersection(*(one.free_symbols for one in list_exponentials(claim)))
    return sp.Mul(*sorted(shared, key=str))
