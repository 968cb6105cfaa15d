"""Steps that contract: applicable claims, and coefficients of the drift, against values by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from chain_claims import (
    CONVEX,
    DISTANCE,
    NOISY,
    ROUNDS,
    STRONGLY,
    TRUE,
    WHERE,
    D,
    G,
    K,
    L,
    M,
    bound,
    eta,
    mu,
    sigma,
    tau,
    zeta,
)

from fedtheory import assumptions as a
from fedtheory.kernel import Numbers, one
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs import Combination, Part
from fedtheory.proofs.document import with_quantities
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.conditions import solve_for_step_size, weaken_to_counts
from fedtheory.search.contractions import NEEDED, _bound_by_largest_drift, _bound_by_potential, is_contracting
from fedtheory.search.remainders import Goal, _find_below, make_goal
from fedtheory.search.workspace import LemmaGoal, Workspace

LAST = (1 - eta * mu) ** K * D**2
DRIFT = 16 * L * eta**2 * tau**2 / mu
STEP = [eta <= 1 / (4 * L)]
LIKE = (*STRONGLY, a.bounded_dissimilarity)


@pytest.mark.parametrize(
    ("claim", "stands"),
    [
        (bound(DISTANCE, LAST + DRIFT * zeta**2, (*ROUNDS, *LIKE, a.full_gradients), STEP), True),
        (bound(DISTANCE, LAST + DRIFT * zeta**2, (*NOISY, *LIKE), STEP), False),
        (bound(DISTANCE, LAST + DRIFT * (zeta**2 + sigma**2), (*NOISY, *LIKE), STEP), True),
        (bound(DISTANCE, LAST + DRIFT * zeta**2, (*ROUNDS, *CONVEX, a.full_gradients), STEP), False),
        (bound(DISTANCE, LAST + DRIFT * zeta**2 / L, (*ROUNDS, *LIKE, a.full_gradients), []), False),
        (bound(DISTANCE, D**2 + DRIFT * zeta**2, (*ROUNDS, *LIKE, a.full_gradients), STEP), False),
        (TRUE["strongly convex"], True),
        (TRUE["convex"], False),
    ],
    ids=["quiet", "no sigma", "noise", "convex", "no L", "no power", "a template", "on the average"],
)
def test_claims_on_the_last_model(claim: Claim, stands: bool) -> None:
    """Claims on the last model name mu, L, the iterations and the start, and with noise its variance."""
    assert is_contracting(claim) is stands


def _goal(claim: Claim, quantities: Any = ()) -> tuple[Goal, Workspace]:
    own = {quantity.name for quantity in {**claim.where, **claim.notation}.values()}
    goal = make_goal(claim, [name for name in quantities if name not in own])
    workspace = Workspace(use_plain_symbols(with_quantities(goal.original, {"quantities": list(goal.quantities)})))
    return replace(goal, workspace=workspace), workspace


def _own(number: sp.Expr) -> sp.Expr:
    """Return a number of the search in the symbols of these tests; the step index k is kept."""
    known = {symbol.name: symbol for symbol in WHERE}
    return number.xreplace({symbol: known.get(symbol.name, symbol) for symbol in number.free_symbols})


@pytest.mark.parametrize(("name", "share"), [("strongly convex", "1/2"), ("strongly convex, second moments", "1")])
def test_a_potential_pays_for_the_drift(name: str, share: str) -> None:
    """The potential decreases at each step, is at most 8 eta L (tau - 1) after it, and vanishes after the last one."""
    _, workspace = _goal(TRUE[name], NEEDED)
    (kind,) = _bound_by_potential(workspace, sp.Rational(share))
    potential = _own(kind.potential)
    (k,) = potential.free_symbols - {eta, L, tau}
    steps = [Fraction(1, 8), Fraction(1, 16), Fraction(1, 100)]
    for step, curvature, count in [(step, mu_, n) for step in steps for mu_ in (1, Fraction(1, 3)) for n in (1, 2, 5)]:
        if 4 * step * curvature * count > 1:
            continue
        at = {eta: sp.Rational(step), L: 2, tau: count}
        values = [potential.xreplace({**at, k: sp.Integer(place)}) for place in range(count + 1)]
        kept = 1 - sp.Rational(share) * sp.Rational(step) * sp.Rational(curvature)
        for now, after in pairwise(values):
            assert kept * now >= after * (1 + sp.Rational(1, count)) + 2 * sp.Rational(step) * 2
            assert 0 <= after <= 8 * sp.Rational(step) * 2 * (count - 1)
        assert values[-1] == 0
    assert {term.averaged for term in kind.terms if term.reason == one()} == {False}
    assert {term.averaged for term in kind.terms if term.reason.kind == "square"} >= {True}
    noise = eta**2 * sigma**2 / M
    paid = (tau + 1) * (zeta**2 if share == "1/2" else G**2) + (sigma**2 * (1 - 1 / M) if share == "1/2" else 0)
    assert sp.expand(_own(kind.offset) - noise - 8 * eta**3 * L * (tau - 1) * paid) == 0


def test_the_largest_drift_pays_without_a_potential() -> None:
    """The cost is 2 eta L times (1 - 1/M)^2 4 (eta tau G)^2, plus the noise of the average."""
    _, workspace = _goal(TRUE["strongly convex, second moments"], NEEDED)
    (kind,) = _bound_by_largest_drift(workspace)
    drift = 4 * eta**2 * tau**2 * G**2 * (1 - 1 / M) ** 2
    assert kind.potential == 0
    assert sp.expand(_own(kind.offset) - eta**2 * sigma**2 / M - 2 * eta * L * drift) == 0


def test_numbers_below_all_bounds_are_decided_in_rationals() -> None:
    """A number that is negative only by rounding does not violate a bound."""
    numbers = Numbers(symbols=frozenset({eta, L}))
    signs = SimpleNamespace(conditions=(eta <= 3,), numbers=numbers)
    goal = SimpleNamespace(signs=signs, original_symbols={eta})

    def below(*values: sp.Expr) -> Any:
        seen = [SimpleNamespace(goal=goal, number=value) for value in values]
        return _find_below(seen)  # type: ignore[arg-type]

    zero = eta / (1 + L) + eta * L / (1 + L) - eta
    assert sp.cancel(zero) == 0
    assert below(-1 - eta, zero) is None
    assert below(-1 - eta, L - 1, 1 - L) is None
    found = below(-1 - eta, eta - 2)
    assert set(found) == {eta}
    assert found[eta] < 2


def test_conditions_are_solved_for_the_step_size() -> None:
    """4 L eta <= 1 gives eta <= 1/(4 L), and 8 tau L eta <= 1 with the smallest count 8 L eta <= 1."""
    stated = {"convex": (4 * eta * L <= 1, [eta <= 1 / (4 * L)]), "solved": (eta <= 1 / (4 * L), [])}
    stated |= {"squares": (4 * eta**2 * L**2 <= 1, []), "two": (eta * L + eta * mu <= 1, [eta <= 1 / (L + mu)])}
    stated |= {"below": (1 - eta * mu <= eta * L - 1, [eta >= 2 / (L + mu)])}
    for condition, expected in stated.values():
        claim = use_plain_symbols(bound(DISTANCE, LAST, (*ROUNDS, *STRONGLY), [condition]))
        assert [one.func(*map(_own, one.args)) for one in solve_for_step_size(claim)] == expected
    claim = use_plain_symbols(bound(DISTANCE, LAST, (*ROUNDS, *STRONGLY), [8 * tau * eta * L <= 1]))
    assert [_own(one.args[0]) for one in weaken_to_counts(claim)] == [8 * eta * L]


def test_a_lemma_without_a_proof_is_none() -> None:
    """A claim that the kernel rejects is not kept, and may be tried with another certificate."""
    _, workspace = _goal(TRUE["strongly convex"], NEEDED)
    goal = LemmaGoal("mine", "run", Relation(sp.S.Zero, "<=", sp.S.One))
    name = workspace.claim_of(goal).id
    assert workspace.add(goal, Combination(claim=name, links=[[]])) is None
    assert name not in workspace.proofs
    assert workspace.add(goal, Combination(claim=name, links=[[Part(sp.S.One, ONE)]])) == name
    assert workspace.proofs[name].verdict == "proved"
