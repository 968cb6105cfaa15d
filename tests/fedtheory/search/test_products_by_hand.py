"""Products, monomials, factors and signs in the search for proofs, against values by hand."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from search_numbers import NUMBERS, L, eta, sigma, tau

from fedtheory.kernel import Numbers
from fedtheory.kernel.quotients import quotient
from fedtheory.search import (
    positivity,
)
from fedtheory.search.polynomials import _find_kernel, find_grading, multiply_terms
from fedtheory.search.positivity import (
    SignFacts,
    _complete_squares,
    _find_sign,
    _group_by_free_symbols,
    _list_columns,
    _list_slacks,
    _list_symbols,
    _read_terms,
    _Slack,
    split_into_products,
    split_quickly,
    split_with_squares,
)

z = sp.Symbol("z", real=True)
SIGNS = SignFacts(NUMBERS, [eta <= 1 / (4 * L)])


def _poly(*terms: tuple[tuple[int, ...], int]) -> dict[tuple[int, ...], fmpq]:
    return {powers: fmpq(weight) for powers, weight in terms}


def test_products_of_terms() -> None:
    """(1 + x)(1 - x) = 1 - x^2: cancelling terms are removed; the empty product is one."""
    one, two = _poly(((0,), 1), ((1,), 1)), _poly(((0,), 1), ((1,), -1))
    assert multiply_terms([one, two], 1) == _poly(((0,), 1), ((2,), -1))
    assert multiply_terms([], 2) == _poly(((0, 0), 1))


def test_products_that_may_add_up_to_a_goal() -> None:
    """Products for x^2 - x with the slack 1 - x have degree at most two, a bounded number of slacks, and no
    duplicates.
    """
    slack = _Slack(_poly(((0,), 1), ((1,), -1)), sp.S.One)
    goal = _poly(((2,), 1), ((1,), -1))

    def columns(degree: int) -> list[Any]:
        return [(powers, chosen) for powers, chosen, _ in _list_columns(goal, [slack], degree)]

    assert columns(0) == [((0,), ()), ((1,), ()), ((2,), ())]
    assert columns(1) == [*columns(0), ((0,), (0,)), ((1,), (0,))]
    assert columns(2) == columns(3) == [*columns(1), ((0,), (0, 0))]
    (last,) = (terms for powers, chosen, terms in _list_columns(goal, [slack], 2) if chosen == (0, 0))
    assert last == _poly(((0,), 1), ((1,), -2), ((2,), 1))
    steep = _poly(((2, 1), 1), ((1, 2), 1))
    assert all(sum(powers) == 3 for powers, _, _ in _list_columns(steep, [], 1))
    assert {powers for powers, _, _ in _list_columns(steep, [], 1)} == {(2, 1), (1, 2)}


def test_too_many_products_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    goal = _poly(((2,), 1), ((1,), -1))
    for most, count in ((3, 3), (2, 0), (0, 0)):
        monkeypatch.setattr(positivity, "MOST_COLUMNS", most)
        assert len(_list_columns(goal, [], 1)) == count


def test_grades_of_monomials() -> None:
    """Grades are all weights under which a goal and its slacks are homogeneous: x y^2 + x^3 has the degrees (1, 1)."""
    goal = _poly(((1, 2), 1), ((3, 0), 1))
    is_graded = find_grading(goal, [])
    assert [is_graded(powers) for powers in ((2, 1), (0, 3), (3, 1), (0, 0))] == [True, True, False, False]
    free = find_grading(_poly(((1, 2), 1)), [])
    assert [free(powers) for powers in ((1, 2), (2, 1), (1, 1))] == [True, False, False]
    mixed = find_grading(_poly(((1, 2), 1)), [_poly(((1, 0), 1), ((0, 1), -1))])
    assert [mixed(powers) for powers in ((1, 2), (3, 0), (1, 1))] == [True, True, False]
    assert [[int(entry) for entry in vector] for vector in _find_kernel([[1, 2, 0]])] == [[-2, 1, 0], [0, 0, 1]]
    assert [[int(entry) for entry in vector] for vector in _find_kernel([[2, 1]])] == [[-1, 2]]
    assert list(_find_kernel([[1, 0], [0, 1]])) == []


def test_symbols_and_slacks_of_polynomials() -> None:
    """Polynomials are returned with the slacks of conditions on their symbols; none for a root, an unknown symbol or a
    sign.
    """
    assert _list_symbols(eta + tau, SIGNS) == [L, eta, tau]
    assert _list_symbols(tau, SIGNS) == [tau]
    assert _list_symbols(sp.sqrt(eta), SIGNS) is None
    assert _list_symbols(eta + sp.Symbol("w", positive=True), SIGNS) is None
    real = SignFacts(Numbers(symbols=frozenset({z, eta})), [])
    assert _list_symbols(z + eta, real) is None
    (slack,) = _list_slacks(SIGNS, [L, eta], {L: L, eta: eta})
    assert sp.expand(slack.expression - sp.Rational(1, 4) + eta * L) == 0
    assert slack.terms == {(0, 0): fmpq(1, 4), (1, 1): -1}
    assert list(_list_slacks(SIGNS, [eta], {eta: eta})) == []
    many = SignFacts(NUMBERS, [sp.Ne(eta, L), eta <= 2, sp.sqrt(eta) <= L, eta >= 1])
    assert [one.expression for one in _list_slacks(many, [L, eta], {L: L, eta: eta})] == [2 - eta, eta - 1]
    shifted = next(iter(_list_slacks(SignFacts(NUMBERS, [tau <= 5]), [tau], {tau: tau + 1})))
    assert shifted.terms == {(0,): 4, (1,): -1}
    assert _read_terms(eta * L / 2 + 3, [L, eta]) == {(1, 1): fmpq(1, 2), (0, 0): 3}


def test_monomials_that_no_condition_binds() -> None:
    """Monomials without a condition are factored out: sigma is free, while eta and L are bound and tau has a lower
    bound.
    """
    number = quotient(sigma * (1 - 4 * eta * L) + sigma**2 * tau + eta)
    groups = {outside: sp.expand(inside) for outside, inside in _group_by_free_symbols(number, SIGNS)}
    assert groups == {sigma: 1 - 4 * eta * L, sigma**2: tau, sp.S.One: eta}
    signed = quotient(z * sigma + z**2 * sigma)
    groups = {outside: sp.expand(inside) for outside, inside in _group_by_free_symbols(signed, SIGNS)}
    assert groups == {sigma: z + z**2}


def test_signs_of_factors() -> None:
    """The sign of each factor must be known; a negative one counts by its power."""
    assert _find_sign(L * eta, SIGNS) == (1, L * eta)
    sign, absolute = _find_sign(2 * eta * L - 1, SIGNS) or (0, sp.S.Zero)
    assert (sign, sp.expand(absolute)) == (-1, 1 - 2 * eta * L)
    assert (_find_sign((2 * eta * L - 1) ** 2, SIGNS) or (0, 0))[0] == 1
    assert _find_sign(1 - 8 * eta * L, SIGNS) is None
    assert _find_sign(sp.sqrt(2 * eta * L - 1), SIGNS) is None


def test_cross_terms_between_squares() -> None:
    """Cross terms are completed to squares: x^2 - 2 x y + y^2 exactly, x^2 - x y + y^2 with a remainder."""
    x, y = sp.symbols("x y")

    def completed(*terms: tuple[tuple[int, ...], int]) -> Any:
        return _complete_squares(_poly(*terms), [x, y])

    assert completed(((2, 0), 1), ((1, 1), -2), ((0, 2), 1)) == ([(x - y) ** 2], {})
    assert completed(((2, 0), 1), ((1, 1), -1), ((0, 2), 1)) == ([(x - y / 2) ** 2], {(0, 2): fmpq(3, 4)})
    for terms in (
        (((2, 0), 1), ((1, 1), -3), ((0, 2), 1)),
        (((2, 0), 1), ((1, 1), 2), ((0, 2), 1)),
        (((2, 0), 1), ((1, 1), -1)),
        (((2, 0), -1), ((1, 1), -1), ((0, 2), 1)),
    ):
        assert completed(*terms) == ([], _poly(*terms))
    assert completed(((3, 0), 1), ((2, 1), -2), ((1, 2), 1)) == ([x * (x - y) ** 2], {})
    assert completed(((4, 1), 4), ((2, 2), -4), ((0, 3), 1)) == ([4 * y * (x**2 - y / 2) ** 2], {})


def test_parts_of_sums_have_signs() -> None:
    """All parts of a sum have signs; a single part is no sum."""
    assert split_quickly(eta + L, SIGNS) == [eta + L]
    assert split_quickly((eta - L) ** 2 - eta, SIGNS) is None
    assert split_quickly(eta - L, SIGNS) is None
    found = split_into_products(sigma * (1 - 4 * eta * L) + tau - 1, SIGNS)
    assert found is not None
    assert sp.expand(sp.Add(*found) - sigma * (1 - 4 * eta * L) - tau + 1) == 0
    assert split_into_products(sigma * (1 - 5 * eta * L), SIGNS) is None
    assert split_with_squares(sp.expand((eta - L) ** 2 - sigma), SIGNS) is None
    assert split_with_squares(eta + L, SIGNS) is None
