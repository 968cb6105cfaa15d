"""Rays: what fails only far away, with many clients and long horizons, is found all the same."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from letters import WHERE, D, L, M, T, eta, sigma, tau, zeta

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.language import quantities as q
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify import glance
from verify.falsify.hunt import Hunt, Place
from verify.falsify.rays import along_rays
from verify.falsify.search import short_search
from verify.falsify.starts import setting
from verify.falsify.tables import clients

REST = D**2 / (2 * eta * tau * T) + 18 * tau**2 * eta**2 * L * zeta**2 + 4 * (tau - 1) * eta**2 * L * sigma**2


def bound(noise: Any) -> Claim:
    """Convergence on convex functions with another term for the noise."""
    return Claim(
        id="t:bound", lhs=q.average_suboptimality, rhs=REST + noise, where=WHERE, conditions=[eta <= 1 / (4 * L)]
    )


FALSE = {
    "a power of M too many": bound(eta * sigma**2 / M**2),
    "no noise": bound(0),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_short_search_refutes(name: str) -> None:
    """The run that is found violates the claim in rationals."""
    found = glance(FALSE[name], 10)
    assert found.counterexample is not None
    exact = check(FALSE[name], parse_run(found.counterexample, RATIONAL))
    assert exact.applicable
    assert exact.holds is False


@pytest.mark.parametrize("noise", [eta * sigma**2 / M, eta * sigma**2])
def test_a_short_search_ends_by_itself(noise: Any) -> None:
    """True bounds stand, and the search says how many runs it has tried."""
    found = glance(bound(noise), 60)
    assert found.counterexample is None
    assert found.looked > 50


def test_half_a_power_takes_hundreds_of_clients() -> None:
    """The counterexample has more than 196 clients: with fewer the term is large enough at the largest step size."""
    violation = short_search(bound(4 * eta * sigma**2 / M ** sp.Rational(3, 2)), 20).violation
    assert violation is not None
    assert violation.found.arithmetic is RATIONAL
    assert clients(violation.table) > 196


def test_nothing_large_is_left_behind() -> None:
    """Runs of many clients are no starting points of local searches, and the reach is the one before."""
    claim = bound(eta * sigma**2)
    hunt = Hunt(claim, 60, lambda _done, _all: None)
    hunt.setting, before = setting(claim), hunt.reach
    table = {
        "problem": {
            "kind": "quadratic",
            "hessians": [[[RATIONAL.number(1, "")]]] * 2,
            "linear": [[RATIONAL.number(1, "")], [RATIONAL.number(-1, "")]],
            "start": [RATIONAL.number(2, "")],
            "noise": [RATIONAL.number(1, "")] * 2,
        },
        "algorithm": {"local_step_size": RATIONAL.number("1/4", ""), "local_steps": 2, "rounds": 2},
    }
    along_rays(hunt, Place(table, hunt.look(table)))
    assert hunt.reached
    assert max(clients(place.table) for place in hunt.reached) <= 8
    assert hunt.reach is before
