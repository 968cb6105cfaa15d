"""Runs written as run files and read back are the same runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cli_support import QUADRATIC, ROWS, Changes, run_text
from flint import arb

from fedtheory import FLOAT, RATIONAL, Run, read_run
from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.arithmetic.enclosures import Enclosure, convert_to_ball
from fedtheory.engine.losses import LossRun
from fedtheory.errors import NoMinimiser
from fedtheory.runfile import parse_run, run_table, run_toml
from verify.instances import FAMILIES, Instance

INSTANCES = [
    Instance(name, number)
    for name, family in FAMILIES.items()
    for number in sorted({0, 1, 2, family.size // 3, family.size // 2, family.size - 1})
    if family.size > number
]


def moments(run: Run) -> np.ndarray:
    """Return the exact second moments of the server's model; for scalar losses its means and errors."""
    trajectory = run.attempted_trajectory
    if not isinstance(run, LossRun):
        return trajectory.moments
    errors = (trajectory.server_suboptimality, trajectory.server_distance_sq, trajectory.server_gradient_sq)
    return np.column_stack([trajectory.server_mean, *errors])


def same(first: Array, second: Array) -> bool:
    """Return whether two arrays are equal; enclosures count as equal where they overlap."""
    if not any(isinstance(value, Enclosure) for value in np.ravel(first)):
        return np.array_equal(first, second)
    pairs = zip(np.ravel(first), np.ravel(second), strict=True)
    return all(arb(convert_to_ball(one)).overlaps(arb(convert_to_ball(other))) for one, other in pairs)


def keeps_vectors(run: Run) -> bool:
    """Return whether the clients keep their own vectors between rounds, so that there is no virtual iterate."""
    defined = run.algorithm.defined
    return defined is not None and bool(defined.algorithm.client)


def assert_same(first: Run, second: Run, local: bool) -> None:
    """Assert that two trajectories are equal to the last digit."""
    assert first.algorithm.rounds == second.algorithm.rounds
    assert first.algorithm.work.steps == second.algorithm.work.steps
    assert same(moments(first), moments(second))
    assert same(first.problem.centre, second.problem.centre)
    with suppress(NoMinimiser):
        assert same(np.array([first.problem.optimal_value]), np.array([second.problem.optimal_value]))
    assert first.algorithm.times(first.problem.weights) == second.algorithm.times(second.problem.weights)
    if local and not keeps_vectors(first):
        one, other = first.attempted_trajectory, second.attempted_trajectory
        assert same(one.drift, other.drift)
        with suppress(NoMinimiser):
            assert same(one.local_suboptimality, other.local_suboptimality)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i.family.replace(' ', '-')}-{i.number}")
def test_instances(instance: Instance, tmp_path: Path) -> None:
    """An instance of a family and the run from its run file are equal."""
    run, path = instance.run(), tmp_path / "run.toml"
    text = run_toml(run_table(run))
    path.write_text(text)
    again = read_run(path, RATIONAL)
    wide = instance.family == "wide quadratics"
    assert_same(run, again, local=not wide)
    assert run_toml(run_table(again)) == text
    assert run_table(parse_run(run_table(run), RATIONAL)) == run_table(run)


VARIANTS: dict[str, tuple[dict[str, str], Changes]] = {
    "uniform": (QUADRATIC, {"algorithm.participation": '{ kind = "uniform", clients = 1 }'}),
    "multinomial": (QUADRATIC, {"algorithm.participation": '{ kind = "multinomial", clients = 3 }'}),
    "fixed": (QUADRATIC, {"algorithm.participation": '{ kind = "fixed", clients = [1] }'}),
    "own steps": (QUADRATIC, {"algorithm.local_steps": "[1, 3]", "algorithm.local_step_size": '["1/7", "1/9"]'}),
    "server step": (QUADRATIC, {"algorithm.server_step_size": '"2/3"'}),
    "weights": (QUADRATIC, {"problem.weights": '["1/3", "2/3"]', "problem.constants": '["1/7", -2]'}),
    "own noise": (QUADRATIC, {"problem.noise": '["1/3", 0]'}),
    "noise 1/3": (QUADRATIC, {"problem.noise": '"1/3"'}),
    "decimals": (QUADRATIC, {"problem.start": "[0.1, 1e-7]", "algorithm.local_step_size": "0.1"}),
    "times": (QUADRATIC, {"algorithm.clock": '{ policy = "sync", times = [2, "7/2"] }'}),
    "npz": (ROWS, {"problem.batch": "2"}),
    "ridge": (ROWS, {"problem.batch": "2", "problem.ridge": '"1/3"', "problem.shares": '"samples"'}),
    "npz without replacement": (ROWS, {"problem.batch": "2", "problem.replacement": "false"}),
}


@pytest.mark.parametrize(("base", "changes"), VARIANTS.values(), ids=[name.replace(" ", "-") for name in VARIANTS])
@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
def test_variants(base: dict[str, str], changes: Changes, arithmetic: Arithmetic, data_folder: Path) -> None:
    """Every policy of a run file survives writing and reading."""
    path = data_folder / "trip.toml"
    path.write_text(run_text(base, changes))
    run = read_run(path, arithmetic)
    path.write_text(run_toml(run_table(run)))
    again = read_run(path, arithmetic)
    assert_same(run, again, local=run.algorithm.work.common_steps is not None)


def test_as_floats_keeps_the_clock(data_folder: Path) -> None:
    """The float copy of an exact run is the float run with its clock."""
    path = data_folder / "floats.toml"
    path.write_text(run_text(QUADRATIC, {"algorithm.clock": '{ policy = "sync", times = [1, "1/2"] }'}))
    exact, floats = read_run(path, RATIONAL).as_floats(), read_run(path, FLOAT)
    assert_same(exact, floats, local=True)
