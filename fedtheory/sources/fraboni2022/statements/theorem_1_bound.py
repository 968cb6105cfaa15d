"""Appendix A.4: from (90) to the bound of Theorem 1, (91) to (96)."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.assumptions import WITHOUT_CHANCE
from fedtheory.sources.fraboni2022.statements.convergence import largest_q
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import SMALL_MOVES_XI
from fedtheory.sources.fraboni2022.statements.lemma_3 import D_xi, L_xi, work
from fedtheory.sources.fraboni2022.statements.lemma_3_proof import optimum_sq
from fedtheory.sources.fraboni2022.statements.notation import (
    ASSUMPTIONS,
    R_L,
    SCHEME,
    SMALL_STEP,
    D,
    L,
    Sigma,
    Sigma_1,
    Sigma_2,
    Xi_bar,
    Z_bar,
    alpha,
    beta,
    rho,
)
from fedtheory.sources.fraboni2022.statements.step_size_conditions import LISTED, bracket, margin
from fedtheory.sources.fraboni2022.statements.theorem_1_proof import (
    BRACKET,
    DISTANCE,
    FIXED,
    MARGIN_FIXED,
    REPAIR,
    claim,
    fixed_noise,
    largest_share,
    mixing,
    noise_90,
    optima_change,
    smallest_sum,
    start,
    surrogate_sq,
)

eq_93 = start + 4 * D * R_L + 12 * rho * (2 * alpha + beta) * bracket * L * R_L + noise_90
eq_94 = (
    start
    + 4 * D * R_L
    + 6 * (rho + 2 * alpha) * work * L * Sigma_1
    + 12 * rho * (2 * alpha + beta) * bracket * L * R_L
    + 6 * rho**2 * beta * bracket * Sigma_1
    + 6 * rho**2 * alpha * bracket * Sigma_2
)
fixed_94 = start + 4 * D_xi * R_L + 12 * rho * mixing * L_xi * R_L + fixed_noise
CONDITIONS_94 = (*FIXED, SMALL_MOVES_XI, MARGIN_FIXED)
"""Conditions of the corrected (94) on the step sizes."""
BRACKET_IN_ORDERS = r"[\tilde\eta+\tilde\eta^2K^2\tau^2]"

CLAIMS = [
    claim.proved.identity("eq-91", "Two gaps and the residual", "proof of Theorem 1, eq. (91)")(
        chain=(Z_bar, "==", Xi_bar + R_L),
        assumptions=ASSUMPTIONS,
        printed=r"\bar Z(N)=\bar\Xi(N)+R(\{\mathcal L^n\})",
        note="With x = thetabar, the optimum of the surrogate problem.",
    ),
    *claim.refuted.condition("eq-92", "A step size that leaves one of two gaps", "proof of Theorem 1, eq. (92)")(
        chain=(margin, ">=", 1),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=rf"\text{{consider }}\eta_l\text{{ such that }}2-4D-12\rho[2\alpha+\beta]{BRACKET}L\ge1",
        note=(
            "Assumed here; Appendix A.5 says that the step sizes of Theorem 1, eq. (98), satisfy it, and that is what "
            "is tried.  $\\beta\\ge d_i$ for a client that does not participate in some update, and it fails where "
            "that weight is large.  In the counterexample the slower client, with the weight 13, has not reported yet: "
            "$\\beta=13$, and $2-12\\beta/144=11/12$.  It fails as well where one of 16 clients is sampled, with the "
            "importances 15/16 and 1/240."
        ),
    ).with_repair(
        title="A step size that leaves one of two gaps, with weights that are not too unequal",
        conditions=[SMALL_STEP, sp.Le(beta, rho)],
        note="With beta <= rho (97) follows from (98), and (92) from (97).",
        verdict="proved",
    ),
    *claim.refuted.step("eq-93", "A bound on the gap", "proof of Theorem 1, eq. (93)")(
        chain=(Xi_bar, "<=", eq_93),
        assumptions=ASSUMPTIONS,
        conditions=LISTED[:4],
        printed=(
            rf"\bar\Xi(N)\le{DISTANCE}+4DR(\{{\mathcal L^n\}})+6\rho\eta_l^2(K-1)^2L\Sigma_1(N)"
            rf"+12\rho[2\alpha+\beta]{BRACKET}LR(\{{\mathcal L^n\}})+3\rho^2[\alpha D+2\beta]{BRACKET}\Sigma_1(N)"
            rf"+6\rho^2\alpha{BRACKET}\Sigma_2(N)"
        ),
        note=(
            "The conditions are those of A.5.  For sampled clients (87) lacks a factor K.  In the counterexample one "
            "of three clients is sampled: two have constant gradients of opposite signs, and the third the curvature."
        ),
    ).with_repair(
        title="A bound on the gap, for given weights and noise that does not depend on the model",
        assumptions=(*ASSUMPTIONS, *WITHOUT_CHANCE),
        verdict="supported",
    ),
    claim.refuted.bound("eq-94", "The bound in orders", "proof of Theorem 1, eq. (94)")(
        chain=(Xi_bar, "<=", eq_94),
        assumptions=ASSUMPTIONS,
        conditions=LISTED,
        printed=(
            rf"\bar\Xi(N)\le{DISTANCE}"
            r"+\mathcal O\left(\eta_l^2(K-1)^2\left[R(\{\mathcal L^n\})+\Sigma_1(N)\right]\right)"
            rf"+\mathcal O\left(\alpha{BRACKET_IN_ORDERS}\left[R(\{{\mathcal L^n\}})+\Sigma_2(N)\right]\right)"
            rf"+\mathcal O\left(\beta{BRACKET_IN_ORDERS}\left[R(\{{\mathcal L^n\}})+\Sigma_1(N)\right]\right)"
        ),
        note=(
            "With the constants of (93): 3 rho^2 eta~ L <= 1 and 48 rho^3 eta~^2 K^2 tau^2 L^2 <= 1 turn its term with "
            "alpha D Sigma_1 into 12 alpha eta_l^2 (K-1)^2 L Sigma_1.  It fails as (93) does, and no hidden constant "
            "helps: for sampled clients the noise in the server's model grows with K^2."
        ),
    ),
    claim.proved.bound(
        "eq-94.random-weights",
        "The bound for random weights, any server step and smooth samples",
        "proof of Theorem 1, eq. (94), from the corrected steps",
    )(
        chain=(Xi_bar, "<=", fixed_94),
        assumptions=ASSUMPTIONS,
        conditions=CONDITIONS_94,
        note=REPAIR,
        corrects="fraboni2022:eq-94",
    ),
    *claim.refuted.inequality("eq-95-96", "Noise at the optima of the updates", "proof of Theorem 1, eqs. (95), (96)")(
        chain=(Sigma_2, "<=", largest_q * Sigma_1, "<=", largest_q * (4 * L * R_L + 2 * Sigma)),
        also=(Relation(optimum_sq, "<=", 2 * optima_change + 2 * surrogate_sq),),
        assumptions=SCHEME,
        printed=(
            r"\|\nabla\mathcal L_i(\theta,\xi)\|^2"
            r"\le2\|\nabla\mathcal L_i(\theta,\xi)-\nabla\mathcal L_i(\bar\theta,\xi)\|^2"
            r"+2\|\nabla\mathcal L_i(\bar\theta,\xi)\|^2,\quad"
            r"\Sigma_2(N)\le\max q_i(n)\Sigma_1(N)\le\max q_i(n)\left[4LR(\mathcal L^n)+2\Sigma\right]"
        ),
        note=(
            "(95) is used at thetabar^n.  Sigma_1 and Sigma_2 have the shares q_i(n)/q(n), while R and Sigma have the "
            "weights themselves: both links fail where q(n) < 1."
        ),
    ).with_repair(
        title="Noise at the optima of the updates, with shares",
        chain=(
            Sigma_2,
            "<=",
            largest_share * Sigma_1,
            "<=",
            largest_share * (4 * L_xi * R_L + 2 * Sigma) / smallest_sum,
        ),
        note="The largest share instead of the largest weight, and the smallest q(n); L is that of single samples.",
        verdict="supported",
    ),
]
