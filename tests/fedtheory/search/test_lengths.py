"""Norms: triangle inequalities, averages, Lipschitz gradients and roots are proved from statements; near misses are
not.
"""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.search import Found, find_proof
from fedtheory.search.certificate_terms import search_terms
from fedtheory.search.lengths import _find_root

x, y, z, F, F_i = sp.symbols("x y z F F_i", real=True)
L, eta, rho = sp.symbols("L eta rho", positive=True)
POINTS: dict[Any, Any] = {
    x: q.point,
    y: q.second_point,
    z: q.third_point,
    F: q.objective,
    F_i: q.client_objective,
    L: q.smoothness,
}


def _length(of: Any) -> Any:
    return sp.sqrt(norm_sq(of))


def _slope(point: Any) -> Any:
    return Gradient(F, point)


def _claim(lhs: Any, rhs: Any, assumptions: tuple[Any, ...] = (a.smooth,)) -> Claim:
    used = sp.sympify(lhs).free_symbols | sp.sympify(rhs).free_symbols | {L}
    where = {symbol: quantity for symbol, quantity in POINTS.items() if symbol in used}
    return resolve(Claim(id="mine:l", place="points", lhs=lhs, rhs=rhs, where=where, assumptions=assumptions))


TRUE = {
    "triangle": _claim(_length(x + y), _length(x) + _length(y)),
    "triangle of three points": _claim(_length(x - z), _length(x - y) + _length(y - z)),
    "reverse triangle": _claim(_length(x) - _length(y), _length(x - y)),
    "a length": _claim(0, _length(x - y)),
    "gradients": _claim(_length(_slope(x) - _slope(y)), L * _length(x - y)),
    "gradient elsewhere": _claim(_length(_slope(x)), _length(_slope(y)) + L * _length(x - y)),
    "mean of gradients": _claim(_length(Average(Gradient(F_i, x))), Average(_length(Gradient(F_i, x)))),
    "a client's deviation elsewhere": _claim(
        _length(Gradient(F_i, x) - _slope(x)), _length(Gradient(F_i, y) - _slope(y)) + 2 * L * _length(x - y)
    ),
    "mean of changes": _claim(_length(Average(Gradient(F_i, x) - Gradient(F_i, y))), L * _length(x - y)),
}
FALSE = {
    "triangle, turned": _claim(_length(x) + _length(y), _length(x + y)),
    "half a triangle": _claim(_length(x - z), (_length(x - y) + _length(y - z)) / 2),
    "half the gradients": _claim(_length(_slope(x) - _slope(y)), L / 2 * _length(x - y)),
    "mean of gradients, turned": _claim(Average(_length(Gradient(F_i, x))), _length(Average(Gradient(F_i, x)))),
    "a client's deviation elsewhere, by half the change": _claim(
        _length(Gradient(F_i, x) - _slope(x)), _length(Gradient(F_i, y) - _slope(y)) + L * _length(x - y)
    ),
    "gradient elsewhere, without the change": _claim(_length(_slope(x)), _length(_slope(y))),
}


@pytest.mark.parametrize("name", TRUE)
def test_lengths_are_bounded(name: str) -> None:
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    assert found.proof.verdict == "proved"


@pytest.mark.parametrize("name", FALSE)
def test_near_misses_are_not(name: str) -> None:
    assert not isinstance(find_proof(FALSE[name]), Found)


@pytest.mark.parametrize(
    ("number", "root"),
    [(4 * L**2, 2 * L), (L**2 * (eta - 1) ** 2 / rho**4, L * (eta - 1) / rho**2), (L, None), (2 * L**2, None)],
)
def test_find_roots(number: Any, root: Any) -> None:
    """A square root exists for norms of squares only, with either sign; the kernel requires the sign that is used."""
    found = _find_root(number)
    assert (found is None) == (root is None)
    if found is not None:
        assert sp.expand(found**2 - number) == 0


BY_LEMMAS = {
    "lecture27:thm-1.step": ["lecture27:thm-1.g"],
    "lecture27:thm-1.loss": ["lecture27:thm-1"],
    "liu2022:eq-8.fixed": ["liu2022:lemma-1"],
}


@pytest.mark.long
@pytest.mark.parametrize("name", BY_LEMMAS)
def test_steps_are_found_again_by_lemmas(name: str) -> None:
    """Steps are proved by named inequalities, and by proved claims at the same place or on the largest drift."""
    found = search_terms(find(name))
    assert isinstance(found, Found)
    assert found.proof.verdict == "proved"
    assert list(found.proof.certificate.lemmas) == BY_LEMMAS[name]
