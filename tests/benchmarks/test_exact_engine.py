"""Cost of exact expectations, relative to Monte-Carlo and as a function of the sizes of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from problems import Scale, best_of, random_problem, require_growth
from rows import Row

from fedtheory.engine import sampling
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.language import quantities as q

pytestmark = pytest.mark.slow
LOCAL_STEPS, ROUNDS, STEP_SIZE = 5, 200, 0.05
TARGET_ERROR = 1e-3
"""Required relative standard error of Monte-Carlo for the suboptimality of the last round."""
REPETITIONS = 100


@pytest.mark.parametrize("clients", [10, 100])
def test_monte_carlo_costs_ten_thousand_times_more(clients: int, benchmark: Any, row: Row) -> None:
    """Vectorised Monte-Carlo, extrapolated to 0.1 % standard error, takes at least 10,000 times as long as the exact
    run.
    """
    problem = random_problem(clients)
    algorithm = fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS)

    def exact() -> Any:
        fresh = quadratic(problem.hessians, problem.linear, problem.start, noise=np.ones(clients))
        return Run(fresh, algorithm).trajectory.server_suboptimality[-1]

    def sampled() -> None:
        nonlocal estimate
        measures = [sampling.suboptimality(problem)]
        (estimate,) = sampling.estimate_expectations(problem, algorithm, measures, replicas=20_000 // clients, seed=0)

    estimate: Any = None
    seconds = best_of(sampled, 1)
    reached = estimate.standard_error[-1] / estimate.mean[-1]
    ratio = seconds * (reached / TARGET_ERROR) ** 2 / best_of(exact)
    benchmark.pedantic(exact, rounds=5)
    row(f"exact run, M = {clients}", "Monte-Carlo to 0.1 % standard error", ratio, "times faster")
    assert ratio >= 10_000


def seconds_of_a_round(problem: Problem, local_steps: int = LOCAL_STEPS) -> float:
    """Return the seconds of one round, after set-up."""
    algorithm = fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=local_steps)
    recursion = Recursion(problem, algorithm)
    moment = recursion.start
    recursion.round_noise(moment)

    def rounds() -> None:
        state = moment
        for _ in range(REPETITIONS):
            state = recursion.propagate_round(state, recursion.round_noise(state))

    return best_of(rounds, 7) / REPETITIONS


def seconds_of_a_run(problem: Problem, rounds: int = ROUNDS, local_steps: int = LOCAL_STEPS) -> float:
    """Return the seconds of a run from its constants to its average suboptimality, including set-up."""
    algorithm = fedavg(problem, rounds=rounds, local_step_size=STEP_SIZE, local_steps=local_steps)
    return best_of(lambda: q.average_suboptimality.on(Run(problem, algorithm)))


SCALES: dict[str, Scale] = {
    "a round over M": ((10, 100, 1000, 10_000), lambda size: seconds_of_a_round(random_problem(size)), 0.1),
    "a round over d": ((16, 32, 64, 128), lambda size: seconds_of_a_round(random_problem(10, size)), 3.2),
    "a round over tau": ((2, 8, 32, 128), lambda size: seconds_of_a_round(random_problem(10), size), 0.1),
    "a run over T": ((10**3, 10**4, 10**5, 10**6), lambda size: seconds_of_a_run(random_problem(10), size), 0.1),
    "a run over M": ((100, 300, 1000, 3000), lambda size: seconds_of_a_run(random_problem(size)), 1.2),
    "a run over tau": ((8, 32, 128, 512), lambda size: seconds_of_a_run(random_problem(10), 200, size), 1.2),
}


@pytest.mark.parametrize("name", SCALES)
def test_costs_grow_as_expected(name: str, benchmark: Any, row: Row) -> None:
    """The exponent of a fitted power of the size is no larger than expected."""
    require_growth(name, SCALES[name], benchmark, row)
