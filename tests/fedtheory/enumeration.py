"""Ground truth by brute force: enumerate every outcome of a tiny run in exact rationals.

This module does not import the engine. Points are tuples of `fmpq`, distributions are lists of (probability, outcome),
and expectations are plain sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq

Point = tuple[fmpq, ...]
Law = list[tuple[fmpq, Any]]
"""Probabilities and outcomes."""


def number(value: int | str | fmpq) -> fmpq:
    """Return a rational from an integer or a string such as "1/2"."""
    if isinstance(value, str):
        top, _, bottom = value.partition("/")
        return fmpq(int(top), int(bottom or "1"))
    return fmpq(value)


def point(*values: int | str | fmpq) -> Point:
    """Return a point from its coordinates."""
    return tuple(number(value) for value in values)


def dot(left: Point, right: Point) -> fmpq:
    """Return the inner product."""
    total = fmpq(0)
    for a, b in zip(left, right, strict=True):
        total += a * b
    return total


def plus(left: Point, right: Point, factor: fmpq = fmpq(1)) -> Point:  # noqa: B008
    """Return ``left + factor * right``."""
    return tuple(a + factor * b for a, b in zip(left, right, strict=True))


def minus(left: Point, right: Point) -> Point:
    """Return ``left - right``."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def mixture(weights: Sequence[fmpq], points: Sequence[Point]) -> Point:
    """Return ``sum_i weights[i] points[i]``."""
    total = tuple(fmpq(0) for _ in points[0])
    for weight, one in zip(weights, points, strict=True):
        total = plus(total, one, weight)
    return total


def merged(law: Law) -> Law:
    """Return the law with equal outcomes merged."""
    # Rationals hash slowly and print fast, and equal ones print alike, so texts are the keys.
    together: dict[str, tuple[Any, list[fmpq]]] = {}
    for probability, outcome in law:
        together.setdefault(repr(outcome), (outcome, []))[1].append(probability)
    return [(sum(found[1:], found[0]), outcome) for outcome, found in together.values()]


@dataclass(frozen=True)
class Client:
    """One client: its objective, its gradient and the distribution of its stochastic gradient at a point."""

    value: Callable[[Point], fmpq]
    gradient: Callable[[Point], Point]
    stochastic: Callable[[Point], Law]


@dataclass(frozen=True)
class Step:
    """One joint outcome of a local step: the round's base model, all local models, all stochastic gradients."""

    base: Point
    local: tuple[Point, ...]
    stochastic: tuple[Point, ...]


@dataclass(frozen=True)
class TinyRun:
    """FedAvg on a few clients, with all features of the update rule."""

    clients: tuple[Client, ...]
    importance: tuple[fmpq, ...]
    start: Point
    step_sizes: tuple[fmpq, ...]
    steps: tuple[int, ...]
    rounds: int
    server_step_size: fmpq
    participation: Law
    """Probabilities and weights (w_1, ..., w_M) of a round."""

    def value(self, at: Point) -> fmpq:
        """Return F at a point."""
        return sum((p * c.value(at) for p, c in zip(self.importance, self.clients, strict=True)), fmpq(0))

    def gradient(self, at: Point) -> Point:
        """Return the gradient of F."""
        return mixture(self.importance, [client.gradient(at) for client in self.clients])

    def minimiser(self) -> Point:
        """Return x*, by Cramer's rule in one or two dimensions, for a regular Hessian."""
        zero = tuple(fmpq(0) for _ in self.start)
        at_zero = self.gradient(zero)
        columns = []
        for axis in range(len(zero)):
            unit = tuple(fmpq(int(axis == j)) for j in range(len(zero)))
            columns.append(minus(self.gradient(unit), at_zero))
        right = tuple(-g for g in at_zero)
        if len(zero) == 1:
            return (right[0] / columns[0][0],)
        (a, c), (b, d) = columns
        determinant = a * d - b * c
        return (right[0] * d - b * right[1]) / determinant, (a * right[1] - c * right[0]) / determinant

    def _walk(self, client: int, base: Point, steps: int) -> Law:
        """Return the distribution of a client's model after some local steps from a base model."""
        law: Law = [(fmpq(1), base)]
        for _ in range(steps):
            law = merged(
                [
                    (before * chance, plus(at, gradient, -self.step_sizes[client]))
                    for before, at in law
                    for chance, gradient in self.clients[client].stochastic(at)
                ]
            )
        return law

    @cached_property
    def server_laws(self) -> list[Law]:
        """Return the distributions of the server's model after n = 0 .. T updates."""
        laws: list[Law] = [[(fmpq(1), self.start)]]
        for _ in range(self.rounds):
            laws.append(merged([outcome for chance, base in laws[-1] for outcome in self._round(chance, base)]))
        return laws

    def _round(self, chance: fmpq, base: Point) -> Law:
        walks = [self._walk(client, base, steps) for client, steps in enumerate(self.steps)]
        after = []
        for joint in itertools.product(*walks):
            probability = chance
            for one, _ in joint:
                probability = probability * one
            displacements = [minus(final, base) for _, final in joint]
            for drawn, weights in self.participation:
                change = mixture(weights, displacements)
                after.append((probability * drawn, plus(base, change, self.server_step_size)))
        return after

    def joint_local(self, law: Law, k: int) -> Iterator[tuple[fmpq, Point, tuple[Point, ...]]]:
        """Yield joint outcomes (probability, base, local models) after k local steps of a round that starts from
        `law`.
        """
        for chance, base in law:
            for joint in itertools.product(*(self._walk(i, base, k) for i in range(len(self.clients)))):
                probability = chance
                for one, _ in joint:
                    probability = probability * one
                yield probability, base, tuple(at for _, at in joint)

    def joint_steps(self, law: Law, k: int) -> Iterator[tuple[fmpq, Step]]:
        """Yield joint outcomes of local models after k steps and of the stochastic gradients there."""
        for probability, base, local in self.joint_local(law, k):
            laws = [client.stochastic(at) for client, at in zip(self.clients, local, strict=True)]
            for joint in itertools.product(*laws):
                chance = probability
                for one, _ in joint:
                    chance = chance * one
                yield chance, Step(base, local, tuple(gradient for _, gradient in joint))

    def moved(self, step: Step) -> tuple[Point, ...]:
        """Return all local models after the step."""
        return tuple(
            plus(at, gradient, -size)
            for at, gradient, size in zip(step.local, step.stochastic, self.step_sizes, strict=True)
        )


@dataclass(frozen=True)
class ServerTruth:
    """Expectations of the server's model, n = 0 .. T."""

    mean: list[Point]
    suboptimality: list[fmpq]
    distance_sq: list[fmpq]
    gradient_sq: list[fmpq]


@dataclass(frozen=True)
class LocalTruth:
    """Expectations inside rounds: [n][k] for the averaged iterate, [n][k][i] for the drift."""

    suboptimality: list[list[fmpq]]
    distance_sq: list[list[fmpq]]
    drift: list[list[list[fmpq]]]


def expectation(law: Law, measure: Callable[[Any], fmpq]) -> fmpq:
    """Return the sum of probability times measure."""
    return sum((probability * measure(outcome) for probability, outcome in law), fmpq(0))


def server_truth(run: TinyRun) -> ServerTruth:
    """Return moments of the server's model, for comparison with the engine."""
    best = run.minimiser()
    lowest = run.value(best)
    laws = run.server_laws

    def squared_distance(at: Point) -> fmpq:
        return dot(minus(at, best), minus(at, best))

    return ServerTruth(
        [tuple(expectation(law, lambda at, j=j: at[j]) for j in range(len(best))) for law in laws],
        [expectation(law, lambda at: run.value(at) - lowest) for law in laws],
        [expectation(law, squared_distance) for law in laws],
        [expectation(law, lambda at: dot(run.gradient(at), run.gradient(at))) for law in laws],
    )


def local_truth(run: TinyRun) -> LocalTruth:
    """Return moments at local steps, for comparison with the engine if all clients take equally many steps."""
    best = run.minimiser()
    lowest = run.value(best)
    suboptimality, distance, drift = [], [], []
    for law in run.server_laws[:-1]:
        gaps, lengths, spreads = [], [], []
        for k in range(run.steps[0] + 1):
            gap, length, spread = fmpq(0), fmpq(0), [fmpq(0) for _ in run.clients]
            for probability, _, local in run.joint_local(law, k):
                average = mixture(run.importance, local)
                away = minus(average, best)
                gap += probability * (run.value(average) - lowest)
                length += probability * dot(away, away)
                for i, at in enumerate(local):
                    apart = minus(at, average)
                    spread[i] += probability * dot(apart, apart)
            gaps.append(gap)
            lengths.append(length)
            spreads.append(spread)
        suboptimality.append(gaps)
        distance.append(lengths)
        drift.append(spreads)
    return LocalTruth(suboptimality, distance, drift)


def quadratic_client(
    hessian: Sequence[Point], linear: Point, constant: fmpq, variance: fmpq, deviation: fmpq
) -> Client:
    """Return ``1/2 x'Hx - b'x + c`` with noise of +-deviation along a random axis; deviation^2 must be the variance."""
    assert deviation * deviation == variance
    size = len(linear)
    noises: Law = [
        (fmpq(1, 2 * size), tuple(sign * deviation if axis == j else fmpq(0) for j in range(size)))
        for axis in range(size)
        for sign in (1, -1)
    ]

    def gradient(at: Point) -> Point:
        return tuple(dot(row, at) - b for row, b in zip(hessian, linear, strict=True))

    def value(at: Point) -> fmpq:
        return dot(at, tuple(dot(row, at) for row in hessian)) / 2 - dot(linear, at) + constant

    def stochastic(at: Point) -> Law:
        full = gradient(at)
        return [(fmpq(1), full)] if deviation == 0 else [(chance, plus(full, noise)) for chance, noise in noises]

    return Client(value, gradient, stochastic)


def data_client(
    inputs: Sequence[Point],
    outputs: Point,
    batch: int | None,
    replacement: bool,
    ridge: fmpq = fmpq(0),  # noqa: B008
) -> Client:
    """Return the mean of squared residuals over the data plus a ridge; gradients over all batches of the given size."""
    count = len(outputs)
    rows = range(count)
    drawn: list[tuple[int, ...]] = [tuple(rows)]
    if batch is not None:
        drawn = list(itertools.product(rows, repeat=batch) if replacement else itertools.combinations(rows, batch))
    batches = merged([(fmpq(1, len(drawn)), tuple(sorted(rows))) for rows in drawn])

    def residual(row: int, at: Point) -> fmpq:
        return dot(inputs[row], at) - outputs[row]

    def value(at: Point) -> fmpq:
        return sum((residual(row, at) ** 2 for row in rows), fmpq(0)) / count + ridge * dot(at, at) / 2

    def over(chosen: Sequence[int], at: Point) -> Point:
        total = tuple(fmpq(0) for _ in at)
        for row in chosen:
            total = plus(total, inputs[row], 2 * residual(row, at))
        return plus(tuple(entry / len(chosen) for entry in total), at, ridge)

    def stochastic(at: Point) -> Law:
        return merged([(chance, over(chosen, at)) for chance, chosen in batches])

    return Client(value, lambda at: over(rows, at), stochastic)


def full_weights(importance: Sequence[fmpq]) -> Law:
    """Return full participation with the weights p_i."""
    return [(fmpq(1), tuple(importance))]


def fixed_weights(importance: Sequence[fmpq], selected: Sequence[int]) -> Law:
    """Return fixed participants with equal weights."""
    return [(fmpq(1), tuple(fmpq(1, len(selected)) if i in selected else fmpq(0) for i in range(len(importance))))]


def uniform_weights(importance: Sequence[fmpq], selected: int) -> Law:
    """Return uniform subsets of the given size, with w_i = p_i M / m."""
    clients = len(importance)
    subsets = list(itertools.combinations(range(clients), selected))
    return [
        (
            fmpq(1, len(subsets)),
            tuple(importance[i] * clients / selected if i in subset else fmpq(0) for i in range(clients)),
        )
        for subset in subsets
    ]


def present_sets(clients: int, selected: int | None, chance: fmpq | None) -> list[tuple[fmpq, tuple[int, ...]]]:
    """Return sets of participants with their probabilities: uniform of one size, or independent decisions."""
    if chance is None:
        subsets = list(itertools.combinations(range(clients), selected or 0))
        return [(fmpq(1, len(subsets)), subset) for subset in subsets]
    sides = itertools.product((0, 1), repeat=clients)
    shown = (tuple(i for i, side in enumerate(each) if side) for each in sides)
    return [(chance ** len(s) * (1 - chance) ** (clients - len(s)), s) for s in shown]


def normalised_weights(importance: Sequence[fmpq], sets: Sequence[tuple[fmpq, tuple[int, ...]]]) -> Law:
    """Return w_i = p_i / sum_{j in S} p_j on the set S of participants."""
    law: Law = []
    for chance, subset in sets:
        total = sum((importance[j] for j in subset), fmpq(0))
        law.append((chance, tuple(p / total if i in subset else fmpq(0) for i, p in enumerate(importance))))
    return law


def bernoulli_weights(importance: Sequence[fmpq], chance: fmpq) -> Law:
    """Return independent participation of the clients, with w_i = p_i / q for participants."""
    sets = present_sets(len(importance), None, chance)
    return [(c, tuple(p / chance if i in s else fmpq(0) for i, p in enumerate(importance))) for c, s in sets]


def multinomial_weights(importance: Sequence[fmpq], selected: int) -> Law:
    """Return m independent draws with probabilities p_i, with w_i = count_i / m."""
    clients = len(importance)
    law = []
    for draws in itertools.product(range(clients), repeat=selected):
        chance = fmpq(1)
        for client in draws:
            chance = chance * importance[client]
        law.append((chance, tuple(fmpq(draws.count(i), selected) for i in range(clients))))
    return merged(law)
