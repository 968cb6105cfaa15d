"""Bounds with maxima and minima in other places than a whole side: true ones are proved, and false ones are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from line_problem import LINE
from loosened import restate_as_own

from fedtheory import RATIONAL, Claim, parse_run
from fedtheory.language.claim import Relation
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, find_proof
from fedtheory.search.premises import PARAMETERS
from verify.check import check

CLAIMS = {"liu2022:thm-1.sharp": 3, "comparator:drift.average-error": 3, "comparator:sampled.last-model": 1}
"""Proved bounds, each with the number of local steps of the run on which the variants are checked."""
LARGE = 10**9


def _list_parts(name: str) -> tuple[Any, Any, Any, Any, Any]:
    """Return the sides of a bound, the last term of the larger one, and two numbers of the run."""
    claim = find(name)
    smaller, larger = claim.relations[0].ordered
    numbers = sorted((s for s, of in claim.notation.items() if of in PARAMETERS and s.is_positive), key=str)
    return smaller, larger, sp.Add.make_args(larger)[-1], numbers[0] * numbers[1], numbers[-1]


def _list_true(name: str) -> dict[str, tuple[Any, Any]]:
    left, right, term, other, more = _list_parts(name)
    return {
        "whole side": (left, sp.Max(right, other)),
        "three arguments": (left, sp.Max(other, right, more)),
        "one term": (left, right - term + sp.Max(term, other)),
        "minimum on the left": (sp.Min(left, other), right),
        "maximum of a minimum": (left, sp.Max(right, sp.Min(other, more))),
        "minimum of a maximum": (left, sp.Min(sp.Max(right, other), right + more)),
    }


def _list_false(name: str) -> dict[str, tuple[Any, Any]]:
    left, right, term, other, _ = _list_parts(name)
    return {
        "minimum": (left, sp.Min(right, other / LARGE)),
        "maximum on the left": (sp.Max(left, LARGE * other), right),
        "difference": (left, sp.Max(right, other) - other),
        "small": (left, sp.Max(right, other) / LARGE),
        "one small term": (left, (right - term + sp.Max(term, other)) / LARGE),
    }


def _state(name: str, smaller: Any, larger: Any) -> Claim:
    stated = restate_as_own(find(name), larger)
    return replace(stated, also=(Relation(smaller, "<=", larger),))


def _holds(claim: Claim, steps: int) -> bool | None:
    algorithm = {"local_step_size": "1/20", "rounds": 2, "local_steps": steps}
    return check(claim, parse_run({"problem": LINE, "algorithm": algorithm}, RATIONAL)).holds


def _mark(kind: Any, *short: str) -> list[Any]:
    """Return all variants; some of the first claim are searched in every run of the tests."""
    first = next(iter(CLAIMS))
    return [
        pytest.param(name, how, marks=[pytest.mark.long] * (name != first or how not in short))
        for name in CLAIMS
        for how in kind(name)
    ]


@pytest.mark.parametrize(
    ("name", "how"), _mark(_list_true, "three arguments", "minimum on the left", "minimum of a maximum")
)
def test_true_bounds_are_proved(name: str, how: str) -> None:
    claim = _state(name, *_list_true(name)[how])
    assert _holds(claim, CLAIMS[name])
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert not found.supposed
    assert check_certificate(claim, found.proof.document).verdict == "proved"


@pytest.mark.parametrize(("name", "how"), _mark(_list_false, "maximum on the left"))
def test_false_bounds_are_not(name: str, how: str) -> None:
    """An exact run violates the bound, and no proof is found."""
    claim = _state(name, *_list_false(name)[how])
    assert _holds(claim, CLAIMS[name]) is False
    assert not isinstance(find_proof(claim), Found)
