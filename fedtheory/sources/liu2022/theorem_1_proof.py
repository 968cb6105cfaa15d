"""The handwritten proof of Theorem 1, with Lemma 1 (client drift), step by step."""

from __future__ import annotations

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.claim import Relation
from fedtheory.expressions import Average, Expectation, Gradient, PastSum, Value, inner, norm_sq
from fedtheory.sources.liu2022.notation import (
    ALGORITHM,
    ASSUMPTIONS,
    SMALL_STEP,
    T_0,
    G,
    G_run,
    K,
    L,
    N,
    T,
    claim,
    client_gradients,
    descent,
    drift_bound,
    error,
    f,
    f_i,
    g_i,
    gap,
    gradient_sq,
    mean_drift,
    mean_gradient_sq,
    s,
    sigma,
    theorem_bound,
    theorem_bound_by_drift,
    x_i,
    x_i_next,
    xbar,
    xbar_next,
    ybar,
)

before, after = Expectation(Value(f, xbar)), Expectation(Value(f, xbar_next))
move = xbar_next - xbar
move_sq = Expectation(norm_sq(move))
noise = g_i - Gradient(f_i, x_i)
apart_sq = Expectation(norm_sq(Gradient(f, xbar) - client_gradients))
drift = Expectation(Average(norm_sq(xbar - x_i)))
next_drift = Expectation(norm_sq(xbar_next - x_i_next))
progress = before - (s - s**2 * L) / 2 * mean_gradient_sq - s / 2 * gradient_sq
noise_term = L * s**2 * sigma**2 / (2 * N)
drift_term = 2 * s**3 * K**2 * G**2 * L**2

_MEAN = r"\frac1N\sum_{i=1}^N"
_BEFORE, _AFTER = r"\mathbb E[f(\bar x^{t-1})]", r"\mathbb E[f(\bar x^t)]"
_CLIENTS = rf"\mathbb E\left[\left\|{_MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2\right]"
_GRADIENT = r"\mathbb E[\|\nabla f(\bar x^{t-1})\|^2]"
_APART = rf"\left\|\nabla f(\bar x^{{t-1}})-{_MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2"
_MOVE = r"\mathbb E[\|\bar x^t-\bar x^{t-1}\|^2]"
_NOISE = rf"\left\|{_MEAN}(g_i^t-\nabla f_i(x_i^{{t-1}}))\right\|^2"
_SUM = r"\sum_{\tau=t_0+1}^t"
_DRIFT = r"\mathbb E[\|\bar x^t-x_i^t\|^2]"

CLAIMS = [
    claim(
        id="liu2022:eq-1",
        kind="inequality",
        title="Descent lemma",
        locator="proof of Theorem 1, (1)",
        lhs=after,
        rhs=before + Expectation(inner(Gradient(f, xbar), move)) + L / 2 * move_sq,
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"{_AFTER}\le{_BEFORE}+\mathbb E[\nabla f(\bar x^{{t-1}})^T(\bar x^t-\bar x^{{t-1}})]+\frac L2{_MOVE}"
        ),
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-2",
        kind="identity",
        title="The step of the average",
        locator="proof of Theorem 1, (2)",
        lhs=norm_sq(xbar_next - Average(x_i - s * g_i)),
        relation="==",
        rhs=0,
        also=(Relation(norm_sq(xbar_next - (xbar - s * Average(g_i))), "==", 0),),
        place="path",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"\bar x^t\triangleq{_MEAN}x_i^t={_MEAN}(x_i^{{t-1}}-sg_i^t)=\bar x^{{t-1}}-\frac1Ns\sum_{{i=1}}^Ng_i^t"
        ),
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-3",
        kind="step",
        title="The squared step of the average",
        locator="proof of Theorem 1, (3)",
        chain=(
            move_sq,
            "==",
            s**2 * Expectation(norm_sq(Average(noise))) + s**2 * mean_gradient_sq,
            "==",
            s**2 / N * Expectation(Average(norm_sq(noise))) + s**2 * mean_gradient_sq,
            "<=",
            s**2 / N * mean_gradient_sq,
        ),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"{_MOVE}=s^2\mathbb E\left[{_NOISE}\right]+s^2{_CLIENTS}"
            rf"=\frac{{s^2}}{{N^2}}\sum_{{i=1}}^N\mathbb E[\|g_i^t-\nabla f_i(x_i^{{t-1}})\|^2]+s^2{_CLIENTS}"
            rf"\le\frac1Ns^2{_CLIENTS}"
        ),
        note=(
            "As transcribed, the last line has lost the variance and carries its factor 1/N to the gradients.  (7) "
            "uses the right one."
        ),
        fault="misprint",
        verdict="refuted",
    ),
    claim(
        id="liu2022:eq-3.fixed",
        kind="step",
        title="The squared step of the average, with the variance",
        locator="proof of Theorem 1, (3), repaired",
        lhs=move_sq,
        rhs=s**2 * sigma**2 / N + s**2 * mean_gradient_sq,
        place="step",
        assumptions=ASSUMPTIONS,
        note="The first term of the line before is at most $s^2\\sigma^2/N$; the second stays.",
        corrects="liu2022:eq-3",
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-3.mean-zero-sum",
        kind="inequality",
        title="Sums of independent zero-mean vectors",
        locator="proof of Theorem 1, margin of (3)",
        lhs=Expectation(norm_sq(N * Average(noise))),
        rhs=Expectation(N * Average(norm_sq(noise))),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            r"\mathbb E[\|z_1+\dots+z_n\|^2]\le\mathbb E[\|z_1\|^2+\dots+\|z_n\|^2]"
            r"\text{ for r.v. }z_1,\dots,z_n\text{ indep. and 0-mean}"
        ),
        note="Checked for the clients' gradient noises; it is an equation there, as for all independent ones.",
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-4",
        kind="identity",
        title="The cross term",
        locator="proof of Theorem 1, (4)",
        lhs=Expectation(inner(Gradient(f, xbar), move)),
        relation="==",
        rhs=-s / 2 * (gradient_sq + mean_gradient_sq - apart_sq),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            r"\mathbb E[\nabla f(\bar x^{t-1})^T(\bar x^t-\bar x^{t-1})]=-\frac s2\mathbb E\left["
            rf"\|\nabla f(\bar x^{{t-1}})\|^2+\left\|{_MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2-{_APART}\right]"
        ),
        note=(
            "By $a^Tb=\\frac12(\\|a\\|^2+\\|b\\|^2-\\|a-b\\|^2)$, where the margin has a sign +- for the half.  "
            "The transcription puts bars over the clients' iterates; they are read as $x_i^{t-1}$."
        ),
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-7",
        kind="step",
        title="Descent before the drift is bounded",
        locator="proof of Theorem 1, (7)",
        lhs=after,
        rhs=progress + s / 2 * apart_sq + L**2 * s**2 / (2 * N),
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{_AFTER}\le{_BEFORE}-\frac{{s-s^2L}}2{_CLIENTS}-\frac s2{_GRADIENT}"
            rf"+\frac s2\mathbb E\left[{_APART}\right]+\frac{{L^2s^2}}{{2N}}"
        ),
        note="As transcribed the last term has $L^2$ and no variance; (8) has it right.",
        fault="misprint",
        verdict="refuted",
    ),
    claim(
        id="liu2022:eq-7.fixed",
        kind="step",
        title="Descent before the drift is bounded, with the variance",
        locator="proof of Theorem 1, (7), repaired",
        lhs=after,
        rhs=progress + s / 2 * apart_sq + noise_term,
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="(3) with its variance and (4), put into (1): the last term is $Ls^2\\sigma^2/(2N)$.",
        corrects="liu2022:eq-7",
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-7.a",
        kind="step",
        title="The gradient's error is the drift",
        locator="proof of Theorem 1, term (a)",
        chain=(
            apart_sq,
            "==",
            Expectation(norm_sq(Average(Gradient(f_i, xbar) - Gradient(f_i, x_i)))),
            "<=",
            Expectation(Average(norm_sq(Gradient(f_i, xbar) - Gradient(f_i, x_i)))),
            "<=",
            L**2 * drift,
        ),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"(a)=\mathbb E\left[\left\|{_MEAN}\nabla f_i(\bar x^{{t-1}})"
            rf"-{_MEAN}\nabla f_i(x_i^{{t-1}})\right\|^2\right]"
            rf"\le\frac1N\mathbb E\left[\sum_{{i=1}}^N\|\nabla f_i(\bar x^{{t-1}})-\nabla f_i(x_i^{{t-1}})\|^2\right]"
            r"\le\frac{L^2}N\sum_{i=1}^N\mathbb E[\|\bar x^{t-1}-x_i^{t-1}\|^2]"
        ),
        verdict="proved",
    ),
    claim(
        id="liu2022:lemma-1",
        kind="bound",
        title="Lemma 1: client drift",
        locator="Lemma 1",
        lhs=q.max_drift,
        rhs=drift_bound,
        assumptions=ASSUMPTIONS,
        printed=rf"{_DRIFT}\le4s^2K^2G^2",
        verdict="proved",
    ),
    claim(
        id="liu2022:lemma-1.run",
        kind="bound",
        title="Lemma 1 with the second moment of the run",
        locator="Lemma 1, with a constant of the run",
        lhs=q.max_drift,
        rhs=drift_bound.subs(G, G_run),
        assumptions=ASSUMPTIONS,
        note="The proof uses G at the iterates of the run only.",
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-5",
        kind="identity",
        title="A client's iterate since the last update",
        locator="proof of Lemma 1, (5)",
        lhs=norm_sq(x_i_next - (ybar - s * PastSum(g_i))),
        relation="==",
        rhs=0,
        place="round",
        assumptions=ASSUMPTIONS,
        printed=rf"x_i^t=\bar y-s{_SUM}g_i^\tau",
        verdict="supported",
    ),
    claim(
        id="liu2022:eq-6",
        kind="identity",
        title="The average since the last update",
        locator="proof of Lemma 1, (6)",
        lhs=norm_sq(xbar_next - (ybar - s * PastSum(Average(g_i)))),
        relation="==",
        rhs=0,
        place="round",
        assumptions=ASSUMPTIONS,
        printed=rf"\bar x^t={_MEAN}\left(\bar y-s{_SUM}g_i^\tau\right)=\bar y-s{_SUM}{_MEAN}g_i^\tau",
        verdict="supported",
    ),
    claim(
        id="liu2022:lemma-1.proof",
        kind="step",
        title="Proof of Lemma 1",
        locator="proof of Lemma 1",
        chain=(
            next_drift,
            "==",
            s**2 * Expectation(norm_sq(PastSum(Average(g_i)) - PastSum(g_i))),
            "<=",
            2 * s**2 * Expectation(norm_sq(PastSum(Average(g_i))) + norm_sq(PastSum(g_i))),
            "<=",
            2 * s**2 * T_0 * Expectation(PastSum(norm_sq(Average(g_i))) + PastSum(norm_sq(g_i))),
            "<=",
            2 * s**2 * T_0 * Expectation(PastSum(Average(norm_sq(g_i))) + PastSum(norm_sq(g_i))),
            "<=",
            drift_bound,
        ),
        place="round",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"{_DRIFT}=s^2\mathbb E\left[\left\|{_SUM}{_MEAN}g_i^\tau-{_SUM}g_i^\tau\right\|^2\right]"
            rf"\le2s^2\mathbb E\left[\left\|{_SUM}{_MEAN}G_i^\tau\right\|^2+\left\|{_SUM}G_i^\tau\right\|^2\right]"
            rf"\le2s^2(t-t_0)\mathbb E\left[{_SUM}\left\|{_MEAN}G_i^\tau\right\|^2+{_SUM}\|G_i^\tau\|^2\right]"
            rf"\le2s^2(t-t_0)\mathbb E\left[{_SUM}{_MEAN}\|G_i^\tau\|^2+{_SUM}\|G_i^\tau\|^2\right]\le4s^2K^2G^2"
        ),
        note="Expectations over all outcomes of a round, given the model that it starts from.",
        verdict="supported",
    ),
    claim(
        id="liu2022:eq-8",
        kind="step",
        title="Descent with the drift bounded",
        locator="proof of Theorem 1, (8)",
        lhs=after,
        rhs=before - (s - s**2 * L) / 2 * gradient_sq - s / 2 * gradient_sq + drift_term + noise_term,
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{_AFTER}\le{_BEFORE}-\frac{{s-s^2L}}2"
            rf"\mathbb E\left[\left\|{_MEAN}\nabla f_i(\bar x^{{t-1}})\right\|^2\right]"
            rf"-\frac s2{_GRADIENT}+2s^3K^2G^2L^2+\frac{{Ls^2\sigma^2}}{{2N}}"
        ),
        note=(
            "As transcribed the gradients of the second term are taken at the average, where (7) takes them at the "
            "clients' iterates; so their mean is the gradient of f, and more is claimed than (7) gives."
        ),
        fault="misprint",
        verdict="refuted",
    ),
    claim(
        id="liu2022:eq-8.fixed",
        kind="step",
        title="Descent with the drift bounded, gradients at the clients' iterates",
        locator="proof of Theorem 1, (8), repaired",
        lhs=after,
        rhs=progress + drift_term + noise_term,
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="(7) with Lemma 1: the second term keeps the clients' own iterates.",
        corrects="liu2022:eq-8",
        verdict="proved",
    ),
    claim(
        id="liu2022:eq-8.condition",
        kind="condition",
        title="The step size that lets a term be dropped",
        locator="proof of Theorem 1, after (8)",
        lhs=s / 2 * (1 - s * L),
        relation=">=",
        rhs=0,
        assumptions=ALGORITHM + ASSUMPTIONS[-1:],
        conditions=[s <= L / 2],
        printed=r"0<s\le\frac L2\Rightarrow\frac s2(1-sL)\ge0",
        note="As transcribed; the units do not match, and a large L admits steps far beyond 1/L.",
        fault="misprint",
        verdict="refuted",
    ),
    claim(
        id="liu2022:eq-8.condition.fixed",
        kind="condition",
        title="The step size that lets a term be dropped, 1/L",
        locator="proof of Theorem 1, after (8), repaired",
        lhs=s / 2 * (1 - s * L),
        relation=">=",
        rhs=0,
        assumptions=ALGORITHM + ASSUMPTIONS[-1:],
        conditions=[SMALL_STEP],
        note="$s(1-sL)/2\\ge0$ exactly where $s\\le1/L$, the condition of the theorem.",
        corrects="liu2022:eq-8.condition",
        verdict="proved",
    ),
    claim(
        id="liu2022:thm-1.divide",
        kind="step",
        title="Dividing by s/2",
        locator="proof of Theorem 1, end",
        lhs=gradient_sq,
        rhs=2 / s * (before - after) + 4 * s**2 * K**2 * G**2 * L**2 + noise_term,
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(rf"{_GRADIENT}\le\frac2s\left({_BEFORE}-{_AFTER}\right)+4s^2K^2G^2L^2+\frac{{Ls^2\sigma^2}}{{2N}}"),
        note="The last term was not divided: $\\frac2s\\cdot\\frac{Ls^2\\sigma^2}{2N}=\\frac{Ls\\sigma^2}N$.",
        fault="misprint",
        verdict="refuted",
    ),
    claim(
        id="liu2022:thm-1.divide.fixed",
        kind="step",
        title="Dividing by s/2, all terms",
        locator="proof of Theorem 1, end, repaired",
        lhs=gradient_sq,
        rhs=2 / s * (before - after) + 4 * s**2 * K**2 * G**2 * L**2 + L * s * sigma**2 / N,
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="Twice (8) over s, after its second term is dropped.",
        corrects="liu2022:thm-1.divide",
        verdict="proved",
    ),
    claim(
        id="liu2022:thm-1.step",
        kind="bound",
        title="One step, before the drift is bounded",
        locator="proof of Theorem 1, (7) with term (a), divided by s/2",
        lhs=gradient_sq,
        rhs=2 / s * (before - after) + L**2 * drift + L * s * sigma**2 / N,
        place="step",
        assumptions=(*ALGORITHM, a.smooth, a.unbiased_bounded_variance),
        conditions=[SMALL_STEP],
        note="What the proof has before Lemma 1 comes in: no second moment is needed so far.",
        verdict="proved",
    ),
    claim(
        id="liu2022:thm-1.mean",
        kind="bound",
        title="The mean over t, before the drift is bounded",
        locator="proof of Theorem 1, summed over t before Lemma 1",
        lhs=error,
        rhs=theorem_bound_by_drift,
        assumptions=(*ALGORITHM, a.smooth, a.unbiased_bounded_variance),
        conditions=[SMALL_STEP],
        note="The drift is the mean over clients and steps; any bound on it gives a theorem.",
        verdict="proved",
    ),
    claim(
        id="liu2022:lemma-1.sharp",
        kind="bound",
        title="Lemma 1: client drift, for few clients",
        locator="Lemma 1, sharpened",
        lhs=q.max_drift,
        rhs=(1 - 1 / N) ** 2 * drift_bound,
        assumptions=ASSUMPTIONS,
        note="A client is (1 - 1/N) times as far from the average as from the mean of the others.",
        sharpens="liu2022:lemma-1",
        verdict="proved",
    ),
    claim(
        id="liu2022:lemma-1.mean",
        kind="bound",
        title="Lemma 1 for the mean drift",
        locator="Lemma 1, sharpened for the mean over clients and steps",
        lhs=mean_drift,
        rhs=s**2 * (K - 1) * (2 * K - 1) * G**2 / 6,
        assumptions=ASSUMPTIONS,
        note=(
            "The mean squared distance from the average is at most that from the model of the round's start, which "
            "grows like $k^2s^2G^2$; the mean over k has a third of the largest."
        ),
        sharpens="liu2022:lemma-1",
        verdict="proved",
    ),
    claim(
        id="liu2022:thm-1.sharp",
        kind="bound",
        title="Theorem 1 with a twelfth of the drift term",
        locator="Theorem 1 (Yu et al., AAAI 2019), sharpened",
        lhs=error,
        rhs=2 * gap / (s * T) + L**2 * s**2 * (K - 1) * (2 * K - 1) * G**2 / 6 + L * s * sigma**2 / N,
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="At most $K^2/3$ in place of $4K^2$; with one local step the drift term vanishes, as it should.",
        sharpens="liu2022:thm-1",
        verdict="proved",
    ),
    claim(
        id="liu2022:thm-1.telescope",
        kind="step",
        title="Summing over t",
        locator="proof of Theorem 1, end",
        chain=(error, "<=", theorem_bound.subs(gap, descent), "<=", theorem_bound),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\text{Summing over }t\in[T],\text{ dividing both sides by }T,\text{ and using }"
            r"\mathbb E[f(\bar x^T)]\ge f^*,\text{ we complete the proof}"
        ),
        note="The differences sum to $f(\\bar x^0)-\\mathbb E f(\\bar x^T)$; the second link is the last remark.",
        verdict="proved",
    ),
]
