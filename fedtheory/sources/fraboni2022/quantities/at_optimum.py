"""Errors of the server's models, and values and noise of the clients at the optimum of the federated problem."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, Expectation, Value
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_ROUND,
    FIRST_STEP,
    LAST_ROUND,
    LAST_STEP,
    MEAN_OVER_ROUNDS,
)
from fedtheory.language.quantities.measuring.symbols import (
    CLIENT_OBJECTIVE,
    CLIENT_OPTIMUM,
    NEXT_VIRTUAL,
    OPTIMUM,
    SERVER,
    define_by,
    gap,
    second_moment,
    square,
)
from fedtheory.language.quantities.quantity import RunQuantity, constant

mean_server_suboptimality = RunQuantity(
    "mean_server_suboptimality",
    r"\frac1N\sum_n\mathbb E\mathcal L(\theta^n)-\mathcal L(\theta^*)",
    "(1/N) sum_{n=0..N-1} E F(theta^n) - F*, over the server's models",
    lambda run: run.trajectory.mean_server_suboptimality,
    term=define_by(gap(SERVER), FIRST_STEP, MEAN_OVER_ROUNDS),
)


def _measure_mean_distance_sq(run: Run) -> Any:
    """Return the squared distance of the expected last model to the optimum."""
    error = run.trajectory.final_mean - run.problem.optimum
    return error @ error


final_mean_distance_sq = RunQuantity(
    "final_mean_distance_sq",
    r"\|\mathbb E\theta^N-\theta^*\|^2",
    "|E theta^N - x*|^2",
    _measure_mean_distance_sq,
    term=define_by(square(Expectation(NEXT_VIRTUAL) - OPTIMUM), LAST_STEP, LAST_ROUND),
)

client_gap_at_optimum = constant(
    "client_gap_at_optimum",
    r"\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)",
    "L_i(x*) - L_i* of each client, x* the optimum of the federated problem",
    lambda run: place_on_clients(
        run.surrogate.client_values(run.problem.about_optimum.optimum) - run.surrogate.least_client_values
    ),
    term=define_by(
        Expectation(Value(CLIENT_OBJECTIVE, OPTIMUM) - Value(CLIENT_OBJECTIVE, CLIENT_OPTIMUM)), FIRST_STEP, FIRST_ROUND
    ),
)

optimum_noise = constant(
    "optimum_noise",
    r"\Sigma",
    "sum_i p_i E|g_i|^2 at the optimum of the federated problem",
    lambda run: run.second_moments_at(run.problem.about_optimum.optimum) @ run.problem.weights,
    term=define_by(Average(second_moment(OPTIMUM)), FIRST_STEP, FIRST_ROUND),
)
