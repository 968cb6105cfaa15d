"""Section 5.1.2, (5.27)-(5.40): the variance of the federated gradient, with Lemma 5.1 on sampled means."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Gradient, Selected, norm_sq
from fedtheory.language.claim import Relation
from fedtheory.sources.vlaski2023.statements.notation import *

fed = federated_gradient(mu)
s_sq = Expectation(norm_sq(fed - grad))
agent_error_sq = norm_sq(w_o_k - w)
batch_noise = beta_k**2 / E_k * agent_error_sq + sigma_k**2 / E_k

mean_psi = Expectation(psi)
mean_of_means = Average(mean_psi)
participant_mean = Selected(psi)

# The sides of (5.38) at a point, with averages over agents instead of 1/K times a sum.
client_at, objective_at = Gradient(J_k, x), Gradient(J, x)
own_sq, global_sq = norm_sq(w_o_k - x), norm_sq(w_o - x)
local_part = Average(beta_k**2 / E_k * own_sq + sigma_k**2 / E_k) / L
dissimilar = local_part + SAMPLING * Average(norm_sq(objective_at - client_at))
recentred = local_part + SAMPLING * Average(norm_sq(objective_at - Gradient(J, w_o) + Gradient(J_k, w_o_k) - client_at))
smooth = local_part + SAMPLING * Average(2 * delta**2 * global_sq + 2 * delta_k**2 * own_sq)
inserted = Average(beta_k**2 / E_k * own_sq + 2 * delta_k**2 * own_sq) / L
split = Average(
    2 * beta_k**2 / E_k * spread_k**2 + 2 * beta_k**2 / E_k * global_sq + sigma_k**2 / E_k
) / L + SAMPLING * Average(2 * delta**2 * global_sq + 4 * delta_k**2 * spread_k**2 + 4 * delta_k**2 * global_sq)

_FED = r"\widehat{\nabla J}^{\rm fed}(w_{i-1})"
_BATCH = r"\widehat{\nabla J_k}^{E_k}(w_{i-1})"
_SUM = r"\frac1{KL}\sum_{k=1}^K"
_SAMPLING = r"\frac1{KL}\frac{K-L}{K-1}\sum_{k=1}^K"
_OWN = r"\|w_k^o-w_{i-1}\|^2"
_LOCAL = rf"{_SUM}\left(\frac{{\beta_k^2}}{{E_k}}{_OWN}+\frac{{\sigma_k^2}}{{E_k}}\right)"
_GLOBAL = r"\|w^o-w_{i-1}\|^2"

CLAIMS = [
    claim.proved.condition("eq-5.27", "Unbiased local gradients", "(5.27)")(
        chain=(norm_sq(Expectation(g_w) - grad_k), "==", 0),
        place="round",
        assumptions=NORMALISED,
        printed=r"\mathbb E\{\widehat{\nabla J}_k(w_{i-1})|w_{i-1}\}=\nabla J_k(w_{i-1})",
    ),
    claim.proved.condition("eq-5.28", "Variance of the local gradients", "(5.28)")(
        chain=(Expectation(norm_sq(g_w - grad_k)), "<=", beta_k**2 * agent_error_sq + sigma_k**2),
        place="round",
        assumptions=NORMALISED,
        printed=(
            r"\mathbb E\{\|\widehat{\nabla J}_k(w_{i-1})-\nabla J_k(w_{i-1})\|^2|w_{i-1}\}"
            rf"\le\beta_k^2{_OWN}+\sigma_k^2"
        ),
        note="beta_k is the run's: of the curvature of the variance, then sigma_k the smallest that goes with it.",
    ),
    claim.proved.identity("eq-5.29", "The federated gradient is unbiased", "(5.29)")(
        chain=(norm_sq(Expectation(fed) - grad), "==", 0),
        place="round",
        assumptions=NORMALISED,
        printed=rf"\mathbb E\{{{_FED}|w_{{i-1}}\}}=\nabla J(w_{{i-1}})",
    ),
    claim.proved.bound("eq-5.30", "Variance of an agent's mini-batch gradient", "(5.30)")(
        chain=(Expectation(norm_sq(batch_gradient - grad_k)), "<=", batch_noise),
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"\mathbb E\{{\|{_BATCH}-\nabla J_k(w_{{i-1}})\|^2|w_{{i-1}}\}}"
            rf"\le\frac{{\beta_k^2}}{{E_k}}{_OWN}+\frac{{\sigma_k^2}}{{E_k}}"
        ),
    ),
    claim.proved.identity("lemma-5.1", "Mean of sampled random variables", "Lemma 5.1, (5.31)-(5.33)")(
        lhs=Expectation(norm_sq(participant_mean - mean_of_means)),
        relation="==",
        rhs=Average(variance(psi)) / L + SAMPLING * Average(norm_sq(mean_of_means - mean_psi)),
        also=(
            Relation(norm_sq(Expectation(participant_mean) - mean_of_means), "==", 0),
            Relation(
                Expectation(norm_sq(Selected(batch_gradient) - grad)),
                "==",
                Average(variance(batch_gradient)) / L + SAMPLING * Average(norm_sq(grad - grad_k)),
            ),
        ),
        place="round",
        assumptions=SAMPLED,
        printed=(
            r"\overline a=\frac1K\sum_{k=1}^K\overline a_k,\quad\widehat a=\frac1L\sum_{\ell=1}^La_\ell:\qquad "
            r"\mathbb E\widehat a=\overline a,\quad\mathbb E\|\widehat a-\overline a\|^2="
            rf"{_SUM}\sigma_{{a_k}}^2+{_SAMPLING}\|\overline a-\overline a_k\|^2"
        ),
        note=(
            "a_k is the result psi_{k,i} of an agent's local steps.  The proof knows nothing of it but an expectation "
            "and a fluctuation that is independent of the other agents, so it holds for any independent a_k.  Runs "
            "cover any finite number of equally likely values: one least-squares step from w = 0 with mu_k = 1/2 and "
            "one sample (h, gamma = 1) has psi_{k,i} = h.  The last relation has the mini-batch gradients of (5.34) "
            "as a_k."
        ),
    ),
    claim.proved.step("eq-5.34-5.37", "The vectors to which the lemma is applied", "(5.34)-(5.37)")(
        chain=(norm_sq(Expectation(batch_gradient) - grad_k), "==", 0),
        also=(
            Relation(norm_sq(Average(grad_k) - grad), "==", 0),
            Relation(variance(batch_gradient), "<=", batch_noise),
        ),
        place="round",
        assumptions=SEVERAL,
        printed=(
            rf"a_k\leftarrow{_BATCH},\quad\overline a_k\leftarrow\nabla J_k(w_{{i-1}}),\quad"
            rf"\overline a\leftarrow\nabla J(w_{{i-1}}),\quad\sigma_{{a_k}}^2\leftarrow"
            rf"\frac{{\beta_k^2}}{{E_k}}{_OWN}+\frac{{\sigma_k^2}}{{E_k}}"
        ),
        note="(5.37) puts the bound (5.30) in the place of the variance: the lemma's equation becomes an inequality.",
    ),
    claim.proved.bound("eq-5.38.lemma-step", "Lemma 5.1 applied to the federated gradient", "(5.38), first inequality")(
        chain=(s_sq, "<=", Average(batch_noise) / L + SAMPLING * Average(norm_sq(grad - grad_k))),
        place="round",
        assumptions=SEVERAL,
        printed=(
            r"\mathbb E\{\|\widehat{\nabla J}(w_{i-1})-\nabla J(w_{i-1})\|^2|w_{i-1}\}\le"
            rf"{_LOCAL}+{_SAMPLING}\|\nabla J(w_{{i-1}})-\nabla J_k(w_{{i-1}})\|^2"
        ),
        note="The hat without a mark is read as the federated approximation.",
    ),
    *claim.refuted.step("eq-5.38.steps-a-d", "From dissimilarity to distances", "(5.38), steps (a)-(d)")(
        chain=(dissimilar, "==", recentred, "<=", smooth, "==", inserted, "==", split),
        place="points",
        assumptions=SEVERAL,
        printed=(
            rf"\overset{{(a)}}={_LOCAL}+{_SAMPLING}\|\nabla J(w_{{i-1}})-\nabla J(w^o)+\nabla J_k(w_k^o)"
            r"-\nabla J_k(w_{i-1})\|^2"
            rf"\overset{{(b)}}\le{_LOCAL}+{_SAMPLING}\left(2\delta^2{_GLOBAL}+2\delta_k^2{_OWN}\right)"
            rf"\overset{{(c)}}={_SUM}\left(\frac{{\beta_k^2}}{{E_k}}\|w_k^o-w^o+w^o-w_{{i-1}}\|^2"
            r"+2\delta_k^2\|w_k^o-w^o+w^o-w_{i-1}\|^2\right)"
            rf"\overset{{(d)}}={_SUM}\left(2\frac{{\beta_k^2}}{{E_k}}\|w_k^o-w^o\|^2"
            rf"+2\frac{{\beta_k^2}}{{E_k}}{_GLOBAL}+\frac{{\sigma_k^2}}{{E_k}}\right)"
            rf"+{_SAMPLING}\left(2\delta^2{_GLOBAL}+4\delta_k^2\|w_k^o-w^o\|^2+4\delta_k^2{_GLOBAL}\right)"
        ),
        note=(
            "As transcribed, the member behind (c) has lost sigma_k^2, 2 delta^2 |w^o - w|^2 and the factor of the "
            "sampling term, and (d) has an equality sign where |a + b|^2 <= 2|a|^2 + 2|b|^2 is used."
        ),
        fault="misprint",
    ).with_repair(
        title="From dissimilarity to distances, with (c) complete and (d) an inequality",
        chain=(dissimilar, "==", recentred, "<=", smooth, "<=", split),
        note="With w^o inserted in all terms of (b), as the text says, (c) changes nothing, and (d) bounds it.",
        verdict="proved",
    ),
    claim.proved.bound("eq-5.38.final", "Variance of the federated gradient", "(5.38), step (e)")(
        chain=(s_sq, "<=", beta_fed_sq * error_sq + sigma_fed_sq),
        place="round",
        assumptions=SEVERAL,
        printed=(
            r"\mathbb E\{\|s_i(w_{i-1})\|^2|w_{i-1}\}"
            rf"\le\beta_{{\rm fed}}^2{_GLOBAL}+\sigma_{{\rm fed}}^2"
        ),
        note="The left side is s_i of (5.22); the last line of (5.38) is printed with an equality sign, see (5.40).",
    ),
    claim.definition("eq-5.40", "Noise constants of the federated gradient", "(5.39)-(5.40)")(
        chain=(split, "==", beta_fed_sq * global_sq + sigma_fed_sq),
        place="points",
        assumptions=SEVERAL,
        printed=(
            rf"\beta_{{\rm fed}}^2={_SUM}2\frac{{\beta_k^2}}{{E_k}}"
            rf"+{_SAMPLING}\left(2\delta^2+4\delta_k^2\right),\quad\sigma_{{\rm fed}}^2={_SUM}"
            r"\left(2\frac{\beta_k^2}{E_k}\|w_k^o-w^o\|^2+\frac{\sigma_k^2}{E_k}\right)"
            rf"+{_SAMPLING}4\delta_k^2\|w_k^o-w^o\|^2"
        ),
        note="Step (e) of (5.38) groups its terms by these two constants: that identity is checked.",
        implemented_by="fedtheory.sources.vlaski2023.statements.notation:relative_noise",
    ),
    claim.proved.bound(
        "claim.heterogeneity-in-noise", "The noise conditions hold with the federated constants", "below (5.40)"
    )(
        chain=(s_sq, "<=", beta_fed_sq * error_sq + sigma_fed_sq),
        also=(Relation(norm_sq(Expectation(fed) - grad), "==", 0),),
        place="round",
        assumptions=SEVERAL,
        printed=(
            r"\text{the implicit gradient approximation satisfies the gradient noise conditions with }"
            r"\beta_{\rm fed}^2,\sigma_{\rm fed}^2\text{ determined by }\beta_k^2,\sigma_k^2,E_k,\|w_k^o-w^o\|^2"
        ),
        note=(
            "The conditions are (3.22) and (3.23), repeated for agents as (5.27) and (5.28), here for the federated "
            "approximation with alpha^2 = gamma^2 = 0: (5.29) and the end of (5.38).  By (5.39)-(5.40) the constants "
            "depend on K, L, delta and delta_k as well.  Without sampling, L = K, heterogeneity enters through beta_k "
            "only."
        ),
    ),
    claim.proved.bound(
        "claim.steady-state-noise", "The stationary error to first order in mu is at most that of sigma_fed", "(5.40)"
    )(
        chain=(leading, "<=", mu * sigma_fed_sq / (2 * nu)),
        assumptions=CONVEX,
        note=(
            "Noise, sampling, E_k and heterogeneity move the stationary error through sigma_fed^2 alone.  To first "
            "order in mu that error is mu/2 tr(H^-1 R), R the covariance of s_i at w^o, by (5.38) at most "
            "mu sigma_fed^2 / (2 nu)."
        ),
    ),
]
