"""Translates averages over the local steps of a round or of a run into proof terms."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import linear
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.at import AfterSteps
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.draw import Draw
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.term import ProofTerm, Weighted

ONE = sp.S.One


def write_terms_of_mean(claim: Claim, certificate: MeanCertificate, _prove: Prover) -> TermProof:
    """Write the average over local steps of a claim about each of them.

    The sum of the steps telescopes by normal form.  The drift after the last step of a round is a sum of
    squares, of which the sampling of participants costs a part.
    """
    if len(claim.relations) != 1:
        raise Rejected(
            f"a mean over local steps proves one inequality, and the claim has {len(claim.relations)} relations"
        )
    process, slack = Process(claim), claim.relations[0].slack
    is_run = certificate.span == "run"
    share = 1 / (process.steps * process.rounds if is_run else process.steps)

    def weigh(coefficient: Expr, each: ProofTerm) -> Weighted:
        return Weighted(coefficient, SumOver("rounds", ONE, each) if is_run else each)

    parts, cost = [weigh(share, SumOver("steps", ONE, Use(certificate.step)))], sp.S.Zero
    if not process.is_full:
        symbols = process.symbols
        if symbols.has(q.total_comparator_progress):
            point, gained = q.comparator, _find_coefficient(slack, symbols(q.total_comparator_progress))
        else:
            # The progress towards the optimum is written out, since its quantity stops at the end of each round.
            point, gained = q.optimum, -_find_coefficient(slack, symbols(q.final_distance_sq))
        parts.append(weigh(gained, Draw(symbols(point))))
        cost = gained * process.symbols(q.sampling_variance)
    owed = certificate.potential or sp.S.Zero
    left = sp.cancel(owed.xreplace({process.symbols(q.local_step_index): process.steps}) * share - cost)
    if left != 0:
        drift = process.symbols(q.local_iterate) - process.symbols(q.average_iterate)
        parts.append(weigh(ONE, AfterSteps(SumOver("clients", left, Axiom("square", (drift,))))))
    return TermProof(claim.id, (Combine(slack, ">=", tuple(parts)),))


def _find_coefficient(slack: Expr, of: sp.Symbol) -> Expr:
    """Return the coefficient of a symbol in a linear slack."""
    factors, _ = linear(slack, [of])
    return factors[of]
