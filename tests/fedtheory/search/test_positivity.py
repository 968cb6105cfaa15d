"""Write numbers as sums of non-negative products, exactly; numbers that are negative somewhere have no such sum."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import fmpq

from fedtheory.kernel import Numbers
from fedtheory.search.polynomials import solve
from fedtheory.search.positivity import SignFacts, split_into_products, split_quickly

eta, L, tau, M = sp.symbols("eta L tau M", positive=True)
sigma = sp.Symbol("sigma", nonnegative=True)
NUMBERS = Numbers(
    symbols=frozenset({eta, L, sigma, tau, M}),
    at_least={tau: 1, M: 1},
    maybe_zero=frozenset({sigma}),
    integer=frozenset({tau, M}),
)
SIGNS = SignFacts(NUMBERS, [eta <= 1 / (4 * L)])

NONNEGATIVE = {
    "a slack times a letter": eta * sigma**2 * (1 - 4 * eta * L),
    "slacks and counts": eta * L * (tau - 1) + 1 - 4 * eta**2 * L**2 - 2 * eta * L,
    "the square of a slack": 1 - 8 * eta * L + 16 * eta**2 * L**2,
    "a quotient": (1 - 4 * eta * L) / M + (M - 1) / (M * tau),
    "a drift at small steps": 4 * eta**2 * L * tau * sigma**2 - 16 * eta**3 * L**2 * sigma**2 + eta * sigma**2 / M,
    "a power times a slack": (1 - eta * L) ** M * eta * sigma**2 * (1 - 8 * eta**2 * L**2 - 2 * eta * L),
    "slacks of two kinds": 2 - 4 * eta * L - sp.Rational(1, 1) / tau - sp.Rational(1, 2) + (tau - 1) / 2 + 1,
}
NEGATIVE = {
    "too large a step": eta * sigma**2 * (1 - 5 * eta * L),
    "too few clients": eta * sigma**2 * (1 - 1 / M) - eta**2 * L * sigma**2,
    "a power times a negative number": (1 - eta * L) ** M * (1 - 8 * eta**2 * L**2 - 3 * eta * L),
    "a lost one": tau - 2 + eta * L,
}


@pytest.mark.parametrize("name", NONNEGATIVE)
def test_a_sum_of_products(name: str) -> None:
    """The summands add up to the number, and the kernel sees the sign of each."""
    number = NONNEGATIVE[name]
    found = split_quickly(number, SIGNS) or split_into_products(sp.expand(number), SIGNS)
    assert found is not None
    assert sp.cancel(sp.Add(*found) - number) == 0
    assert all(map(SIGNS.is_nonnegative, found))


@pytest.mark.parametrize("name", NEGATIVE)
def test_no_sum_for_what_is_negative(name: str) -> None:
    """No family has a sum for a number that is negative somewhere."""
    assert split_quickly(NEGATIVE[name], SIGNS) is None
    assert split_into_products(NEGATIVE[name], SIGNS) is None


def test_weights_are_exact() -> None:
    """Weights are exact rationals such as 1/3, because the basis of the linear program is solved again in rationals."""
    goal = {(0,): fmpq(1), (1,): fmpq(1, 3)}
    columns = [{(0,): fmpq(3), (1,): fmpq(1)}, {(1,): fmpq(7)}]
    assert solve(columns, goal, [1, 1]) == {0: fmpq(1, 3)}
    assert solve([{(0,): fmpq(-1)}], {(0,): fmpq(1)}, [1]) is None
