"""Answers in the forms in which people type them: right ones are read, and what has two readings goes to a person."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.language.exercises import ExpressionQuestion, NumberQuestion
from verify.grade import Unreadable, read_answer
from verify.grade.answer_limits import Ambiguous
from verify.grade.questions import GivenAnswer, mark_answer

eta, tau, L, M, gap = sp.symbols("eta tau L M gap", positive=True)
NAMES = {"eta": eta, "tau": tau, "L": L, "M": M, "gap": gap}
R = sp.Rational


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1 000", 1000),
        ("1'000", 1000),
        ("1_000", 1000),
        ("12 345 678", 12345678),
        (r"1\,000", 1000),
        ("12,345,678", 12345678),
        ("1,234.5", R(2469, 2)),
        ("1.234,5", R(2469, 2)),
        ("0,2144", R(2144, 10000)),
        ("50%", R(1, 2)),
        (r"12.5\%", R(1, 8)),
        ("7 percent", R(7, 100)),
        ("1½", R(3, 2)),
        ("2 3/4", R(11, 4)),
        ("3:7", R(3, 7)),
        ("~0.43", R(43, 100)),
        (r"\approx 0.43", R(43, 100)),
        ("about 0.43", R(43, 100)),
        ("0.333...", R(333, 1000)),
        ("2.1 x 10^-3", R(21, 10000)),
        (r"2.1\times10^{-3}", R(21, 10000)),
        ("1e-3", R(1, 1000)),
        ("7 rounds", 7),
        ("3 local steps", 3),
        ("Fraction(3, 7)", R(3, 7)),
        ("sp.Rational(3, 7)", R(3, 7)),
        ("\ufeff3/7\r\n", R(3, 7)),
        ("`3/7`", R(3, 7)),
        ("3\u200b/7", R(3, 7)),
        (r"\nicefrac{3}{7}", R(3, 7)),
        (r"3\over 7", R(3, 7)),
        (r"\boxed{\frac{3}{7}}", R(3, 7)),
        (r"\begin{equation*}\frac{3}{7}\end{equation*}", R(3, 7)),
    ],
)
def test_a_number_is_read(text: str, number: sp.Rational) -> None:
    assert read_answer(text, {}) == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tau(tau - 1)", tau * (tau - 1)),
        ("4(tau)(eta)", 4 * tau * eta),
        ("tau**2(tau - 1)", tau**2 * (tau - 1)),
        ("(tau + 1)(tau - 1)/2", (tau + 1) * (tau - 1) / 2),
        ("sqrt(M)(tau - 1)", sp.sqrt(M) * (tau - 1)),
        ("np.sqrt(M)*tau", sp.sqrt(M) * tau),
        ("pow(tau, 2)", tau**2),
        ("2,5*tau", R(5, 2) * tau),
        ("1/2 eta tau", eta * tau / 2),
        ("4[tau + 1]", 4 * (tau + 1)),
        (r"\cfrac{1}{2}\tau", tau / 2),
        (r"{\tau \over 2} + 1", tau / 2 + 1),
        (r"4\ast\tau", 4 * tau),
        (r"4\div\tau", 4 / tau),
        (r"\text{gap}/M", gap / M),
        (r"\mathbf{\tau}", tau),
        ("η²τ(τ−1)", eta**2 * tau * (tau - 1)),
        ("max(1, 2)*tau", 2 * tau),
        ("1/(4L)", 1 / (4 * L)),
    ],
)
def test_a_formula_is_read(text: str, expected: sp.Expr) -> None:
    assert sp.simplify(read_answer(text, NAMES) - expected) == 0


@pytest.mark.parametrize(
    "text",
    ["1,234", "1/4L", "1/2(tau - 1)", r"\eta/\tau M", "eta/2ητ", "12,345*tau"],
    ids=["comma", "tight", "bracket", "TeX", "Greek", "comma in a formula"],
)
def test_two_readings_go_to_a_person(text: str) -> None:
    with pytest.raises(Ambiguous, match="write"):
        read_answer(text, NAMES)
    question = ExpressionQuestion(name="q", title="Q", text="Q", points=2, solution=1 / (4 * L), names=NAMES)
    found = mark_answer(question, GivenAnswer(text))
    assert found.share is None
    assert "a person reads this answer" in found.comment


@pytest.mark.parametrize("text", ["2 3", "1 0002", "3 thousand", "7 % 2", "2 3/4 tau", "1.2.3"])
def test_two_numbers_are_no_product(text: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(text, NAMES)


def test_a_false_number_stays_false() -> None:
    question = NumberQuestion(name="q", title="Q", text="Q", points=2, solution=sp.Integer(1000))
    right = [mark_answer(question, GivenAnswer(text)).share for text in ("1 000", "1e3", "10^3", "1000 rounds")]
    false = [mark_answer(question, GivenAnswer(text)).share for text in ("1 001", "1.000", "1000%", "1:1000")]
    assert right == [1, 1, 1, 1]
    assert false == [0, 0, 0, 0]
