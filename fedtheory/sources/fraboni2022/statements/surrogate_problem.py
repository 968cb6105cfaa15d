"""Sections 2.4 to 2.6: virtual iterates, the problem that a run minimises, types of clients."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.setting import (
    SETTING,
    F,
    L_i,
    L_start,
    Lbar_start,
    Ln_mean,
    Ln_start,
    after_sq,
    at_start,
    before_sq,
    first_sq,
    g_i,
    gap_i,
    last_sq,
    local,
    mu,
    next_local,
    next_virtual,
    r_j,
    received,
    s_j,
    s_jn,
    slope,
    slope_n,
    st_jn,
    theta,
    theta_bar,
    virtual,
    x,
)

k = sp.Symbol("k", nonnegative=True)
FUNCTIONS = Notation(SETTING)
Lbar = FUNCTIONS.add(q.surrogate_objective, r"\bar{\mathcal{L}}")
L_mean = FUNCTIONS.add(q.mean_round_objective, r"\frac1N\sum_n\mathcal{L}^n")
Ln_virtual = FUNCTIONS.add(q.round_objective_at_virtual, real=True)
at_virtual = Expectation(Value(L_i, virtual))
"""E L_i(theta^{n,k}) of each client."""

claim = Statements("fraboni2022", SETTING)

CLAIMS = [
    claim.supported.identity("eq-7", "The virtual iterates", "(7)")(
        chain=(norm_sq(virtual - theta - eta_g * ClientSum(q_in * (local - received))), "==", 0),
        also=(
            Relation(sp.Max(0, 1 - k) * norm_sq(virtual - theta), "==", 0),
            Relation(
                norm_sq(next_virtual - theta - eta_g * ClientSum(q_in * (next_local - received))),
                "==",
                0,
            ),
        ),
        where=SETTING | {k: q.local_step_index},
        place="path",
        assumptions=SCHEME,
        printed=(
            r"\theta^{n,k}\coloneqq\theta^n+\eta_g\sum_{i=1}^M\omega_i(n)[\theta_i^{(\rho_i(n),k)}"
            r"-\theta^{\rho_i(n)}],\quad\theta^{n,0}=\theta^n,\ \theta^{n,K}=\theta^{n+1,0}=\theta^{n+1}"
        ),
        note=(
            "On sampled paths with fixed reports.  The second relation is about the vectors at k = 0, and has the "
            "factor 0 at the other local steps.  The third relation has $\\theta^{n,k+1}$; after the last local step "
            "its right side is $\\theta^{n+1}$ by (6)."
        ),
    ),
    claim.proved.identity("eq-7.distances", "Mean square distances of the virtual iterates", "(7), in expectation")(
        chain=(first_sq, "==", before_sq),
        also=(Relation(last_sq, "==", after_sq),),
        assumptions=SCHEME,
        note=(
            "The distances of $\\theta^{n,0}$ and $\\theta^{n,K}$ from $\\theta^*$ on the left, those of the server's "
            "models on the right.  It holds for sampled clients as well."
        ),
    ),
    claim.supported.identity("eq-8", "A virtual gradient step", "(8)")(
        chain=(norm_sq(next_virtual - virtual + tilde_eta * ClientSum(q_in * (g_i))), "==", 0),
        also=(Relation(norm_sq(virtual - theta - eta_g * ClientSum(q_in * (local - received))), "==", 0),),
        place="path",
        assumptions=SCHEME,
        printed=(
            r"\theta^{n,k+1}=\theta^{n,k}-\eta_g\eta_l\sum_{i=1}^M\omega_i(n)"
            r"\nabla\mathcal L_i(\theta_i^{\rho_i(n),k},\xi_i)"
        ),
        note="On sampled paths with fixed reports, with the definition (7) of $\\theta^{n,k}$ beside it.",
    ),
    claim.definition("eq-9", "The objective of one update", "(9)")(
        chain=(Ln_virtual, "==", ClientSum(q_in * at_virtual)),
        where=FUNCTIONS,
        place="step",
        assumptions=SCHEME,
        printed=r"\mathcal L^n(\theta)\coloneqq\sum_{i=1}^Mq_i(n)\mathcal L_i(\theta)",
        note=(
            "Compares, in expectation at all virtual iterates $\\theta^{n,k}$, the one quadratic with the weighted "
            "coefficients with the weighted values."
        ),
        implemented_by="fedtheory.engine.surrogate:Surrogate",
    ),
    claim.proved.identity("eq-9.optima", "The optima of one update and of the surrogate", "(9)-(10)")(
        chain=(slope_n, "==", 0),
        also=(Relation(slope, "==", 0),),
        assumptions=SCHEME,
        printed=(
            r"\bar\theta^n\text{ the optimum of }\mathcal L^n,\quad\bar\theta\text{ the optimum of }\bar{\mathcal L}"
        ),
        note="The gradients vanish there.",
    ),
    claim.supported.identity("eq-10", "The surrogate problem", "(10)")(
        chain=(Value(Lbar, x), "==", ClientSum(q_i * Value(L_i, x)), "==", Value(L_mean, x)),
        where=FUNCTIONS,
        place="points",
        assumptions=SCHEME,
        printed=(
            r"\bar{\mathcal L}(\theta)\coloneqq\sum_{i=1}^Mq_i\mathcal L_i(\theta)=\frac1N\sum_{n=0}^{N-1}"
            r"\mathcal L^n(\theta),\quad q_i=\frac1N\sum_{n=0}^{N-1}q_i(n),\quad "
            r"\tilde q_i(n)=\frac{q_i(n)}{\sum_iq_i(n)}"
        ),
        note=(
            "At free points.  $\\bar{\\mathcal L}$ and the mean of the $\\mathcal L^n$ are one quadratic each, with "
            "the weighted and the averaged coefficients.  The shares are in `fraboni2022:eq-10.first-model`."
        ),
    ),
    claim.proved.identity("eq-10.first-model", "The surrogate problem at the first model", "(10), at the first model")(
        chain=(ClientSum(q_i * at_start), "==", Ln_mean),
        also=(Relation(Lbar_start, "==", ClientSum(q_i * at_start)), Relation(qt_in * q_n, "==", q_in)),
        assumptions=(*SCHEME, a.somebody_reports),
        note="At $\\theta^0$, with the shares of each update.",
    ),
    claim.definition("eq-11", "Expected convergence residual", "(11)")(
        chain=(Sigma, ">=", Expectation(ClientSum(q_i * norm_sq(Gradient(L_i, theta_bar))))),
        place="step",
        assumptions=SCHEME,
        printed=(
            r"\Sigma\coloneqq\sum_{i=1}^Mq_i\mathbb E_{\xi_i}\left[\|\nabla\mathcal L_i(\bar\theta,\xi_i)\|^2\right]"
        ),
        note="Full gradients give the least residual; noise adds its variance.",
        implemented_by="fedtheory.language.quantities:surrogate_noise",
    ),
    claim.supported.condition(
        "eq-11.claim",
        "The residual vanishes only where the clients share a minimiser and take full gradients",
        "below (11)",
    )(
        chain=(Expectation(q_i * norm_sq(Gradient(L_i, theta_bar))), "<=", Sigma),
        also=(Relation(Sigma, ">=", 2 * mu * ClientSum(q_i * gap_i)), Relation(Sigma, ">=", 0)),
        place="step",
        assumptions=(*SCHEME, a.convex_and_smooth),
        printed=(
            r"\Sigma\text{ is positive and null only when clients have the same loss function and perform GD steps}"
        ),
        note=(
            "Read: of the loss functions only the minimisers count.  $\\Sigma=0$ exactly where, for each client with "
            "$q_i>0$, the stochastic gradient at $\\bar\\theta$ is zero almost surely.  Read for the functions "
            "themselves the sentence is false.  The clients $(x-1)^2$ and $\\frac12(x-1)^2$ have $\\Sigma=0$ with full "
            "gradients, and so has any schedule in which clients of one loss alone report."
        ),
    ),
    claim.supported.identity("eq-12", "The problem in terms of types of clients", "(12)")(
        chain=(Expectation(Value(F, virtual)), "==", ClientSum(r_j * at_virtual)),
        also=(Relation(Ln_virtual, "==", ClientSum(s_jn * at_virtual)),),
        where=FUNCTIONS,
        place="step",
        assumptions=SCHEME,
        printed=(
            r"\mathcal L(\theta)=\sum_{j=1}^Jr_jF_j(\theta)\quad\text{and}\quad"
            r"\mathcal L^n(\theta)=\sum_{j=1}^Js_j(n)F_j(\theta)"
        ),
        note=(
            "In expectation at all virtual iterates $\\theta^{n,k}$.  The weights of a type stand at its first client: "
            "sums over clients are over types."
        ),
    ),
    claim.proved.identity(
        "eq-12.first-model", "The problem in terms of types, at the first model", "(12), at the first model"
    )(
        chain=(L_start, "==", ClientSum(r_j * at_start)),
        also=(Relation(Ln_start, "==", ClientSum(s_jn * at_start)),),
        assumptions=SCHEME,
        note="At $\\theta^0$.",
    ),
    *claim.refuted.definition("eq-12.normalised", "Normalised weights of types", "below (12)")(
        chain=(st_jn * M * s_jn, "==", s_jn),
        assumptions=(*SCHEME, a.somebody_reports),
        printed=r"\tilde s_j(n)=s_j(n)/\sum_{i=1}^Ms_j(n)",
        note="Read literally, the sum over i of $s_j(n)$ is $Ms_j(n)$: all types would have the share 1/M.",
        implemented_by="fedtheory.engine.surrogate:Surrogate",
        fault="misprint",
    ).with_repair(
        title="Normalised weights of types, summed over types",
        lhs=st_jn * ClientSum(s_jn),
        also=(Relation(ClientSum(s_jn), "==", q_n),),
        note="The sum runs over the types j = 1, ..., J; it is $q(n)$.",
        implemented_by="fedtheory.engine.surrogate:Surrogate",
        verdict="definition",
    ),
    claim.definition("table-1", "The weights of clients and of types", "Table 1")(
        chain=(ClientSum(r_j), "==", ClientSum(p_i)),
        also=(
            Relation(ClientSum(s_jn), "==", ClientSum(q_in)),
            Relation(ClientSum(st_jn), "==", ClientSum(qt_in)),
            Relation(ClientSum(s_j), "==", ClientSum(q_i)),
            Relation(q_in, "<=", d_i),
        ),
        assumptions=(*SCHEME, a.somebody_reports),
        printed=(
            r"p_i,\ r_j;\quad\omega_i(n);\quad d_i(n);\quad q_i(n),\ s_j(n);\quad\tilde q_i(n),\ \tilde s_j(n);\quad "
            r"q_i,\ s_j"
        ),
        note="Each pair has the same total, and no client has a larger weight in expectation than when it reports.",
        implemented_by="fedtheory.engine.surrogate:Surrogate",
    ),
]
