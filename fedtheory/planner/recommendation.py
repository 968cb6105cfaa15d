"""The recommendation of a plan: the run to make by exact errors, the best bound for it, and what limits both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Number, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, FedtheoryError, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.planner.advice import FOLLOWED, ClaimPlan
from fedtheory.planner.alternatives import Alternative, CheapAlternatives
from fedtheory.planner.bound import STEP, NumericBound
from fedtheory.planner.coverage import ERRORS, LIMITS
from fedtheory.planner.divergence import Cause, explain_divergence
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.measurements import DRIFTS, compare_numbers, find_covering_bound
from fedtheory.planner.outcomes import ErrorAtStepSize, PlannedAndBest
from fedtheory.planner.rounds_needed import ERRORS as EXACT_ERRORS
from fedtheory.planner.target import RoundCost
from fedtheory.shown import Card, Shown, frame, number


@dataclass(frozen=True, eq=False)
class Promise:
    """The value of one bound for a run that it covers."""

    plan: ClaimPlan
    step_size: float
    bound: NumericBound
    """The bound with the constants of that run."""
    at_start: float | None
    """The error at the start; None if the error is not that of a single model."""

    @property
    def value(self) -> float:
        """The value of the bound."""
        return self.bound.value()

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is no smaller than the error at the start."""
        return self.at_start is not None and self.value >= self.at_start

    @property
    def weakness(self) -> int:
        """2 if the bound is no smaller than the error at the start, 1 if it is above half of it, else 0."""
        if self.is_vacuous:
            return 2
        return int(self.at_start is not None and self.value > self.at_start / 2)

    @property
    def measured(self) -> list[str]:
        """Names of numbers in the bound that are measured on the run itself, at its step size."""
        if self.plan.bound is None:
            return []
        changed = compare_numbers(self.plan.bound.with_numbers({STEP: self.step_size}).values, self.bound.values)
        return self.plan.select_measured([name for name in changed if name not in FOLLOWED])

    @property
    def largest_term(self) -> tuple[Expr, float]:
        """The dominating term, and its fraction of the bound."""
        values = dict(zip(self.bound.terms, self.bound.term_values(), strict=True))
        term = max(values, key=lambda expression: values[expression])
        return term, values[term] / self.value if self.value > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Answer:
    """The recommended run, with its errors and bounds."""

    run: Run
    """The run as planned, in floats."""
    reached: PlannedAndBest
    """Errors of the run as planned and at its best step size."""
    accuracy: float | None
    """The target accuracy; None to minimise the error after the planned rounds."""
    local_steps: tuple[int, ...]
    """Local steps of each client, as planned."""
    beside: tuple[RunQuantity, float] | None
    """The other error after the same run: of the path if the target concerns the last iterate, and vice versa."""
    promise: Promise | None
    """The best bound at that step size; if no bound covers it, the best bound at its own step size."""
    elsewhere: Promise | None
    """A bound closer to the requested error at its own best step size, if `promise` bounds another error."""
    widest: ClaimPlan | None
    """The claim that covers the largest step sizes."""
    cause: Cause | None = None
    """The cause of the divergence of the planned run; None if it does not diverge."""
    time: float | None = None
    """Clock time of the recommended rounds; None if it is random."""
    others: CheapAlternatives | None = None
    """Other local steps and SCAFFOLD; None if the run has no such settings."""

    @property
    def error(self) -> RunQuantity:
        """The error that is reduced."""
        return self.reached.error

    @property
    def planned(self) -> ErrorAtStepSize:
        """Error of the run at the planned step size."""
        return self.reached.planned

    @property
    def best(self) -> ErrorAtStepSize:
        """Error at the best step size, the recommended one."""
        return self.reached.best

    @property
    def is_covered(self) -> bool:
        """Whether a bound covers the run at the best step size."""
        return self.promise is not None and self.promise.step_size == self.best.step_size

    @property
    def is_hopeless(self) -> bool:
        """Whether the run diverges at every step size, so that none is recommended."""
        return self.cause is not None and self.cause.is_hopeless

    def facts(self) -> dict[str, str]:
        """Return the recommended run and its results, by name."""
        best = self.best
        found = {"step size to use": number(best.step_size), "rounds": str(best.rounds)}
        found[f"{self.run.errors_are} {self.error.name} then"] = number(best.error)
        if math.isfinite(self.reached.diverges_from):
            found["diverges from the step size"] = number(self.reached.diverges_from)
        if self.promise is not None:
            where = "there" if self.is_covered else f"at the step size {number(self.promise.step_size)}"
            found[f"{self.promise.plan.claim.id} promises {where}"] = number(self.promise.value)
        return found


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Recommendations of step sizes and rounds."""

    claims: tuple[ClaimPlan, ...]
    recommended: ClaimPlan | None
    """The claim whose best step size is recommended."""
    refuted: tuple[Claim, ...]
    """Bounds that are not used because they are refuted."""
    cost: RoundCost | None
    """Cost of a round; None for constants alone."""
    answer: Answer | None = None
    """The recommendation by exact errors; None for constants alone, or if no exact error is available."""
    varied: tuple[Alternative, ...] = ()
    """Other requested settings, each at its own best step size."""

    @property
    def step_size(self) -> float | None:
        """The recommended step size: by exact errors if they are known, else that of the recommended bound."""
        if self.answer is not None:
            return self.answer.best.step_size
        chosen = None if self.recommended is None else self.recommended.optimum
        return None if chosen is None else chosen.step_size

    def summary(self) -> str:
        """Return the recommended step size, and the number of bounds that cover the run."""
        covering = sum(claim.applicable for claim in self.claims)
        chosen = "no recommendation" if self.step_size is None else f"use step size {number(self.step_size)}"
        return f"{chosen}; {covering} of {len(self.claims)} bounds cover the run"

    def card(self) -> Card:
        """Return the bounds that cover the run, the recommended one first."""
        columns = ("bound", "verdict", "bounds", "value", "best step size", "value there")
        covering = [plan for plan in self.claims if plan.applicable]
        rows = [plan.row() for plan in sorted(covering, key=lambda plan: plan is not self.recommended)]
        facts = {} if self.answer is None else self.answer.facts()
        facts |= {} if self.recommended is None else self.recommended.advice()
        return Card(self.summary(), facts=facts, columns=columns, rows=rows)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each claim; raise `MissingExtra` without pandas."""
        columns = ("verdict", "error", "applicable", "reason", "bound", "best_step_size", "bound_at_best")
        rows = [plan.entry() for plan in self.claims]
        table = {name: [row[name] for row in rows] for name in columns}
        return frame({"id": [plan.claim.id for plan in self.claims]} | table, "id")


def build_answer(
    errors: ExactErrors,
    reached: PlannedAndBest,
    accuracy: float | None,
    plans: Sequence[ClaimPlan],
    measured: Callable[[ClaimPlan], ClaimPlan] = lambda plan: plan,
) -> Answer:
    """Return the recommendation from the errors of the run, and the plans of the claims that may cover it.

    `measured` computes the best step size of a plan with constants measured on runs, which is costly: it is used
    only for plans whose bound may be better than the one at the best step size of the exact error.
    """
    error, best = reached.error, reached.best
    run = errors.run_with(best.step_size)
    run = run if best.rounds == run.algorithm.rounds else run.with_rounds(best.rounds)
    usable = [plan for plan in plans if plan.bound is not None and _is_distance_from_optimum(plan.error)]
    promise = _choose_best([_compute_promise(p, best.step_size, b, run) for p, b in _list_covering(usable, run)], error)
    suffices = promise is not None and promise.plan.error is error and not promise.is_vacuous
    elsewhere = None if suffices else _find_best_promise(usable, errors, measured, error, promise)
    if promise is None:
        promise, elsewhere = elsewhere, None
    steps = run.algorithm.work.steps
    beside = _find_other_error(run, error)
    widest, cause, time = _find_widest(usable), _explain_divergence(errors, reached), _compute_time(run)
    return Answer(errors.run, reached, accuracy, steps, beside, promise, elsewhere, widest, cause, time)


def _explain_divergence(errors: ExactErrors, reached: PlannedAndBest) -> Cause | None:
    """Return the cause of the divergence of the planned run; None if it does not diverge."""
    diverges = math.isinf(reached.planned.error) or errors.planned >= reached.diverges_from
    return explain_divergence(errors.run, reached.diverges_from) if diverges else None


def _compute_time(run: Run) -> float | None:
    """Return the clock time of all rounds of a run."""
    try:
        return plain_float(run.algorithm.times(run.problem.weights)[-1])
    except NotApplicable:
        return None


def _find_other_error(run: Run, error: RunQuantity) -> tuple[RunQuantity, float] | None:
    """Return the other one of the errors of the last model and of the path; None if it is unknown."""
    other = next(one for one in EXACT_ERRORS.values() if one is not error)
    try:
        with np.errstate(all="ignore"):
            value = plain_float(other.on(run))
    except (Diverging, NotApplicable):
        return None
    return (other, value) if math.isfinite(value) else None


def _is_distance_from_optimum(error: RunQuantity) -> bool:
    """Return whether an error is a distance from the optimum after finitely many rounds.

    A drift inside rounds or a limit is no such distance.
    """
    return error.name not in DRIFTS and error not in LIMITS


def _list_covering(plans: Iterable[ClaimPlan], run: Run) -> list[tuple[ClaimPlan, NumericBound]]:
    """Return the bounds that cover a run, with its constants."""
    found = [(plan, find_covering_bound(plan.claim, run)) for plan in plans]
    return [(plan, bound) for plan, bound in found if bound is not None and all(s.holds for s in bound.slacks())]


def _choose_best(promises: Iterable[Promise], error: RunQuantity) -> Promise | None:
    """Return the bound that ranks first; None if there is none.

    Proved bounds come first, then those much below the error at the start, those on a closer error, and smaller ones.
    """
    return min(promises, key=lambda promise: _make_rank(promise, error), default=None)


def _make_rank(promise: Promise, error: RunQuantity) -> tuple[bool, int, int, int, float]:
    """Return the sorting key of a promise: proved, much below the start, about the error, then the smallest."""
    is_unproved, remoteness, place = _make_partial_rank(promise.plan, error)
    return is_unproved, promise.weakness, remoteness, place, promise.value


def _make_partial_rank(plan: ClaimPlan, error: RunQuantity) -> tuple[bool, int, int]:
    """Return the part of a bound's rank that does not depend on its value."""
    return plan.claim.verdict != "proved", _rank_error(plan.error, error), ERRORS.index(plan.error)


def _rank_error(bounded: RunQuantity, error: RunQuantity) -> int:
    """Return 0 for the requested error, 1 if both are errors of the last iterate, and 2 for others."""
    if bounded is error:
        return 0
    return 1 if {bounded, error} <= set(_LAST_ITERATE_ERRORS) else 2


_LAST_ITERATE_ERRORS = (q.final_suboptimality, q.final_distance_sq)


def _compute_promise(plan: ClaimPlan, step_size: float, bound: NumericBound, run: Run) -> Promise:
    """Return the value of the bound at a step size, with the error at the start."""
    return Promise(plan, step_size, bound, compute_error_at_start(plan.error, run))


def compute_error_at_start(error: RunQuantity, run: Run) -> float | None:
    """Return the error of a run that never leaves its start; None if it is unknown."""
    try:
        with np.errstate(all="ignore"):
            known = _BEFORE_THE_RUN.get(error)
            value = known(run) if known is not None else error.on(run.compute_once(_shrink_steps))
            start = plain_float(value)
    except (Diverging, FedtheoryError):
        return None
    return start if math.isfinite(start) else None


def _shrink_steps(run: Run) -> Run:
    """Return the run with negligible steps; if all rounds are alike, with one round only."""
    still = run.with_step_factor(_NEGLIGIBLE)
    return still.with_rounds(1) if run.algorithm.clock.is_synchronous else still


_NEGLIGIBLE = 1e-9
"""Factor of step sizes for which a run does not move."""
_BEFORE_THE_RUN: Mapping[RunQuantity, Callable[[Run], Number]] = {
    q.average_suboptimality: lambda run: run.initial_gap,
    q.final_suboptimality: lambda run: run.initial_gap,
    q.best_aggregated_suboptimality: lambda run: run.initial_gap,
    q.final_distance_sq: lambda run: run.initial_distance_sq,
}
"""Errors at the start that are known without a run."""


def _find_best_promise(
    plans: Iterable[ClaimPlan],
    errors: ExactErrors,
    measured: Callable[[ClaimPlan], ClaimPlan],
    error: RunQuantity,
    promise: Promise | None,
) -> Promise | None:
    """Return the best bound at its own best step size, after the planned rounds; None if none ranks
    before the current one.
    """
    by_kind: dict[tuple[bool, int, int], list[ClaimPlan]] = {}
    for plan in plans:
        if plan.optimum is not None:
            by_kind.setdefault(_make_partial_rank(plan, error), []).append(plan)
    best = promise
    for kind in sorted(by_kind):
        if best is not None and (kind[0], 0, *kind[1:]) >= _make_rank(best, error)[:-1]:
            continue
        found = [one for plan in by_kind[kind] for one in _evaluate_at_best(measured(plan), errors)]
        nearest = _choose_best(found, error)
        if nearest is not None and (best is None or _make_rank(nearest, error)[:-1] < _make_rank(best, error)[:-1]):
            best = nearest
    return None if best is promise else best


def _evaluate_at_best(plan: ClaimPlan, errors: ExactErrors) -> Iterable[Promise]:
    """Yield the bound at its own best step size, if it covers the run there."""
    if plan.optimum is not None and plan.attainable:
        step = plan.optimum.step_size
        yield from (
            _compute_promise(plan, step, bound, errors.run)
            for plan, bound in _list_covering([plan], errors.run_with(step))
        )


def _find_widest(plans: Iterable[ClaimPlan]) -> ClaimPlan | None:
    """Return the claim that covers the largest step sizes; None if no claim covers any."""
    limited = [plan for plan in plans if plan.step is not None and 0 < plan.step.value < math.inf]
    return max(limited, key=lambda plan: 0.0 if plan.step is None else plan.step.value, default=None)
