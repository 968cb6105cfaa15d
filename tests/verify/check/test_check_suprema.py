"""Suprema on balls are upper bounds: a claim that one of them exceeds by less than its own error is not refuted."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, Claim, parse_run
from fedtheory import quantities as q
from verify.check import check

HALF = sp.Rational(1, 2)
TINY = sp.Rational(1, 10**9)
RUN = {
    "problem": {"kind": "quadratic", "hessians": [[[1]], [[0]]], "linear": [[0], [0]], "start": [1]},
    "algorithm": {"local_step_size": "1/4", "rounds": 1},
}
"""Its gradient dissimilarity on the unit ball is exactly one half."""


@pytest.mark.parametrize(
    ("sides", "holds"),
    [
        ({"lhs": q.gradient_dissimilarity, "rhs": HALF}, True),
        ({"lhs": q.gradient_dissimilarity, "rhs": HALF - TINY}, None),
        ({"lhs": HALF - TINY, "rhs": q.gradient_dissimilarity, "relation": ">="}, None),
        ({"lhs": q.gradient_dissimilarity, "rhs": sp.Rational(49, 100)}, False),
        ({"lhs": HALF + TINY, "rhs": q.gradient_dissimilarity}, False),
        ({"lhs": q.initial_distance, "rhs": 1 - TINY}, False),
    ],
)
def test_the_gap_has_to_exceed_what_a_supremum_may_be_too_large(sides: dict[str, Any], holds: bool | None) -> None:
    """A violation must exceed the error of a supremum on the smaller side; on the larger side the error favours the
    claim.
    """
    found = check(Claim(id="mine:supremum", **sides), parse_run(RUN, RATIONAL))
    assert found.applicable
    assert found.holds is holds
    assert (found.reason is not None and "upper bound on a ball" in found.reason) == (holds is None)
