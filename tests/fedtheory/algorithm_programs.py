"""Algorithms as plain programs with explicit random choices, enumerated in exact rationals.

This module imports neither the engine nor the definitions. A program calls `choose` with a distribution and gets one
outcome; `paths` runs it for every sequence of choices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import enumeration as brute
from enumeration import Law, Point, minus, mixture, plus
from flint import fmpq

Choose = Callable[[Law], Any]
Program = Callable[[Choose], list[Point]]
"""A program that returns the models of one path, n = 0 .. T."""


def paths(program: Program) -> Iterator[tuple[fmpq, list[Point]]]:
    """Yield every path of a program with its probability."""
    waiting: list[tuple[Any, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        chance, taken = fmpq(1), 0

        def choose(law: Law, prefix: tuple[Any, ...] = prefix) -> Any:
            nonlocal chance, taken
            place = prefix[taken] if taken < len(prefix) else 0
            if taken >= len(prefix):
                waiting.extend((*prefix, *(0,) * (taken - len(prefix)), other) for other in range(1, len(law)))
            taken += 1
            chance *= law[place][0]
            return law[place][1]

        models = program(choose)
        yield chance, models


@dataclass(frozen=True)
class Clients:
    """Quadratics ``1/2 x'H_i x - b_i'x`` with noise on a random axis with random sign, or rows of data with one
    sample.
    """

    hessians: Sequence[Sequence[Sequence[Any]]]
    linear: Sequence[Sequence[Any]]
    importance: Point
    start: Point
    lengths: Sequence[Any]
    """Norms of the noise."""
    rows: Sequence[Sequence[tuple[Point, fmpq]]] = field(default_factory=list)
    """Inputs and outputs of each client, instead of noise."""

    def full(self, i: int, at: Point) -> Point:
        """Return the gradient of F_i."""
        rows = [brute.point(*row) for row in self.hessians[i]]
        return tuple(brute.dot(row, at) - brute.number(b) for row, b in zip(rows, self.linear[i], strict=True))

    def gradient(self, choose: Choose, i: int, at: Point) -> Point:
        """Return a stochastic gradient."""
        if self.rows:
            share = fmpq(1, len(self.rows[i]))
            x, y = choose([(share, row) for row in self.rows[i]])
            return tuple(2 * (brute.dot(x, at) - y) * entry for entry in x)
        length, size = brute.number(self.lengths[i]), len(at)
        if length == 0:
            return self.full(i, at)
        axis, sign = choose([(fmpq(1, 2 * size), (axis, sign)) for axis in range(size) for sign in (1, -1)])
        return tuple(g + (sign * length if j == axis else 0) for j, g in enumerate(self.full(i, at)))

    def walk(
        self, choose: Choose, i: int, at: Point, sizes: Sequence[fmpq], correction: Callable[[Point], Point]
    ) -> Point:
        """Return local steps along the stochastic gradient plus a correction."""
        for size in sizes:
            at = plus(at, plus(self.gradient(choose, i, at), correction(at)), -size)
        return at

    @property
    def zero(self) -> Point:
        """Return the origin."""
        return tuple(fmpq(0) for _ in self.start)

    @property
    def count(self) -> int:
        """Return the number of clients M."""
        return len(self.importance)


@dataclass(frozen=True)
class Setting:
    """The algorithm section of a run file."""

    clients: Clients
    rounds: int
    steps: Sequence[int]
    size: Callable[[int, int, int], fmpq]
    """Function that returns eta of client i at round n and step k."""
    server: fmpq
    participation: Law
    """Probabilities of participation outcomes, with each client's weight and number of participations."""

    def sizes(self, i: int, n: int) -> list[fmpq]:
        """Return the step sizes of client i in round n."""
        return [self.size(i, n, k) for k in range(self.steps[i])]


def _nothing(at: Point) -> Point:
    return tuple(fmpq(0) for _ in at)


def server_program(
    setting: Setting,
    *,
    proximal: fmpq = fmpq(0),  # noqa: B008
    momentum: fmpq = fmpq(0),  # noqa: B008
    nesterov: bool = False,
    normalised: bool = False,
    kept: int = 0,
) -> Program:
    """Return a program for FedAvg, FedProx, FedNova, FedAvgM or rand-k compression."""
    clients = setting.clients

    def program(choose: Choose) -> list[Point]:
        x, v, models = clients.start, clients.zero, [clients.start]
        for n in range(setting.rounds):
            change = clients.zero
            for i, (weight, times) in enumerate(choose(setting.participation)):
                if times:
                    base = x

                    def correction(at: Point, base: Point = base) -> Point:
                        return tuple(proximal * (a - b) for a, b in zip(at, base, strict=True))

                    moved = minus(clients.walk(choose, i, x, setting.sizes(i, n), correction), x)
                    if normalised:
                        mean = sum(p * k for p, k in zip(clients.importance, setting.steps, strict=True))
                        moved = tuple(mean * m / setting.steps[i] for m in moved)
                    change = plus(change, _sent(choose, moved, kept), weight)
            v = plus(change, v, momentum)
            x = plus(x, plus(change, v, momentum) if nesterov else v, setting.server)
            models.append(x)
        return models

    return program


def _sent(choose: Choose, vector: Point, kept: int) -> Point:
    """Return some random coordinates of a vector, scaled."""
    if not kept:
        return vector
    subsets = list(itertools.combinations(range(len(vector)), kept))
    chosen = choose([(fmpq(1, len(subsets)), subset) for subset in subsets])
    return tuple(fmpq(len(vector), kept) * v if j in chosen else fmpq(0) for j, v in enumerate(vector))


Shown = Callable[[Sequence[Point]], Point]
"""Function that maps the clients' models to the recorded vector."""


def spread(importance: Point) -> Shown:
    """Return a function for sum_i p_i |x_i - xbar|^2, as a vector of length one."""

    def shown(models: Sequence[Point]) -> Point:
        away = [minus(model, mixture(importance, models)) for model in models]
        return (sum((p * brute.dot(a, a) for p, a in zip(importance, away, strict=True)), fmpq(0)),)

    return shown


def expected(program: Program) -> list[Point]:
    """Return the expectations of the recorded vectors of a program."""
    found: list[Point] = []
    for chance, shown in paths(program):
        found = found or [minus(at, at) for at in shown]
        found = [plus(mean, at, chance) for mean, at in zip(found, shown, strict=True)]
    return found


def scaffold(setting: Setting, shown: Shown | None = None) -> Program:
    """Return SCAFFOLD, option II; non-participants keep their control variate. The ends of local work are recorded."""
    clients = setting.clients

    def program(choose: Choose) -> list[Point]:
        x, c, own, models = clients.start, clients.zero, [clients.zero] * clients.count, [clients.start]
        for n in range(setting.rounds):
            change, control, following, ends = clients.zero, c, list(own), [x] * clients.count
            for i, (weight, times) in enumerate(choose(setting.participation)):
                if times:
                    correction = minus(c, own[i])
                    sizes = setting.sizes(i, n)
                    y = clients.walk(choose, i, x, sizes, lambda _at, correction=correction: correction)
                    following[i] = plus(minus(own[i], c), minus(x, y), 1 / sum(sizes, fmpq(0)))
                    change, ends[i] = plus(change, minus(y, x), weight), y
                    control = plus(control, minus(following[i], own[i]), clients.importance[i])
            x, c, own = plus(x, change, setting.server), control, following
            models.append(shown(ends) if shown else x)
        return models

    return program


def scaffnew(setting: Setting, probability: fmpq, shown: Shown | None = None) -> Program:
    """Return Scaffnew with one communication decision for all clients."""
    clients, p = setting.clients, setting.clients.importance
    shows = shown or partial(mixture, p)

    def program(choose: Choose) -> list[Point]:
        x, h = [clients.start] * clients.count, [clients.zero] * clients.count
        models = [shows(x)]
        for n in range(setting.rounds):
            sizes = [setting.size(i, n, 0) for i in range(clients.count)]
            z = [plus(x[i], minus(clients.gradient(choose, i, x[i]), h[i]), -sizes[i]) for i in range(clients.count)]
            coins = [(chance, side) for chance, side in ((probability, 1), (1 - probability, 0)) if chance]
            if choose(coins):
                sent = [plus(z[i], h[i], -sizes[i] / probability) for i in range(clients.count)]
                x = [mixture(p, sent)] * clients.count
                h = [plus(h[i], minus(x[i], z[i]), probability / sizes[i]) for i in range(clients.count)]
            else:
                x = z
            models.append(shows(x))
        return models

    return program


def dsgd(setting: Setting, mixing: Sequence[Point], shown: Shown | None = None) -> Program:
    """Return decentralised SGD on a graph."""
    clients = setting.clients
    shows = shown or partial(mixture, clients.importance)

    def program(choose: Choose) -> list[Point]:
        x = [clients.start] * clients.count
        models = [shows(x)]
        for n in range(setting.rounds):
            y = [plus(x[i], clients.gradient(choose, i, x[i]), -setting.size(i, n, 0)) for i in range(clients.count)]
            x = [mixture(row, y) for row in mixing]
            models.append(shows(x))
        return models

    return program


def truth(program: Program, clients: Clients, optimum: Point) -> dict[str, list[Any]]:
    """Return expectations of the model: mean, suboptimality, squared distance, squared gradient, n = 0 .. T."""
    found: dict[str, list[Any]] = {}
    total = fmpq(0)
    for chance, models in paths(program):
        total += chance
        for n, model in enumerate(models):
            away = minus(model, optimum)
            slope = mixture(clients.importance, [clients.full(i, model) for i in range(clients.count)])
            gap = brute.dot(slope, away) / 2
            measured = {
                "suboptimality": gap,
                "distance_sq": brute.dot(away, away),
                "gradient_sq": brute.dot(slope, slope),
            }
            for name, value in measured.items():
                sums = found.setdefault(name, [fmpq(0)] * len(models))
                sums[n] += chance * value
            means = found.setdefault("mean", [clients.zero] * len(models))
            means[n] = plus(means[n], model, chance)
    assert total == 1
    return found
