"""Data with more features than rows: results equal those in all dimensions."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, row_span
from fedtheory.federation.problem.least_squares import expand_to_all_dimensions
from fedtheory.federation.problem.row_span import RowSpan, find_span
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run, run_table

ROWS, DIMENSION = (4, 3, 2), 70
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ridge": {"ridge": 0.3},
    "free intercept": {"ridge": 0.3, "free": True},
}
CONSTANTS = [
    q.smoothness,
    q.strong_convexity,
    q.initial_gap,
    q.initial_distance,
    q.noise_deviation,
    q.gradient_dissimilarity,
    q.model_size,
]


def _data(**keys: Any) -> ClientData:
    generator = np.random.default_rng(2)
    inputs = [generator.standard_normal((count, DIMENSION)) for count in ROWS]
    for given in inputs:
        given[:, -1] = 1.0
        given[-1] = given[0]
    return ClientData(tuple(inputs), tuple(generator.standard_normal(count) for count in ROWS), **keys)


def _start(is_zero: bool) -> Array:
    return np.zeros(DIMENSION) if is_zero else np.linspace(-1, 1, DIMENSION)


def _run(problem: Problem) -> Run:
    return Run(problem, fedavg(problem, rounds=20, local_step_size=0.002, local_steps=3, server_step_size=0.9))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("batch", [None, 1])
@pytest.mark.parametrize("is_zero", [True, False], ids=["from zero", "from elsewhere"])
def test_numbers_are_those_of_all_dimensions(setting, batch, is_zero) -> None:
    """Errors, models, F* and constants agree to 1e-9."""
    problem = least_squares(_data(**SETTINGS[setting]), _start(is_zero), batch=batch)
    found, expected = _run(problem), _run(expand_to_all_dimensions(problem))
    assert found.problem.dimension <= sum(ROWS) + row_span.MORE
    assert expected.problem.dimension == found.problem.features == DIMENSION
    for name in ("server_suboptimality", "server_distance_sq", "server_gradient_sq", "local_suboptimality", "drift"):
        one, other = (getattr(run.trajectory, name) for run in (found, expected))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max(), err_msg=name)
    for constant in CONSTANTS:
        one, other = (constant.on(run) for run in (found, expected))
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), constant.name
    assert found.problem.optimal_value == pytest.approx(expected.problem.optimal_value, rel=1e-9, abs=1e-12)
    lifted = found.problem.lift
    np.testing.assert_allclose(lifted(found.problem.optimum), expected.problem.optimum, atol=1e-9)
    np.testing.assert_allclose(lifted(found.trajectory.server_mean), expected.trajectory.server_mean, atol=1e-9)


@pytest.mark.parametrize("ridge", ["0", "1/3"])
@pytest.mark.parametrize("batch", [None, 1])
def test_exact_numbers_are_equal(ridge, batch) -> None:
    """In a span with rational coordinates two orthonormal vectors are exact, and all else is zero."""
    array = RATIONAL.array
    directions = array([["3/5", "4/5", 0, 0], [0, 0, "5/13", "12/13"]])
    weights = [array([[1, 2], [0, -1]]), array([["1/2", 1]])]
    inputs = tuple(each @ directions for each in weights)
    data = ClientData(inputs, (array([1, 2]), array([-1])), RATIONAL.number(ridge, "ridge"))
    start = array([2, -1]) @ directions
    span = RowSpan(np.concatenate([directions, RATIONAL.zeros(1, 4)]).T, 2, data, start)
    whole, inside = (
        least_squares(data, start, batch=batch),
        replace(least_squares(*span.inside, batch=batch), span=span),
    )

    def numbers(problem: Problem) -> list[Any]:
        step = RATIONAL.number("1/9", "eta")
        run = Run(problem, fedavg(problem, rounds=3, local_step_size=step, local_steps=2))
        trajectory = run.trajectory
        measured = [trajectory.server_suboptimality, trajectory.server_distance_sq, trajectory.drift]
        models = [problem.lift(problem.optimum), problem.lift(trajectory.server_mean)]
        constants = [run.strong_convexity, run.initial_gap, run.initial_distance_sq, problem.optimal_value]
        return [each.tolist() for each in measured + models] + constants

    assert numbers(inside) == numbers(whole)


@pytest.mark.parametrize("seed", range(20))
def test_rows_have_no_part_along_the_rest_of_the_start(seed) -> None:
    """Rounding along the start adds no curvature, so F* and the optimum are accurate."""
    generator = np.random.default_rng(seed)
    inputs, outputs = generator.standard_normal((5, DIMENSION)), generator.standard_normal(5)
    inputs[-1] = inputs[0]
    problem = least_squares(ClientData((inputs,), (outputs,)), generator.standard_normal(DIMENSION))
    assert problem.dimension == 4 + 2
    assert not problem.hessian[4:].any()
    repeated = (outputs[0] - outputs[-1]) ** 2 / 2
    assert problem.optimal_value == pytest.approx(repeated / 5, rel=1e-9)
    assert np.abs(problem.optimum).max() < 1e3


def test_faint_rows_stay_in_all_dimensions() -> None:
    """If the span of the rows is numerically uncertain, all dimensions are used."""
    data = _data()
    data.inputs[0][1] = data.inputs[0][0] + 1e-9 * data.inputs[0][1]
    assert find_span(data, _start(True)) is None


def test_few_features_and_rationals_stay_as_they_are() -> None:
    narrow = ClientData((np.eye(1, 10),), (np.ones(1),))
    assert least_squares(narrow, np.zeros(10)).span is None
    exact = ClientData((RATIONAL.array(np.eye(1, DIMENSION, dtype=int)),), (RATIONAL.array([1]),))
    assert least_squares(exact, RATIONAL.zeros(DIMENSION)).span is None


def _table(name: str, **keys: Any) -> dict[str, Any]:
    data = _data()
    problem = {
        "kind": "least-squares",
        "inputs": [given.tolist() for given in data.inputs],
        "outputs": [given.tolist() for given in data.outputs],
        "start": "zeros",
    }
    return {"problem": problem, "algorithm": {"name": name, "local_step_size": 0.002, "rounds": 3} | keys}


def test_a_run_is_written_as_it_was_read() -> None:
    run = parse_run(_table("fedavg"), FLOAT)
    assert run.problem.span is not None
    assert run_table(run)["problem"]["inputs"] == _table("fedavg")["problem"]["inputs"]
    assert len(run_table(run)["problem"]["start"]) == DIMENSION
    assert "70 dimensions" in run.problem.summary()


def test_algorithms_that_keep_coordinates_see_all_of_them() -> None:
    """Algorithms that select coordinates use all of them, since the selection depends on the axes."""
    run = parse_run(_table("compressed", coordinates=60), FLOAT)
    assert run.problem.dimension == DIMENSION
    narrow = parse_run(_table("scaffold"), FLOAT).problem
    assert narrow.dimension < DIMENSION
    with pytest.raises(InputError, match="a coordinate for each feature"):
        dataclasses.replace(run, problem=narrow)


def test_wide_files_are_run(tmp_path: Path) -> None:
    """A run of 200 rows and 2,000 features agrees with a plain computation."""
    generator = np.random.default_rng(0)
    inputs, outputs = generator.standard_normal((200, 2000)) / 50, generator.standard_normal(200)
    client = np.repeat(np.arange(4), 50)
    np.savez(tmp_path / "wide.npz", X=inputs, y=outputs, client=client)
    problem = {"kind": "least-squares", "data": "wide.npz", "ridge": "1/10"}
    algorithm = {"name": "fedavg", "local_step_size": "1/10", "local_steps": 5, "rounds": 100}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT, tmp_path)
    model = np.zeros(2000)
    for _ in range(100):
        ends = []
        for one in range(4):
            own, targets, local = inputs[client == one], outputs[client == one], model
            for _ in range(5):
                local = local - 0.1 * (2 * own.T @ (own @ local - targets) / 50 + 0.1 * local)
            ends.append(local)
        model = np.mean(ends, axis=0)
    np.testing.assert_allclose(run.problem.lift(run.trajectory.final_mean), model, atol=1e-12)
    whole = np.mean((inputs @ model - outputs) ** 2) + 0.05 * model @ model
    above = run.trajectory.final_suboptimality
    assert run.problem.optimal_value + above == pytest.approx(whole, rel=1e-9)
