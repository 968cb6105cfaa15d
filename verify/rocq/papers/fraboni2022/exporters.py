"""The exporters of this paper, and the origins of their hypotheses."""

from __future__ import annotations

import re
from collections.abc import Callable

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity, gradient_bound
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from verify.rocq.number_claims import is_of_numbers
from verify.rocq.paper_exports import PaperExports, Rule
from verify.rocq.papers.fraboni2022.schedule_vocabulary import CLOCKS, ScheduleVocabulary
from verify.rocq.papers.fraboni2022.update_vocabulary import (
    UpdateVocabulary,
    is_by_lemmas,
    is_of_updates,
    write_theorem_of_update,
)
from verify.rocq.papers.fraboni2022.updates import UPDATES
from verify.rocq.theorem import Exported, Theorem


def _export_update(
    claim: Claim, certificate: object, _export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem of a claim about the vectors of an update, or of one that the library has lemmas for."""
    is_of_vectors = isinstance(certificate, Certificate) and is_of_updates(claim)
    is_of_lemmas = isinstance(certificate, Combination) and is_by_lemmas(claim)
    return (write_theorem_of_update(claim), []) if is_of_vectors or is_of_lemmas else None


def _name_numbers(claim: Claim, certificate: Combination) -> ScheduleVocabulary | None:
    """Return the names of a claim about a schedule or about updates; None for other claims."""
    if is_of_numbers(claim, certificate):
        return None
    if any(clock in claim.assumptions for clock in CLOCKS):
        return ScheduleVocabulary(claim)
    return UpdateVocabulary(claim) if a.same_local_work not in claim.assumptions and is_of_updates(claim) else None


def _find_named(word: str) -> tuple[Quantity, ...]:
    """Return the quantities of updates whose names contain a word."""
    return tuple(quantity for quantity, name in UPDATES.items() if re.search(rf"\b{word}\b", name))


EXPORTS = PaperExports(
    exporters=(_export_update,),
    vocabulary=_name_numbers,
    names=UPDATES,
    rules=(
        Rule(r"bounded_gradients A B_g", (gradient_bound,)),
        Rule(r"one_type A", (a.one_type,)),
        Rule(r"unbiased_draws A fixed past draw", (a.unbiased_gradients,)),
        Rule(r"smooth_draws A L_xi draw", (q.sample_smoothness,)),
        Rule(r"aggregation_scheme A", (a.aggregation_scheme,)),
        Rule(r"independent_weights A fixed known", (a.weight_covariance,)),
        Rule(r"covariance A alpha d", (a.weight_covariance,)),
        Rule(r"given_weights A d|weights_are_given A", (a.given_weights,)),
        Rule(r"fair_types A", (a.fair_types,)),
        Rule(r"no_empty_update A", (a.somebody_reports,)),
        Rule(r"positive_weights A", (a.positive_weights,)),
        Rule(r"positive_importances A", (q.absences,)),
        Rule(r"asynchronous A", (a.asynchronous,)),
        Rule(r"synchronous A", (a.synchronous,)),
        Rule(r"one_at_a_time A", (a.one_at_a_time,)),
        Rule(r"whole_times A", (a.whole_times,)),
        Rule(r"identical_times A", (a.identical_times,)),
        Rule(r"fixed_intervals A interval", (a.fixed_intervals,)),
        Rule(r"whole_cycles A \((?:heard_after A interval|time_of A)\)", (a.whole_cycles,)),
        Rule(r"least_period A nu", (q.common_period, q.reports_in_a_period)),
        Rule(r"smallest_window A W", (q.window,)),
        Rule(r"minimiser A \(federated A\) star", _find_named("star")),
        Rule(r"forall x, minimiser A \(federated A\) x -> ‖x - star‖² = 0", (q.surrogate_optimum_distance,)),
        Rule(r"minimiser A \(surrogate A\) bar|fixed bar", _find_named("bar")),
        Rule(r"minimiser A \(round_objective A n\) \(bar_n n\)|fixed \(bar_n n\)", _find_named("bar_n")),
        Rule(r"minimiser A \(objective_of A i\) \(own i\)", _find_named("own")),
        Rule(r"fixed y", _find_named("y")),
    ),
)
