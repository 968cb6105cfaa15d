"""Appendix A.1 and A.2: basic inequalities, and the notation of the proofs."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
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

L_i, x, g = sp.symbols(r"\mathcal{L}_i x g_i")
theta_ik, theta_rho = sp.Symbol(r"\theta_i^{\rho_i(n),k}"), sp.Symbol(r"\theta^{\rho_i(n)}")
theta_nk, theta_nk_next, theta_n = (sp.Symbol(name) for name in (r"\theta^{n,k}", r"\theta^{n,k+1}", r"\theta^n"))
theta_bar, theta_i_star = sp.symbols(r"\bar\theta \theta_i^*")
R_nk, round_optimum_gap = sp.Symbol("R(n,k)", nonnegative=True), q.round_optimum_gap.symbol
Z_nk = sp.Symbol("Z(n,k)", real=True)
noise_sq = sp.Symbol(
    r"\mathbb E\|\sum_i\tilde q_i(n)[\nabla\mathcal L_i(\theta^{n,k},\xi_i)-\nabla\mathcal L_i(\theta^{n,k})]\|^2",
    nonnegative=True,
)
virtual_sq = sp.Symbol(r"\mathbb E\|\nabla\mathcal L_i(\theta^{n,k},\xi_i)\|^2", nonnegative=True)
gradient_sq = sp.Symbol(r"\mathbb E\|g_i(\theta_i^{\rho_i(n),k})\|^2", nonnegative=True)
spread_ik = sp.Symbol(r"\mathbb E\|\theta_i^{\rho_i(n),k}-\theta^{n,k}\|^2", nonnegative=True)
S_nk, phi_nk = ClientSum(qt_in * gradient_sq), ClientSum(qt_in * spread_ik)
Delta_y, Xi_y, D_y = (sp.Symbol(symbol, real=True) for symbol in (r"\Delta_y(n)", r"\Xi_y(n)", "D(y,n)"))

objective, mean_model = sp.Symbol(r"\mathcal{L}"), sp.Symbol(r"\sum_ip_i\theta_i^{\rho_i(n),k}")

where: dict[sp.Symbol, q.Quantity] = {
    **WHERE,
    L_i: q.client_objective,
    x: q.point,
    theta_ik: q.local_iterate,
    theta_nk: q.virtual_iterate,
    theta_nk_next: q.next_virtual_iterate,
    theta_n: q.server_model,
    theta_rho: q.received_model,
    theta_bar: q.surrogate_optimum,
    theta_i_star: q.client_optimum,
    g: q.stochastic_gradient,
    noise_sq: q.mixed_noise_at_virtual,
    virtual_sq: q.virtual_second_moment,
    R_nk: q.square_mean_gradient_at_step,
    gradient_sq: q.stochastic_gradient_sq,
    spread_ik: q.client_distance_sq,
    round_optimum_gap: q.round_optimum_gap,
    Z_nk: q.round_gap_at_step,
}
ANY_POINT: dict[sp.Symbol, q.Quantity] = {
    Delta_y: q.comparator_progress,
    Xi_y: q.comparator_gap,
    D_y: q.comparator_alignment,
}
"""Quantities of Lemmas 2 and 4 for any point y in place of x."""
ANY_POINT_NOTE = (
    "For any point x, which is called y: a run is compared with the minimiser of $\\bar{\\mathcal L}(y)+"
    "\\|\\theta^0-y\\|^2/(\\tilde\\eta KN)$, of which the proof uses nothing."
)
claim = Statements("fraboni2022", where)

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
        where=where | {objective: q.objective, mean_model: q.average_iterate},
        place="step",
        assumptions=(a.convex_and_smooth, a.same_local_work),
        note=(
            "g in (44) is $\\mathcal L$, the points are the clients' models at a local step, and the weights are "
            "$p_i$.  The proof uses that the objective is convex, and nothing else of it."
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
            "Checked for how they hang together: two gaps of L^n, and Jensen's inequality for R and sigma_2."
        ),
        implemented_by="fedtheory.engine.frames:moment_frames",
    ),
]
