"""The page of a plan, in the order of the terminal: the answer, one table, and on request reasons and details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from fedtheory.planner import ClaimPlan, Plan
from fedtheory.planner.plan_rows import Listing, group_reasons, list_bounds, list_details
from fedtheory.planner.sentences import describe_answer, describe_constants_plan
from fedtheory.planner.setting_in_words import describe_planned_run, list_notes
from report.drawing import load_templates
from report.figures.plans import draw_errors_of_plan
from report.figures.style import Figure
from report.mathml import typeset_prose


@dataclass(frozen=True)
class Detail:
    """All details of one bound."""

    claim: Claim
    recommended: bool
    lines: Sequence[Markup]


@dataclass(frozen=True)
class UserPlanPage:
    """Everything on the page."""

    name: str
    planned: Sequence[str]
    answer: Sequence[tuple[str, Markup]]
    """Headings with their sentences."""
    figures: Sequence[Figure]
    table: Listing
    recommended: ClaimPlan | None
    reasons: Sequence[tuple[str, str]]
    details: Sequence[Detail]
    command: str


def make_user_plan_page(found: Plan, planned: Run | None, maps: Sequence[Figure], name: str, command: str) -> str:
    """Return the HTML of a plan for a run, or for constants only; `maps` follow the curves of the exact error."""
    lines = describe_constants_plan(found, _typeset) if planned is None else describe_answer(found, _typeset)
    curves = [] if found.answer is None else [draw_errors_of_plan(found.answer)]
    known = [plan for plan in found.claims if plan.bound is not None]
    page = UserPlanPage(
        name=name,
        planned=[] if planned is None else [*describe_planned_run(planned), *list_notes(planned)],
        answer=[(head.removesuffix(":"), typeset_prose(line)) for head, line in lines],
        figures=[*curves, *maps],
        table=list_bounds(found),
        recommended=found.recommended,
        reasons=group_reasons(found),
        details=[_build_detail(plan, found) for plan in known],
        command=command,
    )
    return load_templates(()).get_template("user_plan.html").render(page=page)


def _build_detail(plan: ClaimPlan, found: Plan) -> Detail:
    lines = [typeset_prose(line) for line in list_details(plan, found.cost, _typeset)]
    return Detail(plan.claim, plan is found.recommended, lines)


def _typeset(_claim: Claim, expression: Expr) -> str:
    return f"${latex(expression)}$"
