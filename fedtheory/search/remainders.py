"""Subtracts multiples of premises from the slack of a claim, until a number remains that must be non-negative."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp

from fedtheory.kernel import Rejected, is_ordering, slack
from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.kernel.quotients import Quotient, quotient
from fedtheory.kernel.work import spend
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.claim_context import with_iterations_in_powers
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.document import Document, document_of, with_quantities
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.parts import Part
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import follows
from fedtheory.proofs.run_conditions import conditions_of_run
from fedtheory.search.conditions import derive_conditions
from fedtheory.search.positivity import SignFacts, split_into_products, split_quickly, split_with_squares
from fedtheory.search.premises import LinearPremise, find_constant_term, split_linear
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.samples import draw_samples, find_negative, is_feasible, is_negative_at
from fedtheory.search.workspace import LemmaGoal, Workspace, le, list_used_names

_MOST_PREMISES = 6
"""Limit on the number of premises in one combination."""
_SAMPLES = 600
"""Number of samples that may refute that a remainder is non-negative."""


@dataclass(frozen=True)
class Goal:
    """A claim to prove, in the form that the search needs."""

    claim: Claim
    """The claim in plain symbols, with symbols for the quantities of known claims, and with the added assumptions."""
    original: Claim
    """The claim in its author's notation, with the added assumptions."""
    quantities: Sequence[str]
    """Names of the quantities for which symbols were added."""
    supposed: Sequence[Assumption]
    """The added assumptions."""
    relaxed: Sequence[Expr] | None
    """The conditions of the certificate, if further ones were derived from those of the claim."""
    signs: SignFacts
    workspace: Workspace | None = None
    """Lemmas that may be premises."""

    @property
    def original_symbols(self) -> set[sp.Symbol]:
        """The symbols of the claim in its author's notation, as plain symbols."""
        return set(use_plain_symbols(self.original).notation)


@dataclass(frozen=True)
class Remainder:
    """The slack of a claim minus multiples of premises: a number, which must be non-negative."""

    goal: Goal
    parts: Sequence[tuple[Quotient, LinearPremise]]
    """The multiples and the premises."""
    own: Quotient
    """The constant term of the claim's slack."""
    written: Expr
    """The remainder, with the terms as the authors of the claim and the premises wrote them."""

    @cached_property
    def number(self) -> Expr:
        """Return the remainder in lowest terms."""
        left = {sp.S.One: self.own}
        for multiple, premise in self.parts:
            left = _subtract_multiple(left, multiple, {row: number for row, number in premise.form.items() if row == 1})
        return left.get(sp.S.One, quotient(sp.S.Zero)).expression


def make_goal(claim: Claim, quantities: Sequence[str], missing: Sequence[Assumption] = ()) -> Goal:
    """Return a claim as a goal, with symbols for further quantities and with added assumptions."""
    extended = replace(claim, assumptions=(*claim.assumptions, *missing)) if missing else claim
    whole = use_plain_symbols(with_quantities(extended, {"quantities": quantities}))
    solved = derive_conditions(whole)
    whole = replace(whole, conditions=(*whole.conditions, *solved)) if solved else whole
    signs = SignFacts(numbers_of(whole), tuple(conditions_of_run(whole)))
    # The kernel writes exponents with the number of iterations, too.
    whole = with_iterations_in_powers(whole, whole.conditions)
    return Goal(whole, extended, quantities, missing, whole.conditions if solved else None, signs)


def list_remainders(goal: Goal, first: Sequence[LinearPremise], others: Sequence[LinearPremise]) -> Iterator[Remainder]:
    """Yield the remainders of all combinations that use at least one of the first premises."""
    relation = goal.claim.relations[0]
    try:
        form = dict(split_linear(relation.slack, goal.claim))
    except Rejected:
        return
    number = form.pop(sp.S.One, quotient(sp.S.Zero))
    own = find_constant_term(relation.slack, goal.claim)
    for parts in _eliminate(form, [*first, *others], goal.signs, frozenset()):
        if not parts or any(premise in first for _, premise in parts):
            written = own - sp.Add(*(multiple.expression * premise.written for multiple, premise in parts))
            remainder = _replace_vanishing(Remainder(goal, parts, number, written), others)
            yield remainder
            yield from _replace_bounded(remainder, [*first, *others])


def _replace_vanishing(remainder: Remainder, premises: Sequence[LinearPremise]) -> Remainder:
    """Return a remainder in which symbols are replaced by their values from facts and conditions."""
    for premise, symbol, value in _list_replaceable(remainder.goal, premises):
        number, zero = remainder.number, premise.written
        if not number.has(symbol) or not number.is_rational_function(symbol):
            continue
        multiple = sp.cancel((number - number.xreplace({symbol: value})) / zero)
        parts = [*remainder.parts, (quotient(multiple), premise)]
        remainder = replace(remainder, parts=parts, written=remainder.written.xreplace({symbol: value}))
    return remainder


def _replace_bounded(remainder: Remainder, premises: Sequence[LinearPremise]) -> Iterator[Remainder]:
    """Yield a remainder in which numbers that the claimed bound does not name are replaced by bounds on them."""
    _, larger = remainder.goal.claim.relations[0].ordered
    bounded = remainder
    for premise in premises:
        if premise.vanishes or premise.form.keys() != {sp.S.One}:
            continue
        for symbol in sorted(premise.written.free_symbols - larger.free_symbols, key=str):
            number, slack = bounded.number, premise.written
            factor = slack.diff(symbol)
            if factor.has(symbol) or not number.has(symbol) or not number.is_rational_function(symbol):
                continue
            value = symbol - slack / factor
            multiple = sp.cancel((number - number.xreplace({symbol: value})) / slack)
            if remainder.goal.signs.is_nonnegative(multiple):
                written = bounded.written - multiple * slack
                bounded = replace(bounded, parts=[*bounded.parts, (quotient(multiple), premise)], written=written)
    if bounded is not remainder:
        yield bounded


def _list_replaceable(goal: Goal, premises: Sequence[LinearPremise]) -> Iterator[tuple[LinearPremise, sp.Symbol, Expr]]:
    """Yield equations between numbers, each with a symbol to replace and its value.

    The claim does not name the symbol, or the value is a rational.
    """
    equations = [one for one in premises if one.vanishes and one.sign == 1 and one.form.keys() == {sp.S.One}]
    for condition in (one for one in goal.claim.conditions if isinstance(one, sp.Eq)):
        zero, name = condition.lhs - condition.rhs, f"{condition.lhs} = {condition.rhs}"
        equations.append(LinearPremise(condition, name, {sp.S.One: quotient(zero)}, zero, 1, True))
    for premise in equations:
        for symbol in sorted(premise.written.free_symbols, key=str):
            zero = sp.expand(premise.written)
            factor = zero.coeff(symbol)
            value = sp.cancel(symbol - zero / factor) if factor != 0 else symbol
            if symbol not in value.free_symbols and (symbol not in goal.original_symbols or value.is_Rational):
                yield premise, symbol, value
                break


def search_products(remainders: Sequence[Remainder]) -> Found | NotFound:
    """Search for sums of products that equal a remainder, for those remainders that no sample refutes."""
    counts, plausible = [], []
    for remainder in remainders:
        goal = remainder.goal
        if remainder.number.atoms(Average, ClientSum):
            # Samples have no numbers of clients, so that an average over clients has no value.
            counts.append(_SAMPLES)
            plausible.append(remainder)
            continue
        samples = draw_samples(
            tuple(remainder.number.free_symbols), goal.signs.numbers, goal.signs.conditions, _SAMPLES
        )
        point = find_negative(remainder.number, samples, goal.signs.numbers, goal.signs.conditions)
        counts.append(int(np.sum(samples.values(remainder.number) < 0)))
        if point is None:
            plausible.append(remainder)
    for split in (split_with_squares, split_into_products):
        for remainder in plausible:
            found = prove_remainder(remainder, remainder.number, split)
            if found is not None:
                return found
    nearest = remainders[int(np.argmin(counts))]
    name = next((premise.name for _, premise in nearest.parts), None)
    if plausible:
        return NotFound("no combination of known bounds and facts shows it", name)
    return NotFound("no combination of known bounds and facts shows it", name, _find_below(remainders))


def _find_below(remainders: Sequence[Remainder]) -> Mapping[sp.Symbol, Expr] | None:
    """Return numbers at which all conditions hold and the claimed bound is below every known one.

    Returns None if no sample has this property.
    """
    goals = [remainder.goal for remainder in remainders]
    symbols = sorted(set().union(*(remainder.number.free_symbols for remainder in remainders)), key=str)
    conditions = list(dict.fromkeys(one for goal in goals for one in goal.signs.conditions))
    numbers = max((goal.signs.numbers for goal in goals), key=lambda known: len(known.symbols))
    samples = draw_samples(symbols, numbers, conditions, _SAMPLES)
    values = np.array([samples.values(remainder.number) for remainder in remainders])
    for place in np.flatnonzero((values < 0).all(axis=0)):
        point = samples.point(int(place))
        is_below = all(is_negative_at(remainder.number, point) for remainder in remainders)
        if is_below and is_feasible(point, numbers, conditions):
            return {symbol: value for symbol, value in point.items() if symbol in goals[0].original_symbols}
    return None


def _eliminate(
    form: Mapping[Expr, Quotient], premises: Sequence[LinearPremise], signs: SignFacts, done: frozenset[Expr]
) -> Iterator[list[tuple[Quotient, LinearPremise]]]:
    """Yield non-negative multiples of premises whose subtraction cancels every quantity of a form.

    `done` has the quantities that are cancelled already, and may not occur in further premises.
    """
    rows = sorted(form, key=str)
    if not rows:
        yield []
        return
    if len(done) == _MOST_PREMISES:
        return
    row = min(rows, key=lambda one: sum(one in premise.form for premise in premises))
    for premise in premises:
        if row not in premise.form or premise.form.keys() & done:
            continue
        spend(2000)
        multiple = form[row] * _invert(premise.form[row])
        if not signs.is_nonnegative(multiple.expression):
            continue
        left = _subtract_multiple(form, multiple, {row: number for row, number in premise.form.items() if row != 1})
        for parts in _eliminate(left, premises, signs, done | {row}):
            yield [(multiple, premise), *parts]


def _invert(number: Quotient) -> Quotient:
    """Return the reciprocal."""
    return quotient(1 / number.expression)


_MINUS = quotient(sp.S.NegativeOne)


def _subtract_multiple(
    form: Mapping[Expr, Quotient], multiple: Quotient, other: Mapping[Expr, Quotient]
) -> dict[Expr, Quotient]:
    """Return a form minus a multiple of another."""
    left = dict(form)
    for row, number in other.items():
        less = _MINUS * multiple * number
        left[row] = left[row] + less if row in left else less
    return {row: number for row, number in left.items() if number}


def prove_remainder(
    remainder: Remainder, number: Expr, split: Callable[[Expr, SignFacts], list[Expr] | None]
) -> Found | None:
    """Return the proof by the premises and the summands of a remainder; None if none are found.

    `split` writes a number as a sum of non-negative summands.
    """
    goal = remainder.goal
    summands = split(number, goal.signs)
    if summands is None:
        return None
    parts = [Part(multiple.expression * premise.sign, premise.part) for multiple, premise in remainder.parts]
    parts += [Part(summand, ONE) for summand in summands]
    given = dict.fromkeys(name for _, premise in remainder.parts for name in premise.given)
    known = [Derived(name) for name in given]
    certificate = Combination(claim=goal.claim.id, links=[parts], relaxed=goal.relaxed, known=known)
    named = (_name_premise(premise) for _, premise in remainder.parts)
    document = _write_document(goal, certificate, [*given, *named])
    proof = check_certificate(goal.original, document)
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        return None
    uses = list(dict.fromkeys(premise.name for _, premise in remainder.parts))
    return Found(proof, uses, goal.supposed, 0)


def prove_conditions(goal: Goal, workspace: Workspace, conditions: Sequence[sp.Rel]) -> tuple[str, ...] | None:
    """Add lemmas for the conditions that the kernel does not recognise as implied, and return their ids.

    Returns None if one of them is not proved.
    """
    unproved = [one for one in conditions if not follows(one, goal.claim, goal.signs.conditions)]
    lemmas = [_prove_condition(goal, workspace, one) for one in unproved]
    return None if None in lemmas else tuple(name for name in lemmas if name is not None)


def _prove_condition(goal: Goal, workspace: Workspace, condition: sp.Rel) -> str | None:
    """Add a lemma for a condition and return its id; return None if its slack is not written as a sum of products."""
    if not is_ordering(condition):
        return None
    number = slack(condition)
    try:
        summands = split_quickly(number, goal.signs) or split_into_products(number, goal.signs)
    except Rejected:
        return None
    if summands is None:
        return None
    statement = LemmaGoal(f"condition-{len(workspace.proofs)}", "run", le(condition.lts, condition.gts))
    claim = workspace.claim_of(statement)
    parts = [Part(summand, ONE) for summand in summands]
    return workspace.add(statement, Combination(claim=claim.id, links=[parts], relaxed=goal.relaxed))


def _name_premise(premise: LinearPremise) -> str:
    """Return the name of the lemma or fact on which a premise is based."""
    return premise.part.claim if isinstance(premise.part, Derived) else str(premise.part)


def _write_document(goal: Goal, certificate: Combination, names: Sequence[str]) -> Document:
    """Return the document of a certificate, with the lemmas and the quantities that it needs."""
    document = document_of(goal.claim, certificate)
    lemmas = [] if goal.workspace is None else goal.workspace.entries(names)
    # The exponents of the claim may contain the number of iterations, which the document does not name.
    stated = {quantity.name for quantity in goal.claim.notation.values()}
    named = {*list_used_names([document, *lemmas], goal.quantities), *stated}
    used = [name for name in goal.quantities if name in named] if lemmas else list(goal.quantities)
    return document | ({"quantities": used} if used else {}) | ({"lemmas": lemmas} if lemmas else {})
