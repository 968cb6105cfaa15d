"""Section 5.1.2, (5.48)-(5.54): the distance covered by local steps, and the energy of the perturbation d_i."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, norm_sq
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.vlaski2023.statements.notation import *

energy, energy_k = Expectation(norm_sq(d)), Expectation(norm_sq(d_k))
agent_error_sq = norm_sq(w_o_k - w)
before, after = Expectation(norm_sq(w_o_k - phi)), Expectation(norm_sq(w_o_k - phi_next))
PUBLISHED_RATE_CONTRACTS = local_rate() <= 1
"""Condition with lambda_k as published."""
LOCAL_RATE_CONTRACTS = local_rate(mu) <= 1

distance_bound_k = agent_error_sq + mu**2 * sigma_k**2 / E_k
published_bound_k = (
    2 * hat_delta_k**2 * error_sq + 2 * hat_delta_k**2 * spread_k**2 + mu**2 * hat_delta_k**2 * sigma_k**2 / E_k
)
DISTANCE_FACTOR = mu**2 * (E_k - 1) * (2 * E_k - 1) / (6 * E_k**2)
"""mu_k^2 times the average over e of (e - 1)^2."""
gradient_bound_k = (delta_k**2 + beta_k**2) * distance_bound_k + sigma_k**2
"""Bound on the mean square of a gradient at a local step."""
energy_bound_k = hat_delta_k**2 * DISTANCE_FACTOR * gradient_bound_k
"""Bound on E|d_k|^2 by the norms of the local steps."""


def write_published_energy_bound() -> sp.Expr:
    """Return the right end of (5.54) as published."""
    factor = mu**2 * L / K * Average(2 * hat_delta_k**2)
    level = Average(2 * hat_delta_k**2 * spread_k**2 + mu**2 * hat_delta_k**2 * sigma_k**2 / E_k)
    return factor * error_sq + mu**2 * L / K * level


_OWN = r"\|w_k^o-w_{i-1}\|^2"
_DK = r"\mathbb E\{\|d_{k,i}\|^2|w_{i-1}\}"
_END = r"\mu^2\frac L{K^2}\sum_{k=1}^K\mathbb E\{\|d_{k,i}\|^2|w_{i-1}\}"
_TERMS = r"2\hat\delta_k^2\|w^o-w_{i-1}\|^2+2\hat\delta_k^2\|w^o-w_k^o\|^2+\mu^2\hat\delta_k^2\frac{\sigma_k^2}{E_k}"


def _write_error(index: str, power: str = "^2") -> str:
    return rf"\mathbb E\{{\|w_k^o-\phi_{{k,{index}}}\|{power}|w_{{i-1}}\}}"


CLAIMS = [
    claim.proved.identity("eq-5.48", "Local error recursion", "(5.48)")(
        chain=(norm_sq((w_o_k - phi_next) - (w_o_k - phi + mu_k * g)), "==", 0),
        also=(
            Relation(
                norm_sq((w_o_k - phi_next) - (w_o_k - phi + mu / E_k * g - mu / E_k * Gradient(J_k, w_o_k))), "==", 0
            ),
        ),
        place="round",
        assumptions=NORMALISED,
        printed=(
            r"w_k^o-\phi_{k,e}=w_k^o-\phi_{k,e-1}+\mu_k\widehat{\nabla J_k}(\phi_{k,e-1})"
            r"=w_k^o-\phi_{k,e-1}+\frac\mu{E_k}\widehat{\nabla J_k}(\phi_{k,e-1})-\frac\mu{E_k}\nabla J_k(w_k^o)"
        ),
    ),
    *claim.refuted.bound("eq-5.49", "One local step towards the agent's minimiser", "(5.49)")(
        chain=(after, "<=", local_rate() * before + mu**2 * sigma_k**2 / E_k**2),
        place="round",
        assumptions=CONVEX,
        printed=rf"{_write_error('e')}\le\lambda_k{_write_error('e-1')}+\mu^2\frac{{\sigma_k^2}}{{E_k^2}}",
        note=(
            "With lambda_k as printed in (5.50): its last term has mu_k^2 / E_k^2 = mu^2 / E_k^4, too small where "
            "E_k > 1."
        ),
        fault="misprint",
    ).with_repair(
        title="One local step, with mu^2 / E_k^2 in its rate",
        rhs=local_rate(mu) * before + mu**2 * sigma_k**2 / E_k**2,
        note="Squaring (5.48) gives mu_k^2 (delta_k^2 + beta_k^2) with mu_k = mu / E_k.",
        verdict="proved",
    ),
    claim.definition("eq-5.50", "Local rate", "(5.50)")(
        printed=(r"\lambda_k\triangleq1-2\frac\mu{E_k}\nu_k+\frac{\mu_k^2}{E_k^2}\left(\delta_k^2+\beta_k^2\right)"),
        note="The index of mu_k in the last term is one too many, see (5.49).",
        implemented_by="fedtheory.sources.vlaski2023.statements.notation:local_rate",
    ),
    *claim.refuted.bound("eq-5.51", "One local step, without its contraction", "(5.51)")(
        chain=(after, "<=", before + mu**2 * sigma_k**2 / E_k**2),
        conditions=[PUBLISHED_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        printed=rf"\lambda_k\le1:\quad{_write_error('e')}\le{_write_error('e-1')}+\mu^2\frac{{\sigma_k^2}}{{E_L^2}}",
        note=(
            "As transcribed it has E_L, a number of local steps of no agent, which is read as E_k.  "
            "With lambda_k as printed in (5.50), lambda_k <= 1 admits local steps that overshoot: at E_k = 2 up "
            "to mu_k = 8 / delta_k."
        ),
        fault="misprint",
    ).with_repair(
        title="One local step, without its contraction, for the corrected rate",
        conditions=[LOCAL_RATE_CONTRACTS],
        note="From the corrected (5.49), with mu^2 / E_k^2 in lambda_k.",
        verdict="proved",
    ),
    *claim.refuted.bound("eq-5.52", "Distance from the agent's minimiser in a round", "(5.52)")(
        chain=(
            Expectation(sp.sqrt(norm_sq(w_o_k - phi_next))),
            "<=",
            agent_error_sq + mu**2 * sigma_k**2 * (e + 1) / E_k**2,
            "<=",
            distance_bound_k,
        ),
        conditions=[PUBLISHED_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        printed=(
            rf"{_write_error('e', '')}\le{_OWN}+\mu^2\frac{{\sigma_k^2e}}{{E_k^2}}"
            rf"\le{_OWN}+\mu^2\frac{{\sigma_k^2}}{{E_k}}"
        ),
        note=(
            "As transcribed, the left side has lost its square, and the bar before w_{i-1} became a norm; the sides do "
            "not even have the same unit."
        ),
        fault="misprint",
    ).with_repair(
        title="Squared distance from the agent's minimiser in a round",
        chain=(after, "<=", agent_error_sq + mu**2 * sigma_k**2 * (e + 1) / E_k**2, "<=", distance_bound_k),
        also=(Relation(before, "<=", agent_error_sq + mu**2 * sigma_k**2 * e / E_k**2),),
        conditions=[LOCAL_RATE_CONTRACTS],
        note="(5.51) iterated from phi_{k,0} = w_{i-1}, with the corrected lambda_k <= 1; here e counts from zero.",
        verdict="proved",
    ),
    *claim.refuted.bound("eq-5.53", "Energy of an agent's perturbation", "(5.53)")(
        chain=(
            energy_k,
            "<=",
            hat_delta_k**2 / E_k * LocalSum(distance_bound_k),
            "<=",
            hat_delta_k**2 * agent_error_sq + mu**2 * hat_delta_k**2 * sigma_k**2 / E_k,
            "<=",
            published_bound_k,
        ),
        conditions=[PUBLISHED_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        printed=(
            rf"{_DK}\le\frac{{\hat\delta_k^2}}{{E_k}}\sum_{{e=1}}^{{E_k}}\left\{{{_OWN}+\mu^2\frac{{\sigma_k^2}}{{E_k}}"
            rf"\right\}}\le\hat\delta_k^2{_OWN}+\mu^2\hat\delta_k^2\frac{{\sigma_k^2}}{{E_k}}\le{_TERMS}"
        ),
        note=(
            "With lambda_k as printed in (5.50), whose condition lambda_k <= 1 admits steps that are too large.  Nor "
            "does it follow as printed: (5.47) needs the distance |phi - w_{i-1}|, while (5.52) bounds |w_k^o - phi|."
        ),
    ).with_repair(
        title="Energy of an agent's perturbation, for the corrected rate",
        chain=(
            energy_k,
            "<=",
            hat_delta_k**2 * agent_error_sq + mu**2 * hat_delta_k**2 * sigma_k**2 / E_k,
            "<=",
            published_bound_k,
        ),
        conditions=[LOCAL_RATE_CONTRACTS],
        note=(
            "With mu^2 / E_k^2 in lambda_k.  The distance covered is of order mu, which this bound does not use; the "
            "tightened form of (5.54) does."
        ),
        verdict="supported",
    ),
    claim.proved.bound("eq-5.53.way", "The distance covered by local steps", "(5.53), corrected")(
        chain=(Expectation(norm_sq(g)), "<=", gradient_bound_k),
        also=(Relation(Expectation(norm_sq(phi - w)), "<=", mu**2 * e**2 / E_k**2 * gradient_bound_k),),
        conditions=[LOCAL_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        note=(
            "The bound that (5.47) needs, by (5.52): at most e steps of size mu / E_k along gradients of bounded mean "
            "square; e counts from zero."
        ),
        corrects="vlaski2023:eq-5.53",
    ),
    *claim.refuted.bound("eq-5.54", "Energy of the server's perturbation", "(5.54)")(
        chain=(
            energy,
            "<=",
            mu**2 * L / K * Average(energy_k),
            "==",
            mu**2 * L / K * Average(published_bound_k),
            "==",
            write_published_energy_bound(),
        ),
        conditions=[PUBLISHED_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        printed=(
            rf"\mathbb E\{{\|d_i\|^2|w_{{i-1}}\}}\le{_END}=\mu^2\frac L{{K^2}}\sum_{{k=1}}^K\left({_TERMS}\right)"
            r"=\mu^2\frac L{K^2}\left(\sum_{k=1}^K2\hat\delta_k^2\right)\|w^o-w_{i-1}\|^2+\mu^2\frac L{K^2}\sum_{k=1}^K"
            r"\left(2\hat\delta_k^2\|w^o-w_k^o\|^2+\mu^2\hat\delta_k^2\frac{\sigma_k^2}{E_k}\right)"
        ),
        note="Inherits L/K^2 from (5.41), and has an equality sign where (5.53) is used.",
    ).with_repair(
        title="Energy of the server's perturbation, with 1/K",
        chain=(
            energy,
            "<=",
            mu**2 * Average(energy_k),
            "<=",
            mu**2 * Average(published_bound_k),
            "==",
            K / L * write_published_energy_bound(),
        ),
        conditions=[LOCAL_RATE_CONTRACTS],
        note="From the corrected (5.41); the printed right end times K/L.",
        verdict="supported",
    ),
    claim.proved.bound("eq-5.54.sharp", "Energy of the server's perturbation, of order mu^4", "(5.54), corrected")(
        chain=(energy, "<=", mu**2 * Average(energy_k), "<=", mu**2 * Average(energy_bound_k)),
        conditions=[LOCAL_RATE_CONTRACTS],
        place="round",
        assumptions=CONVEX,
        note=(
            "phi_{k,e-1} - w_{i-1} is mu_k times a sum of e - 1 gradients, each of mean square at most "
            "(delta_k^2 + beta_k^2)(|w_k^o - w_{i-1}|^2 + mu^2 sigma_k^2 / E_k) + sigma_k^2 by the corrected (5.52).  "
            "Since mu enters d_i once only, see (5.21), the theorem's O(mu^3) needs this order."
        ),
        corrects="vlaski2023:eq-5.54",
    ),
    claim.asymptotic.rate("eq-5.54.order", "Order of the energy of the server's perturbation", "(5.54), last line")(
        rate=Rate(energy / (1 + error_sq), mu**2, mu),
        place="round",
        assumptions=CONVEX,
        printed=(r"\mathbb E\{\|d_i\|^2|w_{i-1}\}\le O(\mu^2)\cdot\|w^o-w_{i-1}\|^2+O(\mu^2)"),
        note="True, and not sharp: the energy is of order mu^4.",
    ),
]
