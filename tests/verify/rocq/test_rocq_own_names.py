"""Names in user-defined algorithms, which stand in the text for Rocq: none of them is more than a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.federation.algorithms import names
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.rocq.algorithms import Algorithm
from verify.rocq.refusals import NotExported

DEFINITION = """
import sympy as sp
from fedtheory.federation.definition import *

x, m, y, p = (sp.Symbol(name, real=True) for name in ({server!r}, "m", {local!r}, "p"))
own = FederatedAlgorithm(
    name={name!r},
    server={{x: start, m: start}},
    local=Local(y, start=x, step=y - p * eta * Gradient(y)),
    server_update={{x: x + Average(y - x), m: (m + x) / 2}},
    model=x,
    parameters=(Parameter(p, {key!r}, "a number", sp.Interval(0, 1)),),
)
"""
PLAIN = {"name": "own", "server": "x", "local": "y_i", "key": "tightness_p"}
INJECTED = "own : V }. Axiom wrong : False. Record more {V : space} := { x"
STRANGE = {
    "a comment that ends": ("name", "own *) Axiom wrong : False. (*"),
    "an axiom behind a record": ("server", INJECTED),
    "an axiom behind a definition": ("local", "y := O. Axiom wrong : False. Definition z"),
    "an axiom behind a number": ("key", "p : R). Axiom wrong : False. Definition z (A"),
    "a word of the library": ("server", "start"),
    "a keyword": ("local", "match"),
    "a name of the text": ("server", "n"),
    "a number of the text": ("key", "mixing"),
    "a primed name": ("server", "x'"),
    "a blank": ("server", "x y"),
}


def _algorithm(folder: Path, **changes: str) -> Algorithm:
    (folder / "mine.py").write_text(DEFINITION.format(**(PLAIN | changes)))
    own = a.of_algorithm("mine.py:own")
    return Algorithm(Claim(id="mine:own", lhs=0, rhs=q.final_distance_sq, where={}, assumptions=[own]))


def test_names_stand_in_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = _algorithm(tmp_path).text()
    assert "Record own_state {V : space} := { x : V; m : V }." in text
    assert "Fixpoint y_i (A : run) (tightness_p : R)" in text


@pytest.mark.parametrize("name", STRANGE)
def test_only_new_names_are_defined(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place, given = STRANGE[name]
    with pytest.raises(NotExported, match="is no name for Rocq"):
        _algorithm(tmp_path, **{place: given})


def test_published_algorithms_have_such_names() -> None:
    for name in set(names()) - {"compressed"}:
        claim = Claim(id="mine:own", lhs=0, rhs=q.final_distance_sq, where={}, assumptions=[a.of_algorithm(name)])
        assert Algorithm(claim).definition.name == name
