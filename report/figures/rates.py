"""A rate on its ladder: the measured quantity beside the order that was claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import plain_float
from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from report.figures.style import BLACK, BLUE, RED, Figure, drawing, finish
from verify.check.climbs import RateCheck, Rung

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ladder(claim: Claim, found: RateCheck) -> Figure:
    """Exact values over the ladder, log-log, the claimed order through the first that is not zero, and the limit."""
    with drawing() as (canvas, axes):
        name = draw_ladder(axes, claim, found)
        axes.legend()
    slope = "" if found.slope is None else f" Fitted slope on the last half: {found.slope:.3f}."
    slope += _further_slopes(found)
    caption = f"Exact values over a ladder of {name}, on the instance named on this page.{_zeros(found)}{slope}"
    return finish(canvas, f"{claim.slug}-ladder", caption)


def draw_ladder(axes: Axes, claim: Claim, found: RateCheck) -> str:
    """The ladder on some axes; the name of what varies along it."""
    assert claim.rate is not None
    notion = claim.notation[claim.rate.variables[0]]
    name = notion.name.replace("_", " ")
    shown = [rung for rung in found.rungs if rung.measured != 0]
    if shown:
        _values_and_order(axes, shown)
    else:
        axes.semilogx([plain_float(rung.variable) for rung in found.rungs], [0.0] * len(found.rungs), **_EXACT)
    if found.limit is not None and plain_float(found.limit) > 0:
        axes.axhline(plain_float(found.limit), color=RED, linestyle=":", label="exact limit")
    axes.set_xlabel(f"{name} ${notion.latex}$")
    axes.set_ylabel("quantity of the claim, absolute value")
    return name


_EXACT: Any = {"color": BLUE, "marker": "o", "label": "exact"}


def _values_and_order(axes: Axes, rungs: Sequence[Rung]) -> None:
    variables = [plain_float(rung.variable) for rung in rungs]
    measured = [abs(plain_float(rung.measured)) for rung in rungs]
    orders = [plain_float(rung.order) for rung in rungs]
    axes.loglog(variables, measured, **_EXACT)
    scaled = [order * measured[0] / orders[0] for order in orders]
    axes.loglog(variables, scaled, color=BLACK, linestyle="--", label="claimed order, through the first point")


def _further_slopes(found: RateCheck) -> str:
    """The slopes along the ladders that the figure does not show."""
    slopes = [
        f"{climb.slope:.3f} in {' and '.join(f'${latex(variable)}$' for variable in climb.variables)}"
        for climb in found.climbs[1:]
        if climb.slope is not None
    ]
    return f" On the ladders of other variables: {', '.join(slopes)}." if slopes else ""


def _zeros(found: RateCheck) -> str:
    """What a logarithmic axis cannot show."""
    count = sum(rung.measured == 0 for rung in found.rungs)
    if count == len(found.rungs):
        return " The quantity is exactly zero on all of them, and so of every order."
    return (
        f" On {count} of the {len(found.rungs)} rungs the quantity is exactly zero, below every axis." if count else ""
    )
