"""Theorem 5.1, (5.55)-(5.57): the recursion of the mean-square error, its rate, and its limit."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Rate
from fedtheory.sources.vlaski2023.statements.local_error import LOCAL_RATE_CONTRACTS
from fedtheory.sources.vlaski2023.statements.notation import *

root = sp.sqrt(rate)
after = Expectation(next_error_sq)
level = 2 * mu**2 * sigma_fed_sq

limit, start, i = q.limiting_distance_sq.symbol, sp.Symbol(r"\|\tilde{w}_0\|", nonnegative=True), sp.Symbol("i")
reached = q.server_distance_after_sq.symbol
WHOLE_RUN = {
    **NOTATION,
    limit: q.limiting_distance_sq,
    reached: q.server_distance_after_sq,
    start: q.initial_distance,
    i: q.round_index,
}
RATE_BELOW_ONE = rate < 1
"""sqrt(lambda) < 1."""


def write_published_cubic() -> Expr:
    """Return the constant of both O(mu^3) in (5.55), by (5.54), (5.62) and (5.64) as published."""
    slope = L / K * Average(2 * hat_delta_k**2)
    offset = L / K * Average(2 * hat_delta_k**2 * spread_k**2 + mu**2 * hat_delta_k**2 * sigma_k**2 / E_k)
    return 2 / (2 * nu - mu * (delta**2 + beta_fed_sq)) * (slope + offset)


energy_factor_k = (E_k - 1) * (2 * E_k - 1) / (6 * E_k**2) * hat_delta_k**2
curvature_k = delta_k**2 + beta_k**2
amplifier = 2 * mu**3 / (2 * nu - mu * (delta**2 + beta_fed_sq))
cubic_slope = amplifier * Average(2 * energy_factor_k * curvature_k)
energy_level = Average(energy_factor_k * (curvature_k * (2 * spread_k**2 + mu**2 * sigma_k**2 / E_k) + sigma_k**2))
"""Part of the energy of the perturbation, over mu^4, that does not depend on the error."""
cubic_level = amplifier * energy_level

# Bounds with the factor 1 - mu nu, which is at most sqrt(lambda): Jensen's inequality with 1/alpha = 1 + mu nu/2.
one_over_alpha = 1 + mu * nu / 2
"""1/alpha."""
one_over_rest = 1 + 2 / (mu * nu)
"""1/(1 - alpha)."""
_rate = (
    1
    - 2 * mu * nu
    + mu**2 * (delta**2 + 2 * Average(beta_k**2 / E_k) / L)
    + mu**2 * SAMPLING * (2 * delta**2 + 4 * Average(delta_k**2))
)
"""lambda, with client averages of products."""
_drift_factor = sp.Rational(2, 3) * (Average(hat_delta_k**2 * delta_k**2) + Average(hat_delta_k**2 * beta_k**2))
"""Upper bound on the client average of twice energy_factor_k times curvature_k."""
SMALL_STEP = one_over_alpha * _rate + mu**4 * one_over_rest * _drift_factor <= 1 - mu * nu
"""Condition that mu is small: the left side is 1 - 3 mu nu/2 + O(mu^2)."""
small_level = one_over_alpha * mu**2 * sigma_fed_sq + mu**4 * one_over_rest * energy_level
"""Term that a round adds: mu^2 sigma_fed^2 + O(mu^3)."""

_ROOT = (
    r"\sqrt\lambda=\sqrt{1-2\mu\nu+\mu^2\left(\delta^2+\beta_{\rm fed}^2\right)}"
    r"\le1-\mu\nu+\frac{\mu^2}2\left(\delta^2+\beta_{\rm fed}^2\right)"
)

CLAIMS = [
    *claim.refuted.rate("thm-5.1.recursion", "Mean-square recursion of federated averaging", "Theorem 5.1, (5.55)")(
        rate=Rate(sp.Max(0, (1 - root) * after - level) / (1 + after), mu**3, mu, constant=write_published_cubic()),
        place="round",
        assumptions=CONVEX,
        printed=(
            r"\mathbb E\|\widetilde w_i\|^2\le\left(\sqrt\lambda+O(\mu^3)\right)\mathbb E\|\widetilde w_i\|^2"
            r"+2\mu^2\sigma_{\rm fed}^2+O(\mu^3)"
        ),
        note=(
            "As transcribed the error of the same round i stands on both sides: an error far from w^o would be small "
            "after one round.  An O(.) without its constant cannot be refuted; here it has the one that the proof "
            "gives in (5.54), (5.62) and (5.64)."
        ),
        fault="misprint",
    ).with_repair(
        title="Mean-square recursion of federated averaging, from round i - 1 to i",
        rate=Rate(sp.Max(0, after - root * error_sq - level) / (1 + error_sq), mu**3, mu),
        note="The right side is the error of round i - 1, as in (5.62).",
        verdict="asymptotic",
    ),
    claim.proved.bound(
        "thm-5.1.recursion.explicit",
        "Mean-square recursion of federated averaging, with all constants",
        "Theorem 5.1, (5.55), corrected",
    )(
        chain=(after, "<=", (root + cubic_slope) * error_sq + level + cubic_level),
        conditions=[LOCAL_RATE_CONTRACTS, RATE_BELOW_ONE, rate >= sp.Rational(1, 4)],
        place="round",
        assumptions=CONVEX,
        note=(
            "The O(mu^3) of the theorem, from the sharp form of (5.54) and 1 - sqrt(lambda) >= (1 - lambda)/2.  With "
            "(5.54) as printed, and mu counted once in d_i, they would be O(mu)."
        ),
        corrects="vlaski2023:thm-5.1.recursion",
    ),
    claim.proved.inequality("thm-5.1.rate", "Rate of the recursion", "Theorem 5.1, (5.56) and (5.63)")(
        chain=(root, "<=", 1 - mu * nu + mu**2 / 2 * (delta**2 + beta_fed_sq)),
        assumptions=CONVEX,
        printed=_ROOT,
    ),
    claim.asymptotic.rate("thm-5.1.rate.contracts", "Small steps contract", "Theorem 5.1, below (5.56)")(
        rate=Rate(sp.Max(0, root - 1 + mu * nu), mu**2, mu),
        assumptions=CONVEX,
        printed=r"\text{for sufficiently small step-sizes }\sqrt\lambda+O(\mu^3)<1",
        note="sqrt(lambda) is at most 1 - mu nu up to order mu^2, so terms of order mu^3 do no harm.",
    ),
    claim.proved.bound(
        "thm-5.1.recursion.small-steps", "Mean-square recursion for small steps, with the factor 1 - mu nu", "(5.55)"
    )(
        chain=(after, "<=", (1 - mu * nu) * error_sq + small_level),
        conditions=[LOCAL_RATE_CONTRACTS, SMALL_STEP],
        place="round",
        assumptions=CONVEX,
        note=(
            "For small steps the O(mu^3) beside sqrt(lambda) is not needed: 1 - mu nu <= sqrt(lambda), and a weight "
            "alpha closer to one, 1/(1 + mu nu/2), makes room for the perturbation."
        ),
    ),
    claim.asymptotic.rate("thm-5.1.limit", "Mean-square error of federated averaging", "Theorem 5.1, (5.57)")(
        rate=Rate(
            sp.Max(0, reached - 4 * mu * sigma_fed_sq / nu - sp.sqrt(rate**i) * start**2) / (1 + mu * start**2),
            mu**2,
            mu,
        ),
        where=WHOLE_RUN,
        assumptions=CONVEX,
        printed=(
            r"\mathbb E\|\widetilde w_i\|^2\le(\sqrt\lambda^{\,i}+O(\mu^3))\|\widetilde w_0\|^2"
            r"+\frac{4\mu\sigma_{\rm fed}^2}\nu+O(\mu^2)"
        ),
        note=(
            "For the rounds of the run.  Both O(.) together are O(mu^2) (1 + mu |w~_0|^2).  Iterating (5.55) gives "
            "O(mu^2) in place of O(mu^3) if all i are to have one constant.  A ladder of step sizes has one start and "
            "a fixed number of rounds; that one constant serves all i and w_0 is the next claim, whose recursion for a "
            "single round is proved."
        ),
    ),
    claim.supported.bound(
        "thm-5.1.limit.explicit", "Mean-square error for small steps, with all constants", "Theorem 5.1, (5.57)"
    )(
        chain=(
            reached,
            "<=",
            (1 - mu * nu) ** i * start**2 + 3 * mu * sigma_fed_sq / (2 * nu) + 3 * mu**2 * energy_level / nu**2,
        ),
        where=WHOLE_RUN,
        conditions=[LOCAL_RATE_CONTRACTS, SMALL_STEP],
        assumptions=CONVEX,
        note=(
            "The recursion with the factor 1 - mu nu, iterated from the first round to round i.  (1 - mu nu)^i is at "
            "most sqrt(lambda)^i, so (5.57) holds with no O(mu^3) beside it, with 3/2 in place of 4, and with one "
            "constant for all i and all w_0."
        ),
        sharpens="vlaski2023:thm-5.1.limit",
    ),
    claim.asymptotic.rate("thm-5.1.limit.steady", "Limit of the mean-square error", "Theorem 5.1, (5.57)")(
        rate=Rate(sp.Max(mu**2, limit - 4 * mu * sigma_fed_sq / nu), mu**2, mu),
        where=WHOLE_RUN,
        assumptions=CONVEX,
        printed=(r"\lim_{i\to\infty}\mathbb E\|\widetilde w_i\|^2\le\frac{4\mu\sigma_{\rm fed}^2}\nu+O(\mu^2)"),
        note=(
            "From the exact fixed point of the second moments.  mu^2 stands under the maximum so that rounding errors "
            "do not look like a slow rate."
        ),
    ),
]
