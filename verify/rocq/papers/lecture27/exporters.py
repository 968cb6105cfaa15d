"""The exporters of this paper, and the origins of their hypotheses."""

from __future__ import annotations

import re
from collections.abc import Callable

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.links import Induction, PrefixSum
from verify.rocq.paper_exports import PaperExports, Rule
from verify.rocq.papers.lecture27.gaps import OF_INTERVALS, GapsVocabulary, is_of_gaps
from verify.rocq.papers.lecture27.intervals import is_of_interval, write_theorem_of_interval
from verify.rocq.papers.lecture27.path_steps import write_theorem_of_path_step
from verify.rocq.papers.lecture27.paths import write_theorem_of_induction
from verify.rocq.papers.lecture27.prefix_sums import write_theorem_of_total
from verify.rocq.papers.lecture27.products import restate
from verify.rocq.theorem import Exported, Theorem


def _export_path(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about a path, or about a sum over past steps."""
    if not isinstance(certificate, Certificate):
        return None
    if claim.place == "path" and isinstance(certificate.links[0], Induction):
        return write_theorem_of_induction(claim, certificate, export_id)
    if claim.place == "path" and certificate.lemmas:
        return write_theorem_of_path_step(claim, certificate, export_id)
    return (write_theorem_of_total(claim), []) if isinstance(certificate.links[0], PrefixSum) else None


def _export_interval(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim that is a sum over the steps of an interval."""
    if isinstance(certificate, Combination) and is_of_interval(certificate):
        return write_theorem_of_interval(claim, certificate, export_id)
    return None


def _name_gaps(claim: Claim, _certificate: Combination) -> GapsVocabulary | None:
    """Return the names of a claim about the errors at starts of intervals; None for other claims."""
    return GapsVocabulary(claim) if is_of_gaps(claim) else None


_GAP = r"\(value \(F_of A\) \(centralised A {} {}\) - value \(F_of A\) x_star\)"
EXPORTS = PaperExports(
    exporters=(_export_path, _export_interval),
    vocabulary=_name_gaps,
    restate=restate,
    names=OF_INTERVALS,
    rules=(
        Rule(r"‖server A n - x_star‖² <= 1 / omega", (q.nearest_start,)),
        Rule(
            r"epsilon <= interval_gap A x_star n \(steps_of A\)|epsilon <= final_suboptimality A x_star",
            (q.smallest_gap,),
        ),
        Rule(rf"epsilon <= {_GAP.format('n', re.escape('(steps_of A)'))}", (q.smallest_gap,)),
        Rule(rf"\(m <= steps_of A\)%nat -> {_GAP.format('n', 'm')} <> 0", (q.interval_end_gap,)),
        Rule(r"\(m <= steps_of A\)%nat -> interval_gap A x_star n m <> 0", (q.interval_end_gap,)),
    ),
)
