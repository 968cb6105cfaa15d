"""Certificates of Theorem 3: from a local step to windows of updates, and its two bounds."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, assumption, cocoercivity, convexity, one, square, steps, weighted
from fedtheory.kernel.expressions import Average, Expr, Gradient, LocalSum
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.context.averages import OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.surrogate import BOUNDED_AFTER, BOUNDED_BEFORE, BOUNDED_SAMPLES
from fedtheory.sources.fraboni2022.context.update_facts import GAPS, MEAN_WEIGHTS
from fedtheory.sources.fraboni2022.context.updates import (
    at_local,
    client_objective,
    client_optimum,
    pull,
    surrogate_optimum,
    virtual,
    write_next_virtual,
)
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows
from fedtheory.sources.fraboni2022.statements.notation import WHERE, K, L, W, q_n, rho, tilde_eta
from fedtheory.sources.fraboni2022.statements.relaxed import B_g, chi
from fedtheory.sources.fraboni2022.statements.theorem_3_proof import GRADIENT_FACTOR

ONE = sp.S.One
_AFTER = write_next_virtual(SymbolTable(WHERE))
_SLOPE, _SLOPE_AFTER = Gradient(client_objective, virtual), Gradient(client_objective, _AFTER)
_SLOPE_FROM_OPTIMUM = _SLOPE - Gradient(client_objective, surrogate_optimum)
_MOVE_FACTOR, _LOCAL_MOVES = (tilde_eta * q_n) ** 2, LocalSum(at_local)
_GRADIENT_VARIANCE = square(at_local - Average(at_local))


def _bound_change(towards: Expr, away: Expr, slope: Expr, bounded: str) -> list[Term]:
    """Return eta~ rho B_g^2 - L_i(towards) + L_i(away); `slope` combines the gradient there with the server's step."""
    half = tilde_eta * q_n / 2
    return [
        Term(ONE, convexity(client_objective, away, towards)),
        Term(half, square(slope)),
        Term(half, assumption(bounded)),
        Term(half, _GRADIENT_VARIANCE, averaged=True),
        Term(half, assumption(BOUNDED_SAMPLES), averaged=True),
        Term(tilde_eta * (rho - q_n) * B_g**2, one()),
    ]


CERTIFICATES = [
    Certificate(
        claim="fraboni2022:eq-23",
        links=[
            [Term(_MOVE_FACTOR, square(_LOCAL_MOVES - Average(_LOCAL_MOVES)), averaged=True)],
            [
                Term(_MOVE_FACTOR, steps(at_local), averaged=True),
                Term(_MOVE_FACTOR * K, assumption(BOUNDED_SAMPLES), averaged=True, summed=True),
            ],
        ],
    ),
    Certificate(
        claim="fraboni2022:thm-3.step",
        links=[
            _bound_change(_AFTER, virtual, _SLOPE_AFTER + Average(at_local), BOUNDED_AFTER),
            _bound_change(virtual, _AFTER, _SLOPE - Average(at_local), BOUNDED_BEFORE),
        ],
    ),
    Combination(claim="fraboni2022:eq-25.fixed", links=[[Part(ONE, OverWindow("fraboni2022:thm-3.step"))]]),
    Combination(
        claim="fraboni2022:thm-3.proof.fixed",
        links=[[Part(ONE, OverWindows("fraboni2022:eq-25.fixed"))], [Part(ONE, GAPS)]],
    ),
    Combination(
        claim="fraboni2022:thm-3.loss.given-weights",
        links=[
            [
                Part(ONE, "fraboni2022:thm-3.proof.fixed"),
                Part(ONE, "fraboni2022:eq-94.random-weights"),
                Part(rho * tilde_eta * K * (W - 1) * B_g**2, MEAN_WEIGHTS),
            ]
        ],
    ),
    Certificate(
        claim="fraboni2022:thm-3.gradient.step",
        links=[
            [
                Term(ONE, square(Average((1 - pull) * _SLOPE))),
                Term(sp.Integer(2), weighted(ONE, pull, _SLOPE)),
                Term(4 * L * chi, cocoercivity(client_objective, virtual, client_optimum), averaged=True),
                Term(4 * L, cocoercivity(client_objective, virtual, surrogate_optimum), averaged=True),
                Term(sp.Integer(2), square(_SLOPE_FROM_OPTIMUM - Average(_SLOPE)), averaged=True),
            ]
        ],
    ),
    Combination(
        claim="fraboni2022:thm-3.gradient.update",
        links=[[Part(ONE, OverSteps("fraboni2022:thm-3.gradient.step"))]],
    ),
    Combination(
        claim="fraboni2022:thm-3.gradient.given-weights",
        links=[
            [
                Part(ONE, OverUpdates("fraboni2022:thm-3.gradient.update")),
                Part(GRADIENT_FACTOR, "fraboni2022:thm-3.loss.given-weights"),
            ]
        ],
    ),
]
