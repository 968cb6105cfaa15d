"""A bound is equal to the reference, valid and more or less tight, or refuted by a run that anyone can check."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from fedtheory.sources.renard2022.statements.notation import L, M, eta, sigma, tau, zeta
from verify.check import check
from verify.grade import grade_bound
from verify.grade.bound import battery
from verify.grade.rule import share
from verify.grade.same import are_equal, has_units_of

DRIFT = find("renard2022:lemma-2.3")
SHARPER = find("renard2022:lemma-2.3.sharp").relations[0].right
PRINTED = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2


def test_the_reference_in_another_form() -> None:
    """A bound that is the same number counts in full, however it is written."""
    found = grade_bound(DRIFT, 2 * tau * eta**2 * (9 * tau * zeta**2 + 2 * sigma**2))
    assert (found.standing, found.share) == ("equal", 1)


@pytest.mark.parametrize(("factor", "expected"), [(sp.Rational(3, 2), Fraction(1)), (50, Fraction(1, 2))])
def test_a_looser_bound_is_proved(factor: sp.Expr, expected: Fraction) -> None:
    """What is at least the reference is proved; the excess over it is the factor, and decides on the points."""
    found = grade_bound(DRIFT, factor * PRINTED)
    assert (found.standing, found.share) == ("proved", expected)
    assert found.excess == pytest.approx(float(factor))
    assert found.tightness is not None
    assert 0 < found.tightness < 1


@pytest.mark.parametrize("answer", [SHARPER, 17 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2])
def test_a_sharper_bound_is_proved(answer: sp.Expr) -> None:
    """What is at least a proved claim that sharpens the reference is proved as well, and counts in full."""
    found = grade_bound(DRIFT, answer)
    assert (found.standing, found.share) == ("proved", 1)
    assert found.excess is not None
    assert found.excess <= 1


def test_a_claim_with_more_assumptions_proves_nothing() -> None:
    """The bound for full gradients is sharper still, and is refuted where there is noise."""
    quiet = find("renard2022:lemma-2.3.quiet").relations[0].right
    assert grade_bound(DRIFT, quiet).standing == "refuted"


def test_a_bound_that_stands() -> None:
    """What is neither proved nor refuted within the budget counts as valid, with the runs that it stood."""
    found = grade_bound(DRIFT, tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2, budget=0.2)
    assert (found.standing, found.share) == ("not refuted", 1)
    assert "no violation in" in found.reason


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (tau**2 * eta**2 * zeta**2, Fraction(1, 4)),
        (4 * tau * eta**2 * sigma**2, Fraction(1, 4)),
        (PRINTED - 17 * tau**2 * eta**2 * zeta**2 - tau, Fraction(0)),
        (sp.Integer(0), Fraction(0)),
    ],
)
def test_a_wrong_bound_comes_back_with_a_run(answer: sp.Expr, expected: Fraction) -> None:
    """The run file violates the bound in rationals, with the sides that are told; units decide on a share."""
    found = grade_bound(DRIFT, answer)
    assert (found.standing, found.share) == ("refuted", expected)
    assert found.run_file is not None
    exact = check(replace(DRIFT, id="answer", rhs=answer), parse_run(tomllib.loads(found.run_file), RATIONAL))
    assert exact.holds is False
    assert exact.worst is not None
    assert (RATIONAL.text(exact.worst.lhs), RATIONAL.text(exact.worst.rhs)) == (found.lhs, found.rhs)


@pytest.mark.parametrize("claim", ["renard2022:property-2.4", "lecture27:h", "renard2022:eq-8"])
def test_only_upper_bounds_are_asked_for(claim: str) -> None:
    """A claim of another form is refused by name."""
    with pytest.raises(InputError, match=claim):
        grade_bound(find(claim), eta)


def test_the_battery_is_of_the_claim() -> None:
    """Every run that answers are tried on satisfies the claim's assumptions, and the claim."""
    assert len(battery(DRIFT)) > 50
    assert all(check(DRIFT, run).holds for run in battery(DRIFT)[:20])


def test_units() -> None:
    """A sum of terms with different units is found, one with lost numbers or counts is not."""
    assert has_units_of(PRINTED / M, PRINTED, DRIFT) is True
    assert has_units_of(PRINTED + eta * zeta, PRINTED, DRIFT) is False
    assert has_units_of(sp.Symbol("n", positive=True) * PRINTED, PRINTED, DRIFT) is None


def test_units_where_a_base_is_negative() -> None:
    """1 - eta L has no units; that it is negative at some points, where a broken power is none, does not matter."""
    contracting = (1 - eta * L) ** (2 * tau) * PRINTED
    assert has_units_of(contracting, PRINTED, DRIFT) is True
    assert has_units_of(contracting * eta, PRINTED, DRIFT) is False


def test_answers_with_exponentials() -> None:
    """They are tried as others are: enclosures decide in exact arithmetic."""
    assert grade_bound(DRIFT, sp.exp(eta * L) * PRINTED).standing == "not refuted"
    refuted = grade_bound(DRIFT, sp.exp(-50 * tau) * PRINTED)
    assert refuted.standing == "refuted"
    assert refuted.right_units


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((eta + 1) ** 2, eta**2 + 2 * eta + 1, True),
        (sp.sqrt(eta**2 * tau), eta * sp.sqrt(tau), True),
        (sp.Max(eta, tau) + sp.Min(eta, tau), eta + tau, True),
        (eta**2, eta**2 + sp.Rational(1, 10**12), False),
        (eta, tau, False),
        (sp.log(-1 - eta), eta, False),
    ],
)
def test_equality(left: sp.Expr, right: sp.Expr, expected: bool) -> None:
    """Equality is of the numbers, not of the form."""
    assert are_equal(left, right) is expected


def test_the_rule() -> None:
    """More points for an answer that is valid than for one that is not, and for a tight one than for a loose one."""
    shares = [
        share("equal", 1, True),
        share("proved", 2, True),
        share("not refuted", 2.1, True),
        share("refuted", None, True),
        share("refuted", None, False),
    ]
    assert shares == [1, 1, Fraction(1, 2), Fraction(1, 4), 0]
