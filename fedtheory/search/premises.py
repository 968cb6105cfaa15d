"""Writes proved claims about runs, and facts, as linear forms in the quantities of a claim.

Such premises are the summands of a combination.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.kernel.quotients import Quotient, linear, quotient
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from fedtheory.language.registry import all_claims, find
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE, Fact
from fedtheory.proofs.numbers import NUMBERS, OF_AN_UPDATE, SymbolTable, symbols_of
from fedtheory.proofs.plain_symbols import match_symbols, rename_symbols, use_plain_symbols
from fedtheory.proofs.proof import check_assumed, follows
from fedtheory.proofs.run_conditions import conditions_of_run

PARAMETERS = frozenset((*NUMBERS, *OF_AN_UPDATE)) - {q.average_local_gradient_sq}
"""Quantities that count as numbers of a run; every other quantity of a claim is a variable of its linear forms."""
Form = Mapping[Expr, Quotient]
"""A linear form: the coefficient of each quantity, and the constant term under the key one."""
_OBJECTIVES = (a.smooth, a.convex_and_smooth, a.strongly_convex_clients, a.lipschitz_losses, a.least_squares_loss)
_SUPPOSABLE: Mapping[Assumption, Sequence[RunQuantity]] = {
    a.convex_and_smooth: (q.smoothness, q.objective_smoothness),
    a.smooth: (q.smoothness, q.objective_smoothness),
    a.strongly_convex_clients: (q.strong_convexity,),
}
"""Assumptions that may be added to a claim, and the constants of which the claim must name one.

None of them makes a quantity zero, as full gradients do with the noise: then a false claim could follow.
"""


@dataclass(frozen=True)
class LinearPremise:
    """A linear form that is non-negative, or zero."""

    part: Fact | str | Derived | sp.Eq
    """The object by which a combination refers to the premise."""
    name: str
    """Name of the fact, or id of the claim, for messages."""
    form: Form
    written: Expr
    """The constant term, as the author of the premise wrote it."""
    sign: int = 1
    """Minus one for an equation that is used in the opposite direction."""
    vanishes: bool = False
    """Whether the linear form is zero."""
    given: tuple[str, ...] = ()
    """Ids of lemmas that prove its conditions."""

    @property
    def key(self) -> tuple[str, int]:
        """Key that is equal for equal premises."""
        return str(self.part), self.sign


def split_linear(slack: Expr, claim: Claim) -> Form:
    """Return a slack as a linear form in the quantities of a claim; raise `Rejected` if it is not linear.

    An average over clients counts as a number, and so does a quantity that occurs in a denominator.
    """
    slack = sp.sympify(slack)
    coefficients, rest = linear(slack, _find_rows(slack, claim))
    form: dict[Expr, Quotient] = {row: quotient(number) for row, number in coefficients.items() if number != 0}
    constant = quotient(rest)
    return {**form, sp.S.One: constant} if constant else form


def find_constant_term(slack: Expr, claim: Claim) -> Expr:
    """Return the constant term of a slack as a linear form, in its original notation."""
    slack = sp.sympify(slack)
    return slack.xreplace(dict.fromkeys(_find_rows(slack, claim), sp.S.Zero))


def _find_rows(slack: Expr, claim: Claim) -> set[Expr]:
    """Return the symbols that are variables of a slack as a linear form."""
    averages = {average: sp.Dummy() for average in slack.atoms(Average, ClientSum)}
    known = {**claim.where, **claim.notation}
    symbols = slack.xreplace(averages).free_symbols
    variables = {symbol for symbol in symbols if known.get(symbol, q.clients) not in PARAMETERS}
    divisors = (power.base for power in slack.atoms(sp.Pow) if power.exp.could_extract_minus_sign())
    return variables.difference(*(divisor.free_symbols for divisor in divisors)) if variables else variables


@dataclass(frozen=True)
class KnownClaim:
    """A proved claim that a search may use for another claim."""

    claim: Claim
    """The claim in plain symbols, under the conditions of its certificate."""
    missing: Sequence[Assumption]
    """Assumptions that the other claim does not make."""


def find_known_claims(claim: Claim) -> list[KnownClaim]:
    """Return the proved claims that bound the quantities which a claim bounds, under assumptions that it may have."""
    supposable = set(list_supposable(claim))
    return [known for known in list_bounds_on_same(claim) if set(known.missing) <= supposable]


def list_bounds_on_same(claim: Claim) -> list[KnownClaim]:
    """Return the proved claims that bound the quantities which a claim bounds, under any assumptions.

    Claims that need the fewest further assumptions and quantities come first.
    """
    smaller, _ = claim.relations[0].ordered
    wanted = {
        quantity for symbol, quantity in claim.notation.items() if smaller.has(symbol) and quantity not in PARAMETERS
    }
    found = []
    for name, quantities in _list_bounds().items():
        # The certificates of a paper take long to load, so that the quantities are compared first.
        if wanted and wanted <= quantities and certificate_of(name):
            statement = find_proved_statement(name)
            missing = tuple(one for one in statement.assumptions if not check_assumed(claim, [one], "").holds)
            found.append(KnownClaim(statement, missing))
    own = set(claim.notation.values())
    return sorted(found, key=lambda one: len(one.missing) + 3 * len(set(one.claim.notation.values()) - own))


def list_supposable(claim: Claim) -> list[Assumption]:
    """Return the assumptions that may be added to a claim: none if it makes an assumption about the objectives."""
    if claim.is_published or any(one in _OBJECTIVES for one in claim.assumptions):
        return []
    named = set(claim.notation.values())
    return [assumption for assumption, constants in _SUPPOSABLE.items() if named & set(constants)]


@cache
def _list_bounds() -> Mapping[str, frozenset[Quantity]]:
    """Return the claims about runs recorded as proved, and the quantities on the smaller side of each."""
    return {
        claim.id: frozenset(
            claim.notation[symbol]
            for relation in claim.relations
            for symbol in relation.ordered[0].free_symbols
            if symbol in claim.notation
        )
        for claim in all_claims().values()
        if claim.verdict == "proved" and claim.place == "run" and claim.rate is None
    }


@cache
def find_proved_statement(claim_id: str) -> Claim:
    """Return the proved statement of a recorded claim: under the conditions of its certificate, in plain symbols.

    The kernel checks the certificates of the claims that a found certificate uses.
    """
    claim = find(claim_id)
    relaxed = getattr(certificate_of(claim_id), "relaxed", None)
    return use_plain_symbols(claim if relaxed is None else replace(claim, conditions=tuple(relaxed)))


def list_lacking_quantities(claim: Claim, others: Iterable[Claim]) -> list[str]:
    """Return the names of the quantities that other claims mention and a claim does not."""
    own = {quantity.name for quantity in {**claim.where, **claim.notation}.values()}
    names = {
        quantity.name: None
        for other in others
        for quantity in other.notation.values()
        if type(quantity) is RunQuantity and quantity.name not in own
    }
    return list(names)


def use_known_claim(claim: Claim, known: Claim) -> list[LinearPremise]:
    """Return the relations of a proved claim as premises; none unless its assumptions and conditions are implied."""
    try:
        renamed = adopt_symbols(claim, known)
        conditions = conditions_of_run(claim)
        is_met = renamed is not None and all(follows(one, claim, conditions) for one in renamed.conditions)
    except Rejected:
        return []
    return list_premises(claim, renamed) if renamed is not None and is_met else []


def adopt_symbols(claim: Claim, known: Claim) -> Claim | None:
    """Return a proved claim in the symbols of another claim; None unless the other makes its assumptions."""
    if known.for_all or not check_assumed(claim, known.assumptions, "").holds:
        return None
    return rename_symbols(known, match_symbols(claim, known))


def list_premises(claim: Claim, known: Claim) -> list[LinearPremise]:
    """Return the relations of a proved claim, in the symbols of another, as premises."""
    single = len(known.relations) == 1
    found: list[LinearPremise] = []
    for link, relation in enumerate(known.relations):
        if relation.operator not in ("<=", "==", ">="):
            continue
        part = known.id if single else Derived(known.id, link)
        found += _list_premises(part, known.id, relation.slack, claim, relation.operator == "==")
    return found


def list_fact_premises(claim: Claim) -> list[LinearPremise]:
    """Return the facts about quantities of a claim, as premises."""
    symbol = symbols_of(claim)
    own = set({**claim.where, **claim.notation}.values())
    found: list[LinearPremise] = []
    for fact in FACTS.values():
        usable = (
            fact is not ONE
            and has_required_equation(fact, symbol, claim)
            and fact.quantities <= own
            and check_assumed(claim, fact.needs, "").holds
        )
        if usable:
            found += _list_premises(fact, fact.name, fact.slack(symbol), claim, fact.is_zero)
    return found


def has_required_equation(fact: Fact, symbol: SymbolTable, claim: Claim) -> bool:
    """Return whether a claim's conditions contain the equation that a fact requires."""
    if fact.where == 0:
        return True
    if not fact.quantities <= set({**claim.where, **claim.notation}.values()):
        return False
    differences = [one.lhs - one.rhs for one in claim.conditions if isinstance(one, sp.Eq)]
    required = fact.zero_condition(symbol)
    return any(sp.expand(required - sign * each) == 0 for each in differences for sign in (1, -1))


def make_premise(lemma: str, name: str, slack: Expr, claim: Claim, given: tuple[str, ...]) -> LinearPremise | None:
    """Return a lemma of a document as a premise; None if its slack is not linear.

    `given` has the ids of the lemmas that prove its conditions.
    """
    found = next(_list_premises(lemma, name, slack, claim, False), None)
    return None if found is None else replace(found, given=given)


def _list_premises(
    part: Fact | str | Derived, name: str, slack: Expr, claim: Claim, vanishes: bool
) -> Iterator[LinearPremise]:
    """Yield the premise that a slack gives, and its negative if the slack vanishes."""
    try:
        form = split_linear(slack, claim)
    except Rejected:
        return
    written = find_constant_term(slack, claim)
    for sign in (1, -1) if vanishes else (1,):
        signed = form if sign == 1 else {row: _MINUS * number for row, number in form.items()}
        yield LinearPremise(part, name, signed, sign * written, sign, vanishes)


_MINUS = quotient(sp.S.NegativeOne)
