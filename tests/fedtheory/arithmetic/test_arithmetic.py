"""Floats and exact rationals behind one set of names: parsing, printing, roots, eigenvalues, solving."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import (
    FLOAT,
    RATIONAL,
    Arithmetic,
    arithmetic_of,
    plain_float,
    plain_floats,
    round_to_simplest,
    select_arithmetic,
)
from fedtheory.arithmetic.root_sums import RootSum
from fedtheory.errors import InputError
from fedtheory.federation.problem.generators import draw_hessian

BOTH = pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=lambda a: a.name)
few = settings(max_examples=30, deadline=None, derandomize=True)

READ = [
    ("1/20", Fraction(1, 20)),
    ("-3/4", Fraction(-3, 4)),
    ("7", Fraction(7)),
    ("0.1", Fraction(1, 10)),
    ("1e-3", Fraction(1, 1000)),
    (3, Fraction(3)),
    (0, Fraction(0)),
    (-2, Fraction(-2)),
    (0.1, Fraction(1, 10)),
    (1e-7, Fraction(1, 10**7)),
    (2.5, Fraction(5, 2)),
    (np.float64(0.3), Fraction(3, 10)),
    (np.int64(-4), Fraction(-4)),
    (Decimal("0.25"), Fraction(1, 4)),
    (Fraction(2, 7), Fraction(2, 7)),
    (fmpq(2, 7), Fraction(2, 7)),
    (10**30, Fraction(10**30)),
]
REFUSED = [
    float("nan"), float("inf"), -float("inf"), np.float64("nan"), Decimal("NaN"), Decimal("Infinity"), True, False,
    np.True_, "nan", "inf", "", "one", "1/0", "1//2", "1/2/3", None, [1], {}, 1j, b"1", "0x10",
]  # fmt: skip


@pytest.mark.parametrize(("given_value", "meant"), READ, ids=str)
def test_numbers_are_read(given_value: object, meant: Fraction) -> None:
    """TOML numbers and rational strings: exact in rationals (0.1 is 1/10), nearest in floats."""
    exact = RATIONAL.number(given_value, "key")
    assert isinstance(exact, fmpq)
    assert exact == fmpq(meant.numerator, meant.denominator)
    near = FLOAT.number(given_value, "key")
    assert type(near) is float
    assert near == float(meant)


@BOTH
@pytest.mark.parametrize("refused", REFUSED, ids=repr)
def test_garbage_is_refused(arithmetic: Arithmetic, refused: object) -> None:
    """A value that is not a finite number is an input error that names the key."""
    with pytest.raises(InputError) as error:
        arithmetic.number(refused, "algorithm.local_step_size")
    assert error.value.key == "algorithm.local_step_size"
    assert "expected" in str(error.value)


@pytest.mark.parametrize(
    "huge", ["1e400", 10**400, "-1e400", Fraction(10**400), fmpq(10**400)], ids=lambda v: str(v)[:8]
)
def test_numbers_beyond_double_precision(huge: object) -> None:
    """A number too large for a float is an input error, not an overflow; rationals accept it."""
    assert abs(RATIONAL.number(huge, "key")) == fmpq(10**400)
    with pytest.raises(InputError, match="key"):
        FLOAT.number(huge, "key")


@BOTH
def test_arrays(arithmetic: Arithmetic) -> None:
    """Nested lists keep their shape and get the arithmetic's type; bad entries and ragged lists are rejected."""
    array = arithmetic.array([["1/2", 1], [0.25, -3]])
    assert array.shape == (2, 2)
    assert array.dtype == (float if arithmetic is FLOAT else object)
    assert [FLOAT.number(v, "v") for v in array.ravel()] == [0.5, 1, 0.25, -3]
    assert arithmetic_of(array) is arithmetic
    assert arithmetic.array([]).shape == (0,)
    assert (arithmetic.zeros(2, 3) == 0).all()
    assert arithmetic.zeros(2, 3).shape == (2, 3)
    assert (arithmetic.identity(3) == np.eye(3, dtype=int)).all()
    for bad in ([1, "x"], [True], [[1, 2], [3]], [float("nan")]):
        with pytest.raises(InputError):
            arithmetic.array(bad)


def test_arrays_from_numpy() -> None:
    """Integers and floats become floats or rationals; the given array is not modified."""
    whole = np.arange(3)
    floats = FLOAT.array(whole)
    assert floats.dtype == float
    assert RATIONAL.array(whole).tolist() == [fmpq(0), fmpq(1), fmpq(2)]
    given_floats = np.array([0.1, 0.2])
    copied = FLOAT.array(given_floats)
    copied[0] = 5.0
    assert given_floats[0] == 0.1
    assert FLOAT.array(RATIONAL.array(["1/3"])) == pytest.approx([1 / 3])


def test_text() -> None:
    """Numbers are formatted as in JSON: numbers, "p/q", enclosures in brackets, null for non-finite values."""
    assert FLOAT.text(np.float64(0.5)) == 0.5
    assert type(FLOAT.text(np.float64(0.5))) is float
    assert FLOAT.text(math.inf) is None
    assert FLOAT.text(math.nan) is None
    assert RATIONAL.text(fmpq(1, 20)) == "1/20"
    assert RATIONAL.text(fmpq(4)) == "4"
    enclosure = RATIONAL.text(RATIONAL.sqrt(fmpq(2)))
    assert enclosure.startswith("[1.41421356237309504880168872")
    assert RATIONAL.text(arb("inf")) is None


def test_mixing_is_a_type_error() -> None:
    """Mixing a float and a rational is a `TypeError`, for scalars and arrays."""
    exact, near = RATIONAL.array(["1/2", "1/3"]), FLOAT.array([0.5, 0.25])
    operations: list[Any] = [
        lambda: fmpq(1, 2) + 0.5,
        lambda: 0.5 * fmpq(1, 2),
        lambda: exact + 0.5,
        lambda: 0.5 - exact,
        lambda: exact * near,
        lambda: near + exact,
        lambda: exact @ near,
        lambda: near @ exact,
        lambda: near / exact,
        lambda: fmpq(1, 2) * near,
        lambda: near - fmpq(1, 2),
        lambda: np.float64(0.5) * fmpq(1, 2),
        lambda: exact < 0.5,
        lambda: fmpq(1, 2) <= 0.5,
    ]
    for number, operation in enumerate(operations):
        with pytest.raises(TypeError):
            print(number, operation())


def test_names() -> None:
    """The two arithmetics are found by name; others are rejected."""
    assert select_arithmetic("float") is FLOAT
    assert select_arithmetic("rational") is RATIONAL
    with pytest.raises(InputError, match="expected one of float, rational"):
        select_arithmetic("decimal")


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=10**6))
@few
def test_roots(value: Fraction) -> None:
    """Roots are exact if rational, else enclosures; the upper root is never too small, and close."""
    for square, exact in ((value * value, True), (value, False)):
        rational = fmpq(square.numerator, square.denominator)
        root, above = RATIONAL.sqrt(rational), RATIONAL.upper_sqrt(rational)
        assert isinstance(above, fmpq)
        assert above * above >= rational
        assert above * above <= rational * fmpq(10_003, 10_000)
        if exact:
            assert root == fmpq(value.numerator, value.denominator)
            assert above == root
        elif isinstance(root, RootSum):
            assert root * root == rational
            with ctx.workprec(256):
                low, high = root.interval.lower().fmpq(), root.interval.upper().fmpq()
            assert low * low <= rational <= high * high
            assert high - low <= high / 10**60
        assert FLOAT.sqrt(float(square)) == pytest.approx(math.sqrt(square))
        assert FLOAT.upper_sqrt(float(square)) == pytest.approx(math.sqrt(square))


def test_roots_of_small_and_large_numbers() -> None:
    """The upper root stays within a part in a thousand over forty orders of magnitude."""
    for power in range(-20, 21, 2):
        value = 3 * fmpq(10) ** power
        above = RATIONAL.upper_sqrt(value)
        assert value <= above * above <= value * fmpq(1_003, 1_000)
    assert RATIONAL.upper_sqrt(fmpq(0)) == 0
    roots = RATIONAL.sqrt(RATIONAL.array([["4/9", "0"], ["25", "2"]]))
    assert roots.shape == (2, 2)
    assert roots[0].tolist() == [fmpq(2, 3), fmpq(0)]
    assert isinstance(roots[1, 1], RootSum)
    assert FLOAT.sqrt(np.array([4.0, 9.0])).tolist() == [2.0, 3.0]


SPECTRA = [
    ["2"], ["1/3"], ["21/5"], ["0"], ["-1/7"], ["1", "1"], ["1/3", "1/7"], ["5/3", "5/3", "0"], ["1/10", "3/10", "7/5"],
    ["-2/3", "-1/3"], ["0", "0", "0"], ["10000000001/10000000000", "1"],
]  # fmt: skip


@pytest.mark.parametrize("spectrum", SPECTRA, ids=str)
def test_rational_eigenvalues_are_exact(spectrum: list[str]) -> None:
    """Extreme eigenvalues of rotated matrices with rational spectrum are exact, repeated or not."""
    values = [RATIONAL.number(v, "v") for v in spectrum]
    matrix = draw_hessian(np.random.default_rng(1), values)
    assert RATIONAL.largest_eigenvalue(matrix) == max(values)
    assert RATIONAL.smallest_eigenvalue(matrix) == min(values)
    floats = FLOAT.array(matrix)
    assert FLOAT.largest_eigenvalue(floats) == pytest.approx(plain_float(max(values)), abs=1e-12)
    assert FLOAT.smallest_eigenvalue(floats) == pytest.approx(plain_float(min(values)), abs=1e-12)


@pytest.mark.parametrize("number", range(20))
def test_irrational_eigenvalues_are_bounded(number: int) -> None:
    """Eigenvalue bounds of 2 x 2 matrices are on the safe side, and within a part in 10^12."""
    generator = np.random.default_rng([8, number])
    a, b, c = (fmpq(int(v), 3) for v in generator.integers(-5, 6, 3))
    found = RATIONAL.largest_eigenvalue(np.array([[a, b], [b, c]], dtype=object))
    getcontext().prec = 100
    middle, apart = (a + c) / 2, (a - c) * (a - c) / 4 + b * b
    root = (Decimal(int(apart.p)) / Decimal(int(apart.q))).sqrt()
    exact = Decimal(int(middle.p)) / Decimal(int(middle.q)) + root
    gap = Decimal(int(found.p)) / Decimal(int(found.q)) - exact
    assert Decimal("-1e-90") <= gap <= Decimal("1e-12") * (1 + abs(exact))


@pytest.mark.parametrize("number", range(12))
def test_large_eigenvalue_is_a_certified_bound(number: int) -> None:
    """lambda I - A is positive semidefinite for the returned lambda, and not for one that is a little smaller."""
    generator = np.random.default_rng([9, number])
    size = 2 + number % 4
    entries = RATIONAL.array(generator.integers(-4, 5, (size, size)))
    matrix = entries + entries.T
    if number % 3 == 0:
        matrix = entries @ entries.T / fmpq(7)
    largest = RATIONAL.largest_eigenvalue(matrix)
    identity = RATIONAL.identity(size)
    assert RATIONAL.is_psd(largest * identity - matrix)
    assert not RATIONAL.is_psd((largest - fmpq(1, 10**9)) * identity - matrix)
    smallest = RATIONAL.smallest_eigenvalue(matrix)
    assert RATIONAL.is_psd(matrix - smallest * identity)
    assert not RATIONAL.is_psd(matrix - (smallest + fmpq(1, 10**9)) * identity)
    assert plain_float(largest) == pytest.approx(np.linalg.eigvalsh(FLOAT.array(matrix))[-1], abs=1e-9)


def test_rational_largest_beside_irrational_roots() -> None:
    """A rational root is returned exactly if it is the largest, and not otherwise."""
    golden = [[2, 1], [1, 1]]
    for corner, rational in (("1/3", False), ("8/3", True), ("13/5", False)):
        matrix = RATIONAL.zeros(3, 3)
        matrix[:2, :2] = RATIONAL.array(golden)
        matrix[2, 2] = RATIONAL.number(corner, "corner")
        found = RATIONAL.largest_eigenvalue(matrix)
        if rational:
            assert found == matrix[2, 2]
        else:
            assert 5 <= (2 * found - 3) ** 2 <= 5 + fmpq(1, 10**12)


@BOTH
def test_positive_semidefinite(arithmetic: Arithmetic) -> None:
    """Semidefiniteness is decided for definite, singular, zero and indefinite matrices, and misleading determinants."""
    yes = ([[2, 1], [1, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 3]])
    no = (
        [[1, 2], [2, 1]],
        [[-1, 0], [0, -1]],
        [[0, 1], [1, 0]],
        [[0, 0], [0, -1]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    )
    assert all(arithmetic.is_psd(arithmetic.array(matrix)) for matrix in yes)
    assert not any(arithmetic.is_psd(arithmetic.array(matrix)) for matrix in no)


def test_semidefiniteness_is_decided_exactly() -> None:
    """One part in 10^30 decides in rationals."""
    tiny = fmpq(1, 10**30)
    for shift, holds in ((tiny, True), (fmpq(0), True), (-tiny, False)):
        matrix = np.array([[fmpq(1) + shift, fmpq(1)], [fmpq(1), fmpq(1)]], dtype=object)
        assert RATIONAL.is_psd(matrix) is holds


@BOTH
def test_solving(arithmetic: Arithmetic) -> None:
    """Regular systems, least-norm solutions of singular ones, and systems without a solution are handled."""

    def solved(matrix: Any, right: Any) -> Any:
        return [FLOAT.number(v, "v") for v in arithmetic.solve(arithmetic.array(matrix), arithmetic.array(right))]

    assert solved([[2, 1], [1, 3]], [3, 5]) == pytest.approx([4 / 5, 7 / 5])
    assert solved([[1, 1], [1, 1]], [3, 3]) == pytest.approx([1.5, 1.5])
    assert solved([[1, 2], [2, 4]], [5, 10]) == pytest.approx([1, 2])
    assert solved([[0, 0], [0, 2]], [0, 3]) == pytest.approx([0, 1.5])
    assert solved([[0, 1], [1, 0]], [2, 5]) == pytest.approx([5, 2])
    assert solved([[0, 0], [0, 0]], [0, 0]) == pytest.approx([0, 0])
    for matrix, right in (([[1, 1], [1, 1]], [1, 2]), ([[0]], [1]), ([[1, 0], [0, 0]], [0, 1])):
        with pytest.raises(InputError, match="no solution"):
            arithmetic.solve(arithmetic.array(matrix), arithmetic.array(right))


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
@few
def test_least_norm_solutions(seed: int, size: int, rank: int) -> None:
    """A least-norm solution is an exact solution, and orthogonal to the null space."""
    generator = np.random.default_rng(seed)
    factor = RATIONAL.array(generator.integers(-3, 4, (min(rank, size), size)))
    matrix, other = factor.T @ factor, RATIONAL.array(generator.integers(-3, 4, size))
    right = matrix @ other
    solution = RATIONAL.solve(matrix, right)
    assert (matrix @ solution == right).all()
    assert (solution - other) @ solution == 0
    assert FLOAT.solve(FLOAT.array(matrix), FLOAT.array(right)) == pytest.approx(FLOAT.array(solution), abs=1e-8)


def test_plain_floats() -> None:
    """Numbers of any kind are converted to nearby floats, for ordering and display."""
    assert plain_float(fmpq(1, 3)) == 1 / 3
    assert plain_float(2) == 2.0
    assert plain_float(np.float64(0.25)) == 0.25
    with ctx.workprec(100):
        assert plain_float(arb(2).sqrt()) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert plain_floats(RATIONAL.array(["1/2", 3])).tolist() == [0.5, 3.0]
    assert plain_floats(np.array([1.5])).tolist() == [1.5]


@pytest.mark.parametrize(
    ("value", "relative", "expected"),
    [
        (0.5, 1e-9, "1/2"), (0.1, 1e-9, "1/10"), (1 / 3, 1e-9, "1/3"), (math.pi, 1e-2, "22/7"), (0.0, 1e-9, "0"),
        (-0.25, 1e-9, "-1/4"), (12345.0, 1e-9, "12345"), (1e-12, 1e-9, "1/1000000000000"),
    ],
)  # fmt: skip
def test_simplest_near(value: float, relative: float, expected: str) -> None:
    """The simplest rational near a float is within the given relative distance."""
    found = round_to_simplest(value, relative)
    assert found == RATIONAL.number(expected, "expected")
    assert abs(plain_float(found) - value) <= relative * abs(value)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, 1e-9, 1e-7, 0.02]))
def test_the_simplest_near_number_has_the_first_denominator_that_will_do(value: float, relative: float) -> None:
    """The simplest near number is the first near one of the closest fractions of denominators up to 1, 10, 100, ..."""
    exact, distance = Fraction(value), Fraction(relative * abs(value))
    closest = (exact.limit_denominator(10**power) for power in range(16))
    expected = next((near for near in closest if abs(near - exact) <= distance), exact)
    assert round_to_simplest(value, relative) == fmpq(expected.numerator, expected.denominator)


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=lambda one: one.name)
def test_an_arithmetic_travels_as_itself(arithmetic: Arithmetic) -> None:
    """An arithmetic that is sent to another process keeps its identity."""
    assert pickle.loads(pickle.dumps(arithmetic)) is arithmetic
