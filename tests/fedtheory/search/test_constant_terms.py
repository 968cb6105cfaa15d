"""Constant terms by monomials, and steps with larger constants than needed."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Numbers, Term, assumption, one
from fedtheory.kernel.expressions import Average, Expectation
from fedtheory.kernel.quotients import quotient
from fedtheory.language.targets import resolve
from fedtheory.search import Found, NotFound, find_proof
from fedtheory.search.blocks import Blocks
from fedtheory.search.candidates import CandidateInequality
from fedtheory.search.constants import split_constants
from fedtheory.search.positivity import SignFacts

own, mean, own_next, mean_next, F = sp.symbols("x_i xbar x_i' xbar' F", real=True)
eta, L, s, h, tau, G = sp.symbols("eta L s h tau G", positive=True)
WHERE: dict[Any, Any] = {
    **{own: q.local_iterate, mean: q.average_iterate, own_next: q.next_local_iterate, tau: q.local_steps},
    **{mean_next: q.next_average_iterate, eta: q.local_step_size, L: q.smoothness, s: q.noise_deviation},
    **{h: q.gradient_dissimilarity, G: q.second_moment},
}
ROUNDS = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)
DRIFT, NEXT = (Expectation(Average(norm_sq(one - other))) for one, other in ((own, mean), (own_next, mean_next)))


def list_blocks(constant: Any, **rows: Any) -> Blocks:
    """Return a scalar with a constant term and values."""
    named = {sp.Symbol(name): quotient(sp.sympify(number)) for name, number in rows.items()}
    return Blocks({sp.S.One: quotient(sp.sympify(constant)), **named}, {})


def facts(*conditions: Any) -> SignFacts:
    """Return facts on the numbers of the tests: tau is a count."""
    return SignFacts(Numbers(symbols=frozenset({eta, s, h, tau}), at_least={tau: 1}), conditions)


def candidate(blocks: Blocks, name: str = "bound") -> CandidateInequality:
    """Return a candidate with given blocks."""
    return CandidateInequality(Term(sp.S.One, assumption(name)), blocks)


def test_each_monomial_of_a_symbol_of_constants_alone_is_a_row() -> None:
    """A symbol that another row has stays in the coefficients, and the number one is a candidate for each monomial."""
    goal = list_blocks(2 * eta * s**2 + eta**2 * h**2 * tau - eta * h**2 / tau + eta, value=eta)
    split = split_constants(
        goal, [candidate(list_blocks(s**2)), CandidateInequality(Term(1, one()), list_blocks(1))], facts()
    )
    assert split is not None
    parts, candidates = split
    expected = {s**2: 2 * eta, h**2: eta**2 * tau - eta / tau, sp.S.One: eta, sp.Symbol("value"): eta}
    assert {row: number.expression for row, number in parts.rows.items()} == {
        row: quotient(number).expression for row, number in expected.items()
    }
    bound, *constants = candidates
    assert bound.blocks.rows.keys() == {s**2}
    assert {each.pattern.coefficient: dict(each.blocks.rows).keys() for each in constants} == {
        row: {row} for row in (s**2, h**2, sp.S.One)
    }


@pytest.mark.parametrize(
    ("goal", "other"),
    [
        (list_blocks(eta * s, value=eta * s), list_blocks(eta)),
        (list_blocks(eta / (eta + s), value=eta), list_blocks(1)),
        (list_blocks(tau, value=1), list_blocks(1)),
        (list_blocks(1, value=1), list_blocks(1)),
    ],
)
def test_other_constants_stay_whole(goal: Blocks, other: Blocks) -> None:
    """Symbols of other rows, of denominators and of counts are not split."""
    assert split_constants(goal, [candidate(other)], facts()) is None


def test_conditions_on_symbols_of_constants_are_candidates() -> None:
    """If the noise is at most the dissimilarity, one pays for the other."""
    goal = list_blocks(eta * h**2, value=eta)
    conditions = [sp.Le(s**2, h**2), sp.Le(eta, 1), sp.Le(s, eta)]
    split = split_constants(goal, [candidate(list_blocks(-(s**2)))], facts(*conditions))
    assert split is not None
    slacks = [each for each in split[1] if each.pattern.coefficient == h**2 - s**2]
    assert [dict(each.blocks.rows) for each in slacks] == [{h**2: quotient(1), s**2: quotient(-1)}]
    assert not [each for each in split[1] if each.pattern.coefficient.has(eta)]


def _drift(factor: Any, constants: Any, assumed: Any, least: Any = 2) -> Claim:
    rhs = factor * DRIFT + eta**2 * constants
    used = rhs.free_symbols | {own_next, mean_next, eta, L}
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    stated: dict[str, Any] = {"lhs": NEXT, "rhs": rhs, "where": where, "conditions": [eta <= 1 / (least * L)]}
    return resolve(Claim(id="mine:drift", place="step", assumptions=(*ROUNDS, *assumed), **stated))


CONVEX, SMOOTH = (a.convex_and_smooth, a.bounded_dissimilarity), (a.smooth, a.bounded_dissimilarity)
TRUE = {
    "twice the dissimilarity": _drift(1 + 1 / tau, 2 * (tau + 1) * h**2 + s**2, CONVEX),
    "both twice": _drift(1 + 1 / tau, 2 * (tau + 1) * h**2 + 2 * s**2, CONVEX),
    "less growth": _drift(1 + 1 / (2 * tau), (4 * tau + 2) * h**2 + s**2, CONVEX),
    "five to one": _drift(1 + 1 / (2 * tau), 5 * tau * h**2 + s**2, CONVEX, 1),
    "the larger one": _drift(1 + 1 / tau, 4 * tau * sp.Max(h**2, s**2), CONVEX, 1),
    "smooth": _drift(1 + 1 / tau + 4 * (tau + 1) * eta**2 * L**2, 4 * (tau + 1) * h**2 + 2 * s**2, SMOOTH, 4),
}
FALSE = {
    "twice the dissimilarity": _drift(1 + 1 / tau, 2 * (tau + 1) * h**2 + s**2 / 4, CONVEX),
    "less growth": _drift(1 + 1 / (2 * tau), h**2 + s**2, CONVEX),
    "the larger one": _drift(1 + 1 / tau, sp.Max(h**2, s**2) / 9, CONVEX, 1),
    "smooth": _drift(1 + 1 / tau, 4 * (tau + 1) * h**2 + 2 * s**2, SMOOTH, sp.Rational(1, 9)),
}


_SOME = [pytest.param(name, marks=[pytest.mark.long] * (name != "twice the dissimilarity")) for name in TRUE]


@pytest.mark.parametrize("name", _SOME)
def test_larger_constants_are_no_harder(name: str) -> None:
    """A bound whose constants leave room is proved like the smallest one."""
    assert isinstance(find_proof(TRUE[name]), Found)


@pytest.mark.long
@pytest.mark.parametrize("name", FALSE)
def test_no_constant_pays_for_another(name: str) -> None:
    """A large constant of the dissimilarity does not make up for a small one of the noise."""
    assert isinstance(find_proof(FALSE[name]), NotFound)
