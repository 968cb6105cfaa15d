"""Planted errors of which a run far away shows, without a search, that they are errors: the search finds them too."""

from __future__ import annotations

from itertools import islice

import pytest
from labels import is_proved
from planted import mutants
from witnesses import far_points, is_violated, plain_problems, witnessed

from fedtheory.language.registry import find
from verify.falsify import falsify
from verify.falsify.run_tables import Table, count_clients, count_steps
from verify.falsify.search_state import list_halves

pytestmark = pytest.mark.long

BUDGET = 60.0
"""Seconds in which the search must find each error."""


@pytest.mark.parametrize("claim_id", ["renard2022:property-2.5", "vlaski2023:eq-5.51.fixed"])
def test_violations_of_far_runs_are_found(claim_id: str) -> None:
    """None of it follows from what is proved, and the search refutes each."""
    found = list(islice(witnessed(list(mutants(find(claim_id)))), 4))
    assert found
    for mutant, table in found:
        assert is_violated(mutant.claim, table)
        assert not is_proved(mutant)
        assert falsify(mutant.claim, BUDGET).verdict == "refuted"


@pytest.mark.parametrize("claim_id", ["renard2022:thm-2.1.proof.telescope", "lecture27:lemma-3"])
def test_far_runs_do_not_violate_true_mutants(claim_id: str) -> None:
    """No far run violates a mutant that follows from proved claims."""
    true = [mutant for mutant in mutants(find(claim_id)) if is_proved(mutant)]
    assert true
    assert list(witnessed(true)) == []


@pytest.mark.parametrize("table", plain_problems())
def test_a_half_takes_half_the_steps(table: Table) -> None:
    """Half of the steps of all clients together, rounded down; the same holds far away."""
    for run in (table, *far_points(table)):
        work = count_steps(run) * count_clients(run)
        assert all(count_steps(half) * count_clients(half) <= work * 2 / 3 for half in list_halves(run))
