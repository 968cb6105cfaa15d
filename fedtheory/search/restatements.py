"""Searches for proofs of bounds with exponentials or square roots, by claims with powers or between squares."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import spend
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.document import document_of
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.plain_symbols import match_symbols, rename_symbols, use_plain_symbols
from fedtheory.proofs.restatements import Powers, Squares, list_exponentials
from fedtheory.proofs.run_terms import with_relations
from fedtheory.search.cases import Search
from fedtheory.search.conditions import derive_conditions
from fedtheory.search.premises import find_known_claims
from fedtheory.search.proof_outcome import Found, NotFound

_COUNTS = (q.local_steps, q.rounds, q.iterations)


def search_powers(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim on a run with powers (1 - a)^n in place of its exponentials exp(-a n)."""
    unproved = Combination(claim=claim.id, links=[])
    given = derive_conditions(_without_exponentials(claim))
    restatement = Powers(claim=claim.id, count=_find_count(claim), why=unproved, given=given)
    return _search_restated(claim, restatement, search, "with powers for its exponentials")


def search_smaller_powers(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim on a run with powers of known bounds in place of its own powers."""
    found: Found | NotFound = NotFound("no known bound has powers of the number of steps")
    if claim.rate is not None or len(claim.relations) != 1:
        return found
    plain = use_plain_symbols(claim)
    counts = _list_counts(plain)
    own = [one.exp for one in plain.relations[0].atoms(sp.Pow) if one.exp in counts]
    own += [_find_count(plain)] if list_exponentials(plain) else []
    given = derive_conditions(_without_exponentials(plain))
    for base, count in product(_list_known_bases(plain, counts), dict.fromkeys(own)):
        unproved = Combination(claim=claim.id, links=[])
        restatement = Powers(claim=claim.id, count=count, why=unproved, given=given, base=base)
        found = _search_restated(plain, restatement, search, f"with powers of {base}")
        if isinstance(found, Found):
            break
    return found


def _list_counts(claim: Claim) -> set[Expr]:
    """Return the symbols of the numbers of steps and rounds, and their product."""
    symbol = symbols_of(claim)
    return {symbol(q.iterations), symbol(q.rounds), symbol(q.rounds) * symbol(q.local_steps)}


def _list_known_bases(claim: Claim, counts: set[Expr]) -> Sequence[Expr]:
    """Return the bases of powers in known bounds whose exponents are numbers of steps, in the symbols of a claim."""
    own = {power.base for relation in claim.relations for power in relation.atoms(sp.Pow)}
    bases: dict[Expr, None] = {}
    for known in find_known_claims(claim):
        with suppress(Rejected):
            renamed = rename_symbols(known.claim, match_symbols(claim, known.claim))
            numbers = counts | _list_counts(renamed)
            powers = set().union(*(relation.atoms(sp.Pow) for relation in renamed.relations))
            bases |= {one.base: None for one in sorted(powers, key=sp.default_sort_key) if one.exp in numbers}
    return [base for base in bases if base not in own and base.free_symbols <= symbols_of(claim).known_symbols]


def search_squares(claim: Claim, search: Search) -> Found | NotFound:
    """Search for a proof of a claim between the squares of its sides."""
    unproved = Combination(claim=claim.id, links=[])
    restatement = Squares(claim=claim.id, why=unproved, given=derive_conditions(claim))
    return _search_restated(claim, restatement, search, "between squares")


def has_roots(claim: Claim) -> bool:
    """Return whether a claim consists of non-strict bounds of which one has a square root."""
    roots = (one for relation in claim.relations for one in relation.atoms(sp.Pow))
    is_bound = all(relation.operator in ("<=", ">=") for relation in claim.relations)
    return is_bound and any(one.exp == sp.Rational(1, 2) for one in roots)


def _search_restated(claim: Claim, restatement: Powers | Squares, search: Search, label: str) -> Found | NotFound:
    """Search for a proof of a restated claim, and return the proof of the claim itself."""
    try:
        found = search(restatement.restate(claim))
    except Rejected as reason:
        return NotFound(f"{label}: {reason}")
    if not isinstance(found, Found):
        return replace(found, reason=f"{label}: {found.reason}")
    original = replace(claim, assumptions=(*claim.assumptions, *found.supposed)) if found.supposed else claim
    document = found.proof.document or {}
    written = document_of(claim, restatement)["certificate"] | {"why": document["certificate"]}
    proof = check_certificate(original, document | {"certificate": written})
    spend(sum(proof.work.values()))
    return replace(found, proof=proof) if proof.verdict == "proved" else NotFound(f"{label}: the kernel rejects it")


def _without_exponentials(claim: Claim) -> Claim:
    """Return a claim with symbols for its exponentials, whose conditions are the same."""
    symbols = {one: sp.Dummy(real=True) for one in list_exponentials(claim)}
    return with_relations(claim, [one.transform(lambda side: side.xreplace(symbols)) for one in claim.relations])


def _find_count(claim: Claim) -> Expr:
    """Return the product of the counts on which every exponential of a claim depends."""
    symbols = {symbol for symbol, quantity in claim.notation.items() if quantity in _COUNTS}
    shared = symbols.intersection(*(one.free_symbols for one in list_exponentials(claim)))
    return sp.Mul(*sorted(shared, key=str))
