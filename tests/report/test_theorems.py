"""Pages of claims that Rocq has accepted show the theorem, and offer its file."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.language.registry import find
from report.drawing import ClaimTask, load_templates
from report.theorems import make_theorem_section
from verify.claim_verdict import ClaimVerdict
from verify.rocq.accepted import load_accepted

STEP = "renard2022:lemma-2.2.proof.last.fixed"


def test_the_page_offers_the_theorem_with_its_proof() -> None:
    """The page shows the conclusion and links to a file with the listed theorem and its proof."""
    accepted = load_accepted()[STEP]
    verdict = ClaimVerdict(STEP, "proved", 1, 1, 0, 0, 0.25, None, None, 0.0)
    drawn = ClaimTask(verdict, None, None, ()).draw(load_templates(()))
    (name,) = (name for name in drawn.files if name.endswith(".v"))
    assert name == f"{accepted.theorem}.v"
    assert f'href="{name}"' in drawn.files[f"{find(STEP).slug}.html"]
    assert f"Theorem {accepted.theorem}\n" in drawn.files[name]
    assert drawn.files[name].rstrip().endswith("Qed.")
    assert accepted.statement in drawn.files[name]


def test_other_claims_have_none() -> None:
    """A claim that is not listed has no theorem, even with the name of a listed one."""
    assert make_theorem_section(find("fraboni2022:thm-1")) is None
    assert make_theorem_section(replace(find(STEP), id="mine:of-a-file")) is None
