"""Line breaks of formulas, and brackets that grow with their content."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from fedtheory.language.registry import all_claims
from report.formula_pieces import break_into_lines, group_brackets
from report.mathml import typeset_formula
from report.opened_pieces import split_piece

LONG = r"\mathbb E\left[F(x)-F^*\right]\le\frac{a-b}{c+d}+12[2\alpha+\beta]\rho+\|x-y\|^2-e^{-s},\qquad D=\|x^0-x^*\|"


def test_a_statement_breaks_before_relations_and_terms() -> None:
    """Lines break at wide spaces, relations and terms, but not inside brackets, fractions, exponents or norms."""
    first, second = break_into_lines(LONG)
    assert first == [
        [r"\mathbb E\left[F(x)-F^*\right]"],
        [r"\le\frac{a-b}{c+d}", r"+12[2\alpha+\beta]\rho", r"+\|x-y\|^2", r"-e^{-s},\qquad"],
    ]
    assert [[piece.strip() for piece in side] for side in second] == [["D"], [r"=\|x^0-x^*\|"]]


def test_signs_that_are_no_sums_do_not_break() -> None:
    """A sign after a relation or an operator belongs to the number behind it."""
    text = r"a_1+a_2+a_3+a_4+a_5+a_6+a_7+a_8+a_9\le-2D(x,n)\to -1" + "+b" * 12
    assert break_into_lines(text)[0][1][0] == r"\le-2D(x,n)\to -1"


def test_a_factor_in_brackets_may_stand_alone() -> None:
    """Long products break before a bracket that a space separates; functions keep their arguments."""
    text = r"x\le 12 L R(\{\mathcal L^n\}) \rho \beta \gamma \eta_{g}^{2} \left(16 K^{2} L \rho \tau^{2}+1\right)"
    assert break_into_lines(text)[0][1][1] == r"\left(16 K^{2} L \rho \tau^{2}+1\right)"


def test_short_statements_stay_whole() -> None:
    """Short statements are not broken."""
    assert break_into_lines("a=b+c") == [[["a=b+c"]]]


@pytest.mark.parametrize("claim", all_claims().values(), ids=lambda claim: claim.id)
def test_pieces_make_up_the_statement(claim) -> None:  # type: ignore[no-untyped-def]
    """The pieces of a statement are the statement."""
    assert (
        "".join(piece for line in break_into_lines(claim.statement) for side in line for piece in side)
        == claim.statement
    )


def inked(latex: str) -> Counter[str]:
    """Count the signs of a formula, except brackets, spaces, and notation of fractions."""
    return Counter(re.findall(r"\\[A-Za-z]+|[^\s\\(){}1,]", re.sub(r"\\(left|right|Big|frac)\b", "", latex)))


@pytest.mark.parametrize("claim", all_claims().values(), ids=lambda claim: claim.id)
def test_long_pieces_are_opened(claim) -> None:  # type: ignore[no-untyped-def]
    """Long pieces are split without loss of signs; short pieces are kept; every part is a formula."""
    for piece in (piece for line in break_into_lines(claim.statement) for side in line for piece in side):
        parts = split_piece(piece)
        assert inked("".join(parts)) == inked(piece)
        assert len(parts) == 1 or len(piece) > 200
        for part in parts if len(parts) > 1 else ():
            assert part.count("{") == part.count("}")
            assert part.count(r"\left") == part.count(r"\right")
            typeset_formula(part, "block")


def test_a_long_numerator_is_broken() -> None:
    """A fraction over a short denominator becomes a factor before its numerator, whose terms may stand on lines."""
    terms = [f"+{symbol}^{{2}} \\eta_{{l}}^{{2}} \\left(K-1\\right)^{{2}}" for symbol in "abcdefgh"]
    piece = rf"+\frac{{{''.join(terms)[1:]}}}{{\bar q}}"
    first, *middle, last = split_piece(piece)
    assert first.startswith(r"+\frac{1}{\bar q} \Big(a^{2}")
    assert middle == terms[1:-1]
    assert last == terms[-1] + r"\Big)"


def groups(latex: str) -> list[str]:
    """Return the texts of the groups of a formula that a pair of growing brackets encloses."""
    root = ElementTree.fromstring(str(typeset_formula(latex)))
    rows = [element for element in root.iter() if element.tag.endswith("mrow") and len(element)]
    return ["".join(row.itertext()) for row in rows if row[0].get("stretchy") == row[-1].get("stretchy") == "true"]


def test_brackets_grow_in_pairs() -> None:
    """Each pair of brackets is a group, so that its size depends only on its content."""
    assert groups(r"a(1-\frac{b}{2})+f(x)") == ["(1−b2)", "(x)"]
    assert groups(r"\left(\frac12\right)") == ["(12)"]
    assert groups(r"((x))") == ["((x))", "(x)"]


def test_indices_of_a_closing_bracket_are_those_of_the_group() -> None:
    """A power of a bracket belongs to the whole group."""
    root = ElementTree.fromstring(str(typeset_formula(r"(\frac ab)^2")))
    power = next(element for element in root.iter() if element.tag.endswith("msup"))
    assert "".join(power[0].itertext()) == "(ab)"


def test_norms_pair_up_and_intervals_mix() -> None:
    """Bars have one sign for both ends; a half-open interval has two kinds of brackets."""
    assert groups(r"\|x\|^2+\|\frac yz\|^2") == ["‖x‖", "‖yz‖"]
    assert groups(r"(0,\frac1L]") == ["(0,1L]"]


def test_a_bracket_alone_stays() -> None:
    """An unmatched bracket is not moved."""
    assert groups("a)(b") == []
    assert "".join(ElementTree.fromstring(group_brackets(str(typeset_formula("a)(b")))).itertext()) == "a)(b"
