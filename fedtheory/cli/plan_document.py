"""The JSON document of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.planner import (
        Alternative,
        Answer,
        ClaimPlan,
        Edge,
        ErrorAtStepSize,
        Plan,
        Promise,
        RoundCost,
        RoundsToAccuracy,
        StepSizeComparison,
    )


def encode_plan(found: Plan) -> dict[str, Any]:
    """Return the JSON document of a plan.

    ``{recommended_step_size, use, answer, claims: [...], recommended, exact, refuted: [{id, repair}], round: {time,
    messages}}``: the recommended step size is that of the answer, by exact errors; if none is known, that of the
    recommended bound.  `exact` and `recommended` are for the claim at whose best step size the exact error is smallest.
    Numbers are floats, null where infinite or unknown.
    """
    from fedtheory.planner import repair_of

    best = found.recommended
    repairs = {claim.id: repair_of(claim) for claim in found.refuted}
    return {
        "recommended_step_size": _encode_number(found.step_size),
        "use": None if found.answer is None else _encode_use(found.answer),
        "answer": None if found.answer is None else _encode_answer(found.answer),
        "claims": [_encode_claim(plan, found.cost) for plan in found.claims],
        "recommended": None if best is None else best.claim.id,
        "exact": None if best is None else _encode_exact(best.exact),
        "refuted": [{"id": name, "repair": None if repair is None else repair.id} for name, repair in repairs.items()],
        "varied": [_encode_alternative(one) for one in found.varied],
        "round": None if found.cost is None else {"time": found.cost.time, "messages": found.cost.messages},
    }


def _encode_use(answer: Answer) -> dict[str, Any]:
    """Return the advice in a line: the step size, its exact error and limit, and the edge of divergence."""
    best, steps = answer.best, set(answer.local_steps)
    return {
        "step_size": _encode_number(best.step_size),
        "local_steps": steps.pop() if len(steps) == 1 else list(answer.local_steps),
        "rounds": best.rounds,
        "error": _encode_number(best.error),
        "half_width": _encode_number(best.half_width),
        "limit": _encode_number(best.limit),
        "diverges_from": _encode_number(answer.reached.diverges_from),
        "margin": answer.reached.margin,
        "beyond": None if best.beyond is None else _encode_beyond(best.beyond),
        "time": _encode_number(answer.time),
    }


def _encode_beyond(beyond: ErrorAtStepSize) -> dict[str, Any]:
    """Return the result at the step size that is larger by the margin as a JSON object."""
    return {
        "step_size": _encode_number(beyond.step_size),
        "error": _encode_number(beyond.error),
        "reached": beyond.reached,
    }


def _encode_alternatives(answer: Answer) -> dict[str, Any]:
    """Return other settings (more or fewer local steps, SCAFFOLD), and why the planned run diverges."""
    others, cause = answer.others, answer.cause
    better, scaffold = (None, None) if others is None else (others.better_steps, others.scaffold)
    return {
        "better_local_steps": None if better is None else _encode_alternative(better),
        "scaffold": None if scaffold is None else _encode_alternative(scaffold),
        "cause_of_divergence": None
        if cause is None
        else {
            "client": cause.client,
            "rows": cause.rows,
            "curvature": _encode_number(cause.curvature),
            "diverges_alone_from": _encode_number(cause.alone),
            "diverges_from": _encode_number(cause.diverges_from),
        },
    }


def _encode_alternative(one: Alternative) -> dict[str, Any]:
    """Return another setting at its best step size."""
    return {
        "algorithm": one.name,
        "local_steps": one.local_steps,
        "batch": one.batch,
        "cost": _encode_number(one.cost),
        "planned": one.is_planned,
        **_encode_outcome(one.outcome),
    }


def _encode_answer(answer: Answer) -> dict[str, Any]:
    """Return the recommendation: `step_size`, `local_steps`, `rounds`, the exact error and the best bound there."""
    steps, widest = set(answer.local_steps), answer.widest
    return {
        "error": answer.error.name,
        "accuracy": answer.accuracy,
        "local_steps": steps.pop() if len(steps) == 1 else list(answer.local_steps),
        **_encode_outcome(answer.best),
        "planned": _encode_outcome(answer.planned),
        "reason": answer.reached.reason,
        "beside": None
        if answer.beside is None
        else {"error": answer.beside[0].name, "exact_error": _encode_number(answer.beside[1])},
        **_encode_alternatives(answer),
        "covered": answer.is_covered,
        "bound": None if answer.promise is None else _encode_promise(answer.promise),
        "elsewhere": None if answer.elsewhere is None else _encode_promise(answer.elsewhere),
        "largest_covered": None
        if widest is None or widest.step is None
        else {"id": widest.claim.id, "step_size": _encode_number(widest.step.value)},
    }


def _encode_outcome(outcome: ErrorAtStepSize) -> dict[str, Any]:
    """Return the exact error at a step size as a JSON object."""
    return {
        "step_size": _encode_number(outcome.step_size),
        "rounds": outcome.rounds,
        "exact_error": _encode_number(outcome.error),
        "half_width": _encode_number(outcome.half_width),
        "reached": outcome.reached,
        "still_falls": outcome.still_falls,
        "limit": _encode_number(outcome.limit),
        "noise_floor": _encode_number(outcome.noise_floor),
    }


def _encode_promise(promise: Promise) -> dict[str, Any]:
    """Return the value of a bound at its step size as a JSON object."""
    term, share = promise.largest_term
    return {
        "id": promise.plan.claim.id,
        "verdict": promise.plan.claim.verdict,
        "error": promise.plan.error.name,
        "step_size": _encode_number(promise.step_size),
        "value": _encode_number(promise.value),
        "largest_term": _latex(term),
        "share": _encode_number(share),
    }


def _encode_claim(plan: ClaimPlan, cost: RoundCost | None) -> dict[str, Any]:
    """Return the plan of a claim as a JSON object."""
    best, measured_again, local = plan.optimum, plan.measurements, plan.useful_local_steps
    # Averages over clients are typeset in the claim's own notation.
    with plan.claim.typesetting():
        return {
            "id": plan.claim.id,
            "title": plan.claim.title,
            "verdict": plan.claim.verdict,
            "error": plan.error.name,
            "applicable": plan.applicable,
            "reason": plan.reason,
            "assumptions": [assumption.name for assumption in plan.claim.assumptions],
            "conditions": [
                {"condition": _latex(one.condition), "holds": one.holds, "slack": _encode_number(one.slack)}
                for one in plan.conditions
            ],
            **_encode_bound(plan),
            **_encode_edge("largest_local_step_size", plan.step),
            **_encode_edge("largest_server_step_size", plan.server_step),
            **_encode_edge("largest_local_steps", plan.local_steps),
            "best_step_size": None if best is None else _encode_number(best.step_size),
            "best_step_size_formula": None if best is None or best.formula is None else _latex(best.formula),
            "best_step_size_numeric": None if best is None else _encode_number(best.numeric),
            "best_is_largest": None if best is None else best.at_edge,
            "bound_at_best": None if best is None else _encode_number(best.value),
            **_encode_comparator(plan),
            "remeasured": None
            if measured_again is None
            else {
                "changed": list(measured_again.changed),
                "bound_at_best": _encode_number(measured_again.value),
                "best_step_size": _encode_number(measured_again.step_size),
                "bound_at_its_best": _encode_number(measured_again.value_at_step),
            },
            "target": _encode_target(plan.target, cost),
            "target_at_best": _encode_target(plan.target_at_best, cost),
            "linear_speed_up_clients": _encode_number(plan.linear_clients),
            "local_steps_that_pay": None
            if local is None
            else {
                "local_steps": local.steps,
                "bound": _encode_number(local.value),
                "smallest_bound": _encode_number(local.smallest),
            },
            "exact": _encode_exact(plan.exact),
        }


def _encode_bound(plan: ClaimPlan) -> dict[str, Any]:
    """Return the bound, its terms and its symbols."""
    from fedtheory.planner.planning import sort_terms

    if plan.bound is None:
        return {"step_size": None, "bound": None, "terms": [], "dominating": None, "symbols": []}
    terms = sort_terms(plan.bound)
    symbols = [
        {"symbol": _latex(symbol), "name": name, "value": _encode_number(plan.bound.values.get(name))}
        for symbol, name in plan.bound.names.items()
    ]
    return {
        "step_size": _encode_number(plan.bound.values.get("local_step_size")),
        "bound": _encode_number(plan.bound.value()),
        "terms": [{"term": _latex(term), "value": _encode_number(value)} for term, value in terms],
        "dominating": _latex(terms[0][0]),
        "symbols": symbols,
    }


def _encode_comparator(plan: ClaimPlan) -> dict[str, Any]:
    """Return the comparator (any point of the bound) at its best step size."""
    point = plan.comparator
    if point is None:
        return {}
    numbers = {"suboptimality": _encode_number(point.suboptimality), "distance_sq": _encode_number(point.distance_sq)}
    return {"comparator": numbers}


def _encode_edge(key: str, edge: Edge | None) -> dict[str, Any]:
    """Return the limit of a range of step sizes, as a number and a formula."""
    formula = None if edge is None or edge.formula is None else _latex(edge.formula)
    return {key: None if edge is None else _encode_number(edge.value), f"{key}_formula": formula}


def _encode_target(target: RoundsToAccuracy | None, cost: RoundCost | None) -> dict[str, Any] | None:
    """Return the rounds to the accuracy as a JSON object; None if no accuracy is requested."""
    if target is None:
        return None
    spent: tuple[float | None, float | None] = (None, None)
    if cost is not None and target.rounds is not None:
        spent = cost.time * target.rounds, cost.messages * target.rounds
    return {
        "accuracy": target.accuracy,
        "rounds": target.rounds,
        "step_size": _encode_number(target.step_size),
        "time": _encode_number(spent[0]),
        "messages": _encode_number(spent[1]),
        "reason": target.reason,
        "floor": _encode_number(target.floor),
    }


def _encode_exact(compared: StepSizeComparison | None) -> dict[str, Any] | None:
    """Return the comparison with the best exact step size as a JSON object; None if there is none."""
    if compared is None:
        return None
    return {
        "best_step_size": _encode_number(compared.exact.step_size),
        "error": _encode_number(compared.exact.error),
        "error_at_choice": _encode_number(compared.error_at_choice),
        "ratio": _encode_number(compared.ratio),
        "error_ratio": _encode_number(compared.error_ratio),
    }


def _encode_number(value: float | None) -> float | None:
    """Return the number for JSON; None if it is not finite."""
    from fedtheory.arithmetic import FLOAT

    found: float | None = None if value is None else FLOAT.text(value)
    return found


def _latex(expression: Any) -> str:
    """Return the LaTeX of an expression."""
    from fedtheory.language.typesetting import latex

    return latex(expression)
