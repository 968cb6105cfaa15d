"""Named algorithms: FedAvg with fixed keys, from Python and from run files."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import SETTINGS, Algorithm, Fixed, Full, Multinomial, Participation, Uniform
from fedtheory.federation.problem import Problem
from fedtheory.runfile import parse_run

LINE: dict[str, Any] = {"hessians": [[["2"]], [["1/2"]]], "linear": [["1"], ["-3"]], "start": ["3/2"]}
NOISY: Problem = quadratics(**LINE, deviation=[1, 2], importance=["1/3", "2/3"]).engine.problem
QUIET: Problem = quadratics(**LINE).engine.problem
KEYS: dict[str, Any] = {"rounds": 3, "local_step_size": fmpq(1, 4)}
HALF = fmpq(1, 2)

ALLOWED: dict[str, list[dict[str, Any]]] = {
    "fedavg": [{"local_steps": (2, 3)}, {"server_step_size": HALF, "participation": Multinomial(2)}],
    "sgd": [{}, {"local_steps": 1}, {"server_step_size": HALF}, {"participation": Uniform(1)}],
    "two-sided-fedavg": [{}, {"server_step_size": fmpq(3, 2), "local_steps": 3, "participation": Uniform(1)}],
    "parallel-restarted-sgd": [{}, {"local_steps": 3}, {"server_step_size": fmpq(1), "participation": Full()}],
}
CONTRADICTIONS: list[tuple[str, str, Any]] = [
    ("sgd", "local_steps", 2),
    ("sgd", "local_steps", (1, 2)),
    ("parallel-restarted-sgd", "server_step_size", HALF),
    ("parallel-restarted-sgd", "server_step_size", 1.5),
    ("parallel-restarted-sgd", "participation", Uniform(1)),
    ("parallel-restarted-sgd", "participation", Fixed((0,))),
    ("parallel-restarted-sgd", "participation", Multinomial(2)),
]


def _same(left: Algorithm, right: Algorithm) -> bool:
    """Return whether two algorithms agree except for the name."""
    return (
        left.work.steps == right.work.steps
        and left.work.step_sizes.tolist() == right.work.step_sizes.tolist()
        and left.aggregation == right.aggregation
        and left.clock == right.clock
        and left.rounds == right.rounds
    )


@pytest.mark.parametrize("name", ALLOWED)
@pytest.mark.parametrize("problem", [NOISY, NOISY.as_floats()], ids=["exact", "floats"])
def test_settings_are_fedavg(name: str, problem: Problem) -> None:
    """Settings are FedAvg under another name, with every key that is not fixed; the trajectories are equal."""
    for given in ALLOWED[name]:
        keys = KEYS | given
        if problem.arithmetic is FLOAT:
            keys = {k: FLOAT.number(v, k) if isinstance(v, fmpq) else v for k, v in keys.items()}
        found, plain = SETTINGS[name](problem, **keys), SETTINGS["fedavg"](problem, **keys)
        assert (found.name, plain.name) == (name, "fedavg")
        assert _same(found, plain)
        distances = [Run(problem, algorithm).trajectory.server_distance_sq.tolist() for algorithm in (found, plain)]
        assert distances[0] == distances[1]


def test_fixed_keys() -> None:
    """The fixed keys are one local step for SGD; full participation and server step one for restarted SGD."""
    assert SETTINGS["sgd"](NOISY, **KEYS).work.steps == (1, 1)
    restarted = SETTINGS["parallel-restarted-sgd"](NOISY, **KEYS, local_steps=2)
    assert restarted.aggregation.server_step_size == 1
    assert restarted.aggregation.participation == Full()


@pytest.mark.parametrize(("name", "key", "value"), CONTRADICTIONS)
def test_contradictions_name_the_key(name: str, key: str, value: Any) -> None:
    """A key that contradicts the name is an error."""
    with pytest.raises(InputError, match=rf"^algorithm\.{key}: expected .* with {name}, got") as raised:
        SETTINGS[name](NOISY, **(KEYS | {key: value}))
    assert str(value) in str(raised.value)


def test_distributed_gradient_descent_needs_full_gradients() -> None:
    """Noise and mini-batches are rejected; full gradients are FedAvg."""
    batches = data([[[1], [2]], [[1], [0]]], [[1, 0], [2, 1]], ["1"], batch=1).engine.problem
    for problem in (NOISY, batches):
        with pytest.raises(InputError, match=r"^problem: distributed-gd uses full gradients"):
            SETTINGS["distributed-gd"](problem, **KEYS)
    assert _same(SETTINGS["distributed-gd"](QUIET, **KEYS), SETTINGS["fedavg"](QUIET, **KEYS))
    with pytest.raises(InputError, match=r"algorithm\.server_step_size"):
        SETTINGS["distributed-gd"](QUIET, **KEYS, server_step_size=HALF)


def _file(noise: str = "1", **algorithm: Any) -> dict[str, Any]:
    return {
        "problem": {
            "kind": "quadratic",
            "hessians": [[["2"]], [["1/2"]]],
            "linear": [["1"], ["-3"]],
            "start": ["3/2"],
            "noise": noise,
        },
        "algorithm": {"local_step_size": "1/4", "rounds": 3, **algorithm},
    }


@pytest.mark.parametrize("arithmetic", [RATIONAL, FLOAT], ids=lambda a: str(a.name))
@pytest.mark.parametrize("name", SETTINGS)
def test_run_files_know_the_names(name: str, arithmetic: Any) -> None:
    """A run file accepts the name alone, and with the fixed keys."""
    noise = "0" if name == "distributed-gd" else "1"
    bare = parse_run(_file(noise, name=name), arithmetic)
    assert bare.algorithm.name == name
    written = {"local_steps": 1, "server_step_size": "1.0", "participation": {"kind": "full"}}
    full = parse_run(_file(noise, name=name, **written), arithmetic)
    assert _same(bare.algorithm, full.algorithm)
    fedavg = parse_run(_file(noise, name="fedavg"), arithmetic)
    assert bare.trajectory.server_distance_sq.tolist() == fedavg.trajectory.server_distance_sq.tolist()


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("sgd", "local_steps", 2),
        ("sgd", "local_steps", [1, 2]),
        ("parallel-restarted-sgd", "server_step_size", "1/2"),
        ("parallel-restarted-sgd", "participation", {"kind": "uniform", "clients": 1}),
        ("distributed-gd", "participation", {"kind": "fixed", "clients": [0]}),
    ],
)
def test_contradicting_run_files(name: str, key: str, value: Any) -> None:
    """The error names the contradicting key of the run file."""
    with pytest.raises(InputError, match=rf"^algorithm\.{key}: expected .* with {name}, got"):
        parse_run(_file("0", **{"name": name, key: value}), RATIONAL)


def test_unknown_names() -> None:
    """An unknown name gives the list of known names."""
    with pytest.raises(InputError, match=r"algorithm\.name: .*two-sided-fedavg"):
        parse_run(_file(name="sdg"), RATIONAL)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("sgd", "local_steps", [1, 1]),
     ("parallel-restarted-sgd", "participation", {"kind": "uniform", "clients": 2}),
     ("parallel-restarted-sgd", "participation", {"kind": "fixed", "clients": [0, 1]})],
)  # fmt: skip
def test_the_same_in_other_words(name: str, key: str, value: Any) -> None:
    """A key that agrees with the name is accepted in every notation."""
    assert parse_run(_file(**{"name": name, key: value}), RATIONAL).algorithm.name == name


def test_laws_are_compared_by_value() -> None:
    """Equal laws count as equal keys."""
    laws: list[Participation] = [Full(), Uniform(1), Uniform(2), Multinomial(1), Fixed((0,))]
    assert [[a == b for a in laws] for b in laws] == [[i == j for i in range(5)] for j in range(5)]
