"""Exact rationals."""

from __future__ import annotations

import copyreg
import math
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from fedtheory.arithmetic.enclosures import Enclosure, convert_to_ball, precise_enclosures
from fedtheory.arithmetic.germs import Germ
from fedtheory.arithmetic.operations import Arithmetic, Array, Number
from fedtheory.arithmetic.products import product
from fedtheory.arithmetic.reading import read_fraction
from fedtheory.arithmetic.root_sums import compute_root, find_exact_root
from fedtheory.arithmetic.rounding import round_up
from fedtheory.errors import InputError, NotApplicable

_ZERO = fmpq(0)


class RationalArithmetic(Arithmetic):
    """Exact rationals; irrational eigenvalues and roots are replaced by rational bounds on the safe side."""

    name = "rational"
    kind = "rational"
    numbers = "rationals"
    dtype = object
    is_rigorous = True

    def number(self, value: object, key: str) -> Number:
        if isinstance(value, fmpq | Enclosure | Germ):
            return value
        if type(value) is int or isinstance(value, np.integer):
            return fmpq(int(value))
        if isinstance(value, float | np.floating):
            if not math.isfinite(value):
                raise InputError(key, f"expected a finite number, got {value!r}")
            value = Decimal(repr(float(value)))
        fraction = read_fraction(value, key)
        return fmpq(fraction.numerator, fraction.denominator)

    def array(self, values: object) -> Array:
        given = np.asarray(values, dtype=object)
        # Most entries of arrays are rationals already.
        if all(type(value) is fmpq for value in given.flat):
            return given.copy() if given is values else given
        return super().array(given)

    def zeros(self, *shape: int) -> Array:
        zeros: Array = np.empty(shape, dtype=object)
        zeros.fill(_ZERO)
        return zeros

    def text(self, value: Number) -> str | None:
        known = convert_to_ball(value)
        if isinstance(known, arb):
            return known.str(30) if known.is_finite() else None
        return str(known)

    def solve(self, matrix: Array, right: Array) -> Array:
        # A least-norm solution lies in the range of the symmetric matrix: x = A y with A^2 y = right.
        size = len(matrix)
        if size == 1 and matrix[0, 0] != 0:
            quotient: Array = right / matrix[0, 0]
            return quotient
        square = product(matrix, matrix)
        augmented = fmpq_mat(size, size + 1, [entry for row in np.column_stack([square, right]) for entry in row])
        reduced, rank = augmented.rref()
        rows = reduced.tolist()
        solution = self.zeros(size)
        for row in rows[:rank]:
            pivot = next(column for column, entry in enumerate(row) if entry != 0)
            if pivot == size:
                raise InputError("", "the linear system has no solution")
            solution[pivot] = row[size]
        return product(matrix, solution)

    def solve_regular(self, matrix: Array, right: Array) -> Array:
        solved = fmpq_mat(matrix.tolist()).solve(fmpq_mat([[entry] for entry in right]))
        return self.array([row[0] for row in solved.tolist()])

    def largest_eigenvalue(self, matrix: Array) -> fmpq:
        if len(matrix) == 1:
            only: fmpq = matrix[0, 0]
            return only
        polynomial: Any = fmpq_mat(matrix.tolist()).charpoly()
        rational: list[fmpq] = [-factor[0] / factor[1] for factor, _ in polynomial.factor()[1] if factor.degree() == 1]
        if rational and self.is_psd(max(rational) * self.identity(len(matrix)) - matrix):
            return max(rational)
        upper: fmpq = max(root.real.upper().fmpq() for root, _ in polynomial.numer().complex_roots())
        return upper

    def are_psd(self, matrices: Array) -> Array:
        if matrices.shape[-1] == 1:
            return np.array([matrix[0, 0] >= 0 for matrix in matrices])
        return np.array([_is_psd(fmpq_mat(matrix.tolist())) for matrix in matrices])

    def sqrt(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.sqrt, otypes=[object])(value)
        return self.root(value, 2)

    def root(self, value: Number, degree: int) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(partial(self.root, degree=degree), otypes=[object])(value)
        if isinstance(value, Enclosure):
            return value.root(degree)
        if isinstance(value, arb):
            with precise_enclosures():
                return value.root(degree)
        if value < 0:
            raise NotApplicable("the claim takes the root of a negative number on this run")
        return compute_root(fmpq(value), degree)

    def exp(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.exp, otypes=[object])(value)
        if not isinstance(value, arb | Enclosure) and value == 0:
            return fmpq(1)
        _require_moderate(value)
        with precise_enclosures():
            return arb(convert_to_ball(value)).exp()

    def log(self, value: Number) -> Number:
        if isinstance(value, np.ndarray):
            return np.vectorize(self.log, otypes=[object])(value)
        if not isinstance(value, arb) and value <= 0:
            raise NotApplicable("the claim takes the logarithm of a number that is not positive on this run")
        if not isinstance(value, arb | Enclosure) and value == 1:
            return fmpq(0)
        with precise_enclosures():
            return arb(convert_to_ball(value)).log()

    def upper_sqrt(self, value: Number) -> fmpq:
        exact = find_exact_root(value, 2)
        if exact is not None:
            return exact
        return round_up(arb(value).sqrt().upper().fmpq())


_LARGEST_EXPONENT = 10**6
"""Largest exponent of an exponential in rationals: above it, enclosures would be too wide to be useful."""


def _require_moderate(value: Number) -> None:
    if not abs(arb(convert_to_ball(value))) <= _LARGEST_EXPONENT:
        raise NotApplicable(f"the claim takes the exponential of a number beyond {_LARGEST_EXPONENT} on this run")


def _is_psd(matrix: fmpq_mat) -> bool:
    # All roots of a symmetric matrix's characteristic polynomial are real; none is negative iff its signs alternate.
    coefficients: Any = matrix.charpoly().coeffs()
    size = matrix.nrows()
    return all((c if (size - power) % 2 == 0 else -c) >= 0 for power, c in enumerate(coefficients))


RATIONAL = RationalArithmetic()
# Arithmetics are compared by identity, so unpickling must return this object.
copyreg.pickle(RationalArithmetic, lambda _one: "RATIONAL")
