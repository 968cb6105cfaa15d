"""The last slides: measures of non-i.i.d. data, Theorem 3 and Corollary 4 (Yu et al., ICML 2019)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.liu2022.statements.notation import *

NON_IID = (*ASSUMPTIONS, a.bounded_mean_dissimilarity)
HETEROGENEOUS = (*ALGORITHM, a.smooth, a.unbiased_bounded_variance, a.bounded_mean_dissimilarity)
"""Assumptions without a bound on second moments."""
TUNED_NON_IID = (*NON_IID, a.plain_speedup_step)
TUNED_HETEROGENEOUS = (*HETEROGENEOUS, a.plain_speedup_step)
FEW_STEPS = 1 / (6 * L * s) >= K
thm_3_error = L * s * sigma**2 / N + 4 * s**2 * K * G**2 * L**2 + 9 * L**2 * s**2 * K**2 * spread**2
"""The constant error of Theorem 3, as the slides call it."""
sharp_drift = sp.Rational(11, 12) * (K - 1) * s**2 * (2 * (K + 1) * spread**2 + (1 - 1 / N) * sigma**2)
TUNED_STEP = sp.sqrt(N) / sp.sqrt(T)
MOST_LOCAL_STEPS = T ** sp.Rational(1, 4) / N ** sp.Rational(3, 4)
r = sp.Symbol("r", positive=True)
"""Square root of the number R of communication rounds."""
c = sp.Symbol("c", positive=True)
"""Parameter c of a run with (1 + c)^2 N K rounds."""

_ERROR = r"\frac1T\sum_{t=0}^{T-1}\mathbb E[\|\nabla f(\bar x^t)\|^2]"
_WITH_STEP = (a.same_local_work, a.plain_speedup_step)

WITHIN_FEW_STEPS = s <= 1 / (6 * L * K)
"""Condition K <= 1/(6 L s), solved for s; it implies s <= 1/L."""
_CONDITION = (
    "At this step size $s\\le1/(6LK)$ is $T\\ge36L^2K^2N$: for K = 1 the condition of the corollary, and for "
    "$K^4N^3\\le T$ it follows from $NT\\ge(6L)^4$ (`liu2022:cor-4.K.implied`)."
)
speedup_constant = 2 * gap + L * sigma**2
"""Coefficient of 1/sqrt(N T) in Corollary 4 without the drift."""

_SECOND_PART = (
    r"s=\frac{\sqrt N}{\sqrt T},\ K=O\left(\frac{T^{1/4}}{N^{3/4}}\right),\ T\ge L^2N:\quad "
    rf"{_ERROR}=O\left(\frac1{{\sqrt{{NT}}}}\right)"
)
"""Second part of Corollary 4, as published."""

CLAIMS = [
    claim.definition("noniid.bgd", "Bounded gradient dissimilarity", "non-i.i.d. data")(
        chain=(Average(norm_sq(Gradient(f_i, x) - Gradient(f, x))), "<=", spread**2, "<=", zeta**2),
        place="points",
        assumptions=NON_IID,
        printed=(
            r"\frac1N\sum_{i=1}^N\|\nabla f_i(x)-\nabla f(x)\|^2\le\sigma_G^2\quad\text{or}\quad"
            r"\|\nabla f_i(x)-\nabla f(x)\|^2\le\sigma_G^2"
        ),
        note=(
            "Two definitions with one symbol.  The smallest constant of the first is called $\\sigma_G$ here, that of "
            "the second $\\zeta$; the second implies the first.  Both are those of the stated region."
        ),
        implemented_by="fedtheory.language.assumptions:bounded_mean_dissimilarity",
    ),
    claim.definition(
        "noniid.GB", "(G, B)-bounded gradient dissimilarity", "non-i.i.d. data (Karimireddy et al., ICML 2020)"
    )(
        chain=(Average(norm_sq(Gradient(f_i, x))), "<=", growth_0**2),
        also=tuple(
            Relation(Average(norm_sq(Gradient(f_i, x))), "<=", growth**2 + factor**2 * norm_sq(Gradient(f, x)))
            for factor, growth in ((1, growth_1), (2, growth_2))
        ),
        place="points",
        assumptions=NON_IID,
        printed=r"\frac1N\sum_{i=1}^N\|\nabla f_i(x)\|^2\le G^2+B^2\|\nabla f(x)\|^2",
        note="The smallest G on the stated region, for B = 0, 1 and 2.",
        implemented_by="fedtheory.language.quantities:gradient_growth",
    ),
    claim.proved.condition(
        "noniid.GB.special", "With B = 0 the variance of local gradients is bounded", "non-i.i.d. data, margin"
    )(
        chain=(
            Average(norm_sq(Gradient(f_i, x) - Gradient(f, x))),
            "==",
            Average(norm_sq(Gradient(f_i, x))) - norm_sq(Gradient(f, x)),
            "<=",
            Average(norm_sq(Gradient(f_i, x))),
        ),
        place="points",
        assumptions=NON_IID,
        printed=r"1^\circ\text{ if }B=0.\quad2^\circ\text{ if }G^2=0.\quad\text{bounded var. of local grad.}",
        note=(
            "Handwritten, and the transcription has no sentence: two cases, and four words that belong to one of "
            "them.  One reading is checked: with B = 0 the model bounds the right side by $G^2$, and therefore the "
            "variance of the local gradients about the global one.  For $G^2=0$ nothing definite is legible.  With "
            "B = 1 the smallest $G^2$ is $\\sigma_G^2$ itself (`liu2022:noniid.GB.B1`)."
        ),
    ),
    claim.proved.condition("noniid.GB.B1", "With B = 1 the smallest G is sigma_G", "non-i.i.d. data, the case B = 1")(
        chain=(growth_1**2, "==", spread**2),
        assumptions=NON_IID,
        note=(
            "$\\frac1N\\sum_i\\|\\nabla f_i-\\nabla f\\|^2=\\frac1N\\sum_i\\|\\nabla f_i\\|^2-\\|\\nabla f\\|^2$: "
            "the (G, B) model with B = 1 is the bounded dissimilarity of the first definition."
        ),
    ),
    claim.definition("noniid.gamma", "Difference of the optimal values", "non-i.i.d. data (Li et al., ICLR 2020)")(
        chain=(Gamma, "==", Average(Value(f_i, x_star) - Value(f_i, x_i_star)), ">=", 0),
        place="points",
        assumptions=NON_IID,
        printed=r"f^*-\sum_{i=1}^Np_if_i^*\triangleq\Gamma<\infty",
        note="Never negative, and zero exactly where one point minimises all clients' objectives.",
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.proved.bound("thm-3", "Theorem 3", "Theorem 3 (Yu et al., ICML 2019, without momentum)")(
        lhs=error,
        rhs=2 * gap / (s * T) + thm_3_error,
        assumptions=NON_IID,
        conditions=[SMALL_STEP, FEW_STEPS],
        printed=(
            rf"s\in\left(0,\tfrac1L\right],\ K\le\tfrac1{{6Ls}}:\quad {_ERROR}\le\frac2{{sT}}(f(\bar x^0)-f^*)"
            r"+\frac LNs\sigma^2+4s^2KG^2L^2+9L^2s^2K^2\sigma_G^2"
        ),
        note="The sum over t = 0, ..., T-1 is that of Theorem 1.",
    ),
    claim.asymptotic.rate("thm-3.rate", "The first term of Theorem 3", "Theorem 3, margin")(
        rate=Rate(measured=2 * gap / (s * T), order=1 / T, variable=T),
        assumptions=NON_IID,
        conditions=[SMALL_STEP],
        printed=r"\frac2{sT}(f(\bar x^0)-f^*):\ O\left(\frac1T\right)",
    ),
    claim.asymptotic.rate("thm-3.constant-error", "The other terms of Theorem 3", "Theorem 3, margin")(
        rate=Rate(measured=thm_3_error, order=sp.S.One, variable=T),
        assumptions=NON_IID,
        conditions=[SMALL_STEP],
        printed=r"\frac LNs\sigma^2+4s^2KG^2L^2+9L^2s^2K^2\sigma_G^2:\ \text{const. error}",
        note=(
            "At a constant step size these terms stay bounded as T grows, and they vanish only where their constants "
            "vanish."
        ),
    ),
    claim.proved.bound("thm-3.drift", "The drift terms of Theorem 3", "Theorem 3, its last two terms")(
        chain=(mean_drift, "<=", 4 * s**2 * K * G**2 + 9 * s**2 * K**2 * spread**2),
        assumptions=NON_IID,
        conditions=[FEW_STEPS],
        note="The terms that bound the drift in Theorem 3.",
    ),
    claim.proved.bound(
        "thm-3.drift.sharp", "Mean drift with heterogeneous gradients", "Theorem 3, its last two terms, sharpened"
    )(
        chain=(mean_drift, "<=", sharp_drift),
        assumptions=HETEROGENEOUS,
        conditions=[FEW_STEPS],
        note=(
            "The variance contributes a term of order $K$, the dissimilarity one of order $K^2$.  By $6KLs\\le1$ "
            "smoothness increases the growth factor of a step by at most 1/(9K)."
        ),
        sharpens="liu2022:thm-3.drift",
    ),
    claim.proved.bound(
        "thm-3.sharp",
        "Theorem 3 with smaller drift terms, and without a second moment",
        "Theorem 3 (Yu et al., ICML 2019, without momentum), sharpened",
    )(
        chain=(error, "<=", 2 * gap / (s * T) + L * s * sigma**2 / N + L**2 * sharp_drift),
        assumptions=HETEROGENEOUS,
        conditions=[SMALL_STEP, FEW_STEPS],
        note=(
            "The dissimilarity has a factor of at most 11/6 in place of 9.  The variance with the factor 11/12 stands "
            "in place of 4 times the second moment, which is never smaller and need not be bounded.  With one local "
            "step both terms vanish."
        ),
        sharpens="liu2022:thm-3",
    ),
    claim.asymptotic.rate("cor-4.K1", "Corollary 4 with one local step", "Corollary 4, first part")(
        rate=Rate(error, 1 / sp.sqrt(N * T) + N / T, (T, N), step_size=TUNED_STEP, local_steps=sp.S.One),
        assumptions=NON_IID,
        conditions=[T >= 36 * L**2 * N],
        printed=(
            rf"s=\frac{{\sqrt N}}{{\sqrt T}},\ K=1,\ T\ge36L^2N:\quad {_ERROR}=O\left(\frac1{{\sqrt{{NT}}}}\right)"
            r"+O\left(\frac NT\right)"
        ),
    ),
    claim.proved.condition(
        "cor-4.K1.implied", "Corollary 4 with one local step: the conditions of Theorem 3", "Corollary 4, first part"
    )(
        chain=(6 * L * s, "<=", 1),
        assumptions=_WITH_STEP,
        conditions=[T >= 36 * L**2 * N],
        note="$s=\\sqrt N/\\sqrt T\\le1/(6L)$, which is both conditions of Theorem 3 for K = 1.",
    ),
    claim.asymptotic.rate("cor-4.K", "Corollary 4 with several local steps", "Corollary 4, second part")(
        rate=Rate(error, 1 / sp.sqrt(N * T), (T, N), step_size=TUNED_STEP, local_steps=MOST_LOCAL_STEPS),
        assumptions=NON_IID,
        conditions=[T >= L**2 * N],
        printed=_SECOND_PART,
        note=(
            "With the largest K, $T^{1/4}/N^{3/4}$ rounded down, and one where that is less than one.  T and N vary, "
            "with one hidden constant; more clients are copies of those of the run, with independent noise."
        ),
    ),
    claim.proved.condition(
        "cor-4.K.implied",
        "Corollary 4 with several local steps: the conditions of Theorem 3",
        "Corollary 4, second part",
    )(
        chain=(6 * L * s * K, "<=", 1),
        assumptions=_WITH_STEP,
        conditions=[N * T >= (6 * L) ** 4, FEW_LOCAL_STEPS],
        note=(
            "A remark of this encoding, which the slides do not make.  $6LsK\\le6L(NT)^{-1/4}$, at most one from "
            "$NT\\ge(6L)^4$ on.  The condition $T\\ge L^2N$ of the corollary does not suffice for it: one client with "
            "one local step needs $T\\ge36L^2$.  An O(.) statement for growing T is not affected."
        ),
    ),
    claim.proved.condition(
        "cor-4.rounds.two-sided",
        "For K < R/N the term 1/R is not larger than 1/sqrt(NKR)",
        "Corollary 4, margin (Yang, Fang, Liu, ICLR 2021)",
    )(
        chain=(1 / ((1 + c) ** 2 * N * K), "<=", 1 / ((1 + c) * N * K)),
        for_all={c: (sp.Rational(1, 4), 1, 3, 7)},
        assumptions=(a.same_local_work,),
        note=(
            "A remark on the handwritten margin 'In G-FedAvg-TSLR (Yang-Tang-Lin, ICML'11): K = O(T/N)'; slide 14 "
            "cites Yang, Fang, Liu, ICLR 2021.  The slides do not state the cited theorem, so the margin itself is not "
            "proved.  With R rounds, local steps $s_L=1/(\\sqrt RKL)$ and server steps $s=\\sqrt{KN}$ that theorem "
            "has the rate $O(1/\\sqrt{NKR}+1/R)$.  For $R=(1+c)^2NK$ the second term is $1/R=1/((1+c)^2NK)$ and at "
            "most the first, $1/\\sqrt{NKR}=1/((1+c)NK)$.  The figure has exact errors at these step sizes."
        ),
    ),
    claim.proved.bound(
        "cor-4.K1.explicit", "Corollary 4 with explicit constants, for every K", "Corollary 4, first part, explicit"
    )(
        chain=(
            error,
            "<=",
            speedup_constant / sp.sqrt(N * T) + N / T * (4 * K * G**2 * L**2 + 9 * K**2 * L**2 * spread**2),
        ),
        assumptions=TUNED_NON_IID,
        conditions=[WITHIN_FEW_STEPS],
        note=f"Theorem 3 at the step size of the corollary.  {_CONDITION}",
    ),
    claim.proved.bound(
        "cor-4.K1.explicit.sharp",
        "Corollary 4 with explicit constants, for every K, without a second moment",
        "Corollary 4, first part, explicit and sharpened",
    )(
        chain=(
            error,
            "<=",
            speedup_constant / sp.sqrt(N * T)
            + sp.Rational(11, 12) * (K - 1) * L**2 * N / T * (2 * (K + 1) * spread**2 + (1 - 1 / N) * sigma**2),
        ),
        assumptions=TUNED_HETEROGENEOUS,
        conditions=[WITHIN_FEW_STEPS],
        note=(
            "The sharpened Theorem 3 at the step size of the corollary.  With one local step the second term vanishes, "
            "and the $O(N/T)$ of the print with it."
        ),
        sharpens="liu2022:cor-4.K1.explicit",
    ),
    claim.proved.bound(
        "cor-4.explicit", "Corollary 4 with several local steps and explicit constants", "Corollary 4, explicit"
    )(
        chain=(error, "<=", (speedup_constant + 4 * G**2 * L**2 + 9 * L**2 * spread**2) / sp.sqrt(N * T)),
        assumptions=TUNED_NON_IID,
        conditions=[WITHIN_FEW_STEPS, FEW_LOCAL_STEPS],
        note=(
            "The speed-up is linear in N: N and T occur as NT only, and the constants do not depend on them.  For "
            f"$K^4N^3\\le T$ the drift terms of Theorem 3 are of the order $1/\\sqrt{{NT}}$ too.  {_CONDITION}"
        ),
    ),
    claim.proved.bound(
        "cor-4.explicit.T",
        "Corollary 4 with several local steps and explicit constants, with a condition on T",
        "Corollary 4, explicit, with a condition on T",
    )(
        chain=(error, "<=", (speedup_constant + 4 * G**2 * L**2 + 9 * L**2 * spread**2) / sp.sqrt(N * T)),
        assumptions=TUNED_NON_IID,
        conditions=[N * T >= (6 * L) ** 4, FEW_LOCAL_STEPS],
        note=(
            "The conditions give $6LsK\\le1$ (`liu2022:cor-4.K.implied`), and then `liu2022:cor-4.explicit` gives the "
            "bound."
        ),
    ),
    claim.proved.bound(
        "cor-4.explicit.sharp",
        "Corollary 4 with several local steps and explicit constants, without a second moment",
        "Corollary 4, explicit and sharpened",
    )(
        chain=(
            error,
            "<=",
            (speedup_constant + sp.Rational(11, 12) * L**2 * (sigma**2 + 2 * spread**2)) / sp.sqrt(N * T),
        ),
        assumptions=TUNED_HETEROGENEOUS,
        conditions=[WITHIN_FEW_STEPS, FEW_LOCAL_STEPS],
        note="From the sharpened Theorem 3, which needs no bound on second moments.",
        sharpens="liu2022:cor-4.explicit",
    ),
    *claim.refuted.rate("cor-4.rounds", "Local steps in terms of communication rounds", "Corollary 4, margin")(
        chain=((r / N) ** 4 * N**3, "==", r**4 * (r / N)),
        for_all={r: (1, 2, 3, 4, 8)},
        assumptions=ASSUMPTIONS,
        printed=r"\text{'T': rounds, }K=O\left(\frac{T^{1/4}}N\right)",
        note=(
            "The margin restates the limit $K=O(T^{1/4}/N^{3/4})$ of the corollary with T as the number of rounds.  R "
            "rounds have RK iterations, so that limit means $K^4N^3=RK$.  Its solution is $K=R^{1/3}/N$; the "
            "denominator N is right and the exponent 1/4 is a slip of the handwriting or of its transcription.  As an "
            "upper bound, $K=R^{1/4}/N$ is allowed: $K^4N^3\\le RK$.  It is not the largest order."
        ),
        fault="misprint",
    ).with_repair(
        title="Local steps in terms of communication rounds, with the third root",
        rhs=r**3 * (r / N),
        note="$K=R^{1/3}/N$, with $R=r^3$, solves $K^4N^3=RK$.",
        verdict="proved",
    ),
    claim.definition(
        "cross-device",
        "Orders of magnitude of cross-device federations",
        "Cross-device federated learning (Kairouz et al.)",
    )(
        printed=(
            r"\text{population }10^6\text{-}10^{10},\ 50\text{-}5000\text{ devices a round},\ "
            r"10^5\text{-}10^7\text{ devices in all},\ 500\text{-}10000\text{ rounds},\ 1\text{-}10\text{ days}"
        ),
        implemented_by="fedtheory.sources.liu2022.messages:cross_device",
    ),
]
