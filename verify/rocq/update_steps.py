"""Claims about one update of scheme (6) with its random weights, as theorems by lemmas of `library/Weights.v`.

What is known of weights there are lemmas, each of which says what the terms of a certificate add up to.
"""

from __future__ import annotations

from fedtheory.language.claim import Claim, Relation
from verify.rocq.refusals import NotExported
from verify.rocq.step import SIGN
from verify.rocq.theorem import Theorem, conjunction, name_of
from verify.rocq.updates import UpdateVocabulary

_LEMMAS = (
    "selected_square A alpha d weights n k",
    "selected_square_by_parts A alpha d weights n k",
    "step_in_parts A star n k",
    "step_by_weights A alpha d weights star n k",
    "by_largest_share A n k",
    "by_number A n k",
    "alignment_at_least A L bar n convex_A smooth_A",
    "square_weight_below A alpha d weights n i Hi",
    "square_weight_above A alpha d n i Hn Hi",
    "move_at_most A alpha d weights n scheme Hn",
    "stale_models A n i Hn Hi",
    "slope_in_two A n k",
)


def theorem_of_update(claim: Claim) -> Theorem:
    """The theorem that a claim about the vectors of an update is."""
    run = UpdateVocabulary(claim)
    sides = [(run.number(one.left), run.number(one.right)) for one in claim.relations]
    said = [f"{left} {_sign(one)} {right}" for one, (left, right) in zip(claim.relations, sides, strict=True)]
    used = {symbol for one in claim.relations for side in (one.left, one.right) for symbol in side.free_symbols}
    ways = " | ".join(f"(pose proof ({lemma}) as fact; by_lemma fact)" for lemma in _LEMMAS)
    proof = f"{run.known}\n{conjunction([f'first [{ways}].' for _ in said])}"
    return Theorem(
        name_of(claim.id), run.binders(used), " /\\\n  ".join(said), proof, library=run.library, called=run.called
    )


def _sign(relation: Relation) -> str:
    if relation.operator not in SIGN:
        raise NotExported("no tactic is generated for strict inequalities")
    return SIGN[relation.operator]
