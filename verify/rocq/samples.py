"""Claims about updates and the draws of their clients: names in `library/Samples.v` and `library/Means.v`, and what
is assumed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import (
    Quantity,
    client_gap_at_surrogate_optimum,
    gradient_bound,
    largest_chi_sq,
    spread_factor,
    unrepresented_importance,
)
from fedtheory.proofs.decoding import FACTS as KNOWN
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder

LIBRARY = ("Samples", "Means")
EVERYBODY = "everybody"
"""The hypothesis that every client counts in some update."""
OF_SAMPLES: Mapping[Quantity, str] = {
    q.sample_smoothness: "L_xi",
    spread_factor: "spread_factor A alpha d",
    q.progress: "progress A bar n",
    q.comparator_progress: "progress A y n",
    q.selected_alignment: "selected_alignment A bar n",
    q.mean_step_length_sq: "mean_step_length_sq A",
    q.client_distance_sq: "client_distance_sq A n k i",
    q.past_applied_spread: "past_applied_spread A n k i",
    q.past_mean_square_gradient: "past_mean_square_gradient A n k",
    q.local_step_index: "INR k",
    q.round_gap_at_step: "round_gap_at A bar_n n k",
    q.stale_gradient_change: "stale_change A draw n k i",
    q.mixed_gradient_change: "mixed_change A draw n k",
    q.change_from_round_optimum: "change_from_optimum A draw bar_n n k i",
    q.virtual_second_moment: "virtual_second_moment A draw n k i",
    q.mixed_noise_at_virtual: "mixed_noise A draw n k",
    q.second_moment_at_round_optimum: "optimum_moment A draw bar_n n i",
    q.round_optimum_noise: "optimum_noise A draw bar_n n",
    q.round_optimum_mixed_noise: "mixed_optimum_noise A draw bar_n n",
    q.mean_round_optimum_noise: "mean_optimum_noise A draw bar_n",
    q.mean_round_optimum_mixed_noise: "mean_mixed_optimum_noise A draw bar_n",
}
OF_COMPARATORS: Mapping[Quantity, str] = {
    q.surrogate_comparator_distance: "initial_distance A y",
    q.final_surrogate_comparator_distance_sq: "server_distance_sq A y (updates A)",
    q.comparator_alignment: "alignment A y n",
    q.comparator_gap: "surrogate_gap A y n",
    q.mean_comparator_progress: "mean_progress A y",
    q.mean_comparator_gap: "mean_surrogate_gap A y",
    q.comparator_residual: "residual A y bar_n",
}
"""The words for the optimum of the surrogate problem, of which the library asks nothing, for any point."""
OF_TYPES: Mapping[Quantity, str] = {
    q.virtual_client_gap: "virtual_client_gap A own n k i",
    unrepresented_importance: "unrepresented_importance A n i",
    q.virtual_gradient_lengths: "client_slope_sq A n k i",
    q.misrepresentation: "misrepresentation A own bar_n n",
    q.unrepresented_gap: "unrepresented_gap A own n",
    largest_chi_sq: "largest_chi_sq A",
    q.virtual_gradient_sq: "virtual_gradient_sq A n",
    q.mean_virtual_gradient_sq: "mean_virtual_gradient_sq A",
    q.mean_virtual_suboptimality: "mean_virtual_suboptimality A star",
}
"""Those of `library/Types.v`."""
OF_WINDOWS: Mapping[Quantity, str] = {
    gradient_bound: "B_g",
    q.local_change_sq: "local_change_sq A n i",
    q.virtual_loss_change: "virtual_loss_change A n k i",
    q.window_loss: "window_loss A W b i",
    q.window_round_loss: "window_round_loss A W b i",
    q.window_weight: "window_weight A W b i",
    q.mean_weight_sum: "mean_weight_sum A",
    q.mean_weight_share: "mean_weight_share A i",
    client_gap_at_surrogate_optimum: "client_gap_at_surrogate_optimum A own bar i",
    q.surrogate_suboptimality_at_step: "surrogate_suboptimality_at A bar n k",
    q.surrogate_suboptimality: "surrogate_suboptimality A bar n",
    q.mean_surrogate_suboptimality: "mean_surrogate_suboptimality A bar",
}
"""Those of `library/Windows.v`."""
_EACH = "minimiser_bar_n n Hn"
FACTS: Mapping[str, Sequence[str]] = {
    KNOWN["spread"].name: ("client_spread_nonneg A n",),
    KNOWN["square_gradient"].name: ("mean_square_nonneg A n",),
    KNOWN["mean_gradient"].name: ("square_mean_gradient_nonneg A n",),
    KNOWN["past_moves"].name: ("past_moves_nonneg A n",),
    KNOWN["mean_move"].name: ("mean_move_nonneg A",),
    KNOWN["round_gap"].name: (f"round_gap_nonneg A bar_n n ({_EACH})",),
    KNOWN["optimum_noise"].name: ("optimum_noise_nonneg A draw bar_n n",),
    KNOWN["mixed_optimum_noise"].name: ("mixed_optimum_noise_nonneg A draw bar_n n",),
    KNOWN["mean_optimum_noise"].name: ("mean_optimum_noise_nonneg A draw bar_n",),
    KNOWN["mean_mixed_noise"].name: ("mean_mixed_optimum_noise_nonneg A draw bar_n",),
    KNOWN["residual"].name: ("residual_nonneg A bar bar_n minimiser_bar_n",),
    KNOWN["comparator_residual"].name: ("residual_nonneg A y bar_n minimiser_bar_n",),
    KNOWN["comparator_gaps"].name: ("gaps_split A y bar_n",),
    KNOWN["telescoped_from_y"].name: ("telescoped A y scheme",),
    KNOWN["final_surrogate_comparator_distance"].name: ("server_distance_nonneg A y (updates A)",),
    KNOWN["mean_weights"].name: ("mean_sum_below A",),
}
"""Lemmas of the library, one of which shows the fact."""


@dataclass(frozen=True)
class _Assumed:
    """Variables and hypotheses that come together, with the assumption that they stand for."""

    assumption: Assumption | None
    binders: Sequence[Binder]
    on: str = ""
    """A variable without which there is nothing to assume."""


_ASSUMED = (
    _Assumed(None, (Binder("fixed", "space_of A -> Prop"),)),
    _Assumed(
        a.unbiased_gradients,
        (
            Binder("past", "nat -> nat -> space_of A -> Prop"),
            Binder("draw", "nat -> nat -> nat -> objective (space_of A)"),
            Binder("unbiased_A", "unbiased_draws A fixed past draw"),
        ),
    ),
    _Assumed(
        a.convex_and_smooth,
        (
            Binder("L_xi", "R"),
            Binder("L_xi_positive", "0 < L_xi"),
            Binder("smooth_draws_A", "smooth_draws A L_xi draw"),
        ),
    ),
    _Assumed(
        a.weight_covariance,
        (Binder("known", "nat -> space_of A -> Prop"), Binder("independent_A", "independent_weights A fixed known")),
    ),
    _Assumed(a.given_weights, (Binder("given", "given_weights A d"),), "d"),
    _Assumed(a.given_weights, (Binder("given_A", "weights_are_given A"),)),
    _Assumed(a.convex_and_smooth, (Binder("convex_A", "convex_clients A"),)),
    _Assumed(None, (Binder("B_g", "R"), Binder("bounded_A", "bounded_gradients A B_g"))),
    _Assumed(None, (Binder("b", "nat"), Binder("Hb", "(b * W + W <= updates A)%nat")), "W"),
    _Assumed(None, (Binder("fixed_bar", "fixed bar"),), "bar"),
    _Assumed(None, (Binder("fixed_y", "fixed y"),), "y"),
    _Assumed(None, (Binder("fixed_bar_n", "forall n, fixed (bar_n n)"),), "bar_n"),
)


def assumed(asked: Set[str], parameters: Set[str], assumptions: Sequence[Assumption]) -> Iterator[Binder]:
    """The variables and hypotheses that are asked for and that the assumptions of a claim, or its points, give."""
    chosen = [one for one in _ASSUMED if (asked - parameters) & {binder.name for binder in one.binders}]
    needs_fixed = any(" fixed" in binder.type for one in chosen for binder in one.binders)
    for one in _ASSUMED:
        if one not in chosen and not (needs_fixed and one is _ASSUMED[0]):
            continue
        if one.assumption is not None and one.assumption not in assumptions:
            raise NotExported(f"{one.binders[0].name} is known by the assumption {one.assumption.name!r} alone")
        if not one.on or one.on in parameters:
            yield from one.binders


class SignsOfParts(SignProofs):
    """Proofs of signs by the signs of parts, where conditions are as they were written."""

    def prepared(self) -> list[str]:
        """Nothing: conditions are used as they are."""
        return []

    def ordering(self, condition: Expr) -> str:
        """A condition as text, in an order that is the same whatever a claim's symbols are."""
        plain = {symbol: sp.Symbol(text) for symbol, text in self.names.items()}
        return replace(self, names={one: one.name for one in plain.values()}).written(condition.xreplace(plain))

    def written(self, condition: Expr) -> str:
        """A condition as text, in the symbols as they are."""
        return super().ordering(condition)

    def nonnegative(self, value: object) -> str:
        """A tactic for the goal that a number is not negative."""
        del value
        return "sign"
