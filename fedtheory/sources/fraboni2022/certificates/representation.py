"""Certificates of equations and of the theorems' terms for fair types and sampled weights."""

from __future__ import annotations

import sympy as sp

from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.certificates.equations import prove_by_facts, subtract
from fedtheory.sources.fraboni2022.context import definition_facts as definitions
from fedtheory.sources.fraboni2022.context import schedule_facts as facts
from fedtheory.sources.fraboni2022.context.update_facts import FAIR_RESIDUAL
from fedtheory.sources.fraboni2022.statements.convergence import largest_q, optimum_distance
from fedtheory.sources.fraboni2022.statements.notation import K, L, M, W, eta_l
from fedtheory.sources.fraboni2022.statements.relaxed import WINDOWED
from fedtheory.sources.fraboni2022.statements.sampling import m, round_time

ONE = sp.S.One

CERTIFICATES = [
    prove_by_facts("eq-7.distances", definitions.VIRTUAL_START, definitions.VIRTUAL_END),
    prove_by_facts("eq-9.optima", definitions.ROUND_SLOPE, definitions.SURROGATE_SLOPE),
    Combination(
        claim="fraboni2022:eq-10.first-model",
        links=[
            subtract(definitions.MEAN_OBJECTIVE),
            [Part(ONE, definitions.SURROGATE_OBJECTIVE)],
            subtract(definitions.UPDATE_SHARE),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-12.first-model",
        links=[[Part(ONE, definitions.TYPES)], [Part(ONE, definitions.TYPES_OF_UPDATE)]],
    ),
    prove_by_facts("sampling.unbiased.time", (definitions.EXPECTED_TIME, 1 / round_time)),
    prove_by_facts("thm-1.claim-R", FAIR_RESIDUAL, facts.FAIR_SHARES, facts.FAIR_OPTIMUM),
    prove_by_facts("thm-1.claim-R.same.synchronous", facts.SYNC_RESIDUAL),
    prove_by_facts("thm-2.claims.converse", FAIR_RESIDUAL, facts.FAIR_MISFITS, facts.FAIR_MEAN_GAP),
    prove_by_facts("cor-1.noniid", facts.FAIR_UPDATES),
    prove_by_facts("cor-1.noniid.types", (facts.FAIR_OPTIMUM, optimum_distance)),
    prove_by_facts("cor-1.noniid.required.optimum.fixed", (facts.FAIR_SHARES_OPTIMUM, optimum_distance)),
    prove_by_facts("thm-3.condition", (facts.FAIR_SHARES_OPTIMUM, optimum_distance), facts.FAIR_SHARES_CHI),
    Combination(
        claim="fraboni2022:claim.W1.fixed",
        links=[
            [Part(ONE, facts.FAIR_MEAN_CHI), *subtract(facts.FAIR_CHI)],
            subtract(facts.FAIR_MEAN_CHI),
            subtract(facts.FAIR_OPTIMUM, optimum_distance),
            subtract(facts.FAIR_SHARES),
        ],
    ),
    prove_by_facts("claim.W1.types", facts.FAIR_SHARES),
    Combination(
        claim="fraboni2022:thm-1.claim-epsK.zero",
        links=[
            [Part(6 * L**2 * eta_l**2 * (K - 1) ** 2, ONE_FACT)],
            [Part(6 * L**2 * eta_l**2 * (K - 1), K <= 1)],
        ],
    ),
    Combination(claim="fraboni2022:sampling.unbiased.bound.terms", links=[[]]),
    prove_by_facts("claim.W1.equivalent.synchronous", facts.SYNC_CHI, (facts.SYNC_WINDOW, WINDOWED / (W - 1))),
    Combination(
        claim="fraboni2022:sampling.unbiased.uniform",
        links=[
            [Part(ONE, facts.UNIFORM_PAIRING)],
            [Part(-m * (M - 1), facts.UNIFORM_EXCESS), Part(-largest_q, facts.UNIFORM_PAIRING)],
        ],
    ),
    prove_by_facts("sampling.unbiased.multinomial", facts.MULTINOMIAL_PAIRING, facts.MULTINOMIAL_EXCESS),
]
