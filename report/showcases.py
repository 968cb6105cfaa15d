"""Runs for figures: large enough that every term of a bound is visible."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics

_SPECTRUM = (fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(1, 8), fmpq(1, 16))


@cache
def make_showcase(local_steps: int) -> Run:
    """Return ten clients in five dimensions with one Hessian, different minimisers and noise."""
    generator = np.random.default_rng(2022)
    problem = draw_quadratics(generator, [_SPECTRUM] * 10, shared=True, heterogeneity=fmpq(1, 4), noise=fmpq(1))
    size = fmpq(1, 64)
    return Run(problem, fedavg(problem, rounds=10, local_step_size=size, local_steps=local_steps)).as_floats()


@cache
def make_map_problems() -> tuple[Run, ...]:
    """Return problems for the tightness map, with and without noise and dissimilarity."""
    runs = []
    for number, (spread, noise) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        generator = np.random.default_rng([2022, number])
        for clients, spectrum in ((1, _SPECTRUM[:1]), (2, _SPECTRUM[:2]), (8, _SPECTRUM[:3])):
            problem = draw_quadratics(
                generator, [spectrum] * clients, shared=True, heterogeneity=fmpq(spread), noise=fmpq(noise)
            )
            runs.append(Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 4))).as_floats())
    return tuple(runs)


@cache
def make_noiseless_run() -> Run:
    """Return four clients of unequal weight and different Hessians, full gradients, six local steps, three rounds."""
    generator = np.random.default_rng(27)
    problem = draw_quadratics(
        generator,
        [_SPECTRUM[:3], _SPECTRUM[1:4], _SPECTRUM[:3], _SPECTRUM[2:]],
        shared=False,
        heterogeneity=fmpq(1, 2),
        noise=fmpq(0),
    )
    weighted = replace(problem, weights=RATIONAL.array(["1/10", "2/10", "3/10", "4/10"]))
    return Run(weighted, fedavg(weighted, rounds=3, local_step_size=fmpq(1, 4), local_steps=6)).as_floats()


CLOCKED_TIME = fmpq(40)
"""Clock time of the runs under different policies."""


@cache
def make_clocked_runs() -> dict[str, Run]:
    """Return runs of one problem under every policy, with unequal client times, until the same clock time."""
    generator = np.random.default_rng(80)
    problem = draw_quadratics(generator, [_SPECTRUM[:2]] * 5, shared=False, heterogeneity=fmpq(1, 2), noise=fmpq(1, 4))
    times = tuple(fmpq(time) for time in (1, 2, 3, 4, 5))
    policies: dict[str, Policy] = {
        "synchronous": Synchronous(),
        "asynchronous": Asynchronous("one-by-one"),
        "FedFix, every 2": FedFix(fmpq(2)),
        "FedBuff of 3": FedBuff(3, "one-by-one"),
    }
    return {name: _set_clock(problem, Clock(policy, times)).as_floats() for name, policy in policies.items()}


CYCLE = 7
"""Number of updates after which the schedule of `make_stale_run` repeats itself."""
_LARGEST_STEP = fmpq(1, 10976)
"""The largest local step size that the theorem on asynchronous updates allows for `make_stale_run`."""


@cache
def make_stale_run() -> Run:
    """Return asynchronous FedAvg with client times 1, 2 and 4, time-based weights, at the step size of the theorem."""
    generator = np.random.default_rng(2022)
    problem = draw_quadratics(generator, [_SPECTRUM[:2]] * 3, shared=False, heterogeneity=fmpq(1, 2), noise=fmpq(1, 4))
    clock = Clock(Asynchronous("one-by-one"), (fmpq(1), fmpq(2), fmpq(4)))
    algorithm = fedavg(
        problem,
        rounds=CYCLE,
        local_step_size=_LARGEST_STEP,
        local_steps=2,
        clock=clock,
        aggregation=compute_time_based_weights(clock, problem.weights),
    )
    return Run(problem, algorithm).as_floats()


def _set_clock(problem: Problem, clock: Clock) -> Run:
    weights = None if isinstance(clock.policy, FedBuff) else compute_time_based_weights(clock, problem.weights)
    algorithm = fedavg(
        problem,
        rounds=clock.updates_within(CLOCKED_TIME),
        local_step_size=fmpq(1, 32),
        local_steps=4,
        clock=clock,
        aggregation=weights,
    )
    return Run(problem, algorithm)
