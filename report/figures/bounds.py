"""A bound beside the exact error: over rounds, term by term, and how tight it is over step size and local steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedtheory.arithmetic import FLOAT, plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from report.figures.heat_map import heat_map
from report.figures.style import BLACK, BLUE, Figure, colour, dash, drawing, finish
from verify.check import Check, check
from verify.check.comparison import Comparison

_LONGEST_LABEL = 75
"""Characters of LaTeX in a legend."""
HORIZONS = tuple(round(10 ** (power / 8)) for power in range(0, 27, 2))
"""Rounds T from 1 to about 2000, evenly on a log scale."""


@dataclass(frozen=True)
class BoundCurve:
    """A claim evaluated along growing horizons."""

    horizons: Sequence[int]
    checks: Sequence[Check]

    @property
    def left(self) -> list[float]:
        """Exact left sides."""
        return [plain_float(_worst(c).lhs) for c in self.checks]

    @property
    def right(self) -> list[float]:
        """Right sides."""
        return [plain_float(_worst(c).rhs) for c in self.checks]

    @property
    def terms(self) -> dict[str, list[float]]:
        """Each term of the right side, by its LaTeX."""
        names = [term.latex for term in _worst(self.checks[0]).terms]
        return {n: [plain_float(_worst(c).terms[k].value) for c in self.checks] for k, n in enumerate(names)}


def _worst(found: Check) -> Comparison:
    if found.worst is None:
        raise ValueError(f"{found.claim.id}: {found.reason}")
    return found.worst


def bound_curve(claim: Claim, run: Run, horizons: Sequence[int] = HORIZONS) -> BoundCurve:
    """The claim at growing horizons of a float run, 1 .. 2000 by default."""
    return BoundCurve(horizons, [check(claim, run.with_rounds(horizon)) for horizon in horizons])


def over_rounds(name: str, curve: BoundCurve, setting: str) -> Figure:
    """Bound against exact error over rounds, log-log."""
    with drawing() as (canvas, axes):
        axes.loglog(curve.horizons, curve.right, color=BLACK, linestyle="--", label="bound")
        axes.loglog(curve.horizons, curve.left, color=BLUE, marker="o", markersize=3.5, label="exact left side")
        axes.set_xlabel("number of server updates")
        axes.set_ylabel("error")
        axes.legend()
        worst = max(a / b for a, b in zip(curve.left, curve.right, strict=True))
        caption = f"Exact left side and bound over the number of rounds. {setting} Largest ratio here: {worst:.3g}."
        return finish(canvas, f"{name}-over-rounds", caption)


def by_terms(name: str, curve: BoundCurve, setting: str) -> Figure:
    """The bound split into its terms over rounds, log-log."""
    with drawing() as (canvas, axes):
        axes.loglog(curve.horizons, curve.right, color=BLACK, linewidth=2.4, label="bound")
        left_out = []
        for number, (term, values) in enumerate(curve.terms.items()):
            style = {"color": colour(number), "linestyle": dash(number)}
            if max(values) > _NOTHING * max(curve.right):
                axes.loglog(curve.horizons, values, label=_label(term, number), **style)
            else:
                left_out.append(_label(term, number))
        axes.set_xlabel("number of server updates")
        axes.set_ylabel("terms of the bound")
        axes.legend(loc="best")
        caption = f"The bound, split into its terms. {setting} Where a flat term dominates, more rounds do not help."
        caption += f" Zero here, and not drawn: {', '.join(left_out)}." if left_out else ""
        return finish(canvas, f"{name}-terms", caption)


_NOTHING = 1e-12
"""Part of a bound below which a term is zero, up to rounding."""

FRACTIONS = tuple(Fraction(1, 2**power) for power in range(6, -1, -1))
LOCAL_STEPS = (1, 2, 4, 8, 16, 32)


def tightness_map(claim: Claim, runs: Sequence[Run], limit: Fraction) -> Figure:
    """Largest ratio of exact left side to bound over runs, for each step size and number of local steps.

    Step sizes are fractions of the claim's own limit, ``limit / L``.
    """
    largest = np.array([[_largest_ratio(claim, runs, f * limit, steps) for f in FRACTIONS] for steps in LOCAL_STEPS])
    with drawing() as (canvas, axes):
        heat_map(canvas, axes, largest, label="largest exact / bound", size=8)
        axes.set_xticks(range(len(FRACTIONS)), [_fraction_label(f) for f in FRACTIONS])
        axes.set_yticks(range(len(LOCAL_STEPS)), [str(steps) for steps in LOCAL_STEPS])
        axes.set_xlabel(rf"step size $\eta$, as a multiple of ${_limit_label(limit)}$")
        axes.set_ylabel(r"local steps $\tau$")
        caption = (
            f"Tightness: the largest ratio of exact left side to bound, over {len(runs)} problems of its own (not the "
            "instances of the verdict) and $T = 1, 4, 16, 64$. One would mean that the bound is attained."
        )
        return finish(canvas, f"{claim.slug}-map", caption)


def _largest_ratio(claim: Claim, runs: Sequence[Run], size: Fraction, steps: int) -> float:
    ratios = [
        plain_float(found.worst.ratio)
        for run in runs
        for rounds in (1, 4, 16, 64)
        for found in [check(claim, _setting(run, size, steps, rounds))]
        if found.worst is not None and found.worst.ratio is not None
    ]
    return max(ratios, default=float("nan"))


def _setting(run: Run, size: Fraction, steps: int, rounds: int) -> Run:
    """The run with step size ``size / L`` and another number of local steps and rounds."""
    step = FLOAT.number(size / Fraction(run.smoothness), "step")
    return run.with_work((steps,) * run.problem.clients, step).with_rounds(rounds)


def _fraction_label(fraction: Fraction) -> str:
    return str(fraction.numerator) if fraction.denominator == 1 else f"1/{fraction.denominator}"


def _limit_label(limit: Fraction) -> str:
    return f"{limit.numerator}/({limit.denominator}L)" if limit.denominator != 1 else f"{limit.numerator}/L"


def _label(latex: str, number: int) -> str:
    """A term in a legend: its formula, or its place in the table of terms where the formula is too long."""
    return f"${_legible(latex)}$" if len(latex) <= _LONGEST_LABEL else f"term {number + 1}"


def _legible(latex: str) -> str:
    """Fractions at full size, which a legend needs, and braces where Matplotlib asks for them."""
    braced = re.sub(r"(\\(?:mathcal|mathbb|mathrm|bar|tilde)) (\w)", r"\1{\2}", latex)
    return re.sub(r"\\frac(\w)(\w)", r"\\frac{\1}{\2}", braced).replace(r"\frac", r"\dfrac")
