"""Norms in the kernel, roots of assumptions, powers from one on, and positive numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import (
    Context,
    Numbers,
    Rejected,
    Term,
    cauchy_schwarz,
    check,
    is_nonnegative,
    is_positive,
    length_of_mean,
    lipschitz,
    lipschitz_gradient_length,
    root,
    scalar,
    square_of_lengths,
    triangle,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, Value, inner, norm_sq

eta, L, rho, delta = sp.symbols("eta L rho delta", positive=True)
zeta = sp.Symbol("zeta", positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
real = sp.Symbol("r", real=True)
a, b, c_i, F, F_i = sp.symbols("a b c_i F F_i", real=True)
NUMBERS = Numbers(symbols=frozenset({eta, L, rho, delta, zeta, n, real}), maybe_zero=frozenset({zeta}))
THEORY = Context(
    numbers=NUMBERS,
    vectors=frozenset({a, b}),
    client_vectors=frozenset({c_i}),
    objectives=frozenset({F}),
    client_objectives=frozenset({F_i}),
    means={F: F_i},
    smooth={F_i: L},
    lipschitz={F: rho},
    visited=frozenset({a, b}),
    assumed={"near": delta**2 - norm_sq(a - b)},
)
ONE = sp.S.One


def length(vector: Expr) -> Expr:
    """Return ``|vector|``."""
    return sp.sqrt(norm_sq(vector))


def holds(lhs: Any, rhs: Any, *terms: Term, conditions: tuple[Any, ...] = ()) -> bool:
    """Return whether the kernel accepts ``lhs <= rhs`` with these terms."""
    return all(step.holds for step in check(lhs, rhs, terms, THEORY, conditions))


TRUE = {
    "homogeneous": (length(3 * a - 3 * b), 3 * length(a - b)),
    "even": (length(b - a), length(a - b)),
    "a positive factor": (length(-eta * a), eta * length(a)),
    "nothing": (length(a - a), sp.S.Zero),
    "the mean of a shared length": (Average(length(a)), length(a)),
    "a product of equal lengths": (length(2 * a) * length(a), 2 * norm_sq(a)),
    "a product of opposite vectors": (length(a - b) * length(b - a), norm_sq(a - b)),
    "a product in another order": (length(3 * b) * length(eta * a), 3 * eta * length(-a) * length(b)),
    "a product with nothing": (length(a - a) * length(b), sp.S.Zero),
}


@pytest.mark.parametrize("name", TRUE)
def test_identities_of_lengths(name: str) -> None:
    """Both sides have the same normal form."""
    left, right = TRUE[name]
    assert scalar(left, THEORY) == scalar(right, THEORY)


@pytest.mark.parametrize("factor", [real, zeta, eta - L])
def test_factors_without_a_sign_stay_inside(factor: Expr) -> None:
    """A factor that may be negative or zero is not moved out of a norm."""
    (monomial,) = scalar(length(factor * a), THEORY)
    assert monomial.has(factor) or monomial.free_symbols & factor.free_symbols


def test_reasons() -> None:
    """The triangle inequality, averages, Lipschitz gradients and objectives are accepted with their constants."""
    assert holds(length(a + 2 * b), length(a) + 2 * length(b), Term(ONE, triangle(a, 2 * b)))
    assert holds(length(Average(c_i)), Average(length(c_i)), Term(ONE, length_of_mean(c_i)))
    apart = Gradient(F_i, a) - Gradient(F_i, b)
    assert holds(length(apart), L * length(a - b), Term(ONE, lipschitz_gradient_length(F_i, a, b)))
    assert holds(Value(F, a) - Value(F, b), rho * length(a - b), Term(ONE, lipschitz(F, a, b)))
    assert holds(length(a - b), delta, Term(ONE, root("near", delta, a - b)))

    assert holds(inner(a, b), length(a) * length(b), Term(ONE, cauchy_schwarz(a, b)))
    assert holds(-inner(a, b), length(a) * length(b), Term(ONE, cauchy_schwarz(a, -b)))
    assert holds(2 * length(a) * length(b), norm_sq(a) + norm_sq(b), Term(ONE, square_of_lengths(a, b)))
    young = Term(1 / eta, square_of_lengths(eta * a, b))
    assert holds(2 * length(a) * length(b), eta * norm_sq(a) + norm_sq(b) / eta, young)


def test_products_of_norms_with_other_factors_are_rejected() -> None:
    """A product of two norms is no number, and stands alone."""
    for other in (length(a) * Value(F, a), length(a) * length(b) * length(a + b), length(a) * inner(a, b)):
        with pytest.raises(Rejected):
            scalar(other, THEORY)


def test_lengths_that_are_not_bounded() -> None:
    """The converse of each inequality, and smaller constants, are not accepted."""
    assert not holds(length(a) * length(b), inner(a, b), Term(-ONE, cauchy_schwarz(a, b)))
    assert not holds(2 * inner(a, b), length(a) * length(b), Term(ONE, cauchy_schwarz(a, b)))
    assert not holds(2 * inner(a, b), length(a) * length(b), Term(ONE, cauchy_schwarz(2 * a, b)))
    assert not holds(3 * length(a) * length(b), norm_sq(a) + norm_sq(b), Term(ONE, square_of_lengths(a, b)))
    assert not holds(norm_sq(a) + norm_sq(b), 2 * length(a) * length(b), Term(-ONE, square_of_lengths(a, b)))
    assert not holds(length(a) + length(b), length(a + b), Term(-ONE, triangle(a, b)))
    assert not holds(length(a + b), length(a) + length(b) / 2, Term(ONE, triangle(a, b)))
    assert not holds(Average(length(c_i)), length(Average(c_i)), Term(-ONE, length_of_mean(c_i)))
    assert not holds(Value(F, a) - Value(F, b), rho * length(a - b) / 2, Term(ONE, lipschitz(F, a, b)))


def test_a_root_is_not_negative() -> None:
    """|v|^2 <= c^2 implies |v| <= c only for c >= 0, this v and this c."""
    assert not holds(length(a - b), -delta, Term(ONE, root("near", -delta, a - b)))
    for bound, of in ((delta / 2, a - b), (delta, a + b), (eta, a - b)):
        with pytest.raises(Rejected):
            holds(length(of), bound, Term(ONE, root("near", bound, of)))


@pytest.mark.parametrize("reason", [lipschitz(F_i, a, b), lipschitz_gradient_length(F, a, b)])
def test_constants_have_to_be_known(reason: Any) -> None:
    """An objective without a constant has no Lipschitz inequality."""
    with pytest.raises(Rejected, match="not known to be"):
        holds(sp.S.Zero, sp.S.One, Term(ONE, reason))


def test_lengths_of_random_vectors_are_rejected() -> None:
    """The root of an averaged square is no averaged norm."""
    random = replace(THEORY, noise=frozenset({c_i}), share=1 / sp.Symbol("M", positive=True))
    with pytest.raises(Rejected, match="vectors that are not random"):
        scalar(length(a), random)
    with pytest.raises(Rejected, match="vectors that are not random"):
        scalar(length(a) * length(b), random)


POWERS: dict[str, tuple[Expr, bool]] = {
    "from one on": ((1 + eta) ** n - 1, True),
    "one step more": ((1 + eta) ** (n + 1) - 1, True),
    "grows with its base": (eta * (1 + eta * L) ** n - eta, True),
    "a base below one": (1 - (1 - eta) ** n, False),
    "a negative exponent": ((1 + eta) ** (-n) - 1, False),
    "of another base": ((1 + eta) ** n - (1 + L) ** n, False),
    "an exponent of any sign": ((1 + eta) ** real - 1, False),
    "one step less": ((1 + eta) ** (n - 1) - 1, False),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers_of_numbers_from_one_on(name: str) -> None:
    """Powers of numbers >= 1 are >= 1 for non-negative exponents; nothing else is known."""
    number, expected = POWERS[name]
    assert is_nonnegative(number, NUMBERS) is expected


POSITIVE: dict[str, tuple[Expr, tuple[Any, ...], bool]] = {
    "a product": (eta * L, (), True),
    "a sum with something that may vanish": (eta + zeta, (), True),
    "what may vanish": (zeta, (), False),
    "what is multiplied by it": (eta * zeta, (), False),
    "a difference": (1 - eta * L / 2, (eta <= 1 / L,), True),
    "a difference that may be zero": (1 - eta * L, (eta <= 1 / L,), False),
    "a difference without a condition": (1 - eta * L / 2, (), False),
    "a whole number that may be zero": (n, (), False),
    "zero": (sp.S.Zero, (), False),
}


@pytest.mark.parametrize("name", POSITIVE)
def test_positive_numbers(name: str) -> None:
    """A number is positive if no part of it is negative, and one part is positive."""
    number, conditions, expected = POSITIVE[name]
    assert is_positive(number, NUMBERS, conditions) is expected
