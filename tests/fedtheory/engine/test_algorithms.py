"""Algorithms given by definitions against all outcomes of tiny runs, as equal rationals."""

from __future__ import annotations

from typing import Any

import algorithm_programs as programs
import enumeration as brute
import pytest
from algorithm_programs import Clients, Program, Setting
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.joint import JointTrajectory
from fedtheory.engine.run import Run
from fedtheory.runfile import parse_run

LINE = Clients([[["2"]], [["1/2"]]], [["1"], ["-1"]], brute.point("1/3", "2/3"), brute.point(3), ["1", "1/2"])
THREE = Clients(
    [[["2"]], [["1/2"]], [["1/2"]]],
    [["1"], ["-1"], ["-1"]],
    brute.point("1/2", "1/4", "1/4"),
    brute.point(3),
    ["1", "1/2", "1/2"],
)
"""Clients of which two are of one kind."""
PLANE = Clients(
    [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    [["1", "0"], ["-1", "2"]],
    brute.point("1/4", "3/4"),
    brute.point(3, -2),
    ["1", "0"],
)
ROWS = [
    [(brute.point("1"), fmpq(2)), (brute.point("1/2"), fmpq(-1))],
    [(brute.point("2/3"), fmpq(0)), (brute.point("1"), fmpq(1))],
]
DATA = Clients(
    [[[sum(2 * x[0] * x[0] for x, _ in rows) / 2]] for rows in ROWS],
    [[sum(2 * x[0] * y for x, y in rows) / 2] for rows in ROWS],
    brute.point("1/2", "1/2"),
    brute.point(3),
    [],
    ROWS,
)


def _problem(clients: Clients) -> dict[str, Any]:
    shared = {"weights": [str(p) for p in clients.importance], "start": [str(x) for x in clients.start]}
    if clients.rows:
        inputs = [[[str(x) for x in row] for row, _ in rows] for rows in clients.rows]
        outputs = [[str(y) for _, y in rows] for rows in clients.rows]
        return {"kind": "least-squares", "inputs": inputs, "outputs": outputs, "batch": 1} | shared
    noise = [str(brute.number(length) ** 2) for length in clients.lengths]
    hessians = [[[str(h) for h in row] for row in hessian] for hessian in clients.hessians]
    return {"kind": "quadratic", "hessians": hessians, "linear": clients.linear, "noise": noise} | shared


def _run(clients: Clients, algorithm: dict[str, Any]) -> Run:
    return parse_run({"problem": _problem(clients), "algorithm": algorithm}, RATIONAL)


def _full(clients: Clients) -> brute.Law:
    return [(fmpq(1), [(p, 1) for p in clients.importance])]


def _setting(
    clients: Clients, algorithm: dict[str, Any], participation: brute.Law | None = None, size: Any = None
) -> Setting:
    steps = algorithm.get("local_steps", 1)
    if size is None:
        given = algorithm["local_step_size"]
        each = given if isinstance(given, list) else [given] * clients.count
        sizes = [brute.number(value) for value in each]
        size = lambda i, _n, _k: sizes[i]  # noqa: E731
    return Setting(
        clients,
        algorithm["rounds"],
        steps if isinstance(steps, list) else [steps] * clients.count,
        size,
        brute.number(algorithm.get("server_step_size", 1)),
        _full(clients) if participation is None else participation,
    )


def _assert_agrees(run: Run, program: Program, clients: Clients) -> None:
    trajectory = run.trajectory
    optimum = tuple(run.problem.optimum)
    found = programs.truth(program, clients, optimum)
    assert [tuple(mean) for mean in trajectory.server_mean] == found["mean"]
    assert trajectory.server_suboptimality.tolist() == found["suboptimality"]
    assert trajectory.server_distance_sq.tolist() == found["distance_sq"]
    assert trajectory.server_gradient_sq.tolist() == found["gradient_sq"]


def _uniform(clients: Clients, drawn: int) -> brute.Law:
    """Return uniform sampling of all subsets."""
    law = brute.uniform_weights(clients.importance, drawn)
    return [(chance, [(weight, int(weight != 0)) for weight in weights]) for chance, weights in law]


def _multinomial(clients: Clients, drawn: int) -> brute.Law:
    law = brute.multinomial_weights(clients.importance, drawn)
    return [(chance, [(weight, int(weight != 0)) for weight in weights]) for chance, weights in law]


RING = [["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/4", "1/4", "1/2"]]
CLIENTS = {"line": LINE, "three": THREE, "plane": PLANE, "data": DATA}
SERVERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "fedprox": ({"name": "fedprox", "proximal": "3/2"}, {"proximal": fmpq(3, 2)}),
    "fednova": ({"name": "fednova"}, {"normalised": True}),
    "momentum": ({"name": "fedavgm", "momentum": "2/5"}, {"momentum": fmpq(2, 5)}),
    "nesterov": ({"name": "fedavgm", "momentum": "2/5", "nesterov": True}, {"momentum": fmpq(2, 5), "nesterov": True}),
}


@pytest.mark.parametrize("clients", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("name", SERVERS)
def test_stateless_clients(name: str, clients: Clients) -> None:
    keys, options = SERVERS[name]
    steps = [2] + [1] * (clients.count - 1)
    algorithm = {"local_step_size": "1/4", "local_steps": steps, "rounds": 2, "server_step_size": "3/2"} | keys
    _assert_agrees(_run(clients, algorithm), programs.server_program(_setting(clients, algorithm), **options), clients)


@pytest.mark.parametrize("name", SERVERS)
def test_sampled_stateless_clients(name: str) -> None:
    keys, options = SERVERS[name]
    laws = {"uniform": _uniform(THREE, 2), "multinomial": _multinomial(THREE, 2)}
    for kind, law in laws.items():
        algorithm = {"local_step_size": "1/4", "rounds": 2, "participation": {"kind": kind, "clients": 2}} | keys
        setting = _setting(THREE, algorithm, law)
        _assert_agrees(_run(THREE, algorithm), programs.server_program(setting, **options), THREE)


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "scaffold"])
def test_schedules(name: str) -> None:
    algorithm: dict[str, Any] = {"name": name, "local_step_size": "1/(3 + 2*n + k**2)", "local_steps": 2, "rounds": 2}
    if name == "fedprox":
        algorithm["proximal"] = 1
    setting = _setting(LINE, algorithm, size=lambda _i, n, k: fmpq(1, 3 + 2 * n + k**2))
    program = (
        programs.scaffold(setting)
        if name == "scaffold"
        else programs.server_program(setting, proximal=fmpq(int(name == "fedprox")))
    )
    _assert_agrees(_run(LINE, algorithm), program, LINE)


@pytest.mark.parametrize("clients", CLIENTS.values(), ids=CLIENTS)
def test_scaffold(clients: Clients) -> None:
    steps = [2] + [1] * (clients.count - 1)
    algorithm = {
        "name": "scaffold",
        "local_step_size": [f"1/{4 + i}" for i in range(clients.count)],
        "local_steps": steps,
        "rounds": 2 if clients is PLANE else 3 if clients is LINE else 2,
        "server_step_size": "3/2",
    }
    _assert_agrees(_run(clients, algorithm), programs.scaffold(_setting(clients, algorithm)), clients)


@pytest.mark.parametrize(
    "keys", [{"name": "scaffold", "local_steps": [2, 1, 1]}, {"name": "dsgd", "mixing": RING}], ids=str
)
def test_forwards_and_backwards(keys: dict[str, Any]) -> None:
    """Moments forwards agree with the backward recursion, with a formula in n that prevents merging of equal rounds."""
    one, other = (_run(THREE, {"local_step_size": size, "rounds": 6} | keys) for size in ("1/4", "1/4 + 0*n"))
    assert (one.trajectory.moments == other.trajectory.moments).all()


def _show(law: brute.Law) -> brute.Law:
    """Return weights with the sets of participants."""
    return [(chance, [(weight, int(weight != 0)) for weight in weights]) for chance, weights in law]


COINS = {"kind": "bernoulli", "probability": "1/3"}
LAWS: dict[str, tuple[dict[str, Any], Any]] = {
    "coins": (COINS, lambda: _show(brute.bernoulli_weights(THREE.importance, fmpq(1, 3)))),
    "coins, normalised": (
        COINS | {"weights": "normalised"},
        lambda: _show(brute.normalised_weights(THREE.importance, brute.present_sets(3, None, fmpq(1, 3)))),
    ),
    "two, normalised": (
        {"kind": "uniform", "clients": 2, "weights": "normalised"},
        lambda: _show(brute.normalised_weights(THREE.importance, brute.present_sets(3, 2, None))),
    ),
    "one": ({"kind": "uniform", "clients": 1}, lambda: _uniform(THREE, 1)),
    "two": ({"kind": "uniform", "clients": 2}, lambda: _uniform(THREE, 2)),
    "all": ({"kind": "uniform", "clients": 3}, lambda: _uniform(THREE, 3)),
    "with replacement": ({"kind": "multinomial", "clients": 2}, lambda: _multinomial(THREE, 2)),
    "fixed": (
        {"kind": "fixed", "clients": [0, 2]},
        lambda: [(fmpq(1), [(fmpq(1, 2), 1), (fmpq(0), 0), (fmpq(1, 2), 1)])],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
def test_scaffold_with_drawn_clients(law: str) -> None:
    """Clients that are not sampled keep their control variates."""
    keys, participation = LAWS[law]
    algorithm = {"name": "scaffold", "local_step_size": "1/4", "local_steps": 1, "rounds": 3, "participation": keys}
    _assert_agrees(_run(THREE, algorithm), programs.scaffold(_setting(THREE, algorithm, participation())), THREE)


@pytest.mark.parametrize("clients", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("probability", ["1/5", "1"])
def test_scaffnew(clients: Clients, probability: str) -> None:
    algorithm = {"name": "scaffnew", "probability": probability, "local_step_size": "1/4", "rounds": 2}
    if clients is LINE:
        algorithm |= {"local_step_size": ["1/4", "1/3"], "rounds": 3}
    program = programs.scaffnew(_setting(clients, algorithm), brute.number(probability))
    _assert_agrees(_run(clients, algorithm), program, clients)


@pytest.mark.parametrize("clients", CLIENTS.values(), ids=CLIENTS)
def test_dsgd(clients: Clients) -> None:
    mixing = [["2/3", "1/3"], ["1/3", "2/3"]]
    if clients is THREE:
        mixing = RING
    algorithm = {"name": "dsgd", "mixing": mixing, "local_step_size": "1/4", "rounds": 3 if clients is LINE else 2}
    program = programs.dsgd(_setting(clients, algorithm), [brute.point(*row) for row in mixing])
    _assert_agrees(_run(clients, algorithm), program, clients)


@pytest.mark.parametrize("kept", [1, 2])
def test_compression(kept: int) -> None:
    algorithm = {"name": "compressed", "coordinates": kept, "local_step_size": "1/4", "local_steps": 1, "rounds": 2}
    program = programs.server_program(_setting(PLANE, algorithm), kept=kept)
    _assert_agrees(_run(PLANE, algorithm), program, PLANE)


KEPT: dict[str, dict[str, Any]] = {
    "scaffnew": {"name": "scaffnew", "probability": "1/3"},
    "dsgd": {"name": "dsgd", "mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
}


@pytest.mark.parametrize("clients", [LINE, PLANE, DATA], ids=["line", "plane", "data"])
@pytest.mark.parametrize("name", KEPT)
def test_consensus_error_of_clients(name: str, clients: Clients) -> None:
    """The spread of the clients' models between rounds is that inside rounds before the first step."""
    algorithm = KEPT[name] | {"local_step_size": "1/4", "rounds": 2}
    setting, shown = _setting(clients, algorithm), programs.spread(clients.importance)
    if name == "scaffnew":
        program = programs.scaffnew(setting, fmpq(1, 3), shown)
    else:
        program = programs.dsgd(setting, [brute.point(*row) for row in algorithm["mixing"]], shown)
    trajectory = _joint(_run(clients, algorithm))
    spreads = [value for (value,) in programs.expected(program)]
    assert trajectory.client_spread.tolist() == spreads
    assert (trajectory.drift[:, 0] @ trajectory.problem.weights).tolist() == spreads[:-1]


@pytest.mark.parametrize("clients", [LINE, THREE, PLANE], ids=["line", "three", "plane"])
def test_a_step_without_neighbours_ends_where_the_round_does(clients: Clients) -> None:
    """Without neighbours, the end of the local step is equal to the clients' models after the round."""
    alone = [["1" if i == j else "0" for j in range(clients.count)] for i in range(clients.count)]
    algorithm = {"name": "dsgd", "mixing": alone, "local_step_size": "1/4", "rounds": 2}
    trajectory = _joint(_run(clients, algorithm))
    ends = trajectory.drift[:, 1] @ trajectory.problem.weights
    assert ends.tolist() == trajectory.client_spread[1:].tolist()
    assert trajectory.local_distance_sq[:, 1].tolist() == trajectory.server_distance_sq[1:].tolist()


@pytest.mark.parametrize("clients", CLIENTS.values(), ids=CLIENTS)
def test_drift_of_clients_with_control_variates(clients: Clients) -> None:
    algorithm = {"name": "scaffold", "local_step_size": "1/4", "local_steps": 2, "rounds": 2}
    if clients is THREE:
        algorithm["local_steps"] = [2, 1, 1]
    program = programs.scaffold(_setting(clients, algorithm), programs.spread(clients.importance))
    trajectory = _joint(_run(clients, algorithm))
    found = trajectory.drift[:, -1] @ trajectory.problem.weights
    assert found.tolist() == [value for (value,) in programs.expected(_after_start(program))]
    assert (trajectory.drift[:, 0] == 0).all()


def _after_start(program: Program) -> Program:
    return lambda choose: program(choose)[1:]


def _joint(run: Run) -> JointTrajectory:
    assert isinstance(run.trajectory, JointTrajectory)
    return run.trajectory
