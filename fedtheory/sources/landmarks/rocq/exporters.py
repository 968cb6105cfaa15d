"""The exporters of this source, for all algorithms that are given by definitions."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language.claim import Claim
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.sources.landmarks.rocq.fixed_point import theorem_of_fixed_point
from fedtheory.sources.landmarks.rocq.lyapunov import theorem_of_lyapunov
from verify.rocq.papers import PaperExports
from verify.rocq.theorem import Exported, Theorem


def _export_definition(
    claim: Claim, certificate: object, _export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about an algorithm's fixed point, or about its last round."""
    match certificate:
        case FixedPoint():
            return theorem_of_fixed_point(claim, certificate), []
        case Lyapunov():
            return theorem_of_lyapunov(claim, certificate), []
    return None


EXPORTS = PaperExports(exporters=(_export_definition,))
