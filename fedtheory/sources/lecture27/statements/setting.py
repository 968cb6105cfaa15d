"""Page 1: the system, distributed gradient descent, the budget, the auxiliary sequence."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Gradient, Value, norm_sq
from fedtheory.language.claim import Relation
from fedtheory.sources.lecture27.statements.notation import *

COSTS = {c: ("1/3", 1, 4), b: (0, "5/2", 20)}

CLAIMS = [
    claim.definition("setting", "Workers, losses, optimum", "p. 1, system setup")(
        chain=(Value(F, w), "==", Average(Value(F_i, w))),
        also=(Relation(Value(F, w_star), "<=", Value(F, w)),),
        place="points",
        assumptions=DISTRIBUTED_GD,
        printed=(
            r"F_i(w)=\frac{1}{|\mathcal D_i|}\sum_{j\in\mathcal D_i}f_j(w),\quad "
            r"F(w)=\frac{\sum_i|\mathcal D_i|F_i(w)}{\sum_i|\mathcal D_i|},\quad D_i=|\mathcal D_i|,\ D=\sum_iD_i,"
            r"\quad w^*=\operatorname{argmin}F(w)"
        ),
        note="The mean over clients has the weights D_i / D here and in all claims of this source.",
        implemented_by="fedtheory.federation.problem:Problem",
    ),
    claim.algorithm("algorithm.dgd", "Distributed gradient descent", "p. 1")(
        chain=(norm_sq(w_i_next - (w_i - eta * Gradient(F_i, w_i))), "==", 0),
        also=(
            Relation(norm_sq(w_end - Average(w_i_end)), "==", 0),
            Relation(restrict_to_start(norm_sq(w_i - w_start)), "==", 0),
        ),
        place="round",
        assumptions=DISTRIBUTED_GD,
        printed=(
            r"w_i(t+1)=\tilde w_i(t)-\eta\nabla F_i(\tilde w_i(t));\quad \text{every }\tau\text{ updates: }"
            r"w(t+1)=\frac{\sum_iD_iw_i(t+1)}{D},\ \tilde w_i(t+1)=w(t+1);\quad T=K\tau"
        ),
        note="The last relation says that an interval starts from the aggregated model: 0^x is 1 at x = 0, else 0.",
        implemented_by="fedtheory.federation.settings:distributed_gd",
    ),
    claim.proved.condition("resource", "The cost of a run", "p. 1")(
        chain=(T * c + K * b, "==", T * c + T / tau * b, "==", T * (c + b / tau)),
        for_all=COSTS,
        assumptions=DISTRIBUTED_GD,
        printed=r"Tc+Kb=Tc+\frac T\tau b=T\left(c+\frac b\tau\right)\le R",
        note=(
            "The equations are checked for several costs c of a local update and b of an aggregation.  R is the user's "
            "choice; runs of fedtheory.sources.lecture27.budget stay within it, in exact rationals."
        ),
    ),
    claim.definition("goal", "The best use of a budget", "p. 1")(
        printed=r"\min_{\tau,T}F(w(T))\quad\text{s.t. }T\left(c+\frac b\tau\right)\le R",
        note="The implementation compares runs with different tau, each as long as the budget allows.",
        implemented_by="fedtheory.sources.lecture27.budget:compare",
    ),
    claim.algorithm("aux-sequence", "The auxiliary sequence of centralised gradient descent", "p. 1")(
        chain=(norm_sq(v_next - (v - eta * Gradient(F, v))), "==", 0),
        also=(Relation(restrict_to_start(norm_sq(v - w_start)), "==", 0),),
        place="path",
        assumptions=DISTRIBUTED_GD,
        printed=(
            r"[k]=[(k-1)\tau,k\tau],\quad v_{[k]}(t)=v_{[k]}(t-1)-\eta\nabla F(v_{[k]}(t-1)),\quad "
            r"v_{[k]}((k-1)\tau)=w((k-1)\tau)"
        ),
        note=(
            "The last relation is the synchronisation at the start of each interval: 0^x is 1 at x = 0, else 0.  "
            "The notes remark that v_[k](k tau) and v_[k+1](k tau) differ.  In general they do: v_[k+1](k tau) is "
            "w(k tau).  For tau = 1 they are the same, see the first remark after Theorem 1."
        ),
        implemented_by="fedtheory.language.quantities:centralised_model",
    ),
]
