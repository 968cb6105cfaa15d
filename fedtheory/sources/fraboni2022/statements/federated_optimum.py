"""Section 3.3: Theorem 2, the consequence of Theorem 1 for the federated problem."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.assumptions import THEOREM, WITHOUT_CHANCE, distinct_minimisers
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
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, write_explicit_terms
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import CONDITIONS_94, fixed_94

FACTOR = (8 * L * chi_max + 4 * L) / least_q
THEOREM_2 = FACTOR * (R_L + EPSILON_F + write_explicit_terms()) + 8 * L * biased + 8 * L * missing
absent_p = sp.Symbol(r"p_i\mathbb I(s_j(n)=0)", nonnegative=True)
client_gap = sp.Symbol(r"[\mathbb E\mathcal L_i(\theta^{n,k})-\mathcal L_i(\theta_i^*)]", nonnegative=True)
mu = sp.Symbol("mu", nonnegative=True)
mean_optimum, own_optimum = map(sp.Symbol, (r"\bar\theta^n", r"\theta_i^*"))
UNFAIR = (misfit > 0, sp.Eq(q_n, 1), q_i > 0, N >= 2)
"""Condition that some type is misrepresented, although all weights sum to one and every client reports."""

claim = Statements("fraboni2022", CONVERGENCE)

CLAIMS = [
    *claim.refuted.bound("thm-2", "Theorem 2", "Theorem 2, (17)-(19)")(
        chain=(gradients, "<=", THEOREM_2),
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, a.somebody_reports),
        printed=(
            rf"{MEANS}\mathbb E\|\nabla\mathcal L(\theta^{{n,k}})\|^2\le\mathcal O(R)+P+U+\mathcal O(\epsilon_F)"
            r"+\epsilon_K+\epsilon_\alpha+\epsilon_\beta,\quad P=\mathcal O\Big(\frac1N\sum_n\chi_n^2\sum_{j\in W_n}"
            r"\tilde s_j(n)[F_j(\bar\theta^n)-F_j(\theta_j^*)]\Big),\quad U=\mathcal O\Big(\frac1N\sum_n\frac1K\sum_k"
            r"\sum_{j\notin W_n}r_j[\mathbb EF_j(\theta^{n,k})-F_j(\theta_j^*)]\Big)"
        ),
        note=(
            "With explicit constants, from Lemma 7 and (93).  The O(.) hide $\\max_n\\chi_n^2/\\min_nq(n)$, not only "
            "numbers and L: the proof takes the maximum of $q(n)$, where $1/q(n)$ enters.  It inherits what Theorem 1 "
            "lacks: a factor K for sampled clients."
        ),
    ).with_repair(
        title="Theorem 2 for given weights and noise that does not depend on the model",
        locator="Theorem 2, corrected",
        assumptions=(*THEOREM, *WITHOUT_CHANCE, a.somebody_reports),
        verdict="supported",
    ),
    claim.proved.bound("thm-2.update", "Theorem 2 before the mean over the updates", "Appendix B.2, with all factors")(
        chain=(gradient_n, "<=", (8 * L * chi_n + 4 * L) / q_n * Z_n + 8 * L * chi_n * biased_n + 8 * L * missing_n),
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
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
    ),
    claim.proved.bound(
        "thm-2.random-weights",
        "Theorem 2 for random weights, any server step and smooth samples",
        "Theorem 2, from the corrected steps",
    )(
        chain=(gradients, "<=", FACTOR * (R_L + fixed_94) + 8 * L * biased + 8 * L * missing),
        where={**CONVERGENCE, **OF_SAMPLES},
        conditions=CONDITIONS_94,
        assumptions=(*ASSUMPTIONS, a.somebody_reports),
        note="With the corrected (94) for (93).",
        corrects="fraboni2022:thm-2",
    ),
    *claim.refuted.condition("thm-2.claims", "Misrepresentation makes R positive", "below Theorem 2")(
        chain=(R_L, ">", 0),
        conditions=UNFAIR,
        assumptions=(*SCHEME, distinct_minimisers),
        printed=r"s_j(n)\ne r_j\Rightarrow R(\{\mathcal L^n\})>0",
        note=(
            "Read for weights that add up to one, for types with different minimisers, and for runs of several updates "
            "in which every client reports.  R vanishes where all updates misrepresent the types alike, because they "
            "then have one problem.  The sentence says the same of P (`fraboni2022:thm-2.claims.P`)."
        ),
    ).with_repair(
        title="Misrepresentation makes R, P or U positive",
        chain=(R_L + biased + missing, ">", 0),
        conditions=[chi_max > 0, K * N >= 2, p_i > 0],
        assumptions=(*SCHEME, a.somebody_reports, distinct_minimisers),
        note=(
            "For the shares $\\tilde s_j(n)$, any weights and types with different minimisers.  "
            "Let all three be zero.  P = 0 leaves one type j to each unfair update.  Then R = 0 gives every update the "
            "optimum $\\theta_j^*$, so that type j alone has weights.  U = 0 keeps the model at the minimiser of the "
            "one missing type, but its first local step moves it away.  A single local step in all is excluded, "
            "because U does not see where it ends."
        ),
        verdict="supported",
    ),
    *claim.refuted.condition("thm-2.claims.P", "Misrepresentation makes P positive", "below Theorem 2")(
        chain=(biased, ">", 0),
        conditions=UNFAIR,
        assumptions=(*SCHEME, distinct_minimisers),
        printed=r"s_j(n)\ne r_j\Rightarrow P(\{\mathcal L^n\})>0",
        note=(
            "In asynchronous FedAvg each update has one client.  Its optimum $\\bar\\theta^n$ is the minimiser of "
            "that client, and P is zero.  R and U are positive there."
        ),
    ).with_repair(
        title="Misrepresentation makes P positive where an unfair update has types with different minimisers",
        chain=(chi_n * mu * Expectation(ClientSum(qt_in * norm_sq(mean_optimum - own_optimum))), "<=", 2 * N * biased),
        where={**CONVERGENCE, mu: q.strong_convexity, mean_optimum: q.round_optimum, own_optimum: q.client_optimum},
        place="step",
        conditions=(),
        assumptions=(*SCHEME, a.somebody_reports, a.convex_and_smooth),
        note=(
            "For strongly convex clients the left side is positive unless the types of the update are fair, or all its "
            "clients have one minimiser."
        ),
        verdict="supported",
    ),
    claim.proved.condition("thm-2.claims.converse", "R, P and U vanish for fair types", "below Theorem 2, converse")(
        chain=(R_L, "==", 0),
        also=(Relation(biased, "==", 0), Relation(missing, "==", 0)),
        assumptions=(a.fair_types,),
        note="None of the three is positive unless $\\tilde s_j(n)\\ne r_j$ for some type in some update.",
    ),
    claim.supported.condition(
        "thm-2.claims.missing", "A missing type makes U positive unless it is at its minimum", "below Theorem 2"
    )(
        chain=(absent_p * client_gap, "<=", K * missing_n),
        also=(Relation(missing_n, "<=", N * missing),),
        where={**CONVERGENCE, absent_p: q.unrepresented_importance, client_gap: q.virtual_client_gap},
        assumptions=(*SCHEME, a.somebody_reports),
        printed=r"s_j(n)=0\Rightarrow U(\{\mathcal L^n\})>0",
        note=(
            "Read: U is positive where a missing type is not at its minimum at every virtual iterate of the update.  "
            "The encoded bound says so for each client i of a missing type, each update n and each local step k.  Read "
            "without this exception the implication is false.  U is zero where the models are at a minimiser of each "
            "missing type, for example where all types share a minimiser and the model starts there."
        ),
    ),
    claim.supported.condition(
        "thm-2.claims.missing.converse", "U is positive only where a type is missing", "below Theorem 2, converse"
    )(
        chain=(missing, "==", 0),
        conditions=[sp.Eq(absences, 0)],
        assumptions=(*SCHEME, a.somebody_reports),
        note="For any weights: where every type has a positive weight in every update, U is a sum without terms.",
    ),
]
