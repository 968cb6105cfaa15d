"""Sentences of Sections 3.2 to 3.4: terms that a step size reduces, and clients that the weights must represent."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.convergence import chi_n, optimum_distance, r_j, st_jn
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import RELAXED, chi
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F, write_explicit_terms

root = sp.Symbol("s", positive=True)
SAMPLED = Notation(RELAXED)
second_moment = SAMPLED.add(q.expected_square_weight, nonnegative=True)
m = SAMPLED.add(q.participants, "m", positive=True)
REMARKS = RELAXED | {chi_n: q.chi_sq, optimum_distance: q.surrogate_optimum_distance}
TERMS = EPSILON_F + write_explicit_terms()
"""eps_F + eps_K + eps_alpha + eps_beta with the constants of (93)."""


def write_terms(step_size: sp.Expr, updates: sp.Expr) -> sp.Expr:
    """Return the terms at a local step size and a number of updates."""
    return TERMS.subs({eta_l: step_size, N: updates}, simultaneous=True)


def _write_delay(delay: sp.Expr) -> sp.Expr:
    """Return the terms that a delay adds."""
    return TERMS.subs({tau: delay}) - TERMS.subs({tau: 0})


claim = Statements("fraboni2022", REMARKS)

THEOREM_1 = [
    claim.proved.inequality("eps-F.updates", "The first term decreases at most like 1/N", "below Theorem 1")(
        chain=(EPSILON_F, ">=", 144 * L * rho**2 * (tau + 1) * theta0_distance**2 / N),
        conditions=[SMALL_STEP],
        assumptions=SCHEME,
        printed=(
            r"\epsilon_F\text{ only depends of the quality of the initial model }\theta^0\dots\text{ This "
            r"convergence term can only be minimized by performing as many serial SGD steps }KN"
        ),
        note=(
            "For given step sizes $\\epsilon_F$ is inversely proportional to KN, as the sentence says.  A larger step "
            "size reduces it as well, but the step sizes of Theorem 1 are at most proportional to 1/K.  More local "
            "steps alone therefore do not reduce $\\epsilon_F$ below this bound; more updates do."
        ),
    ),
    claim.proved.identity(
        "thm-1.claim-delay.quadratic", "What delays add to the bound grows with the square of K tau", "below Theorem 1"
    )(
        chain=(_write_delay(2 * tau), "==", 4 * _write_delay(tau)),
        assumptions=ASSUMPTIONS,
        printed=(
            r"\epsilon_\alpha\text{ and }\epsilon_\beta\text{ are quadratically proportional to the maximum amount of "
            r"serial SGD }K\tau"
        ),
        note=(
            "Both have a part $\\tilde\\eta$ without delays, and a part $\\nu\\tilde\\eta^2K^2\\tau^2$.  Encoded with "
            "the constants of (93): twice the delay adds four times as much to the terms without delays."
        ),
    ),
]

THEOREM_2 = [
    claim.proved.inequality(
        "thm-2.mitigated", "A suitable step size makes the terms from eps_F to eps_beta vanish", "below Theorem 2"
    )(
        chain=(write_terms(1 / root, root**2), "<=", write_terms(sp.S.One, sp.S.One) / root),
        for_all={root: (1, 4, 64)},
        assumptions=ASSUMPTIONS,
        printed=(
            r"\text{The terms }\epsilon_F\text{ to }\epsilon_\tau\text{ can be mitigated by choosing an appropriate "
            r"local learning rate }\eta_l,\text{ but the same cannot be said for }R(\{\mathcal L^n\}),\ P(\{\mathcal "
            r"L^n\}),\ U(\{\mathcal L^n\})"
        ),
        note=(
            "There is no $\\epsilon_\\tau$; the last term is $\\epsilon_\\beta$.  Encoded is the first half: with "
            "$N=s^2$ and $\\eta_l=1/s$ the sum of the four terms, with the constants of (93), is at most $1/s$ times "
            "its value at s = 1.  R and P are numbers of the weights and of the problem, without any step size.  U "
            "does depend on the step size, through the models at which it is evaluated."
        ),
    ),
    claim.supported.condition("cor-1.one-client", "One participant of each type suffices", "below Corollary 1")(
        chain=(st_jn, "==", r_j),
        also=(Relation(chi_n, "==", 0), Relation(optimum_distance**2, "==", 0)),
        conditions=[sp.Eq(q_in, q_n * r_j)],
        assumptions=(*SCHEME, a.synchronous),
        printed=(
            r"\text{only one client per data type needs to have a non-zero participating probability,}\dots\text{ and "
            r"an appropriate }d_i(n)\text{ such that }\tilde s_j(n)=r_j\text{ is satisfied}"
        ),
        note=(
            "The appropriate weights are proportional to $r_j$ for one client of each type, and 0 for the others.  "
            "$r_j$ and $\\tilde s_j(n)$ are given at the first client of the type, which is the participant here."
        ),
    ),
]

THEOREM_3 = [
    claim.proved.condition(
        "thm-3.condition.weaker", "Theorem 3's condition is weaker than Corollary 1's", "below Theorem 3"
    )(
        chain=(chi, "==", 0),
        also=(Relation(optimum_distance**2, "==", 0),),
        assumptions=(a.fair_types,),
        printed=(
            r"\tilde s_j=r_j\text{ is sufficient to minimize the optimization problem (2)}\dots\text{ This condition "
            r"is weaker than the one obtained with Corollary 1}"
        ),
        note=(
            "$\\tilde s_j(n)=r_j$ in every update implies $\\tilde s_j=r_j$, which is $\\chi^2=0$.  Example 2 has the "
            "second without the first.  For clients in place of types the sentence compares $\\tilde q_i=p_i$ with "
            "$\\tilde q_i(n)=p_i$: one client of each type may participate always and the others never, and then "
            "$\\tilde s_j(n)=r_j$ holds without $\\tilde q_i=p_i$."
        ),
    ),
    claim.supported.condition(
        "participation.weights", "Weights for clients that participate at random", "Section 4, introduction"
    )(
        chain=(q_in, "==", p_i),
        also=(
            Relation(qt_in, "==", p_i),
            Relation(m * second_moment, "==", M * p_i**2),
        ),
        where=SAMPLED,
        assumptions=(a.synchronous, a.uniform_sampling),
        printed=(
            r"\text{It suffices that every client has a non-null participation probability, i.e. }\mathbb P(T_i^n\le"
            r"\Delta t^n)>0\text{ such that there exists an appropriate }d_i(n)\text{ satisfying }\tilde q_i(n)=p_i"
        ),
        note=(
            "For any law $d_i(n)=p_i/\\mathbb P(T_i^n\\le\\Delta t^n)$ has $q_i(n)=p_i$, by (5).  Checked for m of M "
            "clients, uniformly without replacement: the probability is m/M, the weight is $\\frac Mmp_i$, and the "
            "last relation is $\\mathbb E[\\omega_i^2(n)]=\\frac mM(\\frac Mmp_i)^2$."
        ),
    ),
]
