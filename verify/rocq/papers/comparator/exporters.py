"""The exporter of this source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.language.claim import Claim
from verify.rocq.paper_exports import PaperExports
from verify.rocq.papers.comparator.discounted import write_theorem_of_exponential_average
from verify.rocq.theorem import Exported, Theorem


def _export_average(
    claim: Claim, certificate: Any, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a bound on an exponentially weighted average, and the claim about its steps."""
    if certificate.kind != "discounted":
        return None
    step = export_id(certificate.step)
    return write_theorem_of_exponential_average(claim, certificate, certificate.gain, step), [step]


EXPORTS = PaperExports(exporters=(_export_average,))
