"""Appendix A.3, Lemmas 1 and 2: the random weights of an update."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import inequalities
from fedtheory.sources.fraboni2022.statements.inequalities import (
    ANY_POINT,
    ANY_POINT_NOTE,
    D_y,
    Delta_y,
    R_nk,
    gradient_sq,
)
from fedtheory.sources.fraboni2022.statements.notation import *

NOTATION = Notation(inequalities.NOTATION)
selected_sq = NOTATION.add(q.selected_gradient_sq, nonnegative=True)
omega_sq = NOTATION.add(q.expected_square_weight, nonnegative=True)
largest_share = NOTATION.add(q.largest_share, nonnegative=True)
D_omega = NOTATION.add(q.selected_alignment, real=True)
distance_sq = NOTATION.add(q.virtual_distance_sq, nonnegative=True)
next_distance_sq = NOTATION.add(q.next_virtual_distance_sq, nonnegative=True)
step_sq = NOTATION.add(q.virtual_step_sq, nonnegative=True)
descent = NOTATION.add(q.mixed_descent, real=True)
selected_descent = NOTATION.add(q.selected_descent, real=True)
server_descent = NOTATION.add(q.server_descent, real=True)

claim = Statements("fraboni2022", NOTATION)

SAMPLED = (*SCHEME, a.synchronous, a.weight_covariance)

gamma = omega_sq - alpha * q_in**2
mixed = q_n**2 * R_nk
"""E|sum_i q_i(n) g_i|^2."""
pairs = mixed - ClientSum(q_in**2 * gradient_sq)
"""Sum over i != j of E<q_i g_i, q_j g_j>, by eq. (54)."""
square_of_selected = ClientSum(gamma * gradient_sq) + alpha * mixed
squares_alone = largest_share * q_n * ClientSum(q_in * gradient_sq)

_SECOND = r"\mathbb E_{S_n}\left[\left\|\sum_i\omega_i(n)x_i\right\|^2\right]"
_NEXT = r"\mathbb E_{S_n}\left[\|\theta^{n,k+1}-\theta^*\|^2\right]"
_NOW = r"\|\theta^{n,k}-\theta^*\|^2"
_G = r"g_i(\theta_i^{\rho_i(n),k})"
_SAME_PARTICIPANTS = (
    "The participants S_n are the same for all local steps of an update, so theta^{n,k} depends on the weights once "
    "k >= 1: their mean cannot be taken in the inner product alone."
)

CLAIMS = [
    claim.proved.identity("lemma-1", "Second moment of a weighted sum", "Lemma 1, eqs. (51)-(54)")(
        chain=(selected_sq, "==", square_of_selected),
        also=(Relation(gamma, ">=", 0), Relation(gamma, "<=", beta * q_in)),
        assumptions=SAMPLED,
        printed=(
            rf"{_SECOND}=\sum_i\gamma_i(n)\|x_i\|^2+\alpha\left\|\sum_iq_i(n)x_i\right\|^2,\quad "
            r"\gamma_i(n)=\mathbb E_{S_n}[\omega_i^2(n)]-\alpha q_i^2(n)\ge0,\quad\gamma_i(n)\le\beta q_i(n),\quad "
            r"\beta\coloneqq\max\{d_i(n)-\alpha q_i(n)\}"
        ),
        note=(
            "The left side and E[omega_i^2] are sums over all sets of participants, alpha is that of the law; x_i are "
            "the clients' stochastic gradients.  With multinomial sampling a weight takes more than the two values of "
            "(5), and d_i is read as E[omega_i^2] / q_i."
        ),
    ),
    claim.proved.identity(
        "lemma-1.schedules",
        "Second moment of a weighted sum, for clocks of every kind",
        "Lemma 1, for given update times",
    )(
        chain=(selected_sq, "==", square_of_selected),
        also=(Relation(gamma, ">=", 0), Relation(gamma, "<=", beta * q_in)),
        assumptions=(*SCHEME, a.weight_covariance),
        note="With alpha = 0 where no update has two reports, and alpha = 1 otherwise.",
    ),
    *claim.refuted.inequality("lemma-1.remark", "A lower bound for the cross terms", "Lemma 1, remark, eq. (55)")(
        chain=(pairs, ">=", mixed - largest_share * mixed, ">=", 0),
        assumptions=SCHEME,
        printed=(
            r"\sum_i\sum_{j\ne i}\langle q_i(n)x_i,q_j(n)x_j\rangle\ge\left\|\sum_iq_i(n)x_i\right\|^2"
            r"-\frac{\max q_i(n)}{q(n)}\left\|\sum_iq_i(n)x_i\right\|^2\ge0"
        ),
        note=(
            "Jensen's inequality is used the wrong way round.  Tried with the clients' stochastic gradients as x_i; "
            "two opposite vectors with equal weights have negative cross terms."
        ),
    ).with_repair(
        title="Bounds for the cross terms",
        chain=(mixed - squares_alone, "<=", pairs, "<=", (1 - 1 / M) * mixed),
        note="Jensen's inequality bounds the cross terms from above; the lower bound has the squares themselves.",
        verdict="proved",
    ),
    *claim.refuted.inequality("lemma-1.remark.alpha", "The second moment grows with alpha", "Lemma 1, remark")(
        chain=(selected_sq, ">=", ClientSum(omega_sq * gradient_sq)),
        assumptions=(*SCHEME, a.weight_covariance),
        printed=rf"\text{{Therefore, }}{_SECOND}\text{{ is linearly proportional to }}\alpha",
        note=(
            "Read as: the term with alpha, alpha times the cross terms, adds to the rest.  It is negative where the "
            "x_i cancel, as the clients' gradients do near the optimum of L^n."
        ),
    ).with_repair(
        kind="identity",
        title="The second moment is affine in alpha",
        relation="==",
        rhs=ClientSum(omega_sq * gradient_sq) + alpha * pairs,
        note="With a slope of either sign.",
        verdict="proved",
    ),
    *claim.refuted.bound("lemma-2", "Progress of one update", "Lemma 2, eq. (56)")(
        chain=(Delta, "<=", -2 * tilde_eta * D_x + tilde_eta**2 * alpha * q_n**2 * R + tilde_eta**2 * beta * q_n * S),
        assumptions=ASSUMPTIONS,
        printed=(r"\Delta(n)\le-2\tilde\eta D(x,n)+\tilde\eta^2\alpha q^2(n)R(n)+\tilde\eta^2\beta q(n)S(n)"),
        note=f"Tried with x = thetabar.  {_SAME_PARTICIPANTS}",
    ).with_repair(
        title="Progress of one update with random weights",
        rhs=-2 * tilde_eta * D_x + tilde_eta**2 * alpha * q_n**2 * R + tilde_eta**2 * K * beta * q_n * S,
        also=(
            Relation(Delta, "<=", -2 * tilde_eta * D_omega + tilde_eta**2 * (alpha * q_n**2 * R + beta * q_n * S)),
            Relation(-2 * D_omega, "<=", -2 * D_x + tilde_eta * (K - 1) * beta * q_n * S),
        ),
        note=(
            "With K beta for beta.  The published bound holds with the random weights inside D; to take their mean "
            "costs eta~^2 (K-1) beta q(n) S(n), by Lemma 1 for their deviations omega_i(n) - q_i(n)."
        ),
        verdict="proved",
    ),
    claim.proved.bound(
        "lemma-2.given-weights",
        "Progress of one update with given weights",
        "Lemma 2, eq. (56), for weights that are not random",
    )(
        chain=(Delta, "<=", -2 * tilde_eta * D_x + tilde_eta**2 * alpha * q_n**2 * R + tilde_eta**2 * beta * q_n * S),
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note="The published bound, for $x=\\bar\\theta$.",
        corrects="fraboni2022:lemma-2",
    ),
    claim.proved.bound(
        "lemma-2.given-weights.any-point",
        "Progress of one update with given weights towards any point",
        "Lemma 2, eq. (56), for weights that are not random, any x",
    )(
        chain=(Delta_y, "<=", -2 * tilde_eta * D_y + tilde_eta**2 * alpha * q_n**2 * R + tilde_eta**2 * beta * q_n * S),
        where=NOTATION | ANY_POINT,
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note=f"The published bound.  {ANY_POINT_NOTE}",
        corrects="fraboni2022:lemma-2",
    ),
    *claim.refuted.step(
        "lemma-2.eq-57-58", "One local step of the virtual iterate", "proof of Lemma 2, eqs. (57), (58)"
    )(
        chain=(next_distance_sq, "==", distance_sq - 2 * tilde_eta * descent + step_sq),
        assumptions=ASSUMPTIONS,
        printed=(
            rf"{_NEXT}={_NOW}+2\langle\mathbb E_{{S_n}}[\theta^{{n,k+1}}-\theta^{{n,k}}],\theta^{{n,k}}-\theta^*\rangle"
            r"+\mathbb E_{S_n}\left[\|\theta^{n,k+1}-\theta^{n,k}\|^2\right],\quad "
            r"\mathbb E_{S_n}[\theta^{n,k+1}-\theta^{n,k}]"
            rf"=-\tilde\eta\sum_iq_i(n){_G}"
        ),
        note=_SAME_PARTICIPANTS,
    ).with_repair(
        title="One local step of the virtual iterate, with the random weights",
        rhs=distance_sq - 2 * tilde_eta * selected_descent + step_sq,
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
        verdict="proved",
    ),
    *claim.refuted.step("lemma-2.eq-59", "One local step, after Lemma 1", "proof of Lemma 2, eq. (59)")(
        lhs=next_distance_sq,
        relation="==",
        rhs=distance_sq + 2 * tilde_eta * server_descent + tilde_eta**2 * square_of_selected,
        assumptions=(*ASSUMPTIONS, a.given_weights),
        printed=(
            rf"{_NEXT}={_NOW}+2\tilde\eta\langle\sum_iq_i(n){_G},\theta^n-\theta^*\rangle"
            rf"+\tilde\eta^2\sum_i\gamma_i(n)\|{_G}\|^2+\tilde\eta^2\alpha\left\|\sum_iq_i(n){_G}\right\|^2"
        ),
        note=(
            "The sign of the inner product is lost, and theta^n stands for theta^{n,k}; (58) has both right.  Encoded "
            "for given weights, where nothing else is wrong.  Random weights have the fault of (57) and (58) besides "
            "(`fraboni2022:lemma-2.eq-57-58`)."
        ),
        fault="misprint",
    ).with_repair(
        title="One local step, after Lemma 1, with its sign",
        rhs=distance_sq - 2 * tilde_eta * descent + tilde_eta**2 * square_of_selected,
        note="With minus and theta^{n,k}.",
        verdict="proved",
    ),
    claim.proved.step(
        "lemma-2.eq-59.random-weights",
        "One local step, after Lemma 1, with random weights",
        "proof of Lemma 2, eq. (59), for random weights",
    )(
        chain=(
            next_distance_sq,
            "==",
            distance_sq - 2 * tilde_eta * selected_descent + tilde_eta**2 * square_of_selected,
        ),
        assumptions=ASSUMPTIONS,
        note="The inner product has the random weights, not their expectation.",
        corrects="fraboni2022:lemma-2.eq-59",
    ),
]
