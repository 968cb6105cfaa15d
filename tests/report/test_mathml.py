"""Formulas and numbers for readers."""

from __future__ import annotations

import unicodedata
from string import ascii_uppercase
from xml.etree import ElementTree

import pytest
from flint import fmpq

from fedtheory.language.numbers import format_decimal, format_exactly
from fedtheory.language.registry import all_claims
from report.mathml import typeset_formula, typeset_prose, typeset_statement


@pytest.mark.parametrize("claim", all_claims().values(), ids=lambda claim: claim.id)
def test_every_statement_becomes_well_formed_mathml(claim) -> None:  # type: ignore[no-untyped-def]
    """Statements as printed and as encoded parse as XML, with no LaTeX command left."""
    for latex in filter(None, (claim.printed, *(relation.latex for relation in claim.relations))):
        tree = ElementTree.fromstring(str(typeset_statement(latex)))
        assert "\\" not in "".join(tree.itertext())


def test_letters_that_browsers_cannot_style_are_characters() -> None:
    """Expectation, reals and sigma-algebras become Unicode letters."""
    text = "".join(ElementTree.fromstring(str(typeset_formula(r"\mathbb E\,\mathbb R\,\mathcal F"))).itertext())
    assert "𝔼" in text
    assert "ℝ" in text
    assert "ℱ" in text


@pytest.mark.parametrize("style", ["mathbb", "mathcal"])
def test_every_styled_letter_exists(style: str) -> None:
    """Each styled letter is an assigned Unicode character."""
    for letter in ascii_uppercase:
        text = "".join(ElementTree.fromstring(str(typeset_formula(rf"\{style} {letter}"))).itertext()).strip()
        assert unicodedata.name(text).endswith(f"CAPITAL {letter}")


def test_a_statement_in_words_is_a_sentence() -> None:
    """A statement in words is typeset as a sentence with line breaks."""
    words = r"\text{the clients report in turn, one after the other, for as long as }n\text{ is smaller than }N"
    shown = str(typeset_statement(words))
    assert shown.startswith("<p>the clients")
    assert shown.count("<math") == 2


def test_long_statements_break_in_front_of_relations_only_outside_brackets() -> None:
    """A relation under a brace or inside a group does not break the line."""
    long = r"a\left(b=c\right)" + "+x" * 90 + r"\le d=\underbrace{e}_{=f}\qquad g=h"
    shown = str(typeset_statement(long))
    assert shown.count('class="line"') == 2
    assert shown.count('class="side"') == 5
    assert shown.count("<math") == 5 + 90
    assert 'displaystyle="true"' in shown


def test_prose_escapes_words_and_sets_formulas() -> None:
    """HTML in words is escaped; formulas between dollar signs are typeset."""
    shown = str(typeset_prose("a < b, $x^2$"))
    assert "a &lt; b" in shown
    assert "<msup>" in shown


def test_numbers_are_exact_where_short() -> None:
    """Short fractions are exact; long ones are given by their length."""
    assert format_exactly(fmpq(77, 8)) == "77/8"
    assert format_exactly(fmpq(10**30 + 1, 3**60)) == "a fraction of 60 digits"
    assert format_decimal(fmpq(1, 3)) == "0.3333"
