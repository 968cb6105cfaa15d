"""Regimes of claims whose conditions fix or bound a count: they have runs with such counts."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from bound_symbols import WHERE as BOUND
from bound_symbols import D, L, M, T, eta, mu, sigma, tau, zeta

from fedtheory import Claim
from fedtheory.language import quantities as q
from fedtheory.language.targets import resolve
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.factors import list_factors

WHERE = {**BOUND, zeta: q.dissimilarity_at_optimum}


def bound(rhs: sp.Expr, *conditions: sp.Basic) -> Claim:
    """Return a bound on the last distance for plain FedAvg."""
    used = rhs.free_symbols.union(*(condition.free_symbols for condition in conditions))
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    return resolve(Claim(id="t:counts", lhs=q.final_distance_sq, rhs=rhs, where=where, conditions=conditions))


NEVER_FARTHER = D**2
ONE_SHOT = (1 - eta * mu) ** tau * D**2 + eta * sigma**2 / (mu * M) + eta**2 * zeta**2 / mu**2


def levels(name: str, *conditions: sp.Basic) -> tuple[object, ...]:
    """Return the levels of a factor under conditions."""
    return list_factors(bound(NEVER_FARTHER, *conditions))[name].levels


def test_levels_satisfy_the_conditions() -> None:
    """Levels are those that the conditions allow, or the least allowed counts if these are fewer than two."""
    assert levels("horizon", sp.Eq(T, 1)) == (("T", 0),)
    assert levels("horizon", T >= 2) == (("T", 1), ("T", 2), ("L", 0), ("L", 5), ("mu", 5))
    assert levels("local steps", sp.Eq(tau, 3)) == (math.log2(3),)
    assert levels("local steps", tau <= 2) == (0, 1)
    assert levels("clients", M >= 20) == (5, 9.97)
    assert levels("clients", sp.Eq(M, 3)) == (math.log2(3),)
    assert levels("clients", eta <= 1 / L) == (0, 1, 3.32, 5, 9.97)


@pytest.mark.parametrize(
    "conditions",
    [(sp.Eq(T, 1),), (sp.Eq(M, 3), sp.Eq(tau, 3)), (M >= 20,), (T >= 50 * M,)],
    ids=["one round", "three clients, three steps", "many clients", "many rounds"],
)
def test_regimes_have_such_runs(conditions: tuple[sp.Basic, ...]) -> None:
    """The search covers runs with such counts."""
    found = search_regimes(bound(D**2 + sigma**2 + zeta**2, eta <= 1 / (4 * L), *conditions), 60)
    assert found.applicable >= 20


def test_one_shot_averaging_has_a_bias() -> None:
    """The mean of the clients' optima is not the optimum, however small the step size is."""
    found = search_regimes(bound(ONE_SHOT, eta <= 1 / (4 * L), sp.Eq(T, 1)), 300)
    assert found.counterexample is not None
    assert found.counterexample[1].holds is False
    assert found.counterexample[0]["algorithm"]["rounds"] == 1
