"""Premises and links of documents of every JSON type, and claims that are no bounds on runs, are refused in words."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.document.records import Link, Premise
from fedtheory.search import known
from fedtheory.search.proof_outcome import NotFound

eta, L = sp.symbols("eta L", positive=True)
BELOW = Relation(eta, "<=", L)
SCOPE = Scope({"eta": eta})


@pytest.mark.parametrize("document", [[{"fact": "x"}], ["x"], "x", 3, None, {}, {"strange": 1}])
@pytest.mark.parametrize("shape", [Premise(), Link()])
def test_other_documents_are_refused(shape: Any, document: Any) -> None:
    with pytest.raises(InputError):
        shape.read(document, SCOPE, "certificate")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"place": "step"}, "not one inequality about a run"),
        (
            {"lhs": None, "rhs": None, "also": (Relation(eta, "<=", L), Relation(eta, "<=", 2 * L))},
            "not one inequality about a run",
        ),
        ({"relation": "=="}, "an equation or strict"),
        ({"relation": "<"}, "an equation or strict"),
    ],
)
def test_claims_that_are_no_bounds_on_runs(changes: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that are not bounds on runs are not searched."""
    monkeypatch.setattr(known, "find_known_claims", lambda _: pytest.fail("searched"))
    stated = {"id": "t:x", "lhs": eta, "rhs": L, "where": {eta: q.local_step_size, L: q.smoothness}, **changes}
    found = known.search_known(Claim(**stated))
    assert isinstance(found, NotFound)
    assert why in found.reason
