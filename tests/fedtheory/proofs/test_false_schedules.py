"""False statements about schedules and weights, with deceptive certificates, are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from attempts import Attempt, sums

from fedtheory import RATIONAL, parse_run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, Part, certificates, check_certificate, facts
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.sources.fraboni2022.context import definition_facts as definitions_of_updates
from fedtheory.sources.fraboni2022.context import schedule_facts
from fedtheory.sources.liu2022.context import definition_facts

ONE = sp.S.One
M, N, T, W, tau, rate, slow, fast, dist = sp.symbols("M N T W tau rate slow fast dist", nonnegative=True)
tau_i, d_i, p_i, q_i, c_i, share = sp.symbols("tau_i d_i p_i q_i c_i share", nonnegative=True)
period, ratio = sp.symbols("period ratio", nonnegative=True)
WHERE: dict[sp.Symbol, Any] = {
    M: q.clients,
    N: q.rounds,
    T: q.clock_time,
    W: q.window,
    tau: q.largest_staleness,
    rate: q.update_rate,
    slow: q.slowest_time,
    fast: q.fastest_time,
    dist: q.surrogate_optimum_distance,
    tau_i: q.update_time,
    d_i: q.aggregation_weight,
    p_i: q.importance,
    q_i: q.mean_weight,
    share: q.mean_weight_share,
    c_i: q.report_count,
    period: q.common_period,
    ratio: q.speed_ratio_above,
}
CYCLES = (a.asynchronous, a.one_at_a_time, a.whole_cycles)
ASYNC = {"rounds": 3, "clock": {"policy": "async", "times": ["1", "2"], "ties": "one-by-one"}}
TOGETHER = {"rounds": 2, "clock": {"policy": "async", "times": ["1", "2"]}}
FIX = {"rounds": 4, "clock": {"policy": "fedfix", "interval": "1", "times": ["1", "2"]}}
UNCOUNTED = {"aggregation": ["1", "0"]}
COUNT = [
    Part(-ONE, schedule_facts.ASYNC_CYCLES, over=1 / tau_i),
    Part(ONE, schedule_facts.ONE_EACH),
    Part(-T, schedule_facts.RATE),
]


def claimed(chain: tuple[Any, str, Any], parts: list[Part], because: str, algorithm: Any, **more: Any) -> Any:
    """Return an attempt at one relation."""
    stated = {"where": WHERE, "chain": chain, **more}
    return sums({"links": [parts]}, because, (), algorithm, **stated)


ATTEMPTS: dict[str, Attempt] = {
    "ties that report together": claimed(
        (N, "==", T * rate),
        COUNT,
        "missing: one report at a time",
        TOGETHER,
        assumptions=(a.asynchronous, a.whole_cycles),
    ),
    "times that differ have a longer common period": claimed(
        (period, "==", tau_i),
        [Part(-ONE, schedule_facts.PERIOD_OF_EQUALS)],
        "missing: identical update times",
        ASYNC,
        assumptions=(*CYCLES, a.whole_times),
    ),
    "times that differ have a ratio above one": claimed(
        (ratio, "==", sp.Integer(1)),
        [Part(ONE, schedule_facts.RATIO_OF_EQUALS)],
        "missing: identical update times",
        ASYNC,
        assumptions=CYCLES,
    ),
    "a run that stops in a cycle": claimed(
        (N, "==", T * rate),
        COUNT,
        "missing: whole cycles",
        {**ASYNC, "rounds": 1},
        assumptions=(a.asynchronous, a.one_at_a_time),
    ),
    "a client that does not count has no part in the window": claimed(
        (W, "==", sp.Integer(3)),
        [Part(-ONE, schedule_facts.FEDFIX_WINDOW)],
        "missing: positive weights",
        {**FIX, **UNCOUNTED},
        assumptions=(a.fixed_intervals, a.whole_cycles),
    ),
    "a constant that is too small": claimed(
        (W, "<=", 0), [Part(-ONE, schedule_facts.WINDOW)], "coefficient (-1) >= 0", ASYNC, assumptions=CYCLES
    ),
    "a sum with weights of the wrong sign": claimed(
        (M * slow, "<=", ClientSum(tau_i)),
        [Part(ONE, schedule_facts.NOT_SLOWER, over=-ONE)],
        "(-1) >= 0",
        ASYNC,
        assumptions=CYCLES,
    ),
    "a client's own number is no sum": claimed(
        (T, "==", tau_i * N),
        [Part(-ONE, schedule_facts.ASYNC_CYCLES, over=ONE), Part(tau_i, schedule_facts.ONE_EACH)],
        "the sum",
        ASYNC,
        assumptions=CYCLES,
    ),
    "what differs from client to client does not leave a sum": claimed(
        (T * M, "==", tau_i * N),
        [Part(-ONE, schedule_facts.ASYNC_CYCLES, over=ONE), Part(tau_i, schedule_facts.ONE_EACH)],
        "the sum",
        ASYNC,
        assumptions=CYCLES,
    ),
    "times that need not be whole": claimed(
        (sp.Integer(1), "<=", fast),
        [Part(fast - 1, facts.ONE)],
        "coefficient (fast - 1) >= 0",
        {**ASYNC, "clock": {"policy": "async", "times": ["1/2", "2"], "ties": "one-by-one"}},
        assumptions=CYCLES[:2],
    ),
    "an optimum that moves": claimed(
        (dist, "==", 0),
        [Part(-ONE, schedule_facts.FAIR_SHARES_OPTIMUM)],
        "= 0",
        {**FIX, **UNCOUNTED},
        assumptions=(a.fixed_intervals,),
    ),
    "an equation of something else": claimed(
        (dist, "==", 0),
        [Part(-ONE, schedule_facts.FAIR_SHARES_OPTIMUM)],
        "= 0",
        {**FIX, "aggregation": ["1/2", "1/2"]},
        assumptions=(a.fixed_intervals,),
        conditions=[sp.Eq(d_i, p_i)],
    ),
    "an equation that the claim does not make": claimed(
        (d_i, "==", p_i),
        [Part(-ONE, sp.Eq(d_i, p_i))],
        "the condition",
        {**FIX, **UNCOUNTED},
        assumptions=(a.fixed_intervals,),
    ),
    "a later link that an earlier one needs": sums(
        {"links": [[Part(-ONE, sp.Eq(q_i - p_i, 0))], [Part(-ONE, sp.Eq(p_i - q_i, 0))]]},
        "the condition",
        (),
        {**FIX, **UNCOUNTED},
        where=WHERE,
        chain=(q_i, "==", p_i, "==", q_i),
        assumptions=(a.fixed_intervals,),
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_false_statement_is_proved(name: str) -> None:
    """Each attempt is rejected for the expected reason."""
    tried = ATTEMPTS[name]
    proof = check_certificate(tried.claim, tried.certificate)
    assert proof.verdict == "broken"
    assert tried.because in "; ".join(step.text for step in proof.steps if not step.holds)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_statements_are_false(name: str) -> None:
    """Each statement fails on a run."""
    assert ATTEMPTS[name].fails


NEEDY = {
    name: fact
    for module in (schedule_facts, definition_facts, definitions_of_updates)
    for name, fact in vars(module).items()
    if type(fact) is Fact
}


@pytest.mark.parametrize("name", NEEDY)
def test_facts_are_used_under_all_that_they_need(name: str) -> None:
    """Without one of its assumptions, or without its equation, a fact proves nothing."""
    fact, symbol = NEEDY[name], SymbolTable({})
    slack, zero = sp.sympify(fact.slack(symbol)), sp.sympify(fact.zero_condition(symbol))
    known = [q.gradient_growth(1), *(quantity for quantity in vars(q).values() if isinstance(quantity, q.RunQuantity))]
    quantities = {symbol(quantity): quantity for quantity in known}
    used = {each: quantities[each] for each in slack.free_symbols | zero.free_symbols}
    plain = {each: sp.Symbol(quantity.name, real=True) for each, quantity in used.items()}
    stated: dict[str, Any] = {
        "lhs": slack.xreplace(plain),
        "relation": "==" if fact.is_zero else ">=",
        "rhs": 0,
        "where": {plain[each]: quantity for each, quantity in used.items()},
        "assumptions": fact.needs,
        "conditions": [] if zero == 0 else [sp.Eq(zero.xreplace(plain), 0, evaluate=False)],
    }
    sign = -ONE if fact.is_zero else ONE
    parts = {"links": [[Part(sign, fact)]]}
    assert _verdict(stated, parts) == "proved"
    for n in range(len(fact.needs)):
        assert _verdict({**stated, "assumptions": fact.needs[:n] + fact.needs[n + 1 :]}, parts) == "broken"
    if zero != 0:
        assert _verdict({**stated, "conditions": []}, parts) == "broken"


def _verdict(stated: dict[str, Any], parts: dict[str, Any]) -> str:
    tried = sums(parts, "", **stated)
    return check_certificate(tried.claim, tried.certificate).verdict


def _on_schedules() -> list[str]:
    known = set(map(id, NEEDY.values()))
    found = [one for one in certificates().values() if isinstance(one, Combination)]
    return [one.claim for one in found if any(id(part.premise) in known for link in one.links for part in link)]


@pytest.mark.parametrize("name", _on_schedules())
def test_each_part_of_a_proof_is_needed(name: str) -> None:
    """A proof without one of its parts, or with a doubled part, is broken."""
    claim, certificate = find(name), certificates()[name]
    for number, link in enumerate(certificate.links):
        for place, part in enumerate(link):
            for changed in ([], [replace(part, coefficient=2 * part.coefficient)]):
                links = list(certificate.links)
                links[number] = [*link[:place], *changed, *link[place + 1 :]]
                assert check_certificate(claim, replace(certificate, links=links)).verdict == "broken", (number, place)


def test_weights_that_vanish_have_no_shares() -> None:
    """If no client has a weight, the normalised weights of types are not defined."""
    problem = {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["1"], ["0"]], "start": ["1"]}
    clock = {"policy": "async", "times": ["1", "2"]}
    keys = {"local_step_size": "1/4", "rounds": 2, "local_steps": 1, "clock": clock, "aggregation": ["0", "0"]}
    with pytest.raises(NotApplicable, match="no client reports in any update"):
        q.mean_chi_sq.on(parse_run({"problem": problem, "algorithm": keys}, RATIONAL))
