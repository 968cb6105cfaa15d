"""Steps whose bounds have a potential: their proofs are found from the statements alone, and false ones are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from line_problem import LINE

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel.quotients import ONE, quotient
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.search import Found, certificate_terms, find_proof
from fedtheory.search.blocks import Blocks
from fedtheory.search.coefficients import System
from fedtheory.search.fits import list_rationals
from fedtheory.search.multiples import _list_sums, _make_free, divides_by_sum
from fedtheory.search.samples import Samples
from fedtheory.search.weighted_squares import _list_weights
from verify.check import check

POTENTIALS = ["comparator:one-step", "comparator:shares.one-step", "comparator:sampled.one-step"]
CONTRACTING = ["comparator:forgetting.one-step", "comparator:forgetting.at-optimum.one-step"]
ALONE = LINE | {"hessians": [[["1"]]], "linear": [["0"]], "start": ["0"], "weights": ["1"]}
SHORT = {"local_step_size": "1/20", "rounds": 2}


@pytest.fixture(autouse=True)
def _no_other_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no search use other claims, of which some depend on these."""
    monkeypatch.setattr(certificate_terms, "find_lemmas", lambda _: [])


def _copy(name: str, change: Callable[[Claim], sp.Expr] | None = None) -> Claim:
    """Return a claim as a user would state it, possibly with another right side."""
    claim = find(name)
    stated = replace(claim, id="mine:copy", is_published=False, verdict=None, corrects=None, sharpens=None)
    return replace(stated, chain=(), lhs=claim.relations[0].left, rhs=change(claim)) if change else stated


def _symbol(claim: Claim, quantity: Any) -> sp.Symbol:
    return next(symbol for symbol, known in {**claim.where, **claim.notation}.items() if known is quantity)


def _reduce_noise(claim: Claim) -> sp.Expr:
    """Return the right side with two fifths of the noise."""
    noise = _symbol(claim, q.comparator_noise)
    right = claim.relations[0].right
    return right - sp.Rational(3, 5) * (right - right.xreplace({noise: sp.S.Zero}))


def _reduce_distance(claim: Claim) -> sp.Expr:
    """Return the right side with two fifths of the decrease of the squared distance."""
    y = _symbol(claim, q.comparator)
    (part,) = (part for part in sp.Add.make_args(claim.relations[0].right) if part.has(y))
    return claim.relations[0].right - 3 * part / 5


FALSE = {
    "noise": (_reduce_noise, ALONE, {"local_steps": 1}),
    "distance": (_reduce_distance, LINE, {"local_steps": 3}),
}


@pytest.mark.parametrize(
    "name", [POTENTIALS[0], *(pytest.param(one, marks=pytest.mark.long) for one in POTENTIALS[1:])]
)
def test_steps_with_potentials_are_found(name: str) -> None:
    """Steps are found as sums of named inequalities and squares, without their recorded certificates."""
    found = find_proof(_copy(name))
    assert isinstance(found, Found)
    assert found.proof.verdict == "proved"
    assert not found.supposed


@pytest.mark.long
@pytest.mark.parametrize("change", FALSE)
@pytest.mark.parametrize("name", POTENTIALS)
def test_false_steps_with_potentials_are_not_found(name: str, change: str) -> None:
    """Steps with a smaller constant, which an exact run violates, are not found."""
    reduce, problem, steps = FALSE[change]
    run = parse_run({"problem": problem, "algorithm": SHORT | steps}, RATIONAL)
    assert check(_copy(name), run).holds
    claim = _copy(name, reduce)
    assert check(claim, run).holds is False
    assert not isinstance(find_proof(claim, 10**8), Found)


def test_simplest_rationals() -> None:
    """The smallest denominator comes first, then the two smallest numerators; none has a denominator above 4."""
    third, quarter = sp.Rational(1, 3), sp.Rational(1, 4)
    ends = ((0.1, 5.0), (2.5, 3.2), (0.3, 0.4), (0.0, 0.3), (0.21, 0.24))
    assert [list_rationals(*each, 4) for each in ends] == [[1, 2], [3], [third], [quarter], []]


def test_sums_are_those_inside_products() -> None:
    """Sums inside products of conditions are listed as they are written, and the whole sides are not."""
    x, y = sp.symbols("x y", positive=True)
    assert _list_sums([x * (1 + y) / (2 + x) + y <= 1, sp.Eq(x, x * (y + 3))]) == [1, 1 + y, 2 + x]


def test_a_coefficient_is_freed() -> None:
    """A system with 1 - 2 l a for one coefficient is solved for a, as (1 - b)/(2 l)."""
    ell = sp.Symbol("l", positive=True)
    system = System(Blocks({}, {}), [], {1: {-1: ONE, 0: quotient(-2 * ell)}})
    freed = _make_free(system, 1)
    assert {key: number.expression for key, number in freed.known[0].items()} == {-1: 1 / (2 * ell), 1: -1 / (2 * ell)}
    assert 1 not in freed.known
    assert system.known.keys() == {1}


def test_denominators_of_potentials() -> None:
    """A coefficient over k + 1 is that of a potential, and one over 2 k is not."""
    k = sp.Symbol("k", positive=True)
    assert divides_by_sum(Blocks({k: quotient(1 / (k + 1))}, {}))
    assert not divides_by_sum(Blocks({k: quotient((k + 1) / (2 * k))}, {}))


def test_weights_lie_between_the_squares() -> None:
    """In (a + 1) |x|^2 + 2 a <x, g> + (a + 1) |g|^2 - <g, h> + |h|^2/4 the weights are from 1 to 1 + 1/a."""
    x, g, h, a = sp.symbols("x g h a", positive=True)
    rows = {(x, x): a + 1, (x, g): a, (g, g): a + 1, (g, h): sp.Rational(-1, 2), (h, h): sp.Rational(1, 4)}
    entries = {frozenset(pair): quotient(sp.sympify(number)) for pair, number in rows.items()}
    samples = Samples([a], np.array([[1.0, 2.0, 5.0]]))
    found = list(_list_weights(entries, x, g, samples))
    assert found[0] == 1
    assert all(bool(1 <= each.subs(a, at) <= 1 + 1 / at) for each in found for at in (1, 2, 5))
    tight = {**entries, frozenset({x}): quotient(a / 2)}
    assert not list(_list_weights(tight, x, g, samples))
