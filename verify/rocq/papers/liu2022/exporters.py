"""The exporters of this paper."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.examined import Examined
from verify.rocq.paper_exports import PaperExports
from verify.rocq.papers.liu2022.run_steps import write_theorem_of_step_in_run
from verify.rocq.refusals import NO_RESTARTS, NotExported
from verify.rocq.theorem import Exported, Theorem


def _refuse_loop(_claim: Claim, certificate: object, _export_id: Callable[[str], Exported]) -> None:
    """Raise `NotExported` for an average over the iterations of the loop."""
    if isinstance(certificate, Examined) and certificate.kind == "mean over the loop":
        raise NotExported(NO_RESTARTS)


def _export_step(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about each local step that uses a bound on the drift."""
    if isinstance(certificate, Certificate) and certificate.lemmas and claim.place == "step":
        return write_theorem_of_step_in_run(claim, certificate, export_id)
    return None


EXPORTS = PaperExports(exporters=(_refuse_loop, _export_step))
