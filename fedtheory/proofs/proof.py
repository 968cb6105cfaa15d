"""The kernel verdict on a certificate, and the checks for using another claim's proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy as sp

from fedtheory.kernel import LazyText, Rejected, Step, is_nonnegative, is_ordering, slack
from fedtheory.kernel.admitted import (
    list_denominator_factors,
    require_admitted,
    require_admitted_condition,
    require_finite,
    require_nonzero,
)
from fedtheory.kernel.expressions import Expr, Value
from fedtheory.kernel.work import spend
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.existence import list_missing
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.plain_symbols import match_symbols, rename_symbols, use_plain_symbols
from fedtheory.proofs.proof_report import Document, ProofReport, ProofVerdict

IMPLIED_BY: Mapping[Assumption, Sequence[Sequence[Assumption]]] = {
    a.fair_types: ((a.one_type, a.somebody_reports), (a.unbiased_updates,)),
    a.unbiased_updates: ((a.full_rounds,),),
    a.synchronous: ((a.full_rounds,),),
    a.unbiased_bounded_variance: ((a.full_gradients,),),
    a.bounded_mean_dissimilarity: ((a.bounded_dissimilarity,),),
    a.bounded_dissimilarity: ((a.one_type,),),
    a.one_type: ((a.one_client,),),
    a.smooth: ((a.convex_and_smooth,),),
}
"""Assumptions that others imply, such as fair weights by client weights, or bounded noise by full gradients.

If each client's dissimilarity is bounded, so is the client average; clients with one objective have none."""


@dataclass(frozen=True, repr=False)
class Proof(ProofReport):
    """The kernel verdict on a certificate."""

    claim: Claim
    certificate: Any
    """A certificate of any kind; None if there is none."""
    steps: tuple[Step, ...]
    document: Document | None = None
    """The certificate as parsed; None if there is none, or if it has no document format."""
    work: Mapping[str, int] = field(default_factory=dict)
    """Units of work of the check, and those of the checks of all its dependencies, by their ids."""

    symbols: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    """Symbols of the statement that are replaced by others, if the proof is used for a claim in other symbols."""

    @property
    def verdict(self) -> ProofVerdict:
        """The verdict, "proved" only if every step holds."""
        if self.certificate is None:
            return "no certificate"
        return "proved" if self.steps and all(step.holds for step in self.steps) else "broken"

    @property
    def own_work(self) -> int:
        """Units of work of the check, without the claims on which it depends."""
        return self.work.get(self.claim.id, 0)

    @cached_property
    def statement(self) -> Claim:
        """Return the proved statement: the claim under the conditions that the certificate needs, in plain symbols."""
        plain = use_plain_symbols(replace(self.claim, conditions=tuple(conditions_of(self.claim, self.relaxed))))
        return rename_symbols(plain, self.symbols)

    def rename_for(self, claim: Claim) -> Proof:
        """Rename the symbols of a proof to those that a claim in plain symbols has for the same quantities."""
        symbols = match_symbols(claim, self.statement)
        return replace(self, symbols=symbols) if symbols else self

    @property
    def relaxed(self) -> Sequence[Expr] | None:
        """Weaker conditions than the claim's, under which the certificate holds; None for the claim's own."""
        relaxed: Sequence[Expr] | None = getattr(self.certificate, "relaxed", None)
        return relaxed


Prover = Callable[[str], Proof]
"""Function from the id of a claim to its kernel verdict."""


def follows(condition: Expr, claim: Claim, conditions: Sequence[Expr] | None = None) -> bool:
    """Return whether a condition follows from others, by default those of the claim."""
    given = claim.conditions if conditions is None else conditions
    if not is_ordering(condition) or condition in given:
        return condition in given
    numbers = numbers_of(claim)
    # From a non-strict condition only non-strict conditions follow.
    return condition.rel_op in ("<=", ">=") and is_nonnegative(numbers.known(slack(condition)), numbers, given)


def conditions_of(claim: Claim, relaxed: Sequence[Expr] | None) -> Sequence[Expr]:
    """Return the conditions under which a claim is proved: weaker ones if a certificate has them."""
    return claim.conditions if relaxed is None else relaxed


def check_assumed(claim: Claim, needed: Sequence[Assumption], what: str) -> Step:
    """Check that a claim makes the required assumptions."""
    missing = [assumption.name for assumption in needed if not is_assumed(assumption, claim)]
    return Step(what + _append_list("missing", missing), not missing)


def is_assumed(assumption: Assumption, claim: Claim) -> bool:
    """Return whether a claim makes an assumption, or others from which it follows."""
    return assumption in claim.assumptions or any(
        all(is_assumed(other, claim) for other in others) for others in IMPLIED_BY.get(assumption, ())
    )


def check_defined(claim: Claim, quantities: frozenset[Quantity], what: str) -> Step:
    """Check that some quantities are defined on every run that the claim is about."""
    lacking = [*list_missing(claim, quantities)]
    return Step(what + _append_list("need not exist", lacking), not lacking)


def require_ordering(relation: Relation) -> None:
    """Raise `Rejected` if a relation is an equation or strict: a non-negative slack does not suffice."""
    if relation.operator not in ("<=", ">="):
        raise Rejected(f"expected a claim with <= or >=, got {relation.operator}: it needs a proof of another kind")


def add_prefix(prefix: str, steps: Iterable[Step]) -> Iterator[Step]:
    """Yield steps with a prefix that names their part of the proof."""
    return (Step(LazyText(prefix, step.label), step.holds) for step in steps)


_CONDITION = 60_000
"""Units of work for an additional condition, which affects every decision of a sign."""


def check_relaxation(claim: Claim, relaxed: Sequence[Expr]) -> Iterator[Step]:
    """Check that weaker conditions follow from the claim's own, and name nothing that the claim does not name.

    A quantity in a condition is supposed to exist, as one in the statement is.
    """
    named = claim.notation.keys() | claim.for_all.keys()
    for condition in relaxed:
        spend(_CONDITION)
        others = sorted(map(str, condition.free_symbols - named))
        yield Step(f"{condition} is about quantities of the claim" + _append_list("not named", others), not others)
        yield Step(f"{condition} follows from the conditions of the claim", follows(condition, claim))
        require_finite(condition.args, numbers_of(claim), claim.conditions)


def use_lemma(
    claim: Claim, on: Proof, conditions: Sequence[Expr] | None = None, used: Relation | None = None
) -> Iterator[Step]:
    """Check that another claim may be used: it is proved, in the same notation, and assumes no more.

    It does not apply where a side of its relations or conditions divides by zero; for the relation that is used, gaps
    in denominators are checked at the use.  `conditions` are known facts on numbers, by default the claim's
    conditions.
    """
    premise = on.statement
    unmet = [condition for condition in premise.conditions if not follows(condition, claim, conditions)]
    advice = "" if on.verdict == "proved" else f"; `fedtheory prove {premise.id}` says: {on.verdict}"
    yield Step(f"{premise.id} is proved{advice}", on.verdict == "proved")
    given = claim.conditions if conditions is None else conditions
    sides = [side for one in premise.relations for side in one.sides]
    sides += [side for one in premise.conditions for side in one.args]
    gaps = () if used is None else (one for one in list_denominator_factors(used.sides) if one.atoms(Value))
    require_nonzero(list_denominator_factors(sides).difference(gaps), numbers_of(claim), given)
    yield Step(
        f"the notation of {premise.id}", _has_same_notation(claim, premise) and _has_same_quantifiers(claim, premise)
    )
    yield Step(f"the values of the symbols in {premise.id}", _has_weaker_bounds(claim, premise))
    yield check_assumed(claim, premise.assumptions, f"the assumptions of {premise.id}")
    yield Step(f"the conditions of {premise.id}" + _append_list("unmet", unmet), not unmet)
    yield check_defined(claim, frozenset(premise.notation.values()), f"the quantities of {premise.id}")


def _append_list(what: str, items: Sequence[object]) -> str:
    """Write a list after a heading; empty for an empty list."""
    return f"; {what}: {', '.join(map(str, items))}" if items else ""


def _has_same_quantifiers(claim: Claim, premise: Claim) -> bool:
    """Return whether no symbol is under a quantifier in one of them, and a quantity of the run in the other."""
    pairs = ((claim, premise), (premise, claim))
    return all(not (one.for_all.keys() & symbols_of(other).known_symbols) for one, other in pairs)


def _has_weaker_bounds(claim: Claim, premise: Claim) -> bool:
    """Return whether no common symbol has a larger lower bound in the premise, such as that of a quantifier."""
    mine = numbers_of(claim).at_least
    return all(least <= mine.get(symbol, least) for symbol, least in numbers_of(premise).at_least.items())


def _has_same_notation(claim: Claim, premise: Claim) -> bool:
    """Return whether common symbols stand for the same quantities, and common quantities have the same symbol."""
    mine, others = symbols_of(claim), symbols_of(premise)
    names, symbols = mine.known.keys() & others.known.keys(), mine.known_symbols & others.known_symbols
    return all(mine.known[name] == others.known[name] for name in names) and all(
        mine.quantity(symbol) is others.quantity(symbol) for symbol in symbols
    )


def require_provable(claim: Claim) -> None:
    """Raise `Rejected` for a claim without relations, a rate, or a relation that is no ordering of numbers."""
    if claim.rate is not None:
        raise Rejected("expected relations: rates have no certificates")
    if not claim.relations:
        raise Rejected("the claim has no relation that could be proved")
    sides = [side for relation in claim.relations for side in relation.sides]
    for side in sides:
        require_admitted(side)
    for condition in claim.conditions:
        require_admitted_condition(condition)
    for expression in (*sides, *claim.conditions):
        numbers_of(claim).require_integer_exponents(expression)
