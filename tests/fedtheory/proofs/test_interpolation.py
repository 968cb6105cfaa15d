"""The interpolation inequality of smooth strongly convex functions at two points holds, and is tight.

The inequality is evaluated in rationals on functions with piecewise linear derivative and curvatures between the two
constants. Variants, and consequences of another constant, are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import Claim, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Context, Numbers, Rejected, Term, interpolation
from fedtheory.kernel.expressions import Gradient, Inner, Value
from fedtheory.language.targets import resolve
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.search import Found, find_proof

x, y, F, F_i = sp.symbols("x y F F_i", real=True)
L, mu, delta, nu = sp.symbols("L mu delta nu", positive=True)
CONTEXT = Context(
    numbers=Numbers(symbols=frozenset({L, mu})), vectors=frozenset({x, y}), objectives=frozenset({F}), smooth={F: L}
)
CURVED = replace(CONTEXT, convex=frozenset({F}), strongly_convex={F: mu})
CONTEXTS = {"strongly convex": CURVED, "convex": replace(CURVED, strongly_convex={}), "smooth": CONTEXT}
SMALLEST = {"strongly convex": mu, "convex": sp.S.Zero, "smooth": -L}


def _derivative(slopes: Sequence[Fraction], at: Fraction) -> Fraction:
    """Return a derivative that is zero at 0, and piecewise linear on intervals of length one, from -2."""
    return _integral(lambda piece: slopes[piece], at)


def _integral(slope_of: Any, at: Fraction) -> Fraction:
    sign = 1 if at >= 0 else -1
    total, place = Fraction(0), Fraction(0)
    while place != at:
        piece = int(place) + 2 if sign > 0 else int(place) + 1
        end = min(place + 1, at) if sign > 0 else max(place - 1, at)
        total += slope_of(piece) * (end - place)
        place = end
    return total


def _value(slopes: Sequence[Fraction], at: Fraction) -> Fraction:
    """Return the value of a function with this derivative, by the exact trapezoidal rule on its pieces."""
    sign = 1 if at >= 0 else -1
    total, place = Fraction(0), Fraction(0)
    while place != at:
        end = min(place + 1, at) if sign > 0 else max(place - 1, at)
        total += (_derivative(slopes, place) + _derivative(slopes, end)) / 2 * (end - place)
        place = end
    return total


def _evaluate(
    name: str, slopes: Sequence[Fraction], points: Sequence[Fraction], least: Fraction, most: Fraction
) -> Any:
    """The expression of the kernel, on a function of one variable."""
    expression = interpolation(F, x, y).instantiate(CONTEXTS[name]).expression
    at = dict(zip((x, y), points, strict=True))
    numbers = {L: most, mu: least}
    known = {Value(F, s): _value(slopes, p) for s, p in at.items()}
    known |= {Gradient(F, s): _derivative(slopes, p) for s, p in at.items()}
    rational = {key: sp.Rational(v.numerator, v.denominator) for key, v in {**known, **at, **numbers}.items()}
    return expression.xreplace(rational).replace(Inner, lambda one, other: one * other)


SLOPES = st.lists(st.fractions(0, 1, max_denominator=4), min_size=4, max_size=4)
AT = st.fractions(-2, 2, max_denominator=3)


@pytest.mark.parametrize("name", CONTEXTS)
@settings(deadline=None)
@given(
    shares=SLOPES,
    points=st.tuples(AT, AT),
    least=st.fractions(0, 2, max_denominator=3),
    more=st.fractions(0, 2, max_denominator=3),
)
def test_it_holds_of_functions(name: str, shares: Any, points: Any, least: Fraction, more: Fraction) -> None:
    """The inequality holds also for equal constants and affine functions."""
    most = least + more
    low = {"strongly convex": least, "convex": Fraction(0), "smooth": -most}[name]
    slopes = [low + share * (most - low) for share in shares]
    assert _evaluate(name, slopes, points, low, most) >= 0


@pytest.mark.parametrize("name", CONTEXTS)
def test_it_is_attained(name: str) -> None:
    """The largest curvature attains the inequality, so that no larger square holds."""
    low, most = {"strongly convex": 1, "convex": 0, "smooth": -3}[name], 3
    quadratic = [Fraction(most)] * 4
    assert _evaluate(name, quadratic, (Fraction(1), Fraction(-1)), Fraction(low), Fraction(most)) == 0


@pytest.mark.parametrize("name", ["strongly convex", "convex"])
def test_functions_of_more_curvature_violate_it(name: str) -> None:
    """Functions that are less convex or less smooth than stated violate the inequality."""
    too_flat, too_bent = [Fraction(-1)] * 4, [Fraction(4)] * 4
    for slopes in (too_flat, too_bent):
        assert _evaluate(name, slopes, (Fraction(1), Fraction(0)), Fraction(int(name != "convex")), Fraction(3)) < 0


def test_it_needs_smoothness() -> None:
    """Convexity alone, or smoothness of another objective, is not enough."""
    for context in (replace(CURVED, smooth={}), replace(CURVED, smooth={F_i: L})):
        with pytest.raises(Rejected, match="smooth"):
            interpolation(F, x, y).instantiate(context)


WHERE = {x: q.point, y: q.second_point, F: q.objective, L: q.smoothness, mu: q.strong_convexity}
CHANGE = Gradient(F, x) - Gradient(F, y)
BOTH = (a.convex_and_smooth, a.strongly_convex_clients)


def _claim(lhs: Any, rhs: Any, assumptions: Any = BOTH, **stated: Any) -> Claim:
    given = {"place": "points", "where": WHERE, "assumptions": assumptions, **stated}
    return resolve(Claim(id="mine:points", lhs=lhs, rhs=rhs, **given))


def _both_ways(coefficient: Any) -> list[Term]:
    return [Term(coefficient, interpolation(F, *pair)) for pair in ((x, y), (y, x))]


NESTEROV = _claim(mu * L * norm_sq(x - y) + norm_sq(CHANGE), (mu + L) * inner(CHANGE, x - y))


def test_a_certificate_with_it() -> None:
    """Nesterov (2018), Theorem 2.1.12, is the sum of the inequality over both orders; half of it is not enough."""
    for coefficient, verdict in ((sp.S.One, "proved"), (sp.Rational(1, 2), "broken"), (-sp.S.One, "broken")):
        certificate = Certificate(claim=NESTEROV.id, links=[_both_ways(coefficient)])
        assert check_certificate(NESTEROV, certificate).verdict == verdict


FALSE: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "not convex": (norm_sq(CHANGE), L * inner(CHANGE, x - y), (a.smooth,), {}),
    "twice the curvature": (2 * mu * L * norm_sq(x - y) + norm_sq(CHANGE), NESTEROV.rhs, BOTH, {}),
    "larger gradients": (mu * L * norm_sq(x - y) + 2 * norm_sq(CHANGE), NESTEROV.rhs, BOTH, {}),
    "reversed constants": (L**2 * norm_sq(x - y), norm_sq(CHANGE), BOTH, {}),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_refused(name: str) -> None:
    """False claims are proved by no multiple of the inequality, and by no search."""
    lhs, rhs, assumptions, stated = FALSE[name]
    where = (
        {symbol: quantity for symbol, quantity in WHERE.items() if symbol != mu} if a.smooth in assumptions else WHERE
    )
    claim = _claim(lhs, rhs, assumptions, where=where, **stated)
    for coefficient in (sp.S.One, 2 * sp.S.One, 1 / (2 * L), L / 4):
        certificate = Certificate(claim=claim.id, links=[_both_ways(coefficient)])
        assert check_certificate(claim, certificate).verdict == "broken"
    assert not isinstance(find_proof(claim), Found)


def test_order_of_the_constants() -> None:
    """The smallest curvature is at most the largest one of the same objectives, and nothing more is known."""
    assert list_known_conditions(NESTEROV) == (mu <= L,)
    of_f = {delta: q.objective_smoothness, nu: q.smallest_curvature}
    assert list_known_conditions(_claim(nu * norm_sq(x), delta * norm_sq(x), where={x: q.point, **of_f})) == (
        nu <= delta,
    )
    mixed = {x: q.point, mu: q.strong_convexity, delta: q.client_smoothness}
    assert not list_known_conditions(_claim(mu * norm_sq(x), delta * norm_sq(x), where=mixed))
    assert isinstance(find_proof(_claim(mu * norm_sq(x), L * norm_sq(x))), Found)
    for less in (L / 2, L**2, L - mu):
        assert not isinstance(find_proof(_claim(mu * norm_sq(x), less * norm_sq(x))), Found)
