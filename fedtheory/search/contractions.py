"""Builds lemmas on the last iterate of strongly convex clients, from a contracting step and a bound on its drift.

With V the average squared distance of clients from their average and X that of the average from the optimum,

    X' <= (1 - eta mu) X + 2 eta L V + b_0,      V' <= (1 + 1/tau) V + b_1.

Either V is at most the largest drift of the run, or it is absorbed by a potential c(k) = 4 eta L (tau - k) (2 - k/tau):

    X' + c(k+1) V' <= q (X + c(k) V) + b_0 + 8 eta L (tau - 1) b_1,      q = 1 - theta eta mu, theta <= 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import InequalityRef, Term, assumption, one, square
from fedtheory.kernel.expressions import Average, Expectation, Expr, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.document import document_of
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.proof import check_assumed
from fedtheory.search.certificate_terms import certify_step
from fedtheory.search.positivity import SignFacts, split_into_products, split_quickly
from fedtheory.search.restated import restate
from fedtheory.search.workspace import LemmaGoal, Workspace, le

NEEDED = tuple(
    quantity.name
    for quantity in (
        q.max_drift,
        *(q.average_iterate, q.next_average_iterate, q.local_iterate, q.next_local_iterate, q.optimum),
        *(q.objective, q.client_objective, q.gradient_noise, q.local_step_index),
    )
)
"""Names of the quantities in the local steps that the proofs combine."""
_VANISHING: Mapping[Assumption, q.RunQuantity] = {
    a.full_gradients: q.noise_deviation,
    a.one_type: q.gradient_dissimilarity,
}
"""Constants of the published bounds that are zero under an assumption, so that a claim need not name them."""
LARGEST_DRIFTS = ("renard2022:lemma-2.3.sharp", "liu2022:lemma-1.sharp")
"""Published bounds on the largest drift of a run."""
_ASSUMED: tuple[Assumption, ...] = (a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step)
_ASSUMED += (a.convex_and_smooth, a.strongly_convex_clients)


def is_contracting(claim: Claim) -> bool:
    """Whether a claim bounds the distance of the last iterate of strongly convex clients, with a power of a factor."""
    named = set(claim.notation.values())
    wanted = {q.final_distance_sq, q.strong_convexity, q.smoothness, q.initial_distance}
    if a.unbiased_bounded_variance in claim.assumptions:
        wanted |= {q.noise_deviation}
    # The exponent is K, or tau T.
    is_counted = q.iterations in named or {q.local_steps, q.rounds} <= named
    return wanted <= named and is_counted and check_assumed(claim, _ASSUMED, "").holds


def list_needed(claim: Claim) -> list[str]:
    """Return the names of the quantities in the local steps and published bounds that the proof of a claim combines."""
    if a.one_client in claim.assumptions:
        # A single client has no drift, so that its bounds need no constants.
        return list(NEEDED)
    vanishing = (one.name for assumption, one in _VANISHING.items() if assumption in claim.assumptions)
    return [*NEEDED, *vanishing, q.clients.name]


def find_contractions(workspace: Workspace) -> Iterator[str]:
    """Yield ids of lemmas that bound the distance of the last iterate, for each factor with a power in the claim."""
    claim = workspace.claim
    symbol = symbols_of(claim)
    rate = symbol(q.local_step_size) * symbol(q.strong_convexity)
    powers = claim.relations[0].slack.atoms(sp.Pow)
    factors = {power.base for power in powers if power.exp == symbol(q.iterations)}
    for number, factor in enumerate(sorted(factors, key=str), start=1):
        theta = sp.cancel((1 - factor) / rate)
        if theta.is_Rational and 0 < theta <= 1:
            kinds = (*_bound_by_largest_drift(workspace), *_bound_by_potential(workspace, theta))
            names = (
                _bound_last_iterate(workspace, kind, theta, f"{number}-{place}")
                for place, kind in enumerate(kinds, start=1)
            )
            yield from (name for name in names if name is not None)


@dataclass(frozen=True)
class _Kind:
    """A way to bound the drift in a contracting step."""

    lemmas: Sequence[str]
    """Ids of the lemmas that the step uses."""
    conditions: Sequence[Expr]
    """Conditions under which they hold."""
    potential: Expr
    """The coefficient c(k) of the drift; zero without a potential."""
    offset: Expr
    """The constant that each step adds."""
    terms: Sequence[Term]
    """Terms whose sum is the slack of the step if its factor is 1 - eta mu."""


def _list_conditions(claim: Claim) -> list[Expr]:
    """Return the conditions on the step size under which X' <= (1 - eta mu) X + 2 eta L V + b_0 holds."""
    eta, mu, smoothness = _find_numbers(claim)
    small = sp.Le(eta, 1 / (2 * smoothness), evaluate=False)
    return [small, sp.Le(4 * eta * mu, sp.S.One, evaluate=False)]


def _find_numbers(claim: Claim) -> tuple[sp.Symbol, ...]:
    """Return the symbols of step size, strong convexity and smoothness."""
    symbol = symbols_of(claim)
    return tuple(symbol(one) for one in (q.local_step_size, q.strong_convexity, q.smoothness))


def _write_vectors(claim: Claim) -> tuple[Expr, Expr, Expr, Expr]:
    """Return X, X', V and V' before expectations: squared distances before and after a step."""
    symbol = symbols_of(claim)
    average, next_average = symbol(q.average_iterate), symbol(q.next_average_iterate)
    drift, next_drift = symbol(q.local_iterate) - average, symbol(q.next_local_iterate) - next_average
    best = symbol(q.optimum)
    distances = norm_sq(average - best), norm_sq(next_average - best)
    return *distances, Average(norm_sq(drift)), Average(norm_sq(next_drift))


def _prove_progress(workspace: Workspace) -> str | None:
    """Add the lemma X' <= (1 - eta mu) X + 2 eta L V + b_0, and return its id."""
    claim = workspace.claim
    eta, mu, smoothness = _find_numbers(claim)
    distance, next_distance, drift, _ = map(Expectation, _write_vectors(claim))
    relation = le(next_distance, (1 - eta * mu) * distance + 2 * eta * smoothness * drift + _average_noise(claim))
    return _prove_step(workspace, LemmaGoal("towards-the-optimum", "step", relation, _list_conditions(claim)))


def _bound_by_largest_drift(workspace: Workspace) -> Iterator[_Kind]:
    """Yield the bound of the drift by the largest one of the run, which needs no condition on eta tau."""
    claim = workspace.claim
    eta, _, smoothness = _find_numbers(claim)
    progress = _prove_progress(workspace)
    for published in LARGEST_DRIFTS:
        drift = restate(workspace, published, {})
        if progress is None or drift is None:
            continue
        factor = 2 * eta * smoothness
        offset = _average_noise(claim) + factor * workspace.proofs[drift].claim.relations[0].ordered[1]
        terms = [_use_relation(progress, sp.S.One), Term(factor, assumption(drift), averaged=True)]
        yield _Kind([progress, drift], _list_conditions(claim), sp.S.Zero, offset, terms)


def _bound_by_potential(workspace: Workspace, theta: sp.Rational) -> Iterator[_Kind]:
    """Yield the bound of the drift by a potential, with smaller constants if eta mu tau is small."""
    claim = workspace.claim
    symbol = symbols_of(claim)
    eta, mu, smoothness = _find_numbers(claim)
    tau, index = symbol(q.local_steps), symbol(q.local_step_index)
    conditions = [*_list_conditions(claim), sp.Le(4 * eta * mu * tau, sp.S.One, evaluate=False)]
    potential = 4 * eta * smoothness * (tau - index) * (2 - index / tau)
    next_potential = potential.xreplace({index: index + 1})
    largest_potential = 8 * eta * smoothness * (tau - 1)
    rest = (1 - theta * eta * mu) * potential - next_potential * (1 + 1 / tau) - 2 * eta * smoothness
    _, _, drift, next_drift = map(Expectation, _write_vectors(claim))
    progress = _prove_progress(workspace)
    for number, moments in enumerate(_list_increases(claim)):
        added = eta**2 * moments
        goal = LemmaGoal(f"drift-{number}", "step", le(next_drift, (1 + 1 / tau) * drift + added), conditions)
        growth = _bound_published_drift(workspace, goal) or _prove_step(workspace, goal)
        if progress is None or growth is None:
            continue
        signs = SignFacts(numbers_of(workspace.claim_of(goal)), (*conditions, index + 1 <= tau))
        drift_square = square(symbol(q.local_iterate) - symbol(q.average_iterate))
        squares = _split_multiples(rest, drift_square, signs, averaged=True)
        numbers = _split_multiples((largest_potential - next_potential) * added, one(), signs)
        if squares is not None and numbers is not None:
            terms = [_use_relation(progress, sp.S.One), _use_relation(growth, next_potential), *squares, *numbers]
            offset = _average_noise(claim) + largest_potential * added
            yield _Kind([progress, growth], conditions, potential, offset, terms)


def _use_relation(lemma: str, coefficient: Expr) -> Term:
    """Return the term that uses the first relation of a lemma."""
    return Term(coefficient, assumption(f"{lemma}, relation 1"))


def _bound_last_iterate(workspace: Workspace, kind: _Kind, theta: sp.Rational, suffix: str) -> str | None:
    """Add the lemma on the last iterate with the factor 1 - theta eta mu, and return its id."""
    claim = workspace.claim
    symbol = symbols_of(claim)
    eta, mu, _ = _find_numbers(claim)
    index, factor, potential = symbol(q.local_step_index), 1 - theta * eta * mu, kind.potential
    distance, next_distance, drift, next_drift = map(Expectation, _write_vectors(claim))
    left = next_distance + potential.xreplace({index: index + 1}) * next_drift
    right = factor * (distance + potential * drift) + kind.offset
    step = LemmaGoal(f"contracting-{suffix}", "step", le(left, sp.expand(right)), kind.conditions)
    unused = Term((1 - theta) * eta * mu, square(symbol(q.average_iterate) - symbol(q.optimum)))
    terms = [*kind.terms, *([unused] if theta != 1 else [])]
    certificate = Certificate(claim=workspace.claim_of(step).id, links=[terms], lemmas=list(kind.lemmas))
    name = workspace.add(step, certificate)
    if name is None:
        return None
    power = factor ** symbol(q.iterations) * symbol(q.initial_distance) ** 2
    whole = le(symbol(q.final_distance_sq), power + kind.offset / (theta * eta * mu))
    last = LemmaGoal(f"last-model-{suffix}", "run", whole, kind.conditions)
    contraction = Contraction(
        claim=workspace.claim_of(last).id,
        step=name,
        factor=factor,
        potential=potential,
        offset=kind.offset,
        weight=sp.S.One,
    )
    return workspace.add(last, contraction)


def _average_noise(claim: Claim) -> Expr:
    """Return b_0, the variance of the clients' average gradient times the squared step size."""
    symbol = symbols_of(claim)
    clients = symbol(q.clients) if symbol.has(q.clients) else sp.S.One
    return symbol(q.local_step_size) ** 2 * _find_noise(claim) / clients


def _find_noise(claim: Claim) -> Expr:
    """Return the bound on the variance of a client's gradient, in the symbols of a claim."""
    if a.unbiased_bounded_variance not in claim.assumptions:
        return sp.S.Zero
    return symbols_of(claim)(q.noise_deviation) ** 2


def _list_increases(claim: Claim) -> Iterator[Expr]:
    """Yield values of b_1, bounds on the increase of the drift in one step, divided by the squared step size."""
    symbol, grown = symbols_of(claim), 1 + symbols_of(claim)(q.local_steps)
    is_bounded = check_assumed(claim, [a.bounded_dissimilarity], "").holds
    if is_bounded and symbol.has(q.gradient_dissimilarity):
        # A claim that does not name the number of clients has to hold for any number of them.
        spread = 1 - 1 / symbol(q.clients) if symbol.has(q.clients) else sp.S.One
        yield grown * symbol(q.gradient_dissimilarity) ** 2 + spread * _find_noise(claim)
    if a.bounded_second_moment in claim.assumptions and symbol.has(q.second_moment):
        yield grown * symbol(q.second_moment) ** 2


def _bound_published_drift(workspace: Workspace, statement: LemmaGoal) -> str | None:
    """Add a lemma on the drift after a step by the terms of a published recursion, and return its id."""
    document = document_of(find(_RECURSION), certificate_of(_RECURSION))["certificate"]
    name = workspace.claim_of(statement).id
    return workspace.add(statement, {"kind": "identities", "claim": name, "links": [document["terms"]]})


_RECURSION = "renard2022:lemma-2.3.mean"


def _prove_step(workspace: Workspace, statement: LemmaGoal) -> str | None:
    """Add a lemma on one step, by named inequalities and squares, and return its id; None if it is not proved."""
    claim = workspace.claim_of(statement)
    if claim.id in workspace.proofs:
        return claim.id
    certificate = certify_step(claim, statement.relation)
    return None if certificate is None else workspace.add(statement, certificate)


def _split_multiples(
    number: Expr, reason: InequalityRef, signs: SignFacts, *, averaged: bool = False
) -> Sequence[Term] | None:
    """Return non-negative multiples of an inequality that add up to a number times it; None if none are found."""
    if number == 0:
        return []
    summands = split_quickly(number, signs) or split_into_products(number, signs)
    return None if summands is None else [Term(each, reason, averaged=averaged) for each in summands]
