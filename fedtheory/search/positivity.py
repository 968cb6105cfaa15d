"""Writes non-negative numbers as sums of products that the kernel recognises as non-negative.

The numerator of a number is split by its monomials in symbols without conditions.  The coefficient of each monomial
is a polynomial in few symbols.  A linear program writes it as a sum of monomials times slacks of the conditions, in
symbols minus their lower bounds.  The weights are solved again in rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement, islice, product
from math import prod

import sympy as sp
from flint import fmpq

from fedtheory.kernel import Numbers, Rejected, is_nonnegative, is_ordering, slack
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Quotient, quotient
from fedtheory.kernel.work import spend
from fedtheory.search.polynomials import Powers, Terms, find_grading, move_terms, multiply_terms, solve

MOST_COLUMNS = 3000
"""Limit on the products in one linear program."""
_DEGREES = (1, 2, 3)
"""Limits on the number of slacks in a product, tried in turn."""


@dataclass(frozen=True)
class SignFacts:
    """Facts from which the kernel decides signs: ranges of the numbers of a claim, and its conditions."""

    numbers: Numbers
    conditions: Sequence[Expr]

    def is_nonnegative(self, number: Expr) -> bool:
        """Return whether the kernel recognises a number as non-negative."""
        try:
            return is_nonnegative(number, self.numbers, self.conditions)
        except Rejected:
            return False

    def split(self, number: Expr) -> list[Expr] | None:
        """Return summands of a number that the kernel recognises as non-negative; None if none are found."""
        try:
            ways = (split_quickly, split_pairs, split_into_products)
            return next((found for way in ways if (found := way(number, self)) is not None), None)
        except Rejected:
            return None


def split_quickly(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return a number, as written or factored, or its terms if the kernel recognises their signs; else None."""
    if number == 0:
        return []
    if signs.is_nonnegative(number):
        return [number]
    factored = sp.factor_terms(number)
    # The kernel may recognise the sign of a product only if its common factors are written apart.
    if factored != number and signs.is_nonnegative(factored):
        return [factored]
    for form in (number, factored):
        summands = [part for part in sp.Add.make_args(form) if part != 0]
        if len(summands) > 1 and all(map(signs.is_nonnegative, summands)):
            return summands
    return None


_MOST_PAIRED = 12
"""Limit on the terms of a number that are paired: an expanded sum has too many pairs."""


def split_pairs(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return the terms of a number, each negative one added to a larger one with common factors; None if not found."""
    terms = list(sp.Add.make_args(number))
    if len(terms) > _MOST_PAIRED:
        return None
    found = [term for term in terms if signs.is_nonnegative(term)]
    for negative in (term for term in terms if term not in found):
        differences = ((place, _subtract(positive, -negative)) for place, positive in enumerate(found))
        pair = next(((place, left) for place, left in differences if signs.is_nonnegative(left)), None)
        if pair is None:
            return None
        found[pair[0]] = pair[1]
    return found


def _subtract(more: Expr, less: Expr) -> Expr:
    """Return a difference of products as their common factors times the difference of the rest."""
    powers, others = more.as_powers_dict(), less.as_powers_dict()
    common = sp.Mul(*(base**power for base, power in powers.items() if others.get(base) == power))
    return common * (more / common - less / common)


def split_into_products(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return summands that are products of symbols and slacks of conditions, by linear programs; None if not found."""
    whole = quotient(number)
    signed = _find_sign(whole.written(whole.denominator), signs)
    if signed is None:
        return None
    sign, denominator = signed
    found: list[Expr] = []
    for outside, polynomial in _group_by_free_symbols(whole, signs):
        coefficient = sign * polynomial
        entire = outside * coefficient / denominator
        if signs.is_nonnegative(entire):
            found.append(entire)
            continue
        parts = next(filter(None, (_split_by_degree(coefficient, signs, degree) for degree in _DEGREES)), None)
        if parts is None:
            return None
        found += [outside * part / denominator for part in parts]
    return found if all(map(signs.is_nonnegative, found)) else None


def split_into_squares(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return squares times symbols, one for each negative cross term, and recognised terms; None if not found."""
    return _split_off_squares(number, signs, lambda rest: split_quickly(rest, signs))


def split_with_squares(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return squares times symbols, one for each negative cross term, and products for the rest; None if not found."""

    def split(rest: Expr) -> list[Expr] | None:
        found = split_quickly(rest, signs)
        return split_into_products(rest, signs) if found is None else found

    return _split_off_squares(number, signs, split)


def _split_off_squares(number: Expr, signs: SignFacts, split: Callable[[Expr], list[Expr] | None]) -> list[Expr] | None:
    """Return squares times symbols, and the summands of the rest; None if there are no squares or no summands."""
    whole = quotient(number)
    signed = _find_sign(whole.written(whole.denominator), signs)
    if signed is None:
        return None
    sign, denominator = signed
    squares, left = _complete_squares(
        {powers: sign * factor for powers, factor in whole.numerator.terms()}, whole.symbols
    )
    squares = [square / denominator for square in squares]
    if not squares or not all(map(signs.is_nonnegative, squares)):
        return None
    rest = sp.Add(*(whole.monomial(powers, factor) for powers, factor in left.items())) / denominator
    summands = split(rest)
    return None if summands is None else [*squares, *summands]


def _complete_squares(terms: Terms, symbols: Sequence[Expr]) -> tuple[list[Expr], Terms]:
    """Return squares a (x - c y)^2, one for each negative cross term x y, and the remaining terms."""
    left, squares = dict(terms), []
    for cross in sorted(powers for powers, factor in terms.items() if factor < 0):
        for first in sorted(left, reverse=True):
            second = tuple(2 * c - p for c, p in zip(cross, first, strict=True))
            if not _can_complete(left, first, cross, second):
                continue
            # a x^2 - 2 b x y + (b^2/a) y^2 = a (x - (b/a) y)^2
            weight, half = left[first], -left[cross] / 2
            squares.append(_write_square(symbols, first, second, weight, half / weight))
            left[second] -= half * half / weight
            left[first] = left[cross] = fmpq(0)
            left = {powers: factor for powers, factor in left.items() if factor != 0}
    return squares, left


def _can_complete(terms: Terms, first: Powers, cross: Powers, second: Powers) -> bool:
    """Return whether a cross term is negative, and two positive terms with its square as product are large enough."""
    zero = fmpq(0)
    weight, middle, other = (terms.get(powers, zero) for powers in (first, cross, second))
    are_squares = not any((a - b) % 2 for a, b in zip(first, second, strict=True))
    return bool(are_squares and middle < 0 and weight > 0 and other > 0 and middle * middle <= 4 * weight * other)


def _write_square(symbols: Sequence[Expr], first: Powers, second: Powers, weight: fmpq, factor: fmpq) -> Expr:
    """Return a (x - c y)^2 with weight a and factor c, where `first` and `second` are the powers in x^2 and y^2.

    Powers that both have in common are outside the square.
    """
    common = tuple(map(min, zip(first, second, strict=True)))
    x, y = (
        _write_monomial(symbols, tuple((p - c) // 2 for p, c in zip(powers, common, strict=True)))
        for powers in (first, second)
    )
    return sp.Mul(_make_rational(weight), _write_monomial(symbols, common), (x - _make_rational(factor) * y) ** 2)


def _write_monomial(symbols: Sequence[Expr], powers: Powers) -> Expr:
    """Return the monomial with these powers."""
    return sp.Mul(*(symbol**power for symbol, power in zip(symbols, powers, strict=True) if power))


def _make_rational(number: fmpq) -> sp.Rational:
    """Return the number as a rational of SymPy."""
    return sp.Rational(int(number.p), int(number.q))


def _find_sign(denominator: Expr, signs: SignFacts) -> tuple[int, Expr] | None:
    """Return the sign of a denominator, and its absolute value in factors; None if the kernel recognises no sign."""
    sign, absolute = 1, sp.S.One
    for factor in sp.Mul.make_args(sp.factor(denominator)):
        base, power = factor.as_base_exp()
        sign_of_base = next((each for each in (1, -1) if signs.is_nonnegative(each / base)), None)
        if sign_of_base is None or not (power.is_Integer or sign_of_base == 1):
            return None
        sign *= sign_of_base ** (int(power) if sign_of_base == -1 else 1)
        absolute *= (sign_of_base * base) ** power
    return sign, absolute


def _group_by_free_symbols(number: Quotient, signs: SignFacts) -> Iterator[tuple[Expr, Expr]]:
    """Yield the numerator as products of a monomial in free symbols and a polynomial in the others.

    Free symbols are non-negative without further conditions or bounds; powers with symbolic exponents count as such.
    """
    bound = set().union(*(condition.free_symbols for condition in signs.conditions if is_ordering(condition)))
    bound |= signs.numbers.at_least.keys()
    free = [
        place
        for place, symbol in enumerate(number.symbols)
        if (symbol.is_nonnegative and symbol not in bound if symbol.is_Symbol else _is_power(symbol, signs))
    ]
    groups: dict[Powers, list[Expr]] = {}
    for powers, factor in number.numerator.terms():
        outside = tuple(powers[place] for place in free)
        inside = [0 if place in free else power for place, power in enumerate(powers)]
        groups.setdefault(outside, []).append(number.monomial(inside, factor))
    for outside, parts in groups.items():
        yield (
            prod((number.symbols[place] ** power for place, power in zip(free, outside, strict=True)), start=sp.S.One),
            sp.Add(*parts),
        )


def _is_power(number: Expr, signs: SignFacts) -> bool:
    """Return whether a number is a non-negative power with a symbolic exponent."""
    return bool(number.is_Pow and number.exp.free_symbols) and signs.is_nonnegative(number)


@dataclass(frozen=True)
class _Slack:
    """The numerator of the slack of a condition, which is non-negative."""

    terms: Terms
    """The numerator in symbols minus their lower bounds."""
    expression: Expr
    """The numerator in the original symbols."""


def _split_by_degree(polynomial: Expr, signs: SignFacts, degree: int) -> list[Expr] | None:
    """Return a polynomial as a sum of products with up to `degree` slacks."""
    symbols = _list_symbols(polynomial, signs)
    if symbols is None:
        return None
    shift = {symbol: symbol + signs.numbers.at_least.get(symbol, 0) for symbol in symbols}
    goal = _read_terms(polynomial.xreplace(shift), symbols)
    slacks = list(_list_slacks(signs, symbols, shift))
    columns = _list_columns(goal, slacks, degree)
    if not columns:
        return None
    solution = solve([terms for _, _, terms in columns], goal, [1 + 2 * len(chosen) for _, chosen, _ in columns])
    if solution is None:
        return None
    return [_write_product(symbols, shift, slacks, columns[place], weight) for place, weight in solution.items()]


def _list_symbols(polynomial: Expr, signs: SignFacts) -> list[sp.Symbol] | None:
    """Return the symbols of a polynomial and of the conditions on them; None if it has roots or symbolic powers."""
    symbols = set(polynomial.free_symbols)
    for condition in signs.conditions:
        # Conditions on numbers of single clients do not bound numbers of the run.
        is_shared = is_ordering(condition) and condition.free_symbols <= signs.numbers.symbols
        if is_shared and condition.free_symbols & symbols:
            symbols |= condition.free_symbols
    ordered = sorted(symbols, key=str)
    if not polynomial.is_polynomial(*ordered) or not symbols <= signs.numbers.symbols:
        return None
    return ordered if all(symbol.is_nonnegative for symbol in ordered) else None


def _read_terms(polynomial: Expr, symbols: Sequence[sp.Symbol]) -> Terms:
    """Return the coefficients of a polynomial by the powers of its monomials."""
    number = quotient(polynomial)
    places = [symbols.index(symbol) for symbol in number.symbols]
    scale = 1 / next(factor for _, factor in number.denominator.terms())
    found: Terms = {}
    for powers, factor in number.numerator.terms():
        full = [0] * len(symbols)
        for place, power in zip(places, powers, strict=True):
            full[place] = power
        found[tuple(full)] = factor * scale
    return found


def _list_slacks(signs: SignFacts, symbols: Sequence[sp.Symbol], shift: Mapping[Expr, Expr]) -> Iterator[_Slack]:
    """Yield the slacks of conditions in these symbols, if the sign of the denominator or the numerator is known."""
    for condition in signs.conditions:
        if not is_ordering(condition) or not condition.free_symbols <= set(symbols):
            continue
        gap = slack(condition)
        try:
            number = quotient(gap)
        except Rejected:
            continue
        if not all(symbol.is_Symbol for symbol in number.symbols):
            continue
        numerator = number.written(number.numerator)
        signed = _find_sign(number.written(number.denominator), signs)
        # In eta <= 1/(2 l) the denominator is possibly zero, but the numerator 1 - 2 l eta has a sign.
        recognised = (sign for sign in (1, -1) if signs.is_nonnegative(sign * numerator))
        sign = next(recognised, None) if signed is None else signed[0]
        if sign is not None:
            yield _Slack(_read_terms((sign * numerator).xreplace(shift), symbols), sign * numerator)


Column = tuple[Powers, tuple[int, ...], Terms]
"""Powers of the symbols, the slacks that multiply them, and the product."""


def _list_columns(goal: Terms, slacks: Sequence[_Slack], degree: int) -> list[Column]:
    """Return products of monomials and at most `degree` slacks that may add up to a polynomial.

    Returns an empty list if there are too many.
    """
    columns = list(islice(_generate_columns(goal, slacks, degree), MOST_COLUMNS + 1))
    if len(columns) > MOST_COLUMNS:
        return []
    spend(50 * len(columns))
    return columns


def _generate_columns(goal: Terms, slacks: Sequence[_Slack], degree: int) -> Iterator[Column]:
    """Yield the products whose powers and degrees do not exceed those of the goal."""
    is_graded = find_grading(goal, [each.terms for each in slacks])
    largest = [max(powers[place] for powers in goal) for place in range(len(next(iter(goal))))]
    subsets = (combinations_with_replacement(range(len(slacks)), count) for count in range(degree + 1))
    for chosen in chain.from_iterable(subsets):
        factor = multiply_terms([slacks[place].terms for place in chosen], len(largest))
        room = [most - max(powers[place] for powers in factor) for place, most in enumerate(largest)]
        if min(room, default=0) < 0 or prod(each + 1 for each in room) > 50 * MOST_COLUMNS:
            continue
        first = next(iter(factor))
        for powers in product(*(range(each + 1) for each in room)):
            if is_graded(tuple(map(sum, zip(powers, first, strict=True)))):
                yield powers, chosen, move_terms(factor, powers)


def _write_product(
    symbols: Sequence[sp.Symbol], shift: Mapping[Expr, Expr], slacks: Sequence[_Slack], column: Column, weight: fmpq
) -> Expr:
    """Return a weighted product in the original symbols."""
    powers, chosen, _ = column
    # `shift` has symbol + bound for a symbol, so that this is symbol - bound.
    bases = (2 * symbol - shift[symbol] for symbol in symbols)
    monomial = (base**power for base, power in zip(bases, powers, strict=True) if power)
    return sp.Mul(_make_rational(weight), *monomial, *(slacks[place].expression for place in chosen))
