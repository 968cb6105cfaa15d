"""Draw the error of a run over its rounds, at the planned step size and at the recommended one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.planner.error_curves import measure_curve
from fedtheory.shown import short, short_below
from report.figures.style import BLACK, BLUE, ORANGE, Figure, add_legend_below, finish, open_canvas

if TYPE_CHECKING:
    from fedtheory.planner import Answer

_LISTED = 2000
"""Largest number of rounds that are drawn."""


def draw_errors_of_plan(answer: Answer) -> Figure:
    """Draw the error after each round, as planned and as recommended, with the target if it exists.

    Averages over replicas have bands, their 95 % intervals.
    """
    rounds = min(max(answer.planned.rounds, answer.best.rounds), _LISTED)
    run = answer.run.with_rounds(rounds)
    with open_canvas() as (canvas, axes):
        for outcome, words, colour, dashes in (
            (answer.planned, "planned", ORANGE, "--"),
            (answer.best, "best", BLUE, "-"),
        ):
            factor = outcome.step_size / answer.planned.step_size
            curve = measure_curve(run if factor == 1 else run.with_step_factor(factor), answer.error)
            errors, places = curve.errors, np.arange(1, rounds + 1)
            shown = np.where(np.isfinite(errors) & (errors > 0), errors, np.nan)
            label = f"{words} step size {short_below(outcome.step_size)}"
            axes.plot(places, shown, color=colour, linestyle=dashes, label=label)
            if curve.half_widths.any():
                # A logarithmic axis has no zero: bands end at half of the smallest average.
                low = np.maximum(shown - curve.half_widths, np.nanmin(shown) / 2)
                axes.fill_between(places, low, shown + curve.half_widths, color=colour, alpha=0.2, linewidth=0)
        if answer.accuracy is not None:
            axes.axhline(answer.accuracy, color=BLACK, linestyle=":", label=f"target {short(answer.accuracy)}")
        axes.set_yscale("log")
        axes.set_xlabel("rounds")
        axes.set_ylabel(answer.error.name.replace("_", " "))
        add_legend_below(canvas, axes)
        steps = (answer.planned.step_size, answer.best.step_size, answer.accuracy, rounds)
        name = f"plan-{hashlib.sha256(repr(steps).encode()).hexdigest()[:12]}"
        intervals = " Bands are 95 % intervals." if answer.run.is_estimated else ""
        return finish(
            canvas,
            name,
            f"The {answer.run.errors_are} {answer.error.name.replace('_', ' ')} after each round.{intervals}",
        )
