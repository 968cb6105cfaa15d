"""Numbers as a closed type: rational functions over Q in symbols, stored as polynomials in lowest terms.

SymPy is the notation only.  Questions about a number (is it zero, its sign, its denominator) are answered by the two
polynomials that it is compiled to; any expression other than a rational, a symbol, a sum, a product or a power is
rejected.  A generator of the polynomials is a symbol, the square root of one, the root of a rational, a power with a
symbolic exponent, or an opaque scalar: an average or sum over clients, an inner product, a norm, a function value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from fedtheory.kernel import polynomials
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Inner, Value, is_length
from fedtheory.kernel.expressions import Rejected as Rejected  # noqa: PLC0414 - callers import `Rejected` from here
from fedtheory.kernel.polynomials import Fraction, Polynomial
from fedtheory.kernel.work import NODE, cache_with_work, spend

_HALF = sp.Rational(1, 2)
_SYMBOLS = (sp.Symbol, sp.Dummy, Average, ClientSum, Inner, Value)


@dataclass(frozen=True)
class Quotient:
    """A numerator and a denominator without a common factor, and the symbols of their generators."""

    symbols: tuple[Expr, ...]
    numerator: Polynomial
    denominator: Polynomial

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __add__(self, other: Quotient) -> Quotient:
        return _combine(_sum, self, other)

    def __mul__(self, other: Quotient) -> Quotient:
        if not other.symbols:
            return self._scale(other)
        return _combine(_multiply_reduced, self, other) if self.symbols else other._scale(self)

    def _scale(self, rational: Quotient) -> Quotient:
        """Multiply by a number without symbols, which leaves lowest terms."""
        if rational.numerator.is_one() or not rational:
            return rational if not rational else self
        factor = self.numerator.context().constant(rational.numerator.leading_coefficient())
        return Quotient(self.symbols, polynomials.multiply(self.numerator, factor), self.denominator)

    @property
    def expression(self) -> Expr:
        """The number in SymPy's notation: equal numbers have equal expressions."""
        spend(self._count_nodes(self.numerator) + self._count_nodes(self.denominator))
        return self._cached_expression

    @cached_property
    def _cached_expression(self) -> Expr:
        """Return the quotient in SymPy's notation."""
        return self._sum(self.numerator) / self._sum(self.denominator)

    def written(self, polynomial: Polynomial) -> Expr:
        """Return a polynomial in the symbols as a sum in SymPy's notation."""
        spend(self._count_nodes(polynomial))
        return self._sum(polynomial)

    def _count_nodes(self, polynomial: Polynomial) -> int:
        """Return the units of work that writing a polynomial takes."""
        return NODE * len(polynomial) * (1 + sum(map(bool, polynomial.degrees())))

    def _sum(self, polynomial: Polynomial) -> Expr:
        return sp.Add(*(self._write_monomial(powers, factor) for powers, factor in polynomial.terms()))

    def monomial(self, powers: Sequence[int], factor: fmpq) -> Expr:
        """Return a rational times powers of the symbols."""
        spend(NODE * (1 + sum(map(bool, powers))))
        return self._write_monomial(powers, factor)

    def _write_monomial(self, powers: Sequence[int], factor: fmpq) -> Expr:
        """Return the monomial with these powers and this factor."""
        product = (symbol**power for symbol, power in zip(self.symbols, powers, strict=True) if power)
        return sp.Mul(sp.Rational(int(factor.p), int(factor.q)), *product)

    def factored_denominator(self) -> tuple[Expr, ...]:
        """Return the denominator as a product: a rational, and powers of irreducible polynomials."""
        rational, factors = polynomials.factorise(self.denominator)
        powers = (self.written(factor) ** power for factor, power in factors)
        return (sp.Rational(int(rational.p), int(rational.q)), *powers)


@cache_with_work(2**14)
def quotient(expression: Expr) -> Quotient:
    """Return a number as a quotient of polynomials; raise `Rejected` for another expression, or a division by zero."""
    number = sp.sympify(expression)
    compiler = _Compiler.from_parts(part for part in _list_parts(number) if not part.is_Rational)
    return Quotient(compiler.symbols, *_make_monic(*compiler.compile(number)))


def _is_root(part: Expr) -> bool:
    return bool(part.is_Pow and part.exp == _HALF)


def _combine(operation: Callable[[Fraction, Fraction], Fraction], *numbers: Quotient) -> Quotient:
    """Return the sum or the product of two numbers."""
    one, other = _combine_all(*numbers)
    return Quotient(
        one.symbols, *_make_monic(*operation((one.numerator, one.denominator), (other.numerator, other.denominator)))
    )


def _combine_all(*numbers: Quotient) -> Sequence[Quotient]:
    """Rewrite numbers as quotients of polynomials in the same generators."""
    if all(number.symbols == numbers[0].symbols for number in numbers):
        return numbers
    compiler, images = _share_generators(*(number.symbols for number in numbers))
    pairs = zip(numbers, images, strict=True)
    return [number if number.symbols == compiler.symbols else compiler.move(number, moved) for number, moved in pairs]


@cache_with_work(2**12)
def _share_generators(*alphabets: tuple[Expr, ...]) -> tuple[_Compiler, Sequence[Sequence[Polynomial]]]:
    """Return a compiler with the generators of all, and for each of them the images of its generators."""
    compiler = _Compiler.from_parts(symbol for symbols in alphabets for symbol in symbols)
    return compiler, [[compiler.compile(symbol)[0] for symbol in symbols] for symbols in alphabets]


def reduce_fraction(expression: Expr) -> Expr:
    """Return a number as one polynomial over another in SymPy's notation: equal numbers give equal expressions."""
    return quotient(expression).expression


def linear(expression: Expr, symbols: Iterable[Expr]) -> tuple[dict[Expr, Expr], Expr]:
    """Return the coefficients of symbols in a number, and the part without them.

    Raises `Rejected` if the number is not linear in the symbols.
    """
    number, known = quotient(expression), set(symbols)
    places = {symbol: number.symbols.index(symbol) for symbol in known & set(number.symbols)}
    inside = any(symbol.has(*known) for symbol in number.symbols if symbol not in places)
    if inside or any(number.denominator.degrees()[place] for place in places.values()):
        raise Rejected(f"{expression} is not linear in {', '.join(sorted(map(str, known)))}")
    found: dict[Expr, list[Expr]] = {symbol: [] for symbol in known}
    rest: list[Expr] = []
    for powers, factor in number.numerator.terms():
        used = [symbol for symbol, place in places.items() for _ in range(powers[place])]
        if len(used) > 1:
            raise Rejected(f"{expression} is not linear in {', '.join(sorted(map(str, known)))}")
        part = number.monomial(powers, factor)
        if used:
            found[used[0]].append(part / used[0])
        else:
            rest.append(part)
    denominator = number.written(number.denominator)
    return {symbol: sp.Add(*parts) / denominator for symbol, parts in found.items()}, sp.Add(*rest) / denominator


def is_zero(expression: Expr, roots: Mapping[sp.Symbol, Expr] | None = None) -> bool:
    """Return whether a number is zero, if some of its symbols are the square roots of others."""
    return vanishes(quotient(expression), roots)


def vanishes(number: Quotient, roots: Mapping[sp.Symbol, Expr] | None = None) -> bool:
    """Return whether a quotient is zero.

    Even powers of a root are replaced by powers of its radicand, in the numerator and the denominator.
    If the denominator becomes zero as well, the number is undefined and the result is False.
    """
    if not number:
        return True
    used = {symbol: of for symbol, of in (roots or {}).items() if symbol in number.symbols}
    used |= {symbol: symbol.base for symbol in number.symbols if _is_root(symbol) and symbol.base.is_Rational}
    if not used:
        return False
    number, *squares = _combine_all(number, *map(quotient, used.values()))
    numerator, denominator = number.numerator, number.denominator
    for symbol, square in zip(used, squares, strict=True):
        place = number.symbols.index(symbol)
        numerator, denominator = (_substitute_squares(part, place, square) for part in (numerator, denominator))
    return bool(not numerator and denominator)


def _substitute_squares(polynomial: Polynomial, place: int, square: Quotient) -> Polynomial:
    """Substitute a number for the square of a generator, and multiply by a power of its denominator."""
    half, found = polynomial.degrees()[place] // 2, polynomial.context().constant(0)
    for powers, factor in polynomial.terms():
        pairs, odd = divmod(powers[place], 2)
        rest = polynomial.context().from_dict({(*powers[:place], odd, *powers[place + 1 :]): factor})
        numerator, denominator = (
            polynomials.raise_fraction((part, part), power)[0]
            for part, power in ((square.numerator, pairs), (square.denominator, half - pairs))
        )
        found += polynomials.multiply(polynomials.multiply(rest, numerator), denominator)
    return found


def _list_parts(number: Expr) -> Iterator[Expr]:
    """Yield the symbols, rationals and roots of a number; raise `Rejected` for anything else."""
    spend(NODE)
    if isinstance(number, sp.Rational) or type(number) in _SYMBOLS:
        yield number
    elif type(number) in (sp.Add, sp.Mul):
        for argument in number.args:
            yield from _list_parts(argument)
    elif type(number) is sp.Pow:
        yield from _split_power(number)
    else:
        raise Rejected(number, " is not an exact finite number")


def _split_power(power: Expr) -> Iterator[Expr]:
    """Yield the parts of a power; reject roots of numbers that may be negative."""
    if power.exp.is_Integer:
        yield from _list_parts(power.base)
    elif power.exp.is_Rational:
        if power.exp.q != 2 or not _has_root(power.base):
            raise Rejected(power, " is a root of what may be negative")
        yield power.base**_HALF
    else:
        yield _find_symbolic_power(power.base, _split_exponent(power)[2])
        yield from _list_parts(power.base)


def _find_symbolic_power(base: Expr, symbol: Expr) -> Expr:
    """Return a power as a generator: equal bases with denominators, such as 1 - m/L and (L - m)/L, give the same."""
    number = quotient(base)
    return base**symbol if number.denominator.is_constant() else number.expression**symbol


def _split_exponent(power: Expr) -> tuple[int, int, Expr]:
    """Split an exponent such as 2 n + 1 into the whole number, the factor and the symbol."""
    whole, rest = power.exp.as_coeff_Add()
    factor, symbol = rest.as_coeff_Mul()
    if not (whole.is_Integer and factor.is_Integer and symbol.is_Symbol):
        raise Rejected(f"{power} has an exponent that is not a multiple of 1/2 or of a symbol plus an integer")
    return int(whole), int(factor), symbol


def _has_root(base: Expr) -> bool:
    return bool((base.is_Symbol or base.is_Rational) and base.is_nonnegative) or is_length(base**_HALF)


@dataclass(frozen=True)
class _Compiler:
    """Translates expressions into numerators and denominators, polynomials in one ring."""

    ring: Any
    generators: Mapping[Expr, Polynomial]

    @classmethod
    def from_parts(cls, parts: Iterable[Expr]) -> _Compiler:
        """Return a compiler for these parts; a symbol whose root is among them is the square of that generator."""
        found = set(parts)
        symbols = sorted(found - {part.base for part in found if _is_root(part)}, key=sp.default_sort_key)
        ring = fmpq_mpoly_ctx.get([f"x{place}" for place in range(len(symbols))], Ordering.lex)
        return cls(ring, dict(zip(symbols, ring.gens(), strict=True)))

    @property
    def symbols(self) -> tuple[Expr, ...]:
        """Return the symbols of the generators, in order."""
        return tuple(self.generators)

    def move(self, number: Quotient, images: Sequence[Polynomial]) -> Quotient:
        """Rewrite a number in the generators of this compiler, powers of which are `images` of its own."""
        numerator, denominator = (
            polynomials.change_generators(part, images, self.ring) for part in (number.numerator, number.denominator)
        )
        return Quotient(self.symbols, *_make_monic(numerator, denominator))

    def compile(self, number: Expr) -> tuple[Polynomial, Polynomial]:
        """Return numerator and denominator in lowest terms."""
        if number.is_Rational:
            return self.ring.constant(int(number.p)), self.ring.constant(int(number.q))
        if number in self.generators:
            return self.generators[number], self.ring.constant(1)
        if isinstance(number, sp.Symbol | Inner):
            return self.generators[number**_HALF] ** 2, self.ring.constant(1)
        if number.is_Pow:
            return self._compile_power(number)
        numerator, denominator = self.compile(number.args[0])
        for argument in number.args[1:]:
            numerator, denominator = (_sum if number.is_Add else _multiply_reduced)(
                (numerator, denominator), self.compile(argument)
            )
        return numerator, denominator

    def _compile_power(self, power: Expr) -> tuple[Polynomial, Polynomial]:
        """Compile a power: a whole power, an odd power of a root, or a symbolic power times a whole one."""
        base, exponent = power.base, power.exp
        if exponent.is_Integer:
            return polynomials.raise_fraction(self.compile(base), int(exponent))
        if exponent.is_Rational:
            return polynomials.raise_fraction((self.generators[base**_HALF], self.ring.constant(1)), int(2 * exponent))
        whole, factor, symbol = _split_exponent(power)
        symbolic = (self.generators[_find_symbolic_power(base, symbol)], self.ring.constant(1))
        return _multiply_reduced(
            polynomials.raise_fraction(symbolic, factor), polynomials.raise_fraction(self.compile(base), whole)
        )


def _sum(one: Fraction, other: Fraction) -> Fraction:
    if one[1] == other[1]:
        return polynomials.reduce(one[0] + other[0], one[1])
    numerator = polynomials.multiply(one[0], other[1]) + polynomials.multiply(other[0], one[1])
    return polynomials.reduce(numerator, polynomials.multiply(one[1], other[1]))


def _multiply_reduced(one: Fraction, other: Fraction) -> Fraction:
    """Return the product of two fractions in lowest terms."""
    (numerator, last), (first, denominator) = polynomials.reduce(one[0], other[1]), polynomials.reduce(other[0], one[1])
    return polynomials.multiply(numerator, first), polynomials.multiply(last, denominator)


def _make_monic(numerator: Polynomial, denominator: Polynomial) -> Fraction:
    """Scale a quotient so that the leading coefficient of its denominator is one."""
    leading = denominator.leading_coefficient()
    return numerator / leading, denominator / leading


ZERO, ONE = quotient(sp.S.Zero), quotient(sp.S.One)
