"""Section 5.1.2, (5.41)-(5.47): the energy of the perturbation d_i, agent by agent, and mean-square smoothness."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, Selected, inner, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import least_squares_loss
from fedtheory.language.claim import Relation
from fedtheory.sources.vlaski2023.statements.notation import *

energy, energy_k = Expectation(norm_sq(d)), Expectation(norm_sq(d_k))
sample_change_sq = Expectation(norm_sq(g - g_w))
distance_sq = Expectation(norm_sq(phi - w))
h4 = sp.Symbol(r"\mathbb{E}\|h_kh_k^T\|^2", nonnegative=True)
sample_change = sp.Symbol(r"\mathbb{E}(h_kh_k^T)^2(\phi_{k\,e-1}-w_{i-1})", real=True)
lms_gradient = g / 2
"""(5.45): half the gradient of the squared error."""

_DK = r"\mathbb E\{\|d_{k,i}\|^2|w_{i-1}\}"
_PAIR = r"\mathbb E\{\|\widehat{\nabla J_k}(\phi_{k,e-1})-\widehat{\nabla J_k}(w_{i-1})\|^2|w_{i-1}\}"
_SELECTED = r"\frac1L\sum_{k\in\mathcal L_i}"
_END = r"\mu^2\frac L{K^2}\sum_{k=1}^K\mathbb E\{\|d_{k,i}\|^2|w_{i-1}\}"

CLAIMS = [
    *claim.refuted.bound("eq-5.41", "Energy of the perturbation, agent by agent", "(5.41)")(
        chain=(
            energy,
            "==",
            Expectation(norm_sq(Selected(mu * d_k))),
            "==",
            mu**2 * Expectation(norm_sq(Selected(d_k))),
            "==",
            mu**2 * Expectation(norm_sq(Average(takes_part * d_k))),
            "<=",
            mu**2 * Average(Expectation(norm_sq(takes_part * d_k))),
            "==",
            mu**2 * L / K * Average(energy_k),
        ),
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"\mathbb E\{{\|d_i\|^2|w_{{i-1}}\}}=\mathbb E\|{_SELECTED}\mu_kE_kd_{{k,i}}\|^2"
            rf"=\mathbb E\|{_SELECTED}\mu d_{{k,i}}\|^2=\mu^2\mathbb E\|{_SELECTED}d_{{k,i}}\|^2"
            r"=\mu^2\mathbb E\|\frac1K\sum_{k=1}^K\mathbb 1_{k,i}d_{k,i}\|^2"
            rf"\le\mu^2\frac1K\sum_{{k=1}}^K\mathbb E\|\mathbb 1_{{k,i}}d_{{k,i}}\|^2={_END}"
        ),
        note="The mean over L participants becomes 1/K times a sum with indicators: the factor K/L is lost.",
    ).with_repair(
        title="Energy of the perturbation, with the participants' mean kept",
        chain=(
            energy,
            "==",
            mu**2 * Expectation(norm_sq(K / L * Average(takes_part * d_k))),
            "<=",
            mu**2 * K / L * Average(Expectation(norm_sq(takes_part * d_k))),
            "==",
            mu**2 * Average(energy_k),
        ),
        note="Jensen's inequality for the mean over the L participants: 1/K stands where L/K^2 is printed.",
        verdict="proved",
    ),
    claim.proved.bound("eq-5.42", "Energy of an agent's perturbation, step by step", "(5.42)")(
        chain=(energy_k, "<=", LocalSum(sample_change_sq) / E_k),
        place="round",
        assumptions=NORMALISED,
        printed=rf"{_DK}\le\frac1{{E_k}}\sum_{{e=1}}^{{E_k}}{_PAIR}",
    ),
    claim.proved.condition("condition-5.1", "Mean-square smoothness", "Condition 5.1, (5.43)")(
        chain=(sample_change_sq, "<=", hat_delta_k**2 * distance_sq),
        place="round",
        assumptions=NORMALISED,
        printed=(r"\mathbb E\|\widehat{\nabla J_k}(w_1)-\widehat{\nabla J_k}(w_2)\|^2\le\hat\delta_k^2\|w_1-w_2\|^2"),
        note=(
            "Both gradients have the same sample.  hat delta_k is the smallest constant for all pairs; it is tried at "
            "w_1 = phi_{k,e-1}, averaged over its past, and w_2 = w_{i-1}."
        ),
    ),
    *claim.refuted.identity("eq-5.44-5.45", "Least mean squares: cost and gradient", "(5.44)-(5.45)")(
        chain=(Expectation(inner(lms_gradient - Gradient(J_k, phi), Gradient(J_k, phi))), "==", 0),
        place="step",
        assumptions=(least_squares_loss,),
        printed=(
            r"J_k(w)=\mathbb E\|\gamma_k-h_k^{\mathsf T}w\|^2,\quad\widehat{\nabla J_k}(w)="
            r"\nabla Q(w;h_{k,i},\gamma_{k,i})=-h_{k,i}\left(\gamma_{k,i}-h_{k,i}^{\mathsf T}w\right)"
        ),
        note=(
            "Read with (5.27): the approximation must have the mean grad J_k, in the direction of grad J_k itself, at "
            "every local iterate.  The printed one is half the gradient of the printed cost."
        ),
    ).with_repair(
        title="Least mean squares: the gradient with its factor two",
        lhs=Expectation(inner(2 * lms_gradient - Gradient(J_k, phi), Gradient(J_k, phi))),
        also=(Relation(Expectation(inner(2 * lms_gradient - Gradient(J_k, phi), phi - w)), "==", 0),),
        note="-2 h (gamma - h'w) for this cost; or half the squared error as the cost, which Problem 5.3 needs.",
        verdict="proved",
    ),
    claim.supported.bound("eq-5.46", "Least mean squares are smooth in the mean square", "(5.46)")(
        chain=(
            Expectation(norm_sq(lms_gradient - g_w / 2)),
            "==",
            Expectation(inner(phi - w, sample_change)),
            "<=",
            h4 * Expectation(norm_sq(phi - w)),
        ),
        also=(Relation((hat_delta_k / 2) ** 2, "<=", h4),),
        where={**NOTATION, h4: q.regressor_fourth_moment, sample_change: q.sample_curvature_of_change},
        place="round",
        assumptions=(least_squares_loss,),
        printed=(
            r"\mathbb E\|\widehat{\nabla J_k}(w_1)-\widehat{\nabla J_k}(w_2)\|^2="
            r"\mathbb E\|-h_{k,i}(\gamma_{k,i}-h_{k,i}^{\mathsf T}w_1)"
            r"+h_{k,i}(\gamma_{k,i}-h_{k,i}^{\mathsf T}w_2)\|^2="
            r"\mathbb E\|h_{k,i}h_{k,i}^{\mathsf T}w_1-h_{k,i}h_{k,i}^{\mathsf T}w_2\|^2="
            r"\mathbb E\|h_{k,i}h_{k,i}^{\mathsf T}(w_1-w_2)\|^2\le\mathbb E\|h_{k,i}h_{k,i}^{\mathsf T}\|^2"
            r"\|w_1-w_2\|^2,\quad\hat\delta_k^2=\mathbb E\|h_{k,i}h_{k,i}^{\mathsf T}\|^2"
        ),
        note=(
            "At w_1 = phi_{k,e-1} and w_2 = w_{i-1}, with the gradient of (5.45), half of the one of a run.  The first "
            "relation has the first and the last of the four equal members: the gradients of the run, which contain "
            "gamma, and the second moment of h h' from the data.  The two members between follow by algebra.  The last "
            "relation is the constant for all pairs; the gradient of the cost (5.44) needs four times that."
        ),
    ),
    claim.proved.bound("eq-5.47", "Energy of an agent's perturbation by the distance that it covers", "(5.47)")(
        chain=(energy_k, "<=", hat_delta_k**2 / E_k * LocalSum(distance_sq)),
        place="round",
        assumptions=NORMALISED,
        printed=(
            rf"{_DK}\le\frac{{\hat\delta_k^2}}{{E_k}}\sum_{{e=1}}^{{E_k}}"
            r"\mathbb E\{\|\phi_{k,e-1}-w_{i-1}\|^2|w_{i-1}\}"
        ),
    ),
]
