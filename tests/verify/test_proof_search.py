"""A check of a claim of one's own ends with a search for a proof: proved as it stands, or not at all."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve
from verify.proof_search import is_provable
from verify.verdict import verify

eta, tau, zeta, sigma, L = sp.symbols("eta tau zeta sigma L", positive=True)
WHERE = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation}
SETTING = (a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step)


def _drift(assumptions: tuple[a.Assumption, ...]) -> Claim:
    return Claim(
        id="mine:drift",
        lhs=q.max_drift,
        rhs=20 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2,
        where={**WHERE, L: q.smoothness},
        conditions=[eta <= 1 / (4 * L)],
        assumptions=assumptions,
    )


def test_nothing_is_supposed() -> None:
    """A claim that is proved under convexity is not proved where it does not assume it."""
    assert is_provable(resolve(_drift((*SETTING, a.convex_and_smooth))))
    assert not is_provable(resolve(_drift(SETTING)))


@pytest.mark.long
def test_the_verdict_is_proved() -> None:
    """Of a claim that follows from published ones, after instances and a search without a violation."""
    (verdict,) = verify([_drift((*SETTING, a.convex_and_smooth))], jobs=1, search=1)
    assert verdict.verdict == "proved"
