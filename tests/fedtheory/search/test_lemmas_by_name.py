"""Lemmas that chains try, by name and statement, when every lemma counts as proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from chain_claims import NOISY, ROUNDS, STRONGLY, D, Delta, K, L, M, T, bound, eta, mu, sigma, tau, zeta

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Numbers
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate
from fedtheory.proofs.document import with_quantities
from fedtheory.proofs.last_errors import LastOfContracting, LastOfFalling
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search import certificate_terms, contractions, together
from fedtheory.search.blocks import Blocks
from fedtheory.search.positivity import SignFacts
from fedtheory.search.samples import Samples
from fedtheory.search.workspace import LemmaGoal, Workspace

LOSSES = (*NOISY, a.one_client, a.convex_and_smooth)
SMALL = [eta <= 1 / L]
KEPT = 1 - eta * mu / 2


class Believing(Workspace):
    """A workspace that takes every lemma as proved, and records them in order."""

    def __init__(self, claim: Claim, needed: Sequence[str]) -> None:
        super().__init__(use_plain_symbols(with_quantities(claim, {"quantities": list(needed)})))
        self.added: dict[str, tuple[LemmaGoal, Any]] = {}
        symbols = symbols_of(self.claim)
        self.names = {symbols(quantity): symbol for symbol, quantity in claim.where.items()}

    def add(self, statement: LemmaGoal, certificate: Any) -> str | None:
        """Record a lemma."""
        self.added[statement.name] = (statement, certificate)
        return statement.name

    def read(self, number: sp.Expr) -> sp.Expr:
        """Return a number in the symbols of the user's claim."""
        return sp.expand(sp.sympify(number).xreplace(self.names))


@pytest.fixture
def believing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Believing]:
    """Return workspaces of bounds, for chains in which all steps are found."""
    monkeypatch.setattr(together, "certify_step", lambda claim, _: Certificate(claim=claim.id, links=[["terms"]]))

    def workspace(left: Any, right: Any, assumptions: Any, conditions: Any = SMALL) -> Believing:
        claim = bound(left, right, assumptions, conditions)
        return Believing(claim, together.list_needed_together(claim))

    return workspace


def test_bounds_on_the_last_distance(believing: Callable[..., Believing]) -> None:
    """The additional terms of the claimed bound are tried first, then the least ones, each with a sign condition on its
    factor.
    """
    right = KEPT**K * D**2 + 4 * eta * sigma**2 / mu
    space = believing(q.final_distance_sq, right, (*NOISY, *STRONGLY, a.one_client))
    assert list(together.find_steps_together(space)) == ["last-distance-1", "last-distance-2"]
    assert [*space.added] == ["contracting-1", "last-distance-1", "contracting-2", "last-distance-2"]
    for place, added in ((1, 2 * eta**2 * sigma**2), (2, eta**2 * sigma**2)):
        statement, contraction = space.added[f"last-distance-{place}"]
        assert space.read(statement.relation.ordered[1] - contraction.offset / (1 - contraction.factor)) == sp.expand(
            KEPT**K * D**2
        )
        assert (contraction.step, contraction.weight, contraction.potential) == (f"contracting-{place}", 1, 0)
        assert space.read(contraction.factor - KEPT) == 0
        assert space.read(contraction.offset) == added
        assert statement.place == "run"
        *own, last = statement.conditions or ()
        assert own == list(space.claim.conditions)
        assert space.read(last.lts) == eta
        assert space.read(last.gts) == 2 / mu


def test_bounds_without_a_factor(believing: Callable[..., Believing]) -> None:
    """A bound without a factor has the cost of noise per step, and an average over all steps."""
    space = believing(q.final_distance_sq, D**2 + T * eta**2 * sigma**2, (*NOISY, a.one_client, *STRONGLY))
    assert list(together.find_steps_together(space)) == ["mean-nearer"]
    assert [*space.added] == ["nearer", "mean-nearer"]
    statement, mean = space.added["mean-nearer"]
    assert (mean.step, mean.span) == ("nearer", "run")
    assert space.read(statement.relation.left) == -(eta**2) * sigma**2


def test_bounds_on_means(believing: Callable[..., Believing]) -> None:
    """The numbers of the claimed bound are tried first, then the smallest; equal ones only once."""
    space = believing(q.average_suboptimality, D**2 / (eta * K) + 2 * eta * sigma**2, LOSSES)
    assert list(together.find_steps_together(space)) == ["mean-error-1", "mean-error-2"]
    assert [*space.added] == ["progress-1", "mean-error-1", "progress-2", "mean-error-2"]
    progress, count = symbols_of(space.claim)(q.total_progress), symbols_of(space.claim)(q.iterations)
    for place, share, added in ((1, 1 / eta, 2 * eta * sigma**2), (2, 1 / (2 * eta), eta * sigma**2)):
        statement, mean = space.added[f"mean-error-{place}"]
        assert mean.step == f"progress-{place}"
        right = sp.expand(statement.relation.ordered[1])
        assert space.read(right.coeff(progress) * count) == share
        assert space.read(right.xreplace({progress: sp.S.Zero})) == added
    same = believing(q.average_suboptimality, D**2 / (2 * eta * K) + eta * sigma**2, LOSSES)
    assert list(together.find_steps_together(same)) == ["mean-error-1"]
    last = believing(q.final_suboptimality, D**2 / (eta * K) + 2 * eta * sigma**2, LOSSES)
    assert list(together.find_steps_together(last)) == ["mean-error-1"]
    assert last.read(last.added["mean-error-1"][0].relation.ordered[1].xreplace({progress: 0})) == eta * sigma**2
    gradient = believing(q.average_local_gradient_sq, 4 * Delta / (eta * K), (*ROUNDS, a.full_gradients, a.smooth))
    assert list(together.find_steps_together(gradient)) == ["mean-gradient"]
    assert [*gradient.added] == ["descent", "mean-gradient"]


def test_bounds_on_the_last_error(believing: Callable[..., Believing]) -> None:
    """Each factor with a power in the bound is tried, then the average error."""
    right = (1 - eta * mu) ** K * Delta + eta**2 * sigma**2
    space = believing(q.final_suboptimality, right, (*NOISY, a.one_client, *STRONGLY))
    assert list(together.find_last_errors(space)) == [LastOfContracting("errors-1"), LastOfFalling("falling")]
    assert [*space.added] == ["errors-1", "falling"]
    assert {statement.place for statement, _ in space.added.values()} == {"step"}


def test_steps_without_a_proof_lead_to_nothing(
    believing: Callable[..., Believing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "certify_step", lambda *_: None)
    for left, right in (
        (q.final_distance_sq, KEPT**K * D**2 + eta * sigma**2 / mu),
        (q.final_distance_sq, D**2 + T * eta**2 * sigma**2),
        (q.average_suboptimality, D**2 / (eta * K) + eta * sigma**2),
        (q.final_suboptimality, KEPT**K * Delta + eta * sigma**2),
    ):
        space = believing(left, right, (*NOISY, a.one_client, *STRONGLY))
        assert list(together.find_steps_together(space)) == []
        if left is q.final_suboptimality:
            assert list(together.find_last_errors(space)) == []
        assert space.added == {}


def test_bounds_on_the_last_model_with_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each share of the contraction, and each coefficient for the drift, is tried."""
    kind = SimpleNamespace(lemmas=["a"], conditions=(), potential=sp.S.Zero, offset=eta**3, terms=["t"])
    monkeypatch.setattr(contractions, "_bound_by_largest_drift", lambda _: [kind])
    monkeypatch.setattr(contractions, "_bound_by_potential", lambda *_: [kind])
    powers = {share: (1 - share * eta * mu) ** K for share in (sp.S.Half, sp.S.One, sp.Integer(2))}
    right = D**2 * sp.Add(*powers.values()) + eta**2 * tau * zeta**2
    assumptions = (*ROUNDS, *STRONGLY, a.full_gradients, a.bounded_dissimilarity)
    claim = bound(q.final_distance_sq, right, assumptions, SMALL)
    space = Believing(claim, contractions.NEEDED)
    # Factors are in the order of their texts: 1 - 2 eta mu, which contracts too much, then those of a half and of one.
    names = [f"{number}-{place}" for number in (2, 3) for place in (1, 2)]
    found = list(contractions.find_contractions(space))
    assert sorted(found) == sorted(f"last-model-{name}" for name in names)
    for name in names:
        _, contraction = space.added[f"last-model-{name}"]
        assert contraction.step == f"contracting-{name}"
        share = sp.cancel((1 - space.read(contraction.factor)) / (eta * mu))
        statement, certificate = space.added[f"contracting-{name}"]
        assert statement.place == "step"
        assert certificate.lemmas == ["a"]
        assert [str(term) for term in certificate.links[0][:1]] == ["t"]
        assert [space.read(term.coefficient) for term in certificate.links[0][1:]] == (
            [] if share == 1 else [eta * mu / 2]
        )


def test_attempts_that_end_alike_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each set of candidates is solved once, until there is none; without two points there is nothing to solve."""
    supports = [[0], [1, 0], [0], [1, 0]]
    asked: list[Any] = []
    monkeypatch.setattr(certificate_terms, "draw_inner_samples", lambda *_: Samples([eta], np.array([[0.5, 0.7]])))
    monkeypatch.setattr(certificate_terms, "add_edges", lambda samples, *_: samples)
    monkeypatch.setattr(certificate_terms, "make_programs", lambda *_: None)
    monkeypatch.setattr(certificate_terms, "list_units", lambda *_: ())
    monkeypatch.setattr(certificate_terms, "find_least_support", lambda _, attempt: supports[attempt])
    monkeypatch.setattr(certificate_terms, "solve_exactly", lambda system, *_: asked.append([*system.chosen]))
    context: Any = SimpleNamespace(numbers=Numbers(symbols=frozenset((eta, M))))
    candidates: Any = [SimpleNamespace(blocks=None, name=name) for name in "ab"]
    found = certificate_terms._find_sum(Blocks({}, {}), candidates, context, SignFacts(context.numbers, []), None)  # type: ignore[arg-type]
    assert found is None
    assert [[one.name for one in chosen] for chosen in asked] == [["a"], ["b", "a"]]
    monkeypatch.setattr(certificate_terms, "draw_inner_samples", lambda *_: Samples([eta], np.array([[0.5]])))
    assert (
        certificate_terms._find_sum(Blocks({}, {}), candidates, context, SignFacts(context.numbers, []), None) is None
    )  # type: ignore[arg-type]
    assert len(asked) == 2
