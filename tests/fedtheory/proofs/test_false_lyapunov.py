"""Lyapunov functions with other numbers, terms, definitions, assumptions or conditions prove nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation.algorithms import dsgd, fedavg, fedavgm, scaffnew
from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Mixed, eta, start
from fedtheory.kernel import Context, Numbers, Term, assumption, cocoercivity, scalar, square, strong_convexity
from fedtheory.kernel import expressions as kernel
from fedtheory.kernel.expressions import Average, Inner, norm_sq
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import certificates, check_certificate, definitions, prove
from fedtheory.proofs.cases import Case, Cases, claims_of
from fedtheory.proofs.definitions import NOISE, OBJECTIVE, OPTIMUM, state
from fedtheory.proofs.lyapunov import START_DISTANCE, Lyapunov
from fedtheory.runfile import parse_run
from fedtheory.sources.landmarks.statements import STATIONARY_SETTING
from verify.check import check

SCAFFNEW, DSGD, FEDAVGM = (
    f"landmarks:{name}" for name in ("scaffnew.contraction", "dsgd.consensus", "fedavgm.contraction")
)
PROVED = (SCAFFNEW, DSGD, FEDAVGM)
PARTS = ("round", "model", "start")
_SYMBOLS = {str(symbol): symbol for name in PROVED for symbol in find(name).where}


def is_broken(claim: Claim, certificate: Any) -> bool:
    return check_certificate(claim, certificate).verdict == "broken"


def judged(name: str) -> list[tuple[Claim, Lyapunov]]:
    """Return the claim with its function, or each case of the claim with the function for the case."""
    claim, found = find(name), certificates()[name]
    if not isinstance(found, Cases):
        return [(claim, found)]
    return list(zip(claims_of(claim, found), (case.why for case in found.cases), strict=True))


def changed(terms: Sequence[Term]) -> Iterator[list[Term]]:
    """Yield the terms with one of them removed, doubled, or negated; terms with coefficient zero are skipped."""
    for place, term in enumerate(terms):
        if term.coefficient != 0:
            yield [*terms[:place], *terms[place + 1 :]]
            for factor in (2, -1):
                yield [*terms[:place], replace(term, coefficient=factor * term.coefficient), *terms[place + 1 :]]


@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
def test_no_changed_term_survives(name: str) -> None:
    assert prove(find(name)).verdict == "proved"
    for claim, one in judged(name):
        assert not is_broken(claim, one)
        for part in PARTS:
            for terms in changed(getattr(one, part)):
                assert is_broken(claim, replace(one, **{part: terms}))


@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
def test_no_changed_number_survives(name: str) -> None:
    """Smaller factors, offsets and levels fail in the round, larger ones in the statement."""
    half = sp.Rational(1, 2)
    for claim, one in judged(name):
        for part in ("function", "factor", "offset", "level"):
            for factor in (half, 2, -1):
                if getattr(one, part) != 0:
                    assert is_broken(claim, replace(one, **{part: factor * getattr(one, part)}))
        assert is_broken(claim, replace(one, least=one.factor + 1))
        assert is_broken(claim, replace(one, least=sp.S.NegativeOne))
    assert {field.name for field in fields(Lyapunov)} == {*PARTS, *NUMBERS, "claim", "relaxed"}


NUMBERS = ("function", "factor", "offset", "level", "least")


@pytest.mark.parametrize("name", PROVED)
def test_claims_that_say_more_are_not_proved(name: str) -> None:
    """A claim with another number, without a condition or assumption, strict, or as an equation is not proved."""
    claim = find(name)
    assert is_broken(replace(claim, rhs=sp.Rational(9, 10) * claim.rhs), certificates()[name])
    for relation in ("<", "=="):
        assert is_broken(replace(claim, relation=relation), certificates()[name])
    for left_out in range(len(claim.conditions)):
        fewer = [condition for n, condition in enumerate(claim.conditions) if n != left_out]
        assert is_broken(replace(claim, conditions=fewer), certificates()[name])
    for one in claim.assumptions:
        fewer_assumed = [other for other in claim.assumptions if other is not one]
        assert is_broken(replace(claim, assumptions=fewer_assumed), certificates()[name])


@pytest.mark.parametrize("lhs", [q.final_suboptimality, q.final_consensus_distance_sq, q.max_drift])
def test_other_quantities_are_not_measured(lhs: Any) -> None:
    assert is_broken(replace(find(SCAFFNEW), lhs=lhs), certificates()[SCAFFNEW])


def test_numbers_that_change_from_round_to_round_are_refused() -> None:
    claim = find(DSGD)
    symbol = sp.Symbol("r", nonnegative=True)
    assert is_broken(replace(claim, where={**claim.where, symbol: q.server_distance_sq}), certificates()[DSGD])


def test_every_case_is_asked_for() -> None:
    claim, found = find(SCAFFNEW), certificates()[SCAFFNEW]
    for case in found.cases:
        assert is_broken(claim, replace(found, cases=[case]))
        assert is_broken(claim, replace(found, cases=[case, Case(sp.S.Half, case.why)]))
        # One case proves neither the other case, nor the claim without a maximum.
        assert is_broken(claim, replace(found, cases=[replace(case, why=other.why) for other in found.cases]))
        assert is_broken(claim, case.why)
    assert is_broken(replace(claim, rhs=sp.S.One), found)
    assert is_broken(replace(claim, rhs=claim.rhs + sp.Max(_SYMBOLS["L"], _SYMBOLS["sigma"])), found)


def _step(known: FederatedAlgorithm, step: Any) -> FederatedAlgorithm:
    (local,) = known.steps
    return replace(known, local=Local(local.vector, local.start, step))


def _end(known: FederatedAlgorithm, **ends: Any) -> FederatedAlgorithm:
    named = {str(vector).removesuffix("_i"): vector for vector in known.client}
    return replace(known, client_update={**known.client_update, **{named[name]: end for name, end in ends.items()}})


_N, _G, _M = scaffnew, dsgd, fedavgm
_NEVER = {_N.coin: _N.p**2}
FALSE: dict[str, tuple[str, FederatedAlgorithm]] = {
    "control variates that stay": (SCAFFNEW, _end(_N.algorithm, h=_N.h)),
    "control variates that move twice as far": (
        SCAFFNEW,
        _end(_N.algorithm, h=_N.h + 2 * _N.coin * _N.p / eta * (_N.common - _N.z)),
    ),
    "a coin that rarely shows heads": (SCAFFNEW, replace(_N.algorithm, coins=_NEVER)),
    "steps up the hill": (SCAFFNEW, _step(_N.algorithm, _N.z + eta * (Gradient(_N.z) - _N.h))),
    "steps twice as long": (SCAFFNEW, _step(_N.algorithm, _N.z - 2 * eta * (Gradient(_N.z) - _N.h))),
    "several local steps": (SCAFFNEW, replace(_N.algorithm, steps_are_rounds=False)),
    "control variates that start elsewhere": (
        SCAFFNEW,
        replace(_N.algorithm, client={**_N.algorithm.client, _N.h: start}),
    ),
    "another model": (SCAFFNEW, replace(_N.algorithm, model=Average(2 * _N.x))),
    "neighbours that hear twice as much": (DSGD, _end(_G.algorithm, x=2 * Mixed(_G.y))),
    "neighbours that are not listened to": (DSGD, _end(_G.algorithm, x=_G.y)),
    "neighbours and oneself": (DSGD, _end(_G.algorithm, x=Mixed(_G.y) + _G.y - _G.x)),
    "momentum that is taken away": (
        FEDAVGM,
        replace(_M.algorithm, server_update={_M.v: -_M.beta * _M.v + _M.change, _M.x: _M.x + _M.new_v}),
    ),
    "momentum that is counted twice": (
        FEDAVGM,
        replace(_M.algorithm, server_update={_M.v: _M.new_v, _M.x: _M.x + _M.new_v + _M.beta * _M.v}),
    ),
    "a velocity that starts elsewhere": (
        FEDAVGM,
        replace(_M.algorithm, server={_M.x: start, _M.v: start}),
    ),
    "two rounds of mixing": (DSGD, _end(_G.algorithm, x=Mixed(_G.y) + Mixed(_G.x) - _G.x)),
}


@pytest.mark.parametrize("what", FALSE)
def test_false_definitions_are_not_proved_about(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel derives the new vectors only from the definition."""
    name, algorithm = FALSE[what]
    monkeypatch.setattr(definitions, "definition", lambda _name: algorithm)
    assert is_broken(find(name), certificates()[name])


def test_messages_before_and_after_a_step_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of neighbours before and after a step differ, so that they do not cancel."""
    algorithm = _end(_G.algorithm, x=(_G.x + Mixed(_G.y) - Mixed(_G.x)) / 2)
    x_i, zero = state(_G.x), sp.S.Zero
    spread = Average(norm_sq(x_i - Average(x_i)))
    halved = Lyapunov(claim=DSGD, function=spread, factor=sp.Rational(1, 4), offset=zero, level=zero, round=[])
    monkeypatch.setattr(definitions, "definition", lambda _name: algorithm)
    assert is_broken(replace(find(DSGD), rhs=zero), halved)


def test_messages_depend_on_the_random_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a random decision scales messages, the clients' drift does not change in the other rounds."""
    coin, p = _N.coin, _N.p
    step = (1 - sp.Rational(9, 10) * coin) * (_G.y - eta * Gradient(_G.y))
    local, of_coin = Local(_G.y, start=_G.x, step=step), {"coins": {coin: p}, "parameters": _N.algorithm.parameters}
    algorithm = replace(_G.algorithm, local=local, **of_coin)
    claim, known, x_i, part = find(DSGD), certificates()[DSGD], state(_G.x), sp.Rational(1, 100)
    assert isinstance(known, Lyapunov)
    mixing, *others = known.round
    rest = Term(part * (1 - known.factor), square(x_i - Average(x_i)), averaged=True)
    smaller = [replace(term, coefficient=part * term.coefficient) for term in others]
    tenth = replace(known, factor=part, offset=part * known.offset, round=[mixing, *smaller, rest])
    stated = replace(claim, rhs=tenth.offset / (1 - part))
    clients = {"hessians": [[["2"]], [["2"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
    keys = {"name": "dsgd", "local_step_size": "1/4", "rounds": 5, "mixing": [["2/3", "1/3"], ["1/3", "2/3"]]}
    run = parse_run({"problem": {"kind": "quadratic", **clients}, "algorithm": keys}, RATIONAL)
    assert run.algorithm.defined is not None
    defined = replace(run.algorithm.defined, algorithm=algorithm, values={p: RATIONAL.number("1/10", "p")})
    rarely = Run(run.problem, replace(run.algorithm, defined=defined))
    assert check(stated, rarely).holds is False
    monkeypatch.setattr(definitions, "definition", lambda _name: algorithm)
    found = [step.text for step in check_certificate(stated, tenth).steps if not step.holds]
    assert len(found) == 1
    assert "depends on the graph" in found[0]


def test_one_relation_is_shown() -> None:
    """Only the bound is proved, and no further relation."""
    nothing = Relation(q.final_consensus_distance_sq.symbol, "<=", sp.S.Zero)
    assert is_broken(replace(find(DSGD), also=(nothing,)), certificates()[DSGD])


def test_clients_that_are_missing_keep_what_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition without messages between clients runs with sampled participants; the others do not move."""
    alone = _end(_N.algorithm, x=_N.z, h=_N.h)
    monkeypatch.setattr(definitions, "definition", lambda _name: alone)
    for claim, one in judged(SCAFFNEW):
        said = [step.text for step in check_certificate(claim, one).steps if not step.holds]
        assert said == ["what clients keep changes in every round only with the assumption of full participation"]
        everybody = replace(claim, assumptions=(*claim.assumptions, a.full_participation))
        assert said != [step.text for step in check_certificate(everybody, one).steps if not step.holds]


def test_nesterov_momentum_is_another_algorithm() -> None:
    claim = find(FEDAVGM)
    either = [a.server_momentum if one is a.heavy_ball else one for one in claim.assumptions]
    assert is_broken(replace(claim, assumptions=either), certificates()[FEDAVGM])


M, eta_, tau, T, mu, L, sigma, D = (_SYMBOLS[name] for name in ("M", "eta", "tau", "T", "mu", "L", "sigma", "D"))
_PLAIN = (
    a.convex_and_smooth,
    *STATIONARY_SETTING,
    a.full_participation,
    a.importance_weights,
    a.uniform_shares,
    a.server_step_of_one,
)
ONE_STEP = Claim(
    id="mine:one-step",
    lhs=q.final_distance_sq,
    rhs=(1 - eta_ * mu) ** T * D**2 + eta_ * sigma**2 / (M * mu),
    conditions=[eta_ <= 1 / L, tau <= 1],
    assumptions=(a.update_rule, *_PLAIN),
    where=find(SCAFFNEW).where,
)
"""Gradient descent with noise, which is FedAvg with one local step."""


def descent() -> Lyapunov:
    x = state(fedavgm.x)
    points, slope = [(x, OPTIMUM), (OPTIMUM, x)], kernel.Gradient(OBJECTIVE, x)
    return Lyapunov(
        claim="mine:one-step",
        function=norm_sq(x - OPTIMUM),
        factor=1 - eta_ * mu,
        offset=eta_**2 * sigma**2 / M,
        level=D**2,
        round=[
            *(Term(eta_, cocoercivity(OBJECTIVE, *two)) for two in points),
            *(Term(eta_, strong_convexity(OBJECTIVE, *two)) for two in points),
            Term(eta_ * (1 / L - eta_), square(slope)),
            Term(eta_**2 / M, assumption("bounded variance"), averaged=True),
        ],
        start=[Term(sp.S.One, assumption(START_DISTANCE))],
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (0, "expected cases of one maximum or minimum of the claim, each by one of its arguments"),
        (sp.Max(L, 1) + sp.Max(M, 2), "Max(2, M) is not a symbol, rational, sum"),
    ],
)
def test_cases_are_those_of_one_maximum(more: Any, reason: str) -> None:
    """A claim without a maximum has no cases, and one with two of them is not proved by one case."""
    claim = replace(ONE_STEP, rhs=ONE_STEP.rhs + more)
    found = check_certificate(claim, Cases(claim=claim.id, cases=[Case(sp.S.One, descent())]))
    assert [step.text.startswith(reason) for step in found.steps] == [True]
    assert found.verdict == "broken"


def test_a_case_is_one_for_all_clients() -> None:
    """Two cases on the curvatures of all clients leave some problems out."""
    own = sp.Symbol("L_i", nonnegative=True)
    beyond = Average(sp.Max(own, 2)) - Average(own)
    bound = ONE_STEP.rhs - 1000 * beyond * (beyond - 2 + Average(own))
    claim = replace(ONE_STEP, rhs=bound, where={**ONE_STEP.where, own: q.client_smoothness})
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["3"]]], "linear": [["1"], ["0"]], "start": ["1"]}
    keys = {"local_step_size": "1/4", "rounds": 2, "local_steps": 1}
    assert check(claim, parse_run({"problem": problem, "algorithm": keys}, RATIONAL)).holds is False
    found = check_certificate(
        claim, Cases(claim=claim.id, cases=[Case(largest, descent()) for largest in (own, sp.Integer(2))])
    )
    reason = "Max(2, L_i) is in an average or in another function of the language"
    assert [step.text for step in found.steps if not step.holds] == [reason]


def test_compression_preserves_expectations_only() -> None:
    """FedAvg with one local step is gradient descent; compressed, it is so only in expectation."""
    assert check_certificate(ONE_STEP, descent()).verdict == "proved"
    compressed = replace(ONE_STEP, assumptions=(a.compressed, *_PLAIN))
    assert is_broken(compressed, descent())
    clients = {"hessians": [[["1", "0"], ["0", "1"]]] * 2, "linear": [["1", "1"], ["-1", "-1"]], "start": ["1", "1"]}
    keys = {"name": "compressed", "coordinates": 1, "local_step_size": "1/2", "rounds": 12}
    run = parse_run({"problem": {"kind": "quadratic"} | clients, "algorithm": keys}, RATIONAL)
    found = check(compressed, run)
    assert found.applicable
    assert found.holds is False


def test_messages_are_correlated_with_the_noise() -> None:
    """A message depends on the noise of the step, so that its inner product with the noise need not vanish."""
    heard, numbers = sp.Dummy("w", real=True), Numbers()
    context = Context(numbers=numbers, client_vectors=frozenset({heard, NOISE}), noise=frozenset({NOISE}))
    assert scalar(Inner(heard, NOISE), context) == {}
    assert scalar(Inner(heard, NOISE), replace(context, depends_on_current_noise=frozenset({heard}))) != {}


def test_functions_are_of_what_a_round_starts_with() -> None:
    """A Lyapunov function that contains noise of the round is rejected."""
    eta, mu, L, T, D, sigma, tau = (
        next(symbol for symbol, quantity in find("landmarks:fedavg.at-rest").where.items() if quantity is one)
        for one in (
            *(q.local_step_size, q.strong_convexity, q.smoothness, q.rounds),
            *(q.initial_distance, q.noise_deviation, q.local_steps),
        )
    )
    server_step = sp.Symbol("eta_g", positive=True)
    size, factor = eta * server_step, 1 - eta * server_step * mu
    claim = Claim(
        id="t:quiet",
        lhs=q.final_distance_sq,
        rhs=factor**T * (D**2 + size**2 * sigma**2),
        conditions=[size <= 1 / L, size * mu <= 1, tau <= 1],
        assumptions=(
            *(a.update_rule, a.full_participation, a.importance_weights, a.same_step_size, a.convex_and_smooth),
            *(a.strongly_convex_clients, a.unbiased_bounded_variance),
        ),
        where={**find("landmarks:fedavg.at-rest").where, server_step: q.server_step_size},
    )
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"], "noise": "1"}
    keys = {"local_step_size": "1/2", "rounds": 5, "local_steps": 1}
    assert check(claim, parse_run({"problem": problem, "algorithm": keys}, RATIONAL)).holds is False
    x, noise = definitions.state(fedavg.x), Average(NOISE)
    both_ways, slope = [(x, OPTIMUM), (OPTIMUM, x)], kernel.Gradient(OBJECTIVE, x)
    proof = check_certificate(
        claim,
        Lyapunov(
            claim=claim.id,
            function=norm_sq(x - OPTIMUM + size * noise),
            factor=factor,
            offset=sp.S.Zero,
            level=D**2 + size**2 * sigma**2,
            round=[
                *(Term(size, cocoercivity(OBJECTIVE, *points)) for points in both_ways),
                *(Term(size, strong_convexity(OBJECTIVE, *points)) for points in both_ways),
                Term(size * (1 / L - size), square(slope)),
                Term(factor * size**2, square(noise)),
            ],
            model=[Term(size**2, square(noise))],
            start=[
                Term(sp.S.One, assumption(START_DISTANCE)),
                Term(size**2, assumption("bounded variance"), averaged=True),
                Term(size**2, square(NOISE - noise), averaged=True),
            ],
        ),
    )
    assert [step.text for step in proof.steps if not step.holds] == [
        f"V has {NOISE}: expected vectors at the start of a round, and numbers"
    ]


EDGES: dict[str, dict[str, Any]] = {
    "p = 1": {"probability": 1},
    "small steps, p = 1": {"probability": 1, "local_step_size": "1/1000"},
    "rarely": {"probability": "1/50"},
    "one round": {"probability": "1/2", "rounds": 1},
    "the largest step": {"probability": "1/2", "local_step_size": "1/3"},
}


@pytest.mark.parametrize("clients", [1, 2])
@pytest.mark.parametrize("edge", EDGES)
def test_proved_claims_hold_at_the_edge(edge: str, clients: int) -> None:
    problem = {
        "kind": "quadratic",
        "hessians": [[["3"]], [["1"]]][:clients],
        "linear": [["1"], ["-2"]][:clients],
        "noise": "1/2",
    }
    keys = {"name": "scaffnew", "local_step_size": "1/6", "rounds": 3} | EDGES[edge]
    run = parse_run({"problem": problem, "algorithm": keys}, RATIONAL)
    found = check(find(SCAFFNEW), run)
    assert found.applicable
    assert found.holds
