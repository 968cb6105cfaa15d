"""Update `planted_errors.json`: keep errors that can still be planted, add new ones, and label all.

With the argument `sample` all labels are kept, and the sample of `make test-long` is chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from time import process_time

from known_errors import KnownError, known_errors, write
from labels import follows
from planted_errors import COUNT, PlantedError, planted_errors
from verdicts import SEARCH, verdict_by_default

from fedtheory.errors import FedtheoryError
from fedtheory.language.targets import resolve
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.confirmation import decide_table
from verify.falsify.search_result import EVALUATIONS as EVALUATIONS_OF_A_SECOND

EVALUATIONS = SEARCH * EVALUATIONS_OF_A_SECOND
"""Number of evaluations of a search in a default verdict."""

SAMPLE, OF_THESE_TRUE, SECONDS = 40, 4, {"false": 2.0, "true": 12.0}
"""Number of errors in the sample, number of true ones among them, and largest seconds for one."""


def label(error: PlantedError, known: KnownError | None) -> KnownError:
    """Return the label of an error: the earlier one if it is still right."""
    before = known or KnownError(error.claim.id, error.origin.id, "unknown", None, is_quick=False)
    if before.how == "argument":
        return before
    if before.run is not None and (found := decide_table(error.claim, before.run)) and found[1].holds is False:
        return before
    if follows(error.mutant, error.origin):
        return replace(before, how="proved", run=None)
    verdict = verdict_by_default(error.claim)
    if verdict.verdict == "refuted":
        return replace(before, how="run", run=verdict.run)
    return replace(before, how="unknown", run=None)


def labelled() -> Iterator[KnownError]:
    """Yield all errors with their labels."""
    before = {known.id: known for known in known_errors()}
    for error in _plant(before.values()):
        known = label(error, before.get(error.claim.id))
        print(known.id, known.how, flush=True)
        yield known


def _plant(known: Iterable[KnownError]) -> list[PlantedError]:
    """Return known errors that can still be planted, then newly chosen ones."""
    kept = [error for each in known for error in _keep(each)]
    ids = {error.claim.id for error in kept}
    fresh = (error for error in planted_errors() if error.claim.id not in ids)
    return [*kept, *islice(fresh, max(0, COUNT - len(kept)))]


def _keep(known: KnownError) -> list[PlantedError]:
    with suppress(FedtheoryError, StopIteration):
        return [known.error]
    return []


def sampled(known: Sequence[KnownError]) -> list[KnownError]:
    """Return the labels, with a sample of the first quickly decided ones of each truth: kinds take turns."""
    false = _quick_ones([each for each in known if each.truth == "false"], SAMPLE - OF_THESE_TRUE)
    true = _quick_ones([each for each in known if each.truth == "true"], OF_THESE_TRUE)
    return [replace(each, is_quick=each.id in false | true) for each in known]


def _quick_ones(known: Sequence[KnownError], most: int) -> set[str]:
    found: set[str] = set()
    for each in known:
        if len(found) < most:
            claim, begin = resolve(each.error.claim), process_time()
            run = search_regimes(claim, EVALUATIONS).counterexample
            if (run is not None) == (each.truth == "false") and process_time() - begin < SECONDS[each.truth]:
                found.add(each.id)
                print(each.id, flush=True)
    return found


if __name__ == "__main__":
    write(sampled(known_errors()) if sys.argv[1:] == ["sample"] else list(labelled()))
