"""The slides as a source: statements, steps of published proofs, unproved claims, and sentences that are not
encoded.
"""

from fedtheory.language.source import Source
from fedtheory.sources.liu2022.statements import CLAIMS

PRINTED_PROOFS = {
    "lemma-1": "eq-5 eq-6 lemma-1.proof",
    "thm-1": """
        eq-1 eq-2 eq-3.variance eq-3.mean-zero-sum eq-3 eq-4 eq-7 eq-7.any-sum eq-7.a lemma-1 eq-8 eq-8.condition
        thm-1.divide thm-1.telescope
    """,
}
"""Steps of each published proof, in order: the ids of their statements."""

NOT_ENCODED = {
    "Last slide: in G-FedAvg-TSLR, $K=O(T/N)$ local steps keep the linear speed-up.": (
        "the slides name the theorem of another paper and do not state it.  The chart of Corollary 4 shows the exact "
        "error at these numbers of local steps, and cor-4.rounds.two-sided the algebra of the margin."
    ),
}
"""Sentences without a claim, with reasons."""

_TITLE = "Lecture Note 3-1: Federated Learning"
SOURCE = Source(
    "liu2022",
    _TITLE,
    "J. Liu",
    2022,
    CLAIMS,
    PRINTED_PROOFS,
    main="thm-3",
    reading=2,
    not_encoded=NOT_ENCODED,
)
