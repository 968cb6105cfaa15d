"""The list of claims that Rocq accepted is about what is exported now."""

from __future__ import annotations

import pytest
from modules import ROOT

from verify.rocq.accepted import compute_digest, load_accepted
from verify.rocq.export import export_id
from verify.rocq.project import list_proved_ids
from verify.rocq.unchecked import write_section


def test_the_list_is_about_proved_claims() -> None:
    """Each main theorem that the library covers is on it, and nothing that is not proved."""
    assert load_accepted().keys() <= {*list_proved_ids()}
    main = "renard2022:thm-2.1 renard2022:thm-2.1.sharp liu2022:lemma-1 liu2022:thm-1 comparator:average-error"
    assert {
        *main.split(),
        "comparator:strongly-convex.last-model",
        "lecture27:thm-1",
        "lecture27:thm-1.loss",
    } <= load_accepted().keys()


@pytest.mark.parametrize("part", range(4))
def test_the_list_is_about_what_is_exported(part: int) -> None:
    """A claim, certificate, library file or tactic that changes has to be checked again: ``make rocq``."""
    for claim_id in [*load_accepted()][part::4]:
        entry, known = load_accepted()[claim_id], export_id(claim_id)
        assert (entry.theorem, entry.statement) == (known.theorem.name, known.theorem.statement)
        assert entry.digest == compute_digest(known), f"{claim_id} has changed since Rocq accepted it: make rocq"


def test_the_page_on_trust_names_the_others() -> None:
    """Proved claims that Rocq has not accepted are listed there, with the reasons."""
    assert write_section() in (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
