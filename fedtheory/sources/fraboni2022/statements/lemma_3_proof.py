"""Appendix A.3, the proof of Lemma 3: staleness and local work separately, and a gradient in three parts."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Selected, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import lemma_3
from fedtheory.sources.fraboni2022.statements.inequalities import (
    S_nk,
    Z_nk,
    g,
    gradient_sq,
    phi_nk,
    spread_ik,
    theta_ik,
    theta_n,
    theta_nk,
    theta_nk_next,
    theta_rho,
)
from fedtheory.sources.fraboni2022.statements.lemma_3 import KAPPA, SMALL_D, SMALL_D_XI, D_xi, L_xi, kappa, work
from fedtheory.sources.fraboni2022.statements.notation import *

NOTATION = Notation(lemma_3.NOTATION)
k = NOTATION.add(q.local_step_index, nonnegative=True)
theta_ik_next = NOTATION.add(q.next_local_iterate, r"\theta_i^{\rho_i(n),k+1}")
age_sq = NOTATION.add(q.received_distance_sq, nonnegative=True)
past_spread = NOTATION.add(q.past_gradient_spread, nonnegative=True)
past_applied = NOTATION.add(q.past_applied_spread, nonnegative=True)
from_shares_sq = NOTATION.add(q.distance_from_shares_sq, nonnegative=True)
past_S = NOTATION.add(q.past_mean_square_gradient, nonnegative=True)
sum_k_past = NOTATION.add(q.weighted_past_sum, nonnegative=True)
sum_past = NOTATION.add(q.past_sum_of_sums, nonnegative=True)
sum_to_last = NOTATION.add(q.sum_without_last, nonnegative=True)
stale_change = NOTATION.add(
    q.stale_gradient_change,
    r"\mathbb E\|\nabla\mathcal L_i(\theta_i^{\rho_i(n),k},\xi_i)-\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2",
    nonnegative=True,
)
optimum_change = NOTATION.add(q.change_from_round_optimum, nonnegative=True)
optimum_sq = NOTATION.add(q.second_moment_at_round_optimum, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)

_G = r"g_i(\theta_i^{\rho_i(n),l})"

CLAIMS = [
    *claim.refuted.step(
        "lemma-3.eq-63", "A client and the virtual iterate, step by step", "proof of Lemma 3, eq. (63)"
    )(
        chain=(from_shares_sq, "==", 0),
        assumptions=SCHEME,
        printed=(
            r"\theta_i^{\rho_i(n),k}-\theta^{n,k}=\left[\theta^{\rho_i(n)}-\eta_l\sum_{l=0}^{k-1}"
            rf"{_G}\right]-\left[\theta^n-\eta_l\sum_{{l=0}}^{{k-1}}\sum_i\tilde q_i(n){_G}\right]"
        ),
        note=(
            "Read as what it says of the virtual iterate, in expectation; eta_l times the sum of a client's gradients "
            "is theta^{rho_i(n)} - theta_i^{rho_i(n),k}.  By (7) the virtual iterate moves with eta_g omega_i(n), "
            "which is the share q_i(n)/q(n) where eta_g q(n) = 1 only."
        ),
    ).with_repair(
        title="A client and the virtual iterate, with the server's step",
        lhs=norm_sq((theta_ik_next - theta_nk_next) - (theta_ik - theta_nk) + eta_l * (g - eta_g * Selected(g))),
        also=(Relation(norm_sq(theta_nk - theta_n + eta_g * Selected(theta_rho - theta_ik)), "==", 0),),
        place="path",
        note="Each local step adds -eta_l [g_i - eta_g sum_j omega_j(n) g_j] to theta_i^{rho,k} - theta^{n,k}.",
        verdict="supported",
    ),
    *claim.refuted.step("lemma-3.eq-64-66", "Staleness and local work separately", "proof of Lemma 3, eqs. (64)-(66)")(
        chain=(spread_ik, "<=", 2 * age_sq + 2 * eta_l**2 * k * past_spread),
        also=(
            Relation(phi_nk, "<=", ClientSum(qt_in * (2 * age_sq + 2 * eta_l**2 * k * past_spread))),
            Relation(
                ClientSum(qt_in * (2 * age_sq + 2 * eta_l**2 * k * past_spread)),
                "<=",
                2 * ClientSum(qt_in * age_sq) + 2 * eta_l**2 * k * past_S,
            ),
        ),
        assumptions=SCHEME,
        printed=(
            r"\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2\le2\|\theta^{\rho_i(n)}-\theta^n\|^2+2\eta_l^2k"
            rf"\sum_{{l=0}}^{{k-1}}\|{_G}-\sum_i\tilde q_i(n){_G}\|^2,\quad "
            r"\phi(n,k)\le2\sum_i\tilde q_i(n)\mathbb E\|\theta^{\rho_i(n)}-\theta^n\|^2+2\eta_l^2k\sum_{l=0}^{k-1}"
            rf"\sum_i\tilde q_i(n)\mathbb E\|{_G}\|^2"
        ),
        note=(
            "In expectation.  The last link, a variance below a second moment, holds; the first needs (63), which "
            "fails unless eta_g q(n) = 1."
        ),
    ).with_repair(
        title="Staleness and local work separately, with the server's step",
        rhs=2 * age_sq + 2 * eta_l**2 * k * past_applied,
        also=(
            Relation(phi_nk, "<=", ClientSum(qt_in * (2 * age_sq + 2 * eta_l**2 * k * past_applied))),
            Relation(
                ClientSum(qt_in * (2 * age_sq + 2 * eta_l**2 * k * past_applied)),
                "<=",
                2 * ClientSum(qt_in * age_sq) + 2 * eta_l**2 * k * kappa * past_S,
            ),
        ),
        assumptions=(*SCHEME, a.weight_covariance),
        note=f"{KAPPA}: by Lemma 1 the spread is at most S + (alpha c^2 - 2c) R + eta_g c beta S with c = eta_g q(n).",
        verdict="proved",
    ),
    claim.proved.step(
        "lemma-3.eq-66.fixed",
        "Staleness and local work separately, averaged over clients",
        "proof of Lemma 3, eq. (66), corrected",
    )(
        chain=(phi_nk, "<=", 2 * ClientSum(qt_in * age_sq) + 2 * eta_l**2 * k * kappa * past_S),
        assumptions=(*SCHEME, a.weight_covariance),
        note=f"The ends of the corrected (64) to (66).  {KAPPA}.",
    ),
    *claim.refuted.step(
        "lemma-3.eq-67-68", "A stochastic gradient in three parts", "proof of Lemma 3, eqs. (67), (68)"
    )(
        chain=(gradient_sq, "<=", 3 * stale_change + 3 * optimum_change + 3 * optimum_sq),
        also=(
            Relation(S_nk, "<=", 3 * ClientSum(qt_in * (stale_change + optimum_change + optimum_sq))),
            Relation(ClientSum(qt_in * stale_change), "<=", L**2 * phi_nk),
            Relation(ClientSum(qt_in * optimum_change), "<=", 2 * L * Z_nk / q_n),
            Relation(S_nk, "<=", 3 * L**2 * phi_nk + 6 * L * Z_nk / q_n + 3 * sigma_1),
        ),
        assumptions=ASSUMPTIONS,
        printed=(
            r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})\|^2\le3\mathbb E\|\nabla\mathcal L_i(\theta_i^{\rho_i(n),k},\xi)-"
            r"\nabla\mathcal L_i(\theta^{n,k},\xi)\|^2+3\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)-"
            r"\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2+3\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2,\quad "
            r"S(n,k)\le3L^2\phi(n,k)+6Lq^{-1}(n)Z(n,k)+3\sigma_1(n)"
        ),
        note=(
            "With the two bounds in between.  They need the smoothness of single samples, which Assumption 1 does not "
            "give: a sampled curvature has a larger second moment than the square of its mean."
        ),
    ).with_repair(
        title="A stochastic gradient in three parts, as published but for smooth samples",
        also=(
            Relation(ClientSum(qt_in * stale_change), "<=", L_xi**2 * phi_nk),
            Relation(ClientSum(qt_in * optimum_change), "<=", 2 * L_xi * Z_nk / q_n),
            Relation(S_nk, "<=", 3 * L_xi**2 * phi_nk + 6 * L_xi * Z_nk / q_n + 3 * sigma_1),
        ),
        note="L is the largest curvature of an objective that is sampled; that of the clients with additive noise.",
        verdict="proved",
    ),
    claim.proved.inequality("lemma-3.eq-69", "Sums over earlier steps", "proof of Lemma 3, eq. (69)")(
        chain=(sum_k_past, "<=", (K - 1) * sum_past, "<=", (K - 1) ** 2 * sum_to_last, "<=", (K - 1) ** 2 * K * S),
        assumptions=SCHEME,
        printed=(
            r"\sum_{k=0}^{K-1}k\sum_{l=0}^{k-1}x_l\le(K-1)\sum_{k=1}^{K-1}\sum_{l=0}^{k-1}x_l\le(K-1)^2"
            r"\sum_{k=0}^{K-2}x_k\le(K-1)^2\sum_{k=0}^{K-1}x_k"
        ),
        note="With x_l = S(n,l) >= 0, for which the proof needs it.",
    ),
    *claim.refuted.step(
        "lemma-3.eq-70-71",
        "The spread on both sides, and the distance of a stale model",
        "proof of Lemma 3, eqs. (70), (71)",
    )(
        chain=(phi, "<=", 2 * ClientSum(qt_in * age_sq) + D * phi + 2 * D / L * Z / q_n + 6 * work * sigma_1),
        also=(Relation(1 - D, ">=", sp.Rational(1, 2)), Relation(age_sq, "<=", tau * Q_past)),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D],
        printed=(
            r"\phi(n)\le2\sum_i\tilde q_i(n)\mathbb E\|\theta^{\rho_i(n)}-\theta^n\|^2+D\phi(n)+2D\frac1Lq^{-1}(n)Z(n)"
            r"+6\eta_l^2(K-1)^2\sigma_1(n),\quad1-D\ge\frac12,\quad "
            rf"\mathbb E\|\theta^{{\rho_i(n)}}-\theta^n\|^2\le\tau{Q_past}"
        ),
        note="(71) holds; (70) rests on (66), which fails unless eta_g q(n) = 1.",
    ).with_repair(
        title="The spread on both sides, with the server's step",
        rhs=2 * ClientSum(qt_in * age_sq) + D_xi * phi + 2 * D_xi / L_xi * Z / q_n + 6 * work * kappa * sigma_1,
        also=(Relation(1 - D_xi, ">=", sp.Rational(1, 2)), Relation(age_sq, "<=", tau * Q_past)),
        conditions=[SMALL_D_XI],
        note=f"{KAPPA}.  Solved for phi with 1 - D >= 1/2, every term doubles; the paper omits this for the last one.",
        verdict="proved",
    ),
    claim.proved.step("lemma-3.eq-70-71.stale", "The distance of a stale model", "proof of Lemma 3, eq. (71)")(
        chain=(age_sq, "<=", tau * Q_past),
        assumptions=SCHEME,
        printed=rf"\mathbb E\|\theta^{{\rho_i(n)}}-\theta^n\|^2\le\tau{Q_past}",
    ),
]
