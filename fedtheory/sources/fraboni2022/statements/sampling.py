"""Appendix C: centralised learning, and rounds with sampled clients."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.assumptions import model_free_noise
from fedtheory.sources.fraboni2022.statements.asynchronous import sync_epsilon
from fedtheory.sources.fraboni2022.statements.hardware import (
    FREE,
    HARDWARE,
    sigma,
    substitute_learning_rates,
    write_theorem_3,
)
from fedtheory.sources.fraboni2022.statements.notation import *

NOTATION = Notation(HARDWARE)
NOTATION[T] = q.expected_clock_time
m = NOTATION.add(q.participants, "m", positive=True)
mu = NOTATION.add(q.strong_convexity, positive=True)
L_xi = NOTATION.add(q.sample_smoothness, positive=True)
q_max = NOTATION.add(q.largest_expected_weight, positive=True)
start = NOTATION.add(q.initial_distance, r"\|\theta^0-\theta^*\|", nonnegative=True)
error = NOTATION.add(
    q.mean_virtual_suboptimality,
    r"(\frac1N\sum_n\frac1K\sum_k[\mathbb E\mathcal L(\theta^{n,k})-\mathcal L(\theta^*)])",
    real=True,
)
round_time = NOTATION.add(q.expected_round_time, positive=True)
alpha_fixed = NOTATION.add(q.fastest_pairing, r"\alpha^{\rm fixed}", nonnegative=True)
beta_fixed = NOTATION.add(q.fastest_excess, r"\beta^{\rm fixed}", nonnegative=True)
limit_gap = NOTATION.add(q.fastest_gap, r"(\mathcal L(\bar\theta)-\mathcal L(\theta^*))", nonnegative=True)
limit_gradient = NOTATION.add(q.fastest_gradient, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)
_WINDOWS = FREE | {W: (3,)}
window_claim = Statements("fraboni2022", NOTATION.without(_WINDOWS), for_all=_WINDOWS)

CENTRALISED = (a.one_client, a.full_rounds, a.unit_server_step)
SAMPLED = (a.synchronous, a.unbiased_updates)
UNIFORM = (a.synchronous, a.uniform_sampling)


def write_admissible_steps(excess: Expr = beta) -> tuple[Expr, Expr]:
    """Return D <= 1/2 and (92), without staleness; they imply the other conditions of A.5 for rho = 1."""
    return sp.Le(D, sp.Rational(1, 2)), sp.Ge(2 - 4 * D - 12 * (2 * alpha + excess) * tilde_eta * L, 1)


def write_unbiased_bound(excess: Expr = beta) -> Expr:
    """Return (107) with the constants of (93)."""
    return (
        start**2 / (tilde_eta * K * N)
        + 6 * alpha * tilde_eta * q_max * Sigma_star
        + 7 * eta_l**2 * (K - 1) ** 2 * L * Sigma_star
        + 6 * excess * tilde_eta * Sigma_star
    )


unbiased_epsilon = (
    theta0_distance**2 / (tilde_eta * K * N)
    + tilde_eta * alpha * Sigma_star / M
    + eta_l**2 * (K - 1) ** 2 * Sigma_star
    + tilde_eta * beta * Sigma_star
)
"""(107) with all constants one."""

CLAIMS = [
    claim.supported.bound("centralized", "Centralised learning", "C.1, (106)")(
        chain=(error, "<=", start**2 / (eta_l * K * N) + 2 * eta_l * Sigma_star),
        assumptions=(*CENTRALISED, a.convex_and_smooth),
        conditions=[eta_l <= 1 / (4 * L_xi)],
        printed=(
            r"\text{The server performs }KN\text{ SGD steps. All these considered elements give }\epsilon=\mathcal "
            r"O\left(\frac{\|\theta^0-\theta^*\|^2}{\eta_lKN}\right)+\mathcal O\left(\eta_l\mathbb "
            r"E_\xi\left[\|\nabla\mathcal L(x,\xi)\|^2\right]\right)"
        ),
        note=(
            "With explicit constants, x the optimum, and samples whose losses are $L_\\xi$-smooth: each step decreases "
            "$\\mathbb E\\|\\theta-\\theta^*\\|^2$ by at least $2\\eta_l(1-2\\eta_lL_\\xi)\\mathbb E[\\mathcal "
            "L(\\theta)-\\mathcal L(\\theta^*)]-2\\eta_l^2\\Sigma$."
        ),
    ),
    claim.supported.bound("centralized.variance", "Centralised learning with bounded variance", "C.1, (106)")(
        chain=(error, "<=", start**2 / (eta_l * K * N) + eta_l * sigma**2),
        assumptions=(*CENTRALISED, a.unbiased_bounded_variance),
        conditions=[eta_l <= 1 / L],
        note=(
            "With a bound $\\sigma^2$ on the variance at every model in the place of the second moment at the optimum, "
            "and larger step sizes; half the constants would do."
        ),
    ),
    claim.proved.condition("centralized.constants", "The constants of centralised learning", "C.1")(
        chain=(R_L, "==", 0),
        also=(Relation(alpha, "==", 1), Relation(beta, "==", 0)),
        assumptions=CENTRALISED,
        printed=(
            r"R(\{\mathcal L^n\})\le R(\mathcal L)=0\dots\text{ while the clients always participate at each "
            r"optimization round (}\alpha=1\text{ and }\beta=0\text{)}"
        ),
    ),
    *claim.refuted.condition("centralized.delay", "The staleness of centralised learning", "C.1")(
        chain=(tau, "==", 1),
        assumptions=CENTRALISED,
        printed=r"\text{There is no gradient delay (}\tau=1\text{)}",
        note="By Assumption 4 $\\tau=\\max_{i,n}(n-\\rho_i(n))$, and no delay is $\\tau=0$, as in Table 2.",
        fault="misprint",
    ).with_repair(
        title="Centralised learning has no staleness",
        chain=(tau, "==", 0),
        verdict="proved",
    ),
    claim.supported.condition("sampling.unbiased.weights", "Unbiased client sampling", "C.2")(
        chain=(q_in, "==", p_i),
        assumptions=UNIFORM,
        printed=r"q_i(n)=p_i",
        note="For uniform sampling, with weights that make up for the clients that are not drawn.",
    ),
    *claim.refuted.condition("sampling.unbiased.alpha", "The pairing is proportional to the participants", "C.2")(
        chain=(alpha * M, "==", m),
        assumptions=(*UNIFORM, a.several_clients),
        printed=r"\alpha\le1\text{ proportional to }m",
        note=(
            "For uniform sampling, where $\\alpha=1$ at $m=M$ fixes the factor: one of two clients has $\\alpha=0$, "
            "not 1/2, as two clients never meet."
        ),
    ).with_repair(
        title="The pairing of sampled weights grows with the participants",
        chain=(1 - 1 / m, "<=", alpha, "<=", 1),
        assumptions=SAMPLED,
        note="For uniform and multinomial sampling.  The exact values of both laws follow.",
        verdict="supported",
    ),
    *claim.refuted.condition("sampling.unbiased", "The excess is inversely proportional to the participants", "C.2")(
        chain=(beta * m, "==", M * q_max),
        assumptions=(*UNIFORM, a.several_clients),
        printed=r"1\ge\beta>0\text{ inversely proportional to }m",
        note=(
            "For uniform sampling, where $\\beta=M\\max_ip_i$ at $m=1$ fixes the factor: $\\beta=0$ at $m=M$, where "
            "all clients participate."
        ),
    ).with_repair(
        title="The excess of sampled weights is what the pairing leaves",
        chain=(1 - alpha, "<=", beta, "<=", M * q_max * (1 - alpha)),
        assumptions=(*SAMPLED, a.fixed_number),
        note=(
            "If each client participates by a coin of its own, $\\alpha=1$ and $\\beta$ is not zero.  "
            "$\\beta$ falls as $\\alpha$ grows with m, and $\\beta=1-\\alpha$ for equal importances: their sum is "
            "constant.  The exact values of both laws follow."
        ),
        verdict="supported",
    ),
    claim.proved.identity("sampling.unbiased.uniform", "Pairing and excess of uniform sampling", "C.2, exact values")(
        chain=(alpha * m * (M - 1), "==", M * (m - 1)),
        also=(Relation(beta * m * (M - 1), "==", M * (M - m) * q_max),),
        assumptions=(*SAMPLED, a.uniform_sampling),
        note=(
            "$\\alpha=\\frac{M(m-1)}{m(M-1)}$, $\\beta=\\frac{M(M-m)}{m(M-1)}\\max_ip_i$: full participation, "
            "$m=M$, is $\\alpha=1$ and $\\beta=0$, as published at the end of C.2."
        ),
    ),
    claim.proved.identity(
        "sampling.unbiased.multinomial", "Pairing and excess of multinomial sampling", "C.2, exact values"
    )(
        chain=(alpha, "==", 1 - 1 / m),
        also=(Relation(beta, "==", 1 / m),),
        assumptions=(*SAMPLED, a.multinomial_sampling, a.several_clients),
        note="$\\beta$ is inversely proportional to m, as published; $\\alpha$ is not proportional to m.",
    ),
    claim.proved.identity("sampling.unbiased.time", "Rounds in a time", "C.2, after (107)")(
        chain=(N, "==", T / round_time),
        assumptions=(a.synchronous,),
        printed=r"N=\mathcal O\left(T/\mathbb E\left[\max_{i\in S_n}T_i\right]\right)",
        note=(
            "T is the expected time of N rounds, from the chances that all participants are among the fastest ones; "
            "the right side sums over all outcomes of a round."
        ),
    ),
    *claim.refuted.bound("sampling.unbiased.bound", "The bound for unbiased sampling", "(107)")(
        chain=(error, "<=", write_unbiased_bound()),
        assumptions=(*SAMPLED, model_free_noise),
        conditions=write_admissible_steps(),
        printed=(
            r"\epsilon=\mathcal O\left(\frac1{\eta_g\eta_lKN}\right)+\mathcal O\left(\eta_g\eta_l\alpha\frac1M\Sigma"
            r"\right)+\mathcal O\left(\eta_l^2(K-1)^2\Sigma\right)+\mathcal O\left(\eta_g\eta_l\beta\Sigma\right)"
        ),
        note=(
            "With the constants of (93), where $\\tau=0$ and $R=0$: $3\\alpha D\\tilde\\eta$ is at most "
            "$\\eta_l^2(K-1)^2L$ by (92), and $\\max q_i(n)=\\max_ip_i$ is $1/M$ for equal importances.  It lacks a "
            "factor K beside $\\beta$: every selected client makes K steps to the same side, so that the server's "
            "variance grows with $K^2$ and not with K.  No hidden constant mends that, nor the step sizes of Theorem "
            "1, with more local steps and rounds."
        ),
    ).with_repair(
        title="The bound for unbiased sampling, with all local steps to one side",
        rhs=write_unbiased_bound(K * beta),
        conditions=write_admissible_steps(K * beta),
        note="With $K\\beta$ for $\\beta$, as in the corrected Lemma 2.",
        verdict="supported",
    ),
    claim.proved.identity("sampling.unbiased.bound.terms", "The terms of (107) are those of Theorem 3", "(107)")(
        chain=(
            write_theorem_3(alpha=alpha, beta=beta, tau=0, window=1, residual=0, largest=1 / M),
            "==",
            unbiased_epsilon,
        ),
        assumptions=SAMPLED,
        note="$\\tau=0$, $W=1$ and $R=0$ in the bound of Theorem 3, hidden constants one.",
    ),
    claim.supported.condition(
        "sampling.biased", "Biased client sampling converges to a suboptimum where it moves the optimum", "C.3"
    )(
        chain=(alpha_fixed, "==", 1),
        also=(Relation(beta_fixed, "==", 0), Relation(limit_gap, ">", 0)),
        assumptions=(a.synchronous, a.strongly_convex_clients),
        conditions=[m < M, limit_gradient > 0],
        printed=(
            r"\mathbb P(i\in S_n)=0/1\Rightarrow\alpha=1,\ \beta=0,\ \text{and the process converges to a suboptimum}"
        ),
        note=(
            "For rounds that always take the m fastest clients with equal weights, m < M as many as the run takes.  "
            "The limit is read as the optimum $\\bar\\theta$ of the selected clients.  It is a suboptimum unless their "
            "mean gradient vanishes at $\\theta^*$, as it does where the other clients are of the same types."
        ),
    ),
    claim.supported.bound("sampling.biased.gap", "The loss of biased client sampling", "C.3, bounds on the loss")(
        chain=(
            mu * limit_gradient**2 / (2 * L**2),
            "<=",
            limit_gap,
            "<=",
            L * limit_gradient**2 / (2 * mu**2),
        ),
        assumptions=(a.synchronous, a.smooth, a.strongly_convex_clients),
        note="Both bounds vanish exactly where the mean gradient of the selected clients vanishes at $\\theta^*$.",
    ),
    window_claim.proved.inequality("sampling.biased.window", "Biased sampling in a part of the window", "(108)")(
        lhs=substitute_learning_rates(write_theorem_3(alpha=1, beta=0, tau=0, window=W, residual=0, largest=1 / M)),
        rhs=sync_epsilon + substitute_learning_rates(tilde_eta * (W - 1) * K),
        assumptions=(a.synchronous,),
        printed=r"\epsilon=\epsilon_{FedAvg}+\mathcal O\left(\eta_g\eta_l(W-1)K\right)",
        note=(
            "Theorem 3 with $\\alpha=1$, $\\beta=0$ and $\\tau=0$ against (33) and the new term, at "
            "$\\eta_l=1/\\sqrt{KN}$, hidden constants one; the factor K is here, which (38) and (42) lost.  The "
            "residual is left out as published, but the rounds of such a window minimise different objectives, and "
            "$R>0$ enters beside $\\Sigma$."
        ),
    ),
]
