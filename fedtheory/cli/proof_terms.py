"""Prints certificates as proof terms, for a terminal and as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import escape, print_lines
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.proofs import Proof
    from fedtheory.proofs.terms.checking import TermReport


def write_as_terms(proof: Proof) -> TermReport:
    """Write the certificate of a proof as terms, and check them; raise `InputError` if the claim has no certificate."""
    from fedtheory.proofs.terms.checking import report_terms

    if proof.document is None:
        raise InputError("--term", f"expected a claim with a certificate, got {proof.claim.id}, which has none")
    return report_terms(proof.claim, proof.document)


def restate_steps(report: TermReport, proof: Proof) -> Proof:
    """Return a proof whose steps have their formulas in the notation of the explained terms."""
    from fedtheory.proofs.terms.explanation import state_steps

    return replace(proof, steps=state_steps(report.claim, proof.steps))


def encode_terms(report: TermReport) -> dict[str, Any]:
    """Return the entries of a proof's JSON document that concern its terms."""
    from fedtheory.proofs.terms.explanation import explain

    steps = [] if report.proof is None else explain(report.claim, report.proof)
    return {
        "term": {
            "verdict": "proved" if report.is_proved else "refused",
            "refusal": report.refusal,
            "digest": report.digest,
            "steps": [{"number": step.number, "rule": step.rule, "text": step.text} for step in steps],
            "document": report.document,
        }
    }


def print_terms(report: TermReport) -> None:
    """Print terms step by step, each below the term that contains it."""
    from fedtheory.cli.unicode_math import unicode_prose
    from fedtheory.proofs.terms.explanation import explain

    named = "" if report.digest is None else f" {report.digest[:16]}"
    outcome = "is accepted" if report.is_proved else f"is refused: {unicode_prose(report.refusal or '')}"
    print_lines(escape(f"the certificate as a proof term{named}, which {outcome}"))
    steps = [] if report.proof is None else explain(report.claim, report.proof)
    if steps:
        print_lines(
            "each line is a rule, applied to the lines that stand farther right below it; a sum adds multiples of them"
        )
    for step in steps:
        print_lines(escape(f"  {'  ' * step.depth}{step.number}  {unicode_prose(step.text)}"))
