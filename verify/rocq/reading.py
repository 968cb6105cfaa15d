"""From the formal language of claims and certificates to terms for Rocq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, Value
from verify.rocq.numbers import number
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Dot, Mean, Multiple, Number, Sum, Term
from verify.rocq.vocabulary import OWN, Vocabulary, gradient, value


class Reader:
    """Reads expressions of one claim."""

    def __init__(self, vocabulary: Vocabulary, known: Mapping[str, Expr] | None = None) -> None:
        self.vocabulary = vocabulary
        self.known = known or {}
        """What hypotheses `known_S` of a theorem say of each client: slacks, by the names of claims."""

    def number(self, expression: Expr) -> str:
        """A number as text."""
        return number(expression, self.vocabulary.numbers)

    def scalar(self, expression: Expr) -> Term:
        """A scalar, linear in inner products and objective values."""
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
        if _is_number(expression):
            return Number(self.number(expression))
        return self._combined(expression, self.scalar)

    def vector(self, expression: Expr) -> Term:
        """A vector."""
        expression = sp.sympify(expression)
        match expression:
            case Expectation():
                raise NotExported("the mean of a vector is not exported")
            case Average():
                return Mean(self.vector(expression.args[0]))
            case Gradient():
                objective, point = expression.args
                found = gradient(self._objective(objective), self.vector(point), opaque=self.vocabulary.opaque)
                is_zero = isinstance(found, Atom) and found.text == f"grad ({OWN}) ({self.vocabulary.stationary})"
                return replace(found, zero=True) if isinstance(found, Atom) and is_zero else found
        if expression.is_Symbol:
            return self.vocabulary.vector(expression)
        return self._combined(expression, self.vector)

    def _combined(self, expression: Expr, read: Callable[[Expr], Term]) -> Term:
        if expression.is_Add:
            return self._sum(expression.args, read)
        if expression.is_Mul:
            numbers = [factor for factor in expression.args if self._is_free_number(factor)]
            inside = [factor for factor in expression.args if factor not in numbers]
            if len(inside) == 1:
                return Multiple(self.number(sp.Mul(*numbers)), read(inside[0])) if numbers else read(inside[0])
        raise NotExported(f"{expression} is not linear in what the library knows")

    def _is_free_number(self, factor: Expr) -> bool:
        return _is_number(factor) and factor.free_symbols <= self.vocabulary.numbers.keys()

    def _sum(self, parts: Iterable[Expr], read: Callable[[Expr], Term]) -> Term:
        ordered = sorted(parts, key=lambda part: (_is_negative(part), sp.default_sort_key(part)))
        total = read(ordered[0])
        for part in ordered[1:]:
            total = Sum(total, read(-part), "-") if _is_negative(part) else Sum(total, read(part))
        return total

    def _objective(self, letter: sp.Symbol) -> str:
        known = self.vocabulary.objectives
        if letter not in known:
            raise NotExported(f"the library has no objective {letter}")
        return known[letter]


def _is_number(expression: Expr) -> bool:
    return not expression.atoms(Inner, Value, Gradient, Average, Expectation)


def _is_negative(expression: Expr) -> bool:
    return bool(expression.as_coeff_Mul()[0].is_negative)
