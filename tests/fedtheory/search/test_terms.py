"""Statements about points and one step: classical ones are proved from their statement, near misses are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, conic, find_proof

x, y, z, F, v, w, best = sp.symbols("x y z F v w best", real=True)
local, mean, following, F_i = sp.symbols("x_i xbar xnext F_i", real=True)
L, mu, eta, M, sigma = sp.symbols("L mu eta M sigma", positive=True)
POINTS = {x: q.point, y: q.second_point, z: q.third_point, F: q.objective, L: q.smoothness}
DESCENT = {v: q.centralised_model, w: q.next_centralised_model, best: q.optimum, F: q.objective, L: q.smoothness}
DESCENT |= {eta: q.local_step_size, mu: q.strong_convexity}
STEP = {local: q.local_iterate, mean: q.average_iterate, following: q.next_average_iterate, best: q.optimum}
STEP |= {F: q.objective, F_i: q.client_objective, L: q.smoothness, mu: q.strong_convexity}
STEP |= {eta: q.local_step_size, M: q.clients, sigma: q.noise_deviation}
CONVEX = (a.convex_and_smooth,)
CURVED = (a.convex_and_smooth, a.strongly_convex_clients)
ROUND = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)


def _slope(point: Any) -> Any:
    return Gradient(F, point)


def _points(lhs: Any, rhs: Any, assumptions: Sequence[Any] = CONVEX, where: Mapping[Any, Any] = POINTS) -> Claim:
    return resolve(Claim(id="mine:points", place="points", lhs=lhs, rhs=rhs, where=where, assumptions=assumptions))


def _descent(lhs: Any, rhs: Any, assumptions: Sequence[Any] = CONVEX, conditions: Sequence[Any] = ()) -> Claim:
    stated = {"place": "path", "where": DESCENT, "assumptions": assumptions, "conditions": conditions}
    return resolve(Claim(id="mine:descent", lhs=lhs, rhs=rhs, **stated))


def _step(rhs: Any, most: Any, assumptions: Sequence[Any] = CURVED) -> Claim:
    """Return a bound on the next squared distance from the optimum, in expectation."""
    stated = {"place": "step", "where": STEP, "assumptions": (*ROUND, *assumptions), "conditions": [eta <= most]}
    return resolve(Claim(id="mine:step", lhs=Expectation(norm_sq(following - best)), rhs=rhs, **stated))


NOW, GAP = Expectation(norm_sq(mean - best)), Expectation(Value(F, mean) - Value(F, best))
DRIFT, NOISE = Expectation(Average(norm_sq(local - mean))), eta**2 * sigma**2 / M
BENT = POINTS | {mu: q.strong_convexity}
FLAT = {symbol: quantity for symbol, quantity in POINTS.items() if symbol in (x, y, z)}
TRUE = {
    "Young": _points(norm_sq(x + y), sp.Rational(3, 2) * norm_sq(x) + 3 * norm_sq(y), (), FLAT),
    "three squares": _points(norm_sq(x + y + z), 3 * (norm_sq(x) + norm_sq(y) + norm_sq(z)), (), FLAT),
    "co-coercivity": _points(norm_sq(_slope(x) - _slope(y)), L * inner(_slope(x) - _slope(y), x - y)),
    "monotone": _points(0, inner(_slope(x) - _slope(y), x - y)),
    "descent lemma": _points(Value(F, x), Value(F, y) + inner(_slope(y), x - y) + L / 2 * norm_sq(x - y), (a.smooth,)),
    "three points": _points(Value(F, x) - Value(F, y), inner(_slope(z), x - y) + L / 2 * norm_sq(x - z)),
    "midpoint": _points(
        Value(F, x / 2 + y / 2) + mu / 8 * norm_sq(x - y), Value(F, x) / 2 + Value(F, y) / 2, CURVED, BENT
    ),
    "midpoint without a constant": _points(
        Value(F, x / 2 + y / 2),
        Value(F, x) / 2 + Value(F, y) / 2,
        CONVEX,
        {x: q.point, y: q.second_point, F: q.objective},
    ),
    "gradients bound values": _points(
        Value(F, x) - Value(F, y),
        inner(_slope(y), x - y) + norm_sq(_slope(x) - _slope(y)) / (2 * mu),
        CURVED,
        BENT,
    ),
    "distances do not grow": _descent(norm_sq(w - best), norm_sq(v - best), CONVEX, [eta <= 2 / L]),
    "descent of values": _descent(Value(F, w), Value(F, v) - eta * (1 - L * eta / 2) * norm_sq(_slope(v)), (a.smooth,)),
    "descent of distances": _descent(norm_sq(w - best), norm_sq(v - best) - eta * (2 / L - eta) * norm_sq(_slope(v))),
    "distances and values": _descent(
        norm_sq(w - best) + 2 * eta * (Value(F, w) - Value(F, best)), norm_sq(v - best), CONVEX, [eta <= 1 / L]
    ),
    "contraction": _descent(norm_sq(w - best), (1 - eta * mu) * norm_sq(v - best), CURVED, [eta <= 1 / L]),
    "lower bound by smoothness": _points(
        inner(_slope(y), x - y) - L / 2 * norm_sq(x - y), Value(F, x) - Value(F, y), (a.smooth,)
    ),
    "three points and curvature": _points(
        Value(F, x) - Value(F, y) + mu / 4 * norm_sq(x - y), inner(_slope(z), x - y) + L * norm_sq(x - z), CURVED, BENT
    ),
    "Nesterov, Theorem 2.1.12": _points(
        mu * L / (mu + L) * norm_sq(x - y) + norm_sq(_slope(x) - _slope(y)) / (mu + L),
        inner(_slope(x) - _slope(y), x - y),
        CURVED,
        BENT,
    ),
    "contraction at large steps": _descent(
        norm_sq(w - best), (1 - 2 * eta * mu * L / (mu + L)) * norm_sq(v - best), CURVED, [eta <= 2 / (mu + L)]
    ),
    "gradients do not grow": _descent(norm_sq(_slope(w)), norm_sq(_slope(v)), CONVEX, [eta <= 2 / L]),
    "convexity of a client": _points(
        Value(F_i, x) + inner(Gradient(F_i, x), y - x), Value(F_i, y), CONVEX, POINTS | {F_i: q.client_objective}
    ),
    "gradient of a client": _points(
        norm_sq(Gradient(F_i, x) - Gradient(F_i, y)),
        L**2 * norm_sq(x - y),
        CONVEX,
        POINTS | {F_i: q.client_objective},
    ),
    "an equation": Claim(
        id="mine:points",
        place="points",
        lhs=norm_sq(x - y),
        rhs=norm_sq(x) - 2 * inner(x, y) + norm_sq(y),
        where=FLAT,
    ),
    "Li et al., Lemma 1": _step((1 - mu * eta) * NOW + NOISE + 2 * DRIFT, 1 / (4 * L)),
    "Koloskova et al., Lemma 8": _step(
        (1 - mu * eta / 2) * NOW + NOISE - eta * GAP + 3 * L * eta * DRIFT, 1 / (12 * L)
    ),
    "the same without curvature": _step(NOW + NOISE - eta * GAP + 3 * L * eta * DRIFT, 1 / (12 * L), CONVEX),
}
FALSE = {
    "Young": _points(norm_sq(x + y), sp.Rational(3, 2) * norm_sq(x) + 2 * norm_sq(y), (), FLAT),
    "three squares": _points(norm_sq(x + y + z), 2 * (norm_sq(x) + norm_sq(y) + norm_sq(z)), (), FLAT),
    "co-coercivity": _points(2 * norm_sq(_slope(x) - _slope(y)), L * inner(_slope(x) - _slope(y), x - y)),
    "co-coercivity of what is smooth": _points(
        norm_sq(_slope(x) - _slope(y)), L * inner(_slope(x) - _slope(y), x - y), (a.smooth,)
    ),
    "convexity of a client": _points(
        Value(F_i, x) + inner(Gradient(F_i, x), y - x), Value(F_i, y), (a.smooth,), POINTS | {F_i: q.client_objective}
    ),
    "gradient of a client": _points(
        norm_sq(Gradient(F_i, x) - Gradient(F_i, y)),
        L**2 * norm_sq(x - y) / 2,
        CONVEX,
        POINTS | {F_i: q.client_objective},
    ),
    "an equation": Claim(
        id="mine:points", place="points", lhs=norm_sq(x - y), rhs=norm_sq(x) - inner(x, y) + norm_sq(y), where=FLAT
    ),
    "steepness": _points(2 * L * (Value(F, x) - Value(F, y)), norm_sq(_slope(x))),
    "midpoint": _points(
        Value(F, x / 2 + y / 2) + mu / 4 * norm_sq(x - y), Value(F, x) / 2 + Value(F, y) / 2, CURVED, BENT
    ),
    "midpoint of what is smooth": _points(
        Value(F, x / 2 + y / 2),
        Value(F, x) / 2 + Value(F, y) / 2,
        (a.smooth,),
        {x: q.point, y: q.second_point, F: q.objective},
    ),
    "gradients bound values": _points(
        Value(F, x) - Value(F, y),
        inner(_slope(y), x - y) + norm_sq(_slope(x) - _slope(y)) / (4 * mu),
        CURVED,
        BENT,
    ),
    "lower bound by half the smoothness": _points(
        inner(_slope(y), x - y) - L / 4 * norm_sq(x - y), Value(F, x) - Value(F, y), (a.smooth,)
    ),
    "gradients do not grow": _descent(norm_sq(_slope(w)), norm_sq(_slope(v)), CONVEX, [eta <= 3 / L]),
    "distances do not grow": _descent(norm_sq(w - best), norm_sq(v - best), CONVEX, [eta <= 3 / L]),
    "too large a step": _descent(norm_sq(w - best), (1 - eta * mu) * norm_sq(v - best), CURVED, [eta <= 3 / L]),
    "too fast a contraction": _descent(
        norm_sq(w - best), (1 - 3 * eta * mu) * norm_sq(v - best), CURVED, [eta <= 1 / L]
    ),
    "too little noise": _step((1 - mu * eta) * NOW + NOISE / M + 2 * DRIFT, 1 / (4 * L)),
    "no drift": _step((1 - mu * eta) * NOW + NOISE, 1 / (4 * L)),
}


@pytest.mark.parametrize("name", TRUE)
def test_classics_are_proved(name: str) -> None:
    """The kernel accepts the found document, without additional assumptions."""
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert not found.supposed
    assert check_certificate(TRUE[name], found.proof.document).verdict == "proved"


@pytest.mark.parametrize("name", FALSE)
def test_near_misses_are_not_proved(name: str) -> None:
    """Wrong constants, missing terms, too large steps and too few assumptions are not proved."""
    assert isinstance(find_proof(FALSE[name]), NotFound)


def test_convexity_is_supposed_and_said() -> None:
    """Co-coercivity with the constant of F alone is proved by supposing convexity, which is reported."""
    where = {**{symbol: quantity for symbol, quantity in POINTS.items() if symbol != L}, L: q.objective_smoothness}
    lhs, rhs = norm_sq(_slope(x) - _slope(y)), L * inner(_slope(x) - _slope(y), x - y)
    found = find_proof(_points(lhs, rhs, (), where))
    assert isinstance(found, Found)
    assert list(found.supposed) == [a.convex_and_smooth]


def test_without_the_solver_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of squares need no solver; otherwise the message says what to install."""

    def missing() -> Any:
        raise InputError("search", "needs Clarabel for steps and points: pip install 'fedtheory[search]'")

    monkeypatch.setattr(conic, "load_solver", missing)
    assert isinstance(find_proof(TRUE["Young"]), Found)
    found = find_proof(TRUE["co-coercivity"])
    assert isinstance(found, NotFound)
    assert "fedtheory[search]" in found.reason


def test_only_quantities_that_a_proof_needs_are_named() -> None:
    """Squares need no objective, and an objective in the claim is not named again."""
    young, values = (find_proof(TRUE[name]) for name in ("Young", "gradients bound values"))
    assert isinstance(young, Found)
    assert isinstance(values, Found)
    assert young.proof.document is not None
    assert values.proof.document is not None
    assert "quantities" not in young.proof.document
    assert "quantities" not in values.proof.document
