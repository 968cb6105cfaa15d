"""Premises in other symbols, quantities named in a document, and constants of F that are limits."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.plain_symbols import match_symbols, rename_symbols, use_plain_symbols

DRIFT = "renard2022:lemma-2.3"
s, K, h, v, beta, M = sp.symbols("s K h v beta M", positive=True)
WHERE = {s: q.local_step_size, K: q.local_steps, h: q.gradient_dissimilarity, v: q.noise_deviation, beta: q.smoothness}
SETTING = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.convex_and_smooth)
BOUNDED = (a.unbiased_bounded_variance, a.bounded_dissimilarity)


def _drift(larger: Any, where: dict[Any, Any] = WHERE, assumptions: Any = (*SETTING, *BOUNDED)) -> Claim:
    return Claim(
        id="mine:drift",
        lhs=q.max_drift,
        rhs=larger,
        where=where,
        conditions=[s <= 1 / (4 * beta)],
        assumptions=assumptions,
    )


BOUND = 4 * s**2 * v**2 * K + 18 * s**2 * K**2 * h**2
PART = {"kind": "part", "coefficient": "1", "premise": {"claim": DRIFT}}


def _document(*parts: Any, **more: Any) -> dict[str, Any]:
    certificate = {"kind": "combination", "claim": "mine:drift", "links": [[PART, *parts]]}
    return {"format": "fedtheory certificate", "version": 1, "letters": {}, "certificate": certificate, **more}


def test_a_premise_in_other_symbols() -> None:
    """A lemma's bound proves a claim in other symbols, even if one of them occurs in the lemma."""
    assert check_certificate(_drift(BOUND), _document()).verdict == "proved"
    swap = {s: beta, beta: s}
    where = {swap.get(symbol, symbol): quantity for symbol, quantity in WHERE.items()}
    swapped = Claim(
        id="mine:drift",
        lhs=q.max_drift,
        rhs=BOUND.subs(swap, simultaneous=True),
        where=where,
        conditions=[beta <= 1 / (4 * s)],
        assumptions=(*SETTING, *BOUNDED),
    )
    assert check_certificate(swapped, _document()).verdict == "proved"


def test_the_same_symbols_for_other_quantities_prove_nothing() -> None:
    """An exchange of two quantities changes the bound, so that nothing is proved."""
    exchanged = {**WHERE, h: q.noise_deviation, v: q.gradient_dissimilarity}
    assert check_certificate(_drift(BOUND, exchanged), _document()).verdict == "broken"
    assert check_certificate(_drift(BOUND / 2), _document()).verdict == "broken"


def test_renaming_is_one_to_one() -> None:
    """Renaming is injective, and avoids symbols of the claim."""
    claim = use_plain_symbols(_drift(BOUND, {**WHERE, sp.Symbol("M", positive=True): q.rounds}))
    premise = use_plain_symbols(find("renard2022:lemma-2.3.sharp"))
    change = match_symbols(claim, premise)
    renamed = rename_symbols(premise, change)
    assert len(renamed.where) == len(premise.where)
    assert {quantity.name for quantity in renamed.where.values()} == {
        quantity.name for quantity in premise.where.values()
    }
    clients = next(symbol for symbol, quantity in renamed.where.items() if quantity is q.clients)
    assert clients.name == "M'"


@pytest.mark.parametrize(
    "quantities",
    [["no such quantity"], "clients", [1], ["clients"] * 51, [None], ["gradient_growth"]],
    ids=["unknown", "text", "1", "51", "0", "family"],
)
def test_wrong_lists_of_quantities(quantities: Any) -> None:
    """A document may name only quantities of the vocabulary, few of them, in a list."""
    proof = check_certificate(_drift(BOUND), _document(quantities=quantities))
    assert proof.verdict == "broken"
    assert "quantities" in proof.steps[0].text


def test_a_quantity_that_is_named_does_not_make_a_claim_true() -> None:
    """A named quantity has only its own sign and bounds."""
    more = {"kind": "part", "coefficient": "1 - clients", "premise": {"fact": "one"}}
    assert check_certificate(_drift(BOUND + 1 - M, {**WHERE, M: q.clients}), _document(more)).verdict == "broken"
    assert check_certificate(_drift(BOUND), _document(quantities=["clients"])).verdict == "proved"


def test_the_constant_of_f_is_a_limit_where_nothing_forbids_it() -> None:
    """A statement with a zero constant is the limit for small constants, unless a condition fails there."""
    x, L = sp.symbols("x L", positive=True)
    plain = {"id": "mine:flat", "place": "points", "lhs": 0, "assumptions": (a.convex_and_smooth,)}
    where = {x: q.point, L: q.objective_smoothness}
    free = use_plain_symbols(Claim(rhs=L, where=where, **plain))
    bound = use_plain_symbols(Claim(rhs=L, where=where, conditions=[sp.Le(L, 0, evaluate=False)], **plain))
    strict = use_plain_symbols(Claim(rhs=L, where=where, relation="<", **plain))
    (symbol,) = (symbol for symbol, quantity in free.where.items() if quantity is q.objective_smoothness)
    assert symbol not in numbers_of(free).maybe_zero
    assert symbol in numbers_of(bound).maybe_zero
    assert symbol in numbers_of(strict).maybe_zero
