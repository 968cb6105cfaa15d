"""Answers with several sides, conditions and wrappings: the side that counts, or a person; never a wrong one."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.language.exercises import ChoiceQuestion, ExpressionQuestion, NumberQuestion
from verify.grade import Unreadable, read_answer
from verify.grade.answer_limits import Ambiguous, UnknownSymbol
from verify.grade.chosen_option import read_choice
from verify.grade.literals import read_unquoted_formulas
from verify.grade.questions import GivenAnswer, mark_answer

D, L, M, T, eta, sigma, tau = sp.symbols("D L M T eta sigma tau", positive=True)
NAMES = {"D": D, "L": L, "M": M, "T": T, "eta": eta, "sigma": sigma, "tau": tau}
STEP = D / sigma * sp.sqrt(M / (2 * tau * T))


@pytest.mark.parametrize(
    "text",
    [
        "eta = D/sigma*sqrt(M/(2*tau*T)) = sqrt(M*D**2/(2*sigma**2*tau*T))",
        r"\eta^\star=\sqrt{\frac{D^2 M}{2\tau T\sigma^2}}=\frac{D}{\sigma}\sqrt{\frac{M}{2\tau T}}",
        "D/sigma*sqrt(M/(2*tau*T)) for eta <= 1/(4L)",
        "D/sigma*sqrt(M/(2*tau*T)), eta <= 1/(4L)",
        r"\frac{D}{\sigma}\sqrt{\frac{M}{2\tau T}}\quad\text{for }\eta\le\frac1{4L}",
        "0 < eta <= D/sigma*sqrt(M/(2*tau*T))",
        "D/sigma*sqrt(M/(2*tau*T)) >= E|x - y|",
        "eta == D/sigma*sqrt(M/(2*tau*T))",
        "Eq(eta, D/sigma*sqrt(M/(2*tau*T)))",
        r"\boxed{\eta = \frac{D}{\sigma}\sqrt{\frac{M}{2\tau T}}}",
        "```python\nD/sigma*sqrt(M/(2*tau*T))\n```",
        "'D/sigma*sqrt(M/(2*tau*T))'",
        "b'D/sigma*sqrt(M/(2*tau*T))'",
        r"$\eta = D\sqrt{M}/(\sigma\sqrt{2\tau T})$",
        r"\begin{aligned} \eta &= \frac{D}{\sigma}\\ &\quad\cdot\sqrt{\frac{M}{2\tau T}} \end{aligned}",
        r"\\frac{D}{\\sigma}\\sqrt{\\frac{M}{2\\tau T}}",
        "D√M/(σ√(2τT))",
        "D/sigma*Pow(M/(2*tau*T), Rational(1, 2))",
        "D/sigma*root(M/(2*tau*T), 2)",
        "Mul(Symbol('D', positive=True), Pow(Symbol('sigma'), Integer(-1)), sqrt(M/(2*tau*T)))",
        r"D\sigma^{-1}(M/(2\tau T))^{.5}",
        "D/sigma \\\n * sqrt(M/(2*tau*T))",
        "Answer: D/sigma*sqrt(M/(2*tau*T))",
        "The upper bound is D/sigma*sqrt(M/(2*tau*T)).",
        "a) D/sigma*sqrt(M/(2*tau*T))",
        "D/sigma*sqrt(M/(2*tau*T)) (for eta <= 1/(4L))",
        "D/sigma*sqrt(M/(2*tau*T)) [if eta < 1/(L*tau) and M > 1]",
        r"\frac{D}{\sigma}\sqrt{\frac{M}{2\tau T}}\\+0",
        "𝐷√𝑀/(𝜎√(2𝜏𝑇)) ∎",
        "D/sigma*cbrt((M/(2*tau*T))**1.5)",
    ],
)
def test_the_side_that_counts(text: str) -> None:
    """Names, quotes, fences and conditions around a formula change nothing."""
    assert sp.simplify(read_answer(text, NAMES) - STEP) == 0


@pytest.mark.parametrize(
    "text",
    [
        "D/sigma = D/sigma*sqrt(M/(2*tau*T))",
        "eta <= 1/(4L), eta = D",
        "for eta <= 1/(4L): D",
        "D*M <= 2*D",
        ">= D",
        "D <=",
        "eta >= D",
        "2*eta = D",
        "D => M",
        "D != M",
        "D^1/2",
    ],
)
def test_two_answers_in_one(text: str) -> None:
    """A person decides which statement is meant."""
    with pytest.raises(Ambiguous):
        read_answer(text, NAMES)


@pytest.mark.parametrize("text", [r"\eta \lesssim D", "eta ∝ D"])
def test_signs_without_constants(text: str) -> None:
    with pytest.raises(UnknownSymbol, match="constants open"):
        read_answer(text, NAMES)


NUMBERS = [
    ("1/3 = 0.3333", sp.Rational(1, 3)),
    ("0.3333 = 1/3", sp.Rational(1, 3)),
    ("1/3 ≈ 0.33333", sp.Rational(1, 3)),
    ("eta = 0,2144", sp.Rational(2144, 10000)),
    (r"$\eta = 0{,}2144$", sp.Rational(2144, 10000)),
    ("0·2144", sp.Rational(2144, 10000)),
    ("٠٫٢١٤٤", sp.Rational(2144, 10000)),
    ("3·5", sp.Integer(15)),
    ("5/2**19", sp.Rational(5, 2**19)),
    ("E <= 3", sp.Integer(3)),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_numbers_with_sides(text: str, number: sp.Rational) -> None:
    """If an answer gives a fraction and its decimals, the fraction counts."""
    assert read_answer(text, {}) == number


@pytest.mark.parametrize("text", ["0.3 = 0.2144", "1/3 = 1/4", "333/1000 = 1/3", "1.234.567/5.678"])
def test_numbers_that_differ(text: str) -> None:
    with pytest.raises(Ambiguous):
        read_answer(text, {})


def test_unreadable_answers_are_left_to_a_person() -> None:
    """An answer that cannot be parsed may be right in another notation; one without a value is wrong."""
    number = NumberQuestion(name="n", title="", text="", points=1, solution=sp.Rational(1, 3))
    for text in ("the number is 1/3", "1/3 per step", "about a third", "x" * 3000):
        assert mark_answer(number, GivenAnswer(text)).share is None
    for text in ("1/0", "log(0)", "...", "?"):
        assert mark_answer(number, GivenAnswer(text)).share == 0
    broken = mark_answer(number, GivenAnswer("(1 +", trouble="at `n = (1 +`: SyntaxError"))
    assert broken.share == 0
    assert broken.comment == "at `n = (1 +`: SyntaxError"


def test_a_rounded_formula_is_left_to_a_person() -> None:
    steps = ExpressionQuestion(name="n", title="", text="", points=1, solution=T / M, names={"T": T, "M": M})
    assert mark_answer(steps, GivenAnswer("⌊T/M⌋")).share is None
    assert mark_answer(steps, GivenAnswer("⌊M/T⌋")).share == 0


CHOICE = ChoiceQuestion(
    name="c", title="", text="", points=1, options=("as many", "half as many"), solution="half as many", why=""
)


@pytest.mark.parametrize(
    "text", ["b", "B", "(b)", "b)", "b.", "**b**", "option b", "Answer: b", "half as many", "b) half as many.", "['b']"]
)
def test_choices_by_letter_or_text(text: str) -> None:
    assert read_choice(CHOICE, text) == "b"


@pytest.mark.parametrize("text", ["a) half as many", "a or b", "not b", "bb", "c", "half", "['a', 'b']"])
def test_choices_that_are_none(text: str) -> None:
    """Some texts are neither right nor wrong: a letter next to the other option's text, two letters, part of a text."""
    with pytest.raises(Unreadable):
        read_choice(CHOICE, text)


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("bound = D/sigma*sqrt(M/(2 tau T))  # as in class", "D/sigma*sqrt(M/(2 tau T))"),
        ("bound = D/σ·√(M/(2τT))", "D/σ·√(M/(2τT))"),
        (r"bound = \frac{D}{\sigma}", r"\frac{D}{\sigma}"),
        (r"bound = $\frac{D}{\sigma}$;", r"$\frac{D}{\sigma}$"),
        ('bound = "D/sigma', "D/sigma"),
        ('  bound = r"D/sigma"', "D/sigma"),
        ("# heading\nbound = 2 D\n    + T\nother = 1", "2 D\n    + T"),
    ],
)
def test_lines_that_are_no_python(line: str, typed: str) -> None:
    """A formula without quotes is taken as typed."""
    assert read_unquoted_formulas(line)["bound"] == typed
