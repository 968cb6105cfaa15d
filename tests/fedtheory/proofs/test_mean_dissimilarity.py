"""The average dissimilarity is at most the largest one, in runs and in proofs, and not conversely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp
from tiny_runs import quadratics

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.engine.region import Ball
from fedtheory.kernel import Term, assumption, check_nonnegative
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.language.targets import resolve
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.numbers import list_known_conditions, numbers_of

x, F, F_i = sp.symbols("xbar F F_i", real=True)
zeta, mean = sp.symbols("zeta z_mean", nonnegative=True)
WHERE: dict[Any, Any] = {x: q.average_iterate, F: q.objective, F_i: q.client_objective, zeta: q.gradient_dissimilarity}
WHERE |= {mean: q.mean_dissimilarity}
APART = Average(norm_sq(Gradient(F_i, x) - Gradient(F, x)))
ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares)


@pytest.mark.parametrize("importance", [["1/2", "1/2"], ["1/4", "3/4"], ["1/100", "99/100"]])
@pytest.mark.parametrize("hessians", [[[["1"]], [["1"]]], [[["1"]], [["3"]]]])
@pytest.mark.parametrize("linear", [[[1], [-2]], [[1], [1]]])
def test_on_runs(importance: Sequence[str], hessians: Sequence[Sequence[Sequence[str]]], linear: Any) -> None:
    """The order holds on the whole space if values are finite, else on the ball of a run, for all client weights."""
    run = quadratics(hessians, linear, [3], importance=importance, eta="1/8").engine
    assert run.mean_dissimilarity_sq.value <= run.dissimilarity_sq.value
    assert type(run.mean_dissimilarity_sq.region) is type(run.dissimilarity_sq.region)
    assert isinstance(run.dissimilarity_sq.region, Ball) is (hessians[0] != hessians[1])


def _claim(right: Expr, *assumptions: a.Assumption) -> Claim:
    where = {
        symbol: quantity for symbol, quantity in WHERE.items() if symbol in APART.free_symbols | right.free_symbols
    }
    left = Expectation(APART)
    claim = Claim(id="mine:z", lhs=left, rhs=right, where=where, place="step", assumptions=(*ROUNDS, *assumptions))
    return resolve(claim)


@pytest.mark.parametrize(
    ("right", "assumed", "stands"),
    [
        (mean**2, a.bounded_mean_dissimilarity, True),
        (mean**2, a.bounded_dissimilarity, True),
        (mean**2 / 2, a.bounded_dissimilarity, False),
        (zeta**2, a.bounded_mean_dissimilarity, False),
    ],
)
def test_bounded_clients_have_a_bounded_mean(right: Expr, assumed: a.Assumption, stands: bool) -> None:
    """The bound at the clients' average needs either assumption, and no other suffices."""
    claim = _claim(right, assumed)
    terms = [Term(sp.S.One, assumption("bounded mean dissimilarity"))]
    assert (check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict == "proved") is stands


def test_the_mean_is_at_most_the_largest() -> None:
    """The order is known if a claim names both, and its converse is not."""
    claim = _claim(mean * zeta, a.bounded_dissimilarity)
    numbers, conditions = numbers_of(claim), list_known_conditions(claim)
    symbols = {quantity: symbol for symbol, quantity in claim.where.items()}
    larger, smaller = symbols[q.gradient_dissimilarity], symbols[q.mean_dissimilarity]
    assert check_nonnegative(larger**2 - smaller**2, numbers, conditions).holds
    assert not check_nonnegative(smaller - larger, numbers, conditions).holds
    assert not list_known_conditions(_claim(mean**2, a.bounded_dissimilarity))
