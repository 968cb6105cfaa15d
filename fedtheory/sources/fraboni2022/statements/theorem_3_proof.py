"""Section 3.4: the steps of the proof of Theorem 3, and Lemma 7 for the surrogate problem."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.convergence import gradient_n
from fedtheory.sources.fraboni2022.statements.lemma_3 import OF_SAMPLES
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import (
    CONVEX_CLOCKED,
    EPSILON_W,
    RELAXED,
    WINDOWED,
    B_g,
    chi,
    gap_bar,
    mean_gap,
    q_bar,
    surrogate_loss,
)
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import fixed_94
from fedtheory.sources.fraboni2022.statements.theorem_2_proof import gradient_sq

STEPWISE = Notation(RELAXED)
STEPWISE[gradient_sq] = q.objective_gradient_sq
STEPWISE[gradient_n] = q.virtual_gradient_sq
change = STEPWISE.add(q.virtual_loss_change, real=True)
surrogate_n = STEPWISE.add(q.surrogate_suboptimality, real=True)
surrogate_nk = STEPWISE.add(q.surrogate_suboptimality_at_step, real=True)

SMOOTH_SAMPLES: dict[sp.Symbol, q.Quantity] = {
    **RELAXED,
    **OF_SAMPLES,
}
LOSS_BOUND = fixed_94 + EPSILON_W
"""Theorem 3's bound on the loss for given weights and smooth samples."""
GRADIENT_FACTOR = 4 * L * (chi + 1) / q_bar
misfit_bar = ClientSum(qt_i * gap_bar)

claim = Statements("fraboni2022", STEPWISE)

CLAIMS = [
    claim.proved.step(
        "thm-3.step",
        "Change of a client's loss in one local step, with bounded stochastic gradients",
        "(24), at every local step",
    )(
        chain=(change, "<=", tilde_eta * rho * B_g**2),
        also=(Relation(-change, "<=", tilde_eta * rho * B_g**2),),
        assumptions=CONVEX_CLOCKED,
        note=(
            "Forwards and backwards, at every virtual iterate: what (25) needs of any two updates of a window.  "
            "By convexity at both ends."
        ),
    ),
    *claim.refuted.step("thm-3.proof", "Proof of Theorem 3", "(28)-(29)")(
        chain=(surrogate_loss, "<=", Xi_bar + ClientSum(q_i) * WINDOWED),
        also=(Relation(Xi_bar, "==", Z_bar - mean_gap),),
        where=RELAXED,
        assumptions=(a.turns_of_clients,),
        printed=(
            r"\frac1N\sum\frac1K\sum[\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)]\le"
            r"\frac1N\sum_n\frac1K\sum_kq_i(n)[\mathbb E\mathcal L_i(\theta^{n,k})+\tilde\eta K(W-1)B^2]"
            r"-\bar{\mathcal L}(\bar\theta)\le R+\epsilon+\frac1N\sum_n\mathcal L^n(\bar\theta^n)"
            r"-\bar{\mathcal L}(\bar\theta)=\epsilon"
        ),
        note=(
            "Sums over i are missing in print.  The last equality is right: "
            "$R=\\bar{\\mathcal L}(\\bar\\theta)-\\frac1N\\sum_n\\mathcal L^n(\\bar\\theta^n)$.  The first inequality "
            "inherits the gaps of (23) and (25): with two clients that take turns it fails for large weights."
        ),
    ).with_repair(
        title="Proof of Theorem 3, with bounded stochastic gradients",
        rhs=Xi_bar + q_bar * rho * tilde_eta * K * (W - 1) * B_g**2,
        also=(Relation(Xi_bar, "==", Z_bar - R_L),),
        where=STEPWISE,
        assumptions=CONVEX_CLOCKED,
        note="The sum over clients and windows of the corrected (25); (93) bounds $\\bar\\Xi(N)$.",
        verdict="proved",
    ),
    claim.proved.step(
        "thm-3.gradient.step",
        "Lemma 7 for the surrogate problem, inserted",
        "proof of Theorem 3, second part, at every local step",
    )(
        chain=(gradient_sq, "<=", GRADIENT_FACTOR * surrogate_nk + 4 * L * chi * misfit_bar),
        conditions=[q_i > 0],
        assumptions=(*SCHEME, a.convex_and_smooth),
        note=(
            "As (104) and the corrected (105), with the mean weights $q_i$ for $q_i(n)$.  Every client reports, so "
            "that no type is missing; the factors of Lemma 7 are halved."
        ),
    ),
    claim.proved.step(
        "thm-3.gradient.update",
        "Lemma 7 for the surrogate problem, over the local steps of an update",
        "proof of Theorem 3, second part, before the mean over the updates",
    )(
        chain=(gradient_n, "<=", GRADIENT_FACTOR * surrogate_n + 4 * L * chi * misfit_bar),
        conditions=[q_i > 0],
        assumptions=(*SCHEME, a.convex_and_smooth),
    ),
]
