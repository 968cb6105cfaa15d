"""Theorem 1 relative to any point y in place of the optimum of the surrogate problem.

Only the distances and the gaps of the proof involve that optimum, without its optimality: client drift and noise are
measured from the optima of the updates.
"""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import theorem_1_proof
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import SMALL_MOVES_XI
from fedtheory.sources.fraboni2022.statements.lemma_3 import SMALL_D_XI, kappa, substitute_sample_smoothness, work
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import CONDITIONS_94, fixed_94
from fedtheory.sources.fraboni2022.statements.theorem_1_proof import FIXED, fixed_87, fixed_90

NOTATION = Notation(theorem_1_proof.NOTATION)
Delta_y = NOTATION.add(q.comparator_progress, real=True)
Xi_y = NOTATION.add(q.comparator_gap, real=True)
Xi_bar_y = NOTATION.add(q.mean_comparator_gap, real=True)
D_y = NOTATION.add(q.comparator_alignment, real=True)
R_y = NOTATION.add(q.comparator_residual, nonnegative=True)
distance = NOTATION.add(q.surrogate_comparator_distance, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)


def substitute_comparator(expression: Expr) -> Expr:
    """Replace the optimum of the surrogate problem in an expression by y."""
    places = {Xi: Xi_y, Xi_bar: Xi_bar_y, R_L: R_y, theta0_distance: distance}
    moved: Expr = sp.sympify(expression).xreplace(places)
    return moved


_NOISE = tilde_eta**2 * (alpha * q_n**2 * R + K * beta * q_n * S)

CLAIMS = [
    claim.proved.step("thm-1.any-point.progress", "Progress of one update towards any point", "Lemma 2, any y")(
        chain=(Delta_y, "<=", -2 * tilde_eta * D_y + _NOISE), assumptions=ASSUMPTIONS
    ),
    claim.proved.step("thm-1.any-point.spread", "The alignment with any point and the spread", "Lemma 4, any y, 1")(
        chain=(-2 * D_y, "<=", -2 * Xi_y + L * q_n * phi), assumptions=ASSUMPTIONS
    ),
    claim.proved.step(
        "thm-1.any-point.alignment", "The alignment of stale gradients with any point", "Lemma 4, any y, 2"
    )(
        lhs=-2 * D_y,
        rhs=-2 * Xi_y
        + substitute_sample_smoothness(
            4 * L * q_n * tau * Q_past + 4 * D * kappa * Z + 12 * work * kappa * q_n * L * sigma_1
        ),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D_XI],
    ),
    claim.proved.step("thm-1.any-point.update", "One update, against any point", "proof of Theorem 1, eq. (87), any y")(
        chain=(Delta_y / tilde_eta, "<=", substitute_comparator(fixed_87)), assumptions=ASSUMPTIONS, conditions=FIXED
    ),
    claim.proved.step("thm-1.any-point.mean", "All updates, against any point", "proof of Theorem 1, eq. (90), any y")(
        chain=(2 * Xi_bar_y, "<=", substitute_comparator(fixed_90)),
        assumptions=ASSUMPTIONS,
        conditions=[*FIXED, SMALL_MOVES_XI],
    ),
    claim.proved.bound(
        "thm-1.any-point",
        "The bound for random weights and smooth samples, against any point",
        "Theorem 1, eq. (94), from the corrected steps, any y",
    )(
        chain=(Xi_bar_y, "<=", substitute_comparator(fixed_94)),
        assumptions=ASSUMPTIONS,
        conditions=CONDITIONS_94,
        note=(
            "For every point y; a run is compared with the minimiser of $\\bar{\\mathcal L}(y)+\\|\\theta^0-y\\|^2/"
            "(\\tilde\\eta KN)$.  $R_y$, the mean of $\\mathcal L^n(y)-\\mathcal L^n(\\bar\\theta^n)$, stands in the "
            "place of the residual: where the surrogate problem is flat, so that its optimum is far, y is near at "
            "the cost of a small part of how much worse it is."
        ),
    ),
]
