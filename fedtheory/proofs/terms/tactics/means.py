"""Means over the local steps of a round or of a run as proof terms."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.at import At
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.term import ProofTerm, Weighted

ONE = sp.S.One


def terms_of_mean(claim: Claim, certificate: MeanCertificate, _prove: Prover) -> TermProof:
    """Write the mean over local steps of a claim about each of them."""
    if len(claim.relations) != 1:
        raise Rejected("a mean over local steps proves one relation")
    process = Process(claim)
    if not process.is_full:
        raise Rejected("the mean over steps with sampled participants has no proof term yet")
    steps: ProofTerm = SumOver("steps", ONE, Use(certificate.step))
    count = process.steps
    if certificate.span == "run":
        steps, count = SumOver("rounds", ONE, steps), count * process.rounds
    parts = [Weighted(1 / count, steps)]
    if certificate.potential is not None:
        left = sp.cancel(certificate.potential.xreplace({process.symbols(q.local_step_index): process.steps}))
        spread: ProofTerm = At("after the last step", SumOver("clients", ONE, Axiom("square", (_drift(process),))))
        spread = SumOver("rounds", ONE, spread) if certificate.span == "run" else spread
        parts += [Weighted(left / count, spread)] if left != 0 else []
    return TermProof(claim.id, (Combine(claim.relations[0].slack, ">=", tuple(parts)),))


def _drift(process: Process) -> sp.Expr:
    return process.symbols(q.local_iterate) - process.symbols(q.average_iterate)
