"""Section 3.3: Corollary 1, the federated problem if every type has its client weight."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.assumptions import THEOREM, WITHOUT_CHANCE, distinct_minimisers
from fedtheory.sources.fraboni2022.statements.convergence import (
    CONVERGENCE,
    J,
    Z_n,
    chi_n,
    least_q,
    loss,
    loss_n,
    missing_n,
    optimum_distance,
    r_j,
    st_jn,
)
from fedtheory.sources.fraboni2022.statements.lemma_3 import OF_SAMPLES
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, write_explicit_terms
from fedtheory.sources.fraboni2022.statements.theorem_1_bound import CONDITIONS_94, fixed_94

BOUND = fixed_94.subs(R_L, 0)
"""The corrected (94) if all updates have the same optimum."""

claim = Statements("fraboni2022", CONVERGENCE)

CLAIMS = [
    *claim.refuted.bound("cor-1", "Corollary 1", "Corollary 1, (20)")(
        chain=(loss, "<=", EPSILON_F + write_explicit_terms()),
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, a.fair_types),
        printed=(
            rf"\tilde s_j(n)=r_j\Rightarrow{MEANS}[\mathbb E\mathcal L(\theta^{{n,k}})-\mathcal L(\theta^*)]"
            r"\le\epsilon_F+\epsilon_K+\epsilon_\alpha+\epsilon_\beta"
        ),
        note=(
            "$\\epsilon_F$ has no O(.).  Theorem 1 bounds the mean of $q(n)[\\mathcal L-\\mathcal L(\\theta^*)]$: "
            "where $q(n)$ is small the models move little, and after many updates $\\epsilon_F$ is smaller than the "
            "loss.  In the counterexample one client with the weight 1/100 makes 450 steps of one length towards its "
            "optimum, from 2 to 1.97.  In the proof $W_n=\\emptyset$ should be its complement."
        ),
    ).with_repair(
        title="Corollary 1 with the factor q(n), for given weights and noise that does not depend on the model",
        locator="Corollary 1, corrected",
        lhs=least_q * loss,
        also=(
            Relation(q_n * loss_n, "==", Z_n),
            Relation(chi_n, "==", 0),
            Relation(optimum_distance, "==", 0),
            Relation(missing_n, "==", 0),
        ),
        assumptions=(*THEOREM, *WITHOUT_CHANCE, a.fair_types),
        note=(
            "$\\mathcal L^n=q(n)\\mathcal L$ and $\\bar\\theta^n=\\theta^*$, so that R = 0 and the corrected Theorem 1 "
            "applies."
        ),
        verdict="supported",
    ),
    claim.proved.step("cor-1.update", "The loss in one update, for fair types", "proof of Corollary 1")(
        chain=(least_q * loss_n, "<=", Z_n),
        assumptions=(*SCHEME, a.convex_and_smooth, a.somebody_reports, a.fair_types),
        note="$\\mathcal L^n=q(n)\\mathcal L$.",
    ),
    claim.proved.bound(
        "cor-1.random-weights",
        "Corollary 1 with the factor q(n), for random weights, any server step and smooth samples",
        "Corollary 1, from the corrected steps",
    )(
        chain=(least_q * loss, "<=", BOUND),
        where={**CONVERGENCE, **OF_SAMPLES},
        conditions=CONDITIONS_94,
        assumptions=(*ASSUMPTIONS, a.somebody_reports, a.fair_types),
        note="With the corrected (94) for (93), in which R = 0.",
        corrects="fraboni2022:cor-1",
    ),
    claim.proved.condition("cor-1.iid", "Identical data leave the optimum where it is", "below Corollary 1")(
        chain=(st_jn, "==", r_j),
        also=(Relation(chi_n, "==", 0), Relation(optimum_distance, "==", 0)),
        assumptions=(*ASSUMPTIONS, a.one_type, a.somebody_reports),
        printed=(
            r"\mathcal Z_i=\mathcal Z:\ \text{FL always converges to its optimum},\ \tilde s_j(n)=r_j=1\text{ whatever "
            r"the participation, }p_i\text{ and }d_i(n)"
        ),
        note=(
            "The surrogate problem of Theorem 1 is the federated one, whatever the participation and the weights.  "
            "$q(n)>0$ is needed for the normalised weights to exist."
        ),
    ),
    claim.supported.bound(
        "cor-1.iid.bound",
        "The bound of Corollary 1 for identical data, for given weights and noise that does not depend on the model",
        "below Corollary 1",
    )(
        chain=(least_q * loss, "<=", EPSILON_F + write_explicit_terms()),
        conditions=[SMALL_STEP],
        assumptions=(*THEOREM, *WITHOUT_CHANCE, a.one_type, a.somebody_reports),
        note=(
            "For random weights cor-1.random-weights has a bound with $K\\beta$ at smaller step sizes.  At the step "
            "size of Theorem 1 it fails for many clients: where one of 300 is sampled and a single client has nearly "
            "all the weight, the server moves by 300 times that client's step or hardly at all, and the error grows."
        ),
    ),
    claim.proved.condition("cor-1.noniid", "Fair types are a weaker condition than fair clients", "below Corollary 1")(
        chain=(st_jn, "==", r_j),
        conditions=[sp.Eq(q_in, p_i)],
        assumptions=SCHEME,
        printed=r"\tilde s_j(n)=r_j\text{ is weaker than }q_i(n)=p_i",
        note=(
            "For any scheme.  Both sides are summed over a type, with $q(n)=\\sum_ip_i=1$.  Example 1 has fair types "
            "without fair clients."
        ),
    ),
    claim.supported.condition(
        "cor-1.noniid.required", "Fair clients are required where the types are not known", "below Corollary 1"
    )(
        chain=(qt_in, "==", p_i),
        conditions=[sp.Eq(J, M)],
        assumptions=(a.fair_types,),
        printed=(
            r"\text{knowing the clients' data distributions is not possible; therefore ensuring FL convergence to its "
            r"optimum requires at every optimization round }\tilde q_i(n)=p_i"
        ),
        note=(
            "Read: weights that satisfy the condition of Corollary 1 for every assignment of types to clients have "
            "$\\tilde q_i(n)=p_i$.  The assignment in which all clients are of different types shows it, and is "
            "encoded here.  Conversely such weights are fair for every assignment "
            "(`fraboni2022:cor-1.noniid.sufficient`)."
        ),
    ),
    claim.supported.condition(
        "cor-1.noniid.sufficient", "Fair clients are fair types, whichever types they have", "below Corollary 1"
    )(
        chain=(st_jn, "==", r_j),
        conditions=[sp.Eq(qt_in, p_i)],
        assumptions=(*SCHEME, a.somebody_reports),
        note="The converse of `fraboni2022:cor-1.noniid.required`, for any scheme and any q(n).",
    ),
    claim.proved.condition("cor-1.noniid.types", "Fair types suffice for the right optimum", "below Corollary 1")(
        chain=(optimum_distance**2, "==", 0),
        assumptions=(a.fair_types,),
        note="$\\bar\\theta=\\theta^*$ whatever the shares of single clients.",
    ),
    *claim.refuted.condition(
        "cor-1.noniid.required.optimum",
        "Literal reading: the right optimum requires fair clients in every update",
        "below Corollary 1",
    )(
        chain=(qt_in, "==", p_i),
        conditions=[sp.Eq(optimum_distance, 0), q_i > 0],
        assumptions=(*SCHEME, a.somebody_reports, distinct_minimisers),
        note=(
            "Read: where the surrogate problem has the optimum of (2), every update has the shares $p_i$.  Two clients "
            "that take turns with equal weights have this optimum, whatever their losses are, without such shares.  "
            "Theorem 3 is about this case."
        ),
    ).with_repair(
        title="Fair shares over all updates suffice for the right optimum",
        chain=(optimum_distance**2, "==", 0),
        where={**CONVERGENCE, qt_i: q.mean_weight_share},
        conditions=[sp.Eq(qt_i, p_i)],
        assumptions=SCHEME,
        note="For any scheme and any losses.",
        verdict="proved",
    ),
]
