"""The front page shows the main theorem of each source as a small figure."""

from __future__ import annotations

import pytest

from fedtheory.language.registry import all_sources, find
from report.miniatures import draw_miniature, is_main
from verify.verdict import verify


def test_the_main_theorem_and_its_repairs_are_main() -> None:
    """The main theorem and its corrections are main, and no other claim of the source."""
    names = {"thm-1", "thm-1.fixed"}
    source = all_sources()["fraboni2022"]
    assert {claim.id for claim in source.claims if is_main(claim)} == {f"fraboni2022:{name}" for name in names}


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("renard2022:thm-2.1", "on a run of ten clients with five local steps."),
        ("fraboni2022:thm-1", "on the counterexample."),
        ("landmarks:scaffnew.contraction", "on the run with the largest known ratio."),
    ],
)
def test_a_main_theorem_is_drawn_where_it_applies(target: str, words: str) -> None:
    """A refuted main theorem is drawn on its counterexample, others on an example or their tightest run."""
    (verdict,) = verify([target], search=0)
    figure = draw_miniature(verdict)
    assert figure is not None
    assert figure.name == f"{find(target).slug}-small"
    assert figure.caption.endswith(words)


@pytest.mark.long
@pytest.mark.parametrize("target", ["renard2022:lemma-2.2", "vlaski2023:thm-5.1.recursion"])
def test_lemmas_and_rates_have_no_small_figure(target: str) -> None:
    """Lemmas and rates have no small figure."""
    assert draw_miniature(verify([target], search=0)[0]) is None
