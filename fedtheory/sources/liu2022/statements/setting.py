"""Slides 17 and 18: the problem for i.i.d. data, its assumptions, and FedAvg as parallel restarted SGD."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.liu2022.statements.notation import *

CLAIMS = [
    claim.definition("iid", "I.i.d. data", "i.i.d. case")(
        chain=(norm_sq(Gradient(f_i, x) - Gradient(f, x)), "==", 0),
        also=(Relation(zeta, "==", 0), Relation(Value(f_i, x), "==", Value(f, x))),
        place="points",
        assumptions=(*ASSUMPTIONS, a.one_type),
        printed=(
            r"\text{Mini-batch of data used for a client's local update is statistically identical to a uniform "
            r"sampling (with replacement) from the union of all clients' datasets}"
        ),
        note=(
            "All clients then have one distribution of data, and so one objective and one gradient: there is no "
            "dissimilarity.  Checked on clients of one type.  The theorems of this part do not use it."
        ),
        implemented_by="fedtheory.language.assumptions:one_type",
    ),
    claim.definition("problem", "The objective", "i.i.d. case")(
        chain=(Value(f, x), "==", Average(Value(f_i, x))),
        place="points",
        assumptions=ASSUMPTIONS,
        printed=(
            r"M=N,\quad \min_{x\in\mathbb R^m}f(x)\triangleq\min_{x\in\mathbb R^m}\frac1N\sum_{i=1}^Nf_i(x),\quad "
            r"f_i(x)\triangleq\mathbb E_{\xi_i\sim\mathcal D_i}[F_i(x,\xi_i)]\text{ nonconvex}"
        ),
        note="Exact runs have convex quadratics, which are a special case of the functions in the slides.",
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.assumption("assumption-smooth", "Smoothness", "i.i.d. case")(
        chain=(norm_sq(Gradient(f_i, x) - Gradient(f_i, y)), "<=", L**2 * norm_sq(x - y)),
        place="points",
        assumptions=ASSUMPTIONS,
        printed=r"\|\nabla f_i(x)-\nabla f_i(y)\|\le L\|x-y\|,\ \forall x,y",
        implemented_by="fedtheory.language.assumptions:smooth",
    ),
    claim.assumption("assumption-variance", "Bounded variance and second moments", "i.i.d. case")(
        chain=(Expectation(norm_sq(g_i - Gradient(f_i, x_i))), "<=", sigma**2),
        also=(Relation(Expectation(norm_sq(g_i)), "<=", G**2),),
        place="step",
        assumptions=ASSUMPTIONS,
        printed=(
            r"\mathbb E_{\xi_i}[\|\nabla F_i(x,\xi_i)-\nabla f_i(x)\|^2]\le\sigma^2,\quad "
            r"\mathbb E_{\xi_i}[\|\nabla F_i(x,\xi_i)\|^2]\le G^2,\quad\forall x,i"
        ),
        note=(
            "Both are checked at every client's iterate of every local step.  No G exists on all of space for a "
            "quadratic that is not flat; G is the smallest constant on a ball that contains the run."
        ),
        implemented_by="fedtheory.language.assumptions:bounded_second_moment",
    ),
    claim.assumption("assumption-unbiased", "Unbiased stochastic gradients", "i.i.d. case")(
        chain=(norm_sq(Expectation(g_i - Gradient(f_i, x_i))), "==", 0),
        place="round",
        assumptions=ASSUMPTIONS,
        printed=(
            r"G_i^t=\nabla F_i(x_i^{t-1},\xi_i^t)\ \text{with}\ "
            r"\mathbb E_{\xi_i^t\sim\mathcal D_i}[G_i^t\mid\xi^{[t-1]}]=\nabla f_i(x_i^{t-1}),\ \forall i"
        ),
        implemented_by="fedtheory.language.assumptions:unbiased_bounded_variance",
    ),
    *claim.refuted.algorithm("prsgd", "Parallel restarted SGD", "Parallel restarted SGD")(
        chain=(restarted, "==", 0),
        assumptions=ALGORITHM + ASSUMPTIONS[-1:],
        printed=(
            r"x_i^0=\bar y;\ \text{for }t=1,\dots,T:\ \text{observe }G_i^t\text{ of }f_i\text{ at }x_i^{t-1};\ "
            r"\text{if }t\bmod K=0:\ \bar y\triangleq\frac1N\sum_{i=1}^Nx_i^{t-1},\ x_i^t=\bar y-sG_i^t;\ "
            r"\text{else }x_i^t=x_i^{t-1}-sG_i^t"
        ),
        note=(
            "Printed as 'equivalent code for FedAvg'.  Read literally it is another algorithm: in an iteration with "
            "$t\\bmod K=0$ the gradient is observed at the client's own iterate, before the restart, where FedAvg "
            "observes it at the average; and the first restart comes after K - 1 steps.  Theorem 1, Lemma 1 and "
            "Corollary 2 are printed for this loop and hold for it too (`liu2022:thm-1.loop`, `liu2022:lemma-1.loop`, "
            "`liu2022:cor-2.loop`)."
        ),
        implemented_by="fedtheory.federation.settings:parallel_restarted_sgd",
    ).with_repair(
        title="Parallel restarted SGD, restarted before the gradient is observed",
        lhs=restarting_first,
        note=(
            "With the restart where $(t-1)\\bmod K=0$, and the gradient observed after it, the loop over t has the "
            "iterates of FedAvg with K local steps, draw for draw."
        ),
        implemented_by="fedtheory.federation.settings:parallel_restarted_sgd",
        verdict="definition",
    ),
]
