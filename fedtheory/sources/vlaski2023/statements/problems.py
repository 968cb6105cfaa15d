"""Section 5.2: the problems, with their answers as statements."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, Selected, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.vlaski2023.statements.notation import *

eta = sp.Symbol(r"\mu", positive=True)
w_bar = sp.Symbol(r"\bar{w}", real=True)
from_limit = q.distance_to_small_step_limit.symbol
limiting_error = q.limiting_distance_sq.symbol

mean_psi = Expectation(psi)
mean_of_means = Average(mean_psi)
dissimilarity_sq = Average(norm_sq(mean_of_means - mean_psi))
pair = (L - 1) / (K * (K - 1)) / L
"""E[1_k 1_l] / L^2 for two agents."""

CLAIMS = [
    claim.proved.identity("problem-5.1", "The cost of federated averaging without normalisation", "Problem 5.1")(
        chain=(norm_sq(Expectation(Selected(E_k * batch_gradient)) - Average(E_k * grad_k)), "==", 0),
        also=(Relation(norm_sq(Average(E_k * Gradient(J_k, w_bar))), "==", 0),),
        where={**NOTATION, w_bar: q.small_step_optimum},
        place="round",
        assumptions=COMMON_STEP,
        printed=(
            r"\mu_k=\mu:\quad\text{find the cost for which the approximation is unbiased, and the limiting point}"
        ),
        note=(
            "Answer: the approximation (5.19) with mu_k = mu is unbiased for (1/K) sum_k E_k J_k, whose minimiser "
            "w_bar is the limiting point for small steps; the next claim checks the limit."
        ),
    ),
    claim.asymptotic.rate("problem-5.1.limit", "The limiting point without normalisation", "Problem 5.1")(
        rate=Rate(sp.Max(eta, from_limit), eta, eta),
        where={**NOTATION, eta: q.local_step_size, from_limit: q.distance_to_small_step_limit},
        assumptions=COMMON_STEP,
        printed=(r"\lim_{i\to\infty}\mathbb E w_i=\operatorname{argmin}_w\frac1K\sum_{k=1}^KE_kJ_k(w)+O(\mu)"),
        note=(
            "The exact limit of the mean against w_bar.  The distance |w_bar - w^o| is the bias of a common step "
            "size.  The step size stands under the maximum so that rounding errors do not look like a slow rate."
        ),
    ),
    claim.proved.step("problem-5.2", "Proof of Lemma 5.1, step by step", "Problem 5.2")(
        chain=(
            Expectation(norm_sq(Selected(psi) - mean_of_means)),
            "==",
            Expectation(norm_sq(Selected(psi - mean_psi))) + Expectation(norm_sq(Selected(mean_psi) - mean_of_means)),
            "==",
            Average(variance(psi)) / L + Expectation(norm_sq(Selected(mean_psi) - mean_of_means)),
            "==",
            Average(variance(psi)) / L + SAMPLING * dissimilarity_sq,
        ),
        also=(
            Relation(Expectation(takes_part), "==", L / K),
            Relation(Expectation(takes_part * (K * Average(takes_part) - takes_part)), "==", L * (L - 1) / K),
            Relation(
                Expectation(norm_sq(Selected(w_o_k))),
                "==",
                (1 / L - K * pair) * Average(norm_sq(w_o_k)) + K**2 * pair * norm_sq(Average(w_o_k)),
            ),
        ),
        place="round",
        assumptions=SAMPLED,
        printed=r"\text{Prove Lemma 5.1}",
        note=(
            "The sampling is independent of the vectors, so that noise and sampling add up without a cross term.  The "
            "noise needs E 1_k = L/K, the sampling E 1_k 1_l = L(L - 1)/(K(K - 1)), which is checked summed over l "
            "and on the vectors w_k^o, measured from w^o; there sum_k (a_k - a) = 0 leaves "
            "(L/K - L(L - 1)/(K(K - 1)))/L^2 = (K - L)/(L K (K - 1)) of each square."
        ),
    ),
    claim.asymptotic.rate(
        "problem-5.3", "Limiting performance of federated least mean squares", "Problem 5.3, (5.66)-(5.68)"
    )(
        rate=Rate(sp.Max(mu**4, (limiting_error - leading) ** 2), mu**4, mu),
        where={**NOTATION, limiting_error: q.limiting_distance_sq},
        assumptions=CONVEX,
        printed=(
            r"\phi_{k,e}=\phi_{k,e-1}+\frac\mu{E_k}\frac1{B_k}\sum_{b=1}^{B_k}h_{k,i,e,b}"
            r"\left(\gamma_{k,i,e,b}-h_{k,i,e,b}^{\mathsf T}\phi_{k,e-1}\right),\ \psi_{k,i}=\phi_{k,E_k},\ "
            r"w_i=\frac1L\sum_{k\in\mathcal L_i}\psi_{k,i}:\quad\lim_{i\to\infty}\mathbb E\|\widetilde w_{i-1}\|^2=\,?"
        ),
        note=(
            "Answer: mu/2 tr(H^-1 R) + O(mu^2).  For J_k = E|gamma_k - h_k'w|^2 / 2 let H_k = E h_k h_k', r_k = "
            "E gamma_k h_k, H = (1/K) sum_k H_k, w^o = H^-1 (1/K) sum_k r_k, u_k = H_k w^o - r_k and C_k the "
            "covariance of h_k (gamma_k - h_k'w^o).  Then R = (1/(KL)) sum_k C_k / (E_k B_k) + "
            "(K - L)/(KL(K - 1)) sum_k u_k u_k'.  Tried for quadratics and for data, with the gradients of the "
            "squared error: a step size mu there is 2 mu here.  Checked squared, and mu^4 on the left keeps rounding "
            "errors from looking like a slow rate."
        ),
    ),
]
