"""Rules for origins of hypotheses: each maps a hypothesis at one step to assumptions and quantities.

A rule has a regular expression for the whole hypothesis. The claim must have one of its assumptions or quantities.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from verify.rocq.paper_exports import Rule, Source, load_exports
from verify.rocq.run import TABLE
from verify.rocq.vocabulary import AT

_NOISY: Sequence[Source] = (
    a.unbiased_bounded_variance,
    a.smooth_noise,
    a.bounded_second_moment,
    q.gradient_noise,
    q.stochastic_gradient,
    q.gradient_at_server_model,
    q.local_result,
    q.next_server_model,
    q.absolute_noise,
    q.relative_noise,
)
"""Quantities that involve noise."""
_FRESH = "noise: its expectation is zero, given what happened before; it is independent between clients"
_BEFORE = "noise: a round begins with what happened before"
_INDEPENDENT = "local_result: what noise makes of it is independent between clients"
_VARIANCE = (q.absolute_noise, q.relative_noise)
_OF_CLIENTS = (q.client_optimum, q.client_optimum_distance, *_VARIANCE)


def _find_quantities(word: str) -> tuple[Quantity, ...]:
    """Return the quantities of runs and updates whose names contain a word."""
    tables = (TABLE, *(one.names for one in load_exports()))
    return tuple(quantity for table in tables for quantity, name in table.items() if re.search(rf"\b{word}\b", name))


_FROM_Y = (q.comparator, AT["y"].noise, AT["y"].dissimilarity, *_find_quantities("y"))
_FROM_X_STAR = (
    q.optimum,
    *_find_quantities("x_star"),
    AT["x_star"].noise,
    AT["x_star"].dissimilarity,
    q.discounted_suboptimality,
    q.client_optimum_distance,
    q.optimum_displacement_sq,
    q.small_step_bias,
    q.nearest_start,
    q.smallest_gap,
)
HYPOTHESIS_RULES: Sequence[Rule] = (
    # Objectives.
    Rule(r"convex_clients [SA]", (a.convex_and_smooth,)),
    Rule(r"smooth_clients [SA] (?:L|L_xi)", (a.smooth, a.convex_and_smooth, q.smoothness)),
    Rule(r"strongly_convex_clients S mu", (a.strongly_convex_clients, q.strong_convexity)),
    Rule(r"own_strongly_convex S nu", (q.client_strong_convexity, a.strongly_convex_clients)),
    Rule(r"own_smooth S delta", (q.client_smoothness, a.strongly_convex_clients)),
    Rule(r"strongly_convex nu_F \(F S\)", (q.smallest_curvature,)),
    Rule(r"smooth L_F \(F S\)", (q.objective_smoothness,)),
    Rule(r"lipschitz_clients S rho", (a.lipschitz_losses,)),
    Rule(r"bounded_dissimilarity S zeta", (a.bounded_dissimilarity,)),
    Rule(r"own_dissimilarity S delta", (a.bounded_dissimilarity,)),
    Rule(r"bounded_mean_dissimilarity S zeta_mean", (a.bounded_mean_dissimilarity,)),
    Rule(r"least \(dissimilarity_at_most A\) zeta_mean", (q.mean_dissimilarity,)),
    Rule(r"least \(growth_at_most A 1\) G_one", (q.gradient_growth(1),)),
    Rule(r"dissimilarity_at S y zeta_there", (q.comparator_dissimilarity,)),
    Rule(r"dissimilarity_at S x_star zeta_star", (q.dissimilarity_at_optimum,)),
    # Noise.
    Rule(r"unbiased(?:_run|_round)? [SA] past", _NOISY, _FRESH),
    Rule(r"bounded_variance S sigma", (a.unbiased_bounded_variance,)),
    Rule(r"bounded_second_moment S G", (a.bounded_second_moment,)),
    Rule(r"bounded_second_moment S G_run", (q.visited_second_moment,)),
    Rule(r"smooth_noise S ell (?:y|x_star) noise_there", (a.smooth_noise,)),
    Rule(r"drawn_at S past noise_there", (a.smooth_noise, q.gradient_at_server_model)),
    Rule(r"noise_at S noise_there sigma_there", (q.comparator_noise,)),
    Rule(r"noise_at S noise_there sigma_star", (q.noise_at_optimum,)),
    Rule(r"variance_at_(?:iterates|start) S optimum beta sigma", _VARIANCE),
    Rule(r"variance_at_server S optimum noise_there beta sigma", _VARIANCE),
    Rule(r"mean_square_smooth(?:_steps)? S (?:noise_there delta_of_samples|bound)", (q.mean_square_smoothness,)),
    Rule(r"quiet S", (a.full_gradients,)),
    Rule(r"noise_of A n k i = zero", (a.full_gradients, q.optimum_displacement_sq)),
    Rule(r"independent_results S expected", (q.local_result,), _INDEPENDENT),
    # Clients, their steps and their weights.
    Rule(r"uniform \(clients_of A\)|uniform_shares S", (a.uniform_shares,)),
    Rule(r"2 <= M S|several_clients A", (a.several_clients,)),
    Rule(r"largest_share S p_max", (q.largest_importance,)),
    Rule(r"common_steps S", (a.two_sided_steps, a.same_local_work)),
    Rule(r"same_size S", (a.same_step_size,)),
    Rule(r"normalised_steps S", (a.normalised_steps,)),
    Rule(re.escape("size_of A = (sqrt (M_of A)) / (L * (sqrt (tau A * T A)))"), (a.speedup_step,)),
    Rule(re.escape("size_of A = (sqrt (M_of A)) / ((sqrt (tau A * T A)))"), (a.plain_speedup_step,)),
    Rule(r"mixes \(space_of A\) \(clients_of A\) mixing rho_mixing", (q.mixing_contraction,)),
    Rule(r"uniform_draws D", (a.uniform_sampling, a.full_participation)),
    Rule(r"averaged_participants A past rho_of_draws", (a.averaged_participants,)),
    # Points, which do not depend on noise.
    Rule(r"minimiser S x_star", _FROM_X_STAR),
    Rule(r"past x_star", _FROM_X_STAR),
    Rule(r"past y", _FROM_Y),
    Rule(r"past point_\d+", (q.point, q.second_point, q.third_point)),
    Rule(r"grad \(client_objective S i\) \(optimum i\) = zero", _OF_CLIENTS),
    Rule(r"past \(optimum i\)", _OF_CLIENTS),
    Rule(r"‖optimum i - x_star‖² = apart i \^ 2", (q.client_optimum_distance,)),
    Rule(r"small_step_optimum S w_bar", (q.small_step_optimum, q.small_step_bias)),
    # Numbers of algorithms.
    Rule(r"0 <= momentum|momentum < 1", (q.momentum, a.server_momentum)),
    Rule(r"0 < probability|probability <= 1", (q.communication_probability, a.scaffnew)),
    Rule(r"past \(\w+ \(after A \w+ n\)(?: i)?\)", _NOISY, _BEFORE),
    *(rule for one in load_exports() for rule in one.rules),
)
"""Patterns of hypotheses, with the parts of a claim that state them."""

EXPECTED: Sequence[tuple[str, str]] = (
    (r"conditional_mean S past expected", "the expectation, given what happened before the round"),
    (r"unbiased S past", "the expectation, given what happened before the step"),
)
"""Variables of statements with expectations."""

INDICES: Sequence[tuple[str, str]] = (
    (r"\([iwj] < number \((?:clients_of A|step_clients S)\)\)%nat", "a client"),
    (r"\(n < (?:rounds_of|updates) A\)%nat", "a round"),
    (r"\(k < steps(?:_of)? A\)%nat|\(e < steps_of_client S i\)%nat|0 <= k|k \+ 1 <= tau", "a local step"),
    (r"\(s < number \(outcomes D\)\)%nat", "an outcome of the draw"),
    (r"\(b \* W \+ W <= updates A\)%nat", "a window of the run"),
)
"""Bounds of indices."""

STANDING: Sequence[tuple[str, str]] = (
    (r"0 < (?:step_size S|size_of A|size_of_client S O)", "every run: step sizes are positive"),
    (r"forall i, 1 <= E i", "every run: clients take a local step"),
    (r"exists (?:u w|v) : (?:space_of A|step_space S), 0 < ‖(?:u - w|v)‖²", "every run: models have a dimension"),
)
"""Facts that hold for every run by definition."""

SIGNS: Mapping[str, Sequence[Source]] = {
    "L": (q.smoothness, a.smooth, a.convex_and_smooth),
    "L_xi": (q.sample_smoothness,),
    "L_F": (q.objective_smoothness,),
    "mu": (q.strong_convexity, a.strongly_convex_clients),
    "nu i": (q.client_strong_convexity, a.strongly_convex_clients),
    "nu_F": (q.smallest_curvature,),
    "delta i": (q.client_smoothness, q.client_dissimilarity, q.mean_divergence, a.strongly_convex_clients),
    "bound i": (q.mean_square_smoothness,),
    "beta i": (q.relative_noise,),
    "sigma i": (q.absolute_noise,),
    "apart i": (q.client_optimum_distance,),
    "bias": (q.small_step_bias,),
    "sigma": (q.noise_deviation, a.unbiased_bounded_variance),
    "zeta": (q.gradient_dissimilarity, a.bounded_dissimilarity),
    "zeta_mean": (q.mean_dissimilarity, a.bounded_mean_dissimilarity),
    "G": (q.second_moment, a.bounded_second_moment),
    "rho": (q.lipschitz, a.lipschitz_losses),
    "ell": (q.noise_smoothness, a.smooth_noise),
    "sigma_there": (q.comparator_noise, a.smooth_noise),
    "sigma_star": (q.noise_at_optimum, a.smooth_noise),
    "zeta_there": (q.comparator_dissimilarity,),
    "zeta_star": (q.dissimilarity_at_optimum,),
    "p_max": (q.largest_importance,),
    "rho_of_draws": (q.sampling_variance, a.averaged_participants),
    "rho_mixing": (q.mixing_contraction,),
    "mu_prox": (q.proximal_weight,),
    "omega": (q.nearest_start,),
    "epsilon": (q.smallest_gap,),
}
"""Names of the constants that are not negative."""
POSITIVE_CONSTANTS = frozenset({"L", "L_xi", "L_F", "mu", "nu i", "nu_F", "delta i", "ell", "omega", "epsilon"})
"""Names of constants that theorems assume to be positive."""
