"""Bounds with exponentials or square roots: a search for the claim with powers, or between squares."""

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
from fedtheory.proofs.document import document_of
from fedtheory.proofs.restatements import Exponentials, Squares, list_exponentials
from fedtheory.proofs.run_terms import with_relations
from fedtheory.search.cases import Search
from fedtheory.search.conditions import derive_conditions
from fedtheory.search.outcome import Found, NotFound

_COUNTS = (q.local_steps, q.rounds, q.iterations)


def search_powers(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim on a run with powers (1 - a)^n for its exponentials exp(-a n)."""
    unproved = Combination(claim=claim.id, links=[])
    given = derive_conditions(_without_exponentials(claim))
    to_write = Exponentials(claim=claim.id, count=_find_count(claim), why=unproved, given=given)
    return _search_restated(claim, to_write, search, "with powers for its exponentials")


def search_squares(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim between the squares of its sides."""
    unproved = Combination(claim=claim.id, links=[])
    to_write = Squares(claim=claim.id, why=unproved, given=derive_conditions(claim))
    return _search_restated(claim, to_write, search, "between squares")


def has_roots(claim: Claim) -> bool:
    """Return whether both sides of a bound have square roots, or one of them and the other none."""
    roots = (one for relation in claim.relations for one in relation.atoms(sp.Pow))
    is_bound = all(relation.operator in ("<=", ">=") for relation in claim.relations)
    return is_bound and any(one.exp == sp.Rational(1, 2) for one in roots)


def _search_restated(claim: Claim, to_write: Exponentials | Squares, search: Search, what: str) -> Found | NotFound:
    """Search for a proof of what a restatement writes, and return that of the claim."""
    try:
        found = search(to_write.restate(claim))
    except Rejected as reason:
        return NotFound(f"{what}: {reason}")
    if not isinstance(found, Found):
        return replace(found, reason=f"{what}: {found.reason}")
    original = replace(claim, assumptions=(*claim.assumptions, *found.supposed)) if found.supposed else claim
    document = found.proof.document or {}
    written = document_of(claim, to_write)["certificate"] | {"why": document["certificate"]}
    proof = check_certificate(original, document | {"certificate": written})
    spend(sum(proof.work.values()))
    return replace(found, proof=proof) if proof.verdict == "proved" else NotFound(f"{what}: the kernel refuses it")


def _without_exponentials(claim: Claim) -> Claim:
    """Return a claim with symbols for its exponentials, whose conditions are the same."""
    symbols = {one: sp.Dummy(real=True) for one in list_exponentials(claim)}
    return with_relations(claim, [one.transform(lambda side: side.xreplace(symbols)) for one in claim.relations])


def _find_count(claim: Claim) -> Expr:
    """Return the product of the counts on which every exponential of a claim depends."""
    symbols = {symbol for symbol, quantity in claim.notation.items() if quantity in _COUNTS}
    shared = symbols.intersection(*(one.free_symbols for one in list_exponentials(claim)))
    return sp.Mul(*sorted(shared, key=str))
