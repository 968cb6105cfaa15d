"""The proofs as their sources print them: which claims are their steps, in the order of the pages."""

from __future__ import annotations

from collections.abc import Mapping

_STEPS: Mapping[str, str] = {
    "renard2022:lemma-2.2": """
        eq-8 property-2.3 lemma-2.2.proof.smooth observation-2.1 lemma-2.2.proof.to-optimum lemma-2.2.proof.triangle
        lemma-2.2.proof.heart eq-9 property-2.4 lemma-2.2.proof.polarize lemma-2.2.proof.regroup lemma-2.2.proof.drop
        lemma-2.2.proof.unbiased property-2.5 lemma-2.2.proof.young lemma-2.2.proof.variance lemma-2.2.proof.last
    """,
    "renard2022:thm-2.1": """
        lemma-2.2 lemma-2.3 thm-2.1.proof.split thm-2.1.proof.telescope thm-2.1.proof.drift-term thm-2.1.proof.assemble
    """,
    "liu2022:lemma-1": "eq-5 eq-6 lemma-1.proof",
    "liu2022:thm-1": """
        eq-1 eq-2 eq-3.mean-zero-sum eq-3 eq-4 eq-7 eq-7.a lemma-1 eq-8 eq-8.condition thm-1.divide thm-1.telescope
    """,
    "lecture27:thm-1": "smooth-property-2 thm-1.g-step thm-1.g thm-1.step thm-1.sum",
    "lecture27:lemma-3": "smooth-property-1 lemma-3.proof lemma-3.proof.factor",
    "lecture27:thm-2": "thm-1.loss lemma-3 lemma-4 thm-2.interval thm-2.jump thm-2.last",
    "vlaski2023:lemma-5.1": "problem-5.2",
    "vlaski2023:thm-5.1.recursion": """
        eq-5.25 eq-5.29 eq-5.30 lemma-5.1 eq-5.34-5.37 eq-5.38.lemma-step eq-5.38.steps-a-d eq-5.38.final
        eq-5.41 eq-5.42 condition-5.1 eq-5.47 eq-5.48 eq-5.49 eq-5.51 eq-5.52 eq-5.53 eq-5.54
        eq-5.58 eq-5.59-5.60 eq-5.61 eq-5.62 eq-5.64 eq-5.65 eq-5.65.step-condition
    """,
    "fraboni2022:lemma-2": "eq-7 eq-8 lemma-1 lemma-2.eq-57-58 lemma-2.eq-59",
    "fraboni2022:lemma-3.phi": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "fraboni2022:lemma-3.S": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "fraboni2022:lemma-4": "lemma-4.proof",
    "fraboni2022:lemma-5": "lemma-5.steps",
    "fraboni2022:lemma-6": "lemma-1 lemma-6.steps",
    "fraboni2022:thm-1": """
        lemma-2 lemma-3.phi lemma-3.S lemma-4 lemma-5 lemma-6 thm-1.proof-86-90.86 thm-1.proof-86-90.87
        thm-1.proof-86-90.88 thm-1.proof-86-90.89 thm-1.proof-86-90.90 eq-91 eq-92 eq-93 eq-95-96 eq-94
        A5.conditions eq-97 eq-98
    """,
    "fraboni2022:lemma-7": "lemma-7.steps",
    "fraboni2022:thm-2": "lemma-7 eq-104 eq-105",
    "fraboni2022:thm-3.loss": "eq-23 eq-24 eq-25 thm-3.proof",
    "fraboni2022:thm-3.gradient": "thm-3.loss lemma-7 eq-104 eq-105",
}
"""Names of the steps, within the source of the claim that is proved."""


def printed_steps(claim_id: str) -> tuple[str, ...]:
    """Ids of the steps of the printed proof of a claim, in order; none where the source has no proof of it."""
    source = claim_id.partition(":")[0]
    return tuple(f"{source}:{name}" for name in _STEPS.get(claim_id, "").split())


def with_printed_proofs() -> tuple[str, ...]:
    """Ids of the claims whose sources print a proof."""
    return tuple(_STEPS)
