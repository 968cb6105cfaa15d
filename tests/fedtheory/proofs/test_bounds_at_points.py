"""Bounds on gradients at free points: they are known where a claim assumes them, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, assumption, square
from fedtheory.kernel.expressions import Average, Gradient, Inner
from fedtheory.proofs import Certificate, check_certificate

x, y, F, F_i = sp.symbols("x y F F_i", real=True)
zeta, zeta_mean, G = sp.symbols("zeta zeta_mean G", nonnegative=True)
WHERE: dict[Any, Any] = {
    **{x: q.point, y: q.second_point, F: q.objective, F_i: q.client_objective},
    **{zeta: q.gradient_dissimilarity, zeta_mean: q.mean_dissimilarity, G: q.second_moment},
}
own, whole = Gradient(F_i, x), Gradient(F, x)
APART = norm_sq(own - whole)
ONE_CLIENT, OF_MEAN, MOMENT = (
    f"bounded {what} at point" for what in ("dissimilarity", "mean dissimilarity", "second moment")
)


def claim_that(lhs: Any, rhs: Any, assumed: Sequence[Any], **changed: Any) -> Claim:
    """Return a claim about free points."""
    used = sp.sympify(lhs).free_symbols | sp.sympify(rhs).free_symbols | {x, F, F_i}
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    stated: dict[str, Any] = {"id": "t:points", "place": "points", "lhs": lhs, "rhs": rhs, "where": where}
    return Claim(**stated | {"assumptions": (a.smooth, *assumed)} | changed)


def verdict_on(claim: Claim, *terms: Term) -> str:
    """Return the kernel verdict on a sum of terms."""
    return check_certificate(claim, Certificate(claim=claim.id, links=[list(terms)])).verdict


def term(name: str, averaged: bool = False) -> Term:
    """Return an assumption as a term, averaged over the clients or for each of them."""
    return Term(sp.S.One, assumption(name), averaged=averaged)


@pytest.mark.parametrize(
    ("lhs", "rhs", "assumed", "terms"),
    [
        (APART, zeta**2, a.bounded_dissimilarity, [term(ONE_CLIENT)]),
        (Average(APART), zeta**2, a.bounded_dissimilarity, [term(ONE_CLIENT, True)]),
        (Average(APART), zeta_mean**2, a.bounded_mean_dissimilarity, [term(OF_MEAN)]),
        (norm_sq(own), G**2, a.bounded_second_moment, [term(MOMENT)]),
        (norm_sq(whole), G**2, a.bounded_second_moment, [term(MOMENT, True), Term(1, square(own - whole), True)]),
    ],
)
def test_each_assumption_bounds_gradients_at_a_point(lhs: Any, rhs: Any, assumed: Any, terms: Sequence[Term]) -> None:
    """A bound follows from its assumption; a smaller one does not, nor one without the assumption."""
    claim = claim_that(lhs, rhs, [assumed])
    assert verdict_on(claim, *terms) == "proved"
    assert verdict_on(claim_that(lhs, sp.Rational(99, 100) * rhs, [assumed]), *terms) == "broken"
    assert verdict_on(claim_that(lhs, rhs, []), *terms) == "broken"


def test_a_bound_at_one_point_is_none_at_another() -> None:
    """The gradients at a second point are not those at the first, and a point must have a symbol."""
    there = norm_sq(Gradient(F_i, y) - Gradient(F, y))
    assert verdict_on(claim_that(there, zeta**2, [a.bounded_dissimilarity]), term(ONE_CLIENT)) == "broken"
    between = norm_sq(own - Gradient(F, y))
    assert verdict_on(claim_that(between, zeta**2, [a.bounded_dissimilarity]), term(ONE_CLIENT)) == "broken"
    elsewhere = term("bounded dissimilarity at second_point")
    assert verdict_on(claim_that(APART, zeta**2, [a.bounded_dissimilarity]), elsewhere) == "broken"
    second = claim_that(there, zeta**2, [a.bounded_dissimilarity])
    assert verdict_on(second, elsewhere) == "proved"


def test_a_bound_on_the_client_average_bounds_no_client() -> None:
    """One of many clients may differ more than the average does."""
    claim = claim_that(APART, zeta_mean**2, [a.bounded_mean_dissimilarity])
    assert verdict_on(claim, term(OF_MEAN)) == "broken"
    assert verdict_on(claim, term(OF_MEAN, True)) == "broken"


@pytest.mark.parametrize("place", ["step", "path", "round", "run"])
def test_only_statements_about_points_have_free_points(place: Any) -> None:
    """At other places the name of a bound at a point is unknown, or a point has no place."""
    names = {one: name for one, name in WHERE.items() if one in (F, F_i, zeta)} | {x: q.server_model}
    claim = claim_that(APART, zeta**2, [a.bounded_dissimilarity], place=place, where=names)
    assert verdict_on(claim, term(ONE_CLIENT)) == "broken"


def test_a_moment_bounds_no_difference_of_gradients() -> None:
    """Two gradients of length G can be 2 G apart."""
    gap = own - Gradient(F_i, y)
    two = [term(MOMENT), term("bounded second moment at second_point")]
    assert verdict_on(claim_that(norm_sq(gap), G**2, [a.bounded_second_moment]), *two) == "broken"
    assert verdict_on(claim_that(norm_sq(gap), 2 * G**2, [a.bounded_second_moment]), *two) == "broken"
    inner = claim_that(-2 * Inner(own, Gradient(F_i, y)), 2 * G**2, [a.bounded_second_moment])
    assert verdict_on(inner, *two, Term(1, square(own + Gradient(F_i, y)))) == "proved"
