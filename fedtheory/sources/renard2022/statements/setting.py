"""Sections 1 and 2.1: the problem, Algorithm 1, the seven assumptions, the shadow sequence, the goal."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.renard2022.statements.notation import *
from fedtheory.sources.renard2022.statements.theorem import TUNED_STEP, tuned_constant

CLAIMS = [
    claim.definition("problem", "The federated objective", "assumptions, item 3")(
        chain=(Value(F, x), "==", Average(Value(F_i, x))),
        place="points",
        assumptions=SETTING,
        printed=r"F(x)=\frac1M\sum_{i=1}^M F_i(x)",
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.algorithm("algorithm-1", "Federated averaging", "Algorithm 1")(
        chain=(norm_sq(x_i_next - (x_i - eta * g_i)), "==", 0),
        also=(
            Relation(sp.Integer(0) ** k * norm_sq(x_i - x_t), "==", 0),
            Relation(norm_sq(x_t_next - (x_t + Average(x_i_end - x_t))), "==", 0),
        ),
        place="round",
        assumptions=SETTING,
        printed=(
            r"x_i^{(t,0)}\leftarrow x^{(t)};\quad \text{for } k\in\{0,\dots,\tau\}:\ "
            r"x_i^{(t,k+1)}\leftarrow x_i^{(t,k)}-\eta\, g_i(x^{(t,k)});\quad "
            r"\Delta_i^{(t)}\leftarrow x_i^{(t,\tau)}-x_i^{(t,0)};\quad "
            r"x^{(t+1)}\leftarrow x^{(t)}+\frac1M\sum_i\Delta_i^{(t)}"
        ),
        note=(
            "The loop over k in {0, ..., tau} makes tau + 1 local updates, of which the last is never used: the change "
            "is taken at x_i^(t,tau), so exactly tau updates enter.  The gradient is printed at x^(t,k), without the "
            "client's index; it is read at the client's own iterate x_i^(t,k), as in assumption 1.  The three "
            "equations are the local step, the start of a round from the server's model (0^k is 1 at k = 0, else 0), "
            "and the server's step by the average of the local changes."
        ),
        implemented_by="fedtheory.federation:fedavg",
    ),
    claim.assumption("assumption-1", "Local steps", "section 2.1, item 1")(
        printed=r"x_i^{(t,k+1)}\leftarrow x_i^{(t,k)}-\eta\, g_i(x_i^{(t,k)}),\ k\in[0,\tau],\ \eta\text{ constant}",
        implemented_by="fedtheory.language.assumptions:same_local_work",
    ),
    claim.assumption("assumption-2", "Server step", "section 2.1, item 2")(
        printed=r"x^{(t+1)}\leftarrow x^{(t)}+\Delta^{(t)}",
        implemented_by="fedtheory.language.assumptions:unit_server_step",
    ),
    claim.assumption("assumption-3", "Uniform shares", "section 2.1, item 3")(
        printed=r"F(x)=\frac1M\sum_{i=1}^M F_i(x),\quad i\in\{0,1,\dots,M\}",
        note="The labels 0, ..., M would be M + 1 clients; the sum over i = 1, ..., M is read.",
        implemented_by="fedtheory.language.assumptions:uniform_shares",
    ),
    claim.assumption("assumption-4", "Full participation", "section 2.1, item 4")(
        printed=r"\text{each client takes part in every round}",
        implemented_by="fedtheory.language.assumptions:full_participation",
    ),
    claim.assumption("assumption-5", "Convexity and smoothness", "section 2.1, item 5")(
        printed=r"\text{each }F_i\text{ is convex and }L\text{-smooth}",
        note="L is the largest eigenvalue of the clients' Hessians: the smallest constant that works.",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim.assumption("assumption-6", "Unbiased gradients of bounded variance", "section 2.1, (1)-(2)")(
        printed=(
            r"\mathbb E[g_i(x_i^{(t,k)})\mid x_i^{(t,k)}]=\nabla F_i(x_i^{(t,j)}),\quad "
            r"\mathbb E[\|g_i(x_i^{(t,k)})-\nabla F_i(x_i^{(t,j)})\|^2\mid x_i^{(t,k)}]\le\sigma^2"
        ),
        note=(
            "The index j is read as k.  sigma^2 is the smallest constant on the stated region; mini-batch noise on "
            "data is unbounded on all of space, so there the region is a ball that contains the run."
        ),
        implemented_by="fedtheory.language.assumptions:unbiased_bounded_variance",
    ),
    claim.assumption("assumption-7", "Bounded gradient dissimilarity", "section 2.1, (3)")(
        printed=r"\max_i\sum_x\|\nabla F_i(x)-\nabla F(x)\|\le\zeta",
        note=(
            "As transcribed there is a sum over x; a supremum must stand there, and is read.  For quadratics with "
            "different Hessians no zeta exists on all of space; there the region is a ball that contains the run."
        ),
        implemented_by="fedtheory.language.assumptions:bounded_dissimilarity",
    ),
    claim.definition("notation-2.1", "Shadow sequence", "Notation 2.1")(
        chain=(Expectation(norm_sq(xbar - Average(x_i))), "==", 0),
        place="step",
        assumptions=SETTING,
        printed=r"\bar x^{(t,k)}=\frac1M\sum_{i=1}^M x_i^{(t,k)}",
        implemented_by="fedtheory.language.quantities:average_iterate",
    ),
    *claim.refuted.rate("goal-rate", "The form of the result", "before Theorem 2.1")(
        rate=Rate(measured=average_error, order=1 / (tau * T), variable=T),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]"
            r"=O\left(\frac{1}{\tau T}\right)"
        ),
        note="At a constant step size (assumption 1), with noise or drift, the left side tends to a positive limit.",
    ).with_repair(
        title="The distance to the limit is of that order",
        rate=Rate(measured=average_error - limiting_error, order=1 / (tau * T), variable=T),
        note="At a constant step size the error tends to a constant; only the distance to it is O(1/(tau T)).",
        verdict="asymptotic",
    ),
    claim.asymptotic.rate(
        "goal-rate.tuned",
        "The error itself, with a step size that shrinks with the horizon",
        "before Theorem 2.1, corrected",
    )(
        rate=Rate(average_error, 1 / sp.sqrt(T), T, step_size=TUNED_STEP, constant=tuned_constant),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note=(
            "With eta = 1/(4 L sqrt(T)) the first two terms of Theorem 2.1 balance at order 1/sqrt(T); the constant is "
            "the theorem's."
        ),
        corrects="renard2022:goal-rate",
    ),
]
