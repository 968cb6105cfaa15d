"""Random and typical definitions of algorithms against a direct interpretation over all outcomes."""

from __future__ import annotations

from typing import Any

import algorithm_programs as programs
import enumeration as brute
import pytest
import sympy as sp
from algorithm_programs import Clients, Setting
from definition_programs import program_of
from flint import fmpq
from random_definitions import LINE, MIXING, Author, c, run_of, s, v, x, y

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

PLANE = Clients(
    [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    [["1", "0"], ["-1", "2"]],
    brute.point("1/4", "3/4"),
    brute.point(3, -2),
    ["1", "0"],
)


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


@pytest.mark.parametrize("seed", range(40))
def test_definitions_at_random(seed: int) -> None:
    author = Author(seed)
    definition = author.definition()
    steps = [1, 1] if author.has_coin else [2, 1]
    can_be_drawn = not definition.needs_all_clients and (definition.uses(Weighted) or definition.uses(Participants))
    _assert_read_alike(definition, LINE, steps, drawn=seed % 2 if can_be_drawn else 0)
