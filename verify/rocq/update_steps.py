"""Claims about one update of scheme (6) with its random weights, as theorems by lemmas of `library/Weights.v`.

What is known of weights there are lemmas, each of which says what the terms of a certificate add up to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fedtheory.language.claim import Claim, Relation
from verify.rocq.names import name_of
from verify.rocq.refusals import NotExported
from verify.rocq.step import SIGN
from verify.rocq.theorem import Theorem, conjunction
from verify.rocq.updates import UpdateVocabulary

_LEMMAS = (
    "selected_square A alpha d weights n k",
    "selected_square_by_parts A alpha d weights n k",
    "step_in_parts A star n k",
    "step_by_weights A alpha d weights star n k",
    "by_largest_share A n k",
    "by_number A n k",
    "alignment_at_least A L bar n convex_A smooth_A",
    "alignment_at_least A L y n convex_A smooth_A",
    "square_weight_below A alpha d weights n i Hi",
    "square_weight_above A alpha d n i Hn Hi",
    "move_at_most A alpha d weights n scheme Hn",
    "stale_models A n i Hn Hi",
    "slope_in_two A n k",
)
_UNBIASED = "A draw fixed past unbiased_A"
_SMOOTH = f"{_UNBIASED} L_xi L_xi_positive smooth_draws_A"
_OPTIMUM = "bar_n fixed_bar_n n (minimiser_bar_n n Hn)"
_FREE = "A alpha d weights fixed known independent_A"
_PROGRESS, _PROGRESS_TO_Y = (f"{_FREE} draw past unbiased_A {point} fixed_{point} n" for point in ("bar", "y"))
_LOSSES = "A given_A B_g bounded_A convex_A"
_DEVIATION = "deviation_in_two A n k"
_BY_GAPS = "deviation_by_gaps A L L_positive convex_A smooth_A own minimiser_own n k"
_OF_DRAWS = {
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
"""Lemmas on updates with draws, for each relation of a claim."""


def is_by_lemmas(claim: Claim) -> bool:
    """Whether the library has a lemma for each relation of a claim."""
    return claim.id in _OF_DRAWS


def theorem_of_update(claim: Claim) -> Theorem:
    """The theorem that a claim about the vectors of an update is."""
    run = UpdateVocabulary(claim)
    lemmas = _OF_DRAWS.get(claim.id, ())
    if run.of_draws and not lemmas:
        raise NotExported("what its certificate says of the draws of an update is not in the library")
    run.asked |= {word for lemma in lemmas for word in re.findall(r"\w+", lemma)}
    sides = [(run.number(one.left), run.number(one.right)) for one in claim.relations]
    goal = [f"{left} {_sign(one)} {right}" for one, (left, right) in zip(claim.relations, sides, strict=True)]
    used = {symbol for one in claim.relations for side in (one.left, one.right) for symbol in side.free_symbols}
    parameters = run.binders(used)
    proof = f"{run.known}\n{conjunction(_ways(lemmas, len(goal)))}"
    return Theorem(name_of(claim.id), parameters, " /\\\n  ".join(goal), proof, library=run.library, called=run.called)


def _ways(lemmas: Sequence[str], count: int) -> Sequence[str]:
    """A proof for each of some relations: by its lemma, or by any that is known of weights."""
    if lemmas:
        return [f"pose proof ({lemma}) as fact; by_bound fact." for lemma in lemmas]
    ways = " | ".join(f"(pose proof ({lemma}) as fact; by_lemma fact)" for lemma in _LEMMAS)
    return [f"first [{ways}]."] * count


def _sign(relation: Relation) -> str:
    if relation.operator not in SIGN:
        raise NotExported("no tactic is generated for strict inequalities")
    return SIGN[relation.operator]
