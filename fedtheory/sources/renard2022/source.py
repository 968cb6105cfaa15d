"""The notes as a source: statements, steps of published proofs, unproved claims, and sentences that are not encoded."""

from fedtheory.language.source import Source
from fedtheory.sources.renard2022.statements import CLAIMS

PRINTED_PROOFS = {
    "lemma-2.2": """
        eq-8 property-2.3 lemma-2.2.proof.smooth observation-2.1 lemma-2.2.proof.to-optimum
        lemma-2.2.proof.triangle lemma-2.2.proof.heart eq-9 lemma-2.2.proof.noise-split property-2.4
        lemma-2.2.proof.polarize lemma-2.2.proof.squares lemma-2.2.proof.expected lemma-2.2.proof.mark
        lemma-2.2.proof.regroup lemma-2.2.proof.drop lemma-2.2.proof.unbiased property-2.5 lemma-2.2.proof.young
        lemma-2.2.proof.variance lemma-2.2.proof.last
    """,
    "thm-2.1": """
        lemma-2.2 lemma-2.3 thm-2.1.proof.split thm-2.1.proof.drift-term
        thm-2.1.proof.telescope thm-2.1.proof.assemble
    """,
}
"""Steps of each published proof, in order: the ids of their statements."""

UNPROVED = {"no kind of certificate proves that a problem satisfies an assumption": "toy-problem.class"}
"""Reasons why a claim that is supported is not proved."""

NOT_ENCODED = {
    "Strategy of the proof, item 1: the progress of a round is bounded by some term that decreases when t increases.": (
        "every bounded sequence is below a decreasing one, so that the sentence cannot be refuted.  The notes prove "
        "Lemma 2.2 in its place."
    ),
    "Before Lemma 2.2: the error of a round is in $O(1/\\tau)$.": (
        "with noise and drift the error of a round tends to a positive number as $\\tau$ grows.  The true part, "
        "$O(1/\\tau)$ up to the noise and the drift, is the claim lemma-2.2.goal."
    ),
}
"""Sentences without a claim, with reasons."""

_TITLE = "Notes on Federated Optimization"
SOURCE = Source(
    "renard2022",
    _TITLE,
    "T. Renard",
    2022,
    CLAIMS,
    PRINTED_PROOFS,
    UNPROVED,
    main="thm-2.1",
    reading=1,
    not_encoded=NOT_ENCODED,
)
