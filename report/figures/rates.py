"""A rate on its ladder of horizons: the measured quantity beside the order that was claimed."""

from __future__ import annotations

from fedtheory.arithmetic import plain_float
from fedtheory.claim import Claim
from report.figures.style import BLACK, BLUE, RED, Figure, drawing, finish
from verify.rates import RateCheck


def ladder(claim: Claim, found: RateCheck) -> Figure:
    """Exact values over the ladder, log-log, with the claimed order through the first rung, and the limit."""
    horizons = [rung.horizon for rung in found.rungs]
    measured = [abs(plain_float(rung.measured)) for rung in found.rungs]
    orders = [plain_float(rung.order) for rung in found.rungs]
    with drawing() as (canvas, axes):
        axes.loglog(horizons, measured, color=BLUE, marker="o", label="exact")
        scaled = [order * measured[0] / orders[0] for order in orders]
        axes.loglog(horizons, scaled, color=BLACK, linestyle="--", label="claimed order, through the first point")
        if found.limit is not None and plain_float(found.limit) > 0:
            axes.axhline(plain_float(found.limit), color=RED, linestyle=":", label="exact limit")
        axes.set_xlabel("rounds $T$")
        axes.set_ylabel("quantity, units of $F$")
        axes.legend()
    slope = "" if found.slope is None else f" Fitted slope on the last half: {found.slope:.3f}."
    caption = f"Exact values over a ladder of horizons, on the instance named on this page.{slope}"
    return finish(canvas, f"{claim.slug}-ladder", caption)
