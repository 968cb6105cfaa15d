"""Draw a bound and the exact error: over rounds, term by term, and the tightness over step size and local steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.batches import compute_trajectories
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from report.curves import BoundCurve
from report.figures.formulas import shorten_for_legend
from report.figures.heat_map import draw_heat_map
from report.figures.style import BLACK, BLUE, Figure, add_legend_below, choose_colour, choose_dash, finish, open_canvas
from verify.check.joint_checks import compute_ratios

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_over_rounds(name: str, curve: BoundCurve, setting: str) -> Figure:
    """Draw bound and exact error over rounds, log-log."""
    with open_canvas() as (canvas, axes):
        axes.loglog(curve.horizons, curve.right, color=BLACK, linestyle="--", label="bound")
        draw_exact_error(axes, curve)
        axes.set_xlabel("rounds (server updates)")
        axes.set_ylabel("error")
        axes.legend()
        worst = max(a / b for a, b in zip(curve.left, curve.right, strict=True))
        known = _describe_method(curve).capitalize()
        caption = f"{known} left side and bound over the number of rounds. {setting} Largest ratio here: {worst:.3g}."
        return finish(canvas, f"{name}-over-rounds", caption)


def draw_by_terms(name: str, curve: BoundCurve, setting: str) -> Figure:
    """Draw the terms of the bound over rounds, log-log."""
    with open_canvas() as (canvas, axes):
        left_out = draw_terms(axes, curve)
        axes.set_xlabel("rounds (server updates)")
        axes.set_ylabel("terms of the bound")
        add_legend_below(canvas, axes)
        caption = (
            f"The bound and its terms. {setting} Where a constant term dominates, more rounds do not lower the bound."
        )
        caption += f" Zero here, and not drawn: {', '.join(left_out)}." if left_out else ""
        return finish(canvas, f"{name}-terms", caption)


def draw_exact_error(axes: Axes, curve: BoundCurve) -> None:
    """Draw the exact left sides, log-log."""
    axes.loglog(curve.horizons, curve.left, color=BLUE, marker="o", label=f"{_describe_method(curve)} left side")


def _describe_method(curve: BoundCurve) -> str:
    """Return in one word how the left sides were computed."""
    return "exact" if all(check.estimate is None for check in curve.checks) else "estimated"


def draw_terms(axes: Axes, curve: BoundCurve) -> list[str]:
    """Draw a bound and its relevant terms, log-log; return the formulas of the other terms."""
    axes.loglog(curve.horizons, curve.right, color=BLACK, linewidth=2, label="bound")
    left_out = []
    for number, (term, values) in enumerate(curve.terms.items()):
        if max(values) > _NOTHING * max(curve.right):
            style = {"color": choose_colour(number + 1), "linestyle": choose_dash(number + 1)}
            axes.loglog(curve.horizons, values, label=shorten_for_legend(term), **style)
        else:
            left_out.append(f"${term}$")
    return left_out


_NOTHING = 1e-12
"""Fraction of a bound below which a term is zero up to rounding."""

FRACTIONS = tuple(Fraction(1, 2**power) for power in range(6, -1, -1))
LOCAL_STEPS = (1, 2, 4, 8, 16, 32)
_ROUNDS = (1, 4, 16, 64)


def draw_tightness_map(claim: Claim, runs: Sequence[Run], limit: Fraction) -> Figure:
    """Draw the largest ratio of exact left side to bound over runs, for each step size and number of local steps.

    Step sizes are fractions of the claim's own limit, ``limit / L``.
    """
    found = [np.nan if ratio is None else ratio for ratio in compute_ratios(claim, _build_grid(tuple(runs), limit))]
    # For a number and NaN, fmax returns the number.
    largest = np.fmax.reduce(np.reshape(found, (len(LOCAL_STEPS), len(FRACTIONS), -1)), axis=-1)
    with open_canvas() as (canvas, axes):
        draw_heat_map(canvas, axes, largest, label="largest exact / bound", size=8)
        axes.set_xticks(range(len(FRACTIONS)), [_format_fraction(f) for f in FRACTIONS])
        axes.set_yticks(range(len(LOCAL_STEPS)), [str(steps) for steps in LOCAL_STEPS])
        axes.set_xlabel(rf"step size $\eta$, as a multiple of ${_format_limit(limit)}$")
        axes.set_ylabel(r"local steps $\tau$")
        caption = (
            f"Tightness: the largest ratio of exact left side to bound, over {len(runs)} problems (not the "
            "instances of the verdict) and $T = 1, 4, 16, 64$. A ratio of 1 means that the bound is attained."
        )
        return finish(canvas, f"{claim.slug}-map", caption)


@lru_cache(maxsize=1)
def _build_grid(runs: tuple[Run, ...], limit: Fraction) -> list[Run]:
    """Return the runs of a map; cached, so that claims with the same limit share runs and their quantities."""
    grid = product(LOCAL_STEPS, FRACTIONS)
    settings = [run for steps, fraction in grid for run in _list_settings(runs, fraction * limit, steps)]
    compute_trajectories(settings)
    return settings


def _list_settings(runs: Sequence[Run], size: Fraction, steps: int) -> list[Run]:
    """Return each run with step size ``size / L``, `steps` local steps, and several numbers of rounds."""
    return [_build_setting(run, size, steps, rounds) for run in runs for rounds in _ROUNDS]


def _build_setting(run: Run, size: Fraction, steps: int, rounds: int) -> Run:
    """Return the run with step size ``size / L`` and the given numbers of local steps and rounds."""
    step = FLOAT.number(size / Fraction(run.smoothness), "step")
    return run.with_work((steps,) * run.problem.clients, step).with_rounds(rounds)


def _format_fraction(fraction: Fraction) -> str:
    return str(fraction.numerator) if fraction.denominator == 1 else f"1/{fraction.denominator}"


def _format_limit(limit: Fraction) -> str:
    return f"{limit.numerator}/({limit.denominator}L)" if limit.denominator != 1 else f"{limit.numerator}/L"
