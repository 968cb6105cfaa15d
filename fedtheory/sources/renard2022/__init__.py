"""T. Renard, *Notes on Federated Optimization*, 26 May 2022: FedAvg on convex functions.

One module for each part of the notes, in the order of the pages; inside a
module, claims stand in the order in which they are printed, each repair right
behind the claim that it corrects.
"""

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
"""For each statement whose proof is printed, the statements that are its steps, in order."""

UNPROVED = {"that a problem has a property which other claims assume follows from no certificate": "toy-problem.class"}
"""Why a claim that is supported is not proved."""

_TITLE = "Notes on Federated Optimization"
SOURCE = Source("renard2022", _TITLE, "T. Renard", 2022, CLAIMS, PRINTED_PROOFS, UNPROVED, main="thm-2.1", reading=1)
