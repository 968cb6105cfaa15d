"""Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi: federated optimisation with asynchronous clients (2022).

Aggregation with stale models and unequal reporting.  One module for each part,
in the order of the pages; each repair stands right behind the claim that it
corrects.
"""

from fedtheory.language.source import Source
from fedtheory.sources.fraboni2022.statements import CLAIMS

PRINTED_PROOFS = {
    "lemma-2": "eq-7 eq-8 lemma-1 lemma-2.eq-57-58 lemma-2.eq-59",
    "lemma-3.phi": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "lemma-3.S": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "lemma-4": "lemma-4.proof",
    "lemma-5": "lemma-5.steps",
    "lemma-6": "lemma-1 lemma-6.steps",
    "thm-1": """
        lemma-2 lemma-3.phi lemma-3.S lemma-4 lemma-5 lemma-6 thm-1.proof-86-90.86 thm-1.proof-86-90.87
        thm-1.proof-86-90.88 thm-1.proof-86-90.89 thm-1.proof-86-90.90 eq-91 eq-92 eq-93 eq-95-96 eq-94
        A5.conditions eq-97 eq-98
    """,
    "lemma-7": "lemma-7.steps",
    "thm-2": "lemma-7 eq-104 eq-105",
    "thm-3.loss": "eq-23 eq-24 eq-25 thm-3.proof",
    "thm-3.gradient": "thm-3.loss lemma-7 eq-104 eq-105",
}
"""For each statement whose proof is printed, the statements that are its steps, in order."""

_TITLE = "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates"
_AUTHORS = "Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi"
SOURCE = Source("fraboni2022", _TITLE, _AUTHORS, 2022, CLAIMS, PRINTED_PROOFS, main="thm-1", reading=5)
