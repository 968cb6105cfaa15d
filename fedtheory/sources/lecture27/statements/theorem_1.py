"""Theorem 1 and its proof: the distance between distributed and centralised gradient descent."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Gradient, PastSum, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.lecture27.statements.notation import *

growth_of_distance = (eta * beta + 1) ** x - 1
client_difference, client_difference_next = w_i - v, w_i_next - v_next
d = sp.Symbol("d", nonnegative=True)
"""A divergence, any non-negative number."""

_APART = r"\|w(t)-v_{[k]}(t)\|"
_APART_BEFORE = r"\|w(t-1)-v_{[k]}(t-1)\|"
_CLIENT = r"\|\tilde w_i(t)-v_{[k]}(t)\|"
_CLIENT_BEFORE = r"\|\tilde w_i(t-1)-v_{[k]}(t-1)\|"

CLAIMS = [
    claim.definition("h", "The drift function h", "Theorem 1")(
        chain=(h(n), ">=", 0),
        also=(
            Relation(delta * (per_divergence(n + 1) - per_divergence(n)), ">=", 0),
            Relation(delta * (per_divergence(n + 2) - 2 * per_divergence(n + 1) + per_divergence(n)), ">=", 0),
        ),
        for_all={n: (0, 1, 2, 3, 7)},
        assumptions=WITH_DIVERGENCE,
        printed=r"h(x)\triangleq\frac\delta\beta\left[(\eta\beta+1)^x-1\right]-\eta\delta x",
        note=(
            "Also checked: h(x) is not negative, does not decrease and is convex over whole x.  For h(0) = h(1) = 0 "
            "see the remark after the theorem.  The implementation computes the sum at the end of the proof."
        ),
        implemented_by="fedtheory.sources.lecture27.budget:compute_drift_bounds",
    ),
    claim.proved.bound("thm-1", "Distance of distributed from centralised gradient descent", "Theorem 1")(
        chain=(norm(w_t_next - v_next), "<=", h(x + 1)),
        also=(Relation(norm(w_t - v), "<=", h(x)),),
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=(
            rf"\forall[k],\ t\in[k]:\ {_APART}\le h(t-(k-1)\tau),\quad "
            r"h(x)\triangleq\frac\delta\beta\left[(\eta\beta+1)^x-1\right]-\eta\delta x"
        ),
        note=(
            "Between aggregations w(t) is the mean of the clients' models, as in the proof.  Checked at every t; t at "
            "the end of an interval is its last t + 1."
        ),
    ),
    claim.proved.bound("thm-1.loss", "The difference of the losses by the distance", "Theorem 1, second part")(
        chain=(
            Value(F, w_t_next) - Value(F, v_next),
            "<=",
            rho * norm(w_t_next - v_next),
            "<=",
            rho * h(x + 1),
        ),
        also=(Relation(Value(F, w_t) - Value(F, v), "<=", rho * h(x)),),
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=rf"F(w(t))-F(v_{{[k]}}(t))\le\rho{_APART}\le\rho\,h(t-(k-1)\tau)",
    ),
    claim.proved.bound(
        "thm-1.g.linear", "Distance of one client from centralised gradient descent, sharpened", "proof of Theorem 1"
    )(
        chain=(norm_sq(client_difference_next), "<=", (eta * delta_i * (x + 1)) ** 2),
        also=(Relation(norm_sq(client_difference), "<=", (eta * delta_i * x) ** 2),),
        place="path",
        assumptions=(*CONVEX_GD, a.bounded_dissimilarity),
        conditions=[LONG_STEP],
        note=(
            "Not in the notes.  There a gradient step may increase the distance of two points by the factor "
            "1 + eta beta; for a convex client and eta <= 2/beta it does not increase it.  g_i(x) is at least "
            "eta delta_i x."
        ),
        sharpens="lecture27:thm-1.g",
    ),
    claim.proved.bound(
        "thm-1.quadratic", "Distance of distributed from centralised gradient descent, sharpened", "Theorem 1"
    )(
        chain=(norm(w_t_next - v_next), "<=", eta**2 * beta * delta * x * (x + 1) / 2),
        also=(Relation(norm(w_t - v), "<=", eta**2 * beta * delta * x * (x - 1) / 2),),
        place="path",
        assumptions=(*CONVEX_GD, a.bounded_dissimilarity),
        conditions=[LONG_STEP],
        note=(
            "Not in the notes.  It grows with the square of the number of local steps, h grows exponentially.  It is "
            "the first term of h(x); the other terms are small only for small eta beta x."
        ),
        sharpens="lecture27:thm-1",
    ),
    claim.supported.identity("thm-1.remark-zero", "With one local step both methods agree", "Theorem 1, remark (1)")(
        chain=(h(z), "==", 0),
        also=(
            Relation(restrict_to_start(norm_sq(w_t_next - v_next)), "==", 0),
            Relation(restrict_to_start(norm_sq(w_t_next - (w_start - eta * Gradient(F, w_start)))), "==", 0),
        ),
        for_all={z: (0, 1)},
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=(r"h(0)=h(1)=0\Rightarrow w(t)-v_{[k]}(t)=0\text{ if }\tau=1;\quad w(t)=w(t-1)-\eta\nabla F(w(t-1))"),
        note=(
            "Checked after the first local step of every interval, whatever tau: with tau = 1 that is all of it.  "
            "0^x is 1 at the first local step, else 0."
        ),
    ),
    claim.proved.bound("thm-1.g", "Distance of one client from centralised gradient descent", "proof of Theorem 1")(
        chain=(norm_sq(client_difference_next), "<=", g(x + 1) ** 2),
        also=(Relation(norm_sq(client_difference), "<=", g(x) ** 2),),
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=(
            rf"{_CLIENT}\le g_i(t-(k-1)\tau)\ \forall t\in[k],\quad "
            r"g_i(x)\triangleq\frac{\delta_i}\beta\left[(\eta\beta+1)^x-1\right]"
        ),
        note=(
            "Both sides are squared, so that equality after one step is exact in rationals.  t is read up to the end "
            "of the interval, before the aggregation replaces the client's model."
        ),
    ),
    claim.proved.step("thm-1.g-step", "One local step of one client", "proof of Theorem 1, induction")(
        lhs=norm_sq(client_difference_next) - (1 + eta * beta) ** 2 * norm_sq(client_difference) - (eta * delta_i) ** 2,
        rhs=2 * (1 + eta * beta) * norm(client_difference) * eta * delta_i,
        also=(
            Relation((1 + eta * beta) ** 2 * norm_sq(client_difference), "<=", ((1 + eta * beta) * g(x)) ** 2),
            Relation((eta * beta + 1) * d * growth(x) + eta * d, "==", d * growth(x + 1)),
        ),
        for_all={d: (1, "5/3")},
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=(
            rf"{_CLIENT}\le(\eta\beta+1){_CLIENT_BEFORE}+\eta\delta_i\le(\eta\beta+1)g_i(t-1-(k-1)\tau)+\eta\delta_i"
            r"=g_i(t-(k-1)\tau)"
        ),
        note=(
            "All members are squared, because equality occurs with irrational numbers.  In the first inequality only "
            "the cross term of the squared right side is left there; in the second, eta delta_i is taken off both "
            "sides; the last equation is for any divergence d."
        ),
    ),
    claim.proved.step("thm-1.step", "One local step of the mean", "proof of Theorem 1, (*)")(
        lhs=norm(w_t_next - v_next) - norm(w_t - v),
        rhs=eta * Average(norm(Gradient(F_i, w_i) - Gradient(F_i, v))),
        also=(
            Relation(norm_sq(Gradient(F_i, w_i) - Gradient(F_i, v)), "<=", beta**2 * norm_sq(w_i - v)),
            Relation(norm_sq(w_i - v), "<=", g(x) ** 2),
            Relation(norm(w_t_next - v_next) - norm(w_t - v), "<=", eta * beta * Average(g(x))),
            Relation(norm(w_t_next - v_next) - norm(w_t - v), "<=", eta * delta * growth_of_distance),
        ),
        place="path",
        assumptions=WITH_DIVERGENCE,
        printed=(
            rf"{_APART}-{_APART_BEFORE}\le"
            r"\eta\frac{\sum_iD_i\|\nabla F_i(\tilde w_i(t-1))-\nabla F_i(v_{[k]}(t-1))\|}{D}"
            rf"\le\eta\beta\frac{{\sum_iD_i{_CLIENT_BEFORE}}}{{D}}\le\eta\beta\frac{{\sum_iD_ig_i(t-1-(k-1)\tau)}}{{D}}"
            r"=\eta\delta\left[(\eta\beta+1)^{t-1-(k-1)\tau}-1\right]"
        ),
        note=(
            "The sums are read as means with the weights D_i / D (reconstructed).  The second and third inequality are "
            "checked client by client and squared, the others as they are; the equation at the end is the definition "
            "of delta, and the left side is compared with both of its members."
        ),
    ),
    claim.proved.identity("thm-1.sum", "The geometric sum", "proof of Theorem 1, end")(
        chain=(eta * d * PastSum(growth_of_distance), "==", d * per_divergence(x + 1)),
        for_all={d: (1, "5/3")},
        place="round",
        assumptions=WITH_DIVERGENCE,
        printed=(
            r"\eta\delta\sum_{y=(k-1)\tau+1}^t\left[(\eta\beta+1)^{y-1-(k-1)\tau}-1\right]"
            r"=h(t-(k-1)\tau)"
        ),
        note=(
            "For any divergence d, at every t of an interval; y - 1 - (k-1) tau counts the local steps before y.  "
            "With the step before it, this is Theorem 1."
        ),
    ),
]
