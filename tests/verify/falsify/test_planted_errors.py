"""Planted errors: their labels are right, false ones are refuted by the default search, and true ones are not."""

from __future__ import annotations

import pytest
from known_errors import KnownError, fold, known_errors, unfold
from labels import follows
from planted_errors import COUNT, planted_errors
from verdicts import SEARCH, is_refuted

from fedtheory.language.targets import resolve
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.confirmation import decide_table
from verify.falsify.search_result import EVALUATIONS as EVALUATIONS_OF_A_SECOND

SHARE = 0.97
"""Least share of the false errors that must be refuted."""
EVALUATIONS = SEARCH * EVALUATIONS_OF_A_SECOND
"""Number of evaluations in the search of a default verdict."""
MISSED = ("planted:vlaski2023:eq-5.62.explicit:a-lost-number-of-clients-generous:2",)
"""False errors that the default search does not refute."""
LONGER = 10
"""Factor of the longer searches, which refute no true claim either."""


def test_folded_runs_are_the_same() -> None:
    """Folding a run keeps its values, for nested lists and for lists of equal entries as well."""
    table = {"a": [["1", "1"], ["1", "1"], ["2", "1"]], "b": {"c": [], "d": ["0", "0", "0"]}, "e": "x"}
    assert unfold(fold(table)) == table
    assert fold(table)["b"]["d"] == [{"value": "0", "times": 3}]


def of_truth(truth: str, *, quick: bool = False) -> list[KnownError]:
    """Return the errors that are labelled with `truth`, only those of the sample if `quick`."""
    return [known for known in known_errors() if known.truth == truth and known.is_quick >= quick]


def test_few_of_the_false_ones_are_missed() -> None:
    """The errors that are listed as missed are false, and at most 3 % of all false ones."""
    false = {known.id for known in of_truth("false")}
    assert set(MISSED) <= false
    assert len(MISSED) <= (1 - SHARE) * len(false)


@pytest.mark.slow
def test_these_errors_are_planted() -> None:
    """Each error can be planted, none occurs twice, and together they have all kinds and sources of today's
    selection.
    """
    known = known_errors()
    assert [each.error.claim.id for each in known] == [each.id for each in known]
    assert len({each.id for each in known}) == COUNT
    chosen = planted_errors()
    assert {error.mutant.kind for error in chosen} <= {each.error.mutant.kind for each in known}
    assert {error.origin.source for error in chosen} <= {each.error.origin.source for each in known}


@pytest.mark.long
@pytest.mark.parametrize("source", sorted({known.origin.partition(":")[0] for known in of_truth("false")}))
def test_false_ones_are_violated(source: str) -> None:
    """The run of each false error violates it, in rationals, or in enclosures if there are too many equal rounds."""
    false = [known for known in of_truth("false") if known.origin.partition(":")[0] == source]
    for known in false:
        assert known.run is not None
        found = decide_table(known.error.claim, known.run)
        assert found is not None, known.id
        assert found[1].is_decided, known.id
        assert found[1].applicable, known.id
        assert found[1].holds is False, known.id


@pytest.mark.long
def test_true_ones_follow() -> None:
    """Each true claim follows from proved ones, or by an argument that is written down."""
    proved = [known for known in of_truth("true") if known.how == "proved"]
    assert [known.id for known in proved if not follows(known.error.mutant, known.error.origin)] == []
    assert all(known.why for known in of_truth("true") if known.how == "argument")


@pytest.mark.long
@pytest.mark.parametrize("known", of_truth("false", quick=True), ids=lambda known: known.id)
def test_a_false_one_is_refuted(known: KnownError) -> None:
    """The search by regimes alone refutes a sample of all kinds; the whole verdict would take longer."""
    found = search_regimes(resolve(known.error.claim), EVALUATIONS).counterexample
    assert found is not None
    assert found[1].applicable
    assert found[1].holds is False


@pytest.mark.long
@pytest.mark.parametrize("known", of_truth("true", quick=True), ids=lambda known: known.id)
def test_a_true_one_is_not_refuted(known: KnownError) -> None:
    """No true claim in a sample of all kinds is refuted."""
    assert search_regimes(resolve(known.error.claim), EVALUATIONS).counterexample is None


@pytest.mark.slow
@pytest.mark.parametrize("known", of_truth("false"), ids=lambda known: known.id)
def test_a_false_one_is_refuted_by_default(known: KnownError) -> None:
    """The default verdict refutes a false error, unless the error is listed as missed."""
    assert is_refuted(known.error.claim) is (known.id not in MISSED)


@pytest.mark.slow
@pytest.mark.timeout(30000)
@pytest.mark.parametrize("known", of_truth("true"), ids=lambda known: known.id)
def test_no_true_one_is_refuted(known: KnownError) -> None:
    """No true claim is refuted by a longer search."""
    assert not is_refuted(known.error.claim, longer=LONGER)
