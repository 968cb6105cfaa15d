"""Bounds for clients with equal models at every local step, as in textbooks on gradient descent and SGD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp
from chain_claims import NOISY, ROUNDS, STRONGLY, D, Delta, K, L, M, T, bound, ell, eta, mu, s_opt, sigma, tau

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.together import is_together

DISTANCE, MEAN, LAST = q.final_distance_sq, q.average_suboptimality, q.final_suboptimality
GRADIENT = q.average_local_gradient_sq
ONE_STEP, SMALL = sp.Eq(tau, 1, evaluate=False), eta <= 1 / L
L_ONE = sp.Eq(eta * L, 1, evaluate=False)
CONVEX = (a.convex_and_smooth,)
QUIET, ALONE, NOISY_ALONE = (
    (*ROUNDS, a.full_gradients),
    (*ROUNDS, a.full_gradients, a.one_client),
    (*NOISY, a.one_client),
)
FALLS = 1 - eta * mu


def _bounds(listed: Sequence[tuple[str, Any, Any, Sequence[Any], Sequence[Any]]]) -> list[Any]:
    return [
        pytest.param(bound(left, right, assumptions, conditions), id=name)
        for name, left, right, conditions, assumptions in listed
    ]


TRUE = _bounds(
    [
        ("distance", DISTANCE, FALLS**K * D**2, [SMALL], (*ALONE, *STRONGLY)),
        ("distance, tau T steps", DISTANCE, FALLS ** (tau * T) * D**2, [SMALL], (*ALONE, *STRONGLY)),
        ("distance, many clients", DISTANCE, FALLS**T * D**2, [SMALL, ONE_STEP], (*QUIET, *STRONGLY)),
        (
            "distance, steps up to 2/(mu + L)",
            DISTANCE,
            (1 - 2 * eta * mu * L / (mu + L)) ** K * D**2,
            [eta <= 2 / (mu + L)],
            (*ALONE, *STRONGLY),
        ),
        ("distance, squared", DISTANCE, FALLS ** (2 * T) * D**2, [SMALL, ONE_STEP], (*QUIET, *STRONGLY)),
        (
            "SGD, distance, sharp",
            DISTANCE,
            FALLS ** (2 * K) * D**2 + eta**2 * sigma**2 / (1 - FALLS**2),
            [SMALL],
            (*NOISY_ALONE, *STRONGLY),
        ),
        ("distance, no curvature", DISTANCE, D**2, [SMALL], (*ALONE, *CONVEX)),
        (
            "SGD, distance",
            DISTANCE,
            FALLS**K * D**2 + eta * sigma**2 / (mu * M),
            [SMALL, ONE_STEP],
            (*NOISY, *STRONGLY),
        ),
        (
            "SGD, distance, loose",
            DISTANCE,
            (1 - eta * mu / 2) ** K * D**2 + 2 * eta * sigma**2 / mu,
            [SMALL],
            (*NOISY_ALONE, *STRONGLY),
        ),
        ("last error, step 1/L", LAST, (1 - mu / L) ** T * Delta, [L_ONE, ONE_STEP], (*QUIET, *STRONGLY)),
        (
            "distance, best step",
            DISTANCE,
            ((L - mu) / (L + mu)) ** (2 * T) * D**2,
            [sp.Eq(eta, 2 / (mu + L), evaluate=False), ONE_STEP],
            (*QUIET, *STRONGLY),
        ),
        (
            "SGD, distance, at most one step",
            DISTANCE,
            FALLS**T * D**2 + 2 * eta * sigma**2 / (mu * M),
            [2 * eta * L <= 1, tau <= 1],
            (*NOISY, *STRONGLY),
        ),
        (
            "SGD, distance, no curvature",
            DISTANCE,
            D**2 + T * eta**2 * sigma**2,
            [eta <= 2 / L, ONE_STEP],
            (*NOISY, *CONVEX),
        ),
        ("SGD, mean error", MEAN, D**2 / (2 * eta * K) + eta * sigma**2, [SMALL], (*NOISY_ALONE, *CONVEX)),
        ("gradients", GRADIENT, Delta / (eta * (1 - L * eta / 2) * K), [eta < 2 / L], (*ALONE, a.smooth)),
        ("last error", LAST, D**2 / (2 * eta * K), [SMALL], (*ALONE, *CONVEX)),
        ("last error, many clients", LAST, D**2 / (2 * eta * T), [SMALL, ONE_STEP], (*QUIET, *CONVEX)),
        ("last error, loose", LAST, D**2 / (eta * K), [eta <= 1 / (2 * L)], (*ALONE, *CONVEX)),
        ("last error, curved", LAST, FALLS**K * Delta, [SMALL], (*ALONE, *STRONGLY)),
        (
            "SGD, last error, curved",
            LAST,
            FALLS**K * Delta + L * eta * sigma**2 / (2 * mu),
            [SMALL],
            (*NOISY_ALONE, *STRONGLY),
        ),
    ]
)
SLOW = _bounds(
    [
        (
            "SGD, noise at the optimum",
            DISTANCE,
            FALLS**K * D**2 + 2 * eta * s_opt**2 / mu,
            [eta <= 1 / (2 * (L + ell))],
            (*ROUNDS, *STRONGLY, a.smooth_noise, a.one_client),
        )
    ]
)
FALSE = _bounds(
    [
        (
            "a quarter of the noise",
            DISTANCE,
            FALLS**K * D**2 + eta * sigma**2 / (4 * mu),
            [SMALL],
            (*NOISY_ALONE, *STRONGLY),
        ),
        ("half the start", LAST, D**2 / (4 * eta * K), [SMALL], (*ALONE, *CONVEX)),
        ("too large steps", LAST, D**2 / (2 * eta * K), [eta < 2 / L], (*ALONE, *CONVEX)),
        ("clients that drift", DISTANCE, FALLS**K * D**2, [SMALL], (*QUIET, *STRONGLY)),
        ("two local steps", DISTANCE, FALLS**K * D**2, [SMALL, tau <= 2], (*QUIET, *STRONGLY)),
        ("last error of clients that drift", LAST, D**2 / (2 * eta * K), [SMALL], (*QUIET, *CONVEX)),
        (
            "half the noise of gradients",
            GRADIENT,
            2 * Delta / (eta * K) + L * eta * sigma**2 / (2 * M),
            [SMALL, ONE_STEP],
            (*NOISY, a.smooth),
        ),
        (
            "the mean error of SGD as the last one",
            LAST,
            D**2 / (2 * eta * K) + eta * sigma**2 / 2,
            [SMALL],
            (*NOISY_ALONE, *CONVEX),
        ),
        ("too fast at step 1/L", LAST, (1 - mu / L) ** (3 * T) * Delta, [L_ONE, ONE_STEP], (*QUIET, *STRONGLY)),
        (
            "too fast at the best step",
            DISTANCE,
            ((L - mu) / (L + mu)) ** (3 * T) * D**2,
            [sp.Eq(eta, 2 / (mu + L), evaluate=False), ONE_STEP],
            (*QUIET, *STRONGLY),
        ),
        (
            "at most one step, too little noise",
            DISTANCE,
            FALLS**T * D**2 + eta * sigma**2 / (5 * mu * M),
            [2 * eta * L <= 1, tau <= 1],
            (*NOISY, *STRONGLY),
        ),
        ("a cube", DISTANCE, FALLS ** (3 * K) * D**2, [SMALL], (*ALONE, *STRONGLY)),
        (
            "twice the steps, half the noise",
            DISTANCE,
            FALLS ** (2 * tau * T) * D**2 + eta * sigma**2 / (4 * mu),
            [SMALL],
            (*NOISY_ALONE, *STRONGLY),
        ),
    ]
)


@pytest.mark.parametrize(
    "claim", [*TRUE, *(pytest.param(*one.values, id=one.id, marks=pytest.mark.long) for one in SLOW)]
)
def test_textbook_bounds_are_proved_from_their_statements(claim: Claim) -> None:
    """Textbook bounds are proved by a self-contained document without additional assumptions."""
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert not found.supposed
    assert found.proof.document is not None
    assert check_certificate(claim, found.proof.document).verdict == "proved"


@pytest.mark.parametrize("claim", FALSE)
def test_false_bounds_are_not_proved(claim: Claim) -> None:
    assert isinstance(find_proof(claim), NotFound)


@pytest.mark.parametrize(
    ("left", "assumptions", "conditions", "stands"),
    [
        (LAST, ALONE, [], True),
        (LAST, QUIET, [ONE_STEP], True),
        (LAST, QUIET, [tau <= 1], True),
        (LAST, QUIET, [tau <= 2], False),
        (LAST, QUIET, [], False),
        (LAST, (a.one_client, a.same_local_work, a.full_participation), [], False),
        (q.max_drift, ALONE, [], False),
    ],
    ids=["alone", "one step", "at most one", "at most two", "many", "another server step", "drift"],
)
def test_clients_are_together_where_a_claim_says_so(
    left: Any, assumptions: Sequence[Any], conditions: Sequence[Any], stands: bool
) -> None:
    """Clients have equal models for one client or one local step, in rounds that end at their average."""
    assert is_together(bound(left, D**2 * K, (*assumptions, *CONVEX), conditions)) is stands
