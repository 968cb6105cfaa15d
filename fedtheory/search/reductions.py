"""Reductions: a stronger statement is searched for instead of a claim, and becomes a lemma of its document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.quotients import linear
from fedtheory.kernel.work import spend
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs import check_certificate
from fedtheory.proofs.claim_context import with_iterations_in_powers
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.document import Document, document_of, lemma_id, with_quantities
from fedtheory.proofs.document.notation import Scope, write_expression
from fedtheory.proofs.document.symbols import symbols_of as names_of_symbols
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.parts import Part
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import check_assumed
from fedtheory.search.cases import Search
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.premises import PARAMETERS, has_required_equation
from fedtheory.search.restated import rename_claim
from fedtheory.search.workspace import le

_LEMMA = "stronger-statement"
"""Name of the lemma in a document."""


@dataclass(frozen=True)
class Reduction:
    """A statement from which a claim follows."""

    claim: Claim
    """The claim in plain symbols, with those that the statement needs."""
    quantities: Sequence[str]
    """Quantities of the statement that the claim does not name."""
    relation: Relation
    finish: Callable[[str], Any]
    """Returns the certificate of the claim from the id of the lemma."""
    uses: Sequence[str]
    """Facts that the certificate uses, by name."""


def search_reduced(claim: Claim, reductions: Iterator[Reduction], search: Search) -> Found | NotFound:
    """Search for a proof of a statement from which a claim follows, and return that of the claim."""
    if claim.for_all or claim.rate is not None or len(claim.relations) != 1:
        return NotFound("it is not one inequality")
    found: Found | NotFound = NotFound("no stronger statement is known")
    for reduction in reductions:
        found = search(_state(reduction))
        joined = _join(claim, reduction, found) if isinstance(found, Found) else None
        if joined is not None:
            return joined
    return found if isinstance(found, NotFound) else NotFound("the proof of a stronger statement does not fit")


def list_linked(claim: Claim) -> Iterator[Reduction]:
    """Yield bounds on other quantities from which, by a fact, an upper bound on one quantity of a run follows."""
    if claim.place != "run" or claim.relations[0].operator not in ("<=", ">="):
        return
    wanted = claim.notation.get(claim.relations[0].ordered[0])
    if wanted is None or wanted in PARAMETERS:
        return
    for fact in FACTS.values():
        others = fact.quantities - {wanted} - PARAMETERS
        if wanted in fact.quantities and len(others) == 1 and check_assumed(claim, fact.needs, "").holds:
            yield from _list_by_fact(claim, fact, *others)


def _list_by_fact(claim: Claim, fact: Fact, other: Quantity) -> Iterator[Reduction]:
    """Yield the bound on another quantity that a fact turns into a bound on the wanted one."""
    named = {quantity.name for quantity in {**claim.where, **claim.notation}.values()}
    added = sorted(quantity.name for quantity in fact.quantities if quantity.name not in named)
    if added not in ([], [other.name]):
        return
    plain = use_plain_symbols(with_quantities(claim, {"quantities": added}))
    symbol = symbols_of(plain)
    smaller, larger = plain.relations[0].ordered
    if not has_required_equation(fact, symbol, plain):
        return
    try:
        rows, rest = linear(sp.sympify(fact.slack(symbol)), {smaller, symbol(other)})
    except Rejected:
        return
    for sign in (1, -1) if fact.is_zero else (1,):
        loss, gain = -sign * rows[smaller], sign * rows[symbol(other)]
        if gain.could_extract_minus_sign() or loss.could_extract_minus_sign():
            continue
        # Summand by summand, so that a search still recognises the powers in a bound.
        summands = sp.Add.make_args(sp.expand_mul(loss * larger - sign * rest))
        relation = le(symbol(other), sp.Add(*(sp.powsimp(one / gain) for one in summands)))
        yield Reduction(plain, added, relation, _finish(plain, fact, sign, gain, loss), [fact.name])


def _finish(claim: Claim, fact: Fact, sign: int, gain: sp.Expr, loss: sp.Expr) -> Callable[[str], Combination]:
    """Return the sum of a lemma and a fact, as a function of the lemma's id."""
    return lambda lemma: Combination(
        claim=claim.id, links=[[Part(sign / loss, fact), Part(sp.cancel(gain / loss), lemma)]]
    )


def _state(reduction: Reduction) -> Claim:
    """Return the stronger statement as a claim with the id of the claim."""
    return replace(reduction.claim, also=(reduction.relation,), lhs=None, rhs=None, chain=(), is_published=False)


def _join(claim: Claim, reduction: Reduction, found: Found) -> Found | None:
    """Return the proof of a claim with the stronger statement as a lemma; None if the kernel rejects it."""
    original = replace(claim, assumptions=(*claim.assumptions, *found.supposed)) if found.supposed else claim
    proof = check_certificate(original, _write_document(reduction, found.proof.document or {}))
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        return None
    return Found(proof, [*found.uses, *reduction.uses], found.supposed, 0)


def _write_document(reduction: Reduction, stronger: Document) -> Document:
    """Return the document of a claim, with the proof of a stronger statement as its last lemma."""
    claim = reduction.claim
    name = lemma_id(claim, _LEMMA)
    quantities = list(dict.fromkeys([*reduction.quantities, *stronger.get("quantities", ())]))
    stated = use_plain_symbols(with_quantities(_state(reduction), {"quantities": quantities}))
    # The kernel counts local steps in the exponents of a claim, and a lemma has to agree with it.
    smaller, larger = with_iterations_in_powers(stated, stated.conditions).relations[0].ordered
    scope = Scope(names_of_symbols(stated))
    lemma = {
        "name": _LEMMA,
        "place": claim.place,
        "statement": f"{write_expression(smaller, scope)} <= {write_expression(larger, scope)}",
        "certificate": rename_claim(stronger["certificate"], claim.id, name),
    }
    own = document_of(claim, reduction.finish(name))
    return {
        **own,
        "letters": {**stronger["letters"], **own["letters"]},
        "lemmas": [*stronger.get("lemmas", ()), lemma],
        **({"quantities": quantities} if quantities else {}),
    }
