"""Computations in blocks of clients, or step by step, agree with joint ones."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.arithmetic import Array
from fedtheory.engine.gradient_forms import GradientForms
from fedtheory.engine.moments import build_trajectory, round_maps
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.virtual_iterates import compute_virtual_moments
from fedtheory.engine.run import Run
from fedtheory.federation import Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import minibatch
from fedtheory.federation.problem import least_squares
from fedtheory.language import quantities as q
from fedtheory.planner import exact_optimum, worker
from fedtheory.planner.exact_optimum import ExactErrors


def _run(participation: Participation | None = None, batch: int | None = 2) -> Run:
    generator = np.random.default_rng(7)
    inputs = tuple(generator.standard_normal((4, 3)) for _ in range(12))
    outputs = tuple(generator.standard_normal(4) for _ in range(12))
    problem = least_squares(ClientData(inputs, outputs), np.zeros(3), batch=batch)
    given = {} if participation is None else {"participation": participation}
    return Run(problem, fedavg(problem, rounds=6, local_step_size=0.03, local_steps=3, **given))


@pytest.mark.parametrize("participation", [None, Uniform(5)])
def test_maps_in_blocks_are_those_of_all(monkeypatch, participation: Uniform | None) -> None:
    run = _run(participation)
    whole = Recursion(run.problem, run.algorithm)
    expected = build_trajectory(run.problem, run.algorithm)
    monkeypatch.setattr(round_maps, "_BLOCK", 5 * (run.problem.dimension + 1) ** 2)
    found = Recursion(run.problem, run.algorithm)
    assert found._known_displacements is None
    for name in ("average_maps", "round_map", "_displacements"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-13, atol=1e-15)
    moments = build_trajectory(run.problem, run.algorithm).moments
    np.testing.assert_allclose(moments, expected.moments, rtol=1e-12, atol=1e-14)


def test_largest_moments_are_those_of_all_steps() -> None:
    run = _run()
    forms = run.gradient_forms.stochastic
    every = run.trajectory.local_second_moments(forms)
    assert every.shape == (6, 3, 12)
    assert run.trajectory.largest_local_second_moment(forms) == every.max()
    after = run.trajectory.evaluate_at_virtual_iterates(forms)[:, 1:]
    assert run.trajectory.largest_after_local_steps(forms) == pytest.approx(after.max(), rel=1e-13)


def test_mean_drift_is_that_of_the_rounds() -> None:
    run = _run()
    np.testing.assert_allclose(run.trajectory.mean_drift, run.trajectory.drift.mean(axis=0), rtol=1e-12, atol=1e-16)


def test_large_problems_stay_in_one_process(monkeypatch) -> None:
    run = _run()
    monkeypatch.setattr(worker, "_LONG", 0)
    assert worker._is_worth_a_worker(run)
    monkeypatch.setattr(worker, "_LARGE", 12 * 4 * 3)
    assert not worker._is_worth_a_worker(run)


def test_fewer_step_sizes_of_large_runs_are_tried(monkeypatch) -> None:
    """For large runs the best step size is within a factor of four of a longer search."""
    few, many = ExactErrors(_run()), ExactErrors(_run())
    assert not many.is_large
    expected = many.best(q.average_suboptimality)
    monkeypatch.setattr(exact_optimum, "_LARGE", 12 * 4 * 4 - 1)
    assert few.is_large
    found = few.best(q.average_suboptimality)
    assert found is not None
    assert expected is not None
    assert len(few._runs) < len(many._runs)
    assert expected.error <= found.error
    assert expected.step_size / 4 < found.step_size < expected.step_size * 4


def test_clients_with_equally_many_rows_are_computed_together(monkeypatch) -> None:
    """Joint forms and noise equal those of each client bit by bit."""
    run = _run()
    oracle, forms = run.problem.centred.oracle, run.gradient_forms.squares
    assert oracle._not_in_stacks == []
    squares = forms[:, 1:, 1:]
    together = oracle.covariances(forms, squares), oracle.pull_back(squares, forms)
    monkeypatch.setattr(minibatch, "_FEW_ROWS", 3)
    alone = oracle.select_clients(range(run.problem.clients))
    assert len(alone._not_in_stacks) == run.problem.clients
    for found, expected in zip(
        together, (alone.covariances(forms, squares), alone.pull_back(squares, forms)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_forms_are_pulled_back_in_blocks(monkeypatch) -> None:
    run = _run()
    forms = run.gradient_forms.stochastic
    expected = run.trajectory.local_second_moments(forms)
    monkeypatch.setattr(round_maps, "_BLOCK", 5 * (run.problem.dimension + 1) ** 2)
    np.testing.assert_array_equal(run.trajectory.local_second_moments(forms), expected)


@pytest.mark.parametrize("participation", [None, Uniform(5)])
@pytest.mark.parametrize("batch", [2, None])
def test_sums_over_blocks_are_those_over_all_clients(
    monkeypatch, batch: int | None, participation: Uniform | None
) -> None:
    run = _run(participation, batch)
    forms, factors = run.gradient_forms.stochastic[:2], np.arange(12) / 12

    def measure() -> list[Array]:
        found = build_trajectory(run.problem, run.algorithm)
        differences = found.mean_difference_sq(factors)
        at_virtual = found.evaluate_at_virtual_iterates(forms)
        moments = compute_virtual_moments(found.recursion, found.moments[:-1])
        noise = GradientForms(run.problem).noise
        return [found.drift, differences, found.local_suboptimality, at_virtual, moments, noise]

    expected = measure()
    monkeypatch.setattr(round_maps, "_BLOCK", 5 * (run.problem.dimension + 1) ** 2)
    for found, whole in zip(measure(), expected, strict=True):
        np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-15)


def test_weights_of_equal_updates_are_kept_once() -> None:
    surrogate = _run(Uniform(5)).surrogate
    assert surrogate.update_weights.shape == surrogate.update_shares.shape == (1, 12)
    assert surrogate.weights.shape == surrogate.shares.shape == (6, 12)
    assert surrogate.round_optima.shape == (6, 3)
