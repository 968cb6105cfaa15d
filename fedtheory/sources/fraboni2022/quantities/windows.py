"""Losses and weights over windows of W updates, after which every client has its weight."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum, Expectation, Value
from fedtheory.language.quantities.measuring.reductions import SUM_OVER_STEPS, SUM_OVER_WINDOWS
from fedtheory.language.quantities.measuring.terms import define, reduce_entries
from fedtheory.sources.fraboni2022.quantities import weights
from fedtheory.sources.fraboni2022.quantities.vectors import (
    CLIENT_OBJECTIVE,
    MEAN_WEIGHT,
    VIRTUAL,
    WEIGHT,
    define_at_each_step,
)

_LOSS = Expectation(Value(CLIENT_OBJECTIVE, VIRTUAL))
window_loss = define(
    "window_loss",
    r"\sum_n\sum_kq_i\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i E L_i(theta^{n,k}), of each client",
    define_at_each_step(MEAN_WEIGHT * _LOSS, SUM_OVER_STEPS, SUM_OVER_WINDOWS),
)
window_round_loss = define(
    "window_round_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\mathcal L_i(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E L_i(theta^{n,k}), of each client",
    define_at_each_step(WEIGHT * _LOSS, SUM_OVER_STEPS, SUM_OVER_WINDOWS),
)
window_surrogate_loss = define(
    "window_surrogate_loss",
    r"\sum_n\sum_kq_i(n)\mathbb E\bar{\mathcal L}(\theta^{n,k})",
    "sum over a window of W updates and over k of q_i(n) E Lbar(theta^{n,k}), of each client",
    define_at_each_step(WEIGHT * ClientSum(MEAN_WEIGHT * _LOSS), SUM_OVER_STEPS, SUM_OVER_WINDOWS),
)
window_weight = reduce_entries(
    "window_weight",
    r"\sum_nq_i(n)",
    "sum over a window of W updates of q_i(n), of each client",
    weights.expected_weight,
    SUM_OVER_WINDOWS,
)
