"""Constants that are square roots are compared exactly: equal ones tie, however they are written."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import Claim, assumptions, parse_run
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from verify.check import check
from verify.check.escalation import check_and_escalate
from verify.instances import Instance

M, eta = sp.symbols("M eta", positive=True)
sigma, zeta, mean, at_optimum, start, spread = sp.symbols("sigma zeta z_m s_o D s_z", nonnegative=True)
WHERE = {
    M: q.clients,
    eta: q.local_step_size,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
    mean: q.mean_dissimilarity,
    at_optimum: q.noise_at_optimum,
    start: q.initial_distance,
    spread: q.dissimilarity_at_optimum,
}
BOUNDED = [assumptions.unbiased_bounded_variance, assumptions.bounded_dissimilarity]
TABLE = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["1", "0"], ["0", "1"]]] * 2,
        "linear": [["1", "1"], ["-1", "-1"]],
        "start": ["1", "2"],
        "noise": "3",
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/4", "local_steps": 2, "rounds": 2},
}
"""sigma^2 = 3, zeta^2 = 2 and |x^0 - x*|^2 = 5: no root is rational."""
LEVEL = sp.sqrt(sigma**2 + zeta**2)


def claim(lhs: sp.Expr, relation: str, rhs: sp.Expr) -> Claim:
    """Return a claim about these constants."""
    return Claim(id="t:roots", lhs=lhs, relation=relation, rhs=rhs, where=WHERE, assumptions=BOUNDED)


@pytest.mark.parametrize(
    ("lhs", "rhs", "family"),
    [
        (mean, zeta, "small quadratics"),
        (spread, zeta, "small quadratics"),
        (at_optimum, sigma, "small quadratics"),
        (at_optimum, sigma, "smooth losses"),
    ],
    ids=str,
)
def test_equal_constants_tie(lhs: sp.Symbol, rhs: sp.Symbol, family: str) -> None:
    """A constant that is at most another holds where they are equal as well, in rationals and next to enclosures."""
    for number in range(12):
        found = check(claim(lhs, "<=", rhs), Instance(family, number).run())
        assert found.holds is (True if found.applicable else None), found.reason


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        (at_optimum, sigma),
        (spread, zeta),
        (sp.sqrt(M) * sigma, sp.sqrt(M * sigma**2)),
        (sp.sqrt(8) * spread, 4),
        (sigma * zeta * start, sp.sqrt(30)),
        ((sigma + zeta) ** 2, 5 + 2 * sp.sqrt(6)),
        (1 / (sigma + zeta), sigma - zeta),
        (LEVEL, start),
        ((sigma * zeta) ** sp.Rational(3, 2), (sigma**2 * zeta**2) ** sp.Rational(3, 4)),
        (sp.Max(sigma, zeta) + eta, sp.Max(zeta, at_optimum) + sp.Rational(1, 4)),
    ],
    ids=str,
)
def test_equal_expressions_tie(lhs: sp.Expr, rhs: sp.Expr) -> None:
    """Sums, products, quotients and roots of roots that are equal are found to be; floats hand them over."""
    exact = parse_run(TABLE, RATIONAL)
    expected = {"==": True, "<=": True, ">=": True, "<": False, ">": False}
    for relation, holds in expected.items():
        found = check(claim(lhs, relation, rhs), exact)
        assert found.holds is holds
        assert found.worst is not None
        assert found.worst.ratio == (None if relation == "==" else 1)
        settled = check_and_escalate(claim(lhs, relation, rhs), exact.as_floats(), lambda: exact)
        assert settled.holds is holds


def test_nearly_equal_expressions_do_not_tie() -> None:
    """A bound that is short by one part in 10^80 is violated."""
    near = sp.sqrt(3 - sp.Rational(1, 10**80))
    assert check(claim(sigma, "<=", near), parse_run(TABLE, RATIONAL)).holds is False
    assert check(claim(sigma, ">", near), parse_run(TABLE, RATIONAL)).holds is True


def test_conditions_with_roots_are_decided() -> None:
    """A condition that holds with equality of roots leaves nothing open."""
    where = {**WHERE, M: q.clients}
    tight = Claim(id="t:tight", lhs=eta, rhs=1, where=where, conditions=[sp.sqrt(M) * zeta <= 2], assumptions=BOUNDED)
    found = check(tight, parse_run(TABLE, RATIONAL))
    assert found.applicable
    assert [condition.holds for condition in found.conditions] == [True]
    assert found.holds is True
