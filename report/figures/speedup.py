"""Error against the number of clients: slopes, and where the limit on local steps ends."""

from __future__ import annotations

from collections.abc import Sequence

from report.figures.style import BLACK, CYCLE, DASHES, Figure, drawing, finish
from report.speedup import ITERATIONS, SpeedUp


def over_clients(slug: str, measured: Sequence[SpeedUp], name: str, kind: str) -> Figure:
    """Exact error over N, log-log: filled marks where K keeps to its limit, hollow ones beyond it."""
    with drawing() as (canvas, axes):
        # Few local steps last, so that their filled marks stay visible where curves coincide.
        for number, curve in reversed(list(enumerate(measured))):
            colour, inside = CYCLE[number % len(CYCLE)], curve.inside
            label = f"$K={curve.local_steps}$, limit $N={curve.limit:.3g}$"
            axes.loglog(curve.clients, curve.errors, DASHES[number % len(DASHES)], color=colour, label=label)
            marks = {"linestyle": "none", "marker": "o", "markersize": 5, "color": colour}
            axes.loglog(curve.clients[inside:], curve.errors[inside:], **marks, markerfacecolor="w")
            axes.loglog(curve.clients[:inside], curve.errors[:inside], **marks)
        first = measured[0]
        ideal = [first.errors[0] * (first.clients[0] / clients) ** 0.5 for clients in first.clients]
        axes.loglog(first.clients, ideal, ":", color=BLACK, linewidth=1.2, label=r"slope $-1/2$")
        axes.set_xlabel("clients $N$")
        axes.set_ylabel(r"mean of $\mathbb{E}\,|\nabla f(\bar{x}^t)|^2$ over $t$")
        axes.legend()
    caption = (
        f"Exact error at $s=\\sqrt N/(L\\sqrt T)$, $T={ITERATIONS}$, {kind}.  Filled marks keep to "
        f"$K\\le T^{{1/4}}/N^{{3/4}}$, hollow ones do not.  {' '.join(_words(curve) for curve in measured)}"
    )
    return finish(canvas, f"{slug}-speed-up-{name}", caption)


def _words(curve: SpeedUp) -> str:
    """The fitted slopes of a curve, within the limit and beyond it."""
    inside, beyond = curve.slope(0, curve.inside), curve.slope(curve.inside, None)
    parts = [
        f"{fit[0]:.3f} ± {fit[1]:.3f} {where}"
        for fit, where in ((inside, "within the limit"), (beyond, "beyond it"))
        if fit is not None
    ]
    return f"$K={curve.local_steps}$: slope {', '.join(parts)}."
