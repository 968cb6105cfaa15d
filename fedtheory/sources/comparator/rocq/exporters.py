"""The exporter of this source."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language.claim import Claim
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from fedtheory.sources.comparator.rocq.discounted import theorem_of_exponential_average
from verify.rocq.papers import PaperExports
from verify.rocq.theorem import Exported, Theorem


def _export_average(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a bound on an exponentially weighted average, and the claim about its steps."""
    if not isinstance(certificate, ExponentialAverage):
        return None
    step = export_id(certificate.step)
    return theorem_of_exponential_average(claim, certificate, step.claim, step.general), [step]


EXPORTS = PaperExports(exporters=(_export_average,))
