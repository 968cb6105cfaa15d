"""The instance on the page of a claim with free points has rows for the points."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Value
from report.evidence import describe_evidence
from verify.verdict import verify

x, y, F = sp.symbols("x y F", real=True)
WHERE = {x: q.point, y: q.second_point, F: q.client_objective}


@pytest.mark.parametrize(
    ("left", "right", "remark", "name"),
    [
        (
            norm_sq(x + y),
            norm_sq(x) + norm_sq(y),
            "The statement is about free vectors and does not depend on the run.",
            "x",
        ),
        (Value(F, x), Value(F, y), "measured from", "x-x"),
    ],
)
def test_points_of_a_counterexample(left: sp.Expr, right: sp.Expr, remark: str, name: str) -> None:
    """Points are small integers in the table; vectors need no run, points of objectives have an origin."""
    (verdict,) = verify(Claim(id="t:points", place="points", lhs=left, rhs=right, where=WHERE))
    shown = describe_evidence(verdict, "mine.py:points")
    assert shown is not None
    assert remark in str(shown.remark)
    assert shown.rows[0].value in {"1", "2", "-1"}
    assert ("-" in str(shown.rows[0].name) or "−" in str(shown.rows[0].name)) == (name != "x")
