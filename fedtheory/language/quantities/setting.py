"""The setting of unequal reporting in numbers: buffers, types, values, extremes (fraboni2022, Section 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import Asynchronous, FedBuff, FedFix
from fedtheory.language.quantities.axes import on_clients, on_rounds
from fedtheory.language.quantities.local_expectations import at_step, square
from fedtheory.language.quantities.notion import Quantity, per_round
from fedtheory.language.quantities.surrogates import misrepresentation
from fedtheory.language.quantities.weights import chi_sq


def _number(run: Run, value: int) -> Any:
    return run.arithmetic.number(value, "count")


def _buffer(run: Run) -> Any:
    """Contributions that the server waits for."""
    policy = run.algorithm.clock.policy
    if isinstance(policy, FedFix):
        raise NotApplicable("the server waits for a time, not for a number of contributions")
    if isinstance(policy, FedBuff):
        return _number(run, policy.buffer)
    return _number(run, 1 if isinstance(policy, Asynchronous) else run.problem.clients)


def _value_at_start(run: Run, weights: Array) -> Any:
    """sum_i weights_i L_i as one objective, at theta^0."""
    return run.surrogate.mixed_value(weights, run.problem.centred.start)


def _slope_sq(run: Run, weights: Array, point: Array) -> Any:
    """|grad|^2 of sum_i weights_i L_i as one objective, at a point."""
    slope = run.surrogate.mixed_slope(weights, point)
    return slope @ slope


def _round_slopes_sq(run: Run) -> Array:
    pairs = zip(run.surrogate.weights, run.surrogate.round_optima, strict=True)
    return on_rounds(np.stack([_slope_sq(run, weights, point) for weights, point in pairs]))


def _misfit(run: Run) -> Any:
    surrogate = run.surrogate
    return abs(surrogate.by_type(surrogate.weights) - surrogate.by_type(run.problem.weights)).max()


def _absences(run: Run) -> Any:
    surrogate = run.surrogate
    present = surrogate.by_type(surrogate.weights)[:, np.unique(surrogate.types)]
    return _number(run, int((present == 0).sum()))


buffer = Quantity("buffer", "m", "contributions that the server waits for", _buffer, is_constant=True)
type_count = Quantity(
    "type_count",
    "J",
    "number of types of clients: clients with the same objective are of one type",
    lambda run: _number(run, len(np.unique(run.surrogate.types))),
    is_constant=True,
)
client_value_at_start = Quantity(
    "client_value_at_start",
    r"\mathcal L_i(\theta^0)",
    "L_i(theta^0) of each client",
    lambda run: on_clients(run.surrogate.client_values(run.problem.centred.start)),
    is_constant=True,
)
objective_at_start = Quantity(
    "objective_at_start",
    r"\mathcal L(\theta^0)",
    "F(theta^0), of the one objective F",
    lambda run: run.problem.value(run.problem.start),
    is_constant=True,
)
round_objective_at_start = per_round(
    "round_objective_at_start",
    r"\mathcal L^n(\theta^0)",
    "L^n(theta^0), of the one objective L^n",
    lambda run: on_rounds(np.stack([_value_at_start(run, weights) for weights in run.surrogate.weights])),
)
surrogate_at_start = Quantity(
    "surrogate_at_start",
    r"\bar{\mathcal L}(\theta^0)",
    "Lbar(theta^0), of the one objective Lbar",
    lambda run: _value_at_start(run, run.surrogate.mean_weights),
)
round_optimum_slope_sq = per_round(
    "round_optimum_slope_sq",
    r"\|\nabla\mathcal L^n(\bar\theta^n)\|^2",
    "|grad L^n|^2 at the optimum of L^n",
    _round_slopes_sq,
)
surrogate_optimum_slope_sq = Quantity(
    "surrogate_optimum_slope_sq",
    r"\|\nabla\bar{\mathcal L}(\bar\theta)\|^2",
    "|grad Lbar|^2 at the optimum of Lbar",
    lambda run: _slope_sq(run, run.surrogate.mean_weights, run.surrogate.optimum),
)
largest_chi_sq = Quantity(
    "largest_chi_sq", r"\max_n\chi_n^2", "max over n of chi_n^2", lambda run: chi_sq.on(run).max()
)
mean_misrepresentation = Quantity(
    "mean_misrepresentation",
    r"\frac1N\sum_n\chi_n^2\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]",
    "mean over n of chi_n^2 times the sum over represented types of s_j(n)/q(n) [F_j(thetabar^n) - F_j*]",
    lambda run: (chi_sq.on(run) * misrepresentation.on(run)).sum() / run.algorithm.rounds,
)
misfit = Quantity("misfit", r"\max_{n,j}|s_j(n)-r_j|", "max over updates and types of |s_j(n) - r_j|", _misfit)
absences = Quantity(
    "absences",
    r"\#\{(n,j):s_j(n)=0\}",
    "in how many updates a type is missing, summed over the types",
    _absences,
)
client_gap_at_surrogate_optimum = Quantity(
    "client_gap_at_surrogate_optimum",
    r"\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*)",
    "L_i(thetabar) - L_i* of each client, thetabar the optimum of the surrogate problem",
    lambda run: on_clients(run.surrogate.client_values(run.surrogate.optimum) - run.surrogate.least_client_values),
)
virtual_start_distance_sq = per_round(
    "virtual_start_distance_sq",
    r"\mathbb E\|\theta^{n,0}-\theta^*\|^2",
    "E|theta^{n,0} - x*|^2 of the virtual iterate",
    at_step(0, lambda frame: square(frame, frame.virtual)),
)
virtual_end_distance_sq = per_round(
    "virtual_end_distance_sq",
    r"\mathbb E\|\theta^{n,K}-\theta^*\|^2",
    "E|theta^{n,K} - x*|^2 of the virtual iterate",
    at_step(-1, lambda frame: square(frame, frame.next_virtual)),
)
