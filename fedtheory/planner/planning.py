"""Plans: recommendations of each true bound of the sources for a run, or for constants alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fedtheory.arithmetic import plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.assumptions import full_gradients
from fedtheory.language.assumptions.assumption import Setting
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.premises import list_failures_among, premises
from fedtheory.planner import target
from fedtheory.planner.admissible import Edge, largest
from fedtheory.planner.advice import SERVER_STEPS_OF_ONE, ClaimPlan
from fedtheory.planner.alternatives import KINDS, Alternatives, Costs, Objective
from fedtheory.planner.bound import (
    NOT_GIVEN,
    ROUNDS,
    SERVER_STEP,
    STEP,
    WHOLE,
    NumericBound,
    Slack,
    bound_of_numbers,
    bound_of_run,
    restore_means,
)
from fedtheory.planner.coverage import ERRORS, LIMITS, collect_meanings, covering_claims, refuted_bounds
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.measurements import (
    DRIFTS,
    compare_with_optimum,
    find_covered_edge,
    list_failures,
    measure_bound,
    require_bounded_error,
)
from fedtheory.planner.optimum import Optimum, StepSizes
from fedtheory.planner.recommendation import Answer, Plan, build_answer
from fedtheory.planner.rounds_needed import ERRORS as EXACT_ERRORS
from fedtheory.planner.rounds_needed import FINAL, MARGIN, find_planned_and_best
from fedtheory.planner.target import compute_round_cost
from fedtheory.planner.worker import PlanWorker, start_worker

_SMALLER = (1.0, 1 / 8, 1 / 64, 1 / 512)
"""Fractions of the planned step size at which assumptions are checked, if they fail because it is too large."""


def plan(
    run: Run,
    accuracy: float | None = None,
    claims: Sequence[Claim] | None = None,
    *,
    error: str = FINAL,
    margin: float = MARGIN,
    vary: Sequence[str] = (),
    costs: Costs | None = None,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    on_answer: Callable[[Answer], None] | None = None,
    on_bounds: Callable[[Plan], None] | None = None,
) -> Plan:
    """Plan a run by its exact errors, and by every true bound on one of them, or the given ones, in floats.

    `error` selects the exact error: "final", that of the last iterate, or "average", over all
    local steps, which most bounds are about. `margin` is the relative distance from the edge of divergence.
    Numbers of bounds are those of the run as planned; if a claim's assumptions hold at smaller step sizes only,
    those of the run at a smaller one. `vary` requests a table of other settings, each at its best step size: "steps"
    (local steps), "batch", "algorithm" (SCAFFOLD and FedAvg), ranked by the costs of rounds. `on_answer` receives the
    recommended run before any bound is evaluated, and `on_bounds` the best bounds for it, before their best
    step sizes are compared with those of exact errors. With more than one process (`jobs`, -1 for all cores) two
    share the work for long runs; a script then needs an ``if __name__ == "__main__"`` guard.
    """
    _require_possible(error, margin, vary)
    errors = ExactErrors(run.as_floats())
    planned: list[ClaimPlan] = []
    with start_worker(errors, jobs) as work:
        chosen = covering_claims() if claims is None else claims
        on_progress(0, len(chosen) + 1)
        # The worker process starts with claims while this one computes the recommended run.
        plans = [work.start(_plan_claim, claim, accuracy) for claim in chosen]
        reached = find_planned_and_best(errors, error, accuracy, margin)
        answer: Answer | None = None
        if on_answer is not None and reached is not None:
            on_answer(build_answer(errors, reached, accuracy, []))
        for claim_plan in plans:
            planned.append(claim_plan())
            on_progress(len(planned), len(chosen) + 1)
        measured = {one.claim.id: work.start(_measure, one) for one in planned if one.optimum is not None}
        for one in filter(_has_exact_error, planned):
            work.best(one.error)
        if reached is not None:
            answer = build_answer(errors, reached, accuracy, planned, lambda one: measured[one.claim.id]())
            if on_bounds is not None:
                on_bounds(Plan(tuple(planned), None, (), compute_round_cost(errors.run), answer))
        planned = [one if one.optimum is None else measured[one.claim.id]() for one in planned]
        for one in filter(_has_exact_error, planned):
            work.error(one.error, _find_step_size(one))
        planned = [_add_exact_errors(one, work, run.errors_are) for one in planned]
        cost, refuted = compute_round_cost(errors.run), refuted_bounds(claims)
        found = Plan(tuple(planned), _recommend(planned, work), refuted, cost, answer)
    on_progress(len(chosen) + 1, len(chosen) + 1)
    if reached is None or answer is None:
        return found
    others = Alternatives(errors.run, Objective(error, accuracy, margin, costs or Costs()), reached.best)
    varied = tuple(others.list_settings(vary)) if vary else ()
    return replace(found, answer=replace(answer, others=others.find_cheap_alternatives()), varied=varied)


def _require_possible(error: str, margin: float, vary: Sequence[str]) -> None:
    """Raise `InputError` for an invalid error, margin or setting."""
    if not 0 <= margin < 1:
        raise InputError(
            "margin",
            f"expected a number from 0 to below 1, a fraction of the smallest diverging step size, got {margin:g}",
        )
    if error not in EXACT_ERRORS:
        raise InputError("error", f"expected one of {', '.join(EXACT_ERRORS)}, got {error!r}")
    for kind in vary:
        if kind not in KINDS:
            raise InputError("vary", f"expected some of {', '.join(KINDS)}, got {kind!r}")


def _has_exact_error(found: ClaimPlan) -> bool:
    """Return whether the best step size of a bound can be compared with that of the exact error."""
    return found.optimum is not None and found.applicable and found.error.name not in DRIFTS


def _add_exact_errors(found: ClaimPlan, work: PlanWorker, errors_are: str) -> ClaimPlan:
    """Return a plan with the exact error at its best step size, and the best step size of the exact error."""
    if found.optimum is None or not _has_exact_error(found):
        return found
    choice, best = work.error(found.error, _find_step_size(found)), work.best(found.error)
    comparison = compare_with_optimum(found.optimum.step_size, choice(), best())
    return replace(found, exact=None if comparison is None else replace(comparison, errors_are=errors_are))


def _recommend(plans: Sequence[ClaimPlan], work: PlanWorker) -> ClaimPlan | None:
    """Return the claim at whose best step size one exact error is smallest.

    That error is the first of `ERRORS` that is bounded and has a best step size;
    without one, the values of the bounds decide.
    """
    attainable = [plan for plan in plans if plan.attainable]
    # Claims that cover the run as planned come before those that need another step size.
    usable = [plan for plan in attainable if plan.applicable] or attainable
    exact = [plan for plan in usable if plan.exact is not None]
    if not exact:
        return _find_smallest_bound(usable)
    yardstick = min((plan.error for plan in exact), key=ERRORS.index)
    errors = [work.error(yardstick, _find_step_size(plan)) for plan in exact]
    return min(zip(exact, errors, strict=True), key=lambda pair: pair[1]())[0]


def _find_step_size(plan: ClaimPlan) -> float:
    """Return the best step size of a plan; NaN if there is none."""
    return math.nan if plan.optimum is None else plan.optimum.step_size


def _find_smallest_bound(plans: Sequence[ClaimPlan]) -> ClaimPlan | None:
    """Return the claim with the smallest bound on the first error of `ERRORS` that is bounded."""
    bounds = [(ERRORS.index(p.error), p.optimum.value, n) for n, p in enumerate(plans) if p.optimum is not None]
    return plans[min(bounds)[2]] if bounds else None


def plan_numbers(
    numbers: Mapping[str, float], accuracy: float | None = None, claims: Sequence[Claim] | None = None
) -> Plan:
    """Plan from constants alone, named by the symbols of the claims or by the names of their quantities.

    Each claim interprets a symbol as its source does.  Bounds that need a
    number that is neither given nor implied are left out; assumptions are taken
    for granted.  Raises `InputError` for names that no bound knows.
    """
    chosen = covering_claims() if claims is None else claims
    _require_known_numbers(numbers, chosen)
    planned = [_plan_of_numbers(claim, numbers, accuracy) for claim in chosen]
    return Plan(
        tuple(planned), _find_smallest_bound([p for p in planned if p.attainable]), refuted_bounds(claims), None
    )


def _require_known_numbers(numbers: Mapping[str, float], claims: Sequence[Claim]) -> None:
    """Raise `InputError` for a number that no bound has, or that is invalid for its symbol."""
    known = collect_meanings((*covering_claims(), *claims))
    for name, value in numbers.items():
        if name not in known:
            raise InputError(name, "no bound has a symbol or a quantity of this name")
        if not value >= 0:
            raise InputError(name, f"expected a number that is not negative, got {value:g}")
        if known[name] <= WHOLE and value != math.floor(value):
            raise InputError(name, f"expected a whole number, got {value:g}")


def _plan_of_numbers(claim: Claim, numbers: Mapping[str, float], accuracy: float | None) -> ClaimPlan:
    """Plan with a claim from given numbers alone."""
    contradiction = _find_contradiction(claim, numbers)
    if contradiction is not None:
        return ClaimPlan(claim, require_bounded_error(claim), False, contradiction)
    try:
        bound = _set_rounds(bound_of_numbers(claim, numbers), accuracy)
    except NotApplicable as reason:
        return ClaimPlan(claim, require_bounded_error(claim), False, str(reason))
    conditions = tuple(bound.slacks()) if STEP in bound.values or not bound.symbols(STEP) else ()
    failed = _list_failed_conditions(claim, conditions)
    found = ClaimPlan(claim, require_bounded_error(claim), not failed, failed or None, conditions, bound)
    found = _optimise(found, bound, accuracy, largest(bound, STEP))
    if not bound.symbols(STEP) or found.bound is None or STEP in found.bound.values:
        return found
    return replace(found, applicable=False, reason=f"{NOT_GIVEN}: a step size, and none is best", conditions=())


def _find_contradiction(claim: Claim, numbers: Mapping[str, float]) -> str | None:
    """Return the assumption of a claim that the numbers contradict; None if there is none."""
    named = {n.name: numbers[key] for s, n in claim.where.items() for key in (str(s), n.name) if key in numbers}
    if full_gradients in claim.assumptions and named.get("noise_deviation", 0) > 0:
        return f"{full_gradients.name}: the gradients are noisy"
    server = numbers.get(SERVER_STEP, 1)
    plain = next((assumption for assumption in SERVER_STEPS_OF_ONE if assumption in claim.assumptions), None)
    if plain is not None and server != 1:
        return f"{plain.name}: the server step size is {server:g}, not 1"
    return None


def _set_rounds(bound: NumericBound, accuracy: float | None) -> NumericBound:
    """The bound with the number of rounds that the accuracy requires at the given step size, unless it is given."""
    if ROUNDS in bound.values or not bound.depends_on(bound.expression, ROUNDS):
        return bound
    if accuracy is None:
        raise NotApplicable(f"{NOT_GIVEN}: the rounds, or a target accuracy from which they follow")
    found = (
        target.find_rounds_at_step(bound, accuracy)
        if STEP in bound.values
        else target.find_rounds_at_best_step(StepSizes(bound), accuracy)
    )
    if found.rounds is None:
        raise NotApplicable(f"the accuracy {accuracy:g} is out of reach: {found.reason}")
    return bound.with_numbers({ROUNDS: found.rounds})


def _plan_claim(errors: ExactErrors, claim: Claim, accuracy: float | None) -> ClaimPlan:
    """Return the plan of a claim on a run; assumptions that fail at all step sizes exclude it."""
    # If the setting fails at the smallest step size it always fails, and nothing else is computed for the claim.
    settings = [assumption for assumption in premises(claim) if isinstance(assumption, Setting)]
    others = list_failures_among(settings, errors.run)
    if others and list_failures_among(settings, errors.run_with(errors.planned * _SMALLER[-1])):
        return ClaimPlan(claim, require_bounded_error(claim), False, "; ".join(map(str, others)))
    failures = list_failures(claim, errors.run)
    reasons = list(failures)
    for part in _SMALLER if failures else _SMALLER[:1]:
        run = errors.run_with(errors.planned * part)
        if list_failures(claim, run):
            continue
        try:
            return _plan(claim, errors, bound_of_run(claim, run), failures, accuracy)
        except (NotApplicable, Diverging) as reason:
            reasons = reasons or [str(reason)]
    return ClaimPlan(claim, require_bounded_error(claim), False, "; ".join(reasons))


def _plan(
    claim: Claim, errors: ExactErrors, bound: NumericBound, failures: list[str], accuracy: float | None
) -> ClaimPlan:
    """Plan with a claim from its bound on the run."""
    planned = bound.with_numbers({STEP: errors.planned}) if bound.symbols(STEP) else bound
    conditions = (*planned.slacks(), *_list_slacks_of_clients(claim, bound, errors.run))
    reasons = [*failures, *filter(None, [_list_failed_conditions(claim, conditions)])]
    found = ClaimPlan(claim, require_bounded_error(claim), not reasons, "; ".join(reasons) or None, conditions, planned)
    edge = find_covered_edge(claim, largest(planned, STEP), errors)
    return _optimise(found, planned, accuracy, edge)


def _measure(errors: ExactErrors, found: ClaimPlan) -> ClaimPlan:
    """Return the plan of a claim with constants measured at its best step size, and the best step size for those."""
    assert found.optimum is not None
    assert found.bound is not None
    edge = found.step or Edge(math.inf)
    found = replace(found, measurements=measure_bound(found.claim, found.optimum, found.bound, errors, edge))
    return found if found.self_contained else _use_measurements(found, edge)


def _use_measurements(found: ClaimPlan, edge: Edge) -> ClaimPlan:
    """Return the plan of a bound with measurements of the run in it, at the best step size with the constants there.

    It has no value for other numbers of rounds before these are run.
    """
    measured = found.measurements
    assert measured is not None
    if measured.value_at_step is None:
        return replace(found, optimum=None)
    step = measured.step_size
    optimum = Optimum(step, measured.value_at_step, math.isclose(step, edge.value))
    return replace(found, optimum=optimum, measurements=replace(measured, value=measured.value_at_step))


def _list_slacks_of_clients(claim: Claim, bound: NumericBound, run: Run) -> list[Slack]:
    """Return conditions on each client, for the client where they are closest to failing."""
    found = []
    known = {restore_means(claim, condition) for condition in bound.conditions}
    for condition in claim.conditions:
        if condition in known:
            continue
        sides = [compile_expression(side, claim.notation)(whole_run(run)) for side in (condition.lhs, condition.rhs)]
        gaps = plain_floats(sides[1] - sides[0]) * (-1 if condition.rel_op in (">", ">=") else 1)
        slack = float(np.min(gaps))
        found.append(Slack(condition, slack > 0 if condition.rel_op in ("<", ">") else slack >= 0, slack))
    return found


def _list_failed_conditions(claim: Claim, conditions: Sequence[Slack]) -> str:
    failed = [claim.in_words(restore_means(claim, slack.condition)) for slack in conditions if not slack.holds]
    return "; ".join(f"the condition {words} does not hold" for words in failed)


def _optimise(found: ClaimPlan, bound: NumericBound, accuracy: float | None, edge: Edge) -> ClaimPlan:
    """Return a plan with everything that follows from the bound alone, for step sizes up to an edge."""
    # Stationary errors do not depend on the number of rounds.
    accuracy = None if found.error in LIMITS else accuracy
    sizes = StepSizes(bound)
    if STEP not in bound.values and (best := sizes.minimiser(bound, edge)) is not None:
        # Without a planned step size the best one is planned.
        bound = bound.with_numbers({STEP: best})
        sizes = StepSizes(bound)
    return replace(
        found,
        bound=bound,
        conditions=found.conditions or tuple(bound.slacks()),
        step=edge if bound.symbols(STEP) else None,
        optimum=sizes.optimum(edge),
        accuracy=accuracy,
    )


def sort_terms(bound: NumericBound) -> list[tuple[Expr, float]]:
    """Return the terms of a bound with their values, the dominating one first."""
    return sorted(zip(bound.terms, bound.term_values(), strict=True), key=lambda pair: -pair[1])
