"""Facts that are definitions: two names for one quantity, or a quantity written out; trusted like the kernel."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.proofs.facts import n, zero

_STARTS = "the virtual iterate starts at the server's model, and ends where that goes"
VIRTUAL_START = zero(_STARTS, n.virtual_start_distance_sq - n.server_distance_sq, a.aggregation_scheme)
VIRTUAL_END = zero(_STARTS, n.virtual_end_distance_sq - n.server_distance_after_sq, a.aggregation_scheme)
_FLAT = "a sum of objectives has no slope where it is least"
ROUND_SLOPE = zero(_FLAT, n.round_optimum_slope_sq, a.aggregation_scheme)
SURROGATE_SLOPE = zero(_FLAT, n.surrogate_optimum_slope_sq, a.aggregation_scheme)
_LINEAR = "sums of objectives have the sums of their values"
_MEAN = ClientSum(n.mean_weight * n.client_value_at_start)
MEAN_OBJECTIVE = zero(_LINEAR, _MEAN - n.mean_round_objective_at_start, a.aggregation_scheme)
SURROGATE_OBJECTIVE = zero(_LINEAR, _MEAN - n.surrogate_at_start, a.aggregation_scheme)
TYPES = zero(
    _LINEAR, ClientSum(n.type_importance * n.client_value_at_start) - n.objective_at_start, a.aggregation_scheme
)
TYPES_OF_UPDATE = zero(
    _LINEAR, ClientSum(n.type_weight * n.client_value_at_start) - n.round_objective_at_start, a.aggregation_scheme
)
UPDATE_SHARE = zero(
    "a share in an update is a weight over the sum of its weights",
    n.weight_share * n.weight_sum - n.expected_weight,
    a.somebody_reports,
)
EXPECTED_TIME = zero(
    "N rounds take N times the mean time of one",
    n.rounds * n.expected_round_time - n.expected_clock_time,
    a.synchronous,
)
