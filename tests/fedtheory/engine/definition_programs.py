"""Interpret definitions directly: a program that evaluates a definition's expressions on points.

It imports the language, but not its compiler.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import add, mul
from typing import Any

import sympy as sp
from algorithm_programs import Choose, Program, Setting
from enumeration import Point, mixture, plus
from flint import fmpq

from fedtheory.federation.definition import (
    Average,
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Mixed,
    Participants,
    Weighted,
    eta,
    eta_g,
    eta_sum,
    importance,
    mean_tau,
    start,
    tau,
)

VECTORS = {"x^0", "x", "v", "c_i", "s_i", "y_i", "z_i", "drawn 0"}
"""The symbols of vectors in the tests' definitions."""
NODES = (Average, Compressed, Gradient, Mixed, Participants, Weighted)


@dataclass
class Round:
    """State of a round during its execution."""

    definition: FederatedAlgorithm
    setting: Setting
    choose: Choose
    numbers: list[Mapping[Any, fmpq]]
    """Numbers of each client."""
    server: dict[Any, Point]
    clients: list[dict[Any, Point]]
    participation: list[tuple[fmpq, int]]
    mixing: list[Point]
    sent: dict[Any, Point] = field(default_factory=dict)
    """Compressed messages of each client."""

    def value(self, expression: Any, i: int) -> Point:
        """Return an expression's value at client i; the server's expressions have clients' vectors only inside sums."""
        expression = sp.sympify(expression)
        known = {start: self.setting.clients.start, **self.server, **self.clients[i]}
        if expression in known:
            return known[expression]
        if isinstance(expression, NODES):
            return self._node(expression, i)
        total = self.setting.clients.zero
        if isinstance(expression, sp.Add):
            for term in expression.args:
                total = plus(total, self.value(term, i))
        elif expression != 0:
            scale, vector = _split(expression)
            total = plus(total, self.value(vector, i), _number(scale, self.numbers[i]))
        return total

    def _node(self, node: Any, i: int) -> Point:
        clients, everybody = self.setting.clients, range(self.setting.clients.count)
        if isinstance(node, Gradient):
            return clients.gradient(self.choose, i, self.value(node.args[0], i))
        if isinstance(node, Compressed):
            return self._compress(node, i)
        laws = {
            Average: lambda j: clients.importance[j],
            Mixed: lambda j: self.mixing[i][j],
            Weighted: lambda j: self.participation[j][0],
            Participants: lambda j: clients.importance[j] * (self.participation[j][1] > 0),
        }
        weights = [laws[type(node)](j) for j in everybody]
        return mixture(weights, [self.value(node.args[0], j) if weights[j] else clients.zero for j in everybody])

    def _compress(self, node: Any, i: int) -> Point:
        if (node, i) not in self.sent:
            vector, kept = self.value(node.args[0], i), int(node.args[1])
            subsets = list(itertools.combinations(range(len(vector)), kept))
            chosen = self.choose([(fmpq(1, len(subsets)), subset) for subset in subsets])
            scale = fmpq(len(vector), kept)
            self.sent[node, i] = tuple(scale * v if j in chosen else fmpq(0) for j, v in enumerate(vector))
        return self.sent[node, i]

    def work(self, i: int, n: int) -> None:
        """Run the local steps of a client."""
        own, begun = self.clients[i], {step.vector: self.value(step.start, i) for step in self.definition.steps}
        own.update(begun)
        for size in self.setting.sizes(i, n):
            self.numbers[i] = {**self.numbers[i], eta: size}
            calls = {node for step in self.definition.steps for node in sp.sympify(step.step).atoms(Gradient)}
            drawn = {node: sp.Symbol(f"drawn {number}") for number, node in enumerate(calls)}
            own.update({symbol: self.value(node, i) for node, symbol in drawn.items()})
            own.update({s.vector: self.value(sp.sympify(s.step).xreplace(drawn), i) for s in self.definition.steps})
        self.numbers[i] = {**self.numbers[i], eta: self.setting.size(i, n, 0)}

    def close(self) -> None:
        """Run the end of the round."""
        definition, count = self.definition, self.setting.clients.count
        following = [
            {v: self.value(end, i) for v, end in definition.client_update.items()} if self.participation[i][1] else {}
            for i in range(count)
        ]
        server = {v: self.value(end, 0) for v, end in definition.server_update.items()}
        for own, new in zip(self.clients, following, strict=True):
            own.update(new)
        self.server.update(server)


@cache
def _split(term: Any) -> tuple[Any, Any]:
    """Split a term into a number times a vector."""
    factors = sp.Mul.make_args(term)
    (vector,) = (f for f in factors if f.has(*NODES) or any(str(symbol) in VECTORS for symbol in f.free_symbols))
    return sp.Mul(*(f for f in factors if f is not vector)), vector


def _number(expression: Any, known: Mapping[Any, fmpq]) -> fmpq:
    if expression in known:
        return known[expression]
    if expression.is_Rational:
        return fmpq(int(expression.p), int(expression.q))
    parts = [_number(part, known) for part in expression.args]
    if expression.is_Pow:
        base, exponent = parts
        return base ** int(exponent.p)
    return reduce(add if expression.is_Add else mul, parts)


def program_of(
    definition: FederatedAlgorithm, setting: Setting, parameters: Mapping[Any, fmpq], mixing: list[Point]
) -> Program:
    """Return the program of a definition."""
    clients, count = setting.clients, setting.clients.count
    mean = sum((p * k for p, k in zip(clients.importance, setting.steps, strict=True)), fmpq(0))

    def fixed(i: int, n: int) -> dict[Any, fmpq]:
        sizes = setting.sizes(i, n)
        known = {eta: sizes[0], eta_sum: sum(sizes, fmpq(0)), eta_g: setting.server, tau: fmpq(setting.steps[i])}
        return {**known, mean_tau: mean, importance: clients.importance[i], **parameters}

    def program(choose: Choose) -> list[Point]:
        outside = Round(definition, setting, choose, [fixed(i, 0) for i in range(count)], {}, [{}] * count, [], mixing)
        server = {v: outside.value(begin, 0) for v, begin in definition.server.items()}
        own = [{v: outside.value(begin, i) for v, begin in definition.client.items()} for i in range(count)]
        models = []
        for n in range(setting.rounds + 1):
            numbers: list[Mapping[Any, fmpq]] = [fixed(i, n) for i in range(count)]
            here = Round(definition, setting, choose, numbers, server, own, [(fmpq(1), 1)] * count, mixing)
            models.append(here.value(definition.model, 0))
            if n == setting.rounds:
                return models
            coins = {c: fmpq(choose([(p, 1), (1 - p, 0)])) for c, p in _chances(definition).items()}
            here.numbers = [{**known, **coins} for known in numbers]
            here.participation = choose(setting.participation)
            for i in (i for i in range(count) if here.participation[i][1] or definition.uses(Average)):
                here.work(i, n)
            here.close()
        return models

    return program


def _chances(definition: FederatedAlgorithm) -> dict[Any, fmpq]:
    return {coin: fmpq(int(chance.p), int(chance.q)) for coin, chance in definition.coins.items()}
