"""A proof about one quantity is not used for another: premises with other notations or values of symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.errors import InputError
from fedtheory.kernel import Step, Term, assumption, one
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.wellformed import require_wellformed
from fedtheory.proofs import Certificate, Combination, Part, Proof, check_certificate, facts
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.roots import Root
from verify.check import check

ONE = sp.S.One
shared = sp.Symbol("X", real=True)
drift, gap = sp.Symbol("d", real=True), sp.Symbol("g", nonnegative=True)
s = sp.Symbol("s", positive=True, integer=True)
ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation)
TWO = {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["10"], ["-10"]], "start": ["0"]}


def proved(*premises: tuple[Claim, Any]) -> Callable[[str], Proof]:
    """Return a prover to which some claims are known, all proved."""
    known = {claim.id: check_certificate(claim, certificate) for claim, certificate in premises}
    assert {proof.verdict for proof in known.values()} == {"proved"}
    return known.__getitem__


def is_false(claim: Claim) -> bool:
    run = parse_run({"problem": TWO, "algorithm": {"local_step_size": "1/4", "rounds": 2, "local_steps": 2}}, RATIONAL)
    return check(claim, run).holds is False


def of_other_notations() -> Callable[[str], Proof]:
    """Return a prover whose premises use X for different quantities."""
    below = Claim(id="t:below", lhs=shared, rhs=gap, where={shared: q.total_descent, gap: q.initial_gap})
    where = {shared: q.max_drift, drift: q.average_round_drift}
    above = Claim(id="t:above", lhs=drift, rhs=shared, where=where, assumptions=ROUNDS)
    return proved(
        (below, Combination(claim=below.id, links=[[Part(ONE, facts.DESCENT)]])),
        (above, Combination(claim=above.id, links=[[Part(ONE, facts.MEAN_DRIFT)]])),
    )


def test_symbols_of_different_premises_do_not_cancel() -> None:
    """A symbol that the claim lacks may have different meanings in two premises, and then does not cancel."""
    where = {drift: q.average_round_drift, gap: q.initial_gap}
    claim = Claim(id="t:false", lhs=drift, rhs=gap, where=where, assumptions=ROUNDS)
    parts = [Part(ONE, "t:below"), Part(ONE, Derived("t:above"))]
    assert is_false(claim)
    (failing,) = [step.text for step in _judged(claim, parts).steps if not step.holds]
    assert "the sum" in failing
    z = sp.Symbol("z", nonnegative=True)
    rooted = Root(z, sp.S.One, [Part(ONE, facts.ONE), *parts])
    certificate = Combination(claim=claim.id, links=[parts[:1]], known=[Derived("t:above")], roots=[rooted])
    assert "the sum" in check_certificate(claim, certificate, of_other_notations()).steps[-1].text


def _judged(claim: Claim, parts: list[Part]) -> Proof:
    return check_certificate(claim, Combination(claim=claim.id, links=[parts]), of_other_notations())


def test_quantities_with_the_name_of_another_are_distinct() -> None:
    """A user-defined quantity may have the name of another quantity in a premise."""
    own = q.RunQuantity("average_round_drift", "e", "a thousand", lambda run: run.arithmetic.number(1000, "e"))
    claim = Claim(id="t:false", lhs=drift, rhs=shared, where={shared: q.max_drift, drift: own}, assumptions=ROUNDS)
    assert is_false(claim)
    found = _judged(claim, [Part(ONE, "t:above")])
    assert [step.text for step in found.steps if not step.holds] == ["the notation of t:above"]


def _of_a_run(claim: Claim, premise: str | None = None) -> Combination:
    part = Part(s - 5, facts.ONE) if premise is None else Part(ONE, premise)
    return Combination(claim=claim.id, links=[[part]])


def _at_points(claim: Claim, premise: str | None = None) -> Certificate:
    if premise is None:
        return Certificate(claim=claim.id, links=[[Term(s - 5, one())]])
    terms = [Term(ONE, assumption(f"{premise}, relation 1"))]
    return Certificate(claim=claim.id, links=[terms], lemmas=[premise])


@pytest.mark.parametrize(("place", "because"), [("run", _of_a_run), ("points", _at_points)])
def test_facts_on_large_integers_are_not_used_below(place: Any, because: Any) -> None:
    """A fact about every integer from five on implies nothing about one and two."""
    large, small = (
        Claim(id=name, lhs=sp.Integer(5), rhs=s, for_all={s: values}, place=place)
        for name, values in (("t:large", (5, 6)), ("t:small", (1, 2)))
    )
    known = proved((large, because(large)))
    assert is_false(small)
    failing = [step.text for step in check_certificate(small, because(small, "t:large"), known).steps if not step.holds]
    assert failing == ["the values of the symbols in t:large"]
    same = Claim(id="t:same", lhs=sp.Integer(5), rhs=s, for_all={s: (5, 7)}, place=place)
    assert check_certificate(same, because(same, "t:large"), known).verdict == "proved"


T = sp.Symbol("T", real=True)
BY_ONE_SYMBOL: dict[str, dict[str, Any]] = {
    "two sides": {"lhs": q.iterations, "rhs": q.rounds},
    "a chain": {"chain": [0, "<=", q.iterations, "<=", q.rounds]},
    "a side and a letter": {"lhs": q.iterations, "rhs": T, "where": {T: q.rounds}},
    "a side and its own symbol": {"lhs": q.iterations, "rhs": 2 * q.rounds.symbol, "where": {T: q.rounds}},
}


@pytest.mark.parametrize("what", BY_ONE_SYMBOL)
def test_a_symbol_stands_for_one_quantity(what: str) -> None:
    """Iterations and rounds are both typeset T, but T <= T does not follow from their order."""
    claim = Claim(id="t:false", **BY_ONE_SYMBOL[what])
    with pytest.raises(InputError, match="T stands for both"):
        is_false(claim)
    nothing = Combination(claim=claim.id, links=[[]])
    assert "T stands for both" in check_certificate(claim, nothing).steps[-1].text
    symbol = sp.Symbol("N", positive=True)
    stated = Claim(id="t:false", lhs=q.iterations, rhs=symbol, where={symbol: q.rounds})
    require_wellformed(stated)
    assert is_false(stated)
    assert check_certificate(stated, nothing).verdict == "broken"


def test_a_symbol_of_several_quantities_needs_a_symbol() -> None:
    """An expression with a name of several quantities is ambiguous, and rejected."""
    claim = Claim(id="t:false", lhs=q.iterations, rhs=q.rounds.symbol / 2)
    with pytest.raises(InputError, match="give it a symbol"):
        require_wellformed(claim)


def test_a_side_is_not_under_a_quantifier() -> None:
    """A statement about at most M clients does not become M <= M."""
    own = sp.Symbol("M", real=True)
    with pytest.raises(InputError, match="M is the symbol of a side"):
        require_wellformed(Claim(id="t:false", lhs=q.clients, rhs=own, for_all={own: (1,)}))


def test_a_quantified_symbol_of_a_premise_is_no_quantity_of_the_claim() -> None:
    """A premise for all e = 1/2 says nothing of the step size that a claim calls e."""
    e, size = sp.Symbol("e", positive=True), sp.Symbol("s", positive=True)
    each = Claim(
        id="t:each",
        lhs=e + size,
        rhs=sp.S.Half + size,
        where={size: q.local_step_size},
        for_all={e: (sp.S.Half,)},
    )
    claim = Claim(id="t:false", lhs=2 * e, rhs=sp.S.Half + e, where={e: q.local_step_size})
    certificate = Combination(claim=claim.id, links=[[Part(ONE, each.id)]])
    found = check_certificate(claim, certificate, lambda _: Proof(each, certificate, (Step("by a value", True),)))
    assert [step.text for step in found.steps if not step.holds] == ["e is a quantity and a quantified symbol"]
