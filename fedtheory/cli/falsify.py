"""`fedtheory falsify`: search for a violation of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, NoCode, escape, print_json, print_lines, progress, short, style_verdict
from fedtheory.cli.setting import encode_setting, print_setting
from fedtheory.cli.typed_relations import NamedOrTyped, is_relation, parse_relation
from fedtheory.cli.witness import Save, name_saved_file, print_witness, save_witness

if TYPE_CHECKING:
    from verify.falsify import Finding

NAME = "falsify"

Budget = Annotated[
    float, typer.Option("--budget", min=0, help="CPU-time budget in seconds; stops at the first counterexample.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Another seed searches in another order.")]


def run(
    target: NamedOrTyped,
    budget: Budget = 20,
    seed: Seed = 0,
    save: Save = None,
    *,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Search for a violation of a claim; exit code 1 if one is found although the recorded verdict excludes it."""
    from fedtheory.language.targets import resolve
    from verify.exclusions import explain_finding
    from verify.falsify import falsify

    claim = resolve(parse_relation(target) if is_relation(target) else target)
    with progress("seconds of search") as report:
        finding = explain_finding(falsify(claim, budget, seed, report))
    save_witness(finding.run_file, finding.found, save)
    if as_json:
        print_json(encode_finding(target, finding))
    else:
        print_text(target, finding, save)
    if finding.contradicts:
        raise typer.Exit(1)


def encode_finding(target: str, finding: Finding) -> dict[str, Any]:
    """Return the JSON document of a search; `run` is the run file of the counterexample, or of the largest ratio."""
    from verify.shown_place import choose_place

    worst = choose_place(finding.found) if finding.found else None
    text = None if finding.found is None else finding.found.arithmetic.text
    return {
        "id": finding.claim.id,
        "target": target,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "recorded": finding.claim.verdict,
        "best_ratio": finding.best_ratio,
        "lhs": None if worst is None or text is None else text(worst.lhs),
        "rhs": None if worst is None or text is None else text(worst.rhs),
        "points": {} if worst is None or text is None else {n: list(map(text, x)) for n, x in worst.points.items()},
        "run": finding.run,
        "arithmetic": None if finding.found is None else finding.found.arithmetic.kind,
        "tried": finding.looked,
        "applicable": finding.applicable,
        "applicable_runs": finding.applicable,
        "left_open": finding.left_open,
        "seconds": round(finding.seconds, 3),
        **encode_setting(finding.claim),
    }


def print_text(target: str, finding: Finding, saved: str | None = None) -> None:
    """Print the outcome of a search for a terminal."""
    from verify.left_open import describe_left_open

    recorded = f" (recorded: {finding.claim.verdict})" if finding.contradicts else ""
    tried = f"{finding.looked} runs tried in {finding.seconds:.1f} s, {finding.applicable} of them applicable"
    largest = "" if finding.best_ratio is None else f", largest ratio {short(finding.best_ratio)}"
    print_lines(
        f"[bold]{target}[/bold]  {style_verdict(finding.verdict)}{recorded}",
        tried + largest,
    )
    if finding.reason is not None:
        print_lines(f"not applicable: {escape(finding.reason)}")
    if finding.left_open:
        of_these = describe_left_open(finding.left_open)
        print_lines(f"[yellow]left open:[/yellow] {of_these}; a larger --budget allows more exact checks")
    print_setting([(target, finding.claim)])
    if finding.found is not None and finding.run is not None:
        counterexample = "a counterexample" if finding.verdict == "refuted" else None
        print_witness(finding.found, finding.run, counterexample, name_saved_file(saved))
