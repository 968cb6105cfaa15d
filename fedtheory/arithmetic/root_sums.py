"""Sums of rational multiples of real roots, such as ``1 + sqrt(2)/3``: added, multiplied and compared exactly.

Intervals cannot distinguish equal numbers from close ones.  For sums of roots a theorem can: positive real roots of
rationals, no two of which have a rational quotient, are linearly independent over the rationals (Besicovitch 1940;
Mordell 1953; Siegel 1972).  Hence a sum of such roots is zero only if all its coefficients are zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat, fmpz

from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS, Enclosure, precise_enclosures

_MOST_TERMS, _MOST_BITS, _MOST_DEGREE = 32, 2**17, 64
"""Limits of exact sums: number of terms, bits of a number in them, and degree of their roots."""
_LONGEST = 24
"""Length in characters up to which a sum is printed with its roots; a longer one is printed as an interval."""


@dataclass(frozen=True)
class Root:
    """A positive root of a positive rational; the root of degree 1 of 1 is the number 1."""

    radicand: fmpq
    degree: int

    def divide_by(self, other: Root) -> fmpq | None:
        """Return the quotient of two roots if it is rational, else None."""
        degree = math.lcm(self.degree, other.degree)
        return find_exact_root(self.raise_to(degree) / other.raise_to(degree), degree)

    def raise_to(self, degree: int) -> fmpq:
        """Return the root raised to a multiple of its degree."""
        return self.radicand ** (degree // self.degree)


Term = tuple[fmpq, Root]
"""A coefficient and its root."""
Terms = tuple[Term, ...]
_ONE = Root(fmpq(1), 1)


class RootSum(Enclosure):
    """An irrational sum of roots, no two of them with a rational quotient, together with an interval that contains it.

    Operations with rationals and other sums of roots give rationals or sums of roots; operations with other enclosures,
    and results that exceed the limits, give enclosures.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        with precise_enclosures():
            super().__init__(_enclose(terms))

    def __str__(self) -> str:
        text = " + ".join(_format_term(*term) for term in self.terms).replace("+ -", "- ")
        return text if len(text) <= _LONGEST else str(self.interval)

    def plain(self) -> RootSum:
        return self

    def __add__(self, other: object) -> Any:
        return self._combine_exactly(other, _sum, super().__add__)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self._combine_exactly(other, _subtract_terms, super().__sub__)

    def __rsub__(self, other: object) -> Any:
        return -self + other

    def __mul__(self, other: object) -> Any:
        return self._combine_exactly(other, _find_product, self._multiply_intervals)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return self._combine_exactly(other, _divide_terms, super().__truediv__)

    def __rtruediv__(self, other: object) -> Any:
        inverse = _invert_terms(self.terms)
        return super().__rtruediv__(other) if inverse is None else _build_number(inverse) * other

    def __pow__(self, exponent: int) -> Any:
        if exponent < 0:
            return 1 / self**-exponent
        half = self ** (int(exponent) // 2) if exponent > 1 else fmpq(1)
        return half * half * self if exponent % 2 else half * half

    def __neg__(self) -> RootSum:
        return RootSum(tuple((-coefficient, root) for coefficient, root in self.terms))

    def __abs__(self) -> RootSum:
        return self if self.sign() > 0 else -self

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    __hash__ = None

    def sqrt(self) -> Any:
        return self.root(2)

    def root(self, degree: int) -> Any:
        (coefficient, root), *others = self.terms
        if others or coefficient < 0:
            return super().root(degree)
        return compute_root(root.radicand * coefficient**root.degree, root.degree * degree)

    def sign(self) -> int:
        """Return the sign, with an interval refined until it excludes zero; the number is not zero."""
        bits, found = ENCLOSURE_BITS, self.interval
        while not (found > 0 or found < 0):
            bits *= 2
            with precise_enclosures(bits):
                found = _enclose(self.terms)
        return 1 if found > 0 else -1

    def _multiply_intervals(self, other: object) -> Enclosure:
        """Multiply two sums of roots as intervals."""
        return self._combine(other, lambda mine, theirs: mine * theirs)

    def _combine_exactly(
        self, other: object, operation: Callable[[Terms, Terms], Terms | None], enclosed: Callable[[object], Any]
    ) -> Any:
        """Return the exact result of an operation, or an enclosure if the exact result would be too large."""
        theirs = _find_terms(other)
        found = None if theirs is None else operation(self.terms, theirs)
        return enclosed(other) if found is None else _build_number(found)

    def _compare(self, other: object, holds: Callable[..., Any], fails: Callable[..., Any]) -> bool:
        gap = None if _find_terms(other) is None else self - other
        if isinstance(gap, RootSum | fmpq):
            return bool(holds(arb(gap.sign() if isinstance(gap, RootSum) else gap), 0))
        return super()._compare(other, holds, fails)


def find_exact_root(value: fmpq, degree: int) -> fmpq | None:
    """Return the root of a non-negative rational if it is rational, else None."""
    numerator, denominator = fmpz(value.p).root(degree), fmpz(value.q).root(degree)
    is_exact = numerator**degree == value.p and denominator**degree == value.q
    return fmpq(numerator, denominator) if is_exact else None


def compute_root(value: fmpq, degree: int) -> fmpq | Enclosure:
    """Return the root of a non-negative rational, as a rational, a `RootSum` or an enclosure."""
    exact = find_exact_root(value, degree)
    if exact is not None:
        return exact
    root = Root(value, degree)
    if _is_short(fmpq(1), root):
        return RootSum(((fmpq(1), root),))
    with precise_enclosures():
        return Enclosure(arb(value).root(degree))


def _enclose(terms: Terms) -> arb:
    return sum((arb(root.radicand).root(root.degree) * coefficient for coefficient, root in terms), arb(0))


def _format_term(coefficient: fmpq, root: Root) -> str:
    """Return a term in SymPy's notation."""
    rational = root.divide_by(_ONE)
    if rational is not None:
        return str(coefficient * rational)
    power = f"sqrt({root.radicand})" if root.degree == 2 else f"({root.radicand})**(1/{root.degree})"
    if abs(coefficient) == 1:
        return power if coefficient > 0 else f"-{power}"
    return f"{coefficient}*{power}"


def _find_terms(value: object) -> Terms | None:
    """Return the terms of a rational, a whole number or a sum of roots; None for any other value."""
    if isinstance(value, RootSum):
        return value.terms
    if isinstance(value, fmpq):
        return ((value, _ONE),) if value != 0 else ()
    return _find_terms(fmpq(int(value))) if type(value) is int or isinstance(value, np.integer) else None


def _build_number(terms: Terms) -> Any:
    """Return the number with the given terms: a rational if no root is left."""
    if not terms:
        return fmpq(0)
    (coefficient, root), *others = terms
    rational = None if others else root.divide_by(_ONE)
    return RootSum(terms) if rational is None else coefficient * rational


def _collect(terms: Iterable[Term]) -> Terms | None:
    """Merge terms whose roots have a rational quotient; return None if the result exceeds the limits."""
    found: list[Term] = []
    for coefficient, root in terms:
        for place, (known, other) in enumerate(found):
            quotient = root.divide_by(other)
            if quotient is not None:
                found[place] = known + coefficient * quotient, other
                break
        else:
            found.append((coefficient, root))
            if len(found) > 2 * _MOST_TERMS:
                return None
    kept = tuple((coefficient, root) for coefficient, root in found if coefficient != 0)
    return kept if len(kept) <= _MOST_TERMS and all(_is_short(*term) for term in kept) else None


def _is_short(coefficient: fmpq, root: Root) -> bool:
    return root.degree <= _MOST_DEGREE and max(_count_bits(coefficient), _count_bits(root.radicand)) <= _MOST_BITS


def _count_bits(value: fmpq) -> int:
    """Return the number of bits of the longer of numerator and denominator."""
    return max(int(value.p).bit_length(), int(value.q).bit_length())


def _sum(mine: Terms, theirs: Terms) -> Terms | None:
    """Return the terms of the sum; None if these exceed the limits."""
    return _collect([*mine, *theirs])


def _subtract_terms(mine: Terms, theirs: Terms) -> Terms | None:
    """Return the terms of the difference; None if these exceed the limits."""
    return _sum(mine, tuple((-coefficient, root) for coefficient, root in theirs))


def _find_product(mine: Terms, theirs: Terms) -> Terms | None:
    """Return the terms of the product; None if these exceed the limits."""
    return _collect(_multiply_terms(one, other) for one in mine for other in theirs)


def _multiply_terms(one: Term, other: Term) -> Term:
    """Multiply two terms; a common factor of two square roots becomes rational."""
    (a, x), (b, y) = one, other
    if x.degree == y.degree == 2:
        common = fmpq(x.radicand.p.gcd(y.radicand.p), x.radicand.q.gcd(y.radicand.q))
        return a * b * common, Root(x.radicand / common * (y.radicand / common), 2)
    degree = math.lcm(x.degree, y.degree)
    return a * b, Root(x.raise_to(degree) * y.raise_to(degree), degree)


def _divide_terms(mine: Terms, theirs: Terms) -> Terms | None:
    """Return the terms of the quotient; None if the divisor has no short inverse."""
    if not theirs:
        raise ZeroDivisionError("division of a sum of roots by zero")
    inverse = _invert_terms(theirs)
    return None if inverse is None else _find_product(mine, inverse)


def _invert_terms(terms: Terms) -> Terms | None:
    """Return the terms of the reciprocal of a number; None if these exceed the limits."""
    (coefficient, root), *others = terms
    if not others:
        # 1 / (c r^(1/k)) = r^((k-1)/k) / (c r)
        rest = Root(root.radicand ** (root.degree - 1), root.degree)
        return _collect([(1 / (coefficient * root.radicand), rest)])
    basis = _close_under_products(terms)
    return None if basis is None else _solve(terms, basis)


def _close_under_products(terms: Terms) -> list[Root] | None:
    """Return roots that are closed under products with the given ones, up to rational factors.

    Returns None if there are too many.
    """
    basis, number = [_ONE], 0
    while number < len(basis):
        for _, root in terms:
            _, found = _multiply_terms((fmpq(1), basis[number]), (fmpq(1), root))
            if all(found.divide_by(other) is None for other in basis):
                basis.append(found)
        if len(basis) > _MOST_TERMS or not all(_is_short(fmpq(1), root) for root in basis):
            return None
        number += 1
    return basis


def _solve(terms: Terms, basis: Sequence[Root]) -> Terms | None:
    """Compute the terms of the reciprocal, by the linear system that says that its product with the number is one."""
    size = len(basis)
    matrix = fmpq_mat(size, size)
    for column, factor in enumerate(basis):
        for term in terms:
            coefficient, root = _multiply_terms((fmpq(1), factor), term)
            row, quotient = _locate_root(root, basis)
            matrix[row, column] = matrix[row, column] + coefficient * quotient
    solution = matrix.solve(fmpq_mat(size, 1, [int(row == 0) for row in range(size)]))
    return _collect((solution[row, 0], root) for row, root in enumerate(basis))


def _locate_root(root: Root, basis: Sequence[Root]) -> tuple[int, fmpq]:
    """Return the index of the basis root of which `root` is a rational multiple, and the factor."""
    quotients = ((place, root.divide_by(other)) for place, other in enumerate(basis))
    return next((place, quotient) for place, quotient in quotients if quotient is not None)
