"""Published steps whose certificates are found from their statements: sums over steps, samples, client numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.language.registry import find
from fedtheory.search import Found
from fedtheory.search.candidates import list_vectors_as_written
from fedtheory.search.certificate_terms import search_terms

RECOVERED = [
    "vlaski2023:eq-5.42",
    "vlaski2023:eq-5.47",
    "vlaski2023:eq-5.41.fixed",
    "vlaski2023:eq-5.51.fixed",
    "vlaski2023:eq-5.26.only-if",
    "fraboni2022:lemma-6.steps.move",
    "fraboni2022:lemma-1.remark.fixed",
    "fraboni2022:lemma-7",
    "vlaski2023:eq-5.38.steps-a-d.fixed",
    "vlaski2023:eq-5.38.final",
]


@pytest.mark.parametrize("name", RECOVERED)
def test_steps_are_found_again(name: str) -> None:
    """Steps are proved by named inequalities only, without a recorded certificate or another claim."""
    found = search_terms(find(name))
    assert isinstance(found, Found)
    assert not found.supposed
    assert found.proof.verdict == "proved"


@pytest.mark.parametrize(
    "name",
    [
        "vlaski2023:eq-5.42",
        "vlaski2023:eq-5.47",
        pytest.param("vlaski2023:eq-5.38.final", marks=pytest.mark.long),
        "fraboni2022:lemma-7",
    ],
)
def test_half_of_a_step_is_not_found(name: str) -> None:
    """Half the right side is not proved: equal gradients at all steps violate it, or one client far from the others."""
    claim = find(name)
    (relation,) = claim.relations
    halved = replace(claim, chain=(), lhs=relation.left, rhs=sp.Rational(1, 2) * relation.right, verdict=None)
    assert not isinstance(search_terms(halved), Found)


def test_vectors_as_written() -> None:
    """Vectors are written without numerical factors; sums and averages with their contents."""
    relation = find("vlaski2023:eq-5.42").relations[0]
    kinds = [type(one).__name__ for one in list_vectors_as_written(relation)]
    assert kinds[:2] == ["LocalSum", "Add"]
    assert len(kinds) == len(set(list_vectors_as_written(relation)))
