"""Certificates of sentences between the published statements."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, square
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.context import schedule_facts as facts
from fedtheory.sources.fraboni2022.context.updates import WEIGHTS_AT_MOST, at_local, square_of_weight
from fedtheory.sources.fraboni2022.statements import remarks_schedules
from fedtheory.sources.fraboni2022.statements.asynchronous import ratio
from fedtheory.sources.fraboni2022.statements.convergence import optimum_distance
from fedtheory.sources.fraboni2022.statements.hardware import Delta_t, nu_period, tau_0, tau_i, tau_M
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import start
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F

ONE = sp.S.One
_SECOND_STEP_SIZE = sp.Le(eta_l, 1 / (48 * K * L) / (3 * rho**2 * eta_g * (tau + 1)))
"""The second bound on the step size of Theorem 1."""


def _compare_updates(factor: Expr) -> list[Part]:
    """Return the parts of a multiple of N - M T/tau_M."""
    return [
        Part(factor, facts.ASYNC_CYCLES, over=1 / tau_i),
        Part(-factor, facts.ONE_EACH),
        Part(factor * T / tau_M, facts.NOT_SLOWER, over=1 / tau_i),
    ]


_GIVEN_WEIGHTS_STEP = [
    Term(tilde_eta**2, assumption(WEIGHTS_AT_MOST)),
    Term(
        tilde_eta**2 * q_n * (beta - square_of_weight + alpha * q_n * qt_in),
        square(at_local),
        averaged=True,
    ),
]
"""Lemma 1, and eta~^2 times beta q mean |g_i|^2 - sum_i gamma_i |g_i|^2."""
_UPDATES_FACTOR = tau_M / (M * T * N)
"""Factor with which N - M T/tau_M gives tau_M/(M T) - 1/N."""


def _prove_ordering() -> Combination:
    """Prove (33) <= (38) by tau_M/tau_0 >= 1 >= 1/M; the other terms of (38) are non-negative."""
    (claim,) = (claim for claim in remarks_schedules.ASYNCHRONOUS if claim.id == "fraboni2022:eq-38.ordering")
    scale = Sigma_star / sp.sqrt(K * N)
    scaled = [Part(scale / tau_0, facts.SPEEDS), Part(scale * (1 - 1 / M), ONE_FACT)]
    rest = claim.relations[0].slack - scale * (ratio - 1 / M)
    return Combination(claim=claim.id, links=[[*scaled, Part(sp.expand(rest), ONE_FACT)]])


CERTIFICATES = [
    Combination(
        claim="fraboni2022:eps-F.updates",
        links=[[Part(EPSILON_F / _SECOND_STEP_SIZE.rhs, _SECOND_STEP_SIZE)]],
    ),
    Combination(claim="fraboni2022:thm-1.claim-delay.quadratic", links=[[]]),
    Combination(
        claim="fraboni2022:thm-3.condition.weaker",
        links=[[Part(-ONE, facts.FAIR_MEAN_CHI)], [Part(-optimum_distance, facts.FAIR_OPTIMUM)]],
    ),
    Combination(
        claim="fraboni2022:constants.sync",
        links=[[Part(-ONE, facts.SYNC_STALE)], [Part(-ONE, facts.SYNC_WINDOW)]],
    ),
    Combination(
        claim="fraboni2022:constants.async",
        links=[
            [
                Part(ONE, facts.ASYNC_STALE),
                Part(ONE, facts.OTHER_REPORTS),
                Part(M - 1, facts.ROUNDED_UP),
                Part((M - 1) / tau_0, facts.SPEEDS),
            ],
            [
                Part(-ONE, facts.ASYNC_WINDOW),
                Part(-ONE, facts.IN_A_PERIOD),
                Part(ONE, facts.PERIOD_AT_MOST, over=1 / tau_i),
                Part(nu_period, facts.RATE),
            ],
        ],
    ),
    Combination(
        claim="fraboni2022:constants.fedfix",
        links=[
            [Part(ONE, facts.FEDFIX_STALE)],
            [Part(-ONE, facts.FEDFIX_WINDOW), Part(ONE, facts.INTERVALS_AT_MOST)],
        ],
    ),
    Combination(
        claim="fraboni2022:fedfix.aggregations.fixed",
        links=[[Part(-tau_M / (T * Delta_t), facts.FEDFIX_TIME)]],
    ),
    _prove_ordering(),
    Combination(
        claim="fraboni2022:eq-39.start",
        links=[
            _compare_updates(start**4 / K * _UPDATES_FACTOR),
            _compare_updates((K - 1) * Sigma_star * _UPDATES_FACTOR),
        ],
    ),
    Certificate(claim="fraboni2022:lemma-2.eq-60.fixed", links=[_GIVEN_WEIGHTS_STEP]),
]
