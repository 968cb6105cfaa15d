"""Edge cases of the kernel against values by hand: nested random expressions, and Bernoulli's inequality."""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp
from flint import fmpq, fmpq_mpoly_ctx
from test_kernel_rounds import THEORY, F, F_i, same, w, x_i

from fedtheory.kernel import Numbers, Rejected, polynomials, sizes, vector
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Inner, LocalSum, Selected, inner
from fedtheory.kernel.quadratic_forms import _find_binder
from fedtheory.kernel.signs import _drop_squares, _is_square, is_nonnegative


@pytest.mark.parametrize("point", [Selected(x_i), w + Selected(x_i), 2 * Selected(x_i)], ids=str)
def test_gradients_at_sampled_means_are_random(point: sp.Expr) -> None:
    """A gradient at the participants' average is random, and so are sums and averages of it."""
    gradient = Gradient(F, point)
    for random in (gradient, Gradient(F_i, point), LocalSum(gradient), Selected(gradient), w + Average(gradient)):
        assert vector(random, THEORY)
        with pytest.raises(Rejected, match=r"the expectation of .* is not known"):
            vector(Expectation(random), THEORY)
    with pytest.raises(Rejected, match="is not independent of them"):
        same(inner(gradient, Selected(x_i)), 0)
    assert same(inner(Expectation(Selected(x_i)), w), inner(Average(x_i), w))


@pytest.mark.parametrize("objective", [F, F_i], ids=str)
def test_objectives_are_no_vectors(objective: sp.Expr) -> None:
    """An objective in the place of a point, or of its gradient, is named as such."""
    for wrong in (inner(objective, w), inner(Gradient(F, objective), w)):
        with pytest.raises(Rejected, match="is an objective, not a vector: expected a point, or a gradient at one"):
            same(wrong, 0)


a, t, M = sp.symbols("a t M", positive=True)
x, k = sp.Symbol("x", real=True), sp.Symbol("k", integer=True, nonnegative=True)
NUMBERS = Numbers(symbols=frozenset({a, x, k, t, M}), at_least={t: 1, M: 2}, integer=frozenset({k}))
POWERS = {
    "Bernoulli": ((1 + a) ** k - 1 - a * k, True),
    "for real exponents from one on": ((1 + a) ** t - 1 - a * t, True),
    "one more": ((1 + a) ** (k + 1) - 1 - a * (k + 1), True),
    "of a count": (M**k - 1 - (M - 1) * k, True),
    "twice the slope": ((1 + a) ** k - 1 - 2 * a * k, False),
    "the base for the slope": ((1 + a) ** k - 1 - (1 + a) * k, False),
    "a count for the slope": (M**k - 1 - M * k, False),
    "more than one": ((1 + a) ** k - 1 - a * k - a, False),
    "a smaller exponent": ((1 + a) ** (k - 1) - 1, False),
    "an unknown base": ((1 + x) ** k - 1, False),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers_from_one_on(name: str) -> None:
    """(1 + a)^n >= 1 + a n for a >= 0 and n = 0, 1, 2, ...; false variants are negative somewhere."""
    number, stands = POWERS[name]
    assert is_nonnegative(number, NUMBERS, ()) is stands
    places = product((sp.S.Half, sp.Integer(3)), map(sp.Integer, range(3)), map(sp.Integer, (2, 5)))
    values = [number.xreplace({a: p, x: -sp.S.Half, k: n, t: n + 1, M: m}) for p, n, m in places]
    assert all(value >= 0 for value in values) is stands


def test_the_work_of_a_composition(monkeypatch: pytest.MonkeyPatch) -> None:
    """x^3 y at x = u + v and y = 2^640 u has four terms, and 1 + 4 * 11 words, counted in advance."""
    ring = fmpq_mpoly_ctx.get(("u", "v"))
    u, v = ring.gens()
    asked = []
    monkeypatch.setattr(sizes, "_require", lambda *counts: asked.append(counts[::2]))
    large = fmpq(2**640) * u
    found = polynomials.substitute(u**3 * v, [u + v, large])
    assert found == (u + v) ** 3 * large
    assert [sizes.count_words(one) for one in (u + v, large)] == [1, 11]
    assert asked == [(4, 1 + 4 * 11)]
    assert polynomials.substitute(u**3 * v, [large, u + v]) == large**3 * (u + v)
    assert asked[1:] == [(2, 1 + 4 * 11)]


def test_even_powers_of_polynomials_are_squares() -> None:
    """Only numerical denominators are allowed, since a square of a quotient may be undefined; averages are no
    polynomials.
    """
    x, y = sp.symbols("x y", real=True)
    z = sp.Symbol("z")
    for factor, square in (
        ((x - y) ** 2, True),
        ((x - y) ** 4, True),
        ((x / 2 - y) ** 2, True),
        ((x - y) ** 3, False),
        ((x - y) ** -2, False),
        (sp.sqrt(x - y), False),
        ((x + 1 / y) ** 2, False),
        ((x - z) ** 2, False),
        ((x - Average(y)) ** 2, False),
        (x, False),
    ):
        assert _is_square(factor) is square
    assert _drop_squares(3 * (x - y) ** 2 * y) == 3 * y


def test_kinds_of_monomials() -> None:
    """Inner products, and averages and sums of one, are distinguished from other averages."""
    plain = inner(w, x_i)
    for monomial, expected in (
        (plain, Inner),
        (Average(plain), Average),
        (LocalSum(plain), LocalSum),
        (Expectation(plain), Expectation),
        (Average(x_i), None),
        (Average(Average(plain)), None),
        (F, None),
    ):
        assert _find_binder(monomial) is expected
