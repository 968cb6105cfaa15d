"""Random definitions of algorithms, and their runs on small problems."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import enumeration as brute
import sympy as sp
from algorithm_programs import Clients

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation.definition import (
    Average,
    FederatedAlgorithm,
    Gradient,
    Local,
    Mixed,
    Participants,
    Weighted,
    eta,
    eta_g,
    importance,
    start,
    tau,
)
from fedtheory.federation.definition.run import Defined
from fedtheory.runfile import parse_run

LINE = Clients([[["2"]], [["1/2"]]], [["1"], ["-1"]], brute.point("1/3", "2/3"), brute.point(3), ["1", "1/2"])
MIXING = [brute.point("2/3", "1/3"), brute.point("1/3", "2/3")]


x, v, c, s, y, z = sp.symbols("x v c_i s_i y_i z_i", real=True)
coin = sp.Symbol("coin", real=True)


def _problem(clients: Clients) -> dict[str, Any]:
    return {
        "kind": "quadratic",
        "hessians": [[[str(h) for h in row] for row in hessian] for hessian in clients.hessians],
        "linear": clients.linear,
        "noise": [str(brute.number(length) ** 2) for length in clients.lengths],
        "weights": [str(p) for p in clients.importance],
        "start": [str(entry) for entry in clients.start],
    }


def run_of(clients: Clients, definition: FederatedAlgorithm, keys: dict[str, Any]) -> Run:
    """Return the run of a definition on the problem of some clients."""
    run = parse_run({"problem": _problem(clients), "algorithm": keys}, RATIONAL)
    mixing = RATIONAL.array([[str(w) for w in row] for row in MIXING]) if definition.uses(Mixed) else None
    algorithm = replace(run.algorithm, name=definition.name, defined=Defined(definition, {}, mixing))
    return replace(run, algorithm=algorithm)


class Author:
    """Generator of definitions that use all parts of the language."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.server = [x, v][: self.draw.randint(0, 2)]
        self.client = [c, s][: self.draw.randint(0 if self.server else 1, 2)]
        self.local = [y, z][: self.draw.randint(1, 2)]
        self.has_coin = self.draw.random() < 0.3
        self.hears = self.draw.random() < 0.5

    def number(self, of_client: bool) -> sp.Expr:
        """Return a coefficient."""
        common = [1, -1, sp.Rational(1, 2), sp.Rational(-2, 3), eta_g, *([coin, 1 - coin] if self.has_coin else [])]
        own = [eta, 1 / tau, importance, eta * tau] if of_client else []
        return sp.sympify(self.draw.choice([*common, *own]))

    def combination(self, vectors: list[sp.Expr], of_client: bool = True) -> sp.Expr:
        """Return a linear combination."""
        chosen = self.draw.sample(vectors, self.draw.randint(1, min(3, len(vectors))))
        return sp.Add(*(self.number(of_client) * vector for vector in chosen))

    def shown(self, vectors: list[sp.Expr]) -> sp.Expr:
        """Return a linear combination with numerical coefficients."""
        return sp.Add(*(sp.Rational(self.draw.randint(1, 4), 3) * vector for vector in vectors))

    def sums(self, inside: list[sp.Expr]) -> list[sp.Expr]:
        """Return vectors that are aggregated over all clients."""
        kinds = [Weighted, Participants, *([Average] if self.hears else [])]
        return [self.draw.choice(kinds)(self.combination(inside)) for _ in range(2)]

    def definition(self) -> FederatedAlgorithm:
        """Return a random definition."""
        own = [*self.server, *self.client]
        end = [*own, *self.local]
        point = self.combination(end)
        steps = [
            Local(y, self.combination(own), self.combination(end) - eta * self.number(True) * Gradient(point)),
            Local(z, self.combination(own), self.combination([*end, Gradient(point)])),
        ]
        everywhere = [*end, *(Mixed(self.combination(end)) for _ in range(2)), *self.sums(end)] if self.hears else end
        shown = [*self.server, *([Average(self.shown(own))] if self.client else [])]
        return FederatedAlgorithm(
            "random",
            server={one: self.draw.choice([start, 0, start / 2]) for one in self.server},
            client={one: self.draw.choice([start, 0]) for one in self.client},
            local=tuple(steps[: len(self.local)]),
            client_update={one: self.combination(everywhere) for one in self.client},
            server_update={one: self.combination([*self.server, *self.sums(end)], False) for one in self.server},
            model=self.shown(shown),
            coins={coin: sp.Rational(1, 3)} if self.has_coin else {},
        )
