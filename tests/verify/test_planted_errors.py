"""Planted errors: their labels are right, false ones are refuted by the default search, and true ones are not."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from known_errors import KnownError, fold, known_errors, unfold
from labels import follows
from planted_errors import COUNT, planted_errors
from verdicts import is_refuted

from fedtheory.arithmetic import RATIONAL
from fedtheory.runfile import parse_run
from verify.check import check

SHARE = 0.97
"""Of the errors that are false, at least so many are refuted."""
LONGER = 10
"""Searches so much longer than the default one refute no true claim."""


def test_folded_runs_are_the_same() -> None:
    """Also where lists are in lists, and where all is equal."""
    table = {"a": [["1", "1"], ["1", "1"], ["2", "1"]], "b": {"c": [], "d": ["0", "0", "0"]}, "e": "x"}
    assert unfold(fold(table)) == table
    assert fold(table)["b"]["d"] == [{"value": "0", "times": 3}]


def of_truth(truth: str, *, quick: bool = False) -> list[KnownError]:
    """The errors of this truth; perhaps those of the sample alone."""
    return [known for known in known_errors() if known.truth == truth and known.is_quick >= quick]


@pytest.mark.slow
def test_these_errors_are_planted() -> None:
    """The file knows each of them, in their order, and nothing else."""
    assert [known.id for known in known_errors()] == [error.claim.id for error in planted_errors()]
    assert len(known_errors()) == COUNT


@pytest.mark.long
@pytest.mark.parametrize("source", sorted({known.origin.partition(":")[0] for known in of_truth("false")}))
def test_false_ones_are_violated(source: str) -> None:
    """By their runs, exactly."""
    false = [known for known in of_truth("false") if known.origin.partition(":")[0] == source]
    for known in false:
        assert known.run is not None
        found = check(known.error.claim, parse_run(known.run, RATIONAL))
        assert found.applicable, known.id
        assert found.holds is False, known.id


@pytest.mark.long
def test_true_ones_follow() -> None:
    """From what is proved."""
    assert [known.id for known in of_truth("true") if not follows(known.error.mutant, known.error.origin)] == []


@pytest.mark.long
@pytest.mark.parametrize("known", of_truth("false", quick=True), ids=lambda known: known.id)
def test_a_false_one_is_refuted(known: KnownError) -> None:
    """A sample of all kinds."""
    assert is_refuted(known.error.claim)


@pytest.mark.long
@pytest.mark.parametrize("known", of_truth("true", quick=True), ids=lambda known: known.id)
def test_a_true_one_is_not_refuted(known: KnownError) -> None:
    """A sample of all kinds."""
    assert not is_refuted(known.error.claim)


@cache
def _is_found(known: KnownError) -> bool:
    return is_refuted(known.error.claim)


@pytest.mark.slow
@pytest.mark.timeout(30000)
def test_nearly_all_false_ones_are_refuted(capsys: pytest.CaptureFixture[str]) -> None:
    """The share is printed, and what is missed is listed by kind."""
    false = of_truth("false")
    missed = [known.id for known in false if not _is_found(known)]
    unknown = Counter("refuted" if _is_found(known) else "not refuted" for known in of_truth("unknown"))
    with capsys.disabled():
        print(f"\nrefuted: {len(false) - len(missed)} of {len(false)} false planted errors; unknown truth: {unknown}")
        print("\n".join(["missed:", *missed]))
    assert len(missed) <= (1 - SHARE) * len(false)


@pytest.mark.slow
@pytest.mark.timeout(30000)
def test_no_true_one_is_refuted() -> None:
    """However long the search."""
    assert [known.id for known in of_truth("true") if is_refuted(known.error.claim, longer=LONGER)] == []
