"""Section 4.4: FedFix, and its comparison with synchronous and asynchronous FedAvg."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate, Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.asynchronous import (
    NOTATION,
    VIRTUAL_RATE,
    error,
    period_reports,
    ratio,
    root,
    round_gap,
)
from fedtheory.sources.fraboni2022.statements.hardware import (
    COUNTED,
    FEDFIX,
    FEDFIX_CYCLES,
    FREE,
    INTERVAL_BASED,
    Delta_t,
    N_i,
    count_i,
    gap_i,
    lcm_N,
    longest,
    mean_gap,
    optimum_distance,
    substitute_learning_rates,
    tau_0,
    tau_i,
    tau_M,
    write_theorem_3,
)
from fedtheory.sources.fraboni2022.statements.notation import *

_ERRORS = Notation()
sync_error = _ERRORS.add(q.synchronous_final_suboptimality, nonnegative=True)
async_error = _ERRORS.add(q.asynchronous_final_suboptimality, nonnegative=True)
final_error = _ERRORS.add(
    q.final_suboptimality, r"(\mathbb E\mathcal L(\theta^N)-\mathcal L(\theta^*))", nonnegative=True
)

claim = Statements("fraboni2022", NOTATION | _ERRORS)
numbers_claim = Statements("fraboni2022", NOTATION.without(FREE), for_all=FREE)

second_term = (K - 1) / N * (R_L + Sigma_star)
third_term = (1 / root + K / N * longest**2) * (R_L + longest / M * Sigma_star)
fedfix_epsilon = theta0_distance**2 / root + second_term + third_term + (W - 1) / root
"""(42) with all constants one."""
fedfix_epsilon_fixed = theta0_distance**2 / root + second_term + third_term + sp.sqrt(K) / sp.sqrt(N) * (W - 1)
fedfix_substituted = substitute_learning_rates(
    write_theorem_3(alpha=1, beta=0, tau=longest, window=W, residual=R_L, largest=longest / M)
)

sync_last = Sigma_star / (M * root)
fedfix_last = third_term + (lcm_N - 1) / root
async_last = (ratio / root + ratio**3 * K / N * M**2) * (mean_gap + Sigma_star) + (period_reports - 1) / root
"""The last terms of (33), (42) and (38), with all constants one."""

_BEFORE_40 = "Section 4.4, before (40)"

CLAIMS = [
    claim.proved.identity("fedfix.schedule.reports", "Updates between the reports of a client", _BEFORE_40)(
        chain=(count_i * N_i, "==", N),
        assumptions=FEDFIX_CYCLES,
        printed=(
            r"\text{Every client sends an update to the server in }N_i'=\lceil T_i/\Delta t\rceil"
            r"\text{ optimization steps}"
        ),
        note="Counted over whole cycles: in N updates client i reports $N/N_i'$ times.",
    ),
    *claim.refuted.identity("fedfix.schedule", "Staleness in FedFix, in updates", _BEFORE_40)(
        chain=(tau, "==", longest),
        assumptions=FEDFIX_CYCLES,
        printed=r"\tau=\lceil\tau_m/\Delta t\rceil=\mathcal O(1)",
        note=(
            "$\\tau_m$ is read as the slowest client's $\\tau_M$.  A client that reports in every update works on the "
            "newest model and has $n-\\rho_i(n)=0$, not 1: the staleness is one less than published."
        ),
    ).with_repair(
        title="Staleness in FedFix, counted from zero",
        chain=(tau, "==", longest - 1),
        note="A bound that does not depend on M, as the paper says.",
        verdict="proved",
    ),
    claim.proved.identity("fedfix.schedule.window", "Smallest window of FedFix", _BEFORE_40)(
        chain=(W, "==", lcm_N),
        also=(Relation(count_i * W, "==", N * lcm_N / N_i),),
        assumptions=(*FEDFIX_CYCLES, *COUNTED),
        printed=(
            r"\text{the smallest window }W\text{ satisfies }W=lcm(\{N_i'\}),\text{ and clients update }W/N_i'"
            r"\text{ times their work to the server during the window}"
        ),
        note=(
            "A client with $d_i=0$ has no part in the window.  The second relation is about the mean number of reports "
            "in a window; as a client reports in every $N_i'$-th update, each window has as many."
        ),
    ),
    claim.proved.identity("fedfix.alpha-beta.alpha", "Pairing of the weights in FedFix", _BEFORE_40)(
        chain=(alpha, "==", 1),
        assumptions=(*FEDFIX_CYCLES, a.several_clients),
        printed=(
            r"T_i^n\text{ and }T_j^n\text{ are independent, and so are }\omega_i\text{ and }\omega_j\text{, which "
            r"gives }\alpha=1"
        ),
        note="With fixed update times the weights are not random.  With exponential ones $\\alpha=1$ holds as well.",
    ),
    *claim.refuted.identity("fedfix.alpha-beta", "Excess of the weights in FedFix", _BEFORE_40)(
        chain=(beta, "==", 0),
        assumptions=(*FEDFIX_CYCLES, a.several_clients),
        printed=(
            r"\omega_i,\omega_j\text{ independent}\Rightarrow\alpha=1,\ "
            r"\beta\coloneqq\max\{d_i(n)-\alpha q_i(n)\}=0"
        ),
        note=(
            "Independence says nothing about $\\beta$: a client that does not participate in an update has $q_i(n)=0$, "
            "so that $\\beta$ is at least its weight $d_i$."
        ),
    ).with_repair(
        title="Excess of the weights in FedFix, over the clients that participate",
        chain=(beta_S, "==", 0),
        note=("For fixed times.  With exponential ones $\\beta=\\max_id_ie^{-\\Delta t/\\tau_i}$."),
        verdict="proved",
    ),
    claim.proved.condition("eq-40", "Weights of FedFix", "(40)")(
        chain=(q_i, "==", p_i),
        also=(Relation(optimum_distance**2, "==", 0),),
        assumptions=(*FEDFIX_CYCLES, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=r"d_i=\left\lceil\frac{\tau_i}{\Delta t}\right\rceil p_i",
        note=(
            "With these weights the mean weights of a cycle are the importances, and the run minimises the federated "
            "problem; fixed update times only."
        ),
    ),
    claim.proved.identity("eq-40.necessary", "No other weights of FedFix will do", "(40), the converse")(
        chain=(d_i, "==", N_i * q_i),
        assumptions=FEDFIX_CYCLES,
        note="For any weights: $q_i=p_i$ exactly for those of (40).",
    ),
    claim.supported.limit("fedfix.regimes.client", "A client that is not slower than the interval", "after (40)")(
        chain=(sp.Max(0, Delta_t - tau_i) * (d_i - p_i), "==", 0),
        assumptions=FEDFIX,
        conditions=[INTERVAL_BASED],
        printed=(
            r"\text{When }\Delta t\ge\tau_i\text{, client }i\text{ participates to every optimization round and is "
            r"thus considered synchronously, which gives }d_i=p_i"
        ),
        note="For each client by itself; the product is zero for slower clients.  See the next claim for equality.",
    ),
    claim.supported.limit("fedfix.regimes.synchronous", "An interval that no client is slower than", "after (40)")(
        chain=(d_i, "==", p_i),
        also=(Relation(q_in, "==", p_i), Relation(tau, "==", 0), Relation(W, "==", 1), Relation(R_L, "==", 0)),
        assumptions=(*FEDFIX, *COUNTED),
        conditions=[INTERVAL_BASED, Delta_t >= tau_M],
        printed=(
            r"\text{When }\Delta_t\ge\tau_M\text{, we retrieve synchronous FL and }d_i=p_i\text{ for every client}"
            r"\dots\text{ with FedAvg when }\Delta t=\tau_M"
        ),
        note="Every client participates in every update: the first column of Table 2.",
    ),
    claim.supported.limit("fedfix.regimes.short", "An interval much shorter than the clients' times", "after (40)")(
        chain=(tau_i * p_i, "<=", Delta_t * d_i, "<=", (1 + Delta_t / tau_i) * tau_i * p_i),
        assumptions=FEDFIX,
        conditions=[INTERVAL_BASED],
        printed=(
            r"\text{for asynchronous FL, when }\Delta t\ll\tau_i\text{, we obtain }\left\lceil\tau_i/\Delta t"
            r"\right\rceil\approx\tau_i/\Delta t\text{ and we retrieve }\eta_gd_i=\eta_g\left[\tau_i/\Delta t"
            r"\right]p_i\propto\tau_ip_i"
        ),
        note="With an explicit error: the relative error of the approximation is at most $\\Delta t/\\tau_i$.",
    ),
    *claim.refuted.limit("fedfix.regimes", "The interval of asynchronous FedAvg", "after (42)")(
        chain=(alpha, "==", 0),
        assumptions=(*FEDFIX_CYCLES, a.several_clients),
        conditions=[Delta_t >= tau_M],
        printed=(
            r"\Delta t\text{ can be considered as the level of asynchronicity given to Algorithm 1, with FedAvg when "
            r"}\Delta t=\tau_M\text{ and asynchronous FedAvg when }\Delta t\ge\tau_M"
        ),
        note=(
            "Asynchronous FedAvg has $\\alpha=0$ (Table 2).  With $\\Delta t\\ge\\tau_M$ all clients participate in "
            "every update, and $\\alpha=1$: the text after (40) says so itself.  A short interval is meant.  The other "
            "sentences on the interval are claims of their own."
        ),
        fault="misprint",
    ).with_repair(
        title="From synchronous towards asynchronous FedAvg as the interval shrinks",
        chain=(sp.Max(1, tau_i / Delta_t), "<=", N_i, "<", tau_i / Delta_t + 1),
        also=(Relation(tau, "<", tau_M / Delta_t),),
        assumptions=FEDFIX,
        note=(
            "$N_i'$ is a whole number: it is 1 where $\\Delta t\\ge\\tau_i$, there is no staleness where $\\Delta "
            "t\\ge\\tau_M$, and the weights (40) approach a multiple of those of (36) as $\\Delta t$ decreases."
        ),
        verdict="supported",
        conditions=(),
    ),
    claim.proved.inequality("eq-41", "Residual of FedFix", "(41)")(
        chain=(R_L, "<=", mean_gap),
        also=(Relation(round_gap, "<=", ClientSum(q_in * gap_i)),),
        assumptions=(*FEDFIX_CYCLES, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"\mathcal L^n=\sum_{i\in S_n}d_i\mathcal L_i,\ \mathcal L^n(\bar\theta^n)\ge\sum_{i\in S_n}d_i\mathcal L_i"
            r"(\theta_i^*)\Rightarrow R(\{\mathcal L^n\})\le\frac1M\sum_{i=1}^M"
            r"\left[\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)\right]"
        ),
        note="The second relation is the step for each update; importances $p_i$ in the place of $1/M$.",
    ),
    *numbers_claim.refuted.inequality("eq-42", "Closed form of the bound for FedFix", "(42)")(
        chain=(fedfix_substituted, "<=", fedfix_epsilon),
        assumptions=FEDFIX_CYCLES,
        printed=(
            r"\epsilon_{FedFix}=\frac1{\sqrt{KN}}\mathbb E\left[\|\theta^0-x\|^2\right]+\mathcal O\left(\frac{K-1}N"
            r"[R(\{\mathcal L^n\})+\Sigma]\right)+\mathcal O\left(\left[\frac1{\sqrt{KN}}+\frac KN\left\lceil"
            r"\frac{\tau_m}{\Delta t}\right\rceil^2\right]\left[R(\{\mathcal L^n\})+\left\lceil\frac{\tau_m}{\Delta t}"
            r"\right\rceil\frac1M\Sigma\right]\right)+\mathcal O\left(\frac1{\sqrt{KN}}(W-1)\right)"
        ),
        note=(
            "Compared: Theorem 3 with $\\alpha=1$, $\\beta=0$, $\\tau=\\lceil\\tau_M/\\Delta t\\rceil$ and the weights "
            "of (40), at $\\eta_l=1/\\sqrt{KN}$, against (42), all hidden constants one.  As in (38), "
            "$\\epsilon_W$ lost its factor K."
        ),
    ).with_repair(
        title="Closed form for FedFix with the factor K",
        rhs=fedfix_epsilon_fixed,
        note="The last term is $\\mathcal O(\\sqrt{K/N}(W-1))$.",
        verdict="proved",
    ),
    claim.asymptotic.rate("eq-42.rate", "The exact error of FedFix", "(42), along growing N")(
        rate=Rate(measured=error, order=1 / root, variable=(N,), step_size=1 / root),
        assumptions=(a.fixed_intervals,),
        conditions=[INTERVAL_BASED],
        note=(
            "As N grows all terms of (42) are $\\mathcal O(1/\\sqrt N)$, and so is the error of the server's models.  "
            "K stays fixed: in K the terms $(K-1)/N$ and $K/N$ of (42) are larger than $1/\\sqrt{KN}$."
        ),
    ),
    claim.asymptotic.rate("eq-42.virtual", "The error of FedFix at the virtual iterates", "(42), along growing N")(
        rate=VIRTUAL_RATE,
        assumptions=(a.fixed_intervals,),
        conditions=[INTERVAL_BASED],
        note=(
            "The left side of Theorem 3, a time average over n and k, at $\\eta_l=1/\\sqrt{KN}$ and a fixed number K "
            "of local steps.  All terms of (42) are $\\mathcal O(1/\\sqrt N)$ then."
        ),
    ),
    *numbers_claim.refuted.identity(
        "eq-42.ordering.second-term", "The second term of (42) and that of (33)", "after (42)"
    )(
        chain=(second_term, "==", (K - 1) / N * Sigma_star),
        assumptions=(*FEDFIX_CYCLES, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"\text{The first two elements of equation (42) are identical for FedFix, synchronous and asynchronous "
            r"FedAvg}"
        ),
        note=(
            "Compared: the second term of (42) with that of (33) and (38), constants one.  The first has $R+\\Sigma$, "
            "the others have $\\Sigma$, and $R>0$ unless the clients have a common optimum.  The first terms are the "
            "same."
        ),
    ).with_repair(
        title="The second term of (42) for rounds that wait for all participants",
        assumptions=(a.synchronous,),
        conditions=(),
        note="There $R=0$.  Theorem 3 has $R+\\Sigma$ in this term for every scheme, for asynchronous FedAvg as well.",
        verdict="proved",
    ),
    numbers_claim.proved.inequality(
        "eq-42.ordering.synchronous",
        "The last terms of FedFix are not smaller than those of synchronous FedAvg",
        "after (42)",
    )(
        chain=(sync_last, "<=", fedfix_last),
        assumptions=(*FEDFIX_CYCLES, *SCHEME),
        printed=r"\text{these two terms are larger with FedFix than with synchronous FedAvg}",
        note="The terms of (33) and (42) as published, constants one.  They are equal where $R=0$, $W=1$ and so on.",
    ),
    *numbers_claim.refuted.inequality(
        "eq-42.ordering", "The last terms of FedFix are not larger than those of asynchronous FedAvg", "after (42)"
    )(
        chain=(fedfix_last, "<=", async_last),
        assumptions=(*FEDFIX_CYCLES, a.several_clients, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"\text{thanks to lower values for the different variables (cf Table 2), the last two asymptotic terms of "
            r"the convergence bound are smaller for FedFix than for asynchronous FedAvg}"
        ),
        note=(
            "The terms of (42) and (38) as published, constants one, each with its own residual and window.  A short "
            "interval makes $\\lceil\\tau_M/\\Delta t\\rceil$ larger than $M\\tau_M/\\tau_0$, the staleness of "
            "asynchronous FedAvg in (38): most updates of FedFix then have no client.  Section 4.4 allows such "
            "intervals, and considers $\\Delta t\\ll\\tau_i$ itself."
        ),
    ).with_repair(
        title="The last terms of FedFix and asynchronous FedAvg for intervals that are not short",
        chain=(fedfix_last.subs(R_L, mean_gap), "<=", async_last),
        assumptions=(*FEDFIX, *SCHEME),
        conditions=[Delta_t >= tau_0, lcm_N <= period_reports],
        note=(
            "Both residuals at the bound of (41).  With $\\Delta t\\ge\\tau_0$, so that "
            "$\\lceil\\tau_M/\\Delta t\\rceil<2\\tau_M/\\tau_0$, and a window not longer than that of (35).  "
            "The order is one of bounds, not of errors."
        ),
        verdict="supported",
    ),
    *claim.refuted.condition(
        "eq-42.ordering.errors", "The errors of synchronous FedAvg and FedFix after N updates", "after (42)"
    )(
        chain=(sync_error, "<=", final_error),
        assumptions=(*FEDFIX, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(r"\text{Therefore, after }N\text{ optimization rounds, synchronous FedAvg outperforms FedFix}\dots"),
        note=(
            "The sentence follows from the order of the bounds.  Read of the errors themselves, with the same local "
            "work and the weights of Table 2, it is no law: two clients $x^2/2$ with the times (1, 2), $\\Delta t=1$ "
            "and $\\eta_l=1/4$ are at 33/64 of the start after two updates, synchronous FedAvg is at 36/64."
        ),
    ).with_repair(
        kind="identity",
        title="The errors of synchronous FedAvg and FedFix where no client is slower than the interval",
        relation="==",
        conditions=[INTERVAL_BASED, Delta_t >= tau_M],
        note="The two schemes are then the same.",
        verdict="supported",
    ),
    *claim.refuted.condition(
        "eq-42.ordering.errors.asynchronous",
        "The errors of FedFix and asynchronous FedAvg after N updates",
        "after (42)",
    )(
        chain=(final_error, "<=", async_error),
        assumptions=(*FEDFIX, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"\text{after }N\text{ optimization rounds}\dots\text{ FedFix}\dots\text{ outperforms in turn asynchronous "
            r"FedAvg}"
        ),
        note=(
            "The sentence follows from the order of the bounds.  Read of the errors themselves, with the same local "
            "work and the weights of Table 2, it is no law either: two clients $x^2/2$ with equal times, $\\Delta "
            "t=\\tau_1$ and $\\eta_l=1/4$ are at 9/16 of the start after two updates, asynchronous FedAvg is at 1/2."
        ),
    ).with_repair(
        kind="identity",
        title="The errors of FedFix and asynchronous FedAvg for one client that is not slower than the interval",
        relation="==",
        assumptions=(*FEDFIX, *SCHEME, a.one_client),
        conditions=[INTERVAL_BASED, Delta_t >= tau_M],
        note="The two schemes are then the same.",
        verdict="supported",
    ),
    claim.refuted.condition("eq-42.identical", "Identical update times in FedFix", "end of Section 4.4")(
        chain=(tau, "==", 0),
        also=(Relation(W, "==", 1),),
        assumptions=FEDFIX_CYCLES,
        conditions=[sp.Eq(tau_M, tau_0)],
        printed=r"\tau_1=\tau_m\Rightarrow\epsilon_{FedFix}=\epsilon_{FedAvg}",
        note=(
            "With $\\Delta t<\\tau_1$ clients report only every $\\lceil\\tau_1/\\Delta t\\rceil$ updates, the "
            "others are empty."
        ),
    ),
    claim.proved.condition("eq-42.identical.fixed", "When FedFix is synchronous", "end of Section 4.4, corrected")(
        chain=(tau + 1, "==", longest, "<=", W, "==", lcm_N),
        assumptions=(*FEDFIX_CYCLES, *COUNTED),
        note=(
            "Staleness and window are those of synchronous FedAvg, 0 and 1, exactly where $\\Delta t\\ge\\tau_M$, "
            "for identical times as for others."
        ),
        corrects="fraboni2022:eq-42.identical",
    ),
]
