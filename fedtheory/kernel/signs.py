"""Signs of coefficients: rational functions of numbers, under conditions on them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from math import isqrt

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, ends, is_ordering, parts_of, slack
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.polynomials import Polynomial, substitute
from fedtheory.kernel.quotients import Quotient, Rejected, quotient
from fedtheory.kernel.work import NODE, cache_with_work, spend


def is_nonnegative(coefficient: Expr, numbers: Numbers, conditions: Sequence[Expr] = ()) -> bool:
    """Return whether a rational function of numbers is shown to be finite and non-negative under conditions.

    Under ``x <= a`` a positive x is written as a/(1 + s) with s >= 0, under ``x >= a`` as a + s, which lose nothing,
    and a symbol under a square root as a square.  Then all coefficients of numerator and denominator must be
    non-negative, and the denominator must be non-zero.  Square factors are ignored; it suffices that every other factor
    is non-negative.  A common factor, such as the square root of u in sqrt(u)/(sqrt(u) + u), is cancelled:
    `require_finite` checks whether it may be zero. Conditions other than <, <=, > and >= are ignored here, and so are
    conditions on other things than numbers, for which SymPy may assume any sign.
    """
    number = sp.sympify(coefficient)
    return _is_of_numbers(number, numbers) and _is_nonnegative(number, Known(numbers, numbers.key), tuple(conditions))


@dataclass(frozen=True)
class Known:
    """Wrapper of `Numbers` that compares by their known properties, so that cached answers are reused."""

    numbers: Numbers = field(compare=False)
    key: Hashable


@cache_with_work(2**14)
def _is_nonnegative(coefficient: Expr, known: Known, conditions: tuple[Expr, ...]) -> bool:
    numbers = known.numbers
    coefficient, orderings = _drop_squares(numbers.replace_names(coefficient)), _select_orderings(conditions, numbers)
    # The tests are ordered by their cost.
    if coefficient.is_Mul and all(is_nonnegative(factor, numbers, orderings) for factor in coefficient.args):
        return True
    if _is_plainly_nonnegative(coefficient, numbers):
        return True
    base = _find_base_of_power(coefficient, numbers)
    if base is not None and is_nonnegative(base, numbers, orderings):
        return True
    if all(_is_factor(factor, orderings, numbers) for factor in sp.Mul.make_args(coefficient)):
        return True
    if any(_is_multiple(coefficient, condition, numbers) for condition in orderings):
        return True
    found = [known for condition in orderings for known in _parametrise(condition, numbers)]
    written = coefficient.xreplace(_bound_powers_by_bases(_select_powers(coefficient), numbers, orderings))
    return any(_is_plainly_nonnegative(rewritten, numbers) for rewritten in _rewrite_all(written, found))


def _find_base_of_power(coefficient: Expr, numbers: Numbers) -> Expr | None:
    """Return the base of a whole power whose sign decides the sign of the power.

    For a negative power, the reciprocal of the base is returned.
    """
    base, exponent = coefficient.as_base_exp()
    if exponent in numbers.integer:
        # Such bases are non-negative, and 0^0 is one.
        return base
    if exponent.is_Integer and abs(exponent) > 1:
        return base ** (1 if exponent > 0 else -1)
    return None


def _drop_squares(coefficient: Expr) -> Expr:
    """Remove the factors of a product that are even powers of polynomials, because they are non-negative."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(coefficient) if not _is_square(factor)))


def _is_square(factor: Expr) -> bool:
    is_even_power = factor.is_Pow and factor.exp.is_Integer and factor.exp.is_positive and factor.exp.is_even
    if not is_even_power or not all(symbol.is_real for symbol in factor.base.free_symbols):
        return False
    base = _try_quotient(factor.base)
    return base is not None and bool(base.denominator.is_constant()) and not factor.base.atoms(Average)


def is_positive(number: Expr, numbers: Numbers, conditions: Sequence[Expr] = ()) -> bool:
    """Return whether a rational function in lowest terms is shown to be finite and positive under conditions."""
    if not _is_of_numbers(number, numbers):
        return False
    orderings = _select_orderings(conditions, numbers)
    found = [known for condition in orderings for known in _parametrise(condition, numbers)]
    named = numbers.replace_names(number)
    written = named.xreplace(_bound_powers_by_bases(parts_of(named, sp.Pow), numbers, orderings))
    return any(_is_plainly_positive(rewritten, numbers) for rewritten in _rewrite_all(written, found))


def _select_orderings(conditions: Sequence[Expr], numbers: Numbers) -> list[Expr]:
    """Return the conditions that compare numbers."""
    spend(10 * NODE * len(conditions))
    found = [condition for condition in map(numbers.replace_names, conditions) if is_ordering(condition)]
    return [condition for condition in found if _is_of_numbers(condition, numbers)]


def _is_of_numbers(expression: Expr, numbers: Numbers) -> bool:
    return bool(expression.free_symbols <= numbers.symbols | numbers.of_clients | numbers.definitions.keys())


def _is_multiple(coefficient: Expr, condition: Expr, numbers: Numbers) -> bool:
    """Return whether a coefficient is a non-negative multiple of the slack of a condition.

    Under a strict condition it may be a multiple of the reciprocal of the slack.
    """
    gap = slack(condition)
    if gap == 0:
        return False
    is_strict = isinstance(condition, sp.Lt | sp.Gt)
    factors = (coefficient / gap, *((coefficient * gap,) if is_strict else ()))
    return any(_is_plainly_nonnegative(factor, numbers) for factor in factors)


def _is_factor(factor: Expr, conditions: Sequence[Expr], numbers: Numbers) -> bool:
    """Return whether a factor is non-negative, and positive in a denominator, by itself or by one condition."""
    base, exponent = factor.as_base_exp()
    is_divided = exponent.is_Integer and exponent.is_negative
    number, has_sign = (base, _is_plainly_positive) if is_divided else (factor, _is_plainly_nonnegative)
    return any(has_sign(number - least, numbers) for least in (sp.S.Zero, *map(slack, conditions)))


def _rewrite_all(coefficient: Expr, known: Sequence[dict[Expr, Expr]]) -> Iterator[Expr]:
    """Yield the coefficient with conditions substituted one after the other, in every order.

    Each substitution covers the whole domain.
    """
    found, todo = {coefficient}, [(coefficient, frozenset(range(len(known))))]
    while todo and len(found) < _MOST_REWRITTEN:
        expression, unused = todo.pop(0)
        yield expression
        for number in sorted(unused):
            if expression.free_symbols & known[number].keys():
                spend(10 * NODE)
                rewritten = expression.xreplace(known[number])
                if rewritten not in found:
                    found.add(rewritten)
                    todo.append((rewritten, unused - {number}))


_MOST_REWRITTEN = 200
"""Limit on the rewritten forms of a number: many conditions have very many orders."""


def _parametrise(condition: Expr, numbers: Numbers) -> Iterator[dict[Expr, Expr]]:
    """Yield substitutions by a new symbol s >= 0 under which the condition holds."""
    spend(20 * NODE)
    smaller, larger = ends(condition)
    if larger.is_Symbol and larger not in smaller.free_symbols:
        yield {larger: smaller + sp.Dummy("s", nonnegative=True)}
    if smaller.is_Symbol and _is_positive(smaller, numbers) and smaller not in larger.free_symbols:
        yield {smaller: larger / (1 + sp.Dummy("s", nonnegative=True))}


def _is_plainly_nonnegative(number: Expr, numbers: Numbers) -> bool:
    """Return whether all coefficients are non-negative, and the denominator is non-zero."""
    signed = _shift_to_bounds(number, numbers)
    return signed is not None and signed.is_nonnegative


def _is_plainly_positive(number: Expr, numbers: Numbers) -> bool:
    """Return whether a number is plainly non-negative, and its numerator is non-zero."""
    signed = _shift_to_bounds(number, numbers)
    return signed is not None and signed.is_nonnegative and signed.has_positive_part(signed.numerator)


@dataclass(frozen=True)
class _Signed:
    """A quotient of polynomials in non-negative generators, and the set of the positive ones."""

    numerator: Polynomial
    denominator: Polynomial
    positive: Sequence[bool]

    @property
    def is_nonnegative(self) -> bool:
        """Whether all coefficients are non-negative, and the denominator is non-zero."""
        coefficients = (*self.numerator.coeffs(), *self.denominator.coeffs())
        return all(c >= 0 for c in coefficients) and self.has_positive_part(self.denominator)

    def has_positive_part(self, polynomial: Polynomial) -> bool:
        """Return whether a polynomial has a monomial of positive generators, of any degree."""
        return any(
            all(sure or not power for sure, power in zip(self.positive, powers, strict=True))
            for powers in polynomial.monoms()
        )


def _shift_to_bounds(number: Expr, numbers: Numbers) -> _Signed | None:
    """Shift symbols by their lower bounds, and write symbols of either sign as squares.

    Returns None if the expression is no quotient of polynomials.
    """
    found = _try_quotient(_bound_powers(number, numbers))
    if found is None:
        return None
    parts, signs = (found.numerator, found.denominator), [_find_sign(symbol, numbers) for symbol in found.symbols]
    unknown = [place for place, sign in enumerate(signs) if sign is _Sign.UNKNOWN]
    if unknown and any(powers[place] % 2 for part in parts for powers in part.monoms() for place in unknown):
        return None
    bounds = [_find_least(symbol, numbers) for symbol in found.symbols]
    if any(bounds):
        generators = found.numerator.context().gens()
        moved = [generator + bound for generator, bound in zip(generators, bounds, strict=True)]
        parts = tuple(substitute(part, moved) for part in parts)
    # The shifted symbol may be zero.
    positive = [sign is _Sign.POSITIVE and not bound for sign, bound in zip(signs, bounds, strict=True)]
    return _Signed(*parts, positive)


def _find_least(symbol: Expr, numbers: Numbers) -> int:
    """Return a lower bound of a generator: that of a symbol, or one whose square is a lower bound of the radicand."""
    if symbol.is_Pow and symbol.exp == sp.Rational(1, 2):
        return isqrt(numbers.at_least.get(symbol.base, 0))
    return numbers.at_least.get(symbol, 0)


class _Sign(Enum):
    UNKNOWN = 0
    NONNEGATIVE = 1
    POSITIVE = 2


def _find_sign(symbol: Expr, numbers: Numbers) -> _Sign:
    """Return the sign of a generator: a symbol, a root (zero only if its radicand is), or an average."""
    if isinstance(symbol, Average):
        return _Sign.NONNEGATIVE if _is_plainly_nonnegative(symbol.args[0], numbers) else _Sign.UNKNOWN
    if symbol.is_Pow and not symbol.exp.is_Rational:
        return _Sign.UNKNOWN
    of = symbol.base if symbol.is_Pow else symbol
    if of.is_Rational or numbers.at_least.get(of, 0) > 0 or _is_positive(of, numbers):
        return _Sign.POSITIVE
    return _Sign.NONNEGATIVE if of.is_nonnegative else _Sign.UNKNOWN


def _bound_powers(coefficient: Expr, numbers: Numbers) -> Expr:
    """Rewrite powers of 1 + a with a >= 0 by lower bounds: 1, and 1 + a n for n >= 1 or whole n (Bernoulli)."""
    for power in sorted(parts_of(coefficient, sp.Pow), key=sp.default_sort_key):
        known, symbol = power.exp.as_coeff_Add()
        is_symbol = symbol.is_Symbol and symbol.is_nonnegative and known.is_Integer
        if is_symbol and _is_plainly_nonnegative(power.base - 1, numbers):
            has_steps = symbol.is_integer or numbers.at_least.get(symbol, 0) >= 1
            least = 1 + symbol * (power.base - 1) if has_steps else sp.S.One
            excess = _name_excess(power.base, symbol, least)
            coefficient = coefficient.xreplace({power: power.base**known * (least + excess)})
    return coefficient


_SHORT = 40
"""Limit on the operations of a number whose powers are bounded outside of denominators as well."""


def _select_powers(number: Expr) -> set[Expr]:
    """Return the powers of a number that are bounded: of a long one those in denominators, which halves most tests."""
    powers = set(parts_of(number, sp.Pow))
    if number.count_ops() <= _SHORT:
        return powers
    divisors = (one.base for one in powers if one.exp.is_Rational and one.exp < 0)
    return set().union(*(parts_of(one, sp.Pow) for one in divisors))


def _bound_powers_by_bases(powers: Iterable[Expr], numbers: Numbers, conditions: Sequence[Expr]) -> dict[Expr, Expr]:
    """Return those powers b^n with 0 <= b <= 1 and n >= 1, with b/(1 + s) in their place, s >= 0.

    Nothing is lost: b^n is at most b, and zero only if b is.  A power such as b^(n - 1) may be one at b = 0 and is
    left, and so is b^n where no lower bound of n is known.
    """
    found = {}
    for power in sorted(powers, key=sp.default_sort_key):
        known, multiple = power.exp.as_coeff_Add()
        times, symbol = multiple.as_coeff_Mul()
        is_count = symbol.is_Symbol and known.is_Integer and times.is_Integer and known >= 0 and times >= 1
        if not is_count or numbers.at_least.get(symbol, 0) < 1:
            continue
        if all(is_nonnegative(each, numbers, conditions) for each in (power.base, 1 - power.base)):
            bounded = power.base / (1 + _name_excess(power.base, symbol, power.base))
            found[power] = power.base**known * bounded**times
    return found


@cache
def _name_excess(base: Expr, exponent: sp.Symbol, bound: Expr) -> sp.Dummy:
    """Return a non-negative symbol for the gap between the power base^exponent and a bound."""
    return sp.Dummy(f"{base}^{exponent} beyond {bound}", nonnegative=True)


def _is_positive(symbol: sp.Symbol, numbers: Numbers) -> bool:
    if symbol in numbers.divisors:
        return bool(symbol.is_nonnegative)
    return bool(symbol.is_positive) and symbol not in numbers.maybe_zero


def _try_quotient(number: Expr) -> Quotient | None:
    """Return a number as a quotient of polynomials; None if it has minima, or is no number."""
    try:
        return quotient(number)
    except Rejected:
        return None
