"""Export claims as files of theorems: select the exporter by the kind of certificate, and the required files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.certificates_of_papers import document_for
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contracting, Contraction
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.document import certificate_in, document_of, with_quantities
from fedtheory.proofs.document.reading import LEMMAS
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import conditions_of
from fedtheory.proofs.recursion import Recursion
from verify.rocq.combination import write_theorem_of_combination
from verify.rocq.contraction import write_theorem_of_contraction
from verify.rocq.fixed_point import write_theorem_of_fixed_point
from verify.rocq.links import Links
from verify.rocq.lyapunov import write_theorem_of_lyapunov
from verify.rocq.names import require_own_names
from verify.rocq.numbers import SignProofs
from verify.rocq.origins import find_origins
from verify.rocq.paper_exports import export_by_paper
from verify.rocq.reading import Reader
from verify.rocq.recursion import write_theorem_of_recursion
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import is_of_round
from verify.rocq.rounds import write_theorem_of_round
from verify.rocq.run import KNOWN, RunVocabulary
from verify.rocq.sampled import is_sampled, write_sampled_mean
from verify.rocq.step import write_theorem_at_step
from verify.rocq.theorem import Exported, Theorem
from verify.rocq.time_averages import write_mean
from verify.rocq.vocabulary import Vocabulary


def export_claim(claim: Claim, certificate: AnyCertificate | None = None) -> Exported:
    """Export a claim with a certificate, by default its stored one; raises `NotExported` with the reason."""
    try:
        document = document_for(claim) if certificate is None else document_of(claim, certificate)
        if document is None:
            advice = "in a paper's folder, `fedtheory prove FOLDER --search` keeps those that it finds"
            raise NotExported(f"it has no certificate; {advice}")
        if document.get(LEMMAS):
            raise NotExported("its certificate adds lemmas, and lemmas of documents are not exported")
        plain = use_plain_symbols(with_quantities(claim, document))
        read = certificate_in(plain, document)
        _require_operator(plain, read)
        return _export_kind(plain, read)
    except NotExported:
        raise
    except (FedtheoryError, Rejected) as reason:
        raise NotExported(str(reason)) from None


@cache
def export_id(claim_id: str) -> Exported:
    """Export a claim by its id."""
    return export_claim(find(claim_id))


def _export_kind(claim: Claim, certificate: AnyCertificate) -> Exported:
    """Return the theorem of a claim with its certificate, checked for unique names and for the origin of hypotheses."""
    conditions = tuple(conditions_of(claim, certificate.relaxed))
    own = export_by_paper(claim, certificate, export_id)
    general, used = _export_common(claim, certificate) if own is None else own
    # A theorem without conditions is stronger than the same theorem under the claim's conditions.
    is_stated = certificate.relaxed is None or (general.library and not conditions)
    theorem = general if is_stated else _state_under_conditions(claim, general, conditions)
    general = general if theorem is general else theorem.lemmas[0]
    require_own_names(claim, theorem.names)
    result = Exported(claim, theorem, general, conditions, tuple(used))
    return replace(result, theorem=find_origins(result))


def _export_common(claim: Claim, certificate: AnyCertificate) -> tuple[Theorem, list[Exported]]:
    """Return the theorem of a claim that no paper's exporter covers, and the claims that it uses."""
    match certificate:
        case Certificate():
            return _export_links(claim, certificate)
        case Recursion():
            return write_theorem_of_recursion(claim, certificate), []
        case MeanCertificate() | Contraction():
            return _export_from_step(claim, certificate)
        case FixedPoint():
            return write_theorem_of_fixed_point(claim, certificate), []
        case Lyapunov():
            return write_theorem_of_lyapunov(claim, certificate), []
        case Combination():
            return write_theorem_of_combination(claim, certificate, export_id)
    raise NotExported(f"certificates of the kind {type(certificate).__name__} are not exported")


def _export_from_step(claim: Claim, certificate: MeanCertificate | Contraction) -> tuple[Theorem, list[Exported]]:
    """Return the theorem of a claim about a run that follows from one about each local step, and that claim."""
    step = export_id(certificate.step)
    if isinstance(certificate, Contraction):
        return write_theorem_of_contraction(claim, certificate, step.claim, step.general), [step]
    write = write_sampled_mean if is_sampled(claim) else write_mean
    return write(claim, certificate, step.claim, step.general), [step]


_OF_UPPER_BOUNDS = (Recursion, MeanCertificate, Contracting)
"""Kinds whose theorems bound the left side from above, for every relation of the claim."""


def _require_operator(claim: Claim, certificate: AnyCertificate) -> None:
    """Raise `NotExported` if the relation is not the one that theorems of this kind state."""
    if isinstance(certificate, _OF_UPPER_BOUNDS) and any(one.operator != "<=" for one in claim.relations):
        raise NotExported(f"certificates of the kind {type(certificate).__name__} are exported for upper bounds")


def _export_links(claim: Claim, certificate: Certificate) -> tuple[Theorem, list[Exported]]:
    """Return the theorem that a certificate proves at a round or a local step, and the claims that it uses."""
    if is_of_round(claim):
        return write_theorem_of_round(claim, certificate, export_id)
    return write_theorem_at_step(claim, certificate), []


def _state_under_conditions(claim: Claim, general: Theorem, weaker: Sequence[Expr]) -> Theorem:
    """Return a theorem under the conditions of the claim, derived from one under weaker conditions."""
    if general.library:
        raise NotExported("weaker conditions than the claim's are exported for runs of FedAvg only")
    lemma = replace(general, name=f"{general.name}_relaxed")
    is_run = general.binders[0].type == "run"
    of_run = replace(claim, place="run")
    vocabulary = Vocabulary(claim)
    at_step = SignProofs(vocabulary.numbers, tuple(claim.conditions), vocabulary.least)
    own = RunVocabulary(of_run).signs(claim.conditions) if is_run else at_step
    known = KNOWN if is_run else Links(Reader(vocabulary), own).opening
    lines = [known, *own.prepare_conditions()]
    arguments = {}
    for place, condition in enumerate(weaker, start=1):
        gap = condition.gts - condition.lts
        lines.append(f"assert (needed{place} : {own.ordering(condition)}).")
        lines.append(f"{{ first [assumption | apply le_by_slack; {own.nonnegative(gap)}]. }}")
        arguments[f"condition{place}"] = f"needed{place}"
    lines.append(f"exact ({lemma.apply(**arguments)}).")
    parameters = [binder for binder in general.binders if not binder.name.startswith("condition")]
    proof = "\n".join(lines)
    parameters += own.hypotheses()
    return replace(general, binders=parameters, proof=proof, lemmas=(lemma,), definitions="")
