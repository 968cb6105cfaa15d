"""Translates bounds on the drift, step by step, into proof terms."""

from __future__ import annotations

from typing import Literal, get_args

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.decoding import MEASURES
from fedtheory.proofs.induction import k
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.terms.places import index_of
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.cases import FirstAndLater
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.hypothesis import Hypothesis
from fedtheory.proofs.terms.rules.induct import HYPOTHESIS, Distance, InductDrift
from fedtheory.proofs.terms.rules.maximum import BoundMaximum
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.tactics.sums import SumTactic
from fedtheory.proofs.terms.term import ProofTerm, Weighted

ONE, ZERO = sp.S.One, sp.S.Zero


def write_terms_of_recursion(claim: Claim, certificate: Recursion, prove: Prover) -> TermProof:
    """Write a bound on the largest drift, or on an average of the drift over the steps."""
    relation, process, index = claim.relations[0], Process(claim), index_of(claim)
    quantity = process.quantity_of(relation.left) if relation.left.is_Symbol else None
    if quantity is certificate.measure.largest and len(claim.relations) == 1:
        return TermProof(claim.id, (_bound_largest(claim, certificate, prove),))
    if len(claim.relations) != 1 or relation.operator != "<=" or quantity not in certificate.measure.means:
        raise Rejected("a recursion proves one upper bound on the drift of a whole run")
    each: ProofTerm = _induct(claim, certificate, prove, "mean")
    share = certificate.measure.mean_drift(process.symbols(q.clients))
    symbol, right, steps = process.symbols, relation.right, process.steps
    mean = Average(norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate)))
    bound = certificate.bound.xreplace({k: index})
    left = []
    if certificate.total is None:
        each = Combine(
            right - mean, ">=", (Weighted(ONE, each), Weighted(ONE, _split_sign(right - share * bound, index)))
        )
    else:
        left = [Weighted(ONE, Sign(right - share * certificate.total.xreplace({k: steps}) / steps))]
    count, total = steps, SumOver("steps", ONE, each)
    if quantity is q.average_round_drift:
        count, total = count * process.rounds, SumOver("rounds", ONE, total)
    return TermProof(claim.id, (Combine(relation.slack, ">=", (Weighted(1 / count, total), *left)),))


def _bound_largest(claim: Claim, certificate: Recursion, prove: Prover) -> ProofTerm:
    """Return the proof term for the largest drift of a client."""
    (relation,) = claim.relations
    process, index, right = Process(claim), index_of(claim), claim.relations[0].right
    if certificate.measure.largest_drift is None:
        raise Rejected("a client average does not bound a single client")
    share = certificate.measure.largest_drift(process.symbols(q.clients))
    drift = norm_sq(process.symbols(q.local_iterate) - process.symbols(q.average_iterate))
    sign = _split_sign(right - share * certificate.bound.xreplace({k: index}), index)
    each = _induct(claim, certificate, prove, "largest")
    body = Combine(right - drift, ">=", (Weighted(ONE, each), Weighted(ONE, sign)))
    return BoundMaximum(relation.left, right, body)


def _split_sign(number: Expr, index: sp.Symbol) -> ProofTerm:
    """Return the sign of a number before the first step and after each."""
    return FirstAndLater(Sign(number.xreplace({index: ZERO})), Sign(number))


def _induct(claim: Claim, certificate: Recursion, prove: Prover, drift: Literal["largest", "mean"]) -> InductDrift:
    """Return the induction over local steps with the certificate's measure."""
    index, tactic = index_of(claim), SumTactic(claim, prove)
    measure, change = certificate.measure, {k: index}
    bound, factor, offset = (
        one.xreplace(change) for one in (certificate.bound, certificate.factor, certificate.offset)
    )
    before, after = measure.before(claim), measure.after(claim)
    later = bound.xreplace({index: index + 1})
    parts = (
        Weighted(factor, Hypothesis(HYPOTHESIS)),
        *tactic.weigh(certificate.terms),
        Weighted(ONE, Sign(later - factor * bound - offset)),
    )
    at_start = bound.xreplace({index: ZERO})
    base = Combine(at_start - before, ">=", (Weighted(ONE, Sign(at_start)),))
    first = None
    if certificate.first is not None:
        first = tactic.combine(bound.xreplace({index: ONE}) - after, certificate.first)
    names: list[Distance] = [name for name in get_args(Distance) if MEASURES[name] is measure]
    if not names:
        raise Rejected("expected one of the measures PAIR, SPREAD, DISPLACEMENT and LOOP_PAIR")
    return InductDrift(names[0], drift, bound, base, Combine(later - after, ">=", parts), first)
