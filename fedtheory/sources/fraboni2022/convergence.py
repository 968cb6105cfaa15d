"""Sections 3.1 and 3.2: Assumptions 1 to 5 and Theorem 1, and the notation of Section 3.3."""

from __future__ import annotations

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.assumptions import Assumption
from fedtheory.claim import Relation
from fedtheory.errors import NotApplicable
from fedtheory.expressions import ClientSum, Expectation, Expr, Gradient, Value, inner, norm_sq
from fedtheory.quantities import setting as s
from fedtheory.run import Run
from fedtheory.sources.fraboni2022.assumptions import THEOREM, WITHOUT_CHANCE
from fedtheory.sources.fraboni2022.notation import (
    ASSUMPTIONS,
    R_L,
    SCHEME,
    SMALL_STEP,
    WHERE,
    D,
    K,
    L,
    M,
    N,
    Q_past,
    Sigma,
    Sigma_1,
    Sigma_2,
    W,
    Xi_bar,
    Z_bar,
    alpha,
    beta,
    beta_S,
    claim,
    d_i,
    eta_l,
    nu,
    phi,
    q_i,
    q_in,
    q_n,
    qt_in,
    rho,
    tau,
    theta0_distance,
    tilde_eta,
)


def _one_type(run: Run) -> None:
    if len(set(run.surrogate.types)) > 1:
        raise NotApplicable("the clients have different objectives")


def _fair_types(run: Run) -> None:
    surrogate = run.surrogate
    if not (surrogate.by_type(surrogate.shares) == surrogate.by_type(run.problem.weights)).all():
        raise NotApplicable("some type of clients does not have its share in some update")


one_type = Assumption("one type", r"all clients have the same objective, $\mathcal Z_i=\mathcal Z$", _one_type)
fair_types = Assumption("fair types", r"$\tilde s_j(n)=r_j$ for every type in every update", _fair_types)

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

CONVERGENCE: dict[sp.Symbol, q.Notion] = {
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
    least_q: s.smallest_weight_sum,
    chi_n: q.chi_sq,
    chi_max: s.largest_chi_sq,
    gap_bar: s.client_gap_at_surrogate_optimum,
    gradient_n: q.virtual_gradient_sq,
    gradients: q.mean_virtual_gradient_sq,
    missing_n: q.unrepresented_gap,
    missing: q.mean_unrepresented_gap,
    biased_n: q.misrepresentation,
    biased: s.mean_misrepresentation,
    Z_n: q.round_gap,
    loss: q.mean_virtual_suboptimality,
    loss_n: q.virtual_suboptimality,
    r_j: q.type_importance,
    st_jn: q.type_share,
    misfit: s.misfit,
    absences: s.absences,
    J: s.type_count,
    longest: q.longest_report_interval,
    count: q.report_count,
    period: q.report_interval,
    apart: q.surrogate_optimum_distance,
}

BRACKET = tilde_eta + nu * tilde_eta**2 * K**2 * tau**2
EPSILON_F = theta0_distance**2 / (tilde_eta * K * N)


def explicit_terms(excess: Expr = beta) -> Expr:
    """The right side of (93) behind eps_F."""
    steps = 4 * D * R_L + 6 * rho * eta_l**2 * (K - 1) ** 2 * L * Sigma_1
    residual = 12 * rho * (2 * alpha + excess) * BRACKET * L * R_L
    noise_terms = 3 * rho**2 * (alpha * D + 2 * excess) * BRACKET * Sigma_1 + 6 * rho**2 * alpha * BRACKET * Sigma_2
    return steps + residual + noise_terms


def _ordered_terms() -> Expr:
    """eps_K + eps_alpha + eps_beta with the constants of (93), and with (96) for the noise."""
    mixed = 4 * L * R_L + 2 * Sigma
    steps = 4 * D * R_L + 6 * rho * eta_l**2 * (K - 1) ** 2 * L * Sigma_1
    with_alpha = alpha * BRACKET * (24 * rho * L * R_L + 6 * rho**2 * largest_q * mixed)
    with_beta = BRACKET * (12 * rho * beta * L * R_L + 3 * rho**2 * (alpha * D + 2 * beta) * mixed)
    return steps + with_alpha + with_beta


_LEFT = r"\frac1N\sum_{n=0}^{N-1}\frac1K\sum_{k=0}^{K-1}"
_SMALL = r"\eta_l\le\frac1{48KL}\min\left(1,\frac1{3\rho^2\eta_g(\tau+1)}\right)"
CLAIMS = [
    claim(
        id="fraboni2022:assumption-1",
        kind="assumption",
        title="Smoothness",
        locator="Assumption 1",
        lhs=norm_sq(Gradient(L_i, x) - Gradient(L_i, y)),
        rhs=L**2 * norm_sq(x - y),
        where=CONVERGENCE,
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\forall i\in\{1,\dots,n\},\ \|\nabla\mathcal L_i(x)-\nabla\mathcal L_i(y)\|\le L\|x-y\|",
        note="Squared.  There are M clients, not n.",
        implemented_by="fedtheory.assumptions:smooth",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:assumption-2",
        kind="assumption",
        title="Convexity",
        locator="Assumption 2",
        lhs=Value(L_i, x),
        relation=">=",
        rhs=Value(L_i, y) + inner(Gradient(L_i, y), x - y),
        where=CONVERGENCE,
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\mathcal L_i\text{ is convex}",
        implemented_by="fedtheory.assumptions:convex_and_smooth",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:assumption-3",
        kind="assumption",
        title="Unbiased gradients",
        locator="Assumption 3",
        lhs=Expectation(inner(noise, local - theta_star)),
        relation="==",
        rhs=0,
        also=(Relation(Expectation(inner(noise, received - theta_bar)), "==", 0),),
        where=CONVERGENCE,
        place="step",
        assumptions=ASSUMPTIONS,
        printed=r"\mathbb E_{z_i}[g_i(x)]=\nabla\mathcal L_i(x)",
        note="The noise $\\epsilon_i=g_i-\\nabla\\mathcal L_i$ is uncorrelated with what a client knows.",
        implemented_by="fedtheory.assumptions:unbiased_gradients",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:assumption-4",
        kind="assumption",
        title="Finite answering time",
        locator="Assumption 4",
        chain=(stale, "<=", tau, "<=", N - 1),
        where=CONVERGENCE,
        assumptions=ASSUMPTIONS,
        printed=r"\tau\coloneqq\max_{i,n}(n-\rho_i(n)),\quad\mathbb P(\tau<\infty)=1",
        note="In N updates it is at most N - 1.",
        implemented_by="fedtheory.assumptions:finite_answering_time",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:assumption-5",
        kind="assumption",
        title="Covariance of the weights",
        locator="Assumption 5",
        lhs=alpha,
        relation="<",
        rhs=1,
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
        implemented_by="fedtheory.assumptions:weight_covariance",
        verdict="refuted",
    ),
    claim(
        id="fraboni2022:assumption-5.fixed",
        kind="assumption",
        title="Covariance of the weights, with the closed interval",
        locator="Assumption 5, repaired",
        chain=(0, "<=", alpha, "<=", 1),
        where=CONVERGENCE,
        assumptions=SCHEME,
        note="All that is used of alpha, in Appendix A, is that it is at most one.",
        corrects="fraboni2022:assumption-5",
        implemented_by="fedtheory.assumptions:weight_covariance",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:thm-1",
        kind="bound",
        title="Theorem 1",
        locator="Theorem 1, (13)",
        lhs=Z_bar,
        rhs=R_L + EPSILON_F + _ordered_terms(),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=THEOREM,
        printed=(
            rf"{_SMALL}:\quad{_LEFT}[\mathbb E\mathcal L^n(\theta^{{n,k}})-\mathcal L^n(\bar\theta^n)]"
            r"\le R(\{\mathcal L^n\})+\epsilon_F+\epsilon_K+\epsilon_\alpha+\epsilon_\beta"
        ),
        note=(
            "The O(.) of $\\epsilon_K,\\epsilon_\\alpha,\\epsilon_\\beta$ are read with the constants of (93), with "
            "$\\Sigma_1\\le4LR+2\\Sigma$ and $\\Sigma_2\\le\\max q_i(n)\\,\\Sigma_1$ of (96) in the two latter.  They "
            "contain powers of $\\rho=\\max(1,q(n))$ besides numbers and L.  Two things fail.  Mini-batches: the noise "
            "of a sample that is rougher than its client's objective is not bounded by L; one of many samples has all "
            "the curvature here, and its weight in the mean can be as small as one likes.  Sampled clients: whoever is "
            "selected makes K steps to the same side, so that $\\epsilon_\\beta$ lacks a factor K; the bound for "
            "unbiased sampling (107) shows it alone."
        ),
        verdict="refuted",
    ),
    claim(
        id="fraboni2022:thm-1.fixed",
        kind="bound",
        title="Theorem 1 for given weights and noise that does not depend on the model",
        locator="Theorem 1, repaired",
        lhs=Z_bar,
        rhs=R_L + EPSILON_F + _ordered_terms(),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        note=(
            "Any clock with one report at a time or full rounds.  For random weights and mini-batches the repaired "
            "steps of Appendix A give (94) with $K\\beta$ for $\\beta$ and the smoothness of single samples for L."
        ),
        corrects="fraboni2022:thm-1",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.terms",
        kind="definition",
        title="The terms of Theorem 1",
        locator="(14)-(16)",
        chain=(0, "<=", R_L, "<=", ClientSum(q_i * gap_bar)),
        also=(Relation(d_i - alpha * q_in, "<=", beta), Relation(beta_S, "<=", beta), Relation(beta_S, ">=", 0)),
        where=CONVERGENCE,
        assumptions=ASSUMPTIONS,
        printed=(
            r"R(\{\mathcal L^n\})=\frac1N\sum_n[\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)],\quad "
            r"\epsilon_F=\frac1{\tilde\eta KN}\|\theta^0-\bar\theta\|^2,\quad "
            r"\epsilon_K=\mathcal O(\eta_l^2(K-1)^2[R+\Sigma_1]),\quad "
            r"\epsilon_\alpha=\mathcal O(\alpha[\tilde\eta+\tilde\eta^2K^2\tau^2][R+\max q_i(n)\Sigma]),\quad "
            r"\epsilon_\beta=\mathcal O(\beta[\tilde\eta+\tilde\eta^2K^2\tau^2][R+\Sigma]),\quad "
            r"\beta\coloneqq\max\{d_i(n)-\alpha q_i(n)\}"
        ),
        note=(
            "R is never negative and at most what the clients miss at $\\bar\\theta$; beta is over all clients, also "
            "those that do not report: $\\beta_S$, over those that do, is smaller.  $\\Sigma_1$ is defined in the "
            "appendix only."
        ),
        implemented_by="fedtheory.surrogate:Surrogate",
        verdict="definition",
    ),
    claim(
        id="fraboni2022:thm-1.explicit",
        kind="bound",
        title="Theorem 1 with explicit constants",
        locator="(93)",
        lhs=Xi_bar,
        rhs=EPSILON_F + explicit_terms(),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=THEOREM,
        printed=(
            r"\bar\Xi(N)\le\frac1{\tilde\eta KN}\mathbb E\|\theta^0-x\|^2+4DR+6\rho\eta_l^2(K-1)^2L\Sigma_1(N)"
            r"+12\rho[2\alpha+\beta][\tilde\eta+\nu\tilde\eta^2K^2\tau^2]LR"
            r"+3\rho^2[\alpha D+2\beta][\tilde\eta+\nu\tilde\eta^2K^2\tau^2]\Sigma_1(N)"
            r"+6\rho^2\alpha[\tilde\eta+\nu\tilde\eta^2K^2\tau^2]\Sigma_2(N)"
        ),
        note=(
            "With $x=\\bar\\theta$, $D=6\\eta_l^2(K-1)^2L^2$ and $\\nu=16\\rho L$, at the step sizes of the theorem.  "
            "It fails as Theorem 1 does."
        ),
        verdict="refuted",
    ),
    claim(
        id="fraboni2022:thm-1.explicit.fixed",
        kind="bound",
        title="Theorem 1 with explicit constants, for given weights and noise that does not depend on the model",
        locator="(93), repaired",
        lhs=Xi_bar,
        rhs=EPSILON_F + explicit_terms(),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        corrects="fraboni2022:thm-1.explicit",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.explicit.reporting",
        kind="bound",
        title="Theorem 1 with explicit constants and a smaller beta",
        locator="(93), sharper",
        lhs=Xi_bar,
        rhs=EPSILON_F + explicit_terms(beta_S),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        note="$\\beta_S$ is the maximum of $d_i(n)-\\alpha q_i(n)$ over the clients that report.",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.claim-R",
        kind="condition",
        title="When the residual of the objectives vanishes",
        locator="below Theorem 1",
        lhs=R_L,
        relation="==",
        rhs=0,
        also=(Relation(q_n, "==", ClientSum(q_i)),),
        where=CONVERGENCE,
        assumptions=(one_type, a.somebody_reports),
        printed=(
            r"R=0\text{ when }\mathcal L^n=\tilde{\mathcal L}\text{ at every round; this condition is always "
            r"satisfied when clients have identical data distributions}"
        ),
        note=(
            "R is zero for identical data, but the condition is not satisfied: $\\mathcal L^n=q(n)\\mathcal L$ changes "
            "with $q(n)$.  $\\tilde{\\mathcal L}$ is read as $\\bar{\\mathcal L}$."
        ),
        verdict="refuted",
    ),
    claim(
        id="fraboni2022:thm-1.claim-R.fixed",
        kind="condition",
        title="The residual vanishes for clients of one type",
        locator="below Theorem 1, repaired",
        lhs=R_L,
        relation="==",
        rhs=0,
        also=(Relation(apart, "==", 0), Relation(ClientSum(qt_in), "==", 1)),
        where=CONVERGENCE,
        assumptions=(one_type, a.somebody_reports),
        note="All $\\mathcal L^n$ share one minimiser, which is all that R needs; they need not be the same.",
        corrects="fraboni2022:thm-1.claim-R",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.claim-R.same",
        kind="condition",
        title="The residual vanishes where the same problem is minimised in every update",
        locator="below Theorem 1",
        lhs=R_L,
        relation="==",
        rhs=0,
        where=CONVERGENCE,
        conditions=[W <= 1],
        assumptions=(a.synchronous,),
        printed=r"\mathcal L^n=\tilde{\mathcal L}\ \forall n\Rightarrow R(\{\mathcal L^n\})=0",
        note="With rounds that wait for all participants, where $q_i(n)$ is the same in every round.",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.claim-epsK",
        kind="condition",
        title="One local step is centralised SGD",
        locator="below Theorem 1",
        lhs=reports * stale,
        relation="==",
        rhs=0,
        also=(Relation(D, "==", 0),),
        where=CONVERGENCE,
        conditions=[K <= 1],
        assumptions=(a.asynchronous,),
        printed=(
            r"K=1:\text{ every client performs its SGD on the same model, which reduces the server aggregation to a "
            r"traditional centralized SGD},\ \epsilon_K=0"
        ),
        note="$\\epsilon_K=0$ is right, but clients that report in turn have started from different models.",
        verdict="refuted",
    ),
    claim(
        id="fraboni2022:thm-1.claim-epsK.fixed",
        kind="condition",
        title="With one local step only delays set the clients apart",
        locator="below Theorem 1, repaired",
        lhs=phi,
        rhs=tau * Q_past,
        also=(Relation(D, "==", 0),),
        where=CONVERGENCE,
        conditions=[K <= 1, N <= 8],
        assumptions=(a.asynchronous,),
        note=(
            "The clients' mean square distance $\\phi(n)$ from $\\theta^{n,0}$ is at most $\\tau$ times the last "
            "$\\tau$ squared steps of the server: zero, and thus centralised SGD, without delays.  Checked on runs of "
            "up to eight updates."
        ),
        corrects="fraboni2022:thm-1.claim-epsK",
        verdict="supported",
    ),
    claim(
        id="fraboni2022:thm-1.claim-delay",
        kind="condition",
        title="Shorter intervals, larger delays",
        locator="below Theorem 1",
        lhs=tau,
        relation="==",
        rhs=longest - 1,
        also=(Relation(count * period, "==", N),),
        where=CONVERGENCE,
        assumptions=(a.fixed_intervals, a.whole_cycles),
        printed=(
            r"\text{decreasing }\Delta t^n\text{ decreases }\mathbb P(T_i^n\le\Delta t^n),\text{ resulting in an "
            r"increased }\tau;\quad\epsilon_\alpha,\epsilon_\beta\text{ are quadratic in }K\tau"
        ),
        note=(
            "For FedFix: $\\tau=\\lceil\\tau_M/\\Delta t\\rceil-1$, and client i reports in the fraction "
            "$1/\\lceil T_i/\\Delta t\\rceil$ of the updates.  Neither falls or rises strictly with $\\Delta t$."
        ),
        verdict="supported",
    ),
]
