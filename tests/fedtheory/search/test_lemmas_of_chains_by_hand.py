"""Lemmas of chains for clients that agree, and of contracting steps: each statement as a textbook has it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.last_errors import LastOfContracting, LastOfFalling
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.search import contractions, together

eta, mu, L, T, tau, v, M, K = sp.symbols("eta mu L T tau v M K", positive=True)
D, D0 = sp.symbols("D D0", nonnegative=True)
WHERE: dict[Any, Any] = {
    eta: q.local_step_size,
    mu: q.strong_convexity,
    L: q.smoothness,
    T: q.rounds,
    tau: q.local_steps,
    v: q.noise_deviation,
    M: q.clients,
    D: q.initial_distance,
    D0: q.initial_gap,
}
NOISY = (a.unbiased_bounded_variance,)


class Lemmas:
    """A workspace that proves every lemma but some, and lists the statements."""

    def __init__(self, claim: Claim, unproved: tuple[str, ...] = ()) -> None:
        self.claim, self.unproved = claim, unproved
        self.found: dict[str, Any] = {}

    def claim_of(self, statement: Any) -> Any:
        """Return a claim with the name of the lemma as its id."""
        return SimpleNamespace(id=statement.name)

    def add(self, statement: Any, certificate: Any) -> str | None:
        """Add a lemma, unless it is one of those that fail."""
        if statement.name in self.unproved:
            return None
        self.found[statement.name] = (statement, certificate)
        return str(statement.name)

    def __getitem__(self, name: str) -> tuple[Any, Any, Any]:
        statement, certificate = self.found[name]
        assert statement.relation.operator == "<="
        return statement.relation.left, sp.expand(statement.relation.right), certificate


def _claim(left: Any, right: Any, assumptions: Any = NOISY, **where: Any) -> Claim:
    return Claim(id="t:chain", lhs=left, rhs=right, where=WHERE | where, assumptions=assumptions)


@pytest.fixture(autouse=True)
def _terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every step be proved by some terms."""
    monkeypatch.setattr(together, "certify_step", lambda claim, _: Certificate(claim=claim.id, links=[[]]))


def _symbols(claim: Claim) -> tuple[Any, ...]:
    symbol = symbols_of(claim)
    names = (q.average_iterate, q.next_average_iterate, q.optimum, q.objective)
    return tuple(symbol(one) for one in names)


VARIANCE = eta**2 * v**2 / M
FACTOR = 1 - eta * mu


def test_the_last_distance_by_a_contracting_step() -> None:
    """X' <= q X + b gives X_K <= q^K D^2 + b/(1 - q), for the b of the bound and for the variance of a step."""
    rest = eta * v**2 / (M * mu) + eta**2
    claim = _claim(q.final_distance_sq, FACTOR ** (tau * T) * D**2 + rest)
    now, later, best, _ = _symbols(claim)
    lemmas: Any = Lemmas(claim)
    assert list(together.find_steps_together(lemmas)) == ["last-distance-1", "last-distance-2"]
    for number, offset in ((1, sp.expand(rest * eta * mu)), (2, VARIANCE)):
        left, right, step = lemmas[f"contracting-{number}"]
        assert left == Expectation(norm_sq(later - best))
        assert right == sp.expand(FACTOR * Expectation(norm_sq(now - best)) + offset)
        assert isinstance(step, Certificate)
        left, _, last = lemmas[f"last-distance-{number}"]
        assert left == symbols_of(claim)(q.final_distance_sq)
        whole = lemmas.found[f"last-distance-{number}"][0]
        assert whole.conditions == [sp.Le(eta, 1 / mu, evaluate=False)]
        assert sp.cancel(whole.relation.right - FACTOR ** (tau * T) * D**2 - offset / (eta * mu)) == 0
        assert isinstance(last, Contraction)
        assert (last.step, last.factor, last.offset) == (f"contracting-{number}", FACTOR, offset)
        assert (last.potential, last.weight) == (0, 1)
    assert list(together.find_steps_together(Lemmas(claim, ("contracting-1",)))) == ["last-distance-2"]  # type: ignore[arg-type]


def test_the_last_distance_without_a_factor() -> None:
    """X' <= X + b gives -b <= (X_0 - X_K)/K."""
    claim = _claim(q.final_distance_sq, D**2 + eta)
    now, later, best, _ = _symbols(claim)
    lemmas: Any = Lemmas(claim)
    assert list(together.find_steps_together(lemmas)) == ["mean-nearer"]
    assert lemmas["nearer"][:2] == (Expectation(norm_sq(later - best)), Expectation(norm_sq(now - best)) + VARIANCE)
    left, right, mean = lemmas["mean-nearer"]
    assert left == -VARIANCE
    assert right == symbols_of(claim)(q.total_progress) / (tau * T)
    assert isinstance(mean, MeanCertificate)
    assert (mean.claim, mean.step, mean.span) == ("mean-nearer", "nearer", "run")
    assert list(together.find_steps_together(Lemmas(claim, ("nearer",)))) == []  # type: ignore[arg-type]


def test_mean_errors_by_progress() -> None:
    """F' - F* <= a (X - X') + c, with the constants of the bound and with 1/(2 eta) and the variance."""
    bound = D**2 / (eta * tau * T) + 3 * eta * v**2
    claim = _claim(q.average_suboptimality, bound)
    now, later, best, objective = _symbols(claim)
    lemmas: Any = Lemmas(claim)
    assert list(together.find_steps_together(lemmas)) == ["mean-error-1", "mean-error-2"]
    for number, share, added in ((1, 1 / eta, 3 * eta * v**2), (2, 1 / (2 * eta), VARIANCE / eta)):
        left, right, _ = lemmas[f"progress-{number}"]
        assert left == Expectation(Value(objective, later) - Value(objective, best))
        progress = Expectation(norm_sq(now - best) - norm_sq(later - best))
        assert right == sp.expand(share * progress + added)
        left, right, mean = lemmas[f"mean-error-{number}"]
        assert left == symbols_of(claim)(q.average_suboptimality)
        assert right == sp.expand(share * symbols_of(claim)(q.total_progress) / (tau * T) + added)
        assert mean.step == f"progress-{number}"
    last = _claim(q.final_suboptimality, bound)
    assert list(together.find_steps_together(Lemmas(last))) == ["mean-error-1"]  # type: ignore[arg-type]


def test_mean_gradients_by_descent() -> None:
    """|grad F|^2 <= a (F - F') + c with the constants of the bound."""
    claim = _claim(q.average_local_gradient_sq, 2 * D0 / (eta * tau * T) + eta * L * v**2)
    now, later, _, objective = _symbols(claim)
    lemmas: Any = Lemmas(claim)
    assert list(together.find_steps_together(lemmas)) == ["mean-gradient"]
    left, right, _ = lemmas["descent"]
    assert left == Expectation(norm_sq(Gradient(objective, now)))
    assert right == 2 / eta * Expectation(Value(objective, now) - Value(objective, later)) + eta * L * v**2
    left, right, mean = lemmas["mean-gradient"]
    assert right == 2 * symbols_of(claim)(q.total_descent) / (eta * tau * T) + eta * L * v**2
    assert mean.step == "descent"


def test_last_errors_by_falling_and_contracting_errors() -> None:
    """Errors that contract by the factor of the bound, or grow by the noise of a step: L eta^2 v^2/(2 M)."""
    claim = _claim(q.final_suboptimality, FACTOR ** (tau * T) * D0 + eta)
    now, later, best, objective = _symbols(claim)
    lemmas: Any = Lemmas(claim)
    found = list(together.find_last_errors(lemmas))
    assert found == [LastOfContracting("errors-1"), LastOfFalling("falling")]
    least = Value(objective, best)
    left, right, _ = lemmas["errors-1"]
    assert left == Expectation(Value(objective, later) - least)
    assert right == sp.expand(FACTOR * Expectation(Value(objective, now) - least) + eta**2 * mu)
    left, right, _ = lemmas["falling"]
    assert left == Expectation(Value(objective, later))
    assert right == Expectation(Value(objective, now)) + L * VARIANCE / 2
    assert list(together.find_last_errors(Lemmas(claim, ("errors-1", "falling")))) == []  # type: ignore[arg-type]


def test_steps_without_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "certify_step", lambda *_: None)
    claim = _claim(q.final_distance_sq, D**2 + eta)
    assert list(together.find_steps_together(Lemmas(claim))) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(("assumptions", "found"), [((a.one_client,), False), ((), True)])
@pytest.mark.parametrize("counted", [False, True])
def test_quantities_that_the_steps_need(assumptions: Any, *, found: bool, counted: bool) -> None:
    """The number of clients unless there is one, and of iterations unless the claim names it."""
    where = {K: q.iterations} if counted else {}
    claim = Claim(id="t:chain", lhs=q.final_distance_sq, rhs=K if counted else 1, where=where, assumptions=assumptions)
    needed = together.list_needed_together(claim)
    assert ("clients" in needed, "iterations" in needed) == (found, not counted)
    assert "next_average_iterate" in needed
    assert together.has_power_of_rounds(_claim(q.final_distance_sq, FACTOR ** (tau * T)))
    assert not together.has_power_of_rounds(_claim(q.final_distance_sq, FACTOR**tau * T))


@pytest.mark.parametrize("share", [sp.S.One, sp.Rational(1, 2)])
def test_the_last_model_by_a_contracting_step(share: sp.Rational) -> None:
    """X' + c' V' <= q (X + c V) + b with q = 1 - share eta mu; a smaller share leaves a part of X to spare."""
    index = sp.Symbol("k", nonnegative=True, integer=True)
    where: Any = {index: q.local_step_index, K: q.iterations}
    claim = Claim(
        id="t:chain",
        lhs=q.final_distance_sq,
        rhs=eta * mu * L * K * D + index,
        where={**WHERE, **where},
        assumptions=NOISY,
    )
    lemmas: Any = Lemmas(claim)
    kind = contractions._Kind(["a", "b"], [eta <= 1], eta * (tau - index), eta**2, [])
    assert contractions._bound_last_iterate(lemmas, kind, share, "1-2") == "last-model-1-2"
    now, later, best, _ = _symbols(claim)
    symbol = symbols_of(claim)
    own, following = symbol(q.local_iterate), symbol(q.next_local_iterate)
    apart, still = Average(norm_sq(own - now)), Average(norm_sq(following - later))
    factor = 1 - share * eta * mu
    left, right, step = lemmas["contracting-1-2"]
    assert left == Expectation(norm_sq(later - best)) + eta * (tau - index - 1) * Expectation(still)
    error = Expectation(norm_sq(now - best)) + eta * (tau - index) * Expectation(apart)
    assert sp.expand(right - factor * error - eta**2) == 0
    assert (step.claim, list(step.lemmas)) == ("contracting-1-2", ["a", "b"])
    spare = [term.coefficient for (term,) in [step.links[0]]] if share != 1 else []
    assert spare == ([eta * mu / 2] if share != 1 else [])
    assert len(step.links[0]) == (share != 1)
    statement, last = lemmas.found["last-model-1-2"]
    expected = factor ** symbol(q.iterations) * D**2 + eta**2 / (share * eta * mu)
    assert sp.cancel(statement.relation.right - expected) == 0
    assert (last.step, last.factor, last.potential, last.offset, last.weight) == (
        "contracting-1-2",
        factor,
        eta * (tau - index),
        eta**2,
        1,
    )
    assert contractions._bound_last_iterate(Lemmas(claim, ("contracting-1-2",)), kind, share, "1-2") is None  # type: ignore[arg-type]
