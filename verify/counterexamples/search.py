"""Search counterexamples of refuted claims, and keep the simplest ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.language.targets import resolve
from fedtheory.runfile import run_toml
from verify.counterexamples import find_counterexample, list_stored_files, locate_counterexample_file, refutes
from verify.effort import measure_work
from verify.processes import run_in_order
from verify.verdict import verify

RunTable = dict[str, Any]


def select_refuted(targets: Iterable[str]) -> list[str]:
    """Select the claims that are recorded as refuted, in the given order."""
    return [target for target in targets if resolve(target).verdict == "refuted"]


def regenerate(targets: Sequence[str], *, seconds: float, jobs: int) -> list[str]:
    """Write the smallest counterexample of each claim; return the ids of claims without one.

    The search starts from the stored run and from the one that `verify` finds; shrinking each takes at most `seconds`.
    """
    tasks = ((found.target, found.run, seconds) for found in verify(targets, jobs=jobs))
    missing = []
    for target, table in zip(targets, run_in_order(_find_smallest, tasks, jobs), strict=True):
        claim = resolve(target)
        if table is None:
            missing.append(claim.id)
        else:
            _store(claim, table)
    return missing


def _store(claim: Claim, table: RunTable) -> None:
    file = locate_counterexample_file(claim)
    assert file is not None
    file.parent.mkdir(exist_ok=True)
    file.write_text(run_toml(table), encoding="utf-8")


def remove_stale() -> None:
    """Remove the files of claims that are no longer refuted."""
    known = {locate_counterexample_file(claim) for claim in map(resolve, select_refuted(all_claims()))}
    for file in list_stored_files() - known:
        file.unlink()


def _find_smallest(target: str, found: RunTable | None, seconds: float) -> RunTable | None:
    from verify.falsify.shrink import measure_reading_effort

    claim = resolve(target)
    starts = [start for start in (find_counterexample(claim), found) if start is not None]
    return min(
        _list_shrunk(claim, starts, seconds), key=lambda table: measure_reading_effort(claim, table) or (), default=None
    )


def _list_shrunk(claim: Claim, starts: Iterable[RunTable], seconds: float) -> Iterable[RunTable]:
    from verify.falsify.shrink import shrink

    for start in starts:
        if refutes(claim, start):
            yield start
            # The search may return constants on a ball in place of constants on the whole space, so the start stays a
            # candidate.
            yield shrink(claim, start, measure_work() + seconds)
