"""Certificates for Fraboni et al. (2022): what fair types and sampled weights make of the terms of the theorems."""

from __future__ import annotations

import sympy as sp

from fedtheory.proofs import schedule_facts as facts
from fedtheory.proofs.combination import Combination, Part
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.update_facts import FAIR_RESIDUAL
from fedtheory.sources.fraboni2022.statements.convergence import apart, largest_q
from fedtheory.sources.fraboni2022.statements.notation import K, M, tilde_eta
from fedtheory.sources.fraboni2022.statements.relaxed import B
from fedtheory.sources.fraboni2022.statements.sampling import m

ONE = sp.S.One


def _zero(fact: Fact, factor: sp.Expr = ONE) -> list[Part]:
    """Minus a multiple of what is zero, for an equation that has it on the left."""
    return [Part(-factor, fact)]


CERTIFICATES = [
    Combination(
        claim="fraboni2022:thm-1.claim-R.fixed",
        links=[_zero(FAIR_RESIDUAL), _zero(facts.FAIR_OPTIMUM), _zero(facts.SHARES)],
    ),
    Combination(claim="fraboni2022:thm-1.claim-R.same", relaxed=[], links=[_zero(facts.SYNC_RESIDUAL)]),
    Combination(
        claim="fraboni2022:thm-2.claims.fixed",
        links=[_zero(FAIR_RESIDUAL), _zero(facts.FAIR_MISFITS), _zero(facts.FAIR_MEAN_GAP)],
    ),
    Combination(
        claim="fraboni2022:thm-2.claims.missing.fixed",
        links=[_zero(facts.FAIR_MEAN_GAP), _zero(facts.FAIR_ABSENCES)],
    ),
    Combination(claim="fraboni2022:cor-1.noniid", links=[_zero(facts.FAIR_UPDATES)]),
    Combination(claim="fraboni2022:cor-1.noniid.required.fixed", links=[_zero(facts.FAIR_OPTIMUM, apart)]),
    Combination(
        claim="fraboni2022:thm-3.condition",
        links=[_zero(facts.FAIR_SHARES_OPTIMUM, apart), _zero(facts.FAIR_SHARES_CHI)],
    ),
    Combination(
        claim="fraboni2022:claim.W1.fixed",
        links=[
            [Part(ONE, facts.FAIR_MEAN_CHI), *_zero(facts.FAIR_CHI)],
            _zero(facts.FAIR_MEAN_CHI),
            _zero(facts.FAIR_OPTIMUM, apart),
            _zero(facts.FAIR_SHARES),
        ],
    ),
    Combination(
        claim="fraboni2022:claim.W1.equivalent",
        relaxed=[],
        links=[_zero(facts.SYNC_CHI), _zero(facts.SYNC_WINDOW, B**2 * K * tilde_eta)],
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
        links=[_zero(facts.MULTINOMIAL_PAIRING), _zero(facts.MULTINOMIAL_EXCESS)],
    ),
]
