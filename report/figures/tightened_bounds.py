"""Draw a published bound and tightened ones: both sides over the number of local steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.typesetting import latex
from report.figures.style import BLACK, Figure, add_legend_below, choose_colour, choose_dash, finish, open_canvas
from verify.check import check

LOCAL_STEPS = (1, 2, 3, 4, 6, 8, 12, 16)


def draw_tightened(claim: Claim, sharper: Sequence[Claim], run_at: Callable[[int], Run], words: str) -> Figure:
    """Draw the exact left side, the published right side, and those of tightened claims about the same quantity."""
    rivals = {"published": claim} | {f"tightened ({other.id.partition(':')[2]})": other for other in sharper}
    curves = {name: _compute_sides(rival, run_at) for name, rival in rivals.items()}
    with open_canvas() as (canvas, axes):
        exact = curves["published"][0]
        places = [steps for steps, value in exact.items() if value > 0]
        axes.loglog(places, [exact[n] for n in places], "-", color=BLACK, marker="o", markersize=4, label="exact")
        for number, (name, (_, bounds)) in enumerate(curves.items()):
            shown = {steps: bound for steps, bound in bounds.items() if bound > 0}
            style = {"color": choose_colour(number), "linestyle": choose_dash(number + 1)}
            axes.loglog(list(shown), list(shown.values()), label=name, **style)
        axes.set_xticks(LOCAL_STEPS, [str(steps) for steps in LOCAL_STEPS])
        axes.minorticks_off()
        axes.set_xlabel("local steps per round")
        axes.set_ylabel("both sides")
        add_legend_below(canvas, axes)
    drawn = {"the exact value": exact} | {name: bounds for name, (_, bounds) in curves.items()}
    caption = f"${latex(claim.relations[0].left)}$, exact, and its bounds. {words}{_name_zeros(drawn)}"
    return finish(canvas, f"{claim.slug}-sharpened", caption)


def _name_zeros(drawn: Mapping[str, Mapping[int, float]]) -> str:
    """Name the curves that are zero, which logarithmic axes cannot show."""
    zero = {name: [str(steps) for steps, value in curve.items() if value == 0] for name, curve in drawn.items()}
    lines = [f"{name} (local steps: {', '.join(steps)})" for name, steps in zero.items() if steps]
    return f" Zero, below these axes: {'; '.join(lines)}." if lines else ""


def _compute_sides(claim: Claim, run_at: Callable[[int], Run]) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Return left and right side by the number of local steps, where the claim applies."""
    found = {steps: check(claim, run_at(steps)) for steps in LOCAL_STEPS}
    places = {steps: c.comparisons[0] for steps, c in found.items() if c.applicable}
    left = {steps: plain_float(place.lhs) for steps, place in places.items()}
    return left, {steps: plain_float(place.rhs) for steps, place in places.items()}
