"""Claims about a run that follow from others: sums of proved inequalities and of facts about quantities."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import sympy as sp

from fedtheory.kernel import LazyText, Numbers, Rejected, Step, check_nonnegative, check_zero, is_nonnegative, slack
from fedtheory.kernel.admitted import require_finite
from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.intervals import Derived, gap_conditions
from fedtheory.proofs.numbers import list_known_conditions, numbers_of, symbols_of
from fedtheory.proofs.paper_contexts import paper_conditions
from fedtheory.proofs.parts import Part
from fedtheory.proofs.proof import (
    Prover,
    check_assumed,
    check_defined,
    follows,
    prefixed,
    require_one_notation,
    use_lemma,
)
from fedtheory.proofs.roots import Root, conditions_with, name_roots, numbers_with, positive, require_own_symbols


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Why a claim about a run follows from others."""

    claim: str
    """Id of the claim."""
    links: Sequence[Sequence[Part]]
    """For each relation the parts that add up to its slack."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the parts suffice; None for the claim's own."""
    known: Sequence[Derived] = ()
    """Proved inequalities between numbers, under which the signs of coefficients are decided."""
    roots: Sequence[Root] = ()
    """Symbols for the square roots in the claim, for the coefficients of parts."""


def check_combination(claim: Claim, certificate: Combination, prove: Prover) -> Iterator[Step]:
    """Check that a claim about a run is a sum of others; `Rejected` where it is about something else."""
    if claim.place != "run" or len(claim.relations) != len(certificate.links):
        raise Rejected("a combination concerns the relations of a whole run, with parts for each")
    prove = _rename_for(claim, prove)
    require_one_notation([prove(name).statement for name in _list_premises(certificate)])
    conditions = conditions_of_run(claim)
    for inequality in certificate.known:
        slack, vanishes = yield from _derived(claim, inequality, conditions, prove)
        if vanishes:
            conditions.append(_equation(slack))
            continue
        larger = [symbol for symbol in sorted(slack.free_symbols, key=str) if not (slack - symbol).has(symbol)]
        conditions += [sp.Le(symbol - slack, symbol, evaluate=False) for symbol in larger]
        conditions.append(sp.Ge(slack, 0, evaluate=False))
    yield from check_roots(claim, certificate.roots, conditions, prove)
    numbers = numbers_with(certificate.roots, numbers_of(claim))
    keys_are_symbols = conditions_with(certificate.roots, conditions)
    known = _Known(numbers, tuple(dict.fromkeys((*keys_are_symbols, *conditions))))
    for relation, parts in zip(claim.relations, certificate.links, strict=True):
        relation_with_roots = name_roots(certificate.roots, relation)
        yield from _link(claim, relation_with_roots, parts, known, prove)
        if relation.operator == "==":
            # Later links may use it: where it is not shown, nothing is.
            known = replace(known, conditions=(*known.conditions, _equation(relation_with_roots.slack)))


def conditions_of_run(claim: Claim) -> list[Expr]:
    """Return the facts on the numbers of a claim about a run: its conditions, and those of its quantities."""
    own = without_minima(claim.conditions, numbers_of(claim))
    return [*own, *gap_conditions(claim), *list_known_conditions(claim), *paper_conditions(claim)]


def _rename_for(claim: Claim, prove: Prover) -> Prover:
    """A prover whose statements are in the symbols that the claim has for its quantities."""
    return cache(lambda name: prove(name).rename_for(claim))


def _list_premises(certificate: Combination) -> list[str]:
    """The ids of the claims of which a sum is made, or by which signs are known."""
    sums = [*certificate.links, *(root.parts for root in certificate.roots)]
    premises = [*certificate.known, *(part.premise for parts in sums for part in parts)]
    found = (one.claim if isinstance(one, Derived) else one for one in premises)
    return list(dict.fromkeys(name for name in found if isinstance(name, str)))


def _equation(vanishing: Expr) -> Expr:
    return sp.Eq(vanishing, 0, evaluate=False)


def without_minima(conditions: Sequence[Expr], numbers: Numbers) -> Iterator[Expr]:
    """Conditions, and for one of the form x <= c min(u, v, ...) with c >= 0 those that it is made of."""
    for condition in conditions:
        yield condition
        least = condition.rhs.atoms(sp.Min) if isinstance(condition, sp.Le) else set()
        if len(least) == 1:
            (minimum,) = least
            factor = condition.rhs / minimum
            if not factor.has(sp.Min) and is_nonnegative(factor, numbers):
                yield from (sp.Le(condition.lhs, factor * bound, evaluate=False) for bound in minimum.args)


def check_roots(claim: Claim, roots: Sequence[Root], conditions: Sequence[Expr], prove: Prover) -> Iterator[Step]:
    """Check that what is under the roots of a claim is not negative."""
    numbers = numbers_of(claim)
    require_own_symbols(claim, roots, numbers)
    for root in roots:
        numbers.plain(root.of)
        yield from positive(root, numbers, conditions)
        above = Relation(root.of, ">=", root.least)
        known = _Known(numbers, conditions)
        yield from prefixed(f"{root.letter}: ", _link(claim, above, root.parts, known, prove))


@dataclass(frozen=True)
class _Known:
    """Facts by which signs are decided."""

    numbers: Numbers
    conditions: Sequence[Expr]


def _link(claim: Claim, relation: Relation, parts: Sequence[Part], known: _Known, prove: Prover) -> Iterator[Step]:
    numbers, conditions = known.numbers, known.conditions
    if relation.operator not in ("<=", "==", ">="):
        raise Rejected("a combination shows that a side is not larger, not that it is smaller")
    premises = []
    for part in parts:
        premises.append((part, *(yield from _premise(claim, part, conditions, prove))))
    coefficients = [numbers.known(part.coefficient) for part in parts]
    require_finite(coefficients, numbers, conditions)
    factors = [_sum_over_clients(claim, part, factor, known) for part, factor, _ in premises]
    # The sum comes first: that it is wrong is seen sooner than that a sign is.
    yield _sum_of(numbers, relation, [c * factor for c, factor in zip(coefficients, factors, strict=True)])
    for coefficient, (part, _, vanishes) in zip(coefficients, premises, strict=True):
        signs = [coefficient] if part.over is None else [coefficient, numbers.known(part.over)]
        check_nonnegative = vanishes or (
            relation.operator != "==" and all(is_nonnegative(one, numbers, conditions) for one in signs)
        )
        yield Step(LazyText("(", coefficient, ") may multiply: ", _name(part)), check_nonnegative)


def _sum_over_clients(claim: Claim, part: Part, factor: Expr, known: _Known) -> Expr:
    """Return the slack that a part multiplies: the premise, or a sum over the clients of multiples of it."""
    if part.over is None:
        return factor
    own = known.numbers.known(part.over)
    require_finite([own], known.numbers, known.conditions)
    return known.numbers.summed(own * factor).xreplace({ClientSum(sp.S.One): symbols_of(claim)(q.clients)})


def _sum_of(numbers: Numbers, relation: Relation, multiples: Sequence[Expr]) -> Step:
    rest = sp.Add(
        *(numbers.with_plain_means(numbers.written_out(e)) for e in (relation.slack, *(-m for m in multiples)))
    )
    return check_zero("the sum", rest, numbers)


def _name(part: Part) -> str:
    if isinstance(part.premise, Derived):
        return part.premise.claim
    return part.premise.name if isinstance(part.premise, Fact) else str(part.premise)


def _premise(
    claim: Claim, part: Part, conditions: Sequence[Expr], prove: Prover
) -> Generator[Step, None, tuple[Expr, bool]]:
    """Return the slack that a part multiplies, and whether it is zero; the steps justify its use."""
    if isinstance(part.premise, Fact):
        symbol = symbols_of(claim)
        yield check_assumed(claim, part.premise.needs, part.premise.name)
        yield check_defined(claim, part.premise.quantities, part.premise.name)
        yield from _vanishes(part.premise.zero_condition(symbol), conditions)
        return part.premise.slack(symbol), part.premise.is_zero
    if isinstance(part.premise, str | Derived):
        derived = Derived(part.premise) if isinstance(part.premise, str) else part.premise
        return (yield from _derived(claim, derived, conditions, prove))
    yield Step(f"the condition {part.premise}", follows(part.premise, claim, conditions))
    is_equation = isinstance(part.premise, sp.Eq)
    return part.premise.lhs - part.premise.rhs if is_equation else slack(part.premise), is_equation


def _vanishes(number: Expr, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Return whether a number is zero by a known equation."""
    if number == 0:
        return
    known = [one.lhs - one.rhs for one in conditions if isinstance(one, sp.Eq)]
    yield Step(LazyText("(", number, ") = 0"), any(is_zero(number - sign * one) for one in known for sign in (1, -1)))


def _derived(
    claim: Claim, derived: Derived, conditions: Sequence[Expr], prove: Prover
) -> Generator[Step, None, tuple[Expr, bool]]:
    """The slack of a relation that is proved or follows from one, and whether it is an equation."""
    proof = prove(derived.claim)
    premise = proof.statement
    if derived.link >= len(premise.relations):
        raise Rejected(f"{derived.claim} has no relation number {derived.link}")
    relation, symbol = premise.relations[derived.link], symbols_of(premise)
    yield from use_lemma(claim, proof, conditions, relation)
    yield Step(f"{derived.claim} is about: {derived.place}", premise.place == derived.place)
    yield check_assumed(claim, derived.needs, f"the consequence of {derived.claim}")
    # In the symbols of that claim, of which some may mean nothing in this one; shared ones mean the same.
    found = derived.of(symbol, premise.relations)
    for required in derived.requires(symbol, relation.slack):
        yield check_nonnegative(numbers_of(claim).plain(required), numbers_of(claim), conditions)
    require_finite([found], numbers_of(claim), conditions)
    return found, relation.operator == "==" and derived.keeps_equations
