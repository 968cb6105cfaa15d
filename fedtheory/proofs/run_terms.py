"""Definitions of quantities of FedAvg runs in proofs, from the terms that define their values.

They are trusted like the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, Expr, has_plain_vectors
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import next_run_iterate, run_iterate
from fedtheory.language.term_relations import find_by_term, is_defined_by_term

_FIXED = frozenset((q.optimum, q.objective, q.client_objective, q.client_optimum))
"""Points and objectives that are the same at every local step, and in claims about points."""
SYNCHRONOUS: Mapping[Quantity, Quantity] = {
    run_iterate: q.average_iterate,
    next_run_iterate: q.next_average_iterate,
}
"""Models that equal the average of the clients if all clients of a round start from the server's model."""


def unfold_terms(claim: Claim) -> Claim:
    """Return a claim with its quantities replaced by their terms.

    Quantities of a local step are replaced in claims about steps, those of minimisers also in other claims about
    vectors.  A user-defined quantity that equals one of the vocabulary is replaced by that one in claims about runs.
    """
    needed = {a.full_participation, a.averaged_participants, a.synchronous}
    same = {} if needed.isdisjoint(claim.assumptions) else SYNCHRONOUS
    known = {**claim.where, **claim.notation}
    if claim.place == "run":
        return _use_known_quantities(claim, known, same)
    return _unfold_steps(claim, known, same)


def _use_known_quantities(claim: Claim, where: dict[sp.Symbol, Quantity], same: Mapping[Quantity, Quantity]) -> Claim:
    """Return a claim about runs with user-defined quantities replaced by equal ones of the vocabulary."""
    numbers = {symbol: one for symbol, one in where.items() if isinstance(one, RunQuantity)}
    found = {symbol: known for symbol, one in numbers.items() if (known := find_by_term(one, same)) is not one}
    # A document may also name the quantity of the vocabulary, with another symbol.
    given = {one: symbol for symbol, one in numbers.items()}
    named = {symbol: given.setdefault(known, symbol) for symbol, known in found.items()}
    twice = {symbol: other for symbol, other in named.items() if symbol != other}
    kept = {symbol: one for symbol, one in {**where, **found}.items() if symbol not in twice}
    return rewrite(claim, twice, kept) if found else claim


def _unfold_steps(claim: Claim, where: dict[sp.Symbol, Quantity], same: Mapping[Quantity, Quantity]) -> Claim:
    """Return a claim about vectors with quantities of a local step, or of minimisers, replaced by their terms."""
    named = {
        symbol: one.term
        for symbol, one in claim.notation.items()
        if isinstance(one, RunQuantity) and one.term is not None and is_unfolded(one, claim) and is_defined_by_term(one)
    }
    if any(condition.free_symbols & named.keys() for condition in claim.conditions):
        raise Rejected("expected conditions on numbers of the run, got one on a quantity that vectors define")
    for term in named.values():
        for _, of in term.where:
            if all(known is not same.get(of, of) for known in where.values()):
                where[unused_symbol(same.get(of, of), where, claim)] = same.get(of, of)
    symbols = {one.name: symbol for symbol, one in where.items()}
    written = {
        symbol: term.expression.xreplace({own: symbols[same.get(of, of).name] for own, of in term.where})
        for symbol, term in named.items()
    }
    if claim.place == "points":
        # Nothing is random there.
        written = {symbol: one.replace(Expectation, lambda of: of) for symbol, one in written.items()}
    return rewrite(claim, written, {s: one for s, one in where.items() if s not in named}) if named else claim


def is_unfolded(quantity: RunQuantity, claim: Claim) -> bool:
    """Return whether a number is an expression at each local step of a claim about steps, or one of fixed points."""
    term = quantity.term
    if term is None or quantity.root or not has_plain_vectors(term.expression):
        return False
    if {of for _, of in term.where} <= _FIXED:
        return claim.place in ("step", "points") and term.over == (FIRST_STEP, FIRST_ROUND)
    return claim.place == "step" and not term.over and quantity.per_step


def rewrite(
    claim: Claim, written: Mapping[sp.Symbol, Expr], where: Mapping[sp.Symbol, Quantity], **changes: Any
) -> Claim:
    """Return a claim with some symbols replaced by expressions, other quantities, and changes of other fields."""
    relations = (relation.transform(lambda side: side.xreplace(written)) for relation in claim.relations)
    conditions = tuple(rename_condition(condition, written) for condition in claim.conditions)
    return with_relations(claim, relations, conditions=conditions, where=where, **changes)


def with_relations(claim: Claim, relations: Iterable[Relation], **changes: Any) -> Claim:
    """Return a claim with other relations, and with changes of other fields."""
    return replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations), **changes)


def rename_condition(condition: Expr, written: Mapping[sp.Symbol, Expr]) -> Expr:
    """Return an ordering in other symbols, without evaluating it even if SymPy knows that it holds."""
    if not isinstance(condition, sp.Rel):
        return condition
    return condition.func(*(side.xreplace(written) for side in condition.args), evaluate=False)


def unused_symbol(quantity: Quantity, where: Mapping[sp.Symbol, Quantity], claim: Claim) -> sp.Symbol:
    """Return a symbol for a quantity that has none in a claim."""
    taken = {symbol.name for symbol in (*where, *claim.for_all)}
    return sp.Symbol(unused_name(quantity.latex, taken), real=True)


def unused_name(name: str, taken: Set[str]) -> str:
    """Return a name with as many primes as make it different from those taken."""
    while name in taken:
        name += "'"
    return name
