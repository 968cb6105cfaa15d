"""The comparator y of updates with stale models, in place of the optimum of the surrogate problem.

It minimises Lbar(y) + |theta^0 - y|^2 / (eta_g eta_l K N); the minimiser exists for every run.
"""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_ROUND,
    FIRST_STEP,
    LAST_ROUND,
    LAST_STEP,
    MEAN_OVER_ROUNDS,
)
from fedtheory.language.quantities.measuring.terms import define
from fedtheory.language.quantities.quantity import RunQuantity, mean_over_rounds, per_round
from fedtheory.sources.fraboni2022.quantities.descent import define_alignment, define_progress
from fedtheory.sources.fraboni2022.quantities.surrogate import measure_residual_at, measure_start_distance_sq
from fedtheory.sources.fraboni2022.quantities.vectors import (
    COMPARATOR,
    NEXT_VIRTUAL,
    ROUND_OPTIMUM,
    SERVER,
    VIRTUAL,
    define_at_each_step,
    define_step_average,
    square,
    subtract_values,
)
from fedtheory.sources.fraboni2022.quantities.virtual_iterates import measure_gap_above


def _get_comparator(run: Run) -> Array:
    return run.surrogate.comparator


surrogate_comparator_distance = RunQuantity(
    "surrogate_comparator_distance",
    r"\|\theta^0-y\|",
    "|theta^0 - y|, y the comparator of the updates",
    measure_start_distance_sq(_get_comparator),
    root=True,
    term=define_at_each_step(square(SERVER - COMPARATOR), FIRST_STEP, FIRST_ROUND),
)
final_surrogate_comparator_distance_sq = define(
    "final_surrogate_comparator_distance_sq",
    r"\mathbb E\|\theta^N-y\|^2",
    "E|theta^N - y|^2 after the last update, y the comparator of the updates",
    define_at_each_step(square(NEXT_VIRTUAL - COMPARATOR), LAST_STEP, LAST_ROUND),
)
comparator_progress = define(
    "comparator_progress",
    r"\Delta_y(n)",
    "Delta_y(n): mean over k of E|theta^{n,k+1} - y|^2 - E|theta^{n,k} - y|^2",
    define_progress(COMPARATOR),
)
comparator_alignment = define(
    "comparator_alignment",
    "D(y,n)",
    "D(y, n): mean over k of E<sum_i q_i grad L_i(theta_i^{rho,k}), theta^{n,k} - y>",
    define_alignment(COMPARATOR),
)
comparator_gap = per_round(
    "comparator_gap",
    r"\Xi_y(n)",
    "Xi_y(n): mean over k of E L^n(theta^{n,k}) - L^n(y)",
    measure_gap_above(_get_comparator),
    term=define_step_average(subtract_values(VIRTUAL, COMPARATOR)),
)
mean_comparator_progress = mean_over_rounds(comparator_progress, r"\bar\Delta_y(N)")
mean_comparator_gap = mean_over_rounds(comparator_gap, r"\bar\Xi_y(N)")
comparator_residual = RunQuantity(
    "comparator_residual",
    "R_y",
    "R_y = (1/N) sum_n L^n(y) - L^n(thetabar^n), y the comparator of the updates, thetabar^n the optimum of L^n",
    measure_residual_at(_get_comparator),
    term=define_at_each_step(subtract_values(COMPARATOR, ROUND_OPTIMUM), FIRST_STEP, MEAN_OVER_ROUNDS),
)
