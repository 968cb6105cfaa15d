"""Draw a proof: the claim, and the claims that its certificate uses, in the colours of their verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from fedtheory.language.registry import all_claims
from fedtheory.proofs import Proof
from report.figures.style import GREEN, ORANGE, PAGE, RED, Figure, finish, open_canvas
from report.statement_premises import list_used_claims

_COLOURS = {"proved": GREEN, "refuted": RED, "broken": RED}
_MOST = 10
_LINE = 0.42
"""Height of each premise in inches."""


def draw_premises(proof: Proof) -> Figure | None:
    """Draw the premises of a proof; None where its certificate uses no other claim."""
    premises = list_used_claims(proof.claim)
    if not premises:
        return None
    shown = premises[:_MOST]
    known = all_claims()
    with open_canvas(PAGE | {"figure.figsize": (6.4, 0.5 + _LINE * len(shown))}) as (canvas, axes):
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(-0.7, len(shown) - 0.3))
        middle = (len(shown) - 1) / 2
        for place, premise in enumerate(reversed(shown)):
            verdict = known[premise].verdict or ""
            style = {"arrowstyle": "->", "color": "0.4", "shrinkA": 2, "shrinkB": 6}
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": _COLOURS.get(verdict, ORANGE)}
            axes.annotate("", (0.62, middle), (0.5, place), arrowprops=style)
            axes.text(0.5, place, _shorten_id(premise), ha="right", va="center", fontsize=8, bbox=box)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": _COLOURS.get(proof.verdict, ORANGE)}
        axes.text(0.63, middle, _shorten_id(proof.claim.id), ha="left", va="center", fontsize=8, bbox=box)
        return finish(canvas, _name_figure(proof.claim.id, premises), _write_caption(premises))


def _shorten_id(claim_id: str) -> str:
    """Return the id without its source."""
    return claim_id.partition(":")[2]


def _write_caption(premises: Sequence[str]) -> str:
    left_out = len(premises) - _MOST
    return "What the proof uses." + (f" {left_out} more are left out." if left_out > 0 else "")


def _name_figure(claim_id: str, premises: Sequence[str]) -> str:
    return f"premises-{hashlib.sha256(repr((claim_id, premises)).encode()).hexdigest()[:12]}"
