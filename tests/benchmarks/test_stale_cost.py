"""What asynchronous runs cost: fifty clients, each on a model of its own."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from flint import fmpq
from test_cost import random_problem

from fedtheory.clock import Asynchronous, Clock
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import time_based_weights
from fedtheory.moments import Trajectory

CLIENTS, DIMENSION, UPDATES = 50, 20, 10_000


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["one-by-one", "together"])
def test_ten_thousand_asynchronous_updates(ties: str) -> None:
    """The joint moments of fifty stale models in twenty dimensions, 10,000 updates, in less than 20 seconds."""
    problem = random_problem(CLIENTS, DIMENSION)
    policy = Asynchronous("one-by-one" if ties == "one-by-one" else "together")
    clock = Clock(policy, tuple(fmpq(100 + 3 * client) for client in range(CLIENTS)))
    weights = time_based_weights(clock, np.array([fmpq(1, CLIENTS)] * CLIENTS))
    algorithm = fedavg(problem, rounds=UPDATES, local_step_size=0.005, local_steps=5, clock=clock, aggregation=weights)
    begin = perf_counter()
    trajectory = Trajectory(problem, algorithm)
    seconds = perf_counter() - begin
    first, last = trajectory.server_suboptimality[[0, -1]]
    print(f"\n{ties}: {seconds:.2f} s, suboptimality from {first:.3g} to {last:.3g}")
    assert np.isfinite(trajectory.server_suboptimality).all()
    assert seconds < 20
