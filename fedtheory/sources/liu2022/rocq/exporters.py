"""The exporters of this paper."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language.claim import Claim
from fedtheory.sources.liu2022.context.restarts import LoopMean
from verify.rocq.papers import PaperExports
from verify.rocq.refusals import NO_RESTARTS, NotExported
from verify.rocq.theorem import Exported


def _refuse_loop(_claim: Claim, certificate: object, _export_id: Callable[[str], Exported]) -> None:
    """Raise `NotExported` for an average over the iterations of the loop."""
    if isinstance(certificate, LoopMean):
        raise NotExported(NO_RESTARTS)


EXPORTS = PaperExports(exporters=(_refuse_loop,))
