"""Lecture 27, tightened: drift that grows linearly in the steps, and Theorem 2 relative to any point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import quadratics

from fedtheory.language.assumptions import uniform_shares
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import prove
from fedtheory.sources.lecture27.statements.any_point import drift_bound
from fedtheory.sources.lecture27.statements.notation import beta, eta, g, h, x
from verify.check import check
from verify.falsify import falsify

CLIENT, MEAN = find("lecture27:thm-1.g.linear"), find("lecture27:thm-1.quadratic")
DRIFT, BOUND = find("lecture27:thm-2.any-point.drift"), find("lecture27:thm-2.any-point")


def test_both_are_below_what_is_printed() -> None:
    """g_i and h are series in eta beta with positive terms, of which the tightened bounds are the first."""
    for sharper, printed in ((CLIENT, g(x) ** 2), (MEAN, h(x))):
        spare = printed - sharper.also[0].right
        for steps in range(6):
            written = sp.Poly(sp.expand(spare.subs(x, steps)), eta)
            assert all(one.subs(beta, 1).is_nonnegative for one in written.coeffs())


def test_the_drift_of_opposite_slopes_by_hand() -> None:
    """For F_i = x_1^2/2 +- x_2 clients separate by eta per step, so the average square is eta^2 (0 + 1 + 4)/3."""
    flat = [["1", "0"], ["0", "0"]]
    run = quadratics([flat, flat], [[0, -1], [0, 1]], [0, 0], eta="1/4", steps=3, rounds=2).engine
    (found,) = check(DRIFT, run).comparisons
    assert (found.lhs, found.rhs) == (sp.Rational(5, 48), sp.Rational(5, 48))


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
def test_unequal_clients_too(first: int, second: int, steps: int) -> None:
    """Drift and error of clients with weights 1/3 and 2/3 are below their bounds, decided in rationals."""
    problem = [[[str(first)]], [[str(second)]]], [[1], [-2]], [1]
    run = quadratics(*problem, eta=f"1/{first + second}", steps=steps, rounds=2, importance=["1/3", "2/3"]).engine
    for claim in (DRIFT, BOUND):
        assert check(claim, run).holds is True


_FALSE: list[tuple[Claim, dict[str, Any]]] = [
    (CLIENT, {"chain": (CLIENT.lhs, "<=", CLIENT.rhs * sp.Rational(9, 10)), "also": ()}),
    (CLIENT, {"conditions": []}),
    (MEAN, {"chain": (MEAN.lhs, "<=", MEAN.rhs * sp.Rational(2, 5)), "also": ()}),
    (DRIFT, {"rhs": drift_bound * sp.Rational(9, 10)}),
    (DRIFT, {"conditions": [eta <= 3 / beta]}),
    (BOUND, {"rhs": BOUND.rhs.subs(eta, 2 * eta)}),
    (BOUND, {"conditions": [eta <= sp.Rational(19, 10) / beta]}),
]


@pytest.mark.long
@pytest.mark.parametrize(("claim", "change"), _FALSE, ids=[f"{one.id} {n}" for n, (one, _) in enumerate(_FALSE)])
def test_no_more_is_proved(claim: Claim, change: dict[str, Any]) -> None:
    """The certificate does not prove false variants, and a short search refutes each."""
    false = replace(claim, **change)
    assert prove(claim).verdict == "proved"
    assert prove(false).verdict != "proved"
    assert falsify(replace(false, verdict=None), 20).verdict == "refuted"


def test_long_steps_take_clients_apart() -> None:
    """For F_i = x^2/2 -+ x with eta = 4 the distances 4, 8 and 28 exceed the bound 12."""
    false = replace(CLIENT, conditions=[])
    run = quadratics([[["1"]], [["1"]]], [[-1], [1]], [0], eta=4, steps=3).engine
    assert prove(false).verdict != "proved"
    assert check(false, run).holds is False


def test_pairs_of_clients_need_equal_shares() -> None:
    """A bound on all pairs bounds the average drift for equal weights only; one on the average square for any."""
    of_pairs = find("renard2022:lemma-2.3.quiet")
    unequal = replace(of_pairs, assumptions=tuple(one for one in of_pairs.assumptions if one != uniform_shares))
    assert prove(of_pairs).verdict == "proved"
    assert prove(unequal).verdict != "proved"
