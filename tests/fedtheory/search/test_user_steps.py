"""User-defined steps and runs: not all required quantities are named; near misses are not proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.search import Found, find_proof

own, mean, own_next, mean_next, F, F_i, v, best = sp.symbols("w_j wbar w_j' wbar' f f_j v opt", real=True)
gamma, beta, s, h, G, H, R, N, lam, D = sp.symbols("gamma beta s h G H R N lambda D", positive=True)
WHERE: dict[Any, Any] = {
    **{own: q.local_iterate, mean: q.average_iterate, own_next: q.next_local_iterate, F: q.objective},
    **{mean_next: q.next_average_iterate, F_i: q.client_objective, v: q.centralised_model, best: q.optimum},
    **{gamma: q.local_step_size, beta: q.smoothness, s: q.noise_deviation, h: q.gradient_dissimilarity},
    **{G: q.second_moment, H: q.local_steps, R: q.rounds, N: q.clients, lam: q.strong_convexity},
    D: q.initial_distance,
}
ROUNDS = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)
DRIFT, NEXT = (Expectation(Average(norm_sq(one - other))) for one, other in ((own, mean), (own_next, mean_next)))
SPREAD = (a.smooth, a.bounded_dissimilarity)
MOMENT = (a.smooth, a.bounded_second_moment)
STRONGLY = (a.convex_and_smooth, a.strongly_convex_clients, a.bounded_dissimilarity)


def _claim(lhs: Any, rhs: Any, assumptions: Sequence[Any], conditions: Sequence[Any] = (), **stated: Any) -> Claim:
    used = sp.sympify(rhs).free_symbols.union(*(each.free_symbols for each in conditions))
    used |= lhs.free_symbols if isinstance(lhs, sp.Basic) else set()
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    kept = {"lhs": lhs, "rhs": rhs, "assumptions": assumptions, "conditions": conditions, "where": where}
    return resolve(Claim(id="mine:step", **{"place": "step", **kept, **stated}))


def _last(drift: Any) -> Claim:
    rest = 8 * gamma * s**2 / (lam * N) + drift * beta * gamma**2 * H**2 * (h**2 + s**2) / lam
    bound = (1 - lam * gamma / 2) ** (R * H) * D**2 + rest
    return _claim(q.final_distance_sq, bound, (*ROUNDS, *STRONGLY), [gamma <= 1 / (8 * beta)], place="run")


def _gap(factor: Any) -> Claim:
    bound = factor * beta * (Value(F, v) - Value(F, best))
    return _claim(norm_sq(Gradient(F, v)), bound, (a.smooth,), place="path")


def _gradients(rest: Any) -> Claim:
    bound = Expectation(norm_sq(Gradient(F, mean))) + rest
    return _claim(Expectation(Average(norm_sq(Gradient(F_i, mean)))), bound, (*ROUNDS, *SPREAD))


LAST = "last model of all local steps"
TRUE = {
    "drift with second moments": _claim(
        NEXT, 2 * DRIFT + 2 * gamma**2 * G**2 + 2 * gamma**2 * s**2, (*ROUNDS, *MOMENT)
    ),
    "gradients of clients": _gradients(h**2),
    "gradient below the gap": _gap(2),
    LAST: _last(80),
}
FALSE = {
    "drift with second moments": _claim(NEXT, DRIFT + gamma**2 * G**2 / 4, (*ROUNDS, *MOMENT)),
    "gradients of clients": _gradients(h**2 / 2),
    "gradient below the gap": _gap(1),
    LAST: _last(0),
}


@pytest.mark.parametrize("name", [*(name for name in TRUE if name != LAST), pytest.param(LAST, marks=pytest.mark.long)])
def test_true_ones_are_proved(name: str) -> None:
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert found.proof.verdict == "proved"
    assert not found.supposed


@pytest.mark.parametrize("name", FALSE)
def test_near_misses_are_not(name: str) -> None:
    assert not isinstance(find_proof(FALSE[name]), Found)


@pytest.mark.parametrize("name", ["vlaski2023:eq-5.42", "fraboni2022:eq-104"])
def test_rounds_and_quantities_in_vectors_are_searched(name: str) -> None:
    """A statement about a round, and one about a run with quantities in vectors, are proved."""
    assert isinstance(find_proof(find(name)), Found)
