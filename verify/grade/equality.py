"""Compare two expressions: equality for all values of their symbols, and equality of units."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

import sympy as sp
from sympy.core.evalf import PrecisionExhausted

from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Rejected, is_zero
from fedtheory.kernel.work import Exhausted, limit_work
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from verify.grade.answer_dimensions import Units, find_units

_POINTS, _DIGITS = 12, 40
_CANCELLED = 1_000
"""Number of digits that may cancel in a number before it counts as zero."""
_SMALL = 60
"""Number of operations up to which SymPy tries to prove that two expressions are equal."""
_MOST_WORK = 10**7
"""Limit on the counted work to show that a rational function is zero, about a second."""
_VALUES = tuple(sp.Rational(p, n) for p in (2, 3, 5, 7, 11, 13, 17, 19) for n in (4, 9, 23, 1))

_SCALES = (-12, -8, -4, 4, 8, 12)
_WITH_CASES = (sp.Max, sp.Min, sp.Abs, sp.floor, sp.ceiling)
_MOST_CASES = 200
"""Number of cases from which on two expressions are not compared."""
_COUNTS = (q.clients, q.rounds, q.iterations, q.local_steps)


def are_equal(left: Expr, right: Expr) -> bool:
    """Return whether two expressions agree at many points, and their equality is shown symbolically.

    Expressions with cases, such as a maximum, have to be equal in each case, even if no point is in it.
    """
    return agree(left, right) and all(_is_shown_zero(one - other) for one, other in _split_into_cases(left, right))


def agree(left: Expr, right: Expr) -> bool:
    """Return whether two expressions agree at many points, in each case of their maxima and minima.

    They may differ elsewhere, for instance by an exponential that is negligible at all of these points.
    """
    if not _agree_at_points(left, right):
        return False
    cases = _split_into_cases(left, right)
    return len(cases) <= _MOST_CASES and all(_agree_at_points(*pair) for pair in cases)


def _split_into_cases(left: Expr, right: Expr) -> list[tuple[Expr, Expr]]:
    """Return both sides in each case, at most one more than are compared."""
    sides = _reduce_roots(left), _reduce_roots(right)
    if not any(side.has(*_WITH_CASES) for side in sides):
        return [sides]
    return list(islice(_list_cases(*sides), _MOST_CASES + 1))


def _is_shown_zero(difference: Expr) -> bool:
    """Return whether an expression is shown to be zero: as a rational function of its parts, or simplified if small."""
    if not difference.free_symbols:
        return _is_zero_number(difference)
    parts = {part: sp.Dummy(real=True) for part in difference.atoms(sp.exp, sp.log) if not part.has(*_WITH_CASES)}
    with suppress(Rejected, Exhausted), limit_work(_MOST_WORK):
        if is_zero(difference.xreplace(parts)):
            return True
    return difference.count_ops() <= _SMALL and bool(sp.simplify(sp.sqrtdenest(difference)) == 0)


def _is_zero_number(number: Expr) -> bool:
    """Return whether a number is zero: a rational exactly, another one to hundreds of digits.

    A very small constant, such as exp(-300), is not zero, although it is negligible at all points.
    """
    if number.is_Rational:
        return bool(number.is_zero)
    try:
        return bool(number.evalf(_DIGITS, maxn=_CANCELLED, strict=True) == 0)
    except PrecisionExhausted:
        # All digits cancel.
        return True


def _agree_at_points(left: Expr, right: Expr) -> bool:
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    powers = left.atoms(sp.Pow) | right.atoms(sp.Pow)
    # Powers with large exponents would be numbers of that many digits.
    fixed = frozenset[Expr]().union(*(power.exp.free_symbols for power in powers))
    points = (*_list_points(symbols), *_list_wide_points(symbols, fixed))
    return all(_agree(left, right, point) for point in points)


def _reduce_roots(expression: Expr) -> Expr:
    """Return an expression with roots of squares as absolute values."""

    def is_root(part: Expr) -> bool:
        return bool(part.is_Pow and part.base.is_Add and part.exp.is_Rational and part.exp.q == 2)

    return expression.replace(is_root, lambda part: sp.factor(part.base) ** part.exp)


def _list_cases(left: Expr, right: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield both sides in each case of their maxima, minima and absolute values; rounded numbers can be any numbers.

    Cases in which one difference is both negative and positive are left out.
    """
    todo: list[tuple[Expr, Expr, tuple[Expr, ...]]] = [(left, right, ())]
    while todo:
        one, other, known = todo.pop()
        inside = (part for side in (one, other) for part in side.atoms(*_WITH_CASES) if not _has_inner_cases(part))
        part = min(inside, key=sp.default_sort_key, default=None)
        if part is None:
            yield one, other
            continue
        for value, signs in _list_values(part):
            if not any(_are_opposite(sign, before) for sign in signs for before in known):
                todo.append((one.xreplace({part: value}), other.xreplace({part: value}), (*known, *signs)))


def _has_inner_cases(part: Expr) -> bool:
    return any(argument.has(*_WITH_CASES) for argument in part.args)


def _list_values(part: Expr) -> Iterator[tuple[Expr, list[Expr]]]:
    """Yield the values that an expression with cases has, each with the differences that are not negative there."""
    if isinstance(part, sp.floor | sp.ceiling):
        yield sp.Dummy("n", real=True), []
        return
    arguments = (part.args[0], -part.args[0]) if isinstance(part, sp.Abs) else part.args
    sign = -1 if isinstance(part, sp.Min) else 1
    for value in arguments:
        yield value, [sign * (value - other) for other in arguments if other != value]


def _are_opposite(one: Expr, other: Expr) -> bool:
    """Return whether one expression is a negative multiple of another."""
    return bool(sp.cancel(one / other).is_negative)


def _list_points(symbols: list[sp.Symbol]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    generator = random.Random(0)
    for _ in range(_POINTS):
        yield {symbol: generator.choice(_VALUES) for symbol in symbols}


def _list_wide_points(symbols: list[sp.Symbol], fixed: frozenset[Expr]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    """Yield points with very small and very large values of all symbols that are not fixed."""
    generator = random.Random(1)
    for point in _list_points(symbols):
        scales = {symbol: sp.Integer(10) ** generator.choice(_SCALES) for symbol in symbols}
        yield {symbol: value if symbol in fixed else value * scales[symbol] for symbol, value in point.items()}


def _agree(left: Expr, right: Expr, point: Mapping[sp.Symbol, sp.Rational]) -> bool:
    a, b = compute_value(left, point), compute_value(right, point)
    if a is None or b is None:
        return a is b
    return bool(abs(a - b) <= sp.Float(10) ** (5 - _DIGITS) * (abs(a) + abs(b)))


def compute_value(expression: Expr, point: Mapping[sp.Symbol, Expr]) -> sp.Float | None:
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
    before, after = compute_value(answer, point), compute_value(answer, scaled)
    known, known_after = compute_value(reference, point), compute_value(reference, scaled)
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
