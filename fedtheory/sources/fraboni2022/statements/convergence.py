"""Section 3.1: Assumptions 1 to 5, and the notation of the convergence theorems."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.notation import *

L_i, x, y = sp.symbols(r"\mathcal{L}_i x y")
virtual, local, noise = map(sp.Symbol, (r"\theta^{n,k}", r"\theta_i^{\rho_i(n),k}", r"\epsilon_i"))
received, theta_star, theta_bar = map(sp.Symbol, (r"\theta^{\rho_i(n)}", r"\theta^*", r"\bar\theta"))
stale = sp.Symbol(r"(n-\rho_i(n))", real=True)
reports = sp.Symbol(r"\mathbb I(T_i^n\le\Delta t^n)", real=True)
largest_q, least_q = sp.Symbol(r"\max q_i(n)", positive=True), sp.Symbol(r"\min_nq(n)", positive=True)
chi_n, chi_max = sp.Symbol(r"\chi_n^2", nonnegative=True), sp.Symbol(r"\max_n\chi_n^2", nonnegative=True)
gap_bar = sp.Symbol(r"(\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*))", real=True)
gradient_n, gradients = (
    sp.Symbol(name, nonnegative=True)
    for name in (
        r"\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
        r"\frac1N\sum_n\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2",
    )
)
missing_n, missing = (
    sp.Symbol(name, nonnegative=True)
    for name in (
        r"\frac1K\sum_k\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]",
        r"\frac1N\sum_n\frac1K\sum_k\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]",
    )
)
biased_n = sp.Symbol(r"\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]", nonnegative=True)
biased = sp.Symbol(
    r"\frac1N\sum_n\chi_n^2\sum_{j\in W_n}\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]", nonnegative=True
)
Z_n = sp.Symbol("Z(n)", real=True)
loss = sp.Symbol(
    r"\frac1N\sum_n\frac1K\sum_k[\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)]", nonnegative=True
)
loss_n = sp.Symbol(r"\frac1K\sum_k\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)", nonnegative=True)
r_j, st_jn = sp.Symbol("r_j", real=True), sp.Symbol(r"\tilde s_j(n)", real=True)
misfit, absences, J = sp.Symbol(r"\max_{n,j}|s_j(n)-r_j|"), sp.Symbol(r"\#\{(n,j):s_j(n)=0\}"), sp.Symbol("J")
longest = sp.Symbol(r"\lceil\tau_M/\Delta t\rceil", positive=True)
count, period = sp.Symbol(r"\sum_n\mathbb I_i(n)", nonnegative=True), sp.Symbol("N_i'", positive=True)
apart = sp.Symbol(r"\|\bar\theta-\theta^*\|", nonnegative=True)

CONVERGENCE: dict[sp.Symbol, q.Quantity] = {
    **WHERE,
    L_i: q.client_objective,
    x: q.point,
    y: q.second_point,
    virtual: q.virtual_iterate,
    local: q.local_iterate,
    noise: q.gradient_noise,
    received: q.received_model,
    theta_star: q.optimum,
    theta_bar: q.surrogate_optimum,
    stale: q.staleness,
    reports: q.reports,
    largest_q: q.largest_expected_weight,
    least_q: q.smallest_weight_sum,
    chi_n: q.chi_sq,
    chi_max: q.largest_chi_sq,
    gap_bar: q.client_gap_at_surrogate_optimum,
    gradient_n: q.virtual_gradient_sq,
    gradients: q.mean_virtual_gradient_sq,
    missing_n: q.unrepresented_gap,
    missing: q.mean_unrepresented_gap,
    biased_n: q.misrepresentation,
    biased: q.mean_misrepresentation,
    Z_n: q.round_gap,
    loss: q.mean_virtual_suboptimality,
    loss_n: q.virtual_suboptimality,
    r_j: q.type_importance,
    st_jn: q.type_share,
    misfit: q.misfit,
    absences: q.absences,
    J: q.type_count,
    longest: q.longest_report_interval,
    count: q.report_count,
    period: q.report_interval,
    apart: q.surrogate_optimum_distance,
}

CLAIMS = [
    claim.assumption("assumption-1", "Smoothness", "Assumption 1")(
        chain=(norm_sq(Gradient(L_i, x) - Gradient(L_i, y)), "<=", L**2 * norm_sq(x - y)),
        where=CONVERGENCE,
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\forall i\in\{1,\dots,n\},\ \|\nabla\mathcal L_i(x)-\nabla\mathcal L_i(y)\|\le L\|x-y\|",
        note="Squared.  There are M clients, not n.",
        implemented_by="fedtheory.language.assumptions:smooth",
    ),
    claim.assumption("assumption-2", "Convexity", "Assumption 2")(
        chain=(Value(L_i, x), ">=", Value(L_i, y) + inner(Gradient(L_i, y), x - y)),
        where=CONVERGENCE,
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\mathcal L_i\text{ is convex}",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim.assumption("assumption-3", "Unbiased gradients", "Assumption 3")(
        chain=(Expectation(inner(noise, local - theta_star)), "==", 0),
        also=(Relation(Expectation(inner(noise, received - theta_bar)), "==", 0),),
        where=CONVERGENCE,
        place="step",
        assumptions=ASSUMPTIONS,
        printed=r"\mathbb E_{z_i}[g_i(x)]=\nabla\mathcal L_i(x)",
        note="The noise $\\epsilon_i=g_i-\\nabla\\mathcal L_i$ is uncorrelated with what a client knows.",
        implemented_by="fedtheory.language.assumptions:unbiased_gradients",
    ),
    claim.assumption("assumption-4", "Finite answering time", "Assumption 4")(
        chain=(stale, "<=", tau, "<=", N - 1),
        where=CONVERGENCE,
        assumptions=ASSUMPTIONS,
        printed=r"\tau\coloneqq\max_{i,n}(n-\rho_i(n)),\quad\mathbb P(\tau<\infty)=1",
        note="In N updates it is at most N - 1.",
        implemented_by="fedtheory.language.assumptions:finite_answering_time",
    ),
    *claim.refuted.assumption("assumption-5", "Covariance of the weights", "Assumption 5")(
        chain=(alpha, "<", 1),
        where=CONVERGENCE,
        conditions=[M >= 2],
        assumptions=SCHEME,
        printed=(
            r"\exists\alpha\in(0,1):\ \mathbb E[\omega_i(n)\omega_j(n)]=\alpha q_i(n)q_j(n),\quad "
            r"\text{satisfied by all the standard FL schemes considered}"
        ),
        note=(
            "Read for $i\\ne j$.  Where two clients report together with certainty, as in synchronous FedAvg, "
            "$\\alpha=1$ is forced; where one client is sampled at a time, $\\alpha=0$ is.  The interval is open."
        ),
        implemented_by="fedtheory.language.assumptions:weight_covariance",
    ).with_repair(
        title="Covariance of the weights, with the closed interval",
        chain=(0, "<=", alpha, "<=", 1),
        note="All that is used of alpha, in Appendix A, is that it is at most one.",
        implemented_by="fedtheory.language.assumptions:weight_covariance",
        conditions=(),
        verdict="definition",
    ),
]
