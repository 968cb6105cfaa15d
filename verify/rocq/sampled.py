"""Vocabulary of claims about runs with client sampling; their names in `library/Sampled.v`."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.proof import conditions_of
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN, NEEDED, RunVocabulary
from verify.rocq.theorem import Binder, Theorem, declare_real
from verify.rocq.time_averages import (
    conclude,
    find_coefficients,
    list_step_terms,
    prove_rest,
    translate_terms,
    write_at_each,
)

_DISCOUNTED = "discounted_suboptimality A mu x_star"


class SampledVocabulary(RunVocabulary):
    """The numbers of a claim about a run with client sampling, with their names in Rocq."""

    needed = (*NEEDED[:2], a.averaged_participants)
    kind = "sampled_run"

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.names[self.symbols(q.discounted_suboptimality)] = _DISCOUNTED
        self.needs = ("Sampled",)

    def binders(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the variables and hypotheses of a theorem in which the given symbols occur."""
        parameters = [*super().binders(used)]
        if not any(binder.name == "past" for binder in parameters):
            raise NotExported("client sampling is exported for runs with noise")
        yield from parameters
        yield from declare_real("rho_of_draws")
        yield Binder("participants_A", "averaged_participants A past rho_of_draws")

    def prove_end(self, potential: Expr, weight: Expr, signs: SignProofs) -> str:
        """Return a tactic for the potential after the last step of a round, which includes the cost of sampling."""
        last = potential.xreplace({self.symbols(q.local_step_index): self.symbols(q.local_steps)})
        left = sp.cancel(last - weight * self.symbols(q.sampling_variance))
        return f"cbv beta; apply le_by_slack; {signs.nonnegative(left)}"

    def point_arguments(self, point: str) -> str:
        """Return the first arguments of a lemma about the distance of a run from a point."""
        return f"A past rho_of_draws unbiased_A participants_A {point} past_{point}"


def is_sampled(claim: Claim) -> bool:
    """Return whether the runs of a claim sample clients."""
    return a.averaged_participants in claim.assumptions


def write_sampled_mean(claim: Claim, certificate: MeanCertificate, step: Claim, of_step: Theorem) -> Theorem:
    """Return a claim about a run with client sampling, from a theorem about each local step."""
    run, (relation,) = SampledVocabulary(claim), claim.relations
    signs = run.signs(conditions_of(claim, certificate.relaxed))
    gain, progress, *_ = find_coefficients(run, relation.slack, certificate.span)
    at_each = list_step_terms(run, step, certificate)
    lemma = write_at_each(run, step, of_step, (gain, progress), at_each)
    of_all, point = translate_terms(run, step, at_each), run.reference_point
    known = f"({run.number(gain)}) * average_suboptimality A {point}"
    known += f" + ({run.number(progress)}) / (tau A * T A) * total_progress A {point} + sum (steps_of A) rest / tau A"
    numbers = f"(fun k : R => {of_all.text(of_all.potential, run, 'k')}) ({run.number(gain)}) ({run.number(progress)})"
    lines = [
        KNOWN,
        *signs.prepare_conditions(),
        *prove_rest(run, of_all),
        f"assert (K : 0 <= {known}).",
        f"{{ apply (mean_of_run {run.point_arguments(point)} {numbers} rest).",
        f"  - {signs.nonnegative(progress)}.",
        f"  - {run.prove_end(certificate.potential or sp.S.Zero, progress, signs)}.",
        f"  - intros n k Hk. exact ({lemma.apply(**run.step_arguments())}). }}",
        *conclude(point),
    ]
    return run.state_bound(signs, lines, (lemma,))


def choose_vocabulary(claim: Claim) -> RunVocabulary:
    """Return the vocabulary of a claim about a run: with client sampling, or with full participation."""
    return SampledVocabulary(claim) if is_sampled(claim) else RunVocabulary(claim)
