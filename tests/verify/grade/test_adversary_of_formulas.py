"""Wrong formulas that agree with the solution at all numbers at which they are compared."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.language.exercises import ExpressionQuestion
from verify.grade.answer_limits import Ambiguous
from verify.grade.answer_text import read_answer
from verify.grade.equality import agree, are_equal
from verify.grade.questions.expression import _mark

eta, tau, zeta, L, T = sp.symbols("eta tau zeta L T", positive=True)
REFERENCE = 18 * tau**2 * eta**2 * zeta**2
LONG = sum((eta + i) ** 2 * (zeta + i) ** 2 / (tau + i) for i in range(1, 9))
NARROW = sp.exp(-(10**30) * eta)
HIDDEN = {
    "an exponential beside a maximum": NARROW * sp.Max(tau, zeta),
    "an exponential of unknown sign": NARROW * (tau - zeta),
    "an exponential in a long formula": NARROW * LONG,
    "a quotient in a long formula": LONG / (1 + 10**60 * eta) / (1 + 10**60 * tau),
    "an exponential in a denominator": LONG / (1 + sp.exp(10**30 * eta)),
}


@pytest.mark.parametrize("part", HIDDEN)
def test_a_part_that_is_negligible_at_all_points_is_not_zero(part: str) -> None:
    answer = REFERENCE - HIDDEN[part]
    assert agree(answer, REFERENCE)
    assert not are_equal(answer, REFERENCE)


SMALL = {
    "a rational": sp.Rational(1, 10**128),
    "an exponential": sp.exp(-300),
    "an irrational multiple": sp.sqrt(2) / 10**120,
    "a power of an approximation": (sp.sqrt(2) - sp.Rational(141421356237309, 10**14)) ** 32,
    "a difference of roots": sp.sqrt(10**100 + 1) - 10**50,
}


@pytest.mark.parametrize("constant", SMALL)
def test_a_constant_that_is_negligible_at_all_points_is_not_zero(constant: str) -> None:
    solution = eta / tau + 1
    answer = solution - SMALL[constant]
    assert agree(answer, solution)
    assert not are_equal(answer, solution)
    assert not are_equal(sp.Max(answer, tau), sp.Max(solution, tau))


@pytest.mark.parametrize(
    "constant",
    [sp.log(4) - 2 * sp.log(2), sp.sqrt(3 + 2 * sp.sqrt(2)) - 1 - sp.sqrt(2), sp.exp(2) * sp.exp(-1) - sp.E],
)
def test_a_constant_that_is_zero_in_another_form_is_zero(constant: sp.Expr) -> None:
    assert are_equal(eta / tau + constant, eta / tau)


@pytest.mark.parametrize("text", ["2 +- 1", "2+-1", "eta +-tau", "(eta)+-1"])
def test_both_signs_are_no_answer(text: str) -> None:
    with pytest.raises(Ambiguous, match="both signs"):
        read_answer(text, {"eta": eta, "tau": tau})


def test_a_sign_of_a_term_is_read() -> None:
    found = [read_answer(text, {"eta": eta}) for text in ("2+(-1)", "2 + -1", "-+2", "2--1", "eta-1")]
    assert found == [1, 1, -2, 3, eta - 1]


def test_a_person_reads_a_formula_that_is_not_shown_to_be_equal() -> None:
    question = ExpressionQuestion(
        name="drift",
        title="",
        text="",
        points=2,
        solution=REFERENCE,
        names={"eta": eta, "tau": tau, "zeta": zeta},
    )
    right = "18*tau**2*eta**2*zeta**2"
    assert _mark(question, right).share == 1
    assert _mark(question, f"{right} - exp(-10**30*eta)*Max(tau, zeta)").share is None
    assert _mark(question, f"{right} - exp(-10**9*eta)*Max(tau, zeta)").share == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.expand(REFERENCE * (eta + tau + L) ** 4) / (eta + tau + L) ** 4, REFERENCE),
        (sp.Max(eta, L) + sp.Min(eta, L), eta + L),
        (sp.Abs(eta - 1) ** 2, (eta - 1) ** 2),
        (sp.sqrt(eta**2 + 2 * eta + 1), eta + 1),
        (sp.sqrt(3 + 2 * sp.sqrt(2)) * eta, (1 + sp.sqrt(2)) * eta),
        (1 / (1 + sp.sqrt(eta)), (1 - sp.sqrt(eta)) / (1 - eta)),
        (sp.exp(-2 * eta * T) - 1, (sp.exp(-eta * T) - 1) * (sp.exp(-eta * T) + 1)),
        ((1 - eta * L) ** T * (1 - eta * L), (1 - eta * L) ** (T + 1)),
        (2**T * 3**T, 6**T),
        (sp.log(eta**2), 2 * sp.log(eta)),
        (2 * sp.ceiling(T / eta), sp.ceiling(T / eta) * 2),
    ],
)
def test_right_formulas_in_other_forms_are_equal(left: sp.Expr, right: sp.Expr) -> None:
    assert are_equal(left, right)
