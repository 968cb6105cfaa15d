"""Table 2: the constants of Theorem 3 for synchronous FedAvg, asynchronous FedAvg and FedFix."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.hardware import (
    ANY_TIES,
    COUNTED,
    CYCLES,
    FEDFIX,
    FEDFIX_CYCLES,
    INTERVAL_BASED,
    ONE_AT_A_TIME,
    SYNC,
    TIME_BASED,
    Delta_t,
    claim,
    d_max,
    duration,
    first_done,
    last_done,
    lcm_N,
    longest,
    mean_gap,
    optimum_distance,
    rate,
    ratio_above,
    ratio_below,
    tau_0,
    tau_M,
)
from fedtheory.sources.fraboni2022.statements.notation import (
    R_L,
    SCHEME,
    M,
    N,
    T,
    W,
    alpha,
    beta,
    beta_S,
    d_i,
    p_i,
    q_i,
    qt_i,
    tau,
)

_SECOND, _THIRD = "Table 2, second column", "Table 2, third column"

CLAIMS = [
    claim.proved.identity("table-2.sync", "Table 2, synchronous FedAvg", "Table 2, first column")(
        chain=(d_i, "==", p_i),
        also=(
            Relation(N, "==", T / tau_M),
            Relation(duration, "==", last_done),
            Relation(alpha, "==", 1),
            Relation(beta, "==", 0),
            Relation(tau, "==", 0),
            Relation(W, "==", 1),
            Relation(R_L, "==", 0),
        ),
        assumptions=SYNC,
        printed=(
            r"d_i=p_i,\ N=T/\tau_M,\ \Delta t=\max T_i^n,\ \alpha=1,\ \beta=0,\ \tau=0,\ W=1,\ R(\{\mathcal L^n\})=0"
        ),
        note="The left sides are measured on the schedule, T is the clock time of the last update.",
    ),
    claim.proved.condition("table-2.async.d", "Table 2, weights of asynchronous FedAvg", "Table 2, second column")(
        chain=(qt_i, "==", p_i),
        also=(Relation(optimum_distance**2, "==", 0),),
        assumptions=(*ANY_TIES, a.whole_cycles),
        conditions=[TIME_BASED],
        printed=r"d_i=\left[\sum_{i=1}^M\frac1{\tau_i}\right]\tau_ip_i",
        note=(
            "Read by the purpose of the weights: over a cycle each client has the share $\\tilde q_i=p_i$, and the run "
            "minimises the federated problem, whether clients that tie report together or not."
        ),
    ),
    claim.proved.identity("table-2.async.N", "Table 2, updates of asynchronous FedAvg", _SECOND)(
        chain=(N, "==", T * rate),
        also=(Relation(duration, "==", first_done),),
        assumptions=CYCLES,
        printed=r"N=\sum_{i=1}^MT/\tau_i,\quad \Delta t=\min T_i^n",
        note=f"T is a multiple of all update times.  {ONE_AT_A_TIME}",
    ),
    claim.proved.identity(
        "table-2.async.alpha-beta", "Table 2, weights of asynchronous FedAvg, their moments", _SECOND
    )(
        chain=(alpha, "==", 0),
        also=(Relation(beta, "==", d_max), Relation(d_max, "<=", tau_M / tau_0)),
        assumptions=(*CYCLES, *SCHEME, a.uniform_shares),
        conditions=[TIME_BASED],
        printed=r"\alpha=0,\quad \beta=\max d_i\le\tau_m/\tau_0",
        note=f"$\\tau_m$ is read as the slowest client's $\\tau_M$.  {ONE_AT_A_TIME}",
    ),
    claim.proved.inequality("table-2.async.tau", "Table 2, staleness in asynchronous FedAvg", _SECOND)(
        chain=(M - 1, "<=", tau, "<=", 2 * M * tau_M / tau_0),
        assumptions=(*CYCLES, *SCHEME),
        printed=r"\tau:\ \Omega(M),\ \mathcal O(M\tau_M/\tau_0)",
        note=f"Read with explicit constants.  {ONE_AT_A_TIME}",
    ),
    claim.proved.inequality("table-2.async.W", "Table 2, window of asynchronous FedAvg", _SECOND)(
        chain=(M, "<=", W, "<=", M * tau_M**M),
        assumptions=(*CYCLES, *COUNTED, a.whole_times),
        printed=r"W:\ \Omega(M),\ \mathcal O(M(\tau_M)^M)",
        note=f"With the constant 1; the text after (35) has the smaller exponent M-1.  {ONE_AT_A_TIME}",
    ),
    claim.proved.identity("table-2.async.R", "Table 2, residual of asynchronous FedAvg", _SECOND)(
        chain=(R_L, "==", mean_gap),
        assumptions=(*CYCLES, *SCHEME),
        conditions=[TIME_BASED],
        printed=r"R(\{\mathcal L^n\})=\frac1M\sum_{i=1}^M\left[\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)\right]",
        note=f"For unequal client weights $p_i$ replaces $1/M$.  {ONE_AT_A_TIME}",
    ),
    claim.proved.condition("table-2.fedfix", "Table 2, weights, alpha and residual of FedFix", _THIRD)(
        chain=(q_i, "==", p_i),
        also=(Relation(alpha, "==", 1), Relation(R_L, "<=", mean_gap)),
        assumptions=(*FEDFIX_CYCLES, a.several_clients, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"d_i=\lceil\tau_i/\Delta t\rceil p_i,\ \alpha=1,\ R(\{\mathcal L^n\})\le\frac1M\sum_{i=1}^M"
            r"\left[\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*)\right]"
        ),
        note=(
            "The weights are read by their purpose: over a cycle each client has the weight $p_i$.  For unequal "
            "client weights $p_i$ replaces $1/M$.  The other cells of the column are claims of their own."
        ),
    ),
    *claim.refuted.condition("table-2.fedfix.beta", "Table 2, excess of the weights in FedFix", _THIRD)(
        chain=(beta, "==", 0),
        assumptions=(*FEDFIX_CYCLES, a.several_clients, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=r"\beta:\ 0",
        note=(
            "$\\beta=\\max\\{d_i(n)-\\alpha q_i(n)\\}$ is the weight $d_i$ for a client that is not done with its "
            "local work in some update, where $q_i(n)=0$."
        ),
    ).with_repair(
        title="Excess of the weights in FedFix, over the clients that participate",
        chain=(beta_S, "==", 0),
        conditions=(),
        note="For any weights.  Lemma 1 needs $\\beta$ for these clients only.",
        verdict="proved",
    ),
    claim.proved.identity("table-2.fedfix.N", "Table 2, updates of FedFix", _THIRD)(
        chain=(N, "==", T / Delta_t),
        also=(Relation(duration, "==", Delta_t),),
        assumptions=FEDFIX,
        printed=r"N=T/\Delta t,\quad \Delta t=\Delta t",
    ),
    *claim.refuted.inequality("table-2.fedfix.tau", "Table 2, staleness in FedFix", _THIRD)(
        chain=(0, "<=", tau, "<=", ratio_below),
        assumptions=FEDFIX,
        printed=r"\tau:\ 0,\ \lfloor\tau_m/\tau_0\rfloor",
        note=(
            "Staleness is counted in updates, and those have the length $\\Delta t$: clients with the time 4 and "
            "$\\Delta t=1$ are up to 3 updates behind, while $\\tau_M/\\tau_0=1$."
        ),
    ).with_repair(
        title="Staleness in FedFix",
        chain=(0, "<=", tau, "<=", longest - 1),
        note=(
            "With $\\Delta t\\ge\\tau_0$ this is at most $\\lceil\\tau_M/\\tau_0\\rceil-1\\le\\lfloor\\tau_M/\\tau_0"
            "\\rfloor$, and the published cell holds."
        ),
        verdict="proved",
    ),
    *claim.refuted.inequality("table-2.fedfix.W", "Table 2, window of FedFix", _THIRD)(
        chain=(1, "<=", W, "<=", M * ratio_above**M),
        assumptions=FEDFIX_CYCLES,
        printed=r"W:\ 1,\ M\lceil\tau_m/\tau_0\rceil^M",
        note=(
            "Clients of the same speed have $\\tau_M/\\tau_0=1$, but report every $\\lceil\\tau_M/\\Delta t\\rceil$ "
            "updates only."
        ),
    ).with_repair(
        title="Window of FedFix",
        chain=(1, "<=", W, "==", lcm_N, "<=", longest**M),
        assumptions=(*FEDFIX_CYCLES, *COUNTED),
        note="A least common multiple of M numbers; no factor M is needed.",
        verdict="proved",
    ),
]
