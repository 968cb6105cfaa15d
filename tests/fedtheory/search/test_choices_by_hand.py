"""What searches for proofs accept, and the numbers that they try, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Numbers
from fedtheory.search import remainders, restated
from fedtheory.search.exact import simple_values
from fedtheory.search.positivity import Signs
from fedtheory.search.samples import Samples

eta = sp.Symbol("eta", positive=True)


@pytest.mark.parametrize("factor", ["1", "1/2", "2", "1/4", "4", "3/2", "3", "1/3", "3/4"])
def test_simple_numbers_are_tried(factor: str) -> None:
    """Alone, and times a power of a symbol; no other number lies between such bounds."""
    number = sp.Rational(factor)
    samples = Samples([eta], np.array([[0.7, 1.9]]))
    for power in (0, 1, -2):
        at = [float(number) * 0.7**power, float(number) * 1.9**power]
        assert list(simple_values([(value, value) for value in at], samples)) == [number * eta**power]
    assert list(simple_values([(float(number) * 0.99, float(number) * 1.01)] * 2, samples)) == [number]


def test_only_what_the_kernel_accepts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summands have to be there, and their proof has to be accepted for the claim as it was written."""
    goal = SimpleNamespace(
        signs=Signs(Numbers(), []),
        claim=SimpleNamespace(id="t"),
        original="original",
        relaxed=None,
        given=(),
        supposed=(),
    )
    remainder: Any = SimpleNamespace(goal=goal, parts=[])
    monkeypatch.setattr(remainders, "_document", lambda *_: "document")
    monkeypatch.setattr(remainders, "spend", lambda _: None)
    asked: list[Any] = []

    def shown(verdict: str, summands: list[sp.Expr] | None) -> Any:
        proof = SimpleNamespace(verdict=verdict, work={})
        monkeypatch.setattr(remainders, "check_certificate", lambda *given: asked.append(given) or proof)
        return remainders.show_remainder(remainder, eta, lambda *_: summands)

    found = shown("proved", [eta])
    assert found is not None
    assert found.proof.verdict == "proved"
    assert shown("broken", [eta]) is None
    assert shown("proved", None) is None
    assert asked == [("original", "document")] * 2


def test_a_claim_in_other_words_needs_all_that_it_relies_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """None where the kernel accepts one of its lemmas not, or where it is no single relation with a certificate."""
    certificates = {"whole": 1, "used": 1, "refused": 1}
    relied = {"whole": ["used"], "used": [], "refused": []}
    relation = SimpleNamespace(ordered=(eta, eta), operator="<=")
    claims = {name: SimpleNamespace(name=name, relations=[relation], for_all={}) for name in certificates}
    monkeypatch.setattr(restated, "find", claims.__getitem__)
    monkeypatch.setattr(restated, "certificate_of", certificates.get)
    monkeypatch.setattr(
        restated,
        "document_of",
        lambda claim, _: {"letters": {}, "certificate": {"name": claim.name, "claim": claim.name}},
    )
    monkeypatch.setattr(restated, "_relied_on", lambda entry, _: relied[entry["name"]])
    monkeypatch.setattr(restated, "lemma_id", lambda _, lemma: lemma)
    monkeypatch.setattr(restated, "plain_name", lambda name: name)
    reached: list[int] = []

    def stop(*_: Any) -> str:
        reached.append(1)
        raise InputError("x", "y")

    monkeypatch.setattr(restated, "written", stop)
    for name in ("Scope", "symbols_of"):
        monkeypatch.setattr(restated, name, lambda _: None)
    for one in claims.values():
        one.conditions, one.place = (), "run"
    for name in certificates:
        certificates[name] = SimpleNamespace(relaxed=None)  # type: ignore[assignment]
    workspace: Any = SimpleNamespace(claim=None)
    assert restated.restate(workspace, "used", {}) is None
    assert len(reached) == 1
    assert restated.restate(workspace, "whole", {}) is None
    assert len(reached) == 2
    for change in ({"relations": [relation] * 2}, {"for_all": {1: 1}}):
        vars(claims["used"]).update(change)
        assert restated.restate(workspace, "used", {}) is None
        assert len(reached) == 2
        vars(claims["used"]).update(relations=[relation], for_all={})
    certificates["used"] = None  # type: ignore[assignment]
    assert restated.restate(workspace, "used", {}) is None
    assert restated.restate(workspace, "whole", {}) is None
    assert len(reached) == 2
