"""Three arithmetics behind one set of names: machine floats, exact rationals, and enclosures of what is irrational.

The mathematics elsewhere is written once, on NumPy arrays.  Their element type
decides: ``float64`` for sweeps, or ``object`` arrays of python-flint's `fmpq`
for certificates.  Where a problem has no rational values the same arrays hold a
`Enclosure` beside each rational.  What the arithmetics cannot share (solving,
eigenvalues, roots, parsing and printing) is here, as objects with the same
methods.  Mixing a float with an exact number raises `TypeError`, so none is
ever rounded in silence.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat
from numpy.typing import NDArray

from fedtheory.enclosures import Enclosure, bare, precise_enclosures
from fedtheory.errors import InputError, NotApplicable, Unresolved

Array = NDArray[Any]
Number = Any
"""A float, a rational (`fmpq`), or a rigorous enclosure of what is irrational (`arb` of roots, else `Enclosure`)."""

NEAR_TIE = 1e-9
"""Relative distance below which floats do not decide an inequality."""

_FLOAT_REACH = 1e60
"""Largest number accepted in floats: products of a few such numbers still fit."""
_FEW_ROUNDINGS = 16 * float(np.finfo(float).eps)
_FLOAT_LEAST = 1e-60
"""Smallest number accepted in floats where it has to be positive."""
_NUMBER = re.compile(r"\s*[+-]?(\d+(\s*/\s*\d+)?|\d*\.?\d+(e[+-]?\d{1,3})?|\d+\.(e[+-]?\d{1,3})?)\s*", re.IGNORECASE)
_LONGEST_NUMBER = 4000
"""Characters of a number in a run file."""


class Arithmetic(ABC):
    """The operations in which arithmetics differ."""

    name: str
    """What users ask for it by."""
    kind: str
    """What it is: float, rational or enclosure."""
    numbers: str
    """What its numbers are called."""
    dtype: type
    is_rigorous: bool
    """Whether a decided comparison is proved; in floats it is not."""

    @abstractmethod
    def number(self, value: object, key: str) -> Number:
        """Read a TOML number or a rational string such as ``"1/20"``; `key` names it in errors."""

    @abstractmethod
    def text(self, value: Number) -> Any:
        """The value as JSON carries it: a number, or the string ``"p/q"``."""

    @abstractmethod
    def solve(self, matrix: Array, right: Array) -> Array:
        """Least-norm solution of ``matrix @ x = right``, `matrix` (d, d) symmetric; `InputError` if there is none."""

    @abstractmethod
    def solve_regular(self, matrix: Array, right: Array) -> Array:
        """The solution of ``matrix @ x = right`` for a regular (d, d) matrix."""

    @abstractmethod
    def largest_eigenvalue(self, matrix: Array) -> Number:
        """Largest eigenvalue of a symmetric (d, d) matrix; in rationals never too small (see `is_psd`)."""

    @abstractmethod
    def are_psd(self, matrices: Array) -> Array:
        """Whether each of the symmetric matrices (N, d, d) is positive semidefinite, (N,)."""

    def is_psd(self, matrix: Array) -> bool:
        """Whether a symmetric matrix is positive semidefinite."""
        return bool(self.are_psd(matrix[None])[0])

    @abstractmethod
    def sqrt(self, value: Number) -> Number:
        """The non-negative root; in rationals an `arb` enclosure where it is irrational."""

    @abstractmethod
    def upper_sqrt(self, value: Number) -> Number:
        """A number of this arithmetic that is at least the root, and equal to it where possible."""

    def array(self, values: object) -> Array:
        """An array of this arithmetic from nested lists, rationals, integers or floats."""
        given = np.asarray(values, dtype=object)
        flat = [self.number(value, "value") for value in given.ravel()]
        return self._filled(flat, given.shape)

    def zeros(self, *shape: int) -> Array:
        """An array of zeros."""
        return self._filled([self.number(0, "zero")] * math.prod(shape), shape)

    def identity(self, size: int) -> Array:
        """The (size, size) identity matrix."""
        return self.array(np.eye(size, dtype=int))

    def difference(self, left: Array, right: Array, _size: Array) -> Array:
        """``left - right``, sums of numbers up to `_size`; in floats what rounding alone explains is zero."""
        difference: Array = left - right
        return difference

    def smallest_eigenvalue(self, matrix: Array) -> Number:
        """Smallest eigenvalue of a symmetric matrix; in rationals never too large."""
        return 0 - self.largest_eigenvalue(-matrix)

    def _filled(self, flat: list[Number], shape: tuple[int, ...]) -> Array:
        filled: Array = np.empty(len(flat), dtype=self.dtype)
        filled[:] = flat
        return filled.reshape(shape)


class FloatArithmetic(Arithmetic):
    """IEEE double precision."""

    name = "float"
    kind = "float"
    numbers = "floats"
    dtype = float
    is_rigorous = False

    def number(self, value: object, key: str) -> float:
        if isinstance(value, fmpq | Enclosure | float | np.floating):
            number = plain_float(value)
        else:
            number = _nearest_float(*_fraction(value, key).as_integer_ratio())
        if not math.isfinite(number):
            raise InputError(key, f"expected a finite number, got {_abridged(value)}")
        if abs(number) > _FLOAT_REACH:
            raise InputError(key, f"expected at most {_FLOAT_REACH:g} in floats, got {number:g}")
        return number

    def positive(self, value: object, key: str) -> float:
        """A number above zero; one that is too small for floats is refused as well."""
        number = self.number(value, key)
        if not number >= _FLOAT_LEAST:
            raise InputError(key, f"expected at least {_FLOAT_LEAST:g} in floats, got {_abridged(str(value))}")
        return number

    def array(self, values: object) -> Array:
        # A finite float has been read already, or computed; only what is read has to keep to a range.
        given = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        if given.dtype.kind in "fiu" or all(isinstance(v, float) and math.isfinite(v) for v in given.ravel()):
            return given.astype(float)
        return super().array(values)

    def text(self, value: Number) -> float | None:
        number = plain_float(value)
        return number if math.isfinite(number) else None

    def solve(self, matrix: Array, right: Array) -> Array:
        solution: Array = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        scale = np.abs(right).max(initial=0.0) + np.abs(matrix).max(initial=0.0) * np.abs(solution).max(initial=0.0)
        if np.abs(matrix @ solution - right).max(initial=0.0) > 1e-8 * scale:
            raise InputError("", "the linear system has no solution")
        return solution

    def solve_regular(self, matrix: Array, right: Array) -> Array:
        return np.asarray(np.linalg.solve(matrix, right))

    def difference(self, left: Array, right: Array, _size: Array) -> Array:
        difference: Array = left - right
        return np.where(np.abs(difference) <= _FEW_ROUNDINGS * _size, 0.0, difference)

    def largest_eigenvalue(self, matrix: Array) -> float:
        values = np.linalg.eigvalsh(matrix)
        # A value within rounding of zero is zero: singular matrices are common here.
        rounding = 8 * len(values) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
        return float(values[-1]) if abs(values[-1]) > rounding else 0.0

    def are_psd(self, matrices: Array) -> Array:
        scales = np.abs(matrices).max(axis=(1, 2), initial=0.0)
        return np.asarray(np.linalg.eigvalsh(matrices)[:, 0] >= -1e-10 * scales)

    def sqrt(self, value: Number) -> Number:
        # A negative number has no root, NaN, with which no comparison is decided.
        with np.errstate(invalid="ignore"):
            return np.sqrt(value)

    def upper_sqrt(self, value: Number) -> Number:
        return math.sqrt(value)


class RationalArithmetic(Arithmetic):
    """Exact rationals; eigenvalues and roots are rational bounds on the safe side, equal where they can be."""

    name = "rational"
    kind = "rational"
    numbers = "rationals"
    dtype = object
    is_rigorous = True

    def number(self, value: object, key: str) -> Number:
        if isinstance(value, fmpq | Enclosure):
            return value
        if type(value) is int or isinstance(value, np.integer):
            return fmpq(int(value))
        if isinstance(value, float | np.floating):
            if not math.isfinite(value):
                raise InputError(key, f"expected a finite number, got {value!r}")
            value = Decimal(repr(float(value)))
        fraction = _fraction(value, key)
        return fmpq(fraction.numerator, fraction.denominator)

    def text(self, value: Number) -> str | None:
        known = bare(value)
        if isinstance(known, arb):
            return known.str(30) if known.is_finite() else None
        return str(known)

    def solve(self, matrix: Array, right: Array) -> Array:
        # A least-norm solution lies in the range of the symmetric matrix: x = A y with A^2 y = right.
        square = matrix @ matrix
        size = len(matrix)
        augmented = fmpq_mat(size, size + 1, [entry for row in np.column_stack([square, right]) for entry in row])
        reduced, rank = augmented.rref()
        rows = reduced.tolist()
        solution = self.zeros(size)
        for row in rows[:rank]:
            pivot = next(column for column, entry in enumerate(row) if entry != 0)
            if pivot == size:
                raise InputError("", "the linear system has no solution")
            solution[pivot] = row[size]
        return matrix @ solution

    def solve_regular(self, matrix: Array, right: Array) -> Array:
        solved = fmpq_mat(matrix.tolist()).solve(fmpq_mat([[entry] for entry in right]))
        return self.array([row[0] for row in solved.tolist()])

    def largest_eigenvalue(self, matrix: Array) -> fmpq:
        polynomial: Any = fmpq_mat(matrix.tolist()).charpoly()
        rational: list[fmpq] = [-factor[0] / factor[1] for factor, _ in polynomial.factor()[1] if factor.degree() == 1]
        if rational and self.is_psd(max(rational) * self.identity(len(matrix)) - matrix):
            return max(rational)
        above: fmpq = max(root.real.upper().fmpq() for root, _ in polynomial.numer().complex_roots())
        return above

    def are_psd(self, matrices: Array) -> Array:
        return np.array([_is_psd(fmpq_mat(matrix.tolist())) for matrix in matrices])

    def sqrt(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.sqrt, otypes=[object])(value)
        if not isinstance(value, arb) and value < 0:
            raise NotApplicable("the claim takes the root of a number that is negative on this run")
        exact = None if isinstance(value, arb) else _exact_root(value)
        if exact is not None:
            return exact
        with precise_enclosures():
            return arb(value).sqrt()

    def upper_sqrt(self, value: Number) -> fmpq:
        exact = _exact_root(value)
        if exact is not None:
            return exact
        return _round_up(arb(value).sqrt().upper().fmpq())


def _fraction(value: object, key: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | np.integer | str | Decimal | Fraction):
        raise _no_number(value, key)
    if isinstance(value, str) and (len(value) > _LONGEST_NUMBER or not _NUMBER.fullmatch(value)):
        raise _no_number(value, key)
    try:
        return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise _no_number(value, key) from None


def _no_number(value: object, key: str) -> InputError:
    return InputError(key, f'expected a number or a rational string such as "1/20", got {_abridged(value)}')


def _abridged(value: object) -> str:
    shown = (
        f"an integer of {value.bit_length()} bits" if isinstance(value, int) and abs(value) > 10**60 else repr(value)
    )
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _nearest_float(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction; infinite where there is none."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _is_psd(matrix: fmpq_mat) -> bool:
    # All roots of a symmetric matrix's characteristic polynomial are real; none is negative iff its signs alternate.
    coefficients: Any = matrix.charpoly().coeffs()
    size = matrix.nrows()
    return all((c if (size - power) % 2 == 0 else -c) >= 0 for power, c in enumerate(coefficients))


def _exact_root(value: fmpq) -> fmpq | None:
    numerator, denominator = math.isqrt(int(value.p)), math.isqrt(int(value.q))
    exact = numerator * numerator == value.p and denominator * denominator == value.q
    return fmpq(numerator, denominator) if exact else None


def rational_above(value: Number) -> fmpq:
    """A positive exact number itself if it is rational, else a short rational slightly above it."""
    known = bare(value)
    return _round_up(known.upper().fmpq()) if isinstance(known, arb) else known


def _round_up(value: fmpq, significant: int = 10_000) -> fmpq:
    """A rational with a short denominator, at most a part in `significant` above the value (which is positive)."""
    shift = 1
    while value * shift < significant:
        shift *= 10
    return fmpq(math.ceil(Fraction(int(value.p), int(value.q)) * shift), shift)


def unanswered(arithmetic: Arithmetic, reason: str) -> NotApplicable:
    """The error for a question about rank or contraction whose answer is no: in floats rounding may have given it."""
    return NotApplicable(reason) if arithmetic.is_rigorous else Unresolved(reason)


FLOAT = FloatArithmetic()
RATIONAL = RationalArithmetic()


def arithmetic_of(array: Array) -> Arithmetic:
    """The arithmetic that an array's element type stands for."""
    return RATIONAL if array.dtype == object else FLOAT


@cache
def named(name: str) -> Arithmetic:
    """The arithmetic called ``float`` or ``rational``."""
    known = {arithmetic.name: arithmetic for arithmetic in (FLOAT, RATIONAL)}
    if name not in known:
        raise InputError("arithmetic", f"expected one of {', '.join(known)}, got {name!r}")
    return known[name]


def simplest_near(value: float, relative: float = 1e-9) -> fmpq:
    """The rational of smallest denominator (by powers of ten) within a relative distance of a float."""
    exact = Fraction(value)
    candidates = (exact.limit_denominator(10**power) for power in range(16))
    near = next((c for c in candidates if abs(c - exact) <= relative * abs(exact)), exact)
    return fmpq(near.numerator, near.denominator)


def rational_near(value: Number) -> fmpq:
    """An exact number itself if it is rational, else a simple rational next to it."""
    return value if isinstance(value, fmpq) else simplest_near(plain_float(value))


def plain_float(value: Number) -> float:
    """A float near any number of any arithmetic, for ordering and display."""
    if isinstance(value, fmpq):
        return _nearest_float(int(value.p), int(value.q))
    known = bare(value)
    return float(known.mid()) if isinstance(known, arb) else float(known)


def plain_floats(values: Array) -> Array:
    """`plain_float` of every entry."""
    return values if values.dtype != object else np.vectorize(plain_float, otypes=[float])(values)
