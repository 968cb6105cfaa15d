"""Proofs and the engine interpret a round of a definition equally, for random definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import enumeration as brute
import pytest
import sympy as sp
from flint import fmpq
from random_definitions import LINE, Author, run_of

from fedtheory import assumptions as a
from fedtheory.engine.run import Run
from fedtheory.federation.definition import FederatedAlgorithm, Mixed, eta, eta_g, eta_sum, importance, mean_tau, tau
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.language.claim import Claim
from fedtheory.proofs import definitions
from fedtheory.proofs.definitions import START, Round

CLIENTS = range(2)
ROUNDS = 2
CLAIM = Claim(
    id="t:round", assumptions=(a.of_algorithm("random"), a.full_participation, a.importance_weights), lhs=0, rhs=0
)
Values = dict[Any, list[fmpq]]
"""One number for each client."""


def number(expression: Any, values: Mapping[Any, list[fmpq]], client: int) -> fmpq:
    """Return the value of an expression of a proof, for one client in one dimension."""
    if expression.is_Rational:
        return fmpq(int(expression.p), int(expression.q))
    if expression.is_Symbol:
        return values[expression][client]
    if isinstance(expression, Average):
        return sum((p * number(expression.args[0], values, j) for j, p in enumerate(LINE.importance)), fmpq(0))
    if isinstance(expression, Gradient):
        hessian, linear = (brute.number(text) for text in _of(client))
        return hessian * number(expression.args[1], values, client) - linear
    if expression.is_Pow:
        return number(expression.base, values, client) ** int(expression.exp)
    parts = [number(part, values, client) for part in expression.args]
    total = fmpq(0) if expression.is_Add else fmpq(1)
    for part in parts:
        total = total + part if expression.is_Add else total * part
    return total


def _of(client: int) -> tuple[str, str]:
    return LINE.hessians[client][0][0], LINE.linear[client][0]


def _each(expression: Any, values: Values) -> list[fmpq]:
    return [number(sp.sympify(expression), values, client) for client in CLIENTS]


def _numbers(one: Round, run: Run) -> Values:
    """Return the values of the numbers' symbols on a run."""
    sizes, steps = list(run.algorithm.work.step_sizes), [fmpq(count) for count in run.algorithm.work.steps]
    known: dict[Any, list[fmpq]] = {
        eta: sizes,
        tau: steps,
        eta_sum: [size * count for size, count in zip(sizes, steps, strict=True)],
        importance: list(LINE.importance),
        eta_g: [run.algorithm.aggregation.server_step_size] * 2,
        mean_tau: [sum((p * count for p, count in zip(LINE.importance, steps, strict=True)), fmpq(0))] * 2,
    }
    return {symbol: known[of] for of, symbol in one.numbers.items()}


def _after(one: Round, local: Mapping[Any, Any], values: Values, run: Run) -> Values:
    """Return the vectors of the server and of the clients after a round, for one outcome of random decisions."""
    values = values | {local[of]: _each(where, values) for of, where in one.local_start(one.states).items()}
    stepped = one.local_step({**one.states, **local})
    for k in range(max(run.algorithm.work.steps)):
        moved = {local[of]: _each(where, values) for of, where in stepped.items()}
        still = [k >= count for count in run.algorithm.work.steps]
        values |= {of: [values[of][i] if still[i] else new[i] for i in CLIENTS] for of, new in moved.items()}
    return {one.states[of]: _each(where, values) for of, where in one.end({**one.states, **local}).items()}


def means(algorithm: FederatedAlgorithm, run: Run) -> list[fmpq]:
    """Return the expected model at the start of every round and at the end, as in proofs."""
    local = {of: sp.Dummy(of.name, real=True) for of in algorithm.local_vectors}
    outcomes = [_with_vectors(one, local) for one in definitions.rounds_of(CLAIM)]
    first = outcomes[0]
    values = _numbers(first, run) | {START: [LINE.start[0]] * 2}
    values |= {first.states[of]: _each(where, values) for of, where in first.start().items()}
    model, found = first.expression(sp.Symbol("model"), algorithm.model, first.states), []
    for _ in range(ROUNDS):
        found.append(number(model, values, 0))
        ends = [(number(sp.sympify(one.chance), values, 0), _after(one, local, values, run)) for one in outcomes]
        values |= {of: [sum((p * end[of][i] for p, end in ends), fmpq(0)) for i in CLIENTS] for of in ends[0][1]}
    return [*found, number(model, values, 0)]


def _with_vectors(one: Round, local: Mapping[Any, Any]) -> Round:
    """Return a round in a context that has its vectors."""
    shared = {START, *(one.states[of] for of in one.algorithm.server)}
    own = {*local.values(), *(one.states[of] for of in one.algorithm.client)}
    known = one.context
    return replace(
        one, context=replace(known, vectors=known.vectors | shared, client_vectors=known.client_vectors | own)
    )


def _assert_read_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    author = Author(seed)
    algorithm = author.definition()
    monkeypatch.setattr(definitions, "definition", lambda _name: algorithm)
    keys = {"local_step_size": ["1/4", "1/5"], "local_steps": [1, 1] if author.has_coin else [2, 1], "rounds": ROUNDS}
    if any(sp.sympify(end).has(eta_g) for _, end in algorithm.expressions()):
        keys["server_step_size"] = "3/2"
    run = run_of(LINE, algorithm, keys)
    found = _read(algorithm, run)
    if isinstance(found, str):
        assert "depends on the graph" in found
        assert algorithm.uses(Mixed)
    else:
        # Messages that are equal for all clients are not changed.
        assert found == [mean[0] for mean in run.trajectory.server_mean]


def _read(algorithm: FederatedAlgorithm, run: Run) -> list[fmpq] | str:
    """Return the expectations, or the reason why they are not known."""
    try:
        return means(algorithm, run)
    except Rejected as reason:
        return str(reason)


@pytest.mark.parametrize("seed", range(25))
def test_rounds_are_read_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expectations over noise and random decisions agree, with full participation."""
    _assert_read_alike(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_many_rounds_are_read_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _assert_read_alike(seed, monkeypatch)
