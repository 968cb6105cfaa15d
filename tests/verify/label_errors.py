"""Writes `planted_errors.json` again: keeps what is still right, and labels what is new by proofs and long searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from known_errors import KnownError, known_errors, write
from labels import follows
from planted_errors import PlantedError, planted_errors
from verdicts import verdict_by_default

from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check

LONGER = 10
"""So much longer than by default is searched for a run that violates an error of unknown truth."""


def label(error: PlantedError, known: KnownError | None) -> KnownError:
    """What is known of an error: what was known before if it is still right."""
    before = known or KnownError(error.claim.id, error.origin.id, "unknown", None)
    if before.run is not None and check(error.claim, parse_run(before.run, RATIONAL)).holds is False:
        return before
    if follows(error.mutant, error.origin):
        return replace(before, how="proved", run=None)
    found = verdict_by_default(error.claim, longer=LONGER)
    if found.verdict == "refuted":
        return replace(before, how="run", run=found.run)
    return replace(before, how="unknown", run=None)


def labelled() -> Iterator[KnownError]:
    """All errors with what is known of them, one by one."""
    before = {known.id: known for known in known_errors()}
    for error in planted_errors():
        known = label(error, before.get(error.claim.id))
        print(known.id, known.how, flush=True)
        yield known


if __name__ == "__main__":
    write(list(labelled()))
