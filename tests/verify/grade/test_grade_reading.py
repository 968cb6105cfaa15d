"""Answers are read by a whitelist: formulas in two notations, and nothing that could run or take long."""

from __future__ import annotations

import re

import pytest
import sympy as sp

from fedtheory.language.exercises import CodeQuestion, ExpressionQuestion, NumberQuestion
from verify.grade import Unreadable, read_answer
from verify.grade.answer_limits import Ambiguous, UnknownSymbol
from verify.grade.plain_text import convert_powers
from verify.grade.questions import GivenAnswer, mark_answer

eta, tau, sigma, M, q_1, zeta_1 = sp.symbols("eta tau sigma M q_1 zeta_1", positive=True)
NAMES = {"eta": eta, "tau": tau, "sigma": sigma, "M": M, "q_1": q_1, "zeta_1": zeta_1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4*tau*eta**2*sigma**2", 4 * tau * eta**2 * sigma**2),
        (" -eta + 0.25/M ", sp.Rational(1, 4) / M - eta),
        ("sqrt(2*eta)**3", sp.sqrt(2 * eta) ** 3),
        ("Max(eta, tau, 1)", sp.Max(eta, tau, 1)),
        ("ceil(tau/M)*eta", sp.ceiling(tau / M) * eta),
        ("(eta*M + 1)**(tau - 1)", (eta * M + 1) ** (tau - 1)),
        ("exp(-eta) + log(M)", sp.exp(-eta) + sp.log(M)),
        ("q_1*2", 2 * q_1),
        ("1/3", sp.Rational(1, 3)),
        ("eta/M,", eta / M),
        ("np.maximum(eta, tau)", sp.Max(eta, tau)),
    ],
)
def test_python(text: str, expected: sp.Expr) -> None:
    """A formula in Python's notation gives its expression, with exact numbers."""
    assert read_answer(text, NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\frac{\eta\sigma^2}{M}", eta * sigma**2 / M),
        (r"$4\tau\,\eta^2 \cdot \sigma^{2}$", 4 * tau * eta**2 * sigma**2),
        (r"\frac12 \eta", eta / 2),
        (r"\tfrac{1}{2}\left(\eta+\tau\right)", (eta + tau) / 2),
        (r"\sqrt{2\eta} \sqrt[3]{M}", sp.sqrt(2 * eta) * M ** sp.Rational(1, 3)),
        (r"-\eta^{-1}", -1 / eta),
        (r"\max\{\eta, \tau\}", sp.Max(eta, tau)),
        (r"\lceil \tau/M \rceil \eta", sp.ceiling(tau / M) * eta),
        (r"q_1^2 q_{1}", q_1**3),
        (r"M^{3/4}", M ** sp.Rational(3, 4)),
        (r"$$\dfrac{\eta}{M}.$$", eta / M),
        (r"\[\dfrac{\eta}{M},\]", eta / M),
        (r"\frac{\eta}{M}\,.", eta / M),
        (r"\eta^12", eta * 2),
        (r"2(1-\frac1M)^2", 2 * (1 - 1 / M) ** 2),
        (r"$2M/3 M$", sp.Rational(2, 3) * M**2),
        ("tau^2 eta^2/M", tau**2 * eta**2 / M),
        (r"\frac{tau}{2} \tau sigma", tau**2 * sigma / 2),
        ("zeta_1^2 tau", zeta_1**2 * tau),
    ],
)
def test_latex(text: str, expected: sp.Expr) -> None:
    """A LaTeX formula gives its expression, with arguments and digits as in TeX."""
    assert sp.simplify(read_answer(text, NAMES) - expected) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2|tau - M| eta", 2 * sp.Abs(tau - M) * eta),
        (r"\left|\tau-M\right|\eta", sp.Abs(tau - M) * eta),
        (r"\lvert\tau-M\rvert", sp.Abs(tau - M)),
        ("|tau - M| - |eta - M|", sp.Abs(tau - M) - sp.Abs(eta - M)),
        ("⌈tau/M⌉*eta", sp.ceiling(tau / M) * eta),
        ("⌊τ/M⌋η", sp.floor(tau / M) * eta),
        (r"⌈\tau/M⌉", sp.ceiling(tau / M)),
        (r"\lfloor\tau/M\rfloor", sp.floor(tau / M)),
        ("floor(tau/M)", sp.floor(tau / M)),
        ("√M", sp.sqrt(M)),
        ("√τ + √(M + 1)", sp.sqrt(tau) + sp.sqrt(M + 1)),
        ("½ tau", tau / 2),
        (r"\(\tau^2\)", tau**2),
        (r"\[\tau^2\]", tau**2),
        (r"e^{-\eta\tau}", sp.exp(-eta * tau)),
        (r"\mathrm{e}^{-\eta}", sp.exp(-eta)),
        ("e**(-eta*tau)", sp.exp(-eta * tau)),
    ],
)
def test_other_forms(text: str, expected: sp.Expr) -> None:
    """Bars, brackets for rounding, signs before a symbol, and powers of e are parsed."""
    assert sp.simplify(read_answer(text, NAMES) - expected) == 0


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "eta.__class__",
        "eta.free_symbols",
        "eta[0]",
        "[eta for eta in (1,)]",
        "lambda: 1",
        "(lambda: 1)()",
        "eval('1')",
        "open('/etc/passwd')",
        "f'{eta}'",
        "True",
        "1j",
        "eta if eta else tau",
        "eta < tau",
        "eta or tau",
        "eta // 2",
        "eta % 2",
        "eta @ tau",
        "sqrt(x=2)",
        "sqrt(*[1])",
        "(eta := 1)",
        "eta; tau",
        "import os",
        "unknown",
        "sqrt()",
        "sqrt(1, 2)",
        r"\input{/etc/passwd}",
        r"\def\x{1}\x",
        r"\frac{1}",
        r"\frac{1}{0}",
        r"\eta^",
        r"\begin{matrix}1\end{matrix}",
        r"(\eta",
        r"\eta)",
        r"\write18{ls}",
        "",
        "   ",
        "1/0",
        "eta/(tau - tau)",
        "0**-1",
        "log(0)",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    """Text that is not a formula in the given names is refused with a reason."""
    with pytest.raises(Unreadable, match=r"\w+ \w+"):
        read_answer(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**9**9**9",
        "2**1000000",
        "eta**1000000",
        "(((2**16)**16)**16)**16",
        "((eta**16)**16)**16",
        "((2*eta)**16)**16",
        "eta**(tau**tau)",
        "(eta**tau)**tau",
        "exp(exp(exp(9)))",
        "1" * 400,
        "1e999999999",
        "0x" + "f" * 1000,
        "(" * 900 + "eta" + ")" * 900,
        "-" * 1500 + "eta",
        "sqrt(" * 300 + "eta" + ")" * 300,
        "+".join(["eta"] * 500),
        "eta+" * 100_000 + "eta",
        r"\frac" * 390 + "1",
        r"\sqrt" * 390 + "1",
        "{" * 900 + r"\eta" + "}" * 900,
        r"\eta^{" * 300 + "2" + "}" * 300,
        r"9^{9^{9}}",
    ],
)
def test_large_answers_are_refused_at_once(text: str) -> None:
    """Towers of powers and deep or long texts are refused before any expression is built."""
    with pytest.raises(Unreadable):
        read_answer(text, NAMES)


def test_a_word_for_a_number() -> None:
    """If a question has no symbols, the feedback says that it asks for a number, without an empty list."""
    with pytest.raises(Unreadable, match=r"zwei is not a symbol of this question; it asks for a number$"):
        read_answer("zwei", {})


SAME = eta * sigma**2 / M
POWER = M ** sp.Rational(-3, 4) * tau ** sp.Rational(1, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\f" + r"rac{\eta\sigma^2}{M}", SAME),
        (r"\eta*\sigma**2/M", SAME),
        ("2\tau\times" + r"\eta", 2 * tau * eta),
        (r"\eta = \frac{\eta\sigma^2}{M}", SAME),
        (r"$\eta^* = \eta\sigma^2/M$", SAME),
        ("bound <= eta*sigma**2/M", SAME),
        ("eta·sigma²/M", SAME),
        ("η σ²⁄M", SAME),
        ("ησ²/M", SAME),
        ("M⁻¹ × eta * sigma²", SAME),
        ("(1 − 1/M)ᵗᵃᵘ", (1 - 1 / M) ** tau),
        ("2*pi*e", 2 * sp.pi * sp.E),
        ("tau^0.25/M^0.75", POWER),
        ("tau**0.25*M**(-3/4)", POWER),
        ("tau^(1/4) M^(-3/4)", POWER),
        ("tau^12", tau**12),
        ("2 eta tau", 2 * eta * tau),
        ("2eta", 2 * eta),
        ("q₁ + ζ_1", q_1 + zeta_1),
        ("eta − tau", eta - tau),
        ("abs(eta - tau)", sp.Abs(eta - tau)),
        (r"\bigl(\eta+\tau\bigr)", eta + tau),
        ("√(2*eta)", sp.sqrt(2 * eta)),
        ("2.144e-1", sp.Rational(2144, 10000)),
        (".5", sp.Rational(1, 2)),
        ("0.008333333333333333", sp.Rational(8333333333333333, 10**18)),
        ("¹⁄₁₂₀", sp.Rational(1, 120)),
        ("-²/₃", -sp.Rational(2, 3)),
        ("0,2144", sp.Rational(2144, 10000)),
    ],
    ids=str,
)
def test_other_ways_to_write_it(text: str, expected: sp.Expr) -> None:
    """Lost backslashes, Unicode, another left side, and typed decimals are parsed."""
    assert sp.simplify(read_answer(text, NAMES) - expected) == 0


def test_a_new_line_is_no_command() -> None:
    """A formula may span several lines and have a name that begins like the end of a command."""
    u, au = sp.symbols("u au", positive=True)
    assert read_answer("eta +\nu", {"eta": eta, "u": u}) == eta + u
    assert read_answer("eta +\tau", {"eta": eta, "au": au}) == eta + au


def test_a_rounded_number_is_distinguished_from_a_wrong_one() -> None:
    """If an exact fraction is required, the message on a rounded number differs from that on a wrong one."""
    question = NumberQuestion(name="last", title="", text="", points=2, solution=sp.Rational(131347525, 2097152))
    assert "right when rounded; an exact integer or fraction" in mark_answer(question, GivenAnswer("62.63")).comment
    assert "rounded" not in mark_answer(question, GivenAnswer("61")).comment


def test_an_exact_number_that_python_has_computed() -> None:
    """All digits of a float count as the exact fraction, as in `last = 1/120` without quotes."""
    question = NumberQuestion(name="last", title="", text="", points=2, solution=sp.Rational(1, 120))
    for text, share in ((str(1 / 120), 1), ("0.00833333333333333", 1), ("0.0083333333333", 0)):
        assert mark_answer(question, GivenAnswer(text)).share == share


def test_a_function_of_floats() -> None:
    """Rounding costs no case, and the comment says how to avoid it; an object that is not a number is named."""
    cases = (("1/2",), ("1/3",))
    question = CodeQuestion(
        name="third", title="", text="", points=2, arguments=("x",), tried=cases, expected=("1/6", "1/9"), body=""
    )
    exact = mark_answer(question, GivenAnswer(outputs=("1/6", "1/9")))
    rounded = mark_answer(question, GivenAnswer(outputs=(str(1 / 6), str(1 / 9))))
    assert exact.share == rounded.share == 1
    assert exact.comment == "correct on all cases"
    assert rounded.comment == "correct on all cases up to rounding: keep fractions exact"
    assert mark_answer(question, GivenAnswer(outputs=("0.1667", "0.1111"))).share == 0
    none = mark_answer(question, GivenAnswer(outputs=("<generator object third>", "1/9")))
    assert (
        "third(1/2) should be 1/6, your function returned <generator object third>, which is no number" in none.comment
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"(1-\eta)^2\|x^0-x^*\|^2", "a norm is not read: write the question's symbol for it, one of M,"),
        ("eta*||x0||^2", "a norm is not read"),
        ("η‖x⁰‖²", "a norm is not read"),
        ("(2 eta + sigma)/x", "x is not a symbol of this question"),
        ("2 eta + foo", "foo is not a symbol of this question"),
        ("the bound is small", "not an expression in Python's notation at `bound is small`"),
        ("sigm*eta", "sigm is not a symbol of this question; .*; is it sigma?"),
    ],
    ids=str,
)
def test_a_formula_with_other_symbols_says_what_to_write(text: str, reason: str) -> None:
    """The message on a norm gives its symbol in the question; a misspelt symbol is compared with the closest one."""
    with pytest.raises(Unreadable, match=reason):
        read_answer(text, NAMES)


def test_a_norm_on_the_left_is_dropped() -> None:
    """A left side is dropped, also if it is a norm."""
    assert read_answer(r"\|x^T-x^*\|^2 \le \eta\sigma^2/M", NAMES) == SAME


def test_a_wrong_formula_is_wrong_at_two() -> None:
    """Formulas are compared at symbols 2, 3, ... in their order: x + y and x y are 5 and 6 there."""
    x, y = sp.symbols("x y", positive=True)
    question = ExpressionQuestion(name="product", title="", text="", points=1, solution=x * y, names={"x": x, "y": y})
    found = mark_answer(question, GivenAnswer("x + y"))
    assert re.search(r"x = 2, y = 3 your formula \w+ 5, .* 6$", found.comment)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x^12", "x^{12}"),
        ("x**12", "x^{12}"),
        ("x^12 + y**3", "x^{12} + y^{3}"),
        ("$x^12$", "$x^12$"),
        ("{x}**12", "{x}^{12}"),
    ],
)
def test_powers_as_tex_writes_them(given: str, expected: str) -> None:
    """In plain text an exponent has all its digits; TeX stays unchanged."""
    assert convert_powers(given) == expected


A, B, G = sp.symbols("A B sigma_G", positive=True)
SHORT = {"A": A, "B": B, "M": M, "tau": tau, "sigma_G": G}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*sqrt(AB)", 2 * sp.sqrt(A * B)),
        ("AB^2", A * B**2),
        ("AB**2", A * B**2),
        ("Mtau/2", M * tau / 2),
        ("2Msigma_G^2", 2 * M * G**2),
        ("AB(A + B)", A * B * (A + B)),
        ("sqrt(AB/(Mtau))", sp.sqrt(A * B / (M * tau))),
    ],
)
def test_products_without_signs(text: str, expected: sp.Expr) -> None:
    """A word that splits into symbols in one way is their product, with powers as on paper."""
    assert sp.simplify(read_answer(text, SHORT) - expected) == 0


def test_words_that_are_no_products() -> None:
    """A fraction before a product has two readings; a word with two splits is not a product."""
    with pytest.raises(Ambiguous):
        read_answer("A/MB", SHORT)
    for text in ("argmin", "ABC", "AB2"):
        with pytest.raises(UnknownSymbol, match="is not a symbol"):
            read_answer(text, SHORT)
    two_ways = {"a": A, "ab": B, "b": M, "bb": tau}
    with pytest.raises(UnknownSymbol, match="abb is not a symbol"):
        read_answer("abb", two_ways)


@pytest.mark.parametrize(
    "text",
    [
        "O(tau^2)",
        r"\mathcal{O}\left(\tau^2\right)",
        "A + O(tau^3)",
        r"\Theta(\tau)",
        "Θ(τ)",
        r"\tilde O(\tau)",
        r"O[\tau]",
    ],
)
def test_orders_are_for_a_person(text: str) -> None:
    """An order such as O(x) is left to a person; a symbol with that name is parsed as usual."""
    with pytest.raises(UnknownSymbol, match="leaves the constants open"):
        read_answer(text, SHORT)
    named = {"O": A, "tau": tau}
    assert read_answer("O(tau + 1)", named) == A * (tau + 1)
