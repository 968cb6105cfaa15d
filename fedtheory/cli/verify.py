"""`fedtheory verify`: claims on families of instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import (
    Jobs,
    Json,
    NoCache,
    SourceKey,
    Targets,
    print_json,
    print_lines,
    print_table,
    progress,
    short,
    styled,
)
from fedtheory.cli.witness import print_witness

if TYPE_CHECKING:
    from verify.verdict import ClaimVerdict

NAME = "verify"


Search = Annotated[
    float, typer.Option("--search", min=0, help="Seconds to search for a violation of a claim of your own; 0 for none.")
]


def run(
    targets: Targets = None,
    source: SourceKey = None,
    *,
    jobs: Jobs = -1,
    search: Search = 10,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Try claims on families of exact instances; exit code 1 if a verdict differs from the recorded one."""
    from time import perf_counter

    from fedtheory.language.targets import expand_or_all
    from verify import cache
    from verify.verdict import verify

    if no_cache:
        cache.ignore()
    begin = perf_counter()
    chosen = expand_or_all(targets, source)
    with progress("verified") as report:
        verdicts = verify(chosen, jobs=jobs, search=search, on_progress=report)
    seconds = perf_counter() - begin
    if as_json:
        print_json({"claims": [document(verdict) for verdict in verdicts], "seconds": round(seconds, 3)})
    else:
        for_people(verdicts, seconds)
    if not all(verdict.agrees for verdict in verdicts):
        raise typer.Exit(1)


def document(verdict: ClaimVerdict) -> dict[str, Any]:
    """The JSON entry of one verdict; `run` is the run file of the counterexample, or of the largest ratio."""
    sides = verdict.sides
    return {
        "id": verdict.claim.id,
        "target": verdict.target,
        "verdict": verdict.verdict,
        "recorded": verdict.claim.verdict,
        "instances": verdict.instances,
        "violations": verdict.violations,
        "undecided": verdict.undecided,
        "searched": verdict.searched,
        "worst_ratio": verdict.worst_ratio,
        "lhs": None if sides is None else sides.lhs,
        "rhs": None if sides is None else sides.rhs,
        "ratio": None if sides is None else sides.ratio,
        "run": verdict.run,
        "seconds": round(verdict.seconds, 3),
    }


def for_people(verdicts: list[ClaimVerdict], seconds: float) -> None:
    """Print verdicts for a terminal; for a single claim also the run that decides."""
    from fedtheory.language.targets import shown_as

    rows = [[shown_as(v.target, v.claim), _verdict(v), str(v.instances), short(v.worst_ratio)] for v in verdicts]
    columns = ["claim", "verdict", "instances", "largest ratio"]
    print_table("verdicts", columns, rows, whole=("verdict", "instances", "largest ratio"))
    if len(verdicts) == 1:
        _print_witness(verdicts[0])
    searched = [verdict for verdict in verdicts if verdict.searched]
    if searched:
        runs = sum(verdict.searched for verdict in searched)
        found = sum(verdict.verdict == "refuted" for verdict in searched)
        print_lines(f"searched beyond the instances: {runs} runs, {found} of {len(searched)} claims refuted by that")
    differing = sum(not verdict.agrees for verdict in verdicts)
    count = "1 claim" if len(verdicts) == 1 else f"{len(verdicts)} claims"
    print_lines(f"{count} in {seconds:.1f} s, {differing} with another verdict than recorded")


def _verdict(verdict: ClaimVerdict) -> str:
    recorded = "" if verdict.agrees else f" (recorded: {verdict.claim.verdict})"
    return styled(verdict.verdict) + recorded


def _print_witness(verdict: ClaimVerdict) -> None:
    if verdict.evidence is not None and verdict.run_file is not None:
        counterexample = "the simplest counterexample" if verdict.verdict == "refuted" else None
        print_witness(verdict.evidence, verdict.run_file, counterexample)
