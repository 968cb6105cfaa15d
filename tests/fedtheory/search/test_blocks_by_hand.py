"""Gram matrices of scalars, entry by entry against values by hand and against random vectors."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory.kernel import Context, Numbers, scalar
from fedtheory.kernel.expressions import Average, LocalSum, inner, norm_sq
from fedtheory.kernel.quotients import ONE
from fedtheory.search.blocks import (
    CLIENT_STEP_DEVIATIONS,
    DEVIATIONS,
    NOISE,
    SHARED,
    STEP_DEVIATIONS,
    Block,
    Blocks,
    list_weights,
    move_to_weights,
    split_form,
)

M, tau = sp.symbols("M tau", positive=True, integer=True)
eta, w_i = sp.symbols("eta w_i", positive=True)
a, b, c_i, d_i, u, v_i, n_i = sp.symbols("a b c_i d_i u v_i n_i", real=True)
CONTEXT = Context(
    numbers=Numbers(symbols=frozenset({M, tau, eta}), of_clients=frozenset({w_i}), at_least={M: 1, tau: 1}),
    vectors=frozenset({a, b, u}),
    client_vectors=frozenset({c_i, d_i, v_i, n_i}),
    step_vectors=frozenset({u, v_i, n_i}),
    noise=frozenset({n_i}),
    clients=M,
    share=1 / M,
    local_steps=tau,
)
CLIENTS, STEPS = 3, 2


def _split(expression: Any) -> Blocks:
    return split_form(scalar(expression, CONTEXT), CONTEXT)


def _show(found: Blocks) -> dict[Any, Any]:
    return {key: number.expression for key, number in found.matrices.items()}


ENTRIES = {
    "shared vectors": (inner(a, 3 * b), {(SHARED, a, b): sp.Rational(3, 2)}),
    "a square": (5 * norm_sq(a), {(SHARED, a, a): 5}),
    "clients": (
        Average(norm_sq(c_i)),
        {(DEVIATIONS, c_i, c_i): 1, (SHARED, Average(c_i), Average(c_i)): 1},
    ),
    "steps": (
        LocalSum(norm_sq(u)),
        {(STEP_DEVIATIONS, u, u): 1, (SHARED, LocalSum(u), LocalSum(u)): 1 / tau},
    ),
    "clients at steps": (
        Average(LocalSum(norm_sq(v_i))),
        {
            (CLIENT_STEP_DEVIATIONS, v_i, v_i): 1,
            (DEVIATIONS, LocalSum(v_i), LocalSum(v_i)): 1 / tau,
            (STEP_DEVIATIONS, Average(v_i), Average(v_i)): 1,
            (SHARED, Average(LocalSum(v_i)), Average(LocalSum(v_i))): 1 / tau,
        },
    ),
    "noise": (eta * Average(norm_sq(n_i)), {(NOISE, n_i, n_i): eta}),
    "weighted clients": (
        Average(w_i * inner(c_i, d_i)),
        {(Block(averaged=True, weight=w_i), c_i, d_i): sp.Rational(1, 2)},
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries(name: str) -> None:
    expression, entries = ENTRIES[name]
    found = _split(expression)
    assert dict(found.rows) == {}
    assert set(_show(found)) == set(entries)
    assert all(sp.cancel(_show(found)[key] - number) == 0 for key, number in entries.items())


def test_noise_beside_another_vector_stays_whole() -> None:
    """An inner product with noise is not split into a client average and deviations."""
    assert _show(split_form({Average(inner(n_i, c_i)): ONE}, CONTEXT)) == {(NOISE, c_i, n_i): sp.Rational(1, 2)}
    for pair in ((n_i, u), (u, n_i)):
        found = split_form({LocalSum(inner(*pair)): ONE}, CONTEXT)
        assert {block for block, *_ in found.matrices} == {Block(summed=True)}


def test_scalars_outside_squares_become_rows() -> None:
    """Scalars that are not in a square become rows: numbers, and products whose weight may be negative."""
    signed = Average((w_i - 1) * norm_sq(c_i))
    found = split_form({sp.S.One: ONE, signed: ONE, norm_sq(a): ONE}, CONTEXT)
    assert dict(found.rows) == {sp.S.One: ONE, signed: ONE}
    assert _show(found) == {(SHARED, a, a): 1}


Values = Mapping[sp.Symbol, list[list[fmpq]]]
"""Numbers of each client at each step."""


def _at(vector: Any, values: Values, i: int, k: int) -> fmpq:
    """Return a vector, here a number, of client i at step k."""
    if isinstance(vector, Average):
        return sum((_at(vector.args[0], values, j, k) for j in range(CLIENTS)), fmpq(0)) / CLIENTS
    if isinstance(vector, LocalSum):
        return sum((_at(vector.args[0], values, i, j) for j in range(STEPS)), fmpq(0))
    return values[vector][i][k]


def _deviation(vector: Any, block: Block, values: Values, i: int, k: int) -> fmpq:
    """Return a vector minus its time average, minus the client average of the remainder, as in a block."""

    def of(j: int) -> fmpq:
        here = _at(vector, values, j, k)
        return here - _at(LocalSum(vector), values, j, k) / STEPS if block.summed and block.centred else here

    return of(i) - (sum((of(j) for j in range(CLIENTS)), fmpq(0)) / CLIENTS if block.averaged and block.centred else 0)


def _total(blocks: Blocks, values: Values) -> fmpq:
    """Return the scalar of blocks: both halves of each entry, summed over steps, averaged over clients."""
    total = fmpq(0)
    for (block, one, other), number in blocks.matrices.items():
        c = fmpq(str(number.expression.subs({tau: STEPS, M: CLIENTS, eta: 1}))) * (1 if one == other else 2)
        for i in range(CLIENTS if block.averaged else 1):
            for k in range(STEPS if block.summed else 1):
                product = _deviation(one, block, values, i, k) * _deviation(other, block, values, i, k)
                total += c * product / (CLIENTS if block.averaged else 1)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_blocks_add_up_to_the_scalar(seed: int) -> None:
    """Blocks add up to the scalar on random numbers of three clients at two steps."""
    random = Random(seed)
    values: dict[sp.Symbol, list[list[fmpq]]] = {}
    for each in (a, b, c_i, d_i, u, v_i):
        drawn = [[fmpq(random.randint(-4, 4)) for _ in range(STEPS)] for _ in range(CLIENTS)]
        steps = [row if each in (u, v_i) else row[:1] * STEPS for row in drawn]
        values[each] = steps if each in (c_i, d_i, v_i) else steps[:1] * CLIENTS
    factors = [random.randint(-3, 3) for _ in range(6)]

    def mean(left: Any, right: Any) -> fmpq:
        products = [_at(left, values, i, 0) * _at(right, values, i, 0) for i in range(CLIENTS)]
        return sum(products, fmpq(0)) / CLIENTS

    def summed(left: Any, right: Any, clients: int) -> fmpq:
        products = [_at(left, values, i, k) * _at(right, values, i, k) for i in range(clients) for k in range(STEPS)]
        return sum(products, fmpq(0)) / clients

    expected = [
        _at(a, values, 0, 0) * _at(b, values, 0, 0),
        mean(c_i, d_i),
        mean(c_i, a),
        summed(u, u, 1),
        summed(v_i, u, CLIENTS),
        summed(v_i, c_i, CLIENTS),
    ]
    scalars = [
        inner(a, b),
        Average(inner(c_i, d_i)),
        Average(inner(c_i, a)),
        LocalSum(norm_sq(u)),
        Average(LocalSum(inner(v_i, u))),
        Average(LocalSum(inner(v_i, c_i))),
    ]
    found = _split(sp.Add(*(factor * one for factor, one in zip(factors, scalars, strict=True))))
    assert _total(found, values) == sum((f * one for f, one in zip(factors, expected, strict=True)), fmpq(0))


def test_shared_parts_belong_to_weights() -> None:
    """The square of a vector times a weight is one block, with shared vectors in addition to those of clients."""
    weighed = Block(averaged=True, weight=w_i)
    found = _split(Average(w_i * norm_sq(c_i - 2 * a)) + eta * norm_sq(b))
    assert list_weights(found, CONTEXT) == [w_i]
    moved = move_to_weights(found, [w_i], CONTEXT)
    assert _show(moved) == {(weighed, c_i, c_i): 1, (weighed, a, c_i): -2, (weighed, a, a): 4, (SHARED, b, b): eta}


def test_shared_numbers_without_the_mean_of_a_weight_stay() -> None:
    found = _split((Average(w_i) / M - eta) * norm_sq(a))
    moved = move_to_weights(found, list_weights(found, CONTEXT), CONTEXT)
    assert _show(moved) == {(Block(averaged=True, weight=w_i), a, a): 1 / M, (SHARED, a, a): -eta}
    assert _show(move_to_weights(found, [], CONTEXT)) == _show(found)
