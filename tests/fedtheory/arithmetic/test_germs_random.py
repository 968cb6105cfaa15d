"""Random rational functions of an infinitesimal, against their values at a number below all roots."""

from __future__ import annotations

import operator
from typing import Any

from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic.germs import INFINITESIMAL, Germ

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
TINY = fmpq(1, 10**400)
"""A number below the smallest root of the results of a few operations on small numbers."""
TREES = st.recursive(
    st.one_of(st.integers(-4, 4), st.just("h")),
    lambda trees: st.tuples(st.sampled_from(sorted(OPERATIONS)), trees, trees),
    max_leaves=9,
)


def value(tree: Any, h: Any) -> Any:
    """Return the value of a tree of operations at this h."""
    if tree == "h":
        return h
    if isinstance(tree, int):
        return h * 0 + fmpq(tree)
    name, one, other = tree
    return OPERATIONS[name](value(one, h), value(other, h))


def sign(number: Any) -> int:
    """Return the sign -1, 0 or 1."""
    return int(number > 0) - int(number < 0)


@settings(max_examples=150, deadline=None)
@given(TREES, TREES)
def test_signs_and_orders_are_those_of_values_near_zero(one: Any, other: Any) -> None:
    """Signs and orders agree for all operations; division by zero is an error for both."""
    try:
        first, second = value(one, TINY), value(other, TINY)
    except ZeroDivisionError:
        assume(False)
    germ, its = value(one, INFINITESIMAL), value(other, INFINITESIMAL)
    assert isinstance(germ, Germ)
    assert sign(germ) == sign(first)
    assert sign(germ - its) == sign(first - second)
    assert (germ == its) == (first == second)


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_the_leading_term_is_that_of_the_value(tree: Any) -> None:
    """The quotient of the value and c h^v is as close to one as h is small."""
    try:
        number = value(tree, TINY)
    except ZeroDivisionError:
        assume(False)
    assume(number != 0)
    germ = value(tree, INFINITESIMAL)
    ratio = number / (germ.leading * TINY**germ.power)
    assert abs(ratio - 1) < fmpq(1, 10**300)
