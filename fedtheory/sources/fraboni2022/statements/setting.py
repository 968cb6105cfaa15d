"""Sections 2.1 to 2.3: the problem, time, policies, and aggregation scheme (6)."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, ClientSum, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *

SETTING = Notation(WHERE)
T_in = SETTING.add(q.remaining_time, real=True)
dt = SETTING.add(q.round_duration, real=True)
T_i = SETTING.add(q.update_time, "T_i", real=True)
slowest = SETTING.add(q.slowest_time, real=True)
interval = SETTING.add(q.interval, real=True)
m = SETTING.add(q.buffer, real=True)
J = SETTING.add(q.type_count, real=True)
n = SETTING.add(q.round_index, real=True)
reports = SETTING.add(q.reports, real=True)
stale = SETTING.add(q.staleness, r"(n-\rho_i(n))", real=True)
count = SETTING.add(q.report_count, r"\sum_n\mathbb I_i(n)", real=True)
period = SETTING.add(q.report_interval, real=True)
mu = SETTING.add(q.strong_convexity, "mu", positive=True)
r_j = SETTING.add(q.type_importance, real=True)
s_j = SETTING.add(q.mean_type_weight, real=True)
s_jn = SETTING.add(q.type_weight, real=True)
st_jn = SETTING.add(q.type_share, real=True)
at_start = SETTING.add(q.client_value_at_start, real=True)
L_start = SETTING.add(q.objective_at_start, real=True)
Ln_start = SETTING.add(q.round_objective_at_start, real=True)
Lbar_start = SETTING.add(q.surrogate_at_start, real=True)
slope_n = SETTING.add(q.round_optimum_slope_sq, nonnegative=True)
slope = SETTING.add(q.surrogate_optimum_slope_sq, nonnegative=True)
Ln_mean = SETTING.add(q.mean_round_objective_at_start, real=True)
gap_i = SETTING.add(
    q.client_gap_at_surrogate_optimum, r"(\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*))", real=True
)
before_sq = SETTING.add(q.server_distance_sq, r"\mathbb E\|\theta^n-\theta^*\|^2", nonnegative=True)
after_sq = SETTING.add(q.server_distance_after_sq, r"\mathbb E\|\theta^{n+1}-\theta^*\|^2", nonnegative=True)
first_sq = SETTING.add(q.virtual_start_distance_sq, nonnegative=True)
last_sq = SETTING.add(q.virtual_end_distance_sq, nonnegative=True)
F = SETTING.add(q.objective, r"\mathcal{L}")
L_i = SETTING.add(q.client_objective, r"\mathcal{L}_i")
x = SETTING.add(q.point)
theta = SETTING.add(q.server_model, r"\theta^n")
virtual = SETTING.add(q.virtual_iterate)
next_virtual = SETTING.add(q.next_virtual_iterate)
received = SETTING.add(q.received_model)
local = SETTING.add(q.local_iterate, r"\theta_i^{\rho_i(n),k}")
next_local = SETTING.add(q.next_local_iterate, r"\theta_i^{\rho_i(n),k+1}")
g_i = SETTING.add(q.stochastic_gradient)
theta_bar = SETTING.add(q.surrogate_optimum)

_PATH = "Checked on sampled paths with fixed reports, for every k: after k + 1 local steps in place of K."
"""Note for claims on paths with fixed reports; the weights of sampled clients are random."""

claim = Statements("fraboni2022", SETTING)

CLAIMS = [
    claim.definition("setting", "The federated problem", "Section 2.1, (1)-(2)")(
        chain=(Value(F, x), "==", ClientSum(p_i * Value(L_i, x))),
        also=(Relation(ClientSum(p_i), "==", 1),),
        place="points",
        assumptions=SCHEME,
        printed=(
            r"\mathcal L(\theta)=\sum_{i=1}^Mp_i\mathcal L_i(\theta),\quad "
            r"\mathcal L_i(\theta)=\frac1{n_i}\sum_{k=1}^{n_i}l(\theta,z_{k,i}),\quad\sum_{i=1}^np_i=1"
        ),
        note=(
            "The left side is the one quadratic with the mean coefficients.  The importances are summed to M, not to n "
            "as published.  (1), the mean over all samples, is the case $p_i=n_i/\\sum_in_i$."
        ),
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.definition("time-model", "Update times and who reports", "Section 2.2, (3)")(
        chain=(reports * (T_in - dt), "<=", 0),
        also=(
            Relation((1 - reports) * (T_in - dt), ">=", 0),
            Relation(stale, ">=", 0),
            Relation(stale, "<=", n - 1),
            Relation(T_in, "<=", T_i),
        ),
        assumptions=(*SCHEME, a.given_weights),
        printed=(
            r"T_i^n\coloneqq T_i-(t^n-t^{\rho_i(n)}),\quad0\le\rho_i(n)\le n,\quad "
            r"i\text{ participates}\Leftrightarrow\mathbb I(T_i^n\le\Delta t^n)=1"
        ),
        note=(
            "Checked: who reports has $T_i^n\\le\\Delta t^n$, who does not has $T_i^n\\ge\\Delta t^n$, with equality "
            "only where clients that tie report one by one.  Updates are counted from one in $n$ of the check."
        ),
        implemented_by="fedtheory.federation.clock:Clock",
    ),
    claim.definition("policy.sync", "Synchronous FedAvg", "Sections 2.2 and 4.2")(
        chain=(dt, "==", slowest),
        also=(
            Relation(T_in, "<=", dt),
            Relation(ClientSum(reports), "==", M),
            Relation(stale, "==", 0),
        ),
        assumptions=(a.full_rounds,),
        printed=r"\Delta t^n=\max_iT_i",
        note="The server waits for all clients, and all work on the newest model.",
        implemented_by="fedtheory.federation.clock:Synchronous",
    ),
    claim.definition("policy.async", "Asynchronous FedAvg", "Section 4.3")(
        chain=(T_in, ">=", dt),
        also=(Relation(reports * (T_in - dt), "==", 0), Relation(ClientSum(reports), ">=", 1)),
        assumptions=(a.asynchronous,),
        printed=r"\Delta t^n=\min_iT_i^n",
        note="No client needs less than $\\Delta t^n$, and those that report need exactly that.",
        implemented_by="fedtheory.federation.clock:Asynchronous",
    ),
    claim.definition("policy.fedfix", "FedFix", "Figure 1 and Section 4.4")(
        chain=(dt, "==", interval),
        also=(Relation(reports * (T_in - dt), "<=", 0), Relation(count * period, "==", N)),
        assumptions=(a.fixed_intervals, a.whole_cycles),
        printed=r"\Delta t^n=\Delta t",
        note=(
            "Client i reports in every $\\lceil T_i/\\Delta t\\rceil$-th update: in Figure 1 the first client in each, "
            "the second, which is half as fast, in every other one."
        ),
        implemented_by="fedtheory.federation.clock:FedFix",
    ),
    claim.definition("policy.fedbuff", "FedBuff", "Section 4.5")(
        chain=(ClientSum(reports), ">=", m),
        also=(Relation((1 - reports) * (T_in - dt), ">=", 0),),
        assumptions=SCHEME,
        printed=r"\text{the server waits for }m\text{ client updates}",
        note=(
            "Asynchronous and synchronous FedAvg are the buffers of one and of all clients.  More than m report where "
            "clients tie and are taken together."
        ),
        implemented_by="fedtheory.federation.clock:FedBuff",
    ),
    claim.algorithm("eq-4", "FedAvg's aggregation", "(4)")(
        chain=(norm_sq(next_virtual - theta - Average(next_local - theta)), "==", 0),
        place="path",
        assumptions=(a.same_local_work, a.unit_server_step, a.full_participation),
        printed=(
            r"\theta^{n+1}\coloneqq\theta^n+\sum_{i=1}^Mp_i\Delta_i(n),\quad"
            r"\Delta_i(n)\coloneqq\theta_i^{(n,K)}-\theta^n"
        ),
        note=_PATH,
        implemented_by="fedtheory.federation.settings:fedavg",
    ),
    claim.definition("eq-5", "Stochastic aggregation weights", "(5)")(
        chain=(q_in, "==", reports * d_i),
        assumptions=(a.asynchronous,),
        printed=r"\omega_i(n)\coloneqq\mathbb I(T_i^n\le\Delta t^n)d_i(n)",
        note="For fixed update times the weights are not random: $q_i(n)=\\omega_i(n)$.",
        implemented_by="fedtheory.federation.update_rule:Aggregation",
    ),
    claim.algorithm("eq-6", "Aggregation scheme with stale contributions", "(6)")(
        chain=(norm_sq(next_virtual - theta - eta_g * ClientSum(q_in * (next_local - received))), "==", 0),
        place="path",
        assumptions=SCHEME,
        printed=r"\theta^{n+1}\coloneqq\theta^n+\eta_g\sum_{i=1}^M\omega_i(n)\Delta_i(\rho_i(n))",
        note=_PATH,
        implemented_by="fedtheory.federation.settings:fedavg",
    ),
    claim.algorithm("algorithm-1", "Asynchronous federated learning", "Algorithm 1")(
        chain=(norm_sq(next_virtual - theta - eta_g * ClientSum(reports * d_i * (next_local - received))), "==", 0),
        place="path",
        assumptions=(a.asynchronous,),
        printed=(
            r"S_n=\{i:T_i^n\le\Delta t^n\},\quad\theta^{n+1}=\theta^n+\eta_g\sum_{i\in S_n}d_i(n)"
            r"\Delta_i(\rho_i(n)),\quad\theta^{n+1}\text{ is sent back to the clients in }S_n"
        ),
        note=_PATH + "  The sum over $S_n$ is written out with the reports of the schedule.",
        implemented_by="fedtheory.federation.settings:fedavg",
    ),
]
