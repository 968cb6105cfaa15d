"""Writes `planted_errors.json` again: keeps what is still right, and labels what is new by proofs and long searches.

With the argument `sample` it keeps all labels, and chooses which errors `make test-long` asks for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import process_time

from known_errors import KnownError, known_errors, write
from labels import follows
from planted_errors import PlantedError, planted_errors
from verdicts import is_refuted, verdict_by_default

from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check

LONGER = 10
"""So much longer than by default is searched for a run that violates an error of unknown truth."""
SAMPLE, OF_THESE_TRUE, SECONDS = 40, 8, 6.0
"""Errors in the sample, how many of them are true, and how long one of them takes at most."""


def label(error: PlantedError, known: KnownError | None) -> KnownError:
    """What is known of an error: what was known before if it is still right."""
    before = known or KnownError(error.claim.id, error.origin.id, "unknown", None, is_quick=False)
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


def sampled(known: Sequence[KnownError]) -> list[KnownError]:
    """The same, with the first of each truth that are quickly judged rightly as the sample: kinds take turns."""
    false = _quick_ones([each for each in known if each.truth == "false"], SAMPLE - OF_THESE_TRUE)
    true = _quick_ones([each for each in known if each.truth == "true"], OF_THESE_TRUE)
    return [replace(each, is_quick=each.id in false | true) for each in known]


def _quick_ones(known: Sequence[KnownError], most: int) -> set[str]:
    found: set[str] = set()
    for each in known:
        if len(found) < most:
            claim, begin = each.error.claim, process_time()
            is_right = is_refuted(claim) == (each.truth == "false")
            if is_right and process_time() - begin < SECONDS:
                found.add(each.id)
                print(each.id, flush=True)
    return found


if __name__ == "__main__":
    write(sampled(known_errors()) if sys.argv[1:] == ["sample"] else list(labelled()))
