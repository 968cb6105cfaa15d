"""Random and typical definitions of algorithms against a direct interpretation over all outcomes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import algorithm_programs as programs
import enumeration as brute
import pytest
import sympy as sp
from algorithm_programs import Clients, Setting
from definition_programs import program_of
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation.definition import (
    Average,
    Compressed,
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
PLANE = Clients(
    [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    [["1", "0"], ["-1", "2"]],
    brute.point("1/4", "3/4"),
    brute.point(3, -2),
    ["1", "0"],
)
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
    run = parse_run({"problem": _problem(clients), "algorithm": keys}, RATIONAL)
    mixing = RATIONAL.array([[str(w) for w in row] for row in MIXING]) if definition.uses(Mixed) else None
    algorithm = replace(run.algorithm, name=definition.name, defined=Defined(definition, {}, mixing))
    return replace(run, algorithm=algorithm)


def _assert_read_alike(definition: FederatedAlgorithm, clients: Clients, steps: list[int], drawn: int = 0) -> None:
    sizes = ["1/4", "1/5"]
    keys: dict[str, Any] = {"local_step_size": sizes, "local_steps": steps, "rounds": 2}
    participation = [(fmpq(1), [(p, 1) for p in clients.importance])]
    if any(sp.sympify(end).has(eta_g) for _, end in definition.expressions()):
        keys["server_step_size"] = "3/2"
    if drawn:
        keys["participation"] = {"kind": "uniform", "clients": drawn}
        law = brute.uniform_weights(clients.importance, drawn)
        participation = [(chance, [(w, int(w != 0)) for w in weights]) for chance, weights in law]
    server = brute.number(keys.get("server_step_size", 1))
    setting = Setting(clients, 2, steps, lambda i, _n, _k: brute.number(sizes[i]), server, participation)
    run = run_of(clients, definition, keys)
    found = programs.truth(program_of(definition, setting, {}, MIXING), clients, tuple(run.problem.optimum))
    trajectory = run.trajectory
    assert [tuple(mean) for mean in trajectory.server_mean] == found["mean"]
    assert trajectory.server_suboptimality.tolist() == found["suboptimality"]
    assert trajectory.server_distance_sq.tolist() == found["distance_sq"]


LOCAL = Local(y, start=c, step=y - eta * Gradient(y))
slope = (c - y) / eta

tracking = FederatedAlgorithm(
    "tracking",
    client={c: start, s: 0, v: 0},
    local=LOCAL,
    client_update={c: Mixed(c) - eta * (Mixed(s) + slope - v), s: Mixed(s) + slope - v, v: slope},
    model=Average(c),
    steps_are_rounds=True,
)
memorised = FederatedAlgorithm(
    "memorised",
    server={x: start, v: 0},
    client={c: 0},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    client_update={c: x - y},
    server_update={v: v + Participants(x - y - c), x: x - eta_g * (v + Participants(x - y - c))},
    model=x,
)
sent = Compressed(c + y - x, 1) / 2
feedback = FederatedAlgorithm(
    "feedback",
    server={x: start},
    client={c: 0},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    client_update={c: c + y - x - sent},
    server_update={x: x + Weighted(sent)},
    model=x,
)
own_speeds = FederatedAlgorithm(
    "own-speeds",
    client={c: start},
    local=LOCAL,
    client_update={c: Mixed(eta * y) / eta + Mixed(c) / tau - Average(importance * c)},
    model=Average(c),
    steps_are_rounds=True,
)


@pytest.mark.parametrize("definition", [tracking, own_speeds], ids=lambda one: one.name)
@pytest.mark.parametrize("clients", [LINE, PLANE], ids=["line", "plane"])
def test_on_a_graph(definition: FederatedAlgorithm, clients: Clients) -> None:
    _assert_read_alike(definition, clients, [1, 1])


@pytest.mark.parametrize("definition", [memorised, feedback], ids=lambda one: one.name)
@pytest.mark.parametrize("drawn", [0, 1], ids=["all", "drawn"])
def test_with_a_server(definition: FederatedAlgorithm, drawn: int) -> None:
    _assert_read_alike(definition, LINE if definition is memorised else PLANE, [1, 1], drawn)


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


@pytest.mark.parametrize("seed", range(40))
def test_definitions_at_random(seed: int) -> None:
    author = Author(seed)
    definition = author.definition()
    steps = [1, 1] if author.has_coin else [2, 1]
    can_be_drawn = not definition.needs_everybody and (definition.uses(Weighted) or definition.uses(Participants))
    _assert_read_alike(definition, LINE, steps, drawn=seed % 2 if can_be_drawn else 0)
