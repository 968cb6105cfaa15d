"""Rays: what fails only far away, with many clients and long horizons, is found all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau, zeta

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify import search_quickly
from verify.falsify.exponents import NOTHING_THERE, LogarithmReader, Logarithms, Room, find_best_step
from verify.falsify.instance_search import _move_term, search, search_briefly
from verify.falsify.mixed_runs import list_mixed_runs
from verify.falsify.rays import Ray, ScaledRun, follow_rays
from verify.falsify.run_tables import Table, count_clients
from verify.falsify.scalings import list_scalings
from verify.falsify.search_state import FAR, SearchState
from verify.falsify.starts import find_features

pytestmark = pytest.mark.long

REST = D**2 / (2 * eta * tau * T) + 4 * (tau - 1) * eta**2 * L * sigma**2


def bound(noise: Any, drift: Any = 18 * tau**2 * eta**2 * L * zeta**2) -> Claim:
    """Return a rate of convergence for convex functions with other terms for noise and dissimilarity."""
    return Claim(
        id="t:bound",
        lhs=q.average_suboptimality,
        rhs=REST + noise + drift,
        where=WHERE,
        conditions=[eta <= 1 / (4 * L)],
    )


TWO: Table = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[[RATIONAL.number(1, "")]]] * 2,
        "linear": [[RATIONAL.number(1, "")], [RATIONAL.number(-1, "")]],
        "start": [RATIONAL.number(2, "")],
        "noise": [RATIONAL.number(1, "")] * 2,
    },
    "algorithm": {"local_step_size": RATIONAL.number("1/4", ""), "local_steps": 2, "rounds": 2},
}
"""Two clients with different linear terms, a few steps and rounds."""
FALSE = {
    "a power of M too many": bound(eta * sigma**2 / M**2),
    "a power of the step size too many": bound(L * eta**2 * sigma**2 / M),
    "no noise": bound(0),
    "units that do not fit": bound(eta * sigma**2 / M, drift=18 * tau**2 * eta**2 * zeta**2),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_short_search_refutes(name: str) -> None:
    """The run that is found violates the claim in rationals."""
    found = search_quickly(FALSE[name], 100)
    assert found.counterexample is not None
    exact = check(FALSE[name], parse_run(found.counterexample, RATIONAL))
    assert exact.applicable
    assert exact.holds is False


@pytest.mark.parametrize("noise", [eta * sigma**2 / M, eta * sigma**2])
def test_a_short_search_ends_by_itself(noise: Any) -> None:
    """True bounds stand, and the search says how many runs it has tried."""
    found = search_quickly(bound(noise), 6)
    assert found.counterexample is None
    assert found.looked > 12


def test_half_a_power_takes_hundreds_of_clients() -> None:
    """The counterexample has more than 196 clients: with fewer the term is large enough at the largest step size."""
    violation = search_briefly(bound(4 * eta * sigma**2 / M ** sp.Rational(3, 2)), 100).violation
    assert violation is not None
    assert violation.found.arithmetic is RATIONAL
    assert count_clients(violation.table) > 196


def test_large_runs_start_no_local_search() -> None:
    """Runs of many clients are no starting points of local searches, and the reach is the one before."""
    claim = bound(eta * sigma**2)
    state = SearchState(claim, 60)
    state.setting, before = find_features(claim), state.reach
    follow_rays(state, [TWO], FAR, 3)
    assert state.reached
    assert max(count_clients(place.table) for place in state.reached) <= 8
    assert state.reach is before


def test_the_exponents_of_terms_are_those_of_the_formula() -> None:
    """Terms in the order of SymPy; twice the step size and half of it, logarithms to base two."""
    claim = bound(eta * sigma**2 / M)
    reader = LogarithmReader(claim)
    here = reader.read(TWO)
    there = reader.read({**TWO, "algorithm": {**TWO["algorithm"], "local_step_size": RATIONAL.number("1/2", "")}})
    assert here is not None
    assert there is not None
    grown = here.exponents(there, 1)
    named = dict(zip(map(str, sp.Add.make_args(claim.relations[0].right)), grown.terms, strict=False))
    assert named["eta*sigma**2/M"] == pytest.approx(1)
    assert named["18*L*eta**2*tau**2*zeta**2"] == pytest.approx(2)
    assert named["D**2/(2*T*eta*tau)"] == pytest.approx(-1)
    assert grown.conditions == pytest.approx([1])
    assert reader.allows(here)
    assert not reader.allows(there)


def test_the_best_step_leaves_the_terms_behind() -> None:
    """The side grows like a, the terms like a^2/b and 1/b; with b limited, a goes as far as it pays."""
    at = Logarithms(0.0, np.array([0.0, 0.0]), np.array([-2.0]))
    aspects = [
        Logarithms(1.0, np.array([2.0, 0.0]), np.array([1.0])),
        Logarithms(0.0, np.array([-1.0, -1.0]), np.array([0.0])),
    ]
    room = Room(np.full(2, -8), np.full(2, 8), np.array([[0.0, 1.0]]), np.array([3.0]))
    step = find_best_step(at, np.zeros(2), aspects, np.array([False]), room)
    assert step is not None
    assert list(step) == [0, 3]
    wide = find_best_step(at, np.array([-9.0, 0.0]), aspects, np.array([False]), room)
    assert wide is not None
    assert list(wide) == [2, 3]


def test_mixed_runs_satisfy_the_conditions_and_have_everything() -> None:
    """Equal curvatures, different ones, and two scales; noise, linear terms and a start away from the optimum."""
    claim = bound(0)
    runs = list_mixed_runs(claim, find_features(claim))
    assert len(runs) >= 3
    for table in runs:
        assert check(claim, parse_run(table, RATIONAL)).applicable
        assert {"noise", "start", "spread"} <= {scaling.name for scaling in list_scalings(table)}


def test_conditions_that_tie_counts_are_kept() -> None:
    """A step size of 1/(L sqrt(T)): rounds change by powers of four."""
    tied = Claim(
        id="t:tied",
        lhs=q.average_suboptimality,
        rhs=L * D**2 / sp.sqrt(T) + sigma**2 / (L * sp.sqrt(T) * M**2),
        where=WHERE,
        conditions=[sp.Eq(tau, 1), sp.Eq(eta, 1 / (4 * L * sp.sqrt(T)))],
    )
    violation = search_briefly(tied, 100).violation
    assert violation is not None
    assert check(tied, parse_run(violation.table, RATIONAL)).holds is False


def test_rays_of_a_claim_about_every_step() -> None:
    """With M^2 for M in the noise of a step the bound fails for three clients that are alike."""
    true = find("comparator:one-step")
    (relation,) = true.relations
    clients_symbol = next(symbol for symbol, quantity in true.notation.items() if quantity is q.clients)
    noise = next(
        term
        for term in sp.Add.make_args(relation.right)
        if term.has(1 / clients_symbol) and not term.has(1 - 1 / clients_symbol)
    )
    false = replace(true, rhs=relation.right - noise + noise / clients_symbol, verdict=None)
    violation = search(false, 60, seed=0).violation
    assert violation is not None
    assert check(false, parse_run(violation.table, RATIONAL)).holds is False


def test_ends_in_the_same_proportions_are_one_end() -> None:
    """Two ends with the same proportions in other units are one; another term makes them different."""
    reader, penalties = LogarithmReader(bound(0)), np.zeros(2)

    def end(smaller: float, terms: list[float], condition: float) -> tuple[float, ...]:
        at = Logarithms(smaller, np.array(terms), np.array([condition]))
        return Ray(reader, ScaledRun(TWO), at, penalties).proportions

    here = end(-3, [-1, NOTHING_THERE], -5)
    assert end(4, [6, NOTHING_THERE], -5) == here
    assert end(4, [7, NOTHING_THERE], -5) != here != end(-3, [-1, NOTHING_THERE], -4)


def test_rates_have_no_terms_to_move() -> None:
    """Local searches from the ladder of a rate leave its sides unchanged."""
    rate = find("renard2022:goal-rate.fixed")
    assert rate.relations == ()
    assert {_move_term(rate, np.random.default_rng(seed)) for seed in range(8)} == {None}
