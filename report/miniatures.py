"""Small figures for the front page: bound and exact error of a source's main theorem over rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher
from report.curves import BoundCurve, compute_curve_up_to
from report.figures.style import BLACK, BLUE, PAGE, Figure, finish, open_canvas
from report.showcases import make_showcase
from verify.claim_verdict import ClaimVerdict

_ROUNDS = 256
"""Largest number of rounds; powers of two up to it are drawn."""
_SMALL: Any = PAGE | {"figure.figsize": (3.3, 2.1), "font.size": 9, "legend.fontsize": 8}


def draw_miniature(verdict: ClaimVerdict) -> Figure | None:
    """Draw a main theorem, or a correction of one, over rounds on the first run to which it applies.

    Returns None for other claims, and if the claim applies to at most one number of rounds on each run.
    """
    if not is_main(verdict.claim) or verdict.claim.rate is not None:
        return None
    for words, run in _list_runs(verdict):
        curve = compute_curve_up_to(verdict.claim, _ROUNDS, run.with_rounds)
        if curve is not None and len(curve.horizons) > 1:
            return _draw(verdict.claim, curve, words)
    return None


def _list_runs(verdict: ClaimVerdict) -> Iterator[tuple[str, Run]]:
    """Yield runs with descriptions: the counterexample, or an example followed by the run with the largest attained
    ratio.
    """
    if verdict.verdict != "refuted":
        yield "a run of ten clients with five local steps", make_showcase(local_steps=5)
    if verdict.witness is not None:
        yield (
            "the counterexample" if verdict.verdict == "refuted" else "the run with the largest known ratio",
            verdict.witness,
        )


def is_main(claim: Claim) -> bool:
    """Return whether a claim is its source's main theorem or a correction of it."""
    paper = find_publisher(claim)
    return paper is not None and f"{claim.source}:{paper.source.main}" in (claim.id, claim.corrects)


def _draw(claim: Claim, curve: BoundCurve, words: str) -> Figure:
    """Draw the small figure of exact error and bound over rounds."""
    with open_canvas(_SMALL) as (canvas, axes):
        axes.loglog(curve.horizons, curve.right, color=BLACK, linestyle="--", label="bound")
        axes.loglog(curve.horizons, curve.left, color=BLUE, marker="o", label="exact error")
        axes.set_xlabel("rounds")
        axes.legend()
    return finish(canvas, f"{claim.slug}-small", f"Exact error and bound over rounds, on {words}.")
