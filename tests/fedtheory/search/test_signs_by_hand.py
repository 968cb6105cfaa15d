"""Non-negative sums, and points at which numbers are non-negative, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.kernel import Context, Numbers
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.kernel.quotients import quotient
from fedtheory.search.blocks import use_average_gradients
from fedtheory.search.polynomials import _find_weights
from fedtheory.search.positivity import SignFacts, _subtract, split_quickly
from fedtheory.search.remainders import _eliminate
from fedtheory.search.samples import Samples, find_negative

eta, L, tau, M = sp.symbols("eta L tau M", positive=True)
NUMBERS = Numbers(symbols=frozenset({eta, L, tau, M}), at_least={tau: 1, M: 1}, integer=frozenset({tau, M}))
SIGNS = SignFacts(NUMBERS, [eta <= 1 / (4 * L)])


@pytest.mark.parametrize("rest", [(M - 1) * (tau - 1), (1 - 4 * eta * L) ** 2, eta * (tau - 1)], ids=str)
def test_terms_that_are_seen_one_by_one(rest: sp.Expr) -> None:
    """A square inside an expanded sum is not recognised; next to other terms it is kept."""
    square = (eta - L) ** 2
    number = square + rest
    assert not SIGNS.is_nonnegative(number)
    assert split_quickly(square, SIGNS) == [square]
    assert set(split_quickly(number, SIGNS) or ()) == {square, rest}
    assert split_quickly(square - rest, SIGNS) is None


def test_differences_keep_what_only_one_side_has() -> None:
    """Common factors are extracted with the same power on both sides."""
    assert _subtract(tau * M, M) == M * (tau - 1)
    assert _subtract(2 * L**2, 8 * eta * L**3) == 2 * L**2 - 8 * eta * L**3
    assert _subtract(tau**2 * M, tau * M) == M * (tau**2 - tau)
    assert _subtract(2 * tau * L**2, 2 * L**2 / tau) == 2 * L**2 * (tau - 1 / tau)


def test_weights_of_columns_that_do_not_reach_a_goal() -> None:
    """For two columns with equal rows, a goal with unequal rows is no sum of them; a negative weight is invalid."""
    columns, rows = [{(0,): fmpq(1), (1,): fmpq(1)}, {(0,): fmpq(2), (1,): fmpq(2)}], {(0,): 0, (1,): 1}
    both = np.array([0, 1])
    assert _find_weights(both, columns, {(0,): fmpq(3), (1,): fmpq(2)}, rows) is None
    assert _find_weights(both, columns, {(0,): fmpq(3), (1,): fmpq(3)}, rows) == {0: fmpq(3)}
    assert _find_weights(np.array([1]), columns, {(0,): fmpq(3), (1,): fmpq(3)}, rows) == {1: fmpq(3, 2)}
    assert _find_weights(both, columns, {(0,): fmpq(-3), (1,): fmpq(-3)}, rows) is None
    assert _find_weights(both, columns, {}, rows) == {}


def test_the_eight_lowest_points_are_decided() -> None:
    """With seven or eight lower points beyond the edge, an allowed point is the eighth, or the ninth."""
    beyond = [10.0 + place for place in range(8)]
    allowed = [eta <= 4]
    for count, expected in ((7, {eta: 3}), (8, None)):
        samples = Samples([eta], np.array([[3.0, *beyond[:count], 1.0, 0.5]]))
        assert find_negative(1 - eta, samples, NUMBERS, allowed) == expected
    zero = Samples([eta], np.array([[1.0]]))
    assert find_negative(1 - eta, zero, NUMBERS, allowed) is None


def test_gradients_of_the_mean_in_squares() -> None:
    """The average of the clients' gradients at a shared point is one gradient; at different points it is not."""
    x, x_i, g_i = sp.symbols("x x_i g_i", real=True)
    F, F_i, H_i = sp.symbols("F F_i H_i", real=True)
    context = Context(
        vectors=frozenset({x}),
        client_vectors=frozenset({x_i, g_i}),
        objectives=frozenset({F}),
        client_objectives=frozenset({F_i, H_i}),
        means={F: F_i},
    )
    own = Average(Gradient(F_i, x_i)) + Average(g_i) + Average(Gradient(H_i, x)) + Gradient(F_i, x)
    assert use_average_gradients(own, context) == own
    assert use_average_gradients(own - 2 * Average(Gradient(F_i, x)), context) == own - 2 * Gradient(F, x)


def test_the_rarest_quantity_is_replaced_first() -> None:
    """A quantity is replaced by the only premise that contains it, with no negative multiple."""
    a, b = sp.symbols("a b")
    one: Any = quotient(sp.S.One)
    forms = {"a": {a: one}, "twice a": {a: one + one}, "minus a": {a: quotient(-sp.S.One)}, "b and a": {b: one, a: one}}
    premises: Any = [SimpleNamespace(form=form, name=name) for name, form in forms.items()]
    parts = list(_eliminate({a: one + one, b: one}, premises, SIGNS, frozenset()))
    found = [[(str(multiple.expression), premise.name) for multiple, premise in each] for each in parts]
    assert found == [[("1", "b and a"), ("1", "a")], [("1", "b and a"), ("1/2", "twice a")]]
    assert list(_eliminate({}, premises, SIGNS, frozenset())) == [[]]
    assert list(_eliminate({b: quotient(-sp.S.One)}, premises, SIGNS, frozenset())) == []
