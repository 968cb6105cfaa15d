"""False claims with adversarial certificates are not accepted; true ones with correct certificates are.

The slack of a claim is a sum of correct terms minus a gap that makes the claim false on an exact run. A certificate has
the correct terms, and for the gap adversarial ones: disguised negative coefficients, divisors that vanish under the
conditions, roots, clashing symbols, missing conditions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedtheory import RATIONAL, parse_run
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import (
    Term,
    assumption,
    cocoercivity,
    convexity,
    interpolation,
    lipschitz_gradient,
    one,
    optimality,
    slack,
    smoothness,
    square,
    triangle,
    weighted,
)
from fedtheory.kernel.expressions import Expectation, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Combination, Part, build_context, certificates, check_certificate, facts
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.links import CauchySchwarz, Nonnegative, Positive, Product, Products, Squared
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.roots import Root
from verify.check import check

ONE = sp.S.One
eta, L, M, T, tau, K = sp.symbols("eta L M T tau K", positive=True)
sigma, gap, drift, mean_drift = sp.symbols("sigma g d e", nonnegative=True)
progress, ended, descent, x_star = sp.symbols("p h f x_star", real=True)
x, y, x_i, g, xi, F, F_i = sp.symbols("x y x_i g xi F F_i", real=True)
r, r_next, clashing, s, z = *sp.symbols("r r_next", positive=True), sp.Symbol("M", nonnegative=True), *sp.symbols("s z")
NUMBERS = {eta: q.local_step_size, L: q.smoothness, M: q.clients, T: q.rounds, tau: q.local_steps}
OBJECTIVES = {F: q.objective, F_i: q.client_objective}
CONVEX = (a.convex_and_smooth,)
TOGETHER = (a.full_participation, a.uniform_shares, a.unit_server_step)
TWO = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}
SINGLE = {"hessians": [[["1"]]], "linear": [["1"]], "start": ["3"]}


@dataclass(frozen=True)
class Family:
    """Claims at one place, on one run."""

    stated: dict[str, Any]
    """Arguments that all claims of the family share."""
    reasons: Sequence[Any]
    """Inequalities of terms, or premises of parts."""
    vanishing: Sequence[Any]
    """Numbers that are zero on the run."""
    problem: Any
    algorithm: Any = ()

    @property
    def is_sum(self) -> bool:
        """Return whether its certificates are sums of parts rather than terms."""
        return "place" not in self.stated

    def claim(self, stated_slack: Any, below: Any = sp.S.Zero) -> Claim:
        """Return the claim with a slack."""
        above = Expectation(stated_slack) if self.stated.get("place") == "step" else stated_slack
        return Claim(id="t:hostile", lhs=below, rhs=below + above, **self.stated)

    def worth(self, reason: Any) -> Any:
        """Return the nonnegative expression of an inequality."""
        if not self.is_sum:
            return reason.instantiate(build_context(self.claim(ONE))).expression
        return reason.slack(symbols_of(self.claim(ONE))) if isinstance(reason, facts.Fact) else slack(reason)

    def is_false(self, claim: Claim) -> bool:
        """Return whether a claim fails on the run of the family."""
        problem = {"kind": "quadratic", **dict(self.problem)}
        algorithm = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2, **dict(self.algorithm)}
        return check(claim, parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)).holds is False


POINTS: dict[str, Any] = {
    "where": {**NUMBERS, **OBJECTIVES, x: q.point, y: q.second_point, x_star: q.optimum},
    "place": "points",
    "assumptions": CONVEX,
}
STEPS: dict[str, Any] = {
    "where": {**NUMBERS, **OBJECTIVES, x_i: q.local_iterate, g: q.stochastic_gradient, xi: q.gradient_noise}
    | {sigma: q.noise_deviation, x: q.average_iterate},
    "place": "step",
    "assumptions": (*CONVEX, a.unbiased_bounded_variance, a.same_local_work, a.full_participation),
}
RUNS: dict[str, Any] = {
    "where": {**NUMBERS, K: q.iterations, sigma: q.noise_deviation, gap: q.initial_gap}
    | {drift: q.max_drift, mean_drift: q.average_round_drift, progress: q.total_progress, ended: q.final_distance_sq}
    | {descent: q.total_descent},
    "assumptions": (*CONVEX, a.full_gradients, a.same_local_work, *TOGETHER),
}
AT_POINTS = [
    *(square(v) for v in (x, y, x - y, x + eta * y, Gradient(F, x), x - eta * Gradient(F, x))),
    *(because(F, x, y) for because in (convexity, smoothness, cocoercivity, lipschitz_gradient)),
    *(convexity(F, y, x), one(), triangle(x, y), optimality(F, x)),
]
AT_STEPS = [
    *(square(v) for v in (x_i, x_i - x, Gradient(F, x))),
    *(convexity(F_i, x_i, x), smoothness(F_i, x_i, x), one(), lipschitz_gradient(F_i, x_i, x)),
]
OF_RUNS = [facts.ONE, facts.MEAN_DRIFT, facts.FINAL_DISTANCE, facts.QUIET, facts.ITERATIONS, facts.DESCENT]


@cache
def families() -> dict[str, Family]:
    """Return families for points, steps and runs; with two clients, with one, and with a single local step."""
    alone, short, small = M <= 1, tau <= 1, eta <= 1 / L
    flat = sp.Le(M * tau, M, evaluate=False)
    return {
        "points": Family(POINTS, AT_POINTS, [M - 2, tau - 2, 4 * eta - 1], TWO),
        "small steps": Family({**POINTS, "conditions": [small]}, AT_POINTS, [M - T, 2 * eta * tau - 1], TWO),
        "one client": Family({**POINTS, "conditions": [alone]}, AT_POINTS, [M - 1, 1 - M**2], SINGLE),
        "one step": Family({**POINTS, "conditions": [short]}, AT_POINTS, [tau - 1], TWO, {"local_steps": 1}),
        "steps": Family(STEPS, AT_STEPS, [sigma - 1, M - 2], {**TWO, "noise": "1"}),
        "runs": Family(RUNS, OF_RUNS, [sigma, K - T * tau, M - 2], TWO),
        "runs of one client": Family({**RUNS, "conditions": [alone]}, [*OF_RUNS, alone], [M - 1, sigma, drift], SINGLE),
        "runs of single steps": Family(
            {**RUNS, "conditions": [short, flat]},
            [*OF_RUNS, short, flat],
            [tau - 1, K - T, sigma],
            TWO,
            {"local_steps": 1},
        ),
    }


@dataclass(frozen=True)
class Tried:
    """A false claim with the terms of its slack, and the subtracted gap."""

    family: Family
    claim: Claim
    honest: Sequence[Any]
    gap: Any
    reason: Any


def _term(family: Family, coefficient: Any, reason: Any, **flags: Any) -> Any:
    return Part(coefficient, reason, **flags) if family.is_sum else Term(coefficient, reason, **flags)


POSITIVE = [ONE, ONE, sp.Rational(1, 2), M, tau, eta, 1 / eta, T / tau, 1 / M, eta * L]


def _positive(chance: random.Random) -> Any:
    return chance.choice(POSITIVE)


def _honest(family: Family, chance: random.Random) -> list[Any]:
    number = chance.choice([0, 0, 0, 1])
    return [_term(family, _positive(chance), chance.choice(family.reasons)) for _ in range(number)]


def _sum(family: Family, terms: Sequence[Any]) -> Any:
    worths = [family.worth(term.premise if family.is_sum else term.reason) for term in terms]
    return sp.Add(*(term.coefficient * worth for term, worth in zip(terms, worths, strict=True)))


CLAIMS = 40
"""Number of claims per family."""


@cache
def false_claims(name: str, number: int = CLAIMS) -> list[Tried]:
    """Return fixed claims that an exact run refutes."""
    family, chance, found = families()[name], random.Random(name), []
    for _ in range(20 * number):
        honest, size, reason = _honest(family, chance), 3 * _positive(chance), chance.choice(family.reasons)
        stated = family.claim(_sum(family, [*honest, _term(family, -size, reason)]))
        if family.is_false(stated):
            found.append(Tried(family, stated, honest, size, reason))
        if len(found) == number:
            break
    return found


def true_claims(name: str, chance: random.Random) -> tuple[Claim, Any]:
    """Return a claim whose slack is a sum of correct terms, with these terms."""
    family = families()[name]
    honest = _honest(family, chance)
    kind = Combination if family.is_sum else Certificate
    return family.claim(_sum(family, honest)), kind(claim="t:hostile", links=[honest])


# Adversarial terms.


DISGUISES: Sequence[Callable[[Any, Any, Any], Any]] = [
    lambda n, _z, _o: n,
    lambda n, _z, _o: -n,
    lambda n, z, o: n * z * o / sp.expand(z * o),
    lambda n, z, _o: n * z**2 / sp.expand(z**2),
    lambda n, z, _o: n * sp.expand(-z) / -z,
    lambda n, z, _o: -n * sp.expand(-z) / z,
    lambda n, z, _o: n * sp.sqrt(z**2) / z,
    lambda n, z, o: n * (z + o) / (o + z) + z - sp.expand(z),
    lambda n, z, _o: n + z,
    lambda n, z, _o: n - z**2,
    lambda n, z, _o: n + 1 / z,
    lambda n, z, _o: (n * z - 1) / z + 1 / z,
    lambda n, _z, _o: n * r**2 / T,
    lambda n, _z, _o: n * (r**2 - T + n) / n,
    lambda n, _z, _o: n * (r**2 - T) / (r**4 - T**2) * (r**2 + T),
    lambda n, _z, _o: n * r_next * r / sp.sqrt(M * T),
    lambda n, _z, _o: n * (clashing + 1) / (M + 1),
    lambda n, _z, _o: n * (2 - M) + n * (M - 1),
    lambda n, _z, _o: n * M ** (tau - 1) / M**tau * M,
]
"""Functions that disguise a number, given a vanishing and a positive one."""


def _disguise(number: Any, family: Family, chance: random.Random) -> Any:
    return chance.choice(DISGUISES)(number, chance.choice(family.vanishing), _positive(chance))


def _symbols(used: Sequence[Any], chance: random.Random) -> list[Root]:
    """Return symbols for roots, some of them invalid or missing."""
    others = [[], [], [], [sp.Symbol("r", nonnegative=True)], [M], [eta], [T], [clashing]]
    return [_symbol(one, chance) for one in [*used, *chance.choice(others)] if chance.random() < 0.9]


def _symbol(symbol: Any, chance: random.Random) -> Root:
    if chance.random() < 0.5:
        return Root(symbol, chance.choice([T, M]), [Part(chance.choice([T, M]), facts.ONE)])
    of = chance.choice([T, M, T * M, M - 1, T - tau, tau - 1, eta, 1 - M, eta - eta**2, -T])
    parts = chance.choice([[], [Part(of, facts.ONE)], [Part(ONE, facts.ONE), Part(of - 1, facts.ONE)], [Part(of, ge)]])
    return Root(symbol, of, parts, least=chance.choice([sp.S.Zero, sp.S.Zero, ONE, -ONE]))


ge = sp.Ge(T, 1)
BORROWED = ["liu2022:thm-1", "liu2022:lemma-1.mean", "liu2022:lemma-1"]
"""Recorded claims from which parts are taken."""


@cache
def borrowed() -> list[Term]:
    """Return terms of recorded certificates."""
    links = [link for found in certificates().values() if isinstance(found, Certificate) for link in found.links]
    return [term for link in links if isinstance(link, list) for term in link if len(str(term)) < 200]


def _rename(term: Term, family: Family, chance: random.Random) -> Term:
    """Return a term of another certificate with symbols of this claim."""
    about = [one for one in term.reason.about if not isinstance(one, str)]
    symbols = set().union(term.coefficient.free_symbols, *(one.free_symbols for one in about))
    known = list(family.stated["where"])
    new = {symbol: chance.choice(known) for symbol in sorted(symbols, key=str)}
    subjects = tuple(one if isinstance(one, str) else one.xreplace(new) for one in term.reason.about)
    return replace(term, coefficient=term.coefficient.xreplace(new), reason=replace(term.reason, about=subjects))


def _over(zero: Any, chance: random.Random) -> dict[str, Any]:
    """Return, sometimes, a sum over clients with negative, zero, or undefined multiples."""
    return {"over": chance.choice([ONE, -ONE, 1 / M, zero, 1 / zero])} if chance.random() < 0.2 else {}


def _filling(tried: Tried, chance: random.Random) -> list[Any]:
    """Return the expression that fills the gap."""
    family, size, reason, zero = tried.family, tried.gap, tried.reason, chance.choice(tried.family.vanishing)
    scale, other = (_disguise(number, family, chance) for number in (-size, _positive(chance)))
    foreign = chance.choice(family.reasons)
    way = chance.randrange(6)
    if way < 2:
        few = (
            _over(zero, chance)
            if family.is_sum
            else {"averaged": chance.random() < 0.1, "summed": chance.random() < 0.03}
        )
        return [_term(family, scale, reason, **few)]
    if way == 2:
        return [_term(family, other, reason), _term(family, scale - other, reason)]
    if way == 3:
        quotient = scale * family.worth(reason) / family.worth(foreign) if family.is_sum else scale
        return [_term(family, quotient, foreign)]
    if family.is_sum:
        premises = [
            chance.choice(list(FACTS.values())),
            Derived(chance.choice(BORROWED)),
            sp.Le(M, chance.choice([1, 2, T])),
        ]
        return [Part(scale, chance.choice(premises))]
    points = [point for point in (x, y, x_i, g) if point in family.stated["where"]]
    vector = chance.choice(points) * chance.choice([ONE, zero, 1 / zero, sp.sqrt(zero), sp.sqrt(-size), r])
    return [chance.choice(ODD)(scale, vector, zero, size, reason, family, chance)]


ODD: Sequence[Callable[..., Term]] = [
    lambda _c, v, z, n, *_rest: Term(-n * z**2, square(v / z)),
    lambda _c, v, z, n, *_rest: Term(n * sp.expand(-z) * z, square(v / z)),
    lambda c, v, *_rest: Term(c, square(v)),
    lambda c, v, *_rest: Term(ONE, square(sp.sqrt(c) * v)),
    lambda c, v, *_rest: Term(ONE, square(c * v)),
    lambda c, _v, _z, _n, _reason, _family, chance: Term(c, assumption(f"{chance.choice(BORROWED)}, relation 1")),
    lambda c, *_rest: Term(c, assumption("bounded variance")),
    lambda c, v, _z, _n, _reason, _family, chance: Term(c, chance.choice(AROUND)(F, v, x)),
    lambda c, v, *_rest: Term(c, weighted(c, ONE, v)),
    lambda c, v, *_rest: Term(c, triangle(v, -v, x)),
    lambda _c, _v, _z, n, reason, *_rest: Term(n, replace(reason, about=tuple(reversed(reason.about)))),
    lambda _c, _v, _z, _n, _reason, family, chance: _rename(chance.choice(borrowed()), family, chance),
]
"""Invalid terms, from a coefficient, a vector, a vanishing number, the gap, and its inequality."""
AROUND = [convexity, smoothness, cocoercivity, interpolation]


def _conditions(claim: Claim, size: Any, chance: random.Random) -> Any:
    """Return conditions that are removed, weakened, strengthened or added; mostly the claim's own."""
    own = list(claim.conditions)
    new = [sp.Le(size, 0, evaluate=False), sp.Ge(M, 2), M <= 2, tau <= 1, eta <= 0, sp.Ne(M, 1), sp.Eq(M, 1)]
    wider = [one.func(one.lhs, chance.choice([3, 1, sp.Rational(1, 2)]) * one.rhs, evaluate=False) for one in own]
    return chance.choice([None, None, None, None, [], own[1:], wider, [chance.choice(new)], [*own, chance.choice(new)]])


def _other_way(tried: Tried, terms: list[Term], chance: random.Random) -> Any:
    """Return a link that is no sum of terms."""
    zero, lengths = chance.choice(tried.family.vanishing), {s: norm_sq(x), z: norm_sq(y)}
    shown = {
        "s": Nonnegative(s, [Term(ONE, square(x))]),
        "zero": Nonnegative(zero, [Term(zero, one())]),
        "whole": Nonnegative(tried.gap * s, terms),
        "both": CauchySchwarz(s, z, chance.choice([s, z])),
    }
    products = Products(
        scalars=chance.choice([lengths, {s: norm_sq(x)}, {s: tried.claim.rhs}, {M: norm_sq(x)}, {s: s * norm_sq(x)}]),
        facts={name: one for name, one in shown.items() if name != "both" or chance.random() < 0.3},
        divided_by=chance.choice([[], ["zero"], ["s"]]),
        parts=[Product(_disguise(tried.gap, tried.family, chance), [chance.choice(["s", "zero", "whole"])])],
    )
    squared = Squared(length=chance.choice([sp.sqrt(norm_sq(x)), x, zero]), bound=tried.claim.rhs, terms=terms)
    return chance.choice([products, products, squared, BothWays(terms, terms), BothWays([], []), Positive()])


def hostile(tried: Tried, chance: random.Random) -> Any:
    """Return an adversarial certificate of a false claim."""
    family = tried.family
    items = [*tried.honest, *_filling(tried, chance)]
    chance.shuffle(items)
    subjects = [
        one for item in items for one in (item.coefficient, *getattr(getattr(item, "reason", None), "about", ()))
    ]
    symbols = {one for subject in subjects if not isinstance(subject, str) for one in sp.sympify(subject).free_symbols}
    used = [one for one in (r, r_next, clashing) if one in symbols]
    roots = _symbols(used, chance) if used or chance.random() < 0.05 else []
    relaxed = _conditions(tried.claim, tried.gap, chance)
    if family.is_sum:
        known = [Derived(chance.choice(BORROWED[:2]))] * (chance.random() < 0.02)
        return Combination(claim=tried.claim.id, links=[items], relaxed=relaxed, roots=roots, known=known)
    link = _other_way(tried, items, chance) if chance.random() < 0.1 else items
    lemmas = [chance.choice(BORROWED)] * (chance.random() < 0.05)
    return Certificate(claim=tried.claim.id, links=[link], relaxed=relaxed, roots=roots, lemmas=lemmas)


OFTEN = [*families(), *["points"] * 4, "steps", "steps", "runs", "runs", "small steps"]
"""Families that are fast to check are tried more often."""


def attempt(chance: random.Random) -> tuple[Claim, Any]:
    """Return a false claim with a certificate."""
    tried = chance.choice(false_claims(chance.choice(OFTEN)))
    # A positive factor does not change whether a claim is false.
    scale = chance.choice([ONE, ONE, ONE, *POSITIVE])
    return replace(tried.claim, rhs=scale * tried.claim.rhs), hostile(tried, chance)


SMALLEST_FIRST = st.randoms(use_true_random=False).map(attempt)
"""Attempts whose choices Hypothesis can shrink."""
MANY = st.integers(0, 2**63).map(random.Random).map(attempt)
"""Attempts generated from a number, which is faster."""


def is_refused(claim: Claim, certificate: Any) -> bool:
    """Return whether a certificate is rejected, possibly by one of the project's errors."""
    try:
        return check_certificate(claim, certificate).verdict == "broken"
    except FedtheoryError:
        return True


ENOUGH = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.long
@given(SMALLEST_FIRST)
@settings(ENOUGH, max_examples=200)
def test_no_false_claim_is_accepted(tried: tuple[Claim, Any]) -> None:
    """A few hundred adversarial certificates are rejected."""
    assert is_refused(*tried)


@pytest.mark.slow
@given(MANY)
@settings(ENOUGH, max_examples=62_000, database=None)
def test_no_false_claim_is_accepted_in_many_tries(tried: tuple[Claim, Any]) -> None:
    """Tens of thousands of adversarial certificates are rejected."""
    assert is_refused(*tried)


@pytest.mark.parametrize("name", families())
def test_with_honest_pieces_claims_are_accepted(name: str) -> None:
    """Claims with honest pieces and no gap are accepted, so that refusals mean something."""
    chance = random.Random(name)
    assert all(check_certificate(*true_claims(name, chance)).verdict == "proved" for _ in range(5))
    assert len(false_claims(name)) == CLAIMS
