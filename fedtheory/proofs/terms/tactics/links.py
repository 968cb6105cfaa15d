"""Translates certificates of relations between vectors into proof terms, link by link."""

from __future__ import annotations

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import PastSum
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.links import PrefixSum
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.roots import name_roots
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.name_roots import NameRoots
from fedtheory.proofs.terms.rules.past_total import PastTotal
from fedtheory.proofs.terms.rules.unfold import Unfold
from fedtheory.proofs.terms.tactics.combinations import list_named_roots
from fedtheory.proofs.terms.tactics.sums import SumTactic
from fedtheory.proofs.terms.term import ProofTerm


def write_terms_of_certificate(claim: Claim, certificate: Certificate, prove: Prover) -> TermProof:
    """Write a certificate of relations between vectors as terms."""
    if len(claim.relations) != len(certificate.links):
        wanted, given = len(claim.relations), len(certificate.links)
        raise Rejected(f"expected a link for each of the {wanted} relations of the claim, got {given}")
    tactic = SumTactic(claim, prove, tuple(certificate.lemmas))

    def link(why: object, relation: Relation) -> ProofTerm:
        if isinstance(why, PrefixSum):
            return write_past_total(claim, relation)
        written = name_roots(certificate.roots, write_out(claim, relation))
        term: ProofTerm = tactic.link(why, written)
        term = Unfold(*relation.ordered, term) if claim.place == "run" else term
        roots = list_named_roots(certificate.roots)
        return NameRoots(roots, term) if roots else term

    pairs = zip(certificate.links, claim.relations, strict=True)
    return TermProof(claim.id, tuple(link(why, relation) for why, relation in pairs))


def write_past_total(claim: Claim, relation: Relation) -> PastTotal:
    """Write an equation between a multiple of a prefix sum of numbers, and its value."""
    if not symbols_of(claim).has(q.local_step_index) or relation.operator != "==":
        raise Rejected("a total is an equation, and needs the symbol of the local step")
    sums = relation.left.atoms(PastSum)
    if len(sums) != 1 or relation.right.has(PastSum):
        raise Rejected("expected one sum over the past steps, on the left side, times a number")
    (past,) = sums
    factor = relation.left / past
    if factor.has(PastSum):
        raise Rejected("expected one sum over the past steps, on the left side, times a number")
    return PastTotal(factor, past.args[0], relation.right)
