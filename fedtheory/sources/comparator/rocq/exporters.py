"""The exporters of this source."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.means import MeanCertificate
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from fedtheory.sources.comparator.rocq.contraction import theorem_of_contraction, theorem_of_exponential_average
from fedtheory.sources.comparator.rocq.sampled import SampledVocabulary, is_sampled, write_sampled_mean
from verify.rocq.papers import PaperExports
from verify.rocq.theorem import Exported, Theorem


def _export_from_step(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim that follows from a step that contracts, or from one with sampled clients."""
    if isinstance(certificate, Contraction | ExponentialAverage):
        step = export_id(certificate.step)
        if isinstance(certificate, Contraction):
            return theorem_of_contraction(claim, certificate, step.claim, step.general), [step]
        return theorem_of_exponential_average(claim, certificate, step.claim, step.general), [step]
    if isinstance(certificate, MeanCertificate) and is_sampled(claim):
        step = export_id(certificate.step)
        return write_sampled_mean(claim, certificate, step.claim, step.general), [step]
    return None


def _name_numbers(claim: Claim, _certificate: Combination) -> SampledVocabulary | None:
    return SampledVocabulary(claim) if is_sampled(claim) else None


EXPORTS = PaperExports(exporters=(_export_from_step,), vocabulary=_name_numbers)
