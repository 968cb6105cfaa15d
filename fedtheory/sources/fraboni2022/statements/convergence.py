"""Section 3.1: Assumptions 1 to 5, and the notation of the convergence theorems."""

from __future__ import annotations

from fedtheory.kernel.expressions import Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *

CONVERGENCE = Notation(WHERE)
L_i = CONVERGENCE.add(q.client_objective, r"\mathcal{L}_i")
x = CONVERGENCE.add(q.point)
y = CONVERGENCE.add(q.second_point)
virtual = CONVERGENCE.add(q.virtual_iterate)
local = CONVERGENCE.add(q.local_iterate, r"\theta_i^{\rho_i(n),k}")
noise = CONVERGENCE.add(q.gradient_noise, r"\epsilon_i")
received = CONVERGENCE.add(q.received_model)
theta_star = CONVERGENCE.add(q.optimum, r"\theta^*")
theta_bar = CONVERGENCE.add(q.surrogate_optimum)
stale = CONVERGENCE.add(q.staleness, r"(n-\rho_i(n))", real=True)
reports = CONVERGENCE.add(q.reports, real=True)
largest_q = CONVERGENCE.add(q.largest_expected_weight, positive=True)
least_q = CONVERGENCE.add(q.smallest_weight_sum, positive=True)
chi_n = CONVERGENCE.add(q.chi_sq, nonnegative=True)
chi_max = CONVERGENCE.add(q.largest_chi_sq, nonnegative=True)
gap_bar = CONVERGENCE.add(
    q.client_gap_at_surrogate_optimum, r"(\mathcal L_i(\bar\theta)-\mathcal L_i(\theta_i^*))", real=True
)
gradient_n = CONVERGENCE.add(q.virtual_gradient_sq, nonnegative=True)
gradients = CONVERGENCE.add(q.mean_virtual_gradient_sq, nonnegative=True)
missing_n = CONVERGENCE.add(q.unrepresented_gap, nonnegative=True)
missing = CONVERGENCE.add(q.mean_unrepresented_gap, nonnegative=True)
biased_n = CONVERGENCE.add(q.misrepresentation, nonnegative=True)
biased = CONVERGENCE.add(q.mean_misrepresentation, nonnegative=True)
Z_n = CONVERGENCE.add(q.round_gap, real=True)
loss = CONVERGENCE.add(q.mean_virtual_suboptimality, nonnegative=True)
loss_n = CONVERGENCE.add(q.virtual_suboptimality, nonnegative=True)
r_j = CONVERGENCE.add(q.type_importance, real=True)
st_jn = CONVERGENCE.add(q.type_share, real=True)
misfit = CONVERGENCE.add(q.misfit)
absences = CONVERGENCE.add(q.absences)
J = CONVERGENCE.add(q.type_count)
longest = CONVERGENCE.add(q.longest_report_interval, positive=True)
count = CONVERGENCE.add(q.report_count, r"\sum_n\mathbb I_i(n)", nonnegative=True)
period = CONVERGENCE.add(q.report_interval, positive=True)
optimum_distance = CONVERGENCE.add(q.surrogate_optimum_distance, nonnegative=True)

claim = Statements("fraboni2022", CONVERGENCE)

CLAIMS = [
    claim.assumption("assumption-1", "Smoothness", "Assumption 1")(
        chain=(norm_sq(Gradient(L_i, x) - Gradient(L_i, y)), "<=", L**2 * norm_sq(x - y)),
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\forall i\in\{1,\dots,n\},\ \|\nabla\mathcal L_i(x)-\nabla\mathcal L_i(y)\|\le L\|x-y\|",
        note="Squared.  There are M clients, not n.",
        implemented_by="fedtheory.language.assumptions:smooth",
    ),
    claim.assumption("assumption-2", "Convexity", "Assumption 2")(
        chain=(Value(L_i, x), ">=", Value(L_i, y) + inner(Gradient(L_i, y), x - y)),
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\mathcal L_i\text{ is convex}",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim.assumption("assumption-3", "Unbiased gradients", "Assumption 3")(
        chain=(Expectation(inner(noise, local - theta_star)), "==", 0),
        also=(Relation(Expectation(inner(noise, received - theta_bar)), "==", 0),),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=r"\mathbb E_{z_i}[g_i(x)]=\nabla\mathcal L_i(x)",
        note="The noise $\\epsilon_i=g_i-\\nabla\\mathcal L_i$ is uncorrelated with what a client knows.",
        implemented_by="fedtheory.language.assumptions:unbiased_gradients",
    ),
    claim.assumption("assumption-4", "Finite answering time", "Assumption 4")(
        chain=(stale, "<=", tau, "<=", N - 1),
        assumptions=ASSUMPTIONS,
        printed=r"\tau\coloneqq\max_{i,n}(n-\rho_i(n)),\quad\mathbb P(\tau<\infty)=1",
        note="In N updates it is at most N - 1.",
        implemented_by="fedtheory.language.assumptions:finite_answering_time",
    ),
    *claim.refuted.assumption("assumption-5", "Covariance of the weights", "Assumption 5")(
        chain=(alpha, "<", 1),
        conditions=[M >= 2],
        assumptions=SCHEME,
        printed=(
            r"\exists\alpha\in(0,1):\ \mathbb E[\omega_i(n)\omega_j(n)]=\alpha q_i(n)q_j(n),\quad "
            r"\text{satisfied by all the standard FL schemes considered}"
        ),
        note=(
            "Read for $i\\ne j$.  Where two clients report together with certainty, as in synchronous FedAvg, "
            "$\\alpha=1$ is forced; where one client is sampled at a time, $\\alpha=0$ is.  The interval is open."
        ),
        implemented_by="fedtheory.language.assumptions:weight_covariance",
    ).with_repair(
        title="Covariance of the weights, with the closed interval",
        chain=(0, "<=", alpha, "<=", 1),
        note="All that is used of alpha, in Appendix A, is that it is at most one.",
        implemented_by="fedtheory.language.assumptions:weight_covariance",
        conditions=(),
        verdict="definition",
    ),
]
