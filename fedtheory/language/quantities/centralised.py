"""The auxiliary sequence of centralised gradient descent that starts again from every server model.

For runs without noise: ``v_[k]((k-1) tau) = w((k-1) tau)``, then
``v <- v - eta grad F(v)``; theta_[k](t) = F(v_[k](t)) - F*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.frames import common_steps
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities import errors
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import FIRST_STEP, LAST_ROUND, LAST_STEP
from fedtheory.language.quantities.measuring.symbols import NEXT_VIRTUAL, SERVER, define_by, gap
from fedtheory.language.quantities.measuring.terms import define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import Over, RunQuantity, per_round


def _starts(run: Run) -> Array:
    return run.trajectory.server_suboptimality[:-1]


interval_start_gap = per_round(
    "interval_start_gap",
    r"\theta_{[k]}((k-1)\tau)",
    "for each interval: F(v_[k]((k-1) tau)) - F*, the server's model",
    lambda run: place_on_rounds(_starts(run)),
    term=define_by(gap(SERVER), FIRST_STEP),
)


def _measure_interval_ends(run: Run) -> Array:
    """theta_[k](k tau) for each interval, (T,)."""
    size = run.algorithm.work.common_step_size
    if size is None:
        raise NotApplicable("the clients use different step sizes")
    ends = run.trajectory.server_mean[:-1] - run.problem.optimum
    for _ in range(common_steps(run)):
        ends = ends - size * run.mean_objective.gradients([0], ends[:, None])[:, 0]
    return run.gaps(ends)


interval_end_gap = per_round(
    "interval_end_gap",
    r"\theta_{[k]}(k\tau)",
    "for each interval: F(v_[k](k tau)) - F*, after tau centralised steps",
    lambda run: place_on_rounds(_measure_interval_ends(run)),
)
next_interval_start_gap = per_round(
    "next_interval_start_gap",
    r"\theta_{[k+1]}(k\tau)",
    "for each interval: F(w(k tau)) - F*, the aggregated model from which the next one starts",
    lambda run: place_on_rounds(run.trajectory.server_suboptimality[1:]),
    term=define_by(gap(NEXT_VIRTUAL), LAST_STEP),
)


def _reciprocal(gaps: Array) -> Array:
    if (gaps <= 0).any():
        raise NotApplicable("the run reaches the optimum exactly")
    return np.asarray(1 / gaps)


reciprocal_progress = RunQuantity(
    "reciprocal_progress",
    r"\sum_{k=1}^K\left(\frac{1}{\theta_{[k]}(k\tau)}-\frac{1}{\theta_{[k]}((k-1)\tau)}\right)",
    "sum over intervals of 1/theta_[k](k tau) - 1/theta_[k]((k-1) tau)",
    lambda run: (_reciprocal(_measure_interval_ends(run)) - _reciprocal(_starts(run))).sum(),
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


def _nearest(run: Run) -> Any:
    farthest = largest(run.trajectory.server_distance_sq[:-1])
    if farthest == 0:
        raise NotApplicable("the run starts at the optimum")
    return 1 / farthest


nearest_start = RunQuantity(
    "nearest_start",
    r"\omega",
    "omega = min_k 1/|v_[k]((k-1) tau) - w*|^2",
    _nearest,
)
