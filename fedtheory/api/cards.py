"""The small figures on the cards of a notebook; nothing is imported before one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.api.results import Verdicts
    from fedtheory.api.simulation import Simulation
    from fedtheory.planner import Plan
    from fedtheory.proofs import Proof
    from report.figures.style import Figure
    from verify.check import Check
    from verify.falsify import Finding
    from verify.verdict import ClaimVerdict


def _svg(figure: Figure | None) -> str | None:
    return None if figure is None else figure.svg


def _simulation(found: Simulation) -> str | None:
    """The suboptimality over rounds or clock time; none for a run of one round, or without a minimiser."""
    from report.figures.errors import draw_errors

    if found.suboptimality is None or len(found.times) <= 2:
        return None
    return draw_errors(found.run, found.times, found.suboptimality).svg


def _check(found: Check) -> str | None:
    """Both sides, the right one in its terms."""
    from report.figures.sides import sides_of_check

    return _svg(sides_of_check(found))


def _evidence(found: ClaimVerdict) -> str | None:
    """Both sides on the instance that a verdict rests on, the right one in its terms."""
    return None if found.evidence is None else _check(found.evidence)


def _verdicts(found: Verdicts) -> str | None:
    """Return the verdict of the only one."""
    return _evidence(found[0]) if len(found) == 1 else None


def _finding(found: Finding) -> str | None:
    """Both sides on the run that was found."""
    return None if found.found is None else _check(found.found)


def _proof(found: Proof) -> str | None:
    """The claims that the proof uses."""
    from report.figures.premises import premises_of_proof

    return _svg(premises_of_proof(found))


def _describe_plan(found: Plan) -> str | None:
    """The exact error over the rounds, as planned and as answered."""
    from report.figures.plans import errors_of_plan

    return None if found.answer is None else errors_of_plan(found.answer).svg


BY_CLASS: dict[str, Callable[[Any], str | None]] = {
    "Simulation": _simulation,
    "Check": _check,
    "ClaimVerdict": _evidence,
    "Verdicts": _verdicts,
    "Finding": _finding,
    "Proof": _proof,
    "Plan": _describe_plan,
}
"""Drawings of the commands' results, by the name of the class."""
