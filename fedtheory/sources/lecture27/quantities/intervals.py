"""The auxiliary sequence of centralised gradient descent that restarts from every server model.

For runs without noise: ``v_[k]((k-1) tau) = w((k-1) tau)``, then
``v <- v - eta grad F(v)``; theta_[k](t) = F(v_[k](t)) - F*.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import read_common_steps
from fedtheory.engine.objectives import QuadraticObjectives
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Expectation
from fedtheory.language import assumptions as a
from fedtheory.language.quantities import errors
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_STEP,
    LARGEST_ROUND,
    LAST_ROUND,
    LAST_STEP,
    SUM_OVER_ROUNDS,
)
from fedtheory.language.quantities.measuring.symbols import (
    NEXT_CENTRALISED,
    NEXT_VIRTUAL,
    SERVER,
    define_by,
    gap,
)
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import Over, per_round

interval_start_gap = per_round(
    "interval_start_gap",
    r"\theta_{[k]}((k-1)\tau)",
    "for each interval: F(v_[k]((k-1) tau)) - F*, the server's model",
    lambda run: place_on_rounds(run.trajectory.server_suboptimality[:-1]),
    term=define_by(gap(SERVER), FIRST_STEP),
)


def _is_random(run: Run) -> bool:
    """Return whether the server's models are random, by noise or by the weights of the clients."""
    law = run.algorithm.aggregation.moments(run.problem.weights)
    return a.full_gradients.failure(run) is not None or not law.is_fixed


def _measure_interval_ends(run: Run) -> Array:
    """Return theta_[k](k tau) for each interval, (T,)."""
    size = run.algorithm.work.common_step_size
    if size is None:
        raise NotApplicable("the clients use different step sizes")
    if not isinstance(run.mean_objective, QuadraticObjectives) and _is_random(run):
        raise NotApplicable("of random models, gradient descent has a known expectation on quadratics only")
    ends = run.trajectory.server_mean[:-1] - run.problem.optimum
    for _ in range(read_common_steps(run)):
        ends = ends - size * run.mean_objective.gradients([0], ends[:, None])[:, 0]
    return run.gaps(ends)


interval_end_gap = per_round(
    "interval_end_gap",
    r"\theta_{[k]}(k\tau)",
    "for each interval: F(v_[k](k tau)) - F*, after tau centralised steps",
    lambda run: place_on_rounds(_measure_interval_ends(run)),
    term=define_by(gap(Expectation(NEXT_CENTRALISED)), LAST_STEP),
)
next_interval_start_gap = per_round(
    "next_interval_start_gap",
    r"\theta_{[k+1]}(k\tau)",
    "for each interval: F(w(k tau)) - F*, the aggregated model from which the next one starts",
    lambda run: place_on_rounds(run.trajectory.server_suboptimality[1:]),
    term=define_by(gap(NEXT_VIRTUAL), LAST_STEP),
)


reciprocal_progress = define_in_numbers(
    "reciprocal_progress",
    r"\sum_{k=1}^K\left(\frac{1}{\theta_{[k]}(k\tau)}-\frac{1}{\theta_{[k]}((k-1)\tau)}\right)",
    "sum over intervals of 1/theta_[k](k tau) - 1/theta_[k]((k-1) tau)",
    1 / interval_end_gap.symbol - 1 / interval_start_gap.symbol,
    SUM_OVER_ROUNDS,
    of=[interval_end_gap, interval_start_gap],
)
last_interval_gap = reduce_entries(
    "last_interval_gap",
    r"\theta_{[K]}(T)",
    "F(v_[K](T)) - F*, the centralised model at the end of the last interval",
    interval_end_gap,
    LAST_ROUND,
)


smallest_gap = define_in_numbers(
    "smallest_gap",
    r"\varepsilon",
    "the largest epsilon that conditions (3) and (4) allow: the smallest theta_[k](k tau) and F(w(T)) - F*",
    sp.Min(interval_end_gap.symbol, errors.final_suboptimality.symbol),
    Over("rounds", "smallest"),
    of=[interval_end_gap, errors.final_suboptimality],
)


_farthest = reduce_entries(
    "farthest_start_sq", "r^2", "the largest E|x^t - x*|^2 of a round's start", errors.server_distance_sq, LARGEST_ROUND
)
nearest_start = define_in_numbers(
    "nearest_start", r"\omega", "omega = min_k 1/|v_[k]((k-1) tau) - w*|^2", 1 / _farthest.symbol, of=[_farthest]
)
