"""Rational functions of h > 0, compared in the limit h -> 0: the ordered field Q(h) with h a positive infinitesimal.

Any computation with rationals by sums, products, quotients and comparisons also works with these functions: a step
size that tends to zero is h, a number of rounds that grows is 1/h, and the result is exact in the limit.  A
conversion to floats raises `TypeError`: a germ has no float value.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Any

from flint import fmpq, fmpq_poly

_ONE = fmpq_poly([1])
_LIKE = (int, fmpq)


@total_ordering
class Germ:
    """A rational function of h near h = 0, for h > 0."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Any, denominator: Any = _ONE) -> None:
        """Divide two polynomials in h, of which the second is not zero."""
        if denominator == 0:
            raise ZeroDivisionError("division by a rational function that is zero")
        if numerator == 0:
            denominator = _ONE
        elif denominator.degree() > 0:
            common = numerator.gcd(denominator)
            numerator, denominator = numerator // common, denominator // common
        if denominator.degree() == 0 and denominator != _ONE:
            numerator, denominator = numerator / denominator[0], _ONE
        self.numerator, self.denominator = numerator, denominator

    @property
    def power(self) -> int:
        """The exponent v for which the function behaves like a multiple of h^v; raise `ValueError` for zero."""
        return _find_lowest_power(self.numerator) - _find_lowest_power(self.denominator)

    @property
    def leading(self) -> fmpq:
        """The non-zero coefficient c for which the function behaves like c h^v."""
        found: fmpq = (
            self.numerator[_find_lowest_power(self.numerator)] / self.denominator[_find_lowest_power(self.denominator)]
        )
        return found

    @property
    def is_monomial(self) -> bool:
        """Whether the function equals c h^v for all h, with c not zero."""
        return self.numerator != 0 and all(
            _find_lowest_power(part) == part.degree() for part in (self.numerator, self.denominator)
        )

    def __add__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.numerator + self.denominator * other, self.denominator)
        if not isinstance(other, Germ):
            return NotImplemented
        if self.denominator == other.denominator:
            return Germ(self.numerator + other.numerator, self.denominator)
        return Germ(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __mul__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.numerator * other, self.denominator)
        if not isinstance(other, Germ):
            return NotImplemented
        return Germ(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.numerator, self.denominator * other)
        return (
            Germ(self.numerator * other.denominator, self.denominator * other.numerator)
            if isinstance(other, Germ)
            else NotImplemented
        )

    def __rtruediv__(self, other: Any) -> Germ:
        return Germ(self.denominator * other, self.numerator) if isinstance(other, _LIKE) else NotImplemented

    def __pow__(self, exponent: int) -> Germ:
        if not isinstance(exponent, int):
            return NotImplemented
        numerator, denominator = (
            (self.numerator, self.denominator) if exponent >= 0 else (self.denominator, self.numerator)
        )
        return Germ(numerator ** abs(exponent), denominator ** abs(exponent))

    def __neg__(self) -> Germ:
        return self * -1

    def __sub__(self, other: Any) -> Germ:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Germ:
        return (-self).__add__(other)

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self) -> Germ:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return bool(self.numerator != 0)

    def __eq__(self, other: object) -> bool:
        return not self - other if isinstance(other, (Germ, *_LIKE)) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, (Germ, *_LIKE)):
            return NotImplemented
        gap = self - other
        return bool(gap) and gap.leading < 0

    def __hash__(self) -> int:
        return hash((str(self.numerator), str(self.denominator)))

    def __repr__(self) -> str:
        return f"Germ({self.numerator}, {self.denominator})"


INFINITESIMAL = Germ(fmpq_poly([0, 1]))
"""The germ h."""


def _find_lowest_power(polynomial: Any) -> int:
    """Return the lowest power with a non-zero coefficient; raise `ValueError` for zero."""
    for power in range(polynomial.degree() + 1):
        if polynomial[power] != 0:
            return power
    raise ValueError("the zero function has no leading power")
