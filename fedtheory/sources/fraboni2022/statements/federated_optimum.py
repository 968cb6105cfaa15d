"""Section 3.3: Theorem 2, what the federated problem has of Theorem 1."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.assumptions import THEOREM, WITHOUT_CHANCE
from fedtheory.sources.fraboni2022.statements.convergence import (
    CONVERGENCE,
    Z_n,
    absences,
    biased,
    biased_n,
    chi_max,
    chi_n,
    gradient_n,
    gradients,
    least_q,
    misfit,
    missing,
    missing_n,
)
from fedtheory.sources.fraboni2022.statements.lemma_3 import OF_SAMPLES
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, explicit_terms
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import CONDITIONS_94, fixed_94

FACTOR = (8 * L * chi_max + 4 * L) / least_q
THEOREM_2 = FACTOR * (R_L + EPSILON_F + explicit_terms()) + 8 * L * biased + 8 * L * missing

CLAIMS = [
    *claim.refuted.bound("thm-2", "Theorem 2", "Theorem 2, (17)-(19)")(
        chain=(gradients, "<=", THEOREM_2),
        where=CONVERGENCE,
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, a.somebody_reports),
        printed=(
            rf"{MEANS}\mathbb E\|\nabla\mathcal L(\theta^{{n,k}})\|^2\le\mathcal O(R)+P+U+\mathcal O(\epsilon_F)"
            r"+\epsilon_K+\epsilon_\alpha+\epsilon_\beta,\quad P=\mathcal O\Big(\frac1N\sum_n\chi_n^2\sum_{j\in W_n}"
            r"\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]\Big),\quad U=\mathcal O\Big(\frac1N\sum_n\frac1K\sum_k"
            r"\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]\Big)"
        ),
        note=(
            "With constants of our own, from Lemma 7 and (93).  The O(.) hide $\\max_n\\chi_n^2/\\min_nq(n)$, not only "
            "numbers and L: the proof takes the maximum of $q(n)$, where $1/q(n)$ enters.  It inherits what Theorem 1 "
            "lacks: the smoothness of single samples, and a factor K for sampled clients."
        ),
    ).with_repair(
        title="Theorem 2 for given weights and noise that does not depend on the model",
        locator="Theorem 2, repaired",
        assumptions=(*THEOREM, *WITHOUT_CHANCE, a.somebody_reports),
        verdict="supported",
    ),
    claim.proved.bound("thm-2.update", "Theorem 2 before the mean over the updates", "Appendix B.2, with all factors")(
        chain=(gradient_n, "<=", (8 * L * chi_n + 4 * L) / q_n * Z_n + 8 * L * chi_n * biased_n + 8 * L * missing_n),
        where=CONVERGENCE,
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
        note=(
            "$\\|\\nabla\\mathcal L\\|^2\\le2\\|\\nabla\\mathcal L-\\nabla\\tilde{\\mathcal L}^n\\|^2"
            "+2\\|\\nabla\\tilde{\\mathcal L}^n\\|^2$; Lemma 7 bounds the first square and the smoothness $q(n)L$ of "
            "$\\mathcal L^n$ the second.  The mean over n and (93) give Theorem 2 at any step size of Theorem 1."
        ),
    ),
    claim.proved.bound(
        "thm-2.update.largest",
        "Theorem 2 before the mean over the updates, with the largest factor",
        "Appendix B.2, with all factors",
    )(
        chain=(gradient_n, "<=", FACTOR * Z_n + 8 * L * chi_n * biased_n + 8 * L * missing_n),
        where=CONVERGENCE,
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
    ),
    claim.proved.bound(
        "thm-2.random-weights",
        "Theorem 2 for random weights, any server step and smooth samples",
        "Theorem 2, from the repaired steps",
    )(
        chain=(gradients, "<=", FACTOR * (R_L + fixed_94) + 8 * L * biased + 8 * L * missing),
        where={**CONVERGENCE, **OF_SAMPLES},
        conditions=CONDITIONS_94,
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
        note="With the repaired (94) for (93).",
        corrects="fraboni2022:thm-2",
    ),
    *claim.refuted.condition("thm-2.claims", "Misrepresentation makes R and P positive", "below Theorem 2")(
        chain=(R_L, ">", 0),
        also=(Relation(biased, ">", 0),),
        where=CONVERGENCE,
        conditions=[misfit > 0],
        assumptions=(a.asynchronous,),
        printed=r"s_j(n)\ne r_j\Rightarrow R(\{\mathcal L^n\})>0\text{ and }P(\{\mathcal L^n\})>0",
        note=(
            "Fails for weights that are all scaled by $q(n)\\ne1$, for types that are misrepresented alike in every "
            "update (R), and for types that share a minimiser (both)."
        ),
    ).with_repair(
        title="R, P and U vanish for fair types",
        relation="==",
        also=(Relation(biased, "==", 0), Relation(missing, "==", 0)),
        assumptions=(a.fair_types,),
        note="The converse holds: none of the three is positive unless $\\tilde s_j(n)\\ne r_j$ somewhere.",
        verdict="proved",
        conditions=(),
    ),
    *claim.refuted.condition("thm-2.claims.missing", "A type that is missing makes U positive", "below Theorem 2")(
        chain=(missing, ">", 0),
        where=CONVERGENCE,
        conditions=[absences >= 1],
        assumptions=(a.turns_of_clients,),
        printed=r"s_j(n)=0\Rightarrow U(\{\mathcal L^n\})>0",
        note="Not where the iterates are at the missing type's own minimiser.  Tried on two clients that take turns.",
    ).with_repair(
        title="U is positive only where a type is missing",
        relation="==",
        also=(Relation(absences, "==", 0),),
        assumptions=(a.fair_types,),
        note="It is zero as well where each missing type is at its minimum in that update; it is never negative.",
        verdict="proved",
        conditions=(),
    ),
]
