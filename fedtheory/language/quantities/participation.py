"""Sampled clients: their number per round, and the variance of their random weights."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import Cyclic
from fedtheory.federation.participation import WeightMoments
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions.clocks import expect_no_cycle
from fedtheory.language.quantities.quantity import extremal_constant, setting


def _count_participants(run: Run) -> Number:
    policy, clients = run.algorithm.clock.policy, run.clients
    count = policy.clients if isinstance(policy, Cyclic) else run.algorithm.aggregation.participation.count(clients)
    return run.arithmetic.number(count, "L")


participants = setting("participants", "L", "number of clients that a round selects", _count_participants)


def compute_paired_moments(run: Run) -> WeightMoments:
    """Return weight moments with a common factor for all pairs of clients; raise `NotApplicable` for other laws."""
    expect_no_cycle(run)
    moments = run.algorithm.aggregation.moments(run.problem.weights)
    if moments.directions:
        raise NotApplicable("E[w_i w_j] is not a multiple of E[w_i] E[w_j]: weights are normalised over those present")
    return moments


def _measure_sampling_variance(run: Run) -> Any:
    """Return the largest E[w_i^2]/p_i - alpha p_i of the clients with positive weight."""
    moments = compute_paired_moments(run)
    return max(own / weight for own, weight in zip(moments.diagonal, run.problem.weights, strict=True) if weight != 0)


sampling_variance = extremal_constant(
    "sampling_variance",
    r"\rho",
    "the largest E[w_i^2]/p_i - alpha p_i: E|sum_i w_i v_i|^2 is at most rho times sum_i p_i |v_i|^2 where the mean of "
    "the v_i is zero; 0 for full participation, (M-m)/(m(M-1)) for m of M equal clients, 1/m for m draws with "
    "replacement",
    _measure_sampling_variance,
    assumption=a.averaged_participants,
)
