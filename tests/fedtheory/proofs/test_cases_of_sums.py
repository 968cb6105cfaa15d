"""Cases of a maximum, each a sum of proved claims or of inequalities between vectors."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, lipschitz_gradient, one, square
from fedtheory.kernel.expressions import Gradient
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs import outline as module
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root

eta, L, mu, tau, M, k = sp.symbols("eta L mu tau M k", positive=True)
x, y, F = sp.symbols("x y F", real=True)
NUMBERS: dict[Any, Any] = {eta: q.local_step_size, L: q.smoothness, tau: q.local_steps, M: q.clients}


def claim_that(lhs: Any, rhs: Any) -> Claim:
    """Return a claim about the numbers of a run."""
    return Claim(id="t:cases", place="run", lhs=sp.sympify(lhs), rhs=rhs, where=NUMBERS, assumptions=(a.smooth,))


def verdict_on(claim: Claim, parts: dict[Any, list[Any]]) -> str:
    """Return the kernel verdict on a proof whose cases are sums of non-negative numbers."""
    sums = {
        largest: Combination(claim=claim.id, links=[[Part(sp.sympify(part), ONE) for part in own]])
        for largest, own in parts.items()
    }
    found = Cases(claim=claim.id, cases=[Case(largest, why) for largest, why in sums.items()])
    return check_certificate(claim, found).verdict


@pytest.mark.parametrize(
    ("lhs", "rhs", "parts", "verdict"),
    [
        (eta + L, 2 * sp.Max(eta, L), {eta: [eta - L], L: [L - eta]}, "proved"),
        # A case without its condition, and with that of the other.
        (eta + L, sp.Max(eta, L), {eta: [-L], L: [-eta]}, "broken"),
        (eta + L, 2 * sp.Max(eta, L), {eta: [L - eta], L: [eta - L]}, "broken"),
        # Cases left out, given twice, or of another maximum.
        (eta + L, 2 * sp.Max(eta, L), {eta: [eta - L]}, "broken"),
        (eta + L, 2 * sp.Max(eta, L), {eta: [eta - L], tau: [tau - L]}, "broken"),
        (eta, sp.Max(eta, L), {eta: [], L: [L - eta]}, "proved"),
        (eta, sp.Max(eta, L) - L / 1000, {eta: [-L / 1000], L: [sp.Rational(999, 1000) * L - eta]}, "broken"),
        # On the smaller side every argument needs a bound.
        (sp.Max(eta, L), eta + L, {eta: [L], L: [eta]}, "proved"),
        (sp.Max(eta, L), eta, {eta: [], L: [eta - L]}, "broken"),
    ],
)
def test_a_case_may_use_its_own_condition_alone(lhs: Any, rhs: Any, parts: Any, verdict: str) -> None:
    """In each case the other arguments are at most the largest, and nothing else is known of them."""
    assert verdict_on(claim_that(lhs, rhs), parts) == verdict


def test_a_maximum_that_changes_from_step_to_step_has_no_cases() -> None:
    """A condition that holds at one local step need not hold at the next."""
    claim = Claim(
        id="t:cases",
        place="step",
        lhs=sp.S.Zero,
        rhs=sp.Max(k, 2) - 2,
        where={k: q.local_step_index, **NUMBERS},
        assumptions=(a.smooth,),
    )
    why = Certificate(claim=claim.id, links=[[]])
    more = Certificate(claim=claim.id, links=[[Term(k - 2, one())]])
    found = check_certificate(claim, Cases(claim=claim.id, cases=[Case(sp.Integer(2), why), Case(k, more)]))
    assert [step.text for step in found.steps if not step.holds] == [
        "k differs between steps or updates, and so may the largest argument"
    ]


@pytest.mark.parametrize(("factor", "verdict"), [(1, "proved"), (sp.Rational(99, 100), "broken")])
def test_cases_between_vectors(factor: Any, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A maximum of numbers may be a factor of vectors; the outline shows the terms of each case."""
    where: dict[Any, Any] = {x: q.point, y: q.second_point, F: q.objective, **NUMBERS}
    claim = Claim(
        id="t:cases",
        place="points",
        lhs=norm_sq(Gradient(F, x) - Gradient(F, y)),
        rhs=factor * sp.Max(L**2, 3 * L * eta) * norm_sq(x - y),
        where=where,
        assumptions=(a.smooth,),
    )
    first = Term(sp.S.One, lipschitz_gradient(F, x, y))
    sums = {L**2: [first], 3 * L * eta: [first, Term(3 * L * eta - L**2, square(x - y))]}
    cases = [Case(largest, Certificate(claim=claim.id, links=[terms])) for largest, terms in sums.items()]
    found = check_certificate(claim, Cases(claim=claim.id, cases=cases))
    assert found.verdict == verdict
    monkeypatch.setattr(module, "document_for", lambda _: found.document)
    shown = module.outline(claim)
    assert shown is not None
    assert [len(group.entries) for group in shown.groups] == [1, 2]
    assert all(group.statement.endswith(r"\text{ is largest}") for group in shown.groups)


@pytest.mark.parametrize(("least", "verdict"), [(L, "proved"), (1, "broken")])
def test_the_root_of_a_case_has_no_meaning_but_its_own(least: Any, verdict: str) -> None:
    """The symbol of a root in a case is rebuilt: that its author supposes it to be a whole number is of no use."""
    claim = claim_that(sp.S.Zero, sp.Max(sp.sqrt(eta), L) - least)
    wrong = sp.Symbol("r", positive=True, integer=True)
    root = Root(wrong, eta, [Part(eta, ONE)])
    sums = {sp.sqrt(eta): [Part(wrong - least, ONE)], L: [Part(L - least, ONE)]}
    cases = [Case(largest, Combination(claim=claim.id, links=[parts], roots=[root])) for largest, parts in sums.items()]
    assert check_certificate(claim, Cases(claim=claim.id, cases=cases)).verdict == verdict
