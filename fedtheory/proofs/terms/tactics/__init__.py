"""Tactics: translate certificates into proof terms, which are checked afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.tactics.combinations import write_terms_of_combination
from fedtheory.proofs.terms.tactics.links import write_terms_of_certificate
from fedtheory.proofs.terms.tactics.means import write_terms_of_mean
from fedtheory.proofs.terms.tactics.recursions import write_terms_of_recursion

TACTICS: Mapping[type, Callable[[Claim, Any, Prover], TermProof]] = {
    Certificate: write_terms_of_certificate,
    Combination: write_terms_of_combination,
    MeanCertificate: write_terms_of_mean,
    Recursion: write_terms_of_recursion,
}
"""Functions that write certificates as terms, by their kinds; the kernel checks what they write."""


def write_terms(claim: Claim, certificate: AnyCertificate, prove: Prover) -> TermProof:
    """Write a certificate of a claim in plain symbols as proof terms; raise `Rejected` if there is no tactic for it."""
    tactic = TACTICS.get(type(certificate))
    if tactic is None:
        raise Rejected(f"a {type(certificate).__name__} has no proof term: rules of its own check it")
    relaxed = getattr(certificate, "relaxed", None)
    if relaxed is None:
        return tactic(claim, certificate, prove)
    found = tactic(replace(claim, conditions=relaxed), certificate, prove)
    return replace(found, relaxed=tuple(relaxed))
