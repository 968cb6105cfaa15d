"""Certificates from local steps to updates, and to the bounds of Theorems 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.context.averages import OverClients, OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.schedule_facts import FAIR_CHI, FAIR_OPTIMUM, FAIR_SHARES
from fedtheory.sources.fraboni2022.context.update_facts import (
    COMPARATOR_GAPS,
    COMPARATOR_RESIDUAL,
    EARLIER_SUMS,
    FAIR_LOSS,
    FAIR_RESIDUAL,
    FINAL_SURROGATE_COMPARATOR_DISTANCE,
    FINAL_SURROGATE_DISTANCE,
    GAPS,
    LAST_STEP,
    LOSS,
    MEAN_GRADIENT,
    MEAN_MIXED_NOISE,
    MEAN_MOVE,
    MEAN_OPTIMUM_NOISE,
    MIXED_OPTIMUM_NOISE,
    OPTIMUM_NOISE,
    PAST_MOVES,
    RESIDUAL,
    ROUND_GAP,
    SPREAD,
    SQUARE_GRADIENT,
    STEP_NUMBERS,
    TELESCOPED_FROM_Y,
    TELESCOPED_UPDATES,
)
from fedtheory.sources.fraboni2022.statements.any_point import substitute_comparator
from fedtheory.sources.fraboni2022.statements.convergence import chi_max, chi_n, least_q
from fedtheory.sources.fraboni2022.statements.federated_optimum import FACTOR
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import move
from fedtheory.sources.fraboni2022.statements.lemma_3 import SMALL_D_XI, D_xi, L_xi, kappa, work
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import fixed_94
from fedtheory.sources.fraboni2022.statements.theorem_1_proof import MARGIN_FIXED, fixed_noise, start

ONE = sp.S.One
SPREAD_STEP, SPREAD_BOUND = "fraboni2022:lemma-3.eq-70-71.fixed", "fraboni2022:lemma-3.phi.fixed"
SQUARES, SQUARES_BOUND = "fraboni2022:lemma-3.eq-67-68.fixed", "fraboni2022:lemma-3.S.server-step"
ALIGNMENT, MEAN_BOUND = "fraboni2022:lemma-4.server-step", "fraboni2022:lemma-5.server-step"
PROGRESS, MOVES = "fraboni2022:lemma-2.fixed", "fraboni2022:lemma-6.server-step"
ANY_PROGRESS, ANY_SPREAD, ANY_ALIGNMENT, ANY_UPDATE, ANY_MEAN = (
    f"fraboni2022:thm-1.any-point.{name}" for name in ("progress", "spread", "alignment", "update", "mean")
)
APART, SUMS = "fraboni2022:lemma-3.eq-64-66.fixed", "fraboni2022:lemma-3.eq-69"
_SLACK_OF_D = 1 - 2 * D_xi
"""A number that is not negative, as D <= 1/2."""
MARGIN = MARGIN_FIXED.lhs
"""Remaining factor of twice the gap, which is at least one."""
_NOISE_FACTORS = [fixed_noise.diff(noise) for noise in (Sigma_1, Sigma_2)]
_NOISES = tuple(zip(_NOISE_FACTORS, (MEAN_OPTIMUM_NOISE, MEAN_MIXED_NOISE), strict=True))
BOUND = ((start, ONE_FACT), (2 - MARGIN, RESIDUAL), *_NOISES)
"""The parts of the bound, all non-negative."""
ANY_BOUND = ((substitute_comparator(start), ONE_FACT), (2 - MARGIN, COMPARATOR_RESIDUAL), *_NOISES)
"""The parts of the bound against any point."""


def _bound_excess(factor: Expr, fact: Fact, count: Expr = ONE) -> list[Part]:
    """Return a multiple of the excess of rho^2 (alpha + count beta) over alpha q(n)^2 + count beta q(n)."""
    return [
        Part(factor * alpha * (rho**2 - q_n**2), fact),
        Part(factor * count * beta * rho * (rho - 1), fact),
        Part(factor * count * beta * (rho - q_n), fact),
    ]


def _align(spread: str) -> list[Part]:
    """Return the parts of Lemma 4, given the claim that bounds -2 D by -2 Xi and the spread phi(n)."""
    return [
        Part(ONE, spread),
        Part((L_xi - L) * q_n, SPREAD),
        Part(L_xi * q_n, SPREAD_BOUND),
    ]


def _bound_update(progress: str, alignment: str) -> list[Part]:
    """Return the parts of (87), given the claims on the progress of an update and on its alignment with a point."""
    return [
        Part(1 / tilde_eta, progress),
        Part(ONE, alignment),
        Part(tilde_eta * alpha * q_n**2, MEAN_BOUND),
        Part(tilde_eta * K * beta * q_n, SQUARES_BOUND),
        Part(4 * L_xi * tau * (rho - q_n), PAST_MOVES),
        Part(4 * L_xi * tau * rho * (1 - 3 * rho * (alpha + K * beta) * tilde_eta * L_xi), PAST_MOVES),
        *_bound_excess(12 * L_xi**2 * tau * tilde_eta, PAST_MOVES, K),
        Part(24 * L_xi * tilde_eta * alpha * (rho - q_n), ROUND_GAP),
        Part(12 * L_xi * tilde_eta * K * beta * (rho - 1), ROUND_GAP),
        Part(12 * kappa * work * L_xi * (rho - q_n), OPTIMUM_NOISE),
        Part(3 * tilde_eta * D_xi * alpha * (rho**2 - q_n**2), OPTIMUM_NOISE),
        Part(6 * tilde_eta * K * beta * (rho - q_n), OPTIMUM_NOISE),
        Part(6 * tilde_eta * K * beta * rho * (rho - 1), OPTIMUM_NOISE),
        Part(6 * tilde_eta * alpha * (rho**2 - q_n**2), MIXED_OPTIMUM_NOISE),
    ]


def _solve_for_gap(sums: str, gaps: Fact, bound: Sequence[tuple[Expr, Fact]]) -> list[Part]:
    """Return the parts of the bound on the gap, given the claim (90), in which the gap is on both sides."""
    return [
        Part(1 / MARGIN, sums),
        Part((MARGIN - 2) / MARGIN, gaps),
        *(Part(factor * (MARGIN - 1) / MARGIN, fact) for factor, fact in bound),
    ]


_SHARE = 1 / (tilde_eta * K * N)

CERTIFICATES = [
    Combination(
        claim="fraboni2022:lemma-3.eq-66.fixed", links=[[Part(ONE, Derived(APART, 1)), Part(ONE, Derived(APART, 2))]]
    ),
    Combination(
        claim=SUMS,
        links=[[Part(ONE, STEP_NUMBERS)], [Part(K - 1, EARLIER_SUMS)], [Part((K - 1) ** 2, LAST_STEP)]],
    ),
    Combination(
        claim=SPREAD_STEP,
        links=[
            [
                Part(ONE, OverSteps("fraboni2022:lemma-3.eq-66.fixed")),
                *(Part(2 * eta_l**2 * kappa / K, Derived(SUMS, link)) for link in range(3)),
                Part(2 * work * kappa, OverSteps(SQUARES, 3)),
            ],
            [Part(ONE, SMALL_D_XI)],
            [Part(ONE, "fraboni2022:lemma-3.eq-70-71.stale")],
        ],
    ),
    Combination(
        claim=SPREAD_BOUND,
        links=[
            [
                Part(sp.Integer(2), SPREAD_STEP),
                Part(sp.Integer(4), OverClients("fraboni2022:lemma-3.eq-70-71.stale")),
                Part(_SLACK_OF_D, SPREAD),
            ]
        ],
    ),
    Combination(
        claim=SQUARES_BOUND,
        links=[
            [
                Part(ONE, OverSteps(SQUARES, 3)),
                Part(3 * L_xi**2, SPREAD_BOUND),
                Part(6 * L_xi * _SLACK_OF_D / q_n, ROUND_GAP),
                Part(3 * _SLACK_OF_D, OPTIMUM_NOISE),
            ]
        ],
    ),
    Combination(
        claim=ALIGNMENT,
        links=[_align("fraboni2022:lemma-4.proof")],
    ),
    Combination(
        claim=MEAN_BOUND,
        links=[
            [
                Part(ONE, "fraboni2022:lemma-5.two-parts"),
                Part(sp.Rational(3, 2) * L_xi**2, SPREAD_BOUND),
                Part(6 * L_xi**2 * tau, PAST_MOVES),
                Part(6 * L_xi * (1 - D_xi) / q_n, ROUND_GAP),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:lemma-6.steps.server-step",
        links=[
            [
                Part(ONE, "fraboni2022:lemma-6.steps.move"),
                Part(q_n**2 * alpha * move, MEAN_BOUND),
                Part(q_n * beta * move, SQUARES_BOUND),
                *_bound_excess(12 * L_xi**2 * tau * move, PAST_MOVES),
                Part(24 * L_xi * alpha * move * (rho - q_n), ROUND_GAP),
                Part(12 * L_xi * beta * move * (rho - 1), ROUND_GAP),
                Part(3 * D_xi * alpha * move * (rho**2 - q_n**2), OPTIMUM_NOISE),
                Part(6 * beta * move * (rho - q_n), OPTIMUM_NOISE),
                Part(6 * beta * move * rho * (rho - 1), OPTIMUM_NOISE),
                Part(6 * alpha * move * (rho**2 - q_n**2), MIXED_OPTIMUM_NOISE),
            ]
        ],
    ),
    Combination(
        claim=MOVES,
        links=[
            [
                Part(sp.Integer(2), OverUpdates("fraboni2022:lemma-6.steps.server-step")),
                Part(1 - 24 * rho**2 * (alpha + beta) * move * tau**2 * L_xi**2, MEAN_MOVE),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.86.fixed",
        links=[
            [
                Part(1 / tilde_eta, PROGRESS),
                Part(alpha * tilde_eta * (rho**2 - q_n**2), MEAN_GRADIENT),
                Part(K * beta * tilde_eta * (rho - q_n), SQUARE_GRADIENT),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.87.fixed",
        links=[_bound_update(PROGRESS, ALIGNMENT)],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.88",
        links=[[Part(-ONE, TELESCOPED_UPDATES)], [Part(ONE, FINAL_SURROGATE_DISTANCE)]],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.89.fixed",
        links=[
            [
                Part(ONE, OverUpdates("fraboni2022:thm-1.proof-86-90.87.fixed")),
                Part(_SHARE, TELESCOPED_UPDATES),
                Part(_SHARE, FINAL_SURROGATE_DISTANCE),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.90.fixed",
        links=[[Part(ONE, "fraboni2022:thm-1.proof-86-90.89.fixed"), Part(8 * rho * L_xi * tau**2, MOVES)]],
    ),
    Combination(
        claim="fraboni2022:thm-1.proof-86-90.fixed",
        links=[
            [Part(ONE, "fraboni2022:thm-1.proof-86-90.86.fixed")],
            [Part(ONE, "fraboni2022:thm-1.proof-86-90.90.fixed")],
        ],
    ),
    Combination(claim="fraboni2022:eq-91", links=[[Part(-ONE, GAPS)]]),
    Combination(
        claim="fraboni2022:eq-94.random-weights",
        links=[_solve_for_gap("fraboni2022:thm-1.proof-86-90.90.fixed", GAPS, BOUND)],
    ),
    Combination(claim=ANY_ALIGNMENT, links=[_align(ANY_SPREAD)]),
    Combination(claim=ANY_UPDATE, links=[_bound_update(ANY_PROGRESS, ANY_ALIGNMENT)]),
    Combination(
        claim=ANY_MEAN,
        links=[
            [
                Part(ONE, OverUpdates(ANY_UPDATE)),
                Part(_SHARE, TELESCOPED_FROM_Y),
                Part(_SHARE, FINAL_SURROGATE_COMPARATOR_DISTANCE),
                Part(8 * rho * L_xi * tau**2, MOVES),
            ]
        ],
    ),
    Combination(claim="fraboni2022:thm-1.any-point", links=[_solve_for_gap(ANY_MEAN, COMPARATOR_GAPS, ANY_BOUND)]),
    Combination(
        claim="fraboni2022:cor-1.update",
        links=[[Part(-ONE, FAIR_LOSS), Part(q_n - least_q, LOSS)]],
    ),
    Combination(
        claim="fraboni2022:cor-1.iid",
        links=[[Part(sign, fact)] for sign, fact in ((-ONE, FAIR_SHARES), (-ONE, FAIR_CHI), (-ONE, FAIR_OPTIMUM))],
    ),
    Combination(
        claim="fraboni2022:cor-1.random-weights",
        links=[
            [
                Part(ONE, OverUpdates("fraboni2022:cor-1.update")),
                Part(ONE, "fraboni2022:eq-94.random-weights"),
                Part(-ONE, GAPS),
                Part(-ONE - fixed_94.diff(R_L), FAIR_RESIDUAL),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:eq-105.fixed",
        links=[
            [
                Part(sp.Integer(2), "fraboni2022:lemma-7"),
                Part(sp.Integer(2), "fraboni2022:eq-105.round"),
                Part(8 * L * chi_n, Derived("fraboni2022:eq-105.round", 1)),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:eq-105.gradient",
        links=[[Part(ONE, "fraboni2022:eq-104"), Part(ONE, "fraboni2022:eq-105.fixed")]],
    ),
    Combination(claim="fraboni2022:thm-2.update", links=[[Part(ONE, OverSteps("fraboni2022:eq-105.gradient"))]]),
    Combination(
        claim="fraboni2022:thm-2.update.largest",
        links=[
            [
                Part(ONE, "fraboni2022:thm-2.update"),
                Part(8 * L * (chi_max - chi_n) / q_n, ROUND_GAP),
                Part((8 * L * chi_max + 4 * L) * (q_n - least_q) / (q_n * least_q), ROUND_GAP),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:thm-2.random-weights",
        links=[
            [
                Part(ONE, OverUpdates("fraboni2022:thm-2.update.largest")),
                Part(FACTOR, "fraboni2022:eq-94.random-weights"),
                Part(-FACTOR, GAPS),
            ]
        ],
    ),
]
