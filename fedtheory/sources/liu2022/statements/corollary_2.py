"""Corollary 2: the step size for linear speed-up, the limit on K, and the resulting number of iterations."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Rate, Relation
from fedtheory.sources.liu2022.statements.notation import *

TUNED = (*ASSUMPTIONS, a.speedup_step)
TUNED_STEP = sp.sqrt(N) / (L * sp.sqrt(T))

start_term = 2 * L * gap / sp.sqrt(N * T)
noise_term = sigma**2 / sp.sqrt(N * T)
step_bound = start_term + 4 * N / T * K**2 * G**2 + noise_term
constant = 2 * L * gap + 4 * G**2 + sigma**2
"""C' in the margin of the slides: the bound is C' / sqrt(N T)."""
speedup_bound = start_term + 4 * G**2 / sp.sqrt(N * T) + noise_term
_ACCURACIES = (sp.Rational(1, 2), sp.Rational(1, 4))

_ERROR = r"\frac1T\sum_{t=1}^T\mathbb E[\|\nabla f(\bar x^{t-1})\|^2]"
_START = r"\frac{2L}{\sqrt{NT}}(f(\bar x^0)-f^*)"

CLAIMS = [
    claim.proved.bound("cor-2.step", "Corollary 2, the step size", "Corollary 2, first part")(
        chain=(error, "<=", step_bound),
        also=(Relation(theorem_bound.subs(s, TUNED_STEP), "==", step_bound),),
        assumptions=TUNED,
        conditions=[SMALL_STEP],
        printed=(
            rf"s=\frac{{\sqrt N}}{{L\sqrt T}}:\quad {_ERROR}\le{_START}+4\frac NTK^2G^2+\frac1{{\sqrt{{NT}}}}\sigma^2"
            r"\simeq O\left(\frac1{\sqrt{NT}}\right)"
        ),
        note="The step size is admissible for Theorem 1, $s\\le1/L$, from $T\\ge N$ on; below, nothing is claimed.",
    ),
    claim.asymptotic.rate("cor-2.step.rate", "The exact error at a fixed K", "Corollary 2, first part, margin")(
        rate=Rate(measured=error, order=1 / sp.sqrt(N * T), variable=(T,), step_size=TUNED_STEP),
        assumptions=ASSUMPTIONS,
        conditions=[N <= T],
        printed=r"\simeq O\left(\frac1{\sqrt{NT}}\right)\ \text{``linear speedup''}",
        note=(
            "With K fixed the drift term $4NK^2G^2/T$ is of a smaller order in T.  In N it is larger, so that the "
            "order holds for $T\\ge N^3K^4$ uniformly in N (`liu2022:cor-2.K`).  N is fixed on the ladder: "
            "`liu2022:cor-2.step.rate.N` varies it, with the drift term in the order."
        ),
    ),
    claim.asymptotic.rate(
        "cor-2.step.rate.N",
        "The exact error at a fixed K, in T and N",
        "Corollary 2, first part, along growing T and N",
    )(
        rate=Rate(measured=error, order=1 / sp.sqrt(N * T) + N / T, variable=(T, N), step_size=TUNED_STEP),
        assumptions=ASSUMPTIONS,
        conditions=[N <= T],
        note=(
            "One hidden constant serves all T and N of a run.  $N/T$ is the order of the drift term; without it the "
            "order does not hold uniformly in N."
        ),
    ),
    claim.proved.bound("cor-2.K", "Corollary 2, the limit on local steps", "Corollary 2, second part")(
        chain=(error, "<=", speedup_bound),
        also=(Relation(step_bound, "<=", speedup_bound),),
        assumptions=TUNED,
        conditions=[SMALL_STEP, FEW_LOCAL_STEPS],
        printed=(
            rf"K\le\frac{{T^{{1/4}}}}{{N^{{3/4}}}}:\quad {_ERROR}\le{_START}+\frac4{{\sqrt{{NT}}}}G^2"
            r"+\frac1{\sqrt{NT}}\sigma^2=O\left(\frac1{\sqrt{NT}}\right)"
        ),
    ),
    *claim.refuted.rate("cor-2.speedup", "Iterations to an accuracy", "Corollary 2, margin")(
        chain=((constant / eps**2) ** 2 / N, "<=", (constant / eps) ** 2 / N),
        for_all={eps: _ACCURACIES},
        assumptions=TUNED,
        conditions=[SMALL_STEP, FEW_LOCAL_STEPS],
        printed=(
            r"\text{SGD: }\frac C{\sqrt T}\le\varepsilon^2\Rightarrow T\ge O\left(\frac1{\varepsilon^2}\right);\quad "
            r"\text{FedAvg: }\frac{C'}{\sqrt{NT}}\le\varepsilon^2\Rightarrow T\ge O\left(\frac1{N\varepsilon^2}\right)"
            r"\ \text{(linear speedup)}"
        ),
        note=(
            "Read as: the T with $C'/\\sqrt{NT}=\\varepsilon^2$, on the left, is at most $C'^2/(N\\varepsilon^2)$.  "
            "The error is a squared norm already, and $\\varepsilon^2$ has to be squared once more.  No other constant "
            "mends it: the quotient of the two sides grows like $1/\\varepsilon^2$.  Read as a lower bound on T alone, "
            "the print is true for $\\varepsilon\\le1$, and then no number of iterations is promised to suffice."
        ),
    ).with_repair(
        title="Iterations to an accuracy, with the fourth power",
        chain=(T, "<=", constant**2 / (N * error**2)),
        note=(
            "$C'/\\sqrt{NT}\\le\\varepsilon^2$ means $T\\ge C'^2/(N\\varepsilon^4)$.  Checked with the run's own error "
            "for $\\varepsilon^2$: it took no more iterations.  In N the speed-up stays linear: N clients need "
            "a fraction 1/N of the iterations, as long as K is within its limit."
        ),
        verdict="proved",
        for_all={},
    ),
    claim.asymptotic.rate(
        "cor-2.speedup.slope", "The exact error at the step size of the corollary", "Corollary 2, along growing T"
    )(
        rate=Rate(
            measured=error,
            order=1 / sp.sqrt(N * T),
            variable=(T, N),
            step_size=TUNED_STEP,
            local_steps=T ** sp.Rational(1, 4) / N ** sp.Rational(3, 4),
        ),
        assumptions=ASSUMPTIONS,
        conditions=[N <= T],
        note="The largest K that the corollary allows, rounded down, and one where that is less than one.",
    ),
]
