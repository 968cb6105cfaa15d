"""Draw a rate on its ladder: the measured quantity and the claimed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import plain_float
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import clients
from fedtheory.language.typesetting import latex
from report.figures.style import BLACK, BLUE, RED, Figure, finish, open_canvas
from verify.check.measured_ladders import LadderLevel, RateCheck

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_rate(claim: Claim, found: RateCheck) -> Figure:
    """Draw exact values over the ladder, log-log, with the claimed order and the limit.

    The curve of the order passes through the first value that is not zero.
    """
    with open_canvas() as (canvas, axes):
        name = draw_ladder(axes, claim, found)
        axes.legend()
    slope = "" if found.slope is None else f" Fitted slope on the last half: {found.slope:.3f}."
    slope += _describe_further_slopes(found)
    caption = f"Exact values for growing {name}, on the instance of this page.{_describe_zeros(found)}{slope}"
    return finish(canvas, f"{claim.slug}-ladder", caption)


def draw_over_clients(claim: Claim, found: RateCheck) -> Figure | None:
    """Draw exact values over the number of clients, log-log, and the claimed order; None if the number does not
    vary.
    """
    ladder = next((c for c in found.ladders if [claim.notation[v] for v in c.variables] == [clients]), None)
    if ladder is None:
        return None
    with open_canvas() as (canvas, axes):
        _draw_levels(axes, ladder.positions, ladder.levels)
        axes.set_xlabel(f"number of clients ${clients.latex}$")
        axes.set_ylabel("quantity of the claim, absolute value")
        axes.legend()
    slope = "" if ladder.slope is None else f" Fitted slope on the last half: {ladder.slope:.3f}."
    caption = f"Exact values over the number of clients, all other settings as in the run below.{slope}"
    return finish(canvas, f"{claim.slug}-over-clients", caption)


def draw_ladder(axes: Axes, claim: Claim, found: RateCheck) -> str:
    """Draw the values measured over the first variable on some axes; return the name of that variable."""
    assert claim.rate is not None
    quantity = claim.notation[claim.rate.variables[0]]
    name = quantity.name.replace("_", " ")
    _draw_levels(axes, [plain_float(level.variable) for level in found.levels], found.levels)
    if found.limit is not None and plain_float(found.limit) > 0:
        axes.axhline(plain_float(found.limit), color=RED, linestyle=":", label="exact limit")
    axes.set_xlabel(f"{name} ${quantity.latex}$")
    axes.set_ylabel("quantity of the claim, absolute value")
    return name


_EXACT: Any = {"color": BLUE, "marker": "o", "label": "exact"}


def _draw_levels(axes: Axes, positions: Sequence[float], levels: Sequence[LadderLevel]) -> None:
    """Draw the non-zero values, and the claimed order through the first of them; zeros only if all are zero."""
    shown = [(position, level) for position, level in zip(positions, levels, strict=True) if level.measured != 0]
    if not shown:
        axes.semilogx(positions, [0.0] * len(levels), **_EXACT)
        return
    places = [position for position, _ in shown]
    measured = [abs(plain_float(level.measured)) for _, level in shown]
    orders = [plain_float(level.order) for _, level in shown]
    axes.loglog(places, measured, **_EXACT)
    scaled = [order * measured[0] / orders[0] for order in orders]
    axes.loglog(places, scaled, color=BLACK, linestyle="--", label="claimed order, through the first point")


def _describe_further_slopes(found: RateCheck) -> str:
    """Describe the slopes along the ladders that the figure does not show."""
    slopes = [
        f"{ladder.slope:.3f} in {' and '.join(f'${latex(variable)}$' for variable in ladder.variables)}"
        for ladder in found.ladders[1:]
        if ladder.slope is not None
    ]
    return f" On the ladders of other variables: {', '.join(slopes)}." if slopes else ""


def _describe_zeros(found: RateCheck) -> str:
    """Describe the levels that are zero, which a logarithmic axis cannot show."""
    count = sum(level.measured == 0 for level in found.levels)
    if count == len(found.levels):
        return " The quantity is exactly zero on all of them, and so of every order."
    return (
        f" On {count} of the {len(found.levels)} levels the quantity is exactly zero, below every axis."
        if count
        else ""
    )
