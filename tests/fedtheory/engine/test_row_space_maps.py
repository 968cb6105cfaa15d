"""The noise of many clients as one map is that of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL, plain_floats
from fedtheory.arithmetic.symmetric_pairs import fill_symmetric, map_pairs, select_pairs
from fedtheory.engine.moments import build_trajectory, row_space_maps
from fedtheory.engine.moments.noise_maps import ServerNoise
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.row_space_maps import sum_noise_maps
from fedtheory.engine.moments.row_spaces import find_row_spaces
from fedtheory.engine.moments.updates import Updates
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares

CLIENTS = 40


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_pairs_carry_symmetric_matrices(rows: int, columns: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    maps, symmetric = generator.standard_normal((3, rows, columns)), generator.standard_normal((3, columns, columns))
    symmetric += symmetric.swapaxes(-1, -2)
    found = fill_symmetric((map_pairs(maps) @ select_pairs(symmetric)[..., None])[..., 0], rows)
    np.testing.assert_allclose(found, maps @ symmetric @ maps.swapaxes(-1, -2), atol=1e-12)


def _problem(dimension: int, replacement: bool, ridge: float = 0.0, clients: int = CLIENTS) -> Problem:
    """Clients with 2 to 7 rows, some of them in fewer dimensions than rows."""
    generator = np.random.default_rng(dimension)
    counts = [2 + i % 6 for i in range(clients)]
    inputs = [generator.integers(-3, 4, (count, dimension)).astype(float) for count in counts]
    inputs[1][:, : dimension // 2] = 0
    outputs = tuple(generator.integers(-3, 4, count).astype(float) for count in counts)
    data = ClientData(tuple(inputs), outputs, ridge)
    return least_squares(data, np.ones(dimension), batch=2, replacement=replacement)


@pytest.mark.parametrize("dimension", [4, 9])
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 7, "unequal"])
def test_one_map_is_the_noise_of_all_rows(dimension: int, replacement: bool, steps: int | str) -> None:
    problem = _problem(dimension, replacement, 0.3)
    taken = tuple(1 + i % 5 for i in range(CLIENTS)) if isinstance(steps, str) else steps
    sizes = np.linspace(0.001, 0.01, CLIENTS)
    algorithm = fedavg(problem, rounds=5, local_step_size=sizes, local_steps=taken)
    weights = np.linspace(0, 2, CLIENTS)
    spaces = find_row_spaces(problem.centred, algorithm.work)
    assert sorted(i for space in spaces for i in space.clients) == list(range(CLIENTS))
    maps = sum(sum_noise_maps(space, weights) for space in spaces)
    points = np.random.default_rng(3).standard_normal((dimension + 1, dimension + 1))
    points[0] = 1
    moment = points @ points.T / len(points)
    found = fill_symmetric(maps @ select_pairs(moment), dimension + 1)
    expected = sum(space.noise(moment, weights)[0] for space in spaces)
    np.testing.assert_allclose(found[1:, 1:], expected, rtol=0, atol=1e-14 * np.abs(expected).max())
    assert not found[0].any()


@pytest.mark.parametrize("participation", [Full(), Uniform(4), Multinomial(3)])
def test_rounds_of_many_clients_go_by_one_map(participation: Participation) -> None:
    """The joint map is used if rounds are many; its size does not grow with clients."""
    problem = _problem(4, True)
    algorithm = fedavg(problem, rounds=100, local_step_size=0.002, local_steps=5)
    algorithm = replace(algorithm, aggregation=replace(algorithm.aggregation, participation=participation))
    run = Run(problem, algorithm)
    noise = run.trajectory.recursion._noise_maps
    assert isinstance(noise, ServerNoise)
    assert noise.map.shape == (15, 15)
    expected = build_trajectory(problem, algorithm, Recursion(problem, algorithm))
    np.testing.assert_allclose(
        run.trajectory.server_suboptimality, expected.server_suboptimality, rtol=1e-11, atol=1e-13
    )
    np.testing.assert_allclose(run.trajectory.moments, expected.moments, rtol=1e-11, atol=1e-13)


def test_few_rounds_go_by_rows() -> None:
    problem = _problem(9, True)
    algorithm = fedavg(problem, rounds=2, local_step_size=0.002, local_steps=2)
    assert Updates(problem, algorithm).recursion._noise_maps is None


def test_one_map_agrees_with_rationals() -> None:
    """The noise of a round from the start agrees with rationals, for integer data."""
    problem = _problem(4, False, clients=33)
    assert problem.data is not None
    algorithm = fedavg(problem, rounds=1, local_step_size=1 / 256, local_steps=3)
    work, weights = algorithm.work, algorithm.aggregation.moments(problem.weights).squares
    found, _ = ServerNoise.from_work(problem.centred, work, weights).noise(Recursion(problem, algorithm).start)
    data = ClientData(tuple(map(RATIONAL.array, problem.data.inputs)), tuple(map(RATIONAL.array, problem.data.outputs)))
    exact = least_squares(data, RATIONAL.array([1, 1, 1, 1]), batch=2, replacement=False)
    size = RATIONAL.number("1/256", "eta")
    expected = Recursion(exact, fedavg(exact, rounds=1, local_step_size=size, local_steps=3))
    np.testing.assert_allclose(found, plain_floats(expected._noise_of_all.server), rtol=1e-11)


def test_rows_in_blocks_make_the_same_map(monkeypatch) -> None:
    problem = _problem(4, True)
    algorithm = fedavg(problem, rounds=5, local_step_size=0.01, local_steps=3)
    weights = np.linspace(0, 2, CLIENTS)
    spaces = find_row_spaces(problem.centred, algorithm.work)
    expected = [sum_noise_maps(space, weights) for space in spaces]
    monkeypatch.setattr(row_space_maps, "_BLOCK", 2 * 15)
    for space, whole in zip(spaces, expected, strict=True):
        np.testing.assert_allclose(sum_noise_maps(space, weights), whole, rtol=0, atol=1e-14 * np.abs(whole).max())
