"""Counts the work of operations with polynomials beforehand, and rejects those that would exhaust the memory.

The cost is bounded from the operands: their numbers of terms, their degrees, and the bits of their coefficients over
a common denominator.  No result of an operation depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from math import comb, lcm, prod
from typing import Any

from flint import fmpq, nmod_poly

from fedtheory.kernel.expressions import Rejected
from fedtheory.kernel.work import spend

Polynomial = Any
"""A polynomial of python-flint over the rationals (it ships no complete types)."""
_MOST_PAIRS = 10**6
"""Limits on the pairs of terms in a product, and on the terms of a power."""
_MOST_TERMS = 2 * 10**5
"""Limits on the terms of a quotient of polynomials, and of one in shifted symbols."""
_MOST_WORDS = 4 * 10**6
"""Limit on the machine words of all coefficients of a polynomial."""
_FEW_TERMS = 2000
_PRIME = 2**61 - 1
_MOST_FACTORED = 20_000
_HIGHEST_FACTORED = 60


def count_words(polynomial: Polynomial) -> int:
    """Return the machine words of the largest coefficient over a common denominator."""
    coefficients = polynomial.coeffs()
    height = max(map(fmpq.height_bits, coefficients), default=0)
    denominator = lcm(*{int(number.q) for number in coefficients})
    return 1 + (height + denominator.bit_length()) // 64


def count_product(one: Polynomial, other: Polynomial) -> None:
    """Count the work of a product."""
    pairs, size = len(one) * len(other), count_words(one) + count_words(other)
    _require(pairs, _MOST_PAIRS, size)
    spend(pairs * size)


def count_power(polynomial: Polynomial, power: int) -> None:
    """Count the work of a power."""
    _require(power, _MOST_PAIRS, 1)
    terms, size = comb(len(polynomial) - 1 + power, power) if polynomial else 1, 1 + power * count_words(polynomial)
    _require(terms, _MOST_PAIRS, size)
    spend(4 * terms * size)


def count_reduction(numerator: Polynomial, denominator: Polynomial) -> None:
    """Count the work of a division of two polynomials by their common factor."""
    size = count_words(numerator) + count_words(denominator)
    spend(16 * (len(numerator) + len(denominator)) * size)
    is_constant = denominator.is_constant() or (numerator and numerator.is_constant())
    if not is_constant and len(numerator) > 1 and len(denominator) > 1:
        terms = _bound_reduced_terms(numerator, denominator)
        _require(terms, _MOST_TERMS, size)
        spend(4 * terms * size)


def count_renaming(polynomial: Polynomial) -> None:
    """Count the work of writing a polynomial in powers of other generators."""
    height = count_words(polynomial) + sum(polynomial.degrees())
    _require(len(polynomial), _MOST_TERMS, height)
    spend(4 * len(polynomial) * height)


def count_composition(polynomial: Polynomial, images: Sequence[Polynomial]) -> None:
    """Count the work of a substitution of polynomials for the generators of a polynomial."""
    sizes, most = [len(image) for image in images], 0
    for powers in polynomial.monoms():
        most += prod(comb(size - 1 + power, power) for size, power in zip(sizes, powers, strict=True) if power and size)
    height = count_words(polynomial) + sum(polynomial.degrees()) * max(map(count_words, images), default=1)
    _require(most, _MOST_TERMS, height)
    spend(4 * most * height)


def count_factors(polynomial: Polynomial) -> None:
    """Count the work of a factorisation."""
    degrees = polynomial.degrees()
    dense = prod(1 + degree for degree in degrees)
    if len(polynomial) > 1:
        _require(dense, _MOST_FACTORED, count_words(polynomial))
        _require(max(degrees, default=0), _HIGHEST_FACTORED, 1)
        spend(100 * dense * count_words(polynomial))


def _bound_reduced_terms(numerator: Polynomial, denominator: Polynomial) -> int:
    """Bound the terms of two polynomials divided by their greatest common divisor, and those of the divisor."""
    pairs = enumerate(zip(numerator.degrees(), denominator.degrees(), strict=True))
    shared = {place: min(one, other) for place, (one, other) in pairs if one and other}
    most = max(_bound_cofactor_terms(part, dict.fromkeys(shared, 0)) for part in (numerator, denominator))
    if most <= _FEW_TERMS:
        return most
    common = _find_common_degrees(numerator, denominator, shared)
    cofactors = (_bound_cofactor_terms(part, common) for part in (numerator, denominator))
    return max(prod(1 + degree for degree in common.values()), *cofactors)


def _bound_cofactor_terms(polynomial: Polynomial, common: dict[int, int]) -> int:
    """Bound the terms of a polynomial divided by one of known degrees in some generators.

    The degrees in the other generators are unchanged.
    """
    alike: dict[tuple[int, ...], list[list[int]]] = {}
    rest = [place for place in range(len(polynomial.degrees())) if place not in common]
    for monomial in polynomial.monoms():
        powers = [*map(int, monomial)]
        alike.setdefault(tuple([powers[place] for place in rest]), []).append([powers[place] for place in common])
    return sum(_bound_monomials(points, [*common.values()]) for points in alike.values())


def _bound_monomials(points: Sequence[Sequence[int]], degrees: Sequence[int]) -> int:
    """Bound the monomials of a cofactor by those of the product and the degrees of the other factor.

    The ranges of the exponents, and of differences of two exponents, are smaller in the cofactor by the degrees of the
    factor.  One range for each generator, chosen as in a minimum spanning tree, determines the monomial.
    """
    spend(len(points) * len(degrees) ** 2)
    if len(points) == 1:
        return 1
    columns = [*zip(*points, strict=True)]
    fewest = {place: max(1, 1 + _measure_range(column) - degrees[place]) for place, column in enumerate(columns)}
    found = 1
    while fewest:
        place = min(fewest, key=fewest.__getitem__)
        found *= fewest.pop(place)
        for other, known in fewest.items():
            differences = [one - another for one, another in zip(columns[place], columns[other], strict=True)]
            fewest[other] = min(known, 1 + _measure_range(differences))
    return found


def _measure_range(values: Sequence[int]) -> int:
    """Return the difference of the largest and the smallest value."""
    return max(values) - min(values)


def _find_common_degrees(numerator: Polynomial, denominator: Polynomial, shared: dict[int, int]) -> dict[int, int]:
    """Return the degrees of the greatest common divisor, from images in one generator, modulo a prime.

    The numbers that replace the other generators are derived from the polynomials, so that a certificate
    cannot choose polynomials whose images have a larger common divisor than they have.
    """
    seed = int.from_bytes(sha256(f"{numerator}/{denominator}".encode()).digest())
    numbers = [pow(seed, 2 * place + 1, _PRIME) for place in range(len(numerator.degrees()))]
    found = {}
    for place, most in shared.items():
        images = [_map_image(part, place, numbers) for part in (numerator, denominator)]
        degree = most if None in images else min(most, images[0].gcd(images[1]).degree())
        if degree > 0:
            found[place] = degree
    return found


def _map_image(polynomial: Polynomial, place: int, numbers: Sequence[int]) -> Any:
    """Return a polynomial in the generator at a place, modulo a prime, with numbers for the others.

    Returns None if the image does not exist.
    """
    spend(40 * len(polynomial))
    coefficients = [0] * (1 + int(polynomial.degrees()[place]))
    for powers, factor in polynomial.terms():
        if int(factor.q) % _PRIME == 0:
            return None
        value = int(factor.p) * pow(int(factor.q), -1, _PRIME)
        for other, power in enumerate(powers):
            if power and other != place:
                value = value * pow(numbers[other], int(power), _PRIME) % _PRIME
        coefficients[powers[place]] += value
    return nmod_poly([value % _PRIME for value in coefficients], _PRIME)


def _require(terms: int, most: int, size: int) -> None:
    """Raise `Rejected` for more terms than `most`, or for coefficients that are too large together."""
    if terms > most:
        raise Rejected(f"a number has more than {most} terms when it is multiplied out")
    if terms * size > _MOST_WORDS:
        raise Rejected(f"a number has coefficients of more than {_MOST_WORDS} words when it is multiplied out")
