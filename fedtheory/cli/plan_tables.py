"""Prints a plan for a terminal: the recommendation, a table of bounds, and on request reasons and details."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fedtheory.cli.output import escape, print_lines, print_table

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.planner import Answer, ClaimPlan, Plan, RoundCost

_ROOMY = ("largest step", "rounds as planned", "as planned")
"""Columns that are omitted in a narrow terminal."""


def print_plan(found: Plan, planned: Run | None, *, reasons: bool, details: bool) -> None:
    """Print a plan: the recommendation, a table of bounds; on request why other bounds do not apply, and details."""
    from fedtheory.planner.other_settings import describe_other_settings
    from fedtheory.planner.plan_rows import group_reasons
    from fedtheory.planner.sentences import describe_answer, describe_constants_plan
    from fedtheory.planner.setting_in_words import describe_planned_run, list_notes

    if found.answer is not None:
        # The lines on the run and the recommendation have been printed before.
        _print_headed(describe_other_settings(found.answer))
    elif planned is not None:
        print_lines(*map(escape, describe_planned_run(planned)))
        _print_headed(describe_answer(found))
    else:
        _print_headed(describe_constants_plan(found))
    print_lines(*map(escape, [] if planned is None else list_notes(planned)), "")
    _print_varied(found)
    _print_bounds(found, every=details)
    if reasons:
        print_lines(*(f"[bold]{ids}[/bold]: {escape(reason)}" for ids, reason in group_reasons(found)))
    elif left := sum(plan.reason is not None for plan in found.claims):
        print_lines(f"{left} other bounds do not cover this, or need numbers that are not given; --all says why")
    shown = [plan for plan in found.claims if plan.bound is not None] if details else [found.recommended] * reasons
    for plan in shown:
        if plan is not None:
            _print_details(plan, found.cost, recommended=plan is found.recommended)


def print_recommendation(planned: Run, answer: Answer) -> None:
    """Print the planned run and the recommendation, before any bound is evaluated."""
    from fedtheory.planner.sentences import describe_use
    from fedtheory.planner.setting_in_words import describe_planned_run

    print_lines(*map(escape, describe_planned_run(planned)))
    _print_headed([("use:", describe_use(answer))])


def print_guarantees(found: Plan) -> None:
    """Print the guarantees of the bounds and what limits the error, before the table of bounds is complete."""
    from fedtheory.planner.sentences import describe_guarantees

    if found.answer is not None:
        _print_headed(describe_guarantees(found, found.answer))


def _print_headed(lines: list[tuple[str, str]]) -> None:
    print_lines(*(f"[bold]{head}[/bold] {escape(line)}" for head, line in lines))
    sys.stdout.flush()


def _print_varied(found: Plan) -> None:
    from fedtheory.planner.other_settings import tabulate_settings

    if found.varied and found.answer is not None:
        columns, rows = tabulate_settings(found.varied, found.answer.accuracy)
        print_table("other settings, each at its best step size", columns, rows, whole=tuple(columns))


def _print_bounds(found: Plan, every: bool) -> None:
    from fedtheory.planner.plan_rows import list_bounds

    table = list_bounds(found, every=every)
    if not table.rows:
        return
    rows = [
        [f"[bold]{plan.claim.id} *[/bold]" if plan is found.recommended else plan.claim.id, plan.error.name, *cells]
        for plan, cells in table.rows
    ]
    rows = [[f"{name} on {error}", *cells] for name, error, *cells in rows]
    columns = ["bound", *table.columns]
    roomy = tuple(column for column in _ROOMY if column in columns)
    print_table(table.title, columns, rows, whole=tuple(table.columns), roomy=roomy)
    if table.remark:
        print_lines(f"* {table.remark}")


def _print_details(plan: ClaimPlan, cost: RoundCost | None, recommended: bool) -> None:
    from fedtheory.planner.plan_rows import list_details

    print_lines("", f"[bold]{plan.claim.id}[/bold]  {escape(plan.claim.title)}{', recommended' if recommended else ''}")
    print_lines(*(f"  {escape(line)}" for line in list_details(plan, cost)))
