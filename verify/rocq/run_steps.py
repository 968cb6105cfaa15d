"""Export claims about the local steps of a run that use a bound on the drift from another claim."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.names import name_of, translate
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN, RunVocabulary
from verify.rocq.step import theorem_with
from verify.rocq.terms import text
from verify.rocq.theorem import Binder, Exported, Theorem
from verify.rocq.vocabulary import CLIENTS, Vocabulary


def theorem_of_step_in_run(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return a statement about each local step of a run, with a bound on the drift of each client."""
    uses = [export_id(name) for name in certificate.lemmas]
    if len(uses) != 1 or uses[0].conditions or claim.place != "step":
        raise NotExported("its certificate uses other claims about runs than a bound on the drift")
    (known,) = uses
    bound = _find_bound(claim, known.claim)
    at_step = _state_step(claim, certificate, known.claim, bound)
    run = RunVocabulary(replace(claim, place="run"))
    conditions = claim.conditions if certificate.relaxed is None else certificate.relaxed
    used = set().union(*(one.free_symbols for one in claim.relations))
    parameters = [*run.binders(used), Binder("n", "nat"), Binder("k", "nat")]
    parameters += [Binder("Hn", "(n < rounds_of A)%nat"), Binder("Hk", "(k < steps_of A)%nat")]
    parameters += run.signs(conditions).hypotheses()
    largest = "drift_at_most_largest A n k i Hn (Nat.lt_le_incl _ _ Hk) Hi"
    drift = f"fun i Hi => Rle_trans _ _ _ ({largest}) ({known.general.applied()})"
    arguments = run.at_step | {"known_S": drift}
    proof = f"{KNOWN}\nexact ({at_step.applied(**arguments)})."
    called = {quantity: _state_in_run(name) for quantity, name in at_step.called.items()}
    return Theorem(
        name_of(claim.id), parameters, _state_in_run(at_step.statement), proof, (at_step,), called=called
    ), uses


def _state_in_run(goal: str) -> str:
    """Return a statement about a step for step k of round n of a run."""
    for name, here in (("k", "(INR k)"), ("tau", "(tau A)"), ("S", "(step_at A n k)")):
        goal = re.sub(rf"\b{name}\b", here, goal)
    return goal


def _find_bound(claim: Claim, lemma: Claim) -> Expr:
    """Return the bound on the largest drift, in the symbols of the claim about each step."""
    (relation,) = lemma.relations
    theirs, own = symbols_of(lemma), symbols_of(claim)
    if relation.operator != "<=" or relation.left != theirs(q.max_drift):
        raise NotExported(f"{lemma.id} does not bound the drift of each client")
    return translate(relation.right, theirs, own)


def _state_step(claim: Claim, certificate: Certificate, lemma: Claim, bound: Expr) -> Theorem:
    symbol = symbols_of(claim)
    drift = norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
    vocabulary = Vocabulary(claim)
    reader = Reader(vocabulary)
    goal = f"{text(reader.scalar(drift), CLIENTS)} <= {reader.number(bound)}"
    hypotheses = [Binder("known_S", f"forall i, (i < number {CLIENTS})%nat -> {goal}")]
    plain = replace(certificate, lemmas=())
    theorem = theorem_with(
        claim, plain, {lemma.id: KnownSlack(bound - drift, "pose proof (known_S i Hi) as known; lra")}, hypotheses
    )
    return replace(theorem, name=f"{theorem.name}_at_step")
