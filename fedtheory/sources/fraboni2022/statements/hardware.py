"""Section 4.1: client times, learning rates, and the symbols of Section 4 and Table 2."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *

HARDWARE = Notation(WHERE)
tau_M = HARDWARE.add(q.slowest_time)
tau_0 = HARDWARE.add(q.fastest_time)
tau_i = HARDWARE.add(q.update_time)
rate = HARDWARE.add(q.update_rate, r"\sum_j\frac1{\tau_j}")
nu_period = HARDWARE.add(q.common_period)
Delta_t = HARDWARE.add(q.interval)
sigma = HARDWARE.add(q.noise_deviation, nonnegative=True)
gap_i = HARDWARE.add(q.client_gap_at_optimum, r"(\mathcal L_i(\theta^*)-\mathcal L_i(\theta_i^*))", nonnegative=True)
optimum_distance = HARDWARE.add(q.surrogate_optimum_distance, nonnegative=True)
duration = HARDWARE.add(q.round_duration, nonnegative=True)
last_done = HARDWARE.add(q.largest_remaining_time, nonnegative=True)
first_done = HARDWARE.add(q.least_remaining_time, nonnegative=True)
d_max = HARDWARE.add(q.largest_aggregation_weight, nonnegative=True)
N_i = HARDWARE.add(q.report_interval, r"N_i^{\prime}", positive=True)
count_i = HARDWARE.add(q.report_count, nonnegative=True)
longest = HARDWARE.add(q.longest_report_interval, positive=True)
lcm_N = HARDWARE.add(q.common_report_interval, positive=True)
ratio_below = HARDWARE.add(q.speed_ratio_below, positive=True)
ratio_above = HARDWARE.add(q.speed_ratio_above, positive=True)
chance = HARDWARE.add(q.report_chance, positive=True)
exponential_share = HARDWARE.add(q.exponential_share, nonnegative=True)

claim = Statements("fraboni2022", HARDWARE)
FREE = {K: (1, 16), N: (64,)}
"""Local steps and updates with rational roots, for statements about numbers."""
numbers_claim = Statements("fraboni2022", HARDWARE.without(FREE), for_all=FREE)
"""Function that states a claim about the constants of a run, at any numbers of local steps and updates."""

ANY_TIES = (a.asynchronous,)
"""Asynchronous FedAvg in which clients with equal report times report together or one by one."""
ASYNC = (*ANY_TIES, a.one_at_a_time)
"""Asynchronous FedAvg of Section 4.3: a new model for each contribution, so that ties are served one by one."""
CYCLES = (*ASYNC, a.whole_cycles)
"""Asynchronous FedAvg over whole cycles of the client times."""
FEDFIX = (a.fixed_intervals,)
FEDFIX_CYCLES = (*FEDFIX, a.whole_cycles)
COUNTED = (*SCHEME, a.positive_weights)
"""Setting in which every client has a positive weight, since the window is one of weights."""
SYNC = (a.full_rounds,)

ONE_AT_A_TIME = (
    "The server makes a new model for each contribution (Section 4.3), so that clients that finish together report one "
    "after the other."
)
"""Note on the interpretation of the closed forms of asynchronous FedAvg."""

TIME_BASED = sp.Eq(d_i, rate * tau_i * p_i)
"""The weights of (36)."""
INTERVAL_BASED = sp.Eq(d_i, N_i * p_i)
"""The weights of (40)."""
mean_gap = Average(gap_i)
"""The residual of (37)."""


def write_theorem_3(*, alpha: Expr, beta: Expr, tau: Expr, window: Expr, residual: Expr, largest: Expr) -> Expr:
    """Return the sum of the terms of Theorem 3 for the constants of a scheme, with hidden constants one; `largest` is
    max q.
    """
    noise, step = Sigma_star, eta_g * eta_l
    spread = step + step**2 * K**2 * tau**2
    start = theta0_distance**2 / (step * K * N) + eta_l**2 * (K - 1) ** 2 * (residual + noise)
    stale = alpha * spread * (residual + largest * noise) + beta * spread * (residual + noise)
    return start + stale + step * (window - 1) * K


def substitute_learning_rates(expression: Expr) -> Expr:
    """Return an expression with the learning rates of Section 4, eta_g = 1 and eta_l = 1/sqrt(K N)."""
    return expression.subs({eta_g: 1, eta_l: 1 / sp.sqrt(K * N)})


CLAIMS = [
    claim.definition("eq-32", "Averaged optimum residual", "(32)")(
        chain=(Sigma_star, "==", Sigma),
        assumptions=(a.synchronous, a.aggregation_scheme, a.unbiased_updates),
        printed=(
            r"d_i(n)=d_i,\ p_i=\frac1M,\quad \Sigma\coloneqq\frac1M\sum_{i=1}^M\mathbb E_{\xi_i}"
            r"\left[\|\nabla\mathcal L_i(\theta^*,\xi_i)\|^2\right]"
        ),
        note=(
            "The check compares it with (11), which weighs with $q_i$ at the optimum of the surrogate problem: the "
            "same number where every update is unbiased."
        ),
        implemented_by="fedtheory.language.quantities:optimum_noise",
    ),
    *claim.refuted.inequality("eq-32.variance", "The optimum residual against the gradients' variance", "after (32)")(
        chain=(Sigma_star, "<=", sigma**2),
        assumptions=(a.synchronous, a.unbiased_bounded_variance),
        printed=r"\Sigma\le\sigma^2",
        note=(
            "The paper derives it from a variance of at most $\\sigma^2$.  $\\Sigma$ is a second moment: clients with "
            "full gradients and different optima have $\\sigma=0$ and $\\Sigma>0$."
        ),
    ).with_repair(
        title="The optimum residual is variance and heterogeneity",
        rhs=sigma**2 + 2 * L * mean_gap,
        assumptions=(a.synchronous, a.unbiased_bounded_variance, a.smooth),
        note=(
            "By $\\|\\nabla\\mathcal L_i(\\theta^*)\\|^2\\le2L[\\mathcal L_i(\\theta^*)-\\mathcal L_i(\\theta_i^*)]$.  "
            "Identical data leave $\\Sigma\\le\\sigma^2$, and GD on identical data $\\Sigma=0$, as published."
        ),
        verdict="supported",
    ),
    claim.refuted.condition(
        "hardware",
        "Fixed update times, and exponential ones with the same means",
        "Section 4.1, clients computation time",
    )(
        chain=(exponential_share, "==", p_i),
        assumptions=(*FEDFIX, *SCHEME),
        conditions=[INTERVAL_BASED],
        printed=(
            r"T_i=\tau_i,\ \tau_i\le\tau_{i+1};\quad \text{the closed forms of }d_i\text{ still hold for }"
            r"T_i\sim\exp(\tau_i^{-1}),\ \mathbb E[T_i]=\tau_i"
        ),
        note=(
            "Checked for FedFix, with the run's times as means.  Exponential times have no memory: a client reports "
            "in every interval with the chance $1-e^{-\\Delta t/\\tau_i}$, so that (40) gives it the share "
            "$\\propto\\lceil\\tau_i/\\Delta t\\rceil(1-e^{-\\Delta t/\\tau_i})p_i$, which is not $p_i$.  Exponential "
            "times also leave no bound $\\tau$ for all rounds (Assumption 4), and $\\beta=\\max_id_ie^{-\\Delta t/"
            "\\tau_i}$ instead of 0."
        ),
    ),
    claim.supported.condition(
        "hardware.fixed", "Weights of FedFix for exponential update times", "Section 4.1, corrected"
    )(
        chain=(p_i * tau_i / Delta_t, "<", p_i / chance, "<", p_i * (tau_i / Delta_t + 1)),
        also=(Relation(p_i / chance - p_i * N_i, "<", p_i), Relation(p_i * N_i - p_i / chance, "<", p_i)),
        assumptions=FEDFIX,
        note=(
            "With exponential times $q_i=d_i(1-e^{-\\Delta t/\\tau_i})$ in every round, so the weights are "
            "$d_i=p_i/(1-e^{-\\Delta t/\\tau_i})$.  Checked: they lie between $\\frac{\\tau_i}{\\Delta t}p_i$ and "
            "$(\\frac{\\tau_i}{\\Delta t}+1)p_i$, less than $p_i$ away from (40)."
        ),
        corrects="fraboni2022:hardware",
    ),
    claim.proved.identity(
        "hardware.async", "Exponential update times and asynchronous FedAvg", "Section 4.1, clients computation time"
    )(
        chain=(d_i / (tau_i * rate), "==", q_i),
        assumptions=CYCLES,
        note=(
            "The left side is $d_i$ times the chance $\\tau_i^{-1}/\\sum_j\\tau_j^{-1}$ that client i is the next of "
            "the exponential clocks; the right side is measured on a cycle of fixed times.  For asynchronous FedAvg "
            "(36) does hold for both, whatever the weights; for synchronous FedAvg the times do not matter."
        ),
    ),
    claim.proved.identity(
        "dl-case", "Window and staleness of identical clients", "Section 4.1, clients data distributions"
    )(
        chain=(W, "==", M),
        also=(Relation(M - 1, "<=", tau), Relation(tau, "<=", M - 1)),
        assumptions=(*CYCLES, *COUNTED, a.whole_times, a.identical_times),
        printed=r"\mathcal Z_i=\mathcal Z_1,\ \tau_i=\tau_1:\quad W=M,\quad \tau=M-1",
        note=f"For asynchronous FedAvg; the distribution of the data plays no part.  {ONE_AT_A_TIME}",
    ),
    claim.proved.inequality(
        "dl-case.bounds", "Window and staleness of clients with different update times", "Section 4.1, any update times"
    )(
        chain=(M, "<=", W, "<=", M * nu_period / tau_0),
        also=(Relation(tau, ">=", M - 1), Relation(tau, "<=", (M - 1) * ratio_above)),
        assumptions=(*CYCLES, *COUNTED),
        note="For identical times both ends of each chain are the same number.",
    ),
    claim.definition("learning-rate", "Learning rates of the closed forms", "Section 4.1, learning rates")(
        printed=r"\eta_g=1,\quad \eta_l\propto\frac1{\sqrt{KN}}",
        note="Closed forms are derived with $\\eta_l=1/\\sqrt{KN}$.",
        implemented_by="fedtheory.sources.fraboni2022.statements.hardware:substitute_learning_rates",
    ),
]
