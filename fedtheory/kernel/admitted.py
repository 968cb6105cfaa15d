"""The closed list of operations in proofs; any other operation is rejected with a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Expr,
    Gradient,
    Inner,
    LocalSum,
    PastSum,
    Selected,
    Value,
    parts_of,
    subexpressions,
)
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.quotients import Rejected, quotient
from fedtheory.kernel.signs import Known, is_nonnegative
from fedtheory.kernel.work import cache_with_work

HEADS = (Average, ClientSum, Expectation, Gradient, Inner, LocalSum, PastSum, Selected, Value)
"""Classes of expressions for vectors, objectives, and values that depend on the client or the step."""
_RATIONALS = {sp.Rational, sp.Integer, *map(type, (sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half))}
_ADMITTED = {sp.Symbol, sp.Dummy, sp.Add, sp.Mul, sp.Pow, *_RATIONALS, *HEADS}
"""Only these exact classes: a subclass could override how it is printed or compared."""
_RELATIONS = {sp.Le, sp.Lt, sp.Ge, sp.Gt, sp.Eq}


def require_admitted(expression: Expr) -> None:
    """Raise `Rejected` if an expression has anything but symbols, rationals, sums, products, powers and `HEADS`.

    An exponent is a whole number, half of one, or a positive multiple of a symbol plus a whole number.
    """
    for part in subexpressions(sp.sympify(expression)):
        if isinstance(part, sp.Float):
            raise Rejected(f"{part} is not exact")
        if type(part) not in _ADMITTED:
            raise Rejected(f"{part} is not a symbol, rational, sum, product, power or head of the language")
        if isinstance(part, sp.Pow) and not _is_exponent(part.exp):
            raise Rejected(f"{part} has an exponent that is not a multiple of 1/2 or of a symbol plus an integer")


def require_admitted_condition(condition: Expr) -> None:
    """Raise `Rejected` unless a condition is an ordering or an equation of admitted expressions or minima of such."""
    if type(condition) not in _RELATIONS:
        raise Rejected(f"the condition {condition} is neither an inequality nor an equation")
    for side in condition.args:
        for part in parts_of(side, sp.Min):
            for bound in part.args:
                require_admitted(bound)
        require_admitted(side.replace(sp.Min, lambda *_bounds: sp.S.One))


def _is_exponent(exponent: Expr) -> bool:
    if exponent.is_Rational:
        return exponent.q in (1, 2)
    whole, multiple = exponent.as_coeff_Add()
    factor, symbol = multiple.as_coeff_Mul()
    return bool(whole.is_Integer and factor.is_Integer and factor > 0 and symbol.is_Symbol)


def require_finite(expressions: Iterable[Expr], numbers: Numbers, conditions: Sequence[Expr]) -> None:
    """Raise `Rejected` if a denominator may be zero under the conditions."""
    require_nonzero(_list_divisors(expressions), numbers, conditions)


def require_nonzero(divisors: Iterable[Expr], numbers: Numbers, conditions: Sequence[Expr]) -> None:
    """Raise `Rejected` for a divisor that may be zero under the conditions."""
    for divisor in divisors:
        if not _is_nonzero(divisor, Known(numbers, numbers.key), tuple(conditions)):
            raise Rejected(f"({divisor}) may be zero, and something is divided by it")


def list_denominator_factors(expressions: Iterable[Expr]) -> frozenset[Expr]:
    """Return the factors of the denominators of expressions."""
    certain = (power.base for power in _list_powers(expressions) if power.exp.is_Rational and power.exp.is_negative)
    return frozenset(factor for divisor in certain for factor in _split_factors(divisor))


def _list_divisors(expressions: Iterable[Expr]) -> list[Expr]:
    """Return the denominators of expressions; a power counts if its exponent has a subtracted integer."""
    possible = {power.base for power in _list_powers(expressions) if power.exp.as_coeff_Add()[0].is_negative}
    return sorted(possible, key=sp.default_sort_key)


def _list_powers(expressions: Iterable[Expr]) -> Iterator[Expr]:
    """Yield the powers in the expressions."""
    return (power for one in expressions for power in parts_of(sp.sympify(one), sp.Pow))


@cache_with_work(2**12)
def _split_factors(divisor: Expr) -> tuple[Expr, ...]:
    """Return the irreducible factors of a number.

    A non-polynomial part, such as a gap of an objective, is one factor.
    """
    try:
        denominator = quotient(1 / divisor).factored_denominator()
    except Rejected:
        return (divisor,)
    found = (factor.as_base_exp()[0] for factor in denominator)
    return tuple(factor for factor in found if not factor.is_Rational)


@cache_with_work(2**12)
def _is_nonzero(divisor: Expr, known: Known, conditions: tuple[Expr, ...]) -> bool:
    """Return whether a divisor is non-zero: it has a sign, or each factor has one or is assumed to be non-zero."""
    numbers = known.numbers
    # Denominators of the statement are assumed non-zero and found at once; a sign may take a search.
    unknown = [
        one for one in _split_factors(divisor) if not any((one / other).is_Rational for other in numbers.nonzero)
    ]
    return (
        not unknown
        or _has_sign(divisor, numbers, conditions)
        or all(_has_sign(factor, numbers, conditions) for factor in unknown)
    )


def _has_sign(divisor: Expr, numbers: Numbers, conditions: tuple[Expr, ...]) -> bool:
    return any(is_nonnegative(sign / divisor, numbers, conditions) for sign in (1, -1))
