"""`fedtheory verify`: check claims on families of instances."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import (
    Jobs,
    Json,
    NoCache,
    NoCode,
    SourceKey,
    Targets,
    escape,
    print_json,
    print_lines,
    print_table,
    progress,
    short,
    style_verdict,
)
from fedtheory.cli.setting import encode_setting, print_setting
from fedtheory.cli.witness import Save, explain_saving, name_saved_file, print_witness, save_witness
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from verify.claim_verdict import ClaimVerdict
    from verify.falsify.regimes import Regime

NAME = "verify"
_LONGER_BUDGET = 120
"""Seconds of a longer search, which also allows more exact checks."""


Search = Annotated[
    float, typer.Option("--search", min=0, help="Work of the search for a violation of your own claim; 0 for none.")
]


def run(
    targets: Targets = None,
    source: SourceKey = None,
    *,
    jobs: Jobs = -1,
    search: Search = 10,
    save: Save = None,
    no_cache: NoCache = False,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Check claims on families of exact instances; exit code 1 if a verdict differs from the recorded one."""
    from fedtheory.language.targets import expand_targets
    from verify import cache
    from verify.early_decisions import import_checks
    from verify.evaluated_instances import require_processes
    from verify.processes import prepare
    from verify.verdict import verify

    if no_cache:
        cache.ignore()
    begin = perf_counter()
    require_processes(jobs)
    prepare(partial(import_checks, all_papers=not targets), jobs)
    chosen, faults = _select_well_formed(expand_targets(targets, source))
    with progress("verified") as report:
        # A call without targets prints a survey; a call with named claims prints all details.
        in_full = bool(targets or source)
        verdicts = verify(chosen, jobs=jobs, search=search, in_full=in_full, on_progress=report)
    seconds = perf_counter() - begin
    if save is not None and len(verdicts) != 1:
        raise InputError("--save", f"expected one claim, got {len(verdicts)}")
    if save is not None:
        save_witness(verdicts[0].run_file, verdicts[0].evidence, save)
    if as_json:
        faulty = [{"target": target, "error": str(error)} for target, error in faults.items()]
        claims = [encode_verdict(verdict) for verdict in verdicts]
        print_json({"claims": claims, "faulty": faulty, "seconds": round(seconds, 3)})
    else:
        print_text(verdicts, seconds, save)
    if faults:
        faults_text = "; ".join(map(str, faults.values()))
        raise InputError("", f"{faults_text} (the other claims are checked)")
    if not all(verdict.agrees for verdict in verdicts):
        raise typer.Exit(1)


def _select_well_formed(targets: list[str]) -> tuple[list[str], dict[str, InputError]]:
    """Return the claims that are well formed, and the errors of the others; the error of a single target is raised."""
    from verify.evaluated_instances import require_testable

    faults: dict[str, InputError] = {}
    for target in targets:
        try:
            require_testable(target)
        except InputError as error:
            faults[target] = error
    if len(faults) == len(targets) == 1:
        raise faults[targets[0]]
    return [target for target in targets if target not in faults], faults


def encode_verdict(verdict: ClaimVerdict) -> dict[str, Any]:
    """Return the JSON entry of one verdict; `run` is the run file of the counterexample, or of the largest ratio."""
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
        "regimes": [
            {"name": regime.name, "varied": regime.factor, "runs": regime.runs, "largest_ratio": regime.largest_ratio}
            for regime in verdict.regimes
        ],
        "pairs": {"covered": verdict.pairs.covered, "all": verdict.pairs.all, "given_up": verdict.pairs.given_up},
        "left_open": verdict.left_open,
        "found_proof": _encode_found_proof(verdict),
        **encode_setting(verdict.claim),
        "few_instances": verdict.is_thin,
        "lacking": dict(verdict.lacking),
        "excluded": [{"name": name, "runs": count} for name, count in verdict.excluded.items()],
        "reason": _explain_not_applicable(verdict) or verdict.reason,
        "worst_ratio": verdict.worst_ratio,
        "lhs": None if sides is None else sides.lhs,
        "rhs": None if sides is None else sides.rhs,
        "ratio": None if sides is None else sides.ratio,
        "points": {} if sides is None else {name: list(point) for name, point in sides.points.items()},
        "run": verdict.run,
        "seconds": round(verdict.seconds, 3),
    }


def _encode_found_proof(verdict: ClaimVerdict) -> dict[str, Any] | None:
    """Return the certificate that a search found: the claims that it uses, and the assumptions that the claim lacks."""
    proof = verdict.found_proof
    if proof is None:
        return None
    return {"uses": list(proof.uses), "supposed": list(proof.supposed), "assumed_line": proof.setting}


def _explain_not_applicable(verdict: ClaimVerdict) -> str | None:
    """Return the reason why a claim is not applicable; None for other verdicts."""
    from verify.exclusions import describe_exclusions

    return describe_exclusions(verdict.claim, verdict.excluded) if verdict.verdict == "not applicable" else None


def print_text(verdicts: list[ClaimVerdict], seconds: float, saved: str | None = None) -> None:
    """Print verdicts for a terminal; for a single claim, and for refuted user-defined ones, also the decisive run."""
    from fedtheory.language.targets import display_name

    rows = [
        [display_name(v.target, v.claim), _format_verdict(v), str(v.instances), short(v.worst_ratio)] for v in verdicts
    ]
    columns = ["claim", "verdict", "instances", "largest ratio"]
    print_table("verdicts", columns, rows, whole=tuple(columns))
    if len(verdicts) == 1:
        _print_witness(verdicts[0], "", name_saved_file(saved))
    else:
        for refuted in (verdict for verdict in verdicts if verdict.is_own and verdict.verdict == "refuted"):
            _print_witness(refuted, f" of {refuted.target}", explain_saving(f"fedtheory verify {refuted.target} "))
    for standing in (verdict for verdict in verdicts if verdict.regimes and verdict.verdict != "refuted"):
        _print_regimes(standing)
    _print_left_open(verdicts)
    for verdict in verdicts:
        _print_new_proof(verdict)
    print_setting((verdict.target, verdict.claim) for verdict in verdicts)
    for thin in verdicts if len(verdicts) == 1 else (verdict for verdict in verdicts if verdict.is_own):
        _print_missing_kinds(thin)
    searched = [verdict for verdict in verdicts if verdict.searched]
    if searched:
        runs = sum(verdict.searched for verdict in searched)
        found = sum(verdict.verdict == "refuted" for verdict in searched)
        print_lines(f"counterexample search: {runs} further runs; it refuted {found} of {len(searched)} claims")
    differing = sum(not verdict.agrees for verdict in verdicts)
    count = "1 claim" if len(verdicts) == 1 else f"{len(verdicts)} claims"
    is_recorded = any(verdict.claim.verdict is not None for verdict in verdicts)
    compared = f", {differing} with another verdict than recorded" if is_recorded else ""
    print_lines(f"{count} in {seconds:.1f} s{compared}")


def _print_regimes(verdict: ClaimVerdict) -> None:
    """Print the kinds of runs that the search tried, with the largest ratio of each."""
    rows = [_format_row(varied, list(found)) for varied, found in groupby(verdict.regimes, key=lambda one: one.factor)]
    print_table(
        f"regimes of {verdict.target}", ["varied", "runs", "largest ratio at each level"], rows, whole=("varied",)
    )
    print_lines(_describe_pairs(verdict))


def _print_left_open(verdicts: list[ClaimVerdict]) -> None:
    """Print how many runs of each search are undecided by exact checks, and the command that continues the search."""
    from verify.left_open import describe_left_open

    for verdict in verdicts:
        if verdict.left_open:
            of = "" if len(verdicts) == 1 else f" of {escape(verdict.target)}"
            longer = f"`fedtheory falsify {escape(verdict.target)} --budget {_LONGER_BUDGET}` searches longer"
            print_lines(f"[yellow]left open{of}:[/yellow] {describe_left_open(verdict.left_open)}; {longer}")


def _print_new_proof(verdict: ClaimVerdict) -> None:
    """Print the claims that a newly found certificate uses, or the assumptions that the claim lacks for it."""
    proof = verdict.found_proof
    if proof is None:
        return
    rests = f"it rests on {', '.join(proof.uses)}" if proof.uses else "it rests on no other claim"
    target = escape(verdict.target)
    if not proof.supposed:
        print_lines(f"{target}: a search found a certificate; {rests}; `fedtheory prove {target}` shows it")
        return
    needed = " and ".join(proof.supposed)
    print_lines(
        f"{target} would be proved if it assumed: {escape(needed)} ({rests})",
        f"  to state it: {escape(proof.setting)}",
        f"  the search for a violation kept to runs where this fails: {verdict.searched} to which the claim applies",
    )


def _describe_pairs(verdict: ClaimVerdict) -> str:
    pairs = verdict.pairs
    given_up = f", {pairs.given_up} skipped because the claim applied to no generated run with both"
    return f"{pairs.covered} of {pairs.all} pairs of regimes covered{given_up if pairs.given_up else ''}"


def _format_row(varied: str, regimes: list[Regime]) -> list[str]:
    ratios = ", ".join(f"{one.level}: {short(one.largest_ratio)}" for one in regimes)
    return [varied, str(sum(one.runs for one in regimes)), ratios]


_KIND_NAMES = {
    "one client": "a single client",
    "clients that are alike": "homogeneous clients",
    "pulls that differ": "heterogeneous linear terms",
    "curvatures that differ": "heterogeneous Hessians",
}
"""Kinds of runs in the words of the field."""


def _print_missing_kinds(verdict: ClaimVerdict) -> None:
    """Print the kinds of runs with few or no instances, and the conditions that exclude them."""
    from verify.exclusions import describe_exclusions

    target, reason = escape(verdict.target), _explain_not_applicable(verdict)
    if reason is not None:
        print_lines(f"{target} is not applicable: {escape(reason)}")
        return
    none = ", ".join(_KIND_NAMES.get(kind, kind) for kind, count in verdict.lacking.items() if count == 0)
    few = ", ".join(f"{_KIND_NAMES.get(kind, kind)} ({count})" for kind, count in verdict.lacking.items() if count > 0)
    if verdict.is_thin:
        what = "runs" if verdict.claim.rate is None else "ladders"
        print_lines(
            f"[yellow]few instances:[/yellow] {verdict.instances} {what} satisfy the assumptions and conditions of "
            f"{target}; fewer than {verdict.enough} show little. Try `fedtheory falsify {target}`"
        )
        if verdict.excluded:
            print_lines(f"what excludes runs: {escape(describe_exclusions(verdict.claim, verdict.excluded))}")
    if none:
        print_lines(f"{target}: no coverage: {none}; its assumptions and conditions exclude these")
    if few:
        print_lines(f"{target}: thin coverage: {few}")


def _format_verdict(verdict: ClaimVerdict) -> str:
    """Return the coloured verdict, with the recorded one where they differ."""
    recorded = "" if verdict.agrees else f" (recorded: {verdict.claim.verdict})"
    return style_verdict(verdict.verdict) + recorded


def _print_witness(verdict: ClaimVerdict, whose: str, saved: str) -> None:
    if verdict.evidence is not None and verdict.run is not None:
        counterexample = f"the simplest counterexample{whose}" if verdict.verdict == "refuted" else None
        print_witness(verdict.evidence, verdict.run, counterexample, saved)
