"""Appendix A.1 and A.2: basic inequalities, and the notation of the proofs."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import (
    SCHEME,
    WHERE,
    L,
    R,
    S,
    Xi,
    Z,
    qt_in,
    sigma_1,
    sigma_2,
)

NOTATION = Notation(WHERE)
L_i = NOTATION.add(q.client_objective, r"\mathcal{L}_i")
x = NOTATION.add(q.point)
g = NOTATION.add(q.stochastic_gradient)
theta_ik = NOTATION.add(q.local_iterate, r"\theta_i^{\rho_i(n),k}")
theta_rho = NOTATION.add(q.received_model)
theta_nk = NOTATION.add(q.virtual_iterate)
theta_nk_next = NOTATION.add(q.next_virtual_iterate)
theta_n = NOTATION.add(q.server_model, r"\theta^n")
theta_bar = NOTATION.add(q.surrogate_optimum)
theta_i_star = NOTATION.add(q.client_optimum, r"\theta_i^*")
R_nk = NOTATION.add(q.square_mean_gradient_at_step, nonnegative=True)
round_optimum_gap = NOTATION.add(q.round_optimum_gap, real=True)
Z_nk = NOTATION.add(q.round_gap_at_step, real=True)
noise_sq = NOTATION.add(q.mixed_noise_at_virtual, nonnegative=True)
virtual_sq = NOTATION.add(q.virtual_second_moment, nonnegative=True)
gradient_sq = NOTATION.add(q.stochastic_gradient_sq, nonnegative=True)
spread_ik = NOTATION.add(q.client_distance_sq, nonnegative=True)
S_nk, phi_nk = ClientSum(qt_in * gradient_sq), ClientSum(qt_in * spread_ik)
objective, mean_model = sp.Symbol(r"\mathcal{L}"), sp.Symbol(r"\sum_ip_i\theta_i^{\rho_i(n),k}")

ANY_POINT = Notation()
"""Quantities of Lemma 2 for any point y in place of x."""
Delta_y = ANY_POINT.add(q.comparator_progress, real=True)
D_y = ANY_POINT.add(q.comparator_alignment, real=True)
ANY_POINT_NOTE = (
    "For any point x, which is called y: a run is compared with the minimiser of $\\bar{\\mathcal L}(y)+"
    "\\|\\theta^0-y\\|^2/(\\tilde\\eta KN)$, of which the proof uses nothing."
)
claim = Statements("fraboni2022", NOTATION)

CLAIMS = [
    claim.proved.inequality("eq-43", "Smooth convex functions", "eq. (43)")(
        chain=(norm_sq(Gradient(L_i, x)), "<=", 2 * L * (Value(L_i, x) - Value(L_i, theta_i_star))),
        also=(Relation(norm_sq(Gradient(L_i, x) - Gradient(L_i, theta_bar)), "<=", L**2 * norm_sq(x - theta_bar)),),
        place="points",
        assumptions=(*SCHEME, a.convex_and_smooth),
        printed=(r"\|\nabla f(x)\|^2\le2L[f(x)-f(x^*)],\quad\|\nabla f(x)-\nabla f(y)\|^2\le L^2\|x-y\|^2"),
        note=(
            "Tried for every client's objective, at the start, the optimum and the last mean model, with the optimum "
            "of the surrogate problem as y."
        ),
    ),
    claim.proved.inequality(
        "eq-44-45", "Jensen's inequality for squared norms, and the variance and the second moment", "eqs. (44), (45)"
    )(
        chain=(R_nk, "<=", S_nk),
        also=(Relation(noise_sq, "<=", ClientSum(qt_in**2 * virtual_sq)),),
        assumptions=(*SCHEME, a.unbiased_gradients),
        printed=(
            r"g\left(\sum_kp_kx_k\right)\le\sum_kp_kg(x_k),\quad"
            r"\mathbb E\left[\|X-\mathbb E[X]\|^2\right]\le\mathbb E\left[\|X\|^2\right]"
        ),
        note=(
            "As the proofs use them: g in (44) is the squared norm, the points are the clients' stochastic gradients, "
            "and the weights are their shares.  X in (45) is a stochastic gradient at the virtual iterate.  Another "
            "convex g is in `fraboni2022:eq-44-45.objective`."
        ),
    ),
    claim.proved.inequality(
        "eq-44-45.objective", "Jensen's inequality for the objective", "eq. (44), convex objectives"
    )(
        chain=(Expectation(Value(objective, mean_model)), "<=", Expectation(Average(Value(objective, theta_ik)))),
        where=NOTATION | {objective: q.objective, mean_model: q.average_iterate},
        place="step",
        assumptions=(a.convex_and_smooth, a.same_local_work),
        note=(
            "g in (44) is $\\mathcal L$, the points are the clients' models at a local step, and the weights are "
            "$p_i$.  The proof uses only that the objective is convex."
        ),
    ),
    claim.definition("eq-46-50", "The quantities of the proofs", "eqs. (46)-(50)")(
        chain=(Z, "==", Xi + round_optimum_gap),
        also=(Relation(R, "<=", S), Relation(sigma_2, "<=", sigma_1)),
        assumptions=SCHEME,
        printed=(
            r"D(x,n,k)\coloneqq\mathbb E\langle\sum_iq_i(n)\nabla\mathcal L_i(\theta_i^{\rho_i(n),k}),"
            r"\theta^{n,k}-x\rangle,\quad Q(n)\coloneqq\mathbb E\|\theta^{n+1,0}-\theta^{n,0}\|^2,\quad "
            r"R(n,k)\coloneqq\mathbb E\|\sum_i\tilde q_i(n)g_i(\theta_i^{\rho_i(n),k})\|^2,\quad "
            r"S(n,k)\coloneqq\sum_i\tilde q_i(n)\mathbb E\|g_i(\theta_i^{\rho_i(n),k})\|^2,\quad "
            r"Z(n,k)=\mathcal L^n(\theta^{n,k})-\mathcal L^n(\bar\theta^n),\quad "
            r"\Delta(n,k)\coloneqq\mathbb E\|\theta^{n,k+1}-x\|^2-\mathbb E\|\theta^{n,k}-x\|^2,\quad "
            r"\phi(n,k)\coloneqq\sum_i\tilde q_i(n)\mathbb E\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2,\quad "
            r"\sigma_1(n)\coloneqq\sum_i\tilde q_i(n)\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2,\quad "
            r"\sigma_2(n)\coloneqq\sum_i\tilde q_i^2(n)\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2,\quad "
            r"\Xi(n,k)=\mathcal L^n(\theta^{n,k})-\mathcal L^n(x)"
        ),
        note=(
            "f(n) is the mean over k, and a bar the mean over n; Z and Xi are read in expectation, and x is thetabar.  "
            "Checked by their relations: two gaps of L^n, and Jensen's inequality for R and sigma_2."
        ),
        implemented_by="fedtheory.engine.frames:iterate_moment_frames",
    ),
]
