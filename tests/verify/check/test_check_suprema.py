"""Suprema on balls are upper bounds: a claim that one of them exceeds by less than its own error is not refuted."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, Claim, parse_run, quantity
from fedtheory import quantities as q
from verify.check import check
from verify.check.joint_checks import RunsTogether

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


AWKWARD = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[[1]], [["1/3"]]],
        "linear": [["123/1007"], ["77/513"]],
        "start": ["11/13"],
    },
    "algorithm": {"local_step_size": "1/4", "rounds": 1},
}
"""The supremum of its dissimilarity is rational, and is rounded up."""
EXACT = sp.Rational(5507, 18603)
zeta = sp.Symbol("zeta", nonnegative=True)
OWN = quantity("own_excess", zeta - EXACT, {zeta: q.gradient_dissimilarity}, over="run")


@pytest.mark.parametrize(
    "statement",
    [
        {"lhs": zeta - EXACT, "rhs": 0},
        {"lhs": 0, "rhs": EXACT - zeta},
        {"lhs": 1 / EXACT, "rhs": 1 / zeta},
        {"lhs": zeta**2, "relation": "==", "rhs": EXACT**2},
        {"lhs": OWN, "rhs": 0},
        {"lhs": 1, "rhs": 0, "conditions": [zeta > EXACT]},
    ],
    ids=["difference", "larger side", "denominator", "equation", "own quantity", "condition"],
)
def test_a_supremum_that_is_rounded_up_refutes_nothing(statement: dict[str, Any]) -> None:
    """A true claim whose sides are equal is not refuted, wherever the supremum stands."""
    claim = Claim(id="mine:rounded", where={zeta: q.gradient_dissimilarity}, **statement)
    run = parse_run(AWKWARD, RATIONAL)
    assert q.gradient_dissimilarity.on(run) > RATIONAL.number("5507/18603", "supremum") ** 2
    assert check(claim, run).holds is None
    together = RunsTogether([run, run]).check_claims([claim])[claim]
    assert not together


def test_violations_that_no_rounding_explains_remain() -> None:
    """An equation that a supremum exceeds by far is refuted, and so is a claim about another quantity."""
    run = parse_run(AWKWARD, RATIONAL)
    for statement in ({"lhs": zeta, "relation": "==", "rhs": EXACT / 2}, {"lhs": zeta + 1, "rhs": zeta}):
        claim = Claim(id="mine:large", where={zeta: q.gradient_dissimilarity}, **statement)
        assert check(claim, run).holds is False
