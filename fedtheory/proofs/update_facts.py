"""Facts of updates of scheme (6): what their quantities are, whatever the theory; as much trusted as the kernel is."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Notion
from fedtheory.proofs.facts import Fact

SCHEME = (a.aggregation_scheme,)
CONVEX = (*SCHEME, a.convex_and_smooth)


def _not_negative(name: str, notion: Notion, needs: tuple[Assumption, ...] = SCHEME) -> Fact:
    return Fact(f"{name} is not negative", lambda letter: letter(notion), needs)


SPREAD = _not_negative("a mean squared distance", q.client_spread)
SQUARE_GRADIENT = _not_negative("a mean of squared lengths", q.mean_square_gradient)
MEAN_GRADIENT = _not_negative("the squared length of a mean", q.square_mean_gradient)
PAST_MOVES = _not_negative("a sum of squared lengths", q.past_step_lengths_sq)
MEAN_MOVE = _not_negative("a mean of squared moves", q.mean_step_length_sq)
FINAL_SURROGATE_DISTANCE = _not_negative("a squared distance", q.final_surrogate_distance_sq)
ROUND_GAP = _not_negative("the gap above the least value of L^n", q.round_gap, CONVEX)
OPTIMUM_NOISE = _not_negative("a second moment at the optimum of L^n", q.round_optimum_noise)
MIXED_OPTIMUM_NOISE = _not_negative("a mixed second moment at the optimum of L^n", q.round_optimum_mixed_noise)
MEAN_OPTIMUM_NOISE = _not_negative("a mean of second moments", q.mean_round_optimum_noise)
MEAN_MIXED_NOISE = _not_negative("a mean of mixed second moments", q.mean_round_optimum_mixed_noise)
RESIDUAL = _not_negative("a mean of gaps above the least values of the L^n", q.residual, CONVEX)
GAPS = Fact(
    "the gaps at the virtual iterates are those above the surrogate optimum, and the residual",
    lambda letter: letter(q.mean_round_gap) - letter(q.mean_surrogate_gap) - letter(q.residual),
    SCHEME,
    is_zero=True,
)
TELESCOPED_UPDATES = Fact(
    "the progress of the updates telescopes: an update ends where the next one starts",
    lambda letter: (
        letter(q.local_steps) * letter(q.rounds) * letter(q.mean_progress)
        - letter(q.final_surrogate_distance_sq)
        + letter(q.surrogate_initial_distance) ** 2
    ),
    SCHEME,
    is_zero=True,
)
STEP_NUMBERS = Fact(
    "no local step has a larger number than K - 1",
    lambda letter: (letter(q.local_steps) - 1) * letter(q.past_sum_of_sums) - letter(q.weighted_past_sum),
    SCHEME,
)
EARLIER_SUMS = Fact(
    "no sum over the steps before one of K - 1 others is larger than that of all but the last",
    lambda letter: (letter(q.local_steps) - 1) * letter(q.sum_without_last) - letter(q.past_sum_of_sums),
    SCHEME,
)
LAST_STEP = Fact(
    "a sum without its last member is not larger",
    lambda letter: letter(q.local_steps) * letter(q.mean_square_gradient) - letter(q.sum_without_last),
    SCHEME,
)

PAIRING = Fact(
    "two weights of an update have at most the product of their means (Assumption 5)",
    lambda letter: 1 - letter(q.weight_pairing),
    (a.weight_covariance,),
)
REPORTING_EXCESS = Fact(
    "a given weight is at most the sum of all",
    lambda letter: letter(q.largest_weight_sum) - letter(q.reporting_excess),
    (*SCHEME, a.given_weights),
)
MEAN_WEIGHTS = Fact(
    "a mean of sums of weights is at most the largest",
    lambda letter: letter(q.largest_weight_sum) - letter(q.mean_weight_sum),
    SCHEME,
)
LOSS = _not_negative("the loss above its least value", q.virtual_suboptimality, CONVEX)
FAIR_LOSS = Fact(
    "for fair types the gap of an update is a multiple of the loss above its least value",
    lambda letter: letter(q.weight_sum) * letter(q.virtual_suboptimality) - letter(q.round_gap),
    (*CONVEX, a.fair_types),
    is_zero=True,
)
FAIR_RESIDUAL = Fact(
    "for fair types all updates have the optimum of the federated problem",
    lambda letter: letter(q.residual),
    (a.fair_types,),
    is_zero=True,
)
