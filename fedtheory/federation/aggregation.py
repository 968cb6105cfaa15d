"""Aggregation weights d_i that compensate for unequal reporting (fraboni2022, Section 4)."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.errors import InputError
from fedtheory.federation.clock import Clock, FedBuff, FedFix, Synchronous


def compute_time_based_weights(clock: Clock, importance: Array) -> Array:
    """Return the closed forms of fraboni2022 for client times tau_i, (M,), in rationals.

    Synchronous ``p_i`` (Table 2); asynchronous ``(sum_j 1/tau_j) tau_i p_i``
    (eq. 36); FedFix ``ceil(tau_i / interval) p_i`` (eq. 40).  The source has none for
    FedBuff, which raises `InputError`.
    """
    times: Array = np.array(clock.times, dtype=object)
    if isinstance(clock.policy, Synchronous):
        return importance
    if isinstance(clock.policy, FedFix):
        return importance * RATIONAL.array([int((time / clock.policy.interval).ceil()) for time in times])
    if isinstance(clock.policy, FedBuff):
        raise InputError("algorithm.aggregation", "expected numbers: there is no closed form for fedbuff")
    weights: Array = (1 / times).sum() * times * importance
    return weights
