"""Irrational eigenvalues are rounded in rationals: their rounding alone neither refutes nor supports a statement."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import RATIONAL, Claim, parse_run
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import is_rounded_root
from verify.check import check
from verify.check.joint_checks import RunsTogether

L, mu, delta, least, rho, L_i = sp.symbols("L mu delta least rho L_i", positive=True)
PLAIN = {"local_step_size": "1/8", "local_steps": 1, "rounds": 1}
IRRATIONAL = {"kind": "quadratic", "hessians": [[["2", "1"], ["1", "1"]]], "linear": [["1", "0"]], "start": ["1", "-1"]}
"""Its Hessian has the trace 3 and the determinant 1: its eigenvalues are (3 +- sqrt(5))/2."""
RATIONAL_EIGENVALUES = {**IRRATIONAL, "hessians": [[["2", "1"], ["1", "2"]]]}
"""Its Hessian has the eigenvalues 1 and 3."""
MEANINGS = {L: q.smoothness, mu: q.strong_convexity, delta: q.objective_smoothness, least: q.smallest_curvature}


def state(left: Any, relation: Any, right: Any, **more: Any) -> Claim:
    """Return a statement about the eigenvalues of the Hessians."""
    return Claim(
        id="mine:eigenvalues",
        lhs=left,
        relation=relation,
        rhs=right,
        where=MEANINGS | {L_i: q.client_smoothness},
        **more,
    )


EQUAL = {
    "the product": state(L * mu, "==", 1),
    "the sum": state(L + mu, "==", 3),
    "the equation of the largest": state(L**2 + 1, "<=", 3 * L),
    "the equation of the smallest": state(mu**2 + 1, "<=", 3 * mu),
    "a denominator": state(1 / L, "==", mu),
    "of the average objective": state(delta * least, "==", 1),
    "of one client": state(L_i * mu, "==", 1),
    "a strict bound, which is false": state(L * mu, ">", 1),
    "a condition": state(L, "<=", 1, conditions=[L * mu > 1]),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_sides_are_left_undecided(name: str) -> None:
    """The rounded eigenvalues make one of two equal sides too large."""
    run = parse_run({"problem": IRRATIONAL, "algorithm": PLAIN}, RATIONAL)
    found = check(EQUAL[name], run)
    assert found.applicable
    assert found.holds is None
    assert found.reason is not None
    assert "is an irrational eigenvalue, and is rounded" in found.reason
    assert not RunsTogether([run, run]).check_claims([EQUAL[name]])[EQUAL[name]]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (state(L * mu, "==", sp.Rational(10**9 + 1, 10**9)), IRRATIONAL),
        (state(L + mu, "<=", 3 - sp.Rational(1, 10**9)), IRRATIONAL),
        (state(L * mu, "<", 3), RATIONAL_EIGENVALUES),
        (state(L + mu, "<=", 4 - sp.Rational(1, 10**30)), RATIONAL_EIGENVALUES),
    ],
    ids=["equation", "bound", "strict", "rational"],
)
def test_other_violations_remain(statement: Claim, problem: dict[str, Any]) -> None:
    """A gap larger than the rounding refutes, and rational eigenvalues are exact."""
    assert check(statement, parse_run({"problem": problem, "algorithm": PLAIN}, RATIONAL)).holds is False


@pytest.mark.parametrize("right", [1 - sp.Rational(1, 10**9), sp.Rational(1, 2)])
def test_strict_bounds_hold_by_more_than_the_rounding(right: sp.Expr) -> None:
    run = parse_run({"problem": IRRATIONAL, "algorithm": PLAIN}, RATIONAL)
    assert check(state(L * mu, ">", right), run).holds is True


def test_the_contraction_of_a_graph_is_an_eigenvalue() -> None:
    """The graph has the eigenvalues 1 and (1 +- sqrt(3))/4, which solve 8 r^2 = 4 r + 1."""
    chain = [["3/4", "1/4", "0"], ["1/4", "1/4", "1/2"], ["0", "1/2", "1/2"]]
    problem = {"kind": "quadratic", "hessians": [[["1"]]] * 3, "linear": [["1"], ["0"], ["-1"]], "start": ["1"]}
    run = parse_run({"problem": problem, "algorithm": {**PLAIN, "name": "dsgd", "mixing": chain}}, RATIONAL)
    for left, right, holds in ((8 * rho**2, 4 * rho + 1, None), (8 * rho**2, 4 * rho + 2, False)):
        claim = Claim(
            id="mine:graph",
            lhs=left,
            relation="==",
            rhs=right,
            where={rho: q.mixing_contraction},
            assumptions=[a.dsgd],
        )
        assert check(claim, run).holds is holds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (fmpq(3), False),
        (fmpq(1, 8), False),
        (fmpq(10**20 + 1, 3), False),
        (fmpq(2**50 + 1, 2**49), True),
        (fmpq(-(2**50) - 1, 2**49), True),
        (1.5, False),
    ],
)
def test_long_dyadic_rationals_are_taken_for_bounds(value: object, expected: bool) -> None:
    assert is_rounded_root(value) is expected
