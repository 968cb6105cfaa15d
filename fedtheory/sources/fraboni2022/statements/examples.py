"""Examples 1 and 2: pairs of clients, and single clients, that take turns."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.notation import *

EXAMPLES = Notation(WHERE)
residual = EXAMPLES.add(q.second_order_residual, nonnegative=True)
V_first = EXAMPLES.add(q.first_energy, nonnegative=True)
V_last = EXAMPLES.add(q.last_energy, nonnegative=True)
cycle_rest = EXAMPLES.add(q.cycle_residual, nonnegative=True)
a_sq = EXAMPLES.add(q.even_cycle_distance_sq, nonnegative=True)
b_sq = EXAMPLES.add(q.odd_cycle_distance_sq, nonnegative=True)
mean_sq = EXAMPLES.add(q.mean_cycle_distance_sq, nonnegative=True)
apart_sq = EXAMPLES.add(q.optima_apart_sq, nonnegative=True)
end_sq = EXAMPLES.add(q.final_mean_distance_sq, nonnegative=True)
theta0_sq = EXAMPLES.add(q.initial_distance, r"\|\theta^0-\theta^*\|", nonnegative=True)
q_1 = EXAMPLES.add(q.first_weight, positive=True)
q_2 = EXAMPLES.add(q.second_weight, positive=True)
p_1 = EXAMPLES.add(q.first_importance, positive=True)
share_mean = EXAMPLES.add(q.mean_of_shares, r"\frac12[\tilde q_i^{2n}+\tilde q_i^{2n+1}]", nonnegative=True)
optimum_distance = EXAMPLES.add(q.surrogate_optimum_distance, nonnegative=True)
r_j = EXAMPLES.add(q.type_importance, real=True)
st_jn = EXAMPLES.add(q.type_share, real=True)

step = 1 - (1 - eta_l) ** K
"""phi, the relative change of the distance to a client's optimum in K local steps."""
BETWEEN = (step > 0, step < 1)
STABLE = (q_1 * q_2 * step**2 < 1, (1 - q_1 * step) * (1 - q_2 * step) > -1)
"""The map of two updates has trace 1 - (q_1 + q_2) phi and determinant q_1 q_2 phi^2: the conditions of Jury."""


def _write_energy_bound() -> Expr:
    """Return the bound on |theta^N - theta*|^2 / |theta^0 - theta*|^2."""
    return sp.Max((1 - step) ** (2 * N), step ** (N + 2) / (step - sp.Rational(1, 4)))


def write_odd_offset() -> Expr:
    """Return |b - thetabar| / |theta_1* - theta_2*| for the cycle's point b at odd updates."""
    return q_1 * q_2**2 * step / ((q_1 + q_2) * (q_1 + q_2 + q_1 * q_2 * step))


_RECURSION = r"\theta^{n+2}-\theta^{n+1}+\phi\theta^n=\phi\theta^*,\quad\phi=1-(1-\eta_l)^K"
_WEIGHTS = (
    Relation(q_i, "==", p_i),
    Relation(qt_in * (2 * qt_in - 1), "==", 0),
    Relation(st_jn, "==", r_j),
    Relation(W, "==", 2),
)

claim = Statements("fraboni2022", EXAMPLES)

EXAMPLE_1 = [
    claim.supported.limit(
        "example-1", "Example 1: convergence of pairs that take turns, for phi between 0 and 1", "Example 1, below (22)"
    )(
        chain=(V_last, "<", V_first),
        also=(Relation(end_sq, "<=", _write_energy_bound() * theta0_sq**2),),
        conditions=[*BETWEEN, V_first > 0],
        assumptions=(a.turns_of_pairs,),
        printed=rf"{_RECURSION}:\quad\text{{FL asymptotic convergence to the optimum }}\theta^*",
        note=(
            "The step sizes of Theorem 1, under which Corollary 1 and its example stand, keep $\\phi$ between 0 and 1, "
            "and so does every $0<\\eta_l<1$.  Read for every step size the sentence is false: for $\\eta_l=3/2$ and "
            "K = 1, $\\phi>1$ and the errors grow.  With $e_n=\\theta^n-\\theta^*$, the energy $V_n=\\|e_{n+1}\\|^2"
            "-\\langle e_{n+1},e_n\\rangle+\\phi\\|e_n\\|^2$ is multiplied by $\\phi$ in every update.  The roots of "
            "$r^2-r+\\phi$ lie inside the unit circle exactly for $0<\\phi<1$.  The distance falls like $\\phi^{n/2}$ "
            "for $\\phi>1/4$ and at least like $(1-\\phi)^n$ below.  The example also has both $q_2^{2n}=1/2$ and "
            "$q_2^{2n}=0$, and both $q_3^{2n+1}=1/2$ and $q_3^{2n+1}=0$."
        ),
    ),
    claim.supported.identity("example-1.recursion", "Example 1: weights and recursion", "Example 1, (21)-(22)")(
        chain=(residual, "==", 0),
        also=(Relation(V_last, "==", step ** (N - 1) * V_first), *_WEIGHTS),
        assumptions=(a.turns_of_pairs,),
        printed=(
            rf"{_RECURSION};\quad\tilde s_1(n)=\tilde s_2(n)=\tfrac12,\ \tilde q_i(n)\in\{{0,\tfrac12\}},\ "
            r"\tfrac12[q_i^{2n}+q_i^{2n+1}]=p_i"
        ),
        note="Four clients with equal times and a buffer of two; types in the order 1, 2, 1, 2.",
    ),
]

EXAMPLE_2 = [
    *claim.refuted.limit("example-2", "Example 2: the limit of two clients that take turns", "Example 2, (30)")(
        chain=(a_sq, "==", 0),
        also=(Relation(b_sq, "==", 0),),
        conditions=STABLE,
        assumptions=(a.turns_of_clients,),
        printed=(r"\theta^n\xrightarrow{n\to\infty}\frac{q_1\theta_1^*+q_2\theta_2^*}{q_1+q_2}"),
        note=(
            "The iterates at even and at odd updates tend to two points a and b, and both would have to be the "
            "published one, $\\bar\\theta$.  Unless the optima agree they differ: a client's update at its own turn "
            "does not vanish at $\\bar\\theta$."
        ),
    ).with_repair(
        title="Example 2: a limit cycle of two points",
        locator="Example 2, corrected",
        chain=(b_sq, "==", write_odd_offset() ** 2 * apart_sq),
        also=(Relation(a_sq, "==", (q_1 / q_2 * write_odd_offset()) ** 2 * apart_sq), Relation(cycle_rest, "==", 0)),
        note=(
            "The left sides solve the linear equations of the cycle.  The errors from it obey "
            "$E_{n+4}-\\operatorname{tr}E_{n+2}+\\det E_n=0$, whose roots lie inside the unit circle for "
            "$q_1q_2\\phi^2<1$ and $(1-q_1\\phi)(1-q_2\\phi)>-1$.  Both points tend to the published one as "
            "$\\phi\\to0$, at the distance O(phi)."
        ),
        verdict="supported",
    ),
    claim.supported.identity("example-2.mean", "Example 2: the mean over the cycle", "Example 2, (30)")(
        chain=(mean_sq, "==", ((q_2 - q_1) / (2 * q_2) * write_odd_offset()) ** 2 * apart_sq),
        assumptions=(a.turns_of_clients,),
        note="The mean of the two points is the published limit for equal weights only, or for equal optima.",
    ),
    *claim.refuted.condition("example-2.iff", "Example 2: when the limit is the optimum", "below (30)")(
        chain=(optimum_distance**2, "==", 0),
        conditions=[sp.Eq(share_mean, p_i)],
        assumptions=(a.turns_of_clients,),
        printed=(r"\text{the optimum of (2) if and only if }\tfrac12[\tilde q_i^{2n}+\tilde q_i^{2n+1}]=p_i"),
        note=(
            "With the tildes of Section 2.5 the condition always holds: in each update one client has the share 1.  "
            "The published limit is the optimum for $q_1=q_2$ only."
        ),
    ).with_repair(
        title="Example 2: the published limit is the optimum if and only if the window's shares are the importances",
        rhs=(q_1 / (q_1 + q_2) - p_1) ** 2 * apart_sq,
        note="Normalised over the window and not in each update; for equal optima any weights will do.",
        verdict="supported",
        conditions=(),
    ),
]
