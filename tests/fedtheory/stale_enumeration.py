"""Ground truth for clocks and stale models: a naive server with discrete time, and all outcomes of a tiny run.

This module does not import the engine. A client's noise is sampled when its work begins, so that pending work is part
of the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from enumeration import Law, Point, ServerTruth, TinyRun, dot, expectation, merged, minus, mixture, plus
from flint import fmpq

Path = tuple[Point, ...]
"""A client's models after 0 .. K_i local steps; the first is the received model."""


@dataclass(frozen=True)
class Server:
    """Policy of a server: "sync", "fedfix" or "buffer" (of size one: asynchronous)."""

    kind: str
    buffer: int = 1
    interval: fmpq = fmpq(1)  # noqa: RUF009
    together: bool = True

    def batches(self, arrived: list[int], clients: int, now: fmpq) -> list[list[int]]:
        """Return the updates at one moment, each with its reporting clients, in order of arrival."""
        if self.kind == "sync":
            return [arrived] if len(arrived) == clients else []
        if self.kind == "fedfix":
            return [arrived] if (now / self.interval).q == 1 else []
        if self.together:
            return [arrived] if len(arrived) >= self.buffer else []
        full = len(arrived) // self.buffer
        return [arrived[self.buffer * n : self.buffer * (n + 1)] for n in range(full)]


@dataclass(frozen=True)
class Event:
    """One server update."""

    time: fmpq
    reports: tuple[int, ...]
    staleness: tuple[int, ...]


def events(server: Server, times: Sequence[fmpq], updates: int) -> list[Event]:
    """Return the first updates, by advancing time in unit steps."""
    tick = fmpq(1, math.lcm(*(int(time.q) for time in (*times, server.interval))))
    left, received = list(times), [0] * len(times)
    arrived: list[int] = []
    found: list[Event] = []
    now = fmpq(0)
    while len(found) < updates:
        now += tick
        left = [time - tick for time in left]
        arrived += [client for client, time in enumerate(left) if time == 0]
        for reports in server.batches(list(arrived), len(times), now):
            ages = tuple(len(found) - version for version in received)
            found.append(Event(now, tuple(sorted(reports)), ages))
            for client in reports:
                arrived.remove(client)
                left[client], received[client] = times[client], len(found)
    return found[:updates]


@dataclass(frozen=True)
class Inside:
    """One joint outcome after k local steps of a round."""

    server: Point
    received: tuple[Point, ...]
    local: tuple[Point, ...]
    virtual: Point


@dataclass(frozen=True)
class StaleRun:
    """A tiny run whose clients report in given updates, with weights d_i."""

    tiny: TinyRun
    reports: list[tuple[int, ...]]
    """Sets S_0 .. S_{N-1} of reporting clients."""
    weights: tuple[fmpq, ...]

    def _work(self, client: int, base: Point) -> Law:
        """Return the distribution of a client's path from a base model."""
        law: Law = [(fmpq(1), (base,))]
        for _ in range(self.tiny.steps[client]):
            law = merged(
                [
                    (before * chance, (*path, plus(path[-1], gradient, -self.tiny.step_sizes[client])))
                    for before, path in law
                    for chance, gradient in self.tiny.clients[client].stochastic(path[-1])
                ]
            )
        return law

    def _begin_at(self, law: Law, clients: Sequence[int]) -> Law:
        """Return the distribution after some clients have sampled the noise of new work on the server's model."""
        for client in clients:
            law = merged(
                [
                    (before * chance, (model, (*paths[:client], path, *paths[client + 1 :])))
                    for before, (model, paths) in law
                    for chance, path in self._work(client, model)
                ]
            )
        return law

    def virtual(self, n: int, model: Point, paths: tuple[Path, ...], k: int) -> Point:
        """Return theta^{n,k} by its definition; a client with fewer than k steps has taken all of them."""
        factors = [self.weights[i] if i in self.reports[n] else fmpq(0) for i in range(len(paths))]
        moved = [minus(path[min(k, len(path) - 1)], path[0]) for path in paths]
        return plus(model, mixture(factors, moved), self.tiny.server_step_size)

    @cached_property
    def laws(self) -> list[Law]:
        """Return the distribution of (server's model, paths of all clients) at the start of every round, n = 0 .. N."""
        start, clients = self.tiny.start, len(self.tiny.clients)
        laws = [self._begin_at([(fmpq(1), (start, ((start,),) * clients))], range(clients))]
        for n, reports in enumerate(self.reports):
            after = merged(
                [
                    (chance, (self.virtual(n, model, paths, max(self.tiny.steps)), paths))
                    for chance, (model, paths) in laws[-1]
                ]
            )
            last = n + 1 == len(self.reports)
            laws.append(after if last else self._begin_at(after, reports))
        return laws

    def server_truth(self) -> ServerTruth:
        """Return moments of the server's model, for comparison with the engine."""
        best = self.tiny.minimiser()
        lowest = self.tiny.value(best)
        laws = [merged([(chance, model) for chance, (model, _) in law]) for law in self.laws]

        def means(measure: Callable[[Point], fmpq]) -> list[fmpq]:
            return [expectation(law, measure) for law in laws]

        coordinates = [means(lambda at, j=j: at[j]) for j in range(len(best))]  # type: ignore[misc]
        return ServerTruth(
            list(zip(*coordinates, strict=True)),
            means(lambda at: self.tiny.value(at) - lowest),
            means(lambda at: dot(minus(at, best), minus(at, best))),
            means(lambda at: dot(self.tiny.gradient(at), self.tiny.gradient(at))),
        )

    def inside(self) -> Iterator[tuple[int, int, list[tuple[fmpq, Inside]]]]:
        """Yield (n, k) with all joint outcomes, k = 0 .. K, if all clients take K steps."""
        for n, law in enumerate(self.laws[:-1]):
            for k in range(self.tiny.steps[0] + 1):
                begun = merged([(chance, (at, tuple(path[: k + 1] for path in paths))) for chance, (at, paths) in law])
                outcomes = [
                    (
                        chance,
                        Inside(
                            model,
                            tuple(path[0] for path in paths),
                            tuple(path[k] for path in paths),
                            self.virtual(n, model, paths, k),
                        ),
                    )
                    for chance, (model, paths) in begun
                ]
                yield n, k, outcomes
