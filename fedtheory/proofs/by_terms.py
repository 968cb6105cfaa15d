"""Kinds of certificates that are checked by translating them into proof terms."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel import Rejected, Step
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.proof import Prover, use_lemma
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.step_sums import build_steps_sum_context, check_end, statement_at_steps
from fedtheory.proofs.terms.proof_of_claim import check_terms
from fedtheory.proofs.terms.tactics.combinations import terms_of_combination
from fedtheory.proofs.terms.tactics.links import terms_of_certificate
from fedtheory.proofs.terms.tactics.means import terms_of_mean
from fedtheory.proofs.terms.tactics.recursions import terms_of_recursion


def check_combination(claim: Claim, certificate: Combination, prove: Prover) -> Iterator[Step]:
    """Check that a claim about a run is a sum of others; raise `Rejected` for other claims."""
    if claim.place != "run" or len(claim.relations) != len(certificate.links):
        raise Rejected("a combination concerns the relations of a whole run, with parts for each")
    if any(relation.operator not in ("<=", "==", ">=") for relation in claim.relations):
        raise Rejected("a combination shows that a side is not larger, not that it is smaller")
    yield from check_terms(claim, terms_of_combination(claim, certificate, prove), prove)


def check_links(claim: Claim, certificate: Certificate, prove: Prover) -> Iterator[Step]:
    """Check that each relation of a claim holds between vectors, or between numbers of a step."""
    for name in certificate.lemmas:
        steps = [*use_lemma(claim, prove(name))]
        yield from steps
        if not all(step.holds for step in steps):
            return
    yield from check_terms(claim, terms_of_certificate(claim, certificate, prove), prove)


def check_recursion(claim: Claim, certificate: Recursion, prove: Prover) -> Iterator[Step]:
    """Check a bound on the drift."""
    yield from check_terms(claim, terms_of_recursion(claim, certificate, prove), prove)


def check_mean(claim: Claim, certificate: MeanCertificate, prove: Prover) -> Iterator[Step]:
    """Check that a claim about rounds or a run is the average over its local steps of a claim about each of them."""
    step = yield from statement_at_steps(claim, certificate.step, prove)
    if certificate.potential is not None:
        for found in check_end(certificate.potential, sp.S.Zero, build_steps_sum_context(step), claim.conditions):
            yield found
            if not found.holds:
                return
    yield from check_terms(claim, terms_of_mean(claim, certificate, prove), prove)
