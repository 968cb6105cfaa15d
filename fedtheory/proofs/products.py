"""Relations between quotients: products of what is not negative add up to the slack times its denominators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Context, Rejected, Step, Term, check, check_nonnegative, check_zero, is_positive, is_same
from fedtheory.kernel.expressions import Expr, Inner
from fedtheory.kernel.quotients import quotient
from fedtheory.language.claim import Relation
from fedtheory.proofs.proof import prefixed, require_ordering


@dataclass(frozen=True)
class Nonnegative:
    """A polynomial in the symbols of a proof that is not negative, linear in what they stand for."""

    slack: Expr
    terms: Sequence[Term]
    """Terms whose sum it is."""


@dataclass(frozen=True)
class CauchySchwarz:
    """``|u|^2 |v|^2 - <u, v>^2``, by the symbols of the three."""

    left_sq: sp.Symbol
    right_sq: sp.Symbol
    inner: sp.Symbol

    @property
    def symbols(self) -> tuple[sp.Symbol, sp.Symbol, sp.Symbol]:
        """All three."""
        return self.left_sq, self.right_sq, self.inner

    @property
    def slack(self) -> Expr:
        """Return the non-negative expression."""
        return self.left_sq * self.right_sq - self.inner**2


@dataclass(frozen=True)
class Product:
    """A number times facts, each of which is not negative."""

    coefficient: Expr
    facts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Products:
    """Why a relation holds: its slack, times facts that it is divided by, is a sum of products of facts."""

    scalars: Mapping[sp.Symbol, Expr]
    """Meanings of the proof's symbols: inner products, norms and differences of values."""
    facts: Mapping[str, Nonnegative | CauchySchwarz]
    divided_by: Sequence[str] = ()
    parts: Sequence[Product]


def check_products(relation: Relation, why: Products, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check every fact, every sign, and the identity between polynomials."""
    require_ordering(relation)
    _require_own_symbols(why, context)
    unknown = [name for part in why.parts for name in part.facts if name not in why.facts]
    unknown += [name for name in why.divided_by if name not in why.facts]
    if unknown:
        raise Rejected(f"there is no fact with the name {unknown[0]!r}")
    for name, fact in why.facts.items():
        yield from prefixed(f"{name}: ", _fact(fact, why, context, conditions))
    slacks = {name: fact.slack for name, fact in why.facts.items()}
    symbols = {expression: symbol for symbol, expression in why.scalars.items()}
    slack = relation.slack.xreplace(symbols)
    # What else stands in the relation has to be a number.
    replace(context.numbers, symbols=context.numbers.symbols | why.scalars.keys()).plain(slack)
    for name in why.divided_by:
        yield Step(f"the relation divides by {name}", divides_by(slack, slacks[name]))
    whole = slack * sp.Mul(*(slacks[name] for name in why.divided_by))
    for part in why.parts:
        coefficient = context.numbers.plain(part.coefficient)
        yield check_nonnegative(coefficient, context.numbers, conditions)
        whole -= coefficient * sp.Mul(*(slacks[name] for name in part.facts))
    yield check_zero("the identity", whole)


def divides_by(expression: Expr, divisor: Expr) -> bool:
    """Return whether the denominator of a number, in lowest terms, is a multiple of a polynomial that is no number."""
    below = sp.Mul(*quotient(expression).factored_denominator())
    return bool(divisor.free_symbols) and bool(quotient(below / divisor).denominator.is_constant())


def _require_own_symbols(why: Products, context: Context) -> None:
    """Raise `Rejected` where a symbol of the proof stands for something else as well."""
    known = context.numbers.symbols | context.numbers.of_clients | context.numbers.definitions.keys()
    taken = known.union(*(expression.free_symbols for expression in why.scalars.values()))
    for symbol in sorted(why.scalars, key=str):
        if symbol in taken:
            raise Rejected(f"{symbol} has more than one meaning")
        if symbol.is_nonnegative or symbol.is_nonpositive:
            raise Rejected(f"{symbol} has a sign that its quantity need not have")
    related = {symbol for one in why.facts.values() if isinstance(one, CauchySchwarz) for symbol in one.symbols}
    if related - why.scalars.keys():
        raise Rejected("Cauchy-Schwarz needs symbols without a meaning in the claim")


def _fact(
    fact: Nonnegative | CauchySchwarz, why: Products, context: Context, conditions: Sequence[Expr]
) -> Iterator[Step]:
    if isinstance(fact, Nonnegative):
        yield from check(sp.S.Zero, sp.expand(fact.slack).xreplace(dict(why.scalars)), fact.terms, context, conditions)
        return
    if context.noise or context.random:
        raise Rejected("products of expectations are not expectations of products")
    left, right, product = (why.scalars[symbol] for symbol in fact.symbols)
    if not all(isinstance(part, Inner) for part in (left, right, product)):
        raise Rejected(f"{product} is not an inner product")
    lengths = [Inner(side, side) for side in product.args]
    matches = any(
        is_same(left, one, context) and is_same(right, other, context) for one, other in (lengths, lengths[::-1])
    )
    yield Step("Cauchy-Schwarz", matches)


@dataclass(frozen=True)
class Positive:
    """Why a number is larger than another one: the difference is positive by the signs of its symbols."""


def check_positive(relation: Relation, _why: Positive, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check a strict inequality between numbers."""
    if relation.operator not in ("<", ">"):
        raise Rejected("a positive difference shows a strict inequality")
    gap = context.numbers.plain(relation.slack)
    yield Step(f"({gap}) > 0", is_positive(gap, context.numbers, conditions))
