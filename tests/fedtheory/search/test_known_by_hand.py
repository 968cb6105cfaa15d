"""Equations and known claims that a search uses, against values by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import sympy as sp

from fedtheory.kernel.quotients import quotient
from fedtheory.language.registry import find
from fedtheory.search import remainders
from fedtheory.search.lemmas import _bounds_drift, _list_all_dependencies
from fedtheory.search.premises import LinearPremise


def test_equations_that_replace_a_number() -> None:
    """Equations replace a number in one direction, and between numbers only; a symbol of the claim only by a
    rational.
    """
    own, new, more = sp.symbols("own new more", positive=True)

    def premise(written: sp.Expr, sign: int = 1, vanishes: bool = True, numbers_only: bool = True) -> Any:
        form = {sp.S.One: quotient(written), **({} if numbers_only else {more: quotient(sp.S.One)})}
        return LinearPremise("p", "p", form, written, sign, vanishes)

    def replaced(conditions: Sequence[Any], *premises: Any) -> list[tuple[sp.Expr, sp.Symbol]]:
        goal: Any = SimpleNamespace(claim=SimpleNamespace(conditions=conditions), original_symbols={own})
        return [(one.written, symbol) for one, symbol, _ in remainders._list_replaceable(goal, premises)]

    assert replaced([], premise(new - own)) == [(new - own, new)]
    assert replaced([], premise(own - 3)) == [(own - 3, own)]
    assert replaced([], premise(own - new)) == [(own - new, new)]
    assert replaced([], premise(new**2 - own)) == []
    goal: Any = SimpleNamespace(claim=SimpleNamespace(conditions=[]), original_symbols={own, more})
    ((_, symbol, value),) = remainders._list_replaceable(goal, [premise(own - new * more)])
    assert (symbol, value) == (new, own / more)
    for refused in (
        premise(new - own, sign=-1),
        premise(new - own, vanishes=False),
        premise(new - own, numbers_only=False),
    ):
        assert replaced([], refused) == []
    equation = sp.Eq(new, own + 1, evaluate=False)
    assert replaced([equation, own <= 1]) == [(new - own - 1, new)]


def test_claims_that_a_published_one_rests_on() -> None:
    """A published claim rests on the claims in its certificate, and on theirs; without a certificate on none."""
    rests = _list_all_dependencies("renard2022:thm-2.1")
    assert rests >= {"renard2022:lemma-2.3", "renard2022:thm-2.1.proof.split.fixed"}
    assert "renard2022:thm-2.1" not in rests
    assert all(_list_all_dependencies(one) <= rests for one in rests)
    assert _list_all_dependencies("renard2022:lemma-2.3") == frozenset()


def test_bounds_on_the_largest_drift() -> None:
    """A bound on the largest drift is one upper bound about a run, without quantifier and rate."""
    claim = find("renard2022:lemma-2.3")
    assert _bounds_drift(claim)
    (relation,) = claim.relations
    stated: dict[str, Any] = {"lhs": None, "rhs": None, "chain": ()}
    for other in (
        replace(claim, **stated, also=(relation, relation)),
        replace(claim, **stated, also=(replace(relation, operator="=="),)),
        replace(claim, **stated, also=(replace(relation, left=relation.right),)),
        replace(claim, place="step"),
        find("renard2022:thm-2.1"),
    ):
        assert not _bounds_drift(other)
