"""Prints the results of a search for a proof, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import escape, print_lines, style_verdict
from fedtheory.cli.setting import print_setting

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.proofs import Proof
    from fedtheory.search import Found, NotFound


@dataclass(frozen=True)
class ProofSearch:
    """A claim without a recorded certificate, and the result of a search for one."""

    claim: Claim
    target: str
    result: Found | NotFound

    @property
    def proof(self) -> Proof:
        """Return the proof that was found, or the statement that there is none."""
        from fedtheory.proofs import Proof
        from fedtheory.search import Found

        return self.result.proof if isinstance(self.result, Found) else Proof(self.claim, None, ())


def search_proof(claim: Claim, target: str, effort: int | None) -> ProofSearch:
    """Search for a certificate with an amount of work `effort`; None for the default amount."""
    from fedtheory.search import EFFORT, find_proof

    return ProofSearch(claim, target, find_proof(claim, EFFORT if effort is None else effort))


def write_certificates(searched: Iterable[ProofSearch | None]) -> list[Path]:
    """Write the found certificates that need no further assumptions into the folders of their papers."""
    from fedtheory.language.registry import find_publisher
    from fedtheory.proofs.document import text_of
    from fedtheory.search import Found

    written = []
    for one in searched:
        paper = None if one is None else find_publisher(one.claim)
        if one is None or paper is None or not isinstance(one.result, Found) or one.result.supposed:
            continue
        file = paper.certificate_file(one.claim)
        file.parent.mkdir(exist_ok=True)
        # A search that has found a proof also has its document.
        assert one.result.proof.document is not None
        file.write_text(text_of(one.result.proof.document), encoding="utf-8")
        written.append(file)
    return written


def encode_search(searched: ProofSearch) -> dict[str, Any]:
    """Return the JSON keys that a search adds to those of a proof, or replaces."""
    from fedtheory.language.setting import format_setting
    from fedtheory.search import Found

    result = searched.result
    common = {"found": isinstance(result, Found), "work": result.work}
    if isinstance(result, Found):
        claim = result.proof.claim
        assumed = [one.name for one in (*claim.supposed, *result.supposed)]
        return {
            **common,
            "uses": list(result.uses),
            "assumed": assumed,
            "assumed_line": format_setting(claim) if assumed else None,
            "certificate": result.proof.document,
        }
    below = None if result.below is None else {str(symbol): str(value) for symbol, value in result.below.items()}
    return {**common, "reason": result.reason, "nearest": result.nearest, "below": below}


def print_search(searched: ProofSearch) -> None:
    """Print the certificate that was found and the claims that it uses, or the closest result."""
    from fedtheory.search import Found

    result, claim = searched.result, searched.claim
    if isinstance(result, Found):
        digest = (result.proof.digest or "")[:16]
        named = f"[bold]{claim.id}[/bold]  {escape(claim.title)}"
        print_lines(
            f"{named}: {style_verdict('proved')} by certificate {digest}, found by search",
            *(f"  [green]holds[/green]  {escape(step.text)}" for step in result.proof.steps),
            f"  it rests on {escape(', '.join(result.uses) or 'no other claim')}",
        )
        _print_supposed(result)
        print_contradiction(claim)
        return
    named = f"[bold]{claim.id}[/bold]  {escape(claim.title)}"
    print_lines(f"{named}: {style_verdict('no certificate')} of the tried families: {escape(result.reason)}")
    if result.is_exhausted:
        print_lines("  more work may find more: --effort N, in the units that --json reports as work")
    if result.nearest is not None:
        print_lines(
            f"  the nearest known bound is {result.nearest}",
            f"  compare it with yours:  fedtheory show {result.nearest}",
        )
    if result.below is not None:
        numbers = ", ".join(f"{symbol} = {value}" for symbol, value in result.below.items())
        print_lines(
            f"  the claim lies below every known bound at {escape(numbers)}",
            f"  look for a run that violates it: fedtheory falsify {escape(searched.target)}",
        )
    print_setting([(claim.id, claim)])
    if result.below is None:
        print_lines(*WHERE_TO_BEGIN)


def print_contradiction(claim: Claim) -> None:
    """Print a warning if the conditions of a claim contradict each other, because its proof is about no run then."""
    from fedtheory.search.conditions import find_contradiction

    condition = find_contradiction(claim)
    if condition is not None:
        stated = claim.in_words(condition)
        print_lines(f"  no run satisfies the conditions: {escape(stated)} contradicts the others; correct one of them")


WHERE_TO_BEGIN = (
    "  A certificate writes right side minus left side as a sum of terms that are",
    "  not negative, each for a named reason: convexity, smoothness, a square, a",
    "  bounded variance. The kernel checks identity, reasons and signs. To begin:",
    "  a certificate as data:  fedtheory prove renard2022:property-2.5 --save c.json",
    "  check one of yours:     fedtheory prove mine.py:NAME --certificate c.json",
    "  a paper with a proof:   fedtheory new-source my_paper",
)
"""Text for a claim without a certificate; the second line names a short one."""


def _print_supposed(found: Found) -> None:
    from fedtheory.language.setting import format_setting

    claim = found.proof.claim
    if not found.supposed:
        print_setting([(claim.id, claim)])
        return
    names = ", ".join(one.name for one in (*claim.supposed, *found.supposed))
    print_lines(
        f"  supposed, for {claim.id} does not say so: {escape(names)}",
        f"  to state it: {escape(format_setting(claim))}",
    )
