"""The proof of Theorem 5.1, (5.58)-(5.65); (5.63) repeats (5.56)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, norm_sq
from fedtheory.language.claim import Rate
from fedtheory.sources.vlaski2023.statements.local_error import (
    LOCAL_RATE_CONTRACTS,
    energy_bound_k,
    write_published_energy_bound,
)
from fedtheory.sources.vlaski2023.statements.notation import *
from fedtheory.sources.vlaski2023.statements.theorem import RATE_BELOW_ONE, after, level, root

energy, energy_bound = Expectation(norm_sq(d)), mu**2 * Average(energy_bound_k)
unperturbed_error = w_o - w + mu * federated_gradient(mu)
theta = sp.Symbol("theta", positive=True)
alpha_of_theta = 1 / (1 + theta)
"""An arbitrary alpha between zero and one."""
THETAS = {theta: (3, 1, sp.Rational(1, 9))}
"""Values of theta for which alpha is 1/4, 1/2 and 9/10."""
t = sp.Symbol("t", positive=True)
FRACTIONS = {t: (sp.Rational(1, 4), sp.Rational(1, 2), sp.Integer(1))}
trial_step = t * nu / (delta**2 + beta_fed_sq)
"""A step size with lambda < 1, at most half the largest."""
s = sp.Symbol("s", nonnegative=True)
z = sp.Symbol("z", positive=True)
contracting_step = 2 * nu / ((1 + z) * (delta**2 + beta_fed_sq))
"""An arbitrary step size with lambda < 1."""

_LAMBDA = r"1-2\mu\nu+\mu^2\left(\delta^2+\beta_{\rm fed}^2\right)"
_STEP = r"\widetilde w_{i-1}+\mu\widehat{\nabla J}^{\rm fed}(w_{i-1})"
_O = r"\left(O(\mu^2)\cdot\mathbb E\|\widetilde w_{i-1}\|^2+O(\mu^2)\right)"

CLAIMS = [
    *claim.refuted.step("eq-5.58", "Squaring the recursion", "(5.58)")(
        chain=(
            next_error_sq,
            "==",
            norm_sq(unperturbed_error + mu * d),
            "<=",
            norm_sq(unperturbed_error) / alpha + mu**2 / (1 - alpha) * norm_sq(d),
        ),
        for_all={alpha: ALPHAS[1:2]},
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"\|\widetilde w_i\|^2=\left\|{_STEP}+\mu d_i\right\|^2\le\frac1\alpha\left\|{_STEP}\right\|^2"
            r"+\frac{\mu^2}{1-\alpha}\|d_i\|^2"
        ),
        note=(
            "d_i has the step sizes inside already by (5.20), and mu d_i counts them twice, as in (5.21).  The "
            "transcription runs the expression of lambda on behind |d_i|^2, which is left out here."
        ),
        fault="misprint",
    ).with_repair(
        title="Squaring the recursion, step sizes counted once",
        chain=(
            next_error_sq,
            "==",
            norm_sq(unperturbed_error + d),
            "<=",
            norm_sq(unperturbed_error) / alpha_of_theta + norm_sq(d) / (1 - alpha_of_theta),
        ),
        for_all=THETAS,
        note=(
            "Jensen's inequality with the weights alpha and 1 - alpha, for each outcome of the round.  "
            "alpha = 1/(1 + theta) stands for all numbers between 0 and 1."
        ),
        verdict="proved",
    ),
    claim.proved.bound("eq-5.59-5.60", "One round without the perturbation", "(5.59)-(5.60)")(
        chain=(
            Expectation(norm_sq(unperturbed_error)) / alpha,
            "<=",
            rate / alpha * error_sq + mu**2 * sigma_fed_sq / alpha,
        ),
        for_all={alpha: ALPHAS[:1]},
        place="round",
        assumptions=CONVEX,
        printed=(
            rf"\frac1\alpha\mathbb E\left\{{\left\|{_STEP}\right\|^2\right\}}\le\frac\lambda\alpha"
            rf"\mathbb E\|\widetilde w_{{i-1}}\|^2+\mu^2\frac{{\sigma_{{\rm fed}}^2}}\alpha,\quad\lambda={_LAMBDA}"
        ),
        note="Conditional on w_{i-1}, from every start that is tried; alpha only scales both sides.",
    ),
    *claim.refuted.bound("eq-5.61", "Full error recursion", "(5.61)")(
        chain=(
            after,
            "==",
            rate / alpha * error_sq + mu**2 * sigma_fed_sq / alpha + mu**2 / (1 - alpha) * energy,
            "<=",
            rate / alpha * error_sq
            + mu**2 * sigma_fed_sq / alpha
            + mu**2 / (1 - alpha) * (write_published_energy_bound()),
        ),
        for_all={alpha: ALPHAS[1:2]},
        place="round",
        assumptions=CONVEX,
        printed=(
            r"\mathbb E\|\widetilde w_i\|^2=\frac\lambda\alpha\mathbb E\|\widetilde w_{i-1}\|^2"
            r"+\mu^2\frac{\sigma_{\rm fed}^2}\alpha+\frac{\mu^2}{1-\alpha}\mathbb E\|d_i\|^2"
            r"\le\frac\lambda\alpha\mathbb E\|\widetilde w_{i-1}\|^2+\mu^2\frac{\sigma_{\rm fed}^2}\alpha"
            rf"+\frac{{\mu^2}}{{1-\alpha}}{_O}"
        ),
        note="Bounds (5.58), (5.59) give an inequality, printed as an equation; the O(.) are those of (5.54).",
    ).with_repair(
        title="Full error recursion, as an inequality",
        chain=(
            after,
            "<=",
            rate / alpha_of_theta * error_sq + mu**2 * sigma_fed_sq / alpha_of_theta + energy / (1 - alpha_of_theta),
            "<=",
            rate / alpha_of_theta * error_sq
            + mu**2 * sigma_fed_sq / alpha_of_theta
            + energy_bound / (1 - alpha_of_theta),
        ),
        for_all={theta: THETAS[theta][1:2]},
        conditions=[LOCAL_RATE_CONTRACTS],
        note=(
            "mu counts once in d_i, and the energy of d_i is of order mu^4, see the corrections of (5.21) and (5.54).  "
            "alpha = 1/(1 + theta) stands for all numbers between 0 and 1."
        ),
        verdict="proved",
    ),
    claim.asymptotic.rate("eq-5.62", "Full error recursion at alpha = sqrt(lambda)", "(5.62)")(
        rate=Rate(
            sp.Max(0, after - root * error_sq - mu**2 * sigma_fed_sq / root) * (1 - root) / (1 + error_sq),
            mu**4,
            mu,
        ),
        place="round",
        assumptions=CONVEX,
        printed=(
            r"\mathbb E\|\widetilde w_i\|^2\le\sqrt\lambda\,\mathbb E\|\widetilde w_{i-1}\|^2"
            rf"+\mu^2\frac{{\sigma_{{\rm fed}}^2}}{{\sqrt\lambda}}+\frac{{\mu^2}}{{1-\sqrt\lambda}}{_O}"
        ),
        note="Multiplied by 1 - sqrt(lambda): the difference is then of order mu^2 times mu^2.",
    ),
    claim.proved.bound(
        "eq-5.62.explicit", "Full error recursion at alpha = sqrt(lambda), with its constants", "(5.62)"
    )(
        chain=(after, "<=", root * error_sq + mu**2 * sigma_fed_sq / root + energy_bound / (1 - root)),
        conditions=[LOCAL_RATE_CONTRACTS, RATE_BELOW_ONE, rate > 0],
        place="round",
        assumptions=CONVEX,
    ),
    *claim.refuted.identity("eq-5.64", "The factor in front of the perturbation", "(5.64)")(
        chain=(
            trial_step**2 / (1 - sp.sqrt(global_rate(trial_step))),
            "==",
            trial_step**2 / (1 - global_rate(trial_step)),
            "==",
            trial_step / (2 * nu - trial_step * (delta**2 + beta_fed_sq)),
        ),
        for_all={t: FRACTIONS[t][:1]},
        assumptions=CONVEX,
        printed=(
            rf"\frac{{\mu^2}}{{1-\sqrt\lambda}}=\frac{{\mu^2}}{{1-({_LAMBDA})}}"
            r"=\frac\mu{2\nu-\mu(\delta^2+\beta_{\rm fed}^2)}=O(\mu)"
        ),
        note=(
            "lambda takes the place of its root.  Tried at the step sizes mu = t nu / (delta^2 + beta_fed^2), for "
            "which lambda < 1."
        ),
    ).with_repair(
        kind="bound",
        title="The factor in front of the perturbation, within a factor two",
        chain=(
            contracting_step / (2 * nu - contracting_step * (delta**2 + beta_fed_sq)),
            "<=",
            contracting_step**2 / (1 - sp.sqrt(global_rate(contracting_step))),
            "<=",
            2 * contracting_step / (2 * nu - contracting_step * (delta**2 + beta_fed_sq)),
        ),
        for_all={z: (7, 1)},
        note=(
            "1/(1 - sqrt(lambda)) = (1 + sqrt(lambda))/(1 - lambda), and sqrt(lambda) is between 0 and 1.  The step "
            "sizes mu = 2 nu / ((1 + z)(delta^2 + beta_fed^2)), z > 0, are all those for which lambda < 1."
        ),
        verdict="proved",
    ),
    claim.asymptotic.rate("eq-5.64.order", "Order of the factor in front of the perturbation", "(5.64), last link")(
        rate=Rate(mu**2 / (1 - root), mu, mu),
        assumptions=CONVEX,
        printed=r"\frac{\mu^2}{1-\sqrt\lambda}=O(\mu)",
    ),
    claim.proved.inequality("eq-5.65", "Simplifying the noise term", "(5.65)")(
        chain=(mu**2 * sigma_fed_sq / root, "<=", level),
        conditions=[rate >= sp.Rational(1, 4)],
        assumptions=CONVEX,
        printed=(
            r"\sqrt\lambda\ge\frac12:\quad\mu^2\frac{\sigma_{\rm fed}^2}{\sqrt\lambda}\le2\mu^2\sigma_{\rm fed}^2"
        ),
    ),
    *claim.refuted.condition("eq-5.65.step-condition", "Steps for which sqrt(lambda) is at least 1/2", "below (5.65)")(
        chain=(global_rate(t * nu / 2), ">=", sp.Rational(1, 4)),
        for_all=FRACTIONS,
        assumptions=CONVEX,
        printed=r"\mu\le\frac\nu2\ \Longrightarrow\ \sqrt\lambda\ge\frac12",
        note="Tried at mu = t nu/2.  The units tell: mu nu has none, so a bound on mu must be over nu.",
    ).with_repair(
        title="Steps for which sqrt(lambda) is at least 1/2, up to 1/(2 nu)",
        lhs=global_rate(1 / (2 * nu * (1 + s))),
        for_all={s: (3, 1, 0)},
        note=(
            "delta >= nu gives lambda >= (1 - mu nu)^2, which is at least 1/4 for mu <= 1/(2 nu).  Stated for "
            "mu = 1/(2 nu (1 + s)), which are all these steps."
        ),
        verdict="proved",
    ),
]
