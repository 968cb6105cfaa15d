"""Export claims about the local steps of a run that use a bound on the drift from another claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import conditions_of
from verify.rocq.links import Links
from verify.rocq.names import list_sides, name_of, translate
from verify.rocq.numbers import SignProofs
from verify.rocq.places import IN_RUN
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN, STEP_OF_RUN, RunVocabulary
from verify.rocq.step import write_links, write_theorem_with
from verify.rocq.theorem import Binder, Exported, Theorem
from verify.rocq.vocabulary import Vocabulary


def write_theorem_of_step_in_run(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return a statement about each local step of a run, with a bound on the drift of each client."""
    uses = [export_id(name) for name in certificate.lemmas]
    if len(uses) != 1 or uses[0].conditions or claim.place != "step":
        raise NotExported("its certificate uses other claims about runs than a bound on the drift")
    (known,) = uses
    bound = _find_bound(claim, known.claim)
    drift = norm_sq(symbols_of(claim)(q.local_iterate) - symbols_of(claim)(q.average_iterate))
    slack = KnownSlack(bound - drift, "pose proof (known_S i Hi) as known; lra")
    plain, facts = replace(certificate, lemmas=()), {known.claim.id: slack}
    reader = Reader(Vocabulary(claim))
    goal = f"{reader.write_scalar(drift)} <= {reader.number(bound)}"
    hypothesis = Binder("known_S", f"forall i, (i < number {reader.vocabulary.place.clients})%nat -> {goal}")
    at_step = replace(write_theorem_with(claim, plain, facts, [hypothesis]), name=f"{name_of(claim.id)}_at_step")
    run = RunVocabulary(replace(claim, place="run"))
    conditions = conditions_of(claim, certificate.relaxed)
    used = list_sides(claim).free_symbols
    parameters = [*run.binders(used), *STEP_OF_RUN, *run.signs(conditions).hypotheses()]
    largest = "drift_at_most_largest A n k i Hn (Nat.lt_le_incl _ _ Hk) Hi"
    by_largest = f"fun i Hi => Rle_trans _ _ _ ({largest}) ({known.general.apply()})"
    arguments = run.step_arguments() | {"known_S": by_largest}
    proof = f"{KNOWN}\nexact ({at_step.apply(**arguments)})."
    in_run = Vocabulary(claim, place=IN_RUN)
    in_run.numbers |= {in_run.symbols(q.local_step_index): "INR k", in_run.symbols(q.local_steps): "tau A"}
    links = Links(Reader(in_run, facts), SignProofs(in_run.numbers, tuple(conditions), in_run.least))
    statement, _ = write_links(links, claim, plain)
    return Theorem(name_of(claim.id), parameters, statement, proof, (at_step,), names=in_run.quantity_names), uses


def _find_bound(claim: Claim, lemma: Claim) -> Expr:
    """Return the bound on the largest drift, in the symbols of the claim about each step."""
    (relation,) = lemma.relations
    theirs, own = symbols_of(lemma), symbols_of(claim)
    if relation.operator != "<=" or relation.left != theirs(q.max_drift):
        raise NotExported(f"{lemma.id} does not bound the drift of each client")
    return translate(relation.right, theirs, own)
