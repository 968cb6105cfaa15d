"""Section 3.4: Theorem 3."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.assumptions import THEOREM, WITHOUT_CHANCE
from fedtheory.sources.fraboni2022.statements.examples import EXAMPLE_2
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import (
    BOUND,
    RELAXED,
    WINDOWED,
    chi,
    chi_n,
    gap_bar,
    gradients,
    optimum_distance,
    r_j,
    st_jn,
    surrogate_loss,
)
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import CONDITIONS_94
from fedtheory.sources.fraboni2022.statements.theorem_3_proof import (
    GRADIENT_FACTOR,
    LOSS_BOUND,
    SMOOTH_SAMPLES,
    misfit_bar,
)

GRADIENT_BOUND = ((8 * L * chi + 4 * L) * BOUND + 8 * L * chi * ClientSum(q_i * gap_bar)) / ClientSum(q_i)

claim = Statements("fraboni2022", RELAXED)

CLAIMS = [
    *claim.refuted.bound("thm-3.loss", "Theorem 3, the surrogate's loss", "Theorem 3, (26)")(
        chain=(surrogate_loss, "<=", BOUND),
        conditions=[SMALL_STEP],
        assumptions=THEOREM,
        printed=(
            rf"{MEANS}[\mathbb E\bar{{\mathcal L}}(\theta^{{n,k}})-\bar{{\mathcal L}}(\bar\theta)]\le\epsilon\coloneqq"
            r"\epsilon_F+\epsilon_K+\epsilon_\alpha+\epsilon_\beta+\epsilon_W,\quad\epsilon_W=\mathcal O(\eta_g\eta_l"
            r"(W-1)K)"
        ),
        note=(
            "With the constants of (93) and $\\epsilon_W=\\rho^2B_g^2\\eta_g\\eta_l(W-1)K$, as the corrected (25) "
            "gives it for fixed schedules.  Where all updates have the same weights, W = 1 and it is (93), which fails "
            "for sampled clients."
        ),
    ).with_repair(
        title="Theorem 3, the surrogate's loss, for given weights and noise that does not depend on the model",
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        verdict="supported",
    ),
    claim.proved.bound(
        "thm-3.loss.given-weights",
        "Theorem 3, the surrogate's loss, for given weights and smooth samples",
        "Theorem 3, (26), from the corrected steps",
    )(
        chain=(surrogate_loss, "<=", LOSS_BOUND),
        where=SMOOTH_SAMPLES,
        conditions=CONDITIONS_94,
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note="With the corrected (94) for (93).",
        corrects="fraboni2022:thm-3.loss",
    ),
    *claim.refuted.bound("thm-3.gradient", "Theorem 3, the gradient", "Theorem 3, (27)")(
        chain=(gradients, "<=", GRADIENT_BOUND),
        conditions=[SMALL_STEP, q_i > 0],
        assumptions=THEOREM,
        printed=(
            rf"{MEANS}\mathbb E\|\nabla\mathcal L(\theta^{{n,k}})\|^2\le\epsilon+\mathcal O\Big(\chi^2\Big["
            r"\bar{\mathcal L}(\bar\theta)-\sum_{j=1}^Js_jF_j(\theta_j^*)\Big]\Big),\quad "
            r"\chi^2=\sum_{j=1}^J\frac{(r_j-\tilde s_j)^2}{\tilde s_j}"
        ),
        note=(
            "With explicit constants, from Lemma 7 for $\\bar{\\mathcal L}$: the published $\\epsilon$ needs the "
            "factor $(8L\\chi^2+4L)/\\sum_iq_i$ as well.  Every client reports at least once, else $\\chi^2$ is "
            "infinite for its type.  It fails as (26) does."
        ),
    ).with_repair(
        title="Theorem 3, the gradient, for given weights and noise that does not depend on the model",
        assumptions=(*THEOREM, *WITHOUT_CHANCE),
        verdict="supported",
    ),
    claim.proved.bound(
        "thm-3.gradient.given-weights",
        "Theorem 3, the gradient, for given weights and smooth samples",
        "Theorem 3, (27), from the corrected steps",
    )(
        chain=(gradients, "<=", GRADIENT_FACTOR * LOSS_BOUND + 4 * L * chi * misfit_bar),
        where=SMOOTH_SAMPLES,
        conditions=[*CONDITIONS_94, q_i > 0],
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note="Lemma 7 for $\\bar{\\mathcal L}$, at every local step, and the bound on its loss.",
        corrects="fraboni2022:thm-3.gradient",
    ),
    claim.supported.condition("thm-3.condition.types", "The sufficient condition on types", "below Theorem 3")(
        chain=(optimum_distance**2, "==", 0),
        conditions=[sp.Eq(chi, 0)],
        assumptions=SCHEME,
        printed=(
            r"\text{Theorem 3 shows that the condition }\tilde s_j=r_j\text{ is sufficient to minimize the "
            r"optimization problem (2)}"
        ),
        note=(
            "$\\chi^2=0$ says that $\\tilde s_j=r_j$ for all types.  Then $\\bar{\\mathcal L}$ is a multiple of "
            "$\\mathcal L$."
        ),
    ),
    claim.proved.condition("thm-3.condition", "The relaxed sufficient condition", "below Theorem 3")(
        chain=(optimum_distance**2, "==", 0),
        also=(Relation(chi, "==", 0),),
        conditions=[sp.Eq(qt_i, p_i)],
        assumptions=SCHEME,
        printed=(
            r"\text{In practice, for privacy concerns, clients may not want to share their data distribution with the "
            r"server, and thus the relaxed sufficient condition becomes }\tilde q_i=p_i"
        ),
        note=(
            "For any scheme.  Then $\\bar{\\mathcal L}$ is a multiple of $\\mathcal L$.  The price is $\\epsilon_W$, "
            "linear in W - 1."
        ),
    ),
    *EXAMPLE_2,
    *claim.refuted.condition("claim.W1", "Identical data imply a window of one update", "below Example 2")(
        chain=(W, "==", 1),
        assumptions=(a.one_type, a.somebody_reports),
        printed=(
            r"\text{when clients have the same data distributions: }\tilde s_j=r_j=1\text{ at every round, which also "
            r"implies that }W=1"
        ),
        note=(
            "Assumption 6 speaks of the weights of single clients, which alternate.  That $\\tilde s_j(n)=1$ is right "
            "(`fraboni2022:claim.W1.types`)."
        ),
    ).with_repair(
        title="For identical data both conditions hold",
        chain=(chi_n, "==", chi),
        also=(Relation(chi, "==", 0), Relation(optimum_distance**2, "==", 0), Relation(st_jn, "==", r_j)),
        note="For any window; Corollary 1 then has no need of $\\epsilon_W$.",
        verdict="proved",
    ),
    claim.proved.condition("claim.W1.types", "Identical data make all updates fair", "below Example 2")(
        chain=(st_jn, "==", r_j),
        assumptions=(a.one_type, a.somebody_reports),
        printed=(
            r"\text{when clients have the same data distributions: }\tilde s_j=r_j=1\text{ at every optimization round}"
        ),
    ),
    claim.supported.condition(
        "claim.W1.equivalent", "For a window of one update both conditions are the same", "below Example 2"
    )(
        chain=(chi_n, "==", chi),
        also=(Relation(WINDOWED, "==", 0),),
        conditions=[W <= 1],
        assumptions=SCHEME,
        printed=r"W=1\Rightarrow\epsilon_W=0,\ \text{the conditions of Corollary 1 and Theorem 3 are equivalent}",
        note="For any scheme.  All updates have the same weights, so that shares in one update are shares over all.",
    ),
    claim.proved.condition(
        "claim.W1.equivalent.synchronous", "For synchronous FedAvg both conditions are the same", "below Example 2"
    )(
        chain=(chi_n, "==", chi),
        also=(Relation(WINDOWED, "==", 0),),
        assumptions=(a.synchronous,),
        note="The expected weights are the same in every round, so that the window is one round.",
    ),
]
