"""Facts that are definitions: two names for one quantity, or one written out; as much trusted as the kernel is."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import Letters
from fedtheory.proofs.schedule_facts import constant, equal

SCHEME = (a.aggregation_scheme,)


def _zero(name: str, slack: Callable[[Letters], Expr], *needs: Assumption) -> Fact:
    return Fact(name, slack, needs, is_zero=True)


_STARTS = "the virtual iterate starts at the server's model, and ends where that goes"
VIRTUAL_START = equal(_STARTS, q.virtual_start_distance_sq, q.server_distance_sq, *SCHEME)
VIRTUAL_END = equal(_STARTS, q.virtual_end_distance_sq, q.server_distance_after_sq, *SCHEME)
_FLAT = "a sum of objectives has no slope where it is least"
ROUND_SLOPE = constant(_FLAT, q.round_optimum_slope_sq, 0, *SCHEME)
SURROGATE_SLOPE = constant(_FLAT, q.surrogate_optimum_slope_sq, 0, *SCHEME)
_LINEAR = "sums of objectives have the sums of their values"
MEAN_OBJECTIVE = _zero(
    _LINEAR,
    lambda letter: (
        ClientSum(letter(q.mean_weight) * letter(q.client_value_at_start)) - letter(q.mean_round_objective_at_start)
    ),
    *SCHEME,
)
SURROGATE_OBJECTIVE = _zero(
    _LINEAR,
    lambda letter: ClientSum(letter(q.mean_weight) * letter(q.client_value_at_start)) - letter(q.surrogate_at_start),
    *SCHEME,
)
TYPES = _zero(
    _LINEAR,
    lambda letter: (
        ClientSum(letter(q.type_importance) * letter(q.client_value_at_start)) - letter(q.objective_at_start)
    ),
    *SCHEME,
)
TYPES_OF_UPDATE = _zero(
    _LINEAR,
    lambda letter: (
        ClientSum(letter(q.type_weight) * letter(q.client_value_at_start)) - letter(q.round_objective_at_start)
    ),
    *SCHEME,
)
UPDATE_SHARE = _zero(
    "a share in an update is a weight over the sum of its weights",
    lambda letter: letter(q.weight_share) * letter(q.weight_sum) - letter(q.expected_weight),
    a.somebody_reports,
)
EXPECTED_TIME = _zero(
    "N rounds take N times the mean time of one",
    lambda letter: letter(q.rounds) * letter(q.expected_round_time) - letter(q.expected_clock_time),
    a.synchronous,
)
GROWTH = _zero(
    "a mean of squares is the square of the mean and the variance, which is largest where it is",
    lambda letter: letter(q.gradient_growth(1)) ** 2 - letter(q.mean_dissimilarity) ** 2,
)
SERVER_MESSAGES = _zero(
    "a server receives the model of each client, and sends one to each",
    lambda letter: letter(q.parameter_server_load) - 2 * letter(q.clients) * letter(q.model_size),
)
RING_MESSAGES = _zero(
    "a worker of a ring sends an N-th of a model N - 1 times to sum up, and N - 1 times to spread the sums",
    lambda letter: letter(q.clients) * letter(q.ring_worker_load) - 2 * (letter(q.clients) - 1) * letter(q.model_size),
)
