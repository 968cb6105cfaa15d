"""(5.15) to the end of section 5.1.1: the recursion as perturbed gradient descent, and its normalised step sizes."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, Selected, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import several_clients
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.vlaski2023.statements.notation import *

ANY_STEP = {step: (sp.Rational(1, 2),)}
"""Values of an arbitrary step size; up to (5.26) mu may be any positive number."""
w_bar = sp.Symbol(r"\bar{w}", real=True)
fed = federated_gradient(mu)
noise = fed - grad
fed_any = federated_gradient(step)
"""(5.19) for any mu > 0."""
scale_k = mu_k * E_k / step
"""The factor of an agent's gradient in (5.25), which is one under (5.26)."""
extremal_gradients = (scale_k - 1) * x
"""Gradients of the agents for which factors other than one change the average most."""
hessian_times_gradient = Gradient(J_k, w + grad_k) - grad_k
"""H_k grad J_k(w_{i-1}), as a difference of gradients."""

_FED = r"\widehat{\nabla J}^{\rm fed}(w_{i-1})"
_BATCH = r"\widehat{\nabla J_k}^{E_k}(w_{i-1})"
_SELECTED = r"\sum_{k\in\mathcal L_i}"

CLAIMS = [
    claim.definition("eq-5.15", "Mini-batch gradient of an agent", "(5.15)")(
        printed=rf"{_BATCH}\triangleq\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}\widehat{{\nabla J_k}}(w_{{i-1}})",
        note="The e-th gradient at w_{i-1} has the sample of the e-th local step.",
        implemented_by="fedtheory.language.quantities:gradient_at_server_model",
    ),
    claim.definition("eq-5.16", "Perturbation of an agent", "(5.16)")(
        printed=(
            r"d_{k,i}=\frac1{E_k}\sum_{e=1}^{E_k}"
            r"\left(\widehat{\nabla J_k}(\phi_{k,e-1})-\widehat{\nabla J_k}(w_{i-1})\right)"
        ),
        implemented_by="fedtheory.kernel.expressions:LocalSum",
    ),
    claim.proved.identity("eq-5.17", "An agent's update with its perturbation", "(5.17)")(
        chain=(norm_sq(psi - (w - mu_k * E_k * batch_gradient - mu_k * E_k * d_k)), "==", 0),
        place="round",
        assumptions=ALGORITHM,
        printed=rf"\psi_{{k,i}}=w_{{i-1}}-\mu_kE_k{_BATCH}-\mu_kE_kd_{{k,i}}",
    ),
    claim.proved.identity("eq-5.18", "The server's update", "(5.18)")(
        chain=(norm_sq(w_next - Selected(w - mu_k * E_k * batch_gradient - mu_k * E_k * d_k)), "==", 0),
        also=(Relation(norm_sq(w_next - (w - step * federated_gradient(step) - d)), "==", 0),),
        for_all=ANY_STEP,
        place="round",
        assumptions=ALGORITHM,
        printed=(
            rf"w_i=\frac1L{_SELECTED}\left(w_{{i-1}}-\mu_kE_k{_BATCH}-\mu_kE_kd_{{k,i}}\right)"
            rf"=w_{{i-1}}-\frac\mu L{_SELECTED}\frac{{\mu_k}}\mu E_k{_BATCH}-\frac1L{_SELECTED}\mu_kE_kd_{{k,i}}"
        ),
    ),
    claim.definition("eq-5.19", "Federated gradient approximation", "(5.19)")(
        printed=rf"{_FED}\triangleq\frac1L{_SELECTED}\frac{{\mu_k}}\mu E_k{_BATCH}",
        implemented_by="fedtheory.sources.vlaski2023.statements.notation:federated_gradient",
    ),
    claim.definition("eq-5.20", "Perturbation of the server's update", "(5.20)")(
        printed=rf"d_i\triangleq\frac1L{_SELECTED}\mu_kE_kd_{{k,i}}",
        note="The step sizes are part of d_i here, and again a factor in (5.21) and (5.58).",
        implemented_by="fedtheory.kernel.expressions:Selected",
    ),
    *claim.refuted.identity("eq-5.21", "Perturbed gradient descent", "(5.21)")(
        chain=(norm_sq(w_next - (w - mu * fed - mu * d)), "==", 0),
        also=(Relation(norm_sq(w_next - (w - mu * grad - mu * noise - mu * d)), "==", 0),),
        place="round",
        assumptions=NORMALISED,
        printed=(rf"w_i=w_{{i-1}}-\mu{_FED}-\mu d_i=w_{{i-1}}-\mu\nabla J(w_{{i-1}})-\mu s_i(w_{{i-1}})-\mu d_i"),
        note=(
            "By (5.20) d_i has the step sizes inside already, so mu d_i counts them twice.  Read with the normalised "
            "steps of (5.26), under which mu is not free."
        ),
    ).with_repair(
        title="Perturbed gradient descent, step sizes counted once",
        lhs=norm_sq(w_next - (w - mu * fed - d)),
        also=(Relation(norm_sq(w_next - (w - mu * grad - mu * noise - d)), "==", 0),),
        note="With (5.20) as printed, which (5.41) and (5.54) use as well, d_i stands without a factor, as in (5.18).",
        verdict="proved",
    ),
    claim.definition("eq-5.22", "Gradient noise of the federated approximation", "(5.22)")(
        printed=rf"s_i(w_{{i-1}})={_FED}-\nabla J(w_{{i-1}})",
        implemented_by="fedtheory.sources.vlaski2023.statements.notation:federated_gradient",
    ),
    claim.proved.identity("eq-5.23-5.24", "The federated gradient with participation variables", "(5.23)-(5.24)")(
        lhs=norm_sq(federated_gradient(step) - K / L * Average(takes_part * mu_k / step * E_k * batch_gradient)),
        relation="==",
        rhs=0,
        also=(Relation(takes_part * (1 - takes_part), "==", 0), Relation(K * Average(takes_part), "==", L)),
        for_all=ANY_STEP,
        place="round",
        assumptions=ALGORITHM,
        printed=(
            r"\mathbb 1_{k,i}=\begin{cases}1,&k\in\mathcal L_i\\0,&\text{otherwise}\end{cases}\qquad "
            rf"{_FED}=\frac1L\sum_{{k=1}}^K\mathbb 1_{{k,i}}\frac{{\mu_k}}\mu E_k{_BATCH}"
        ),
    ),
    claim.proved.identity("eq-5.25.steps-a-b", "Expectation of the federated gradient", "(5.25), steps (a) and (b)")(
        chain=(norm_sq(Expectation(fed_any) - Average(scale_k * Expectation(batch_gradient))), "==", 0),
        also=(
            Relation(norm_sq(Expectation(fed_any) - Average(scale_k * LocalSum(Expectation(g_w)) / E_k)), "==", 0),
            Relation(norm_sq(Expectation(fed_any) - Average(scale_k * grad_k)), "==", 0),
        ),
        for_all=ANY_STEP,
        place="round",
        assumptions=ALGORITHM,
        printed=(
            rf"\mathbb E\{{{_FED}|w_{{i-1}}\}}=\frac1L\sum_{{k=1}}^K\mathbb E\left\{{\mathbb 1_{{k,i}}"
            rf"\frac{{\mu_k}}\mu E_k{_BATCH}|w_{{i-1}}\right\}}\overset{{(a)}}=\frac1L\sum_{{k=1}}^K\frac LK"
            rf"\frac{{\mu_k}}\mu E_k\mathbb E\{{{_BATCH}|w_{{i-1}}\}}\overset{{(b)}}="
            r"\frac1K\sum_{k=1}^K\frac{\mu_k}\mu E_k\nabla J_k(w_{i-1})"
        ),
        note="For any mu_k and any mu > 0.  The published chain has two more members between (a) and (b).",
    ),
    claim.proved.identity("eq-5.25", "The federated gradient is unbiased", "(5.25), step (c) and both ends")(
        chain=(norm_sq(Average(mu_k / mu * E_k * grad_k) - Average(grad_k)), "==", 0),
        also=(
            Relation(norm_sq(Average(grad_k) - grad), "==", 0),
            Relation(norm_sq(Expectation(fed) - grad), "==", 0),
        ),
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"\mathbb E\{{{_FED}|w_{{i-1}}\}}=\frac1K\sum_{{k=1}}^K\frac{{\mu_k}}\mu E_k\nabla J_k(w_{{i-1}})"
            r"\overset{(c)}=\frac1K\sum_{k=1}^K\nabla J_k(w_{i-1})=\nabla J(w_{i-1})"
        ),
        note="Step (c) needs (5.26).  Steps (a) and (b) do not, and are the claim before this one.",
    ),
    *claim.refuted.identity("eq-5.25.participation-mean", "Mean of the participation variable", "below (5.25)")(
        chain=(Expectation(takes_part), "==", K / L),
        place="round",
        assumptions=ALGORITHM,
        printed=r"\mathbb E\{\mathbb 1_{k,i}|w_{i-1}\}=\mathbb E\,\mathbb 1_{k,i}=\frac KL",
        note="A mean of zeros and ones is at most one; the fraction is upside down.",
        fault="misprint",
    ).with_repair(
        title="Mean of the participation variable, L over K",
        rhs=L / K,
        note="As in (5.8), and as step (a) of (5.25) uses it.",
        verdict="proved",
    ),
    claim.proved.condition("eq-5.26", "Normalised step sizes make the federated gradient unbiased", "(5.26)")(
        chain=(norm_sq(Average(mu_k / mu * E_k * grad_k) - grad), "==", 0),
        also=(Relation(mu_k, "==", mu / E_k),),
        place="round",
        assumptions=NORMALISED,
        printed=r"\text{step (c) holds if }\frac{\mu_k}\mu E_k=1\Longleftrightarrow\mu_k=\frac\mu{E_k}",
        note="The print says if and only if: this is the one direction, the other is the next claim.",
    ),
    claim.proved.condition(
        "eq-5.26.only-if",
        "Unbiased for all gradients only with normalised step sizes",
        "(5.26) and the sentence behind it",
    )(
        chain=(
            norm_sq(Average(scale_k * extremal_gradients) - Average(extremal_gradients)),
            "==",
            Average((scale_k - 1) ** 2) ** 2 * norm_sq(x),
        ),
        also=(
            Relation(
                norm_sq(Average(scale_k * grad_k) - grad), "<=", Average((scale_k - 1) ** 2) * Average(norm_sq(grad_k))
            ),
        ),
        for_all={step: (sp.Rational(1, 8), sp.Integer(1))},
        place="points",
        assumptions=ALGORITHM,
        printed=r"\text{step (c) holds only if }\frac{\mu_k}\mu E_k=1",
        note=(
            "Read as an identity in the gradients: (c) is to hold whatever the vectors grad J_k(w_{i-1}) are.  For the "
            "gradients (mu_k E_k / mu - 1) v, v any vector, both sides of (c) differ by the first right side, which is "
            "zero only under (5.26).  By the second relation no gradients of the same mean square have a larger "
            "difference.  Read at a single w_{i-1} the sentence is false: two agents w^2/2 with mu_k = 1/2, E_k = 1, 3 "
            "and mu = 1 have the factors 1/2 and 3/2, and (c) holds."
        ),
    ),
    claim.proved.bound("eq-5.26.other-cost", "Other step sizes descend another cost", "(5.26)")(
        chain=(
            (Average(mu_k * E_k * nu_k) / step) ** 2 * norm_sq(w - w_bar),
            "<=",
            norm_sq(Expectation(fed_any)),
            "<=",
            (Average(mu_k * E_k * delta_k) / step) ** 2 * norm_sq(w - w_bar),
        ),
        where={**NOTATION, w_bar: q.small_step_optimum},
        for_all=ANY_STEP,
        place="round",
        assumptions=COMMON_STEP,
        note=(
            "The expected federated gradient vanishes at w_bar, the minimiser of sum_k mu_k E_k J_k, and nowhere "
            "else.  It is the gradient of J at all points only if w_bar = w^o."
        ),
    ),
    claim.refuted.inequality("claim.di-biased", "Several local steps always bias the perturbation", "below (5.26)")(
        chain=(norm_sq(Expectation(d)), ">", 0),
        conditions=[Average(E_k) > 1],
        place="round",
        assumptions=NORMALISED,
        printed=r"\text{any }E_k>1\text{ necessarily causes }\mathbb E\{d_i|w_{i-1}\}\neq0",
        note=(
            "By the word 'necessarily' it is about all runs.  The agents' terms may cancel: two agents with second "
            "derivatives 1 and 3, two local steps each, have gradients 9 and -3 at w_{i-1} = 0.  Then "
            "E d_i = -(mu^2/8)(1 * 9 - 3 * 3) = 0 for every mu, although grad J(w_{i-1}) = 3."
        ),
    ),
    claim.asymptotic.rate(
        "claim.di-biased.fixed", "The bias of the perturbation, to leading order", "below (5.26), corrected"
    )(
        rate=Rate(
            mu**3 + sp.sqrt(norm_sq(Expectation(d) + mu**2 * Average((E_k - 1) / (2 * E_k) * hessian_times_gradient))),
            mu**3,
            mu,
        ),
        place="round",
        assumptions=NORMALISED,
        note=(
            "E d_i = -mu^2 (1/K) sum_k (E_k - 1)/(2 E_k) H_k grad J_k(w_{i-1}) + O(mu^3), H_k the Hessian: not zero "
            "for E_k > 1 in general, but zero at leading order where this sum is.  For E_k <= 2 nothing else is left; "
            "mu^3 is added on the left so that its rounding errors do not look like a slow rate."
        ),
        corrects="vlaski2023:claim.di-biased",
    ),
    claim.asymptotic.rate("claim.di-biased.energy", "The energy of the perturbation is small", "below (5.26)")(
        rate=Rate(Expectation(norm_sq(d)), mu**4, mu),
        place="round",
        assumptions=(*NORMALISED, several_clients),
        printed=r"\text{the energy of }d_i\text{ is small}",
        note=(
            "The gradient noise adds mu^2 E|s_i|^2 to a round, so even a bias of energy O(mu^4) does not matter.  "
            "(5.54) shows O(mu^2) only, which would."
        ),
    ),
]
