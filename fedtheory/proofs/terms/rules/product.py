"""Rule: a relation between quotients, times its denominators, is a sum of products of inequalities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected, check_zero, is_same
from fedtheory.kernel.expressions import Expr, Inner
from fedtheory.kernel.quotients import quotient
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm, Variable


@dataclass(frozen=True)
class Scalar:
    """A symbol for an inner product, a squared norm, or a difference of values."""

    symbol: Variable
    meaning: Formula


@dataclass(frozen=True)
class Factor:
    """A non-negative polynomial in such symbols: linear in them, or the one of Cauchy-Schwarz."""

    name: str
    polynomial: Formula
    body: ProofTerm | None = None
    """The proof that it is non-negative; None for Cauchy-Schwarz."""


@dataclass(frozen=True)
class ProductOfFactors:
    """A number times factors."""

    coefficient: Formula
    factors: tuple[str, ...]


@dataclass(frozen=True)
class Multiply(ProofTerm):
    """A relation that is a sum of products of factors, divided by factors."""

    rule: ClassVar[str] = "multiply"
    goal: Formula
    scalars: tuple[Scalar, ...]
    factors: tuple[Factor, ...]
    divided_by: tuple[str, ...]
    products: tuple[ProductOfFactors, ...]

    def check(self, context: TermContext) -> Proved:
        """Check every factor and coefficient, then the identity between polynomials."""
        context.require_expression(self.goal)
        meanings = self._list_meanings(context)
        factors = {one.name: self._check_factor(one, meanings, context) for one in self.factors}
        shown = self.goal.xreplace({meaning: symbol for symbol, meaning in meanings.items()})
        replace(context.numbers, symbols=context.numbers.symbols | meanings.keys()).plain(shown)
        for name in self.divided_by:
            if not divides_by(shown, _find_factor(factors, name)):
                raise Rejected(f"the relation does not divide by {name}")
        whole = shown * sp.Mul(*(_find_factor(factors, name) for name in self.divided_by))
        for product in self.products:
            number = context.numbers.plain(context.require_nonnegative(product.coefficient))
            whole -= number * sp.Mul(*(_find_factor(factors, name) for name in product.factors))
        context.require([check_zero("the identity", whole)])
        return Proved(self.goal)

    def _list_meanings(self, context: TermContext) -> dict[sp.Symbol, Expr]:
        """Return the meanings of the symbols; raise `Rejected` if one has another meaning, or an assumed sign."""
        known = context.numbers.symbols | context.numbers.of_clients | context.numbers.definitions.keys()
        taken = set(known).union(*(one.meaning.free_symbols for one in self.scalars))
        for one in self.scalars:
            context.require_expression(one.meaning)
            if one.symbol in taken:
                raise Rejected(f"{one.symbol} has more than one meaning")
            if one.symbol.is_nonnegative or one.symbol.is_nonpositive:
                raise Rejected(f"{one.symbol} has a sign that its quantity need not have")
            taken |= {one.symbol}
        return {one.symbol: one.meaning for one in self.scalars}

    def _check_factor(self, factor: Factor, meanings: dict[sp.Symbol, Expr], context: TermContext) -> Expr:
        """Return the polynomial of a factor, after checking that it is non-negative."""
        if factor.body is None:
            return _check_cauchy_schwarz(factor, meanings, context)
        context.require_proof(factor.body, sp.expand(factor.polynomial).xreplace(meanings), factor.name)
        return factor.polynomial


def divides_by(expression: Expr, divisor: Expr) -> bool:
    """Return whether the denominator of a number, in lowest terms, is a multiple of a non-constant polynomial."""
    denominator = sp.Mul(*quotient(expression).factored_denominator())
    return bool(divisor.free_symbols) and bool(quotient(denominator / divisor).denominator.is_constant())


def _find_factor(factors: dict[str, Expr], name: str) -> Expr:
    if name not in factors:
        raise Rejected(f"there is no factor with the name {name!r}")
    return factors[name]


def _check_cauchy_schwarz(factor: Factor, meanings: dict[sp.Symbol, Expr], context: TermContext) -> Expr:
    """Check that a factor is ``|u|^2 |v|^2 - <u, v>^2`` of two vectors, none of them random."""
    if context.vectors is None or context.vectors.noise or context.vectors.random:
        raise Rejected("products of expectations are not expectations of products")
    for symbol, meaning in meanings.items():
        squares = [one for one in meanings if one is not symbol]
        pairs = ((left, right) for left in squares for right in squares)
        if not isinstance(meaning, Inner):
            continue
        for left, right in pairs:
            if sp.expand(factor.polynomial - left * right + symbol**2) == 0 and all(
                is_same(meanings[one], Inner(side, side), context.vectors)
                for one, side in zip((left, right), meaning.args, strict=True)
            ):
                return factor.polynomial
    raise Rejected(f"{factor.name}: Cauchy-Schwarz: {factor.polynomial} is not |u|^2 |v|^2 - <u, v>^2 of two vectors")
