"""Limit points of algorithms, their rates, and the cost of compression."""

from __future__ import annotations

import sympy as sp

from fedtheory.federation import definition
from fedtheory.federation.algorithms import fedprox
from fedtheory.kernel.expressions import Expr, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate
from fedtheory.language.quantities import Quantity
from fedtheory.language.statements import Statements
from fedtheory.sources.landmarks.local_steps import write_local_step

M, eta, tau, T, mu, L = sp.symbols("M eta tau T mu L", positive=True)
p, omega, sigma, D, G_star = sp.symbols("p omega sigma D G_*", nonnegative=True)
beta, rho, zeta = sp.symbols("beta rho zeta", nonnegative=True)
c = sp.Symbol("c", positive=True)
limit = q.limiting_mean_distance_sq.symbol

NOTATION: dict[sp.Symbol, Quantity] = {
    M: q.clients,
    eta: q.local_step_size,
    tau: q.local_steps,
    T: q.rounds,
    mu: q.strong_convexity,
    L: q.smoothness,
    p: q.communication_probability,
    omega: q.compression_variance,
    sigma: q.noise_deviation,
    D: q.initial_distance,
    G_star: q.optimum_gradient,
    limit: q.limiting_mean_distance_sq,
    beta: q.momentum,
    rho: q.mixing_contraction,
    zeta: q.gradient_dissimilarity,
    c: q.step_shift,
}
claim = Statements("landmarks", NOTATION)

F_i, x, y, z = sp.symbols("F_i x y z", real=True)
mu_prox = sp.Symbol(r"\mu_{\mathrm{prox}}", nonnegative=True)
POINTS: dict[sp.Symbol, Quantity] = {
    F_i: q.client_objective,
    x: q.point,
    y: q.second_point,
    z: q.third_point,
    mu_prox: q.proximal_weight,
}


def write_proximal_step(point: sp.Symbol) -> Expr:
    """Return the local step of FedProx from a point, in a round that starts from x, by its definition."""
    numbers = {definition.eta: eta, fedprox.mu: mu_prox}
    return write_local_step(fedprox.algorithm, F_i, {fedprox.x: x, fedprox.y: point}, numbers)[fedprox.y]


TENDS_TO_OPTIMUM = (q.limiting_mean_distance_sq, "==", sp.S.Zero)
"""Relation: the expected model tends to x*."""
STAYS_AT_OPTIMUM = (q.optimum_displacement_sq, "==", sp.S.Zero)
"""Relation: an algorithm that starts at the optimum stays there."""

STATIONARY_SETTING = (a.strongly_convex_clients, a.unbiased_bounded_variance, a.same_step_size)
_PLAIN = (a.update_rule, a.full_participation, a.importance_weights, a.same_step_size, a.strongly_convex_clients)

scaffnew_factor = sp.Max(1 - eta * mu, 1 - p**2)
"""The factor of one iteration of Scaffnew."""
squared_step_factor = (1 - eta * mu) ** 2
weight_growth = (1 + 1 / c) * (1 + 2 / c) ** 2
"""Upper bound on the growth of the weights (n + c)(n + c + 1) from a round n to the next."""
mixing_loss = 1 - rho**2
"""Lower bound on the fraction of the squared distance between clients that a round of mixing removes."""
compressed_factor = squared_step_factor + 2 * omega * eta**2 * L**2 / M

CLAIMS = (
    claim.refuted.limit("fedavg.settles", "Federated averaging settles at the optimum", "folklore")(
        chain=TENDS_TO_OPTIMUM,
        assumptions=_PLAIN,
        note="With several local steps and dissimilar clients it settles at another point.",
    ),
    claim.supported.limit(
        "fedavg.settles.one-step",
        "With one local step federated averaging settles at the optimum",
        "folklore, corrected",
    )(
        chain=TENDS_TO_OPTIMUM,
        conditions=[tau <= 1],
        assumptions=_PLAIN,
        corrects="landmarks:fedavg.settles",
    ),
    claim.supported.limit("scaffold.settles", "SCAFFOLD settles at the optimum", "after Karimireddy et al., ICML 2020")(
        chain=TENDS_TO_OPTIMUM,
        assumptions=(a.scaffold, a.full_participation, a.strongly_convex_clients),
        note=(
            "For any clients, numbers of local steps and step sizes: a fixed point has c = 0, and each c_i is the "
            "gradient of F_i there, of which c is the average."
        ),
    ),
    claim.supported.limit("scaffnew.settles", "Scaffnew settles at the optimum", "after Mishchenko et al., ICML 2022")(
        chain=TENDS_TO_OPTIMUM,
        assumptions=(a.scaffnew, a.strongly_convex_clients, a.same_step_size),
    ),
    claim.proved.identity("fedavg.at-rest", "With one local step federated averaging stays at the optimum", "folklore")(
        chain=STAYS_AT_OPTIMUM,
        conditions=[tau <= 1],
        assumptions=_PLAIN,
        note="The average of the clients' gradients vanishes there; after several local steps updates do not cancel.",
    ),
    claim.proved.identity(
        "scaffold.at-rest", "The optimum is a fixed point of SCAFFOLD", "after Karimireddy et al., ICML 2020"
    )(
        chain=STAYS_AT_OPTIMUM,
        assumptions=(a.scaffold, a.strongly_convex_clients),
        note=(
            "With x = x*, c = 0 and c_i = grad F_i(x*) a local step changes nothing: for any clients, numbers of local "
            "steps, step sizes and participants."
        ),
    ),
    claim.supported.bound(
        "scaffold.contraction",
        "SCAFFOLD contracts as tau gradient steps do, however much the clients differ",
        "after Karimireddy et al., ICML 2020, Theorem III",
    )(
        lhs=q.final_distance_sq,
        rhs=(1 - eta * tau * mu / 2) ** T * (D**2 + sp.Rational(2, 3) * eta**2 * tau**2 * G_star**2),
        conditions=[eta * tau <= 1 / (4 * L)],
        assumptions=(
            a.scaffold,
            a.convex_and_smooth,
            a.strongly_convex_clients,
            a.full_gradients,
            a.same_local_work,
            a.full_participation,
            a.importance_weights,
            a.server_step_of_one,
        ),
        note=(
            "The Lyapunov function is |x - x*|^2 + (2/3)(eta tau)^2 sum_i p_i |c_i - grad F_i(x*)|^2.  Local steps "
            "leave x by at most k eta |grad F_i(x) - c_i + c|, c_i becomes the average gradient of the round, and "
            "<grad F_i(y), x - x*> is at least F_i(x) - F_i(x*) + (mu/4) |x - x*|^2 - L |x - y|^2.  For any convex "
            "clients, not only quadratics."
        ),
    ),
    claim.proved.identity(
        "scaffnew.at-rest", "The optimum is a fixed point of Scaffnew", "after Mishchenko et al., ICML 2022"
    )(
        chain=STAYS_AT_OPTIMUM,
        assumptions=(a.scaffnew, a.strongly_convex_clients, a.same_step_size),
        note="With x_i = x* and h_i = grad F_i(x*), whether the clients communicate or not.",
    ),
    claim.proved.identity(
        "fedavgm.at-rest",
        "With one local step the optimum is a fixed point of FedAvg with momentum",
        "after Hsu et al., 2019",
    )(
        chain=STAYS_AT_OPTIMUM,
        conditions=[tau <= 1],
        assumptions=(
            a.server_momentum,
            a.full_participation,
            a.importance_weights,
            a.same_step_size,
            a.strongly_convex_clients,
        ),
        note="With v = 0, for heavy-ball and for Nesterov momentum.",
    ),
    claim.proved.bound(
        "scaffnew.contraction",
        "Scaffnew contracts at the rate of gradient descent, though it rarely communicates",
        "after Mishchenko et al., ICML 2022, Theorem 3.6",
    )(
        lhs=q.final_distance_sq,
        rhs=scaffnew_factor**T * (D**2 + eta**2 / p**2 * G_star**2) + eta**2 * sigma**2 / (1 - scaffnew_factor),
        conditions=[eta <= 1 / L],
        assumptions=(a.scaffnew, a.convex_and_smooth, *STATIONARY_SETTING),
        note=(
            "The Lyapunov function is sum_i p_i |x_i - x*|^2 + (eta/p)^2 sum_i p_i |h_i - grad F_i(x*)|^2; an "
            "iteration multiplies it by max(1 - eta mu, 1 - p^2) and adds at most eta^2 sigma^2."
        ),
    ),
    claim.supported.bound(
        "scaffnew.stationary",
        "Scaffnew settles at a noise floor that does not depend on dissimilarity",
        "after Mishchenko et al., ICML 2022",
    )(
        lhs=q.limiting_distance_sq,
        rhs=eta**2 * sigma**2 / (1 - scaffnew_factor),
        conditions=[eta <= 1 / L],
        assumptions=(a.scaffnew, a.convex_and_smooth, *STATIONARY_SETTING),
        note="The limit of the bound on its contraction as T grows.",
    ),
    claim.asymptotic.rate(
        "fednova.settles",
        "FedNova with unequal local work settles at the optimum, up to the step size",
        "after Wang et al., NeurIPS 2020",
    )(
        rate=Rate(limit, eta**2, eta),
        assumptions=(a.fednova, a.full_participation, a.strongly_convex_clients),
        note="FedAvg with unequal numbers of local steps tends to the minimiser of sum_i p_i tau_i F_i instead.",
    ),
    claim.supported.limit(
        "fedavgm.settles", "Momentum at the server does not move the fixed point", "after Hsu et al., 2019"
    )(
        chain=TENDS_TO_OPTIMUM,
        conditions=[tau <= 1],
        assumptions=(a.server_momentum, a.full_participation, a.same_step_size, a.strongly_convex_clients),
        note="With one local step the fixed point is the optimum, for heavy-ball and for Nesterov momentum.",
    ),
    claim.supported.bound(
        "fedavgm.stationary",
        "At the same effective step size, momentum settles no farther away than plain averaging",
        "after Polyak, 1964, and Yuan, Ying and Sayed, 2016",
    )(
        chain=(
            q.limiting_distance_sq,
            "<=",
            eta * (1 + beta) * sigma**2 / (M * mu * (1 - beta) * (2 * (1 + beta) - eta * mu)),
            "<=",
            eta * sigma**2 / (M * mu * (2 * (1 - beta) - eta * mu)),
        ),
        conditions=[eta <= (1 - beta) / L, tau <= 1],
        assumptions=(a.heavy_ball, *STATIONARY_SETTING, a.full_participation, a.uniform_shares, a.server_step_of_one),
        note=(
            "With one local step momentum beta and step size eta move the model as steps of size eta/(1 - beta) do; "
            "the last side is the stationary error of plain averaging with such steps.  The first relation is an "
            "equation in one dimension; both sides agree to first order in eta, so that momentum does not reduce it."
        ),
    ),
    claim.proved.bound(
        "fedavgm.contraction",
        "With momentum the distance to the optimum contracts as with steps of size eta/(1 - beta)",
        "after Polyak, 1964, and Liu, Gao and Yin, NeurIPS 2020",
    )(
        lhs=q.final_distance_sq,
        rhs=(1 + beta**2)
        * ((1 - eta * mu / (2 * (1 - beta))) ** T * D**2 + 4 * eta * sigma**2 / ((1 - beta) * M * mu)),
        conditions=[eta <= (1 - beta) ** 2 / (2 * (1 + beta) * L), beta < 1, tau <= 1],
        assumptions=(
            a.heavy_ball,
            a.convex_and_smooth,
            *STATIONARY_SETTING,
            a.full_participation,
            a.importance_weights,
            a.uniform_shares,
            a.server_step_of_one,
        ),
        note=(
            "With z = x + beta/(1 - beta) v a round is z' = z - eta/(1 - beta) g.  The Lyapunov function is "
            "(1 + beta^2)(|z - x*|^2 + |v|^2/(1 - beta)^2).  For any convex clients, not only quadratics."
        ),
    ),
    claim.proved.step(
        "fedprox.local-step",
        "A local step of FedProx contracts, the more the larger its proximal term",
        "after Li et al., MLSys 2020",
    )(
        lhs=norm_sq(write_proximal_step(y) - write_proximal_step(z)),
        rhs=(1 - eta * mu_prox) * (1 - eta * (mu_prox + mu)) * norm_sq(y - z),
        conditions=[eta <= 1 / (L + mu_prox)],
        assumptions=(a.fedprox, a.convex_and_smooth, a.strongly_convex_clients, a.same_step_size),
        where=NOTATION | POINTS,
        place="points",
        note="From any two points, with the same server model.",
    ),
    claim.supported.bound(
        "fedavg.decreasing-steps",
        "With steps that decrease like 1/n federated averaging reaches the optimum at the rate 1/T",
        "after Li et al., ICLR 2020, Theorem 1, and Stich, ICLR 2019",
    )(
        lhs=q.final_distance_sq,
        rhs=(
            c * (c + 1) * D**2
            + T
            * weight_growth
            * (4 * sigma**2 / (mu**2 * tau * M) + 2 * L**2 * (1 - 1 / tau) ** 2 * G_star**2 / (c * mu**4))
        )
        / ((T + c) * (T + c + 1)),
        conditions=[mu * tau * c >= 2 * L],
        assumptions=(
            a.decreasing_steps,
            a.strongly_convex_clients,
            a.unbiased_bounded_variance,
            a.full_participation,
            a.uniform_shares,
            a.server_step_of_one,
        ),
        note=(
            "The proof compares each client with gradient descent on F_i from x*: their distance contracts by "
            "(1 - eta mu)^tau, and the average of these descents leaves x* by at most eta^2 L tau (tau - 1) G_*/2.  "
            "Round n has the weight (n + c)(n + c + 1).  Gradients need not be bounded; on objectives that are not "
            "quadratic the proof has sigma^2 in place of sigma^2/M."
        ),
    ),
    claim.proved.bound(
        "dsgd.consensus",
        "Clients on a graph stay near their average, by its spectral gap",
        "after Lian et al., NeurIPS 2017, and Koloskova et al., ICML 2020",
    )(
        lhs=q.final_consensus_distance_sq,
        rhs=2 * rho**2 * eta**2 / mixing_loss * ((1 + rho**2) / mixing_loss * zeta**2 + sigma**2),
        conditions=[eta <= 1 / L, rho < 1],
        assumptions=(
            a.dsgd,
            a.convex_and_smooth,
            a.unbiased_bounded_variance,
            a.same_step_size,
            a.uniform_shares,
            a.bounded_dissimilarity,
        ),
        note=(
            "A gradient step increases the consensus error by at most eta zeta and the noise, in the root mean square; "
            "mixing multiplies it by rho.  By Young's inequality its square has the factor (1 + rho^2)/2."
        ),
    ),
    claim.supported.bound(
        "dsgd.one-hessian",
        "If all clients have one Hessian, their average does not depend on the graph",
        "after Lian et al., NeurIPS 2017",
    )(
        chain=(
            q.final_distance_sq,
            "<=",
            (1 - eta * mu) ** (2 * T) * D**2 + eta**2 * sigma**2 / (M * (1 - squared_step_factor)),
        ),
        conditions=[eta <= 1 / L],
        assumptions=(a.dsgd, *STATIONARY_SETTING, a.uniform_shares, a.bounded_dissimilarity),
        note="Gradients differ by a constant on all of space only where all Hessians are equal.",
    ),
    claim.supported.bound(
        "compressed.price",
        "The error of rand-k compression with one local step",
        "after Khirirat, Feyzmahdavian and Johansson, 2018",
    )(
        lhs=q.final_distance_sq,
        rhs=compressed_factor**T * D**2
        + eta**2 * (2 * omega * G_star**2 + (1 + omega) * sigma**2) / (M * (1 - compressed_factor)),
        conditions=[eta <= 1 / L, tau <= 1, compressed_factor < 1],
        assumptions=(a.compressed, *STATIONARY_SETTING, a.full_participation, a.uniform_shares, a.server_step_of_one),
        note=(
            "The variance of a compressed gradient is omega |grad F_i|^2 + (1 + omega) sigma^2, and |grad F_i|^2 is at "
            "most 2 L^2 |x - x*|^2 + 2 |grad F_i(x*)|^2: even without noise, dissimilar clients cause an error of the "
            "order of the step size."
        ),
    ),
)
