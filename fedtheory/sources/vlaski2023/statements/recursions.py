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
weighted_gradient = Average(E_k * Gradient(J_k, w_o))

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
    claim.proved.bound("eq-5.7.variances", "The update of one agent has the larger variance", "below (5.7)")(
        chain=(
            step**2 * Average(variance(batch_gradient)) / K,
            "==",
            Expectation(norm_sq(Average(one_step) - mean_step)),
            "<=",
            Expectation(norm_sq(Selected(one_step) - mean_step)),
            "==",
            step**2 * (Average(variance(batch_gradient)) / L + SAMPLING * Average(norm_sq(grad_k - grad))),
        ),
        for_all={step: SIZES},
        place="round",
        assumptions=SAMPLED,
        printed=r"\text{both perform unbiased updates along }J\text{, albeit with differing variances}",
        note=(
            "By (5.7) the second member is the conditional variance of (5.3)-(5.4), and the third that of L sampled "
            "agents.  At L = 1 it is that of (5.5)-(5.6), which has K times the noise, and the dissimilarity of the "
            "agents on top.  The two differ unless there is no noise and all grad J_k(w_{i-1}) are equal."
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
    claim.proved.bound(
        "claim.common-step-bias",
        "A common step size biases the limit unless the weighted gradients cancel at w^o",
        "section 5.1, before 5.1.1",
    )(
        chain=(
            Average(E_k * nu_k) ** 2 * bias**2,
            "<=",
            norm_sq(weighted_gradient),
            "<=",
            Average(E_k * delta_k) ** 2 * bias**2,
        ),
        where={**NOTATION, bias: q.small_step_bias, w_bar: q.small_step_optimum},
        place="points",
        assumptions=COMMON_STEP,
        printed=(
            r"\mu_k=\mu\text{ and unequal }E_k\text{ bias the limiting point away from the minimiser of }"
            r"J(w)=\frac1K\sum_{k=1}^KJ_k(w)"
        ),
        note=(
            "The limiting point for small steps is w_bar, the minimiser of sum_k E_k J_k (Problem 5.1).  The bounds "
            "say that w_bar = w^o exactly if (1/K) sum_k E_k grad J_k(w^o) is zero.  It is zero for equal E_k, and in "
            "general not for unequal ones.  Read literally, for all unequal E_k, the sentence has exceptions: three "
            "agents w^2/2 - w, w^2/2 + w and w^2/2 with E_k = 1, 1, 2 have w_bar = w^o = 0."
        ),
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
    claim.supported.bound("eq-5.13", "Local steps differ from a mini-batch where the agent still moves", "(5.13)")(
        chain=(
            Expectation(norm_sq(LocalSum(g) / E_k - batch_gradient)),
            ">=",
            ((E_k - 1) / E_k * mu_k * nu_k) ** 2 * norm_sq(grad_k),
        ),
        place="round",
        assumptions=ALGORITHM,
        conditions=[mu_k * delta_k <= 1],
        printed=(rf"\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_LOCAL}\neq\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_AT_SERVER}"),
        note=(
            "Read as: the two random vectors differ in general, for the small steps that the chapter has in mind.  The "
            "mean-square difference is positive if E_k > 1, mu_k delta_k <= 1, nu_k > 0 and grad J_k(w_{i-1}) is not "
            "zero.  On quadratics the expected difference is the time average over e of "
            "((I - mu_k H_k)^{e-1} - I) grad J_k(w_{i-1}), and no term has the other sign.  Read literally, for all "
            "runs, (5.13) has exceptions: J_k = w^2/2 with mu_k = 3, E_k = 3 and w_{i-1} = 1 has the iterates 1, -2 "
            "and 4, whose gradients average to the gradient at w_{i-1}."
        ),
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
