"""Norms and gaps in answers that stand for a symbol of the question."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fedtheory.language.exercises import BoundQuestion, ExpressionQuestion, Question
from verify.grade.answer_limits import UnknownSymbol
from verify.grade.asked_formula import read_formula
from verify.grade.assignments import assignments
from verify.grade.questions import GivenAnswer, mark_answer


def _bound(assignment: str, student: str = "class") -> BoundQuestion:
    questions: tuple[Question, ...] = assignments()[assignment].copy(student).questions
    return next(question for question in questions if isinstance(question, BoundQuestion))


@pytest.mark.parametrize(
    "text",
    [
        r"\frac{\|x^{(0)}-x^*\|^2}{2\eta}",
        "||x_0 - x*||^2/(2*eta)",
        "‖x⁰ − x*‖²/(2η)",
        r"\frac{\left\lVert \bar{x}_0 - x^\star\right\rVert^{2}}{2\eta}",
        r"\norm{\theta^0-\theta^{*}}^2/(2\eta)",
        "\frac{\\|x^*-x^0\\|_2^2}{2\\eta}",
    ],
)
def test_distances_at_the_start(text: str) -> None:
    """The norm of the start minus the optimum is the symbol D of the theorem."""
    question = _bound("theorem-and-step-size")
    assert read_formula(question, text) == read_formula(question, "D**2/(2*eta)")


@pytest.mark.parametrize(
    "text",
    [
        r"\frac{2(f(\bar x^0)-f^*)}{\gamma T}",
        "2*(f(x0) - f*)/(gamma*T)",
        r"\frac{2\left(F(\bar x_0)-F(x^\star)\right)}{\gamma T}",
    ],
)
def test_gaps_at_the_start(text: str) -> None:
    """The value at the start minus the least one is the symbol `gap` of the theorem."""
    question = _bound("linear-speedup")
    assert read_formula(question, text) == read_formula(question, "2*gap/(gamma*T)")


@pytest.mark.parametrize(
    "text", [r"\|x^1-x^*\|", r"\|x^0-y^*\|^2\|x\|", r"\|x^{10}-x^*\|", r"\|x^0+x^*\|", "||x0||", r"f(x^1)-f^*"]
)
def test_other_norms_are_not_guessed(text: str) -> None:
    """Another norm or difference has no symbol."""
    with pytest.raises(UnknownSymbol):
        read_formula(_bound("theorem-and-step-size"), text)


def test_other_symbols_are_left_to_a_person() -> None:
    """An answer with other symbols may be right in another notation: neither points nor none."""
    bound = _bound("theorem-and-step-size")
    formula = ExpressionQuestion(
        name="a", title="A", text="Text", points=2, solution=bound.claim.relations[0].right, names=bound.names
    )
    for question in (bound, formula):
        found = mark_answer(question, GivenAnswer("eta*var/M"))
        assert found.share is None
        assert "var is not a symbol of this question" in found.comment
    unfinished = mark_answer(formula, GivenAnswer("eta*(M"))
    assert (unfinished.share, unfinished.comment[:27]) == (None, "a person reads this answer:")
    assert mark_answer(formula, GivenAnswer("eta*(M", trouble="no Python")).share == Fraction(0)
    assert mark_answer(formula, GivenAnswer("eta/(M - M)")).share == Fraction(0)
    assert mark_answer(formula, GivenAnswer(" ... ")).share == Fraction(0)


def test_large_brackets_whose_backslashes_are_lost() -> None:
    """Python reads the first two characters of a bracket's command as one, where the string has no r before it."""
    question = _bound("theorem-and-step-size")
    for size in ("big", "bigg"):
        text = f"\\eta\b{size[1:]}l(1+\tau\b{size[1:]}r)"
        assert read_formula(question, text) == read_formula(question, "eta*(1+tau)")
