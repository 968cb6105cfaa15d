"""Certificates for Fraboni et al. (2022), Section 4 and Table 2: the schedules of three clocks, by counting."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import AnyPremise, Part
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
    optimum_moved,
    rate,
    tau_0,
    tau_i,
    tau_M,
)
from fedtheory.sources.fraboni2022.statements.notation import K, M, N, T, W, d_i, p_i, q_i, q_in, qt_i

ONE = sp.S.One


def _multiply_one(premise: AnyPremise, coefficient: Expr = ONE) -> list[Part]:
    return [Part(coefficient, premise)]


def _use_premise(claim: str, link: int = 0) -> list[Part]:
    return _multiply_one(Derived(f"fraboni2022:{claim}", link))


def _compare_updates(factor: Expr) -> list[Part]:
    """Return the parts of a multiple of T sum_j 1/tau_j - N."""
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


_AT_LEAST_ONCE = [*_compare_period(ONE), Part(ONE, facts.PERIOD, over=1 / tau_i), Part(-nu_period, facts.RATE)]
"""W - M."""
_AT_MOST_FASTEST = [
    *_compare_period(-ONE),
    Part(nu_period / tau_0, facts.NOT_FASTER, over=1 / tau_i),
    Part(nu_period, facts.RATE),
]
"""M nu/tau_0 - W."""
_OF_EQUALS = [*_compare_period(-ONE), Part(-ONE, facts.PERIOD_OF_EQUALS, over=1 / tau_i), Part(nu_period, facts.RATE)]
"""M - W for equal client times."""
_LARGEST = [Part(tau_M / (M * tau_0), facts.NOT_FASTER, over=1 / tau_i), Part(tau_M / M, facts.RATE)]
"""tau_M/tau_0 - (tau_M/M) sum_j 1/tau_j."""
_SHARE = N / (rate * T)
_EXCESSES = ((facts.ASYNC_WEIGHTS, ONE), (TIME_BASED, count_i), (facts.ASYNC_CYCLES, rate * p_i))
"""Terms that add up to N q_i - T p_i sum_j 1/tau_j."""


def _compare_gaps(factor: Expr, optimum: AnyPremise) -> Part:
    """Return the weighted gaps of the clients at the optimum, minus those at the surrogate's optimum."""
    return Part(-ONE, optimum, over=factor)


ASYNCHRONOUS = [
    Combination(
        claim="fraboni2022:eq-34",
        links=[
            _multiply_one(facts.ASYNC_STALE),
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
            _multiply_one(facts.ASYNC_WINDOW, -ONE),
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
            _AT_LEAST_ONCE,
            _AT_MOST_FASTEST,
            [
                *_compare_period(-ONE),
                Part(ONE, facts.PERIOD_AT_MOST, over=1 / tau_i),
                Part(nu_period, facts.RATE),
            ],
            _multiply_one(facts.PERIOD_OF_SLOWEST),
            _multiply_one(facts.PERIOD_AT_MOST, 1 / tau_i),
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
            _multiply_one(facts.ALONE_EXCESS, -ONE),
            _LARGEST,
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
            _use_premise("eq-35"),
            _multiply_one(facts.ASYNC_STALE_AT_END),
            _multiply_one(facts.ALONE_PAIRING, -ONE),
            _use_premise("table-2.async.N"),
            _use_premise("eq-37"),
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
    Combination(claim="fraboni2022:eq-35.identical", links=[_OF_EQUALS]),
    Combination(
        claim="fraboni2022:dl-case",
        links=[
            _OF_EQUALS,
            _multiply_one(facts.ASYNC_STALE_AT_END),
            [Part(ONE, facts.ASYNC_STALE), Part(ONE, facts.OTHER_REPORTS), Part(1 - M, facts.RATIO_OF_EQUALS)],
        ],
    ),
    Combination(
        claim="fraboni2022:dl-case.bounds",
        links=[
            _AT_LEAST_ONCE,
            _AT_MOST_FASTEST,
            _multiply_one(facts.ASYNC_STALE_AT_END),
            [Part(ONE, facts.ASYNC_STALE), Part(ONE, facts.OTHER_REPORTS)],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.d",
        links=[
            [
                Part(-_SHARE, facts.MEAN_SHARE),
                Part(-_SHARE * qt_i, facts.MEAN_SUM),
                Part(qt_i, facts.WEIGHT_SUM),
                *(Part(-_SHARE / N * factor, premise) for premise, factor in _EXCESSES),
                *(Part(_SHARE / N * qt_i, premise, over=factor) for premise, factor in _EXCESSES),
            ],
            _multiply_one(facts.FAIR_SHARES_OPTIMUM, -optimum_moved),
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.N",
        links=[_compare_updates(ONE), _multiply_one(facts.ASYNC_DURATION, -ONE)],
    ),
    Combination(
        claim="fraboni2022:table-2.async.tau",
        links=[
            _multiply_one(facts.ASYNC_STALE_AT_END),
            [
                *_use_premise("eq-34"),
                *_use_premise("eq-34", 1),
                Part(2 * tau_M / tau_0, ONE_FACT),
            ],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.W",
        links=[
            _use_premise("eq-35.bounds"),
            [*_use_premise("eq-35.bounds", 2), Part(M * tau_M ** (M - 1) * (tau_M - 1), ONE_FACT)],
        ],
    ),
    Combination(
        claim="fraboni2022:table-2.async.alpha-beta",
        links=[
            _multiply_one(facts.ALONE_PAIRING, -ONE),
            _multiply_one(facts.ALONE_EXCESS, -ONE),
            [Part(-1 / M, facts.SLOWEST_WEIGHT), *_LARGEST],
        ],
    ),
    Combination(claim="fraboni2022:table-2.async.R", links=[_use_premise("eq-37")]),
]

_MEAN_GAP = [
    Part(ONE, facts.MEAN_GAPS),
    _compare_gaps(q_i, facts.FAIR_WEIGHTS_GAPS),
    Part(ONE, "fraboni2022:eq-40", over=gap_i),
    Part(ONE, facts.MEAN_OF_GAPS),
]
"""Excess of the clients' gaps at the optimum over the residual."""
_TIME = [_multiply_one(facts.FEDFIX_TIME, -1 / Delta_t), _multiply_one(facts.FEDFIX_DURATION, -ONE)]
_STALENESS, _WINDOW = _multiply_one(facts.FEDFIX_STALE_ATTAINED, -ONE), _multiply_one(facts.FEDFIX_WINDOW, -ONE)
_COUNT = _multiply_one(facts.FEDFIX_CYCLES, -ONE)
_PAIRED, _NO_EXCESS = _multiply_one(facts.FEDFIX_PAIRING, -ONE), _multiply_one(facts.FEDFIX_EXCESS, -ONE)

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
            _multiply_one(facts.FAIR_WEIGHTS_OPTIMUM, -optimum_moved),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-42.ordering.second-term.fixed", links=[_multiply_one(facts.SYNC_RESIDUAL, (1 - K) / N)]
    ),
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
        links=[_multiply_one(facts.STALE), _multiply_one(facts.FEDFIX_STALE)],
    ),
    Combination(
        claim="fraboni2022:table-2.fedfix.W.fixed",
        links=[_multiply_one(facts.WINDOW), _WINDOW, _multiply_one(facts.INTERVALS_AT_MOST)],
    ),
    Combination(claim="fraboni2022:table-2.fedfix", links=[_use_premise("eq-40"), _PAIRED, _MEAN_GAP]),
    Combination(claim="fraboni2022:table-2.fedfix.beta.fixed", links=[_NO_EXCESS]),
    Combination(claim="fraboni2022:thm-1.claim-delay.fedfix", links=[_STALENESS, _COUNT]),
]

SYNCHRONOUS = [
    Combination(
        claim="fraboni2022:table-2.sync",
        links=[
            _multiply_one(facts.FULL_WEIGHTS, -ONE),
            _multiply_one(facts.FULL_TIME, -1 / tau_M),
            _multiply_one(facts.FULL_DURATION, -ONE),
            _multiply_one(facts.FULL_PAIRING, -ONE),
            _multiply_one(facts.FULL_EXCESS, -ONE),
            _multiply_one(facts.SYNC_STALE, -ONE),
            _multiply_one(facts.SYNC_WINDOW, -ONE),
            _multiply_one(facts.SYNC_RESIDUAL, -ONE),
        ],
    ),
]

CENTRALISED = [
    Combination(
        claim="fraboni2022:centralized.constants",
        links=[
            _multiply_one(facts.SYNC_RESIDUAL, -ONE),
            _multiply_one(facts.FULL_PAIRING, -ONE),
            _multiply_one(facts.FULL_EXCESS, -ONE),
        ],
    ),
    Combination(claim="fraboni2022:centralized.delay.fixed", links=[_multiply_one(facts.SYNC_STALE, -ONE)]),
]

CERTIFICATES = [*SYNCHRONOUS, *CENTRALISED, *ASYNCHRONOUS, *FEDFIX]
