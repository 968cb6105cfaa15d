"""Export claims about one update of scheme (6) with random weights, by lemmas of `library/Weights.v`.

Each of these lemmas gives the sum of the terms of one certificate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fedtheory.language.claim import Claim, Relation
from fedtheory.language.paper_parts import tables_of_papers
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
_OF_CLAIMS: Mapping[str, Sequence[str]] = tables_of_papers("rocq", "UPDATE_LEMMAS")
"""Lemmas on updates with client sampling, for each relation of a claim."""


def is_by_lemmas(claim: Claim) -> bool:
    """Return whether the library has a lemma for each relation of a claim."""
    return claim.id in _OF_CLAIMS


def theorem_of_update(claim: Claim) -> Theorem:
    """Return the theorem of a claim about the vectors of an update."""
    run = UpdateVocabulary(claim)
    lemmas = _OF_CLAIMS.get(claim.id, ())
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
    """Return a proof for each of several relations: by its lemma, or by any lemma on weights."""
    if lemmas:
        return [f"pose proof ({lemma}) as fact; by_bound fact." for lemma in lemmas]
    ways = " | ".join(f"(pose proof ({lemma}) as fact; by_lemma fact)" for lemma in _LEMMAS)
    return [f"first [{ways}]."] * count


def _sign(relation: Relation) -> str:
    if relation.operator not in SIGN:
        raise NotExported("no tactic is generated for strict inequalities")
    return SIGN[relation.operator]
