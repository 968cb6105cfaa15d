"""Section 3.2: Theorem 1, and remarks on its terms."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.assumptions import THEOREM, WITHOUT_CHANCE
from fedtheory.sources.fraboni2022.statements.convergence import (
    CONVERGENCE,
    count,
    gap_bar,
    largest_q,
    longest,
    optimum_distance,
    period,
    r_j,
    reports,
    st_jn,
    stale,
)
from fedtheory.sources.fraboni2022.statements.notation import *

BRACKET = tilde_eta + nu * tilde_eta**2 * K**2 * tau**2
EPSILON_F = theta0_distance**2 / (tilde_eta * K * N)


def write_explicit_terms(excess: Expr = beta) -> Expr:
    """Return the right side of (93) after eps_F."""
    steps = 4 * D * R_L + 6 * rho * eta_l**2 * (K - 1) ** 2 * L * Sigma_1
    residual = 12 * rho * (2 * alpha + excess) * BRACKET * L * R_L
    noise_terms = 3 * rho**2 * (alpha * D + 2 * excess) * BRACKET * Sigma_1 + 6 * rho**2 * alpha * BRACKET * Sigma_2
    return steps + residual + noise_terms


def _write_order_terms() -> Expr:
    """Return eps_K + eps_alpha + eps_beta with the constants of (93), and of (96) for the noise."""
    mixed = 4 * L * R_L + 2 * Sigma
    steps = 4 * D * R_L + 6 * rho * eta_l**2 * (K - 1) ** 2 * L * Sigma_1
    with_alpha = alpha * BRACKET * (24 * rho * L * R_L + 6 * rho**2 * largest_q * mixed)
    with_beta = BRACKET * (12 * rho * beta * L * R_L + 3 * rho**2 * (alpha * D + 2 * beta) * mixed)
    return steps + with_alpha + with_beta


_SMALL = r"\eta_l\le\frac1{48KL}\min\left(1,\frac1{3\rho^2\eta_g(\tau+1)}\right)"
_DELAY = (
    r"\text{decreasing }\Delta t^n\text{ decreases }\mathbb P(T_i^n\le\Delta t^n),\text{ resulting in an increased }"
    r"\tau"
)
T_i = sp.Symbol("T_i", positive=True)
s_j, s_jn = sp.Symbol("s_j", real=True), sp.Symbol("s_j(n)", real=True)

claim = Statements("fraboni2022", CONVERGENCE)

CLAIMS = [
    *claim.refuted.bound("thm-1", "Theorem 1", "Theorem 1, (13)")(
        chain=(Z_bar, "<=", R_L + EPSILON_F + _write_order_terms()),
        conditions=[SMALL_STEP],
        assumptions=THEOREM,
        printed=(
            rf"{_SMALL}:\quad{MEANS}[\mathbb E\mathcal L^n(\theta^{{n,k}})-\mathcal L^n(\bar\theta^n)]"
            r"\le R(\{\mathcal L^n\})+\epsilon_F+\epsilon_K+\epsilon_\alpha+\epsilon_\beta"
        ),
        note=(
            "The O(.) of $\\epsilon_K,\\epsilon_\\alpha,\\epsilon_\\beta$ are read with the constants of (93), with "
            "$\\Sigma_1\\le4LR+2\\Sigma$ and $\\Sigma_2\\le\\max q_i(n)\\,\\Sigma_1$ of (96) in the two latter.  They "
            "contain powers of $\\rho=\\max(1,q(n))$ besides numbers and L.  A sampled client makes K steps to the "
            "same side, so that $\\epsilon_\\beta$ lacks a factor K.  In the counterexample one of two clients is "
            "sampled, with full gradients: for $a=\\eta_g[1-(1-\\eta_lL)^K]$ the variance of the server's model "
            "tends to $a/((2-a)L^2)$, about $K\\tilde\\eta/(2L)$, and the bound to a multiple of $\\tilde\\eta$.  "
            "Mini-batches fail besides where Assumption 1 is read as it stands: the noise of a sample that is "
            "rougher than its client's objective is not bounded by L."
        ),
    ).with_repair(
        title="Theorem 1 for given weights and noise that does not depend on the model",
        locator="Theorem 1, corrected",
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        note=(
            "Any clock with one report at a time or full rounds.  For random weights and mini-batches the corrected "
            "steps of Appendix A give (94) with $K\\beta$ for $\\beta$ and the smoothness of single samples for L."
        ),
        verdict="supported",
    ),
    claim.definition("thm-1.terms", "The terms of Theorem 1", "(14)-(16)")(
        chain=(0, "<=", R_L, "<=", ClientSum(q_i * gap_bar)),
        also=(Relation(d_i - alpha * q_in, "<=", beta), Relation(beta_S, "<=", beta), Relation(beta_S, ">=", 0)),
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
        implemented_by="fedtheory.engine.surrogate:Surrogate",
    ),
    *claim.refuted.bound("thm-1.explicit", "Theorem 1 with explicit constants", "(93)")(
        chain=(Xi_bar, "<=", EPSILON_F + write_explicit_terms()),
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
            "It fails as Theorem 1 does, on the same run."
        ),
    ).with_repair(
        title="Theorem 1 with explicit constants, for given weights and noise that does not depend on the model",
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        verdict="supported",
    ),
    claim.supported.bound(
        "thm-1.explicit.reporting", "Theorem 1 with explicit constants and a smaller beta", "(93), sharper"
    )(
        chain=(Xi_bar, "<=", EPSILON_F + write_explicit_terms(beta_S)),
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        note="$\\beta_S$ is the maximum of $d_i(n)-\\alpha q_i(n)$ over the clients that report.",
    ),
    claim.proved.condition("thm-1.claim-R", "The residual vanishes for identical data", "below Theorem 1")(
        chain=(R_L, "==", 0),
        also=(Relation(st_jn, "==", r_j), Relation(optimum_distance, "==", 0)),
        assumptions=(a.one_type, a.somebody_reports),
        printed=(
            r"R=0\text{ when }\mathcal L^n=\tilde{\mathcal L}\text{ at every round; this condition is always "
            r"satisfied when clients have identical data distributions}"
        ),
        note=(
            "Read: all updates have the same problem up to the factor q(n), and therefore the same optimum.  The "
            "encoded form of the same problem is $\\tilde s_j(n)=r_j$.  Without this factor the sentence is false, "
            "because $\\mathcal L^n=q(n)\\mathcal L$ changes with the clients that report.  $\\tilde{\\mathcal L}$ "
            "stands for $\\bar{\\mathcal L}$."
        ),
    ),
    claim.supported.condition(
        "thm-1.claim-R.same",
        "The residual vanishes where the same problem is minimised in every update",
        "below Theorem 1",
    )(
        chain=(R_L, "==", 0),
        where={**CONVERGENCE, s_j: q.mean_type_weight, s_jn: q.type_weight},
        conditions=[sp.Eq(s_jn, s_j)],
        assumptions=SCHEME,
        printed=r"\mathcal L^n=\tilde{\mathcal L}\ \forall n\Rightarrow R(\{\mathcal L^n\})=0",
        note=(
            "For any scheme: $\\mathcal L^n=\\bar{\\mathcal L}$ where each type has the same weight in every update, "
            "whichever of its clients report."
        ),
    ),
    claim.proved.condition(
        "thm-1.claim-R.same.synchronous", "The residual vanishes for synchronous FedAvg", "below Theorem 1"
    )(
        chain=(R_L, "==", 0),
        assumptions=(a.synchronous,),
        note="Every client has the same expected weight $q_i(n)$ in every round.",
    ),
    *claim.refuted.condition("thm-1.claim-epsK", "One local step is centralised SGD", "below Theorem 1")(
        chain=(reports * stale, "==", 0),
        conditions=[K <= 1],
        assumptions=(a.asynchronous,),
        printed=(
            r"K=1:\text{ every client performs its SGD on the same model, which reduces the server aggregation to a "
            r"traditional centralized SGD}"
        ),
        note=(
            "Clients that report in turn have started from different models.  That $\\epsilon_K=0$ is right "
            "(`fraboni2022:thm-1.claim-epsK.zero`)."
        ),
    ).with_repair(
        title="With one local step only delays separate the clients",
        chain=(phi, "<=", tau * Q_past),
        conditions=[K <= 1, N <= 8],
        note=(
            "The clients' mean square distance $\\phi(n)$ from $\\theta^{n,0}$ is at most $\\tau$ times the last "
            "$\\tau$ squared steps of the server: zero, and thus centralised SGD, without delays.  Checked on runs of "
            "up to eight updates."
        ),
        verdict="supported",
    ),
    claim.proved.condition("thm-1.claim-epsK.zero", "With one local step eps_K vanishes", "below Theorem 1")(
        chain=(0, "<=", D, "<=", 0),
        conditions=[K <= 1],
        printed=r"K=1:\ \epsilon_K=0",
        note="Each part of $\\epsilon_K$ has a factor $(K-1)^2$, as $D=6\\eta_l^2(K-1)^2L^2$ has.",
    ),
    claim.supported.condition(
        "thm-1.claim-delay", "Shorter intervals lower the participation and raise the largest delay", "below Theorem 1"
    )(
        chain=(T_i * count, "<=", T),
        also=(Relation(N * T_i, "<=", (tau + 1) * (T + T_i)),),
        where={**CONVERGENCE, T_i: q.update_time},
        assumptions=(*SCHEME, a.given_weights),
        printed=_DELAY,
        note=(
            "For any policy with fixed update times.  The mean interval is T/N.  Client i takes part in at most the "
            "fraction $T/(NT_i)$ of the updates, which falls with the mean interval.  Its reports divide the N "
            "updates into at most $1+T/T_i$ parts of at most $\\tau+1$ updates, so that $\\tau+1\\ge N/(1+T/T_i)$ "
            "grows with N/T.  For given times a client takes part or not, and the fraction of updates stands for the "
            "probability."
        ),
    ),
    claim.proved.condition(
        "thm-1.claim-delay.fedfix", "The participation and the largest delay of FedFix", "below Theorem 1, exact values"
    )(
        chain=(tau, "==", longest - 1),
        also=(Relation(count * period, "==", N),),
        assumptions=(a.fixed_intervals, a.whole_cycles),
        note=(
            "$\\tau=\\lceil\\tau_M/\\Delta t\\rceil-1$, and client i reports in the fraction "
            "$1/\\lceil T_i/\\Delta t\\rceil$ of the updates.  Neither falls or rises strictly with $\\Delta t$."
        ),
    ),
]
