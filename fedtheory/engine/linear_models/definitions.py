"""Simulates algorithms given as definitions, vector by vector, in every replica of a run on linear models.

Vectors are relative to zero, as in the definition: server's as (R, 1, d), clients' and local ones (R, M, d).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.federation import Algorithm
from fedtheory.federation.definition import (
    Average,
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Mixed,
    Participants,
    Weighted,
)
from fedtheory.federation.definition.language import eta, eta_g, eta_sum, importance, mean_tau, start, tau
from fedtheory.federation.definition.linear import evaluate_number
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.kernel.expressions import Expr

Vectors = dict[Expr, Array]
_KEY = "algorithm"
"""Key of the run file in messages about values of symbols."""


@dataclass(frozen=True, eq=False)
class DefinedRound:
    """One round in every replica."""

    locals: list[Array]
    """The first local vector after k = 0 .. K steps, (R, M, d) each."""
    gradients: list[Array]
    """The gradients of the steps, (R, M, d) each."""
    state: Vectors
    """The vectors of the server and of the clients after the round."""


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Values of the symbols at one local step, with a cache for expressions in them."""

    values: Mapping[Expr, Any]
    known: dict[Expr, Any] = field(default_factory=dict)

    def evaluate(self, expression: Expr) -> Any:
        """Return the value of an expression; (1, M, 1) if it differs between clients."""
        if expression not in self.known:
            self.known[expression] = evaluate_number(expression, self.values, FLOAT, _KEY)
        return self.known[expression]


@dataclass(frozen=True, eq=False)
class Interpreter:
    """Evaluates a definition on vectors."""

    problem: LinearModelProblem
    algorithm: Algorithm
    gradients_at: Callable[[Array], Array]
    """Samples the clients' gradients at points (R, M, d)."""
    generator: np.random.Generator
    replicas: int

    @cached_property
    def definition(self) -> FederatedAlgorithm:
        """The algorithm as a definition."""
        assert self.algorithm.defined is not None
        return self.algorithm.defined.algorithm

    @cached_property
    def steps(self) -> Array:
        """Local steps, (1, M, 1)."""
        return np.array(self.algorithm.work.steps)[None, :, None]

    @cached_property
    def _client_weights(self) -> Array:
        """p_i, (1, M, 1), with axes for replicas and coordinates."""
        return self.problem.weights[None, :, None]

    def begin(self) -> Vectors:
        """Return all vectors before the first round."""
        known = {start: self.problem.start[None, None]}
        clients = {
            **dict.fromkeys(self.definition.server, 1),
            **dict.fromkeys(self.definition.client, len(self.steps[0])),
        }
        first = {**self.definition.server, **self.definition.client}
        shape = (self.replicas, -1, self.problem.dimension)
        return {
            vector: np.broadcast_to(
                self._combine(vector, first[vector], known, _Numbers({})), (shape[0], count, shape[2])
            )
            for vector, count in clients.items()
        }

    def model(self, state: Vectors) -> Array:
        """Return the model whose errors are measured, (R, d)."""
        found = self._evaluate(self.definition.model, state, self._select_numbers(0, 0, {}), None)
        return np.broadcast_to(found, (self.replicas, 1, self.problem.dimension))[:, 0]

    def round(self, n: int, state: Vectors, weights: Array) -> DefinedRound:
        """Simulate round n with the weights (R, M) of its participants."""
        coins = self._toss_coins()
        current, numbers = self._initialise_local(n, state, coins), self._select_numbers(n, 0, coins)
        first = self.definition.local_vectors[0]
        iterates, gradients = [current[first]], []
        for k in range(int(self.steps.max())):
            current, gradient = self._take_step({**state, **current}, self._select_numbers(n, k, coins), self.steps > k)
            iterates.append(current[first])
            gradients.append(gradient)
        end = _End(weights[:, :, None], {})
        known = {**state, **current}
        after = dict(state)
        for vector, expression in self.definition.client_update.items():
            moved = self._evaluate(expression, known, numbers, end)
            after[vector] = np.where(end.is_present, moved, state[vector])
        for vector, expression in self.definition.server_update.items():
            after[vector] = self._evaluate(expression, known, numbers, end)
        return DefinedRound(iterates, gradients, after)

    def _toss_coins(self) -> dict[Expr, Array]:
        """Return the coins of the round in every replica, (R, 1, 1), common to all clients."""
        assert self.algorithm.defined is not None
        values = self.algorithm.defined.values
        chances = {coin: evaluate_number(p, values, FLOAT, _KEY) for coin, p in self.definition.coins.items()}
        shape = (self.replicas, 1, 1)
        return {coin: (self.generator.random(shape) < chance) * 1.0 for coin, chance in chances.items()}

    @cached_property
    def _constant_numbers(self) -> _Numbers:
        """The symbols at every step, for algorithms without coins and with constant step sizes."""
        return self._evaluate_numbers(0, 0, {})

    def _select_numbers(self, n: int, k: int, coins: Mapping[Expr, Array]) -> _Numbers:
        """Return the symbols at round n and local step k."""
        is_fixed = not coins and self.algorithm.work.schedule is None
        return self._constant_numbers if is_fixed else self._evaluate_numbers(n, k, coins)

    def _evaluate_numbers(self, n: int, k: int, coins: Mapping[Expr, Array]) -> _Numbers:
        """Return the values of the symbols; those of clients are (1, M, 1)."""
        assert self.algorithm.defined is not None
        work = self.algorithm.work
        sizes = [work.sizes_at(n, step)[None, :, None] for step in range(int(self.steps.max()))]
        values = {
            **self.algorithm.defined.values,
            **coins,
            eta: sizes[k],
            eta_sum: sum(np.where(self.steps > step, size, 0.0) for step, size in enumerate(sizes)),
            tau: self.steps,
            importance: self._client_weights,
            eta_g: self.algorithm.aggregation.server_step_size,
            mean_tau: float((self._client_weights * self.steps).sum()),
        }
        return _Numbers(values)

    @cached_property
    def _gradients(self) -> set[Expr]:
        """The gradients in the local steps."""
        return self.definition.nodes(Gradient)

    def _initialise_local(self, n: int, state: Vectors, coins: Mapping[Expr, Array]) -> Vectors:
        """Return the local vectors before the first step."""
        numbers, shape = (
            self._select_numbers(n, 0, coins),
            (self.replicas, len(self.problem.weights), self.problem.dimension),
        )
        return {
            step.vector: np.broadcast_to(self._combine(step.vector, step.start, state, numbers), shape)
            for step in self.definition.steps
        }

    def _take_step(self, known: Vectors, numbers: _Numbers, active: Array) -> tuple[Vectors, Array]:
        """Take one local step of the active clients, and return the new vectors and the gradients."""
        gradient = np.zeros(1)
        for call in self._gradients:
            point = self._combine(call, call.args[0], known, numbers)
            gradient = self.gradients_at(np.broadcast_to(point, known[self.definition.local_vectors[0]].shape))
            known = {**known, call: gradient}
        moved = {
            step.vector: np.where(active, self._combine(step.vector, step.step, known, numbers), known[step.vector])
            for step in self.definition.steps
        }
        return moved, gradient

    def _combine(self, vector: Expr, expression: Expr, known: Mapping[Expr, Array], numbers: _Numbers) -> Array:
        """Return a linear combination of vectors whose values are known."""
        parts = self.definition.parts(vector, expression).items()
        total: Array = np.zeros((1, 1, self.problem.dimension))
        for part, scale in parts:
            total = total + numbers.evaluate(scale) * known[part]
        return total

    def _evaluate(self, expression: Expr, known: Vectors, numbers: _Numbers, end: _End | None) -> Array:
        """Return the value of an expression with sums over clients, vectors from neighbours, and compressed vectors."""
        parts = self.definition.parts(expression, expression)
        found = dict(known)
        for part in parts:
            if part not in found:
                found[part] = self._evaluate_node(part, known, numbers, end)
        return self._combine(expression, expression, found, numbers)

    def _evaluate_node(self, node: Expr, known: Vectors, numbers: _Numbers, end: _End | None) -> Array:
        """Return the value of an average over clients or participants, or of a compressed vector."""
        inside = self._evaluate(node.args[0], known, numbers, end)
        if isinstance(node, Average):
            return np.asarray((self._client_weights * inside).sum(axis=1, keepdims=True))
        assert end is not None
        if isinstance(node, Weighted):
            return np.asarray((end.weights * inside).sum(axis=1, keepdims=True))
        if isinstance(node, Participants):
            return np.asarray((end.is_present * self._client_weights * inside).sum(axis=1, keepdims=True))
        if isinstance(node, Mixed):
            assert self.algorithm.defined is not None
            return np.asarray(self.algorithm.defined.mixing @ inside)
        assert isinstance(node, Compressed)
        if node not in end.compressed:
            end.compressed[node] = self._compress(inside, int(numbers.evaluate(node.args[1])))
        return end.compressed[node]

    def _compress(self, vectors: Array, kept: int) -> Array:
        """Keep some random coordinates of each vector, and set the others to zero."""
        size = vectors.shape[-1]
        chosen = self.generator.random(vectors.shape).argsort(axis=-1) < kept
        return np.asarray(np.where(chosen, vectors * (size / kept), 0.0))


@dataclass(frozen=True, eq=False)
class _End:
    """Values at the end of a round."""

    weights: Array
    """w_i, (R, M, 1)."""
    compressed: dict[Expr, Array]
    """Compressed vectors, which are sent once."""

    @property
    def is_present(self) -> Array:
        """Mask of the participants, (R, M, 1)."""
        return np.asarray(self.weights != 0)


def simulate_rounds(
    interpreter: Interpreter, weights: Iterator[Array]
) -> Iterator[tuple[Array, DefinedRound, Array, Array]]:
    """Yield each round with the model (R, d) before it, the weights (R, M), and the model after it."""
    state = interpreter.begin()
    before = interpreter.model(state)
    for n, drawn in enumerate(weights):
        found = interpreter.round(n, state, drawn)
        after = interpreter.model(found.state)
        yield before, found, drawn, after
        state, before = found.state, after
