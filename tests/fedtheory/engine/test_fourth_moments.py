"""The noise of clients with many rows is computed from fourth moments, and equals that of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_floats
from fedtheory.engine.moments import build_trajectory
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import MiniBatch, fourth_moments, minibatch
from fedtheory.federation.oracles.fourth_moments import FourthMoments, are_cheaper
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.runfile import parse_run

MANY, FEW, DIMENSION = 600, 5, 4
SCALES = {"alike": np.ones(DIMENSION), "unlike": np.array([1e-2, 1, 1e2, 1e2])}


def _data(scales: np.ndarray, rows: tuple[int, ...] = (MANY, FEW, MANY), ridge: float = 0.3) -> ClientData:
    """Return random rows whose last two columns are nearly equal."""
    generator = np.random.default_rng(7)
    inputs = [generator.standard_normal((count, DIMENSION)) for count in rows]
    for given in inputs:
        given[:, -1] = given[:, -2] + 1e-3 * given[:, -1]
    outputs = [given.sum(axis=1) + generator.standard_normal(len(given)) for given in inputs]
    return ClientData(tuple(given * scales for given in inputs), tuple(outputs), ridge)


def _known(problem: Problem) -> set[int]:
    """Return the clients whose fourth moments are used."""
    assert isinstance(problem.centred.oracle, MiniBatch)
    return set(problem.centred.oracle.fourth_moments)


def _by_rows(monkeypatch) -> None:
    monkeypatch.setattr(minibatch, "are_cheaper", lambda *_given: False)


@pytest.mark.parametrize("scales", SCALES)
def test_noise_is_that_of_the_rows(scales) -> None:
    """The noise is as close to the rational result as for a computation by rows, also for badly scaled columns."""
    data = _data(SCALES[scales], (200, FEW))
    by_rows, oracle = MiniBatch(data, 2, False), MiniBatch(data, 2, False)
    oracle.prepare(10**6)
    assert set(oracle.fourth_moments) == {0}
    exact = MiniBatch(ClientData(*(tuple(map(RATIONAL.array, part)) for part in (data.inputs, data.outputs))), 2, False)
    # In the direction of the smallest inputs large numbers cancel.
    faint = np.linalg.eigh(data.inputs[0].T @ data.inputs[0])[1][:, 0]
    for direction in (faint, np.ones(DIMENSION)):
        point, form = np.outer([1, *direction], [1, *direction]), np.outer(direction, direction)
        samples = (
            exact._compute_sample_moments(0, RATIONAL.array(point)),
            exact._pull_back_one(0, RATIONAL.array(form)),
        )
        plain = by_rows._compute_sample_moments(0, point), by_rows._pull_back_one(0, form)
        found = oracle._compute_sample_moments(0, point), oracle._pull_back_one(0, form)
        for one, rows, truth in zip(found, plain, map(plain_floats, samples), strict=True):
            allowed = 10 * np.abs(rows - truth).max() + 1e-13 * np.abs(truth).max()
            np.testing.assert_allclose(one, truth, rtol=0, atol=allowed)


def test_blocks_of_rows_add_up(monkeypatch) -> None:
    """Blocks of rows, of which the last is smaller, add up."""
    data = _data(SCALES["alike"])
    whole = FourthMoments.from_rows(data.inputs[0], data.outputs[0])
    monkeypatch.setattr(fourth_moments, "_BLOCK", 15 * 7)
    np.testing.assert_allclose(
        FourthMoments.from_rows(data.inputs[0], data.outputs[0]).matrix, whole.matrix, rtol=1e-12
    )


ALGORITHMS = {
    "fedavg": {},
    "sampled": {"participation": {"kind": "uniform", "clients": 2}},
    "stale": {"clock": {"policy": "async", "times": [1, 2, "5/2"]}},
    "scaffold": {"name": "scaffold"},
}


@pytest.mark.parametrize("batches", [{}, {"replacement": False}, {"batch": 1}])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_runs_are_those_of_the_rows(monkeypatch, name, batches) -> None:
    """Errors, moments and drift agree with the computation by rows, for every participation law and client state."""
    data = _data(SCALES["alike"])
    problem = {
        "kind": "least-squares",
        "inputs": [rows.tolist() for rows in data.inputs],
        "outputs": [outputs.tolist() for outputs in data.outputs],
        "start": [-1, "-1/3", "1/3", 1],
        "ridge": "3/10",
        "batch": 2,
    }
    algorithm = {"rounds": 40, "local_step_size": "1/100", "local_steps": 3} | ALGORITHMS[name]

    def run() -> Run:
        return parse_run({"problem": problem | batches, "algorithm": algorithm}, FLOAT)

    found = run()
    moments, errors = found.trajectory.moments, found.trajectory.server_suboptimality
    assert _known(found.problem) == {0, 2}
    _by_rows(monkeypatch)
    expected = run()
    np.testing.assert_allclose(errors, expected.trajectory.server_suboptimality, rtol=1e-11)
    np.testing.assert_allclose(moments, expected.trajectory.moments, rtol=0, atol=1e-12 * np.abs(moments).max())
    assert _known(expected.problem) == set()
    if name != "scaffold":
        np.testing.assert_allclose(found.trajectory.drift, expected.trajectory.drift, rtol=1e-10, atol=1e-14)


def test_many_rows_in_many_dimensions(monkeypatch) -> None:
    """Clients with few rows are computed in the span of these, others in all dimensions."""
    generator = np.random.default_rng(1)
    inputs = tuple(generator.standard_normal((count, 18)) / 4 for count in (4000, 6))
    data = ClientData(inputs, tuple(generator.standard_normal(len(given)) for given in inputs))

    def errors() -> tuple[np.ndarray, list[int]]:
        problem = least_squares(data, np.ones(18), batch=1)
        trajectory = build_trajectory(problem, fedavg(problem, rounds=50, local_step_size=0.02, local_steps=4))
        inside = [client for space in trajectory.recursion._row_spaces for client in space.clients]
        return trajectory.server_suboptimality, inside

    found, few = errors()
    assert few == [1]
    _by_rows(monkeypatch)
    expected, everyone = errors()
    assert sorted(everyone) == [0, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_costs_decide() -> None:
    """Short runs and few rows are computed by rows; with more rows fourth moments are faster."""
    assert not are_cheaper(100_000, 30, 1)
    assert not are_cheaper(100, 30, 10**6)
    assert are_cheaper(10_000, 30, 500)
    problem = least_squares(_data(SCALES["alike"]), np.ones(DIMENSION), batch=2)
    _ = Run(problem, fedavg(problem, rounds=1, local_step_size=0.01)).trajectory
    assert _known(problem) == set()


def test_memory_is_bounded(monkeypatch) -> None:
    """If memory is limited, the clients with the most rows take precedence."""
    monkeypatch.setattr(minibatch, "MOST_NUMBERS", 2 * 15 * 15 + 1)
    oracle = MiniBatch(_data(SCALES["alike"], (MANY, MANY + 1, MANY + 2)), 2, True)
    oracle.prepare(10**6)
    assert set(oracle.fourth_moments) == {1, 2}
    oracle.prepare(10**7)
    assert set(oracle.fourth_moments) == {1, 2}


def test_rationals_keep_to_the_rows() -> None:
    """Rationals are computed by rows, because principal axes are irrational."""
    oracle = MiniBatch(ClientData((RATIONAL.array(np.ones((9, 1), int)),), (RATIONAL.array([1] * 9),)), 1, True)
    oracle.prepare(10**9)
    assert oracle.fourth_moments == {}
