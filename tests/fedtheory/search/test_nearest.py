"""If no proof is found, the result names the nearest known bound and what it needs beyond the claim."""

from __future__ import annotations

import sympy as sp
from chain_claims import (
    CONVEX,
    ERROR,
    GRADIENT,
    NOISY,
    ROUNDS,
    SMOOTH,
    D,
    L,
    T,
    bound,
    ell,
    eta,
    mu,
    s_opt,
    sigma,
    tau,
    zeta,
)

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.search import NotFound
from fedtheory.search.known import search_known
from fedtheory.search.nearest import explain_assumptions, explain_misfit
from fedtheory.search.premises import find_known_claims, list_bounds_on_same

DRIFT = bound(
    q.max_drift, 8 * tau**2 * eta**2 * (zeta**2 + sigma**2), (*NOISY, *SMOOTH, a.bounded_dissimilarity), [eta <= 1 / L]
)
AT_OPTIMUM = (*ROUNDS, *CONVEX, a.smooth_noise)
ERRORS = bound(ERROR, D**2 / (eta * tau * T) + s_opt**2 * eta, AT_OPTIMUM, [20 * eta * (L + ell) <= 1])


def _explain(claim: Claim) -> NotFound:
    found = search_known(claim)
    assert isinstance(found, NotFound)
    return found


def test_missing_assumptions_are_named() -> None:
    """The largest drift is bounded for convex clients only, and the message says which assumption is missing."""
    found = _explain(DRIFT)
    assert found.nearest == "renard2022:lemma-2.3"
    assert found.reason.endswith("renard2022:lemma-2.3 also assumes convex and smooth")


def test_open_conditions_are_named_in_the_symbols_of_the_claim() -> None:
    found = _explain(ERRORS)
    assert found.nearest is not None
    assert f"{found.nearest} needs conditions that your own do not imply: " in found.reason
    assert "eta <= 1/L" in found.reason


def test_bounds_of_another_form_are_named() -> None:
    """A bound whose conditions follow has another form."""
    known = find_known_claims(bound(q.final_distance_sq, D**2, (a.scaffnew, *CONVEX), [eta <= 1 / L]))
    assert not known
    claim = bound(
        q.final_distance_sq,
        D**2 * mu + 0 * sigma,
        (a.scaffnew, a.convex_and_smooth, a.strongly_convex_clients, a.same_step_size, a.unbiased_bounded_variance),
        [eta <= 1 / L],
    )
    found = explain_misfit(claim, find_known_claims(claim))
    assert found.nearest == "landmarks:scaffnew.contraction"
    assert found.reason == "the proved claims about this quantity have another form"


def test_quantities_without_known_bounds_have_no_nearest_one() -> None:
    constant = bound(q.initial_gap, sp.S.Zero, (), [])
    assert explain_assumptions(constant).nearest is None


def test_bounds_under_any_assumptions_include_the_usable_ones() -> None:
    """Usable bounds come from the same list, in the same order."""
    claim = bound(GRADIENT, L * D**2, (*NOISY, *SMOOTH), [])
    every, usable = list_bounds_on_same(claim), find_known_claims(claim)
    assert [one for one in every if one in usable] == usable
    assert all(one.missing for one in every if one not in usable)
