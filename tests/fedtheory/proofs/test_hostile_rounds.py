"""False claims about algorithms given by definitions, with adversarial certificates, are not accepted.

A claim proved from a definition is strengthened: its bound is smaller, a premise is missing, or a symbol denotes a
similar quantity. If an exact run refutes it, its certificate is changed as well: disguised numbers, terms removed,
doubled or added, or a function of random vectors of the round.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_false_lyapunov import DSGD, FEDAVGM, ONE_STEP, SCAFFNEW, descent
from test_false_sizes import OWN_SIZES, own_sizes_descent
from test_hostile_certificates import DISGUISES, ENOUGH, is_refused

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.kernel import Term, assumption, one, square
from fedtheory.kernel.expressions import Average
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import find
from fedtheory.proofs import certificates, check_certificate
from fedtheory.proofs.cases import Case
from fedtheory.proofs.comparators import noise_at_y
from fedtheory.proofs.definitions import HEARD, MIXING, NOISE, OPTIMUM, START
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import OPTIMUM_GRADIENTS, START_DISTANCE, Lyapunov
from verify.check import check

APART: dict[str, Any] = {"hessians": [[["3"]], [["1"]]], "linear": [["1"], ["-2"]], "start": ["3"], "noise": "1/2"}
ALIKE: dict[str, Any] = {"hessians": [[["1"]], [["1"]]], "linear": [["0"], ["0"]], "start": ["2"]}
PLANE: dict[str, Any] = {
    "hessians": [[["1", "0"], ["0", "1"]]] * 2,
    "linear": [["1", "1"], ["-1", "-1"]],
    "start": ["2", "1"],
}
KEYS: Mapping[str, dict[str, Any]] = {
    "fedavg": {"name": "fedavg", "local_steps": 1},
    "scaffnew": {"name": "scaffnew", "probability": "1/2"},
    "dsgd": {"name": "dsgd", "mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
    "fedavgm": {"name": "fedavgm", "momentum": "1/4", "local_steps": 1},
    "compressed": {"name": "compressed", "coordinates": 1, "local_steps": 1},
    "scaffold": {"name": "scaffold", "local_steps": 2},
    "fedprox": {"name": "fedprox", "proximal": "1/2", "local_steps": 1},
    "fednova": {"name": "fednova", "local_steps": [1, 2]},
}
EDGES: Sequence[dict[str, Any]] = (
    {},
    {"rounds": 1},
    {"rounds": 12, "local_step_size": "1/3"},
    {"local_step_size": "1/1000"},
    {"local_step_size": "(1 + 4*n)/16"},
    {"local_step_size": "2/(n + 4)", "rounds": 40},
    {"participation": {"kind": "uniform", "clients": 1}},
    {"server_step_size": "1/2"},
    {"local_steps": 2},
    {"probability": 1},
    {"probability": "1/50"},
    {"momentum": "9/10", "nesterov": True},
)
"""Changes of a run to edge cases: its length, its steps, its participants, communication probabilities 0 and 1."""


@cache
def runs(name: str) -> list[Run]:
    """Return exact runs of an algorithm, typical ones and edge cases."""
    problems = [PLANE] if name == "compressed" else [APART, ALIKE]
    tables = [(p, {"local_step_size": "1/8", "rounds": 4} | KEYS[name] | edge) for p in problems for edge in EDGES]
    return [run for problem, keys in tables for run in _run(problem, keys)]


def _run(problem: dict[str, Any], keys: dict[str, Any]) -> Iterator[Run]:
    with suppress(InputError):
        yield parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": keys}, RATIONAL)


def is_false(claim: Claim, name: str) -> bool:
    """Return whether an exact run of an algorithm refutes a claim."""
    return any(check(claim, run).holds is False for run in runs(name))


# False claims.

PROVED: Mapping[str, tuple[str, Callable[[], tuple[Claim, Any]]]] = {
    "coins": ("scaffnew", lambda: _record(SCAFFNEW)),
    "neighbours": ("dsgd", lambda: _record(DSGD)),
    "momentum": ("fedavgm", lambda: _record(FEDAVGM)),
    "one step": ("fedavg", lambda: (ONE_STEP, descent())),
    "user-defined step sizes": ("fedavg", lambda: (OWN_SIZES, own_sizes_descent())),
}
"""Proved claims, each with its algorithm and certificate."""
NEIGHBOURS: Mapping[Quantity, Sequence[Quantity]] = {
    q.local_step_size: (q.client_step_size, q.server_step_size, q.effective_step_size),
    q.client_step_size: (q.local_step_size,),
    q.smoothness: (q.objective_smoothness, q.client_smoothness),
    q.strong_convexity: (q.smallest_curvature, q.client_strong_convexity),
    q.rounds: (q.iterations, q.local_steps),
    q.initial_distance: (q.initial_gap, q.optimum_gradient),
    q.noise_deviation: (q.noise_at_optimum, q.gradient_dissimilarity),
    q.communication_probability: (q.server_step_size,),
}
"""Pairs of similar quantities."""
MEASURED = (q.final_distance_sq, q.final_consensus_distance_sq, q.final_suboptimality)


def _record(name: str) -> tuple[Claim, Any]:
    return find(name), certificates()[name]


def _said_to_hold(claim: Claim, chance: random.Random) -> Claim:
    """Return a stronger or different claim than a proved one."""
    share = chance.choice([1, 1, 1, sp.Rational(99, 100), sp.Rational(1, 2), sp.Rational(1, 100), 0])
    changed = replace(claim, rhs=share * claim.rhs)
    if chance.random() < 0.5:
        changed = replace(changed, assumptions=_fewer(changed.assumptions, chance))
    if chance.random() < 0.5:
        changed = replace(changed, conditions=_fewer(changed.conditions, chance))
    if chance.random() < 0.3:
        symbol, quantity = chance.choice([(s, n) for s, n in changed.where.items() if n in NEIGHBOURS])
        changed = replace(changed, where={**changed.where, symbol: chance.choice(NEIGHBOURS[quantity])})
    if chance.random() < 0.1:
        changed = replace(changed, lhs=chance.choice(MEASURED))
    if chance.random() < 0.1:
        changed = replace(changed, assumptions=(a.decreasing_steps, *changed.assumptions[1:]))
    return changed


def _fewer(some: Sequence[Any], chance: random.Random) -> Sequence[Any]:
    """Remove one or two entries."""
    left_out = {chance.randrange(len(some)) for _ in range(chance.choice([1, 1, 2]))}
    return tuple(entry for place, entry in enumerate(some) if place not in left_out)


@cache
def false_claims(name: str, number: int = 8) -> list[Claim]:
    """Return fixed claims that exact runs refute."""
    (algorithm, proved), chance, found = PROVED[name], random.Random(name), []
    for _ in range(20 * number):
        claim = _said_to_hold(proved()[0], chance)
        if is_false(claim, algorithm):
            found.append(claim)
        if len(found) == number:
            break
    return found


# Adversarial certificates.


def _disguise(number: Any, symbols: Sequence[Any], chance: random.Random) -> Any:
    first, second = chance.sample(symbols, 2)
    zero = chance.choice([first - 1, first - second, first * 0])
    ways = [*DISGUISES[:12], lambda n, _z, o: n - o, lambda n, _z, o: n / (1 + o), lambda n, _z, _o: n / 2]
    way = chance.choice(ways)
    return way(number, zero, second) if zero != 0 else chance.choice([number / 2, 2 * number, -number, zero])


def _terms(terms: Sequence[Term], others: Sequence[Term], symbols: Sequence[Any], chance: random.Random) -> list[Term]:
    """Return terms with one changed, removed, doubled, or added."""
    if not terms:
        return [chance.choice([*others, Term(-symbols[0], one())])]
    at = chance.randrange(len(terms))
    own = terms[at]
    reasons = [square(chance.choice(ODD)), *map(assumption, ASSUMED), chance.choice([*others, own]).reason]
    ways = [
        [replace(own, coefficient=_disguise(own.coefficient, symbols, chance))],
        [replace(own, averaged=not own.averaged)],
        [replace(own, reason=chance.choice(reasons))],
        [own, Term(_disguise(sp.S.One, symbols, chance), chance.choice(reasons), averaged=chance.random() < 0.5)],
        [],
        [own, own],
    ]
    return [*terms[:at], *chance.choice(ways), *terms[at + 1 :]]


ODD = [NOISE, HEARD, START, OPTIMUM, noise_at_y, Average(NOISE), HEARD - Average(HEARD), START - OPTIMUM]
"""Random vectors of a round, and vectors at other places."""
ASSUMED = [START_DISTANCE, OPTIMUM_GRADIENTS, MIXING, "bounded variance", "smooth noise", "noise at the comparator"]


def _function(value: Any, chance: random.Random) -> Any:
    beside = chance.choice([chance.choice(ODD), START - chance.choice(ODD)])
    inside = value.xreplace({OPTIMUM: chance.choice([OPTIMUM + beside, START, OPTIMUM])})
    return chance.choice([inside, 2 * value, value / 2, sp.S.Zero, -value])


def _change(certificate: Lyapunov, claim: Claim, chance: random.Random) -> Lyapunov:
    symbols = sorted((symbol for symbol in claim.where if symbol.is_nonnegative), key=str)
    terms = [*certificate.round, *certificate.model, *certificate.start]
    makers: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(("round", "model", "start"), lambda own: _terms(own, terms, symbols, chance)),
        **dict.fromkeys(("factor", "offset", "level", "least"), lambda own: _disguise(own, symbols, chance)),
        "function": lambda own: _function(own, chance),
        "relaxed": lambda _own: chance.choice([None, [], claim.conditions[1:], [chance.choice(symbols) <= 0]]),
    }
    chosen = chance.sample(sorted(makers), chance.choice([0, 1, 1, 2, 3]))
    return replace(certificate, **{name: makers[name](getattr(certificate, name)) for name in chosen})


def hostile(certificate: Any, claim: Claim, chance: random.Random) -> Any:
    """Return a changed certificate of another claim."""
    if isinstance(certificate, Lyapunov):
        return _change(certificate, claim, chance)
    cases = [Case(case.largest, _change(case.why, claim, chance)) for case in certificate.cases]
    largest = [case.largest for case in cases]
    ways = [cases, cases, cases[:1], [replace(case, largest=chance.choice(largest)) for case in cases]]
    return chance.choice([replace(certificate, cases=chance.choice(ways)), cases[0].why])


def attempt(chance: random.Random) -> tuple[Claim, Any]:
    """Return a false claim with a certificate."""
    name = chance.choice(list(PROVED))
    claim = chance.choice(false_claims(name))
    return claim, hostile(PROVED[name][1]()[1], claim, chance)


TRIES = st.integers(0, 2**63).map(random.Random).map(attempt)


@pytest.mark.long
@given(TRIES)
@settings(ENOUGH, max_examples=40)
def test_no_false_claim_is_accepted(tried: tuple[Claim, Any]) -> None:
    """Some attempts are rejected."""
    assert is_refused(*tried)


@pytest.mark.slow
@given(TRIES)
@settings(ENOUGH, max_examples=2200, database=None)
def test_no_false_claim_is_accepted_in_many_tries(tried: tuple[Claim, Any]) -> None:
    """Thousands of attempts are rejected."""
    assert is_refused(*tried)


@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
def test_claims_are_false_that_were_true(name: str) -> None:
    """Changed claims were proved before, and runs refute them now; the original certificate is among the attempts."""
    claim, certificate = PROVED[name][1]()
    assert check_certificate(claim, certificate).verdict == "proved"
    assert not is_false(claim, PROVED[name][0])
    found = false_claims(name)
    assert len(found) > 2
    assert all(is_refused(one, certificate) for one in found)


# Algorithms that are claimed to stay at a point.

OF_ALGORITHMS = [
    *(a.update_rule, a.scaffold, a.scaffnew, a.dsgd, a.compressed, a.server_momentum, a.heavy_ball),
    *(a.fedprox, a.fednova, a.decreasing_steps),
]
BESIDES = (
    *(a.full_participation, a.importance_weights, a.same_step_size, a.server_step_of_one, a.uniform_shares),
    *(a.full_gradients, a.convex_and_smooth, a.strongly_convex_clients, a.same_local_work),
)
tau, K = sp.symbols("tau K", positive=True)
AT_MOST = (tau <= 1, tau <= 2, K <= 1)


def evaluate_at_optimum(chance: random.Random) -> tuple[Claim, FixedPoint]:
    """Return the claim that an algorithm stays at the optimum, under some assumptions and conditions."""
    algorithms = [chance.choice(OF_ALGORITHMS) for _ in range(chance.choice([1, 1, 1, 2]))]
    claim = Claim(
        id="t:rest",
        lhs=q.optimum_displacement_sq,
        relation=chance.choice(["==", "==", "<=", ">="]),
        rhs=chance.choice([sp.S.Zero, sp.S.Zero, sp.S.Zero, sp.S.One]),
        where={tau: q.local_steps, K: chance.choice([q.client_local_steps, q.rounds])},
        assumptions=(*algorithms, *(one for one in BESIDES if chance.random() < 0.5)),
        conditions=[one for one in AT_MOST if chance.random() < 0.3],
    )
    certificate = FixedPoint(
        claim=claim.id,
        local_step=chance.choice(["idle", "single"]),
        relaxed=chance.choice([None, None, None, [], claim.conditions[1:]]),
    )
    return claim, certificate


RESTING = st.integers(0, 2**63).map(random.Random).map(evaluate_at_optimum)


def is_no_lie(claim: Claim, certificate: FixedPoint) -> bool:
    """Return whether a claim that counts as proved holds on all applicable runs here."""
    return is_refused(claim, certificate) or not any(is_false(claim, name) for name in KEYS)


@given(RESTING)
@settings(ENOUGH, max_examples=40)
def test_accepted_fixed_points_hold(tried: tuple[Claim, FixedPoint]) -> None:
    """Some fixed points with accepted certificates hold on all runs."""
    assert is_no_lie(*tried)


@pytest.mark.slow
@given(RESTING)
@settings(ENOUGH, max_examples=34_500, database=None)
def test_accepted_fixed_points_hold_in_many_tries(tried: tuple[Claim, FixedPoint]) -> None:
    """Thousands of fixed points with accepted certificates hold on all runs."""
    assert is_no_lie(*tried)


def test_some_of_it_is_proved_and_some_is_false() -> None:
    chance = random.Random(1)
    tried = [evaluate_at_optimum(chance) for _ in range(300)]
    assert any(not is_refused(*one) for one in tried)
    assert any(any(is_false(claim, name) for name in KEYS) for claim, _ in tried[:40])
