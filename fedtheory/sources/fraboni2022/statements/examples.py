"""Examples 1 and 2: pairs of clients, and single clients, that take turns."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.notation import *

residual, V_first, V_last, cycle_rest, a_sq, b_sq, mean_sq, apart_sq, end_sq = (
    sp.Symbol(quantity.latex, nonnegative=True)
    for quantity in (
        q.second_order_residual,
        q.first_energy,
        q.last_energy,
        q.cycle_residual,
        q.even_cycle_distance_sq,
        q.odd_cycle_distance_sq,
        q.mean_cycle_distance_sq,
        q.optima_apart_sq,
        q.final_mean_distance_sq,
    )
)
theta0_sq = sp.Symbol(r"\|\theta^0-\theta^*\|", nonnegative=True)
q_1, q_2, p_1 = sp.symbols("q_1 q_2 p_1", positive=True)
share_mean = sp.Symbol(r"\frac12[\tilde q_i^{2n}+\tilde q_i^{2n+1}]", nonnegative=True)
bias = sp.Symbol(r"\|\bar\theta-\theta^*\|", nonnegative=True)
r_j, st_jn = sp.Symbol("r_j", real=True), sp.Symbol(r"\tilde s_j(n)", real=True)

EXAMPLES: dict[sp.Symbol, q.Quantity] = {
    **WHERE,
    residual: q.second_order_residual,
    V_first: q.first_energy,
    V_last: q.last_energy,
    cycle_rest: q.cycle_residual,
    a_sq: q.even_cycle_distance_sq,
    b_sq: q.odd_cycle_distance_sq,
    mean_sq: q.mean_cycle_distance_sq,
    apart_sq: q.optima_apart_sq,
    end_sq: q.final_mean_distance_sq,
    theta0_sq: q.initial_distance,
    q_1: q.first_weight,
    q_2: q.second_weight,
    p_1: q.first_importance,
    share_mean: q.mean_of_shares,
    bias: q.surrogate_optimum_distance,
    r_j: q.type_importance,
    st_jn: q.type_share,
}

step = 1 - (1 - eta_l) ** K
"""phi, the relative change of the distance to a client's optimum in K local steps."""
BETWEEN = (step > 0, step < 1)
STABLE = (q_1 * q_2 * step**2 < 1, (1 - q_1 * step) * (1 - q_2 * step) > -1)
"""The map of two updates has trace 1 - (q_1 + q_2) phi and determinant q_1 q_2 phi^2: the conditions of Jury."""


def _write_energy_bound() -> Expr:
    """Return the bound on |theta^N - theta*|^2 / |theta^0 - theta*|^2."""
    return sp.Max((1 - step) ** (2 * N), step ** (N + 2) / (step - sp.Rational(1, 4)))


def odd_offset() -> Expr:
    """Return |b - thetabar| / |theta_1* - theta_2*| for the cycle's point b at odd updates."""
    return q_1 * q_2**2 * step / ((q_1 + q_2) * (q_1 + q_2 + q_1 * q_2 * step))


_RECURSION = r"\theta^{n+2}-\theta^{n+1}+\phi\theta^n=\phi\theta^*,\quad\phi=1-(1-\eta_l)^K"
_WEIGHTS = (
    Relation(q_i, "==", p_i),
    Relation(qt_in * (2 * qt_in - 1), "==", 0),
    Relation(st_jn, "==", r_j),
    Relation(W, "==", 2),
)

EXAMPLE_1 = [
    claim.supported.limit(
        "example-1", "Example 1: convergence of pairs that take turns, for phi between 0 and 1", "Example 1, below (22)"
    )(
        chain=(V_last, "<", V_first),
        also=(Relation(end_sq, "<=", _write_energy_bound() * theta0_sq**2),),
        where=EXAMPLES,
        conditions=[*BETWEEN, V_first > 0],
        assumptions=(a.turns_of_pairs,),
        printed=rf"{_RECURSION}:\quad\text{{FL asymptotic convergence to the optimum }}\theta^*",
        note=(
            "The step sizes of Theorem 1, under which Corollary 1 and its example stand, keep $\\phi$ between 0 and 1, "
            "and so does every $0<\\eta_l<1$.  Read for every step size the sentence is false: for $\\eta_l=3/2$ and "
            "K = 1, $\\phi>1$ and the errors grow.  With $e_n=\\theta^n-\\theta^*$, the energy $V_n=\\|e_{n+1}\\|^2"
            "-\\langle e_{n+1},e_n\\rangle+\\phi\\|e_n\\|^2$ is multiplied by $\\phi$ in every update.  The roots of "
            "$r^2-r+\\phi$ lie inside the unit circle exactly for $0<\\phi<1$.  The distance falls like $\\phi^{n/2}$ "
            "for $\\phi>1/4$ and at least like $(1-\\phi)^n$ below.  The print also has both $q_2^{2n}=1/2$ and "
            "$q_2^{2n}=0$, and both $q_3^{2n+1}=1/2$ and $q_3^{2n+1}=0$."
        ),
    ),
    claim.supported.identity("example-1.recursion", "Example 1: weights and recursion", "Example 1, (21)-(22)")(
        chain=(residual, "==", 0),
        also=(Relation(V_last, "==", step ** (N - 1) * V_first), *_WEIGHTS),
        where=EXAMPLES,
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
        where=EXAMPLES,
        conditions=STABLE,
        assumptions=(a.turns_of_clients,),
        printed=(r"\theta^n\xrightarrow{n\to\infty}\frac{q_1\theta_1^*+q_2\theta_2^*}{q_1+q_2}"),
        note=(
            "The iterates at even and at odd updates tend to two points a and b, and both would have to be the printed "
            "one, $\\bar\\theta$.  Unless the optima agree they differ: a client's update at its own turn does not "
            "vanish at $\\bar\\theta$."
        ),
    ).with_repair(
        title="Example 2: a limit cycle of two points",
        locator="Example 2, corrected",
        chain=(b_sq, "==", odd_offset() ** 2 * apart_sq),
        also=(Relation(a_sq, "==", (q_1 / q_2 * odd_offset()) ** 2 * apart_sq), Relation(cycle_rest, "==", 0)),
        note=(
            "The left sides solve the linear equations of the cycle.  The errors from it obey "
            "$E_{n+4}-\\operatorname{tr}E_{n+2}+\\det E_n=0$, whose roots lie inside the unit circle for "
            "$q_1q_2\\phi^2<1$ and $(1-q_1\\phi)(1-q_2\\phi)>-1$.  Both points tend to the printed one as "
            "$\\phi\\to0$, at the distance O(phi)."
        ),
        verdict="supported",
    ),
    claim.supported.identity("example-2.mean", "Example 2: the mean over the cycle", "Example 2, (30)")(
        chain=(mean_sq, "==", ((q_2 - q_1) / (2 * q_2) * odd_offset()) ** 2 * apart_sq),
        where=EXAMPLES,
        assumptions=(a.turns_of_clients,),
        note="The mean of the two points is the printed limit for equal weights only, or for equal optima.",
    ),
    *claim.refuted.condition("example-2.iff", "Example 2: when the limit is the optimum", "below (30)")(
        chain=(bias**2, "==", 0),
        where=EXAMPLES,
        conditions=[sp.Eq(share_mean, p_i)],
        assumptions=(a.turns_of_clients,),
        printed=(r"\text{the optimum of (2) if and only if }\tfrac12[\tilde q_i^{2n}+\tilde q_i^{2n+1}]=p_i"),
        note=(
            "With the tildes of Section 2.5 the condition always holds: in each update one client has the share 1.  "
            "The printed limit is the optimum for $q_1=q_2$ only."
        ),
    ).with_repair(
        title="Example 2: the printed limit is the optimum if and only if the window's shares are the importances",
        rhs=(q_1 / (q_1 + q_2) - p_1) ** 2 * apart_sq,
        note="Normalised over the window and not in each update; for equal optima any weights will do.",
        verdict="supported",
        conditions=(),
    ),
]
