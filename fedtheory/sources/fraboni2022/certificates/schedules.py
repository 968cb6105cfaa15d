"""Certificates of Section 4 and Table 2: the schedules of synchronous FedAvg, asynchronous FedAvg and FedFix."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import AnyPremise, Part
from fedtheory.sources.fraboni2022.certificates.equations import prove_by_facts, subtract
from fedtheory.sources.fraboni2022.context import schedule_facts as facts
from fedtheory.sources.fraboni2022.statements.asynchronous import period_reports
from fedtheory.sources.fraboni2022.statements.hardware import (
    INTERVAL_BASED,
    TIME_BASED,
    Delta_t,
    N_i,
    count_i,
    gap_i,
    nu_period,
    optimum_distance,
    rate,
    tau_0,
    tau_i,
    tau_M,
)
from fedtheory.sources.fraboni2022.statements.notation import K, M, N, T, W, d_i, p_i, q_i, q_in, qt_i

ONE = sp.S.One


def _use_fact(fact: Fact, factor: Expr = ONE) -> list[Part]:
    """Return the parts of an inequality that a fact states, multiplied by a factor."""
    return [Part(factor, fact)]


def _use_claim(claim: str, link: int = 0) -> list[Part]:
    """Return the slack of one relation of a proved claim."""
    return [Part(ONE, Derived(f"fraboni2022:{claim}", link))]


def _compare_updates(factor: Expr) -> list[Part]:
    """Return the parts of a multiple of T sum_j 1/tau_j - N, by the reports of each client."""
    return [
        Part(-factor, facts.ASYNC_CYCLES, over=1 / tau_i),
        Part(factor, facts.ONE_EACH),
        Part(-factor * T, facts.RATE),
    ]


def _compare_weights(factor: Expr) -> list[Part]:
    """Return the parts of a multiple of q_i sum_j tau_i/tau_j - d_i."""
    return [
        Part(factor * rate * tau_i / N, facts.ASYNC_WEIGHTS),
        Part(factor * d_i * rate / N, facts.ASYNC_CYCLES),
        *_compare_updates(factor * d_i / N),
    ]


def _compare_period(factor: Expr) -> list[Part]:
    """Return the parts of a multiple of W - nu sum_j 1/tau_j."""
    return [Part(factor, facts.ASYNC_WINDOW), Part(factor, facts.IN_A_PERIOD)]


_WINDOW_OVER_CLIENTS = [*_compare_period(ONE), Part(ONE, facts.PERIOD, over=1 / tau_i), Part(-nu_period, facts.RATE)]
"""W - M, since a period has at least one report of each client."""
_LARGEST_WINDOW = [
    *_compare_period(-ONE),
    Part(nu_period / tau_0, facts.NOT_FASTER, over=1 / tau_i),
    Part(nu_period, facts.RATE),
]
"""M nu/tau_0 - W, since no client is faster than the fastest."""
_WINDOW_OF_EQUALS = [
    *_compare_period(-ONE),
    Part(-ONE, facts.PERIOD_OF_EQUALS, over=1 / tau_i),
    Part(nu_period, facts.RATE),
]
"""M - W for equal client times."""
_RATE_BOUND = [Part(tau_M / (M * tau_0), facts.NOT_FASTER, over=1 / tau_i), Part(tau_M / M, facts.RATE)]
"""tau_M/tau_0 - (tau_M/M) sum_j 1/tau_j."""
_TIME_SHARE = N / (rate * T)
_WEIGHT_PARTS = ((facts.ASYNC_WEIGHTS, ONE), (TIME_BASED, count_i), (facts.ASYNC_CYCLES, rate * p_i))
"""Terms that add up to N q_i - T p_i sum_j 1/tau_j."""


def _compare_gaps(weight: Expr, optimum: AnyPremise) -> Part:
    """Return the clients' gaps at the optimum minus those at the surrogate's optimum, summed with a weight."""
    return Part(-ONE, optimum, over=weight)


ASYNCHRONOUS = [
    Combination(
        claim="fraboni2022:eq-34",
        links=[
            _use_fact(facts.ASYNC_STALE),
            [
                Part(ONE, facts.OTHER_REPORTS),
                Part(M - 1, facts.ROUNDED_UP),
                Part((M - 1) / tau_0, facts.SPEEDS),
            ],
        ],
    ),
    Combination(
        claim="fraboni2022:eq-35",
        links=[
            subtract(facts.ASYNC_WINDOW),
            [
                *_compare_updates(-nu_period / tau_i),
                Part(-nu_period * rate / tau_i, facts.ASYNC_CYCLES),
                Part(-count_i, facts.IN_A_PERIOD),
            ],
        ],
    ),
    Combination(
        claim="fraboni2022:eq-35.bounds",
        links=[
            _WINDOW_OVER_CLIENTS,
            _LARGEST_WINDOW,
            [
                *_compare_period(-ONE),
                Part(ONE, facts.PERIOD_AT_MOST, over=1 / tau_i),
                Part(nu_period, facts.RATE),
            ],
            _use_fact(facts.PERIOD_OF_SLOWEST),
            _use_fact(facts.PERIOD_AT_MOST, 1 / tau_i),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-36",
        links=[
            [
                *_compare_weights(-1 / (rate * tau_i)),
                Part(-d_i / (rate * tau_i * period_reports), facts.IN_A_PERIOD),
            ],
            _compare_weights(ONE),
            subtract(facts.ALONE_EXCESS),
            _RATE_BOUND,
        ],
    ),
    Combination(
        claim="fraboni2022:eq-37",
        known=[Derived("fraboni2022:table-2.async.d")],
        links=[
            [
                Part(ONE, facts.ALONE_MEAN_GAPS),
                _compare_gaps(q_i, facts.FAIR_SHARES_GAPS),
                Part(-ONE, "fraboni2022:hardware.async", over=gap_i),
                Part(-ONE, TIME_BASED, over=gap_i / (rate * tau_i)),
                Part(ONE, facts.MEAN_OF_GAPS),
            ],
            [Part(ONE, facts.ALONE_GAP), _compare_gaps(q_in, facts.FAIR_SHARES_GAPS)],
        ],
    ),
    Combination(
        claim="fraboni2022:algorithm-1.ties.fixed",
        links=[
            _use_claim("eq-35"),
            _use_fact(facts.ASYNC_STALE_AT_END),
            subtract(facts.ALONE_PAIRING),
            _use_claim("table-2.async.N"),
            _use_claim("eq-37"),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-39",
        links=[
            _compare_updates(ONE),
            [Part(T / tau_M, facts.NOT_SLOWER, over=1 / tau_i), Part(-T, facts.RATE)],
        ],
    ),
    Combination(claim="fraboni2022:hardware.async", links=[_compare_weights(1 / (rate * tau_i))]),
    Combination(claim="fraboni2022:eq-35.identical", links=[_WINDOW_OF_EQUALS]),
    Combination(
        claim="fraboni2022:dl-case",
        links=[
            _WINDOW_OF_EQUALS,
            _use_fact(facts.ASYNC_STALE_AT_END),
            [Part(ONE, facts.ASYNC_STALE), Part(ONE, facts.OTHER_REPORTS), Part(1 - M, facts.RATIO_OF_EQUALS)],
        ],
    ),
    Combination(
        claim="fraboni2022:dl-case.bounds",
        links=[
            _WINDOW_OVER_CLIENTS,
            _LARGEST_WINDOW,
            _use_fact(facts.ASYNC_STALE_AT_END),
            [Part(ONE, facts.ASYNC_STALE), Part(ONE, facts.OTHER_REPORTS)],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.d",
        links=[
            [
                Part(-_TIME_SHARE, facts.MEAN_SHARE),
                Part(-_TIME_SHARE * qt_i, facts.MEAN_SUM),
                Part(qt_i, facts.WEIGHT_SUM),
                *(Part(-_TIME_SHARE / N * factor, premise) for premise, factor in _WEIGHT_PARTS),
                *(Part(_TIME_SHARE / N * qt_i, premise, over=factor) for premise, factor in _WEIGHT_PARTS),
            ],
            subtract(facts.FAIR_SHARES_OPTIMUM, optimum_distance),
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.N",
        links=[_compare_updates(ONE), subtract(facts.ASYNC_DURATION)],
    ),
    Combination(
        claim="fraboni2022:table-2.async.tau",
        links=[
            _use_fact(facts.ASYNC_STALE_AT_END),
            [
                *_use_claim("eq-34"),
                *_use_claim("eq-34", 1),
                Part(2 * tau_M / tau_0, ONE_FACT),
            ],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.W",
        links=[
            _use_claim("eq-35.bounds"),
            [*_use_claim("eq-35.bounds", 2), Part(M * tau_M ** (M - 1) * (tau_M - 1), ONE_FACT)],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.alpha-beta",
        links=[
            subtract(facts.ALONE_PAIRING),
            subtract(facts.ALONE_EXCESS),
            [Part(-1 / M, facts.SLOWEST_WEIGHT), *_RATE_BOUND],
        ],
    ),
    Combination(claim="fraboni2022:table-2.async.R", links=[_use_claim("eq-37")]),
]

_MEAN_GAP = [
    Part(ONE, facts.MEAN_GAPS),
    _compare_gaps(q_i, facts.FAIR_WEIGHTS_GAPS),
    Part(ONE, "fraboni2022:eq-40", over=gap_i),
    Part(ONE, facts.MEAN_OF_GAPS),
]
"""Excess of the clients' gaps at the optimum over the residual."""
_TIME = [subtract(facts.FEDFIX_TIME, 1 / Delta_t), subtract(facts.FEDFIX_DURATION)]
_STALENESS, _WINDOW = subtract(facts.FEDFIX_STALE_ATTAINED), subtract(facts.FEDFIX_WINDOW)
_COUNT = subtract(facts.FEDFIX_CYCLES)
_PAIRED, _NO_EXCESS = subtract(facts.FEDFIX_PAIRING), subtract(facts.FEDFIX_EXCESS)

FEDFIX = [
    Combination(claim="fraboni2022:fedfix.schedule.reports", links=[_COUNT]),
    Combination(claim="fraboni2022:fedfix.schedule.fixed", links=[_STALENESS]),
    Combination(
        claim="fraboni2022:fedfix.schedule.window",
        links=[
            _WINDOW,
            [Part(-W / N_i, facts.FEDFIX_CYCLES), Part(-N / N_i, facts.FEDFIX_WINDOW)],
        ],
    ),
    Combination(claim="fraboni2022:fedfix.alpha-beta.alpha", links=[_PAIRED]),
    Combination(claim="fraboni2022:fedfix.alpha-beta.fixed", links=[_NO_EXCESS]),
    Combination(
        claim="fraboni2022:eq-40.necessary",
        links=[[Part(N_i / N, facts.FEDFIX_WEIGHTS), Part(d_i / N, facts.FEDFIX_CYCLES)]],
    ),
    Combination(
        claim="fraboni2022:eq-40",
        links=[
            [Part(-1 / N_i, "fraboni2022:eq-40.necessary"), Part(-1 / N_i, INTERVAL_BASED)],
            subtract(facts.FAIR_WEIGHTS_OPTIMUM, optimum_distance),
        ],
    ),
    Combination(claim="fraboni2022:eq-42.ordering.second-term.fixed", links=[[Part((1 - K) / N, facts.SYNC_RESIDUAL)]]),
    Combination(
        claim="fraboni2022:eq-41",
        known=[Derived("fraboni2022:eq-40")],
        links=[_MEAN_GAP, [Part(ONE, facts.GAP), _compare_gaps(q_in, facts.FAIR_WEIGHTS_GAPS)]],
    ),
    Combination(
        claim="fraboni2022:eq-42.identical.fixed",
        links=[_STALENESS, [Part(ONE, facts.FEDFIX_WINDOW), Part(ONE, facts.LONGEST_DIVIDES)], _WINDOW],
    ),
    Combination(claim="fraboni2022:table-2.fedfix.N", links=_TIME),
    Combination(
        claim="fraboni2022:table-2.fedfix.tau.fixed",
        links=[_use_fact(facts.STALE), _use_fact(facts.FEDFIX_STALE)],
    ),
    Combination(
        claim="fraboni2022:table-2.fedfix.W.fixed",
        links=[_use_fact(facts.WINDOW), _WINDOW, _use_fact(facts.INTERVALS_AT_MOST)],
    ),
    Combination(claim="fraboni2022:table-2.fedfix", links=[_use_claim("eq-40"), _PAIRED, _MEAN_GAP]),
    Combination(claim="fraboni2022:table-2.fedfix.beta.fixed", links=[_NO_EXCESS]),
    Combination(claim="fraboni2022:thm-1.claim-delay.fedfix", links=[_STALENESS, _COUNT]),
]

SYNCHRONOUS = [
    prove_by_facts(
        "table-2.sync",
        facts.FULL_WEIGHTS,
        (facts.FULL_TIME, 1 / tau_M),
        facts.FULL_DURATION,
        facts.FULL_PAIRING,
        facts.FULL_EXCESS,
        facts.SYNC_STALE,
        facts.SYNC_WINDOW,
        facts.SYNC_RESIDUAL,
    ),
    prove_by_facts("centralized.constants", facts.SYNC_RESIDUAL, facts.FULL_PAIRING, facts.FULL_EXCESS),
    prove_by_facts("centralized.delay.fixed", facts.SYNC_STALE),
]

CERTIFICATES = [*SYNCHRONOUS, *ASYNCHRONOUS, *FEDFIX]
