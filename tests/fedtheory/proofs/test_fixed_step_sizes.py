"""Step sizes that an equation fixes are replaced by its other side, under this equation only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Gradient, Value
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.proofs.numbers import numbers_of
from fedtheory.search import Found, find_proof

v, w, best, F = sp.symbols("v w best F", real=True)
eta, alpha, L, mu, L_i, tau, T, D = sp.symbols("eta alpha L mu L_i tau T D", positive=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
STEP: dict[Any, Any] = {v: q.centralised_model, w: q.next_centralised_model, best: q.optimum, F: q.objective}
NUMBERS = {eta: q.local_step_size, alpha: q.server_step_size, L: q.smoothness, mu: q.strong_convexity}
RUN = {
    **NUMBERS,
    tau: q.local_steps,
    L_i: q.client_smoothness,
    k: q.local_step_index,
    T: q.rounds,
    D: q.initial_distance,
}
ALONE = (a.one_client, a.full_gradients, a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation)


def _equal(one: Any, other: Any) -> sp.Eq:
    return sp.Eq(one, other, evaluate=False)


def _known(*conditions: Any, **stated: Any) -> dict[sp.Symbol, sp.Expr]:
    """Return the numbers that replace step sizes in a claim."""
    claim = Claim(id="t:numbers", lhs=sp.S.Zero, rhs=D**2, where=RUN, conditions=conditions, **stated)
    return dict(numbers_of(claim).definitions)


def _step(larger: Any, *conditions: Any, smaller: Any = None) -> Claim:
    """Return a bound on the value after one step of gradient descent, or on another given quantity."""
    stated = {"lhs": Value(F, w) if smaller is None else smaller, "rhs": larger, "conditions": conditions}
    return resolve(Claim(id="mine:step", place="path", where={**STEP, **NUMBERS}, assumptions=(a.smooth,), **stated))


def _run(larger: Any, *conditions: Any) -> Claim:
    stated = {"lhs": q.average_suboptimality, "rhs": larger, "conditions": conditions}
    where = {one: RUN[one] for one in (eta, L, tau, T, D)}
    return resolve(Claim(id="mine:run", where=where, assumptions=(a.convex_and_smooth, *ALONE), **stated))


DESCENT = Value(F, v) - norm_sq(Gradient(F, v)) / (2 * L)
AT_ONE = _equal(eta, 1 / L)


@cache
def _document(name: str) -> Any:
    """Return the document that a search finds for a true claim."""
    found = find_proof(TRUE[name])
    assert isinstance(found, Found)
    return found.proof.document


def test_only_constants_of_the_run_stand_for_step_sizes() -> None:
    """The step size may be on either side; numbers that vary between clients or steps do not replace it."""
    assert _known(AT_ONE) == {eta: 1 / L}
    assert _known(_equal(1 / (L * tau), alpha), _equal(eta, 2 / (L + mu))) == {alpha: 1 / (L * tau), eta: 2 / (L + mu)}
    assert _known(_equal(eta, D / sp.sqrt(T))) == {eta: D / sp.sqrt(T)}
    for other in (1 / L_i, eta**2 * L, 1 / (L * (k + 1)), sp.Min(1 / L, 1 / tau), sp.log(T) / T):
        assert _known(_equal(eta, other)) == {}, other
    assert _known(_equal(L, 2 * mu)) == _known(eta <= 1 / L) == {}
    assert _known(AT_ONE, _equal(eta, 1 / mu)) == {eta: 1 / L}
    s = sp.Symbol("s", positive=True)
    assert _known(_equal(eta, s), for_all={s: (1, 2)}) == {}


def test_equations_are_solved_for_the_step_size() -> None:
    """The factor of the step size is not zero, because its product with the step size is not."""
    assert _known(_equal(4 * L * eta, 1)) == _known(_equal(1 / eta, 4 * L)) == {eta: 1 / (4 * L)}
    assert _known(_equal(2, eta * (mu + L))) == {eta: 2 / (L + mu)}
    assert _known(_equal(eta * L * sp.sqrt(T), sp.sqrt(tau))) == {eta: sp.sqrt(tau) / (L * sp.sqrt(T))}
    assert _known(_equal(eta * L, alpha), _equal(alpha * tau, 1)) == {alpha: L * eta}
    for other in (D / L, mu, 1 - T, tau - 1, sp.S.Zero, (1 - tau) ** T):
        assert _known(_equal(eta * D, other)) == {}, other
    for one in (eta * L + eta**2, sp.sqrt(eta) * L, eta * L_i, eta * (k + 1), L * tau):
        assert _known(_equal(one, 1)) == {}, one


def test_only_an_equation_makes_its_numbers_nonzero() -> None:
    """The distance is positive if the step size is a multiple of it; a bound on the step size implies nothing."""
    tuned = D / (L * sp.sqrt(T))
    for condition, expected in ((_equal(eta, tuned), True), (_equal(tuned, eta), True), (eta <= tuned, False)):
        claim = Claim(id="t:nonzero", lhs=sp.S.Zero, rhs=mu, where=RUN, conditions=[condition])
        divisors = numbers_of(claim).divisors
        assert (D in divisors) is expected
        assert mu not in divisors
    sums = Claim(id="t:sums", lhs=sp.S.Zero, rhs=mu, where=RUN, conditions=[_equal(eta, 1 / L + D * mu)])
    assert not {D, mu} & numbers_of(sums).divisors


def test_no_step_sizes_stand_for_each_other_in_a_circle() -> None:
    """Only one of the contradictory equations eta = alpha and alpha = 2 eta is used."""
    assert _known(_equal(eta, alpha / L), _equal(alpha, 2 * eta)) == {eta: alpha / L}


TRUE = {
    "descent": _step(DESCENT, AT_ONE),
    "descent, the other way round": _step(DESCENT, _equal(1 / L, eta)),
    "descent, solved": _step(DESCENT, _equal(2 * L * eta, 2)),
    "descent, the inverse": _step(DESCENT, _equal(1 / eta, L)),
    "mean error, solved": _run(L * D**2 / T, _equal(2 * L * eta * tau, 1)),
    "mean error": _run(L * D**2 / (2 * tau * T), AT_ONE),
    "mean error, many local steps": _run(L * D**2 / T, _equal(eta, 1 / (2 * L * tau))),
}
FALSE = {
    "descent without the factor": _step(Value(F, v) - norm_sq(Gradient(F, v)) / L, AT_ONE),
    "descent, too large a step": _step(DESCENT, _equal(eta, 3 / L)),
    "descent, too small a step": _step(DESCENT, _equal(eta, 1 / (2 * L))),
    "descent, solved, too large a step": _step(DESCENT, _equal(L * eta, 3)),
    "descent, solved, too small a step": _step(DESCENT, _equal(2 * L * eta, 1)),
    "mean error, solved, without local steps": _run(L * D**2 / (2 * tau * T), _equal(2 * L * eta * tau, 1)),
    "descent at any step": _step(DESCENT),
    "mean error by half": _run(L * D**2 / (8 * tau * T), AT_ONE),
    "mean error without local steps": _run(L * D**2 / (2 * tau * T), _equal(eta, 1 / (2 * L * tau))),
}


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_bounds_at_a_fixed_step_size_are_proved(claim: Claim) -> None:
    """The step size need not occur in the bound."""
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert found.supposed == ()


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_false_bounds_are_not_proved(claim: Claim) -> None:
    """Neither a search nor the documents of true claims prove false bounds."""
    assert not isinstance(find_proof(claim), Found)
    for name, true in TRUE.items():
        assert check_certificate(replace(claim, id=true.id), _document(name)).verdict == "broken"


@pytest.mark.parametrize(
    "conditions", [(), (eta <= 1 / L,), (_equal(eta, 2 / L),), (_equal(L, 2 / eta),), (_equal(eta * L, mu),)], ids=str
)
def test_documents_need_the_equation(conditions: Sequence[Any]) -> None:
    """A document that uses an equation is broken without it, or with weaker conditions."""
    document = _document("descent")
    assert check_certificate(replace(TRUE["descent"], conditions=conditions), document).verdict == "broken"
    relaxed = document["certificate"] | {"relaxed": ["local_step_size <= 1/smoothness"]}
    assert check_certificate(TRUE["descent"], document | {"certificate": relaxed}).verdict == "broken"


def test_conditions_follow_by_the_equation_or_fail() -> None:
    """A bound for all steps up to 1/L holds at 1/(2 L), and is not used at 2/L."""
    bound = D**2 / (2 * eta * tau * T)
    assert isinstance(find_proof(_run(bound, eta <= 1 / L)), Found)
    assert isinstance(find_proof(_run(bound, _equal(eta, 1 / (2 * L)))), Found)
    assert not isinstance(find_proof(_run(bound, _equal(eta, 2 / L))), Found)
