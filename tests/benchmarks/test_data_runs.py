"""Cost of runs on data: mini-batches of clients with their own rows, and savings for clients with few rows."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, require_growth, seconds_of_sympy
from rows import Row

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.moments import recursion as recursions
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.check.perturbed_runs import perturb

pytestmark = pytest.mark.slow
GIBIBYTE = 2**30


DIGITS = {
    "problem": {"kind": "least-squares", "data": "digits:3-8", "clients": 10, "split": "dirichlet", "batch": 8},
    "algorithm": {"name": "fedavg", "local_step_size": "1/50", "local_steps": 5, "rounds": 20},
}


def data_problem(clients: int, rows: int, dimension: int) -> Problem:
    """Return independent rows with curvatures of about one, outputs of a noisy linear model, mini-batches of eight."""
    generator = np.random.default_rng(clients)
    inputs = generator.standard_normal((clients, rows, dimension)) / np.sqrt(2 * dimension)
    outputs = inputs.sum(axis=2) + 0.1 * generator.standard_normal((clients, rows))
    return least_squares(ClientData(tuple(inputs), tuple(outputs)), np.zeros(dimension), batch=8)


def run_on_data(problem: Problem, rounds: int, local_steps: int = 5) -> Trajectory:
    """Return the moments of a run, including set-up; the problem is new, so that nothing is cached."""
    algorithm = fedavg(problem, rounds=rounds, local_step_size=0.1, local_steps=local_steps)
    return Trajectory(problem, algorithm)


def seconds_of(clients: int, rows: int, dimension: int, rounds: int) -> float:
    problem = data_problem(clients, rows, dimension)
    return best_of(lambda: run_on_data(problem, rounds), 3)


SCALES: dict[str, Scale] = {
    "a run on data over T": ((25, 50, 100, 200), lambda size: seconds_of(5, 130, 65, size), 1.15),
    "a run on data over M": ((5, 10, 20, 40), lambda size: seconds_of(size, 130, 65, 20), 1.25),
    "a run on data over d": ((25, 50, 100, 200), lambda size: seconds_of(5, 2 * size, size, 20), 2.8),
}


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the size is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)


@pytest.mark.parametrize("dimension", [65, 200])
def test_clients_with_few_rows_work_in_few_dimensions(dimension, monkeypatch, benchmark: Any, row: Row) -> None:
    """Ten clients with one row per ten dimensions are compared with the same run in all dimensions."""
    problem = data_problem(10, dimension // 10, dimension)
    quick = best_of(lambda: run_on_data(problem, 30), 3)
    benchmark.pedantic(run_on_data, args=(problem, 30), rounds=1)
    monkeypatch.setattr(recursions, "find_row_spaces", lambda *_given: [])
    slow = best_of(lambda: run_on_data(problem, 30), 1)
    row(f"run on data, d = {dimension}, {dimension // 10} rows each", "in all dimensions", slow / quick, "times faster")
    assert slow > 2 * quick


def test_a_hundred_clients_in_two_hundred_dimensions_fit(benchmark: Any, row: Row) -> None:
    """The peak memory of a run with a hundred clients, two hundred dimensions and full rank is compared with a
    gibibyte.
    """
    problem = data_problem(100, 250, 200)
    tracemalloc.start()
    benchmark.pedantic(run_on_data, args=(problem, 2), rounds=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    row("memory of a run on data, M = 100, d = 200", "one GiB", peak / GIBIBYTE, "times as much")
    assert peak < GIBIBYTE


@pytest.mark.parametrize("claim", ["comparator:drift.one-step", "fraboni2022:lemma-2.fixed"])
def test_statements_about_single_steps(claim: str, benchmark: Any, row: Row) -> None:
    """Claims are checked at a hundred local steps on images of digits, including the perturbed runs."""

    def checked() -> object:
        run = parse_run(DIGITS, FLOAT)
        return check(find(claim), run, perturb(run))

    benchmark.pedantic(checked, rounds=1)
    ratio = best_of(checked, 2) / seconds_of_sympy()
    row(f"`{claim}` at 100 local steps on digits", "import of SymPy", ratio, "times the cost")
