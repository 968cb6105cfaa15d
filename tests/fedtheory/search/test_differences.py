"""Differences of numbers that are written alike, as summands."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.kernel import Numbers
from fedtheory.search.differences import split_differences, subtract
from fedtheory.search.positivity import SignFacts

tau, eta, L, mu = sp.symbols("tau eta L mu", positive=True)
SIGNS = SignFacts(Numbers(symbols=frozenset({tau, eta, L, mu}), at_least={tau: 1}), (eta <= 1 / (2 * mu * tau),))
FEWER = tau - 1


@pytest.mark.parametrize(
    ("more", "less", "summands"),
    [
        (tau, FEWER, [1]),
        (tau**2, FEWER**2, [2 * tau - 1]),
        (L * eta * tau, L * eta * FEWER, [L * eta]),
        (
            1 / (1 - eta * mu * tau),
            1 / (1 - eta * mu * FEWER),
            [eta * mu / (1 - eta * mu * tau) / (1 - eta * mu * FEWER)],
        ),
        (2 * L * (tau + eta), L * (tau + eta), [L * (tau + eta)]),
        (L + tau, L, [tau]),
        (tau * (mu + eta), FEWER * mu, [eta + mu, eta * FEWER]),
        (eta, L, [eta, -L]),
        (sp.sqrt(eta), sp.sqrt(L), [sp.sqrt(eta), -sp.sqrt(L)]),
        (L, L, []),
    ],
    ids=str,
)
def test_summands_are_small_differences(more: sp.Expr, less: sp.Expr, summands: list[sp.Expr]) -> None:
    """Only the parts that differ are subtracted; the others stay factors."""
    assert sp.Add(*subtract(more, less)) == sp.Add(*summands)


def test_a_large_difference_is_split() -> None:
    """Products of sums that differ in one place are not multiplied out."""
    known = (L + (eta + 1 / mu) * (3 * FEWER + eta * (7 * tau - 2) * FEWER)) / (1 - eta * mu * FEWER)
    loose = known.xreplace({FEWER: tau})
    found = split_differences(loose - known, SIGNS)
    assert found is not None
    assert sp.simplify(sp.Add(*found) - (loose - known)) == 0
    assert all(map(SIGNS.is_nonnegative, found))


@pytest.mark.parametrize("number", [L * FEWER - L * tau, eta - L, L * tau], ids=str)
def test_others_are_not_split(number: sp.Expr) -> None:
    """A smaller bound, one of another sign, and one without a negative term have no such sum."""
    assert split_differences(number, SIGNS) is None


_SYMBOLS = st.sampled_from([tau, eta, L, mu, FEWER, sp.Integer(2), sp.Rational(1, 3)])
_NUMBERS = st.recursive(
    _SYMBOLS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda of: sp.Add(*of)),
        st.lists(inner, min_size=2, max_size=3).map(lambda of: sp.Mul(*of)),
        st.tuples(inner, st.sampled_from([2, 3, -1])).map(lambda of: of[0] ** of[1]),
    ),
    max_leaves=8,
)
_POINT = {tau: sp.Rational(7, 2), eta: sp.Rational(1, 5), L: sp.Rational(11, 3), mu: sp.Rational(2, 13)}


@given(_NUMBERS, _NUMBERS)
def test_summands_add_up(more: sp.Expr, less: sp.Expr) -> None:
    """The summands of any two numbers add up to their difference."""
    total = sp.Add(*(part.xreplace(_POINT) for part in subtract(more, less)))
    assert total == more.xreplace(_POINT) - less.xreplace(_POINT)
