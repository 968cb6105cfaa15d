"""Label planted errors as true or false without a search.

A changed claim is true if it follows from proved claims: its slack is theirs plus a non-negative expression. It is
false if it fails on a run that is stored for a part of the original bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import sympy as sp
from planted import COUNTS, OF_THE_PREMISES, Mutant

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Term, assumption, is_ordering, one, slack
from fedtheory.kernel.signs import is_nonnegative
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import claims_of, find
from fedtheory.proofs import Certificate, Combination, Part, certificate_of, check_certificate
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.numbers import numbers_of
from fedtheory.runfile import parse_run, read_toml
from verify.check import check
from verify.slack import run_files

ORDERS = (
    ("average_round_drift", "max_drift"),
    ("round_drift", "max_drift"),
    ("rounds", "iterations"),
    ("objective_smoothness", "smoothness"),
    ("noise_at_optimum", "noise_deviation"),
    ("dissimilarity_at_optimum", "gradient_dissimilarity"),
    ("mean_dissimilarity", "gradient_dissimilarity"),
)
"""Pairs of quantities of which the first is at most the second by definition."""
SHARES = (sp.S.One, sp.S.Half, sp.Rational(1, 4))
"""Fractions of a condition that may imply another one."""


def follows(mutant: Mutant, origin: Claim) -> bool:
    """Return whether a mutant follows from the proved original claim, or from other proved claims."""
    if origin.verdict == "proved" and mutant.kind in ("a wider condition", "a missing condition"):
        return _are_implied(origin, mutant.claim) or is_proved(mutant)
    if mutant.kind in OF_THE_PREMISES:
        return is_proved(mutant)
    return _is_weaker(mutant.claim, origin) or _needs_no_proof(mutant.claim) or is_proved(mutant)


def _is_weaker(claim: Claim, origin: Claim) -> bool:
    """Return whether the slack of a claim is that of a proved relation plus a non-negative expression."""
    if origin.verdict != "proved" or len(claim.relations) != 1:
        return False
    own = claim.relations[0].slack
    gained = [sp.expand(own - relation.slack) for relation in origin.relations if relation.operator != "=="]
    return any(_is_nonnegative(claim, rest) for rest in gained)


def _needs_no_proof(claim: Claim) -> bool:
    """Return whether the slack of the only relation is non-negative by signs and orders of its symbols."""
    return (
        len(claim.relations) == 1
        and claim.relation in ("<=", ">=")
        and _is_nonnegative(claim, claim.relations[0].slack)
    )


def _is_nonnegative(claim: Claim, rest: sp.Expr) -> bool:
    numbers, known = numbers_of(claim), (*claim.conditions, *_orders_in(claim, rest))
    if any(is_nonnegative(shape, numbers, known) for shape in (sp.factor(rest), rest)):
        return True
    parts = _by_gaps(rest, _orders_in(claim, rest))
    return bool(parts) and all(is_nonnegative(sp.factor(part), numbers, tuple(claim.conditions)) for part in parts)


def _by_gaps(rest: sp.Expr, orders: list[sp.Expr]) -> list[sp.Expr]:
    """Return the coefficients of an expression in the gaps between ordered quantities."""
    gaps = sp.symbols(f"gap:{len(orders)}", nonnegative=True)
    for gap, order in zip(gaps, orders, strict=True):
        rest = rest.subs(order.lhs, order.rhs + gap)
    expanded = sp.expand(rest)
    return sp.Poly(expanded, *gaps).coeffs() if gaps and expanded.is_polynomial(*gaps) else []


def _orders_in(claim: Claim, rest: sp.Expr) -> list[sp.Expr]:
    """Return the orders of quantities in an expression, by their definitions."""
    symbols = {quantity.name: each for each, quantity in claim.notation.items() if each in rest.free_symbols}
    return [symbols[large] >= symbols[small] for small, large in ORDERS if {small, large} <= symbols.keys()]


def _are_implied(origin: Claim, claim: Claim) -> bool:
    """Return whether the conditions of a proved claim follow from those of another, which has the same relations."""
    given = [_of_whole_numbers(claim, condition) for condition in claim.conditions]
    return all(condition in given or _is_implied(claim, condition, given) for condition in origin.conditions)


def _is_implied(claim: Claim, condition: sp.Expr, given: list[sp.Expr]) -> bool:
    if not is_ordering(condition):
        return False
    rests = [slack(condition) - share * slack(other) for other in given if is_ordering(other) for share in SHARES]
    return any(_is_nonnegative(claim, sp.expand(rest)) for rest in rests)


def _of_whole_numbers(claim: Claim, condition: sp.Expr) -> sp.Expr:
    """Return the same condition on a count, with an integer as its bound."""
    quantity = claim.notation.get(condition.lhs) if condition.lhs.is_Symbol else None
    if getattr(quantity, "name", None) not in COUNTS or not condition.rhs.is_Rational:
        return condition
    rounded = {">=": sp.ceiling, "<=": sp.floor}.get(condition.rel_op)
    return condition if rounded is None else condition.func(condition.lhs, rounded(condition.rhs))


def is_proved(mutant: Mutant) -> bool:
    """Return whether a certificate proves a mutant."""
    if len(mutant.claim.relations) != 1 or mutant.kind in OF_THE_PREMISES:
        certificate = certificate_of(mutant.claim.id)
        return certificate is not None and check_certificate(mutant.claim, certificate).verdict == "proved"
    if mutant.claim.relation not in ("<=", ">="):
        return False
    # The mutant's own symbols are used, since a planted symbol may have another meaning.
    claim = replace(mutant.claim, id="t:mutant", where=_use(mutant.claim))
    return any(_follows(claim, premise, number) for premise, number in _near(mutant.claim))


def _use(claim: Claim) -> dict[sp.Symbol, q.Quantity]:
    # Planted symbols come first in a mutant, and each quantity keeps the symbol that is used, or else the last one.
    symbols = {quantity: each for each, quantity in claim.where.items()}
    symbols |= {quantity: each for each, quantity in claim.notation.items()}
    return {each: quantity for quantity, each in symbols.items()}


def _near(claim: Claim) -> Iterator[tuple[Claim, int]]:
    """Yield relations of proved claims of the same source and place, with a common quantity on the smaller side."""
    measured = claim.relations[0].ordered[0].free_symbols
    for premise, number, relation in _prove(claim.source):
        if premise.place == claim.place and relation.free_symbols & measured:
            yield premise, number


@cache
def _prove(source: str) -> tuple[tuple[Claim, int, sp.Expr], ...]:
    return tuple(
        (claim, number, relation.slack)
        for claim in claims_of(source)
        if claim.verdict == "proved" and certificate_of(claim.id) is not None
        for number, relation in enumerate(claim.relations)
        if relation.operator in ("<=", "==", ">=")
    )


def _follows(claim: Claim, premise: Claim, number: int) -> bool:
    """Return whether a claim's slack exceeds a share of the premise's slack, by the signs of its symbols."""
    written = _in_rounds(claim)
    steps = [each for each, quantity in written.where.items() if quantity is q.local_steps]
    return any(_is_sum(written, premise, number, share) for share in (sp.S.One, *(1 / each for each in steps)))


def _is_sum(claim: Claim, premise: Claim, number: int, share: sp.Expr) -> bool:
    rest = sp.expand(claim.relations[0].slack - share * premise.relations[number].slack)
    if claim.place == "run":
        parts = [Part(share, Derived(premise.id, number)), Part(rest, ONE)]
        return check_certificate(claim, Combination(claim=claim.id, links=[parts])).verdict == "proved"
    terms = [Term(share, assumption(f"{premise.id}, relation {number + 1}")), Term(rest, one())]
    found = check_certificate(claim, Certificate(claim=claim.id, links=[terms], lemmas=[premise.id]))
    return found.verdict == "proved"


def _in_rounds(claim: Claim) -> Claim:
    """Return the claim with iterations written as local steps times rounds, if the two are equal."""
    symbol = {quantity: each for each, quantity in claim.where.items()}
    if a.same_local_work not in claim.assumptions or not {q.iterations, q.rounds, q.local_steps} <= symbol.keys():
        return claim
    rounds = {symbol[q.iterations]: symbol[q.rounds] * symbol[q.local_steps]}
    (relation,) = claim.relations
    also = (Relation(relation.left.xreplace(rounds), relation.operator, relation.right.xreplace(rounds)),)
    return replace(claim, lhs=None, rhs=None, also=also)


def is_refuted_by_a_stored_run(mutant: Mutant) -> bool:
    """Return whether a mutant fails on a run that needs much of a part of the bound it was planted in."""
    return any(_fails(mutant.claim, str(file)) for file in set(run_files(find(mutant.claim.id)).values()))


def _fails(claim: Claim, file: str) -> bool:
    try:
        return check(claim, parse_run(read_toml(file), RATIONAL)).holds is False
    except FedtheoryError:
        # A quantity may ask for what this run does not have.
        return False
