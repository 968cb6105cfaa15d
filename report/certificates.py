"""A certificate for its claim's page: coefficients, reasons, and what is not negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.claim import Claim
from fedtheory.expressions import Average, latex
from fedtheory.proofs import Certificate, MeanCertificate, certificates, theory_of
from report.mathml import formula


@dataclass(frozen=True)
class CertificateTerm:
    """One term of one link, typeset."""

    link: Markup
    """The link that it belongs to."""
    coefficient: Markup
    reason: str
    not_negative: Markup


def certificate_terms(claim: Claim) -> list[CertificateTerm]:
    """The terms whose sum is the slack of each link; none where there is no certificate."""
    found = certificates().get(claim.id)
    if not isinstance(found, Certificate):
        return []
    theory, terms = theory_of(claim), []
    for relation, given in zip(claim.relations, found.links, strict=True):
        for term in given:
            reason = term.reason(theory)
            slack = Average(reason.expression) if term.averaged else reason.expression
            shown = (formula(latex(part)) for part in (term.coefficient, slack))
            coefficient, not_negative = shown
            terms.append(CertificateTerm(formula(relation.latex), coefficient, reason.name, not_negative))
        if not given:
            terms.append(CertificateTerm(formula(relation.latex), formula("0"), "an identity", formula("0")))
    return terms


def relaxed_conditions(claim: Claim) -> Sequence[Markup] | None:
    """The weaker conditions under which the certificate holds; None where it uses the claim's own."""
    found = certificates().get(claim.id)
    if not isinstance(found, Certificate) or found.relaxed is None:
        return None
    return [formula(latex(condition)) for condition in found.relaxed]


def mean_of(claim: Claim) -> MeanCertificate | None:
    """What a claim about rounds or a run is the mean of, where that is its certificate."""
    found = certificates().get(claim.id)
    return found if isinstance(found, MeanCertificate) else None
