"""Sentences and displays of the appendices that are separate steps: Table 3, (52)-(54), (60), (85), (100)-(102)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expectation, Gradient, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import theorem_2_proof, weights_lemmas
from fedtheory.sources.fraboni2022.statements.inequalities import L_i, R_nk, S_nk, g, theta_nk
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_2_proof import deviation_sq, missing
from fedtheory.sources.fraboni2022.statements.weights_lemmas import (
    descent,
    distance_sq,
    next_distance_sq,
)

NOTATION = Notation(theorem_2_proof.NOTATION | weights_lemmas.NOTATION)
Q_past_bar = NOTATION.add(
    q.mean_over_rounds(q.past_step_lengths_sq, r"\frac1N\sum_n\sum_{s=1}^\tau Q(n-s)"), nonnegative=True
)
s = sp.Symbol("s", positive=True)
A = 1 / (2 * (tau + s))
"""With s from 0 on, every A with tau A <= 1/2."""
reports = NOTATION.add(q.reports, real=True)

claim = Statements("fraboni2022", NOTATION)

whole = ClientSum(q_in * g)
"""sum_j q_j(n) g_j."""
misrepresented = ClientSum((p_i - missing - qt_in) * Gradient(L_i, theta_nk))
"""The sum over the types with a weight of (r_j - s~_j) grad F_j; `missing` is p_i for the clients of the others."""
unrepresented = ClientSum(missing * Gradient(L_i, theta_nk))
PER_STEP = tilde_eta**2 * alpha * q_n**2 * R_nk + tilde_eta**2 * beta * q_n * S_nk

_CROSS = r"\sum_i\sum_{j\ne i}\langle q_i(n)x_i,q_j(n)x_j\rangle"
_DEVIATION = r"\nabla\mathcal L(\theta)-\nabla\tilde{\mathcal L}^n(\theta)"
_WEIGHTED = (
    r"\sum_{j\in W_n}\frac{r_j-\tilde s_j(n)}{\sqrt{\tilde s_j(n)}}\sqrt{\tilde s_j(n)}\nabla\mathcal L_j(\theta)"
)
_REST = r"\sum_{j\notin W_n}r_j\nabla\mathcal L_j(\theta)"

TABLE_3 = [
    claim.definition("table-3", "The notation of the proofs", "Table 3")(
        chain=(1, "<=", rho),
        also=(Relation(q_n, "<=", rho),),
        assumptions=SCHEME,
        printed=r"\tilde\eta=\eta_l\eta_g,\quad\rho\coloneqq\max(1,q(n))",
        note=(
            "The two entries that are not defined elsewhere.  $\\rho$ is taken over all updates; the other entries "
            "are the symbols of Sections 2 and 3."
        ),
        implemented_by="fedtheory.language.quantities:largest_weight_sum",
    ),
]

LEMMA_1 = [
    claim.supported.step("lemma-1.eq-54", "The cross terms of a weighted sum", "proof of Lemma 1, eq. (54)")(
        chain=(
            Expectation(ClientSum(inner(q_in * g, whole - q_in * g))),
            "==",
            Expectation(norm_sq(whole)) - ClientSum(q_in**2 * Expectation(norm_sq(g))),
        ),
        place="step",
        assumptions=SCHEME,
        printed=rf"{_CROSS}=\left\|\sum_iq_i(n)x_i\right\|^2-\sum_iq_i^2(n)\|x_i\|^2",
        note=(
            "With the clients' stochastic gradients as $x_i$.  (52) and (53) add this sum, times $\\alpha$, to the "
            "squares; together with (54) they are the identity of the corrected remark on Lemma 1."
        ),
    ),
]

LEMMA_2 = [
    *claim.refuted.step("lemma-2.eq-60", "Progress of one local step", "proof of Lemma 2, eq. (60)")(
        chain=(next_distance_sq - distance_sq, "<=", -2 * tilde_eta * descent + PER_STEP),
        assumptions=ASSUMPTIONS,
        printed=(r"\Delta(n,k)\le-2\tilde\eta D(x,n,k)+\tilde\eta^2\alpha q^2(n)R(n,k)+\tilde\eta^2\beta q(n)S(n,k)"),
        note=(
            "With $x=\\theta^*$.  It fails where Lemma 2 does: the participants are the same for all local steps of an "
            "update, and $\\theta^{n,k}$ depends on the random weights."
        ),
    ).with_repair(
        title="Progress of one local step with given weights",
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note=(
            "As published, for weights that are not random.  For random ones the corrected (59) has their inner "
            "product, and Lemma 1 bounds $\\gamma_i(n)\\le\\beta q_i(n)$."
        ),
        verdict="proved",
    ),
]

LEMMA_6 = [
    claim.supported.step(
        "eq-85", "From the recursion of the moves to their time average", "proof of Lemma 6, eq. (85)"
    )(
        chain=(Q_bar, "<=", 2 * (Q_bar - A * Q_past_bar)),
        for_all={s: (sp.Rational(1, 64), sp.Rational(1, 2), sp.Integer(4))},
        assumptions=SCHEME,
        printed=(
            r"Q(n)\le A(n)\sum_{s=1}^\tau Q(n-s)+B(n)\Rightarrow\bar Q(N)=\frac1N\sum_{n=0}^{N-1}Q(n)"
            r"\le2\frac1N\sum_{n=0}^{N-1}B(n)"
        ),
        note=(
            "The condition is $\\tau A(n)\\le1/2$.  With the smallest B(n) that the premise allows, "
            "$Q(n)-A\\sum_sQ(n-s)$; a larger one only increases the right side.  $A=1/(2(\\tau+s))$ stands for all "
            "numbers below $1/(2\\tau)$.  A does not depend on n in (84); where it does, the largest takes its place."
        ),
    ),
]

LEMMA_7 = [
    claim.supported.step("lemma-7.eq-100-102", "The gradients in two parts", "proof of Lemma 7, eqs. (100)-(102)")(
        chain=(
            deviation_sq,
            "==",
            Expectation(norm_sq(ClientSum((p_i - qt_in) * Gradient(L_i, theta_nk)))),
            "==",
            Expectation(norm_sq(misrepresented + unrepresented)),
            "<=",
            2 * Expectation(norm_sq(misrepresented)) + 2 * Expectation(norm_sq(unrepresented)),
        ),
        place="step",
        assumptions=(*SCHEME, a.somebody_reports),
        printed=(
            rf"{_DEVIATION}=\sum_{{j=1}}^J(r_j-\tilde s_j(n))\nabla\mathcal L_j(\theta)={_WEIGHTED}+{_REST},\quad "
            rf"\left\|{_DEVIATION}\right\|^2\le2\left\|{_WEIGHTED}\right\|^2+2\left\|{_REST}\right\|^2"
        ),
        note=(
            "In expectation at the virtual iterates.  A sum over types is the sum over their clients, which have the "
            "same gradient.  (103) follows in the claim on (100)-(103)."
        ),
    ),
]

SAMPLING = [
    claim.supported.inequality("sampling.deterministic", "No weights make a round without some client unbiased", "C.3")(
        chain=(ClientSum((1 - reports) * p_i**2), "<=", ClientSum((q_in - p_i) ** 2)),
        assumptions=(*SCHEME, a.given_weights),
        printed=(
            r"\mathbb P(i\in S_n)=0/1\dots\text{ In this case, no weighting scheme can make an optimization round "
            r"unbiased}"
        ),
        note=(
            "Whatever the weights, the distance of $q_i(n)$ from $p_i$ is at least that of the clients without a "
            "report in the update, which is positive unless all participate."
        ),
    ),
]
