"""Section 3.4: windows of updates and bounded gradients."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum, Expectation, Expr, Gradient, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, write_explicit_terms

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

RELAXED = Notation(WHERE)
B = RELAXED.add(q.full_gradient_bound, nonnegative=True)
B_g = RELAXED.add(q.gradient_bound, nonnegative=True)
L_i = RELAXED.add(q.client_objective, r"\mathcal{L}_i")
theta = RELAXED.add(q.server_model, r"\theta^n")
virtual = RELAXED.add(q.virtual_iterate)
after = RELAXED.add(q.next_virtual_iterate)
g_i = RELAXED.add(q.stochastic_gradient)
local = RELAXED.add(q.local_iterate, r"\theta_i^{\rho_i(n),k}")
k = RELAXED.add(q.local_step_index, nonnegative=True)
change_sq = RELAXED.add(q.local_change_sq, nonnegative=True)
in_window = RELAXED.add(q.window_loss, real=True)
in_window_n = RELAXED.add(q.window_round_loss, real=True)
weight_in_window = RELAXED.add(q.window_weight, real=True)
surrogate_loss = RELAXED.add(q.mean_surrogate_suboptimality, real=True)
gradients = RELAXED.add(q.mean_virtual_gradient_sq, nonnegative=True)
mean_gap = RELAXED.add(
    q.mean_over_rounds(q.round_optimum_gap, r"\frac1N\sum_n[\mathcal L^n(\bar\theta)-\mathcal L^n(\bar\theta^n)]"),
    real=True,
)
chi = RELAXED.add(q.mean_chi_sq, nonnegative=True)
chi_n = RELAXED.add(q.chi_sq, nonnegative=True)
gap_bar = RELAXED.add(
    q.client_gap_at_surrogate_optimum, r"(\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*))", real=True
)
optimum_distance = RELAXED.add(q.surrogate_optimum_distance, nonnegative=True)
start = RELAXED.add(q.initial_distance, r"\|\theta^0-\theta^*\|", nonnegative=True)
r_j = RELAXED.add(q.type_importance, real=True)
st_jn = RELAXED.add(q.type_share, real=True)
q_bar = RELAXED.add(q.mean_weight_sum, nonnegative=True)

WINDOWED = tilde_eta * K * (W - 1) * B_g**2
"""eps_W as in (25) and (28), for weights that sum to one."""
EPSILON_W = rho**2 * WINDOWED
BOUND = EPSILON_F + write_explicit_terms() + EPSILON_W
"""Theorem 3's bound on the loss, with explicit constants."""


def write_bound(step_size: Expr, updates: Expr, delay: Expr, width: Expr) -> Expr:
    """Return Theorem 3's bound with other parameters and the constants of the run."""
    return BOUND.subs({eta_l: step_size, N: updates, tau: delay, W: width}, simultaneous=True)


_CLOCKED = (a.aggregation_scheme, a.given_weights)
CONVEX_CLOCKED = (*_CLOCKED, a.convex_and_smooth)
_CONVEX = Expectation(Value(L_i, after)) - Expectation(Value(L_i, theta))
_SLOPE = Expectation(inner(Gradient(L_i, after), after - theta))

claim = Statements("fraboni2022", RELAXED)

CLAIMS = [
    claim.assumption("assumption-6", "Window", "Assumption 6")(
        chain=(1, "<=", W, "<=", N),
        also=(Relation(weight_in_window, "==", W * q_i),),
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
        conditions=[rho <= 1],
        assumptions=CONVEX_CLOCKED,
        note="(25) as published, with $\\mathcal L_i$ for $\\bar{\\mathcal L}$, where $q(n)\\le1$ in every update.",
    ),
]
