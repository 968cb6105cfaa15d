"""Cost of algorithms given by definitions: one with stateful clients, and one with stateless clients."""

from __future__ import annotations

from typing import Any

import pytest
from problems import best_of, exponent, random_problem, seconds_of_sympy
from rows import Row

from fedtheory.engine.joint import JointTrajectory
from fedtheory.runfile import run_with

pytestmark = pytest.mark.slow
STEPS: dict[str, Any] = {"local_step_size": 0.05, "local_steps": 5}
REPETITIONS = 100


def test_control_variates_of_a_hundred_clients(benchmark: Any, row: Row) -> None:
    """SCAFFOLD runs 100 rounds with 100 clients in 20 dimensions."""
    keys = STEPS | {"name": "scaffold", "rounds": 100}

    def run() -> Any:
        return run_with(random_problem(100, 20), keys).trajectory.final_distance_sq

    benchmark.pedantic(run, rounds=1)
    seconds = best_of(run, 3)
    row("SCAFFOLD, M = 100, d = 20, 100 rounds", "import of SymPy", seconds / seconds_of_sympy(), "times the cost")


def _seconds_of_a_round(clients: int) -> float:
    """Return the seconds of one round of FedAvg as a definition, after set-up."""
    keys = STEPS | {"local_step_size": "0.05 + 0*k", "rounds": 1}
    trajectory = run_with(random_problem(clients), keys).trajectory
    assert isinstance(trajectory, JointTrajectory)
    start = trajectory.moments[0]

    def rounds() -> None:
        moment = start
        for _ in range(REPETITIONS):
            moment = trajectory.propagate_round(moment)

    return best_of(rounds, 7) / REPETITIONS


def test_the_cost_of_a_round_does_not_depend_on_the_clients(benchmark: Any, row: Row) -> None:
    sizes = (10, 100, 1000, 10_000)
    benchmark.pedantic(_seconds_of_a_round, args=(sizes[0],), rounds=1)
    found = exponent(sizes, [_seconds_of_a_round(size) for size in sizes])
    row("cost of a round of a definition over M", f"{sizes[0]:,} to {sizes[-1]:,}", found, "exponent")
    assert found <= 0.1
