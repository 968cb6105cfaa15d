"""Polynomials over Q: products, powers, quotients in lowest terms, substitution and factors.

Each operation is counted, and rejected if it is too large, before it begins (`sizes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedtheory.kernel import sizes
from fedtheory.kernel.expressions import Rejected
from fedtheory.kernel.sizes import Polynomial as Polynomial  # noqa: PLC0414 - callers import it from here

Fraction = tuple[Polynomial, Polynomial]


def multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    sizes.count_product(one, other)
    return one * other


def raise_fraction(number: Fraction, power: int) -> Fraction:
    """Return a quotient to a whole power; raise `Rejected` for a division by zero."""
    numerator, denominator = number if power >= 0 else number[::-1]
    if not denominator:
        raise Rejected("something is divided by zero")
    return _raise_power(numerator, abs(power)), _raise_power(denominator, abs(power))


def _raise_power(polynomial: Polynomial, power: int) -> Polynomial:
    sizes.count_power(polynomial, power)
    return polynomial**power


def reduce(numerator: Polynomial, denominator: Polynomial) -> Fraction:
    """Divide numerator and denominator by their common factor."""
    sizes.count_reduction(numerator, denominator)
    if denominator.is_constant() or (numerator and numerator.is_constant()):
        return numerator, denominator
    common = numerator.gcd(denominator)
    return (
        (numerator, denominator) if common.is_one() else (divmod(numerator, common)[0], divmod(denominator, common)[0])
    )


def change_generators(polynomial: Polynomial, images: Sequence[Polynomial], ring: Any) -> Polynomial:
    """Write a polynomial in another ring, with powers of single generators there as `images` of its own."""
    sizes.count_renaming(polynomial)
    return polynomial.compose(*images, ctx=ring)


def substitute(polynomial: Polynomial, images: Sequence[Polynomial]) -> Polynomial:
    """Substitute polynomials for the generators of a polynomial."""
    sizes.count_composition(polynomial, images)
    return polynomial.compose(*images)


def factorise(polynomial: Polynomial) -> tuple[Any, list[tuple[Polynomial, int]]]:
    """Factor a polynomial into a rational, and irreducible polynomials with their powers."""
    sizes.count_factors(polynomial)
    rational, found = polynomial.factor()
    return rational, list(found)
