"""Bounds from a known bound with a maximum: larger ones, and those in which one argument is known to be the largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.remainders import make_goal
from fedtheory.search.restated import restate_cases
from fedtheory.search.workspace import Workspace

eta, p, mu, L, sigma, D, G, T = sp.symbols("gamma p lambda beta s r G R", positive=True)
WHERE = {
    **{eta: q.local_step_size, p: q.communication_probability, mu: q.strong_convexity, L: q.smoothness},
    **{sigma: q.noise_deviation, D: q.initial_distance, G: q.optimum_gradient, T: q.rounds},
}
SETTING = (a.scaffnew, a.convex_and_smooth, a.strongly_convex_clients, a.same_step_size)
NOISY, QUIET = (*SETTING, a.unbiased_bounded_variance), (*SETTING, a.full_gradients)
STEP, COIN = 1 - eta * mu, 1 - p**2
LARGEST, START = sp.Max(STEP, COIN), D**2 + eta**2 * G**2 / p**2
SMALL, RARE = [eta <= 1 / L, eta * mu <= p**2], [eta * L <= 1, p**2 <= eta * mu]


def _claim(right: Any, assumptions: Sequence[a.Assumption], conditions: Sequence[Any]) -> Claim:
    used = right.free_symbols.union(*(one.free_symbols for one in conditions))
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    stated = {"where": where, "assumptions": assumptions, "conditions": conditions}
    return resolve(Claim(id="mine:scaffnew", lhs=q.final_distance_sq, rhs=right, **stated))


TRUE = {
    "steps": _claim(STEP**T * START + eta * sigma**2 / mu, NOISY, SMALL),
    "coins": _claim(COIN**T * START + eta**2 * sigma**2 / p**2, NOISY, RARE),
    "larger": _claim(
        LARGEST**T * (START + D**2) + 2 * eta**2 * sigma**2 / (1 - LARGEST), NOISY, [4 * eta * L <= 1, p < 1]
    ),
    "exponential": _claim(sp.exp(-eta * mu * T) * START + eta * sigma**2 / mu, NOISY, SMALL),
    "full gradients": _claim(LARGEST**T * START, QUIET, [eta * L <= 1]),
    "full gradients, steps": _claim(2 * STEP**T * START, QUIET, SMALL),
}
FALSE = {
    "steps with rare coins": _claim(STEP**T * START + eta * sigma**2 / mu, NOISY, RARE),
    "coins": _claim(COIN**T * START + eta**2 * sigma**2 / 3, NOISY, RARE),
    "larger": _claim(LARGEST ** (2 * T) * START + eta**2 * sigma**2 / (1 - LARGEST), NOISY, [4 * eta * L <= 1, p < 1]),
    "exponential": _claim(sp.exp(-2 * eta * mu * T) * START + eta * sigma**2 / mu, NOISY, SMALL),
    "noise": _claim(LARGEST**T * START, NOISY, [eta * L <= 1]),
    "half of the start": _claim(LARGEST**T * START / 2, QUIET, [eta * L <= 1]),
}


@pytest.mark.parametrize("name", TRUE)
def test_bounds_with_one_argument_of_a_maximum_are_proved(name: str) -> None:
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert not found.supposed
    assert check_certificate(TRUE[name], found.proof.document).verdict == "proved"


@pytest.mark.long
@pytest.mark.parametrize("name", FALSE)
def test_near_misses_are_not(name: str) -> None:
    assert isinstance(find_proof(FALSE[name]), NotFound)


@pytest.mark.parametrize(
    ("conditions", "count"), [(SMALL, 1), (RARE, 1), ([eta <= 1 / L], 0), ([*SMALL, *RARE], 2)], ids=str
)
def test_only_the_largest_argument_gives_a_lemma(conditions: Sequence[Any], count: int) -> None:
    """The kernel accepts the lemma of an argument where the conditions make it the largest."""
    claim = _claim(STEP**T * START + eta * sigma**2 / mu, NOISY, conditions)
    workspace = Workspace(make_goal(claim, []).claim)
    assert len(restate_cases(workspace, "landmarks:scaffnew.contraction")) == count
    assert not restate_cases(workspace, "landmarks:dsgd.consensus")
