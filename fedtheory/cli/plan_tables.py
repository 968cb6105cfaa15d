"""A plan for a terminal: the bounds in one table, then the recommended one in detail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fedtheory.cli.output import print_lines, print_table, short
from fedtheory.cli.plan_answer import answer_lines, as_planned, constants_alone

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.planner import ClaimPlan, Edge, Plan, RoundCost, Target


def print_plan(found: Plan, planned: Run | None, *, reasons: bool, details: bool) -> None:
    """Print a plan: the answer, the bounds in a table; on request why others do not apply, and details."""
    from rich.markup import escape

    if planned is not None:
        print_lines(*map(escape, as_planned(planned)))
    lines = constants_alone(found) if planned is None else answer_lines(found)
    print_lines(*(f"[bold]{head}[/bold] {escape(line)}" for head, line in lines), "")
    _print_bounds(found, every=details)
    if reasons:
        _print_others(found)
    elif left := sum(plan.reason is not None for plan in found.claims):
        print_lines(f"{left} other bounds do not cover this, or need numbers that are not given; --all says why")
    shown = [plan for plan in found.claims if plan.bound is not None] if details else [found.recommended] * reasons
    for plan in shown:
        if plan is not None:
            _print_details(plan, found.cost, recommended=plan is found.recommended)


def _print_bounds(found: Plan, every: bool) -> None:
    """The bounds on errors that cover the run; those at other step sizes where none does, or all on request."""
    usable = [plan for plan in found.claims if plan.bound is not None]
    errors = [plan for plan in usable if plan.error.name not in _DRIFTS]
    shown = usable if every else [plan for plan in errors if plan.applicable] or errors
    if not shown:
        return
    columns = {name: [cell(plan) for plan in shown] for name, cell in _CELLS.items()}
    kept = {name: cells for name, cells in columns.items() if set(cells) != {"-"}}
    rows = [list(row) for row in zip(*kept.values(), strict=True)]
    for plan, row in zip(shown, rows, strict=True):
        row[0] = f"[bold]{row[0]} *[/bold]" if plan is found.recommended else row[0]
    title = "bounds" if any(plan.applicable for plan in shown) else "bounds at smaller step sizes: none covers the run"
    print_table(title, list(kept), rows, whole=tuple(kept))
    if found.recommended in shown:
        print_lines("* at its best step size the exact error is smallest" if found.answer else "* the smallest bound")


_DRIFTS = ("average_round_drift", "max_drift")


def _rounds_cell(asked: Target | None) -> str:
    return "-" if asked is None else "never" if asked.rounds is None else short(asked.rounds)


_CELLS: dict[str, Callable[[ClaimPlan], str]] = {
    "bound": lambda plan: plan.claim.id,
    "on": lambda plan: plan.error.name,
    "covers the run": lambda plan: "[green]yes[/green]" if plan.applicable else "[yellow]no[/yellow]",
    "as planned": lambda plan: short(plan.bound.value()) if plan.bound and plan.applicable else "-",
    "largest step": lambda plan: "-" if plan.step is None else _limit(plan.step),
    "best step": lambda plan: "-" if plan.optimum is None else short(plan.optimum.step_size),
    "bound there": lambda plan: "-" if plan.optimum is None else short(plan.optimum.value),
    "rounds as planned": lambda plan: _rounds_cell(plan.target),
    "rounds at best steps": lambda plan: _rounds_cell(plan.target_at_best),
}


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
        lines.append(f"{lead}{short(target.rounds)} rounds at step size {short(target.step_size)}{spent}")
    return lines
