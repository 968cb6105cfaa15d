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

    __slots__ = ("bottom", "top")

    def __init__(self, top: Any, bottom: Any = _ONE) -> None:
        """Divide two polynomials in h, of which the second is not zero."""
        if bottom == 0:
            raise ZeroDivisionError("division by a rational function that is zero")
        if top == 0:
            bottom = _ONE
        elif bottom.degree() > 0:
            common = top.gcd(bottom)
            top, bottom = top // common, bottom // common
        if bottom.degree() == 0 and bottom != _ONE:
            top, bottom = top / bottom[0], _ONE
        self.top, self.bottom = top, bottom

    @property
    def power(self) -> int:
        """The exponent v for which the function behaves like a multiple of h^v; raise `ValueError` for zero."""
        return _find_lowest_power(self.top) - _find_lowest_power(self.bottom)

    @property
    def leading(self) -> fmpq:
        """The non-zero coefficient c for which the function behaves like c h^v."""
        found: fmpq = self.top[_find_lowest_power(self.top)] / self.bottom[_find_lowest_power(self.bottom)]
        return found

    @property
    def is_monomial(self) -> bool:
        """Whether the function equals c h^v for all h, with c not zero."""
        return self.top != 0 and all(_find_lowest_power(part) == part.degree() for part in (self.top, self.bottom))

    def __add__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.top + self.bottom * other, self.bottom)
        if not isinstance(other, Germ):
            return NotImplemented
        if self.bottom == other.bottom:
            return Germ(self.top + other.top, self.bottom)
        return Germ(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.top * other, self.bottom)
        if not isinstance(other, Germ):
            return NotImplemented
        return Germ(self.top * other.top, self.bottom * other.bottom)

    def __truediv__(self, other: Any) -> Germ:
        if isinstance(other, _LIKE):
            return Germ(self.top, self.bottom * other)
        return Germ(self.top * other.bottom, self.bottom * other.top) if isinstance(other, Germ) else NotImplemented

    def __rtruediv__(self, other: Any) -> Germ:
        return Germ(self.bottom * other, self.top) if isinstance(other, _LIKE) else NotImplemented

    def __pow__(self, exponent: int) -> Germ:
        if not isinstance(exponent, int):
            return NotImplemented
        top, bottom = (self.top, self.bottom) if exponent >= 0 else (self.bottom, self.top)
        return Germ(top ** abs(exponent), bottom ** abs(exponent))

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
        return bool(self.top != 0)

    def __eq__(self, other: object) -> bool:
        return not self - other if isinstance(other, (Germ, *_LIKE)) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, (Germ, *_LIKE)):
            return NotImplemented
        gap = self - other
        return bool(gap) and gap.leading < 0

    def __hash__(self) -> int:
        return hash((str(self.top), str(self.bottom)))

    def __repr__(self) -> str:
        return f"Germ({self.top}, {self.bottom})"


INFINITESIMAL = Germ(fmpq_poly([0, 1]))
"""The germ h."""


def _find_lowest_power(polynomial: Any) -> int:
    """Return the lowest power with a non-zero coefficient; raise `ValueError` for zero."""
    for power in range(polynomial.degree() + 1):
        if polynomial[power] != 0:
            return power
    raise ValueError("the zero function has no leading power")
