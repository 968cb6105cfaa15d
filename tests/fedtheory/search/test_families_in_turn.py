"""Families of proofs in turn, claims that contract, and conditions on bases of powers, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from chain_claims import NOISY, ROUNDS, STRONGLY, D, K, L, T, bound, eta, mu, sigma, tau

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search import proof_search
from fedtheory.search.contractions import is_contracting
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.together import _require_base

FOUND = Found(SimpleNamespace(), ["known"], (), 1)  # type: ignore[arg-type]
NOTHING, NO_CHAIN, NO_SUM = NotFound("nothing", nearest="near"), NotFound("no chain"), NotFound("no sum")


@pytest.mark.parametrize(
    ("known", "chain", "vectors", "result", "tried"),
    [
        (FOUND, FOUND, FOUND, FOUND, []),
        (NOTHING, FOUND, FOUND, FOUND, ["chain"]),
        (NOTHING, NO_CHAIN, FOUND, FOUND, ["chain", "vectors"]),
        (NOTHING, NO_CHAIN, NO_SUM, NOTHING, ["chain", "vectors"]),
        (NOTHING, NO_CHAIN, Rejected("no vectors"), NOTHING, ["chain", "vectors"]),
        (NOTHING, NO_CHAIN, InputError("a", "b"), NOTHING, ["chain", "vectors"]),
    ],
)
def test_families_of_bounds_on_runs(
    *, known: Any, chain: Any, vectors: Any, result: Any, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first proof ends the search; without one the closest bound of the first family is reported."""
    asked: list[str] = []

    def answer(name: str, found: Any) -> Any:
        def search(_claim: Any) -> Any:
            asked.append(name)
            if isinstance(found, Exception):
                raise found
            return found

        return search

    monkeypatch.setattr(proof_search, "search_known", lambda _: known)
    monkeypatch.setattr(proof_search, "search_lyapunov", lambda _: NotFound("no algorithm"))
    monkeypatch.setattr(proof_search, "search_chains", answer("chain", chain))
    monkeypatch.setattr(proof_search, "search_reduced", lambda *_: NotFound("no other quantity"))
    monkeypatch.setattr(proof_search, "list_linked", lambda _: iter(()))
    monkeypatch.setattr(proof_search, "search_smaller_powers", lambda *_: NotFound("no other powers"))
    monkeypatch.setattr(proof_search, "search_with_conditions", lambda *_: NotFound("no lemmas"))
    monkeypatch.setattr(proof_search, "search_terms", answer("vectors", vectors))
    assert proof_search._search_run(None) is result  # type: ignore[arg-type]
    assert asked == tried


def test_other_places_have_no_family() -> None:
    claim: Any = SimpleNamespace(place="past")
    assert proof_search.find_proof(claim).reason == "no family of proofs is searched for statements about a past"  # type: ignore[union-attr]


RIGHT = (1 - eta * mu) ** K * D**2 + L * eta**2 / mu
KNOWN = (*ROUNDS, *STRONGLY, a.full_gradients)


@pytest.mark.parametrize(
    ("left", "right", "assumptions", "stands"),
    [
        (q.final_distance_sq, RIGHT, KNOWN, True),
        (q.final_distance_sq, RIGHT.subs(K, tau * T), KNOWN, True),
        (q.final_distance_sq, RIGHT.subs(K, T), KNOWN, False),
        (q.final_distance_sq, RIGHT.subs(K, 3), KNOWN, False),
        (q.final_suboptimality, RIGHT, KNOWN, False),
        (q.final_distance_sq, RIGHT.subs(L, 1), KNOWN, False),
        (q.final_distance_sq, RIGHT.subs(D, 1), KNOWN, False),
        (q.final_distance_sq, (1 - eta * L) ** K * D**2, KNOWN, False),
        (q.final_distance_sq, RIGHT, (*NOISY, *STRONGLY), False),
        (q.final_distance_sq, RIGHT + sigma**2, (*NOISY, *STRONGLY), True),
        *(
            (q.final_distance_sq, RIGHT, tuple(one for one in KNOWN if one is not missing), False)
            for missing in (*ROUNDS, a.strongly_convex_clients)
        ),
    ],
)
def test_claims_that_contract(left: Any, right: Any, assumptions: Any, *, stands: bool) -> None:
    """With all numbers of such a bound, a count of steps, and the same work of all clients."""
    assert is_contracting(bound(left, right, assumptions, [])) is stands


@pytest.mark.parametrize(
    ("factor", "condition"),
    [
        (1 - eta * mu, sp.Le(eta, 1 / mu)),
        ((1 - eta * mu) ** 2, sp.Le(eta, 1 / mu)),
        (1 - eta * mu / 2, sp.Le(eta, 2 / mu)),
        (1 - eta**2 * mu, sp.Ge(1 - eta**2 * mu, 0, evaluate=False)),
        (sp.Rational(1, 2), sp.Ge(sp.Rational(1, 2), 0, evaluate=False)),
        (sp.S.One, sp.Ge(sp.S.One, 0, evaluate=False)),
    ],
)
def test_bases_of_powers_are_not_negative(factor: Any, condition: Any) -> None:
    """A bound on the step size where the base is linear in it."""
    claim = use_plain_symbols(bound(q.final_distance_sq, RIGHT, KNOWN, []))
    names = {symbol: own for symbol, quantity in claim.where.items() for own, of in bound_symbols() if of is quantity}
    back = {own: symbol for symbol, own in names.items()}
    found = _require_base(claim, sp.sympify(factor).xreplace(back))
    if factor == sp.Rational(1, 2):
        # The rate 1/(2 eta) has the step size in it.
        assert found == condition
        return
    assert found.xreplace(names) == condition


def bound_symbols() -> list[tuple[sp.Symbol, Any]]:
    """List the symbols of the bounds in these tests with their quantities."""
    return [(eta, q.local_step_size), (mu, q.strong_convexity)]
