"""A plan as rows and lines, for a terminal or a page: the table of bounds, reasons why others do not apply, details."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedtheory.planner.admissible import Edge
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import NOT_GIVEN
from fedtheory.planner.coverage import LIMITS
from fedtheory.planner.measurements import DRIFTS
from fedtheory.planner.planning import sort_terms
from fedtheory.planner.recommendation import Plan
from fedtheory.planner.sentences import Write, write_formula
from fedtheory.planner.target import RoundCost, RoundsToAccuracy
from fedtheory.shown import short, short_below


@dataclass(frozen=True)
class Listing:
    """The bounds of a plan as a table."""

    title: str
    columns: Sequence[str]
    """Headings after those of the bound and its error."""
    rows: Sequence[tuple[ClaimPlan, Sequence[str]]]
    remark: str
    """Meaning of the mark at the recommended bound; empty if none is recommended."""


def list_bounds(found: Plan, *, every: bool = False) -> Listing:
    """Return the bounds that cover the run; if there is none, those at other step sizes; all if `every` is true."""
    usable = [plan for plan in found.claims if plan.bound is not None]
    errors = [plan for plan in usable if plan.error.name not in DRIFTS and plan.error not in LIMITS]
    shown = usable if every else [plan for plan in errors if plan.applicable] or errors
    title = "bounds that cover the run" if any(plan.applicable for plan in shown) else _SMALLER
    cells = {name: [cell(plan) for plan in shown] for name, cell in _CELLS.items()}
    columns = [name for name, column in cells.items() if set(column) - {"-"} and not (name == _COVERS and not every)]
    rows = [(plan, [cells[name][n] for name in columns]) for n, plan in enumerate(shown)]
    exactly = _LEAST_TRUE if found.answer else "the smallest bound"
    return Listing("bounds" if every else title, columns, rows, exactly if found.recommended in shown else "")


_LEAST_TRUE = "the theorem whose best step size gives the smallest true error (the step size above gives a smaller one)"
_SMALLER = "bounds at smaller step sizes: none covers the run"
_COVERS = "covers the run"
_CELLS: dict[str, Callable[[ClaimPlan], str]] = {
    _COVERS: lambda plan: "yes" if plan.applicable else "no",
    "as planned": lambda plan: short(plan.bound.value()) if plan.bound and plan.applicable else "-",
    "largest step": lambda plan: "-" if plan.step is None else _format_limit(plan.step),
    "best step": lambda plan: "-" if plan.optimum is None else short_below(plan.optimum.step_size),
    "bound there": lambda plan: "-" if plan.optimum is None else short(plan.optimum.value),
    "rounds as planned": lambda plan: _format_rounds(plan.target),
    "rounds at best steps": lambda plan: _format_rounds(plan.target_at_best),
}


def _format_rounds(target: RoundsToAccuracy | None) -> str:
    """Format the number of rounds to the accuracy."""
    return "-" if target is None else "never" if target.rounds is None else short(target.rounds)


def _format_limit(edge: Edge) -> str:
    """Format the largest admissible step size."""
    return "any" if math.isinf(edge.value) else short_below(edge.value)


def group_reasons(found: Plan) -> list[tuple[str, str]]:
    """Return the reasons why bounds do not cover the run as planned: the ids that share a reason, and the reason."""
    reasons: dict[str, list[str]] = {}
    lacking = [plan for plan in found.claims if (plan.reason or "").startswith(NOT_GIVEN)]
    for plan in found.claims:
        if plan.reason is not None and plan not in lacking:
            reasons.setdefault(plan.reason, []).append(plan.claim.id)
    lines = [(", ".join(ids), reason) for reason, ids in reasons.items()]
    if lacking:
        lines.insert(0, (f"{len(lacking)} bounds", "need numbers that are not given; --json names them"))
    if found.refuted:
        lines.append((", ".join(claim.id for claim in found.refuted), "not used, because they are refuted"))
    return lines


def list_details(plan: ClaimPlan, cost: RoundCost | None, write: Write = write_formula) -> list[str]:
    """Return all details of a bound: conditions with their slack, terms, limits, rounds."""
    assert plan.bound is not None
    lines = [f"bounds {plan.error.name}: {plan.error.meaning}"]
    lines += [
        f"condition {write(plan.claim, slack.condition)}: slack {short(slack.slack)}" for slack in plan.conditions
    ]
    lines += [f"{short(value)}  {write(plan.claim, term)}" for term, value in sort_terms(plan.bound)]
    return lines + _describe_limits(plan, write) + _list_round_lines(plan, cost)


def _describe_limits(plan: ClaimPlan, write: Write) -> list[str]:
    """Describe the largest step sizes and local steps of a bound, and its best step size."""
    lines = []
    for edge, name in ((plan.step, "step size"), (plan.server_step, "server step"), (plan.local_steps, "local steps")):
        if edge is not None:
            formula = "" if edge.formula is None else f", from {write(plan.claim, edge.formula)}"
            lines.append(f"largest {name}: {_format_limit(edge)}{formula}")
    if plan.optimum is not None:
        formula = "" if plan.optimum.formula is None else f" = {write(plan.claim, plan.optimum.formula)}"
        lines.append(
            f"best step size: {short_below(plan.optimum.step_size)}{formula}; bound {short(plan.optimum.value)}"
        )
    lines += _compare(plan)
    if plan.measurements is not None and plan.measurements.changed:
        changed = ", ".join(plan.measurements.changed)
        lines.append(
            f"at that step size {changed} differ; with them the bound is {short(plan.measurements.value)}"
            if plan.self_contained
            else f"{changed}: measured at each step size, so the bound is none of a formula in it"
        )
    if plan.exact is not None:
        exact, known = plan.exact.exact, plan.exact.errors_are
        lines.append(f"{known}: best step size {short(exact.step_size)}, error {short(exact.error)}")
        lines.append(f"theory / {known}: step size {short(plan.exact.ratio)}, error {short(plan.exact.error_ratio)}")
    if plan.linear_clients is not None:
        lines.append(f"linear speed-up: up to {plan.linear_clients:g} clients, by this bound")
    if plan.useful_local_steps is not None:
        lines.append(
            f"useful number of local steps for the same rounds, by this bound: {plan.useful_local_steps.steps}"
        )
    return lines


def _compare(plan: ClaimPlan) -> list[str]:
    """Describe the comparator of a bound that has one."""
    point = plan.comparator
    if point is None:
        return []
    gap, distance = short(point.suboptimality), short(point.distance_sq)
    return [f"compares with the point y of F(y) - F* = {gap}, |x^0 - y|^2 = {distance}, at its best step size"]


def _list_round_lines(plan: ClaimPlan, cost: RoundCost | None) -> list[str]:
    """Return the lines about the rounds to the accuracy."""
    lines = []
    for target, where in ((plan.target, "as planned"), (plan.target_at_best, "best step sizes")):
        if target is None:
            continue
        lead = f"accuracy {short(target.accuracy)}, {where}: "
        if target.rounds is None:
            lines.append(f"{lead}never, {target.reason}")
            continue
        spent = (
            "" if cost is None else f", time {target.rounds * cost.time:g}, {target.rounds * cost.messages:g} vectors"
        )
        lines.append(f"{lead}{short(target.rounds)} rounds at step size {short(target.step_size)}{spent}")
    return lines
