"""Bounds with one wrong factor, which only extreme runs violate, are refuted within ten seconds of work."""

from __future__ import annotations

import pytest
import sympy as sp
from claim_symbols import D, L, M, T, eta, sigma, tau, zeta
from misremembered import ALIKE, CONVEX, LOCAL, NOISY, QUARTER, SYMBOLS, SYNCHRONOUS, WHOLE, gap, grad_opt, mu, p, prox

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from verify.falsify import falsify

pytestmark = pytest.mark.long

SHORT = eta <= 1 / (4 * L * tau)
FALSE = [
    Claim(
        id="factors:drift-falls-with-clients",
        lhs=q.max_drift,
        rhs=4 * tau * eta**2 * sigma**2 + 18 * tau**2 * eta**2 * zeta**2 / M,
        where=SYMBOLS,
        conditions=[QUARTER],
        assumptions=(*LOCAL, *CONVEX, *NOISY, *ALIKE),
    ),
    Claim(
        id="factors:dissimilarity-falls-with-clients",
        lhs=q.average_gradient_sq,
        rhs=2 * gap / (eta * tau * T) + 8 * L**2 * tau**2 * eta**2 * zeta**2 / M,
        where=SYMBOLS,
        conditions=[SHORT],
        assumptions=(*LOCAL, a.smooth, a.full_gradients, *ALIKE),
    ),
    Claim(
        id="factors:cubed-proximal-weight",
        lhs=q.max_drift,
        rhs=18 * tau**2 * eta**2 * zeta**2 / (1 + eta * tau * prox) ** 3,
        where=SYMBOLS,
        conditions=[eta <= 1 / (4 * (L + prox))],
        assumptions=(a.fedprox, *CONVEX, a.full_gradients, *ALIKE, a.uniform_shares, *SYNCHRONOUS),
    ),
    Claim(
        id="factors:probability-not-squared",
        lhs=q.final_distance_sq,
        rhs=sp.Max(sp.Abs(1 - eta * mu), 1 - p) ** T * (D**2 + eta**2 / p**2 * grad_opt**2),
        where=SYMBOLS,
        conditions=[WHOLE],
        assumptions=(a.scaffnew, *CONVEX, a.strongly_convex_clients, a.full_gradients, a.same_step_size),
    ),
]


@pytest.mark.parametrize("claim", FALSE, ids=lambda claim: claim.id.partition(":")[2])
def test_a_wrong_factor_is_refuted(claim: Claim) -> None:
    found = falsify(claim, 10)
    assert found.verdict == "refuted"
    assert found.is_exact


def test_a_true_bound_with_these_factors_stands() -> None:
    """The squared probability, and the dissimilarity without a decrease in clients, are the true ones."""
    squared = sp.Max(sp.Abs(1 - eta * mu), 1 - p**2) ** T * (D**2 + eta**2 / p**2 * grad_opt**2)
    probable = Claim(
        id="factors:true",
        lhs=q.final_distance_sq,
        rhs=squared,
        where=SYMBOLS,
        conditions=[WHOLE],
        assumptions=FALSE[3].assumptions,
    )
    assert falsify(probable, 2).verdict == "not refuted"
