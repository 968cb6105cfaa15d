"""Compare two expressions: equality for all values of their symbols, and equality of units."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from verify.grade.dimensions import Units, find_units

_POINTS, _DIGITS = 12, 40
_SMALL = 60
"""Number of operations up to which SymPy tries to prove that two expressions are equal."""
_VALUES = tuple(sp.Rational(p, n) for p in (2, 3, 5, 7, 11, 13, 17, 19) for n in (4, 9, 23, 1))

_COUNTS = (q.clients, q.rounds, q.iterations, q.local_steps)


def are_equal(left: Expr, right: Expr) -> bool:
    """Return whether two expressions agree at many points, and symbolically if they are small."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    if not all(_agree(left, right, point) for point in _list_points(symbols)):
        return False
    difference = left - right
    # Agreement at unstructured rational points is beyond chance; the symbolic proof of small expressions is a double
    # check.
    return difference.count_ops() > _SMALL or sp.simplify(difference).is_zero is not False


def _list_points(symbols: list[sp.Symbol]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    generator = random.Random(0)
    for _ in range(_POINTS):
        yield {symbol: generator.choice(_VALUES) for symbol in symbols}


def _agree(left: Expr, right: Expr, point: Mapping[sp.Symbol, sp.Rational]) -> bool:
    a, b = number_at(left, point), number_at(right, point)
    if a is None or b is None:
        return a is b
    return bool(abs(a - b) <= sp.Float(10) ** (5 - _DIGITS) * (abs(a) + abs(b)))


def number_at(expression: Expr, point: Mapping[sp.Symbol, Expr]) -> sp.Float | None:
    """Return the value of an expression at a point to many digits; None if it is not a real number."""
    value = expression.xreplace(dict(point))
    number = sp.Float(value, _DIGITS) if value.is_Rational else value.evalf(_DIGITS)
    return number if number.is_Float else None


def has_units_of(answer: Expr, reference: Expr, claim: Claim) -> bool | None:
    """Return whether an answer scales like the reference when loss and model change units; None if unknown."""
    symbols = sorted(answer.free_symbols | reference.free_symbols, key=str)
    units = {symbol: _find_units(claim, symbol) for symbol in symbols}
    known = {symbol: found for symbol, found in units.items() if found is not None}
    if len(known) < len(units):
        return None
    # A power with a count in its exponent may have no other real values.
    point = {
        s: sp.Integer(value.p) if claim.where[s] in _COUNTS else value
        for s, value in next(_list_points(symbols)).items()
    }
    scalings = ((sp.Rational(3), sp.Rational(1)), (sp.Rational(1), sp.Rational(5)))
    alike = [_compare_units(answer, reference, known, point, scales) for scales in scalings]
    return None if None in alike else all(alike)


def _compare_units(
    answer: Expr,
    reference: Expr,
    units: Mapping[sp.Symbol, Units],
    point: Mapping[sp.Symbol, Expr],
    scales: tuple[Expr, Expr],
) -> bool | None:
    """Compare the units of two answers; None if one has no value. Zero has no units."""
    scaled = {symbol: value * _compute_factor(units[symbol], scales) for symbol, value in point.items()}
    before, after = number_at(answer, point), number_at(answer, scaled)
    known, known_after = number_at(reference, point), number_at(reference, scaled)
    if before is None or after is None or known is None or known_after is None:
        return None
    if before.is_zero:
        return False
    return bool(abs(after * known - before * known_after) <= abs(before * known_after) / 10**20)


def _find_units(claim: Claim, symbol: sp.Symbol) -> Units | None:
    meaning = claim.where.get(symbol)
    return find_units(meaning) if isinstance(meaning, RunQuantity) else None


def _compute_factor(units: Units, scales: tuple[Expr, Expr]) -> Expr:
    """Return the factor of a quantity with given units when the units of loss and length shrink."""
    loss, length = (sp.Rational(exponent.numerator, exponent.denominator) for exponent in units)
    return scales[0] ** loss * scales[1] ** length
