"""Proofs of a bound with a maximum or a minimum, from the bounds with one of its arguments in its place.

A maximum is one of its arguments, so that a bound holds if it holds with each of them.  In each case the argument is
the largest, which is a condition.  Where the slack of the bound increases with the maximum, one argument suffices.
Minima are treated likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Numbers, Rejected
from fedtheory.kernel.admitted import HEADS, require_admitted
from fedtheory.kernel.expressions import Expr, Inner, Value, parts_of
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import OF_CLIENTS, numbers_of, symbols_of
from fedtheory.proofs.proof import require_ordering
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.restatements import PlainCertificate, Powers, SignsOfClaim, Squares, find_slopes
from fedtheory.proofs.run_terms import with_relations

CaseCertificate = PlainCertificate | Squares | Powers | Recursion | MeanCertificate
"""Kinds of certificates of a single case, beside proofs by further cases."""


@dataclass(frozen=True)
class Case:
    """A proof for the case that one argument of a claim's maximum is the largest."""

    kind: ClassVar[str] = "case"
    largest: Expr
    why: CaseCertificate | Cases

    name: ClassVar[str] = "largest"

    @property
    def argument(self) -> Expr:
        """The argument in place of the maximum."""
        return self.largest


@dataclass(frozen=True)
class CaseOfMinimum:
    """A proof for the case that one argument of a claim's minimum is the smallest."""

    kind: ClassVar[str] = "case of a minimum"
    smallest: Expr
    why: CaseCertificate | Cases

    name: ClassVar[str] = "smallest"

    @property
    def argument(self) -> Expr:
        """The argument in place of the minimum."""
        return self.smallest


@dataclass(frozen=True, kw_only=True)
class Cases:
    """A proof of a claim by a case for each argument of a maximum or minimum, or by one case if that suffices."""

    kind: ClassVar[str] = "cases"
    claim: str
    """Id of the claim."""
    cases: Sequence[Case | CaseOfMinimum]

    @property
    def relaxed(self) -> None:
        """None, because each case has its own conditions."""
        return None

    @property
    def is_single(self) -> bool:
        """Whether one argument suffices."""
        return len(self.cases) == 1

    def select_arguments(self, claim: Claim) -> tuple[Expr, list[Expr]]:
        """Return a maximum or minimum of a claim, and that of its arguments which each case has in its place.

        Raises `Rejected` without one.  Cases for all of its arguments are not taken for single ones of another.
        """
        kinds = {type(case) for case in self.cases}
        extremes = [one for one in list_extremes(claim) if kinds == {_KINDS.get(type(one))}]
        found = [(one, [_find_equal(case.argument, one.args) for case in self.cases]) for one in extremes]
        complete = ((one, arguments) for one, arguments in found if {*arguments} == {*one.args})
        partial = ((one, arguments) for one, arguments in found if None not in arguments)
        selected = next(chain(complete, partial), None)
        if selected is None:
            raise Rejected("expected cases of one maximum or minimum of the claim, each by one of its arguments")
        return selected


def _find_equal(argument: Expr, arguments: Sequence[Expr]) -> Expr | None:
    """Return the first of some arguments that equals a number, which a document may write in another way."""
    return next((one for one in arguments if one == argument or _are_equal(one, argument)), None)


def _are_equal(one: Expr, other: Expr) -> bool:
    try:
        return is_zero(one - other)
    except Rejected:
        return False


_KINDS: dict[type, type] = {sp.Max: Case, sp.Min: CaseOfMinimum}


def claims_of(claim: Claim, certificate: Cases) -> list[Claim]:
    """Return the claim in each case; raise `Rejected` unless the claim follows from these."""
    extreme, arguments = certificate.select_arguments(claim)
    if {*arguments} == {*extreme.args}:
        _require_same_case(claim, extreme)
        return [restrict_to_case(claim, extreme, argument) for argument in arguments]
    if not certificate.is_single:
        raise Rejected(f"expected a case for each argument of {extreme}, or one case")
    require_sufficient(claim, extreme)
    return [replace_extreme(claim, extreme, *arguments)]


def list_extremes(claim: Claim) -> list[Expr]:
    """Return the maxima and minima in the relations of a claim that contain no others, in a fixed order."""
    found = set().union(*(relation.atoms(sp.Max, sp.Min) for relation in claim.relations))
    inner = (one for one in found if not any(argument.has(sp.Max, sp.Min) for argument in one.args))
    return sorted(inner, key=sp.default_sort_key)


def replace_extreme(claim: Claim, extreme: Expr, argument: Expr) -> Claim:
    """Return a claim with one argument in place of a maximum or minimum."""
    chosen = {extreme: argument}
    relations = [relation.transform(lambda side: side.xreplace(chosen)) for relation in claim.relations]
    # The symbol of a quantity that is a whole side keeps its meaning.
    return with_relations(claim, relations, where={**claim.where, **claim.notation})


def restrict_to_case(claim: Claim, extreme: Expr, argument: Expr) -> Claim:
    """Restrict a claim to the case in which one argument is the largest of a maximum or the smallest of a minimum.

    Without numbers as arguments the case has no conditions.
    """
    restricted = replace_extreme(claim, extreme, argument)
    if not all(_is_number(claim, one) for one in extreme.args):
        return restricted
    others = [one for one in extreme.args if one != argument]
    given: list[Expr] = [one <= argument if isinstance(extreme, sp.Max) else argument <= one for one in others]
    return with_relations(restricted, restricted.relations, conditions=(*claim.conditions, *given))


def _require_same_case(claim: Claim, extreme: Expr) -> None:
    """Raise `Rejected` if the largest or smallest argument may differ between clients, steps, updates or outcomes."""
    is_fixed = all(_is_number(claim, argument) for argument in extreme.args)
    for argument in extreme.args:
        symbols = argument.free_symbols
        for symbol in symbols | numbers_of(claim).plain(argument).free_symbols if is_fixed else symbols:
            quantity = symbols_of(claim).quantity(symbol)
            if quantity is q.local_step_index or (isinstance(quantity, q.RunQuantity) and quantity.place != "run"):
                raise Rejected(f"{argument} differs between steps or updates, and so may the largest argument")
    if is_fixed:
        return
    heads = (head for relation in claim.relations for side in relation.sides for head in parts_of(side, *HEADS))
    if any(head.has(extreme) for head in heads):
        raise Rejected(f"{extreme} is in an average or in another function of the language")
    for argument in extreme.args:
        quantities = [symbols_of(claim).quantity(symbol) for symbol in _list_outside(argument)]
        is_of_run = all(isinstance(one, q.RunQuantity) and not one.of_types for one in quantities)
        if parts_of(argument, *HEADS) or not is_of_run or not OF_CLIENTS.isdisjoint(quantities):
            raise Rejected(f"{argument} is not a number of the run")


def _is_number(claim: Claim, argument: Expr) -> bool:
    """Return whether an argument is a number that all clients share."""
    try:
        numbers_of(claim).plain(argument)
    except Rejected:
        return False
    return True


def require_sufficient(claim: Claim, extreme: Expr) -> None:
    """Raise `Rejected` unless a claim follows from the one with any argument in place of a maximum or minimum.

    Every slack has to be a sum of multiples of powers of the maximum, or of others that increase with it, and to
    increase with each of these; for a minimum, to decrease.  Powers, except for the first, need arguments that are not
    negative.
    """
    signs = SignsOfClaim.from_claim(claim, ())
    for one in extreme.args:
        _require_scalar(claim, one, signs.numbers)
    sign = 1 if isinstance(extreme, sp.Max) else -1
    for relation in claim.relations:
        require_ordering(relation)
        symbol = sp.Dummy(real=True)
        # For SymPy, Min(a, b, c) "has" Min(a, b), although it is no part of it.
        unrelated = (one for one in relation.atoms(sp.Max, sp.Min, sp.exp) if extreme not in sp.preorder_traversal(one))
        others = {one: sp.Dummy(real=True) for one in unrelated}
        slack, symbols = _name_outer(relation.slack.xreplace({extreme: symbol, **others}), symbol, signs)
        powers = [*symbols, *(one for one in slack.atoms(sp.Pow) if one.base == symbol)]
        for power, slope in _find_factors(slack, powers):
            if power not in symbols:
                _require_exponent(power.exp, extreme, signs.numbers)
                for one in extreme.args:
                    signs.require_nonnegative(one, f"an argument of {extreme}, of which a power is taken")
            is_falling = power not in symbols and power.exp.is_Rational and power.exp.is_negative
            signs.require_nonnegative(-sign * slope if is_falling else sign * slope, f"the factor of {extreme}")


def _name_outer(slack: Expr, symbol: sp.Symbol, signs: SignsOfClaim) -> tuple[Expr, list[sp.Symbol]]:
    """Return a slack with symbols for the maxima and minima that contain a symbol, and all of these symbols.

    Raises `Rejected` unless they increase with it.
    """
    symbols = [symbol]
    while outer := [one for one in slack.atoms(sp.Max, sp.Min) if one.has(*symbols)]:
        inner = next(one for one in outer if not any(part.has(sp.Max, sp.Min) for part in one.args))
        for argument in inner.args:
            for _, slope in _find_factors(argument, symbols):
                signs.require_nonnegative(slope, f"the factor of a part of {inner}")
        symbols.append(sp.Dummy(real=True))
        slack = slack.xreplace({inner: symbols[-1]})
    return slack, symbols


def _find_factors(number: Expr, powers: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
    """Return the powers in a number with their factors; raise `Rejected` if it is not linear in them."""
    terms = sp.Add(*(term for term in sp.Add.make_args(number) if term.has(*powers)))
    return [(power, slope) for power, slope in zip(powers, find_slopes(terms, powers), strict=True) if slope != 0]


def _require_exponent(exponent: Expr, extreme: Expr, numbers: Numbers) -> None:
    """Raise `Rejected` unless powers with an exponent increase or decrease with the base, where it is not negative."""
    if exponent.is_Rational:
        # The smallest number is not zero if something is divided by it, and then no argument is.
        is_known = exponent.is_positive or isinstance(extreme, sp.Min)
    else:
        whole, multiple = exponent.as_coeff_Add()
        factor, symbol = multiple.as_coeff_Mul()
        is_known = whole.is_Integer and whole >= 0 and factor.is_Integer and factor > 0 and symbol in numbers.integer
    if not is_known:
        raise Rejected(f"expected a positive exponent of {extreme}, got {exponent}")


def _require_scalar(claim: Claim, argument: Expr, numbers: Numbers) -> None:
    """Raise `Rejected` for an argument that need not be a number, such as a vector."""
    require_admitted(argument)
    for symbol in _list_outside(argument):
        is_known = symbol in numbers.symbols or symbol in numbers.of_clients
        if not (is_known or isinstance(symbols_of(claim).quantity(symbol), q.RunQuantity)):
            raise Rejected(f"{symbol} is not a number of the claim")


def _list_outside(expression: Expr) -> Iterator[Expr]:
    """Yield the symbols of an expression outside of inner products and values of objectives."""
    if expression.is_Symbol:
        yield expression
    elif not isinstance(expression, Inner | Value):
        for part in expression.args:
            yield from _list_outside(part)
