"""Runs derived from one another share only what is equal for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from random_problems import random_problem

from fedtheory.engine.moments import Trajectory
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.language import quantities as q

CHANGES: dict[str, Callable[[Run], Run]] = {
    "rounds": lambda run: run.with_rounds(7),
    "fewer rounds": lambda run: run.with_rounds(1),
    "work": lambda run: run.with_work((3,) * run.problem.clients, run.arithmetic.number("1/20", "size")),
    "step sizes": lambda run: run.with_step_factor(run.arithmetic.number("1/2", "factor")),
    "one after the other": lambda run: run.with_rounds(9).with_step_factor(run.arithmetic.number("1/3", "factor")),
}
QUANTITIES = (
    q.smoothness,
    q.strong_convexity,
    q.noise_deviation,
    q.gradient_dissimilarity,
    q.mean_dissimilarity,
    q.second_moment,
    q.average_suboptimality,
    q.limiting_suboptimality,
    q.final_distance_sq,
)


def _run(arithmetic: str) -> Run:
    """Return clients with different Hessians, whose constants hold on growing balls."""
    problem = random_problem(np.random.default_rng(5), 3, 2)
    algorithm = fedavg(problem, rounds=3, local_step_size=fmpq(1, 10), local_steps=2, server_step_size=fmpq(1))
    exact = Run(problem, algorithm)
    return exact if arithmetic == "rational" else exact.as_floats()


@pytest.mark.parametrize("arithmetic", ["rational", "float"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_run_is_as_one_made_anew(arithmetic: str, change: str) -> None:
    """A changed run equals a new one to the last bit, whatever was computed before."""
    run = _run(arithmetic)
    for quantity in QUANTITIES:
        quantity.on(run)
    changed = CHANGES[change](run)
    anew = Run(changed.problem, changed.algorithm)
    for quantity in QUANTITIES:
        assert np.array_equal(quantity.on(changed), quantity.on(anew)), quantity.name


def test_suprema_belong_to_their_ball() -> None:
    """With more rounds on a growing ball constants change, while the first ones stay cached."""
    run = _run("float").with_rounds(1)
    longer = run.with_rounds(2)
    assert longer.ball.radius > run.ball.radius
    short, long = run.dissimilarity_sq.value, longer.dissimilarity_sq.value
    assert short < long
    assert run.with_rounds(1).dissimilarity_sq.value == short


@pytest.mark.parametrize("rounds", [40, 64, 65, 1000])
def test_moments_end_before_the_first_that_does_not_fit(rounds: int) -> None:
    """Moments end before the first overflow, for all block sizes."""
    run = _run("float").with_step_factor(60.0)
    clock = Clock(Asynchronous(), (fmpq(1), fmpq(2), fmpq(3)))
    found = Trajectory(run.problem, replace(run.algorithm, clock=clock, rounds=rounds))
    completed = len(found.noise)
    assert len(found.moments) == completed + 1
    assert np.abs(found.moments).max() < 1e290
    if completed < rounds:
        assert found.divergence is not None
        assert found.divergence.round == completed + 1
        one_more = Trajectory(run.problem, replace(run.algorithm, clock=clock, rounds=completed + 1))
        assert len(one_more.noise) == completed
    assert (completed < rounds) == (rounds == 1000)
