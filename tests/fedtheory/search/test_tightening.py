"""Smaller constants of a bound: each is proved, and none is below the true one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, InputError
from fedtheory.kernel.expressions import Gradient, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.search import NotFound, Tightened, find_proof, tighten, tightening

L, f, x, y = sp.Symbol("L", positive=True), *sp.symbols("f x y")
ABOVE = Value(f, y) - Value(f, x) - inner(Gradient(f, x), y - x)
QUADRATIC = Claim(
    id="mine:quadratic",
    lhs=ABOVE,
    rhs=3 * L * norm_sq(x - y),
    where={L: q.smoothness, f: q.objective, x: q.point, y: q.second_point},
    place="points",
    assumptions=[a.convex_and_smooth],
)
SPLIT = Claim(
    id="mine:young",
    lhs=norm_sq(x + y),
    rhs=5 * norm_sq(x) + 2 * norm_sq(y),
    where={x: q.point, y: q.second_point},
    place="points",
)


def test_the_descent_lemma_gets_its_half() -> None:
    """The smallest constant is exactly 1/2, which a quadratic attains."""
    found = tighten(QUADRATIC)
    assert isinstance(found, Tightened)
    (term,) = found.terms
    assert term.stated == 3
    assert sp.Rational(1, 2) <= term.proved <= sp.Rational(3, 5)
    assert found.found.proof.verdict == "proved"
    assert found.found.proof.claim.relations[0].right == term.proved * L * norm_sq(x - y)


def test_terms_are_lowered_in_turn() -> None:
    """|x+y|^2 <= a|x|^2 + b|y|^2 holds for (a-1)(b-1) >= 1: after one constant is lowered, neither can be."""
    found = tighten(SPLIT)
    assert isinstance(found, Tightened)
    numbers = {term.term: term.proved for term in found.terms}
    first, second = numbers[norm_sq(x)], numbers[norm_sq(y)]
    assert 1 <= (first - 1) * (second - 1) <= sp.Rational(3, 2)
    assert first + second < 7
    assert found.work > 0


def test_a_term_that_is_not_needed_goes() -> None:
    claim = replace(QUADRATIC, rhs=L * norm_sq(x - y) / 2 + 7 * norm_sq(x))
    found = tighten(claim)
    assert isinstance(found, Tightened)
    assert {term.term: term.proved for term in found.terms}[norm_sq(x)] == 0


def test_false_bounds_are_not_tightened() -> None:
    """A false bound is not tightened."""
    false = replace(QUADRATIC, rhs=L * norm_sq(x - y) / 4)
    assert isinstance(find_proof(false), NotFound)
    assert isinstance(tighten(false), NotFound)


def test_only_upper_bounds_have_numbers_to_lower() -> None:
    with pytest.raises(InputError, match="expected one upper bound"):
        tighten(replace(QUADRATIC, lhs=QUADRATIC.rhs, rhs=None, relation=">="))


def test_the_work_is_that_of_all_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed attempts count as work."""
    works: list[int] = []

    def search(*given: Any) -> Any:
        found = find_proof(*given)
        works.append(found.work)
        return found

    monkeypatch.setattr(tightening, "find_proof", search)
    found = tighten(QUADRATIC)
    assert isinstance(found, Tightened)
    assert len(works) > 1
    assert found.work == sum(works)
