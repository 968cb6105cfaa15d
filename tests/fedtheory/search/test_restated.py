"""Known claims in other symbols: their certificates are accepted, those of other claims are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import all_claims
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof

SCAFFNEW = "landmarks:scaffnew.contraction"
"""A claim with a maximum in it, which is proved case by case."""


def _restate(claim_id: str, factor: sp.Expr = sp.S.One, halved: bool = False) -> Claim:
    """Return a claim in other symbols, with its larger side scaled, possibly for half of the step sizes."""
    claim = all_claims()[claim_id]
    symbols = {old: sp.Symbol(f"a_{place}", real=True) for place, old in enumerate(claim.notation)}
    left, right = (side.xreplace(symbols) for side in claim.relations[0].sides)
    conditions = [one.func(one.lhs, one.rhs / (2 if halved else 1), evaluate=False) for one in claim.conditions]
    return replace(
        claim,
        id="mine:restated",
        lhs=None,
        rhs=None,
        also=(Relation(left, "<=", factor * right),),
        where={symbols[old]: quantity for old, quantity in claim.notation.items()},
        conditions=[one.xreplace(symbols) for one in conditions],
        is_published=False,
        verdict=None,
    )


@pytest.mark.parametrize("halved", [False, True], ids=["as it is", "half of the step size"])
def test_a_claim_with_a_maximum(halved: bool) -> None:
    """The document concerns the user's claim, and the kernel accepts it."""
    claim = _restate(SCAFFNEW, halved=halved)
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert found.uses == [SCAFFNEW]
    assert found.proof.document is not None
    assert check_certificate(claim, found.proof.document).verdict == "proved"


@pytest.mark.long
@pytest.mark.parametrize("claim_id", [SCAFFNEW, "lecture27:thm-2"])
def test_a_smaller_bound_is_not_proved(claim_id: str) -> None:
    """The certificate of a claim does not prove a smaller bound."""
    assert isinstance(find_proof(_restate(claim_id, sp.Rational(9, 10))), NotFound)


@pytest.mark.long
def test_a_weaker_condition_is_not_enough() -> None:
    """Without its condition on the step size the claim has no certificate."""
    assert isinstance(find_proof(replace(_restate(SCAFFNEW), conditions=())), NotFound)


@pytest.mark.long
def test_fewer_assumptions_are_not_enough() -> None:
    """Without the bound on the variance, which is never supposed, the claim has no certificate."""
    claim = _restate(SCAFFNEW)
    fewer = tuple(one for one in claim.assumptions if one is not a.unbiased_bounded_variance)
    assert len(fewer) < len(claim.assumptions)
    assert isinstance(find_proof(replace(claim, assumptions=fewer)), NotFound)
