"""The handwritten proof of Theorem 1 from (8) on: bounds on the drift, one step, and the average over all steps."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.sources.liu2022.statements.notation import *
from fedtheory.sources.liu2022.statements.theorem_1_descent import (
    AFTER,
    BEFORE,
    GRADIENT,
    MEAN,
    after,
    before,
    drift,
    noise_term,
    progress,
)

drift_term = 2 * s**3 * K**2 * G**2 * L**2

CLAIMS = [
    *claim.refuted.step("eq-8", "Descent with the drift bounded", "proof of Theorem 1, (8)")(
        chain=(after, "<=", before - (s - s**2 * L) / 2 * gradient_sq - s / 2 * gradient_sq + drift_term + noise_term),
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{AFTER}\le{BEFORE}-\frac{{s-s^2L}}2"
            rf"\mathbb E\left[\left\|{MEAN}\nabla f_i(\bar x^{{t-1}})\right\|^2\right]"
            rf"-\frac s2{GRADIENT}+2s^3K^2G^2L^2+\frac{{Ls^2\sigma^2}}{{2N}}"
        ),
        note=(
            "As transcribed the gradients of the second term are taken at the average, where (7) takes them at the "
            "clients' iterates; so their mean is the gradient of f, and more is claimed than (7) gives."
        ),
        fault="misprint",
    ).with_repair(
        title="Descent with the drift bounded, gradients at the clients' iterates",
        rhs=progress + drift_term + noise_term,
        note="(7) with Lemma 1: the second term keeps the clients' own iterates.",
        verdict="proved",
    ),
    *claim.refuted.condition(
        "eq-8.condition", "The step size that lets a term be dropped", "proof of Theorem 1, after (8)"
    )(
        chain=(s / 2 * (1 - s * L), ">=", 0),
        assumptions=ALGORITHM + ASSUMPTIONS[-1:],
        conditions=[s <= L / 2],
        printed=r"0<s\le\frac L2\Rightarrow\frac s2(1-sL)\ge0",
        note="As transcribed; the units do not match, and a large L admits steps far beyond 1/L.",
        fault="misprint",
    ).with_repair(
        title="The step size that lets a term be dropped, 1/L",
        conditions=[SMALL_STEP],
        note="$s(1-sL)/2\\ge0$ exactly where $s\\le1/L$, the condition of the theorem.",
        verdict="proved",
    ),
    *claim.refuted.step("thm-1.divide", "Dividing by s/2", "proof of Theorem 1, end")(
        chain=(gradient_sq, "<=", 2 / s * (before - after) + 4 * s**2 * K**2 * G**2 * L**2 + noise_term),
        place="step",
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(rf"{GRADIENT}\le\frac2s\left({BEFORE}-{AFTER}\right)+4s^2K^2G^2L^2+\frac{{Ls^2\sigma^2}}{{2N}}"),
        note="The last term was not divided: $\\frac2s\\cdot\\frac{Ls^2\\sigma^2}{2N}=\\frac{Ls\\sigma^2}N$.",
        fault="misprint",
    ).with_repair(
        title="Dividing by s/2, all terms",
        rhs=2 / s * (before - after) + 4 * s**2 * K**2 * G**2 * L**2 + L * s * sigma**2 / N,
        note="Twice (8) over s, after its second term is dropped.",
        verdict="proved",
    ),
    claim.proved.bound(
        "thm-1.step", "One step, before the drift is bounded", "proof of Theorem 1, (7) with term (a), divided by s/2"
    )(
        chain=(gradient_sq, "<=", 2 / s * (before - after) + L**2 * drift + L * s * sigma**2 / N),
        place="step",
        assumptions=(*ALGORITHM, a.smooth, a.unbiased_bounded_variance),
        conditions=[SMALL_STEP],
        note="The proof before Lemma 1, which needs no second moment.",
    ),
    claim.proved.bound(
        "thm-1.mean", "The mean over t, before the drift is bounded", "proof of Theorem 1, summed over t before Lemma 1"
    )(
        chain=(error, "<=", theorem_bound_by_drift),
        assumptions=(*ALGORITHM, a.smooth, a.unbiased_bounded_variance),
        conditions=[SMALL_STEP],
        note="The drift is the mean over clients and steps; any bound on it gives a theorem.",
    ),
    claim.proved.bound(
        "thm-1.sharp", "Theorem 1 with a twelfth of the drift term", "Theorem 1 (Yu et al., AAAI 2019), sharpened"
    )(
        chain=(error, "<=", 2 * gap / (s * T) + L**2 * s**2 * (K - 1) * (2 * K - 1) * G**2 / 6 + L * s * sigma**2 / N),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="At most $K^2/3$ in place of $4K^2$; with one local step the drift term vanishes, as it should.",
        sharpens="liu2022:thm-1",
    ),
    claim.proved.step("thm-1.telescope", "Summing over t", "proof of Theorem 1, end")(
        chain=(error, "<=", theorem_bound.subs(gap, descent), "<=", theorem_bound),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\text{Summing over }t\in[T],\text{ dividing both sides by }T,\text{ and using }"
            r"\mathbb E[f(\bar x^T)]\ge f^*,\text{ we complete the proof}"
        ),
        note="The differences sum to $f(\\bar x^0)-\\mathbb E f(\\bar x^T)$; the second link is the last remark.",
    ),
]
