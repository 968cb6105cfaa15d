"""Certificates for Fraboni et al. (2022): the terms of the theorems for fair types and sampled weights."""

from __future__ import annotations

import sympy as sp

from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.context import definition_facts as definitions
from fedtheory.sources.fraboni2022.context import schedule_facts as facts
from fedtheory.sources.fraboni2022.context.update_facts import FAIR_RESIDUAL
from fedtheory.sources.fraboni2022.statements.convergence import apart, largest_q
from fedtheory.sources.fraboni2022.statements.notation import K, L, M, W, eta_l
from fedtheory.sources.fraboni2022.statements.relaxed import WINDOWED
from fedtheory.sources.fraboni2022.statements.sampling import m, round_time

ONE = sp.S.One


def _subtract_zero(fact: Fact, factor: sp.Expr = ONE) -> list[Part]:
    """Return minus a multiple of zero, for an equation that has it on the left."""
    return [Part(-factor, fact)]


CERTIFICATES = [
    Combination(
        claim="fraboni2022:eq-7.distances",
        links=[_subtract_zero(definitions.VIRTUAL_START), _subtract_zero(definitions.VIRTUAL_END)],
    ),
    Combination(
        claim="fraboni2022:eq-9.optima",
        links=[_subtract_zero(definitions.ROUND_SLOPE), _subtract_zero(definitions.SURROGATE_SLOPE)],
    ),
    Combination(
        claim="fraboni2022:eq-10.first-model",
        links=[
            _subtract_zero(definitions.MEAN_OBJECTIVE),
            [Part(ONE, definitions.SURROGATE_OBJECTIVE)],
            _subtract_zero(definitions.UPDATE_SHARE),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-12.first-model",
        links=[[Part(ONE, definitions.TYPES)], [Part(ONE, definitions.TYPES_OF_UPDATE)]],
    ),
    Combination(
        claim="fraboni2022:sampling.unbiased.time",
        links=[_subtract_zero(definitions.EXPECTED_TIME, 1 / round_time)],
    ),
    Combination(
        claim="fraboni2022:thm-1.claim-R",
        links=[_subtract_zero(FAIR_RESIDUAL), _subtract_zero(facts.FAIR_SHARES), _subtract_zero(facts.FAIR_OPTIMUM)],
    ),
    Combination(claim="fraboni2022:thm-1.claim-R.same.synchronous", links=[_subtract_zero(facts.SYNC_RESIDUAL)]),
    Combination(
        claim="fraboni2022:thm-2.claims.converse",
        links=[_subtract_zero(FAIR_RESIDUAL), _subtract_zero(facts.FAIR_MISFITS), _subtract_zero(facts.FAIR_MEAN_GAP)],
    ),
    Combination(claim="fraboni2022:cor-1.noniid", links=[_subtract_zero(facts.FAIR_UPDATES)]),
    Combination(claim="fraboni2022:cor-1.noniid.types", links=[_subtract_zero(facts.FAIR_OPTIMUM, apart)]),
    Combination(
        claim="fraboni2022:cor-1.noniid.required.optimum.fixed",
        links=[_subtract_zero(facts.FAIR_SHARES_OPTIMUM, apart)],
    ),
    Combination(
        claim="fraboni2022:thm-3.condition",
        links=[_subtract_zero(facts.FAIR_SHARES_OPTIMUM, apart), _subtract_zero(facts.FAIR_SHARES_CHI)],
    ),
    Combination(
        claim="fraboni2022:claim.W1.fixed",
        links=[
            [Part(ONE, facts.FAIR_MEAN_CHI), *_subtract_zero(facts.FAIR_CHI)],
            _subtract_zero(facts.FAIR_MEAN_CHI),
            _subtract_zero(facts.FAIR_OPTIMUM, apart),
            _subtract_zero(facts.FAIR_SHARES),
        ],
    ),
    Combination(claim="fraboni2022:claim.W1.types", links=[_subtract_zero(facts.FAIR_SHARES)]),
    Combination(
        claim="fraboni2022:thm-1.claim-epsK.zero",
        links=[
            [Part(6 * L**2 * eta_l**2 * (K - 1) ** 2, ONE_FACT)],
            [Part(6 * L**2 * eta_l**2 * (K - 1), K <= 1)],
        ],
    ),
    Combination(claim="fraboni2022:sampling.unbiased.bound.terms", links=[[]]),
    Combination(
        claim="fraboni2022:claim.W1.equivalent.synchronous",
        links=[_subtract_zero(facts.SYNC_CHI), _subtract_zero(facts.SYNC_WINDOW, WINDOWED / (W - 1))],
    ),
    Combination(
        claim="fraboni2022:sampling.unbiased.uniform",
        links=[
            [Part(ONE, facts.UNIFORM_PAIRING)],
            [Part(-m * (M - 1), facts.UNIFORM_EXCESS), Part(-largest_q, facts.UNIFORM_PAIRING)],
        ],
    ),
    Combination(
        claim="fraboni2022:sampling.unbiased.multinomial",
        links=[_subtract_zero(facts.MULTINOMIAL_PAIRING), _subtract_zero(facts.MULTINOMIAL_EXCESS)],
    ),
]
