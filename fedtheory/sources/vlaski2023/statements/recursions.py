"""Page 1 to (5.14): the problem, three algorithms, and one local update as a perturbed mini-batch update."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, Selected, Value, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.vlaski2023.statements.notation import *

bias = sp.Symbol(r"\|\bar{w}-w^o\|", nonnegative=True)
w_bar = sp.Symbol(r"\bar{w}", real=True)
one_step = w - step * batch_gradient
mean_step = w - step * grad
weighted_pull = Average(E_k * Gradient(J_k, w_o))

_LOCAL = r"\widehat{\nabla J_k}(\phi_{k,e-1})"
_AT_SERVER = r"\widehat{\nabla J_k}(w_{i-1})"

CLAIMS = [
    claim.definition("setting", "The consensus problem", "(5.1)-(5.2)")(
        chain=(Value(J, x), "==", Average(Value(J_k, x))),
        place="points",
        assumptions=ALGORITHM,
        printed=r"J(w)=\frac1K\sum_{k=1}^KJ_k(w),\qquad J_k(w)=\mathbb E_{x_k}Q(w;x_k)",
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.algorithm("alg.centralized", "Centralised stochastic gradient algorithm", "(5.3)-(5.4)")(
        printed=(r"\psi_{k,i}=w_{i-1}-\mu\widehat{\nabla J}_k(w_{i-1}),\qquad w_i=\frac1K\sum_{k=1}^K\psi_{k,i}"),
        note="Federated averaging with one local step, in which all agents take part.",
        implemented_by="fedtheory.federation:fedavg",
    ),
    claim.algorithm("alg.async-single", "One random agent at a time", "(5.5)-(5.6)")(
        printed=(r"\psi_{k_i,i}=w_{i-1}-\mu\widehat{\nabla J}_{k_i}(w_{i-1}),\qquad w_i=\psi_{k_i,i}"),
        note="Federated averaging with one local step and L = 1.",
        implemented_by="fedtheory.federation:fedavg",
    ),
    claim.proved.identity("eq-5.7", "Both updates are unbiased", "(5.7)")(
        chain=(norm_sq(Expectation(Average(one_step)) - mean_step), "==", 0),
        also=(
            Relation(norm_sq(Expectation(Selected(one_step)) - mean_step), "==", 0),
            Relation(norm_sq(mean_step - (w - step * Average(grad_k))), "==", 0),
        ),
        for_all={step: SIZES},
        place="round",
        assumptions=ALGORITHM,
        printed=(
            r"\mathbb E\{w_i|w_{i-1}\}=w_{i-1}-\mu\nabla J(w_{i-1})"
            r"=w_{i-1}-\frac\mu K\sum_{k=1}^K\nabla J_k(w_{i-1})"
        ),
        note=(
            "The gradient approximation is the mean of E_k oracle calls at w_{i-1}, an instance of (5.27).  First the "
            "mean over all agents, (5.3)-(5.4), then over L sampled ones: L = 1 is (5.5)-(5.6)."
        ),
    ),
    claim.proved.identity("eq-5.8", "How often an agent takes part", "(5.8)")(
        chain=(Expectation(takes_part), "==", L / K),
        place="round",
        assumptions=ALGORITHM,
        printed=r"\Pr\{k\in\mathcal L_i\}=\frac LK",
    ),
    claim.algorithm("alg.fedavg", "Federated averaging", "(5.9)-(5.11)")(
        chain=(norm_sq(phi_next - (phi - mu_k * g)), "==", 0),
        also=(
            Relation(norm_sq(psi - (w + LocalSum(phi_next - phi))), "==", 0),
            Relation(norm_sq(w_next - Selected(psi)), "==", 0),
        ),
        place="round",
        assumptions=ALGORITHM,
        printed=(
            r"\phi_{k,0}=w_{i-1},\quad\phi_{k,e}=\phi_{k,e-1}-\mu_k\widehat{\nabla J_k}(\phi_{k,e-1}),\quad"
            r"\psi_{k,i}=\phi_{k,E_k},\quad w_i=\frac1L\sum_{k\in\mathcal L_i}\psi_{k,i}"
        ),
        note="The second identity says that the local steps lead from w_{i-1} to psi_{k,i}.",
        implemented_by="fedtheory.federation:fedavg",
    ),
    *claim.refuted.limit("claim.common-step-bias", "A common step size biases the limit", "section 5.1, before 5.1.1")(
        chain=(bias, ">", 0),
        where={**NOTATION, bias: q.small_step_bias},
        conditions=[Average(E_k**2) > Average(E_k) ** 2],
        assumptions=COMMON_STEP,
        printed=(
            r"\mu_k=\mu\text{ and unequal }E_k\text{ bias the limiting point away from the minimiser of }"
            r"J(w)=\frac1K\sum_{k=1}^KJ_k(w)"
        ),
        note=(
            "Read as: whenever the E_k are unequal, the point to which runs tend for small steps is not w^o.  It is, "
            "if the pulls of the agents balance at w^o in spite of their unequal work: two equally active agents with "
            "opposite pulls, and a third without any."
        ),
    ).with_repair(
        kind="bound",
        title="A common step size biases the limit unless the weighted pulls balance",
        chain=(
            Average(E_k * nu_k) ** 2 * bias**2,
            "<=",
            norm_sq(weighted_pull),
            "<=",
            Average(E_k * delta_k) ** 2 * bias**2,
        ),
        where={**NOTATION, bias: q.small_step_bias, w_bar: q.small_step_optimum},
        place="points",
        note=(
            "Small steps tend to the minimiser of sum_k E_k J_k.  Its distance from w^o is the length of "
            "(1/K) sum_k E_k grad J_k(w^o) up to curvature: it is zero exactly if that sum is zero."
        ),
        verdict="proved",
        conditions=(),
    ),
    claim.proved.identity("eq-5.12", "All local steps at once", "(5.12)")(
        chain=(norm_sq(psi - (w - mu_k * LocalSum(g))), "==", 0),
        also=(Relation(norm_sq(psi - (w - mu_k * E_k * LocalSum(g / E_k))), "==", 0),),
        place="round",
        assumptions=ALGORITHM,
        printed=(
            rf"\psi_{{k,i}}=w_{{i-1}}-\mu_k\sum_{{e=1}}^{{E_k}}{_LOCAL}"
            rf"=w_{{i-1}}-\mu_kE_k\cdot\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_LOCAL}"
        ),
    ),
    *claim.refuted.inequality("eq-5.13", "Local steps are no mini-batch", "(5.13)")(
        chain=(Expectation(norm_sq(LocalSum(g) / E_k - batch_gradient)), ">", 0),
        place="round",
        assumptions=ALGORITHM,
        conditions=[E_k > 1],
        printed=(rf"\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_LOCAL}\neq\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_AT_SERVER}"),
        note=(
            "Read as: the two random vectors are not almost surely the same, for agents with several local steps.  "
            "Different iterates do not see to that: for J_k = w^2/2, mu_k = 3, E_k = 3 and w_{i-1} = 1 they are 1, -2 "
            "and 4, and the mean of their gradients is that at w_{i-1}.  Nor do they differ at all where the agent's "
            "gradient and noise vanish."
        ),
    ).with_repair(
        kind="bound",
        title="Local steps differ from a mini-batch where the agent still moves",
        relation=">=",
        rhs=((E_k - 1) / E_k * mu_k * nu_k) ** 2 * norm_sq(grad_k),
        conditions=[mu_k * delta_k <= 1],
        note=(
            "On quadratics the mean difference is the mean over e of ((I - mu_k H_k)^{e-1} - I) grad J_k(w_{i-1}), of "
            "one sign for mu_k delta_k <= 1: positive as soon as E_k > 1 and grad J_k(w_{i-1}) is not zero."
        ),
        verdict="supported",
    ),
    claim.proved.identity("eq-5.14", "A perturbed mini-batch update", "(5.14)")(
        chain=(norm_sq(psi - (w - mu_k * E_k * LocalSum(g_w / E_k) + mu_k * E_k * LocalSum((g_w - g) / E_k))), "==", 0),
        place="round",
        assumptions=ALGORITHM,
        printed=(
            rf"\psi_{{k,i}}=w_{{i-1}}-\mu_kE_k\cdot\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_AT_SERVER}"
            rf"+\mu_kE_k\cdot\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}\left({_AT_SERVER}-{_LOCAL}\right)"
        ),
    ),
    claim.asymptotic.rate("claim.effective-step", "The perturbation is negligible for small steps", "after (5.14)")(
        rate=Rate(sp.sqrt(Expectation(norm_sq(mu_k * E_k * d_k))), mu**2, mu),
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"\mu_k\sum_{{e=1}}^{{E_k}}\left({_AT_SERVER}-{_LOCAL}\right)\text{{ negligible against a step of size }}"
            rf"\mu_KE_k\text{{ along }}\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_AT_SERVER}"
        ),
        note=(
            "The step is of order mu = mu_k E_k (the print has mu_K), so the perturbation is negligible if its root "
            "mean square is of order mu^2."
        ),
    ),
]
