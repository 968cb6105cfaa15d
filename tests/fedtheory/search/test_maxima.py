"""Bounds with a maximum are proved case by case, and smaller ones are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve
from fedtheory.proofs.cases import list_extremes
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.cases import search_cases

gamma, beta, s, h, N, H, R, D, B, gap = sp.symbols("gamma beta s h N H R D B Delta", positive=True)
WHERE: dict[Any, Any] = {
    **{gamma: q.local_step_size, beta: q.smoothness, s: q.noise_deviation, h: q.gradient_dissimilarity},
    **{N: q.clients, H: q.local_steps, R: q.rounds, D: q.initial_distance, B: q.second_moment, gap: q.initial_gap},
}
ROUNDS = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)
CONVEX, SMOOTH = (a.convex_and_smooth, a.bounded_dissimilarity), (a.smooth, a.bounded_second_moment)
DRIFT = 18 * beta * gamma**2 * H**2 * h**2


def _claim(lhs: Any, rhs: Any, assumptions: Sequence[Any], least: int = 4) -> Claim:
    conditions = [gamma <= 1 / (least * beta)]
    where = {one: of for one, of in WHERE.items() if one in rhs.free_symbols | {gamma, beta}}
    stated: dict[str, Any] = {"where": where, "conditions": conditions, "assumptions": (*ROUNDS, *assumptions)}
    return resolve(Claim(id="mine:maximum", place="run", lhs=lhs, rhs=rhs, **stated))


def _error(noise: Any) -> Claim:
    return _claim(q.average_suboptimality, 2 * D**2 / (gamma * H * R) + DRIFT + noise, CONVEX)


def _moments(larger: Any) -> Claim:
    rest = 4 * gap / (gamma * H * R) + 2 * beta * gamma * s**2 / N
    return _claim(q.average_local_gradient_sq, rest + 8 * (beta * gamma * H * larger) ** 2, SMOOTH, 2)


TRUE = {
    "one argument suffices": _error(sp.Max(gamma * s**2 / N, h**2 / (10**9 * beta)) + 4 * beta * gamma**2 * H * s**2),
    "both are needed": _error(2 * sp.Max(gamma * s**2 / N, 4 * beta * gamma**2 * H * s**2)),
    "inside a square": _moments(sp.Max(B, s)),
}
TOO_SMALL = _moments(sp.Max(B, s) / 100)


_SOME = [pytest.param(name, marks=[pytest.mark.long] * (name != "inside a square")) for name in TRUE]


@pytest.mark.parametrize("name", _SOME)
def test_a_bound_with_a_maximum_is_proved(name: str) -> None:
    """The certificate has a case for each argument that is needed, and the kernel accepts it."""
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert found.proof.certificate.kind == "cases"
    assert len(found.proof.certificate.cases) == (2 if name == "both are needed" else 1)


@pytest.mark.long
def test_a_smaller_bound_is_not_proved() -> None:
    """The reason names the case that is not proved."""
    found = find_proof(TOO_SMALL)
    assert isinstance(found, NotFound)
    assert "is the largest: " in found.reason


def test_cases_that_do_not_fit_together_are_no_proof() -> None:
    """Proofs of other claims in place of the cases are not accepted."""
    claim = TRUE["one argument suffices"]
    (maximum,) = list_extremes(claim)
    other = find_proof(replace(claim, rhs=claim.relations[0].right - maximum + gamma * s**2 / N + D**2))
    assert isinstance(other, Found)
    found = search_cases(claim, maximum, lambda _: other, lambda _: other)
    assert isinstance(found, NotFound)
    assert found.reason == "the proofs of its cases do not fit together"


def test_extremes_inside_others_come_first() -> None:
    """A maximum of a minimum has cases after those of the minimum."""
    inner, other = sp.Min(s, h), sp.Max(s, D)
    assert list_extremes(_error(sp.Max(D, inner) + other)) == sorted((inner, other), key=sp.default_sort_key)
    assert list_extremes(_error(s)) == []
