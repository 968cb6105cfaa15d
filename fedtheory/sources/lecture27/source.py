"""The paper as a source: statements, steps of published proofs, unproved claims, sentences that are not encoded."""

from fedtheory.language.source import Source
from fedtheory.sources.lecture27.statements import CLAIMS

PRINTED_PROOFS = {
    "thm-1": "smooth-property-2 thm-1.g-step thm-1.g thm-1.step thm-1.sum",
    "lemma-3": "smooth-property-1 lemma-3.proof lemma-3.proof.factor",
    "thm-2": "thm-1.loss lemma-3 lemma-4 thm-2.interval thm-2.jump thm-2.last",
}
"""Steps of each published proof, in order: the ids of their statements."""

UNPROVED = {
    "the claim concerns the first local step alone, and the kernel proves statements about every step": (
        "thm-1.remark-zero"
    ),
    "contexts of intervals contain the last aggregated model, not the best one": "thm-2.explicit",
    "no kind of certificate proves that a problem satisfies an assumption": "inherit",
}
"""Reasons why claims that are supported are not proved."""

NOT_ENCODED = {
    "Remark on the auxiliary sequences: $v_{[k]}(k\\tau)\\ne v_{[k+1]}(k\\tau)$.": (
        "it says that two vectors may differ, and a claim holds on every run.  They are equal for one local step; the "
        "note of aux-sequence gives a run on which they differ."
    ),
}
"""Sentences without a claim, with reasons."""

_TITLE = "Lecture 27: Introduction to Federated Learning (after S. Wang et al. 2019)"
SOURCE = Source(
    "lecture27",
    _TITLE,
    "course 6960/5960",
    2019,
    CLAIMS,
    PRINTED_PROOFS,
    UNPROVED,
    main="thm-2",
    reading=3,
    not_encoded=NOT_ENCODED,
)
