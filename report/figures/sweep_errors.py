"""Draw a recorded error over the keys of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from report.figures.style import BLACK, BLUE, ORANGE, Figure, finish, open_canvas
from report.figures.sweep import SweepPoint, set_scales


def draw_error(key: str, error: str, points: Sequence[SweepPoint], labels: Sequence[str], name: str) -> Figure:
    """Draw an error over a key: every run, the smallest at each value, the best of all, and runs without an error.

    `labels` name the positions 0, 1, ... of a key whose values are not numbers.
    """
    known = [point for point in points if point.ratio is not None]
    smallest: dict[float, float] = {}
    for point in sorted(known, key=lambda point: point.place):
        assert point.ratio is not None
        smallest[point.place] = min(point.ratio, smallest.get(point.place, point.ratio))
    best = min(smallest, key=lambda place: smallest[place])
    without = sorted({point.place for point in points} - set(smallest))
    with open_canvas() as (canvas, axes):
        set_scales(axes, known, points, labels)
        axes.plot([p.place for p in known], [p.ratio or 0 for p in known], "o", color=BLUE, markersize=3, alpha=0.45)
        axes.plot(list(smallest), list(smallest.values()), color=BLACK, marker="o", markersize=3, label="smallest")
        axes.plot([best], [smallest[best]], "o", color=ORANGE, markersize=7, label="best")
        if without:
            heights = [0.03] * len(without)
            axes.plot(without, heights, "|", color=ORANGE, transform=axes.get_xaxis_transform(), label="none: diverges")
        axes.set_xlabel(key)
        axes.set_ylabel(error)
        axes.margins(y=0.12)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=8)
    place = labels[int(best)] if labels else f"{best:.4g}"
    marks = "" if not without else f" At {len(without)} values of the key no run has an error: it diverges, or is none."
    caption = f"{len(known)} runs over {key}. The smallest {error}, {smallest[best]:.4g}, is at {place}.{marks}"
    return finish(canvas, name, caption)
