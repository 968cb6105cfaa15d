"""The paper as a source: statements, steps of published proofs, unproved claims, sentences that are not encoded."""

from fedtheory.language.source import Source
from fedtheory.sources.vlaski2023.statements import CLAIMS

PRINTED_PROOFS = {
    "lemma-5.1": "problem-5.2",
    "thm-5.1.recursion": """
        eq-5.25.steps-a-b eq-5.25 eq-5.29 eq-5.30 lemma-5.1 eq-5.34-5.37 eq-5.38.lemma-step eq-5.38.steps-a-d
        eq-5.38.final eq-5.41 eq-5.42 condition-5.1 eq-5.47 eq-5.48 eq-5.49 eq-5.51 eq-5.52 eq-5.53 eq-5.54 eq-5.58
        eq-5.59-5.60 eq-5.61 eq-5.62 eq-5.64 eq-5.65 eq-5.65.step-condition
    """,
}
"""Steps of each published proof, in order: the ids of their statements."""

UNPROVED = {
    "no context contains moments of the data": "eq-5.46",
    "the claims need the mean of vectors that may cancel, and an induction bounds the norm of each local step": """
        eq-5.13 eq-5.53.fixed eq-5.54.fixed
    """,
    "the kernel has no recursion from round to round of sampled clients": "thm-5.1.limit.explicit",
}
"""Reasons why claims that are supported are not proved."""

_TITLE = "Federated Learning (draft chapter 5)"
SOURCE = Source(
    "vlaski2023",
    _TITLE,
    "S. Vlaski and A. H. Sayed",
    2023,
    CLAIMS,
    PRINTED_PROOFS,
    UNPROVED,
    main="thm-5.1.recursion",
    reading=4,
)
