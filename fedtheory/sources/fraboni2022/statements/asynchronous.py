"""Sections 4.2 and 4.3: synchronous and asynchronous FedAvg."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate, Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.hardware import (
    ANY_TIES,
    ASYNC,
    COUNTED,
    CYCLES,
    HARDWARE,
    ONE_AT_A_TIME,
    TIME_BASED,
    count_i,
    d_max,
    gap_i,
    mean_gap,
    nu_period,
    numbers_claim,
    optimum_distance,
    rate,
    substitute_learning_rates,
    tau_0,
    tau_i,
    tau_M,
    write_theorem_3,
)
from fedtheory.sources.fraboni2022.statements.notation import *

NOTATION = Notation(HARDWARE)
others = NOTATION.add(q.most_other_reports, nonnegative=True)
period_reports = NOTATION.add(q.reports_in_a_period, r"\sum_i\frac\nu{\tau_i}", positive=True)
round_gap = NOTATION.add(
    q.round_optimum_gap, r"(\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n))", nonnegative=True
)
error = NOTATION.add(
    q.mean_server_suboptimality, r"(\frac1N\sum_n\mathbb E\mathcal L(\theta^n)-\mathcal L(\theta^*))", real=True
)
virtual_error = NOTATION.add(
    q.mean_virtual_suboptimality,
    r"(\frac1N\sum_n\frac1K\sum_k[\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)])",
    real=True,
)

claim = Statements("fraboni2022", NOTATION)

root = sp.sqrt(K * N)
ratio = tau_M / tau_0
_TRIED_NUMBERS = {tau: (1, 64), N: (65536,)}
literature_claim = Statements(
    "fraboni2022", NOTATION.without((tau, N, M, K)), for_all=_TRIED_NUMBERS, assumptions=SCHEME
)

_r, _s = sp.symbols("r s", nonnegative=True)
_ROOTS = {_r: (0, 1, 7), _s: (0, 3, sp.Rational(63, 2))}
rate_claim = Statements("fraboni2022", NOTATION.without((tau, N, K)), for_all=_ROOTS, assumptions=SCHEME)

sync_substituted = substitute_learning_rates(
    write_theorem_3(alpha=1, beta=0, tau=0, window=1, residual=0, largest=1 / M)
)
async_substituted = substitute_learning_rates(
    write_theorem_3(alpha=0, beta=ratio, tau=M * ratio, window=W, residual=R_L, largest=1)
)
"""Theorem 3 with the constants of Table 2."""
sync_epsilon = theta0_distance**2 / root + (K - 1) / N * Sigma_star + Sigma_star / (M * root)
"""(33) with all constants one."""
async_start = theta0_distance**2 / root + (K - 1) / N * Sigma_star
async_stale = (ratio / root + ratio**3 * K / N * M**2) * (R_L + Sigma_star)
async_epsilon = async_start + async_stale + (W - 1) / root
"""(38) with all constants one."""
async_epsilon_fixed = async_start + (K - 1) / N * R_L + async_stale + sp.sqrt(K) / sp.sqrt(N) * (W - 1)

identical_data_bound = write_theorem_3(alpha=0, beta=1, tau=tau, window=1, residual=0, largest=1).subs(K, 1)
"""Theorem 3 with one local step and identical data, beta = 1."""
slow_step_bound = identical_data_bound.subs({eta_g: 1, eta_l: 1 / (tau * sp.sqrt(N))})
root_of_staleness, root_of_growth = 1 + _r, 1 + _s
"""Square roots of the staleness and of the updates per unit of staleness: all numbers with 1 <= tau <= N."""
delayed_bound = write_theorem_3(
    alpha=1, beta=ratio, tau=root_of_staleness**2, window=1 + root_of_staleness**2, residual=R_L, largest=1
).subs(
    {K: 1, eta_g: 1, eta_l: 1 / (root_of_staleness**2 * root_of_growth), N: root_of_staleness**2 * root_of_growth**2}
)
"""Theorem 3 with one local step, eta_l = 1/sqrt(tau N) and W = tau + 1."""
iid_async = async_epsilon.subs({K: 1, R_L: 0, W: 1})
VIRTUAL_RATE = Rate(measured=virtual_error, order=1 / sp.sqrt(N), variable=N, step_size=1 / root)
"""The left side of Theorem 3 at the learning rates of Section 4."""
_ALL = theta0_distance**2 + R_L + Sigma_star + 1
_IID = theta0_distance**2 + (ratio + ratio**3) * Sigma_star

_EPSILON_START = r"\frac1{\sqrt{KN}}\|\theta^0-\theta^*\|^2+\mathcal O\left(\frac{K-1}N\Sigma\right)"

CLAIMS = [
    numbers_claim.proved.inequality("eq-33", "Closed form of the bound for synchronous FedAvg", "(33)")(
        chain=(sync_substituted, "<=", sync_epsilon),
        assumptions=(a.synchronous,),
        printed=(rf"\epsilon_{{FedAvg}}={_EPSILON_START}+\mathcal O\left(\frac1{{\sqrt{{KN}}}}\frac1M\Sigma\right)"),
        note=(
            "Compared: Theorem 3 with the first column of Table 2, at $\\eta_l=1/\\sqrt{KN}$, against (33), all "
            "hidden constants one.  They differ by $(K-1)^2/(KN)\\le(K-1)/N$ only."
        ),
    ),
    claim.asymptotic.rate("eq-33.rate", "The exact error of synchronous FedAvg", "(33), along growing N")(
        rate=Rate(measured=error, order=sync_epsilon, variable=(N,), step_size=1 / root),
        assumptions=(a.full_rounds,),
        note=(
            "The error of the server's models, the part k = 0 of the left side of Theorem 3.  K and M are those of the "
            "run; `fraboni2022:eq-33.rate.K` varies K.  M stays, as the runs of this family choose one weight for "
            "each client."
        ),
    ),
    claim.asymptotic.rate(
        "eq-33.rate.K", "The exact error of synchronous FedAvg, in N and K", "(33), along growing N and K"
    )(
        rate=Rate(measured=error, order=1 / root + K / N, variable=(N, K), step_size=1 / root),
        assumptions=(a.full_rounds,),
        note=(
            "(33) with its distances, M and $\\Sigma$ in the hidden constant, which is the same for all N and K of a "
            "run.  $1/\\sqrt{KN}+(K-1)/N$ and $1/\\sqrt{KN}+K/N$ are of one order: they are equal up to a factor 2."
        ),
    ),
    claim.asymptotic.rate(
        "eq-33.virtual", "The error of synchronous FedAvg at the virtual iterates", "(33), along growing N"
    )(
        rate=VIRTUAL_RATE,
        assumptions=(a.full_rounds,),
        note=(
            "The left side of Theorem 3, a time average over n and k, at $\\eta_l=1/\\sqrt{KN}$ and a fixed number K "
            "of local steps.  All terms of (33) are $\\mathcal O(1/\\sqrt N)$ then."
        ),
    ),
    claim.proved.inequality("eq-34", "Staleness in asynchronous FedAvg", "(34)")(
        chain=(tau, "<=", others, "<=", 2 * ratio * (M - 1)),
        assumptions=ANY_TIES,
        printed=r"\tau=\mathcal O\left(\frac{\tau_M}{\tau_0}(M-1)\right)",
        note=(
            "The constant is 2: while client i works, client j reports up to $\\lceil\\tau_i/\\tau_j\\rceil\\le"
            "2\\tau_M/\\tau_0$ times.  With 1 it fails: with times (2, 3), one report at a time, the slower client "
            "is up to 2 updates behind, more than 3/2."
        ),
    ),
    claim.proved.identity("eq-35", "Smallest window of asynchronous FedAvg", "(35)")(
        chain=(W, "==", period_reports),
        also=(Relation(count_i * period_reports, "==", N * nu_period / tau_i),),
        assumptions=(*CYCLES, *COUNTED),
        printed=(
            r"\nu\coloneqq lcm(\{\tau_i\}):\quad W=\sum_{i=1}^M\nu/\tau_i,\quad "
            r"\text{each client participates }\nu/\tau_i\text{ times}"
        ),
        note=(
            "The window is the smallest divisor of N with equal weights in every block.  There is no smaller one: the "
            f"numbers $\\nu/\\tau_i$ have no common divisor.  {ONE_AT_A_TIME}"
        ),
    ),
    claim.proved.inequality("eq-35.bounds", "Bounds on the window", "after (35)")(
        chain=(M, "<=", W, "<=", M * nu_period / tau_0),
        also=(
            Relation(W, "<=", M * tau_M ** (M - 1)),
            Relation(nu_period, ">=", tau_M),
            Relation(nu_period / tau_i, "<=", tau_M ** (M - 1)),
        ),
        assumptions=(*CYCLES, *COUNTED, a.whole_times),
        printed=(
            r"\nu\ge\tau_M,\ W=\Omega(M);\quad \text{all }\tau_i\text{ prime: }"
            r"\nu/\tau_i\le(\tau_M)^{M-1},\ W=\mathcal O(M(\tau_M)^{M-1})"
        ),
        note=f"All hold with the constant one, for any whole times, prime or not.  {ONE_AT_A_TIME}",
    ),
    claim.proved.condition("eq-35.identical", "The window of clients with one update time", "after (35)")(
        chain=(W, "==", M),
        assumptions=(*CYCLES, *COUNTED, a.whole_times, a.identical_times),
        printed=r"W=M\text{ when clients have homogeneous hardware }(\tau_M=\tau_0)",
        note=ONE_AT_A_TIME,
    ),
    claim.proved.condition("eq-36", "Weights of asynchronous FedAvg", "(36)")(
        chain=(q_i, "==", nu_period / tau_i / period_reports * d_i),
        also=(
            Relation(d_i, "==", rate * tau_i * q_i),
            Relation(beta, "==", d_max),
            Relation(rate * tau_M / M, "<=", ratio),
        ),
        assumptions=(*CYCLES, *SCHEME),
        printed=(
            r"q_i=\frac1W\sum_{n=kW}^{(k+1)W-1}q_i(n)=\frac1{\sum_{i=1}^M\nu/\tau_i}\frac\nu{\tau_i}d_i=p_i"
            r"\Rightarrow d_i=\left[\sum_{i=1}^M\frac1{\tau_i}\right]\tau_ip_i,\quad "
            r"\beta=\max_id_i\le\tau_M/\tau_0"
        ),
        note=(
            "The implication is the second relation, $d_i=[\\sum_j1/\\tau_j]\\tau_iq_i$ for every $q_i$.  The last "
            "one is the bound on $\\beta$: for $p_i=1/M$ the largest weight is that of the slowest client.  "
            f"{ONE_AT_A_TIME}"
        ),
    ),
    claim.supported.condition("eq-36.proportional", "Weights proportional to the update times", "after (36)")(
        chain=(qt_i, "==", p_i),
        also=(Relation(optimum_distance**2, "==", 0),),
        assumptions=(*ANY_TIES, a.whole_cycles),
        conditions=[sp.Eq(d_i * ClientSum(tau_i * p_i), tau_i * p_i * ClientSum(d_i))],
        printed=r"\eta_gd_i\propto\tau_ip_i\Rightarrow\text{asynchronous FL converges to its optimum}",
        note="The share of each client over a cycle, and the surrogate's optimum; true for both readings of ties.",
    ),
    claim.proved.identity("eq-37", "Residual of asynchronous FedAvg", "(37)")(
        chain=(R_L, "==", mean_gap),
        also=(Relation(round_gap, "==", ClientSum(q_in * gap_i)),),
        assumptions=(*CYCLES, *SCHEME),
        conditions=[TIME_BASED],
        printed=(
            r"\mathcal L^n=d_i\mathcal L_i\Rightarrow R(\{\mathcal L^n\})=\frac1M\sum_{i=1}^M"
            r"\left[\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)\right]"
        ),
        note=(
            "The second relation is the step for each update.  For unequal client weights $p_i$ replaces "
            f"$1/M$.  {ONE_AT_A_TIME}"
        ),
    ),
    *claim.refuted.condition(
        "algorithm-1.ties",
        "Closed forms of Section 4.3 where clients that finish together report together",
        "Algorithm 1 with Section 4.3, literal reading of the set of participants",
    )(
        chain=(W, "==", period_reports),
        also=(
            Relation(tau, ">=", M - 1),
            Relation(alpha, "==", 0),
            Relation(N, "==", T * rate),
            Relation(R_L, "==", mean_gap),
        ),
        assumptions=(*ANY_TIES, a.whole_cycles, a.several_clients, *COUNTED),
        conditions=[TIME_BASED],
        printed=r"S_n=\{i:T_i^n\le\Delta t^n\}\quad\text{(Algorithm 1)}",
        note=(
            "Section 4.3 lets a single client take part in an update, and its closed forms are true of that.  "
            "The set $S_n$ of Algorithm 1 has all clients that finish at the same time, and with the whole times of "
            "Section 4.1 some do: two clients with the same update time always report together.  Then the run is "
            "synchronous FedAvg: $W=1$, $\\tau=0$, $\\alpha=1$, $N=T/\\tau_1$ and $R=0$, so that all five relations "
            "fail on one run."
        ),
    ).with_repair(
        title="Closed forms of Section 4.3 where clients that finish together report one after the other",
        assumptions=(*CYCLES, a.several_clients, *COUNTED),
        verdict="proved",
    ),
    *numbers_claim.refuted.inequality("eq-38", "Closed form of the bound for asynchronous FedAvg", "(38)")(
        chain=(async_substituted, "<=", async_epsilon),
        assumptions=CYCLES,
        printed=(
            rf"\epsilon_{{Async}}={_EPSILON_START}+\mathcal O\left(\frac{{\tau_M}}{{\tau_0}}\frac1{{\sqrt{{KN}}}}"
            r"[R(\{\mathcal L^n\})+\Sigma]\right)+\mathcal O\left(\left(\frac{\tau_M}{\tau_0}\right)^3\frac KNM^2"
            r"[R(\{\mathcal L^n\})+\Sigma]\right)+\mathcal O\left(\frac1{\sqrt{KN}}(W-1)\right)"
        ),
        note=(
            "Compared: Theorem 3 with the second column of Table 2, at $\\eta_l=1/\\sqrt{KN}$, against (38), all "
            "hidden constants one.  $\\epsilon_W=\\mathcal O(\\eta_g\\eta_l(W-1)K)$ is $\\sqrt{K/N}(W-1)$: (38) "
            "lost a factor K, which no constant replaces.  The second term lacks R, which the fourth covers."
        ),
    ).with_repair(
        title="Closed form for asynchronous FedAvg with the factor K",
        rhs=async_epsilon_fixed,
        note="The last term is $\\mathcal O(\\sqrt{K/N}(W-1))$, the second $\\mathcal O(\\frac{K-1}N[R+\\Sigma])$.",
        verdict="proved",
    ),
    claim.asymptotic.rate("eq-38.rate", "The exact error of asynchronous FedAvg", "(38), along growing N")(
        rate=Rate(measured=error, order=1 / root, variable=(N,), step_size=1 / root),
        assumptions=ANY_TIES,
        conditions=[TIME_BASED],
        note=(
            "As N grows all terms of (38) are $\\mathcal O(1/\\sqrt N)$, and so is the exact error of the server's "
            "models on exact ladders, with both readings of ties.  K stays fixed: in K the terms $(K-1)/N$ and $K/N$ "
            "of (38) are larger than $1/\\sqrt{KN}$."
        ),
    ),
    claim.asymptotic.rate(
        "eq-38.virtual", "The error of asynchronous FedAvg at the virtual iterates", "(38), along growing N"
    )(
        rate=VIRTUAL_RATE,
        assumptions=ASYNC,
        conditions=[TIME_BASED],
        note=(
            "The left side of Theorem 3, a time average over n and k, at $\\eta_l=1/\\sqrt{KN}$ and a fixed number K "
            "of local steps.  All terms of (38) are $\\mathcal O(1/\\sqrt N)$ then."
        ),
    ),
    claim.proved.identity("eq-39", "Aggregations of asynchronous and synchronous FedAvg", "(39)")(
        chain=(N, "==", T * rate, ">=", M * T / tau_M),
        assumptions=CYCLES,
        printed=(
            r"N=\sum_{i=1}^MT/\tau_i,\quad "
            r"\text{at least }M\text{ times more than }T/\tau_M\text{ of synchronous FedAvg}"
        ),
        note=f"T is a multiple of all update times.  {ONE_AT_A_TIME}",
    ),
    rate_claim.proved.inequality(
        "claim.literature",
        "Rate for windows of the order of the staleness",
        "Section 4.3, comparison with the literature",
    )(
        chain=(delayed_bound, "<=", 2 * (1 + ratio) / root_of_growth * _ALL),
        printed=(
            r"\text{When assuming }W=\mathcal O(\tau)\text{ and }\eta_l\propto1/\sqrt{\tau N}\text{, we retrieve a "
            r"convergence rate }\sqrt{\tau/N}"
        ),
        note=(
            "Theorem 3 with K = 1, $\\alpha=1$, $\\beta=\\tau_M/\\tau_0$, $W=\\tau+1$ and $\\eta_l=1/\\sqrt{\\tau N}$, "
            "hidden constants one, for all $\\tau=(1+r)^2$ and $N=\\tau(1+s)^2$ with $r,s\\ge0$: these are all numbers "
            "$1\\le\\tau\\le N$, and $1/(1+s)=\\sqrt{\\tau/N}$."
        ),
    ),
    *literature_claim.refuted.inequality(
        "claim.literature.clients", "Rate for iid data and many clients", "Section 4.3, comparison with the literature"
    )(
        chain=(iid_async.subs(M, sp.sqrt(N)), "<=", 16 / sp.sqrt(N) * _IID),
        printed=(
            r"\text{We also match convergence rates for literature with iid client data distributions and }K=1\text{. "
            r"With }M=\mathcal O(\sqrt N)\text{, then we have }\mathcal O(1/\sqrt N)"
        ),
        note=(
            "$M=\\sqrt N$ in (38), and the constant 16.  The term $(\\tau_M/\\tau_0)^3\\frac KNM^2\\Sigma$ is then "
            "$(\\tau_M/\\tau_0)^3\\Sigma$ for every N, so that no constant suffices.  The fourth root of N is as far "
            "as (38) goes."
        ),
    ).with_repair(
        title="Rate for iid data and a number of clients up to the fourth root of N",
        chain=(iid_async.subs(M, N ** sp.Rational(1, 4)), "<=", _IID / sp.sqrt(N)),
        verdict="proved",
    ),
    *literature_claim.refuted.inequality(
        "claim.literature.delay",
        "Rate for iid data and a step size divided by the staleness",
        "Section 4.3, comparison with the literature",
    )(
        chain=(slow_step_bound, "<=", 16 * (tau / N + 1 / sp.sqrt(N)) * (theta0_distance**2 + Sigma_star)),
        printed=(r"\text{When }\eta_l=\mathcal O(1/\tau\sqrt{KN})\text{, we retrieve }\tau/N+1/\sqrt N"),
        note=(
            "Theorem 3 with K = 1, iid data and $\\eta_l=1/(\\tau\\sqrt N)$, and the constant 16: $1/(\\eta_lKN)=\\tau/"
            "\\sqrt N$ is larger than both published terms as N and $\\tau$ grow.  Smaller step sizes make it larger."
        ),
    ).with_repair(
        title="Rate that Theorem 3 gives for a step size divided by the staleness",
        rhs=2 * tau / sp.sqrt(N) * (theta0_distance**2 + Sigma_star),
        note=(
            "The best step size of Theorem 3 for iid data, the smaller one of $N^{-1/2}$ and $(\\tau^2N)^{-1/3}$, "
            "gives $1/\\sqrt N+(\\tau/N)^{2/3}$: its staleness term is quadratic in $\\tau$, where Stich and "
            "Karimireddy have a linear one."
        ),
        verdict="proved",
    ),
]
