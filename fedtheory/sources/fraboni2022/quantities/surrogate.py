"""The surrogate problem, and the problem of each update: optima, distances, residuals, noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, sum_with_weights
from fedtheory.engine.objectives import QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import ClientSum, Expectation, Expr, Gradient, Value
from fedtheory.language.quantities.measuring.axes import place_on_clients, place_on_rounds
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP, MEAN_OVER_ROUNDS
from fedtheory.language.quantities.measuring.terms import reduce_entries
from fedtheory.language.quantities.quantity import (
    ObjectiveQuantity,
    RunQuantity,
    Term,
    constant,
    mean_over_rounds,
    per_round,
)
from fedtheory.sources.fraboni2022.quantities.vectors import (
    CLIENT_OBJECTIVE,
    CLIENT_OPTIMUM,
    MEAN_WEIGHT,
    OBJECTIVE,
    OPTIMUM,
    ROUND_OPTIMUM,
    SAMPLE_AT_ROUND_OPTIMUM,
    SAMPLE_AT_SURROGATE_OPTIMUM,
    SERVER,
    SHARE,
    START,
    SURROGATE_OPTIMUM,
    define_at_each_step,
    square,
    subtract_client_values,
    subtract_values,
    weigh_by_shares,
    weigh_by_weights,
)

Point = Callable[[Run], Array]
"""A point of a run, (d,)."""


def get_surrogate_optimum(run: Run) -> Array:
    """Return thetabar, (d,)."""
    return run.surrogate.optimum


def _define_once(expression: Expr) -> Term:
    """Define a number that is equal at all local steps of all updates."""
    return define_at_each_step(expression, FIRST_STEP, FIRST_ROUND)


def _mix_second_moments(run: Run, factors: Array) -> Array:
    """Return sum_i c_i(n) E|g_i|^2 at the optimum of each L^n, (N,), for factors c(n), (N, M) or (1, M)."""
    mixed = (factors * run.second_moments_at(run.surrogate.update_optima)).sum(axis=1)
    return np.broadcast_to(mixed, run.algorithm.rounds)


def _place_updates(run: Run, values: Sequence[Any]) -> Array:
    """Return N numbers, or one number for all updates, on the axis of rounds, (N, 1, 1)."""
    return place_on_rounds(np.broadcast_to(np.stack(values), run.algorithm.rounds))


round_optimum_noise = per_round(
    "round_optimum_noise",
    r"\sigma_1(n)",
    "sigma_1(n) = sum_i q_i(n)/q(n) E|g_i|^2 at the optimum of L^n",
    lambda run: place_on_rounds(_mix_second_moments(run, run.surrogate.update_shares)),
    term=define_at_each_step(weigh_by_shares(square(SAMPLE_AT_ROUND_OPTIMUM)), FIRST_STEP),
)


def _compute_mixed_noise(run: Run) -> Array:
    """Return sum_i (q_i(n)/q(n))^2 E|g_i|^2 at the optimum of each L^n, (N,)."""
    surrogate = run.surrogate
    return _mix_second_moments(run, surrogate.update_shares * run.average_over_types(surrogate.update_shares))


round_optimum_mixed_noise = per_round(
    "round_optimum_mixed_noise",
    r"\sigma_2(n)",
    "sigma_2(n) = sum_i (q_i(n)/q(n))^2 E|g_i|^2 at the optimum of L^n",
    lambda run: place_on_rounds(_compute_mixed_noise(run)),
    term=define_at_each_step(weigh_by_shares(SHARE * square(SAMPLE_AT_ROUND_OPTIMUM)), FIRST_STEP),
)
mean_round_optimum_noise = mean_over_rounds(round_optimum_noise, r"\Sigma_1(N)")
mean_round_optimum_mixed_noise = mean_over_rounds(round_optimum_mixed_noise, r"\Sigma_2(N)")
surrogate_noise = RunQuantity(
    "surrogate_noise",
    r"\Sigma",
    "Sigma = sum_i q_i E|g_i|^2 at the optimum of the surrogate problem",
    lambda run: run.second_moments_at(run.surrogate.optimum) @ run.surrogate.mean_weights,
    term=_define_once(ClientSum(MEAN_WEIGHT * square(SAMPLE_AT_SURROGATE_OPTIMUM))),
)


def measure_residual_at(point: Point) -> Callable[[Run], Any]:
    """Return a measure of (1/N) sum_n L^n(y) - L^n(thetabar^n) for a point y."""

    def measure(run: Run) -> Any:
        gaps = run.surrogate.values_at(point(run)) - run.surrogate.round_optimal_values
        return gaps.sum() / len(gaps)

    return measure


def measure_start_distance_sq(point: Point) -> Callable[[Run], Any]:
    """Return a measure of |theta^0 - y|^2 for a point y."""

    def measure(run: Run) -> Any:
        displacement = run.problem.centred.start - point(run)
        return displacement @ displacement

    return measure


surrogate_initial_distance = RunQuantity(
    "surrogate_initial_distance",
    r"\|\theta^0-\bar\theta\|",
    "|theta^0 - thetabar|, thetabar the optimum of the surrogate problem",
    measure_start_distance_sq(get_surrogate_optimum),
    root=True,
    term=_define_once(square(SERVER - SURROGATE_OPTIMUM)),
)
surrogate_optimum_distance = RunQuantity(
    "surrogate_optimum_distance",
    r"\|\bar\theta-\theta^*\|",
    "distance of the optimum of the surrogate problem from that of the federated problem",
    lambda run: run.surrogate.optimum @ (run.surrogate.optimum - run.problem.about_optimum.optimum),
    root=True,
    term=_define_once(square(SURROGATE_OPTIMUM - OPTIMUM)),
)
round_optimum_gap = per_round(
    "round_optimum_gap",
    r"\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)",
    "L^n(thetabar) - L^n(thetabar^n) of each update",
    lambda run: place_on_rounds(run.surrogate.values_at(run.surrogate.optimum) - run.surrogate.round_optimal_values),
    term=define_at_each_step(subtract_values(SURROGATE_OPTIMUM, ROUND_OPTIMUM), FIRST_STEP),
)
residual = reduce_entries(
    "residual",
    r"R(\{\mathcal L^n\})",
    "R = (1/N) sum_n L^n(thetabar) - L^n(thetabar^n), thetabar the optimum of the surrogate, thetabar^n that of L^n",
    round_optimum_gap,
    MEAN_OVER_ROUNDS,
)
client_gap_at_surrogate_optimum = RunQuantity(
    "client_gap_at_surrogate_optimum",
    r"\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*)",
    "L_i(thetabar) - L_i* of each client, thetabar the optimum of the surrogate problem",
    lambda run: place_on_clients(
        run.surrogate.client_values(run.surrogate.optimum) - run.surrogate.least_client_values
    ),
    term=_define_once(subtract_client_values(SURROGATE_OPTIMUM, CLIENT_OPTIMUM)),
)


def _combine_objectives(run: Run, weights: Array) -> QuadraticObjectives:
    """Return sum_i weights_i L_i as one quadratic, by its coefficients."""
    centred = run.problem.centred
    hessian, linear = (sum_with_weights(weights, part)[None] for part in (centred.hessians, centred.linear))
    return QuadraticObjectives(hessian, linear, weights @ centred.constants)


def _average_round_objectives(run: Run) -> QuadraticObjectives:
    """Return the average of the coefficients of L^0, ..., L^{N-1}."""
    rounds = [_combine_objectives(run, weights) for weights in run.surrogate.update_weights]
    hessians, linear, constants = zip(*((each.hessians, each.linear, each.constants) for each in rounds), strict=True)
    return QuadraticObjectives(*(sum(parts[1:], parts[0]) / len(rounds) for parts in (hessians, linear, constants)))


surrogate_objective = ObjectiveQuantity(
    "surrogate_objective",
    r"\bar{\mathcal L}",
    "the surrogate problem Lbar = sum_i q_i L_i, as one objective",
    lambda run: _combine_objectives(run, run.surrogate.mean_weights),
)
mean_round_objective = ObjectiveQuantity(
    "mean_round_objective",
    r"\frac1N\sum_n\mathcal L^n",
    "the mean over the updates of the objectives L^n, each as one objective",
    _average_round_objectives,
)


def _evaluate_at_start(run: Run, weights: Array) -> Any:
    """Return sum_i weights_i L_i as one objective, at theta^0."""
    return run.surrogate.mixed_value(weights, run.problem.centred.start)


round_objective_at_start = per_round(
    "round_objective_at_start",
    r"\mathcal L^n(\theta^0)",
    "L^n(theta^0), of the one objective L^n",
    lambda run: _place_updates(run, [_evaluate_at_start(run, weights) for weights in run.surrogate.update_weights]),
    term=define_at_each_step(weigh_by_weights(Expectation(Value(CLIENT_OBJECTIVE, START))), FIRST_STEP),
)
mean_round_objective_at_start = mean_over_rounds(round_objective_at_start, r"\frac1N\sum_n\mathcal L^n(\theta^0)")
surrogate_at_start = RunQuantity(
    "surrogate_at_start",
    r"\bar{\mathcal L}(\theta^0)",
    "Lbar(theta^0), of the one objective Lbar",
    lambda run: _evaluate_at_start(run, run.surrogate.mean_weights),
    term=_define_once(ClientSum(MEAN_WEIGHT * Expectation(Value(CLIENT_OBJECTIVE, START)))),
)


def _measure_gradient_sq(run: Run, weights: Array, point: Array) -> Any:
    """Return |grad|^2 of sum_i weights_i L_i as one objective, at a point."""
    gradient = run.surrogate.mixed_gradient(weights, point)
    return gradient @ gradient


def _measure_round_gradients(run: Run) -> Array:
    """Return |grad|^2 of each update's objective at its minimiser, (N, 1, 1)."""
    pairs = zip(run.surrogate.update_weights, run.surrogate.update_optima, strict=True)
    return _place_updates(run, [_measure_gradient_sq(run, weights, point) for weights, point in pairs])


round_optimum_slope_sq = per_round(
    "round_optimum_slope_sq",
    r"\|\nabla\mathcal L^n(\bar\theta^n)\|^2",
    "|grad L^n|^2 at the optimum of L^n",
    _measure_round_gradients,
    term=define_at_each_step(square(weigh_by_weights(Gradient(CLIENT_OBJECTIVE, ROUND_OPTIMUM))), FIRST_STEP),
)
surrogate_optimum_slope_sq = RunQuantity(
    "surrogate_optimum_slope_sq",
    r"\|\nabla\bar{\mathcal L}(\bar\theta)\|^2",
    "|grad Lbar|^2 at the optimum of Lbar",
    lambda run: _measure_gradient_sq(run, run.surrogate.mean_weights, run.surrogate.optimum),
    term=_define_once(square(ClientSum(MEAN_WEIGHT * Gradient(CLIENT_OBJECTIVE, SURROGATE_OPTIMUM)))),
)

client_value_at_start = constant(
    "client_value_at_start",
    r"\mathcal L_i(\theta^0)",
    "L_i(theta^0) of each client",
    lambda run: place_on_clients(run.surrogate.client_values(run.problem.centred.start)),
    term=_define_once(Expectation(Value(CLIENT_OBJECTIVE, START))),
)

objective_at_start = constant(
    "objective_at_start",
    r"\mathcal L(\theta^0)",
    "F(theta^0), of the one objective F",
    lambda run: run.problem.value(run.problem.start),
    term=_define_once(Expectation(Value(OBJECTIVE, START))),
)
