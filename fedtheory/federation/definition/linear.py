"""Linear combinations of vectors, and the values of their coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

import sympy as sp

from fedtheory.arithmetic import Arithmetic
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr

Parts = dict[Expr, Expr]
"""The coefficient of each vector."""


def collect_linear_parts(expression: Expr, is_vector: Callable[[Expr], bool], key: str) -> Parts:
    """Return the coefficient of each vector in a linear combination; `InputError` names a non-linear term."""
    expression = sp.sympify(expression)
    if is_vector(expression):
        return {expression: sp.S.One}
    if isinstance(expression, sp.Add):
        return _add([collect_linear_parts(term, is_vector, key) for term in expression.args])
    factors = sp.Mul.make_args(expression)
    inside = [factor for factor in factors if _contains(factor, is_vector)]
    if expression == 0:
        return {}
    if len(inside) != 1 or (len(factors) == 1 and not isinstance(expression, sp.Add)):
        raise InputError(key, f"expected a linear combination of vectors; the term {expression} is none")
    scale = sp.Mul(*(factor for factor in factors if factor is not inside[0]))
    return {vector: scale * part for vector, part in collect_linear_parts(inside[0], is_vector, key).items()}


def _add(parts: list[Parts]) -> Parts:
    total: Parts = {}
    for part in parts:
        for vector, coefficient in part.items():
            total[vector] = total.get(vector, sp.S.Zero) + coefficient
    return total


def _contains(expression: Expr, is_vector: Callable[[Expr], bool]) -> bool:
    """Return whether a vector occurs in the expression."""
    return is_vector(expression) or any(_contains(argument, is_vector) for argument in expression.args)


def evaluate_number(expression: Expr, values: Mapping[Expr, Any], arithmetic: Arithmetic, key: str) -> Any:
    """Return the value of an expression in symbols; values may be arrays, one number for each client.

    Raises `InputError` for anything but numbers, symbols, + - * / and whole powers.
    """

    def value(part: Expr) -> Any:
        if part.is_Rational:
            return arithmetic.number(Fraction(int(part.p), int(part.q)), key)
        if part.is_Float:
            return arithmetic.number(float(part), key)
        if part in values:
            return values[part]
        if isinstance(part, sp.Add | sp.Mul):
            return reduce(add if part.is_Add else mul, map(value, part.args))
        if part.is_Pow and part.exp.is_Integer:
            base, exponent = value(part.base), int(part.exp)
            return base**exponent if exponent >= 0 else 1 / base**-exponent
        raise InputError(key, f"expected numbers, symbols, + - * / and integer powers, got {part}")

    return value(sp.sympify(expression))
