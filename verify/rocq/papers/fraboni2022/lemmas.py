"""Lemmas of the Rocq library that prove relations of single claims about an update with random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_UNBIASED = "A draw fixed past unbiased_A"
_SMOOTH = f"{_UNBIASED} L_xi L_xi_positive smooth_draws_A"
_OPTIMUM = "bar_n fixed_bar_n n (minimiser_bar_n n Hn)"
_FREE = "A alpha d weights fixed known independent_A"
_PROGRESS, _PROGRESS_TO_Y = (f"{_FREE} draw past unbiased_A {point} fixed_{point} n" for point in ("bar", "y"))
_LOSSES = "A given_A B_g bounded_A convex_A"
_DEVIATION = "deviation_in_two A n k"
_BY_GAPS = "deviation_by_gaps A L L_positive convex_A smooth_A own minimiser_own n k"
"""Arguments that several lemmas share."""

UPDATE_LEMMAS: Mapping[str, Sequence[str]] = {
    "fraboni2022:eq-44-45": ("mean_square_below A n k", f"mixed_noise_below {_UNBIASED} n k"),
    "fraboni2022:lemma-2.fixed": (
        f"progress_by_alignment {_PROGRESS} Hn",
        "progress_below A alpha d weights bar n Hn",
        f"alignments_below {_PROGRESS} Hn",
    ),
    "fraboni2022:thm-1.any-point.progress": (f"progress_by_alignment {_PROGRESS_TO_Y} Hn",),
    "fraboni2022:lemma-2.given-weights": (
        "progress_of_given A alpha d weights fixed draw past unbiased_A bar fixed_bar n given Hn",
    ),
    "fraboni2022:lemma-3.eq-64-66.fixed": (
        "client_distance_below A n k i",
        "distances_below A n k",
        f"spread_below {_FREE} n k Hn",
    ),
    "fraboni2022:lemma-3.eq-67-68.fixed": (
        f"gradient_in_three {_UNBIASED} bar_n fixed_bar_n n k i",
        f"stale_changes_below {_SMOOTH} n k",
        f"changes_below {_SMOOTH} {_OPTIMUM} k",
        f"gradients_in_three {_SMOOTH} {_OPTIMUM} k",
    ),
    "fraboni2022:lemma-5.steps.fixed": (
        f"mixed_change_below {_SMOOTH} n k",
        f"mixed_moments_below {_SMOOTH} {_OPTIMUM} k",
        f"square_mean_below {_SMOOTH} {_OPTIMUM}",
    ),
    "fraboni2022:lemma-5.two-parts": (f"square_mean_in_two {_SMOOTH} {_OPTIMUM}",),
    "fraboni2022:lemma-7": (f"Rle_trans _ _ _ ({_DEVIATION}) ({_BY_GAPS})",),
    "fraboni2022:lemma-7.steps": (_DEVIATION, _BY_GAPS),
    "fraboni2022:eq-105.round": (
        "shared_slope_below A L L_positive convex_A smooth_A n k bar_n (minimiser_bar_n n Hn)",
        "gaps_in_two A own minimiser_own n k bar_n",
    ),
    "fraboni2022:eq-23": (
        "move_by_changes A given_A n scheme",
        "changes_below_bound A B_g bounded_A n Hn",
    ),
    "fraboni2022:thm-3.step": (f"loss_rises {_LOSSES} n k i Hn Hk Hi", f"loss_falls {_LOSSES} n k i Hn Hk Hi"),
    "fraboni2022:eq-25.fixed": (f"window_below {_LOSSES} scheme W b i (proj1 smallest_window_W) Hb Hi",),
    "fraboni2022:thm-3.proof.fixed": (
        f"windows_in_mean {_LOSSES} scheme W bar (proj1 smallest_window_W)",
        "gaps_split A bar bar_n",
    ),
    "fraboni2022:thm-3.gradient.step": (
        "gradient_below A L L_positive convex_A smooth_A own minimiser_own bar minimiser_bar everybody n k",
    ),
}
"""For each claim the lemmas, with their arguments, that prove its relations in order."""
