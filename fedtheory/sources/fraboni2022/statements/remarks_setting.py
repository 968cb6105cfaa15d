"""Sentences of Section 2: special cases of scheme (6), and proportionalities of the guarantees."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.setting import (
    SETTING,
    dt,
    mu,
    next_local,
    received,
    slowest,
    theta,
)

FACTOR = 64
"""Value for the hidden constant of a proportionality; the witness violates every other constant as well."""

claim = Statements("fraboni2022", SETTING)

CLAIMS = [
    claim.supported.identity("eq-6.generalises", "Scheme (6) generalises FedAvg", "below (6)")(
        chain=(
            norm_sq(eta_g * ClientSum(q_in * (next_local - received)) - ClientSum(p_i * (next_local - theta))),
            "==",
            0,
        ),
        also=(Relation(eta_g, "==", 1), Relation(dt, "==", slowest)),
        place="path",
        assumptions=(a.full_rounds, a.unit_server_step),
        printed=(
            r"\text{Equation (6) generalizes FedAvg aggregation scheme (4) }(\eta_g=1\text{ and }\Delta t^n=\max_iT_i)"
        ),
        note=(
            "Checked on sampled paths after each number of local steps: the right sides of (6) and (4) agree.  "
            "Client sampling is the same scheme with random weights, see the claims of Appendix C.2."
        ),
    ),
    *claim.refuted.inequality("claim.proportional", "The guarantees are proportional to Sigma", "below (11)")(
        chain=(L * R_L, "<=", FACTOR * Sigma),
        assumptions=SCHEME,
        printed=(
            r"\text{The convergence guarantees provided in this work are proportional to the expected convergence "
            r"residual}"
        ),
        note=(
            "Read: each term of Theorem 1 except $\\epsilon_F$ is at most $\\Sigma$ times a constant that depends on "
            f"L only.  The residual R is such a term; the constant is set to {FACTOR}.  No constant suffices: for the "
            "clients $x^2/2$ and $h(x-1)^2/2$ that take turns, $R/\\Sigma=(1+h)/(4h)$ with $L=1$."
        ),
    ).with_repair(
        title="The residual is at most Sigma over twice the smallest curvature",
        lhs=2 * mu * R_L,
        rhs=Sigma,
        note=(
            "With strongly convex clients every term of Theorem 1 except $\\epsilon_F$ is at most a multiple of "
            "$\\Sigma$, with a factor $1/\\mu$ that the paper does not have."
        ),
        verdict="supported",
    ),
]
