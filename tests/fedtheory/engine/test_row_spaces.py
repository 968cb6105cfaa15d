"""Noise of clients with few rows is computed in the span of the rows, and agrees with all dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.moments import build_trajectory
from fedtheory.engine.moments import recursion as recursions
from fedtheory.engine.moments import row_spaces as row_spaces_module
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares

ROWS = [1, 4, 2, 30, 3]
DIMENSION = 20


def _problem(rows: list[int], ridge: float, replacement: bool, dimension: int = DIMENSION) -> Problem:
    """Return random data with constant columns and repeated rows."""
    generator = np.random.default_rng(3)
    inputs = [generator.standard_normal((count, dimension)) for count in rows]
    for given in inputs:
        given[:, ::5] = 0.0
        given[-1] = given[0]
    outputs = tuple(generator.standard_normal(count) for count in rows)
    data = ClientData(tuple(inputs), outputs, ridge)
    return least_squares(data, generator.standard_normal(dimension), batch=1, replacement=replacement)


def _run(problem: Problem, steps: int | tuple[int, ...] = 3) -> Run:
    return Run(problem, fedavg(problem, rounds=6, local_step_size=0.01, local_steps=steps, server_step_size=0.8))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("steps", [3, (1, 4, 2, 3, 2)])
def test_moments_are_those_of_all_dimensions(monkeypatch, ridge, replacement, steps) -> None:
    """Moments agree up to rounding, for all ridges, samplings and numbers of steps."""
    run = _run(_problem(ROWS, ridge, replacement), steps)
    found = build_trajectory(run.problem, run.algorithm)
    spaces = found.recursion._row_spaces
    assert sorted(client for space in spaces for client in space.clients) == list(range(len(ROWS)))
    assert max(space.bases.shape[1] for space in spaces) < DIMENSION
    monkeypatch.setattr(recursions, "find_row_spaces", lambda *_given: [])
    expected = build_trajectory(run.problem, run.algorithm)
    assert expected.recursion._row_spaces == []
    np.testing.assert_allclose(found.moments, expected.moments, rtol=0, atol=1e-12 * np.abs(expected.moments).max())
    np.testing.assert_allclose(found.server_suboptimality, expected.server_suboptimality, rtol=1e-11)
    np.testing.assert_allclose(found.recursion.growth(found.moments[-1]), expected.recursion.growth(found.moments[-1]))


@pytest.mark.parametrize("rows", [[40, 50, 60], [40, 5, 6], [400, 300, 50]])
def test_clients_whose_rows_span_everything_work_in_all_dimensions(monkeypatch, rows) -> None:
    """Clients whose rows span the space are computed in all dimensions, with equal moments."""
    run = _run(_problem(rows, 0.1, True))
    found = run.trajectory
    monkeypatch.setattr(recursions, "find_row_spaces", lambda *_given: [])
    expected = build_trajectory(run.problem, run.algorithm)
    np.testing.assert_allclose(found.moments, expected.moments, rtol=0, atol=1e-12 * np.abs(expected.moments).max())


@pytest.mark.parametrize(("clients", "is_shared"), [(31, False), (32, True)])
def test_many_clients_share_computations_in_few_dimensions(monkeypatch, clients, is_shared) -> None:
    """Clients in few dimensions share computations, with the moments of each."""
    run = _run(_problem([1 + client % 7 for client in range(clients)], 0.1, True, dimension=6))
    found = run.trajectory
    assert bool(found.recursion._row_spaces) is is_shared
    monkeypatch.setattr(recursions, "find_row_spaces", lambda *_given: [])
    expected = build_trajectory(run.problem, run.algorithm)
    np.testing.assert_allclose(found.moments, expected.moments, rtol=0, atol=1e-12 * np.abs(expected.moments).max())


def test_a_client_takes_part_once(monkeypatch) -> None:
    """Each client belongs to one shared computation."""
    monkeypatch.setattr(row_spaces_module, "_MOST", 1)
    run = _run(_problem(ROWS, 0.0, True))
    spaces = run.trajectory.recursion._row_spaces
    assert sorted(space.clients for space in spaces) == [[client] for client in range(len(ROWS))]


def test_exact_runs_keep_all_dimensions() -> None:
    """Exact runs use all dimensions, because orthonormal bases are irrational."""
    rows = tuple(RATIONAL.array(np.eye(1, DIMENSION, place, dtype=int)) for place in (0, 3))
    data = ClientData(rows, (RATIONAL.array([1]), RATIONAL.array([2])))
    problem = least_squares(data, RATIONAL.zeros(DIMENSION), batch=1)
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=RATIONAL.number("1/8", "eta")))
    assert run.trajectory.recursion._row_spaces == []


def test_bases_are_found_once_for_all_local_work(monkeypatch) -> None:
    """Bases depend on the data only, and are computed once."""
    found, asked = row_spaces_module._find_bases, []
    monkeypatch.setattr(row_spaces_module, "_find_bases", lambda rows: asked.extend(rows) or found(rows))
    run = _run(_problem(ROWS, 0.3, True))
    for other in (run, run.with_step_factor(0.5), run.with_work((2,) * len(ROWS), 0.02)):
        assert build_trajectory(other.problem, other.algorithm).recursion._row_spaces
    assert len(asked) == len(ROWS)


def test_the_largest_number_is_that_of_all_draws() -> None:
    """After one step with one of three rows, the mean squares of coordinates are averages over rows."""
    run = Run(_problem([3], 0.0, True), fedavg(_problem([3], 0.0, True), rounds=1, local_step_size=0.1))
    (space,) = run.trajectory.recursion._row_spaces
    point = np.linspace(-1, 2, DIMENSION)
    _, largest = space.noise(np.outer([1, *point], [1, *point]), np.array([1.0]))
    (inputs,), (outputs,), inside = space.inputs, space.outputs, space.bases[0] @ point
    after = [inside - 0.1 * 2 * x * (x @ inside - y) for x, y in zip(inputs, outputs, strict=True)]
    squares = np.mean(np.square(after), axis=0)
    assert largest == pytest.approx(squares.max())
    assert squares.max() > 2 * squares.min()
