"""A rate on its ladder: the measured quantity beside the order that was claimed."""

from __future__ import annotations

from fedtheory.arithmetic import plain_float
from fedtheory.claim import Claim
from report.figures.style import BLACK, BLUE, RED, Figure, drawing, finish
from verify.rates import RateCheck


def ladder(claim: Claim, found: RateCheck) -> Figure:
    """Exact values over the ladder, log-log, with the claimed order through the first rung, and the limit."""
    assert claim.rate is not None
    notion = claim.notation[claim.rate.variable]
    name = notion.name.replace("_", " ")
    variables = [plain_float(rung.variable) for rung in found.rungs]
    measured = [abs(plain_float(rung.measured)) for rung in found.rungs]
    orders = [plain_float(rung.order) for rung in found.rungs]
    with drawing() as (canvas, axes):
        axes.loglog(variables, measured, color=BLUE, marker="o", label="exact")
        scaled = [order * measured[0] / orders[0] for order in orders]
        axes.loglog(variables, scaled, color=BLACK, linestyle="--", label="claimed order, through the first point")
        if found.limit is not None and plain_float(found.limit) > 0:
            axes.axhline(plain_float(found.limit), color=RED, linestyle=":", label="exact limit")
        axes.set_xlabel(f"{name} ${notion.latex}$")
        axes.set_ylabel("quantity of the claim, absolute value")
        axes.legend()
    slope = "" if found.slope is None else f" Fitted slope on the last half: {found.slope:.3f}."
    caption = (
        f"Exact values over a ladder of {notion.name.replace('_', ' ')}, on the instance named on this page.{slope}"
    )
    return finish(canvas, f"{claim.slug}-ladder", caption)
