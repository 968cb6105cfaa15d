"""Section 2.2, second half of the proof of Lemma 2.2: stochastic gradients, telescoping squares, and noise."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Value, inner, norm_sq
from fedtheory.language.assumptions import one_dimension
from fedtheory.language.claim import Relation
from fedtheory.sources.renard2022.statements.lemma_2_2_smoothness import (
    GAP,
    MOVE,
    client_distance_sq,
    gap,
    move_sq,
    true_gradient,
)
from fedtheory.sources.renard2022.statements.notation import *

to_optimum_sq = norm_sq(xbar - x_star)
next_to_optimum_sq = norm_sq(xbar_next - x_star)
deviation_sq = norm_sq(true_gradient - g_i)
noise_at_optimum = Average(inner(true_gradient - g_i, xbar_next - x_star))
noise_at_move = Average(inner(true_gradient - g_i, xbar_next - xbar))
squared_distances = (to_optimum_sq - move_sq - next_to_optimum_sq) / (2 * eta)
smoothness_terms = L * move_sq + L * Average(client_distance_sq)
_displacement = inner(xbar_next - x_star, one)
_published_deviation = Value(F_i, x_i) - inner(g_i, one)
_published_noise = Average(_published_deviation * _displacement)
"""The deviation as published, F_i(x) - g_i(x), which is meaningful only in one dimension."""

_NOISE = r"\frac1M\sum_{i=1}^M\langle\nabla F_i(x)-g_i(x),\ \bar x^{(t,k+1)}-x^*\rangle"
_SPREAD = r"\frac{L}{M}\mathbb E\left[\sum_{i=1}^M\|\bar x^{(t,k)}-x_i^{(t,k)}\|^2\right]"
_PUBLISHED_NOISE = r"\frac1M\sum_{i=1}^M\langle F_i(x)-g_i(x),\ \bar x^{(t,k+1)}-x^*\rangle"
_SMOOTHNESS = rf"L{MOVE}+L\frac1M\sum_{{i=1}}^M\|\bar x^{{(t,k)}}-x_i^{{(t,k)}}\|^2"
_SQUARES = rf"\frac{{1}}{{2\eta}}\left(\|\bar x^{{(t,k)}}-x^*\|^2-{MOVE}-\|\bar x^{{(t,k+1)}}-x^*\|^2\right)"
_ONE_DIMENSION = (
    "The print subtracts the vector g_i(x) from the number F_i(x).  This has a meaning in one dimension only."
)
_DAGGER = rf"(\dagger)=\mathbb E\left[{GAP}\mid\mathcal F^{{(t,k)}}\right]"
_BEFORE = r"\mathbb E\|\bar x^{(t,k)}-x^*\|^2"
_AFTER = r"\mathbb E\|\bar x^{(t,k+1)}-x^*\|^2"

CLAIMS = [
    *claim.refuted.identity("eq-9", "True gradient and deviation", "(9)")(
        chain=(inner(g_i, one), "==", inner(g_i, one) + (Value(F_i, x_i) - inner(g_i, one))),
        place="path",
        assumptions=(*SETTING, one_dimension),
        printed=r"g_i(x)=g_i(x)+\left(F_i(x)-g_i(x)\right)",
        note=(
            "The print adds the number F_i(x) to the vector g_i(x), which means something in one dimension only; it is "
            "read there.  The first part is called the true gradient: the nabla is lost twice."
        ),
        fault="misprint",
    ).with_repair(
        title="The true gradient is the stochastic one plus a deviation of expectation zero",
        chain=(Expectation(norm_sq(true_gradient - (g_i + deviation))), "==", 0),
        also=(
            Relation(Expectation(inner(deviation, x - x_star)), "==", 0),
            Relation(Expectation(inner(deviation, x_i - x_star)), "==", 0),
        ),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        note="Both gradients are in place.  The deviation has expectation zero by assumption 6.",
        verdict="proved",
    ),
    *claim.refuted.step("lemma-2.2.proof.noise-split", "The gradient step and the deviation", "proof of Lemma 2.2")(
        chain=(
            gap,
            "<=",
            Average((inner(g_i, one) + _published_deviation) * _displacement) + smoothness_terms,
            "==",
            Average(inner(g_i, xbar_next - x_star)) + _published_noise + smoothness_terms,
        ),
        place="path",
        assumptions=(*SETTING, one_dimension),
        conditions=[SMALL_STEP],
        printed=(
            rf"{GAP}\le\frac1M\sum_{{i=1}}^M\langle g_i(x)+(F_i(x)-g_i(x)),\ \bar x^{{(t,k+1)}}-x^*\rangle"
            rf"+{_SMOOTHNESS}=\frac1M\sum_{{i=1}}^M\langle g_i(x),\ \bar x^{{(t,k+1)}}-x^*\rangle"
            rf"+{_PUBLISHED_NOISE}+{_SMOOTHNESS}"
        ),
        note=f"{_ONE_DIMENSION}  The nabla is lost, as in (9); three displays later it is back.",
        fault="misprint",
    ).with_repair(
        title="The gradient step and the deviation, with the gradient of F_i",
        chain=(
            gap,
            "<=",
            Average(inner(g_i + deviation, xbar_next - x_star)) + smoothness_terms,
            "==",
            Average(inner(g_i, xbar_next - x_star)) + noise_at_optimum + smoothness_terms,
        ),
        assumptions=SETTING,
        conditions=(),
        note="Holds for every outcome and for every step size.",
        verdict="proved",
    ),
    claim.proved.identity("lemma-2.2.proof.polarize", "The step as a difference of squares", "proof of Lemma 2.2")(
        chain=(
            Average(inner(g_i, xbar_next - x_star)),
            "==",
            inner(xbar - xbar_next, xbar_next - x_star) / eta,
            "==",
            squared_distances,
        ),
        place="path",
        assumptions=SETTING,
        printed=(
            r"\frac1M\sum_{i=1}^M\langle g_i(x),\ \bar x^{(t,k+1)}-x^*\rangle"
            r"=\frac1\eta\langle\bar x^{(t,k)}-\bar x^{(t,k+1)},\ \bar x^{(t,k+1)}-x^*\rangle"
            rf"={_SQUARES}"
        ),
    ),
    *claim.refuted.step("lemma-2.2.proof.squares", "The gap by squares and deviation", "proof of Lemma 2.2")(
        lhs=gap,
        rhs=squared_distances + _published_noise + smoothness_terms,
        place="path",
        assumptions=(*SETTING, one_dimension),
        conditions=[SMALL_STEP],
        printed=rf"{GAP}\le{_SQUARES}+{_PUBLISHED_NOISE}+{_SMOOTHNESS}",
        note=f"{_ONE_DIMENSION}  The nabla is lost, as in (9); the next display has it.",
        fault="misprint",
    ).with_repair(
        title="The gap by squares and deviation, with the gradient of F_i",
        rhs=squared_distances + noise_at_optimum + smoothness_terms,
        assumptions=SETTING,
        conditions=(),
        note="Holds for every outcome and for every step size.",
        verdict="proved",
    ),
    claim.proved.step("lemma-2.2.proof.expected", "The expected gap by squares and deviation", "proof of Lemma 2.2")(
        lhs=Expectation(gap),
        rhs=(Expectation(to_optimum_sq) - Expectation(move_sq) - Expectation(next_to_optimum_sq)) / (2 * eta)
        + Expectation(noise_at_optimum)
        + L * Expectation(move_sq)
        + L * Expectation(Average(client_distance_sq)),
        place="step",
        assumptions=SETTING,
        printed=(
            rf"{_DAGGER}\le\frac{{1}}{{2\eta}}{_BEFORE}-\frac{{1}}{{2\eta}}\mathbb E{MOVE}-\frac{{1}}{{2\eta}}{_AFTER}"
            rf"+\mathbb E\left[{_NOISE}\right]+L\,\mathbb E{MOVE}+{_SPREAD}"
        ),
        note="The last display before the wrong regrouping.  It holds for every step size.",
    ),
    *claim.refuted.step("lemma-2.2.proof.mark", "When the collected coefficient is not negative", "proof of Lemma 2.2")(
        chain=(eta, "<=", 1 / (4 * L)),
        assumptions=SETTING,
        printed=r"\frac{1}{2\eta}+L\ge0\iff\eta\le\frac{1}{4L}",
        note=(
            "The mark stands at the coefficient 1/(2 eta) + L, which is positive for every eta > 0.  So the encoded "
            "part is: eta <= 1/(4L) in every run.  The other direction is true."
        ),
    ).with_repair(
        title="The coefficient 1/(2 eta) - L is at least 1/(4 eta) if and only if eta <= 1/(4L)",
        chain=(1 / (2 * eta) - L - 1 / (4 * eta), "==", L / eta * (1 / (4 * L) - eta)),
        note=(
            "L / eta is positive, so both differences have the same sign.  The proof keeps 1/(4 eta) for the noise; "
            "1/(2 eta) - L >= 0 alone needs only eta <= 1/(2L)."
        ),
        verdict="proved",
    ),
    *claim.refuted.step("lemma-2.2.proof.regroup", "Regrouping the square terms", "proof of Lemma 2.2")(
        lhs=Expectation(to_optimum_sq) / (2 * eta) - Expectation(move_sq) / (2 * eta) + L * Expectation(move_sq),
        relation="==",
        rhs=(1 / (2 * eta) + L) * Expectation(to_optimum_sq) - Expectation(move_sq) / (2 * eta),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"\frac{{1}}{{2\eta}}{_BEFORE}-\frac{{1}}{{2\eta}}\mathbb E{MOVE}+L\,\mathbb E{MOVE}"
            rf"=\underbrace{{\left(\frac{{1}}{{2\eta}}+L\right)}}_{{\ge0\iff\eta\le\frac{{1}}{{4L}}}}{_BEFORE}"
            rf"-\frac{{1}}{{2\eta}}\mathbb E{MOVE}"
        ),
        note=(
            "L is collected at the distance to the optimum instead of at the move.  For the mark under the coefficient "
            "see the claim before this one."
        ),
    ).with_repair(
        title="Regrouping the square terms, L at the move",
        chain=(
            Expectation(to_optimum_sq) / (2 * eta) - Expectation(move_sq) / (2 * eta) + L * Expectation(move_sq),
            "==",
            Expectation(to_optimum_sq) / (2 * eta) - (1 / (2 * eta) - L) * Expectation(move_sq),
            "<=",
            Expectation(to_optimum_sq) / (2 * eta) - Expectation(move_sq) / (4 * eta),
        ),
        note="Here eta <= 1/(4L) is used: it makes 1/(2 eta) - L at least 1/(4 eta).",
        verdict="proved",
    ),
    *claim.refuted.step("lemma-2.2.proof.drop", "Removing one term", "proof of Lemma 2.2")(
        lhs=Expectation(gap),
        rhs=Expectation(noise_at_optimum)
        + L * Expectation(Average(client_distance_sq))
        - (Expectation(move_sq) + Expectation(next_to_optimum_sq)) / (2 * eta),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{_DAGGER}\le\mathbb E\left[{_NOISE}\right]+{_SPREAD}"
            rf"-\frac{{1}}{{2\eta}}\left(\mathbb E{MOVE}+{_AFTER}\right)"
        ),
        note="The removed term, a positive multiple of the squared distance to the optimum, stood on the upper side.",
    ).with_repair(
        title="Removing one term, with the distance to the optimum kept",
        rhs=Expectation(noise_at_optimum)
        + L * Expectation(Average(client_distance_sq))
        + (Expectation(to_optimum_sq) - Expectation(next_to_optimum_sq)) / (2 * eta)
        - Expectation(move_sq) / (4 * eta),
        verdict="proved",
    ),
    claim.proved.identity("lemma-2.2.proof.unbiased", "The noise is uncorrelated with the past", "proof of Lemma 2.2")(
        chain=(Expectation(noise_at_optimum), "==", Expectation(noise_at_move)),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        printed=(
            rf"\mathbb E\left[{_NOISE}\right]=\mathbb E\left[\frac1M\sum_{{i=1}}^M\langle\nabla F_i(x)-g_i(x),\ "
            r"\bar x^{(t,k+1)}-\bar x^{(t,k)}\rangle\right]"
        ),
    ),
    *claim.refuted.step("lemma-2.2.proof.young", "Young's inequality for the noise", "proof of Lemma 2.2")(
        chain=(
            Expectation(noise_at_move),
            "<=",
            Expectation(M * Average(norm_sq(true_gradient / M - g_i)) + move_sq),
            "==",
            (sp.sqrt(2) * eta) ** 2 / 2 / M**2 * Expectation(M * Average(deviation_sq))
            + Expectation(move_sq) / (2 * (sp.sqrt(2) * eta) ** 2),
            "==",
            eta / M**2 * Expectation(M * Average(deviation_sq)) + Expectation(move_sq) / (4 * eta),
        ),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"(\mathbb E[\blacktriangleright])\le\mathbb E\left["
            r"\sum_{i=1}^M\left\|\frac1M\nabla F_i(x)-g_i(x)\right\|^2"
            rf"+{MOVE}\right]=\frac{{1}}{{M^2}}\mathbb E\left[\frac{{(\sqrt2\eta)^2}}{{2}}\sum_{{i=1}}^M"
            rf"\|\nabla F_i(x)-g_i(x)\|^2\right]+\mathbb E\left[\frac{{1}}{{2(\sqrt2\eta)^2}}{MOVE}\right]"
            r"=\frac{\eta}{M^2}\mathbb E\left[\sum_{i=1}^M\|\nabla F_i(x)-g_i(x)\|^2\right]"
            rf"+\frac{{1}}{{4\eta}}\mathbb E{MOVE}"
        ),
        note=(
            "The second member has lost the weights of Young's inequality, and 1/M stands at the gradient alone; "
            "lambda^2 = (sqrt(2) eta)^2 must be (sqrt(2 eta))^2.  The ends of the chain are right."
        ),
    ).with_repair(
        title="Young's inequality for the noise, from end to end",
        conditions=(),
        note="Young's inequality with lambda^2 = 2 eta, and independence of the clients' noises.",
        chain=(
            Expectation(noise_at_move),
            "<=",
            eta / M**2 * Expectation(M * Average(deviation_sq)) + Expectation(move_sq) / (4 * eta),
        ),
        verdict="proved",
    ),
    claim.proved.bound("lemma-2.2.proof.variance", "The noise term is bounded by the variance", "proof of Lemma 2.2")(
        chain=(Expectation(noise_at_optimum), "<=", eta * sigma**2 / M + Expectation(move_sq) / (4 * eta)),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        printed=rf"\mathbb E\left[{_NOISE}\right]\le\frac{{\eta\sigma^2}}{{M}}+\frac{{1}}{{4\eta}}\mathbb E{MOVE}",
    ),
    *claim.refuted.step("lemma-2.2.proof.last", "The last display of the proof", "proof of Lemma 2.2, last display")(
        lhs=Expectation(gap),
        rhs=eta * sigma**2 / M
        + Expectation(move_sq) / (4 * eta)
        + L * Expectation(Average(client_distance_sq))
        - (Expectation(move_sq) + Expectation(next_to_optimum_sq)) / (2 * eta),
        also=(Relation(L * Expectation(Average(client_distance_sq)), "==", L * Expectation(move_sq)),),
        place="step",
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"(\dagger)\le\frac{{\eta\sigma^2}}{{M}}+\frac{{1}}{{4\eta}}\mathbb E{MOVE}"
            rf"+\underbrace{{{_SPREAD}}}_{{=L\cdot\mathbb E{MOVE}}}"
            rf"-\frac{{1}}{{2\eta}}\left(\mathbb E{MOVE}+{_AFTER}\right)"
        ),
        note="The distance to the optimum is still missing; the mark under the drift is false.  The proof ends here.",
    ).with_repair(
        title="One local step: the inequality that sums to Lemma 2.2",
        rhs=eta * sigma**2 / M
        + L * Expectation(Average(client_distance_sq))
        + (Expectation(to_optimum_sq) - Expectation(next_to_optimum_sq)) / (2 * eta),
        note="Averaged over k = 0, ..., tau - 1 it telescopes to the corrected Lemma 2.2.",
        verdict="proved",
        also=(),
    ),
]
