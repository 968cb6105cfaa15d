"""Section 3.4: windows of updates and bounded gradients."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expectation, Expr, Gradient, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, explicit_terms

window = Assumption(
    "window",
    r"$\frac1W\sum_{n=sW}^{(s+1)W-1}q_i(n)=q_i$ in every block of W updates",
    lambda run: run.algorithm.schedule,
)
bounded_gradients = Assumption(
    "bounded gradients",
    r"$\mathbb E\|\nabla\mathcal L_i(x)\|\le B$ at the points that the run visits",
    q.full_gradient_bound.on,
)

B, B_g = sp.symbols("B B_g", nonnegative=True)
L_i = sp.Symbol(r"\mathcal{L}_i")
theta, virtual, after = map(sp.Symbol, (r"\theta^n", r"\theta^{n,k}", r"\theta^{n,k+1}"))
g_i, local = sp.Symbol("g_i"), sp.Symbol(r"\theta_i^{\rho_i(n),k}")
k = sp.Symbol("k", nonnegative=True)
change_sq = sp.Symbol(r"\mathbb E\|\theta_i^{\rho_i(n)+1}-\theta^{\rho_i(n)}\|^2", nonnegative=True)
in_window, in_window_n, surrogate_in_window, weight_in_window = (
    sp.Symbol(quantity.latex, real=True)
    for quantity in (q.window_loss, q.window_round_loss, q.window_surrogate_loss, q.window_weight)
)
surrogate_loss = sp.Symbol(
    r"\frac1N\sum_n\frac1K\sum_k[\mathbb E\bar{\mathcal L}(\theta^{n,k})-\bar{\mathcal L}(\bar\theta)]", real=True
)
gradients = sp.Symbol(r"\frac1N\sum_n\frac1K\sum_k\mathbb E\|\nabla\mathcal L(\theta^{n,k})\|^2", nonnegative=True)
gap = sp.Symbol(r"[\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)]", real=True)
mean_gap = sp.Symbol(r"\frac1N\sum_n[\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)]", real=True)
chi = sp.Symbol(r"\chi^2", nonnegative=True)
chi_n = sp.Symbol(r"\chi_n^2", nonnegative=True)
gap_bar = sp.Symbol(r"(\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*))", real=True)
apart = sp.Symbol(r"\|\bar\theta-\theta^*\|", nonnegative=True)
end_sq = sp.Symbol(r"\mathbb E\|\theta^N-\theta^*\|^2", nonnegative=True)
start = sp.Symbol(r"\|\theta^0-\theta^*\|", nonnegative=True)
r_j, st_jn = sp.Symbol("r_j", real=True), sp.Symbol(r"\tilde s_j(n)", real=True)
q_bar = sp.Symbol(r"\bar q", nonnegative=True)

RELAXED: dict[sp.Symbol, q.Quantity] = {
    **WHERE,
    B: q.full_gradient_bound,
    B_g: q.gradient_bound,
    L_i: q.client_objective,
    theta: q.server_model,
    virtual: q.virtual_iterate,
    after: q.next_virtual_iterate,
    g_i: q.stochastic_gradient,
    local: q.local_iterate,
    k: q.local_step_index,
    change_sq: q.local_change_sq,
    in_window: q.window_loss,
    in_window_n: q.window_round_loss,
    surrogate_in_window: q.window_surrogate_loss,
    weight_in_window: q.window_weight,
    surrogate_loss: q.mean_surrogate_suboptimality,
    gradients: q.mean_virtual_gradient_sq,
    mean_gap: q.mean_over_rounds(q.round_optimum_gap, mean_gap.name),
    chi: q.mean_chi_sq,
    chi_n: q.chi_sq,
    gap_bar: q.client_gap_at_surrogate_optimum,
    apart: q.surrogate_optimum_distance,
    end_sq: q.final_distance_sq,
    start: q.initial_distance,
    r_j: q.type_importance,
    st_jn: q.type_share,
    q_bar: q.mean_weight_sum,
}

WINDOWED = tilde_eta * K * (W - 1) * B_g**2
"""eps_W as in (25) and (28), for weights that sum to one."""
EPSILON_W = rho**2 * WINDOWED
BOUND = EPSILON_F + explicit_terms() + EPSILON_W
"""Theorem 3's bound on the loss, with explicit constants."""


def bound_with(step_size: Expr, updates: Expr, delay: Expr, width: Expr) -> Expr:
    """Return Theorem 3's bound with other parameters and the constants of the run."""
    return BOUND.subs({eta_l: step_size, N: updates, tau: delay, W: width}, simultaneous=True)


_CLOCKED = (a.aggregation_scheme, a.given_weights)
CONVEX_CLOCKED = (*_CLOCKED, a.convex_and_smooth)
_CONVEX = Expectation(Value(L_i, after)) - Expectation(Value(L_i, theta))
_SLOPE = Expectation(inner(Gradient(L_i, after), after - theta))

CLAIMS = [
    claim.assumption("assumption-6", "Window", "Assumption 6")(
        chain=(1, "<=", W, "<=", N),
        also=(Relation(weight_in_window, "==", W * q_i),),
        where=RELAXED,
        assumptions=SCHEME,
        printed=(
            r"\exists W\ge1:\ \forall s,\ \frac1W\sum_{n=sW}^{(s+1)W-1}q_i(n)=q_i;\quad "
            r"\text{always satisfied with }W=N"
        ),
        note="W is the smallest one that divides N.",
        implemented_by="fedtheory.sources.fraboni2022.statements.relaxed:window",
    ),
    claim.supported.condition(
        "assumption-6.delay", "The window is at least as long as the largest delay", "below Assumption 6"
    )(
        chain=(W, ">=", tau),
        where=RELAXED,
        conditions=[q_i > 0],
        assumptions=SCHEME,
        printed=r"\text{by construction, }W\ge\tau",
        note=(
            "For runs in which every client participates, with fixed update times: $\\tau$ is then the number of "
            "updates between two reports of a client.  A run that ends before a client's first report says nothing "
            "about its delay, and can have $\\tau=N-1$ with W = 1.  The construction itself, weights that add up alike "
            "in every window, gives the next claim only: a client may be the first in one window and the last in the "
            "next."
        ),
    ),
    claim.supported.condition(
        "assumption-6.delay.any", "The largest delay is less than two windows", "below Assumption 6"
    )(
        chain=(tau, "<=", 2 * W - 2),
        where=RELAXED,
        conditions=[q_i > 0],
        assumptions=SCHEME,
        note=(
            "Whatever the update times are: every client participates in every window, so that two of its reports are "
            "at most 2W - 1 updates apart, and it receives a model after the first of them."
        ),
    ),
    claim.assumption("assumption-7", "Bounded gradients", "Assumption 7")(
        chain=(Expectation(norm_sq(Gradient(L_i, virtual))), "<=", B**2),
        also=(
            Relation(Expectation(norm_sq(Gradient(L_i, local))), "<=", B**2),
            Relation(Expectation(norm_sq(g_i)), "<=", B_g**2),
        ),
        where=RELAXED,
        place="step",
        assumptions=(*SCHEME, bounded_gradients),
        printed=r"\exists B>0:\ \mathbb E[\|\nabla\mathcal L_i(x)\|]\le B",
        note=(
            "No gradient of a quadratic is bounded on all of space: B is the largest root mean square of a full "
            "gradient that the run meets, $B_g$ the same with stochastic gradients at the clients' iterates.  Gradient "
            "clipping, by which the paper motivates the assumption, acts on the stochastic gradients of the local "
            "steps: (23) to (25) are read with $B_g$."
        ),
        implemented_by="fedtheory.sources.fraboni2022.statements.relaxed:bounded_gradients",
    ),
    claim.proved.step("eq-23", "Distance of consecutive models", "(23)")(
        chain=(
            Q,
            "<=",
            eta_g**2 * q_n * ClientSum(q_in * change_sq),
            "<=",
            (tilde_eta * q_n * K * B_g) ** 2,
        ),
        where=RELAXED,
        assumptions=_CLOCKED,
        printed=(
            r"\mathbb E\|\theta^{n+1}-\theta^n\|\le\eta_g\sum_{i=1}^Mq_i(n)\mathbb E\|\theta_i^{\rho_i(n)+1}"
            r"-\theta^{\rho_i(n)}\|\le\eta_g\eta_lq(n)KB"
        ),
        note=(
            "Assumption 7 is read as a bound on the stochastic gradients of the local steps, as clipping gives it, and "
            "means of norms as roots of mean squares, both sides squared.  Both links are Minkowski's inequality.  "
            "With a bound on full gradients only the second one fails: near a common optimum they are small, but noise "
            "moves the models."
        ),
    ),
    claim.supported.step("eq-24", "Growth of a client's loss in one update", "(24)")(
        chain=(_CONVEX, "<=", _SLOPE, "<=", tilde_eta * q_n * B_g**2 * (k + 1)),
        where=RELAXED,
        place="step",
        assumptions=CONVEX_CLOCKED,
        printed=(
            r"\mathbb E\mathcal L_i(\theta^{n+1})-\mathbb E\mathcal L_i(\theta^n)\le\mathbb E\langle\nabla"
            r"\mathcal L_i(\theta^{n+1}),\theta^{n+1}-\theta^n\rangle\le\eta_g\eta_lq(n)B^2K"
        ),
        note=(
            "After each number k + 1 of local steps in the place of K, and with the reading of (23).  Cauchy-Schwarz "
            "for the mean of a product needs bounds on mean squares."
        ),
    ),
    *claim.refuted.step("eq-25", "Losses of one client over a window", "(25)")(
        chain=(in_window, "<=", in_window_n + weight_in_window * K * WINDOWED),
        where=RELAXED,
        assumptions=CONVEX_CLOCKED,
        printed=(
            r"\sum_{n=sW}^{(s+1)W-1}\sum_{k=0}^{K-1}q_i\mathbb E[\mathcal L_i(\theta^{(n,k)})]\le\sum_{n=sW}^{(s+1)W-1}"
            r"\sum_{k=0}^{K-1}q_i(n)\left[\mathbb E[\bar{\mathcal L}(\theta^{(n,k)})]+\eta_g\eta_lK(W-1)B^2\right]"
        ),
        note=(
            "The $\\bar{\\mathcal L}$ on the right is read as $\\mathcal L_i$, which (28) has in its place.  The "
            "factor q(n) of (24) is lost: an update whose weights add up to more than one moves the models further."
        ),
    ).with_repair(
        title="Losses of one client over a window, with the factor of the weights",
        rhs=in_window_n + weight_in_window * K * rho * WINDOWED,
        note=(
            "$q_iW=\\sum_mq_i(m)$ trades each update for each other one of the window; their losses differ by at most "
            "$W-1$ steps of (24), forwards or backwards, each with $q(n)\\le\\rho$."
        ),
        verdict="proved",
    ),
    claim.supported.step("eq-25.weights", "Losses of one client over a window, for weights of at most one", "(25)")(
        chain=(in_window, "<=", in_window_n + weight_in_window * K * WINDOWED),
        where=RELAXED,
        conditions=[rho <= 1],
        assumptions=CONVEX_CLOCKED,
        note="(25) as published, with $\\mathcal L_i$ for $\\bar{\\mathcal L}$, where $q(n)\\le1$ in every update.",
    ),
]
