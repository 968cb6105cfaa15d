"""A claim is published if the list of its source contains it, whatever its id is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fedtheory.language.claim import Claim
from fedtheory.language.premises import premises
from fedtheory.language.registry import all_claims, find, find_publisher, is_an_id, is_registered, list_sharper_claims
from fedtheory.language.targets import display_name, resolve

MINE = """\
import sympy as sp
from fedtheory import Claim, quantities as q

bound = Claim(id="renard2022:mine", lhs=q.final_suboptimality, rhs=q.initial_gap)
"""


def test_claims_of_sources_are_published() -> None:
    """Each claim of each source is published under the key of its paper."""
    for claim in all_claims().values():
        paper = find_publisher(claim)
        assert paper is not None
        assert paper.source.key == claim.source
        assert is_registered(claim)


def test_a_claim_of_a_file_is_own_whatever_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim of a file whose id begins with the key of a paper is user-defined."""
    (tmp_path / "mine.py").write_text(MINE)
    target = f"{tmp_path / 'mine.py'}:bound"
    claim = resolve(target)
    assert claim.source == "renard2022"
    assert find_publisher(claim) is None
    assert not is_an_id(claim.id)
    assert not is_registered(claim)
    assert display_name(target, claim) == "mine.py:bound"
    assert display_name("mine.py:bound", claim) == "mine.py:bound"
    monkeypatch.chdir(tmp_path.parent)
    assert display_name(target, claim) == f"{tmp_path.name}/mine.py:bound"
    assert list_sharper_claims(claim) == ()


def test_a_changed_copy_is_own_once_it_is_given() -> None:
    """A copy given by a user is user-defined, with its own assumptions."""
    published = find("renard2022:thm-2.1")
    copy = replace(published, rhs=0)
    assert premises(copy) == premises(published)
    assert not is_registered(copy)
    given = resolve(copy)
    assert find_publisher(given) is None
    assert set(published.assumptions) <= set(premises(given))


def test_a_given_claim_that_pretends_is_own() -> None:
    """No field or id makes a given claim published."""
    claim = Claim(id="liu2022:thm-1", lhs=0, rhs=1, is_published=True)
    assert find_publisher(resolve(claim)) is None
    assert resolve(resolve(claim)) is resolve(claim)
    assert resolve(find("liu2022:thm-1")) is find("liu2022:thm-1")
