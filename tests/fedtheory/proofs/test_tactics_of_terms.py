"""Proof terms from links of certificates, and step sizes that conditions fix: what is written, what is refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import InequalityRef, Rejected, Term, assumption, one, square
from fedtheory.kernel.expressions import PastSum, norm_sq
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.links import Positive, Squared
from fedtheory.proofs.numbers import _find_fixed_step_sizes, symbols_of
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.places import context_of_run, enter_step
from fedtheory.proofs.terms.rules.antisymmetry import Antisymmetry
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.maximum import BelowMaximum
from fedtheory.proofs.terms.rules.past_total import PastTotal
from fedtheory.proofs.terms.rules.root import Root, Square
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.tactics.links import write_past_total
from fedtheory.proofs.terms.tactics.sums import SumTactic
from fedtheory.proofs.terms.term import Weighted

eta, eta_g, L, mu, k, d, x, y = sp.symbols("eta eta_g L mu k d x y", positive=True)
CLAIM = Claim(id="t:step", lhs=x, rhs=y, where={k: q.local_step_index, d: q.max_drift}, place="step")
ONE = sp.S.One


def _prove(name: str) -> Any:
    relation = Relation(d if name != "t:other" else eta, "<=", 4 * eta)
    statement = SimpleNamespace(relations=[relation])
    return SimpleNamespace(rename_for=lambda _: SimpleNamespace(statement=statement))


TACTIC = SumTactic(CLAIM, _prove, ("t:bound", "t:other"))
BELOW, SAME, LESS = Relation(x, "<=", y), Relation(x, "==", y), Relation(x, "<", y)


def test_terms_stand_under_their_sums() -> None:
    """A term of each step is summed over a client's steps first, then over the clients; its number goes inside."""
    number, square_of = 3 * eta, Axiom("square", (x,))
    for summed, averaged, expected in (
        (False, False, Weighted(number, square_of)),
        (True, False, Weighted(ONE, SumOver("steps of a client", number, square_of))),
        (False, True, Weighted(ONE, SumOver("clients", number, square_of))),
        (True, True, Weighted(ONE, SumOver("clients", ONE, SumOver("steps of a client", number, square_of)))),
    ):
        assert TACTIC.weigh([Term(number, square(x), averaged, summed)]) == (expected,)
    assert TACTIC._prove_reason(Term(ONE, one())) == Sign(ONE)
    assert TACTIC._prove_reason(Term(ONE, assumption("variance"))) == Axiom("assumption", ("variance",))
    assert TACTIC._prove_reason(Term(ONE, assumption("t:bound, relation 3"))) == Use("t:bound", 2)
    rooted = TACTIC._prove_reason(Term(ONE, InequalityRef("root", ("variance", eta, x))))
    assert rooted == Root(eta, x, Axiom("assumption", ("variance",)))


def test_bounds_on_the_largest_drift_are_used_at_a_step() -> None:
    """The bound, and that no drift is larger; a claim about anything else is refused, as it is at another place."""
    found = TACTIC._prove_reason(Term(ONE, assumption("t:bound")))
    assert isinstance(found, Combine)
    assert found.parts == (Weighted(ONE, Use("t:bound")), Weighted(ONE, BelowMaximum(d)))
    symbol = symbols_of(CLAIM)
    assert found.goal == 4 * eta - norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))
    assert found.comparison == ">="
    with pytest.raises(Rejected, match="does not bound the drift at a local step"):
        TACTIC._prove_reason(Term(ONE, assumption("t:other")))
    elsewhere = replace(TACTIC, claim=replace(CLAIM, place="run"))
    with pytest.raises(Rejected, match="does not bound the drift at a local step"):
        elsewhere._prove_reason(Term(ONE, assumption("t:bound")))


def test_links_as_terms() -> None:
    """Tactics prove sums of terms, both directions of an equation, a positive difference, and the square of a norm."""
    terms = [Term(ONE, square(x))]
    parts = (Weighted(ONE, Axiom("square", (x,))),)
    assert TACTIC.link(terms, BELOW) == Combine(y - x, ">=", parts)
    assert TACTIC.link(terms, Relation(x, ">=", y)) == Combine(x - y, ">=", parts)
    assert TACTIC.link([], SAME) == Combine(SAME.slack, "==", ())
    both = TACTIC.link(BothWays(terms, []), SAME)
    assert both == Antisymmetry(Combine(SAME.slack, ">=", parts), Combine(-SAME.slack, ">=", ()))
    assert TACTIC.link(Positive(), LESS) == Sign(y - x, is_strict=True)
    squared = TACTIC.link(Squared(length=x, bound=y, terms=terms), BELOW)
    assert squared == Square(x, y, Combine(y - x, ">=", parts))


@pytest.mark.parametrize(
    ("why", "relation", "refusal"),
    [
        ("a name", BELOW, "for each relation, got str"),
        ([Term(ONE, square(x))], SAME, "without terms, or by BothWays: got 1 terms"),
        ([Term(ONE, square(x))], LESS, "the claim states <"),
        (BothWays([], []), BELOW, "BothWays proves an equation"),
        (Positive(), BELOW, "Positive proves a strict inequality"),
        (Positive(), SAME, "Positive proves a strict inequality"),
        (Squared(length=x, bound=y, terms=[]), SAME, "expected a claim with <= or >="),
        (Squared(length=x, bound=y, terms=[]), LESS, "expected a claim with <= or >="),
    ],
)
def test_links_that_show_another_relation_are_refused(why: Any, relation: Relation, refusal: str) -> None:
    with pytest.raises(Rejected, match=refusal):
        TACTIC.link(why, relation)


@pytest.mark.parametrize(
    ("relation", "refusal"),
    [
        (Relation(2 * eta * PastSum(k), "<=", k), "a total is an equation"),
        (Relation(PastSum(k) + PastSum(k**2), "==", k), "expected one sum over the past steps"),
        (Relation(eta, "==", k), "expected one sum over the past steps"),
        (Relation(PastSum(k), "==", k * PastSum(k)), "expected one sum over the past steps"),
        (Relation(PastSum(k) ** 2, "==", k), "expected one sum over the past steps"),
    ],
)
def test_totals_of_the_past(relation: Relation, refusal: str) -> None:
    """A multiple of one sum is a number of the step; anything else is refused."""
    stated = Relation(2 * eta * PastSum(k), "==", eta * k * (k + 1))
    assert write_past_total(CLAIM, stated) == PastTotal(2 * eta, k, stated.right)
    with pytest.raises(Rejected, match=refusal):
        write_past_total(CLAIM, relation)
    with pytest.raises(Rejected, match="needs the symbol of the local step"):
        write_past_total(replace(CLAIM, where={d: q.max_drift}), stated)


@pytest.mark.parametrize(
    ("conditions", "fixed"),
    [
        ([sp.Eq(eta, 1 / L)], {eta: 1 / L}),
        ([sp.Eq(1 / L, eta)], {eta: 1 / L}),
        ([sp.Eq(eta, 1 / L), sp.Eq(eta, 1 / mu)], {eta: 1 / L}),
        ([sp.Eq(eta, sp.sqrt(L))], {eta: sp.sqrt(L)}),
        ([sp.Eq(eta, sp.exp(L))], {}),
        ([sp.Eq(eta, 1 / x)], {}),
        ([eta <= 1 / L], {}),
        ([sp.Eq(L, 2 * mu)], {}),
        ([sp.Eq(eta, 1 / (eta * L), evaluate=False)], {}),
        ([sp.Eq(eta, eta_g)], {eta: eta_g}),
        ([sp.Eq(eta, eta_g), sp.Eq(eta_g, 2 * eta)], {eta: eta_g}),
        ([sp.Eq(eta_g, 1 / L), sp.Eq(eta, 1 / mu)], {eta_g: 1 / L, eta: 1 / mu}),
    ],
)
def test_step_sizes_that_conditions_fix(conditions: list[Any], fixed: dict[Any, Any]) -> None:
    """Step sizes are fixed by other numbers of the run that are not fixed themselves; the first equation counts."""
    named = {eta: q.local_step_size, eta_g: q.server_step_size, L: q.smoothness, mu: q.strong_convexity}
    claim: Any = SimpleNamespace(conditions=conditions)
    assert _find_fixed_step_sizes(claim, named) == fixed


def test_inequalities_that_need_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """The requirements of an inequality are proved, and divide by nothing that may vanish."""
    tau, size = sp.symbols("tau eta", positive=True)

    def prove_nothing(name: str) -> Proof:
        raise Rejected(name)

    claim = Claim(
        id="mine:signs",
        lhs=d,
        rhs=size * tau,
        where={d: q.max_drift, size: q.local_step_size, tau: q.local_steps},
        assumptions=(a.same_local_work, a.unit_server_step, a.full_participation),
    )
    inside = enter_step(context_of_run(claim, prove_nothing))
    moved = inside.symbols(q.local_iterate) - inside.symbols(q.average_iterate)

    def requiring(needed: Any) -> Any:
        found = SimpleNamespace(expression=norm_sq(moved), requires=sp.sympify(needed))
        monkeypatch.setattr(InequalityRef, "instantiate", lambda *_: found)
        return Axiom("square", (moved,)).check(inside).expression

    for needed in (0, size, tau - 1):
        assert requiring(needed) == norm_sq(moved)
    for needed, why in ((size - 1, "is not shown"), (-size, "is not shown"), (1 / (1 - size), "may be zero")):
        with pytest.raises(Rejected, match=why):
            requiring(needed)
