"""A plan for a terminal: the bounds in one table, then the recommended one in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.cli.output import print_lines, print_table, short

if TYPE_CHECKING:
    from fedtheory.planner import ClaimPlan, Edge, Plan, RoundCost


def print_plan(found: Plan, details: bool) -> None:
    """Print a plan for a terminal: all bounds in a table, why others do not apply, the recommended one in detail."""
    usable = [plan for plan in found.claims if plan.bound is not None]
    columns = ["bound", "holds", "value", "largest step", "best step", "value there", "rounds", "exact best"]
    if usable:
        roomy = ("value", "largest step", "value there", "exact best")
        print_table("bounds", columns, [_row(plan) for plan in usable], whole=tuple(columns), roomy=roomy)
    _print_others(found)
    shown = usable if details else [plan for plan in [found.recommended] if plan is not None]
    for plan in shown:
        _print_details(plan, found.cost, recommended=plan is found.recommended)


def _row(plan: ClaimPlan) -> list[str]:
    assert plan.bound is not None
    best, asked = plan.optimum, plan.target_at_best or plan.target
    return [
        plan.claim.id,
        "[green]yes[/green]" if plan.applicable else "[yellow]no[/yellow]",
        short(plan.bound.value()),
        "-" if plan.step is None else _limit(plan.step),
        "-" if best is None else short(best.step_size),
        "-" if best is None else short(best.value),
        "-" if asked is None or asked.rounds is None else str(asked.rounds),
        "-" if plan.exact is None else short(plan.exact.exact.step_size),
    ]


def _limit(edge: Edge) -> str:
    import math

    return "any" if math.isinf(edge.value) else short(edge.value)


def _print_others(found: Plan) -> None:
    """Why claims do not cover the run as it is planned, one line for each reason."""
    from rich.markup import escape

    from fedtheory.planner.bound import NOT_GIVEN

    reasons: dict[str, list[str]] = {}
    lacking = [plan for plan in found.claims if (plan.reason or "").startswith(NOT_GIVEN)]
    for plan in found.claims:
        if plan.reason is not None and plan not in lacking:
            reasons.setdefault(plan.reason, []).append(plan.claim.id)
    if lacking:
        print_lines(f"{len(lacking)} bounds need numbers that are not given; --json names them")
    for reason, ids in reasons.items():
        print_lines(f"[bold]{', '.join(ids)}[/bold]: {escape(reason)}")
    if found.refuted:
        print_lines(f"not used, because they are refuted: {', '.join(claim.id for claim in found.refuted)}")


def _print_details(plan: ClaimPlan, cost: RoundCost | None, recommended: bool) -> None:
    from rich.markup import escape

    from fedtheory.planner.planning import terms_by_value

    assert plan.bound is not None
    words = plan.claim.in_words
    print_lines("", f"[bold]{plan.claim.id}[/bold]  {escape(plan.claim.title)}{', recommended' if recommended else ''}")
    print_lines(f"  bounds {plan.error.name}: {escape(plan.error.meaning)}")
    lines = [f"condition {words(slack.condition)}: slack {short(slack.slack)}" for slack in plan.conditions]
    lines += [f"{short(value)}  {words(term)}" for term, value in terms_by_value(plan.bound)]
    lines += _advice(plan) + _rounds(plan, cost)
    print_lines(*(f"  {escape(line)}" for line in lines))


def _advice(plan: ClaimPlan) -> list[str]:
    lines = []
    for edge, name in ((plan.step, "step size"), (plan.server_step, "server step"), (plan.local_steps, "local steps")):
        if edge is not None:
            formula = "" if edge.formula is None else f", from {plan.claim.in_words(edge.formula)}"
            lines.append(f"largest {name}: {_limit(edge)}{formula}")
    if plan.optimum is not None:
        formula = "" if plan.optimum.formula is None else f" = {plan.claim.in_words(plan.optimum.formula)}"
        lines.append(f"best step size: {short(plan.optimum.step_size)}{formula}; bound {short(plan.optimum.value)}")
    lines += _compared(plan)
    if plan.remeasured is not None and plan.remeasured.changed:
        changed = ", ".join(plan.remeasured.changed)
        lines.append(f"at that step size {changed} differ; with them the bound is {short(plan.remeasured.value)}")
    if plan.exact is not None:
        exact = plan.exact.exact
        lines.append(f"exact: best step size {short(exact.step_size)}, error {short(exact.error)}")
        lines.append(f"theory / exact: step size {short(plan.exact.ratio)}, error {short(plan.exact.error_ratio)}")
    if plan.linear_clients is not None:
        lines.append(f"linear speed-up: up to {plan.linear_clients:g} clients, by this bound")
    if plan.paying_local_steps is not None:
        lines.append(f"local steps that pay at the same rounds, by this bound: {plan.paying_local_steps.steps}")
    return lines


def _compared(plan: ClaimPlan) -> list[str]:
    """The point of a bound that has one."""
    point = plan.comparator
    if point is None:
        return []
    gap, distance = short(point.suboptimality), short(point.distance_sq)
    return [f"compares with the point y of F(y) - F* = {gap}, |x^0 - y|^2 = {distance}, at its best step size"]


def _rounds(plan: ClaimPlan, cost: RoundCost | None) -> list[str]:
    lines = []
    for target, where in ((plan.target, "as planned"), (plan.target_at_best, "best step sizes")):
        if target is None:
            continue
        lead = f"accuracy {short(target.accuracy)}, {where}: "
        if target.rounds is None:
            lines.append(f"{lead}never, {target.reason}")
            continue
        spent = (
            "" if cost is None else f", time {target.rounds * cost.time:g}, {target.rounds * cost.messages:g} models"
        )
        lines.append(f"{lead}{target.rounds} rounds at step size {short(target.step_size)}{spent}")
    return lines
