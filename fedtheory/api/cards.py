"""Draws the small figures on the cards of a notebook; the drawing code is imported when the first one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.api.simulation import Simulation
    from fedtheory.planner import Plan
    from fedtheory.proofs import Proof
    from report.figures.style import Figure
    from verify.check import Check


def _convert_to_svg(figure: Figure | None) -> str | None:
    """Return the SVG text of a figure; None if there is no figure."""
    return None if figure is None else figure.svg


def _draw_simulation(found: Simulation) -> str | None:
    """Draw the suboptimality over rounds or clock time; None for a run of one round, or without a minimiser."""
    from report.figures.errors import draw_errors

    if found.suboptimality is None or len(found.times) <= 2:
        return None
    return draw_errors(found.run, found.times, found.suboptimality).svg


def _draw_check(found: Check | None) -> str | None:
    """Draw the left side, and the right side with its terms; None without a check."""
    from report.figures.sides import draw_sides

    return None if found is None else _convert_to_svg(draw_sides(found))


def _draw_proof(found: Proof) -> str | None:
    """Draw the graph of the claims that the proof uses."""
    from report.figures.premises import draw_premises

    return _convert_to_svg(draw_premises(found))


def _draw_plan(found: Plan) -> str | None:
    """Draw the exact error over the rounds, for the given and for the recommended step sizes."""
    from report.figures.plans import draw_errors_of_plan

    return None if found.answer is None else draw_errors_of_plan(found.answer).svg


BY_CLASS: dict[str, Callable[[Any], str | None]] = {
    "Simulation": _draw_simulation,
    "Check": _draw_check,
    "ClaimVerdict": lambda verdict: _draw_check(verdict.evidence),
    "Verdicts": lambda verdicts: _draw_check(verdicts[0].evidence) if len(verdicts) == 1 else None,
    "Finding": lambda finding: _draw_check(finding.found),
    "Proof": _draw_proof,
    "Plan": _draw_plan,
}
"""Functions that draw the commands' results, by the name of the result's class."""
