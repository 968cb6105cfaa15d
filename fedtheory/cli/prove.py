"""`fedtheory prove`: the kernel's word on the certificate of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import Json, Target, print_json, print_lines

if TYPE_CHECKING:
    from fedtheory.proofs import Proof

NAME = "prove"


def run(
    target: Target,
    as_json: Json = False,
) -> int:
    """Check the certificate of a claim: every sign, then the identity. Exit code 1 where a step fails."""
    from fedtheory.proofs import prove
    from fedtheory.targets import resolve

    proof = prove(resolve(target))
    if as_json:
        print_json(document(proof))
    else:
        for_people(proof)
    return int(proof.verdict == "broken")


def document(proof: Proof) -> dict[str, Any]:
    """The JSON document of a proof."""
    from fedtheory.expressions import latex

    return {
        "id": proof.claim.id,
        "verdict": proof.verdict,
        "relaxed_conditions": None if proof.relaxed is None else [latex(condition) for condition in proof.relaxed],
        "steps": [{"text": step.text, "holds": step.holds} for step in proof.steps],
    }


def for_people(proof: Proof) -> None:
    """Print a proof for a terminal."""
    from rich.markup import escape

    from fedtheory.cli.output import styled

    lines = [f"[bold]{proof.claim.id}[/bold]  {escape(proof.claim.title)}: {styled(proof.verdict)}"]
    lines += [
        f"  {'[green]holds[/green]' if step.holds else '[bold red]fails[/bold red]'}  {escape(step.text)}"
        for step in proof.steps
    ]
    if proof.relaxed is not None:
        weaker = ", ".join(proof.claim.in_words(condition) for condition in proof.relaxed)
        lines.append(f"  a weaker condition suffices: {escape(weaker or 'none')}")
    print_lines(*lines)
