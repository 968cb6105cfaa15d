"""Translate the formal language of claims and certificates to terms for Rocq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, Value, is_length
from verify.rocq.norms import Lengths
from verify.rocq.numbers import SignProofs, number
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Dot, Mean, Multiple, Named, Number, Sum, Term, is_own, text
from verify.rocq.vocabulary import CLIENTS, OWN, Vocabulary, gradient, value


@dataclass(frozen=True)
class KnownSlack:
    """Non-negative slack of a hypothesis, with a tactic that proves its sign."""

    slack: Expr
    tactic: str


class Reader:
    """Translate the expressions of one claim."""

    def __init__(self, vocabulary: Vocabulary, known: Mapping[str, KnownSlack] | None = None) -> None:
        self.vocabulary = vocabulary
        self.known = known or {}
        """Hypotheses of the theorem as slacks with tactics, by the names of claims."""
        self.lengths = Lengths(vocabulary.claim)
        self.signs: SignProofs | None = None
        """Signs that proofs may use, where there are any."""

    def number(self, expression: Expr) -> str:
        """Return a number as text."""
        return number(expression, self.vocabulary.numbers)

    def scalar(self, expression: Expr) -> Term:
        """Return a scalar, linear in inner products and objective values."""
        expression = sp.sympify(expression)
        match expression:
            case Expectation():
                return self.scalar(expression.args[0])
            case Average():
                return Mean(self.scalar(expression.args[0]))
            case Inner():
                left, right = expression.args
                return Dot(self.vector(left), self.vector(right))
            case Value():
                objective, point = expression.args
                return value(self._objective(objective), self.vector(point), opaque=self.vocabulary.opaque)
            case sp.Pow() if is_length(expression):
                return self.length(expression.base.args[0])
        return self._read_number(expression) or self._combine(expression, self.scalar)

    def _read_number(self, expression: Expr) -> Term | None:
        """Return a number; None for a sum or product with numbers of a client."""
        own = self.vocabulary.scalars
        if expression in own:
            return own[expression]
        is_whole = expression.is_Pow or not expression.free_symbols & own.keys()
        return Number(self.number(expression)) if _is_number(expression) and is_whole else None

    def length(self, of: Expr, term: Term | None = None) -> Term:
        """Return the norm of a vector in terms of previous norms."""
        factor, written = self.lengths.of(of, self.vector(of) if term is None else term)
        found = Atom(f"length ({text(written, CLIENTS)})%vec", kind="S", own=is_own(written))
        return found if factor == 1 else Multiple(self.number(factor), found)

    def vector(self, expression: Expr) -> Term:
        """Return a vector."""
        expression = sp.sympify(expression)
        match expression:
            case Expectation():
                raise NotExported("the mean of a vector is not exported")
            case Average():
                return self._unless_named(Mean(self.vector(expression.args[0])))
            case Gradient():
                objective, point = expression.args
                found = gradient(self._objective(objective), self.vector(point), opaque=self.vocabulary.opaque)
                is_zero = isinstance(found, Atom) and found.text == f"grad ({OWN}) ({self.vocabulary.stationary})"
                return replace(found, zero=True) if isinstance(found, Atom) and is_zero else found
        if expression.is_Symbol:
            return self.vocabulary.vector(expression)
        return self._combine(expression, self.vector)

    def _unless_named(self, mean: Mean) -> Term:
        """Return the vocabulary's name for an average if it has one, so that Rocq identifies objectives at both
        points.
        """
        known = self.vocabulary.vectors.values()
        return next((one for one in known if isinstance(one, Named) and one.body == mean), mean)

    def _combine(self, expression: Expr, read: Callable[[Expr], Term]) -> Term:
        if expression.is_Add:
            return self._sum(expression.args, read)
        if expression.is_Mul:
            numbers = [factor for factor in expression.args if self._is_free_number(factor)]
            inside = [factor for factor in expression.args if factor not in numbers]
            if len(inside) > 1:
                # A number of the client that a theorem concerns is treated like every other number.
                numbers += [factor for factor in inside if factor in self.vocabulary.scalars]
                inside = [factor for factor in inside if factor not in numbers]
            if len(inside) == 1:
                return Multiple(self.number(sp.Mul(*numbers)), read(inside[0])) if numbers else read(inside[0])
        raise NotExported(f"{expression} is not linear in what the library knows")

    def _is_free_number(self, factor: Expr) -> bool:
        known = self.vocabulary.numbers.keys() - self.vocabulary.scalars.keys()
        return _is_number(factor) and factor.free_symbols <= known

    def _sum(self, parts: Iterable[Expr], read: Callable[[Expr], Term]) -> Term:
        ordered = sorted(parts, key=lambda part: (_is_negative(part), sp.default_sort_key(part)))
        total = read(ordered[0])
        for part in ordered[1:]:
            total = Sum(total, read(-part), "-") if _is_negative(part) else Sum(total, read(part))
        return total

    def _objective(self, symbol: sp.Symbol) -> str:
        known = self.vocabulary.objectives
        if symbol not in known:
            raise NotExported(f"the library has no objective {symbol}")
        return known[symbol]


def _is_number(expression: Expr) -> bool:
    return not expression.atoms(Inner, Value, Gradient, Average, Expectation)


def _is_negative(expression: Expr) -> bool:
    return bool(expression.as_coeff_Mul()[0].is_negative)
