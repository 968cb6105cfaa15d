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

RELAXED: dict[sp.Symbol, q.Notion] = {
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

WINDOWED = tilde_eta * K * (W - 1) * B**2
"""eps_W as (25) and (28) have it, for weights that sum to one."""
EPSILON_W = tilde_eta * K * (W - 1) * rho**2 * B_g**2
BOUND = EPSILON_F + explicit_terms() + EPSILON_W
"""Theorem 3's bound on the loss, with explicit constants."""


def bound_with(step_size: Expr, updates: Expr, delay: Expr, width: Expr) -> Expr:
    """Theorem 3's bound with other parameters, the constants of the run as they are."""
    return BOUND.subs({eta_l: step_size, N: updates, tau: delay, W: width}, simultaneous=True)


_CLOCKED = (a.aggregation_scheme, a.given_weights)
CONVEX_CLOCKED = (*_CLOCKED, a.convex_and_smooth)
_RMS = "Means of norms are read as roots of mean squares, and squared; "
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
    *claim.refuted.condition(
        "assumption-6.delay", "The window is at least as long as the largest delay", "below Assumption 6"
    )(
        chain=(W, ">=", tau),
        where=RELAXED,
        assumptions=(a.one_type,),
        printed=r"\text{by construction, }W\ge\tau",
        note=(
            "A client that has not reported by the end makes $\\tau$ as large as N - 1 for W = 1.  Nor does it follow "
            "from Assumption 6 where all report: a client can be the first in one window and the last in the next.  "
            "Tried on clients of one type, as only schedules and weights matter."
        ),
    ).with_repair(
        title="The largest delay is less than two windows",
        chain=(tau, "<=", 2 * W - 2),
        conditions=[q_i > 0],
        assumptions=SCHEME,
        note=(
            "Every client reports in every window, so that two reports are at most 2W - 1 updates apart, and the model "
            "that it received after the first is one update younger."
        ),
        verdict="supported",
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
            "gradient that the run meets, $B_g$ the same with stochastic gradients at the clients' iterates.  The "
            "print bounds the mean norm of full gradients only."
        ),
        implemented_by="fedtheory.sources.fraboni2022.statements.relaxed:bounded_gradients",
    ),
    *claim.refuted.step("eq-23", "Distance of consecutive models", "(23)")(
        chain=(
            Q,
            "<=",
            eta_g**2 * q_n * ClientSum(q_in * change_sq),
            "<=",
            (tilde_eta * q_n * K * B) ** 2,
        ),
        where=RELAXED,
        assumptions=_CLOCKED,
        printed=(
            r"\mathbb E\|\theta^{n+1}-\theta^n\|\le\eta_g\sum_{i=1}^Mq_i(n)\mathbb E\|\theta_i^{\rho_i(n)+1}"
            r"-\theta^{\rho_i(n)}\|\le\eta_g\eta_lq(n)KB"
        ),
        note=(
            _RMS + "the first link is right.  The second needs a bound on the stochastic gradients, of which the local "
            "change is made: near a common optimum B is small, but noise moves the models."
        ),
    ).with_repair(
        title="Distance of consecutive models, with bounded stochastic gradients",
        chain=(
            Q,
            "<=",
            eta_g**2 * q_n * ClientSum(q_in * change_sq),
            "<=",
            (tilde_eta * q_n * K * B_g) ** 2,
        ),
        note=_RMS + "both links follow from Minkowski's inequality.",
        verdict="proved",
    ),
    *claim.refuted.step("eq-24", "Growth of a client's loss in one update", "(24)")(
        chain=(_CONVEX, "<=", _SLOPE, "<=", tilde_eta * q_n * B**2 * (k + 1)),
        where=RELAXED,
        place="step",
        assumptions=_CLOCKED,
        printed=(
            r"\mathbb E\mathcal L_i(\theta^{n+1})-\mathbb E\mathcal L_i(\theta^n)\le\mathbb E\langle\nabla"
            r"\mathcal L_i(\theta^{n+1}),\theta^{n+1}-\theta^n\rangle\le\eta_g\eta_lq(n)B^2K"
        ),
        note=(
            "Checked after each number k + 1 of local steps in place of K.  The second link inherits the gap of (23); "
            "besides, Cauchy-Schwarz for the mean of a product needs mean squares, which Assumption 7 does not bound."
        ),
    ).with_repair(
        title="Growth of a client's loss in one update, with bounded stochastic gradients",
        chain=(_CONVEX, "<=", _SLOPE, "<=", tilde_eta * q_n * B_g**2 * (k + 1)),
        note="With $B_g^2$ a bound on mean squares, of stochastic gradients at the clients' iterates too.",
        verdict="supported",
    ),
    *claim.refuted.step("eq-25", "Losses over a window", "(25)")(
        chain=(in_window, "<=", surrogate_in_window + weight_in_window * K * WINDOWED),
        where=RELAXED,
        assumptions=_CLOCKED,
        printed=(
            r"\sum_{n=sW}^{(s+1)W-1}\sum_{k=0}^{K-1}q_i\mathbb E[\mathcal L_i(\theta^{(n,k)})]\le\sum_{n=sW}^{(s+1)W-1}"
            r"\sum_{k=0}^{K-1}q_i(n)\left[\mathbb E[\bar{\mathcal L}(\theta^{(n,k)})]+\eta_g\eta_lK(W-1)B^2\right]"
        ),
        note="On the right $\\bar{\\mathcal L}$ should be $\\mathcal L_i$, and the factor $q(n)$ of (24) is missing.",
    ).with_repair(
        title="Losses of one client over a window",
        rhs=in_window_n + weight_in_window * K * rho * tilde_eta * K * (W - 1) * B_g**2,
        assumptions=CONVEX_CLOCKED,
        note=(
            "$q_iW=\\sum_mq_i(m)$ trades each update for each other one of the window; their losses differ by at most "
            "$W-1$ steps of (24), forwards or backwards, each with $q(n)\\le\\rho$."
        ),
        verdict="proved",
    ),
]
