"""Bounds on the error of the last model from the change of errors in a step, for clients with equal models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Value, norm_sq
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.targets import resolve
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.claim_context import build_context, build_step_context, with_iterations_in_powers
from fedtheory.proofs.last_errors import LastOfContracting, LastOfFalling
from fedtheory.proofs.numbers import ROUNDS, SymbolTable, symbols_of
from fedtheory.search import Found, find_proof

x, following, best, x_i, F, F_i = sp.symbols("xbar xbar' x* x_i F F_i", real=True)
eta, tau, T, K, M, L, D, mu, Delta, sigma, mean, last, k, b, p = sp.symbols(
    "eta tau T K M L D mu Delta sigma mean last k b p", positive=True
)
WHERE: dict[Any, Any] = {
    **{x: q.average_iterate, following: q.next_average_iterate, best: q.optimum, x_i: q.local_iterate},
    **{F: q.objective, F_i: q.client_objective, eta: q.local_step_size, tau: q.local_steps, T: q.rounds},
    **{K: q.iterations, M: q.clients, L: q.smoothness, D: q.initial_distance, mu: q.strong_convexity},
    **{Delta: q.initial_gap, sigma: q.noise_deviation, mean: q.average_suboptimality, last: q.final_suboptimality},
    **{k: q.local_step_index, p: q.client_smoothness},
}
SYMBOLS = SymbolTable(WHERE)
BEFORE, AFTER, LEAST = (Expectation(Value(F, one)) for one in (x, following, best))
FRACTIONS = st.fractions(0, 3, max_denominator=8)


def _run_of_errors(start: Fraction, factor: Fraction, added: Fraction, slacks: Sequence[Fraction]) -> list[Fraction]:
    """Return non-negative errors with the given slacks below their bounds."""
    errors = [start]
    for slack in slacks:
        errors.append(max(Fraction(0), factor * errors[-1] + added - slack))
    return errors


@given(start=FRACTIONS, added=FRACTIONS, slacks=st.lists(FRACTIONS, min_size=1, max_size=6))
def test_last_of_falling_errors(start: Fraction, added: Fraction, slacks: Sequence[Fraction]) -> None:
    """The bound holds for all errors that grow by at most b in a step."""
    errors = _run_of_errors(start, Fraction(1), added, slacks)
    slack = LastOfFalling("a claim").slack(SYMBOLS, BEFORE - AFTER + L)
    values = {mean: sum(errors[1:]) / Fraction(len(slacks)), last: errors[-1], K: len(slacks), L: added}
    assert slack.xreplace({symbol: sp.Rational(value) for symbol, value in values.items()}) >= 0


@given(start=FRACTIONS, factor=st.fractions(0, 1, max_denominator=8), added=FRACTIONS, slacks=st.lists(FRACTIONS))
def test_last_of_contracting_errors(
    start: Fraction, factor: Fraction, added: Fraction, slacks: Sequence[Fraction]
) -> None:
    """The bound holds for all errors that contract by q up to b."""
    errors = _run_of_errors(start, factor, added, slacks)
    relation = mu * (BEFORE - LEAST) + L - (AFTER - LEAST)
    part = LastOfContracting("a claim")
    values = {Delta: start, last: errors[-1], K: len(slacks), L: added, mu: factor}
    known = {symbol: sp.Rational(value) for symbol, value in values.items()}
    assert part.slack(SYMBOLS, relation).xreplace(known) >= 0
    assert part.requires(SYMBOLS, relation) == (mu, 1 - mu, L)


@pytest.mark.parametrize(
    "relation",
    [
        AFTER - BEFORE,
        BEFORE - 2 * AFTER,
        2 * BEFORE - AFTER,
        BEFORE - LEAST,
        BEFORE - AFTER + Expectation(norm_sq(x - best)),
        BEFORE - AFTER + k * L,
        BEFORE - AFTER + p,
        BEFORE - AFTER + Average(p),
        BEFORE - AFTER + b,
        k * (BEFORE - LEAST) - (AFTER - LEAST),
        mu * (BEFORE - LEAST) - AFTER,
        Expectation(Value(F_i, x)) - Expectation(Value(F_i, following)),
        Expectation(Value(F, x_i)) - AFTER,
        BEFORE * L - AFTER * BEFORE,
    ],
)
def test_relations_that_say_nothing_of_the_last_model(relation: Expr) -> None:
    """Relations about other models, other multiples, or numbers that vary give no bound on the last model."""
    for part in (LastOfFalling("a claim"), LastOfContracting("a claim")):
        with pytest.raises(Rejected):
            part.slack(SYMBOLS, relation)


def test_errors_that_contract_need_not_fall() -> None:
    with pytest.raises(Rejected, match="<= E F"):
        LastOfFalling("a claim").slack(SYMBOLS, mu * (BEFORE - LEAST) - (AFTER - LEAST))


def _claim(right: Expr, conditions: Sequence[Expr], *assumptions: a.Assumption, left: Expr = last) -> Claim:
    used = (sp.sympify(left).free_symbols | right.free_symbols).union(*(one.free_symbols for one in conditions))
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol in used}
    known = (*ROUNDS, a.uniform_shares, a.full_gradients, a.convex_and_smooth, *assumptions)
    return resolve(Claim(id="mine:last", lhs=left, rhs=right, where=where, conditions=conditions, assumptions=known))


ONE_STEP, SMALL = sp.Eq(tau, 1, evaluate=False), eta <= 1 / L


@pytest.fixture(scope="module", name="document")
def _document() -> Any:
    """Return the proof that gradient descent with one local step has the error D^2/(2 eta K) at the end."""
    found = find_proof(_claim(D**2 / (2 * eta * K), [SMALL, ONE_STEP]))
    assert isinstance(found, Found)
    return found.proof.document


def test_the_proof_stands(document: Any) -> None:
    claim = _claim(D**2 / (2 * eta * K), [SMALL, ONE_STEP])
    assert check_certificate(claim, document).verdict == "proved"


@pytest.mark.parametrize(
    "claim",
    [
        _claim(D**2 / (2 * eta * K), [SMALL]),
        _claim(D**2 / (2 * eta * K), [SMALL, tau <= 2]),
        _claim(D**2 / (2 * eta * K), [SMALL, sp.Eq(tau, 2)]),
        _claim(D**2 / (2 * eta * K), [SMALL, tau >= 1]),
        _claim(D**2 / (4 * eta * K), [SMALL, ONE_STEP]),
    ],
    ids=["any number of steps", "at most two", "two", "at least one", "half the bound"],
)
def test_the_proof_fails_for_two_local_steps(claim: Claim, document: Any) -> None:
    """With two local steps clients have different models, and the bound is false and not proved."""
    assert check_certificate(claim, document).verdict == "broken"


@pytest.mark.parametrize("missing", ROUNDS)
def test_rounds_that_end_elsewhere(missing: a.Assumption, document: Any) -> None:
    claim = _claim(D**2 / (2 * eta * K), [SMALL, ONE_STEP])
    fewer = replace(claim, assumptions=tuple(one for one in claim.assumptions if one is not missing))
    assert check_certificate(fewer, document).verdict == "broken"


def test_a_condition_that_is_not_needed_does_not_count(document: Any) -> None:
    """A certificate that declares no condition on tau cannot use one."""
    claim = _claim(D**2 / (2 * eta * K), [SMALL, ONE_STEP])
    relaxed = {**document, "certificate": {**document["certificate"], "relaxed": ["local_step_size <= 1/smoothness"]}}
    assert check_certificate(claim, relaxed).verdict == "broken"


def _step(*assumptions: a.Assumption, conditions: Sequence[Expr] = ()) -> Claim:
    relation = Relation(Expectation(norm_sq(x_i - x)), "<=", sp.S.Zero)
    where = {symbol: WHERE[symbol] for symbol in (x, x_i, tau)}
    claim = Claim(
        id="mine:step", also=(relation,), where=where, place="step", assumptions=assumptions, conditions=conditions
    )
    return resolve(claim)


SAMPLED = (a.same_local_work, a.unit_server_step, a.uniform_sampling, a.averaged_participants)


@pytest.mark.parametrize(
    ("claim", "stands"),
    [
        (_step(a.one_client), True),
        (_step(*ROUNDS, conditions=[ONE_STEP]), True),
        (_step(*ROUNDS, conditions=[tau <= 1]), True),
        (_step(*SAMPLED, conditions=[ONE_STEP]), True),
        (_step(*ROUNDS), False),
        (_step(*ROUNDS, conditions=[tau <= 2]), False),
        (_step(*ROUNDS, conditions=[sp.Ne(tau, 1)]), False),
        (_step(*ROUNDS[:2], conditions=[ONE_STEP]), False),
        (_step(*ROUNDS[1:], conditions=[ONE_STEP]), False),
        (_step(a.one_type, *ROUNDS), False),
        (_step(a.uniform_shares, *ROUNDS), False),
    ],
)
def test_equal_models_of_clients(claim: Claim, stands: bool) -> None:
    """Clients have equal models for one client or one local step, and otherwise not."""
    proof = check_certificate(claim, Certificate(claim=claim.id, links=[[]]))
    assert (proof.verdict == "proved") is stands


def test_the_loop_with_restarts_has_clients_apart() -> None:
    """The loop computes gradients before the restart, so that clients have different models."""
    claim = _step(*ROUNDS, conditions=[ONE_STEP])
    local = symbols_of(claim)(q.local_iterate)
    assert local in build_context(claim).client_vectors
    assert local not in build_step_context(claim).client_vectors


def test_clients_together_have_gradients_of_their_own() -> None:
    """At a common point clients have different gradients, so the mean of squares exceeds the square of the mean."""
    slopes = Average(norm_sq(Gradient(F_i, x_i)))
    relation = Relation(Expectation(slopes), "<=", Expectation(norm_sq(Gradient(F, x))))
    where = {symbol: WHERE[symbol] for symbol in (x, x_i, F, F_i, tau)}
    known: dict[str, Any] = {"also": (relation,), "where": where, "place": "step", "conditions": [ONE_STEP]}
    claim = resolve(Claim(id="mine:step", assumptions=(*ROUNDS, a.uniform_shares), **known))
    assert check_certificate(claim, Certificate(claim=claim.id, links=[[]])).verdict == "broken"


@pytest.mark.parametrize(
    ("exponent", "conditions", "expected"),
    [
        (tau * T, [], K),
        (2 * tau * T, [], 2 * K),
        (T, [ONE_STEP], K),
        (T, [], T),
        (tau * T + 1, [], tau * T + 1),
        (T + 1, [ONE_STEP], T + 1),
    ],
)
def test_exponents_count_iterations(exponent: Expr, conditions: Sequence[Expr], expected: Expr) -> None:
    """The exponent K is tau T, and it is T only if a round is one local step."""
    claim = _claim((1 - mu) ** exponent * K, [SMALL, *conditions])
    (found,) = with_iterations_in_powers(claim, claim.conditions).relations
    assert found.right == (1 - mu) ** expected * K
    (unchanged,) = with_iterations_in_powers(claim, [SMALL]).relations
    assert unchanged.right == (1 - mu) ** (exponent if exponent == T else expected) * K


def test_exponents_of_unequal_local_steps() -> None:
    """With unequal local work the number of iterations is not defined."""
    claim = _claim((1 - mu) ** (tau * T) * K, [SMALL])
    fewer = replace(claim, assumptions=tuple(one for one in claim.assumptions if one is not a.same_local_work))
    assert with_iterations_in_powers(fewer, fewer.conditions) is fewer
