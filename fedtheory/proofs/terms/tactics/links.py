"""Certificates of relations between vectors as proof terms, link by link."""

from __future__ import annotations

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate, write_out
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.roots import name_roots
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.name_roots import NameRoots
from fedtheory.proofs.terms.rules.unfold import Unfold
from fedtheory.proofs.terms.tactics.combinations import named_roots
from fedtheory.proofs.terms.tactics.sums import SumTactic
from fedtheory.proofs.terms.term import ProofTerm


def terms_of_certificate(claim: Claim, certificate: Certificate, prove: Prover) -> TermProof:
    """Write a certificate of relations between vectors as terms."""
    if len(claim.relations) != len(certificate.links):
        raise Rejected(f"{len(certificate.links)} links of the certificate, {len(claim.relations)} of the claim")
    tactic = SumTactic(claim, prove, tuple(certificate.lemmas))

    def link(why: object, relation: Relation) -> ProofTerm:
        written = name_roots(certificate.roots, write_out(claim, relation))
        term: ProofTerm = tactic.link(why, written)
        term = Unfold(relation.slack, term) if claim.place == "run" else term
        roots = named_roots(certificate.roots)
        return NameRoots(roots, term) if roots else term

    pairs = zip(certificate.links, claim.relations, strict=True)
    return TermProof(claim.id, tuple(link(why, relation) for why, relation in pairs))
