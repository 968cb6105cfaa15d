"""The exporters of this paper, and the origins of their hypotheses."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from verify.rocq.paper_exports import PaperExports, Rule
from verify.rocq.papers.vlaski2023.client_step import OwnVocabulary
from verify.rocq.papers.vlaski2023.client_steps import is_of_steps, write_theorem_of_steps
from verify.rocq.papers.vlaski2023.round_numbers import is_of_round_numbers, write_theorem_of_round_numbers
from verify.rocq.papers.vlaski2023.round_vanishing import is_of_vanishing, write_theorem_of_vanishing
from verify.rocq.papers.vlaski2023.stationary_rounds import is_of_stationary_error, write_theorem_of_stationary_error
from verify.rocq.round_vocabulary import is_of_round
from verify.rocq.step import write_theorem_at_step
from verify.rocq.theorem import Exported, Theorem


def _export_steps(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about the vectors of one client, or about the limit for small steps."""
    if not isinstance(certificate, Certificate):
        return None
    if is_of_steps(claim, certificate):
        return write_theorem_of_steps(claim, certificate, export_id)
    if is_of_vanishing(claim, certificate):
        return write_theorem_of_vanishing(claim, certificate), []
    if claim.place == "round" and not is_of_round(claim):
        return write_theorem_at_step(claim, certificate, OwnVocabulary), []
    return None


def _export_sums(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about the numbers of a round, or about the stationary error."""
    if not isinstance(certificate, Combination):
        return None
    if is_of_stationary_error(certificate):
        return write_theorem_of_stationary_error(claim, certificate, export_id)
    return (write_theorem_of_round_numbers(claim, certificate), []) if is_of_round_numbers(claim) else None


EXPORTS = PaperExports(
    exporters=(_export_steps, _export_sums),
    rules=(
        Rule(r"‖w_bar - x_star‖² = bias \^ 2", (q.small_step_bias,)),
        Rule(r"server_model S = x_star", (q.leading_limiting_distance_sq,)),
        Rule(r"hessian_at \(F S\) \(server_model S\) H|solves S D H solution", (q.leading_limiting_distance_sq,)),
    ),
)
