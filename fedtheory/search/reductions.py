"""Searches for a proof of a stronger statement, which becomes a lemma in the document of the claim."""

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
from fedtheory.search.premises import PARAMETERS, has_required_equation
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.restated import rename_claim
from fedtheory.search.workspace import le

_LEMMA = "stronger-statement"
"""Name of the lemma in a document."""


@dataclass(frozen=True)
class Reduction:
    """A statement from which a claim follows."""

    claim: Claim
    """The claim in plain symbols, with symbols for all quantities of the statement."""
    quantities: Sequence[str]
    """Quantities of the statement that the claim does not name."""
    relation: Relation
    """The statement."""
    finish: Callable[[str], Any]
    """Returns the certificate of the claim from the id of the lemma."""
    uses: Sequence[str]
    """Facts that the certificate uses, by name."""


def search_reduced(claim: Claim, reductions: Iterator[Reduction], search: Search) -> Found | NotFound:
    """Search for a proof of a statement from which a claim follows, and return the proof of the claim."""
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
    """Yield bounds on other quantities of a run from which the claimed bound follows by a fact."""
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
        # The fact is factor_of_other * other - factor_of_wanted * wanted + rest >= 0.
        factor_of_wanted, factor_of_other = -sign * rows[smaller], sign * rows[symbol(other)]
        if factor_of_other.could_extract_minus_sign() or factor_of_wanted.could_extract_minus_sign():
            continue
        # Each summand is divided on its own, so that a search still recognises the powers in the bound.
        summands = sp.Add.make_args(sp.expand_mul(factor_of_wanted * larger - sign * rest))
        relation = le(symbol(other), sp.Add(*(sp.powsimp(each / factor_of_other) for each in summands)))
        ratio = sp.cancel(factor_of_other / factor_of_wanted)
        yield Reduction(plain, added, relation, _finish(plain, fact, sign / factor_of_wanted, ratio), [fact.name])


def _finish(claim: Claim, fact: Fact, multiple: sp.Expr, ratio: sp.Expr) -> Callable[[str], Combination]:
    """Return the certificate by multiples of a fact and a lemma, as a function of the lemma's id."""
    return lambda lemma: Combination(claim=claim.id, links=[[Part(multiple, fact), Part(ratio, lemma)]])


def _state(reduction: Reduction) -> Claim:
    """Return the stronger statement as a claim that has the id of the original claim."""
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
    """Return the document of a claim, in which the stronger statement is the last lemma."""
    claim = reduction.claim
    name = lemma_id(claim, _LEMMA)
    quantities = list(dict.fromkeys([*reduction.quantities, *stronger.get("quantities", ())]))
    stated = use_plain_symbols(with_quantities(_state(reduction), {"quantities": quantities}))
    # The kernel writes exponents with the number of iterations, and a lemma has to have the same exponents.
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
