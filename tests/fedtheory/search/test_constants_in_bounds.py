"""Bounds in other constants than the known ones: at the optimum, at the start, and for gradients without noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp
from chain_claims import (
    CONVEX,
    ERROR,
    GRADIENT,
    NOISY,
    ROUNDS,
    SMOOTH,
    D,
    Delta,
    K,
    L,
    M,
    T,
    bound,
    eta,
    mu,
    p_max,
    rho,
    s_opt,
    sigma,
    tau,
    z_mean,
    z_opt,
    zeta,
)

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof

QUIET = (*ROUNDS, *CONVEX, a.full_gradients)
SAMPLED = (a.same_local_work, a.unit_server_step, a.averaged_participants, *CONVEX, a.full_gradients)
ALONE = (*QUIET, a.one_client)
CURVED = (a.convex_and_smooth, a.strongly_convex_clients)
BOUNDED, VARIANCE = (a.bounded_dissimilarity,), (a.unbiased_bounded_variance,)
SMALL, MEDIUM = [4 * eta * tau * L <= 1], [20 * L * eta * tau * (L * eta * tau + rho) <= 1, 4 * L * eta <= 1]
START, FALLS = D**2 / (eta * tau * T), 1 - eta * mu
ABOVE, D_y, z_y = sp.symbols("F_y D_y z_y", nonnegative=True)
POINT = {ABOVE: q.comparator_suboptimality, D_y: q.comparator_distance, z_y: q.comparator_dissimilarity}


def _compare(factor: Any) -> Claim:
    where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, L: q.smoothness, **POINT}
    right = factor * ABOVE + 2 * D_y**2 / (eta * tau * T) + L * eta**2 * (tau**2 - 1) * z_y**2
    stated = {"lhs": ERROR, "rhs": right, "where": where, "conditions": SMALL, "assumptions": QUIET}
    return resolve(Claim(id="mine:comparator", **stated))


def _bounds(listed: Sequence[tuple[str, Any, Any, Sequence[Any], Sequence[Any]]]) -> dict[str, Claim]:
    return {name: bound(left, right, assumed, conditions) for name, left, right, assumed, conditions in listed}


TRUE = {
    "comparator": _compare(1),
    **_bounds(
        [
            ("at the optimum", ERROR, 2 * START + 4 * L * eta**2 * (tau**2 - 1) * z_opt**2, QUIET, SMALL),
            ("sampled", ERROR, START + 8 * eta * tau * (L * eta * tau + rho) * z_opt**2, SAMPLED, MEDIUM),
            (
                "on average",
                ERROR,
                START + 8 * L * eta**2 * tau**2 * z_mean**2,
                (*QUIET, a.bounded_mean_dissimilarity),
                SMALL,
            ),
            ("first gap", q.initial_gap, L * D**2, SMOOTH, []),
            ("first distance", mu * D**2 / 2, Delta, CURVED, []),
            ("noise", q.noise_at_optimum, 2 * sigma, VARIANCE, []),
            ("square", z_opt**2, 2 * zeta**2, BOUNDED, []),
            ("dissimilarity", q.mean_dissimilarity, zeta, BOUNDED, []),
            (
                "gradients from a distance",
                GRADIENT,
                2 * L * D**2 / (eta * tau * T)
                + 2 * L * eta * sigma**2 / M
                + 8 * L**2 * eta**2 * tau * (tau * zeta**2 + sigma**2),
                (*NOISY, *SMOOTH, *BOUNDED),
                [8 * eta * tau * L <= 1],
            ),
            (
                "last error from a distance",
                q.final_suboptimality,
                L * FALLS**K * D**2 / 2,
                (*ALONE, *CURVED),
                [eta <= 1 / L],
            ),
        ]
    ),
}
FALSE = {
    "comparator": _compare(sp.Rational(1, 2)),
    **_bounds(
        [
            ("at the optimum", ERROR, 2 * START + L * eta**2 * (tau - 1) * z_opt**2 / 20, QUIET, SMALL),
            ("sampled", ERROR, START + L * eta**2 * tau**2 * z_opt**2 / 5, SAMPLED, MEDIUM),
            (
                "sampled, with noise",
                ERROR,
                START + 8 * eta * tau * (L * eta * tau + rho) * z_opt**2,
                SAMPLED[:-1],
                MEDIUM,
            ),
            ("first gap", q.initial_gap, L * D**2 / 4, SMOOTH, []),
            ("first distance", mu * D**2, Delta, CURVED, []),
            ("noise", q.noise_at_optimum, sigma / 2, VARIANCE, []),
            ("square", z_opt**2, zeta**2 / 2, BOUNDED, []),
            (
                "last error from a distance",
                q.final_suboptimality,
                L * FALLS**K * D**2 / 8,
                (*ALONE, *CURVED),
                [eta <= 1 / L],
            ),
        ]
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_bounds_in_other_constants_are_proved(name: str) -> None:
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert not found.supposed
    assert check_certificate(TRUE[name], found.proof.document).verdict == "proved"


@pytest.mark.parametrize("name", FALSE)
def test_too_small_ones_are_not(name: str) -> None:
    assert isinstance(find_proof(FALSE[name]), NotFound)


def test_one_list_of_symbols_may_serve_all_claims_of_a_file() -> None:
    """A side that is a quantity needs no symbol, and an unused symbol for it does no harm."""
    where = {
        z_opt: q.dissimilarity_at_optimum,
        zeta: q.gradient_dissimilarity,
        s_opt: q.noise_at_optimum,
        p_max: q.largest_importance,
    }
    claim = resolve(Claim(id="mine:one", lhs=q.dissimilarity_at_optimum, rhs=zeta, where=where, assumptions=BOUNDED))
    assert z_opt not in claim.where
    assert isinstance(find_proof(claim), Found)
