"""The handwritten proof of Theorem 1, (1) to (7): descent in one step, up to the drift of the clients."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.liu2022.statements.notation import *

before, after = Expectation(Value(f, xbar)), Expectation(Value(f, xbar_next))
move = xbar_next - xbar
move_sq = Expectation(norm_sq(move))
noise = g_i - Gradient(f_i, x_i)
gradient_error_sq = Expectation(norm_sq(Gradient(f, xbar) - client_gradients))
gradient_change_i = Gradient(f_i, xbar) - Gradient(f_i, x_i)
drift = Expectation(Average(norm_sq(xbar - x_i)))
progress = before - (s - s**2 * L) / 2 * mean_gradient_sq - s / 2 * gradient_sq
noise_term = L * s**2 * sigma**2 / (2 * N)
MEAN = r"\frac1N\sum_{i=1}^N"
BEFORE, AFTER = r"\mathbb E[f(\bar x^{t-1})]", r"\mathbb E[f(\bar x^t)]"
_CLIENTS = rf"\mathbb E\left[\left\|{MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2\right]"
GRADIENT = r"\mathbb E[\|\nabla f(\bar x^{t-1})\|^2]"
_GRADIENT_ERROR = rf"\left\|\nabla f(\bar x^{{t-1}})-{MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2"
_MOVE = r"\mathbb E[\|\bar x^t-\bar x^{t-1}\|^2]"
_NOISE = rf"\left\|{MEAN}(g_i^t-\nabla f_i(x_i^{{t-1}}))\right\|^2"

claim_of_step = Statements("liu2022", NOTATION, place="step", assumptions=ASSUMPTIONS)

CLAIMS = [
    claim_of_step.proved.inequality("eq-1", "Descent lemma", "proof of Theorem 1, (1)")(
        chain=(after, "<=", before + Expectation(inner(Gradient(f, xbar), move)) + L / 2 * move_sq),
        printed=(rf"{AFTER}\le{BEFORE}+\mathbb E[\nabla f(\bar x^{{t-1}})^T(\bar x^t-\bar x^{{t-1}})]+\frac L2{_MOVE}"),
    ),
    claim.proved.identity("eq-2", "The step of the average", "proof of Theorem 1, (2)")(
        chain=(norm_sq(xbar_next - Average(x_i - s * g_i)), "==", 0),
        also=(Relation(norm_sq(xbar_next - (xbar - s * Average(g_i))), "==", 0),),
        place="path",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"\bar x^t\triangleq{MEAN}x_i^t={MEAN}(x_i^{{t-1}}-sg_i^t)=\bar x^{{t-1}}-\frac1Ns\sum_{{i=1}}^Ng_i^t"
        ),
    ),
    *claim_of_step.refuted.step("eq-3", "The squared step of the average", "proof of Theorem 1, (3)")(
        chain=(
            move_sq,
            "==",
            s**2 * Expectation(norm_sq(Average(noise))) + s**2 * mean_gradient_sq,
            "==",
            s**2 / N * Expectation(Average(norm_sq(noise))) + s**2 * mean_gradient_sq,
            "<=",
            s**2 / N * mean_gradient_sq,
        ),
        printed=(
            rf"{_MOVE}=s^2\mathbb E\left[{_NOISE}\right]+s^2{_CLIENTS}"
            rf"=\frac{{s^2}}{{N^2}}\sum_{{i=1}}^N\mathbb E[\|g_i^t-\nabla f_i(x_i^{{t-1}})\|^2]+s^2{_CLIENTS}"
            rf"\le\frac1Ns^2{_CLIENTS}"
        ),
        note=(
            "As transcribed, the last line lacks the variance, and its factor 1/N multiplies the gradients.  (7) "
            "uses the correct line."
        ),
        fault="misprint",
    ).with_repair(
        title="The squared step of the average, with the variance",
        chain=(move_sq, "<=", s**2 * sigma**2 / N + s**2 * mean_gradient_sq),
        note="The first term of the line before is at most $s^2\\sigma^2/N$; the second stays.",
        verdict="proved",
    ),
    claim_of_step.proved.inequality(
        "eq-3.mean-zero-sum", "Sums of independent zero-mean vectors", "proof of Theorem 1, margin of (3)"
    )(
        chain=(Expectation(norm_sq(N * Average(noise))), "<=", Expectation(N * Average(norm_sq(noise)))),
        printed=(
            r"\mathbb E[\|z_1+\dots+z_n\|^2]\le\mathbb E[\|z_1\|^2+\dots+\|z_n\|^2]"
            r"\text{ for r.v. }z_1,\dots,z_n\text{ indep. and 0-mean}"
        ),
        note="Checked for the gradient noise of the clients; there it is an equation, as for all independent vectors.",
    ),
    claim_of_step.proved.identity(
        "eq-3.variance", "The second moment is the variance and the squared mean", "proof of Theorem 1, margin of (3)"
    )(
        chain=(
            Expectation(norm_sq(Average(g_i))),
            "==",
            Expectation(norm_sq(Average(noise))) + Expectation(norm_sq(client_gradients)),
        ),
        printed=(
            r"\mathbb E[\|\mathbf z\|^2]=\mathbb E[\|\mathbf z-\mathbb E[\mathbf z]\|^2]"
            r"+\mathbb E[\mathbf z]\mathbb E[\mathbf z]^T"
        ),
        note=(
            "Checked for z as the proof uses it, the average $\\frac1N\\sum_ig_i^t$ given the iterates, whose mean is "
            "$\\frac1N\\sum_i\\nabla f_i(x_i^{t-1})$.  The last term is read as $\\|\\mathbb E[z]\\|^2$."
        ),
    ),
    claim_of_step.proved.identity("eq-4", "The cross term", "proof of Theorem 1, (4)")(
        chain=(
            Expectation(inner(Gradient(f, xbar), move)),
            "==",
            -s / 2 * (gradient_sq + mean_gradient_sq - gradient_error_sq),
        ),
        printed=(
            r"\mathbb E[\nabla f(\bar x^{t-1})^T(\bar x^t-\bar x^{t-1})]=-\frac s2\mathbb E\left["
            rf"\|\nabla f(\bar x^{{t-1}})\|^2+\left\|{MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2-{_GRADIENT_ERROR}\right]"
        ),
        note=(
            "By $a^Tb=\\frac12(\\|a\\|^2+\\|b\\|^2-\\|a-b\\|^2)$, where the margin has a sign +- for the half.  "
            "The transcription puts bars over the clients' iterates; they are read as $x_i^{t-1}$."
        ),
    ),
    *claim.refuted.step("eq-7", "Descent before the drift is bounded", "proof of Theorem 1, (7)")(
        chain=(after, "<=", progress + s / 2 * gradient_error_sq + L**2 * s**2 / (2 * N)),
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{AFTER}\le{BEFORE}-\frac{{s-s^2L}}2{_CLIENTS}-\frac s2{GRADIENT}"
            rf"+\frac s2\mathbb E\left[{_GRADIENT_ERROR}\right]+\frac{{L^2s^2}}{{2N}}"
        ),
        note="As transcribed the last term has $L^2$ and no variance; (8) has the correct term.",
        fault="misprint",
    ).with_repair(
        title="Descent before the drift is bounded, with the variance",
        rhs=progress + s / 2 * gradient_error_sq + noise_term,
        note="(3) with its variance and (4), put into (1): the last term is $Ls^2\\sigma^2/(2N)$.",
        verdict="proved",
    ),
    claim_of_step.proved.inequality(
        "eq-7.any-sum", "Sums of vectors that need not be independent", "proof of Theorem 1, margin of (a)"
    )(
        chain=(
            Expectation(norm_sq(N * Average(gradient_change_i))),
            "<=",
            N * Expectation(N * Average(norm_sq(gradient_change_i))),
        ),
        printed=(
            r"\mathbb E[\|z_1+\dots+z_n\|^2]\le n\,\mathbb E[\|z_1\|^2+\dots+\|z_n\|^2]"
            r"\text{ for r.v. }z_1,\dots,z_n\text{ not nec. indep., with }n=N"
        ),
        note=(
            "Checked for the N vectors of (a), $\\nabla f_i(\\bar x^{t-1})-\\nabla f_i(x_i^{t-1})$.  The proof of "
            "Lemma 1 marks the same inequality with (*) and uses it for 2, $t-t_0$ and N vectors."
        ),
    ),
    claim_of_step.proved.step("eq-7.a", "The gradient's error is the drift", "proof of Theorem 1, term (a)")(
        chain=(
            gradient_error_sq,
            "==",
            Expectation(norm_sq(Average(gradient_change_i))),
            "<=",
            Expectation(Average(norm_sq(gradient_change_i))),
            "<=",
            L**2 * drift,
        ),
        printed=(
            rf"(a)=\mathbb E\left[\left\|{MEAN}\nabla f_i(\bar x^{{t-1}})"
            rf"-{MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2\right]"
            rf"\le\frac1N\mathbb E\left[\sum_{{i=1}}^N\|\nabla f_i(\bar x^{{t-1}})-\nabla f_i(x_i^{{t-1}})\|^2\right]"
            r"\le\frac{L^2}N\sum_{i=1}^N\mathbb E[\|\bar x^{t-1}-x_i^{t-1}\|^2]"
        ),
    ),
]
