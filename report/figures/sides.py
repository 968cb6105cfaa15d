"""Draw both sides of a comparison as two bars, each split into its terms."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedtheory.arithmetic import plain_float
from report.figures.formulas import shorten_for_legend
from report.figures.rates import draw_ladder
from report.figures.style import BLUE, PAGE, Figure, add_legend_below, choose_colour, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from verify.check import Check
    from verify.check.comparison import Comparison
    from verify.check.sides import SideTerm

_FLAT = PAGE | {"figure.figsize": (4.8, 1.8)}


def draw_sides(found: Check) -> Figure | None:
    """Draw both sides at the place of the largest ratio, or the values of a rate; None if nothing is compared."""
    if found.rate is not None:
        return _draw_ladder(found)
    return None if found.worst is None else _draw_bars(found.claim.id, found.worst)


def _draw_ladder(found: Check) -> Figure:
    """Draw the measured quantity of a rate and its order, log-log."""
    assert found.rate is not None
    with open_canvas() as (canvas, axes):
        draw_ladder(axes, found.claim, found.rate)
        add_legend_below(canvas, axes)
        levels = [(plain_float(level.variable), plain_float(level.measured)) for level in found.rate.levels]
        return finish(canvas, _name("ladder", found.claim.id, levels), "")


def _draw_bars(claim_id: str, worst: Comparison) -> Figure:
    with open_canvas(_FLAT) as (canvas, axes):
        axes.barh(["left side"], [plain_float(worst.lhs)], color=BLUE)
        _stack(axes, worst.terms, plain_float(worst.rhs))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        if axes.get_legend_handles_labels()[1]:
            add_legend_below(canvas, axes)
        return finish(canvas, _name("sides", claim_id, [plain_float(worst.lhs), plain_float(worst.rhs)]), "")


def _stack(axes: Axes, terms: Sequence[SideTerm], whole: float) -> None:
    """Draw the right side term by term if no term is negative, else as one bar."""
    values = [plain_float(term.value) for term in terms]
    if len(values) < 2 or min(values) < 0:
        axes.barh(["right side"], [whole], color=choose_colour(1))
        return
    start = 0.0
    for number, (term, value) in enumerate(zip(terms, values, strict=True), start=1):
        if value > 0:
            axes.barh(
                ["right side"], [value], left=start, color=choose_colour(number), label=shorten_for_legend(term.latex)
            )
            start += value


def _name(kind: str, claim_id: str, numbers: object) -> str:
    return f"{kind}-{hashlib.sha256(repr((claim_id, numbers)).encode()).hexdigest()[:12]}"
