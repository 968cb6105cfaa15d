"""Appendix A.5: the step-size conditions of the proof of Theorem 1."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import SMALL_MOVES
from fedtheory.sources.fraboni2022.statements.lemma_3 import SMALL_D
from fedtheory.sources.fraboni2022.statements.notation import *

delay = tilde_eta**2 * K**2 * tau**2
bracket = tilde_eta + nu * delay


def write_small_mix(weight: Expr = beta, smoothness: Expr = L) -> Expr:
    """Return 3 rho [alpha + beta] eta~ L <= 1."""
    return sp.Le(3 * rho * (alpha + weight) * tilde_eta * smoothness, 1)


margin = 2 - 4 * D - 12 * rho * (2 * alpha + beta) * bracket * L
"""The left side of (92)."""
SMALL_DELAY = sp.Le(48 * rho**3 * delay * L**2, 1)
SMALL_SERVER_STEP = sp.Le(3 * rho**2 * tilde_eta * L, 1)
LISTED = (SMALL_D, SMALL_MOVES, write_small_mix(), sp.Ge(margin, 1), SMALL_SERVER_STEP, SMALL_DELAY)
"""The conditions collected in A.5."""
SUFFICIENT = (
    sp.Le(48 * eta_l**2 * (K - 1) ** 2 * L**2, 1),
    sp.Le(144 * rho**2 * tilde_eta * L, 1),
    sp.Le(2304 * rho**3 * delay * L**2, 1),
)
"""Eq. (97)."""

_BRACKET = r"[\tilde\eta+\nu\tilde\eta^2K^2\tau^2]"
_LISTED = (
    r"D\le\frac12,\quad12\rho^2[\alpha+\beta]\tilde\eta^2K^2\tau^2L^2\le\frac12,\quad"
    rf"3\rho[\alpha+\beta]\tilde\eta L\le1,\quad2-4D-12\rho[2\alpha+\beta]{_BRACKET}L\ge1,\quad"
    r"3\rho^2\tilde\eta L\le1,\quad48\rho^3\tilde\eta^2K^2\tau^2L^2\le1"
)
_97 = r"48\eta_l^2(K-1)^2L^2\le1,\quad144\rho^2\tilde\eta L\le1,\quad2304\rho^3\tilde\eta^2K^2\tau^2L^2\le1"


def write_relations(conditions: tuple[Expr, ...]) -> tuple[Relation, ...]:
    """Return conditions as relations of a claim."""
    return tuple(Relation(condition.lhs, condition.rel_op, condition.rhs) for condition in conditions)


CLAIMS = [
    *claim.refuted.condition("A5.conditions", "What the proof uses of the weights: beta", "Appendix A.5")(
        chain=(beta, "<=", 1),
        assumptions=ASSUMPTIONS,
        printed=r"\text{We note that }\alpha\le1\text{, and }\beta\le1",
        note=(
            "$\\beta$ is the weight of a client that participates alone, or not at all, in some update.  This is more "
            "than 1 with the closed forms of Section 4 and different update times: there $\\beta=\\max_id_i$, up to "
            "$\\tau_M/\\tau_0$.  For $\\alpha$ and for the listed conditions see the claims behind this one."
        ),
    ).with_repair(
        title="What the proof uses of the weights: beta, for given weights",
        chain=(beta_S, "<=", rho),
        assumptions=(*ASSUMPTIONS, a.given_weights),
        note=(
            "Over the clients that participate, as Lemma 1 needs no others: such a client's weight is at most q(n) <= "
            "rho.  A sampled client can have a larger one."
        ),
        verdict="proved",
    ),
    claim.proved.condition("A5.conditions.alpha", "What the proof uses of the weights: alpha", "Appendix A.5")(
        chain=(alpha, "<=", 1),
        assumptions=ASSUMPTIONS,
        printed=r"\text{We note that }\alpha\le1",
        note="Assumption 5 has $\\alpha\\in(0,1)$; the values 0 and 1 of Table 2 are allowed here.",
    ),
    claim.proved.condition(
        "A5.conditions.listed", "Step sizes that satisfy the listed conditions", "Appendix A.5, from (98) to the list"
    )(
        chain=(D, "<=", sp.Rational(1, 2)),
        also=write_relations(LISTED[1:]),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP, alpha <= 1, beta <= 1],
        printed=_LISTED,
        note="For step sizes of (98): (98) implies (97), and (97) implies the list, where alpha <= 1 and beta <= 1.",
    ),
    claim.proved.condition("eq-97", "Sufficient conditions", "Appendix A.5, eq. (97)")(
        chain=(D, "<=", sp.Rational(1, 2)),
        also=write_relations(LISTED[1:]),
        assumptions=ASSUMPTIONS,
        conditions=[*SUFFICIENT, alpha <= 1, beta <= 1],
        printed=rf"{_97}\quad\Rightarrow\quad {_LISTED}\quad(\alpha\le1,\ \beta\le1)",
        note=(
            "Also by hand: 4D <= 1/2, and 12 rho [2 alpha + beta] times the two parts of the bracket is at most 1/4 "
            "each, so (92) can be an equality, for K = 3 and tau = 1; the other conditions hold with a factor of 4 or "
            "more."
        ),
    ),
    claim.proved.condition(
        "eq-97.larger-weights",
        "Sufficient conditions, for weights of any size",
        "Appendix A.5, eq. (97), without beta <= 1",
    )(
        chain=(D, "<=", sp.Rational(1, 2)),
        also=write_relations(tuple(condition.subs(beta, beta_S) for condition in LISTED[1:])),
        assumptions=(*ASSUMPTIONS, a.given_weights),
        conditions=SUFFICIENT,
        note="beta <= rho is enough: 12 rho (2 + rho) / (72 rho^2) <= 1/2.  beta is that of the clients that report.",
    ),
    claim.proved.condition("eq-98", "A bound on the local step size", "Appendix A.5, eq. (98)")(
        chain=(SUFFICIENT[0].lhs, "<=", 1),
        also=write_relations(SUFFICIENT[1:]),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\eta_l\le\frac1{48KL}\min\left(1,\frac1{3\rho^2\eta_g(\tau+1)}\right)\quad\Rightarrow\quad"
            rf"{_97}"
        ),
        note=(
            "Also by hand: with the equality the three left sides are at most (K-1)^2/(48 K^2), 1/(K (tau+1)) and "
            "tau^2 / (9 rho (tau+1)^2)."
        ),
    ),
]
