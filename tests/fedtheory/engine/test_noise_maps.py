"""The noise of local steps as one map per client equals that of single steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from fedtheory.engine.moments import build_trajectory
from fedtheory.engine.moments.local import iterate_local_maps, propagate_local_steps
from fedtheory.engine.moments.noise_maps import NoiseMaps, ServerNoise
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.updates import Updates
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock, Synchronous
from fedtheory.federation.problem import least_squares
from fedtheory.sources.fraboni2022.experiments.curves import Scenario, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_3 import SLOWER, SPLIT

ROWS, DIMENSION = (5, 9, 3), 4


def _run(policy, steps: int | tuple[int, ...] = 3) -> Run:
    generator = np.random.default_rng(5)
    inputs = tuple(generator.standard_normal((count, DIMENSION)) for count in ROWS)
    data = ClientData(inputs, tuple(generator.standard_normal(count) for count in ROWS), 0.2)
    problem = least_squares(data, generator.standard_normal(DIMENSION), batch=2)
    clock = Clock(policy, (fmpq(1), fmpq(2), fmpq(5, 2)))
    return Run(problem, fedavg(problem, rounds=25, local_step_size=0.02, local_steps=steps, clock=clock))


def _maps(run: Run) -> NoiseMaps:
    return NoiseMaps.from_work(run.problem.centred, run.algorithm.work)


@pytest.mark.parametrize("policy", [Asynchronous("one-by-one"), Asynchronous("together"), Synchronous()])
@pytest.mark.parametrize("steps", [1, 3, (1, 4, 2)])
def test_moments_are_those_of_the_steps_one_by_one(policy, steps) -> None:
    run = _run(policy, steps)
    recursion = Recursion(run.problem, run.algorithm, noise_maps=_maps(run))
    found = build_trajectory(run.problem, run.algorithm, recursion)
    expected = build_trajectory(run.problem, run.algorithm)
    np.testing.assert_allclose(found.moments, expected.moments, rtol=0, atol=1e-13 * np.abs(expected.moments).max())
    np.testing.assert_allclose(found.server_suboptimality, expected.server_suboptimality, rtol=1e-11)


def test_noise_is_what_steps_add_to_the_mean() -> None:
    """Noise is the deviation of a step from its expectation, for each client from its own model."""
    run = _run(Synchronous(), (1, 4, 2))
    points = np.random.default_rng(1).standard_normal((2, DIMENSION + 1, DIMENSION + 1))
    bases, clients = points @ points.swapaxes(-1, -2), [2, 1]
    work, centred = run.algorithm.work, run.problem.centred
    by_step = np.stack(list(iterate_local_maps(centred, work)))
    means = np.stack([by_step[work.steps[client], client] for client in clients])
    carried = means @ bases @ means.swapaxes(-1, -2)
    expected = (propagate_local_steps(centred, work, bases, clients) - carried)[:, 1:, 1:]
    found = _maps(run).noise(bases, clients)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.array_equal(found, found.swapaxes(-1, -2))


def _noise_maps(hardest: Scenario, size: float) -> NoiseMaps:
    return NoiseMaps.from_work(hardest.problem.centred, hardest.make_algorithm(size).work)


@pytest.mark.long
def test_weights_above_one_do_not_let_rounding_grow() -> None:
    """The last bit of the step size changes the end of a long run by rounding only, in the hardest case of Figure 3."""
    hardest = make_scenario(
        make_digits_problem(10, SPLIT), Asynchronous("one-by-one"), SLOWER, "Time-based", local_steps=6, horizon=50
    )
    assert hardest.weights.max() > 1
    sizes = [float(size) for size in (2.0**-6, np.nextafter(2.0**-6, 1))]
    ends = [hardest.compute_curve(size).final_loss for size in sizes]
    assert ends[0] == pytest.approx(ends[1], rel=1e-10)
    step_by_step = [
        build_trajectory(hardest.problem, hardest.make_algorithm(size)).server_suboptimality[-1] for size in sizes
    ]
    assert step_by_step[0] == pytest.approx(step_by_step[1], rel=1e-10)
    recursion = Recursion(hardest.problem, hardest.make_algorithm(sizes[0]), noise_maps=_noise_maps(hardest, sizes[0]))
    with_maps = build_trajectory(hardest.problem, hardest.make_algorithm(sizes[0]), recursion).server_suboptimality[-1]
    assert step_by_step[0] == pytest.approx(with_maps, rel=1e-10)


@pytest.mark.parametrize("participation", [Full(), Uniform(2), Multinomial(2)])
@pytest.mark.parametrize("steps", [3, (1, 4, 2)])
def test_the_noise_of_all_clients_is_one_map(participation, steps) -> None:
    """The noise of all clients is one map if all start from the newest model; its size does not grow with clients."""
    run = _run(Synchronous(), steps)
    algorithm = replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, participation=participation))
    found = Updates(run.problem, algorithm, is_for_many=True).recursion
    assert isinstance(found._noise_maps, ServerNoise)
    assert found._noise_maps.map.shape == (15, 15)
    expected = Recursion(run.problem, algorithm)
    one, other = (build_trajectory(run.problem, algorithm, each).moments for each in (found, expected))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-13 * np.abs(other).max())
    each = Recursion(run.problem, algorithm, noise_maps=_maps(run))
    assert found.round_noise(found.start).largest >= each.round_noise(found.start).largest
